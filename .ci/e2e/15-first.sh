#!/bin/bash
# First contact on real nginx with TLS: sites of several names, each begun at four addresses. Names
# and addresses are those of a network namespace of the script's own: nothing leaves the machine.
if [[ -z ${OWN_NAMESPACE:-} ]]; then
	own=(unshare -mn) # its mounts and its network
	[[ $(id -u) -eq 0 ]] || own=(unshare -rmn)
	"${own[@]}" true 2>/dev/null && OWN_NAMESPACE=1 exec "${own[@]}" bash "$0" "$@"
fi
. "$(dirname "$0")/../lib.sh"
[[ -n ${OWN_NAMESPACE:-} ]] || skip "$(basename "$0"): no network namespace of its own"
need nginx openssl ip wget wget2 httrack
export CURTSY_CONTACT=owner@example.org CURTSY_DELAY=0s CURTSY_FETCH_RETRIES=0
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy

sites='apex.test bare.test steps.test mixed.test both.test'
ip link set lo up
ip addr add 93.184.216.34/32 dev lo # an address of the public internet: what is private is guarded
ip addr add 10.1.1.1/32 dev lo
{
	echo 127.0.0.1 localhost
	for s in $sites once.test; do echo "93.184.216.34 $s www.$s"; done
	echo '93.184.216.34 shop.apex.test other.test xn--e1afmkfd.test plain.test leads.test script.test wall.test file.test guess.test inside.test lang.test shut.test check.test html.test r403.test r500.test rwww.test www.rwww.test based.test www.based.test app.test'
	echo '10.1.1.1 wiki wiki.corp.test'
} >"$WORK/hosts"
mount --bind "$WORK/hosts" /etc/hosts
MOUNTS+=(/etc/hosts)

# --- a certificate for every name, by an authority of the script's own
cd "$WORK"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem 2>/dev/null
openssl req -newkey rsa:2048 -nodes -subj /CN=sites -keyout site.key -out site.csr 2>/dev/null
names=$(awk '{ for (i = 2; i <= NF; i++) printf "%sDNS:%s", n++ ? "," : "", $i }' hosts)
openssl x509 -req -in site.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out site.pem \
	-extfile <(echo "subjectAltName=$names") 2>/dev/null

