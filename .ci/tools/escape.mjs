// escape.mjs: pages that each try one way out of an archive, the live site that
// they come from, and listeners that count what reaches it.
//
//   escape.mjs site URLFILE            the live site, until it is killed; its counts at /counts
//   escape.mjs open LIVE BASE [SHOTS]  opens each page in Chromium, below BASE ("" is the live site
//                                      itself), and says which ways reached a listener
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import dgram from 'node:dgram';
import { within } from './within.mjs';

// Each way: markup of a page. L is the live site, X another host, U1… UDP ports.
const js = s => `<p>x</p><script>try{${s}}catch(e){}</script>`;
const frame = f => `const f=document.createElement('iframe');${f}`;
const ice = u => `{iceServers:[{urls:'stun:127.0.0.1:${u}'}]}`;
const rtc = (w, u) => `const p=new (${w}.RTCPeerConnection||${w}.webkitRTCPeerConnection)(${ice(u)});p.createDataChannel('x');p.createOffer().then(o=>p.setLocalDescription(o));`;
const click = 'document.getElementById("a").click()';
const ways = {
  'img': (u) => `<img src="${u}">`,
  'img-srcset': (u) => `<img srcset="${u} 1x, ${u}2 2x">`,
  'picture': (u) => `<picture><source srcset="${u}"><img></picture>`,
  'input-image': (u) => `<input type=image src="${u}">`,
  'style-background': (u) => `<p style="background:url(${u})">x</p>`,
  'style-sheet-background': (u) => `<style>p{background:url('${u}')}</style><p>x</p>`,
  'css-import': (u) => `<style>@import "${u}";</style>`,
  'css-import-url': (u) => `<style>@import url(${u}) screen;</style>`,
  'font-face': (u) => `<style>@font-face{font-family:f;src:url(${u})}p{font-family:f}</style><p>x</p>`,
  'image-set': (u) => `<style>p{background:image-set("${u}" 1x)}</style><p>x</p>`,
  'list-style': (u) => `<style>li{list-style:url(${u})}</style><ul><li>x</ul>`,
  'cursor': (u) => `<style>html{cursor:url(${u}),auto}</style>x`,
  'mask': (u) => `<style>p{mask-image:url(${u})}</style><p>x</p>`,
  'insert-rule': (u) => js(`const s=document.createElement('style');document.head.append(s);s.sheet.insertRule('body{background:url(${u})}')`),
  'constructed-sheet': (u) => js(`const s=new CSSStyleSheet();s.replaceSync('body{background:url(${u})}');document.adoptedStyleSheets=[s]`),
  'shadow-dom': (u) => js(`document.body.attachShadow({mode:'open'}).innerHTML='<img src=${u}>'`),
  'svg-image': (u) => `<svg><image href="${u}" width=9 height=9 /></svg>`,
  'svg-use': (u) => `<svg><use href="${u}#x"/></svg>`,
  'svg-feimage': (u) => `<svg><filter id=f><feImage href="${u}"/></filter><rect filter="url(#f)" width=9 height=9 /></svg>`,
  'video': (u) => `<video src="${u}" autoplay muted></video>`,
  'video-poster': (u) => `<video poster="${u}"></video>`,
  'audio': (u) => `<audio src="${u}" preload=auto></audio>`,
  'track': (u) => `<video src="/x.mp4"><track default src="${u}"></video>`,
  'embed': (u) => `<embed src="${u}">`,
  'object': (u) => `<object data="${u}"></object>`,
  'iframe': (u) => `<iframe src="${u}"></iframe>`,
  'iframe-srcdoc': (u) => `<iframe srcdoc="<img src='${u}'>"></iframe>`,
  'iframe-data': (u) => `<iframe src="data:text/html,<img src='${u}'>"></iframe>`,
  'iframe-blob': (u) => js(frame(`f.src=URL.createObjectURL(new Blob(["<img src='${u}'>"],{type:'text/html'}));document.body.append(f)`)),
  'iframe-javascript': (u) => `<iframe src="javascript:'<img src=${u}>'"></iframe>`,
  'frameset': (u) => `<frameset><frame src="${u}"></frameset>`,
  'stylesheet': (u) => `<link rel=stylesheet href="${u}">`,
  'icon': (u) => `<link rel=icon href="${u}">`,
  'preload': (u) => `<link rel=preload as=image href="${u}">`,
  'modulepreload': (u) => `<link rel=modulepreload href="${u}">`,
  'prefetch': (u) => `<link rel=prefetch href="${u}">`,
  'prerender': (u) => `<link rel=prerender href="${u}">`,
  'preconnect': (u, o) => `<link rel=preconnect href="${o}">`,
  'preconnect-js': (u, o) => js(`const l=document.createElement('link');l.rel='preconnect';l.href='${o}';document.head.append(l)`),
  'prefetch-js': (u) => js(`const l=document.createElement('link');l.rel='prefetch';l.href='${u}';document.head.append(l)`),
  'dns-prefetch': (u, o) => `<link rel=dns-prefetch href="${o}">`,
  'manifest': (u) => `<link rel=manifest href="${u}">`,
  'script': (u) => `<script src="${u}"></script>`,
  'module': (u) => `<script type=module>import "${u}"</script>`,
  'dynamic-import': (u) => js(`import('${u}')`),
  'import-map': (u) => `<script type=importmap>{"imports":{"x":"${u}"}}</script><script type=module>import "x"</script>`,
  'worker': (u) => js(`new Worker('${u}')`),
  'worker-blob-fetch': (u) => js(`new Worker(URL.createObjectURL(new Blob(["fetch('${u}',{mode:'no-cors'})"])))`),
  'worker-import-scripts': (u) => js(`new Worker(URL.createObjectURL(new Blob(["importScripts('${u}')"])))`),
  'shared-worker': (u) => js(`new SharedWorker(URL.createObjectURL(new Blob(["fetch('${u}',{mode:'no-cors'})"])))`),
  'service-worker': (u) => js(`navigator.serviceWorker.register('/sw.js').then(()=>navigator.serviceWorker.ready).then(()=>fetch('${u}'))`),
  'worklet': (u) => js(`CSS.paintWorklet.addModule('${u}')`),
  'audio-worklet': (u) => js(`new AudioContext().audioWorklet.addModule('${u}')`),
  'fetch': (u) => js(`fetch('${u}')`),
  'fetch-no-cors': (u) => js(`fetch('${u}',{mode:'no-cors'})`),
  'fetch-keepalive': (u) => js(`fetch('${u}',{mode:'no-cors',keepalive:true,method:'POST',body:'x'})`),
  'fetch-later': (u) => js(`fetchLater('${u}',{activateAfter:0})`),
  'xhr': (u) => js(`const x=new XMLHttpRequest();x.open('GET','${u}');x.send()`),
  'event-source': (u) => js(`new EventSource('${u}')`),
  'web-socket': (u) => js(`new WebSocket('${u}'.replace('http','ws'))`),
  'beacon': (u) => js(`navigator.sendBeacon('${u}','x')`),
  'web-transport': (u, o, p) => js(`new WebTransport('https://127.0.0.1:${p}/')`),
  'rtc': (u, o, p) => js(rtc('window', p)),
  'rtc-blank-frame': (u, o, p) => js(frame(`document.body.append(f);${rtc('f.contentWindow', p)}`)),
  'rtc-window-0': (u, o, p) => js(frame(`document.body.append(f);${rtc('window[0]', p)}`)),
  'rtc-parsed-frame': (u, o, p) => `<iframe></iframe><script>${rtc('window[0]', p)}</script>`,
  'rtc-inner-html': (u, o, p) => js(`document.body.innerHTML='<iframe></iframe>';${rtc('frames[0]', p)}`),
  'rtc-nested': (u, o, p) => js(frame(`document.body.append(f);const g=f.contentDocument.createElement('iframe');f.contentDocument.body.append(g);${rtc('window[0][0]', p)}`)),
  'rtc-srcdoc': (u, o, p) => `<iframe srcdoc="<script>${rtc('window', p)}</script>"></iframe>`,
  'rtc-srcdoc-js': (u, o, p) => js(frame(`f.srcdoc="<script>${rtc('window', p)}<\\/script>";document.body.append(f)`)),
  'rtc-srcdoc-attr': (u, o, p) => js(frame(`f.setAttribute('srcdoc',"<script>${rtc('window', p)}<\\/script>");document.body.append(f)`)),
  'rtc-srcdoc-html': (u, o, p) => js(`document.body.innerHTML='<iframe srcdoc="&lt;script>${rtc('window', p).replaceAll("'", '&quot;')}&lt;/script>"></iframe>'`).replaceAll("&quot;", '&amp;quot;'),
  'rtc-data-frame': (u, o, p) => `<iframe src="data:text/html,<script>${encodeURIComponent(rtc('window', p))}</script>"></iframe>`,
  'rtc-blob-frame': (u, o, p) => js(frame(`f.src=URL.createObjectURL(new Blob(["<script>${rtc('window', p)}<\\/script>"],{type:'text/html'}));document.body.append(f)`)),
  'rtc-javascript-frame': (u, o, p) => `<iframe src="javascript:${rtc('window', p)}"></iframe>`,
  'rtc-document-write': (u, o, p) => js(`document.write('<iframe></iframe>');${rtc('window[0]', p)}`),
  'rtc-before-head': (u, o, p) => `<!--><script>${rtc('window', p)}</script>-->`,
  'rtc-svg-document': (u, o, p) => `<iframe src="/svg/${p}.svg"></iframe>`,
  'form-get': (u) => `<form id=a action="${u}"></form><script>document.getElementById('a').submit()</script>`,
  'form-post': (u) => `<form id=a method=post action="${u}"><input name=x value=1></form><script>document.getElementById('a').submit()</script>`,
  'form-blank': (u) => `<form id=a target=_blank action="${u}"></form><script>document.getElementById('a').submit()</script>`,
  'formaction': (u) => `<form><button id=a formaction="${u}">x</button></form><script>${click}</script>`,
  'a-click': (u) => `<a id=a href="${u}">x</a><script>${click}</script>`,
  'a-blank': (u) => `<a id=a target=_blank href="${u}">x</a><script>${click}</script>`,
  'a-top': (u) => `<a id=a target=_top href="${u}">x</a><script>${click}</script>`,
  'a-ping': (u) => `<a id=a href="#x" ping="${u}">x</a><script>${click}</script>`,
  'a-download': (u) => `<a id=a download href="${u}">x</a><script>${click}</script>`,
  'window-open': (u) => js(`window.open('${u}')`),
  'window-open-noopener': (u) => js(`window.open('${u}','_blank','noopener')`),
  'location': (u) => js(`location.href='${u}'`),
  'location-replace': (u) => js(`location.replace('${u}')`),
  'top-location': (u) => js(`top.location='${u}'`),
  'parent-location': (u) => js(`parent.location='${u}'`),
  'navigation-api': (u) => js(`navigation.navigate('${u}')`),
  'frame-location': (u) => js(frame(`document.body.append(f);f.contentWindow.location='${u}'`)),
  'meta-refresh': (u) => `<meta http-equiv=refresh content="0;url=${u}">`,
  'meta-refresh-js': (u) => js(`document.write('<meta http-equiv=refresh content="0;url=${u}">')`),
  'refresh-header': (u) => [`x`, { refresh: `0;url=${u}` }],
  'link-header-preload': (u) => [`x`, { link: `<${u}>; rel=preload; as=image` }],
  'link-header-stylesheet': (u) => [`x`, { link: `<${u}>; rel=stylesheet` }],
  'link-header-preconnect': (u, o) => [`x`, { link: `<${o}>; rel=preconnect` }],
  'speculation-prefetch': (u) => `<script type=speculationrules>{"prefetch":[{"source":"list","urls":["${u}"],"eagerness":"immediate"}]}</script>`,
  'speculation-prerender': (u) => `<script type="SpeculationRules">{"prerender":[{"source":"list","urls":["${u}"],"eagerness":"immediate"}]}</script>`,
  'speculation-js': (u) => js(`const s=document.createElement('script');s.type='speculation'+'rules';s.textContent='{"prefetch":[{"source":"list","urls":["${u}"],"eagerness":"immediate"}]}';document.head.append(s)`),
  'speculation-header': (u) => [`x`, { 'speculation-rules': `"${u}"` }],
  'reporting': (u) => [`<img src="data:x">`, { 'content-security-policy': `img-src 'none'; report-uri ${u}`, 'report-to': `{"group":"g","max_age":99,"endpoints":[{"url":"${u}"}]}`, nel: '{"report_to":"g","max_age":99,"success_fraction":1}' }],
  'source-map': (u) => [`<script src="/sm.js"></script>`, { sourcemap: u }],
  'attributionsrc': (u) => `<img attributionsrc="${u}" src="data:,x">`,
  'base': (u) => `<base href="${u}/"><img src="leak.png">`,
  'image-js': (u) => js(`new Image().src='${u}'`),
  'document-write': (u) => js(`document.write('<img src="${u}">')`),
  'inner-html': (u) => js(`document.body.innerHTML='<img src="${u}">'`),
  'range-fragment': (u) => js(`document.body.append(document.createRange().createContextualFragment('<img src="${u}">'))`),
  'dom-parser-adopt': (u) => js(`document.body.append(document.adoptNode(new DOMParser().parseFromString('<img src="${u}">','text/html').images[0]))`),
  'element-js-srcdoc': (u) => js(frame(`f.srcdoc='<img src="${u}">';document.body.append(f)`)),
  'sandboxed-inner': (u) => `<iframe sandbox="allow-scripts allow-top-navigation allow-popups" srcdoc="<script>window.open('${u}');top.location='${u}'</script>"></iframe>`,
  'payment': (u) => js(`new PaymentRequest([{supportedMethods:'${u}'}],{total:{label:'x',amount:{currency:'EUR',value:'1'}}}).canMakePayment()`),
  'notification': (u) => js(`new Notification('x',{icon:'${u}'})`),
  'media-session': (u) => js(`navigator.mediaSession.metadata=new MediaMetadata({title:'x',artwork:[{src:'${u}'}]})`),
  'xslt': (u) => `<iframe src="/xslt/${encodeURIComponent(u)}"></iframe>`,
  'background-attribute': (u) => `<body background="${u}">`,
  'table-background': (u) => `<table background="${u}"><tr><td>x</table>`,
  'document-domain-cookie': (u) => js(`document.cookie='x=1';fetch('${u}',{mode:'no-cors',credentials:'include'})`),
};

