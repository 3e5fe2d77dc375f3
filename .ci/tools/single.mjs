// single.mjs FILE: opens a page from the disk in Chromium, offline. Prints what it asked for beside
// itself, and what of it is there: pictures, styles, fonts, scripts.
import { chromium } from 'playwright-core';
import { pathToFileURL } from 'node:url';

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
const page = await (await browser.newContext({ offline: true })).newPage();
const at = pathToFileURL(process.argv[2]).href;
const asked = [];
page.on('request', r => { if (!/^(data|blob):/.test(r.url()) && r.url() !== at) asked.push(r.url()); });
await page.goto(at, { waitUntil: 'load' });
await page.waitForTimeout(300);
const seen = await page.evaluate(async () => {
	await document.fonts.ready;
	return {
		pictures: [...document.images].filter(i => i.naturalWidth > 0).length,
		broken: [...document.images].filter(i => i.currentSrc && i.naturalWidth === 0).length,
		fonts: [...document.fonts].filter(f => f.status === 'loaded').length,
		heading: getComputedStyle(document.querySelector('h1') || document.body).color,
		background: getComputedStyle(document.body).backgroundImage.slice(0, 20),
		ran: document.body.dataset.ran || '',
		frames: window.frames.length,
		links: [...document.links].map(a => a.getAttribute('href').slice(0, 80)).slice(0, 5),
	};
});
console.log(JSON.stringify({ requests: asked, ...seen }));
if (process.argv[3]) await page.screenshot({ path: process.argv[3] });
await browser.close();
