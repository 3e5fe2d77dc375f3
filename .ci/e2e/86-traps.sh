#!/bin/bash
# Real software with endless views and no robots.txt to help: MediaWiki and
# DokuWiki with every link followed, cgit on a repository. The real pages are
# found, the crawl ends by itself, status names the rules that held the rest back.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../wikis.sh"
need apache2 php git curl
need_wikis
cgit=/usr/lib/cgit/cgit.cgi
[[ -x $cgit ]] || without "cgit is not installed"
read -r -a ports <<<"$(freeport) $(freeport) $(freeport)"
# Every view that a link leads to; a smaller budget than the default, for the time it takes.
settings='{"politeness": {"rel_nofollow": false}, "traps": {"versions": 80}}'

# --- DokuWiki with 12 pages
doku_make
echo "\$conf['indexdelay'] = 0;" >>"$WORK/doku/conf/local.php"
for n in $(seq 12); do printf '====== Page %s ======\n[[page%s]] [[missing%s]]\n' "$n" $((n % 12 + 1)) "$n" | doku_page "page$n"; done
printf '====== Start ======\n[[page1]]\n' | doku_page start
doku_old

# --- MediaWiki with 8 pages of 3 revisions
wiki_make "http://127.0.0.1:${ports[1]}" <<<'$wgDefaultRobotPolicy = "index,follow";'
for revision in 1 2 3; do
	for n in $(seq 8); do printf '[[Page %s]] revision %s [[Category:All]]' $((n % 8 + 1)) "$revision" | wiki_page "Page $n"; done
done
printf '[[Page 1]]' | wiki_page 'Main Page'

# --- a repository of 160 commits
mkdir -p "$WORK/git"
git init -q "$WORK/git/work"
(
	cd "$WORK/git/work"
	git config user.email nobody@example.invalid
	git config user.name nobody
	for n in $(seq 1 160); do
		mkdir -p "dir$((n % 7))"
		echo "$n" >>"dir$((n % 7))/file$((n % 23)).txt"
		git add -A . && git commit -q -m "change $n"
	done
)
git clone -q --bare "$WORK/git/work" "$WORK/git/repo.git"
printf 'virtual-root=/\nrobots=index, follow\nenable-log-filecount=1\nenable-blame=1\nrepo.url=repo\nrepo.path=%s/git/repo.git\nrepo.desc=a repository\n' "$WORK" >"$WORK/cgitrc"

apache_start "${ports[@]}" <<-CONF
	<VirtualHost 127.0.0.1:${ports[0]}>
		DocumentRoot /usr/share/dokuwiki
		CustomLog "$WORK/doku.log" witness
		php_value auto_prepend_file "$WORK/doku/before.php"
	</VirtualHost>
	<VirtualHost 127.0.0.1:${ports[1]}>
		DocumentRoot /var/lib/mediawiki
		CustomLog "$WORK/wiki.log" witness
		SetEnv MW_CONFIG_FILE "$WORK/wiki/LocalSettings.php"
	</VirtualHost>
	<VirtualHost 127.0.0.1:${ports[2]}>
		DocumentRoot "$WORK/git"
		CustomLog "$WORK/cgit.log" witness
		SetEnv CGIT_CONFIG "$WORK/cgitrc"
		ScriptAlias / $cgit/
	</VirtualHost>
CONF

# visit NAME PORT PATH: crawl everything, at most MOST seconds.
visit() {
	local name=$1 code=0 began=$SECONDS
	echo "$settings" >"$WORK/settings.yaml"
	timeout -k 5 "${MOST:-600}" "$CURTSY" crawl "http://127.0.0.1:$2$3" --archive "$WORK/$name.archive" --config "$WORK/settings.yaml" --delay 0 --concurrency 2 --json ${4:-} >"$WORK/$name.json" 2>"$WORK/err" || code=$?
	awk -F '\t' '{ split($2, request, " "); print request[2] }' "$WORK/$name.log" | sort >"$WORK/$name.asked"
	claim "$name: ended by itself ($code) after $((SECONDS - began)) s and $(wc -l <"$WORK/$name.asked") requests" test "$code" -eq 0
	[[ $code -eq 0 ]] || show "$WORK/err"
	grep -oE '"rules":\{[^}]*' "$WORK/$name.json" | sed 's/^/  /' || true
}
visit doku "${ports[0]}" /doku.php
claim "doku: all 12 pages" test "$(grep -cxE '/doku.php\?id=page[0-9]+' "$WORK/doku.asked")" -eq 12
visit wiki "${ports[1]}" /index.php/Main_Page
claim "wiki: all 8 pages" test "$(grep -cxE '/index.php/Page_[0-9]' "$WORK/wiki.asked")" -eq 8
if [[ -x $cgit ]]; then
	answers "http://127.0.0.1:${ports[2]}/repo/" "$WORK/apache.err" || { bad "cgit does not answer"; exit 1; }
	visit cgit "${ports[2]}" /repo/
	commits=$(grep -oE '^/repo/commit/\?id=[0-9a-f]{40}$' "$WORK/cgit.asked" | sort -u | wc -l || true)
	claim "cgit: all 160 commits were found ($commits)" test "$commits" -ge 159
	claim "cgit: status names the rule and counts what it held back" grep -q '"rule":"versions","params":{"limit":80},"count":[1-9]' "$WORK/cgit.json"
	before=$(wc -l <"$WORK/cgit.log") code=0
	CURTSY_TRAPS_VERSIONS=90 timeout -k 5 200 "$CURTSY" resume "$WORK/cgit.archive" >"$WORK/out" 2>"$WORK/err" || code=$?
	claim "cgit: ten more of each view with a budget of 90: exit $code, $(($(wc -l <"$WORK/cgit.log") - before)) more requests" test "$code" -eq 0 -a "$(wc -l <"$WORK/cgit.log")" -gt "$before"
fi
finish