const listen = (s, ...a) => new Promise(ok => s.listen(...a, () => ok(s.address().port)));

// site serves the pages, and counts what comes once /count-from-here was asked for.
async function site(urlFile) {
  let counting = false;
  const counts = { live: [], other: [], udp: [], tcp: 0 };
  const own = new Set(); // sockets of whoever asks for the counts
  const udp = {};
  const otherServer = http.createServer((q, r) => { if (counting) counts.other.push(q.url); r.writeHead(200, { 'access-control-allow-origin': '*' }); r.end(); });
  otherServer.on('connection', () => { if (counting) counts.tcp++; });
  const other = `http://127.0.0.1:${await listen(otherServer, 0, '127.0.0.1')}`;
  for (const name of Object.keys(ways)) if (/^rtc|web-transport/.test(name)) {
    const s = dgram.createSocket('udp4');
    s.on('message', () => { if (counting) counts.udp.push(name); });
    await new Promise(ok => s.bind(0, '127.0.0.1', ok));
    udp[name] = s.address().port;
  }
  let live;
  const server = http.createServer((q, r) => {
    const control = q.headers['x-control'] !== undefined;
    if (q.url === '/counts' && control) { own.add(q.socket); r.writeHead(200); return r.end(JSON.stringify({ ...counts, tcp: counts.tcp })); }
    if (q.url === '/count-from-here' && control) { counting = true; Object.assign(counts, { live: [], other: [], udp: [], tcp: 0 }); r.writeHead(200); return r.end(); }
    if (counting) counts.live.push(q.url);
    const html = (b, h = {}) => { r.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...h }); r.end(b); };
    const [, kind, name, to] = q.url.split('/');
    if (q.url === '/') return html('<!DOCTYPE html><title>ways</title>' + Object.keys(ways).map(w => `<a href="/w/${w}/live">${w}</a> <a href="/w/${w}/other">${w}</a>`).join(' ') + Object.values(udp).map(p => ` <a href="/svg/${p}.svg">s</a>`).join('') + ' <a href="/sw.js">s</a>');
    if (q.url === '/robots.txt') { r.writeHead(404); return r.end(); }
    if (q.url === '/sw.js') { r.writeHead(200, { 'content-type': 'text/javascript', 'service-worker-allowed': '/' }); return r.end('self.addEventListener("fetch",()=>{})'); }
    if (kind === 'svg') { r.writeHead(200, { 'content-type': 'image/svg+xml' }); return r.end(`<svg xmlns="http://www.w3.org/2000/svg"><script>${rtc('window', parseInt(name))}</script></svg>`); }
    if (kind === 'w' && ways[name]) {
      const o = to === 'live' ? live : other;
      const got = ways[name](`${o}/leak/${name}`, o, udp[name] || 9);
      return Array.isArray(got) ? html('<!DOCTYPE html><title>w</title>' + got[0], got[1]) : html('<!DOCTYPE html><title>w</title>' + got);
    }
    r.writeHead(404, { 'content-type': 'text/plain' }); r.end();
  });
  live = `http://127.0.0.1:${await listen(server, 0, '127.0.0.1')}`;
  server.on('connection', () => { if (counting) counts.tcp++; });
  fs.writeFileSync(urlFile, live);
}

