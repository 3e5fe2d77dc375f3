"""Was every URL that a crawler asked for allowed to it? Shares no code with the crawler.

    justify.py SITE ROBOTS-FILE ASKED-FILE WARC...

ASKED-FILE holds a path a line, from the server's log. A path is justified when
no rule of the robots.txt denies it, and when it is the seed (the first one that
is not robots.txt), or a redirect's target, or linked from an archived page that
does not say nofollow, by a link that does not say nofollow. Unjustified paths go
to standard output, and so does what may be followed and was not asked for; a
summary goes to standard error.
"""
import gzip
import json
import re
import sys
import zlib
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit, quote

AGENTS = {"", "*", "robots", "curtsy"}


def records(name):
    """Headers and block of each record; whole members, as the format wants them."""
    with gzip.open(name) as f:
        while line := f.readline():
            if line == b"\r\n":
                continue
            head = {}
            while (line := f.readline()) not in (b"\r\n", b""):
                key, _, value = line.decode("utf-8", "replace").partition(":")
                head[key.lower()] = value.strip()
            yield head, f.read(int(head["content-length"]))


def response(block):
    head, _, body = block.partition(b"\r\n\r\n")
    lines = head.decode("latin1").split("\r\n")
    fields = [(k.strip().lower(), v.strip()) for k, _, v in (l.partition(":") for l in lines[1:])]
    named = dict(fields)
    if named.get("transfer-encoding", "").lower() == "chunked":
        whole = b""
        while body:
            size, _, body = body.partition(b"\r\n")
            n = int(size.split(b";")[0] or b"0", 16)
            if n == 0:
                break
            whole, body = whole + body[:n], body[n + 2:]
        body = whole
    if named.get("content-encoding") == "gzip":
        body = zlib.decompress(body, 47)
    return fields, named, body


class Page(HTMLParser):
    """Links of a page, each with whether it says nofollow itself; the page's own directives."""

    def __init__(self):
        super().__init__()
        self.links, self.perhaps, self.nofollow, self.base, self.css = [], [], False, None, ""
        self.in_style = False

    def handle_starttag(self, tag, attrs):
        a = {}
        for k, v in attrs:
            a.setdefault(k, v or "")
        rel = a.get("rel", "").lower().split()
        no = bool({"nofollow", "ugc", "sponsored"} & set(rel))
        if tag == "base" and "href" in a and self.base is None:
            self.base = a["href"]
        if tag == "meta" and a.get("name", "").strip().lower() in {"robots", "curtsy"}:
            self.nofollow |= bool(re.search(r"\b(nofollow|none)\b", re.sub(r"max-image-preview:\s*none", "", a.get("content", "").lower())))
        if tag == "meta" and a.get("http-equiv", "").lower() == "refresh":
            target = re.search(r"url\s*=\s*['\"]?([^'\"]+)", a.get("content", ""), re.I)
            if target:
                self.links.append((target[1].strip(), no))
        if tag != "base":
            for k in ("href", "src", "data", "poster", "background", "xlink:href"):
                if k in a:
                    self.links.append((a[k], no))
            # a crawler may ask for these, or leave them
            self.perhaps += [a[k] for k in ("action", "formaction", "cite", "longdesc", "data-src") if k in a]
            for k in ("srcset", "imagesrcset"):
                self.links += [(c.split()[0], no) for c in a.get(k, "").split(",") if c.split()]
        self.css += a.get("style", "") + "\n"
        self.in_style = tag == "style"

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag):
        self.in_style = self.in_style and tag != "style"

    def handle_data(self, data):
        if self.in_style:
            self.css += data


def css_links(text):
    return re.findall(r"url\(\s*['\"]?([^'\")]+?)['\"]?\s*\)", text) + re.findall(r"@import\s+['\"]([^'\"]+)", text)


def header_nofollow(fields):
    for k, v in fields:
        if k == "x-robots-tag":
            agent = ""
            for piece in v.lower().split(","):
                name, colon, rest = piece.strip().partition(":")
                if colon and name not in {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}:
                    agent, piece = name.strip(), rest
                if agent in AGENTS and piece.strip() in {"nofollow", "none"}:
                    return True
    return False


