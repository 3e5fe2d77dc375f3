#!/bin/bash
# The link checker for CI: a part of a manual, whose links to the rest of it are
# broken, checked by curtsy links and by two programs that we did not write,
# linkchecker and linkinator: the same broken URLs. Then 300 links to 40 other hosts, by curtsy links
# --external and linkinator.
. "$(dirname "$0")/../lib.sh"
need nginx linkchecker node npm python3 openssl curl
docs=$(corpus postgresql-doc-15)
mkdir -p "$WORK/site/manual"
find -L "$docs" -maxdepth 1 -name '*.html' | sort | awk 'NR % 40 == 1' | while read -r page; do cp "$page" "$WORK/site/manual"; done
{
	echo '<!DOCTYPE html><title>Contents</title>'
	(cd "$WORK/site" && printf '<a href="%s">x</a>\n' manual/*.html)
	echo '<a href="moved">1</a><a href="moved-gone">2</a><a href="never">3</a><img src="no.png" alt="">'
} >"$WORK/site/index.html"
chmod -R a+rX "$WORK"
nginx_start "root $WORK/site; location = /moved { return 301 /; } location = /moved-gone { return 302 /gone; }"

"$CURTSY" crawl "$SITE/" --archive "$WORK/archive" --delay 0 2>"$WORK/err" || { show "$WORK/err"; bad crawl; exit 1; }
code=0
"$CURTSY" links "$WORK/archive" --broken --format json >"$WORK/ours" 2>"$WORK/err" || code=$?
claim "curtsy links ends with exit code 1" test "$code" -eq 1
head -n 1 "$WORK/err"
"$CURTSY" links "$WORK/archive" --format junit >"$WORK/junit.xml" 2>/dev/null || true
claim "its JUnit report is XML" python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$WORK/junit.xml"

# The others name each broken URL once, on the first page that they meet; curtsy names every page.
cat >"$WORK/same.py" <<'PY'
import csv, glob, json, os, re, sys
from urllib.parse import urldefrag, urljoin
broken = [l for l in map(json.loads, open(sys.argv[1])) if l["broken"]]
ours = {l["to"] for l in broken}
if sys.argv[2] == "linkchecker":
    rows = csv.DictReader((l for l in open(sys.argv[3]) if not l.startswith("#")), delimiter=";")
    theirs = {urldefrag(urljoin(r["parentname"], r["urlname"]))[0] for r in rows if r["valid"] != "True"}
else:
    theirs = {urldefrag(l["url"])[0] for l in json.load(open(sys.argv[3]))["links"] if l["state"] == "BROKEN"}
# <link rev> says what leads here, and is no link that a reader follows: the others ask for it.
root, site = sys.argv[4:]
for page in glob.glob(root + "/**/*.html", recursive=True):
    for to in re.findall(r'<link rev="[^"]*" href="([^"]*)"', open(page, errors="replace").read()):
        theirs.discard(urljoin(site + os.path.relpath(page, root), to))
print(f"  {sys.argv[2]}: {len(theirs)} broken URLs; curtsy: {len(ours)}, in {len(broken)} links")
for name, only in ("curtsy", ours - theirs), (sys.argv[2], theirs - ours):
    for url in sorted(only)[:5]: print(f"  only {name}: {url}")
sys.exit(not ours or ours != theirs)
PY
printf '[checking]\nmaxrequestspersecond=1000\nthreads=4\n' >"$WORK/lc.ini"
chmod 644 "$WORK/lc.ini"
timeout 200 linkchecker -f "$WORK/lc.ini" --no-status --no-warnings -o csv "$SITE/" >"$WORK/linkchecker" 2>/dev/null || true
claim "the same broken URLs as linkchecker" python3 "$WORK/same.py" "$WORK/ours" linkchecker "$WORK/linkchecker" "$WORK/site" "$SITE/"
mirror_tools
(cd "$MIRROR_TOOLS" && timeout 200 npx linkinator "$SITE/" --recurse --format json --skip "^(?!$SITE)") >"$WORK/linkinator" 2>/dev/null || true
claim "the same broken URLs as linkinator" python3 "$WORK/same.py" "$WORK/ours" linkinator "$WORK/linkinator" "$WORK/site" "$SITE/"

# --- other sites
export XDG_CACHE_HOME=$WORK/cache SSL_CERT_FILE=$WORK/cert.pem
tls=()
if [[ $(id -u) -eq 0 ]] && ! curl -so /dev/null http://127.0.0.41/; then
	tls=("$WORK/key.pem" "$WORK/cert.pem")
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=links -addext 'subjectAltName=IP:127.0.0.41' \
		-keyout "${tls[0]}" -out "${tls[1]}" 2>/dev/null
else
	without 'ports 80 and 443 of 127.0.0.41: http where https answers'
fi
SITE=http://127.0.0.1:$(freeport)
node "$CI_DIR/tools/linkhosts.mjs" "${SITE##*:}" "${tls[@]}" 2>"$WORK/hosts.log" &
CHILDREN+=($!)
until_true answers "$SITE/" "$WORK/hosts.log"
curl -s "$SITE/planted" >"$WORK/planted"
"$CURTSY" crawl "$SITE/" --archive "$WORK/home" --delay 0 --no-report --quiet
seconds() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", b - a }'; }
began=$EPOCHREALTIME
timeout 200 "$CURTSY" links "$WORK/home" --external --format json >"$WORK/ours" 2>"$WORK/err" || true
echo "  curtsy: $(seconds "$began")"
curl -s "$SITE/asked" >"$WORK/asked-ours"
began=$EPOCHREALTIME # without 127.0.0.33, for which it waits an hour
(cd "$MIRROR_TOOLS" && timeout 200 npx linkinator "$SITE/" --recurse --retry --format json --skip '127\.0\.0\.33:') \
	>"$WORK/linkinator" 2>/dev/null || true
echo "  linkinator: $(seconds "$began")"
curl -s "$SITE/asked" >"$WORK/asked-theirs"
cat >"$WORK/external.py" <<'PY'
import json, sys
what, work = sys.argv[1:]
load = lambda name: json.load(open(work + "/" + name))
planted, asked = load("planted"), load("asked-ours")["curtsy"]
ours = {l["to"]: l for l in map(json.loads, open(work + "/ours")) if l["to"] in planted}
wrong = []
if what == "planted":
    right = lambda u, p: u in ours and ours[u]["verdict"] == p["verdict"] and p["reason"] in ours[u]["reason"]
    wrong = [(u, p, ours.get(u)) for u, p in planted.items() if not right(u, p)]
    print(f"  {len(planted)} links to {len({u.split('/')[2].split(':')[0] for u in planted})} hosts")
elif what == "linkinator":
    theirs = {l["url"]: l["state"] for l in load("linkinator")["links"]}
    both = {u: theirs[u] for u in ours if "#" not in u and theirs.get(u) in ("OK", "BROKEN")}
    decided = {u for u in both if ours[u]["verdict"] in ("ok", "broken")}
    count = lambda verdict: sum(ours[u]["verdict"] == verdict for u in both)
    wrong = [(u, both[u], ours[u]) for u in decided if both[u].lower() != ours[u]["verdict"]]
    print(f"  {len(decided)} URLs decided by both; linkinator decides {count('undecided')} that curtsy leaves undecided,",
          f"and asks for {count('unchecked')} that robots.txt denies")
    if len(decided) < 100: wrong.append(("too few",))
else:
    for who, log in ("curtsy", asked), ("linkinator", next(iter(load("asked-theirs").values()))):
        print(f"  {who}: {sum(len(h['requests']) for h in log.values())} requests,",
              f"{max(h['most'] for h in log.values())} at a time of one host")
    for host, h in asked.items():
        denied = [r for r in h["requests"] if "/denied" in r or host == "127.0.0.40" and not r.endswith(" /robots.txt")]
        if h["most"] != 1 or not h["requests"][0].endswith(" /robots.txt") or denied: wrong.append((host, h, denied))
for w in wrong[:5]: print("  ", *w)
sys.exit(bool(wrong))
PY
claim "links --external says of each link what was planted" python3 "$WORK/external.py" planted "$WORK"
claim "the same verdicts as linkinator's, where both have one" python3 "$WORK/external.py" linkinator "$WORK"
claim "one request a host at a time, robots.txt first, and nothing that it denies" python3 "$WORK/external.py" asked "$WORK"
finish
