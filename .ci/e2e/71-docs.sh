#!/bin/bash
# Every command line of the code blocks in README.md and docs/manual.md, run as it is written, in
# order, against a real https://example.org/: an nginx of this machine behind a proxy that knows no
# other host. What needs a desktop, systemd or the suite itself is skipped by name. Commands within
# sentences and tables are checked for their names and flags.
. "$(dirname "$0")/../lib.sh"
need nginx openssl python3 git go
unset CURTSY_POLITENESS_GUESS_SITEMAP CURTSY_POLITENESS_USAGE_FILES

# --- the site
mkdir -p "$WORK/root/news" "$WORK/bin" "$WORK/README" "$WORK/manual"
ln -s "$CURTSY" "$WORK/bin/curtsy"
page() { printf '<!DOCTYPE html><html lang="en"><title>%s</title><h1>%s</h1><p>%s\n' "$1" "$1" "$2"; }
page Home 'This is a phrase. <a href="/news.html">News</a> <a href="/news/1.html">One</a>' >"$WORK/root/index.html"
page News 'The market opens at eight on Saturday. <a href="/">Home</a>' >"$WORK/root/news.html"
page One 'The first. <a href="/">Home</a>' >"$WORK/root/news/1.html"
page X 'private' >"$WORK/root/private.html"
printf 'User-agent: *\nDisallow: /private\nSitemap: https://example.org/sitemap.xml\n' >"$WORK/root/robots.txt"
printf '<urlset><url><loc>https://example.org/news.html</loc></url></urlset>' >"$WORK/root/sitemap.xml"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=docs -addext 'subjectAltName=DNS:example.org,DNS:wiki.example.org' \
	-keyout "$WORK/key.pem" -out "$WORK/cert.pem" 2>/dev/null
tls=$(freeport)
nginx_start "listen 127.0.0.1:$tls ssl; ssl_certificate $WORK/cert.pem; ssl_certificate_key $WORK/key.pem; root $WORK/root;"
python3 "$CI_DIR/tools/connect.py" "$tls" example.org wiki.example.org >"$WORK/proxy.port" &
CHILDREN+=($!)
until_true test -s "$WORK/proxy.port"
UPDATES=0
export GOFLAGS="${GOFLAGS-} -trimpath" # built before, perhaps, in another directory
export HTTPS_PROXY=http://127.0.0.1:$(cat "$WORK/proxy.port") SSL_CERT_FILE=$WORK/cert.pem CURTSY_DELAY=20ms PATH=$WORK/bin:$PATH

# --- the files that the manual names
cd "$WORK/manual"
cp "$WORK/root/robots.txt" robots.txt
cp "$WORK/root/index.html" page.html
gzip -c "$WORK/root/sitemap.xml" >sitemap.xml.gz
printf 'wiki.example.org\tFALSE\t/\tTRUE\t0\tsession\tvalue\n' >cookies.txt

# blocks FILE: the lines of the code blocks that name no language.
blocks() { awk '/^```/ { open = !open; plain = $0 == "```"; next } open && plain && NF' "$1"; }

# A block that is a robots.txt is one.
is_robots() { [[ $1 =~ ^(User-agent|Crawl-delay|Allow): ]]; }

served() { # what serve prints, and that its start page answers
	local line code=1
	timeout 60 bash -c "$1 --listen 127.0.0.1:0" >"$WORK/serve" 2>&1 &
	local pid=$!
	if until_true grep -q '^serving ' "$WORK/serve"; then
		line=$(sed -n '1s|.* at \(http://[^/]*\)/$|\1|p' "$WORK/serve")
		python3 -c 'import sys, urllib.request as u; u.build_opener(u.ProxyHandler({})).open(sys.argv[1] + "/").read()' "$line" && code=0
	fi
	kill "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	return $code
}

paged() { # what app prints, and that its first address answers
	local at code=1
	HOME=$WORK timeout 60 bash -c "$1 --no-open --listen 127.0.0.1:0" >"$WORK/said" 2>&1 &
	local pid=$!
	if until_true grep -q '^the page on ' "$WORK/said"; then
		at=$(sed -n '1s|.* at http://curtsy.localhost\(:.*\)$|http://127.0.0.1\1|p' "$WORK/said")
		python3 -c 'import sys, urllib.request as u; u.build_opener(u.ProxyHandler({}), u.HTTPCookieProcessor()).open(sys.argv[1]).read()' "$at" && code=0
	fi
	kill "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	return $code
}

# works FILE LINE: runs a line where its file's lines are run.
works() {
	local line=${2%% #*} code=0
	line=${line%"${line##*[! ]}"}
	case $line in
	*URL-OF-THIS-REPOSITORY*) line=${line/URL-OF-THIS-REPOSITORY/"$CI_DIR/.."} ;;
	*'--at 2026-01-31'*) line=${line/2026-01-31/$(date -u +%FT%TZ)} ;; # the site is younger than the example
	'curtsy update '*) page News "The market opens at $((UPDATES += 1)) on Sunday. <a href=/>Home</a>" >"$WORK/root/news.html" ;;
	esac
	if [[ $line == 'curtsy app'* ]]; then paged "$line" || code=$?; elif [[ $line == 'curtsy serve '* ]]; then served "$line" || code=$?; else bash -c "$line" >"$WORK/said" 2>&1 </dev/null || code=$?; fi
	claim "$1: $line" test "$code" -eq 0
	[[ $code -eq 0 ]] || show "$WORK/said"
}

for name in README manual; do
	file=$CI_DIR/../docs/$name.md
	[[ $name == manual ]] || file=$CI_DIR/../README.md
	cd "$WORK/$name"
	while IFS= read -r line; do
		case $line in
		'xdg-open '*) echo "  not run here, it needs a desktop: $line" ;;
		'systemctl '* | 'journalctl '* | 'editor '*) echo "  not run here, it needs systemd (see e2e/98): $line" ;;
		'go run '* | 'go test '*) echo "  not run here, e2e/70 does: $line" ;;
		*) if is_robots "$line"; then printf '%s\n' "$line" >>"$WORK/example-robots.txt"; else works "$name" "$line"; fi ;;
		esac
	done < <(blocks "$file")
done
claim "manual: the robots.txt it shows has nothing doubtful" grep -q 'no warnings' <("$CURTSY" robots "$WORK/example-robots.txt" </dev/null 2>&1)

# --- commands within sentences: names and flags
grep -ohE '`curtsy [a-z][^`]*`' "$CI_DIR/../README.md" "$CI_DIR/../docs/manual.md" | tr -d '`' | sort -u >"$WORK/inline"
: >"$WORK/unknown"
while read -r _ command rest; do
	"$CURTSY" "${command%%|*}" --help >"$WORK/help" 2>&1 || echo "no command: $command" >>"$WORK/unknown"
	[[ $command != help && $command != fleet ]] || continue
	for flag in $(grep -oE -- '--[a-z-]+' <<<"$rest"); do
		grep -q -- "$flag\b" "$WORK/help" || echo "$command has no $flag" >>"$WORK/unknown"
	done
done <"$WORK/inline"
claim "$(wc -l <"$WORK/inline") commands within sentences: each command and flag exists" empty "$WORK/unknown"
finish
