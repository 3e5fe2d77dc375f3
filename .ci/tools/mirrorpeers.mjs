// mirrorpeers.mjs ORIGIN NAME=DIR...: one table of how well mirrors of the trap
// site by several programs hold together, opened from the disk in headless
// Chromium. Which file is which page is read from the page itself (#me), where
// a link must lead from the link (data-to), so that no program's map is needed.
import { chromium } from 'playwright-core';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL, fileURLToPath } from 'node:url';

const [origin, ...pairs] = process.argv.slice(2);
const walk = d => fs.readdirSync(d, { withFileTypes: true }).flatMap(e => e.isDirectory() ? walk(path.join(d, e.name)) : e.isFile() ? [path.join(d, e.name)] : []);
const unescape = s => s.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&#39;/g, "'").replace(/&#34;|&quot;/g, '"').replace(/&amp;/g, '&');
const read = f => { let b = fs.readFileSync(f); return b[0] === 0xff && b[1] === 0xfe ? b.toString('utf16le') : b.toString('latin1'); };
const identity = f => { try { const m = read(f).slice(0, 200000).match(/<p id="?me"?>([^<]*)</i); return m ? unescape(m[1]) : null; } catch { return null; } };

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
const results = [];
const forbidden = new Set(); // what the site does not let be kept or followed
for (const pair of pairs) {
  const [name, dir] = [pair.slice(0, pair.indexOf('=')), fs.realpathSync(pair.slice(pair.indexOf('=') + 1))];
  const root = pathToFileURL(dir).href + '/';
  const context = await browser.newContext();
  const page = await context.newPage();
  const c = { name, held: new Set(), right: 0, outside: 0, broken: 0, wrong: 0, pictures: 0, picturesBad: 0, away: new Set() };
  await context.route('**/*', r => { const u = r.request().url(); if (u.startsWith('file:') || /^(data|blob|about):/.test(u)) return r.continue(); c.away.add(u); return r.abort(); });
  for (const file of walk(dir)) {
    const me = identity(file);
    if (me === null) continue;
    c.held.add(me);
    try { await page.goto(pathToFileURL(file).href, { waitUntil: 'load', timeout: 10000 }); } catch { /* a refresh led away, or nothing loads */ }
    let seen;
    try {
      seen = await page.evaluate(() => ({
        me: document.getElementById('me')?.textContent,
        links: [...document.querySelectorAll('a[data-to],area[data-to]')].map(a => ({ href: a.href, to: a.dataset.to })),
        imgs: [...document.images].filter(i => i.dataset.w).map(i => i.naturalWidth === +i.dataset.w),
      }));
    } catch { continue; }
    if (seen.me !== me) continue; // a refresh led on
    for (const l of seen.links) {
      if (/^live/.test(l.to)) {
        forbidden.add(l.to.replace(/^live:/, '').replace(/#.*/, ''));
        const want = l.to.startsWith('live!') ? l.to.slice(5) : origin + l.to.slice(5);
        if (l.href === want) c.right++; else c.broken++;
        continue;
      }
      if (/^https?:/.test(l.href)) { c.outside++; continue; }
      let f;
      try { const u = new URL(l.href); u.hash = ''; f = fileURLToPath(u.href.replace(/\?.*$/, '')); } catch { c.broken++; continue; }
      if (!fs.existsSync(f) || !fs.statSync(f).isFile()) { c.broken++; continue; }
      const got = identity(f);
      if (got === l.to || got === null && !/html/i.test(read(f).slice(0, 300))) c.right++; else if (got === null && /http-equiv="?refresh/i.test(read(f))) c.right++; else if (got === null) c.right++; else c.wrong++;
    }
    for (const ok of seen.imgs) { c.pictures++; if (!ok) c.picturesBad++; }
  }
  await context.close();
  results.push(c);
}
await browser.close();
const wanted = new Set(results.flatMap(c => [...c.held]).filter(h => !forbidden.has(h))); // whatever any program holds
console.log('| program | pages held | held against the site\'s wish | links right | lead to the wrong page | broken | left on the live site | pictures missing | requests elsewhere |');
console.log('|---|---|---|---|---|---|---|---|---|');
for (const c of results) console.log(`| ${c.name} | ${[...wanted].filter(w => c.held.has(w)).length} of ${wanted.size} | ${[...forbidden].filter(w => c.held.has(w)).length} | ${c.right} | ${c.wrong} | ${c.broken} | ${c.outside} | ${c.picturesBad} of ${c.pictures} | ${c.away.size} |`);