# site DIR PREFIX...: twelve pages, a style and a picture; the links begin with each prefix in turn.
site() {
	local dir=$WORK/www/$1 n
	shift
	local all=("$@") count=$#
	mkdir -p "$dir"
	echo 'body { color: black }' >"$dir/style.css"
	printf 'GIF89a\1\0\1\0\200\0\0\0\0\0\377\377\377!\371\4\1\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;' >"$dir/dot.gif"
	for n in $(seq 0 11); do
		{
			echo "<!DOCTYPE html><title>page $n</title><link rel=stylesheet href=\"${all[$((n % count))]}/style.css\">"
			echo "<h1>page $n</h1><img alt=dot src=\"${all[$(((n + 1) % count))]}/dot.gif\"><a href=\"${all[$(((n + 2) % count))]}/\">home</a>"
			for k in 1 2 5; do echo "<a href=\"${all[$(((n + k) % count))]}/p$(((n + k) % 12)).html\">next</a>"; done
		} >"$dir/p$n.html"
	done
	sed 's|<title>page 0|&, home|' "$dir/p0.html" >"$dir/index.html"
	rm "$dir/p0.html"
	sed -i 's|/p0\.html|/|g' "$dir"/*.html
	printf 'User-agent: *\nDisallow: /no\n' >"$dir/robots.txt"
}
for s in apex.test bare.test steps.test once.test; do site "$s" ''; done
site mixed.test http://mixed.test https://mixed.test http://www.mixed.test https://www.mixed.test
site both.test '' https://both.test https://www.both.test
site plain.test ''
mkdir -p www/files
echo '<title>home</title><p>here' >www/files/index.html
printf '%%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%%%EOF\n' >www/files/a.pdf
cp www/plain.test/dot.gif www/files/
echo '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://file.test/</loc></url></urlset>' >www/files/map.xml
echo '<rss version="2.0"><channel><title>f</title><item><link>http://file.test/</link></item></channel></rss>' >www/files/feed.xml

# server NAMES LISTEN BODY: LISTEN is http, https or both.
server() {
	local listen=''
	[[ $2 == https ]] || listen+=' listen 80;'
	[[ $2 == http ]] || listen+=' listen 443 ssl;'
	echo "server {$listen server_name $1; $3 }"
}
gives() { echo "root $WORK/www/$1; index index.html;"; }
{
	cat <<-CONF
		$([[ $(id -u) -ne 0 ]] || echo 'user root;')
		worker_processes 1; daemon off; pid $WORK/nginx.pid; error_log $WORK/nginx.err;
		events { worker_connections 512; }
		http {
		include /etc/nginx/mime.types; default_type application/octet-stream;
		log_format witness '\$msec\t\$status\t\$scheme://\$host\$request_uri';
		access_log $WORK/log witness;
		client_body_temp_path $WORK/nb; proxy_temp_path $WORK/np; fastcgi_temp_path $WORK/nf; uwsgi_temp_path $WORK/nu; scgi_temp_path $WORK/ns;
		ssl_certificate $WORK/site.pem; ssl_certificate_key $WORK/site.key;
		server { listen 80 default_server; listen 443 ssl default_server; return 444; }
	CONF
	server apex.test both 'return 301 $scheme://www.apex.test$request_uri;'
	server www.apex.test both "$(gives apex.test)"
	server www.bare.test both 'return 301 https://bare.test$request_uri;'
	server bare.test http 'return 301 https://bare.test$request_uri;'
	server bare.test https "$(gives bare.test)"
	for s in steps.test mixed.test; do
		server "$s www.$s" http 'return 301 https://$host$request_uri;'
		server "$s" https "return 301 https://www.$s\$request_uri;"
		server "www.$s" https "$(gives $s)"
	done
	server 'both.test www.both.test' http 'return 301 https://$host$request_uri;'
	server 'both.test www.both.test' https "$(gives both.test)"
	server plain.test http "$(gives plain.test)"
	# the apex has rules of its own, and redirects its home page alone
	server once.test both 'location = / { return 302 https://www.once.test/; } location = /robots.txt { return 200 "User-agent: *\nDisallow: /p3\n"; } location = /p12.html { default_type text/html; return 200 "<title>only here</title>"; } location / { return 404; }'
	server www.once.test https "$(gives once.test) location = /more.html { default_type text/html; return 200 '<a href=\"https://once.test/p12.html\">x</a> <a href=\"https://once.test/p3.html\">y</a>'; }"
	server leads.test http 'location = / { return 302 https://other.test/en/; } location / { return 404; }'
	server other.test https 'location = /en/ { default_type text/html; return 200 "<title>other</title><a href=/en/1>1</a>"; } location = /en/1 { default_type text/html; return 200 "<title>one</title>"; } location / { return 404; }'
	server script.test http 'location = / { default_type text/html; return 200 "<script>location.replace(\"/en/\")</script>"; } location = /en/ { default_type text/html; return 200 "<title>en</title><p>here"; } location / { return 404; }'
	server wall.test http 'location / { default_type text/html; if ($cookie_seen = "") { add_header Set-Cookie "seen=1; Path=/"; return 302 $request_uri; } return 200 "<title>behind</title><a href=/2>2</a>"; } location = /robots.txt { return 404; }'
	server lang.test http 'location = /robots.txt { return 404; } location / { default_type text/html; add_header Vary Accept-Language; if ($http_accept_language ~ ^bg) { return 200 "<title>bulgarian</title>"; } return 200 "<title>english</title>"; }'
	server shut.test http 'location = /robots.txt { return 404; } location / { return 403; }'
	# a wall whose cookie another URL sets
	server check.test http 'location = /robots.txt { return 404; } location = /check { add_header Set-Cookie "seen=1; Path=/"; return 302 /; } location / { default_type text/html; if ($cookie_seen = "") { return 302 /check; } return 200 "<title>behind</title><a href=/2>2</a>"; }'
	# robots.txt as sites answer for it that have none, or are in trouble
	page='location / { default_type text/html; return 200 "<title>home</title><a href=/2>2</a>"; }'
	server html.test http "$page"
	server r403.test http "location = /robots.txt { return 403; } $page"
	server r500.test http "location = /robots.txt { return 500; } $page"
	server rwww.test http "location = /robots.txt { return 301 http://www.rwww.test/robots.txt; } $page"
	server www.rwww.test http 'location = /robots.txt { return 200 "User-agent: *\nDisallow: /2\n"; } location / { return 404; }'
	server based.test http 'return 301 http://www.based.test$request_uri;'
	server www.based.test http 'location = /robots.txt { return 404; } location / { default_type text/html; return 200 "<base href=http://based.test/><title>based</title><a href=2>2</a><a href=/3>3</a>"; }'
	server app.test http 'location = /robots.txt { return 200 "User-agent: *\nCrawl-delay: 0.1\nContent-Signal: ai-train=no\nDisallow: /x\n\nSitemap: http://app.test/map.txt\n"; } location = /map.txt { return 200 "http://app.test/1\nhttp://app.test/2\nhttp://app.test/x\n"; } location / { default_type text/html; return 200 "<title>app</title><div id=root></div><script src=/a.js></script>"; }'
	server file.test http "$(gives files) location = /robots.txt { return 404; }"
	server guess.test http 'location = /robots.txt { return 404; } location = /sitemap.xml { return 301 /gone.xml; } location = / { default_type text/html; return 200 "<title>home</title>"; } location / { return 404; }'
	server xn--e1afmkfd.test http "$(gives files)"
	server wiki http 'return 301 https://wiki.corp.test$request_uri;'
	server wiki.corp.test https 'location = /robots.txt { return 404; } location / { default_type text/html; return 200 "<title>wiki</title><a href=/b>b</a>"; }'
	server inside.test http 'location = /robots.txt { return 404; } location / { return 302 https://wiki.corp.test/; }'
	echo '}'
} >nginx.conf
nginx -p "$WORK" -c "$WORK/nginx.conf" -e "$WORK/nginx.err" &
CHILDREN+=($!)
until_true listens 443 || { show nginx.err; exit 1; }

# asked: what the server saw since the last call, in $WORK/asked.
asked() { sleep 0.1; tail -n "+$((${SEEN:-0} + 1))" log >asked; SEEN=$(wc -l <log); }
# counts of what was asked for: requests, URLs more than once, pages that were given, pages more than once
requests() { grep -cv '/robots\.txt$' asked || true; }
# (robots.txt is asked for by each name, and two names may redirect to one)
twice() { cut -f3 asked | grep -v '/robots\.txt$' | sort | uniq -d | wc -l; }
pages() { awk -F'\t' '$2 == 200 && $3 ~ /(\/|\.html)$/ { sub(/.*:\/\/[^\/]*/, "", $3); print $3 }' asked; }
crawl() { "$CURTSY" crawl "$@" --ca "$WORK/ca.pem" --no-report >out 2>err; }
is() { [[ $1 == "$2" ]] || { echo "  got $1, want $2"; show err; return 1; }; }

