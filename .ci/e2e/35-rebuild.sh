#!/bin/bash
# crawl.db lost: of a finished crawl of a real manual, of one killed on its way,
# and with a damaged segment beside. It is rebuilt from the segments, the crawl
# goes on, and the archive is as one that nothing happened to.
. "$(dirname "$0")/../lib.sh"
need nginx node
tools
root=$(corpus postgresql-doc-15 2>/dev/null) || skip "postgresql-doc-15 is not installed"
nginx_start "root $root;"

# captured ARCHIVE: the URLs whose responses are held, one a line, as often as they are.
captured() { warcls "$1"/warc/*.warc.gz | awk -F '\t' '$2 == "response" || $2 == "revisit" { print $3 }' | grep -v '/robots.txt$' | sort; }
# asked FROM: what was asked for since the server's log had so many lines.
asked() { tail -n +$(($1 + 1)) "$NGINX_LOG" | cut -f 2 | grep -v '^/robots.txt$' || true; }
# repaired ARCHIVE: rebuilt, and then whole.
repaired() { "$CURTSY" verify "$1" --repair >"$WORK/out" 2>"$WORK/err" || { show "$WORK/err"; show "$WORK/out"; return 1; }; verified "$1"; }
resumed() { "$CURTSY" resume "$1" --delay 0 >"$WORK/out" 2>"$WORK/err" || { show "$WORK/err"; return 1; }; }
code() { local got=0; "${@:2}" >"$WORK/out" 2>"$WORK/err" || got=$?; [[ $got -eq $1 ]] || { echo "  exit $got, want $1"; show "$WORK/err"; return 1; }; }
equal() { diff "$1" "$2" >"$WORK/diff" || { show "$WORK/diff"; return 1; }; }

# 1. Finished.
whole=$WORK/whole
claim "crawled" code 0 "$CURTSY" crawl "$SITE/" --archive "$whole" --delay 0 --concurrency 4
captured "$whole" >"$WORK/want"
"$CURTSY" mirror "$whole" "$WORK/before" >/dev/null 2>&1
lines=$(wc -l <"$NGINX_LOG")
rm "$whole/crawl.db"
claim "finished: the loss is exit 5" code 5 "$CURTSY" verify "$whole"
began=$(date +%s%N)
claim "finished: rebuilt and verified" repaired "$whole"
echo "  $(wc -l <"$WORK/want") captures in $((($(date +%s%N) - began) / 1000000)) ms"
claim "finished: resumed" resumed "$whole"
asked "$lines" >"$WORK/asked"
claim "finished: nothing is asked for again" empty "$WORK/asked"
"$CURTSY" mirror "$whole" "$WORK/after" >/dev/null 2>&1
claim "finished: the mirror is the same, octet for octet" diff -rq "$WORK/before" "$WORK/after"

# 2. Killed on the way; crawl.db half gone, the rebuild killed too.
cut=$WORK/cut
lines=$(wc -l <"$NGINX_LOG")
"$CURTSY" crawl "$SITE/" --archive "$cut" --delay 10ms >/dev/null 2>&1 &
pid=$!
CHILDREN+=("$pid")
under_way() { [[ $(wc -l <"$NGINX_LOG") -gt $((lines + 200)) ]]; }
until_true under_way
kill -9 "$pid"
wait "$pid" 2>/dev/null || true
captured "$cut" >"$WORK/had"
echo "  $(wc -l <"$WORK/had") captures of $(wc -l <"$WORK/want") when it was killed"
claim "killed: on its way" test "$(wc -l <"$WORK/had")" -gt 20 -a "$(wc -l <"$WORK/had")" -lt "$(wc -l <"$WORK/want")"
dd if=/dev/zero of="$cut/crawl.db" bs=4096 count=2 conv=notrunc status=none
claim "killed: a rebuild killed too" code 137 env CURTSY_FAILPOINT=committed:2 "$CURTSY" verify "$cut" --repair
claim "killed: rebuilt and verified" repaired "$cut"
claim "killed: the destroyed index is kept" test -s "$cut/crawl.db.damaged"
lines=$(wc -l <"$NGINX_LOG")
claim "killed: resumed to its end" resumed "$cut"
captured "$cut" >"$WORK/got"
claim "killed: nothing is missing and nothing captured twice" equal "$WORK/want" "$WORK/got"
asked "$lines" | sed "s|^|$SITE|" | sort | comm -12 - "$WORK/had" >"$WORK/again"
claim "killed: nothing that was captured is asked for again" empty "$WORK/again"

# 3. A segment damaged in its middle, and crawl.db empty.
segment=("$whole"/warc/*.warc.gz)
dd if=/dev/urandom of="${segment[0]}" bs=1 seek=$(($(stat -c %s "${segment[0]}") / 2)) count=30000 conv=notrunc status=none
: >"$whole/crawl.db"
claim "damaged: rebuilt and verified" repaired "$whole"
claim "damaged: resumed" resumed "$whole"
captured "$whole" >"$WORK/got"
claim "damaged: nothing is missing and nothing captured twice" equal "$WORK/want" "$WORK/got"
claim "damaged: verified" verified "$whole"
finish
