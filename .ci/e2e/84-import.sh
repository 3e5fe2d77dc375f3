#!/bin/bash
# Archives that other programs wrote become archives of ours: wget's WARC of an nginx site,
# a WACZ that js-wacz made of it. npm warcio reads the same payloads from both, kill -9
# anywhere doubles and loses nothing, a damaged and a hostile file cost only what is damaged.
. "$(dirname "$0")/../lib.sh"
need nginx wget python3
docs=$(corpus postgresql-doc-15)
mkdir -p "$WORK/site/manual"
find -L "$docs" -maxdepth 1 -name '*.html' | sort | awk 'NR % 15 == 1' | while read -r page; do cp "$page" "$WORK/site/manual"; done
cp "$docs/stylesheet.css" "$WORK/site/manual" 2>/dev/null || true
{
	echo '<!DOCTYPE html><html lang="en"><title>Contents</title><a href="moved">moved</a><a href="gone.html">gone</a><a href="secret.html">secret</a>'
	(cd "$WORK/site" && printf '<a href="%s">x</a>\n' manual/*.html)
} >"$WORK/site/index.html"
echo '<!DOCTYPE html><meta name="robots" content="noarchive"><title>Secret</title><p>kingfisher' >"$WORK/site/secret.html"
printf 'User-agent: *\nDisallow: /private/\n' >"$WORK/site/robots.txt"
chmod -R a+rX "$WORK"
nginx_start "root $WORK/site; gzip on; gzip_min_length 1; gzip_types text/css; location = /moved { return 301 /manual/bookindex.html; }"
(cd "$WORK" && wget -q -r -l 2 --no-warc-keep-log --warc-file=theirs --warc-cdx -P copy "$SITE/" || true)
(cd "$WORK" && find copy -name '*.html' -printf 'http://%P\n' | wget -q -i - --header='Accept-Encoding: gzip' --no-warc-keep-log --warc-file=coded -P coded || true)
pages=$(zcat "$WORK/theirs.warc.gz" | grep -ac '^WARC-Type: response')
claim "wget recorded the site ($pages responses)" test "$pages" -gt 50
cp -r "$WORK/theirs.warc.gz" "$WORK/before.warc.gz"

claim "its WARC is imported" eval '"$CURTSY" import "$WORK/a" "$WORK/theirs.warc.gz" >"$WORK/said" 2>"$WORK/err"'
show "$WORK/said"
claim "nothing is refused" eval '! grep -q refused "$WORK/said" "$WORK/err"'
claim "verify finds nothing" verified "$WORK/a"
claim "the file is as it was" cmp "$WORK/before.warc.gz" "$WORK/theirs.warc.gz"
claim "search finds a word of a page" eval '"$CURTSY" search "$WORK/a" vacuum >"$WORK/said" 2>"$WORK/err" && grep -q /manual/ "$WORK/said"'
claim "the noarchive page is withheld, and its text is nowhere" eval '! zcat "$WORK"/a/warc/*.gz | grep -q kingfisher'
claim "a mirror is made of it" eval '"$CURTSY" mirror "$WORK/a" "$WORK/mirror" >/dev/null 2>"$WORK/err"'
held=$("$CURTSY" list "$WORK/a" --format json 2>/dev/null | grep -c '"state":"fetched".*"status":200.*"type":"text/html')
claim "and has the $held pages" eval '[[ $held -gt 50 && $(find "$WORK/mirror" -name "*.html" | wc -l) -ge $((held - 1)) ]]'
claim "once more, nothing is taken twice" eval '"$CURTSY" import "$WORK/a" "$WORK/theirs.warc.gz" 2>/dev/null | grep "imported before" >/dev/null'
cp "$WORK/theirs.warc.gz" "$WORK/renamed.warc.gz"
claim "nor under another name" eval '"$CURTSY" import "$WORK/a" "$WORK/renamed.warc.gz" 2>/dev/null | grep " 0 kept, .*here already" >/dev/null'
claim "nor from a pipe, in plain" eval 'zcat "$WORK/theirs.warc.gz" | "$CURTSY" import "$WORK/a" - 2>/dev/null | grep " 0 kept, .*here already" >/dev/null'

if command -v node >/dev/null; then
	npm_tools
	node "$NPM_TOOLS/warcsame.mjs" "$WORK/theirs.warc.gz" -- "$WORK"/a/warc/*.gz >"$WORK/same" || true
	claim "npm warcio reads the same payloads: $(tail -n 1 "$WORK/same")" eval '! grep -v secret.html "$WORK/same" | grep -E "^(differs|missing)" && grep -q "[0-9][0-9] the same" "$WORK/same"'
	"$CURTSY" import "$WORK/c" "$WORK/coded.warc.gz" >/dev/null 2>"$WORK/err"
	node "$NPM_TOOLS/warcsame.mjs" "$WORK/coded.warc.gz" -- "$WORK"/c/warc/*.gz >"$WORK/same" || true
	claim "and of bodies that came in gzip: $(tail -n 1 "$WORK/same")" eval '! grep -v secret.html "$WORK/same" | grep -E "^(differs|missing)" && grep -q "[0-9][0-9] the same" "$WORK/same"'
	claim "js-wacz packages it" eval 'node "$NPM_TOOLS/node_modules/@harvard-lil/js-wacz/bin/cli.js" create -f "$WORK/theirs.warc.gz" -o "$WORK/theirs.wacz" >/dev/null 2>&1'
	export XDG_CACHE_HOME=$WORK/cache
	claim "mirror FILE.wacz in one step" eval '"$CURTSY" mirror "$WORK/theirs.wacz" "$WORK/of-wacz" >/dev/null 2>"$WORK/err"'
	claim "has the same pages" diff -r -x 'mirror-*' "$WORK/mirror" "$WORK/of-wacz"
	"$CURTSY" serve "$WORK/theirs.wacz" --listen 127.0.0.1:0 >"$WORK/serving" 2>&1 &
	CHILDREN+=($!)
	until_true grep -q '^serving' "$WORK/serving"
	claim "serve FILE.wacz lists its captures" eval 'curl -fsS "$(sed -n "s/^serving .* at //p" "$WORK/serving")" | grep -q "$SITE"'
fi

# Referred to instead of copied: the same pages, and the file is as it was whatever is done.
cp -p "$WORK/theirs.warc.gz" "$WORK/linked.warc.gz"
claim "import --link" eval '"$CURTSY" import --link "$WORK/l" "$WORK/linked.warc.gz" >"$WORK/said" 2>"$WORK/err" && grep -q "$((pages - 1)) of them left where they lie" "$WORK/said"'
claim "takes a tenth of the room: $(du -sb "$WORK/l" | cut -f1) of $(du -sb "$WORK/a" | cut -f1)" eval '[[ $(du -sb "$WORK/l/warc" | cut -f1) -lt $(($(du -sb "$WORK/a/warc" | cut -f1) / 10)) ]]'
claim "and verify finds nothing" verified "$WORK/l"
claim "a mirror of it is the same" eval '"$CURTSY" mirror "$WORK/l" "$WORK/of-link" >/dev/null 2>"$WORK/err" && diff -r -x "mirror-*" "$WORK/mirror" "$WORK/of-link"'
claim "an export copies it" eval '"$CURTSY" export "$WORK/l" "$WORK/l.wacz" >/dev/null 2>&1 && "$CURTSY" verify "$WORK/l.wacz" >/dev/null 2>&1'
# requests FILE: how many of them name a response of the file, or are named by one.
requests() {
	zcat "$1" | python3 -c '
import re, sys
records = re.findall(rb"^WARC/1\.[01]\r\n(?:[^\r\n]+\r\n)+\r\n", sys.stdin.buffer.read(), re.M)
field = lambda r, n: set(re.findall(rb"^" + n + rb": *(\S+)", r, re.M | re.I))
of = lambda t: [r for r in records if field(r, b"WARC-Type") == {t}]
answers = of(b"response") + of(b"revisit")
ids = set().union(*[field(r, b"WARC-Record-ID") for r in answers])
named = set().union(*[field(r, b"WARC-Concurrent-To") for r in answers])
print(sum(1 for r in of(b"request") if field(r, b"WARC-Concurrent-To") & ids or field(r, b"WARC-Record-ID") & named))'
}
(cd "$WORK" && wget -q -r -l 2 --no-warc-keep-log --no-warc-compression --warc-file=plain -P plain "$SITE/" || true)
claim "a WARC that is not compressed is linked, too" eval '"$CURTSY" import --link "$WORK/p" "$WORK/plain.warc" >"$WORK/said" 2>"$WORK/err" && grep -q "$((pages - 1)) of them left where they lie" "$WORK/said"' || show "$WORK/said"
claim "and verify finds nothing" verified "$WORK/p"
for of in a:copied l:linked p:plain; do
	"$CURTSY" export "$WORK/${of%:*}" "$WORK/${of#*:}-out.warc.gz" >/dev/null 2>"$WORK/err" || show "$WORK/err"
	claim "of wget's requests, which stand before their responses, all are exported: ${of#*:}" eval '[[ $(requests "$WORK/${of#*:}-out.warc.gz") -eq $((pages - 1)) ]]'
done
claim "each record is a member of gzip there" eval '"$CURTSY" import --link "$WORK/pp" "$WORK/plain-out.warc.gz" >"$WORK/said" 2>"$WORK/err" && grep -q "$((pages - 1)) of them left where they lie" "$WORK/said"' || { show "$WORK/said"; show "$WORK/err"; }
if command -v node >/dev/null; then
	node "$NPM_TOOLS/warcsame.mjs" "$WORK/plain.warc" -- "$WORK/plain-out.warc.gz" >"$WORK/same" || true
	claim "with the payloads that npm warcio reads: $(tail -n 1 "$WORK/same")" eval '! grep -v secret.html "$WORK/same" | grep -E "^(differs|missing)" && grep -q "[0-9][0-9] the same" "$WORK/same"'
fi
mv "$WORK/linked.warc.gz" "$WORK/moved.warc.gz"
claim "verify names the file that is not there" eval '! "$CURTSY" verify "$WORK/l" >"$WORK/said" 2>&1 && grep -q "linked.warc.gz: cannot be read" "$WORK/said"'
"$CURTSY" verify "$WORK/l" --repair >/dev/null 2>&1 || true
claim "after a repair, it is linked where it is now" eval '"$CURTSY" import --link "$WORK/l" "$WORK/moved.warc.gz" >/dev/null 2>"$WORK/err"'
claim "and verify finds nothing" verified "$WORK/l"
claim "the file is as it was" cmp "$WORK/before.warc.gz" "$WORK/moved.warc.gz"

# kill -9 at 20 points, half of them with --link; the same command goes on. One that came to
# its end begins anew.
kills=0
for n in {1..60}; do
	code=0
	((n % 2)) && link=--link || link=
	(timeout -s KILL "0.0$((n % 8 + 2))" "$CURTSY" import $link "$WORK/k" "$WORK/theirs.warc.gz" || exit $?) >/dev/null 2>&1 || code=$?
	sleep 0.05 # until the killed process is gone
	[[ ! -e $WORK/k/crawl.db ]] || "$CURTSY" verify "$WORK/k" >"$WORK/verify" 2>&1 || { show "$WORK/verify"; bad "verify after kill $kills"; }
	[[ $code -ne 137 ]] || kills=$((kills + 1))
	[[ $kills -lt 20 ]] || break
	[[ $code -eq 137 ]] || rm -rf "$WORK/k"
done
"$CURTSY" import "$WORK/k" "$WORK/theirs.warc.gz" >"$WORK/err" 2>&1 || { show "$WORK/err"; bad "the import after the kills"; }
listed() { "$CURTSY" list "$1" --versions --format json 2>/dev/null | sed 's/"record":[^}]*}//' | sort; }
claim "after kill -9 at $kills points, 20 are wanted, all is there, once" eval '[[ $kills -eq 20 && $(listed "$WORK/k" | grep -c "\"status\":200") -eq $(listed "$WORK/a" | grep -c "\"status\":200") ]]'
claim "and verify finds nothing" verified "$WORK/k"

# Octets flipped in the middle, the end cut off: only what is damaged is lost, and listed.
python3 - "$WORK/theirs.warc.gz" "$WORK/damaged.warc.gz" <<-'P'
	import sys
	b = bytearray(open(sys.argv[1], 'rb').read())
	for at in range(len(b) // 10, len(b) // 2, len(b) // 10):
	    b[at] ^= 0xff
	open(sys.argv[2], 'wb').write(b[:-100])
P
"$CURTSY" import "$WORK/d" "$WORK/damaged.warc.gz" >"$WORK/said" 2>"$WORK/err" || true
lost=$(grep -c 'damaged.warc.gz at [0-9]' "$WORK/err" || true)
claim "damage is listed with its offset ($lost places), the rest is taken" eval '[[ $lost -ge 4 && $lost -le 12 ]] && [[ $(grep -o "[0-9]* kept" "$WORK/said" | head -1 | grep -o "[0-9]*") -ge $((pages - 16)) ]]'
claim "and verify finds nothing" verified "$WORK/d"

# A bomb: 10 GB of zeros that claim to be a page, and a page behind it.
python3 - "$WORK/bomb.warc.gz" <<-'P'
	import gzip, sys, zlib
	def record(url, block, length):
	    return (f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
	            f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{length:012}>\r\nContent-Type: application/http\r\nContent-Length: {length}\r\n\r\n").encode() + block
	with open(sys.argv[1], 'wb') as f:
	    z = zlib.compressobj(9, zlib.DEFLATED, 31)
	    f.write(z.compress(record("http://bomb.example/", b"HTTP/1.1 200 OK\r\n\r\n", 10 << 30)))
	    zeros = bytes(16 << 20)
	    for _ in range(64):
	        f.write(z.compress(zeros))
	    f.write(z.flush())
	    f.write(gzip.compress(record("http://bomb.example/good", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>good", 51) + b"\r\n\r\n"))
P
"$CURTSY" import "$WORK/b" "$WORK/bomb.warc.gz" >"$WORK/said" 2>"$WORK/err" || true
claim "a bomb is refused, the page behind it taken" eval 'grep -q "longer than 8 GB" "$WORK/err" && "$CURTSY" list "$WORK/b" >"$WORK/said" 2>/dev/null && grep -q "fetched.*bomb.example/good" "$WORK/said"'

# What a hostile site sends, recorded octet by octet, comes through this door too.
mkdir -p "$TOOLS/bin"
(cd "$CI_DIR/.." && go build -o "$TOOLS/bin/hostile" ./internal/testkit/hostile/serve)
"$TOOLS/bin/hostile" -fixtures shared -url-file "$WORK/hostile-url" >"$WORK/served" 2>&1 &
CHILDREN+=($!)
until_true test -s "$WORK/hostile-url"
asked=$(python3 "$CI_DIR/tools/rawwarc.py" "$(cat "$WORK/hostile-url")/" "$WORK/hostile.warc")
(cd "$WORK" && find . -path ./h -prune -o -print | sort) >"$WORK/before"
code=0
"$CURTSY" import "$WORK/h" "$WORK/hostile.warc" >"$WORK/said" 2>"$WORK/err" || code=$?
kept=$(grep -o '[0-9]* kept' "$WORK/said" | head -1 | grep -o '[0-9]*' || echo 0)
claim "of $asked of a hostile site $kept are kept, the rest is listed" eval '[[ $code -eq 0 && $kept -gt 300 ]] && grep -q "garbage.* no HTTP head" "$WORK/err"'
claim "and what is listed holds no control characters" eval '! LC_ALL=C grep -nP "[\x00-\x08\x0b-\x1f\x7f]|\x9b" "$WORK/said" "$WORK/err"'
claim "and verify finds nothing" verified "$WORK/h"
claim "and nothing is written beside it" eval 'diff "$WORK/before" <(cd "$WORK" && find . -path ./h -prune -o -print | sort)'

before=$(wc -l <"$NGINX_LOG")
claim "update goes on with the site" eval '"$CURTSY" update "$WORK/a" --delay 0 >/dev/null 2>"$WORK/err"'
claim "and asked nothing that robots.txt forbids" eval '[[ $(wc -l <"$NGINX_LOG") -gt $before ]] && ! grep -P "\t/private/" "$NGINX_LOG"'
finish
