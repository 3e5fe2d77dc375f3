#!/bin/bash
# Real browsers of repositories, gitweb and Fossil: every commit and every file
# as it is now are among the first URLs, before other views of them; the rest is
# bounded over the whole site, archives of the whole tree are a few, and the
# crawl ends by itself. COMMITS, FILES and FIRST make it
# larger than CI has time for; ONLY=gitweb or ONLY=fossil leaves out the other.
# DEFAULTS=1 visits Fossil with the default budgets and stops after FIRST pages.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../wikis.sh"
need git curl
COMMITS=${COMMITS:-25} FILES=${FILES:-15} FIRST=${FIRST:-450} CHECKINS=${CHECKINS:-25} ARTIFACTS=${ARTIFACTS:-40}

# first N LOG: the targets of the first N requests.
first() { awk -F '\t' -v n="$1" 'NR <= n { split($2, request, " "); print request[2] }' "$2"; }

# visit NAME URL [SETTING]...: crawl it.
visit() {
	local name=$1 url=$2 code=0 began=$SECONDS
	shift 2
	timeout -k 5 "${MOST:-600}" "$CURTSY" crawl "$url" --archive "$WORK/$name.archive" --delay 0 --concurrency 2 --json "$@" >"$WORK/$name.json" 2>"$WORK/err" || code=$?
	[[ $code -eq 0 || $code -eq 3 ]] || show "$WORK/err"
	echo "  $name: exit $code after $((SECONDS - began)) s; $(grep -oE '"(rules":\{[^}]*|(discovered|queued|fetched)":[0-9]+)' "$WORK/$name.json" | tr '\n' ' ')"
	CODE=$code
}

gitweb=/usr/share/gitweb/gitweb.cgi
if [[ ${ONLY:-gitweb} != gitweb ]]; then :; elif [[ -f $gitweb && -n $PHP_MODULE ]] && perl -MCGI -e 1; then
	port=$(freeport)
	mkdir -p "$WORK/git" "$WORK/doku" "$WORK/wiki"
	git init -q --bare "$WORK/git/repo.git"
	history "$COMMITS" "$FILES" | git -C "$WORK/git/repo.git" fast-import --quiet
	git -C "$WORK/git/repo.git" config --add safe.directory '*'
	printf '$projectroot = "%s/git"; $feature{"blame"}{"default"} = [1];\n' "$WORK" >"$WORK/gitweb.conf"
	[[ $(id -u) -ne 0 ]] || chown -R www-data:www-data "$WORK/git"
	# gitweb asks crawlers to follow none of its links; this owner allows it.
	sed 's/"index, nofollow"/"index, follow"/; s/rel="nofollow"//; s/-rel *=> *"nofollow"//' "$gitweb" >"$WORK/git/gitweb.cgi"
	chmod 755 "$WORK/git/gitweb.cgi"
	apache_start "$port" <<-CONF
		<VirtualHost 127.0.0.1:$port>
			DocumentRoot /usr/share/gitweb
			CustomLog "$WORK/gitweb.log" witness
			SetEnv GITWEB_CONFIG $WORK/gitweb.conf
			ScriptAlias /git $WORK/git/gitweb.cgi
		</VirtualHost>
	CONF
	answers "http://127.0.0.1:$port/git" "$WORK/apache.err" || { bad "gitweb does not answer"; exit 1; }
	visit gitweb "http://127.0.0.1:$port/git" --max-pages "$FIRST"
	first "$FIRST" "$WORK/gitweb.log" >"$WORK/gitweb.first"
	git -C "$WORK/git/repo.git" -c safe.directory='*' rev-list master | sort >"$WORK/commits"
	commits=$(grep -oE '^/git\?p=repo.git;a=commit;h=[0-9a-f]{40}$' "$WORK/gitweb.first" | sed 's/.*=//' | sort -u | comm -12 "$WORK/commits" - | wc -l || true)
	files=$(grep -oE '^/git\?p=repo.git;a=blob;f=[^;]*' "$WORK/gitweb.first" | sort -u | wc -l || true)
	archives=$(grep -c 'a=snapshot' "$WORK/gitweb.first" || true)
	claim "gitweb: $commits of $COMMITS commits are among the first $FIRST requests" test "$commits" -ge "$COMMITS"
	claim "gitweb: $files of $FILES files" test "$files" -ge "$FILES"
	claim "gitweb: $archives archives of the whole tree, want at most 4" test "$archives" -le 4
else
	without "gitweb, Apache, or Perl's CGI is not installed"
fi

if [[ ${ONLY:-fossil} != fossil ]]; then :; elif command -v fossil >/dev/null; then
	port=$(freeport)
	export HOME=$WORK USER=nobody
	git init -q --bare "$WORK/source.git"
	history "$CHECKINS" "$ARTIFACTS" | git -C "$WORK/source.git" fast-import --quiet
	git -C "$WORK/source.git" fast-export --all | fossil import --git "$WORK/repo.fossil" >/dev/null
	fossil user capabilities -R "$WORK/repo.fossil" nobody ghjorz >/dev/null
	fossil server --localhost -P "$port" "$WORK/repo.fossil" >/dev/null 2>&1 &
	CHILDREN+=($!)
	until_true listens "$port"
	if [[ -n ${DEFAULTS:-} ]]; then
		visit fossil "http://127.0.0.1:$port/" --max-pages "$FIRST"
	else
		CURTSY_TRAPS_PRODUCTS=${PRODUCTS:-200} CURTSY_TRAPS_FACETS=${FACETS:-100} CURTSY_TRAPS_CALENDAR=${CALENDAR:-200} visit fossil "http://127.0.0.1:$port/"
		claim "fossil: ended by itself" test "$CODE" -eq 0
	fi
	"$CURTSY" list "$WORK/fossil.archive" --format csv | awk -F, '$2 != "disregarded" && $8 != "" { print $8 "," $1 }' | sort | awk -v n="$FIRST" 'NR <= n' >"$WORK/fossil.first"
	fossil sql -R "$WORK/repo.fossil" "select substr(uuid,1,10) from blob,event where event.objid=blob.rid and type='ci'" | tr -d "'" | sort >"$WORK/checkins"
	checkins=$(grep -oE "/info/[0-9a-f]{10}" "$WORK/fossil.first" | cut -c7- | sort -u | comm -12 "$WORK/checkins" - | wc -l)
	files=$(grep -oE 'dir[0-9]+/file[0-9]+\.txt' "$WORK/fossil.first" | sort -u | wc -l || true)
	archives=$("$CURTSY" list "$WORK/fossil.archive" --state fetched --format csv | grep -cE '/(zip|tarball|sqlar)/' || true)
	claim "fossil: $checkins of $CHECKINS check-ins are among the first $FIRST URLs" test "$checkins" -ge "$CHECKINS"
	claim "fossil: $files of $ARTIFACTS files" test "$files" -ge "$ARTIFACTS"
	claim "fossil: $archives archives of the whole tree, want at most 9" test "$archives" -le 9
else
	without "fossil is not installed"
fi
finish
