#!/usr/bin/env python3
"""treelinks.py DIR ORIGIN: the links (a, area) of all pages of a copy of a site: how many lead to a
file of the copy, to the live site, and to nothing. Prints: pages held live broken"""
import html.parser
import os
import sys
import urllib.parse

root, origin = os.path.realpath(sys.argv[1]), sys.argv[2].rstrip("/")
OURS = {"mirror-report.html", "index-urls.html", "hts-log.html"}


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.base = [], ""

    def handle_starttag(self, tag, attrs):
        href = dict(attrs).get("href")
        if tag == "base" and href and not self.base:
            self.base = href
        if tag in ("a", "area") and href:
            self.found.append(href.strip())


def kind(page, base, href):
    """held, live, broken, or None for what is no link to this site."""
    whole = urllib.parse.urljoin(base, href) if base else href
    if whole.startswith("//"):
        whole = "http:" + whole
    parts = urllib.parse.urlsplit(whole)
    if parts.scheme in ("http", "https"):
        return "live" if whole == origin or whole.startswith((origin + "/", origin + "?", origin + "#")) else None
    if parts.scheme not in ("", "file") or not (parts.path or parts.query):
        return None
    path = urllib.parse.unquote(parts.path)
    if path.startswith("/") and parts.scheme != "file":
        return "broken"  # from a disk, that is the root of the disk
    file = path if parts.scheme == "file" else os.path.join(os.path.dirname(page), path)
    # a copy may have a question mark in its names, unescaped by mistake
    for name in (file, file + "?" + urllib.parse.unquote(parts.query)):
        if os.path.isfile(name) or os.path.isfile(os.path.join(name, "index.html")):
            return "held"
    return "broken"


pages, counts = 0, {"held": 0, "live": 0, "broken": 0}
for folder, _, names in os.walk(root):
    for name in names:
        page = os.path.join(folder, name)
        if name in OURS or not name.lower().endswith((".html", ".htm", ".xhtml")):
            continue
        with open(page, encoding="utf-8", errors="replace") as f:
            text = f.read()
        pages += 1
        links = Links()
        links.feed(text)
        for href in links.found:
            try:
                k = kind(page, links.base, href)
            except ValueError:
                k = None
            if k:
                counts[k] += 1
                if k in os.environ.get("SHOW", ""):
                    print(k, os.path.relpath(page, root), href, file=sys.stderr)
print(pages, counts["held"], counts["live"], counts["broken"])
