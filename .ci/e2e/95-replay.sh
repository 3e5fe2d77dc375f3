#!/bin/bash
# Archives in a browser: more than a hundred pages that each try one way out
# reach nobody, counted at listeners; pages are the live ones pixel by pixel; the
# UI has no violation of axe; hostile targets are answered, and a Go client and
# curl read what memento clients do.
. "$(dirname "$0")/../lib.sh"
need nginx chromium node npm curl
mirror_tools

# serving DIR... : curtsy serve on free ports; sets UI and SERVED.
serving() {
	"$CURTSY" serve "$@" --listen 127.0.0.1:0 >"$WORK/serve.out" 2>"$WORK/serve.err" &
	SERVED=$!
	CHILDREN+=("$SERVED")
	until_true grep -q '^serving ' "$WORK/serve.out"
	UI=$(sed -n '1s|.* at \(http://[^/]*\)/$|\1|p' "$WORK/serve.out")
}
served_no_more() { kill "$SERVED"; wait "$SERVED" 2>/dev/null || true; }
# seen TOOL ARGS...: a check in the browser; its last line is shown.
seen() { timeout -k 10 400 node "$MIRROR_TOOLS/$1" "${@:2}" >"$WORK/seen" 2>&1 || { show "$WORK/seen" '' 20; return 1; }; tail -n 1 "$WORK/seen"; }

# --- ways out
node "$MIRROR_TOOLS/escape.mjs" site "$WORK/ways.url" &
CHILDREN+=($!)
until_true test -s "$WORK/ways.url"
WAYS_SITE=$(cat "$WORK/ways.url")
"$CURTSY" crawl "$WAYS_SITE/" --archive "$WORK/ways" --delay 0 --concurrency 8 2>"$WORK/err" || { show "$WORK/err"; bad "crawl of the ways out"; }
claim "control: opened live, at least 36 of the ways reach a listener" env WAYS='^(img|css|rtc|fetch|form|a-|prefetch|preconnect|link|spec|script|worker|event|web|video|svg|iframe|object|embed|meta|beacon|xhr|location)' timeout -k 10 400 node "$MIRROR_TOOLS/escape.mjs" open "$WAYS_SITE" ''
serving "$WORK/ways"
claim "no way leads out of the archive: 0 HTTP, 0 UDP, 0 TCP" seen escape.mjs open "$WAYS_SITE" "$UI"
served_no_more
serving "$WORK/ways" --no-scripts
claim "with --no-scripts neither" env WAYS='^(img|rtc|css-import|pre|link|spec|meta|form|frame|web|refresh|svg|object)' bash -c "timeout -k 10 400 node '$MIRROR_TOOLS/escape.mjs' open '$WAYS_SITE' '$UI'"
served_no_more

# --- real sites
mkdir "$WORK/root"
ln -s "$(corpus postgresql-doc-15)" "$WORK/root/pg"
ln -s "$(dirname "$(dpkg -L gimp-help-ru | grep -m1 '/ru/index\.html$')")" "$WORK/root/gimp"
nginx_start "root $WORK/root; gzip on; gzip_types text/css; location /own/ { add_header Set-Cookie \"from=site; Path=/\"; }"
for name in pg gimp; do
	"$CURTSY" crawl "$SITE/$name/index.html" --archive "$WORK/$name" --delay 0 --concurrency 8 2>"$WORK/err" || { show "$WORK/err"; bad "crawl of $name"; }
