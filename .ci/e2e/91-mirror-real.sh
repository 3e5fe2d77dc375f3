#!/bin/bash
# Real sites mirrored: documentation behind nginx, a Russian manual brought into
# windows-1251, and a DokuWiki. No internal link is broken that was not broken
# on the site, and the mirrored pages look as the originals do.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../wikis.sh"
need node npm chromium nginx
mirror_tools

pictures=${PICTURES:-2} # of each site
linked=${LINKED:-postgresql-doc-15 dokuwiki} # where linkinator judges beside mirror --check: it takes minutes over the others

# proven NAME URL PICTURES: crawl, export, check, count pictures that differ, then let linkinator judge.
proven() {
	local name=$1 url=$2 pictures=$3 began out=$WORK/$1
	"$CURTSY" crawl "$url" --archive "$WORK/$name.archive" --delay 0 --concurrency 2 2>"$WORK/err" || { show "$WORK/err"; bad "$name: crawl"; return 0; }
	began=$(date +%s%N)
	claim "$name: exported" "$CURTSY" mirror "$WORK/$name.archive" "$out"
	echo "  in $((($(date +%s%N) - began) / 1000000)) ms"
	claim "$name: mirror --check" "$CURTSY" mirror --check "$out"
	look() { timeout -k 10 400 node "$MIRROR_TOOLS/mirrorshots.mjs" "$out" "$pictures" >"$WORK/shots" 2>&1 || { show "$WORK/shots" '' 20; return 1; }; }
	claim "$name: $pictures pages look as the originals, but for 10 pixels of two million at most" look
	[[ " $linked " == *" $name "* ]] || return 0
	nginx_start "root $out; charset off;"
	links() { (cd "$MIRROR_TOOLS" && timeout 200 npx linkinator "$SITE/" --recurse --format json --skip "^(?!$SITE)") >"$WORK/links" 2>/dev/null; }
	claim "$name: linkinator finds no broken link" links
	grep -o '"state": *"[A-Z]*"' "$WORK/links" | sort | uniq -c || true
}

for package in python3-doc postgresql-doc-15; do
	root=/usr/share/doc/$package/html
	[[ -d $root ]] || root=$(corpus "$package" 2>/dev/null) || { without "$package is not installed"; continue; }
	nginx_start "root $root;"
	proven "$package" "$SITE/" "$pictures"
done

help=/usr/share/gimp/2.0/help
if [[ -d $help/ru ]]; then
	mkdir "$WORK/gimp"
	cp -rL "$help"/* "$WORK/gimp"
	for page in "$WORK"/gimp/ru/*.html; do # pages with letters that the charset lacks are left out: those links are broken on the site
		if iconv -f utf-8 -t windows-1251//TRANSLIT "$page" >"$page.new" 2>/dev/null; then
			sed -i 's/charset=UTF-8/charset=windows-1251/I; s/encoding="UTF-8"/encoding="windows-1251"/I' "$page.new"
			mv "$page.new" "$page"
		else
			rm "$page" "$page.new"
		fi
	done
	nginx_start "root $WORK/gimp;"
	proven gimp-help-ru "$SITE/ru/index.html" "$pictures"
else
	without "gimp-help-ru is not installed"
fi

if [[ -d /usr/share/dokuwiki ]] && command -v php >/dev/null; then
	doku_make
	doku_notes
	cat >"$WORK/doku/router.php" <<-'PHP'
		<?php
		if ($_SERVER["REQUEST_URI"] != "/robots.txt") return false;
		header("Content-Type: text/plain");
		echo "User-agent: *\nDisallow: /lib/exe/ajax.php\nDisallow: /*?*do=\nDisallow: /*?*idx=\nAllow: /lib/exe/css.php\n";
	PHP
	port=$(freeport)
	php -d auto_prepend_file="$WORK/doku/before.php" -d error_reporting=0 -S "127.0.0.1:$port" -t /usr/share/dokuwiki "$WORK/doku/router.php" >/dev/null 2>&1 &
	CHILDREN+=($!)
	until_true listens "$port"
	proven dokuwiki "http://127.0.0.1:$port/doku.php" "$pictures"
else
	without "dokuwiki or php is not installed"
fi
finish
