// Asks Parquet files by two readers that are not ours.
//   node corpus.mjs sql FILE.md      every query of a document's ```sql blocks, in DuckDB: rows of each
//   node corpus.mjs ask QUERY        one query in DuckDB: its rows as JSON
//   node corpus.mjs count FILE...    rows of each file as hyparquet reads them all
import { readFileSync } from 'node:fs';

const [what, ...args] = process.argv.slice(2);

async function duckdb() {
	const { DuckDBInstance } = await import('@duckdb/node-api');
	const c = await (await DuckDBInstance.create(':memory:')).connect();
	return async (sql) => (await c.runAndReadAll(sql)).getRowObjectsJson();
}

if (what === 'sql') {
	const ask = await duckdb();
	const blocks = [...readFileSync(args[0], 'utf8').matchAll(/```sql\n([\s\S]*?)```/g)];
	for (const [, sql] of blocks) console.log((await ask(sql)).length);
} else if (what === 'ask') {
	for (const row of await (await duckdb())(args[0])) console.log(JSON.stringify(row));
} else {
	const { asyncBufferFromFile, parquetReadObjects } = await import('hyparquet');
	const { compressors } = await import('hyparquet-compressors');
	for (const name of args) console.log((await parquetReadObjects({ file: await asyncBufferFromFile(name), compressors })).length);
}
