// mirrorcheck.mjs DIR [ORIGIN]: opens every page of a mirror in headless
// Chromium, from the disk and through a web server of its own, and holds what
// is seen against what the pages say of themselves:
//
//   #me          the page's own request target: the identity of the file
//   a[data-to]   the target a link must lead to, "live:TARGET" for the live site ORIGIN
//   img[data-w]  the width of the picture that must be there
//   data-silent  a picture that must not be asked for
//
// It also counts broken pictures, styles and scripts, and requests that leave
// the machine. One line a finding on stdout; the last line is a summary.
import { chromium } from 'playwright-core';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { pathToFileURL, fileURLToPath } from 'node:url';

const dir = fs.realpathSync(process.argv[2]), origin = process.argv[3] || '';
const map = JSON.parse(fs.readFileSync(path.join(dir, 'mirror-map.json'), 'utf8'));
const types = { '.html': 'text/html', '.htm': 'text/html', '.xhtml': 'application/xhtml+xml', '.css': 'text/css', '.js': 'text/javascript', '.mjs': 'text/javascript', '.svg': 'image/svg+xml', '.png': 'image/png', '.gif': 'image/gif', '.jpg': 'image/jpeg', '.ico': 'image/x-icon', '.json': 'application/json', '.pdf': 'application/pdf', '.txt': 'text/plain' };
const server = http.createServer((q, r) => {
  const name = decodeURIComponent(new URL(q.url, 'http://x').pathname).slice(1);
  const file = path.join(dir, name);
  if (!file.startsWith(dir) || !fs.existsSync(file) || !fs.statSync(file).isFile()) { r.writeHead(404); return r.end(); }
  r.writeHead(200, { 'content-type': types[path.extname(file).toLowerCase()] || 'application/octet-stream' });
  fs.createReadStream(file).pipe(r);
});
await new Promise(ok => server.listen(0, '127.0.0.1', ok));
const web = `http://127.0.0.1:${server.address().port}/`;

