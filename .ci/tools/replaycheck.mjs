// replaycheck.mjs pixels UI LIVE PATH...     pages in their frame against the live site, pixel by pixel
// replaycheck.mjs shots UI DIR PATH...       pictures of pages of the UI, at 1280 and 390 px, each light and dark, for people to look at
// replaycheck.mjs axe UI PATH...             axe-core on pages of the UI, at 1280 px in light and 390 px in dark colours; AXE=all: each in both
// replaycheck.mjs pace UI N URLFILE          N random pages of a list, live and from the archive, one after the other: p50 and p99 in ms
// replaycheck.mjs hostile UI N               N random and hostile targets at both servers: no 5xx
// replaycheck.mjs public UI URL [PICTURE]    a page of serve --public that tries for cookies and storage, beside another service of the host
import fs from 'node:fs';
import http from 'node:http';
import { within } from './within.mjs';

const [mode, ui, ...args] = process.argv.slice(2);
const chromium = async () => (await import('playwright-core')).chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const get = (port, host, path, headers = {}) => within(60, `${host}${path.slice(0, 200)}`, new Promise((ok, no) => {
  const q = http.request({ host: '127.0.0.1', port, path, agent, headers: { host, ...headers } }, r => { let n = 0, b = ''; r.on('data', d => { n += d.length; if (b.length < 4e6) b += d; }).on('end', () => ok({ status: r.statusCode, headers: r.headers, body: b, n })); });
  q.on('error', no).end();
}));
const port = new URL(ui).port;
const contentOf = async (url) => { const m = /src="http:\/\/([^/"]+)\//.exec((await get(port, `127.0.0.1:${port}`, `/2099/${url}`)).body); if (!m) throw new Error(`no frame for ${url}`); return m[1]; };
let seed = 7;
const random = (n) => { seed = (seed * 1103515245 + 12345) & 0x7fffffff; return seed % n; };

