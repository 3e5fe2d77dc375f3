// What a link of a page leads to: a page of the mirror is there as it stands; for a link
// that a script made, the URL on the site is looked up.
{
  const at = document.currentScript.src, root = at.slice(0, at.lastIndexOf("/") + 1), origins = ORIGINS;
  const start = location.href.replace(/#.*/, "");
  let waiting = [], paths;
  const load = (name, failed) => {
    const s = document.createElement("script");
    s.src = root + name;
    s.onerror = failed;
    (document.head || document.documentElement).append(s);
  };
  // Bundlers load chunks by their paths on the site, which a disk has not.
  const here = (v) => {
    const text = String(v);
    if (/^\/(?!\/)/.test(text)) return root + text.slice(1);
    const own = origins.find((o) => text.startsWith(o + "/"));
    return own ? root + text.slice(own.length + 1) : v;
  };
  const { setAttribute } = Element.prototype;
  for (const [type, name] of [[HTMLScriptElement.prototype, "src"], [HTMLLinkElement.prototype, "href"]]) {
    const was = Object.getOwnPropertyDescriptor(type, name);
    Object.defineProperty(type, name, { ...was, set(v) { was.set.call(this, here(v)); } });
    type.setAttribute = function (n, v) { setAttribute.call(this, n, String(n).toLowerCase() === name ? here(v) : v); };
  }
  sources((at) => at.startsWith(root) ? "/" + at.slice(root.length) : null);
  storage();
  // From a disk, and below a path of its own, the address is none that a router knows.
  if (location.protocol === "file:" || new URL(root).pathname !== "/") keep();
  if (location.protocol === "file:") fromDisk(root, () => new Promise((ok) => {
    window.curtsyData = ok;
    load("mirror-data.js", () => ok());
  }));
  const file = (u) => u.startsWith(root) ? decodeURIComponent(u.slice(root.length).replace(/[?#].*/, "")) || "index.html" : null;
  const urlOf = () => {
    const own = file(start), { pathname, search } = new URL(start);
    if (paths[pathname + search] && location.protocol !== "file:") return pathname + search;
    return Object.keys(paths).find((k) => paths[k] === own) || "/";
  };
  const look = (to, raw, exact) => {
    let u = to;
    if (!origins.includes(to.origin)) try { u = new URL(raw, "http://site.invalid" + urlOf()); } catch (e) { return; }
    const plain = u.pathname, bare = plain.replace(/\/$/, "");
    for (const key of [plain + u.search].concat(exact ? [] : [plain, bare, bare + "/", bare + ".html"]))
      if (Object.hasOwn(paths, key)) return (location.href = root + paths[key].split("/").map(encodeURIComponent).join("/") + u.hash);
    location.href = to.href;
  };
  window.curtsyPaths = (list) => { paths = list; waiting.splice(0).forEach((w) => look(...w)); };
  const ask = (...w) => {
    if (paths) return look(...w);
    waiting.push(w);
    load("mirror-paths.js", () => window.curtsyPaths({}));
  };
  // What a form asks for may be there, too.
  addEventListener("submit", (e) => {
    const f = e.target, action = f.getAttribute("action"), to = action && URL.canParse(action) && new URL(action);
    if (e.defaultPrevented || !to || !origins.includes(to.origin) || !/^(get)?$/i.test(f.getAttribute("method") || "") || f.hasAttribute("target")) return;
    to.search = new URLSearchParams(new FormData(f, e.submitter));
    e.preventDefault();
    ask(to, to.href, true);
  });
  follow((to, raw) => {
    if (to.href.startsWith(root) && /\.x?html?$/i.test(to.pathname)) return to.href;
    const ours = origins.includes(to.origin) || (to.protocol === "file:" ? location.protocol === "file:" : to.origin === location.origin);
    if (!ours || /\.(png|jpe?g|gif|webp|avif|svg|bmp|ico|mp[34]|m4[av]|web[am]|og[gav]|pdf|zip|t?gz|js|css|json|xml|txt|md)$/i.test(to.pathname)) return null;
    ask(to, raw);
    return "";
  });
}
