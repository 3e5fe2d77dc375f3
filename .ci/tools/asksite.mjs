// asksite.mjs DIR ORIGIN [N]: opens N pages (12) of a copy from the disk, spread over all of them, four
// at a time, in headless Chromium, lets nothing out, and prints how many requests wanted the live site
// and how many pages were opened.
import { chromium } from 'playwright-core';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [dir, origin, n = '12'] = process.argv.slice(2);
const pages = fs.readdirSync(dir, { recursive: true }).map(String).filter(f => /\.x?html?$/.test(f) && !/mirror-report/.test(f)).sort();
const chosen = [...new Set(Array.from({ length: Math.min(+n, pages.length) }, (_, i) => pages[Math.floor(i * pages.length / Math.min(+n, pages.length))]))];
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'] });
const context = await browser.newContext();
let asked = 0;
const opened = chosen.length;
await Promise.all([1, 2, 3, 4].map(async () => {
  const page = await context.newPage();
  await page.route('**/*', route => {
    const u = route.request().url();
    if (/^(file|data|blob|about):/.test(u)) return route.continue();
    if (u.startsWith(origin)) asked++;
    return route.abort();
  });
  for (let f; (f = chosen.pop());) {
    await page.goto(pathToFileURL(path.join(dir, f)).href, { timeout: 15000 }).catch(() => {});
    await page.waitForTimeout(300);
  }
}));
await browser.close();
console.log(asked, opened);
