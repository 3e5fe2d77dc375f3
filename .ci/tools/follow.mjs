// follow.mjs CURTSY DIR: a site whose router takes every click, as a mirror from the disk, as mirror --serve has it
// and in curtsy serve: a link leads where it says, what a page handles itself stays its own, and what scripts and
// forms ask for arrives where it is served. Text that a router removes from the disk is put back. Prints a line "ok: ..." or "FAIL: ..." for each.
import { chromium } from 'playwright-core';
import { execFileSync, spawn } from 'node:child_process';
import http from 'node:http';
import { pathToFileURL } from 'node:url';

const [curtsy, dir] = process.argv.slice(2);
const page = (title, body) => `<!doctype html><html lang=en><title>${title}</title><body><h1>${title}</h1>${body}</body></html>`;
const router = `window.own = []; document.addEventListener('click', e => {
  const a = e.target.closest('a'); if (!a) return;
  own.push(a.id); e.preventDefault(); if (a.id === 'plain') { history.pushState({}, '', a.getAttribute('href')); document.body.textContent = 'routed' }
});`;
const files = {
  '/': page('Start of the site', `<a id=plain href=/about>about</a> <a id=part href="#p">part</a> <a id=tab role=tab href="/">tab</a> <a id=menu href="/about" onclick="own.push('opened')">menu</a>
<a id=saved href=/about download>save</a> <a id=window href=/about target=_blank>window</a> <a id=modified href=/about>modified</a> <a href="/find?q=one">found</a> <a href=/kept>kept</a>
<button id=assign onclick="location.assign('/about')">assign</button> <button id=reload onclick="history.pushState({}, '', '/about'); location.reload()">push</button>
<form action=/find><input type=hidden name=q value=one><button id=form>find</button></form><script>${router}</script><p id=p>part`),
  '/about': page('About the site', '<a href=/>start</a>'),
  '/kept': page('A page whose router knows its own address alone', `<p>alpha beta gamma delta epsilon zeta eta theta iota kappa lambda</p><script src=/wipe.js defer></script>`),
  '/wipe.js': `if (location.pathname !== '/kept') document.body.textContent = 'Page not found'`,
  '/find?q=one': page('What was found', '<a href=/>start</a>'),
};
const site = http.createServer((q, a) => {
  a.writeHead(files[q.url] ? 200 : 404, { 'Content-Type': q.url.endsWith('.js') ? 'text/javascript' : 'text/html' });
  a.end(files[q.url] ?? 'none');
});
await new Promise(done => site.listen(0, '127.0.0.1', done));
const origin = `http://127.0.0.1:${site.address().port}`;
const run = (...args) => new Promise((done, failed) => spawn(curtsy, args, { stdio: 'ignore' }).on('exit', code => code ? failed(new Error(`${args[0]}: exit ${code}`)) : done()));
await run('crawl', origin + '/', '--archive', dir + '/a', '--delay', '0', '--no-report');
await run('mirror', dir + '/a', dir + '/m');
site.close();
const children = [];
const serving = (...args) => new Promise(done => {
  const child = spawn(curtsy, [...args, '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  child.stdout.on('data', line => { const at = /at (http:\S+)/.exec(line); if (at) done(at[1]); });
});
const forms = { disk: pathToFileURL(dir + '/m/index.html').href, served: await serving('mirror', '--serve', dir + '/m'), replay: await serving('serve', dir + '/a') + '2999/' + origin + '/' };
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'] });
const frame = p => p.frames().find(f => f.parentFrame() === p.mainFrame()) ?? p.mainFrame();
const has = (p, words) => frame(p).waitForFunction(w => document.body?.innerText.includes(w), words, { timeout: 10000 }).then(() => true, () => false);
for (const [form, url] of Object.entries(forms)) {
  const clicked = async (id, options) => {
    const p = await browser.newPage();
    await p.goto(url);
    await has(p, 'Start of the site');
    await frame(p).click('#' + id, { noWaitAfter: true, ...options }).catch(() => {});
    return p;
  };
  const say = (words, ok) => console.log(`${ok ? 'ok' : 'FAIL'}: ${form}: ${words}`);
  const arrives = form === 'disk' ? { plain: 'About', form: 'What was found' } : { plain: 'About', assign: 'About', reload: 'About', form: 'What was found' };
  for (const [id, words] of Object.entries(arrives)) {
    const p = await clicked(id);
    say(`${id} arrives`, await has(p, words));
    await p.close();
  }
  for (const id of ['part', 'tab', 'menu', 'saved', 'window', 'modified']) {
    if (form === 'replay' && id === 'window') continue; // there are no other windows there
    const p = await clicked(id, id === 'modified' ? { modifiers: ['Shift'] } : {});
    await p.waitForTimeout(200);
    const own = await frame(p).evaluate(() => window.own.join()).catch(() => 'gone');
    say(`${id} is left to the page`, own.split(',').includes(id) && await has(p, 'Start of the site'));
    await p.close();
  }
}
const kept = await browser.newPage();
await kept.goto(pathToFileURL(dir + '/m/kept.html').href);
await kept.waitForTimeout(1000);
console.log(`${await has(kept, 'gamma delta') && !await kept.evaluate(() => document.body.innerText.includes('not found')) ? 'ok' : 'FAIL'}: disk: text that a router removes is put back`);
await browser.close();
for (const child of children) child.kill();
