#!/bin/bash
# One file out: a ZIM that zimcheck passes and kiwix-serve shows as the mirror is; pages that
# are whole in one file, opened from the disk without a request.
. "$(dirname "$0")/../lib.sh"
need nginx chromium node python3 zimcheck zimdump kiwix-serve
mirror_tools

mkdir -p "$WORK/root/shop"
pg=$(corpus postgresql-doc-15)
mkdir "$WORK/root/pg"
cp "$pg"/index.html "$pg"/stylesheet.css "$pg"/textsearch*.html "$WORK/root/pg/"
base64 -d >"$WORK/root/shop/dot.png" <<<'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8DAwMDAxMDAwMDAAAANHQEDasKb6QAAAABJRU5ErkJggg=='
cp "$(find /usr/share/fonts -name '*.ttf' | sort | head -n 1)" "$WORK/root/shop/face.ttf"
cat >"$WORK/root/shop/style.css" <<-'CSS'
	@import "more.css";
	@font-face { font-family: Face; src: url(face.ttf) }
	body { font-family: Face, serif; background: url("dot.png") }
CSS
echo 'h1 { color: rgb(1, 2, 3) }' >"$WORK/root/shop/more.css"
echo 'document.body.dataset.ran = "yes";' >"$WORK/root/shop/run.js"
page() { printf '<!DOCTYPE html><html lang="en"><title>%s</title><link rel="stylesheet" href="style.css"><link rel="icon" href="dot.png"><h1>%s</h1>%s\n' "$1" "$1" "$2" >"$WORK/root/shop/$3.html"; }
page 'The shop' '<img src="dot.png" alt="a dot" width="20"><p>text with <a href="unlisted.html">u</a> <a href="found.html">n</a> <a href="secret.html">s</a> <a href="moved">m</a> <a href="/pg/index.html">manual</a></p><script src="run.js"></script>' index
page 'Not listed' '<p>kept, not suggested' unlisted
page 'Not found' '<p>search must not find this' found
page 'A secret' '<p>SECRET-NOARCHIVE' secret
page 'Arrived' '<p>where the redirect leads' arrived
nginx_start "root $WORK/root;
	location = /shop/unlisted.html { add_header X-Robots-Tag noindex; }
	location = /shop/found.html { add_header Content-Usage search=n; }
	location = /shop/secret.html { add_header X-Robots-Tag noarchive; }
	location = /shop/moved { return 301 arrived.html; }"
a=$WORK/site
"$CURTSY" crawl "$SITE/shop/index.html" --archive "$a" --delay 0 --concurrency 8 2>"$WORK/err" || { show "$WORK/err"; bad "crawl"; }

claim "zim: export" "$CURTSY" export "$a" "$WORK/site.zim"
"$CURTSY" mirror "$a" "$WORK/mirror" >/dev/null 2>&1 || bad "mirror"
zimcheck -A "$WORK/site.zim" >"$WORK/check" 2>&1 || true
claim "zim: zimcheck -A passes: $(grep -c INFO "$WORK/check") lines" grep -q 'Status: Pass' "$WORK/check" || show "$WORK/check"
files() { (cd "$WORK/mirror" && find . -type f ! -name 'mirror-map.json' ! -name 'mirror-report.html' ! -path ./index.html -printf '%P\n' | LC_ALL=C sort); }
zimdump list "$WORK/site.zim" | LC_ALL=C sort >"$WORK/listed"
claim "zim: zimdump lists the files of the mirror, $(wc -l <"$WORK/listed")" cmp <(files) "$WORK/listed"
claim "zim: what is withheld is in no entry" bash -c '! zimdump list "$1" | grep -q secret' - "$WORK/site.zim"
port=$(freeport)
kiwix-serve --port "$port" -i 127.0.0.1 "$WORK/site.zim" >"$WORK/kiwix" 2>&1 &
CHILDREN+=($!)
until_true listens "$port"
zim=http://127.0.0.1:$port/site
claim "zim: kiwix-serve begins with the seed" bash -c 'curl -sL "$1/" | grep -q "<h1>The shop"' - "$zim"
claim "zim: a redirect is followed" bash -c 'curl -sL "$1/shop/moved.html" | grep -q "where the redirect leads"' - "$zim"
claim "zim: a page is suggested by its title" bash -c 'curl -s "http://127.0.0.1:$1/suggest?content=site&term=12.5" | grep -q textsearch-parsers.html' - "$port"
claim "zim: noindex and search=n are not" bash -c '! curl -s "http://127.0.0.1:$1/suggest?content=site&term=Not" | grep -qE "unlisted|found.html"' - "$port"
browser() { timeout 60 chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync --user-data-dir="$WORK/profile" --virtual-time-budget=5000 --dump-dom "$1" 2>/dev/null; }
browser "$zim/shop/index.html" >"$WORK/dom"
claim "zim: in Chromium, the page's script has run" grep -q 'data-ran="yes"' "$WORK/dom" || show "$WORK/dom" '' 30

