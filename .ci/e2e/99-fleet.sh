#!/bin/bash
# A fleet: three servers, four workers with disks of their own, sites with Crawl-delay, some of them on
# shared addresses. First many small sites, without faults: no page of them may be asked for twice. Then workers are
# killed and stand still for longer than a lease, while odd sites are paused, removed, added and set at each server,
# two minutes after its session began; then servers are killed, all of the engine's disks are wiped at once,
# and the store is away and back. The sites' own logs and the store judge. More: MANY=2000 SLOTS=100, or
# SITES=100 SHARED=30 PAGES=30.
. "$(dirname "$0")/../lib.sh"
tools
declare -A PID
# A worker that is asked to stop waits for the store, which this script may have stopped.
trap 'set -- $?; for p in w1 w2 w3 w4; do kill -9 "${PID[$p]:-none}" 2>/dev/null || true; done; set +e; (exit "$1"); cleanup' EXIT
sites=${SITES:-8} shared=${SHARED:-6} pages=${PAGES:-90} delay=${DELAY:-500ms} lease=${LEASE:-15} slots=${SLOTS:-20}
many=${MANY:-300} odd=13
patience=${PATIENCE:-300}

manysites -sites "$sites" -shared "$shared" -pages "$pages" -delay "$delay" -log "$WORK/log" -list "$WORK/list" &
CHILDREN+=($!)
manysites -net 11 -sites "$many" -shared 0 -pages 5 -delay "$delay" -log "$WORK/many.log" -list "$WORK/many" &
CHILDREN+=($!)
manysites -net 21 -sites "$odd" -shared 0 -pages 2000 -delay "$delay" -log "$WORK/odd.log" -list "$WORK/odd" &
CHILDREN+=($!)
for list in list many odd; do until_true test -s "$WORK/$list"; done