# --- 1. names of one site, from four starts each
wget_ca=(--ca-certificate="$WORK/ca.pem")
printf '%-12s %-26s %s\n' site start 'pages twice requests mirror'
for s in ${sites/ both.test/}; do
	for start in "http://$s/" "https://$s/" "http://www.$s/" "https://www.$s/"; do
		rm -rf a m
		asked
		crawl "$start" --archive a --mirror m || { bad "$start: exit $?"; show err; continue; }
		asked
		copies=$(find m -name '*.html' ! -name mirror-report.html ! -path '*/_hosts/*' | xargs grep -l '<h1>page' | wc -l)
		printf '%-12s %-26s %s\n' "$s" "$start" "$(pages | sort -u | wc -l) $(twice) $(requests) $copies"
		claim "$start: twelve pages, each once" is "$(pages | wc -l) $(pages | sort -u | wc -l)" '12 12'
		claim "$start: no URL is asked for twice" is "$(twice)" 0
		claim "$start: the mirror is complete" is "$copies $(grep -c broken err || true)" '12 0'
	done
done
# Both names give pages and neither redirects: two sites, and the line says how to join them.
for start in http://both.test/ https://both.test/ http://www.both.test/ https://www.both.test/; do
	rm -rf a m
	asked
	crawl "$start" --archive a || true
	asked
	claim "$start: one name's pages alone, none twice" is "$(twice) $(cut -f3 asked | grep -v robots.txt | sed 's|.*//||; s|/.*||' | sort | uniq -c | sort -n | awk 'NR == 1 { print $1 }')" '0 1'
	other=www.both.test
	[[ $start != *www* ]] || other=both.test
	claim "$start: it says how to crawl both as one" grep -q "answers for itself .* --alias $other" err
	rm -rf a
	crawl "$start" --archive a --alias "$other" --mirror m || true
	asked
	claim "$start --alias $other: twelve pages, each once; none asked for twice" is "$(pages | wc -l) $(pages | sort -u | wc -l) $(twice)" '12 12 0'
	claim "$start --alias $other: the mirror is complete" is "$(find m -name '*.html' | xargs grep -l '<h1>page' | wc -l)" 12
