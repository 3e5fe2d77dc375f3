#!/bin/bash
# A fleet: three servers, four workers with disks of their own, sites with Crawl-delay, some of them on
# shared addresses; workers and servers are killed, one worker stands still for longer than its lease, all
# of the engine's disks are wiped at once. The sites' own log judges. More: SITES=100 SHARED=30 PAGES=30.
. "$(dirname "$0")/../lib.sh"
tools
declare -A PID
sites=${SITES:-9} shared=${SHARED:-3} pages=${PAGES:-20} delay=${DELAY:-500ms} lease=${LEASE:-9} slots=${SLOTS:-4}
patience=${PATIENCE:-300}

manysites -sites "$sites" -shared "$shared" -pages "$pages" -delay "$delay" -log "$WORK/log" -list "$WORK/list" &
CHILDREN+=($!)
until_true test -s "$WORK/list"

# What all machines show each other: certificates of the fleet's own authority.
ca() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=fleet -days 1 -keyout "$WORK/$1-ca.key" -out "$WORK/$1-ca.pem"
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$1" -keyout "$WORK/$1.key" -out "$WORK/$1.csr"
	openssl x509 -req -in "$WORK/$1.csr" -CA "$WORK/$1-ca.pem" -CAkey "$WORK/$1-ca.key" -CAcreateserial -days 1 -out "$WORK/$1.pem" \
		-extfile <(printf 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth')
}
need openssl
ca fleet >/dev/null 2>&1
ca stranger >/dev/null 2>&1
tls=(--tls-cert "$WORK/fleet.pem" --tls-key "$WORK/fleet.key" --tls-ca "$WORK/fleet-ca.pem")

# The store: S3 where a server is installed, else a directory that all share.
store=$WORK/store
if command -v versitygw >/dev/null; then
	mkdir -p "$WORK/s3/bucket"
	s3=$(freeport)
	export AWS_ACCESS_KEY_ID=tester AWS_SECRET_ACCESS_KEY=testing-secret AWS_ENDPOINT_URL=http://127.0.0.1:$s3 AWS_REGION=us-east-1
	serve_s3() {
		ROOT_ACCESS_KEY=tester ROOT_SECRET_KEY=testing-secret versitygw --port "127.0.0.1:$s3" posix "$WORK/s3" >>"$WORK/s3.log" 2>&1 &
		PID[s3]=$!
		CHILDREN+=($!)
		until_true listens "$s3"
	}
	serve_s3
	store=s3://bucket/archives
else
	echo "  versitygw is not installed: the store is a directory"
fi

# The one-machine path, in two commands.
"$CURTSY" fleet serve --dir "$WORK/one" 2>"$WORK/one.log" &
one=$!
CHILDREN+=("$one")
until_true test -S "$WORK/one/fleet.sock"
last=$(tail -n 1 "$WORK/list")
claim "one machine: a site is added" "$CURTSY" fleet add "$last" --dir "$WORK/one" -q
one_state() { "$CURTSY" fleet status --dir "$WORK/one" --state "$1" -q | grep -q .; }
claim "one machine: it is done" until_true one_state done
# ports PID: on how many TCP ports a process listens.
ports() {
	local inode n=0
	for inode in $(ls -l "/proc/$1/fd" | sed -n 's/.*socket:\[\([0-9]*\)\].*/\1/p'); do
		! awk -v i="$inode" '$4 == "0A" && $10 == i { found = 1 } END { exit !found }' /proc/net/tcp /proc/net/tcp6 || n=$((n + 1))
	done
	echo "$n"
}
claim "one machine: nothing listens on a port" test "$(ports "$one")" -eq 0
"$CURTSY" fleet pull "$last" "$WORK/pulled" --dir "$WORK/one" -q || bad "not pulled"
claim "one machine: the archive that was pulled is sound" verified "$WORK/pulled"
kill "$one"; wait "$one" 2>/dev/null || true
# What Prometheus sees of a worker and of a crawl: each expression of the dashboard has an answer.
unanswered() {
	local expression
	while IFS= read -r expression; do
		curl -fsG "http://127.0.0.1:$prometheus/api/v1/query" --data-urlencode "query=$expression" 2>/dev/null | grep -q '"value":' || echo "$expression"
	done <"$WORK/expressions" >"$WORK/unanswered"
	[[ -s $WORK/unanswered ]]
}
all_answered() { ! unanswered; }
watched() {
	local worker crawl
	worker=$(freeport) crawl=$(freeport) prometheus=$(freeport)
	synth_start -pages 600 -bytes 500
	"$CURTSY" fleet serve --dir "$WORK/one" --metrics "127.0.0.1:$worker" 2>>"$WORK/one.log" &
	PID[worker]=$!
	"$CURTSY" crawl "$SITE/" --archive "$WORK/watched" --delay 200ms --exclude '5\.html$' --metrics "127.0.0.1:$crawl" -q 2>"$WORK/watched.log" &
	PID[crawl]=$!
	printf '%s\n' 'global: {scrape_interval: 500ms, scrape_timeout: 500ms}' "rule_files: [$(realpath "$CI_DIR/../docs/alerts.yml")]" \
		"scrape_configs: [{job_name: curtsy, static_configs: [{targets: ['127.0.0.1:$worker', '127.0.0.1:$crawl']}]}]" >"$WORK/prometheus.yml"
	claim "promtool: configuration and alerts are sound" promtool check config "$WORK/prometheus.yml"
	claim "promtool: each alert is raised when it should be" promtool test rules "$CI_DIR/../docs/alerts_test.yml"
	prometheus --config.file="$WORK/prometheus.yml" --storage.tsdb.path="$WORK/tsdb" --web.listen-address="127.0.0.1:$prometheus" 2>"$WORK/prometheus.log" &
	PID[prometheus]=$!
	CHILDREN+=("${PID[worker]}" "${PID[crawl]}" "${PID[prometheus]}")
	claim "Prometheus: each of $(wc -l <"$WORK/expressions") expressions of the dashboard has an answer" until_true all_answered
	[[ ! -s $WORK/unanswered ]] || show "$WORK/unanswered" 'without an answer'
	for p in worker crawl prometheus; do kill "${PID[$p]}" && wait "${PID[$p]}" || true; done 2>/dev/null
	synth_stop
}
if command -v prometheus >/dev/null; then
	python3 -c 'import json, sys; print("\n".join(t["expr"] for p in json.load(open(sys.argv[1]))["panels"] for t in p.get("targets", [])))' "$CI_DIR/../docs/grafana.json" >"$WORK/expressions"
	watched
