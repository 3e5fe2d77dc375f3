#!/usr/bin/env python3
"""candidates.py ARCHIVE: how many URLs that a script's text may name were asked for, and how many of
these answered 200. Prints: asked answered"""
import glob
import gzip
import re
import sys

asked = answered = 0
status = ""
for name in sorted(glob.glob(sys.argv[1] + "/warc/*.warc.gz")):
    with gzip.open(name) as segment:
        for line in segment:
            if line.startswith(b"WARC-Type: "):
                kind = line[11:].strip()
                if kind in (b"response", b"revisit"):
                    status = ""
            elif line.startswith(b"HTTP/1.") and kind in (b"response", b"revisit") and not status:
                status = line.split()[1].decode()
            elif line.startswith(b"curtsy-visit: ") and kind == b"metadata" and re.search(rb'"class":"speculative"', line):
                asked += 1
                answered += status == "200"
print(asked, answered)
