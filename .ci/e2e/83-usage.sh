#!/bin/bash
# What owners say about use, on nginx: Content-Usage, Content-Signal, TDMRep, noai, RSL and Robots-Tag,
# crawled, updated after robots.txt changed, exported for three purposes, explained, and rebuilt from the
# segments. Then a crawl that signs its requests, verified by an implementation that is not ours.
. "$(dirname "$0")/../lib.sh"
need nginx node
export CURTSY_POLITENESS_USAGE_FILES=true CURTSY_DELAY=0s CURTSY_POLITENESS_ADAPTIVE=0

mkdir -p "$WORK/root/ok" "$WORK/root/.well-known"
printf 'User-agent: *\nAllow: /\nContent-Usage: train-ai=n\nContent-Usage: /ok/ train-ai=y\nLicense: /license.xml\n' >"$WORK/root/robots.txt"
echo '[{"location":"/ok/","tdm-reservation":0},{"location":"/","tdm-reservation":1,"tdm-policy":"https://example.org/p"}]' >"$WORK/root/.well-known/tdmrep.json"
echo '<rsl/>' >"$WORK/root/license.xml"
echo '<!DOCTYPE html><title>home</title><p>Words of home. <a href="/ok/page.html">1</a> <a href="/meta.html">2</a> <a href="/hidden.html">3</a> <a href="/tagged.html">4</a>' >"$WORK/root/index.html"
echo '<!DOCTYPE html><title>ok</title><p>Words that may be used.' >"$WORK/root/ok/page.html"
echo '<!DOCTYPE html><title>meta</title><meta name="robots" content="noai"><meta name="tdm-reservation" content="0"><p>Words of meta.' >"$WORK/root/meta.html"
echo '<!DOCTYPE html><title>hidden</title><p>Words that no search may find.' >"$WORK/root/hidden.html"
echo '<!DOCTYPE html><title>tagged</title><p>Words of tagged.' >"$WORK/root/tagged.html"
nginx_start "root $WORK/root; index index.html;
	location = /hidden.html { add_header Content-Usage 'search=n, train-ai=y'; add_header Content-Signal 'ai-input=no'; }
	location = /tagged.html { add_header Robots-Tag '*;noarchive=?0, curtsy;noindex'; }"
site=$SITE

# usage ARCHIVE URL: what is said about the use of a page now.
usage() { "$CURTSY" list "$1" --format json --where "url=$2" | node -e 'for (const l of require("fs").readFileSync(0,"utf8").trim().split("\n")) console.log(JSON.stringify(JSON.parse(l).usage))'; }
is() { [[ $("${@:2}") == "$1" ]] || { echo "  got $("${@:2}"), want $1"; return 1; }; }
told() { "$CURTSY" explain "$1" "$2" | grep -F "$3" >/dev/null; } # all of it is read: a pipe that ends early is a failure of explain

"$CURTSY" crawl "$site/" --archive "$WORK/a" --no-report >"$WORK/crawl" 2>&1
claim 'robots.txt and tdmrep.json' is '{"tdm":"n","train-ai":"n"}' usage "$WORK/a" /license.xml
claim 'of several paths the longest' is '{"tdm":"y","train-ai":"y"}' usage "$WORK/a" /ok/page.html
claim 'a meta element supersedes the file; noai' is '{"tdm":"y","train-ai":"n"}' usage "$WORK/a" /meta.html
claim 'headers, and any n takes precedence' is '{"ai-input":"n","search":"n","tdm":"n","train-ai":"n"}' usage "$WORK/a" /hidden.html
claim 'explain: line and version' told "$WORK/a" /ok/page.html 'use        train-ai=y (robots.txt, line 4, version '
claim 'explain: the license' told "$WORK/a" / 'license /license.xml'
claim 'the license is archived' told "$WORK/a" /license.xml 'kept       in full'
claim 'tdmrep.json was asked for once' is 1 grep -c "/.well-known/tdmrep.json" "$NGINX_LOG"
claim 'no search finds search=n' is 3 bash -c "'$CURTSY' search '$WORK/a' words --json | grep -c ."

for purpose in search train-ai tdm; do
	"$CURTSY" export "$WORK/a" "$WORK/$purpose.jsonl" --purpose "$purpose" >/dev/null 2>"$WORK/$purpose.said"
done
claim 'for training: one page' is /ok/page.html bash -c "grep -o '/ok/page.html' '$WORK/train-ai.jsonl'"
claim 'for training: nothing that says n' is 0 bash -c "grep -c '\"train-ai\":\"n\"' '$WORK/train-ai.jsonl' || true"
claim 'for mining: nothing that says n' is 0 bash -c "grep -c '\"tdm\":\"n\"' '$WORK/tdm.jsonl' || true"
claim 'counts on stderr' grep -qE '^for train-ai: [0-9]+ say n and were left out, [0-9]+ say nothing$' "$WORK/train-ai.said"

sleep 1.1 # nginx tells versions of a file apart by seconds
echo '<!DOCTYPE html><title>ok</title><p>Other words that may be used.' >"$WORK/root/ok/page.html"
printf 'User-agent: *\nContent-Usage: train-ai=y, search=n\n' >"$WORK/root/robots.txt"
"$CURTSY" update "$WORK/a" >"$WORK/update" 2>&1
claim 'unchanged pages have the new robots.txt' is '{"search":"n","tdm":"y","train-ai":"n"}' usage "$WORK/a" /meta.html
claim 'earlier captures keep theirs' bash -c "'$CURTSY' list '$WORK/a' --versions --usage search=unknown --format csv | grep -q /ok/page.html"
"$CURTSY" list "$WORK/a" --versions --format csv | sort >"$WORK/before" # URLs found at once may be numbered otherwise
rm "$WORK/a/crawl.db"
"$CURTSY" verify "$WORK/a" --repair >"$WORK/repair" 2>&1 || true
"$CURTSY" list "$WORK/a" --versions --format csv | sort >"$WORK/after"
claim 'rebuilt from the segments, all is as it was' cmp "$WORK/before" "$WORK/after"

# --- who is asking
npm_at usage web-bot-auth@0.1.3
export NPM_TOOLS=$NPM_AT
"$CURTSY" identity new "$WORK/key" --site https://you.example >"$WORK/jwks" 2>/dev/null
claim 'the key is for its owner alone' is 600 stat -c %a "$WORK/key"
port=$(freeport)
node "$CI_DIR/tools/webbotauth.mjs" "$port" "$WORK/jwks" "$WORK/signed" &
CHILDREN+=($!)
until_true listens "$port"
"$CURTSY" crawl "http://127.0.0.1:$port/" --archive "$WORK/b" --identity "$WORK/key" --no-report >"$WORK/signing" 2>&1 || true
claim 'every request is verified by web-bot-auth' bash -c "grep -q '^verified / ' '$WORK/signed' && ! grep -q refused '$WORK/signed'"
private=$(node -p "JSON.parse(require('fs').readFileSync('$WORK/key')).d")
claim 'the private key is in no archive' bash -c "! { zcat '$WORK'/b/warc/*.gz; cat '$WORK/b/crawl.db' '$WORK/signing'; } | grep -qF -- '$private'"
claim 'the sent signature is in the archive' bash -c "zcat '$WORK'/b/warc/*.gz | grep -qa '^Signature-Agent: \"https://you.example\"'"
"$CURTSY" crawl "http://127.0.0.1:$port/" --archive "$WORK/c" --no-report >"$WORK/unsigned" 2>&1 || true
claim 'without a signature it is refused there' grep -q '^refused' "$WORK/signed"
finish
