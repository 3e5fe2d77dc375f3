// quietsite.mjs site URLFILE | proxy URLFILE LOG: a site whose scripts ask for
// its own files by absolute URLs, in every way that a browser knows, as
// WordPress does with what is in its inline JSON; or a proxy that writes a line
// for each request that a browser makes, and refuses it.
import http from 'node:http';
import fs from 'node:fs';

const [what, urlFile, log] = process.argv.slice(2);
const script = origin => `
  var live = ${JSON.stringify({ base: origin + '/live' }).replaceAll('/', '\\/')}.base, n = 0, next = function () { return live + ++n; };
  var add = function (tag, key, value) { var e = document.createElement(tag); e[key] = value; if (tag === 'link') e.rel = 'stylesheet'; document.body.appendChild(e); };
  addEventListener('load', function () {
    var ways = [
      function () { fetch(next()).catch(function () {}); }, function () { var x = new XMLHttpRequest(); x.open('GET', next()); x.send(); },
      function () { add('script', 'src', next()); }, function () { add('img', 'src', next()); }, function () { add('iframe', 'src', next()); },
      function () { add('link', 'href', next()); }, function () { add('video', 'src', next()); }, function () { add('object', 'data', next()); },
      function () { navigator.sendBeacon(next()); }, function () { new EventSource(next()); }, function () { new WebSocket(next().replace('http', 'ws')); },
      function () { import(next()).catch(function () {}); }, function () { new Worker(next()); },
      function () { new Worker(URL.createObjectURL(new Blob(["fetch('" + next() + "')"]))); },
      function () { document.body.style.background = 'url(' + next() + ')'; }, function () { new FontFace('f', 'url(' + next() + ')').load().catch(function () {}); },
    ];
    ways.forEach(function (way) { try { way(); } catch (e) {} });
    document.title = 'asked ' + ways.length;
  });`;

// A browser may end any connection at any time: that is no error here.
const server = http.createServer((q, r) => {
  q.socket.on('error', () => {});
  if (what === 'proxy') { fs.appendFileSync(log, q.method + ' ' + q.url + '\n'); r.writeHead(502); return r.end(); }
  const origin = 'http://' + q.headers.host;
  const page = { '/': '<a href="/b.html">b</a>', '/b.html': '<a href="/">a</a>' }[q.url];
  r.writeHead(page ? 200 : 404, { 'content-type': 'text/html' });
  r.end(page && `<!DOCTYPE html><title>quiet</title><body>${page}<script>${script(origin)}</script>`);
});
if (what === 'proxy') server.on('connect', (q, s) => { s.on('error', () => {}); fs.appendFileSync(log, 'CONNECT ' + q.url + '\n'); s.end('HTTP/1.1 502 no\r\n\r\n'); });
server.listen(0, '127.0.0.1', () => fs.writeFileSync(urlFile, `http://127.0.0.1:${server.address().port}`));
