#!/bin/bash
# The search of documentation works in its mirror: Sphinx names its index in a
# script, mkdocs its index, its worker and what that loads. Sphinx from the disk,
# too; mkdocs asks for its index by XMLHttpRequest, which browsers refuse there.
. "$(dirname "$0")/../lib.sh"
need node npm chromium nginx mkdocs sphinx-build
mirror_tools

mkdir -p "$WORK/mk/docs" "$WORK/sp"
printf 'site_name: M\n' >"$WORK/mk/mkdocs.yml"
printf '# Home\n\nthe zebra\n' >"$WORK/mk/docs/index.md"
printf '# Other\n\nthe giraffe\n' >"$WORK/mk/docs/other.md"
(cd "$WORK/mk" && mkdocs build -q -d "$WORK/site-mkdocs" 2>/dev/null)
printf 'project = "S"\nhtml_theme = "alabaster"\n' >"$WORK/sp/conf.py"
printf 'Home\n====\n\nzebra\n\n.. toctree::\n\n   other\n' >"$WORK/sp/index.rst"
printf 'Other\n=====\n\ngiraffe\n' >"$WORK/sp/other.rst"
sphinx-build -q -b html "$WORK/sp" "$WORK/site-sphinx"

found() { (cd "$MIRROR_TOOLS" && timeout -k 10 200 node mirrorsearch.mjs "$@") >"$WORK/found" 2>&1 || { show "$WORK/found"; return 1; }; }
for site in sphinx mkdocs; do
	chmod -R a+rX "$WORK/site-$site"
	nginx_start "root $WORK/site-$site;"
	"$CURTSY" crawl "$SITE/" --archive "$WORK/$site" --delay 0 2>"$WORK/err" || { show "$WORK/err"; bad "crawl of $site"; }
	claim "$site: the mirror, and its check" "$CURTSY" mirror "$WORK/$site" "$WORK/m-$site"
	"$CURTSY" mirror --serve "$WORK/m-$site" --listen 127.0.0.1:0 >"$WORK/serving-$site" &
	CHILDREN+=($!)
	until_true grep -q '^serving ' "$WORK/serving-$site"
	web=$(sed 's/.* at //' "$WORK/serving-$site")
	case $site in
	sphinx) claim "sphinx: search finds its page by http and from the disk, and asks nobody else" found '#search-results ul.search li a' "${web}search.html?q=giraffe" "file://$WORK/m-sphinx/search.html?q=giraffe" ;;
	mkdocs) claim "mkdocs: search finds its page by http, and asks nobody else" found '#mkdocs-search-results article' "${web}?q=giraffe" ;;
	esac
done
finish
