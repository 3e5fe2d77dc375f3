// A shop made by React Router and Vite, and its server: node reactsite.mjs build DIR,
// then node reactsite.mjs serve DIR [deny]. 50 pages: home, about, a list in 8 pages and 40
// items, in lazy chunks, filled by a JSON API, with a picture each. The shell is
// the same file for all. The server tells its port, and each request on stderr;
// with deny its robots.txt closes /api/.
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import { mkdirSync, readFileSync, writeFileSync, existsSync } from 'node:fs'
import { join, extname, normalize } from 'node:path'

const [command, dir, deny] = process.argv.slice(2)
const ITEMS = 40, A_PAGE = 5

const sources = {
	'package.json': JSON.stringify({ private: true, type: 'module', dependencies: { react: '19', 'react-dom': '19', 'react-router-dom': '7', vite: '7' } }),
	'vite.config.js': `export default { esbuild: { jsx: 'automatic' }, logLevel: 'error' }`,
	'index.html': `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title></head><body><div id="root"></div><script type="module" src="/src/main.jsx"></script></body></html>`,
	'src/main.jsx': `import { lazy, Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { BrowserRouter, Routes, Route, Link } from 'react-router-dom'
import './main.css'
const Home = lazy(() => import('./home.jsx')), About = lazy(() => import('./about.jsx')), List = lazy(() => import('./list.jsx')), Item = lazy(() => import('./item.jsx'))
createRoot(document.getElementById('root')).render(<BrowserRouter><nav><Link to="/">Home</Link> <Link to="/about">About</Link> <Link to="/list/1">List</Link></nav>
<Suspense fallback={<p>wait</p>}><Routes><Route path="/" element={<Home />} /><Route path="/about" element={<About />} /><Route path="/list/:n" element={<List />} /><Route path="/item/:n" element={<Item />} /><Route path="*" element={<h1>no such page</h1>} /></Routes></Suspense></BrowserRouter>)`,
	'src/main.css': `nav { background: url(/pictures/bar.svg) }`,
	'src/load.js': `import { useEffect, useState } from 'react'
export function useJSON(url) { const [v, set] = useState(null); useEffect(() => { fetch(url).then(r => r.ok ? r.json() : Promise.reject(r.status)).then(set, e => set({ error: String(e) })) }, [url]); return v }`,
	'src/home.jsx': `import { Link } from 'react-router-dom'
export default () => <main><title>Home</title><h1 id="page">page home</h1><p>Many things, in a <Link to="/list/1">list</Link>.</p></main>`,
	'src/about.jsx': `export default () => <main><title>About</title><h1 id="page">page about</h1><img src="/pictures/about.svg" alt="" /></main>`,
	'src/list.jsx': `import { Link, useParams } from 'react-router-dom'
import { useJSON } from './load.js'
export default () => { const { n } = useParams(), v = useJSON('/api/list/' + n)
if (!v) return <p>wait</p>
if (v.error) return <main><h1 id="page">list {n} is missing</h1></main>
return <main><title>{'List ' + n}</title><h1 id="page">page list {n}</h1><ul>{v.items.map(i => <li key={i}><Link to={'/item/' + i}>item {i}</Link></li>)}</ul>{v.next && <Link to={'/list/' + v.next}>next</Link>}</main> }`,
	'src/item.jsx': `import { useParams } from 'react-router-dom'
import { useJSON } from './load.js'
export default () => { const { n } = useParams(), v = useJSON('/api/item/' + n)
if (!v) return <p>wait</p>
if (v.error) return <main><h1 id="page">item {n} is missing</h1></main>
return <main><title>{v.name}</title><h1 id="page">page item {n}</h1><p>{v.text}</p><img src={v.picture} alt="" /></main> }`,
}

if (command === 'build') {
	for (const [name, text] of Object.entries(sources)) {
		mkdirSync(join(dir, name, '..'), { recursive: true })
		writeFileSync(join(dir, name), text)
	}
	if (!existsSync(join(dir, 'node_modules/vite'))) execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: dir, stdio: ['ignore', 2, 2] })
	execFileSync(join(dir, 'node_modules/.bin/vite'), ['build'], { cwd: dir, stdio: ['ignore', 2, 2] })
} else {
	const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css' }
	const picture = name => `<svg xmlns="http://www.w3.org/2000/svg" width="80" height="20"><text y="15">${name}</text></svg>`
	const dist = join(dir, 'dist')
	const answer = path => {
		let m
		if (path === '/robots.txt') return ['text/plain', deny ? 'User-agent: *\nDisallow: /api/\n' : '']
		if ((m = path.match(/^\/api\/list\/(\d+)$/)) && +m[1] >= 1 && +m[1] <= ITEMS / A_PAGE)
			return ['application/json', JSON.stringify({ items: Array.from({ length: A_PAGE }, (_, i) => (m[1] - 1) * A_PAGE + i + 1), next: +m[1] < ITEMS / A_PAGE ? +m[1] + 1 : 0 })]
		if ((m = path.match(/^\/api\/item\/(\d+)$/)) && +m[1] >= 1 && +m[1] <= ITEMS)
			return ['application/json', JSON.stringify({ name: 'Thing ' + m[1], text: 'the zebra no. ' + m[1], picture: `/pictures/${m[1]}.svg` })]
		if ((m = path.match(/^\/pictures\/(\w+)\.svg$/))) return ['image/svg+xml', picture(m[1])]
		const file = join(dist, normalize(path))
		if (extname(path) && file.startsWith(dist) && existsSync(file)) return [types[extname(path)] ?? 'application/octet-stream', readFileSync(file)]
		if (/^\/(|about|list\/[1-8]|item\/([1-9]|[123]\d|40))$/.test(path)) return [types['.html'], readFileSync(join(dist, 'index.html'))]
	}
	const server = createServer((q, r) => {
		console.error(q.method, q.url, q.headers['user-agent'])
		const a = q.method === 'GET' && answer(new URL(q.url, 'http://x').pathname)
		if (!a) return r.writeHead(404, { 'content-type': 'text/plain' }).end('no such thing')
		r.writeHead(200, { 'content-type': a[0] }).end(a[1])
	})
	server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port))
}
