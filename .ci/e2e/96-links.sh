#!/bin/bash
# The link checker for CI: a part of a manual, whose links to the rest of it are
# broken, checked by curtsy links and by two programs that we did not write,
# linkchecker and linkinator: the same broken URLs.
. "$(dirname "$0")/../lib.sh"
need nginx linkchecker node npm python3
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
finish
