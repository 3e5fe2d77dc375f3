#!/bin/bash
# Nothing is loaded from elsewhere by the scripts of a mirror, either: pages that
# ask for the live site in 16 ways are opened in Chromium behind a proxy that
# counts; and with --online, which leaves the policy off, it counts them.
. "$(dirname "$0")/../lib.sh"
need node chromium
node "$CI_DIR/tools/quietsite.mjs" site "$WORK/site" &
CHILDREN+=($!)
node "$CI_DIR/tools/quietsite.mjs" proxy "$WORK/proxy" "$WORK/asked" &
CHILDREN+=($!)
until_true test -s "$WORK/site"
until_true test -s "$WORK/proxy"
SITE=$(cat "$WORK/site")
"$CURTSY" crawl "$SITE/" --archive "$WORK/archive" --delay 0 2>"$WORK/err" || { show "$WORK/err"; bad "crawl"; exit 1; }
claim "the mirror, and its check" "$CURTSY" mirror "$WORK/archive" "$WORK/out"
claim "the mirror that may go online" "$CURTSY" mirror --online "$WORK/archive" "$WORK/online"
"$CURTSY" mirror --serve "$WORK/out" --listen 127.0.0.1:0 >"$WORK/serving" &
CHILDREN+=($!)
until_true grep -q '^serving ' "$WORK/serving"
web=$(sed 's/.* at //' "$WORK/serving")

# asked URL: opens a page; sets ASKED, the requests for the live site, and DID, the ways that it tried.
asked() {
	: >"$WORK/asked"
	timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run --user-data-dir="$WORK/profile" \
		--proxy-server="$(cat "$WORK/proxy")" --proxy-bypass-list="<-loopback>;${2:-none.invalid}" --virtual-time-budget=4000 --dump-dom "$1" >"$WORK/dom" 2>"$WORK/chromium" || true
	ASKED=$(grep -c "${SITE#http://}" "$WORK/asked" || true)
	DID=$(grep -o '<title>asked [0-9]*' "$WORK/dom" | grep -o '[0-9]*$' || echo 0)
}
for page in index.html b.html; do
	asked "file://$WORK/out/$page"
	claim "$page from the disk: tried in $DID ways, $ASKED requests to the live site" test "$ASKED" -eq 0 -a "$DID" -eq 16
	[[ $ASKED -eq 0 ]] || show "$WORK/asked" '' 20
done
host=${web#http://}
asked "${web}b.html" "${host%/};*.localhost"
claim "b.html by http: tried in $DID ways, $ASKED requests to the live site" test "$ASKED" -eq 0 -a "$DID" -eq 16
[[ $ASKED -eq 0 ]] || show "$WORK/asked" '' 20
asked "file://$WORK/online/b.html"
claim "b.html of the one that may go online: $ASKED requests, so the proxy counts" test "$ASKED" -gt 5
finish
