#!/usr/bin/env python3
"""runpicture.py CURTSY OUT.svg: a picture of a real run on a terminal of 80 columns.

A small site on loopback is crawled inside of tmux; what stands on the screen
after some seconds, and at the end, becomes the picture."""
import html, http.server, os, subprocess, sys, tempfile, threading, time

PAGES = 24


class Site(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        kind, body = "text/html", b""
        if self.path == "/robots.txt":
            kind, body = "text/plain", b"User-agent: *\nDisallow: /private/\n"
        elif self.path == "/" or self.path.startswith("/page"):
            time.sleep(0.05)
            body = (f"<title>{self.path}</title><a href=/private/x>p</a>" + "".join(f"<a href=/page{n}>n</a>" for n in range(PAGES)) + "x" * 20000).encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main(curtsy, out):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as work:
        tmux = ["tmux", "-L", f"picture{os.getpid()}"]
        url = f"http://127.0.0.1:{server.server_port}/"
        run = f"cd {work}; PATH={os.path.dirname(os.path.abspath(curtsy))}:$PATH; curtsy crawl {url} --archive site --delay 500ms; sleep 60"
        subprocess.run(tmux + ["new-session", "-d", "-x", "80", "-y", "24", "-s", "p", run], check=True)
        screen = lambda: subprocess.run(tmux + ["capture-pane", "-p", "-t", "p"], capture_output=True, text=True, check=True).stdout.rstrip()
        try:
            while " left" not in screen() or "7 pages" not in screen():
                time.sleep(0.2)
            during = screen()
            while "next:" not in screen():
                time.sleep(0.5)
            after = screen()
        finally:
            subprocess.run(tmux + ["kill-server"])
    lines = ["$ curtsy crawl https://example.org/ --contact you@example.org", *during.split("\n"), "…", *after.split("\n")]
    draw([l.replace(url, "https://example.org/").replace(url[:-1], "https://example.org") for l in lines], out)


def draw(lines, out):
    height = 20 * len(lines) + 24
    rows = "".join(f'<text x="14" y="{28 + 20 * n}" xml:space="preserve"{" font-weight=\"bold\"" if " left," in l else ""}>{html.escape(l)}</text>\n' for n, l in enumerate(lines))
    with open(out, "w") as f:
        f.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 {height}" role="img" aria-label="a crawl on a terminal">\n'
                f'<rect width="700" height="{height}" rx="8" fill="#16181d"/>\n<g font-family="ui-monospace,Menlo,Consolas,monospace" font-size="13.5" fill="#e6e6e6">\n{rows}</g></svg>\n')


main(*sys.argv[1:])
