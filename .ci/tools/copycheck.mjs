// copycheck.mjs MIRROR ORIGIN SERVED REPLAY [N [CLICKS [WORD [NAME=DIR]...]]]: opens N pages (40) of a copy in headless
// Chromium beside the live ones at ORIGIN: from the disk, from SERVED (curtsy mirror --serve) and from
// REPLAY (curtsy serve), and clicks on CLICKS links (4) of each. A page is right if it shows the live
// page's text, and as many whole pictures; a click arrives if the page that it leads to then is right;
// its first button works if the page then shows what the live one does; the search of the start page works
// if it finds WORD there as live. Of copies by other programs, in DIR, the same pages are opened from the disk.
// Prints one line a difference on stderr, and one JSON object.
import { chromium } from 'playwright-core';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [dir, origin, served, replay, most = '40', mostClicks = '4', word = 'zebra', ...peers] = process.argv.slice(2);
const map = JSON.parse(fs.readFileSync(path.join(dir, 'mirror-map.json'), 'utf8'));
const pages = map.files.filter(f => f.url?.startsWith(origin + '/') && !f.to && /html/.test(f.type || '') && !/\.(json|txt|xml)$/.test(f.url));
const step = Math.max(1, pages.length / +most);
const chosen = Array.from({ length: Math.min(pages.length, +most) }, (_, i) => pages[Math.floor(i * step)]);
const held = new Map(map.files.filter(f => f.url).map(f => [f.url, f]));
const page = url => /#!?\//.test(url) ? url : url.split('#')[0]; // routes are pages
const encode = f => f.split('/').map(encodeURIComponent).join('/');
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'] });
let asked = 0;

// look is what a page shows: its text, whole pictures, links.
const look = async (frame, tries = 3) => await frame.evaluate(() => ({
  text: document.body ? document.body.innerText.replace(/\s+/g, ' ').trim() : '',
  pictures: [...document.images].filter(i => i.complete && i.naturalWidth > 1).length,
  links: [...document.querySelectorAll('a[href]')].map(a => ({ href: a.href, raw: a.getAttribute('href'), seen: a.getClientRects().length > 0 && getComputedStyle(a).visibility === 'visible', target: a.target })),
})).catch(() => null) ?? (tries > 0 ? (await new Promise(ok => setTimeout(ok, 700)), look(frame, tries - 1)) : null); // it may be going on
const alike = (a, b) => {
  if (!a || !b || a.pictures < b.pictures) return false;
  if (a.text === b.text) return true;
  const words = s => new Set(s.split(' ')), x = words(a.text), y = words(b.text); // a clock, a random quote
  const both = [...y].filter(w => x.has(w)).length;
  return y.size > 0 && both / Math.max(x.size, y.size) > 0.95;
};
const settle = async page => { await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => {}); await page.waitForTimeout(150); };
const frameOf = async (page, how) => how !== 'replay' ? page.mainFrame() : page.frames().find(f => f.parentFrame() === page.mainFrame()) ?? page.mainFrame();

async function opened(how, url) {
  const context = await browser.newContext();
  const page = await context.newPage();
  if (how !== 'live') await context.route('**/*', route => {
    if (!route.request().url().startsWith(origin + '/')) return route.continue();
    asked++;
    return route.abort();
  });
  page.on('response', r => { if (out[how] && r.status() >= 400) { out[how].failed++; if (process.env.FAILED) console.error(how, r.status(), r.url()); } });
  page.on('requestfailed', r => { if (how === 'disk' && r.url().startsWith('file:') && !/ABORTED/.test(r.failure()?.errorText ?? '')) { out[how].failed++; if (process.env.FAILED) console.error(how, r.url()); } });
  await page.goto(url, { timeout: 20000 }).catch(() => {});
  await settle(page);
  return { page, close: () => context.close() };
}
// pressed is what a page shows after two clicks on its first button; null if it has none.
async function pressed(page, how) {
  const button = (await frameOf(page, how)).locator('button:visible:not([type=submit])').first();
  if (!await button.count()) return null;
  for (let i = 0; i < 2; i++) await button.click({ timeout: 2000 }).catch(() => {});
  await page.waitForTimeout(300);
  return look(await frameOf(page, how));
}
// searched is what the start page shows once WORD was typed into its search; null if it has none.
const openers = '.VPNavBarSearch button, .DocSearch-Button, label[for=__search].md-header__button';
const boxes = 'input.md-search__input, #localsearch-input, .search input, #MSearchField, input.search-input, #search-input, #rtd-search-form input[name=q], .searchbox input[name=q], #storybook-explorer-searchfield';
async function searched(page, how) {
  const frame = await frameOf(page, how), before = await look(frame);
  await frame.locator(openers).locator('visible=true').first().click({ timeout: 1000 }).catch(() => {});
  const box = frame.locator(boxes).locator('visible=true').first();
  if (!await box.count()) return null;
  await box.click({ timeout: 2000 }).catch(() => {});
  await box.pressSequentially(word, { delay: 40 }).catch(() => {});
  await page.waitForTimeout(1500);
  let after = await look(frame);
  if (after?.text === before?.text && !/MSearch/.test(await box.getAttribute('id'))) {
    await page.keyboard.press('Enter');
    await settle(page);
    await page.waitForTimeout(1500);
    after = await look(await frameOf(page, how));
  }
  for (const f of page.frames()) if (/MSearchResults/.test(f.name())) after.text += ' ' + (await look(f))?.text; // Doxygen's
  return after;
}
const live = new Map();
async function liveLook(url) {
  if (!live.has(url)) {
    const o = await opened('live', url);
    const seen = await look(o.page.mainFrame());
    if (seen) seen.pressed = await pressed(o.page, 'live');
    live.set(url, seen);
    await o.close();
  }
  return live.get(url);
}

