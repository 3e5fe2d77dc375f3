#!/bin/bash
# A site that scripts make (React Router by Vite, 50 pages of one shell, lazy chunks, pictures, a
# JSON API): a Chromium shows it to the crawl, which fetches all that it asks for, by its own rules.
. "$(dirname "$0")/../lib.sh"
need node npm chromium
CURTSY_TEST_BROWSER=$(command -v chromium) go test "$CI_DIR/../crawler/render" "$CI_DIR/../cli" -run 'Chromium|InABrowser' -count 1 >"$WORK/go" 2>&1 &&
	ok "a Chromium shows what scripts make, is bounded, started anew, asks nobody itself, and judges a mirror" ||
	{ show "$WORK/go" '' 30; bad "the packages render and cli with a Chromium"; }

mirror_tools
mkdir -p "$WORK/follow"
(cd "$MIRROR_TOOLS" && node follow.mjs "$CURTSY" "$WORK/follow") >"$WORK/follows" 2>&1 || { show "$WORK/follows"; bad "follow.mjs ended early"; }
grep '^ok: ' "$WORK/follows" || true
while IFS= read -r line; do bad "${line#FAIL: }"; done < <(grep '^FAIL: ' "$WORK/follows")

REACT=$TOOLS/react
mkdir -p "$REACT"
node "$CI_DIR/tools/reactsite.mjs" build "$REACT" 2>"$WORK/build" || { show "$WORK/build"; bad "the site was not built"; finish; }

# site NAME ARGS...: the server; sets SITE and LOG.
site() {
	local name=$1
	shift
	LOG=$WORK/$name.log
	node "$CI_DIR/tools/reactsite.mjs" serve "$REACT" "$@" >"$WORK/$name.url" 2>"$LOG" &
	CHILDREN+=($!)
	until_true test -s "$WORK/$name.url"
	SITE=$(cat "$WORK/$name.url")
}

site open
"$CURTSY" crawl "$SITE/" --archive "$WORK/bare" --delay 0 2>"$WORK/bare.err" || true
claim "without --render, the end of the crawl says that nothing was seen" grep -q 'without scripts, .*--render auto' "$WORK/bare.err"

before=$(wc -l <"$LOG")
"$CURTSY" crawl "$SITE/" --archive "$WORK/a" --delay 0 --render auto 2>"$WORK/a.err" || { show "$WORK/a.err"; bad "the crawl ended with $?"; }
"$CURTSY" list "$WORK/a" --state fetched --format csv >"$WORK/list"
kept() { [[ $(grep -cE "$1" "$WORK/list") -eq $2 ]] || { echo "  $(grep -cE "$1" "$WORK/list") of $2"; return 1; }; }
claim "all 50 pages are kept" kept "^$SITE/(about|list/[1-8]|item/[0-9]+)?," 50
claim "all 48 answers of the API" kept "^$SITE/api/" 48
claim "all 42 pictures" kept "^$SITE/pictures/" 42
tail -n "+$((before + 1))" "$LOG" >"$WORK/asked"
awk '{ print $2 }' "$WORK/asked" | sort | uniq -d >"$WORK/twice"
grep -v ' curtsy/' "$WORK/asked" >"$WORK/others" || true
claim "nothing was asked for twice" empty "$WORK/twice"
claim "every request was the crawl's own" empty "$WORK/others"
claim "verify" verified "$WORK/a"
claim "no browser is left" bash -c '! pgrep -f "user-data-dir=$1" >/dev/null' _ "$WORK/a"

"$CURTSY" mirror "$WORK/a" "$WORK/m" >"$WORK/m.out" 2>&1 || { show "$WORK/m.out"; bad "mirror"; }
kill "${CHILDREN[0]}"
"$CURTSY" mirror --check --browser chromium --sample 4 "$WORK/a" "$WORK/m" >"$WORK/judged" 2>&1 || show "$WORK/judged"
claim "a browser finds the mirror as the archive has it, page by page" grep -q '4 of 50 pages opened: 4 right from disk, .* 8 of 8 links lead' "$WORK/judged"
# shown URL WORDS: does a browser show them there?
shown() {
	timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$WORK/profile" --virtual-time-budget=5000 --dump-dom "$1" 2>/dev/null >"$WORK/dom" || true
	grep -q "$2" "$WORK/dom" || { show "$WORK/dom" '' 5; return 1; }
}
page=$(grep -rl 'the zebra no. 17' "$WORK/m" --include='*.html' | head -n 1)
claim "the mirror has each item's text" [ "$(grep -rlE 'the zebra no. [0-9]+' "$WORK/m" --include='*.html' | wc -l)" -eq 40 ]
claim "a browser shows it from the disk" shown "file://$page" 'the zebra no. 17'
port=$(freeport)
"$CURTSY" serve "$WORK/a" --listen "127.0.0.1:$port" >"$WORK/serve.out" 2>&1 &
CHILDREN+=($!)
until_true grep -q '^serving' "$WORK/serve.out"
frame=$(curl -s "http://127.0.0.1:$port/2026/$SITE/item/17" | grep -oE 'src="http://[^"]*/item/17' | head -n 1 | cut -c6-)
curl -s -L -H 'Sec-Fetch-Dest: iframe' "$frame" >"$WORK/frame"
claim "and in the frame of curtsy serve" grep -q 'the zebra no. 17' "$WORK/frame"

site denied deny
"$CURTSY" crawl "$SITE/" --archive "$WORK/d" --delay 0 --render auto 2>"$WORK/d.err" || { show "$WORK/d.err"; bad "the second crawl ended with $?"; }
grep ' /api/' "$LOG" >"$WORK/api" || true
claim "a robots.txt that closes /api/ holds for the browser" empty "$WORK/api"
"$CURTSY" explain "$WORK/d" "$SITE/list/1" >"$WORK/why"
claim "explain says what the page asked for in vain, and why" grep -q 'missing .*/api/list/1: robots.txt: line 2' "$WORK/why"

# kill -9 in the midst: no browser is left, nothing is lost, and the crawl ends as the other did.
site killed
"$CURTSY" crawl "$SITE/" --archive "$WORK/k" --delay 0 --render auto 2>/dev/null &
pid=$!
until_true grep -q ' /api/item/3 ' "$LOG"
kill -9 $pid
wait $pid 2>/dev/null || true
claim "after kill -9 no browser is left" until_true bash -c '! pgrep -f "user-data-dir=$1" >/dev/null' _ "$WORK/k"
"$CURTSY" resume "$WORK/k" --render auto 2>"$WORK/k.err" || { show "$WORK/k.err"; bad "resume ended with $?"; }
"$CURTSY" list "$WORK/k" --state fetched --format csv >"$WORK/list"
claim "resumed, all 50 pages are kept" kept "^$SITE/(about|list/[1-8]|item/[0-9]+)?," 50
claim "verify after the kill" verified "$WORK/k"
finish
