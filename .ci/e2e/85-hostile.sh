#!/bin/bash
# Every attack of internal/testkit/hostile at once, heavy ones too, against the built
# program: it ends by itself, in bounded time and memory, and says what it
# refused and why. Then those that need a server of their own.
. "$(dirname "$0")/../lib.sh"
mkdir -p "$TOOLS/bin"
(cd "$CI_DIR/.." && go build -o "$TOOLS/bin/hostile" ./internal/testkit/hostile/serve)
cat >"$WORK/config.yaml" <<-'YAML'
	delay: 0s
	concurrency: 4
	politeness: {max_failures: 1000, max_retry_after: 1s, max_slowdown: 100ms}
	fetch: {connect_timeout: 1s, head_timeout: 1s, idle_timeout: 1s, total_timeout: 4s, max_body: 64MB, retries: 1, retry_base: 100ms}
YAML

# hostile FIXTURES: a server of them; sets SITE and HOSTILE_PID.
hostile() {
	local url=$WORK/url-$RANDOM
	"$TOOLS/bin/hostile" -fixtures "$1" -url-file "$url" >"$WORK/served" 2>&1 &
	HOSTILE_PID=$!
	CHILDREN+=("$HOSTILE_PID")
	until_true test -s "$url"
	SITE=$(cat "$url")
}

# crawl DIR: sets CODE, PEAK (MB) and TOOK (s).
crawl() {
	local began=$SECONDS kb=0 last=0 pid
	timeout -k 5 300 "$CURTSY" crawl "$SITE/" --archive "$1" --config "$WORK/config.yaml" --json >"$WORK/result" 2>"$WORK/err" &
	pid=$!
	sleep 0.1
	pid=$(pgrep -P "$pid" || echo "$pid")
	while kill -0 "$pid" 2>/dev/null; do
		kb=$(peak_kb "$pid") && [[ -n $kb ]] && last=$kb
		sleep 0.02
	done
	CODE=0
	wait %+ || CODE=$?
	PEAK=$((last / 1024)) TOOK=$((SECONDS - began))
}

reason() { grep -qF -- "  $1" "$WORK/list"; }
explains() { "$CURTSY" explain "$WORK/all" "$SITE$1" >"$WORK/explained" 2>&1; grep -qF -- "$2" "$WORK/explained" || { show "$WORK/explained" "explain $1" 20; return 1; }; }
harmless() { ! LC_ALL=C grep -nP '[\x00-\x08\x0b-\x1f\x7f]|\x9b' "$@"; }

hostile shared
crawl "$WORK/all"
claim "the whole server: exit $CODE after $TOOK s (0 done, or 3)" test "$CODE" -eq 0 -o "$CODE" -eq 3
[[ $CODE -eq 0 ]] || show "$WORK/err"
"$CURTSY" list "$WORK/all" >"$WORK/list" 2>&1
claim "the whole server: peak memory $PEAK MB, want under 200 MB" test "$PEAK" -lt 200 -a "$PEAK" -gt 0
for r in 'fetch: protocol' 'fetch: timeout' 'fetch: too-large-head' 'fetch: cut off by the server' 'redirect: to itself' 'scope: more than 20 redirects' \
	'trap: calendar' 'trap: far-dates' 'trap: facets' 'trap: session-id' 'trap: query-order' 'trap: repeated-segments' 'trap: path-depth' 'trap: length' 'trap: soft-404' 'blocked: challenge' 'sitemap: over'; do
	claim "counted: $r" reason "$r"
done
claim "explain names the redirect to itself" explains /redirect-loop/self 'redirect: to itself'
claim "explain names the line that denies a redirect's target" explains /redirect-denied/denied 'line 2'
claim "explain names what stood in a page's place" explains /challenge-always/ 'blocked: challenge'
claim "explain names the broken response" explains /two-lengths/ 'protocol'
"$CURTSY" status "$WORK/all" >"$WORK/status" 2>&1
for u in terminal/ terminal/loc errors/status errors/coding errors/length warc-injection/; do "$CURTSY" explain "$WORK/all" "$SITE/$u"; done >"$WORK/explained" 2>&1
claim "no control octet in status, explain and log" harmless "$WORK/status" "$WORK/explained" "$WORK/err"
claim "curtsy verify" verified "$WORK/all"
"$CURTSY" mirror "$WORK/all" "$WORK/mirror" >"$WORK/mirrored" 2>&1 || true
claim "the mirror leads nowhere outside its directory" test -z "$(find "$WORK" -maxdepth 1 -newer "$WORK/mirrored" -not -name mirror -not -path "$WORK" 2>/dev/null)"
kill "$HOSTILE_PID"
wait "$HOSTILE_PID" 2>/dev/null || true
claim "no request carried credentials, cookies, a referrer or a body" test -z "$(grep '^improper' "$WORK/served")"

while IFS=$'\t' read -r line name how heavy attack; do
	[[ $how == alone ]] || continue
	hostile "$name"
	crawl "$WORK/$name"
	claim "$line $name ($attack): exit $CODE after $TOOK s, $PEAK MB" test "$PEAK" -lt 200 -a \( "$CODE" -eq 0 -o "$CODE" -eq 4 \)
	kill "$HOSTILE_PID"
	wait "$HOSTILE_PID" 2>/dev/null || true
done < <("$TOOLS/bin/hostile" -list)
finish
