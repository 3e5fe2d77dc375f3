#!/bin/bash
# Search of real sites: what the index costs beside the crawl, kill -9 while it is
# built, and how well known pages, inflected words, titles and phrases are found.
# KILLS changes the size of it; ARCHIVES names a directory with pg, openjdk and gimp to use instead.
. "$(dirname "$0")/../lib.sh"
need nginx sqlite3 go
kills=${KILLS:-20}
base=${ARCHIVES:-$WORK/archives}
mkdir -p "$base"
export XDG_CACHE_HOME=$WORK/cache

# spent COMMAND...: run it; sets CPU to the processor time it took, in ms.
spent() {
	local TIMEFORMAT='%U %S' times
	times=$( { time "$@" >"$WORK/out" 2>"$WORK/err"; } 2>&1) || { show "$WORK/err"; return 1; }
	CPU=$(awk '{ printf "%d", 1000 * ($1 + $2) }' <<<"$times")
}

crawled=0 indexed=0
# archived NAME ROOT START: crawl the files below ROOT and index them.
archived() {
	[[ -d $2 ]] || { without "$1: nothing in $2"; return 0; }
	if [[ ! -d $base/$1 ]]; then
		nginx_start "root $2;"
		spent "$CURTSY" crawl "$SITE$3" --archive "$base/$1" --delay 0 --concurrency 2 || { bad "$1: crawl"; return 0; }
		crawled=$((crawled + CPU))
	fi
	rm -f "$base/$1"/index.db*
	spent "$CURTSY" search "$base/$1" nothingofthekind || { bad "$1: search"; return 0; }
	indexed=$((indexed + CPU))
	echo "  $1: $(grep -o '[0-9]* pages' "$WORK/err"), index $(du -m "$base/$1/index.db" | cut -f1) MB"
}
archived pg /usr/share/doc/postgresql-doc-15/html /
archived gimp /usr/share/gimp/2.0/help /ru/index.html
[[ -z ${ARCHIVES:-} ]] || archived openjdk "$(corpus openjdk-17-doc 2>/dev/null || echo /none)" /
# questions: manuals of Debian in German and Russian, each a directory of its own.
manuals() {
	local name=$1
	shift
	mkdir -p "$WORK/$name"
	while [[ $# -gt 1 ]]; do
		[[ ! -d $2 ]] || cp -rL "$2" "$WORK/$name/$1"
		shift 2
	done
	(cd "$WORK/$name" && find . -name '*.html' | sed 's#^\./\(.*\)#<a href="/\1">\1</a>#') >"$WORK/index" && mv "$WORK/index" "$WORK/$name/index.html"
	archived "$name" "$WORK/$name" /
}
reference=$WORK/reference
mkdir -p "$reference"
cp /usr/share/debian-reference/*.de.html "$reference" 2>/dev/null || without debian-reference-de
manuals debian-de faq /usr/share/doc/debian/FAQ/de ref "$reference" apache /usr/share/doc/apache2-doc/manual/de
manuals debian-ru faq /usr/share/doc/debian/FAQ/ru dev /usr/share/developers-reference/ru maint /usr/share/doc/maint-guide-ru/html aptitude /usr/share/doc/aptitude/html/ru
[[ -d $base/pg ]] || skip "postgresql-doc-15 is not installed"
echo "  processor time: crawl $crawled ms, index $indexed ms"
[[ $crawled -eq 0 ]] || claim "the index takes less than 2.5 times the processor time of the crawl" less "$indexed" "$((5 * crawled / 2))"

# whole: SQLite finds the index whole, and documents are postings.
whole() {
	local said
	said=$(sqlite3 "$1" 'PRAGMA integrity_check; SELECT count(*) - (SELECT count(*) FROM docs) FROM idx_docsize;' 2>&1) || true
	[[ $said == $'ok\n0' ]] || { echo "  $said"; return 1; }
}
killed=$base/openjdk
[[ -d $killed ]] || killed=$base/pg
bad_kills=0 within=0
rm -f "$killed"/index.db*
for i in $(seq "$kills"); do
	"$CURTSY" search "$killed" nothingofthekind >/dev/null 2>&1 &
	pid=$!
	sleep "0.$(printf %02d $((RANDOM % 60 + 10)))"
	if kill -9 "$pid" 2>/dev/null; then within=$((within + 1)); else rm -f "$killed"/index.db*; fi
	{ wait "$pid"; } 2>/dev/null || true
	[[ ! -s $killed/index.db ]] || whole "$killed/index.db" || bad_kills=$((bad_kills + 1))
done
claim "$within of $kills kills within the indexing: integrity_check is ok, documents are postings" test "$bad_kills" -eq 0
claim "the next search completes the index" "$CURTSY" search "$killed" java

for test in KnownItems Questions Titles Phrases Latency; do
	found() { (cd "$CI_DIR/.." && CURTSY_TEST_SEARCH_ARCHIVES=$base go test ./publish/search -run "^Test$test\$" -v -count 1) >"$WORK/figures" 2>&1 || { show "$WORK/figures" '' 8; return 1; }; }
	claim "$test" found
	grep -E '^ *(figure|  )' "$WORK/figures" | grep -v '^    ---' | cut -c1-200 || true
done
finish
