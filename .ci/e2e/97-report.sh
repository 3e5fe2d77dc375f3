#!/bin/bash
# The report on an archive, read in headless Chromium: axe-core finds no
# violation, light and dark, wide and narrow; nothing is loaded, no script runs.
. "$(dirname "$0")/../lib.sh"
need nginx node npm chromium
docs=$(corpus postgresql-doc-15)
mkdir -p "$WORK/site/manual" "$WORK/site/private"
find -L "$docs" -maxdepth 1 -name '*.html' | sort | awk 'NR % 12 == 1' | while read -r page; do cp "$page" "$WORK/site/manual"; done
cp "$docs/stylesheet.css" "$WORK/site/manual" 2>/dev/null || true
{
	echo '<!DOCTYPE html><html lang="en"><title>Contents</title>'
	(cd "$WORK/site" && printf '<a href="%s">x</a>\n' manual/*.html)
	echo '<a href="moved">1</a><a href="moved-gone">2</a><a href="private/x.html">3</a><img src="no.png" alt=""><a href="hidden.html">4</a>'
	echo '<a href="copy1.html">5</a><a href="copy2.html">6</a><a href="https://elsewhere.example/">7</a><a href="hidden-gone">8</a>'
} >"$WORK/site/index.html"
echo '<!DOCTYPE html><html><p>the same twice, and no title' | tee "$WORK/site/copy1.html" >"$WORK/site/copy2.html"
echo '<!DOCTYPE html><meta name="robots" content="noindex"><title>Hidden</title>' >"$WORK/site/hidden.html"
printf 'User-agent: *\nDisallow: /private/\nSitemap: /sitemap.txt\n' >"$WORK/site/robots.txt"
chmod -R a+rX "$WORK"
nginx_start "root $WORK/site; location = /moved { return 301 /moved2; } location = /moved2 { return 301 /; } location = /moved-gone { return 302 /gone; }"
printf '%s/\n%s/copy1.html\n%s/orphan.html\n' "$SITE" "$SITE" "$SITE" >"$WORK/site/sitemap.txt"
echo '<!DOCTYPE html><title>An orphan</title>' >"$WORK/site/orphan.html"
chmod a+r "$WORK/site"/*
"$CURTSY" crawl "$SITE/" --archive "$WORK/archive" --delay 0 2>"$WORK/err" || { show "$WORK/err"; bad crawl; exit 1; }
"$CURTSY" mirror "$WORK/archive" "$WORK/mirror" >"$WORK/made" 2>&1 || { show "$WORK/made"; bad mirror; }
claim "a report is made, with what its mirror says" "$CURTSY" report "$WORK/archive" --mirror "$WORK/mirror" -o "$WORK/report.html"
names() { grep -q "$1" "$WORK/report.html"; }
claim "it names a broken link, a redirect of two steps, an orphan and a duplicate" eval 'names 'sql-commands.html' && names "2 steps" && names orphan.html && names copy2.html'
claim "it says what the mirror withholds and what is broken in it" eval 'names "<h2>Offline copy</h2>" && names "<summary>Not fetched <span class=\"soft\">1</span>" && names "<summary>Broken on the site"'
claim "it names no page that must not be listed" eval '! names hidden.html'
mirror_tools
mkdir -p "${SHOTS:=$WORK/shots}"
seen() { timeout -k 10 400 node "$MIRROR_TOOLS/reportcheck.mjs" "$1" "$2" "${@:3}" >"$WORK/seen" 2>&1; local code=$?; cat "$WORK/seen"; return $code; }
claim "Chromium and axe-core: no violation, no request, no script, by keyboard and on paper" seen "$WORK/report.html" "$SHOTS"
mkdir -p "$SHOTS/mirror"
claim "mirror-report.html: no violation, no request, by keyboard and on paper" seen "$WORK/mirror/mirror-report.html" "$SHOTS/mirror" search
finish
