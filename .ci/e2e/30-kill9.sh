#!/bin/bash
# kill -9 at random moments of a full-speed crawl, and at every named point of
# the commit. After each kill: the archive verifies, its segments are whole, and
# what was kept or reported before is still there and never asked for again. At the end: nothing missing, nothing
# captured twice, and fetched twice at most the visits in flight per kill.
# KILLS, PAGES, CONCURRENCY and SEED change the size of it.
. "$(dirname "$0")/../lib.sh"
tools
kills=${KILLS:-100}
pages=${PAGES:-3000}
concurrency=${CONCURRENCY:-8}
# Visits in flight: those being fetched, and those that wait for a commit (storage/segment.go).
inflight=$((concurrency + $(sed -nE 's/^const MaxGroup = ([0-9]+).*/\1/p' "$CI_DIR/../storage/segment.go" | grep .)))
RANDOM=${SEED:=$(date +%s)}
echo "  seed $SEED"
synthsite -pages "$pages" -list | sort >"$WORK/list"

# begin_crawl: a new archive of the same site, with its own server log.
begin_crawl() {
	rm -rf "$WORK/archive"
	synth_start -pages "$pages" -bytes 2000
	: >"$WORK/kept-since"
	crawl_kills=0 published=0
}

# run_until MS: crawl or go on, killed after that many ms (0: by itself); sets CODE.
run_until() {
	# before its first commit a crawl has nothing to resume, and begins again
	if "$CURTSY" status "$WORK/archive" >/dev/null 2>&1; then
		"$CURTSY" resume "$WORK/archive" >"$WORK/out" 2>"$WORK/err" &
	else
		"$CURTSY" crawl "$SITE/" --archive "$WORK/archive" --delay 0 --concurrency "$concurrency" >"$WORK/out" 2>"$WORK/err" &
	fi
	local pid=$!
	if [[ $1 -gt 0 ]]; then
		sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"
		kill -9 "$pid" 2>/dev/null || true
	fi
	CODE=0
	{ wait "$pid"; } 2>/dev/null || CODE=$?
}

trouble=0
note() { trouble=$((trouble + 1)); echo "  broken after $*"; }