def canonical(path):
    """One spelling for both sides: a percent sign stays, what must be escaped is."""
    path = quote(path, safe="/?&=%:@!$'()*+,;~-._")
    unreserved = lambda m: chr(int(m[1], 16)) if re.match(r"[A-Za-z0-9\-._~!'()]", chr(int(m[1], 16))) else m[0].upper()
    return re.sub(r"%([0-9A-Fa-f]{2})", unreserved, path)


def rules(text):
    """(pattern, length, allow) of the one group of everybody that these files have."""
    for line in text.splitlines():
        field, _, value = line.partition(":")
        value = value.strip()
        if field.lower() in {"allow", "disallow"} and value:
            pattern = "".join(".*" if c == "*" else "$" if c == "$" else re.escape(c) for c in canonical(value))
            yield re.compile(pattern), len(value), field.lower() == "allow"


def denied(path, rule_list):
    hits = [(length, allow) for pattern, length, allow in rule_list if pattern.match(path)]
    return bool(hits) and not max(hits)[1]


def main(site, robots, asked_file, *warcs):
    rule_list = list(rules(open(robots).read()))
    asked = [canonical(line.rstrip("\n")) for line in open(asked_file)]
    reasons, may, unfollowed = set(), set(), 0
    literals, bases = set(), set()

    def link(base, href, to=reasons):
        href = re.sub(r"[\t\n\r]", "", href.strip())
        try:
            target = urljoin(base, href)
            parts = urlsplit(target)
        except ValueError:
            return
        if f"{parts.scheme}://{parts.netloc}" == site:
            to.add(canonical((parts.path or "/") + ("?" + parts.query if parts.query else "")))

    for name in warcs:
        for head, block in records(name):
            if head["warc-type"] != "response":
                continue
            uri = head["warc-target-uri"].strip("<>")
            fields, named, body = response(block)
            if "location" in named:
                link(uri, named["location"])
            no = header_nofollow(fields)
            if re.search("html|javascript|json", named.get("content-type", "")):
                bases.add(uri)
                literals |= set(re.findall(r"[\"'`]([^\"'`\s<>]+\.[a-z0-9]{2,5}(?:\?[^\"'`\s<>]*)?)[\"'`]", body.decode("utf-8", "replace").replace("\\/", "/")))
            if "html" in named.get("content-type", ""):
                page = Page()
                page.feed(body.decode("utf-8", "replace"))
                if no or page.nofollow:
                    unfollowed += 1
                    # what a page needs to be shown is not a link to follow
                    page.links, page.perhaps = [], []
                base = urljoin(uri, page.base or "")
                for href, nofollow in page.links:
                    if not nofollow:
                        link(base, href)
                for href in page.perhaps:
                    link(base, href, may)
                for href in css_links(page.css):
                    link(base, href)
            elif "css" in named.get("content-type", "") and not no:
                for href in css_links(body.decode("utf-8", "replace")):
                    link(uri, href)
            if "xml" in named.get("content-type", ""):
                for href in re.findall(r"<\?xml-stylesheet[^>]*href=[\"']([^\"']+)", body.decode("utf-8", "replace")):
                    link(uri, href.replace("&amp;", "&"))
            if "manifest" in named.get("content-type", ""):
                for icon in json.loads(body).get("icons", []):
                    link(uri, icon["src"])
            for k, v in fields:
                if k == "link" and not no and "nofollow" not in v:
                    for href in re.findall(r"<([^>]+)>", v):
                        link(uri, href)
    # a literal in a script that looks like a file of the site may be asked for
    for base in {urljoin(b, ".") for b in bases}:
        for literal in literals:
            link(base, literal, may)
    pages = [p for p in asked if p != "/robots.txt"]
    wrong = 0
    for i, path in enumerate(pages):
        why = "denied by robots.txt" if denied(path, rule_list) else \
            "no link to it that may be followed" if path not in reasons | may and i > 0 and not re.search(r"(^|/)(sitemap[^/]*|favicon\.ico)$", path) else None
        if why:
            wrong += 1
            print(f"{path}\t{why}")
    for path in sorted(reasons - set(asked)):
        if not denied(path, rule_list):
            print(f"{path}\tmay be followed, and was not asked for")
    print(f"{len(reasons)} links that may be followed, {unfollowed} pages say nofollow, {sum(denied(p, rule_list) for p in reasons)} links denied by robots.txt", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
