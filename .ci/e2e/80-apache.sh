#!/bin/bash
# Real servers with real rules: Apache that sets X-Robots-Tag on its PDFs by
# <Files>, DokuWiki and MediaWiki as Debian ships them, with the robots.txt that
# MediaWiki's manual recommends and the directives their pages carry. The
# witness is Apache's log, judged by tools/justify.py, which knows the rules by itself.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../wikis.sh"
need apache2 php python3
tools
npm_tools
need_wikis
read -r -a ports <<<"$(freeport) $(freeport) $(freeport)"

# --- a site of files; the <Files> block is the one of the seminar slides, its typo corrected
mkdir -p "$WORK/files/docs/private"
printf '%%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%%%EOF\n' | tee "$WORK/files/docs/a.pdf" "$WORK/files/docs/b.PDF" >"$WORK/files/docs/private/c.pdf"
for n in index one two; do
	cat >"$WORK/files/$n.html" <<-HTML
		<!DOCTYPE html><title>$n</title><a href="one.html">one</a> <a href="/two.html">two</a>
		<a href="docs/a.pdf">a</a> <a href="docs/b.PDF">b</a> <a href="docs/private/c.pdf">c</a> <a rel="nofollow" href="unfollowed.html">no</a>
		<a href="docs/nofollow.html">page with nofollow</a> <a href="gone.html">gone</a>
	HTML
done
echo '<!DOCTYPE html><title>nofollow</title><a href="/behind.html">behind</a>' >"$WORK/files/docs/nofollow.html"
echo behind | tee "$WORK/files/unfollowed.html" >"$WORK/files/behind.html"
printf 'User-agent: *\nDisallow: /docs/private/\n' >"$WORK/files/robots.txt"

# --- DokuWiki
doku_make
doku_notes with-missing
printf 'User-agent: *\nDisallow: /lib/exe/ajax.php\nDisallow: /*?*do=\nDisallow: /*?*idx=\nAllow: /lib/exe/css.php\n' >"$WORK/doku/robots.txt"
touch "$WORK/doku/data/pages/notes/page5.txt" # of today: noindex, nofollow

# --- MediaWiki
wiki_make "http://127.0.0.1:${ports[2]}" <<-'PHP'
	$wgNamespaceRobotPolicies = [ NS_USER => 'noindex,nofollow' ];
	$wgExemptFromUserRobotsControl = []; // __NOINDEX__ counts on every page
PHP
# before the pages that link to them: a link to what is not there leads to its editor
printf 'Found only from a page that says nofollow.' | wiki_page 'Behind user'
printf 'A person. [[Behind user]]' | wiki_page User:Someone
for n in $(seq 8); do
	printf 'To [[Page %s]], [[No such page %s]], [[User:Someone]], [https://example.invalid/ away]. [[Category:All]]' $((n % 8 + 1)) "$n" | wiki_page "Page $n"
done
{ printf '[[Page %s]] ' $(seq 8); echo __NOINDEX__; } | wiki_page 'Main Page'
# as in MediaWiki's manual: no old revisions, differences, actions and special pages
cat >"$WORK/wiki/robots.txt" <<-'ROBOTS'
	User-agent: *
	Disallow: /index.php?*oldid=
	Disallow: /index.php?*diff=
	Disallow: /index.php?*action=
	Disallow: /index.php?*Special:
	Disallow: /index.php/Special:
	Disallow: /index.php?*printable=
	Disallow: /api.php
	Disallow: /rest.php
	Allow: /load.php
ROBOTS

apache_start "${ports[@]}" <<-CONF
	<VirtualHost 127.0.0.1:${ports[0]}>
		DocumentRoot "$WORK/files"
		CustomLog "$WORK/files.log" witness
		<Files ~ "\.pdf$">
			Header set X-Robots-Tag "noindex, nofollow"
		</Files>
		<Files "b.PDF">
			Header set X-Robots-Tag "noarchive"
		</Files>
		<Files "nofollow.html">
			Header set X-Robots-Tag "nofollow"
		</Files>
	</VirtualHost>
	<VirtualHost 127.0.0.1:${ports[1]}>
		DocumentRoot /usr/share/dokuwiki
		CustomLog "$WORK/doku.log" witness
		Alias /robots.txt "$WORK/doku/robots.txt"
		php_value auto_prepend_file "$WORK/doku/before.php"
	</VirtualHost>
	<VirtualHost 127.0.0.1:${ports[2]}>
		DocumentRoot /var/lib/mediawiki
		CustomLog "$WORK/wiki.log" witness
		Alias /robots.txt "$WORK/wiki/robots.txt"
		SetEnv MW_CONFIG_FILE "$WORK/wiki/LocalSettings.php"
	</VirtualHost>
