#!/usr/bin/env python3
"""Lists the records of WARC segments, sharing no code with curtsy: offset, type, target URI, HTTP
   status, sha1 of the entity body, cut or whole, separated by tabs; after --by-name the segment's name
   stands before them. A segment is read up to the first byte that is not a whole record in a gzip
   member of its own, which is an error and exit 1 after the last segment."""
import hashlib
import http.client
import io
import os
import sys
import zlib


def members(data):
    """Offset and content of each gzip member."""
    at = 0
    while at < len(data):
        z, content, end = zlib.decompressobj(31), b"", at
        while not z.eof:
            if end >= len(data):
                raise ValueError(f"at {at}: a gzip member that is cut off")
            content += z.decompress(data[end:end + 65536])
            end += 65536
        yield at, content
        at = min(end, len(data)) - len(z.unused_data)


class Socket:
    def __init__(self, block):
        self.makefile = lambda *_: io.BytesIO(block)


def entity(block, cut, revisit):
    answer = http.client.HTTPResponse(Socket(block))
    answer.begin()
    try:
        body = answer.read()
    except http.client.IncompleteRead as e:
        if not cut and not (revisit and not e.partial):
            raise
        body = e.partial
    return answer.status, hashlib.sha1(body).hexdigest()


def record(at, member):
    head, _, rest = member.partition(b"\r\n\r\n")
    version, *lines = head.decode().split("\r\n")
    fields = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
    size = int(fields["content-length"])
    if version != "WARC/1.1" or rest[size:] != b"\r\n\r\n":
        raise ValueError(f"at {at}: {version}, {len(rest) - size} bytes after the start of the block's end")
    kind, cut, status, digest = fields["warc-type"], fields.get("warc-truncated"), "-", "-"
    if kind in ("response", "revisit"):
        status, digest = entity(rest[:size], cut, kind == "revisit")
    return at, kind, fields.get("warc-target-uri", "-"), status, digest, f"cut:{cut}" if cut else "whole"


http.client._MAXLINE = 1 << 20
names, bad = sys.argv[1:], False
by_name = names[:1] == ["--by-name"]
for name in names[by_name:]:
    start = (os.path.basename(name),) if by_name else ()
    try:
        with open(name, "rb") as f:
            for at, member in members(memoryview(f.read())):
                print(*start, *record(at, member), sep="\t")
    except (ValueError, KeyError, zlib.error, http.client.HTTPException) as e:
        sys.stdout.flush()
        print(f"warcls: {name}: {e}", file=sys.stderr)
        bad = True
sys.exit(bad)
