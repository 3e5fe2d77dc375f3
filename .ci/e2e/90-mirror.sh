#!/bin/bash
# A site with every trap for mirrors that we know (publish/mirror/testdata):
# crawled, exported, and read in headless Chromium from the disk and through a
# web server; two link checkers that we did not write agree; and wget, wget2
# and HTTrack on the same site beside ours.
. "$(dirname "$0")/../lib.sh"
need node npm chromium go nginx linkchecker
mirror_tools
(cd "$CI_DIR/.." && go build -o "$WORK/serve" ./internal/testkit/sitetest/serve)
"$WORK/serve" -site "$CI_DIR/../publish/mirror/testdata/trap.txtar" -url-file "$WORK/url" -log "$WORK/log" &
SERVED=$!
CHILDREN+=("$SERVED")
until_true test -s "$WORK/url"
SITE=$(cat "$WORK/url")

"$CURTSY" crawl "$SITE/" --archive "$WORK/archive" --delay 0 2>"$WORK/err" || { show "$WORK/err"; bad "crawl"; exit 1; }
claim "export, and its own check" "$CURTSY" mirror "$WORK/archive" "$WORK/out"
claim "mirror --check agrees" "$CURTSY" mirror --check "$WORK/out"
cp -a "$WORK/out" "$WORK/first"
"$CURTSY" mirror "$WORK/archive" "$WORK/out" >/dev/null
claim "a second export is the same, octet by octet" diff -r "$WORK/first" "$WORK/out"
claim "nothing that noarchive forbids is in it" test -z "$(grep -rl secret-noarchive "$WORK/out" || true)"
claim "nothing lies beside it" test -z "$(find "$WORK" -maxdepth 1 -name '.out*')"

seen() { timeout -k 10 400 node "$MIRROR_TOOLS/mirrorcheck.mjs" "$@" >"$WORK/seen" 2>&1 || { show "$WORK/seen" '' 20; return 1; }; }
claim "Chromium, from the disk and by http: every page is itself, every link right, no picture broken, no request elsewhere" seen "$WORK/out" "$SITE"
tail -n 1 "$WORK/seen"

kill "$SERVED"
wait "$SERVED" 2>/dev/null || true # from here on the site is gone
live=$SITE
nginx_start "root $WORK/out; charset off;"
links() { (cd "$MIRROR_TOOLS" && timeout 120 npx linkinator "$1/" --recurse --format json --skip "^(?!$1)") >"$WORK/linkinator" 2>/dev/null; }
claim "linkinator finds no broken link" links "$SITE"
grep -o '"state": *"[A-Z]*"' "$WORK/linkinator" | sort | uniq -c
printf '[checking]\nmaxrequestspersecond=1000\n' >"$WORK/lc.ini"
chmod 644 "$WORK/lc.ini"
checked() { timeout 300 linkchecker -f "$WORK/lc.ini" --no-status --no-warnings -o csv "$1/" 2>/dev/null | grep -v '^#' | tail -n +2 >"$WORK/linkchecker"; empty "$WORK/linkchecker"; }
claim "linkchecker finds no broken link" checked "$SITE"
SITE=$live

# --- peers, on the same site at the same address
"$WORK/serve" -site "$CI_DIR/../publish/mirror/testdata/trap.txtar" -addr "${SITE#http://}" -url-file "$WORK/url2" &
CHILDREN+=($!)
until_true test -s "$WORK/url2"
mirrors=("curtsy=$WORK/out")
peer() {
	local name=$1
	shift
	command -v "$1" >/dev/null || { without "$1 is not installed"; return 0; }
	mkdir -p "$WORK/peers/$name"
	(cd "$WORK/peers/$name" && timeout 120 "$@" >/dev/null 2>&1) || true
	mirrors+=("$name=$WORK/peers/$name")
}
peer 'wget -r -k -p -E' wget -q -r -l inf -k -p -E "$SITE/"
peer 'wget2 -r -k -p -E' wget2 -q -r -l 0 -k -p -E "$SITE/"
peer HTTrack httrack "$SITE/" -O . -q -%v0 -c4 -%c0 -A0 --disable-security-limits -T5 -R0 --robots=2
timeout -k 10 400 node "$MIRROR_TOOLS/mirrorpeers.mjs" "$SITE" "${mirrors[@]}" | tee "$WORK/table"
ours() { grep -F '| curtsy |' "$WORK/table" | awk -F '|' '{ split($3, held, " of "); exit !(held[1] + 0 == held[2] + 0 && $4 + 0 == 0 && $6 + 0 == 0 && $7 + 0 == 0 && $8 + 0 == 0) }'; }
claim "ours holds every page that may be held, and breaks no link" ours
finish