done
"$CURTSY" update "$WORK/pg" --only sql-select --delay 0 2>"$WORK/err" || { show "$WORK/err"; bad "update of pg"; }
serving "$WORK/pg" "$WORK/gimp"
pages() { "$CURTSY" list "$WORK/$1" --status 200 --format json | node -e 'let n=0;for(const l of require("fs").readFileSync(0,"utf8").trim().split("\n")){const r=JSON.parse(l);if(/html/.test(r.type))console.log(r.url)}'; }
pages pg >"$WORK/pg.urls"
pages gimp >"$WORK/gimp.urls"
mapfile -t sample < <(awk 'NR % 292 == 5 { print }' "$WORK/pg.urls"; awk 'NR % 170 == 7 { print }' "$WORK/gimp.urls")
claim "${#sample[@]} pages of two sites, pixel by pixel" seen replaycheck.mjs pixels "$UI" "$SITE" "${sample[@]#"$SITE"}"
claim "axe: the UI has no violation" seen replaycheck.mjs axe "$UI" / "/2026/$SITE/pg/index.html" "/versions/$SITE/pg/index.html" "/search?q=select" "/changes?round=1" /report "/report?archive=2" "/2026/$SITE/pg/none.html" /nowhere
claim "1,000 random pages, live and from the archive" seen replaycheck.mjs pace "$UI" 1000 "$WORK/pg.urls"
claim "10,000 random and hostile targets: no 500, no file" seen replaycheck.mjs hostile "$UI" 10000 "$SITE/pg/index.html"
peak=$(peak_kb "$SERVED")
claim "memory stays bounded: ${peak} KiB at most" test "$peak" -lt 300000

# --- Memento (RFC 7089), as its clients read it
curl -sD "$WORK/gate" -o /dev/null -H 'Accept-Datetime: Thu, 31 May 2007 20:35:00 GMT' "$UI/timegate/$SITE/pg/index.html"
at=$(tr -d '\r' <"$WORK/gate" | sed -n 's/^[Ll]ocation: //p')
claim "TimeGate: 302 to $at" grep -qE '^/[0-9]{14}/http' <<<"$at"
claim "memento: Memento-Datetime" grep -qi '^memento-datetime: ' <(curl -sD - -o /dev/null "$UI$at")
claim "TimeMap: link-format" grep -q 'rel="first last memento";datetime="' <(curl -s "$UI/timemap/link/$SITE/pg/index.html")
claim "a stranger's Host is refused" test "$(curl -s -o /dev/null -w '%{http_code}' -H 'Host: evil.test' "$UI/")" = 421
claim "POST is refused" test "$(curl -s -o /dev/null -w '%{http_code}' -d x "$UI/")" = 405

# --- for others: the machine's address, where other services have cookies
mkdir "$WORK/root/own"
cat >"$WORK/root/own/index.html" <<'EOF'
<!DOCTYPE html><title>own</title><link rel=stylesheet href=s.css><a href=to.html>on</a><p id=found></p><img id=i src=i.svg alt=""><script src=s.js></script>
EOF
echo '<!DOCTYPE html><title>to</title><a id=back href=index.html>back</a>' >"$WORK/root/own/to.html"
echo '#found{width:300px;overflow:hidden}' >"$WORK/root/own/s.css"
echo '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><path d="M0 0h8v8z"/></svg>' >"$WORK/root/own/i.svg"
echo 'a=1' >"$WORK/root/own/d.txt"
cat >"$WORK/root/own/s.js" <<'EOF'
const tried = (f) => { try { return String(f()) } catch (e) { return e.name } };
onload = async () => found.textContent = JSON.stringify({
  origin: self.origin,
  cookie: tried(() => { document.cookie = 'planted=1; path=/'; return document.cookie }),
  storage: tried(() => localStorage.length),
  worker: await (async () => navigator.serviceWorker.register('s.js'))().then(() => 'registered', () => 'refused'),
  fetched: await fetch('d.txt', { credentials: 'include' }).then(r => r.text()).then(s => s.trim(), e => e.name),
  picture: document.images[0].naturalWidth,
});
EOF
echo "$SITE/own/d.txt" >"$WORK/own.seeds"
"$CURTSY" crawl "$SITE/own/index.html" --seeds "$WORK/own.seeds" --archive "$WORK/own" --scope prefix --delay 0 2>"$WORK/err" || { show "$WORK/err"; bad "crawl of own"; }
served_no_more
serving "$WORK/own" --public
claim "serve --public: pages work, without an origin, and neither see nor plant a cookie" seen replaycheck.mjs public "$UI" "$SITE/own/index.html"
finish
