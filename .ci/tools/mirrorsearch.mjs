// mirrorsearch.mjs SELECTOR URL...: opens pages in headless Chromium and waits
// until the selector finds something; one line each: ok or none, and the text.
// Requests to anywhere but the page's own origin are counted, and end it.
import { chromium } from 'playwright-core';

const [selector, ...urls] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'] });
let wrong = 0;
for (const url of urls) {
  const page = await browser.newPage(), elsewhere = [];
  page.on('request', r => { const u = r.url(); if (!/^(file|data|blob):/.test(u) && new URL(u).origin !== new URL(url).origin) elsewhere.push(u); });
  await page.goto(url);
  const found = await page.waitForSelector(selector, { state: 'attached', timeout: 30000 }).then(e => e.textContent(), () => '');
  console.log(found && !elsewhere.length ? 'ok' : 'none', url, JSON.stringify(found.trim().slice(0, 60)), elsewhere.join(' '));
  if (!found || elsewhere.length) wrong++;
  await page.close();
}
await browser.close();
process.exit(wrong ? 1 : 0);
