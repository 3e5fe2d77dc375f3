// What WARC segments hold, read with npm's warcio and judged with node's crypto:
// neither shares code with the crawler.
//
//   warccheck.mjs list FILE...    status, target URI, sha1 of the decoded body, type of each response and revisit
//   warccheck.mjs check FILE...   every digest and every rule below; exits with 1 if one is broken
//
// NPM_TOOLS names the directory that npm installed warcio in.
import { createReadStream } from "node:fs";
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import zlib from "node:zlib";

const require = createRequire(process.env.NPM_TOOLS + "/index.js");
const { WARCParser } = await import(pathToFileURL(require.resolve("warcio")).href);

const [mode, ...files] = process.argv.slice(2);
const counts = { records: 0, response: 0, revisit: 0, request: 0, metadata: 0, warcinfo: 0, blockDigests: 0, payloadDigests: 0 };
const ids = new Map(); // record ID to what was said about it
const wanted = []; // IDs that must exist, and who wants them
let broken = 0;

function complain(where, what) {
  broken++;
  if (broken <= 20) console.log(`broken: ${where}: ${what}`);
}

// Base32 (RFC 4648), for the usual form of sha1 in a WARC.
function base32(bytes) {
  let bits = "";
  for (const b of bytes) bits += b.toString(2).padStart(8, "0");
  return bits.match(/.{1,5}/g).map((q) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[parseInt(q.padEnd(5, "0"), 2)]).join("");
}

function digestOf(named, bytes) {
  const algorithm = named.split(":")[0];
  const h = createHash(algorithm).update(bytes).digest();
  return `${algorithm}:${algorithm === "sha1" ? base32(h) : h.toString("hex")}`;
}

// An HTTP message's head and entity body; the transfer coding is undone here, by hand.
function http(block) {
  // a server may end lines with LF alone; bytes are kept as they came
  const end = /\r?\n\r?\n/.exec(block.toString("latin1"));
  if (!end) return { first: "", status: "", headers: {}, raw: Buffer.alloc(0), entity: Buffer.alloc(0) };
  const [first, ...lines] = block.subarray(0, end.index).toString("latin1").split(/\r?\n/);
  const headers = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] ??= line.slice(colon + 1).trim();
  }
  const raw = block.subarray(end.index + end[0].length);
  const chunked = /chunked/i.test(headers["transfer-encoding"] ?? "");
  return { first, status: first.split(" ")[1], headers, raw, chunked, entity: chunked ? dechunk(raw) : raw };
}

function dechunk(raw) {
  const parts = [];
  for (let at = 0; at < raw.length; ) {
    const eol = raw.indexOf("\r\n", at);
    if (eol < 0) break;
    const size = parseInt(raw.subarray(at, eol).toString("latin1"), 16);
    if (!(size > 0)) break;
    parts.push(raw.subarray(eol + 2, Math.min(eol + 2 + size, raw.length)));
    at = eol + 2 + size + 2;
  }
  return Buffer.concat(parts);
}

function decoded({ headers, entity }) {
  const undo = { gzip: zlib.gunzipSync, "x-gzip": zlib.gunzipSync, br: zlib.brotliDecompressSync, deflate: zlib.inflateSync }[headers["content-encoding"]];
  if (!undo) return entity;
  try {
    return undo(entity);
  } catch {
    return entity; // cut short, or mislabelled by the server
  }
}

function checkResponse(where, w, m) {
  const cut = w["warc-truncated"];
  const length = m.headers["content-length"];
  const bodiless = /^(1..|204|304)$/.test(m.status);
  if (!/^HTTP\/1\.[01]$/.test(m.first.split(" ")[0])) complain(where, `status line ${m.first}`);
  if (/^1/.test(m.status)) complain(where, "an interim head is kept as the answer");
  if (!m.chunked && length !== undefined && !cut && !bodiless && m.raw.length !== Number(length))
    complain(where, `Content-Length ${length}, body of ${m.raw.length}, not marked as cut`);
  if (!w["warc-payload-digest"]) return complain(where, "no payload digest");
  const got = digestOf(w["warc-payload-digest"], m.entity);
  if (got !== w["warc-payload-digest"]) complain(where, `payload digest ${w["warc-payload-digest"]}, entity body is ${got}`);
  counts.payloadDigests++;
}

