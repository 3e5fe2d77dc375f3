#!/usr/bin/env python3
"""Lists the records of WARC segments, sharing no code with curtsy: offset, type, target URI, HTTP
   status, sha1 of the entity body, cut or whole, separated by tabs. It exits with 1 at the first
   byte that is not a whole record in a gzip member of its own."""
import hashlib
import http.client
import io
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
    print(at, kind, fields.get("warc-target-uri", "-"), status, digest, f"cut:{cut}" if cut else "whole", sep="\t")


http.client._MAXLINE = 1 << 20
for name in sys.argv[1:]:
    try:
        with open(name, "rb") as f:
            for at, member in members(memoryview(f.read())):
                record(at, member)
    except (ValueError, KeyError, zlib.error, http.client.HTTPException) as e:
        sys.stdout.flush()
        sys.exit(f"warcls: {name}: {e}")
