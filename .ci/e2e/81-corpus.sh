#!/bin/bash
# An archive as data, read by programs that are not ours: a site with mixed preferences, exported for three
# purposes; known copies; the queries of docs/corpus.md in DuckDB; the PostgreSQL manual, whose rows are counted
# by DuckDB, hyparquet and `list`; and an assistant that asks, by the official inspector.
. "$(dirname "$0")/../lib.sh"
need nginx node
corpus_tools
export CURTSY_DELAY=0s CURTSY_POLITENESS_ADAPTIVE=0
ask() { (cd "$WORK" && node "$CORPUS/corpus.mjs" ask "$1"); }
is() { [[ $("${@:2}") == "$1" ]] || { echo "  got $("${@:2}"), want $1"; return 1; }; }

# Twelve pages, three of each kind; two of them are one text with a word changed, one is a copy.
mkdir -p "$WORK/root"/{free,no,closed,plain}
printf 'User-agent: *\nAllow: /\nContent-Usage: /free/ train-ai=y, ai-input=y, tdm=y\nContent-Usage: /no/ train-ai=n\nContent-Usage: /closed/ train-ai=n, ai-input=n, tdm=n\n' >"$WORK/root/robots.txt"
words() { awk -v seed="$1" 'BEGIN { srand(seed); for (i = 0; i < 300; i++) printf "word%d ", int(rand() * 5000) }'; }
n=0
for kind in free no closed plain; do
	for i in 1 2 3; do
		n=$((n + 1))
		printf '<!DOCTYPE html><html lang=en><title>%s %s</title><p>The same line on each page of the site.</p><p>%s</p><a rel=license href="https://creativecommons.org/licenses/by/4.0/">CC BY</a>' \
			$kind $i "$(words $n)" >"$WORK/root/$kind/$i.html"
	done
done
cp "$WORK/root/plain/1.html" "$WORK/root/plain/2.html"
sed 's/word[0-9]* /changed /150' "$WORK/root/free/1.html" >"$WORK/root/free/2.html"
{
	echo '<!DOCTYPE html><html lang=en><title>home</title><p>Start here.</p>'
	for kind in free no closed plain; do for i in 1 2 3; do echo "<a href=\"/$kind/$i.html\">$kind</a>"; done; done
} >"$WORK/root/index.html"
nginx_start "root $WORK/root; index index.html;"
"$CURTSY" crawl "$SITE/" --archive "$WORK/a" --no-report >"$WORK/crawl" 2>&1

for purpose in train-ai ai-input tdm; do "$CURTSY" export "$WORK/a" "$WORK/$purpose.parquet" --purpose $purpose >"$WORK/out" 2>"$WORK/$purpose.said"; done
claim 'for training: 3 that allow it, 3 and the home page that say nothing' is '{"n":"7"}' ask "select count(*) n from 'train-ai.parquet'"
claim 'for answers of a model: all but the closed ones' is '{"n":"10"}' ask "select count(*) n from 'ai-input.parquet'"
claim 'for mining: all but the closed ones' is '{"n":"10"}' ask "select count(*) n from 'tdm.parquet'"
claim 'the count on stderr' grep -q '^for train-ai: 6 say n and were left out, 4 say nothing$' "$WORK/train-ai.said"
claim 'the data card says it too' grep -q '^- 6 whose owner does not allow train-ai' "$WORK/train-ai.parquet.md"
"$CURTSY" export "$WORK/a" "$WORK/consent.parquet" --purpose train-ai --require-consent >"$WORK/out" 2>&1
claim 'with consent alone: 3' is '{"n":"3"}' ask "select count(*) n from 'consent.parquet'"