const urlOf = new Map(); // file -> URLs it stands for
for (const f of map.files) if (f.url) urlOf.set(f.file, [...(urlOf.get(f.file) || []), f.to || f.url]);
const pages = map.files.filter(f => f.url && !f.to && /html/.test(f.type || ''));
const encode = f => f.split('/').map(encodeURIComponent).join('/');
const target = u => { const v = new URL(u); return u.slice(v.origin.length) || '/'; };
let findings = 0;
const seenFindings = new Set();
const bad = (...w) => { const s = w.join(' '); if (!seenFindings.has(s)) { seenFindings.add(s); findings++; console.log(s); } };

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--allow-file-access-from-files=false'] });
let links = 0, pictures = 0, out = 0;
for (const scheme of ['file', 'http']) {
  const root = scheme === 'file' ? pathToFileURL(dir).href + '/' : web;
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 } });
  const page = await context.newPage();
  let now = '';
  const counted = new Set();
  await context.route('**/*', route => {
    const r = route.request(), u = r.url();
    if (u.startsWith(root) || /^(data|blob|about):/.test(u)) return route.continue();
    if (!counted.has(u)) { counted.add(u); out++; bad(scheme, now, 'asks elsewhere:', u); }
    return route.abort();
  });
  page.on('requestfailed', r => { const u = r.url(); if (u.startsWith(root) && !/ERR_ABORTED/.test(r.failure()?.errorText || '')) bad(scheme, now, 'failed:', u.slice(root.length), r.failure()?.errorText); });
  page.on('response', r => { if (r.status() >= 400) bad(scheme, now, 'answered', r.status() + ':', r.url().slice(root.length)); });
  for (const f of pages) {
    now = f.file;
    // no meta refresh while looking: it is checked as a link
    await page.addInitScript(() => { window.stop; });
    let html;
    try { await page.goto(root + encode(f.file), { waitUntil: 'load', timeout: 20000 }); } catch (e) { if (!/interrupted|ERR_ABORTED|navigat/i.test(e.message)) bad(scheme, now, 'does not open:', e.message.split('\n')[0]); }
    let seen;
    for (let i = 0; i < 3; i++) try {
      seen = await page.evaluate(() => {
        const all = (sel, f) => [...document.querySelectorAll(sel)].map(f);
        const frames = d => [d, ...[...d.querySelectorAll('iframe[srcdoc]')].flatMap(x => { try { return x.contentDocument ? frames(x.contentDocument) : []; } catch { return []; } })];
        const docs = frames(document);
        return {
          at: location.href, me: document.getElementById('me')?.textContent ?? null, charset: document.characterSet, ru: document.getElementById('ru')?.textContent,
          translate: document.documentElement.getAttribute('translate'),
          links: docs.flatMap(d => [...d.querySelectorAll('a,area')].map(a => ({ href: typeof a.href === 'string' ? a.href : new URL(a.href.baseVal, document.baseURI).href, raw: a.getAttribute('href') ?? a.getAttribute('xlink:href'), to: a.dataset?.to, frag: a.dataset?.frag }))),
          imgs: docs.flatMap(d => [...d.images].map(i => ({ src: i.currentSrc || i.getAttribute('src'), w: i.dataset.w, ok: i.complete && i.naturalWidth > 0, width: i.naturalWidth, silent: 'silent' in i.dataset, has: i.hasAttribute('src') || i.hasAttribute('srcset'), lazy: i.loading === 'lazy' }))),
          sheets: [...document.styleSheets].map(s => ({ href: s.href, rules: (() => { try { return s.cssRules.length; } catch { return -1; } })() })),
          colours: ['css-file', 'css-php', 'css-import', 'css-layer', 'css-quoted'].map(i => document.getElementById(i)).filter(Boolean).map(e => e.id + getComputedStyle(e).color),
          js: document.documentElement.dataset.a, php: document.documentElement.dataset.js,
          used: document.getElementById('used')?.getBBox().width,
        };
      });
      break;
    } catch (e) { await page.waitForTimeout(200); }
    if (!seen) { bad(scheme, now, 'cannot be looked at'); continue; }
    if (seen.at.split('#')[0] !== root + encode(f.file) && decodeURI(seen.at.split('#')[0]) !== decodeURI(root + encode(f.file))) { // a refresh led on
      const to = decodeURIComponent(seen.at.slice(root.length).split('#')[0]);
      if (!seen.at.startsWith(root) || !urlOf.has(to)) bad(scheme, now, 'leads to', seen.at);
      const src = fs.readFileSync(path.join(dir, f.file), 'latin1');
      const me = src.match(/<p id=me>([^<]*)</);
      if (me && me[1].replace(/&amp;/g, '&') !== target(f.url)) bad(scheme, now, 'is', me[1], 'and not', target(f.url));
      continue;
    }
    const own = urlOf.get(f.file).map(target);
    if (seen.me !== null && !own.includes(seen.me)) bad(scheme, now, 'is', seen.me, 'and not', own);
    if (seen.ru !== undefined && seen.ru !== null && seen.ru !== 'Привет, мир') bad(scheme, now, 'charset', seen.charset, 'shows', seen.ru);
    for (const l of seen.links) {
      if (!/^(file|https?):/.test(l.href)) continue;
      links++;
      if (l.href.startsWith(root)) {
        const file = decodeURIComponent(l.href.slice(root.length).split('#')[0]);
        const path_ = path.join(dir, file);
        if (!fs.existsSync(path_) || !fs.statSync(path_).isFile()) { bad(scheme, now, 'broken link:', l.raw); continue; }
        if (l.to !== undefined) {
          const got = (urlOf.get(file) || []).map(target);
          if (!got.includes(l.to)) bad(scheme, now, 'link', JSON.stringify(l.raw), 'leads to', got, 'and not', l.to);
        }
        if (l.frag && !l.href.endsWith(l.frag)) bad(scheme, now, 'lost the fragment', l.frag, l.raw);
      } else {
        if (l.href.startsWith('file:')) bad(scheme, now, 'link out of the tree:', l.raw);
        if (l.to !== undefined && !(l.to === 'live!' + l.href || l.to.startsWith('live:') && l.href === origin + l.to.slice(5))) bad(scheme, now, 'link', JSON.stringify(l.raw), 'is', l.href, 'and not', l.to);
      }
    }
    for (const i of seen.imgs) {
      pictures++;
      if (i.silent ? i.has && i.src : i.has && i.src && !i.ok && !i.lazy) bad(scheme, now, 'picture', i.src, i.silent ? 'is asked for' : 'is broken');
      if (i.w !== undefined && i.width !== +i.w) bad(scheme, now, 'picture', i.src, 'is', i.width, 'wide and not', i.w);
    }
    const want = { 'css-file': 'rgb(2, 2, 2)', 'css-php': 'rgb(1, 1, 1)', 'css-import': 'rgb(3, 3, 3)', 'css-layer': 'rgb(4, 4, 4)', 'css-quoted': 'rgb(5, 5, 5)' };
    for (const c of seen.colours) { const id = c.replace(/rgb.*/, ''); if (c !== id + want[id]) bad(scheme, now, 'style', c); }
    if (seen.colours.length && (seen.js !== 'a' || seen.php !== 'php')) bad(scheme, now, 'script did not run:', seen.js, seen.php);
    if (seen.used === 0) bad(scheme, now, 'the sprite is not drawn');
    if (/notrans/.test(f.file) && seen.translate !== 'no') bad(scheme, now, 'may be translated');
  }
  await context.close();
}
await browser.close();
server.close();
console.log(`${pages.length} pages opened twice, ${links} links, ${pictures} pictures, ${out} requests elsewhere: ${findings} findings`);
process.exit(findings ? 1 : 0);
