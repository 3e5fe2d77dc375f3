// A site that lets in only whoever signs: node webbotauth.mjs PORT JWKS LOG. Each request is verified by
// the npm package web-bot-auth with the keys of the JWKS; the log has a line for each.
import { appendFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [port, jwks, log] = process.argv.slice(2);
const from = createRequire(process.env.NPM_TOOLS + '/');
const load = name => import(pathToFileURL(from.resolve(name)).href);
const { verify } = (await load('web-bot-auth')).default ?? await load('web-bot-auth');
const { verifierFromJWK } = (await load('web-bot-auth/crypto')).default ?? await load('web-bot-auth/crypto');
const key = await verifierFromJWK(JSON.parse(readFileSync(jwks)).keys[0]);
setTimeout(() => process.exit(0), 60000);
createServer(async (req, res) => {
	let said = 'verified';
	try {
		await verify(new Request(`http://${req.headers.host}${req.url}`, { headers: req.headers }), key);
	} catch (err) {
		said = `refused: ${err.message}`;
	}
	appendFileSync(log, `${said} ${req.url} ${req.headers['signature-agent'] ?? '-'}\n`);
	res.writeHead(said === 'verified' ? 200 : 403, { 'content-type': req.url === '/robots.txt' ? 'text/plain' : 'text/html' });
	res.end(req.url === '/' ? '<!DOCTYPE html><title>home</title><a href="/a">a</a>' : '');
}).listen(Number(port), '127.0.0.1');