for table in pages captures links; do "$CURTSY" export "$WORK/a" "$WORK/$table.parquet" --table $table >"$WORK/out" 2>&1; done
claim 'known copies: two clusters of two' is '{"c":"2","n":"4"}' ask "select count(distinct near_duplicate_of) c, count(near_duplicate_of) n from 'pages.parquet'"
claim 'the copy and the text with a word changed' is '{"near":"/free/1.html /plain/1.html"}' ask "select string_agg(distinct regexp_replace(near_duplicate_of, '.*//[^/]*', ''), ' ' order by regexp_replace(near_duplicate_of, '.*//[^/]*', '')) as near from 'pages.parquet' where near_duplicate_of <> url or url like '%/1.html' and near_duplicate_of is not null"
claim 'the line on each page, and no other, is boilerplate' is '{"b":"The same line on each page of the site.|CC BY","n":"12"}' ask "select array_to_string(boilerplate, '|') b, count(*) n from 'pages.parquet' where len(boilerplate) > 0 group by 1"
claim 'the license that pages state' is '{"n":"12"}' ask "select count(*) n from 'pages.parquet' where licenses = ['https://creativecommons.org/licenses/by/4.0/']"
claim 'every query of docs/corpus.md answers' is '5' bash -c "cd '$WORK' && node '$CORPUS/corpus.mjs' sql '$CI_DIR/../docs/corpus.md' | awk '\$1 > 0' | wc -l"
"$CURTSY" export "$WORK/a" "$WORK/pages.jsonl.zst" >"$WORK/out" 2>&1
if command -v zstd >/dev/null; then claim 'the same rows as JSON' is 13 bash -c "zstd -dcq '$WORK/pages.jsonl.zst' | grep -c '^{\"url_surtkey\":'"; fi

if manual=$(corpus postgresql-doc-15 2>/dev/null); then
	ln -s "$manual" "$WORK/root/pg"
	"$CURTSY" crawl "$SITE/pg/index.html" --archive "$WORK/pg" --concurrency 8 --no-report >"$WORK/crawl" 2>&1
	"$CURTSY" export "$WORK/pg" "$WORK/pg.parquet" >"$WORK/out" 2>&1
	"$CURTSY" export "$WORK/pg" "$WORK/pgc.parquet" --table captures >"$WORK/out" 2>&1
	pages=$("$CURTSY" list "$WORK/pg" --status 200 --where type=text/html --format csv | tail -n +2 | wc -l)
	kept=$("$CURTSY" list "$WORK/pg" --versions --format csv | grep -cE ',(response|revisit),')
	echo "  PostgreSQL manual: $pages pages, $kept captures by list"
	claim 'DuckDB: as many pages as list' is "{\"n\":\"$pages\"}" ask "select count(*) n from 'pg.parquet'"
	claim 'DuckDB: as many captures as list' is "{\"n\":\"$kept\"}" ask "select count(*) n from 'pgc.parquet'"
	claim 'hyparquet: the same' is "$pages $kept " bash -c "node '$CORPUS/corpus.mjs' count '$WORK/pg.parquet' '$WORK/pgc.parquet' | tr '\n' ' '"
	claim 'zstd, a dictionary, statistics' is '{"c":"ZSTD","d":true,"s":true}' ask "select any_value(compression) c, bool_or(encodings like '%DICTIONARY%') d, bool_or(stats_min_value is not null) s from parquet_metadata('pg.parquet')"
	claim 'the manual is in English' is '{"language":"eng","most":true}' ask "select language, count(*) > $pages * 0.9 as most from 'pg.parquet' group by 1 order by count(*) desc limit 1"
else
	without postgresql-doc-15 is not installed
fi

# --- an assistant asks
inspect() { node "$CORPUS/node_modules/.bin/mcp-inspector" --cli "$CURTSY" mcp "$WORK/a" "$@" 2>&1 || true; }
inspect --method tools/list >"$WORK/tools"
claim 'six tools' is 'changes explain links outline read search ' bash -c "grep -oE '^      \"name\": \"[a-z]+\"' '$WORK/tools' | cut -d '\"' -f 4 | sort | tr '\n' ' '"
inspect --method tools/call --tool-name read --tool-arg "url=$SITE/free/1.html" >"$WORK/read"
claim 'a page, with URL and time of capture' grep -qE "URL: $SITE/free/1.html.nTitle: free 1.nCaptured: 20[0-9T:-]+Z" "$WORK/read"
inspect --method tools/call --tool-name read --tool-arg "url=$SITE/closed/1.html" >"$WORK/refused"
claim 'ai-input=n is refused in the words of the owner' grep -qF 'ai-input=n (robots.txt, line 5, version ' "$WORK/refused"
claim 'and nothing of the page is told' is 0 grep -c word "$WORK/refused"
inspect --method tools/call --tool-name search --tool-arg "query=\"same line\"" >"$WORK/found"
claim 'a search leaves out the closed ones, and says so' bash -c "! grep -q '\"title\": \"closed' '$WORK/found' && grep -q 'refused: the owner' '$WORK/found'"
inspect --method resources/read --uri "$SITE/plain/1.html" >"$WORK/resource"
claim 'a resource by its URL' grep -q '"mimeType": "text/markdown"' "$WORK/resource"
finish