function checkRevisit(where, w, m, block) {
  if (!/revisit\/(identical-payload-digest|server-not-modified)$/.test(w["warc-profile"] ?? "")) complain(where, `profile ${w["warc-profile"]}`);
  if (!/^HTTP\/1\.[01]$/.test(m.first.split(" ")[0])) complain(where, "a revisit without the answer's head");
  if (m.raw.length !== 0) complain(where, `a revisit with ${m.raw.length} bytes of body`);
  if (block.length && !block.toString("latin1").endsWith("\r\n\r\n")) complain(where, "a revisit's head that does not end");
  wanted.push([where, w["warc-refers-to"], (o) => {
    if (o.type !== "response") return `refers to a ${o.type}`;
    if (o.uri !== w["warc-refers-to-target-uri"]) return `refers to ${w["warc-refers-to-target-uri"]}, which is ${o.uri}`;
    if (o.date !== w["warc-refers-to-date"]) return `refers to ${w["warc-refers-to-date"]}, which is of ${o.date}`;
    if (o.digest !== w["warc-payload-digest"]) return "has another payload digest than what it refers to";
  }]);
}

function checkRecord(where, w, version, block, m, info) {
  counts.records++;
  counts[w["warc-type"]] = (counts[w["warc-type"]] ?? 0) + 1;
  if (version !== "WARC/1.1") complain(where, `version ${version}`);
  if (!/^<urn:uuid:[0-9a-f-]{36}>$/.test(w["warc-record-id"] ?? "")) complain(where, `record ID ${w["warc-record-id"]}`);
  if (ids.has(w["warc-record-id"])) complain(where, "a record ID used twice");
  ids.set(w["warc-record-id"], { type: w["warc-type"], uri: w["warc-target-uri"], date: w["warc-date"], digest: w["warc-payload-digest"] });
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(w["warc-date"] ?? "")) complain(where, `date ${w["warc-date"]}`);
  if (/^</.test(w["warc-target-uri"] ?? "")) complain(where, "a target URI in angle brackets");
  if (w["warc-type"] !== "warcinfo" && w["warc-warcinfo-id"] !== info) complain(where, `warcinfo ID ${w["warc-warcinfo-id"]}, want ${info}`);
  if (w["warc-concurrent-to"])
    wanted.push([where, w["warc-concurrent-to"], (o) => (o.uri !== w["warc-target-uri"] || o.date !== w["warc-date"]) && "concurrent to a record of another URI or date"]);
  if (w["warc-block-digest"]) {
    const got = digestOf(w["warc-block-digest"], block);
    if (got !== w["warc-block-digest"]) complain(where, `block digest ${w["warc-block-digest"]}, block is ${got}`);
    counts.blockDigests++;
  } else if (w["warc-type"] === "response" || w["warc-type"] === "request") complain(where, "no block digest");
  if (w["warc-type"] === "request" && !block.length) complain(where, "an empty request");
  if (w["warc-type"] === "response" && !(w["warc-ip-address"])) complain(where, "no IP address");
  if (w["warc-type"] === "response") checkResponse(where, w, m);
  if (w["warc-type"] === "revisit") checkRevisit(where, w, m, block);
}

for (const file of files) {
  let info, n = 0;
  const parser = new WARCParser(createReadStream(file), { keepHeadersCase: true, parseHttp: false });
  for await (const record of parser) {
    const w = {};
    for (const [name, value] of record.warcHeaders.headers) w[name.toLowerCase()] = value;
    const block = Buffer.from((await record.readFully(false)) ?? []);
    const where = `${basename(file)} record ${n++} (${w["warc-type"]} ${w["warc-target-uri"] ?? ""})`;
    const m = /^(response|revisit)$/.test(w["warc-type"]) ? http(block) : undefined;
    if (mode === "list") {
      if (m) console.log([m.status, w["warc-target-uri"], createHash("sha1").update(decoded(m)).digest("hex"), w["warc-type"]].join("\t"));
      continue;
    }
    if (n === 1) {
      info = w["warc-record-id"];
      if (w["warc-type"] !== "warcinfo") complain(where, "a segment that does not begin with warcinfo");
      if (w["warc-filename"] !== basename(file)) complain(where, `WARC-Filename ${w["warc-filename"]}`);
    }
    checkRecord(where, w, record.warcHeaders.statusline, block, m, info);
  }
}
for (const [where, id, judge] of wanted) {
  const target = ids.get(id);
  const why = target ? judge(target) : `names ${id}, which is nowhere`;
  if (why) complain(where, why);
}
if (mode === "check") console.log(Object.entries(counts).map(([k, v]) => `${v} ${k}`).join(", ") + `, ${broken} broken`);
process.exitCode = broken ? 1 : 0;
