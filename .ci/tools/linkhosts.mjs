// linkhosts.mjs PORT [KEY CERT]: a site at 127.0.0.1:PORT with 300 links to 40 other hosts, 127.0.0.2 to 127.0.0.41,
// of which some are slow, forbid, want to be left alone, are dead or redirect; with KEY and CERT, one of
// them answers at ports 80 and 443. /planted says what a checker should say of each link;
// /asked what each program asked for since the last /asked, and how many requests a host at a time.
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';

const [port, key, cert] = process.argv.slice(2);
const at = n => `http://127.0.0.${n}:${port}`;
const page = (title, body) => `<!DOCTYPE html><html lang="en"><title>${title}</title><h1 id="here">${title}</h1><p>The quick brown fox ${body}`;
const planted = {}; // by URL: verdict, and what the reason says
const plant = (url, verdict, reason = '') => { planted[url] = { verdict, reason }; };

// what every link of a host is, by the last part of its address
const hosts = {
  28: ['slow', 'ok'], 29: ['slow', 'ok'], 30: ['403', 'undecided', '403'], 31: ['403', 'undecided', '403'],
  32: ['busy', 'ok'], 33: ['later', 'undecided'], 34: ['dead', 'broken', 'refused'], 35: ['500', 'undecided', '500'],
  36: ['999', 'undecided', '999'], 37: ['permanent', 'ok', 'moved for good: link to ' + at(2)], 38: ['temporary', 'ok', 'redirect for now to ' + at(3)],
  39: ['circle', 'broken', 'redirect'], 40: ['disallowed', 'unchecked', 'robots.txt'],
};
for (let n = 2; n <= 27; n++) {
  plant(at(n) + '/page', 'ok');
  plant(at(n) + '/nohead', 'ok');
  plant(at(n) + '/page#here', 'ok');
  plant(at(n) + '/page#lost', 'broken', 'no place #lost');
  plant(at(n) + '/404', 'broken', '404');
  plant(at(n) + '/410', 'broken', '410');
  plant(at(n) + '/moved', 'ok', 'moved for good: link to ' + at(n) + '/page');
  plant(at(n) + '/moved-to-404', 'broken', '404');
  plant(at(n) + '/denied/page', 'unchecked', 'robots.txt');
}
plant(at(2) + '/page#:~:text=quick%20brown', 'ok');
plant(at(2) + '/page#:~:text=slow%20hare', 'broken', 'no place');
for (const [n, [, verdict, reason]] of Object.entries(hosts)) {
  for (const path of ['/a', '/b', '/c', '/d']) plant(at(n) + path, verdict, reason);
}
for (let n = 4; n <= 13; n++) plant(at(n) + '/page?more', 'ok');
for (const path of ['/e', '/f']) plant(at(28) + path, 'ok');
if (key) plant('http://127.0.0.41/page', 'ok', 'https answers, too: link to https://127.0.0.41/page');
else plant(at(41) + '/page', 'ok');

let asked = {}; // by program, host, and what was asked for
const busy = {};
const flying = {};

function note(q, r, host) {
  const by = asked[(q.headers['user-agent'] || '').split(/[/ ]/)[0]] ??= {};
  const h = by[host] ??= { most: 0, requests: [] };
  h.requests.push(q.method + ' ' + q.url);
  h.most = Math.max(h.most, flying[host] = (flying[host] || 0) + 1);
  let gone = false;
  const end = () => { if (!gone) flying[host]--; gone = true; };
  r.on('finish', end).on('close', end);
}

function site(q, r) {
  r.setHeader('content-type', 'text/html');
  if (q.url === '/planted') return r.end(JSON.stringify(planted));
  if (q.url === '/asked') { r.end(JSON.stringify(asked)); asked = {}; return; }
  const links = Object.keys(planted), n = +q.url.slice(1);
  if (q.url === '/') return r.end(page('Contents', [1, 2, 3, 4, 5, 6].map(i => `<a href="/${i}">${i}</a>`).join(' ')));
  if (!(n >= 1 && n <= 6)) { r.statusCode = 404; return r.end(); }
  r.end(page('Page ' + n, links.filter((_, i) => i % 6 === n - 1).map(l => `<a href="${l}">x</a>`).join(' ')));
}

function answer(q, r) {
  const host = q.socket.localAddress, n = +host.split('.')[3], kind = hosts[n]?.[0];
  if (n === 1) return site(q, r);
  note(q, r, host);
  const say = (status, headers = {}, body = '') => { r.writeHead(status, { 'content-type': 'text/html', ...headers }); r.end(body); };
  if (q.url === '/robots.txt') return say(200, { 'content-type': 'text/plain' }, 'User-agent: *\nDisallow: ' + (kind === 'disallowed' ? '/\n' : '/denied/\n'));
  const fine = () => say(200, {}, page('Fine', 'jumps.'));
  switch (kind) {
    case 'slow': return setTimeout(fine, 400);
    case 'busy': { // the first request of each program
      const by = q.headers['user-agent'] + host;
      if (!busy[by]) { busy[by] = true; return say(429, { 'retry-after': '1' }); }
      return fine();
    }
    case 'later': return say(429, { 'retry-after': '3600' });
    case 'permanent': return say(301, { location: at(2) + '/page' });
    case 'temporary': return say(302, { location: at(3) + '/page' });
    case 'circle': return say(302, { location: q.url });
    case '403': case '500': case '999': return say(+kind);
  }
  if (q.url === '/nohead' && q.method === 'HEAD') return say(405);
  if (q.url === '/moved') return say(308, { location: '/page' });
  if (q.url === '/moved-to-404') return say(301, { location: '/404' });
  if (/^\/\d+$/.test(q.url)) return say(+q.url.slice(1));
  fine();
}

for (let n = 1; n <= 41; n++) if (hosts[n]?.[0] !== 'dead') http.createServer(answer).listen(+port, '127.0.0.' + n);
if (key) {
  http.createServer(answer).listen(80, '127.0.0.41');
  https.createServer({ key: fs.readFileSync(key), cert: fs.readFileSync(cert) }, answer).listen(443, '127.0.0.41');
}