CONF

# quiet LOG: until nothing was written for a second. Apache notes a request when its
# program ends, and DokuWiki's go on for a while after they have answered.
quiet() {
	local before=-1 now
	while now=$(stat -c %s "$1") && [[ $now -ne $before ]]; do
		before=$now
		sleep 1
	done
}

# visit NAME PORT PATH: crawl one of the three and judge the server's log.
visit() {
	local name=$1 site=http://127.0.0.1:$2 code=0 asked
	"$CURTSY" crawl "$site$3" --archive "$WORK/$name.archive" --delay 0 --concurrency 2 --max-pages "${PAGES:-600}" >"$WORK/out" 2>"$WORK/err" || code=$?
	claim "$name: crawl ended with $code (0 done, 3 at the page limit)" test "$code" -eq 0 -o "$code" -eq 3
	[[ $code -eq 0 || $code -eq 3 ]] || show "$WORK/err"
	quiet "$WORK/$name.log"
	awk -F '\t' '$3 ~ /^curtsy\// { split($2, request, " "); print request[2] }' "$WORK/$name.log" >"$WORK/$name.asked"
	asked=$(wc -l <"$WORK/$name.asked")
	python3 "$CI_DIR/tools/justify.py" "$site" "$4" "$WORK/$name.asked" "$WORK/$name.archive"/warc/*.warc.gz >"$WORK/$name.unjustified" 2>"$WORK/$name.judge" ||
		{ bad "$name: tools/justify.py"; show "$WORK/$name.judge"; }
	claim "$name: of $asked URLs asked for, 0 are denied or were met only behind a nofollow, and 0 others are missing ($(tail -n 1 "$WORK/$name.judge"))" empty "$WORK/$name.unjustified"
	claim "$name: nothing asked for twice" test -z "$(sort "$WORK/$name.asked" | uniq -d)"
	claim "$name: curtsy verify" verified "$WORK/$name.archive"
}

asked() { grep -qxF -- "$2" "$WORK/$1.asked"; }
not_asked() { ! asked "$@"; }
visit files "${ports[0]}" / "$WORK/files/robots.txt"
claim "files: the PDFs that may be fetched were" asked files /docs/a.pdf
claim "files: /docs/private/c.pdf was not" not_asked files /docs/private/c.pdf
claim "files: a rel=nofollow link was not followed" not_asked files /unfollowed.html
claim "files: a link on a page whose X-Robots-Tag says nofollow was not followed" not_asked files /behind.html
explain() { "$CURTSY" explain "$WORK/$1.archive" "http://127.0.0.1:$2$3" >"$WORK/explained" 2>&1 || true; grep -qiE -- "$4" "$WORK/explained" || { show "$WORK/explained" "explain $3" 40; return 1; }; }
claim "files: explain names the noindex of a.pdf" explain files "${ports[0]}" /docs/a.pdf noindex
claim "files: explain names the noarchive of b.PDF" explain files "${ports[0]}" /docs/b.PDF noarchive
claim "files: explain names the rule and line that denies c.pdf" explain files "${ports[0]}" /docs/private/c.pdf 'line 2|:2'
claim "files: explain names the nofollow before behind.html" explain files "${ports[0]}" /behind.html nofollow
visit doku "${ports[1]}" /doku.php "$WORK/doku/robots.txt"
claim "doku: explain names the noindex of a page of the last 5 days" explain doku "${ports[1]}" '/doku.php?id=notes:page5' 'noindex.*meta'
claim "doku: explain names the nofollow of an edit link" explain doku "${ports[1]}" '/doku.php?id=page1&do=edit' 'nofollow.*link'
claim "doku: all 12 pages were found" test "$(grep -cE '^/doku.php\?id=page[0-9]+$' "$WORK/doku.asked")" -eq 12
visit wiki "${ports[2]}" /index.php/Main_Page "$WORK/wiki/robots.txt"
claim "wiki: all 8 pages were found" test "$(grep -cE '^/index.php/Page_[0-9]$' "$WORK/wiki.asked")" -eq 8
claim "wiki: a page met only on one that says nofollow was not asked for" not_asked wiki /index.php/Behind_user
claim "wiki: explain says so" explain wiki "${ports[2]}" /index.php/Behind_user 'nofollow.*page'
claim "wiki: explain names the noindex of the main page" explain wiki "${ports[2]}" /index.php/Main_Page 'noindex.*meta'
claim "wiki: explain names the rule and line that denies an edit" explain wiki "${ports[2]}" '/index.php?title=Page_1&action=edit' 'line 4: .*action='
finish
