// A site whose every answer is legal or broken in another way, over raw sockets.
//   oddsite.mjs URL-FILE LOG-FILE
// It writes its URL to URL-FILE once it listens, and a line of path and
// user agent to LOG-FILE for each request.
import net from "node:net";
import zlib from "node:zlib";
import { appendFileSync, writeFileSync } from "node:fs";

const [urlFile, logFile] = process.argv.slice(2);
writeFileSync(logFile, "");
const text = "The same words again and again, so that a coding has something to do. ".repeat(60);
const page = (title, body = "") => `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1><p>${body}</p></body></html>\n`;

// head joins a status and header lines; sized adds the body's length.
const head = (status, ...lines) => `HTTP/1.1 ${status}\r\n${lines.map((l) => l + "\r\n").join("")}\r\n`;
const html = "Content-Type: text/html; charset=utf-8";
function sized(status, body, ...lines) {
  body = Buffer.from(body);
  return Buffer.concat([Buffer.from(head(status, `Content-Length: ${body.length}`, ...lines)), body]);
}
function chunks(body, { extension = "", trailer = "" } = {}) {
  body = Buffer.from(body);
  const out = [];
  for (let at = 0; at < body.length; at += 1000) {
    const part = body.subarray(at, at + 1000);
    out.push(Buffer.from(part.length.toString(16) + extension + "\r\n"), part, Buffer.from("\r\n"));
  }
  return Buffer.concat([...out, Buffer.from(`0\r\n${trailer}\r\n`)]);
}
const chunked = (body, options, ...lines) => Buffer.concat([Buffer.from(head("200 OK", html, "Transfer-Encoding: chunked", ...lines)), chunks(body, options)]);

