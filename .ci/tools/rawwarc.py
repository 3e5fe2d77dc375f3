#!/usr/bin/env python3
"""rawwarc.py URL OUT.warc: asks a site for its front page and all that its answers name,
two links deep, and writes what came, octet by octet, as WARC records."""
import re, socket, sys, time, uuid
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urljoin, urlsplit

seed, out = sys.argv[1:]
host = urlsplit(seed)


def ask(url):
    path = url.split(host.netloc, 1)[1] or '/'
    b, end = b'', time.time() + 1.5
    try:
        with socket.create_connection((host.hostname, host.port), 1) as s:
            s.sendall(f'GET {path} HTTP/1.1\r\nHost: {host.netloc}\r\nConnection: close\r\n\r\n'.encode())
            s.settimeout(0.5)
            while len(b) < 16 << 20 and time.time() < end and (more := s.recv(1 << 16)):
                b += more
    except OSError:
        pass
    return url, b


seen, todo, n = {seed}, [seed], 0
with open(out, 'wb') as f, ThreadPoolExecutor(16) as pool:
    for _ in range(3):
        found = []
        for url, b in pool.map(ask, todo):
            n += 1
            f.write((f'WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:{uuid.uuid4()}>\r\n'
                     f'Content-Type: application/http; msgtype=response\r\nContent-Length: {len(b)}\r\n\r\n').encode() + b + b'\r\n\r\n')
            for ref in re.findall(rb'(?:href|src)=["\']?([^"\'> \r\n]{1,2000})', b[:1 << 20])[:500 if url == seed else 40] + re.findall(rb'(?i)\nlocation: *([^\r\n]{1,2000})', b[:1 << 16]):
                try:
                    link = urljoin(url, ref.decode('ascii')).split('#')[0]
                    if urlsplit(link).netloc == host.netloc and link not in seen and link.isprintable() and ' ' not in link:
                        seen.add(link)
                        found.append(link)
                except ValueError:
                    pass
        todo = found[:600]
print(n, 'responses')