else
	[[ ${CI:-} != true ]] || bad "Prometheus is missing in CI"
	echo "  Prometheus is not installed: the dashboard is not asked"
fi
: >"$WORK/log" # what follows is judged alone
sed -i '$d' "$WORK/list" # and without that site
sites=$((sites - 1))

port=() ; for i in 1 2 3 4 5 6; do port+=("$(freeport)"); done
cluster="n1=127.0.0.1:${port[0]},n2=127.0.0.1:${port[1]},n3=127.0.0.1:${port[2]}"
join="nats://127.0.0.1:${port[3]},nats://127.0.0.1:${port[4]},nats://127.0.0.1:${port[5]}"
node() {
	"$CURTSY" fleet serve --dir "$WORK/n$1" --name "n$1" --cluster "$cluster" --listen "127.0.0.1:${port[$(($1 + 2))]}" \
		--store "$store" --slots 0 --lease "${lease}s" "${tls[@]}" -v 2>>"$WORK/n$1.log" &
	PID[n$1]=$!
	CHILDREN+=($!)
}
worker() {
	"$CURTSY" fleet serve --dir "$WORK/w$1" --name "w$1" --join "$join" --store "$store" --slots "$slots" \
		--lease "${lease}s" --save 3s --min-free 0 "${tls[@]}" -v 2>>"$WORK/w$1.log" &
	PID[w$1]=$!
	CHILDREN+=($!)
}
ask() { "$CURTSY" fleet "$@" --join "$join" "${tls[@]}"; }
dies() { kill -9 "${PID[$1]}"; wait "${PID[$1]}" 2>/dev/null || true; }

for i in 1 2 3; do node $i; done
until_true ask status -q >/dev/null
refused() { ! timeout 60 "$CURTSY" fleet status --join "$join" "$@" >"$WORK/refused" 2>&1; }
claim "a command without a certificate is refused" refused
claim "one with a stranger's certificate too" refused --tls-cert "$WORK/stranger.pem" --tls-key "$WORK/stranger.key" --tls-ca "$WORK/fleet-ca.pem"
printf '%s\n' 'delay: 10ms' 'politeness: {guess_sitemap: false}' >"$WORK/config" # the sites say what their pace is
ask add "$WORK/list" --config "$WORK/config" -q || bad "the sites were not added"
for i in 1 2 3 4; do worker $i; done
running() { [[ $(ask status --state running -q | wc -l) -ge 1 ]]; }
until_true running
sleep 3
mapfile -t hosts < <(sed 's|http://||; s|/$||' "$WORK/list")
ask why "${hosts[@]}" >"$WORK/why" || bad "why failed"
claim "why says of each site what it does or waits for, in words" test "$(wc -l <"$WORK/why")" -eq "${#hosts[@]}"
head -n 8 "$WORK/why" | sed 's/^/    /'
dies w1; rm -rf "$WORK/w1"; worker 1
kill -STOP "${PID[w2]}"
sleep $((lease + 3))
kill -CONT "${PID[w2]}"
dies n1; rm -rf "$WORK/n1"; node 1
sleep 3
for i in 1 2 3; do dies n$i; done
rm -rf "$WORK"/n[123]/engine
for i in 1 2 3; do node $i; done
if [[ -n ${PID[s3]:-} ]]; then # the store is away
	dies s3
	sleep "${AWAY:-10}"
	serve_s3
fi

all_done() { [[ $(ask status --state done -q 2>/dev/null | wc -l) -eq $sites ]]; }
from=$SECONDS
until all_done || ((SECONDS - from > patience)); do sleep 0.5; done
claim "all $sites sites are done, $((SECONDS - from)) s after the last fault" until_true all_done
ask status >"$WORK/status" 2>&1 || true
all_done || show "$WORK/status" status 20
manysites -judge -sites "$sites" -pages "$pages" -delay "$delay" -log "$WORK/log" >"$WORK/judged" 2>"$WORK/judged.err"
read -r complete requests repeated old early both <"$WORK/judged"
show "$WORK/judged.err" "what is wrong"
claim "the sites' own log: complete $complete of $sites, of $requests requests $repeated repeated" test "$complete" -eq "$sites"
claim "requests of an old owner after a new one's: $old" test "$old" -eq 0
claim "requests sooner than $delay after the last answer: $early" test "$early" -eq 0
claim "requests while another site at the address was asked: $both" test "$both" -eq 0
sound=0
for host in "${hosts[@]}"; do
	"$CURTSY" fleet pull "$host" "$WORK/pulled-$host" --store "$store" -q && verified "$WORK/pulled-$host" && sound=$((sound + 1)) || true
done
claim "archives that were pulled from the store and are sound: $sound of $sites" test "$sound" -eq "$sites"
finish
