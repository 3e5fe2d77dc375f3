#!/bin/bash
# A disk that fills up stops the crawl cleanly with exit 3; after room is made
# the crawl goes on and completes, and nothing kept before was lost.
. "$(dirname "$0")/../lib.sh"
tools
mkdir "$WORK/disk"
mount -t tmpfs -o size=24m tmpfs "$WORK/disk" 2>/dev/null || skip "may not mount a tmpfs"
MOUNTS+=("$WORK/disk")
pages=${PAGES:-6000}
synth_start -pages "$pages" -bytes 20000
archive=$WORK/disk/archive

code=0
"$CURTSY" crawl "$SITE/" --archive "$archive" --delay 0 --concurrency 8 >"$WORK/out" 2>"$WORK/err" || code=$?
claim "a full disk: exit 3, got $code" test "$code" -eq 3
claim "it says that there is no room, and what is to stay free" grep -q 'storage.min_free.*no space' "$WORK/err"
claim "$(df -m --output=avail "$WORK/disk" | tail -n 1) MB of 24 are free still" test "$(df --output=avail "$WORK/disk" | tail -n 1)" -gt 0
claim "it says how to go on" grep -q 'curtsy resume' "$WORK/err"
show "$WORK/err" "what it said" 6
claim "no panic" bash -c "! grep -qE 'panic:|goroutine [0-9]+|SIGBUS' '$WORK/err'"
before=$(warcls "$archive"/warc/*.warc.gz 2>"$WORK/torn" | awk -F '\t' '$2 == "response"' | wc -l)
claim "the segments are whole, $before responses kept" empty "$WORK/torn"

code=0
"$CURTSY" resume "$archive" >"$WORK/out" 2>"$WORK/err" || code=$?
claim "resumed while still full: exit 3 again, got $code" test "$code" -eq 3
mount -o remount,size=512m "$WORK/disk"
code=0
"$CURTSY" resume "$archive" --delay 0 --concurrency 8 >"$WORK/out" 2>"$WORK/err" || code=$?
[[ $code -eq 0 ]] || show "$WORK/err"
claim "resumed with room: exit 0, got $code" test "$code" -eq 0
claim "verify is clean" verified "$archive"
synth_stop

warcls "$archive"/warc/*.warc.gz | awk -F '\t' '($2 == "response" || $2 == "revisit") && $4 == 200 { print $3 }' | sed "s|^$SITE||" | sort >"$WORK/captured"
synthsite -pages "$pages" -list | sort >"$WORK/list"
comm -23 "$WORK/list" "$WORK/captured" >"$WORK/missing"
uniq -d "$WORK/captured" >"$WORK/twice"
claim "0 of $(wc -l <"$WORK/list") URLs missing" empty "$WORK/missing"
claim "0 captured twice" empty "$WORK/twice"
again=$(awk -F '\t' '{ print $3 }' "$SYNTH_LOG" | grep -v '^/robots.txt$' | sort | uniq -d | wc -l)
echo "  fetched again after the stops: $again"

# A mirror stops before the disk is full, too, and leaves none of itself.
mkdir "$WORK/small"
mount -t tmpfs -o size=24m tmpfs "$WORK/small"
MOUNTS+=("$WORK/small")
code=0
"$CURTSY" mirror "$archive" "$WORK/small/out" >"$WORK/out" 2>"$WORK/err" || code=$?
claim "a mirror on a disk that is too small: exit 3, got $code" test "$code" -eq 3
claim "it names what is to stay free" grep -q 'storage.min_free' "$WORK/err"
claim "nothing of it is left" test -z "$(ls -A "$WORK/small")"
code=0
"$CURTSY" mirror --max-bytes 5MB "$archive" "$WORK/disk/out" >"$WORK/out" 2>"$WORK/err" || code=$?
claim "a mirror over --max-bytes: exit 3, got $code" test "$code" -eq 3 -a ! -e "$WORK/disk/out"
finish
