#!/bin/bash
# The memory of a crawl does not grow with the site: its peak over many pages is
# bounded, and what it holds of its own is about the same over a tenth of them.
# The peak counts pages of crawl.db that are mapped too; those are the kernel's
# cache, which it takes back as it likes, so they are shown apart.
. "$(dirname "$0")/../lib.sh"
[[ -r /proc/self/status ]] || skip "no /proc"
tools
many=${PAGES:-100000}
few=$((many / 10))

# peak PAGES: crawl that many; sets PEAK, all that was ever resident, and OWN,
# the most of it that was no mapped file, in MB.
peak() {
	synth_start -pages "$1" -bytes 4000 -links 50
	local began=$SECONDS code=0 all=0 own=0 now
	"$CURTSY" crawl "$SITE/" --archive "$WORK/a$1" --delay 0 --concurrency 8 >"$WORK/out" 2>"$WORK/err" &
	local pid=$!
	while now=$(awk '/^VmHWM/ { all = $2 } /^RssAnon/ { own = $2 } END { if (all) print all, own }' "/proc/$pid/status" 2>/dev/null) && [[ -n $now ]]; do
		all=${now% *}
		[[ ${now#* } -le $own ]] || own=${now#* }
		sleep 0.05
	done
	wait "$pid" || code=$?
	synth_stop
	PEAK=$((all / 1024)) OWN=$((own / 1024))
	local captured
	# Pages of one form may look alike for a while, in some orders: then a made-up name is asked for.
	captured=$(awk -F '\t' '{ print $3 }' "$SYNTH_LOG" | grep -cvE '^/robots.txt$|/curtsy-[0-9a-f]{16}$')
	claim "$1 pages: exit $code, $captured URLs fetched in $((SECONDS - began)) s, $(du -sm "$WORK/a$1" | cut -f 1) MB on disk" test "$code" -eq 0 -a "$captured" -eq $(($1 + 1))
	[[ $code -eq 0 ]] || show "$WORK/err"
	rm -rf "$WORK/a$1"
}

peak "$few"
few_peak=$PEAK few_own=$OWN
peak "$many"
claim "$many pages: peak memory $PEAK MB, want under 150 MB ($few_peak MB at $few)" test "$PEAK" -lt 150
claim "$many pages: $OWN MB of its own, about the same as the $few_own MB at $few (half again and 8 MB at most)" test "$OWN" -le $((few_own * 3 / 2 + 8))
finish
