#!/bin/bash
# A wiki that shows nothing to strangers, crawled with the cookies of a person who
# is logged in: its pages are archived, the cookies' values stand in no file,
# neither in what is printed; and once the login has ended, the crawl stops.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../wikis.sh"
need apache2 php curl python3 node
need_wikis
port=$(freeport)
wiki_make "http://127.0.0.1:$port" <<-'PHP'
	$wgGroupPermissions['*']['read'] = false;
	$wgWhitelistRead = [ 'Special:UserLogin' ];
	$wgDefaultRobotPolicy = 'index,follow';
	$wgCookieExpiration = 86400;
PHP
for n in $(seq 8); do printf 'Confidential words number%s. [[Page %s]]' "$n" $((n % 8 + 1)) | wiki_page "Page $n"; done
{ printf '[[Page %s]] ' $(seq 8); echo 'Welcome inside.'; } | wiki_page 'Main Page'
password=correct-horse-$RANDOM
php /usr/share/mediawiki/maintenance/createAndPromote.php --force Anna "$password" >"$WORK/anna.log" 2>&1 || { show "$WORK/anna.log"; bad "no user"; exit 1; }
printf 'User-agent: *\nDisallow: /index.php?title=Special:\nDisallow: /index.php?*action=\nDisallow: /index.php?*oldid=\nDisallow: /index.php?*diff=\nDisallow: /index.php?*printable\nDisallow: /index.php/Special:\n' >"$WORK/robots.txt"
chmod a+r "$WORK/robots.txt"
apache_start "$port" <<-CONF
	<VirtualHost 127.0.0.1:$port>
		DocumentRoot /var/lib/mediawiki
		SetEnv MW_CONFIG_FILE $MW_CONFIG_FILE
		Alias /robots.txt "$WORK/robots.txt"
	</VirtualHost>
CONF
site=http://127.0.0.1:$port

# log_in FILE: what a browser does, and the exporter of its cookies.
log_in() {
	local token
	token=$(curl -s -c "$1" -b "$1" "$site/api.php?action=query&meta=tokens&type=login&format=json" | python3 -c 'import json,sys; print(json.load(sys.stdin)["query"]["tokens"]["logintoken"])')
	curl -s -c "$1" -b "$1" "$site/api.php" --data-urlencode "logintoken=$token" --data-urlencode "password=$password" \
		-d 'action=clientlogin&username=Anna&rememberMe=1&format=json' --data-urlencode "loginreturnurl=$site/" | grep -q '"PASS"'
}
claim "a person logs in" log_in "$WORK/cookies.txt"

"$CURTSY" crawl "$site/index.php" --archive "$WORK/stranger" --delay 0 --max-pages 20 >"$WORK/out0" 2>&1 || true
claim "a stranger sees none of it" test "$("$CURTSY" search "$WORK/stranger" confidential 2>/dev/null | wc -l)" -eq 0
"$CURTSY" crawl "$site/index.php" --archive "$WORK/archive" --delay 0 --max-pages 40 --cookies "$WORK/cookies.txt" -v >"$WORK/out" 2>&1 || true
grep -E '^(done|limited|stopped|logging in|curtsy)' "$WORK/out" || show "$WORK/out"
for n in 1 8; do claim "page $n is archived" sh -c "$CURTSY search $WORK/archive number$n --json | grep -q Page_$n"; done

# searched: the values of all cookies, but those too short to be secrets, in every file.
cat >"$WORK/searched.py" <<'PY'
import gzip, os, sys
from urllib.parse import quote, unquote
lines = [l.rstrip("\n").replace("#HttpOnly_", "").split("\t") for l in open(sys.argv[1]) if "\t" in l]
values = {v for l in lines for v in (l[6], unquote(l[6]), quote(l[6])) if len(l[6]) >= 8}
files, found = 0, []
for place in sys.argv[2:]:
    for path in [place] if os.path.isfile(place) else [os.path.join(d, f) for d, _, fs in os.walk(place) for f in fs]:
        if not os.path.isfile(path): continue
        b = open(path, "rb").read()
        if b[:2] == b"\x1f\x8b": b += gzip.decompress(b)
        files += 1
        found += [path for v in values if v.encode() in b]
print(f"{len(values)} values of cookies in {files} files: {len(found)} times", *found)
sys.exit(bool(found) or not values or files < 4)
PY
claim "no cookie's value stands in any file" python3 "$WORK/searched.py" "$WORK/cookies.txt" "$WORK/archive" "$WORK/out"
claim "records say that it was withheld" sh -c "zcat -q '$WORK'/archive/warc/*.warc.gz | grep -aq '^Cookie: (withheld)'"
code=0
"$CURTSY" update "$WORK/archive" >"$WORK/out" 2>&1 || code=$?
claim "update wants the login again" test "$code" -eq 2
php /usr/share/mediawiki/maintenance/invalidateUserSessions.php --user Anna >/dev/null 2>&1 || true
rm -f "$WORK/second"; cp "$WORK/cookies.txt" "$WORK/second"
code=0
"$CURTSY" crawl "$site/index.php" --archive "$WORK/ended" --delay 0 --max-pages 40 --cookies "$WORK/second" >"$WORK/out" 2>&1 || code=$?
show "$WORK/out"
claim "no more than 3 pages of a login that has ended" test "$(grep -c . <("$CURTSY" list "$WORK/ended" --state fetched --format csv 2>/dev/null))" -le 6