done

# One name has rules of its own, and a page that the other has not.
rm -rf a
crawl https://www.once.test/more.html https://www.once.test/ --archive a || true
asked
claim 'a page that one name alone has is found there' grep -q $'\t200\thttps://once.test/p12.html' asked
claim "what a name's own robots.txt denies is not asked for there" is "$(grep -c '//once.test/p3.html' asked || true)" 0

# What was learned of the names is kept: by resume, by update, and where crawl.db is lost.
rm -rf a m
crawl http://mixed.test/ --archive a --max-pages 3 || true
crawl http://mixed.test/ --archive a --max-pages 0 || true
asked
claim 'a crawl that stopped and went on: twelve pages, each once' is "$(pages | wc -l) $(pages | sort -u | wc -l) $(twice)" '12 12 0'
"$CURTSY" explain a http://mixed.test/p4.html >out
claim 'explain says under which name a page is fetched' grep -q 'name .*another name of the site; asked for at https://www.mixed.test' out
"$CURTSY" update a --ca "$WORK/ca.pem" --no-report >out 2>err || true
asked
claim 'update asks for each page once more, under its name' is "$(twice) $(cut -f3 asked | grep -cE '^https://www.mixed.test/(p.*html)?$')" '0 12'
rm a/crawl.db
"$CURTSY" verify a --repair >out 2>err
crawl http://mixed.test/ --archive a || true
asked
show asked
claim 'rebuilt: nothing is asked for again' is "$(requests)" 0
"$CURTSY" mirror a m >out 2>err
claim 'rebuilt: the mirror is complete' is "$(find m -name '*.html' | xargs grep -l '<h1>page' | wc -l)" 12
claim 'rebuilt: no link of the mirror leads back to a name of the site' is "$(find m -name '*.html' ! -name mirror-report.html | xargs grep -hEo '(href|src)="https?://[^"]*mixed.test[^"]*"' | wc -l)" 0
"$CURTSY" search a 'page 4' --json >out 2>err || true
claim 'search finds each page under the name that gave it' is "$(grep -o '"url":"[^"]*"' out | grep -cv 'https://www.mixed.test/')" 0

"$CURTSY" serve a --listen 127.0.0.1:0 >serve.out 2>serve.err &
CHILDREN+=($!)
until_true grep -q '^serving ' serve.out
ui=$(sed -n '1s|.* at \(http://[^/]*\)/$|\1|p' serve.out)
for start in http://mixed.test https://mixed.test http://www.mixed.test; do
	claim "serve finds a page by $start" grep -q '<h1>page 4' <(curl -sL "$ui/*/$start/p4.html" | cat; curl -sL "$ui/20991231000000id_/$start/p4.html")
done

# One pace for all names, robots.txt included: begun 0.3 s after the end of the last at the least.
rm -rf a
asked
CURTSY_DELAY=300ms crawl http://mixed.test/ --archive a --max-pages 6 || true
asked
claim 'the names share one pace' is "$(sort -n asked | awk 'NR > 1 && $1 - last < 0.29 { n++ } { last = $1 } END { print n + 0, (NR > 8) }')" '0 1'

# A seed that leads to another site.
rm -rf a
code=0
crawl http://leads.test/ --archive a || code=$?
asked
claim 'a seed that leads to another site is a failure' is "$code" 1
show err
claim 'and the command to follow it is said' grep -q 'try: curtsy crawl http://leads.test/ --archive a --contact owner@example.org --ca .*/ca.pem --follow-seed' err
claim 'it is not followed' is "$(grep -c other.test asked || true)" 0
crawl http://leads.test/ --archive a --follow-seed || true
asked
claim 'that command crawls it, in the same archive' is "$(grep -c $'\t200\thttps://other.test' asked)" 2

# --- 2. what is typed: each line with what it said
typed() { # WORDS EXPECTED-URL ADDRESS...
	local words=$1 want=$2
	shift 2
	rm -rf a
	crawl "$@" --archive a || true
	asked
	echo "\$ curtsy crawl $(printf '%q ' "$@")"
	show err '' 3
	claim "$words" grep -qF $'\t200\t'"$want" asked
}
typed 'a bare host gets https' https://www.apex.test/ www.apex.test
typed 'a bare host without https gets http' http://plain.test/ plain.test
claim 'and that is said' grep -q 'does not answer by https' err
typed 'a host and a path' http://plain.test/p3.html plain.test/p3.html
typed 'a dot after the host' https://www.apex.test/ https://www.apex.test./
typed 'capitals' http://plain.test/ HTTP://PLAIN.TEST/
typed 'an IDN' http://xn--e1afmkfd.test/ http://пример.test/
typed 'an IDN in ASCII, bare' http://xn--e1afmkfd.test/ xn--e1afmkfd.test
typed 'blanks round it' http://plain.test/ ' http://plain.test/ '
typed 'view-source:' http://plain.test/p2.html view-source:http://plain.test/p2.html
typed 'angle brackets' http://plain.test/p2.html '<http://plain.test/p2.html>'
typed 'a sitemap' http://file.test/ http://file.test/map.xml
claim 'is read as one' grep -q 'is a sitemap or a feed (urlset)' err
typed 'a feed' http://file.test/ http://file.test/feed.xml
typed 'a PDF' http://file.test/a.pdf http://file.test/a.pdf
claim 'is one document' grep -q 'a.pdf is one document (application/pdf)' err
typed 'a picture' http://file.test/dot.gif http://file.test/dot.gif
claim 'is one document' grep -q 'dot.gif is one document (image/gif)' err
echo http://plain.test/ >list.txt
crawl list.txt || true
claim 'a file of addresses is met with --seeds' grep -q 'try: --seeds list.txt' err

# --- 3. what is answered
typed 'a page that is a script alone' http://script.test/en/ http://script.test/
typed 'a wall of cookies' http://wall.test/2 http://wall.test/
claim 'is said' grep -q 'redirects to itself until its cookie is sent back: cookies are kept from now on' err
typed 'a site that chooses a language' http://lang.test/ http://lang.test/
claim 'is said' grep -q 'Vary: Accept-Language.*--language bg,en' err
typed 'with a language' http://lang.test/ http://lang.test/ --language bg,en
claim 'that page is kept' bash -c '"$CURTSY" list a --json | grep -q bulgarian'
typed 'a wall whose cookie another URL sets' http://check.test/2 http://check.test/
typed 'a base of the other name' http://www.based.test/3 http://based.test/
claim 'no page of it is asked for twice' is "$(cut -f1,2 --complement asked | grep -c 'www.based.test/[23]$') $(twice)" '2 0'
typed 'a page in place of robots.txt' http://html.test/2 http://html.test/
claim 'is said' grep -q 'robots.txt answered 200 with a page (text/' err
typed 'robots.txt answered 403' http://r403.test/2 http://r403.test/
claim 'is said' grep -q 'robots.txt answered 403: everything is allowed' err
typed 'robots.txt at the other name' http://rwww.test/ http://rwww.test/
claim 'is obeyed, and what it asks for is said' is "$(grep -c rwww.test/2 asked || true) $(grep -c 'answered 200: 1 rule for "\*"' err)" '0 1'
rm -rf a
code=0
crawl http://r500.test/ --archive a --max-time 2s || code=$?
asked
show err
claim 'robots.txt answered 500: no page is asked for, and that is said' is "$(grep -cv robots.txt asked || true) $code $(grep -c 'robots.txt is unavailable: answered 500' err)" '0 3 1'
rm -rf a
crawl http://shut.test/ --archive a || true
show err
claim 'a 403 says whom to ask' grep -q 'ask the site.s owner to let curtsy' err
rm -rf a
CURTSY_POLITENESS_GUESS_SITEMAP=true crawl http://guess.test/ --archive a || true
claim 'a guessed sitemap that redirects to nothing is no failure' grep -q '^done: .* 0 failed' err
"$CURTSY" links a --broken --json >out 2>/dev/null || true
claim 'and no broken link' empty out

# --- 5. before a long crawl
dry() { # WORDS EXIT PATTERN ADDRESS...
	local words=$1 want=$2 pattern=$3 code=0
	shift 3
	"$CURTSY" crawl "$@" --dry-run --ca "$WORK/ca.pem" >out 2>err || code=$?
	asked
	echo "\$ curtsy crawl $(printf '%q ' "$@")--dry-run"
	cat out err
	claim "dry run: $words" is "$code $(cat out err | grep -cE "$pattern") $([[ $(wc -l <out) -le 10 ]] && echo short)" "$want 1 short"
}
dry 'the names of the site' 0 'names .*https://steps.test/ redirects to https://www.steps.test/: both count' http://steps.test/
dry 'what robots.txt asks for' 0 'robots.txt +answered 200: 1 rule for "\*"; Crawl-delay 100ms; train-ai=n \(line 3\)' app.test
claim 'pace, sitemap, scripts and time' is "$(grep -cE 'needs +scripts|pace +crawl-delay 100ms|map.txt: text, 3 URLs, 2 of them|at least 0s for the 3 URLs' out)" 4
dry 'another site' 1 'try: .*--follow-seed' leads.test
dry 'a login or a wall' 0 'needs +cookies' wall.test
dry 'a language' 0 'needs +perhaps a language' lang.test
dry 'what refuses us' 1 'try: ask the site.s owner' shut.test
claim 'nothing is kept' is "$(ls -d ./*.test 2>/dev/null | wc -l)" 0

# --- 4. addresses inside
rm -rf a
crawl http://wiki/ --archive a || true
show err
claim 'an intranet host that redirects to another is refused, with what to try' grep -q -- '--follow-seed' err
rm -rf a
asked
crawl http://wiki/ --archive a --follow-seed || true
asked
claim 'and followed when that is asked for' is "$(grep -c $'\t200\thttps://wiki.corp.test/b' asked)" 1
rm -rf a
crawl http://inside.test/ --archive a --follow-seed --allow-host wiki.corp.test || true
asked
claim 'a public seed never leads inside' is "$(grep -c wiki.corp.test asked || true)" 0
finish