const modes = {
  async pixels(live, ...paths) {
    const { PNG } = (await import('pngjs')).default, pixelmatch = (await import('pixelmatch')).default;
    const browser = await chromium();
    const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
    const size = (box) => ({ width: Math.round(box.width), height: Math.round(box.height) });
    const differ = (a, b) => a.width === b.width && a.height === b.height ? pixelmatch(a.data, b.data, null, a.width, a.height, { threshold: 0 }) : -1;
    const shot = async (viewport, clip, open) => {
      const other = await browser.newPage({ viewport });
      await open(other);
      await other.waitForTimeout(150);
      const picture = PNG.sync.read(await other.screenshot(clip ? { clip } : {}));
      await within(30, 'closing a page', other.close());
      return picture;
    };
    // Chromium scales pictures in a frame a shade otherwise than in a page of its own: where something
    // differs, the live page is drawn in a frame in the same place, too.
    const framed = (url, box) => shot({ width: 1000, height: 900 }, box, async (p) => {
      await p.setContent(`<body style="margin:0"><iframe src="${url}" style="position:absolute;border:0;left:${box.x}px;top:${box.y}px;width:${box.width}px;height:${box.height}px"></iframe>`, { waitUntil: 'load' });
    });
    let same = 0, inFrame = 0;
    // A picture may be decoded a moment later than its page is there: each page gets three tries.
    for (const path of paths) for (let n = -1, f = -1, tries = 0; n !== 0 && f !== 0 && tries < 3; tries++) {
      await page.goto(`${ui}/2099/${live}${path}`, { waitUntil: 'load' });
      await page.waitForTimeout(150);
      const box = await page.locator('iframe').boundingBox();
      const ours = PNG.sync.read(await page.screenshot({ clip: box }));
      n = differ(ours, await shot(size(box), null, (p) => p.goto(live + path, { waitUntil: 'load' })));
      if (n !== 0) f = differ(ours, await framed(live + path, box));
      if (n === 0) same++;
      else if (f === 0) inFrame++;
      else if (tries === 2) console.log(`${path}: ${n} pixels differ, ${f} from the live page in a frame`);
    }
    await within(30, 'closing Chromium', browser.close());
    console.log(`${same} of ${paths.length} pages are the live ones, pixel by pixel; ${inFrame} more are the live ones in a frame`);
    return same + inFrame === paths.length;
  },
  async shots(dir, ...paths) {
    const browser = await chromium();
    for (const [width, colorScheme] of [[1280, 'light'], [400, 'dark']]) {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
      for (const [i, path] of paths.entries()) {
        await page.goto(ui + path, { waitUntil: 'load' });
        await page.screenshot({ path: `${dir}/${i}-${width}.png` });
      }
    }
    await within(30, 'closing Chromium', browser.close());
    return true;
  },
  async axe(...paths) {
    const axe = fs.readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
    const browser = await chromium();
    let violations = 0;
    // Each width and each scheme once; AXE=all takes them in all four pairs.
    const pairs = [[1280, 'light'], [390, 'dark'], [1280, 'dark'], [390, 'light']];
    for (const [width, colorScheme] of process.env.AXE === 'all' ? pairs : pairs.slice(0, 2)) {
      const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme, bypassCSP: true });
      const page = await context.newPage();
      for (const path of paths) {
        await page.goto(ui + path, { waitUntil: 'load' });
        await page.evaluate(() => document.querySelectorAll('details').forEach(d => { d.open = true }));
        await within(60, `axe on ${path}`, page.evaluate(axe));
        const r = await within(60, `axe on ${path}`, page.evaluate(() => axe.run(document, { iframes: false })));
        for (const v of r.violations) { violations++; console.log(`${path} at ${width}: ${v.id}: ${v.nodes.map(n => n.html).slice(0, 2).join(' ')}`); }
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        if (wide) { violations++; console.log(`${path} at ${width}: scrolls sideways`); }
      }
      await within(30, 'closing a context', context.close());
    }
    await within(30, 'closing Chromium', browser.close());
    console.log(`${violations} violations on ${paths.length} pages`);
    return violations === 0;
  },
  async pace(n, file) {
    const urls = fs.readFileSync(file, 'utf8').trim().split('\n'), host = await contentOf(urls[0]);
    const picked = Array.from({ length: Number(n) }, () => urls[random(urls.length)]);
    // the same pages from the archive and from the live server, one after the other, by the same client
    const timed = async (name, ask) => {
      const times = [];
      let octets = 0, bad = 0;
      for (const url of picked) {
        const from = performance.now(), r = await ask(url);
        times.push(performance.now() - from);
        octets += r.n;
        if (r.status !== 200) bad++;
      }
      times.sort((a, b) => a - b);
      console.log(`${name}: ${n} pages, ${(octets / 1e6).toFixed(1)} MB, ${bad} errors: p50 ${times[n >> 1].toFixed(2)} ms, p99 ${times[Math.floor(n * 0.99)].toFixed(2)} ms`);
      return bad === 0;
    };
    const live = await timed('live', (url) => { const u = new URL(url); return get(u.port, u.host, u.pathname + u.search); });
    return await timed('archive', (url) => get(host.split(':')[1], host, `/2099/${url}`)) && live;
  },
  async hostile(n, url) {
    const host = await contentOf(url), contentPort = host.split(':')[1];
    const parts = ['/', '..', '%2e%2e', '%00', 'etc/passwd', 'crawl.db', 'warc', '2026', '20261122125542', 'id_', 'http:', 'http://', 'https:/', url, new URL(url).host, '[::1]', '[', '%', '%zz', '?', '&', '=', "'", '"', '<script>', '%ff%fe', '%D0%B6', '://', 'file:///etc/passwd', '/timemap/link/', '/versions/', '/timegate/', '/search?q=', '/go?url=', '"', 'a*', '-', '(', 'a'.repeat(4000), 'javascript:alert(1)', '*', '\\\\', ';', '%20'];
    let worst = 0;
    for (let i = 0; i < Number(n); i++) {
      let path = '/';
      for (let k = random(9); k > 0; k--) path += parts[random(parts.length)];
      const content = i % 2;
      const r = await get(content ? contentPort : port, content ? host : `127.0.0.1:${port}`, path, { referer: `http://${host}/2026/${url}` });
      worst = Math.max(worst, r.status);
      if (r.status >= 500 || /root:x:/.test(r.body)) { console.log(`${r.status} ${path.slice(0, 200)}`); return false; }
    }
    console.log(`${n} targets, no 5xx, worst ${worst}`);
    return true;
  },
  // The page writes what it can reach as JSON into #found; its style makes that 300 px wide, its script and picture are its own.
  async public(url, picture) {
    const neighbour = http.createServer((q, r) => { r.writeHead(200, { 'set-cookie': 'session=of-another; Path=/' }); r.end('x'); });
    await new Promise(ok => neighbour.listen(0, new URL(ui).hostname, ok));
    const browser = await chromium();
    const context = await browser.newContext({ viewport: { width: 1000, height: 600 } });
    const page = await context.newPage();
    await page.goto(`http://${new URL(ui).hostname}:${neighbour.address().port}/`);
    const cookies = async () => (await context.cookies()).map(c => `${c.name}=${c.value}`).join('; ');
    const before = await cookies(), policies = [];
    page.on('response', r => { if (![port, String(neighbour.address().port)].includes(new URL(r.url()).port)) policies.push(r.status() === 307 || /sandbox/.test(r.headers()['content-security-policy'] || '') && !r.headers()['set-cookie']); });
    const look = async (from) => {
      const box = from.locator('#found');
      await box.filter({ hasText: '}' }).waitFor({ timeout: 30000 });
      return { ...JSON.parse(await box.textContent()), wide: (await box.boundingBox()).width };
    };
    await page.goto(`${ui}/2099/${url}`, { waitUntil: 'load' });
    const framed = await look(page.frameLocator('iframe'));
    if (picture) await page.screenshot({ path: picture });
    await page.frameLocator('iframe').locator('a').click(); // to a page that leads back
    await page.frameLocator('iframe').locator('#back').waitFor({ timeout: 30000 });
    await page.goto(await page.locator('iframe').getAttribute('src')); // without the frame: back into it
    const again = await look(page.frameLocator('iframe'));
    const after = await cookies();
    await within(30, 'closing Chromium', browser.close());
    neighbour.close();
    // An opaque origin has neither: what scripts get in their place is the page's own, and empty.
    const want = JSON.stringify({ origin: 'null', cookie: '', storage: '0', worker: 'refused', fetched: 'a=1', picture: 8, wide: 300 });
    const good = [framed, again].every(f => JSON.stringify(f) === want) && before === 'session=of-another' && after === before && policies.length > 5 && policies.every(Boolean);
    if (!good) console.log(JSON.stringify({ want, framed, again, before, after, policies }));
    console.log(`origin ${framed.origin}, cookies seen: ${framed.cookie}; the browser holds ${after}, as before; ${policies.length} answers, each without an origin`);
    return good;
  },
};
const good = await modes[mode](...args);
process.exit(good ? 0 : 1);
