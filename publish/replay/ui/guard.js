(function shield() {
  // What no policy of a browser governs is taken from the page, and from every
  // window that it makes, before a script of its own runs.
  const names = ["RTCPeerConnection", "webkitRTCPeerConnection", "mozRTCPeerConnection", "RTCDataChannel", "RTCIceTransport", "WebTransport", "TCPSocket", "UDPSocket"];
  const { defineProperty, getOwnPropertyDescriptor } = Object, { apply } = Reflect;
  const source = "(" + shield + ")()";
  const guard = (w) => {
    try { // a frame of another origin throws, and is no business of this page
      const d = w && getOwnPropertyDescriptor(w, names[0]);
      if (!w || d && d.value === undefined && !d.configurable && !d.get) return;
      for (const name of names) defineProperty(w, name, { value: undefined, writable: false, configurable: false });
      hook(w);
    } catch (e) {}
  };
  const sweep = (w) => { for (let i = 0; i < w.length; i++) { guard(w[i]); try { sweep(w[i]); } catch (e) {} } };
  const hook = (w) => {
    const wrap = (owner, name, key) => {
      const d = owner && getOwnPropertyDescriptor(owner, name), f = d && d[key];
      if (!f || !d.configurable) return;
      d[key] = function () {
        const got = apply(f, this, arguments);
        sweep(w); sweep(top === w ? w : window);
        if (key === "get") guard(name === "contentWindow" ? got : got && got.defaultView);
        return got;
      };
      defineProperty(owner, name, d);
    };
    const of = (c) => w[c] && w[c].prototype;
    for (const n of ["appendChild", "insertBefore", "replaceChild"]) wrap(of("Node"), n, "value");
    for (const c of ["Element", "DocumentFragment", "Document", "CharacterData"])
      for (const n of ["append", "prepend", "before", "after", "replaceWith", "replaceChildren", "moveBefore", "insertAdjacentElement", "insertAdjacentHTML", "setHTML", "setHTMLUnsafe"]) wrap(of(c), n, "value");
    for (const n of ["write", "writeln", "open", "execCommand", "adoptNode"]) wrap(of("Document"), n, "value");
    for (const n of ["insertNode", "surroundContents"]) wrap(of("Range"), n, "value");
    for (const c of ["Element", "ShadowRoot"]) for (const n of ["innerHTML", "outerHTML"]) wrap(of(c), n, "set");
    for (const c of ["HTMLIFrameElement", "HTMLFrameElement", "HTMLObjectElement"]) {
      wrap(of(c), "contentWindow", "get"); wrap(of(c), "contentDocument", "get"); wrap(of(c), "getSVGDocument", "value");
    }
    // Markup that a script writes into srcdoc becomes a page of its own.
    const frame = of("HTMLIFrameElement"), d = frame && getOwnPropertyDescriptor(frame, "srcdoc");
    const head = "<script>" + source + "</" + "script>";
    if (d && d.set && d.configurable) {
      const set = d.set;
      d.set = function (v) { apply(set, this, [head + v]); };
      defineProperty(frame, "srcdoc", d);
    }
    const attr = (name, at) => {
      const proto = of("Element"), f = proto && proto[name];
      if (f) defineProperty(proto, name, { value: function () {
        const a = Array.from(arguments);
        if (String(a[at]).toLowerCase() === "srcdoc") a[at + 1] = head + a[at + 1];
        const got = apply(f, this, a);
        sweep(w);
        return got;
      }, writable: true, configurable: true });
    };
    attr("setAttribute", 0); attr("setAttributeNS", 1);
    w.document.addEventListener("load", () => sweep(w), true); // a frame that went on to another blank page
    new w.MutationObserver(() => sweep(w)).observe(w.document, { childList: true, subtree: true });
    // There are no other windows here: what wants one stays in the frame.
    w.document.addEventListener("click", (e) => {
      const a = e.target && e.target.closest && e.target.closest("a[target], area[target]");
      if (a) a.removeAttribute("target");
    }, true);
  };
  guard(window);
  if (document.currentScript) document.currentScript.remove();
})();
