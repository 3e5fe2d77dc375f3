// Are the payloads of one archive those of another, as npm warcio reads them?
//   node warcsame.mjs THEIRS.warc[.gz]... -- OURS.warc.gz...
// Prints what is missing or differs, then "N payloads, M the same". Exit 1 unless all are.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { WARCParser } from 'warcio'

const split = process.argv.indexOf('--')
const theirs = process.argv.slice(2, split), ours = process.argv.slice(split + 1)
const url = (s) => { try { const u = new URL(s.replace(/^<|>$/g, '')); u.hash = ''; return u.href.replace(/[?&]__wb_method=.*/, '') } catch { return s } }

async function payloads(files) {
	const found = new Map()
	for (const file of files) {
		for await (const r of new WARCParser(createReadStream(file))) {
			const at = r.warcTargetURI ?? ''
			if (!['response', 'resource'].includes(r.warcType) || !/^<?https?:/i.test(at)) continue
			const body = await r.readFully(true)
			const key = url(at) + ' ' + Date.parse(r.warcDate)
			const sums = found.get(key) ?? new Set()
			sums.add(createHash('sha256').update(body ?? '').digest('hex'))
			found.set(key, sums)
		}
	}
	return found
}

const want = await payloads(theirs), got = await payloads(ours)
let n = 0, same = 0
for (const [key, sums] of want) {
	for (const sum of sums) {
		n++
		if (got.get(key)?.has(sum)) same++
		else console.log(`${got.has(key) ? 'differs' : 'missing'}: ${key}`)
	}
}
console.log(`${n} payloads, ${same} the same`)
process.exit(n > 0 && n === same ? 0 : 1)
