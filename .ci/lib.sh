# What the end-to-end scripts share: a work directory, servers on free loopback
# ports, helper programs, and claims. Each script begins with
#   . "$(dirname "$0")/../lib.sh"
# and needs the crawler's binary in $CURTSY.
set -euo pipefail

CI_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CURTSY=${CURTSY:?the path of the curtsy binary}
# Helper programs and npm packages are kept here between scripts, outside of the repository.
TOOLS=${CI_TOOLS:-${TMPDIR:-/tmp}/curtsy-ci-tools}
export npm_config_update_notifier=false
# The scripts count requests: none is for a sitemap or a file about use that may be there (the Go tests show these).
export CURTSY_POLITENESS_GUESS_SITEMAP=false CURTSY_POLITENESS_USAGE_FILES=false
WORK=$(mktemp -d)
CHILDREN=()
MOUNTS=()
FAILED=0

cleanup() {
	local code=$? pid dir
	# a script that stops half-way has not shown what it should
	[[ $code -eq 0 || $FAILED -gt 0 ]] || echo "FAIL: $(basename "$0") stopped half-way, exit $code"
	for pid in "${CHILDREN[@]}"; do kill "$pid" 2>/dev/null || true; done
	# waited for, so that no server writes into a directory being removed
	for pid in "${CHILDREN[@]}"; do wait "$pid" 2>/dev/null || true; done
	for dir in "${MOUNTS[@]}"; do umount "$dir" 2>/dev/null || true; done
	[[ -n ${KEEP:-} ]] && echo "kept: $WORK" >&2 || rm -rf "$WORK"
}
trap cleanup EXIT
trap 'stopped "$BASH_COMMAND"' INT TERM

# stopped COMMAND: by whoever waits for this script: where it was, and what was written last.
stopped() {
	local frame=0 line file _
	trap '' INT TERM
	echo "  stopped after $SECONDS s within: $1"
	while read -r line _ file < <(caller $frame); do
		[[ $file == */lib.sh ]] || echo "    line $line: $(sed -n "${line}p" "$CI_DIR/e2e/${file##*/}" | cut -c1-200)"
		frame=$((frame + 1))
	done
	find "$WORK" -maxdepth 1 -type f -size -1M -printf '%T@ %p\n' | sort -rn | head -n 4 | while read -r _ file; do
		echo "  the end of ${file##*/}:"
		tail -n 3 "$file" | tr -d '\0' | cut -c1-300 | sed 's/^/    /'
	done
	exit 130
}

ok() { echo "ok: $*"; }
bad() { echo "FAIL: $*"; FAILED=$((FAILED + 1)); }

# claim WORDS COMMAND...: one line for one claim, true when the command succeeds; what takes long says how long.
claim() {
	local words=$1 from=$SECONDS took=''
	shift
	if "$@"; then
		[[ $((SECONDS - from)) -lt 15 ]] || took=" [$((SECONDS - from)) s]"
		ok "$words$took"
	else
		bad "$words"
	fi
}

# show FILE: why a claim failed, a few lines of it.
show() { [[ ! -s $1 ]] || { echo "  ${2:-${1##*/}}:"; head -n "${3:-10}" "$1" | cut -c1-300 | sed 's/^/    /'; }; }

# empty FILE: is there nothing in it? If there is, show it.
empty() { [[ -f $1 ]] || { echo "  no file $1"; return 1; }; [[ ! -s $1 ]] || { show "$1"; return 1; }; }

# verified DIR: curtsy's own verification, shown when it finds something.
verified() { "$CURTSY" verify "$1" >"$WORK/verify" 2>&1 || { show "$WORK/verify"; return 1; }; }

# committed ARCHIVE DIR: a copy of the segments as far as they are committed. Reading cuts nothing,
# so behind that there may be what was in flight.
committed() {
	local behind size name
	rm -rf "$2"
	cp -r "$1/warc" "$2" 2>/dev/null || { mkdir -p "$2"; return 0; }
	find "$2" '(' -size 0 -o -name '*.unknown' ')' -delete # begun, and nothing written yet; set aside
	behind=$("$CURTSY" verify "$1" --json 2>/dev/null | sed -n 's/.*"in_flight":\([0-9]*\).*/\1/p')
	for name in $(ls -r "$2"); do
		[[ ${behind:-0} -gt 0 ]] || break
		size=$(stat -c %s "$2/$name")
		if [[ $behind -ge $size ]]; then rm "$2/$name"; else truncate -s $((size - behind)) "$2/$name"; fi
		behind=$((behind - size))
	done
}

# less A B: is A < B? For figures with a point.
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 < b + 0) }'; }

