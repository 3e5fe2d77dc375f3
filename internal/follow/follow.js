// A link is a link: a click on one leads where its href says, whatever a router on
// the page makes of it. Left alone are what a page handles itself (places within the
// page, links with an onclick of their own, buttons within links), downloads, targets
// and clicks with a modifier key. There, where(to, raw) says what a link leads to: to
// itself, a URL beside it, "" if it sees to that, or null for none of ours.
function follow(where) {
  "use strict";
  const start = location.href.replace(/#.*/, "");
  // A page by its file's name is the page, too, and http:/ in an address of the replay is http://.
  const plain = (u) => u.replace(/#.*/, "").replace(/(\/\d{4,14}\/https?:)\/+/, "$1/").replace(/(\/)index\.x?html?$|\.x?html?$/i, "$1");
  let leaving = "";
  const linkOf = (path) => {
    for (const n of path) {
      const name = String(n.localName).toLowerCase();
      if (/^(button|input|select|textarea|label|summary)$/.test(name)) return null;
      if ((name === "a" || name === "area") && (n.hasAttribute("href") || n.hasAttribute("xlink:href"))) return n;
    }
    return null;
  };
  addEventListener("click", (e) => {
    if (e.defaultPrevented || e.button || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    const a = linkOf(e.composedPath());
    if (!a || a.hasAttribute("download") || a.hasAttribute("onclick") || !/^(_self)?$/i.test(a.getAttribute("target") || "")) return;
    const raw = (a.getAttribute("href") || a.getAttribute("xlink:href") || "").trim();
    if (!raw || raw[0] === "#") return;
    // Relative to the address that the page came from: pushState may have changed it since.
    let to, now;
    try { to = new URL(raw, document.querySelector("base[href]") ? document.baseURI : start); now = new URL(raw, document.baseURI); } catch (e) { return; }
    if (!/^(https?|file):$/.test(to.protocol) || [start, location.href].map(plain).includes(plain(to.href))) return;
    const there = where(to, raw);
    if (there === null) return;
    e.stopImmediatePropagation();
    leaving = there;
    if (there === now.href) return; // the browser goes there
    e.preventDefault();
    if (there) location.href = there;
  }, true);
  // Routers of today take what the browser is about to do.
  if (window.navigation) navigation.addEventListener("navigate", (e) => {
    if (leaving && e.destination.url === leaving && !e.hashChange) e.stopImmediatePropagation();
    leaving = "";
  });
}
