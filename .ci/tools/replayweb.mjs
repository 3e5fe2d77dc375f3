// replayweb.mjs FILE.wacz PAGE PHRASE: opens a WACZ in replayweb.page, offline in
// Chromium: the page of the archive shows PHRASE, the reader's own search finds
// it, and nothing is asked of anybody else.
//   SEARCH=no leaves the search out. NODE_MODULES is where replaywebpage and playwright-core are.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { chromium } from 'playwright-core';

const [file, url, phrase, modules] = process.argv.slice(2);
const app = path.join(modules, 'replaywebpage');
const types = { '.js': 'text/javascript', '.html': 'text/html', '.wacz': 'application/wacz' };
const server = http.createServer((q, r) => {
  const name = new URL(q.url, 'http://x').pathname;
  const from = name === '/x.wacz' ? file : name === '/replay/ui.js' ? path.join(app, 'ui.js') : name === '/replay/sw.js' ? path.join(app, 'sw.js') : null;
  if (!from) {
    r.writeHead(name === '/replay/' || name === '/replay/index.html' ? 200 : 404, { 'content-type': 'text/html' });
    return r.end('<!doctype html><html><body><script src="/replay/ui.js"></script><replay-app-main></replay-app-main></body></html>');
  }
  const size = fs.statSync(from).size, range = /^bytes=(\d*)-(\d*)$/.exec(q.headers.range || '');
  let a = 0, b = size - 1;
  if (range) { if (range[1] === '') a = Math.max(0, size - Number(range[2])); else { a = Number(range[1]); if (range[2]) b = Math.min(b, Number(range[2])); } }
  r.writeHead(range ? 206 : 200, { 'content-type': types[path.extname(from)], 'accept-ranges': 'bytes', 'content-length': b - a + 1, ...(range && { 'content-range': `bytes ${a}-${b}/${size}` }), 'service-worker-allowed': '/' });
  if (q.method === 'HEAD') return r.end();
  fs.createReadStream(from, { start: a, end: b }).pipe(r);
});
await new Promise(ok => server.listen(0, '127.0.0.1', ok));
const base = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'] });
const context = await browser.newContext();
const elsewhere = new Set();
context.on('request', q => { const u = q.url(); if (/^(https?|wss?):/.test(u) && !u.startsWith(base + '/')) elsewhere.add(u); });
const page = await context.newPage();
const wait = async (what, f) => {
  for (let i = 0; i < 240; i++) { try { const got = await f(); if (got) return got; } catch {} await page.waitForTimeout(250); }
  console.log(`waited in vain for ${what}`);
  if (process.env.SHOT) await page.screenshot({ path: process.env.SHOT });
  await browser.close();
  process.exit(1);
};
await page.goto(`${base}/replay/?source=${encodeURIComponent(base + '/x.wacz')}#view=pages&url=${encodeURIComponent(url)}`);
const text = (f) => f.evaluate(() => document.body?.innerText || '');
await wait('the page', async () => { for (const f of page.frames()) if ((await text(f).catch(() => '')).includes(phrase)) return true; });
if (process.env.SEARCH === 'no') {
  console.log(`${path.basename(file)}: shown, ${elsewhere.size} requests elsewhere`);
  await browser.close();
  process.exit(elsewhere.size ? 1 : 0);
}
const results = `${base}/replay/?source=${encodeURIComponent(base + '/x.wacz')}#view=pages&query=${encodeURIComponent(phrase)}`;
await page.goto('about:blank');
await page.goto(results);
const deep = () => { const out = []; const walk = n => { for (const e of n.querySelectorAll('*')) { if (e.localName === 'wr-page-entry') out.push(e.shadowRoot?.textContent.replace(/\s+/g, ' ') || ''); if (e.shadowRoot) walk(e.shadowRoot); } }; walk(document); return out; };
const found = await wait('its search', async () => { const l = await page.evaluate(deep); return l.length && l.some(t => t.includes(phrase)) && l; });
console.log(`${path.basename(file)}: shown, ${found.length} results for “${phrase}”, ${elsewhere.size} requests elsewhere`);
for (const u of [...elsewhere].slice(0, 5)) console.log(`  ${u}`);
await browser.close();
server.close();
process.exit(elsewhere.size ? 1 : 0);
