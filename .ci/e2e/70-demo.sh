#!/bin/bash
# A clean clone on a machine with nothing but Go: `go run . demo` shows the demo.
# The README's other command is the step "test" of .ci/run.
. "$(dirname "$0")/../lib.sh"
need git go
git clone -q "$CI_DIR/.." "$WORK/clone"
# What Go must be told of this machine (where modules come from), and nothing else.
bare() { (cd "$WORK/clone" && env -i PATH="$(dirname "$(command -v go)"):/usr/bin:/bin" HOME="$WORK" GOPROXY="$(go env GOPROXY)" GONOSUMDB="$(go env GONOSUMDB)" GOSUMDB="$(go env GOSUMDB)" GOFLAGS="$(go env GOFLAGS)" GOMODCACHE="$(go env GOMODCACHE)" GOCACHE="$(go env GOCACHE)" TERM=dumb "$@"); }

code=0
bare go run . demo >"$WORK/demo" 2>"$WORK/demo.err" </dev/null || code=$?
claim "go run . demo: exit $code, $(wc -l <"$WORK/demo") lines" test "$code" -eq 0 -a -s "$WORK/demo"
[[ $code -eq 0 ]] || show "$WORK/demo.err"
for word in Disallow Allow Clean-param noarchive withheld nofollow noindex X-Robots-Tag unavailable_after redirect revisit trap 404; do
	claim "the demo's table speaks of $word" grep -qi -- "$word" "$WORK/demo" "$WORK/demo.err"
done
claim "the demo leaves nothing in the clone" test -z "$(git -C "$WORK/clone" status --porcelain)"
finish