# after_kill WHERE: the archive right after a kill.
after_kill() {
	[[ -e $WORK/archive/crawl.db ]] || return 0 # killed before there was one
	# what it said of itself before the kill: not less may be there now
	published=$(sed -n 's/.*"fetched":\([0-9]*\).*/\1/p' "$WORK/archive/status.json" 2>/dev/null | grep . || echo 0)
	local code=0
	"$CURTSY" verify "$WORK/archive" >"$WORK/verify" 2>&1 || code=$?
	# no visit was committed yet: there is nothing to verify
	[[ $code -ne 2 || -n $(compgen -G "$WORK/archive/warc/*.warc.gz") ]] || return 0
	[[ $code -eq 0 ]] || { note "$1: verify exit $code"; show "$WORK/verify"; }
	compgen -G "$WORK/archive/warc/*.warc.gz" >/dev/null || return 0
	committed "$WORK/archive" "$WORK/committed"
	compgen -G "$WORK/committed/*.warc.gz" >/dev/null || return 0
	gzip -t "$WORK"/committed/*.warc.gz 2>"$WORK/gzip" || { note "$1: gzip -t"; show "$WORK/gzip"; }
	warcls "$WORK"/committed/*.warc.gz >"$WORK/ls" 2>"$WORK/torn" || { note "$1: torn"; show "$WORK/torn"; }
	awk -F '\t' '$2 == "response" || $2 == "revisit" { print $3 }' "$WORK/ls" | sed "s|^$SITE||" | sort >"$WORK/kept"
	[[ $(wc -l <"$WORK/kept") -ge $published ]] || note "$1: status said $published fetched, $(wc -l <"$WORK/kept") are kept"
	cut -f 1 "$WORK/kept-since" | comm -23 - "$WORK/kept" >"$WORK/lost"
	[[ ! -s $WORK/lost ]] || { note "$1: $(wc -l <"$WORK/lost") URLs kept after an earlier kill are lost"; show "$WORK/lost"; }
	# from now on no kept URL may be asked for again: remember the line of the server's log
	sleep 0.1 # the log is written every 50 ms
	awk -F '\t' -v line="$(wc -l <"$SYNTH_LOG")" 'NR == FNR { since[$1] = $2; next } { print $1 "\t" ($1 in since ? since[$1] : line) }' \
		"$WORK/kept-since" "$WORK/kept" >"$WORK/kept-now"
	mv "$WORK/kept-now" "$WORK/kept-since"
}

# end_crawl: what is true when the last resume is done.
end_crawl() {
	synth_stop
	[[ $CODE -eq 0 ]] || { note "the last resume: exit $CODE"; show "$WORK/err"; }
	awk -F '\t' 'NR == FNR { since[$1] = $2; next } $3 != "/robots.txt" && $3 in since && FNR > since[$3] { print $3 }' "$WORK/kept-since" "$SYNTH_LOG" >"$WORK/asked-again"
	[[ ! -s $WORK/asked-again ]] || { note "the end: $(wc -l <"$WORK/asked-again") URLs were asked for again though kept"; show "$WORK/asked-again"; }
	after_kill 'the end'
	grep -v '^/robots.txt$' "$WORK/kept" >"$WORK/captured" || true
	missing=$((missing + $(comm -23 "$WORK/list" "$WORK/captured" | wc -l)))
	twice=$((twice + $(uniq -d "$WORK/captured" | wc -l)))
	local again
	again=$(awk -F '\t' '$3 != "/robots.txt" && hits[$3]++' "$SYNTH_LOG" | wc -l)
	refetched=$((refetched + again))
	crawls=$((crawls + 1))
	echo "  crawl $crawls: $crawl_kills kills, $again fetched again"
	[[ $again -le $((crawl_kills * inflight)) ]] || over=$((over + 1))
}

missing=0 twice=0 refetched=0 crawls=0 over=0 done_kills=0
began=$SECONDS
begin_crawl
while [[ $done_kills -lt $kills ]]; do
	run_until $((RANDOM % ${MOMENT_MS:-400} + 1))
	if [[ $CODE -eq 137 ]]; then
		done_kills=$((done_kills + 1)) crawl_kills=$((crawl_kills + 1))
		after_kill "kill $done_kills"
	else # the crawl was quicker than the kill: another one
		end_crawl
		begin_crawl
	fi
done
run_until 0
end_crawl
claim "$done_kills kills at random moments of $crawls crawls of $pages pages ($((SECONDS - began)) s): verify, gzip -t, and all that was kept stays kept and is not asked for again: $trouble troubles" test "$trouble" -eq 0
claim "random moments: 0 missing, got $missing" test "$missing" -eq 0
claim "random moments: 0 captured twice, got $twice" test "$twice" -eq 0
claim "random moments: $refetched fetched again in $done_kills kills, at most the $inflight in flight per kill" test "$over" -eq 0

# The named points of the commit are in the source; CURTSY_FAILPOINT=NAME:COUNT
# kills at the COUNTth passing of one.
mapfile -t points < <(grep -hoE '\.Fail\("[a-z0-9-]+"\)' "$CI_DIR"/../storage/*.go "$CI_DIR"/../crawler/*.go | cut -d '"' -f 2 | sort -u)
claim "the commit has named points: ${points[*]}" test "${#points[@]}" -gt 0
missing=0 twice=0 refetched=0 crawls=0 over=0 trouble=0
for point in "${points[@]}"; do
	begin_crawl
	hit=0
	for count in 1 2 7 30; do # at the beginning, and on the way
		CURTSY_FAILPOINT=$point:$count run_until 0
		[[ $CODE -ne 137 ]] || { hit=$((hit + 1)) crawl_kills=$((crawl_kills + 1)); after_kill "$point:$count"; }
	done
	run_until 0
	end_crawl
	claim "killed at $point, $hit times" test "$hit" -ge 2
done
claim "named points: $trouble troubles, $missing missing, $twice captured twice, $refetched fetched again" test "$trouble" -eq 0 -a "$missing" -eq 0 -a "$twice" -eq 0 -a "$over" -eq 0
finish
