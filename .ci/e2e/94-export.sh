#!/bin/bash
# Archives as files for other programs: the index is warcio's on every key and
# offset, a validator of its own finds every hash and order right, js-wacz reads
# the records, and replayweb.page shows and searches the WACZ, offline.
. "$(dirname "$0")/../lib.sh"
need nginx chromium node npm python3
npm_tools
reader_tools

mkdir "$WORK/root"
ln -s "$(corpus postgresql-doc-15)" "$WORK/root/pg"
ln -s "$(dirname "$(dpkg -L gimp-help-ru | grep -m1 '/ru/index\.html$')")" "$WORK/root/gimp"
nginx_start "root $WORK/root; gzip on; gzip_types text/css;"
for name in pg gimp; do
	"$CURTSY" crawl "$SITE/$name/index.html" --archive "$WORK/$name" --delay 0 --concurrency 8 2>"$WORK/err" || { show "$WORK/err"; bad "crawl of $name"; }
done
live=$SITE

# exported NAME: WACZ and CDXJ of an archive, judged by others.
exported() {
	local name=$1 warcio=$NPM_TOOLS/node_modules/.bin/warcio
	claim "$name: export" "$CURTSY" export "$WORK/$name" "$WORK/$name.wacz"
	mkdir "$WORK/$name.out"
	claim "$name: python reads the zip" python3 -c 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; z.extractall(sys.argv[2])' "$WORK/$name.wacz" "$WORK/$name.out"
	"$warcio" cdx-index "$WORK/$name.out"/archive/*.warc.gz >"$WORK/$name.idx"
	local good=true
	node "$READER/waczcheck.mjs" "$WORK/$name.wacz" "$WORK/$name.idx" >"$WORK/check" 2>&1 || good=false
	claim "$name: every hash, offset and order: $(tail -n 1 "$WORK/check")" "$good"
	$good || show "$WORK/check" '' 20
	# of the archive's own segments: key, time, URL, length and offset
	"$CURTSY" export "$WORK/$name" "$WORK/$name.cdxj" >/dev/null 2>&1
	"$warcio" cdx-index "$WORK/$name"/warc/*.warc.gz | grep -v '"mime":"application/warc-fields"' | fields >"$WORK/theirs"
	fields <"$WORK/$name.cdxj" >"$WORK/ours"
	claim "$name: the CDXJ of the segments is warcio's, $(wc -l <"$WORK/ours") lines" cmp "$WORK/theirs" "$WORK/ours"
	claim "$name: the CDXJ is in the order of octets" env LC_ALL=C sort -c "$WORK/$name.cdxj"
}
fields() {
	python3 -c 'import json, sys
for line in sorted(sys.stdin.buffer.read().splitlines()):
    key, at, rest = line.split(b" ", 2)
    m = json.loads(rest)
    print(key.decode(), at.decode(), m["url"], m["status"], m["length"], m["offset"], m["filename"])' | LC_ALL=C sort
}
exported pg
exported gimp
"$CURTSY" export "$WORK/pg" "$WORK/pg.warc.gz" >/dev/null 2>&1
claim "pg: js-wacz packages the WARC" node "$NPM_TOOLS/node_modules/@harvard-lil/js-wacz/bin/cli.js" create -f "$WORK/pg.warc.gz" -o "$WORK/theirs.wacz" >/dev/null 2>&1

shown() { (cd "$READER" && timeout 150 node replayweb.mjs "$@" "$READER/node_modules") >"$WORK/seen" 2>&1 || { show "$WORK/seen"; return 1; }; }
shown_alone() { SEARCH=no shown "$@"; }
claim "pg: replayweb.page shows it, its search finds a phrase, nothing is asked elsewhere" shown "$WORK/pg.wacz" "$live/pg/sql-select.html" "retrieve rows from a table or view"
claim "gimp: the same in Russian" shown "$WORK/gimp.wacz" "$live/gimp/index.html" "Руководство пользователя"

# a second round: one page was edited, the others are revisit records
cp -aL "$WORK/root/pg" "$WORK/edited"
sed -i 's/retrieve rows from a table or view/retrieve rows from a table or a lately edited view/' "$WORK/edited/sql-select.html"
ln -sfn "$WORK/edited" "$WORK/root/pg"
claim "pg: a second round" "$CURTSY" update "$WORK/pg" --delay 0 --concurrency 8
claim "pg: its export" "$CURTSY" export "$WORK/pg" "$WORK/rounds.wacz"
claim "pg: replayweb.page shows the page as it was edited" shown_alone "$WORK/rounds.wacz" "$live/pg/sql-select.html" "retrieve rows from a table or a lately edited view"
claim "pg: and one that was not" shown_alone "$WORK/rounds.wacz" "$live/pg/sql-insert.html" "create new rows in a table"

# killed at any moment, nothing stands under the final name
for i in 1 2 3 4 5; do
	mkdir -p "$WORK/killed"
	"$CURTSY" export "$WORK/gimp" "$WORK/killed/out.wacz" >/dev/null 2>&1 & pid=$!
	sleep "0.0$((i * 15))"
	kill -9 "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	[[ ! -e $WORK/killed/out.wacz ]] || python3 -m zipfile -t "$WORK/killed/out.wacz" >/dev/null || bad "half a file after kill -9"
	rm -f "$WORK/killed/out.wacz"
done
ok "kill -9 five times: no half file under the final name"
for format in csv jsonl txt md; do
	claim "gimp: $format" "$CURTSY" export "$WORK/gimp" "$WORK/gimp.$format" --json
done
claim "gimp: the CSV is read by another program: 13 columns" python3 -c 'import csv, sys; rows = list(csv.reader(open(sys.argv[1], newline=""))); assert len(rows) > 600 and {len(r) for r in rows} == {13}' "$WORK/gimp.csv"
finish