# What all machines show each other: certificates of the fleet's own authority, each with its role.
authority() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$1" -days 1 -keyout "$WORK/$1-ca.key" -out "$WORK/$1-ca.pem"; }
signed() { # NAME AUTHORITY SUBJECT
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$3" -keyout "$WORK/$1.key" -out "$WORK/$1.csr"
	openssl x509 -req -in "$WORK/$1.csr" -CA "$WORK/$2-ca.pem" -CAkey "$WORK/$2-ca.key" -CAcreateserial -days 1 -out "$WORK/$1.pem" \
		-extfile <(printf 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth')
}
need openssl
{
	authority fleet
	authority other
	for role in read add work serve; do signed "$role" fleet "/OU=$role/CN=$role"; done
	signed roleless fleet /CN=roleless
	signed stranger other /OU=serve/CN=stranger
} >/dev/null 2>&1
as() { tls=(--tls-cert "$WORK/$1.pem" --tls-key "$WORK/$1.key" --tls-ca "$WORK/fleet-ca.pem"); }

# The store: S3, or where its server cannot be built a directory that all share.
store=$WORK/store
names() { sed 's|http://||; s|/$||; s|:|_|' "$1"; } # LIST: of its sites in the store
manifest_of() { find "$WORK/s3/bucket/archives/$1/MANIFEST" "$store/$1/MANIFEST.v"/* -type f 2>/dev/null | sort | tail -n 1 || true; } # SITE: the file that it is in
if s3_tool; then
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
	without "versitygw is not installed, and cannot be built here: the store is a directory, S3 is not tried"
fi

# The one-machine path, in two commands.
"$CURTSY" fleet serve --dir "$WORK/one" 2>"$WORK/one.log" &
one=$!
CHILDREN+=("$one")
until_true test -S "$WORK/one/fleet.sock"
last=$(tail -n 1 "$WORK/many")
claim "one machine: a site is added" "$CURTSY" fleet add "$last" --dir "$WORK/one" -q
one_state() { "$CURTSY" fleet status --dir "$WORK/one" --state "$1" -q | grep . >/dev/null; }
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
		curl -fsG "http://127.0.0.1:$prometheus/api/v1/query" --data-urlencode "query=$expression" 2>/dev/null | grep '"value":' >/dev/null || echo "$expression"
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
if command -v prometheus promtool >/dev/null; then
	python3 -c 'import json, sys; print("\n".join(t["expr"] for p in json.load(open(sys.argv[1]))["panels"] for t in p.get("targets", [])))' "$CI_DIR/../docs/grafana.json" >"$WORK/expressions"
	watched
else
	without "prometheus is not installed: the dashboard is not asked"
fi
: >"$WORK/many.log" # what follows is judged alone
sed -i '$d' "$WORK/many" # and without that site
many=$((many - 1))

port=() ; for i in 1 2 3 4 5 6; do port+=("$(freeport)"); done
cluster="n1=127.0.0.1:${port[0]},n2=127.0.0.1:${port[1]},n3=127.0.0.1:${port[2]}"
join="nats://127.0.0.1:${port[3]},nats://127.0.0.1:${port[4]},nats://127.0.0.1:${port[5]}"
node() {
	local tls
	as serve
	"$CURTSY" fleet serve --dir "$WORK/n$1" --name "n$1" --cluster "$cluster" --listen "127.0.0.1:${port[$(($1 + 2))]}" \
		--store "$store" --slots 0 --lease "${lease}s" "${tls[@]}" -v 2>>"$WORK/n$1.log" &
	PID[n$1]=$!
	CHILDREN+=($!)
}
worker() {
	local tls
	as work
	"$CURTSY" fleet serve --dir "$WORK/w$1" --name "w$1" --join "$join" --store "$store" --slots "$slots" \
		--lease "${lease}s" --save 3s --min-free 0 "${tls[@]}" -v 2>>"$WORK/w$1.log" &
	PID[w$1]=$!
	CHILDREN+=($!)
}
ask() {
	local tls
	as add
	"$CURTSY" fleet "$@" --join "${VIA:-$join}" "${tls[@]}"
}
at() { VIA=nats://127.0.0.1:${port[$(($1 + 2))]} ask "${@:2}"; } # at one of the servers
dies() { kill -9 "${PID[$1]}"; wait "${PID[$1]}" 2>/dev/null || true; }

for i in 1 2 3; do node $i; done
until_true ask status -q >/dev/null
refused() { ! timeout 60 "$CURTSY" fleet "$@" --join "$join" >"$WORK/refused" 2>&1; }
claim "a command without a certificate is refused" refused status
for who in stranger roleless; do
	as $who
	claim "one with the certificate of a $who is refused" refused status "${tls[@]}"
done
as read
claim "who may read asks for status" "$CURTSY" fleet status --join "$join" "${tls[@]}" -q
claim "who may read adds nothing" refused add "$(head -n 1 "$WORK/list")" "${tls[@]}"
claim "who may read pauses nothing" refused pause "$(head -n 1 "$WORK/list")" "${tls[@]}"
claim "who may read cannot work" refused serve --dir "$WORK/thief" --store "$store" "${tls[@]}"
as add
claim "who may add cannot work" refused serve --dir "$WORK/thief" --store "$store" "${tls[@]}"
# What the commands do not even send, the servers refuse: a client of the bus that is not ours.
bus() { # ROLE SUBJECT [FILE]: what the servers answer to one who subscribes there, or publishes the file
	python3 - "${port[3]}" "$WORK/$1.pem" "$WORK/$1.key" "$WORK/fleet-ca.pem" "${@:2}" <<-'PY'
		import socket, ssl, sys, time
		port, cert, key, ca, subject = sys.argv[1:6]
		s = socket.create_connection(("127.0.0.1", int(port)), 10)
		s.recv(65536)  # INFO
		c = ssl.create_default_context(cafile=ca)
		c.load_cert_chain(cert, key)
		s = c.wrap_socket(s, server_hostname="127.0.0.1")
		body = open(sys.argv[6], "rb").read() if len(sys.argv) > 6 else None
		what = b"SUB %s 1\r\n" % subject.encode() if body is None else b"PUB %s %d\r\n%s\r\n" % (subject.encode(), len(body), body)
		s.sendall(b'CONNECT {"verbose":false,"tls_required":true}\r\n' + what + b"PING\r\n")
		s.settimeout(3)
		try:
		    while (got := s.recv(65536)):
		        print(got.decode(errors="replace"))
		except OSError:
		    pass
	PY
}
violation() { bus "$@" >"$WORK/bus" 2>&1; grep -q 'Permissions Violation' "$WORK/bus"; }
echo '{}' >"$WORK/record"
for who in read add; do
	claim "who may $who writes nothing to the board" violation $who '$KV.curtsy.site.x' "$WORK/record"
	claim "who may $who hears nothing of others" violation $who '>'
done
plaintext() { # nobody is let in without TLS, on loopback as well
	exec 3<>"/dev/tcp/127.0.0.1/${port[3]}"
	printf 'CONNECT {"verbose":false}\r\nPING\r\n' >&3
	! timeout 3 grep -q '^PONG' <&3
}
claim "a connection without TLS is not served" plaintext
printf '%s\n' 'delay: 10ms' 'politeness: {guess_sitemap: false, usage_files: false}' >"$WORK/config" # the sites say what their pace is
printf '%s\n' 'delay: 10ms' 'render:' "  browser: $WORK/program" >"$WORK/hostile"
hostile() { ! ask add "$(head -n 1 "$WORK/list")" --config "$WORK/hostile" >"$WORK/refused" 2>&1 && grep -q 'hostile:3: render.browser' "$WORK/refused"; }
claim "a configuration that names a program is refused, with its line and key" hostile
for i in 1 2 3 4; do worker $i; done

# Without faults.
judged() { # LOG SITES PAGES: sets complete requests repeated old early both
	manysites -judge -sites "$2" -pages "$3" -delay "$delay" -log "$1" >"$WORK/judged" 2>"$WORK/judged.err"
	read -r complete requests repeated old early both <"$WORK/judged"
}
done_are() { [[ $(ask status --state done -q 2>/dev/null | wc -l) -eq $1 ]]; }
spent() { # processor time of the servers and workers, in s
	local p ticks=0
	for p in n1 n2 n3 w1 w2 w3 w4; do ticks=$((ticks + $(sed 's/.*) //' "/proc/${PID[$p]}/stat" | awk '{ print $12 + $13 }'))); done
	echo $((ticks / 100))
}
began=$SECONDS
mapfile -t odd_hosts < <(sed 's|http://||; s|/$||' "$WORK/odd")
head -n 12 "$WORK/odd" >"$WORK/odd12"
ask add "$WORK/odd12" --config "$WORK/config" -q || bad "the odd sites were not added"
ask add "$WORK/many" --config "$WORK/config" -q || bad "the small sites were not added"
until done_are "$many" || ((SECONDS - began > patience)); do sleep 1; done
judged "$WORK/many.log" "$many" 5
claim "without faults: complete $complete of $many small sites, $repeated of $requests requests repeated" test "$complete $repeated" = "$many 0"
claim "without faults: of an old owner $old, early $early, two at an address $both" test "$old $early $both" = "0 0 0"
echo "  after $((SECONDS - began)) s and $(spent) s of processor time, $(wc -l <"$WORK/odd.log") requests to the odd sites in it"

# The sites that have to be complete at the end, whatever dies.
ask add "$WORK/list" --config "$WORK/config" -q || bad "the sites were not added"
running() { [[ $(ask status --state running -q | wc -l) -ge $1 ]]; }
until_true running 14
sleep 3
mapfile -t hosts < <(sed 's|http://||; s|/$||' "$WORK/list")
ask why "${hosts[@]}" >"$WORK/why" || bad "why failed"
claim "why says of each site what it does or waits for, in words" test "$(wc -l <"$WORK/why")" -eq "${#hosts[@]}"
head -n 8 "$WORK/why" | sed 's/^/    /'
worker_shown() { [[ $(ask status --worker "$1" -q 2>/dev/null | tee "$WORK/of" | wc -l) -ge 1 ]] && ! grep -qv " $1\$" "$WORK/of"; }
claim "status --worker lists what one worker crawls" until_true worker_shown w3
watching() { # fleet watch shows counts that grow
	local tls
	as read
	timeout 30 "$CURTSY" fleet watch --every 500ms --join "$join" "${tls[@]}" 2>/dev/null >"$WORK/watched.fleet" &
	CHILDREN+=($!)
	until_true awk '/^running/ { if (had[$2] != "" && $3 > had[$2]) grown = 1; had[$2] = $3 } END { exit !grown }' "$WORK/watched.fleet"
}
claim "watch shows how the counts grow" watching

# Workers die, and stand still.
dies w1; rm -rf "$WORK/w1"; worker 1
kill -STOP "${PID[w2]}"
sleep $((lease + 3))
kill -CONT "${PID[w2]}"

# What is written to the bus by one who may, and to the store, is not obeyed.
printf '#!/bin/sh\ntouch %q\n' "$WORK/was-run" >"$WORK/program"
chmod +x "$WORK/program"
printf '{"name":"127.0.0.1_9","seed":"http://127.0.0.1:9/","group":"127.0.0.1_9","config":"%s","added":"2026-01-01T00:00:00Z","run":{},"due":"2026-01-01T00:00:00Z","stamp":"x"}' \
	"$(base64 -w0 "$WORK/hostile")" >"$WORK/record"
bus work '$KV.curtsy.site.127.0.0.1_9' "$WORK/record" >"$WORK/bus" 2>&1
! grep -q ERR "$WORK/bus" || bad "the record was not written"
echo '{"version":1,"seed":"http://127.0.0.1:8/","epoch":3,"db":{"key":"127.0.0.1_8/db/../../../victim","size":1},"run":{"began":"2026-01-01T00:00:00Z"}}' >"$WORK/manifest"
other=$(names "$WORK/many" | sed -n 1p)
stolen=$(manifest_of "$other")
stolen=${stolen/"$other"/127.0.0.1_8}
mkdir -p "${stolen%/*}" && cp "$WORK/manifest" "$stolen"
hostile_manifest() { ! "$CURTSY" fleet pull 127.0.0.1:8 "$WORK/stolen" --store "$store" >"$WORK/refused" 2>&1 && grep -q 'its manifest is damaged' "$WORK/refused"; }
claim "a manifest that leads out of its site is refused" hostile_manifest
why_says() { ask why "$1" 2>&1 | tee "$WORK/said" | grep "$2" >/dev/null; }
claim "a worker refuses a program that came by the bus, and why says so" until_true why_says 127.0.0.1:9 'render.browser'
[[ -s $WORK/said ]] && sed 's/^/    /' "$WORK/said"
claim "and it was not run" test ! -e "$WORK/was-run"
ask remove 127.0.0.1:9 -q || bad "the site of the bus was not removed"

while ((SECONDS - began < ${STEADY:-120})); do sleep 1; done # the servers' sessions are older than two minutes
requests_of() { awk -v s="$1" -v t="$2" '$1 == s && $4 > t' "$WORK/odd.log" | wc -l; } # SITE SINCE
for i in 1 2 3; do
	paused=${odd_hosts[$((i - 1))]} removed=${odd_hosts[$((i + 2))]}
	claim "pause at n$i after $((SECONDS - began)) s" at $i pause "$paused"
	now=$(date +%s%N)
	claim "remove at n$i" at $i remove "$removed"
	then=$(date +%s%N)
	claim "set at n$i" at $i set "${odd_hosts[$((i + 5))]}" every=1h
	[[ $i -ne 2 ]] || claim "add at n2" at 2 add "http://${odd_hosts[12]}/" --config "$WORK/config" -q
	sleep 3
	n=$(requests_of "$paused" "$now") m=$(requests_of "$removed" "$then")
	claim "at n$i: requests after the pause: $n, after the removal: $m" test "$n $m" = "0 0"
done
added() { [[ $(requests_of "${odd_hosts[12]}" 0) -gt 0 ]]; }
claim "the site that was added is crawled" until_true added
same_counts() {
	for i in 1 2 3; do at $i status -q --json 2>/dev/null | sed 's/.*"name":"\([^"]*\)".*"state":"\([^"]*\)".*/\1 \2/' >"$WORK/seen$i"; done
	cmp -s "$WORK/seen1" "$WORK/seen2" && cmp -s "$WORK/seen1" "$WORK/seen3"
}
claim "all members see the same sites in the same states" until_true same_counts
claim "a site is resumed" at 3 go "${odd_hosts[0]}"
resumed=$(date +%s%N)
again() { [[ $(requests_of "${odd_hosts[0]}" "$resumed") -gt 0 ]]; }
claim "and crawled" until_true again

# Servers die; the engine's disks are wiped.
dies n1; rm -rf "$WORK/n1"; node 1
sleep 3
for i in 1 2 3; do dies n$i; done
rm -rf "$WORK"/n[123]/engine
for i in 1 2 3; do node $i; done
until_true ask status -q >/dev/null # a server that starts waits for its store
until_true running 3
# The store is away, and back; where it is a directory, an empty one is in its place meanwhile.
troubled() { ask status >"$WORK/troubled" 2>&1 || true; grep -qE 'the store (cannot be written|is unreachable)' "$WORK/troubled"; }
if [[ -n ${PID[s3]:-} ]]; then
	dies s3
	claim "status says that the store cannot be used" until_true troubled
	sleep "${AWAY:-10}"
	serve_s3
else
	mv "$store" "$store.away" && mkdir "$store"
	claim "status says that the store cannot be used" until_true troubled
	sleep "${AWAY:-10}"
	claim "nothing was written to what is not the store" test -z "$(find "$store" -type f)"
	rm -rf "$store" && mv "$store.away" "$store"
fi
from=$SECONDS
ask remove "${odd_hosts[@]:0:3}" "${odd_hosts[@]:6}" -q || bad "the odd sites were not removed at once"
all_done() { done_are $((sites + many)); }
until all_done || ((SECONDS - from > patience)); do sleep 0.5; done
claim "all $sites sites are done, $((SECONDS - from)) s after the last fault" all_done
ask status >"$WORK/status" 2>&1 || true
all_done || show "$WORK/status" status 20

# What the sites' logs and the store say. A run that was taken from its worker repeats at most what came after the last
# save: it commits each 5 s and is saved each 3 s, at a request each half second, and half of that for a busy machine.
claims_of() { # LIST: how often its sites were claimed after the first time
	local name epoch sum=0
	for name in $(names "$1"); do
		epoch=$(sed -n 's/.*"epoch": \([0-9]*\).*/\1/p' "$(manifest_of "$name")")
		sum=$((sum + epoch - 1))
	done
	echo $sum
}
for which in list odd; do
	log=$WORK/log n=$sites m=$pages
	[[ $which == list ]] || log=$WORK/odd.log n=$odd m=2000
	judged "$log" "$n" "$m"
	claims=$(claims_of "$WORK/$which")
	claim "$which: of $requests requests $repeated repeated, at most 24 for each of $claims times that a site changed hands" test "$repeated" -le $((24 * claims))
	claim "$which: requests of an old owner after a new one's: $old, sooner than $delay after the last answer: $early, while another site at the address was asked: $both" \
		test "$old $early $both" = "0 0 0"
	[[ $which == odd ]] && continue
	claim "the sites' own log: complete $complete of $sites" test "$complete" -eq "$sites"
	show "$WORK/judged.err" "what is wrong"
done
judged "$WORK/many.log" "$many" 5
claim "the small sites were asked nothing more: $repeated of $requests requests repeated" test "$repeated" -eq 0
sound=0
for host in "${hosts[@]}"; do
	"$CURTSY" fleet pull "$host" "$WORK/pulled-$host" --store "$store" -q && verified "$WORK/pulled-$host" && sound=$((sound + 1)) || true
done
claim "archives that were pulled from the store and are sound: $sound of $sites" test "$sound" -eq "$sites"
finish
