#!/bin/bash
# What noarchive forbids is in no block of the disk: an ext4 image holds the archive, $TMPDIR and $HOME of crawls,
# whole and killed in the middle of bodies; then each octet of the image is searched, those of free blocks
# and of deleted files too.
. "$(dirname "$0")/../lib.sh"
need nginx python3 mke2fs
truncate -s 400M "$WORK/image"
mke2fs -q -t ext4 "$WORK/image"
disk=$WORK/disk
mkdir "$disk"
mount -o loop "$WORK/image" "$disk" 2>/dev/null || skip "may not mount an image"
MOUNTS+=("$disk")
mkdir "$disk/tmp"

# Octets that no compression changes, with a marker every 64 kB; a page is such octets behind a head of HTML.
mkdir "$WORK/site"
python3 - "$WORK/site" <<'PY'
import os, sys
markers = {}
def body(name, head=b"", size=6 << 20):
    marker = os.urandom(24)
    markers[name] = marker.hex()
    with open(f"{sys.argv[1]}/{name}", "wb") as f:
        f.write(head)
        for _ in range(size >> 16):
            f.write(os.urandom((64 << 10) - 24) + marker)
body("open.mp4")
body("closed.mp4")
body("closed.html", b"<!DOCTYPE html><title>x</title><p>")
body("meta.html", b'<!DOCTYPE html><meta name="robots" content="noarchive"><title>x</title><p>')
body("late.html", b"<!DOCTYPE html><!--" + b"x" * 900_000 + b'--><meta name="robots" content="noarchive"><title>x</title><p>')
body("slow-open.mp4")
body("slow-closed.html", b"<!DOCTYPE html><title>x</title><p>")
body("slow-meta.html", b'<!DOCTYPE html><meta name="robots" content="noarchive"><title>x</title><p>')
with open(f"{sys.argv[1]}/index.html", "w") as f:
    f.write("<!DOCTYPE html><title>x</title>" + "".join(f'<a href="/{n}">x</a>' for n in markers if not n.startswith("slow")))
with open(f"{sys.argv[1]}/../markers", "w") as f:
    f.write("".join(f"{n} {m}\n" for n, m in markers.items()))
PY
chmod -R a+rX "$WORK/site"
nginx_start "root $WORK/site; location ~ ^/(slow-)?closed { add_header X-Robots-Tag noarchive; limit_rate_after 5m; if (\$uri ~ slow) { set \$limit_rate 40k; } } location ~ ^/slow { limit_rate_after 5m; limit_rate 40k; }"

crawl() { env TMPDIR="$disk/tmp" HOME="$disk/tmp" "$CURTSY" crawl "$SITE/$1" --archive "$disk/$2" --delay 0 2>"$WORK/err"; }
crawl '' whole || { show "$WORK/err"; bad "the crawl"; }
kept() { [[ $(warcls "$disk"/whole/warc/*.warc.gz | awk -F '\t' '$2 == "response" && $3 ~ /\.(mp4|html)$/' | wc -l) -eq "$1" ]]; }
tools
claim "of six bodies, the one that may be kept is" kept 1
claim "four are withheld" eval '"$CURTSY" status "$disk/whole" --json | grep "\"withheld\":4" >/dev/null'

# Killed in the middle of a body: some 5 of its 6 MB have come.
for page in slow-open.mp4 slow-closed.html slow-meta.html; do
	crawl "$page" "$page" &
	crawling=$!
	until_true grep -qs "\"url\":\"$SITE/$page\"" "$disk/$page/status.json"
	sleep 3
	sync # what is written by then is on the disk, though its file ends with the process
	pkill -9 -P "$crawling" curtsy || kill -9 "$crawling"
	wait "$crawling" 2>/dev/null || true
done
umount "$disk"
found() { python3 -c '
import mmap, sys
with open(sys.argv[1], "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as image:
    for line in open(sys.argv[2]):
        name, marker = line.split()
        n, at = 0, image.find(bytes.fromhex(marker))
        while at >= 0:
            n, at = n + 1, image.find(bytes.fromhex(marker), at + 1)
        print(name, n)' "$WORK/image" "$WORK/markers"; }
found >"$WORK/found"
cat "$WORK/found"
claim "control: the body that may be kept is on the disk, and so is one that was killed" test "$(awk '/open/ && $2 > 0' "$WORK/found" | wc -l)" -eq 2
awk '!/open/ && $2 > 0' "$WORK/found" >"$WORK/forbidden"
claim "no octet of what may not be kept is on the disk" empty "$WORK/forbidden"
finish
