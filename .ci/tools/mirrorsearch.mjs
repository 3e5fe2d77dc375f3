// mirrorsearch.mjs SELECTOR URL...: opens pages in headless Chromium and waits
// until the selector finds something; one line each: ok or none, and the text.
// Requests to anywhere but the page's own origin are counted, and end it.
import { chromium } from 'playwright-core';

const [selector, ...urls] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'] });
let wrong = 0;
for (const url of urls) {
  const page = await browser.newPage(), asked = [];
  page.on('request', r => { if (!/^(file|data|blob):/.test(r.url())) asked.push(r.url()); });
  await page.goto(url);
  const own = [url, page.url()].map(u => new URL(u).origin); // mirror --serve leads to a name of its own
  const found = await page.waitForSelector(selector, { state: 'attached', timeout: 30000 }).then(e => e.textContent(), () => '');
  const elsewhere = asked.filter(u => !own.includes(new URL(u).origin));
  console.log(found && !elsewhere.length ? 'ok' : 'none', url, JSON.stringify(found.trim().slice(0, 60)), elsewhere.join(' '));
  if (!found || elsewhere.length) wrong++;
  await page.close();
}
await browser.close();
process.exit(wrong ? 1 : 0);
