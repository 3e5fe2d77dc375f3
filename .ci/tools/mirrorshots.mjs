// mirrorshots.mjs DIR N [OUTDIR]: pictures of N pages of a mirror, opened from the
// disk, beside those of the live site, compared pixel by pixel. One line a
// page; the last is a summary. Different pages' pictures are kept in OUTDIR.
import { chromium } from 'playwright-core';
import { PNG } from 'pngjs';
import pixelmatch from 'pixelmatch';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [dir, n, outdir] = [fs.realpathSync(process.argv[2]), +process.argv[3], process.argv[4]];
const map = JSON.parse(fs.readFileSync(path.join(dir, 'mirror-map.json'), 'utf8'));
const pages = map.files.filter(f => f.url && !f.to && f.type === 'text/html');
const step = Math.max(1, Math.floor(pages.length / n));
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--force-color-profile=srgb', '--font-render-hinting=none'] });
// A new context each time: a wiki shows where a visitor has been before.
const shot = async url => {
  const context = await browser.newContext({ viewport: { width: 1200, height: 1600 }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(url, { waitUntil: 'load', timeout: 30000 });
  await page.waitForTimeout(150);
  const png = PNG.sync.read(await page.screenshot({ animations: 'disabled', caret: 'hide' }));
  await context.close();
  return png;
};
let same = 0, looked = 0, worst = 0;
for (let i = 0; i < pages.length && looked < n; i += step, looked++) {
  const f = pages[i];
  const a = await shot(f.url), b = await shot(pathToFileURL(path.join(dir, f.file)).href.replace(/#/g, '%23').replace(/\?/g, '%3F'));
  const diff = new PNG({ width: a.width, height: a.height });
  const count = a.width === b.width && a.height === b.height ? pixelmatch(a.data, b.data, diff.data, a.width, a.height, { threshold: 0 }) : a.width * a.height;
  if (count === 0) same++;
  worst = Math.max(worst, count);
  console.log(`${count}\tof ${a.width * a.height} pixels differ\t${f.file}`);
  if (outdir && (count || looked < 2)) for (const [k, p] of [['live', a], ['mirror', b], ['diff', diff]]) fs.writeFileSync(path.join(outdir, `${looked}-${k}.png`), PNG.sync.write(p));
}
await browser.close();
console.log(`${same} of ${looked} pages look exactly as the originals; at most ${worst} pixels differ`);
// A browser does not draw every edge alike twice: a few pixels of two million are its own.
process.exit(worst <= 10 ? 0 : 1);