# finish is every script's last line.
finish() { [[ $FAILED -eq 0 ]]; }

# without WORDS: a part of a script is left out for want of a tool. .ci/run lists it, in CI as a failure.
without() { echo "skip: $*"; }

# skip WORDS: all that follows is left out.
skip() {
	without "$@"
	finish
	exit
}

# need TOOL...: programs without which a script shows nothing.
need() {
	local tool
	for tool in "$@"; do command -v "$tool" >/dev/null || skip "$tool is not installed"; done
}

# tools builds the helper programs of .ci/tools once.
tools() {
	mkdir -p "$TOOLS/bin"
	(cd "$CI_DIR/tools" && GOFLAGS= GOWORK=off flock "$TOOLS/bin.lock" go build -o "$TOOLS/bin/" ./...)
	PATH=$TOOLS/bin:$PATH
}

# go_tool NAME PATH@VERSION: a program of another's, built once from its Go module.
go_tool() {
	mkdir -p "$TOOLS/bin"
	PATH=$TOOLS/bin:$PATH
	command -v "$1" >/dev/null || GOBIN=$TOOLS/bin GOFLAGS= GOWORK=off flock "$TOOLS/go.lock" go install "$2"
}

# s3_tool: an S3 server over a directory. deb_tool: what makes Debian packages. sbom_tool: what lists the modules.
s3_tool() { go_tool versitygw github.com/versity/versitygw/cmd/versitygw@v1.8.0; }
deb_tool() { go_tool nfpm github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0; }
sbom_tool() { go_tool cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0; }

# warcls FILE...: the records of segments (see tools/warcls.py).
warcls() { python3 "$CI_DIR/tools/warcls.py" "$@"; }

# npm_at NAME PACKAGE...: sets NPM_AT to a directory that holds the npm packages, and our programs
# that use them. Scripts run side by side: one installs, the others wait.
npm_at() {
	need node npm
	NPM_AT=$TOOLS/$1
	mkdir -p "$NPM_AT"
	(
		flock 9
		if [[ ! -e $NPM_AT/installed ]]; then
			npm install --prefix "$NPM_AT" --ignore-scripts --no-audit --no-fund --loglevel=error "${@:2}" >/dev/null
			touch "$NPM_AT/installed"
		fi
		for program in "$CI_DIR"/tools/*.mjs; do
			cmp -s "$program" "$NPM_AT/${program##*/}" || cp "$program" "$NPM_AT"
		done
	) 9>"$TOOLS/$1.lock"
}

# npm_tools installs validators of archives that we did not write.
npm_tools() {
	npm_at npm warcio@2.4.11 @harvard-lil/js-wacz@0.1.6
	export NPM_TOOLS=$NPM_AT
}

# mirror_tools installs what looks at pages and pictures, and link checkers.
mirror_tools() {
	npm_at mirror playwright-core@1.65.1 linkinator@6.3.0 pngjs@7.0.0 pixelmatch@5.2.1 axe-core@4.14.1
	export MIRROR_TOOLS=$NPM_AT
}

# reader_tools installs replayweb.page, which is AGPL: a tool of these tests, never part of the program.
reader_tools() {
	mkdir -p "$TOOLS/reader"
	[[ -e $TOOLS/reader/package.json ]] || echo '{"private":true,"overrides":{"warcio":"2.4.11"}}' >"$TOOLS/reader/package.json"
	npm_at reader replaywebpage@2.5.3 playwright-core@1.65.1
	export READER=$NPM_AT
}

