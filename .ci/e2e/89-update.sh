#!/bin/bash
# Visiting again: pages that go bad hide no good copy, beside what other programs do; changes of a
# real site are told apart from noise; a round survives kill -9 (KILLS times, 10 unless it is said);
# the WARCs of rounds read back; prune leaves a whole archive or none; what ten rounds take.
. "$(dirname "$0")/../lib.sh"
need python3 nginx wget wget2 httrack node
tools
npm_tools

echo "# 25 ways of going bad"
python3 "$CI_DIR/tools/badsite.py" "$WORK/bad.url" "$WORK/BAD" &
CHILDREN+=($!)
until_true test -s "$WORK/bad.url"
BAD=$(cat "$WORK/bad.url")
visit() { # TOOL: a first run, or a second over the same directory
	case $1 in
	wget) timeout 30 wget -q -m --tries=2 --waitretry=0 --timeout=5 -P "$WORK/wget" "$BAD/" ;;
	wget2) timeout 30 wget2 -q -m --tries=2 --waitretry=0 --timeout=5 -P "$WORK/wget2" "$BAD/" ;;
	httrack) timeout 60 httrack "$BAD/" -O "$WORK/httrack" -q -%v0 -c4 -%c0 -A0 --disable-security-limits -T5 -R0 --robots=0 ${2:+--update} ;;
	esac >/dev/null 2>&1 || true
}
# held DIR: how many of the good texts a directory holds; more DIR: of those beside the 25.
texts() { grep -rhoE 'GOOD-[a-z0-9-]+\.' "$1" --include='*.html' 2>/dev/null | sort -u; }
held() { texts "$1" | grep -vc GOOD-more || true; }
more() { texts "$1" | grep -c GOOD-more || true; }
quick="--delay 1ms --concurrency 4"
cat >"$WORK/quick.yaml" <<-CONF
	fetch: {retries: 1, retry_base: 10ms}
CONF
claim 'the first crawl' "$CURTSY" crawl "$BAD/" --archive "$WORK/bad" --config "$WORK/quick.yaml" $quick 2>"$WORK/log"
for tool in wget wget2 httrack; do visit $tool; done
touch "$WORK/BAD"
"$CURTSY" update "$WORK/bad" $quick 2>"$WORK/log" || show "$WORK/log"
for tool in wget wget2 httrack; do visit $tool again; done
"$CURTSY" mirror "$WORK/bad" "$WORK/mirror" 2>/dev/null
all=25
echo "good copies left of $all: curtsy $(held "$WORK/mirror"), wget -m $(held "$WORK/wget"), wget2 -m $(held "$WORK/wget2"), HTTrack --update $(held "$WORK/httrack")"
beside=$(python3 - "$CI_DIR/tools/badsite.py" <<<'import sys; t = open(sys.argv[1]).read(); exec(t[:t.index("class Site")]); print(sum(n.startswith("more-") for n in WAYS))')
echo "of $beside others: curtsy $(more "$WORK/mirror"), wget -m $(more "$WORK/wget"), wget2 -m $(more "$WORK/wget2"), HTTrack --update $(more "$WORK/httrack")"
claim "all $beside others as well" test "$(more "$WORK/mirror")" -eq "$beside"
claim "all $all good copies are what is shown" test "$(held "$WORK/mirror")" -eq "$all"
"$CURTSY" changes "$WORK/bad" --json >"$WORK/changes.json"
claim 'each is named: suspect, gone or unreachable' python3 - "$WORK/changes.json" "$((all + beside))" <<-'PY'
	import collections, json, sys
	kinds = collections.Counter(json.loads(line)["change"] for line in open(sys.argv[1]))
	print(" ", dict(kinds))
	sys.exit(sum(kinds[k] for k in ("suspect", "gone", "unreachable")) != int(sys.argv[2]))
PY
claim 'verify finds nothing' verified "$WORK/bad"

echo "# a real site, edited under noise"
mkdir "$WORK/site"
cp -rL "$(corpus postgresql-doc-15)" "$WORK/site/pg"
python3 "$CI_DIR/tools/editsite.py" "$WORK/site" 1 113 >/dev/null
nginx_start "root $WORK/site; index index.html;"
"$CURTSY" crawl "$SITE/pg/index.html" --archive "$WORK/pg" --delay 0 --concurrency 8 2>"$WORK/log" || show "$WORK/log"
before=$(du -sb "$WORK/pg/warc" | cut -f 1)
python3 "$CI_DIR/tools/editsite.py" "$WORK/site" 2 113 >"$WORK/edited"
: >"$NGINX_LOG"
kills=0
while [[ $kills -lt ${KILLS:-10} ]]; do # each killed within its round
	"$CURTSY" update "$WORK/pg" --delay 0 --concurrency 8 2>/dev/null &
	sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
	kill -9 $! 2>/dev/null || true
	wait $! 2>/dev/null || true
	kills=$((kills + 1))
