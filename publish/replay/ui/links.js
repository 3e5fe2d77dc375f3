// What a link of a replayed page leads to: what the server made of it, or, for a link
// that a script made, the same URL in the archive at the page's time.
{
  const m = /^\/(\d{4,14})\/(.+)$/.exec(location.pathname);
  const own = m && m[2].replace(/^(https?:)\/+/, "$1//") + location.search;
  sources((at) => (/^[a-z]+:\/\/[^/]+\/\d{4,14}\/https?:\/+[^/]+(\/[^#]*)/.exec(at) || [])[1]);
  storage();
  if (m) keep();
  if (m) follow((to, raw) => {
    if (/\.(png|jpe?g|gif|webp|avif|svg|bmp|ico|mp[34]|m4[av]|web[am]|og[gav])$/i.test(to.pathname)) return null;
    if (to.origin !== location.origin) return location.origin + "/" + m[1] + "/" + to.href;
    if (/^\/\d{4,14}\/https?:/.test(to.pathname)) return to.href;
    try { return location.origin + "/" + m[1] + "/" + new URL(raw, own).href; } catch (e) { return null; }
  });
  // Scripts see the address that they know; what they ask for at such paths is resolved
  // against the page that is open. An opaque origin cannot change its own.
  if (m) try { const u = new URL(own); history.replaceState(history.state, "", u.pathname + u.search + location.hash); } catch (e) {}
}