# corpus_tools installs readers of Parquet, and a client of the Model Context Protocol.
corpus_tools() {
	npm_at data @duckdb/node-api@1.5.6-r.1 hyparquet@1.31.5 hyparquet-compressors@1.1.2 @modelcontextprotocol/inspector@2.12.0
	export CORPUS=$NPM_AT
}

# freeport prints a loopback port that nobody listens on.
freeport() { node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})'; }

# until_true COMMAND...: wait for a server, a minute at most: more than a busy machine takes.
until_true() {
	local i
	for i in $(seq 1200); do "$@" 2>/dev/null && return; sleep 0.05; done
	echo "  waited in vain for: $*"
	return 1
}

# answers URL LOG: it does, with a good status; else the server's LOG is shown.
answers() { curl -fsS --retry 3 -o /dev/null "$1" || { tail -n 5 "$2" >"$WORK/unanswered" && show "$WORK/unanswered"; return 1; }; }

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1"); }

# nginx_start CONF: an nginx of our own in the foreground, with CONF inside its
# server block; sets SITE, and NGINX_LOG with lines of
# status, uri as sent, user agent, body bytes, separated by tabs.
nginx_start() {
	local port user=''
	port=$(freeport)
	NGINX_LOG=$WORK/nginx-$port.log
	SITE=http://127.0.0.1:$port
	[[ $(id -u) -ne 0 ]] || user='user root;' # the work directory is closed to others
	cat >"$WORK/nginx-$port.conf" <<-CONF
		$user
		worker_processes 1;
		daemon off;
		pid $WORK/nginx-$port.pid;
		error_log $WORK/nginx-$port.err;
		events { worker_connections 512; }
		http {
			include /etc/nginx/mime.types;
			default_type application/octet-stream;
			sendfile on; tcp_nopush on; keepalive_requests 100000;
			log_format witness '\$status\t\$request_uri\t\$http_user_agent\t\$body_bytes_sent';
			access_log $NGINX_LOG witness;
			client_body_temp_path $WORK/nb; proxy_temp_path $WORK/np;
			fastcgi_temp_path $WORK/nf; uwsgi_temp_path $WORK/nu; scgi_temp_path $WORK/ns;
			server { listen 127.0.0.1:$port; $1 }
		}
	CONF
	nginx -p "$WORK" -c "$WORK/nginx-$port.conf" -e "$WORK/nginx-$port.err" &
	CHILDREN+=($!)
	until_true listens "$port" || { show "$WORK/nginx-$port.err"; return 1; }
}

SYNTH_SITES=0
# synth_start ARGS...: the synthetic site (see tools/synthsite); sets SITE and
# SYNTH_LOG with lines of start, end (ns since the server's start), path, user agent.
synth_start() {
	local url=$WORK/synth-$((SYNTH_SITES += 1)).url
	SYNTH_LOG=$url.log
	synthsite -log "$SYNTH_LOG" -url-file "$url" "$@" &
	SYNTH_PID=$!
	CHILDREN+=("$SYNTH_PID")
	until_true test -s "$url"
	SITE=$(cat "$url")
}

# synth_stop ends the synthetic site, so that its log is complete.
synth_stop() { kill "$SYNTH_PID"; wait "$SYNTH_PID" 2>/dev/null || true; }

# corpus PACKAGE: the directory of a documentation package's start page.
corpus() {
	local page
	page=$(dpkg -L "$1" 2>/dev/null | awk '/\/(html|api)\/index\.html$/ && !p { p = $0 } END { print p }')
	[[ -n $page ]] || page=$(dpkg -L "$1" 2>/dev/null | awk '/\/index\.html$/ && !p { p = $0 } END { print p }')
	[[ -n $page ]] || { echo "no start page in package $1" >&2; return 1; }
	dirname "$(readlink -f "$page")"
}

# peak_kb PID: the most memory a living process has held, in KiB.
peak_kb() { awk '/VmHWM/ { print $2 }' "/proc/$1/status" 2>/dev/null; }
