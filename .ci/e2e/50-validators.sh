#!/bin/bash
# The archive judged by tools that we did not write: npm warcio indexes every
# segment and parses every record, both digests are right by node's crypto over
# the de-chunked entity body, and js-wacz packages the segments.
. "$(dirname "$0")/../lib.sh"
need nginx
tools
npm_tools

# validate NAME: everything about the segments of one archive.
validate() {
	local segments=("$WORK/$1"/warc/*.warc.gz)
	claim "$1: gzip -t on ${#segments[@]} segments" gzip -t "${segments[@]}"
	claim "$1: one gzip member a record" warcls_to "$1.ls" "${segments[@]}"
	"$NPM_TOOLS/node_modules/.bin/warcio" index "${segments[@]}" >"$WORK/$1.index" 2>"$WORK/$1.index.err" || true
	claim "$1: warcio index has no complaint" empty "$WORK/$1.index.err"
	local indexed listed
	indexed=$(wc -l <"$WORK/$1.index") listed=$(wc -l <"$WORK/$1.ls")
	claim "$1: warcio indexed all $listed records, got $indexed" test "$indexed" -eq "$listed"
	claim "$1: warcio cdx-index" "$NPM_TOOLS/node_modules/.bin/warcio" cdx-index "${segments[@]}" >"$WORK/$1.cdx"
	tail -n 1 "$WORK/$1.cdx"
	node "$CI_DIR/tools/warccheck.mjs" check "${segments[@]}" >"$WORK/$1.check" 2>&1 && good=true || good=false
	claim "$1: digests and records: $(tail -n 1 "$WORK/$1.check")" "$good"
	$good || show "$WORK/$1.check" '' 25
	code=0
	node "$NPM_TOOLS/node_modules/@harvard-lil/js-wacz/bin/cli.js" create -f "$WORK/$1/warc/*.warc.gz" -o "$WORK/$1.wacz" >"$WORK/$1.wacz.log" 2>&1 || code=$?
	local pages
	pages=$(unzip_pages "$WORK/$1.wacz" 2>/dev/null || echo 0)
	claim "$1: js-wacz packages them, exit $code, $pages pages" test "$code" -eq 0 -a "$pages" -gt 0
	claim "$1: curtsy verify" verified "$WORK/$1"
}

warcls_to() { warcls "${@:2}" >"$WORK/$1"; }
# pages in a WACZ: lines of pages.jsonl but its header
unzip_pages() { python3 -c 'import sys, zipfile; print(len(zipfile.ZipFile(sys.argv[1]).read("pages/pages.jsonl").splitlines()) - 1)' "$1"; }

node "$CI_DIR/tools/oddsite.mjs" "$WORK/odd.url" "$WORK/odd.log" &
CHILDREN+=($!)
until_true test -s "$WORK/odd.url"
SITE=$(cat "$WORK/odd.url")
code=0
# what is cut off or fails is tried again, here without the usual patience
CURTSY_FETCH_RETRIES=1 CURTSY_FETCH_RETRY_BASE=100ms "$CURTSY" crawl "$SITE/" --archive "$WORK/odd" --delay 0 >"$WORK/out" 2>"$WORK/err" || code=$?
claim "odd: crawl ended with $code" test "$code" -eq 0
[[ $code -eq 0 ]] || show "$WORK/err"
validate odd
sed -i "s|\t$SITE|\t|" "$WORK/odd.ls"
# kind URI: how many records of that kind; kind is a pattern over type, status and cut.
records() { awk -F '\t' -v uri="$2" -v kind="$1" '$3 == uri && ($2 " " $4 " " $6) ~ kind' "$WORK/odd.ls" | wc -l; }
for at in '/chunked:response 200 whole' '/gzip-chunked:response 200 whole' '/br:response 200 whole' '/continue:response 200 whole' \
	'/early-hints:response 200 whole' '/two-interim:response 200 whole' '/redirect-301:response 301 whole' '/redirect-loop:response 302' \
	'/not-found:response 404' '/gone:response 410' '/empty:response 200 whole' '/empty-too:response 200 whole' '/no-content:response 204' \
	'/until-close:response 200 whole' '/short:response 200 cut:disconnect' '/cut-chunk:response 200 cut:disconnect' \
	'/long-header:response 200 whole' '/http-1.0:response 200 whole'; do
	claim "odd: ${at%%:*} is a ${at#*:}" test "$(records "^${at#*:}" "${at%%:*}")" -eq 1
done
same=$(awk -F '\t' '$3 ~ /^\/same-/ { print $2 }' "$WORK/odd.ls" | sort | grep -E 'response|revisit' | tr '\n' ' ')
claim "odd: one body under three names is kept once: $same" test "$same" = 'response revisit revisit '
claim "odd: noarchive has a metadata record and no response" test "$(records '^response' /noarchive)$(records '^revisit' /noarchive)" = 00 -a "$(records '^metadata' /noarchive)" -eq 1
claim "odd: its words are nowhere in the archive" bash -c "! { zcat '$WORK'/odd/warc/*.warc.gz; find '$WORK/odd' -type f ! -name '*.gz' -exec cat {} +; } | grep -qa SECRET-NOARCHIVE-WORDS"

# The same with SHA-1, for tools that compare by it.
CURTSY_FETCH_RETRIES=0 "$CURTSY" crawl "$SITE/" --archive "$WORK/sha1" --delay 0 --digest sha1 >"$WORK/out" 2>"$WORK/err" || { bad "sha1: crawl ended with $?"; show "$WORK/err"; }
validate sha1
claim "sha1: no record has another digest" bash -c "! zcat '$WORK'/sha1/warc/*.warc.gz | grep -qaE '^WARC-(Block|Payload)-Digest: sha256'"

mkdir "$WORK/root"
ln -s "$(corpus postgresql-doc-15)" "$WORK/root/postgresql"
nginx_start "root $WORK/root; gzip on; gzip_types text/css application/javascript;"
"$CURTSY" crawl "$SITE/postgresql/index.html" --archive "$WORK/nginx" --delay 0 --concurrency 8 >"$WORK/out" 2>"$WORK/err" ||
	{ bad "nginx: crawl ended with $?"; show "$WORK/err"; }
validate nginx
finish