done
# On a slow machine each was killed before its round began.
"$CURTSY" changes "$WORK/pg" --round 1 --json >/dev/null 2>&1 || "$CURTSY" update "$WORK/pg" --delay 0 --concurrency 8 2>"$WORK/log"
"$CURTSY" resume "$WORK/pg" --delay 0 --concurrency 8 2>"$WORK/log" || show "$WORK/log"
claim "verify finds nothing after $kills kills" verified "$WORK/pg"
"$CURTSY" changes "$WORK/pg" --since "$(date -u -d '1970-01-01' +%F)" --json >/dev/null
"$CURTSY" changes "$WORK/pg" --round 1 --json >"$WORK/changes.json"
claim 'the pages that changed, and no others (precision and recall at least 0.98)' python3 - "$WORK/changes.json" "$WORK/edited" "$SITE" <<-'PY'
	import json, sys
	told = {c["url"] for c in map(json.loads, open(sys.argv[1])) if c["change"] == "changed"}
	real = {sys.argv[3] + line.strip() for line in open(sys.argv[2])}
	hit = len(told & real)
	precision, recall = hit / max(1, len(told)), hit / len(real)
	print(f"  {len(real)} edited, {len(told)} told: precision {precision:.3f}, recall {recall:.3f}")
	sys.exit(precision < .98 or recall < .98)
PY
claim 'warcio reads the segments' bash -c 'for f in "$0"/warc/*.warc.gz; do node "$NPM_TOOLS/node_modules/.bin/warcio" index "$f" >/dev/null || exit 1; done' "$WORK/pg"
"$CURTSY" update "$WORK/pg" --delay 0 --concurrency 8 2>/dev/null
after=$(du -sb "$WORK/pg/warc" | cut -f 1)
echo "  segments: $before octets after the crawl, $after after a round in which all pages differ and one in which none does"
"$CURTSY" changes "$WORK/pg" --round 1 --html >"$WORK/changes.html"
"$CURTSY" changes "$WORK/pg" --round 1 --atom >"$WORK/changes.xml"
claim 'the feed is well-formed' python3 -c 'import sys, xml.dom.minidom as m; assert len(m.parse(sys.argv[1]).getElementsByTagName("entry")) > 100' "$WORK/changes.xml"
# prune, killed at any moment: the archive has its name when it is whole.
half=0
for i in 1 2 3 4 5; do
	"$CURTSY" prune "$WORK/pg" "$WORK/pruned" --keep last=1 2>/dev/null &
	sleep "0.0$((i * 15))"
	kill -9 $! 2>/dev/null || true
	wait $! 2>/dev/null || true
	if [[ -e $WORK/pruned ]]; then
		verified "$WORK/pruned" || half=$((half + 1))
		rm -rf "$WORK/pruned"
	fi
done
claim "kill -9 five times within prune: no half archive under the final name" test $half -eq 0
claim 'prune' "$CURTSY" prune "$WORK/pg" "$WORK/pruned" --keep last=1 -q
claim 'verify finds nothing in what prune wrote, nor in what it read' bash -c '"$CURTSY" verify "$0" >/dev/null && "$CURTSY" verify "$1" >/dev/null' "$WORK/pruned" "$WORK/pg"
claim 'warcio reads the segments of both' bash -c 'for f in "$0"/warc/*.warc.gz "$1"/warc/*.warc.gz; do node "$NPM_TOOLS/node_modules/.bin/warcio" index "$f" >/dev/null || exit 1; done' "$WORK/pruned" "$WORK/pg"
for a in pg pruned; do "$CURTSY" mirror "$WORK/$a" "$WORK/mirror-$a" -q; done
claim 'the mirror of what prune wrote is that of the whole archive' diff -rq -x mirror-map.json -x mirror-report.html "$WORK/mirror-pg" "$WORK/mirror-pruned"
claim 'the next round goes on from it' "$CURTSY" update "$WORK/pruned" --delay 0 --concurrency 8 -q

echo "# what ten rounds take of a site of which 2 % changes"
# ten OPTIONS: sets FIRST and LAST, the octets of segments after one round and after ten.
ten() {
	rm -rf "$WORK/ten"
	synth_start -share 50 -links 0 "$@"
	local v
	"$CURTSY" crawl "$SITE/" --archive "$WORK/ten" --delay 0 --concurrency 8 -q
	FIRST=$(du -sb "$WORK/ten/warc" | cut -f 1)
	for v in 1 2 3 4 5 6 7 8 9; do
		python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1]).read()' "$SITE/version/$v"
		"$CURTSY" update "$WORK/ten" --delay 0 --concurrency 8 -q
	done
	LAST=$(du -sb "$WORK/ten/warc" | cut -f 1)
	synth_stop
	echo "  $*: $FIRST octets after one round, $LAST after ten: $(awk -v a="$FIRST" -v b="$LAST" 'BEGIN { printf "%.2f", b / a }') times"
}
ten -pages 200 -bytes 4000
least=$(((LAST - FIRST) / (9 * 200)))
claim "a visit to a page that has not changed takes $least octets, under 1,800" test "$least" -lt 1800
ten -pages 60 -bytes 200000 -pictures
claim 'ten rounds of pages with pictures take under 1.15 times what one does' less "$LAST" "$((FIRST * 115 / 100))"
finish
