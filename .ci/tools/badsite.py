"""A site whose pages go bad, each in a way of its own, once the file BAD exists.
   badsite.py URL-FILE BAD"""
import gzip
import http.server
import os
import sys
import zlib

LOGIN = "/login?next=x"
MAINTENANCE = b"<title>Maintenance</title><p>We will be back soon.</p>"
# name: (status, headers, body), or a word for what no answer describes
WAYS = {
    "error-500": (500, {}, b"<p>internal error</p>"), "error-502": (502, {}, b"bad gateway"),
    "error-503": (503, {}, b"<p>unavailable</p>"), "error-504": (504, {}, b""),
    "too-many": (429, {"Retry-After": "0"}, b"slow down"), "forbidden": (403, {}, b"<p>forbidden</p>"),
    "unauthorized": (401, {}, b""), "missing": (404, {}, b"<p>not found</p>"), "gone": (410, {}, b"<p>gone</p>"),
    "teapot": (418, {}, b"teapot"), "empty": (200, {}, b""), "blank": (200, {}, b"  \n \n"),
    "no-content": (204, {}, b""), "cut-off": "cut", "reset": "reset",
    "to-home": (302, {"Location": "/"}, b""), "to-home-301": (301, {"Location": "/"}, b""),
    "to-login": (302, {"Location": LOGIN}, b""), "to-wp-login": (303, {"Location": "/wp-login.php"}, b""),
    "challenge": (403, {"Cf-Mitigated": "challenge"}, b"<title>Just a moment...</title>"),
    **{f"maintenance-{i}": (200, {}, MAINTENANCE) for i in range(1, 6)},
}


PAGE = b"<title>Another</title><p>Another text altogether, which is not what was here. It is long enough to be a page."
ZIPPED = gzip.compress(PAGE)
# Further ways, by docs/update.md: what is no whole representation, and redirects whose end is not good.
WAYS |= {f"more-{n}": answer for n, answer in {
    **{f"status-{s}": (s, {}, PAGE) for s in (202, 205, 206, 207, 226, 299, 300, 305, 306, 399, 499, 600, 999)},
    "gzip-cut": (200, {"Content-Encoding": "gzip", "ETag": '"a"'}, ZIPPED[:-12]),
    "gzip-crc": (200, {"Content-Encoding": "gzip", "ETag": '"b"'}, ZIPPED[:-8] + bytes(4) + ZIPPED[-4:]),
    "zlib-cut": (200, {"Content-Encoding": "deflate"}, zlib.compress(PAGE)[:-6]),
    "coding": (200, {"Content-Encoding": "compress"}, b"\x1f\x9d\x90" + PAGE),
    "nowhere": (302, {}, b""), "no-url": (302, {"Location": "http://[bad"}, b""),
    "itself": (302, {"Location": "/more-itself.html"}, b""), "to-missing": (301, {"Location": "/missing-too"}, b""),
    "circle": (302, {"Location": "/more-circle.html?"}, b""), "to-nobody": (301, {"Location": "http://127.0.0.1:1/"}, b""),
}.items()}


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        name = self.path.partition("?")[0].strip("/").removesuffix(".html")
        answer = (200, {}, f"<title>{name}</title><p>GOOD-{name}. All that there is to say about it.</p>".encode())
        if self.path == "/robots.txt":
            answer = (404, {}, b"")
        elif self.path == "/":
            answer = (200, {}, ("<title>Home</title>" + "".join(f'<p><a href="/{n}.html">{n}</a></p>' for n in WAYS)).encode())
        elif name == "missing-too":
            answer = (404, {}, b"")
        elif "login" in name and name not in WAYS:
            answer = (200, {}, b"<title>Log in</title>")
        elif name in WAYS and os.path.exists(sys.argv[2]):
            answer = WAYS[name]
        if answer == "reset":
            self.close_connection = True
            return
        if answer == "cut":
            self.answer(200, {"Content-Length": "448"}, f"<title>{name}</title><p>All that there".encode())
            self.close_connection = True
            return
        self.answer(*answer)

    def answer(self, status, headers, body):
        self.send_response(status)
        for field in {"Content-Type": "text/html", "Content-Length": str(len(body)), **headers}.items():
            if status not in (204, 205) or field[0] != "Content-Length":
                self.send_header(*field)
        self.end_headers()
        self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
with open(sys.argv[1] + ".new", "w") as f:
    f.write("http://127.0.0.1:%d" % server.server_port)
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