# whole FILE: from the disk, offline
whole() {
	node "$MIRROR_TOOLS/single.mjs" "$1" >"$WORK/seen" 2>&1
	for want in '"requests":\[\]' '"pictures":1' '"broken":0' '"fonts":1' 'rgb(1, 2, 3)' 'url(.*data:image' '"ran":"yes"'; do
		grep -q "$want" "$WORK/seen" || { echo "  not there: $want"; show "$WORK/seen"; return 1; }
	done
}
claim "single: export" "$CURTSY" export "$a" "$WORK/page.html" --single "$SITE/shop/index.html"
claim "single: picture, font, imported style and script are in it; nothing is asked for" whole "$WORK/page.html"
claim "single: a page that is withheld is refused" bash -c '! "$1" export "$2" "$3/no.html" --single "$4/shop/secret.html" 2>/dev/null && [[ ! -e $3/no.html ]]' - "$CURTSY" "$a" "$WORK" "$SITE"
claim "single: a mirror of such pages" "$CURTSY" mirror --single "$a" "$WORK/single"
claim "single: its page, moved alone to another place" bash -c 'cp "$1/single/shop/index.html" "$1/moved.html"' - "$WORK"
claim "single: is whole" whole "$WORK/moved.html"
claim "single: the mirror's check" "$CURTSY" mirror --check "$WORK/single"
claim "single: no styles, scripts and fonts lie beside the pages" bash -c '[[ -z $(find "$1/single" -name "*.css" -o -name "*.js" -o -name "*.ttf") ]]' - "$WORK"

# for archivists
claim "crawl.log: export" "$CURTSY" export "$a" "$WORK/crawl.log"
claim "crawl.log: 12 columns, $(wc -l <"$WORK/crawl.log") lines" awk 'NF != 12 { bad = 1 } END { exit bad || NR < 20 }' "$WORK/crawl.log"
claim "crawl.log: a picture's hops are L or E, a redirect's R" bash -c 'grep -qE " +200 +[0-9]+ [^ ]*/dot.png E " "$1" && grep -qE "arrived.html LR " "$1"' - "$WORK/crawl.log"
claim "bagit: export" "$CURTSY" export "$a" "$WORK/site.bagit"
claim "bagit: sha256sum checks it" bash -c 'cd "$1" && sha256sum --quiet --strict -c manifest-sha256.txt tagmanifest-sha256.txt && head -n 1 bagit.txt | grep -qx "BagIt-Version: 1.0"' - "$WORK/site.bagit"
claim "bagit: Payload-Oxum is that of data/" bash -c 'cd "$1" && grep -qx "Payload-Oxum: $(cat data/* | wc -c).$(ls data | wc -l)" bag-info.txt' - "$WORK/site.bagit"
port=$(freeport)
"$CURTSY" serve "$a" --listen "127.0.0.1:$port" >"$WORK/serve" 2>&1 &
CHILDREN+=($!)
until_true listens "$port"
cdx() { curl -sg "http://127.0.0.1:$port/cdx?$1"; }
claim "cdx: exact, JSON, joins with the CDXJ of the archive" python3 - <<PY
import json, subprocess, urllib.request
asked = json.loads(urllib.request.urlopen("http://127.0.0.1:$port/cdx?output=json&url=$SITE/shop/index.html").read())
subprocess.run(["$CURTSY", "export", "$a", "$WORK/site.cdxj"], check=True, stdout=subprocess.DEVNULL)
line = next(l for l in open("$WORK/site.cdxj") if "/shop/index.html" in l)
key, at, rest = line.split(" ", 2)
told = json.loads(rest)
assert (asked["urlkey"], asked["timestamp"], asked["digest"], asked["offset"], asked["filename"]) == (key, at, told["digest"], told["offset"], told["filename"]), (asked, line)
PY
claim "cdx: prefix and filter" test "$(cdx "url=$SITE/pg/*&filter==mime:text/html&fl=url" | grep -c /pg/textsearch)" -gt 5
claim "cdx: what must not be listed is not, what is withheld is nowhere" bash -c '! grep -qE "unlisted|found.html|secret" <<<"$1" && [[ $2 == *"No Captures"* ]]' - "$(cdx "url=$SITE&matchType=host")" "$(cdx "url=$SITE/shop/secret.html")"

# signed
claim "wacz: a key" "$CURTSY" identity new --wacz "$WORK/sign.key"
claim "wacz: export, signed" "$CURTSY" export "$a" "$WORK/signed.wacz" --sign "$WORK/sign.key"
"$CURTSY" verify "$WORK/signed.wacz" >"$WORK/verified" 2>&1 || true
claim "wacz: verify: $(tail -n 1 "$WORK/verified" | cut -c1-80)" grep -q '0 problems; signed on' "$WORK/verified"
unzip_digest='import json, sys, zipfile; d = json.loads(zipfile.ZipFile(sys.argv[1]).read("datapackage-digest.json")); print(json.dumps(d["signedData"]))'
claim "wacz: the Web Cryptography API takes the signature, as replayweb.page asks it" node -e '
const s = JSON.parse(require("child_process").execFileSync("python3", ["-c", process.argv[1], process.argv[2]]));
const b = t => Buffer.from(t, "base64");
crypto.subtle.importKey("spki", b(s.publicKey), { name: "ECDSA", namedCurve: "P-384" }, true, ["verify"])
	.then(k => crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, k, b(s.signature), new TextEncoder().encode(s.hash)))
	.then(ok => process.exit(ok ? 0 : 1));' "$unzip_digest" "$WORK/signed.wacz"
claim "wacz: one bit changed is found, exit 5" bash -c 'python3 -c "import sys; b = bytearray(open(sys.argv[1], \"rb\").read()); b[len(b) // 2] ^= 1; open(sys.argv[2], \"wb\").write(b)" "$1/signed.wacz" "$1/bad.wacz"; "$2" verify "$1/bad.wacz" >/dev/null 2>&1; [[ $? -eq 5 ]]' - "$WORK" "$CURTSY"
finish
