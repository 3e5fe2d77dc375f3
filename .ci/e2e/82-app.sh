#!/bin/bash
# curtsy app in a real Chromium, by clicks and keys: a new archive of part of the PostgreSQL
# manual behind nginx, watched, paused, killed and continued, searched, browsed, exported,
# updated; sites that are in the way; what must be refused; axe on every page.
. "$(dirname "$0")/../lib.sh"
need nginx chromium node npm curl
mirror_tools

mkdir "$WORK/root"
pg=$(corpus postgresql-doc-15)
cp "$pg"/index.html "$pg"/*.css "$pg"/tutorial*.html "$pg"/sql-s*.html "$WORK/root"
printf 'User-agent: *\nDisallow: /private/\nContent-Usage: train-ai=n\nSitemap: /sitemap.xml\n' >"$WORK/root/robots.txt"
sed -i 's|</body>|<a href="private/a.html">closed</a> <a href="tutorial-gone.html">gone</a> <a href="big.bin">big</a></body>|' "$WORK/root/tutorial.html"
head -c 4M /dev/urandom >"$WORK/root/big.bin"
nginx_start "root $WORK/root;"
(cd "$WORK/root" && printf '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">' && printf "<url><loc>$SITE/%s</loc></url>" *.html && printf '</urlset>') >"$WORK/map"
sed -i "s|/sitemap.xml|$SITE/sitemap.xml|" "$WORK/root/robots.txt"
mv "$WORK/map" "$WORK/root/sitemap.xml"
ln -s "$NGINX_LOG" "$WORK/access.log"
mkdir "$WORK/full"
if mount -t tmpfs -o size=4m tmpfs "$WORK/full" 2>/dev/null; then
	MOUNTS+=("$WORK/full")
	export FULL=$WORK/full
else
	without "may not mount a tmpfs: no disk is filled"
fi
timeout -k 10 240 node "$MIRROR_TOOLS/app.mjs" "$CURTSY" "$WORK" "$SITE" "$WORK/root" >"$WORK/seen" 2>&1 || { show "$WORK/app.err"; bad "the page, in Chromium"; }
cat "$WORK/seen"
if [[ -e $WORK/saved.zim ]]; then
	need zimcheck kiwix-serve
	claim "zimcheck: the ZIM is sound" zimcheck -C "$WORK/saved.zim"
	port=$(freeport)
	kiwix-serve --address 127.0.0.1 --port "$port" "$WORK/saved.zim" >"$WORK/kiwix.log" 2>&1 &
	CHILDREN+=($!)
	until_true listens "$port"
	opened() { curl -fsS "http://127.0.0.1:$port/catalog/v2/entries" | grep -q PostgreSQL; }
	claim "kiwix-serve opens it, by its title" opened
fi
[[ ! -e $WORK/saved.zip ]] || claim "the zip of the offline copy is whole" python3 -c 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); sys.exit(z.testzip() is not None or len(z.namelist()) < 25)' "$WORK/saved.zip"
finish
