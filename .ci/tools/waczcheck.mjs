// Checks a WACZ with nothing of ours: every hash, size, offset and order in it.
//   node waczcheck.mjs FILE.wacz WARCIO_INDEX.cdxj
// WARCIO_INDEX is what `warcio cdx-index` makes of the archive/ members.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gunzipSync, inflateRawSync } from 'node:zlib'

const [file, index] = process.argv.slice(2)
const zip = readFileSync(file)
const problems = []
const bad = (what) => { if (problems.push(what) < 20) console.log(what) }
const sha256 = (b) => 'sha256:' + createHash('sha256').update(b).digest('hex')

// Central directory, by APPNOTE.TXT 4.3.12 and 4.3.14-16.
let end = zip.length - 22
while (end >= 0 && zip.readUInt32LE(end) !== 0x06054b50) end--
let count = zip.readUInt16LE(end + 10), at = zip.readUInt32LE(end + 16)
if (at === 0xffffffff) {
	const z64 = Number(zip.readBigUInt64LE(end - 20 + 8))
	count = Number(zip.readBigUInt64LE(z64 + 32)); at = Number(zip.readBigUInt64LE(z64 + 48))
}
const entries = new Map()
for (let i = 0; i < count; i++) {
	if (zip.readUInt32LE(at) !== 0x02014b50) { bad(`no directory entry at ${at}`); break }
	const method = zip.readUInt16LE(at + 10), crc = zip.readUInt32LE(at + 16)
	let packed = zip.readUInt32LE(at + 20), size = zip.readUInt32LE(at + 24), offset = zip.readUInt32LE(at + 42)
	const nameLen = zip.readUInt16LE(at + 28), extraLen = zip.readUInt16LE(at + 30), commentLen = zip.readUInt16LE(at + 32)
	const name = zip.toString('utf8', at + 46, at + 46 + nameLen)
	for (let e = at + 46 + nameLen; e < at + 46 + nameLen + extraLen;) {
		const id = zip.readUInt16LE(e), n = zip.readUInt16LE(e + 2)
		let f = e + 4
		const next = () => { const v = Number(zip.readBigUInt64LE(f)); f += 8; return v }
		if (id === 1) {
			if (size === 0xffffffff) size = next()
			if (packed === 0xffffffff) packed = next()
			if (offset === 0xffffffff) offset = next()
		}
		e += 4 + n
	}
	at += 46 + nameLen + extraLen + commentLen
	// The local header must say the same.
	if (zip.readUInt32LE(offset) !== 0x04034b50) { bad(`${name}: no local header at ${offset}`); continue }
	if (zip.readUInt16LE(offset + 6) & 8) bad(`${name}: sizes behind the data`)
	const lname = zip.readUInt16LE(offset + 26), lextra = zip.readUInt16LE(offset + 28)
	let lpacked = zip.readUInt32LE(offset + 18), lsize = zip.readUInt32LE(offset + 22)
	if (lsize === 0xffffffff) {
		const e = offset + 30 + lname
		if (zip.readUInt16LE(e) !== 1) bad(`${name}: no zip64 field in the local header`)
		lsize = Number(zip.readBigUInt64LE(e + 4)); lpacked = Number(zip.readBigUInt64LE(e + 12))
	}
	if (zip.readUInt32LE(offset + 14) !== crc || lpacked !== packed || lsize !== size) bad(`${name}: the local header says otherwise`)
	const start = offset + 30 + lname + lextra
	const raw = zip.subarray(start, start + packed)
	const data = method === 0 ? raw : inflateRawSync(raw)
	if (data.length !== size) bad(`${name}: ${data.length} octets, not ${size}`)
	if (entries.has(name)) bad(`${name}: twice`)
	entries.set(name, { method, data, crc })
}

// datapackage.json and its digest (WACZ 1.1.1 §5.2.5, §5.2.6)
const text = (name) => entries.get(name)?.data.toString('utf8') ?? (bad(`${name} is missing`), '')
const datapackage = JSON.parse(text('datapackage.json'))
const digest = JSON.parse(text('datapackage-digest.json'))
if (datapackage.profile !== 'data-package' || datapackage.wacz_version !== '1.1.1') bad('profile or version')
if (digest.path !== 'datapackage.json' || digest.hash !== sha256(entries.get('datapackage.json').data)) bad('datapackage-digest.json: another hash')
const named = new Set(['datapackage.json', 'datapackage-digest.json'])
for (const r of datapackage.resources) {
	named.add(r.path)
	const e = entries.get(r.path)
	if (!e) { bad(`${r.path}: not there`); continue }
	if (e.data.length !== r.bytes || sha256(e.data) !== r.hash) bad(`${r.path}: another hash or size`)
	if (!r.path.endsWith('/' + r.name)) bad(`${r.path}: named ${r.name}`)
}
for (const [name, e] of entries) {
	if (!named.has(name)) bad(`${name}: not in datapackage.json`)
	if (/^archive\/|\.gz$/.test(name) && e.method !== 0) bad(`${name}: compressed twice`)
	if (!/^(archive\/[^/]+\.warc\.gz|indexes\/index\.(cdx\.gz|idx)|pages\/pages\.jsonl|datapackage(-digest)?\.json)$/.test(name)) bad(`${name}: not of a WACZ`)
}