const ways = { disk: f => pathToFileURL(dir).href + '/' + encode(f.file), served: f => served + encode(f.file), replay: f => replay + '2999/' + f.url.replace('#', '%23%23') };
const out = { pages: pages.length, opened: chosen.length };
for (const how of Object.keys(ways)) out[how] = { right: 0, failed: 0, search: null, clicks: 0, arrive: 0, buttons: 0, work: 0, wrong: [] };
const todo = chosen.slice();
await Promise.all([1, 2].map(async () => {
  for (let f; (f = todo.shift());) {
    const want = await liveLook(f.url);
    const links = (want?.links ?? []).map((l, i) => ({ ...l, i, url: page(l.href) })).filter(l => l.seen && !l.target && l.url !== f.url && (held.get(l.url)?.to || /html/.test(held.get(l.url)?.type || '')));
    const picked = links.filter((l, i) => links.findIndex(m => m.url === l.url) === i).sort((a, b) => (a.i * 7919 % 101) - (b.i * 7919 % 101)).slice(0, +mostClicks);
    for (const how of Object.keys(ways)) {
      const way = out[how];
      let o = await opened(how, ways[how](f));
      let got = await look(await frameOf(o.page, how));
      for (let i = 0; i < 5 && !alike(got, want); i++) {
        await o.page.waitForTimeout(500);
        got = await look(await frameOf(o.page, how));
      }
      const right = alike(got, want);
      right ? way.right++ : way.wrong.push(f.url.slice(origin.length));
      if (!right) console.error(how, f.url, 'wrong:', JSON.stringify(got?.text.slice(0, 120)), 'live:', JSON.stringify(want?.text.slice(0, 120)), got?.pictures, want?.pictures);
      for (const l of picked) {
        way.clicks++;
        const to = held.get(l.url), there = await liveLook(to.to || l.url);
        const frame = await frameOf(o.page, how);
        const i = got?.links.findIndex((x, k) => k === l.i && got.links.length === want.links.length);
        const found = i >= 0 ? i : got?.links.findIndex(x => x.raw === l.raw || x.href.endsWith('/' + encode(to.file)));
        const before = frame.url();
        if (found >= 0) await frame.locator('a[href]').nth(found).click({ timeout: 3000, force: true }).catch(() => {});
        await o.page.waitForTimeout(100);
        await settle(o.page);
        let now = await frameOf(o.page, how), after = await look(now);
        for (let i = 0; i < 5 && !alike(after, there); i++) { // a busy machine
          await o.page.waitForTimeout(500);
          after = await look(now = await frameOf(o.page, how));
        }
        if (alike(after, there)) way.arrive++;
        else console.error(how, f.url, 'click on', l.raw, found, before, '->', now.url(), JSON.stringify(after?.text.slice(0, 80)), 'live:', JSON.stringify(there?.text.slice(0, 80)));
        await o.close();
        o = await opened(how, ways[how](f));
      }
      if (want?.pressed) {
        way.buttons++;
        const after = await pressed(o.page, how);
        if (after?.text === want.pressed.text) way.work++;
        else console.error(how, f.url, 'button:', JSON.stringify(after?.text.slice(0, 120)), 'live:', JSON.stringify(want.pressed.text.slice(0, 120)));
      }
      await o.close();
    }
  }
}));
const start = held.get(origin + '/');
if (start && !start.to) {
  const search = async (how, url) => { const o = await opened(how, url), got = await searched(o.page, how); await o.close(); return got; };
  const want = await search('live', start.url);
  if (want?.text.includes(word)) for (const how of Object.keys(ways)) {
    let got = await search(how, ways[how](start));
    if (!alike(got, want)) got = await search(how, ways[how](start)); // a busy machine
    out[how].search = alike(got, want);
    if (!out[how].search) console.error(how, 'search:', JSON.stringify(got?.text.slice(0, 200)), 'live:', JSON.stringify(want.text.slice(0, 200)));
  }
}
for (const [name, root] of peers.map(p => p.split('='))) {
  out[name] = { right: 0, failed: 0 };
  for (const f of chosen) {
    const u = new URL(f.url), under = [u.host, u.host.replace(':', '_'), u.hostname, '.'].map(h => path.join(root, h)).find(d => fs.existsSync(d)) ?? root;
    const plain = decodeURIComponent(u.pathname).replace(/\/$/, '') || '/index.html';
    const file = [plain, plain + '.html', plain + '/index.html'].map(n => path.join(under, n)).find(n => fs.existsSync(n) && fs.statSync(n).isFile());
    if (!file || u.hash) continue;
    const o = await opened(name, pathToFileURL(file).href);
    if (alike(await look(o.page.mainFrame()), await liveLook(f.url))) out[name].right++;
    await o.close();
  }
}
await browser.close();
out.asked = asked;
console.log(JSON.stringify(out));
