#!/bin/bash
# Every page that can be reached is captured exactly once, byte for byte, and
# nothing that robots.txt denies is asked for. Two witnesses: what wget2 finds on
# the same nginx, and nginx's own log.
. "$(dirname "$0")/../lib.sh"
need nginx wget2
tools
npm_tools

corpora=("postgresql $(corpus postgresql-doc-15)" "python $(corpus python3.11-doc)")
mkdir "$WORK/root"
for c in "${corpora[@]}"; do
	read -r name dir <<<"$c"
	ln -s "$dir" "$WORK/root/$name"
	echo "<p><a href=\"/$name/index.html\">$name</a></p>" >>"$WORK/root/index.html"
done
nginx_start "root $WORK/root; index index.html;"

# crawl_both NAME WGET2-OPTION...: both crawlers over SITE, each with its own lines of the log.
crawl_both() {
	local name=$1 began=$SECONDS
	shift
	: >"$NGINX_LOG"
	"$CURTSY" crawl "$SITE/" --archive "$WORK/$name" --delay 0 --concurrency 8 >"$WORK/$name.out" 2>"$WORK/$name.err" ||
		{ bad "$name: crawl ended with $?"; show "$WORK/$name.err"; }
	echo "  $name: curtsy took $((SECONDS - began)) s"
	(cd "$WORK" && wget2 -q -r -l 99 --user-agent=witness --no-config -P "$name.wget2" "$@" "$SITE/") || true # 8 for a 404
	awk -F '\t' '$3 ~ /^curtsy\// && $1 == 200 { print $2 }' "$NGINX_LOG" | sort >"$WORK/$name.fetched"
	awk -F '\t' '$3 == "witness" && $1 == 200 { print $2 }' "$NGINX_LOG" | sort -u >"$WORK/$name.witness"
	awk -F '\t' '$3 ~ /^curtsy\// { print $2 }' "$NGINX_LOG" | sort | uniq -d >"$WORK/$name.asked-twice"
	node "$CI_DIR/tools/warccheck.mjs" list "$WORK/$name"/warc/*.warc.gz | sed "s|\t$SITE|\t|" >"$WORK/$name.records"
	awk -F '\t' '$1 == 200 { print $2 }' "$WORK/$name.records" | sort >"$WORK/$name.captured"
	comm -23 "$WORK/$name.witness" "$WORK/$name.captured" >"$WORK/$name.missing"
	uniq -d "$WORK/$name.captured" >"$WORK/$name.captured-twice"
	comm -13 "$WORK/$name.witness" "$WORK/$name.captured" >"$WORK/$name.more"
}

count() { wc -l <"$1"; }

judge_both() {
	local name=$1
	claim "$name: 0 of the $(count "$WORK/$name.witness") URLs that wget2 found are missing (captured: $(count "$WORK/$name.captured"))" empty "$WORK/$name.missing"
	claim "$name: 0 captured twice" empty "$WORK/$name.captured-twice"
	claim "$name: 0 asked for twice" empty "$WORK/$name.asked-twice"
	claim "$name: what was fetched is what was captured" cmp -s "$WORK/$name.fetched" "$WORK/$name.captured"
	show "$WORK/$name.more" "found by curtsy and not by wget2, $(count "$WORK/$name.more")" 5
	claim "$name: curtsy verify" verified "$WORK/$name"
}

# judge_bytes NAME: each capture's body against the file that nginx sent.
# A revisit stands for the body of a capture with the same digest: its own head has none.
judge_bytes() {
	awk -F '\t' '$1 == 200 && $4 == "response" && $2 != "/robots.txt" { print $3 "\t" $2 }' "$WORK/$1.records" >"$WORK/$1.sums"
	: >"$WORK/$1.differ"
	local sum uri file
	while IFS=$'\t' read -r sum uri; do
		file=$(printf %b "${uri//%/\\x}")
		[[ $file != */ ]] || file+=index.html
		echo "$sum  $WORK/root${file%%\?*}"
	done <"$WORK/$1.sums" >"$WORK/$1.sha1"
	sha1sum --quiet -c "$WORK/$1.sha1" >"$WORK/$1.differ" 2>&1 || true
	claim "$1: the bytes of all $(count "$WORK/$1.sha1") captured bodies are those of the files served" empty "$WORK/$1.differ"
}

crawl_both open
judge_both open
judge_bytes open
pages=$(grep -c '^/postgresql/.*html$' "$WORK/open.captured" || true)
files=$(find "$WORK/root/postgresql/" -name '*.html' | wc -l)
echo "  postgresql: $pages pages captured of $files html files on disk"

# Prefix rules, which wget2 follows by itself, and a wildcard with an exception,
# which it does not know: there the server refuses it the pages.
kill "${CHILDREN[-1]}"
nginx_start "root $WORK/root; index index.html;
	location ~ ^/python/library/(?!os\.html).*\.html\$ { if (\$http_user_agent = witness) { return 403; } }"
cat >"$WORK/root/robots.txt" <<-'ROBOTS'
	User-agent: *
	Disallow: /postgresql/sql-
	Disallow: /python/_sources/
	Disallow: /python/library/*.html$
	Allow: /python/library/os.html
	Disallow: /python/c-api
ROBOTS
denied='^/postgresql/sql-|^/python/_sources/|^/python/c-api|^/python/library/.*\.html$'
crawl_both denied
judge_both denied
awk -F '\t' '$3 ~ /^curtsy\// { print $2 }' "$NGINX_LOG" | grep -E "$denied" | grep -v '^/python/library/os.html$' >"$WORK/denied.asked" || true
claim "denied: 0 denied URLs asked for (of $(grep -cE "$denied" "$WORK/open.captured") that exist)" empty "$WORK/denied.asked"
first=$(awk -F '\t' '$3 ~ /^curtsy\// { print $2; exit }' "$NGINX_LOG")
claim "denied: robots.txt was asked for first" test "$first" = /robots.txt
claim "denied: the exception was fetched" grep -qx /python/library/os.html "$WORK/denied.captured"
finish
