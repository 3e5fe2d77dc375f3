// The text of a page stays: a router that finds an address which is not one of its own
// replaces what the page came with by "Page not found" or by nothing. The document as it
// was before deferred scripts ran is put back where, before a reader has done anything, a
// fifth of its words are gone and not many others have come, or its links are.
function keep() {
  "use strict";
  const words = (of) => {
    const set = new Set(), walk = document.createTreeWalker(of, NodeFilter.SHOW_TEXT);
    for (let n; (n = walk.nextNode()); ) {
      if (/^(script|style|template|noscript)$/i.test(n.parentNode.localName)) continue;
      for (const w of n.data.split(/\s+/)) if (w) set.add(w);
    }
    return set;
  };
  const links = (of) => of.querySelectorAll("a[href]").length;
  let was, head, had, timer, watch;
  const end = () => { watch.disconnect(); removeEventListener("pointerdown", end, true); removeEventListener("keydown", end, true); };
  const look = () => {
    timer = 0;
    const all = document.documentElement;
    if (!was || !all) return;
    had = had || words(was.querySelector("body"));
    const now = words(document.body || all), gone = [...had].filter((w) => !now.has(w)).length;
    const text = 5 * gone > had.size && 2 * now.size < 3 * had.size, led = links(was);
    if (had.size < 8 || !text && (gone === 0 || led < 4 || 2 * links(document) > led)) return;
    end();
    if (document.head === head && document.body) document.body.replaceWith(was.querySelector("body"));
    else all.replaceWith(was);
    const title = was.querySelector("title");
    if (title) document.title = title.textContent;
  };
  document.addEventListener("readystatechange", () => {
    if (was || document.readyState !== "interactive" || !document.body) return;
    was = document.documentElement.cloneNode(true);
    head = document.head;
    watch = new MutationObserver(() => { timer = timer || setTimeout(look, 100); });
    watch.observe(document, { childList: true, subtree: true, characterData: true });
    addEventListener("pointerdown", end, true);
    addEventListener("keydown", end, true);
    setTimeout(end, 15000);
  });
}

// Where a browser gives a page no storage and no cookies (a private window, an opaque
// origin), scripts that do not expect that get some for as long as the page is open.
function storage() {
  "use strict";
  for (const name of ["localStorage", "sessionStorage"]) {
    try { if (window[name]) continue; } catch (e) {}
    const held = new Map();
    const own = {
      getItem: (k) => held.has(String(k)) ? held.get(String(k)) : null, setItem: (k, v) => { held.set(String(k), String(v)); },
      removeItem: (k) => { held.delete(String(k)); }, clear: () => held.clear(),
      key: (i) => [...held.keys()][i] || null, get length() { return held.size; },
    };
    const value = new Proxy(own, {
      get: (o, k) => k in o ? o[k] : held.get(k), has: (o, k) => k in o || held.has(k), ownKeys: () => [...held.keys()],
      set: (o, k, v) => { held.set(k, String(v)); return true; }, deleteProperty: (o, k) => { held.delete(k); return true; },
      getOwnPropertyDescriptor: (o, k) => held.has(k) ? { value: held.get(k), writable: true, enumerable: true, configurable: true } : undefined,
    });
    try { Object.defineProperty(window, name, { configurable: true, value }); } catch (e) {}
  }
  try { document.cookie; } catch (e) { Object.defineProperty(document, "cookie", { configurable: true, get: () => "", set() {} }); }
}

// Turbopack knows a chunk that runs by the src of its script, a path on the site: of(url)
// gives that.
function sources(of) {
  "use strict";
  const { getAttribute } = Element.prototype, src = Object.getOwnPropertyDescriptor(HTMLScriptElement.prototype, "src");
  HTMLScriptElement.prototype.getAttribute = function (name) {
    const v = getAttribute.call(this, name);
    return v !== null && name === "src" && window.TURBOPACK && of(src.get.call(this)) || v;
  };
}
