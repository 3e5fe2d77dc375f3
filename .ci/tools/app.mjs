// app.mjs CURTSY DIR SITE ROOT: the page of curtsy app in Chromium, by clicks and keys: a new archive of SITE, whose
// files are in ROOT, watched, paused, killed, continued, searched, browsed, exported, updated; sites that refuse,
// redirect and want a login; requests that are refused; axe on every page. SHOTS=DIR makes pictures for people.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { execFileSync, spawn } from 'node:child_process';
import { chromium } from 'playwright-core';

const [curtsy, dir, site, root] = process.argv.slice(2);
const folder = path.join(dir, 'shelf'), shots = process.env.SHOTS;
let failed = 0;
const claim = (words, good, why = '') => { console.log(`${good ? 'ok' : 'FAIL'}: ${words}${good || !why ? '' : `: ${why}`}`); if (!good) failed++; };
process.on('uncaughtException', (e) => { console.log(`FAIL: ${e.stack}`); program?.kill('SIGKILL'); process.exit(1); });
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// The program, started as a person would; the address is what it prints.
let program, address;
async function launch(at = folder) {
  program = spawn(curtsy, ['app', at, '--no-open', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', fs.openSync(path.join(dir, 'app.err'), 'a')] });
  address = await new Promise((found, gone) => {
    let text = '';
    program.stdout.on('data', (d) => { text += d; const m = /at (http:\S+)/.exec(text); if (m) found(m[1]); });
    program.on('exit', (code) => gone(new Error(`curtsy app ended with ${code}`)));
  });
}
const ended = (signal) => new Promise((done) => { program.removeAllListeners('exit'); program.on('exit', done); program.kill(signal); });

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true });
const page = await context.newPage();
const errors = [];
page.on('console', (m) => { if (m.type() === 'error') errors.push(m.text()); });
page.on('pageerror', (e) => errors.push(String(e)));
page.setDefaultTimeout(30000);
// The page's own policy forbids what waitForFunction does; a page that is loaded anew answers later.
async function until(good, arg, options = {}) {
  const end = Date.now() + (options?.timeout ?? 30000);
  while (!await page.evaluate(good, arg).catch(() => false)) {
    if (Date.now() > end) throw new Error(`waited in vain for ${good}; there is:\n${await page.locator('main').innerText()}`);
    await sleep(100);
  }
}
const text = () => page.locator('main').innerText();
const axeSource = fs.readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
let looked = 0;
// The page's own policy lets no other script run: axe is run by the debugger's.
async function axe(name) {
  looked++;
  await page.evaluate(axeSource + ';0');
  const found = await page.evaluate(() => axe.run(document).then((r) => r.violations.map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 120)}`)));
  if (found.length) claim(`axe: ${name}`, false, found.join('; '));
}
async function shot(name, full = true) {
  if (!shots) return;
  for (const [size, width] of [['1280', 1280], ['390', 390]]) for (const colorScheme of ['light', 'dark']) {
    await page.setViewportSize({ width, height: width === 390 ? 780 : 800 });
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: path.join(shots, `${name}-${size}-${colorScheme}.png`), fullPage: full });
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
}
async function wide(name) {
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (over > 0) claim(`${name} fits ${width} px`, false, `${over} px too wide`);
  }
}

await launch();
await page.goto(address);
claim('the key is gone from the address', page.url() === new URL(address).origin + '/', page.url());
await axe('an empty shelf');
await shot('empty');

// --- a new archive, by keys
await page.getByRole('textbox', { name: 'Address of the site' }).fill(site + '/index.html');
await page.keyboard.press('Enter');
await page.getByRole('heading', { name: 'New archive' }).waitFor();
await axe('new');
await page.getByRole('textbox', { name: 'Address of the site' }).press('Enter');
await page.getByRole('heading', { name: 'What its owner says' }).waitFor();
const told = await text();
claim('the look says whether, how fast, what is closed and what about use', /Yes\./.test(told) && /\/private\//.test(told) && /train-ai=n/.test(told) && /every|0\.0|1s/.test(told), told);
claim('the sitemap and the time it takes', /URLs: \d+, allowed: \d+/.test(told) && /at least/.test(told), told);
await page.getByText('Limits, pace and more').click();
await page.getByRole('textbox', { name: 'Pause between requests' }).fill('400ms');
await page.getByRole('textbox', { name: 'Only pages whose address matches' }).fill('/(index|tutorial[^/]*|sql-s[a-e][^/]*|a)\\.html');
await page.getByRole('textbox', { name: 'Name of the archive' }).fill('pg');
await page.getByRole('checkbox', { name: 'Offline copy' }).click();
await until(() => /--delay=400ms/.test(document.getElementById('command').textContent) && /curtsy mirror/.test(document.getElementById('command').textContent));
claim('the command stands below and follows the form', /curtsy crawl http:.* --archive .*pg.* --delay=400ms/.test(await page.locator('#command').innerText()));
await axe('look'); await wide('look'); await shot('look');
await page.getByRole('button', { name: 'Start' }).press('Enter');
await page.waitForURL('**/a/pg');

// --- watched, paused, slowed, killed
const number = async (name) => Number((await page.locator(`[data-text="${name}"]`).innerText()).replace(/\D/g, ''));
const more = (than) => until((n) => Number(document.querySelector('[data-text="fetched"]').textContent) > n, than);
await more(2);
await more(await number('fetched'));
claim('it is seen to go on, without a reload', true);
await page.getByRole('button', { name: 'Slower' }).click();
await page.getByRole('button', { name: 'Pause' }).press('Enter');
await page.getByRole('heading', { name: 'Paused', exact: true }).waitFor();
await sleep(1500);
const still = await number('fetched');
claim('what was fetched last is shown', /^http/.test(await page.locator('[data-text="url"]').innerText()));
await axe('paused'); await wide('paused'); await shot('running', false);
claim('paused: nothing more is fetched', still === await number('fetched'));
await page.getByRole('button', { name: 'As before' }).click();
await page.getByRole('button', { name: 'Go on' }).click();
await more(still);
const lines = () => fs.readFileSync(path.join(dir, 'access.log'), 'utf8').trim().split('\n').map((l) => l.split('\t')[1]);
await ended('SIGKILL');
const killedAt = lines().length;
claim('killed in the middle', killedAt > 5);
const old = address;
await launch();
const stale = await page.goto(address.replace(/key=.*/, 'key=' + new URL(old).searchParams.get('key')));
claim('a stale key is refused, with what to do', stale.status() === 403 && /curtsy app/.test(await text()));
await axe('closed');
await page.goto(address);
await page.getByRole('link', { name: /PostgreSQL/ }).click();
await page.getByRole('heading', { name: 'The archive' }).waitFor();
claim('it goes on by itself after kill -9', /Fetching the site|finished|Making/.test(await text()), await text());
await until(() => /finished/.test(document.querySelector('main').innerText) && /pg\.zip/.test(document.querySelector('main').innerText), null, { timeout: 60000 });
const again = lines().filter((u, i, all) => u !== '/robots.txt' && all.indexOf(u) !== i);
claim(`nothing is fetched twice but what was in flight: ${again.length}`, again.length <= 3, again.join(' '));
await axe('finished'); await wide('finished'); await shot('archive');

// --- searched, browsed, by the rule
await page.getByRole('searchbox', { name: 'Words to search for in all archives' }).fill('savepoint');
await page.keyboard.press('Enter');
await page.getByRole('link', { name: /SAVEPOINT/ }).first().waitFor();
await axe('search'); await shot('search');
const [shown] = await Promise.all([context.waitForEvent('page'), page.getByRole('link', { name: /SAVEPOINT/ }).first().click()]);
await shown.waitForLoadState();
claim('a hit opens in serve, on another origin', new URL(shown.url()).origin !== new URL(page.url()).origin && (await shown.frameLocator('iframe').locator('body').innerText()).includes('SAVEPOINT'));
await shown.close();
await page.goBack();
await page.getByRole('link', { name: 'robots.txt' }).click();
await page.getByRole('link', { name: /private/ }).first().click();
claim('what was skipped is explained by its line', /Disallow: \/private\//.test(await text()), await text());
await axe('explain');
await page.goto(new URL('/a/pg', page.url()).href);
await page.getByRole('link', { name: 'Broken links' }).click();
claim('broken links are listed', /404/.test(await text()));
await axe('broken');
await page.goBack();
await page.getByRole('link', { name: 'Audit' }).click();
await axe('audit');
await page.goBack();
const [report] = await Promise.all([context.waitForEvent('page'), page.getByRole('link', { name: 'Report' }).click()]);
await report.waitForLoadState();
claim('the report opens', /report/i.test(await report.title()), await report.title());
await report.close();

// --- exported
const format = await page.locator('select[name=format] option[value=zim]').count() ? 'zim' : 'wacz';
await page.getByRole('combobox', { name: 'Make' }).selectOption(format);
await page.getByRole('button', { name: 'Make it' }).click();
await page.getByRole('link', { name: `pg.${format}` }).waitFor();
const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: `pg.${format}` }).click()]);
await download.saveAs(path.join(dir, `saved.${format}`));
claim(`exported and saved as ${format}`, fs.statSync(path.join(dir, `saved.${format}`)).size > 10000);
const [zipped] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'pg.zip' }).click()]);
await zipped.saveAs(path.join(dir, 'saved.zip'));
const [copied] = await Promise.all([context.waitForEvent('page'), page.getByRole('link', { name: 'Open the offline copy' }).click()]);
await copied.waitForLoadState();
claim('the offline copy opens', /PostgreSQL/.test(await copied.title()), await copied.title());
await copied.close();

// --- updated after the site changed
const changed = path.join(root, 'tutorial-start.html');
fs.writeFileSync(changed, fs.readFileSync(changed, 'utf8').replace('<p>', '<p>Elephants are kept here since yesterday. '));
await page.getByRole('button', { name: 'Update now' }).click();
await page.getByRole('heading', { name: 'The round has ended' }).waitFor({ timeout: 60000 });
await page.getByRole('link', { name: 'What changed' }).click();
claim('the change is read', /Elephants are kept here/.test(await text()), await text());
await axe('changes'); await shot('changes');
await page.goBack();
await page.getByRole('combobox', { name: 'Visit the site again' }).selectOption('week');
await page.getByRole('button', { name: 'Save' }).click();
claim('each week, and the line for cron', /next due/.test(await text()) && /curtsy update/.test(await page.locator('pre[aria-label=cron]').textContent()));
await page.getByRole('button', { name: 'Verify' }).click();
await page.getByRole('heading', { name: 'Verified' }).waitFor();

// --- sites with something in the way
const odd = (serve) => new Promise((up) => { const s = http.createServer(serve).listen(0, '127.0.0.1', () => up(`http://127.0.0.1:${s.address().port}`)); s.unref(); });
const robots = (q, a) => { a.setHeader('Content-Type', 'text/plain'); a.end('User-agent: *\nAllow: /\n'); };
const look = async (url) => {
  await page.goto(new URL('/new', page.url()).href);
  await page.getByRole('textbox', { name: 'Address of the site' }).fill(url);
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  return text();
};
const refuses = await odd((q, a) => { a.setHeader('Content-Type', 'text/plain'); a.end('User-agent: *\nDisallow: /\n# <script>alert(1)</script>\n'); });
let said = await look(refuses + '/');
claim('a site that refuses: the line, and whom to ask', /does not allow it/.test(said) && /ask its owner/.test(said), said);
await axe('refused'); await shot('refused');
const leads = await odd((q, a) => { if (q.url === '/robots.txt') return robots(q, a); a.writeHead(302, { Location: site.replace('127.0.0.1', 'localhost') + '/index.html' }); a.end(); });
said = await look(leads + '/');
claim('a redirect to another host: look there instead, or follow it', /another site/.test(said) && /instead/.test(said), said);
await page.getByRole('button', { name: /follow it/ }).click();
await page.getByRole('heading', { name: 'What to fetch' }).waitFor();
const wall = await odd((q, a) => { if (q.url === '/robots.txt') return robots(q, a); a.writeHead(401, { 'WWW-Authenticate': 'Basic realm="<b>x</b>"', 'Content-Type': 'text/html' }); a.end('<title>"><script>alert(1)</script></title>Login'); });
said = await look(wall + '/');
claim('a login wall: where the cookies go', /a login/.test(said) && /a file with the cookies/i.test(said), said);
claim('a hostile title is text', await page.locator('main script').count() === 0);
await axe('login wall');
said = await look('http://127.0.0.1:1/');
claim('nobody there', /refused|reach|connect/i.test(said), said);

// --- without scripts
const plainContext = await browser.newContext({ javaScriptEnabled: false, storageState: await context.storageState() });
const plain = await plainContext.newPage();
await plain.goto(new URL('/a/pg', page.url()).href);
await plain.getByRole('button', { name: 'Update now' }).click();
await plain.getByRole('button', { name: 'Pause' }).click();
await plain.getByRole('button', { name: 'Go on' }).click();
await plain.getByRole('button', { name: 'Stop' }).click();
await plain.getByRole('heading', { name: 'The round has ended' }).waitFor();
claim('without scripts: updated, paused, continued, stopped, and what to do next', /Go on/.test(await plain.locator('main').innerText()));
await plain.getByRole('button', { name: 'Go on' }).click();
await plain.getByRole('heading', { name: /has ended/ }).waitFor({ timeout: 60000 });
claim('without scripts the page freshens by itself', /finished/.test(await plain.locator('main').innerText()));
await plainContext.close();

// --- deleted, by its name
await page.goto(new URL('/a/pg/delete', page.url()).href);
await axe('delete');
await page.getByRole('textbox').last().fill('other');
await page.getByRole('button', { name: 'Delete' }).click();
claim('another name deletes nothing', fs.existsSync(path.join(folder, 'pg', 'crawl.db')));
await page.goto(new URL('/', page.url()).href);
await axe('shelf'); await wide('shelf'); await shot('shelf');
await page.getByRole('button', { name: 'Български' }).click();
claim('in Bulgarian', /Архиви/.test(await text()) && await page.locator('html').getAttribute('lang') === 'bg');
await axe('shelf in Bulgarian'); await shot('bulgarian');
await page.getByRole('button', { name: 'Русский' }).click();
claim('in Russian', /Архивы/.test(await text()));
await page.getByRole('button', { name: 'English' }).click();

// --- what is refused
const origin = new URL(page.url()).origin, port = Number(new URL(origin).port), name = new URL(origin).host;
const cookie = (await context.cookies()).map((c) => `${c.name}=${c.value}`).join('; ');
const ask = (method, at, headers = {}) => new Promise((done) => {
  const q = http.request({ host: '127.0.0.1', port, path: at, method, headers: { Host: name, Cookie: cookie, 'Content-Type': 'application/x-www-form-urlencoded', ...headers } }, (a) => { a.resume(); a.on('end', () => done(a.statusCode)); });
  q.end(method === 'POST' ? 'name=pg' : undefined);
});
for (const [words, want, got] of [
  ['control: with cookie and Origin it answers', 200, await ask('GET', '/')],
  ['another Origin', 403, await ask('POST', '/a/pg/delete', { Origin: 'http://evil.example' })],
  ['no Origin', 403, await ask('POST', '/a/pg/delete')],
  ['a wrong Host', 421, await ask('GET', '/', { Host: `evil.example:${port}` })],
  ['no cookie', 403, await ask('GET', '/a/pg', { Cookie: '' })],
  ['a stale cookie', 403, await ask('POST', '/a/pg/delete', { Cookie: 'curtsy-app=OLD', Origin: origin })],
  ['a GET that would update', 404, await ask('GET', '/a/pg/update')],
  ['a GET that would stop', 404, await ask('GET', '/a/pg/stop')],
  ['PUT', 405, await ask('PUT', '/a/pg/delete', { Origin: origin })],
  ['a path out of the folder', 404, await ask('GET', '/a/..%2F..%2Fetc')],
]) claim(`${words}: ${want}`, want === got, `answered ${got}`);
claim('it is all there still', fs.existsSync(path.join(folder, 'pg', 'crawl.db')));
const evil = await odd((q, a) => { a.setHeader('Content-Type', 'text/html'); a.end(`<form method=post action="${origin}/a/pg/delete"><input name=name value=pg></form><script>document.forms[0].submit()</script>`); });
const other = await context.newPage();
await other.goto(evil).catch(() => {});
await other.waitForTimeout(500);
claim('a form of another site deletes nothing', fs.existsSync(path.join(folder, 'pg', 'crawl.db')));
await other.close();

await page.goto(origin + '/a/pg/delete');
await page.getByRole('textbox').last().fill('pg');
await page.getByRole('button', { name: 'Delete' }).click();
await page.waitForURL(origin + '/');
claim('its own name deletes it', !fs.existsSync(path.join(folder, 'pg')));
const mine = errors.filter((e) => !/401|403|404|409|422|ERR_CONNECTION|ERR_INCOMPLETE|net::|Failed to load resource/.test(e));
claim('no error in the console, the policy is kept', mine.length === 0, mine.slice(0, 3).join('; '));
claim(`axe: ${looked} pages looked at`, looked >= 15);
await page.getByRole('button', { name: 'End the program' }).click();
await page.getByRole('heading', { name: 'The program has ended' }).waitFor();
for (let i = 0; i < 100 && program.exitCode === null; i++) await sleep(100);
claim('ended from the page: exit 0', program.exitCode === 0, String(program.exitCode));

// --- a disk that fills up
const full = process.env.FULL;
if (full) {
  await launch(full);
  await page.goto(address);
  await page.goto(new URL('/new?url=' + encodeURIComponent(site + '/index.html'), address).href);
  await page.getByRole('textbox', { name: 'Address of the site' }).press('Enter');
  await page.getByText('Limits, pace and more').click();
  await page.getByRole('textbox', { name: 'Pause between requests' }).fill('1ms');
  await page.getByRole('button', { name: 'Start' }).click();
  await until(() => /no space/.test(document.querySelector('main').innerText));
  claim('a full disk: what it is, and to make room', /make room/.test(await text()) && /curtsy resume/.test(await text()), await text());
  await axe('full disk');
  execFileSync('mount', ['-o', 'remount,size=200m', full]);
  await page.getByRole('button', { name: 'Go on' }).click();
  await until(() => /finished/.test(document.querySelector('main').innerText), null, { timeout: 60000 });
  claim('with room it goes on to its end', true);
  await ended('SIGTERM');
}
await browser.close();
console.log(failed ? `${failed} claims failed` : 'all as claimed');
process.exit(failed ? 1 : 0);