// index.idx names gzip members of index.cdx.gz, one behind the other.
const packed = entries.get('indexes/index.cdx.gz').data
const lines = []
let next = 0
const idx = text('indexes/index.idx').trimEnd().split('\n')
if (idx[0] !== '!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}') bad('index.idx: its first line')
for (const line of idx.slice(1)) {
	const [key, ts] = line.split(' ', 2), m = JSON.parse(line.slice(line.indexOf('{')))
	const member = packed.subarray(m.offset, m.offset + m.length)
	if (m.offset !== next) bad(`index.idx: ${m.offset}, not ${next}`)
	next = m.offset + m.length
	if (sha256(member) !== m.digest) bad(`index.idx: another digest at ${m.offset}`)
	const part = gunzipSync(member).toString('utf8').trimEnd().split('\n')
	if (part.length > 1024 || !part[0].startsWith(`${key} ${ts} {`)) bad(`index.idx: ${key} is not what begins at ${m.offset}`)
	lines.push(...part)
}
if (next !== packed.length) bad('index.cdx.gz: more than index.idx names')

// The CDXJ is in the order of octets, and each line is warcio's.
const theirs = new Map()
for (const line of readFileSync(index, 'utf8').trimEnd().split('\n')) {
	const [key, ts] = line.split(' ', 2), m = JSON.parse(line.slice(line.indexOf('{')))
	theirs.set(`${m.filename} ${m.offset}`, { key, ts, ...m })
}
for (let i = 0; i < lines.length; i++) {
	const line = lines[i]
	if (i > 0 && Buffer.compare(Buffer.from(lines[i - 1]), Buffer.from(line)) > 0) bad(`CDXJ: out of order: ${line}`)
	const [key, ts] = line.split(' ', 2), m = JSON.parse(line.slice(line.indexOf('{')))
	const other = theirs.get(`${m.filename} ${m.offset}`)
	if (!other) { bad(`CDXJ: warcio has no record there: ${line}`); continue }
	theirs.delete(`${m.filename} ${m.offset}`)
	const digest = m.digest.replace(/^\w+:/, '')
	const mime = other.mime ?? 'unk'
	if (key !== other.key || ts !== other.ts || m.url !== other.url || m.length !== other.length || m.status !== String(other.status) || digest !== other.digest || m.mime !== mime)
		bad(`CDXJ: ${line} differs from warcio: ${JSON.stringify(other)}`)
	const record = gunzipSync(entries.get(`archive/${m.filename}`).data.subarray(+m.offset, +m.offset + +m.length)).toString('latin1')
	if (!record.startsWith('WARC/1.1\r\n') || !record.includes(`\r\nWARC-Target-URI: ${m.url}\r\n`)) bad(`CDXJ: no record of ${m.url} at ${m.offset}`)
}
for (const other of theirs.values()) if (other.mime !== 'application/warc-fields') bad(`CDXJ: no line for ${other.url} at ${other.offset}`)

// pages.jsonl
const pages = text('pages/pages.jsonl').trimEnd().split('\n').map((l) => JSON.parse(l))
const head = pages.shift()
if (head.format !== 'json-pages-1.0' || head.id !== 'pages' || head.hasText !== true) bad('pages.jsonl: its first line')
const urls = new Set(lines.map((l) => JSON.parse(l.slice(l.indexOf('{'))).url))
const ids = new Set()
for (const p of pages) {
	if (!urls.has(p.url)) bad(`pages.jsonl: ${p.url} has no capture`)
	if (ids.has(p.id) || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(p.ts)) bad(`pages.jsonl: ${p.url}: id or time`)
	ids.add(p.id)
}
if (datapackage.mainPageUrl && !pages.some((p) => p.url === datapackage.mainPageUrl && p.ts === datapackage.mainPageDate)) bad('mainPageUrl is no page')
console.log(`${entries.size} entries, ${lines.length} captures, ${pages.length} pages, ${problems.length} problems`)
process.exit(problems.length ? 1 : 0)