const ask = (url) => new Promise((ok, no) => http.get(url, { headers: { 'x-control': '1' }, agent: false }, r => { let b = ''; r.on('data', d => b += d).on('end', () => ok(b)); }).on('error', no));

// open opens each page, a few at a time.
async function open(live, base) {
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--autoplay-policy=no-user-gesture-required'] });
  await within(10, 'the counts', ask(live + '/count-from-here'));
  const only = new RegExp(process.env.WAYS || '');
  const names = Object.keys(ways).filter(w => only.test(w));
  // To the live site and to another host, by turns.
  const todo = base ? names.map((w, i) => `${base}/2099/${live}/w/${w}/${i % 2 ? 'live' : 'other'}`) : names.map(w => `${live}/w/${w}/other`);
  let shown = 0, next = 0;
  await Promise.all(Array.from({ length: 4 }, async () => {
    let context = await browser.newContext();
    while (next < todo.length) {
      const url = todo[next++];
      const page = await within(30, `opening a page for ${url}`, context.newPage());
      page.on('dialog', d => d.dismiss().catch(() => {}));
      const from = Date.now();
      try { const r = await page.goto(url, { waitUntil: 'load', timeout: 15000 }); if (r && r.ok()) shown++; else console.log(`${url}: ${r && r.status()}`); } catch (e) { if (base) console.log(`${url}: ${e.message.split('\n')[0]}`); }
      if (process.env.SLOW && Date.now() - from > 3000) console.log(`slow: ${url} ${Date.now() - from}`);
      await new Promise(ok => setTimeout(ok, 250));
      // A page that does not close is Chromium's fault: the others go on without it.
      try { await within(10, `closing ${url}`, page.close()); } catch (e) { console.log(e.message.split('\n')[0]); context = await within(30, 'a new context', browser.newContext()); }
    }
    await within(30, 'closing a context', context.close());
  }));
  await new Promise(ok => setTimeout(ok, 700));
  const counts = JSON.parse(await within(10, 'the counts', ask(live + '/counts')));
  await within(30, 'closing Chromium', browser.close());
  const tcp = counts.tcp - 1; // the question itself
  const reached = [...new Set([...counts.live, ...counts.other].map(u => u.split('/')[2] || u).concat(counts.udp))];
  if (!base) { // the control: the ways do lead out
    const missing = names.filter(w => !reached.includes(w));
    console.log(`live: ${names.length - missing.length} of ${names.length} ways reached a listener; not: ${missing.join(' ')}`);
    process.exit(names.length - missing.length >= 36 ? 0 : 1);
  }
  if (reached.length) console.log(`reached: ${reached.join(' ')}`);
  console.log(`${shown} of ${todo.length} pages shown, ${Object.keys(ways).length} ways: ${counts.live.length + counts.other.length} HTTP requests, ${counts.udp.length} UDP packets, ${tcp} TCP connections`);
  process.exit(shown === todo.length && counts.live.length + counts.other.length + counts.udp.length + tcp === 0 ? 0 : 1);
}

const [mode, ...args] = process.argv.slice(2);
await (mode === 'site' ? site : open)(...args);
