// From a disk, browsers refuse what the scripts of a page fetch, and workers. The mirror
// has such files in mirror-data.js, too, which is loaded where one is asked for: own(url)
// gives a promise of [type, text, whether the text is base64], or of null for what is not there.
function data(self, base, own) {
  "use strict";
  const whole = (what) => {
    try { return new URL(String(what && what.url || what), base()).href; } catch (e) { return ""; }
  };
  const blob = (f) => f && new Blob([f[2] ? Uint8Array.from(atob(f[1]), (c) => c.charCodeAt(0)) : f[1]], { type: f[0] });
  const { fetch, Worker } = self, { open, send } = XMLHttpRequest.prototype;
  self.fetch = async (what, how) => {
    const has = await own(whole(what));
    return has ? new Response(blob(has), { headers: { "Content-Type": has[0] } }) : fetch.call(self, what, how);
  };
  const asked = new WeakMap();
  XMLHttpRequest.prototype.open = function (method, url, ...rest) {
    asked.set(this, rest[0] === false ? null : { method, url: whole(url), rest });
    return open.call(this, method, url, ...rest);
  };
  XMLHttpRequest.prototype.send = function (body) {
    const a = asked.get(this);
    if (!a) return send.call(this, body);
    own(a.url).then((has) => {
      if (has) open.call(this, a.method, URL.createObjectURL(blob(has)), ...a.rest);
      send.call(this, body);
    });
  };
  return { whole, Worker };
}

// A worker begins with these lines and waits for its files; what comes before them, it is
// told afterwards.
function inWorker(data) {
  const early = [], wait = (e) => {
    e.stopImmediatePropagation();
    if (!e.data || !e.data.curtsyFiles) return early.push(e.data);
    removeEventListener("message", wait);
    const { curtsyFiles: files, at } = e.data, last = (url) => new URL(url, at).href;
    data(self, () => at, async (url) => files.get(url));
    const run = (url) => {
      if (!files.get(url)) throw new Error("not in the mirror: " + url);
      (0, eval)(files.get(url)[1]);
    };
    self.importScripts = (...names) => names.forEach((name) => run(last(name)));
    run(at);
    early.forEach((data) => dispatchEvent(new MessageEvent("message", { data })));
  };
  addEventListener("message", wait);
}

function fromDisk(root, load) {
  "use strict";
  let files;
  const all = () => files = files || load().then((list) => new Map(Object.entries(list || {})));
  const own = async (url) => {
    if (!/^file:/.test(url)) return null;
    const list = await all(), bare = url.replace(/[?#].*/, ""), at = (u) => u.startsWith(root) ? u.slice(root.length) : u.replace(/^file:\/+/, "");
    for (const name of [at(url.replace(/#.*/, "")), at(bare), decodeURIComponent(at(bare))]) {
      const has = list.get(name);
      if (has) return typeof has === "string" ? list.get(has) : has;
    }
    return null;
  };
  const { whole, Worker } = data(window, () => document.baseURI, own);
  if (!Worker) return;
  const begin = "(" + inWorker + ")(" + data + ")";
  window.Worker = function (what, how) {
    const at = whole(what);
    if (!/^file:/.test(at)) return new Worker(what, how);
    const w = new Worker(URL.createObjectURL(new Blob([begin], { type: "text/javascript" })));
    own(at).then(async (has) => {
      if (!has) { w.terminate(); w.dispatchEvent(new Event("error")); return; }
      const told = new Map([[at, has]]);
      for (const [name, file] of await all()) if (typeof file !== "string") told.set(new URL(name.split("/").map(encodeURIComponent).join("/"), root).href, file);
      w.postMessage({ curtsyFiles: told, at });
    });
    return w;
  };
  window.Worker.prototype = Worker.prototype;
}
