#!/bin/bash
# The memory of a crawl does not grow with the site: its peak over many pages is
# bounded, and about the same as over a tenth of them.
. "$(dirname "$0")/../lib.sh"
[[ -r /proc/self/status ]] || skip "$(basename "$0"): no /proc"
tools
many=${PAGES:-100000}
few=$((many / 10))

# peak PAGES: crawl that many, set PEAK (MB) and CAPTURED.
peak() {
	synth_start -pages "$1" -bytes 4000 -links 50
	local began=$SECONDS code=0 kb=0
	"$CURTSY" crawl "$SITE/" --archive "$WORK/a$1" --delay 0 --concurrency 8 >"$WORK/out" 2>"$WORK/err" &
	local pid=$!
	while kill -0 "$pid" 2>/dev/null; do # VmHWM is the peak so far, so looking often is not needed
		kb=$(peak_kb "$pid") && [[ -n $kb ]] && last=$kb
		sleep 0.2
	done
	wait "$pid" || code=$?
	synth_stop
	PEAK=$((last / 1024))
	CAPTURED=$(awk -F '\t' '{ print $3 }' "$SYNTH_LOG" | grep -cv '^/robots.txt$')
	claim "$1 pages: exit $code, $CAPTURED URLs fetched in $((SECONDS - began)) s, $(du -sm "$WORK/a$1" | cut -f 1) MB on disk" test "$code" -eq 0 -a "$CAPTURED" -eq $(($1 + 1))
	[[ $code -eq 0 ]] || show "$WORK/err"
	rm -rf "$WORK/a$1"
}

last=0
peak "$few"
small=$PEAK
peak "$many"
claim "$many pages: peak memory $PEAK MB, want under 150 MB" test "$PEAK" -lt 150
claim "about the same at $few pages: $small MB (within half again and 16 MB)" test "$PEAK" -lt $((small * 3 / 2 + 16))
finish