// Each path's answer; close ends the connection after it.
const answers = {
  "/chunked": () => ({ bytes: chunked(page("chunked", text)) }),
  "/chunk-extension": () => ({ bytes: chunked(page("chunk extension", text), { extension: ";name=value" }) }),
  "/trailer": () => ({ bytes: chunked(page("trailer", text), { trailer: "X-Checksum: 1\r\n" }, "Trailer: X-Checksum") }),
  "/gzip": () => ({ bytes: sized("200 OK", zlib.gzipSync(page("gzip", text)), html, "Content-Encoding: gzip") }),
  "/gzip-chunked": () => ({ bytes: chunked(zlib.gzipSync(page("gzip chunked", text)), {}, "Content-Encoding: gzip") }),
  "/br": () => ({ bytes: sized("200 OK", zlib.brotliCompressSync(page("br", text)), html, "Content-Encoding: br") }),
  "/deflate": () => ({ bytes: sized("200 OK", zlib.deflateSync(page("deflate", text)), html, "Content-Encoding: deflate") }),
  "/not-gzip": () => ({ bytes: sized("200 OK", page("says gzip, is not", text), html, "Content-Encoding: gzip") }),
  "/continue": () => ({ bytes: Buffer.concat([Buffer.from(head("100 Continue")), sized("200 OK", page("after 100", text), html)]) }),
  "/early-hints": () => ({ bytes: Buffer.concat([Buffer.from(head("103 Early Hints", "Link: </style.css>; rel=preload")), sized("200 OK", page("after 103", text), html)]) }),
  "/two-interim": () => ({ bytes: Buffer.concat([Buffer.from(head("102 Processing") + head("103 Early Hints", "Link: </a>")), chunked(page("after 102 and 103", text))]) }),
  "/redirect-301": () => ({ bytes: sized("301 Moved Permanently", page("moved"), html, "Location: /redirect-302") }),
  "/redirect-302": () => ({ bytes: sized("302 Found", "", "Location: plain?by=302") }),
  "/redirect-308": () => ({ bytes: sized("308 Permanent Redirect", "", "Location: /gzip") }),
  "/redirect-loop": () => ({ bytes: sized("302 Found", "", "Location: /redirect-loop") }),
  "/redirect-away": () => ({ bytes: sized("302 Found", "", "Location: http://another.invalid/") }),
  "/not-found": () => ({ bytes: sized("404 Not Found", page("not found"), html) }),
  "/gone": () => ({ bytes: sized("410 Gone", "", html) }),
  "/error": () => ({ bytes: sized("500 Internal Server Error", page("error"), html) }),
  "/no-content": () => ({ bytes: Buffer.from(head("204 No Content")) }),
  "/empty": () => ({ bytes: sized("200 OK", "", html) }),
  "/empty-too": () => ({ bytes: sized("200 OK", "", html) }),
  "/empty-chunked": () => ({ bytes: chunked("") }),
  "/same-1": () => ({ bytes: sized("200 OK", page("same", text), html) }),
  "/same-2": () => ({ bytes: sized("200 OK", page("same", text), html, "X-Other: head") }),
  "/same-chunked": () => ({ bytes: chunked(page("same", text)) }),
  "/until-close": () => ({ bytes: Buffer.from(head("200 OK", html, "Connection: close") + page("until close", text)), close: true }),
  "/http-1.0": () => ({ bytes: Buffer.from("HTTP/1.0 200 OK\r\n" + html + "\r\n\r\n" + page("http 1.0", text)), close: true }),
  "/short": () => ({ bytes: Buffer.from(head("200 OK", html, "Content-Length: 9000") + page("short", text)), close: true }),
  "/cut-chunk": () => ({ bytes: chunked(page("cut", text)).subarray(0, 2500), close: true }),
  "/bare-lf": () => ({ bytes: Buffer.from(`HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 11\n\nhello world`) }),
  "/no-reason": () => ({ bytes: sized("200", page("no reason phrase"), html) }),
  "/twice-header": () => ({ bytes: sized("200 OK", page("cookies"), html, "Set-Cookie: a=1", "Set-Cookie: b=2") }),
  "/latin1-header": () => ({ bytes: Buffer.from(head("200 OK", html, "Content-Length: 2", "X-Name: caf\u00e9") + "ok", "latin1") }),
  "/long-header": () => ({ bytes: sized("200 OK", page("long header"), html, "X-Long: " + "x".repeat(20000)) }),
  "/noarchive": () => ({ bytes: sized("200 OK", page("SECRET-NOARCHIVE-WORDS", text), html, "X-Robots-Tag: noarchive") }),
  "/binary": () => ({ bytes: sized("200 OK", Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) & 255)), "Content-Type: application/octet-stream") }),
  ["/" + encodeURIComponent("страница")]: () => ({ bytes: sized("200 OK", page("страница", text), html) }),
  ["/" + "long".repeat(300)]: () => ({ bytes: sized("200 OK", page("a long name"), html) }),
  "/quote'(1);p=1": () => ({ bytes: sized("200 OK", page("punctuation"), html) }),
  "/plain": () => ({ bytes: sized("200 OK", page("plain", text), html) }),
  "/plain?by=302": () => ({ bytes: sized("200 OK", page("plain by 302", text), html) }),
};
answers["/"] = () => ({ bytes: sized("200 OK", page("odd site", Object.keys(answers).map((p) => `<a href="${p}">${p.slice(0, 40)}</a>`).join("\n")), html) });
answers["/robots.txt"] = () => ({ bytes: sized("200 OK", "User-agent: *\nDisallow: /denied\n", "Content-Type: text/plain") });

function serve(socket) {
  let pending = "";
  socket.on("error", () => {});
  socket.on("data", (data) => {
    pending += data.toString("latin1");
    for (let end; (end = pending.indexOf("\r\n\r\n")) >= 0; ) {
      const request = pending.slice(0, end);
      pending = pending.slice(end + 4);
      const path = request.split(" ")[1];
      appendFileSync(logFile, `${path}\t${/^user-agent: *(.*)$/im.exec(request)?.[1] ?? ""}\n`);
      const { bytes, close } = (answers[path] ?? (() => ({ bytes: sized("404 Not Found", "nothing here\n") })))();
      socket.write(bytes);
      if (close) socket.end();
    }
  });
}

const server = net.createServer(serve).listen(0, "127.0.0.1", () => writeFileSync(urlFile, `http://127.0.0.1:${server.address().port}\n`));
