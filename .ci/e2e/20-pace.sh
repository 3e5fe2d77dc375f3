#!/bin/bash
# The pace, measured at the server: with "Crawl-delay: 0.2" no request begins
# earlier than 200 ms after the end of the last answer, whatever --concurrency
# says; the mean pause is told, and how near to 200 ms it is depends on the
# machine. With --limit-rate no more bytes come than it says.
. "$(dirname "$0")/../lib.sh"
tools
pages=${PAGES:-200}

# run: one crawl; sets requests, early, least, mean, most (ms), over (%), second.
run() {
	synth_start -pages "$pages" -bytes 2000 -robots 'User-agent: *\nCrawl-delay: 0.2\n'
	rm -rf "$WORK/a"
	"$CURTSY" crawl "$SITE/" --archive "$WORK/a" --concurrency 8 --delay 0 >"$WORK/out" 2>"$WORK/err" ||
		{ bad "crawl ended with $?"; show "$WORK/err"; }
	synth_stop
	# robots.txt itself is a request like any other, but the delay is known only after it
	sort -n "$SYNTH_LOG" >"$WORK/log"
	read -r requests early least mean most second < <(awk -F '\t' '
		NR == 2 { second = ($1 - end) / 1e6 }
		NR > 2 { gap = ($1 - end) / 1e6; n++; sum += gap; if (gap < 200) early++
		         if (n == 1 || gap < least) least = gap; if (gap > most) most = gap }
		{ end = $2 }
		END { printf "%d %d %.3f %.3f %.3f %.3f\n", NR, early, least, sum / n, most, second }' "$WORK/log")
	over=$(awk -v m="$mean" 'BEGIN { printf "%.2f", (m / 200 - 1) * 100 }')
}

run
# pages, style.css and robots.txt
claim "all $((pages + 2)) requests were made, got $requests" test "$requests" -eq $((pages + 2))
claim "0 requests earlier than 200 ms after the end of the last, got $early (least $least ms, most $most ms)" test "$early" -eq 0
echo "  mean pause $mean ms, $over % over 200 ms, at a load of $(cut -d ' ' -f 1 /proc/loadavg)"
claim "the delay holds from robots.txt to the first page too: $second ms" less 199.999 "$second"

# 40 pages of 50 kB at 500 kB a second, four at a time: 2 MB take 4 s at least, but for what may
# come at once (a tenth of a second's worth, and a socket buffer for each connection).
synth_start -pages 40 -bytes 50000
from=$(date +%s%N)
"$CURTSY" crawl "$SITE/" --archive "$WORK/b" --delay 0 --concurrency 4 --limit-rate 500kB >"$WORK/out" 2>"$WORK/err" ||
	{ bad "crawl ended with $?"; show "$WORK/err"; }
took=$((($(date +%s%N) - from) / 1000000))
synth_stop
bytes=$("$CURTSY" status "$WORK/b" --json | grep -oE '"bytes":[0-9]+' | cut -d : -f 2)
claim "--limit-rate 500kB: $bytes bytes took $took ms, want $((bytes / 500 - 700)) at least" test "$took" -ge $((bytes / 500 - 700))
finish
