#!/bin/bash
# Every system call that the archive is written with fails, in every way, one
# after another: in a crawl, in a resume of a killed crawl, in a repair. After
# each: an exit code that says what is so, a message that says what to try,
# nothing kept is lost, and resume completes the site with each page once.
# EVERY=1 tries each call and each archive of a stranger (the default: one in so many);
# KINDS and SCENARIOS take some out; KEEP=1 leaves the last archive.
. "$(dirname "$0")/../lib.sh"
need strace python3
tools
pages=${PAGES:-30}
every=${EVERY:-127}
export CURTSY_STORAGE_SEGMENT_SIZE=15000 # several segments
synth_start -pages "$pages" -bytes 1500 -fanout 60 -links 2 -robots 'User-agent: *\nDisallow: /no'
synthsite -pages "$pages" -list | sort >"$WORK/list"
a=$WORK/archive
crawling=(crawl "$SITE/" --archive "$a" --delay 0 --concurrency 1)
if ! strace -f -o "$WORK/strace" "$CURTSY" --version >/dev/null 2>&1; then skip "may not trace"; fi

# curtsy ARGS...: the program, with a guard: that it ends is part of what is shown.
curtsy() { timeout -k 5 120 "$CURTSY" "$@"; }

# records FILE DIR: what the segments of a directory hold, by segment and place.
records() {
	local segments=("$2"/*.warc.gz)
	if [[ -e ${segments[0]} ]]; then warcls --by-name "${segments[@]}" | sort >"$1"; else : >"$1"; fi
}

# places FILE: the records with their places; but without these where a repair that failed may have
# left a copy of a segment, which the next writer removes.
places() { if [[ $scenario == repair ]]; then cut -f 3- "$1" | sort -u; else cat "$1"; fi; }

# Templates of the archives that a scenario begins with.
"$CURTSY" "${crawling[@]}" >/dev/null 2>&1
cp -a "$a" "$WORK/whole"
# repair: an octet in the middle of the first and the last segment is another
for s in $(printf '%s\n' "$a"/warc/* | sed -n '1p;$p'); do
	printf '\x5a\x5a' | dd of="$s" bs=1 seek=$(($(stat -c %s "$s") / 2)) conv=notrunc status=none
done
mv "$a" "$WORK/at-repair"
# resume: killed with records behind the last commit, and with a segment that was never committed
{ CURTSY_FAILPOINT=synced:9 "$CURTSY" "${crawling[@]}" >/dev/null 2>&1 || true; } 2>/dev/null
cp "$(printf '%s\n' "$a"/warc/* | tail -n 1)" "$a/warc/curtsy-20990101000000-00099.warc.gz"
mv "$a" "$WORK/at-resume"

# prepare SCENARIO: the archive as it is before, and cmd.
prepare() {
	rm -rf "$a"
	case $1 in
	crawl) cmd=("${crawling[@]}") ;;
	resume) cp -a "$WORK/at-resume" "$a" && cmd=(resume "$a" --delay 0 --concurrency 1) ;;
	repair) cp -a "$WORK/at-repair" "$a" && cmd=(verify "$a" --repair) ;;
	esac
}

traced=write,pwrite64,fsync,fdatasync,ftruncate,truncate,openat,renameat,renameat2,unlinkat,mkdirat,linkat

wrong() { # WORDS: the point that was tried is not as it should be
	trouble=$((trouble + 1))
	[[ $trouble -gt ${SHOW:-12} ]] || { echo "  $scenario, $how $n: $*: $(tail -n 1 "$WORK/call")"; show "$WORK/err" '' 4; }
}

# ended CODE: what the program said when the call failed.
ended() {
	next=("${crawling[@]}")
	! grep -q '^ *try: .*curtsy resume' "$WORK/err" || next=(resume "$a" --delay 0)
	few_damaged
	! grep -qE 'panic:|fatal error:|goroutine [0-9]+|SIGBUS' "$WORK/err" || wrong "a panic"
	case $how in
	kill | killed | torn | strace-kill) [[ $1 -eq 137 ]] || wrong "exit $1, want a kill"; return ;;
	esac
	if ! grep -qv 'status\.json' "$WORK/call" && [[ $how != *+ ]]; then # strace fails one call of each thread
		[[ $1 -eq 0 ]] || wrong "exit $1 for the sake of status.json"
		return
	fi
	case $1 in
	0) harmless=$((harmless + 1)); curtsy verify "$a" >/dev/null 2>&1 || [[ $how == lie ]] || wrong "exit 0, and verify finds something" ;;
	3) grep -q '^ *try: ' "$WORK/err" || wrong "exit 3, and no word of what to try" ;;
	5) [[ $how == lie || $scenario == repair ]] || wrong "exit 5"
		grep -q '^ *try: ' "$WORK/err" || wrong "exit 5, and no word of what to try" ;;
	*) wrong "exit $1" ;;
	esac
}

# few_damaged: of what repair takes out, no more is damaged than the template's two visits and what refers to them.
few_damaged() {
	local n
	n=$(sed -nE 's/^([0-9]+) visits? damaged.*/\1/p' "$WORK/err")
	[[ ${n:-0} -le 4 || $how == lie ]] || wrong "repair discarded $n visits"
}

# whole_again: verify is clean or repair makes it so; resume completes; each page is there once.
whole_again() {
	local code=0
	curtsy verify "$a" >"$WORK/err" 2>&1 || code=$?
	if [[ $code -eq 5 && ($scenario == repair || $how == lie) ]]; then
		code=0
		curtsy verify "$a" --repair >"$WORK/err" 2>&1 || code=$?
		few_damaged
	fi
	committed "$a" "$WORK/committed"
	records "$WORK/kept" "$WORK/committed"
	if [[ $code -ne 0 && ($code -ne 2 || -s $WORK/kept) ]]; then # 2: it failed before there was an archive
		if [[ $how == lie && $code -eq 5 ]]; then named=$((named + 1)); else wrong "verify: exit $code"; fi
		return
	fi
	code=0
	curtsy "${next[@]}" >"$WORK/err" 2>&1 || code=$?
	if [[ $how == lie && $code -eq 2 ]]; then # what was committed first is what did not come to be
		code=0
		curtsy "${crawling[@]}" >"$WORK/err" 2>&1 || code=$?
	fi
	[[ $code -eq 0 ]] || { wrong "${next[0]}: exit $code"; return; }
	curtsy verify "$a" >"$WORK/err" 2>&1 || { wrong "verify at the end"; return; }
	records "$WORK/end" "$a/warc"
	comm -23 <(places "$WORK/kept") <(places "$WORK/end") >"$WORK/err"
	[[ ! -s $WORK/err ]] || wrong "records that were kept are gone"
	awk -F '\t' '$3 == "response" || $3 == "revisit" { print $4 }' "$WORK/end" | sed "s|^$SITE||" | grep -v '^/robots.txt$' | sort >"$WORK/captured"
	diff "$WORK/list" "$WORK/captured" >"$WORK/err" || wrong "not every page is there once"
}

# point: one call fails; false when the program makes fewer calls.
point() {
	local code=0
	prepare "$scenario"
	if [[ $how == strace-* ]]; then
		by_strace "$n" || code=$?
	else
		timeout -k 5 120 faultat -dir "$a" -how "${how%+}" $([[ $how != *+ ]] || echo -stays) -at "$n" -log "$WORK/call" "$CURTSY" "${cmd[@]}" >"$WORK/err" 2>&1 || code=$?
	fi
	[[ -s $WORK/call ]] || return 1
	cat "$WORK/call" >>"$WORK/calls"
	ended "$code"
	whole_again
}

# by_strace N: the Nth call of each thread fails; strace's own log names the call.
by_strace() {
	local code=0 s how_=${how#strace-} paths=(-P "$a" -P "$a/crawl.db" -P "$a/warc" -P "$a/status.json.new" -P "$a/status.json")
	for s in "$a"/warc/*.warc.gz; do [[ ! -e $s ]] || paths+=(-P "$s"); done
	[[ $how_ != kill ]] && how_=error=$how_ || how_=signal=KILL
	{ timeout -k 5 120 strace -f -y -o "$WORK/strace" "${paths[@]}" -e "trace=$traced" -e "inject=$traced:$how_:when=$1" "$CURTSY" "${cmd[@]}" >"$WORK/err" 2>&1 || code=$?; } 2>/dev/null
	if [[ $how == strace-kill ]]; then
		[[ $code -ne 137 ]] && : >"$WORK/strace" || sed -i '/+++\|---/d' "$WORK/strace" && sed -i '$!d' "$WORK/strace"
	else
		sed -i '/(INJECTED)/!d' "$WORK/strace"
	fi
	sed -E "s/^[0-9]+ +([a-z0-9]+)\\(/$1\t\\1\t(/" "$WORK/strace" >"$WORK/call"
	return "$code"
}

# sweep HOW STEP: calls 1, 1+STEP, ... in the scenario fail so.
sweep() {
	how=$1
	local step=$2 from=$SECONDS points=0 misses=0
	[[ -z ${KINDS:-} || " $KINDS " == *" $how "* ]] || return 0
	trouble=0 harmless=0 named=0
	: >"$WORK/calls"
	for ((n = 1 + RANDOM % step; misses < 1; n += step)); do
		if point; then points=$((points + 1)); else misses=$((misses + 1)); fi
	done
	# it began behind the last call that there was: the first one then
	if [[ $points -eq 0 ]]; then n=1; if point; then points=1; fi; fi
	local more=''
	[[ $harmless -eq 0 ]] || more=", $harmless of them without harm"
	[[ $named -eq 0 ]] || more+=", $named named by verify and beyond repair"
	printf '| %s | %s | %s | %s | %s | %s |\n' "$scenario" "$how" "$points" "$((points - trouble - named))" "$named" "$trouble" >>"$WORK/table"
	claim "$scenario, $how: $points calls ($(cut -f 2 "$WORK/calls" | sort | uniq -c | awk '{ printf "%s%s %s", s, $1, $2; s = ", " }')) in $((SECONDS - from)) s, $trouble not as they should be$more" \
		test "$trouble" -eq 0 -a "$points" -gt 0
}

RANDOM=${SEED:=$(date +%s)}
echo "  seed $SEED, every ${every}th call"
few=$(((every + 2) / 3))
for scenario in ${SCENARIOS:-crawl resume repair}; do
	case $scenario in
	crawl) step=$every ;;
	repair) step=$(((every + 2) / 3)) ;;
	resume) step=$few ;; # it makes few
	esac
	for how in EIO EIO+ ENOSPC ENOSPC+ kill killed short torn lie; do sweep "$how" "$step"; done
	sweep EMFILE "$few"
	sweep EMFILE+ "$few"
done
scenario=resume
for how in strace-EIO strace-ENOSPC strace-kill; do sweep "$how" $(((every + 9) / 10)); done

# What cannot be read just now is no damage: nothing is taken out, nothing removed.
unread() { # CALL WHEN: the reads of a segment that fail, while repair looks for damage
	local code=0 segment
	rm -rf "$a"
	cp -a "$WORK/whole" "$a"
	segment=$(printf '%s\n' "$a"/warc/* | sed -n 2p)
	timeout -k 5 120 strace -f -qq -o "$WORK/strace" -P "$segment" -e "trace=$1" -e "inject=$1:error=EIO:when=$2" "$CURTSY" verify "$a" --repair >"$WORK/err" 2>&1 || code=$?
	grep -q INJECTED "$WORK/strace" || { echo "  no $1 failed"; return 1; }
	[[ $code -eq 3 ]] && grep -q '^ *try: ' "$WORK/err" && diff -r "$WORK/whole/warc" "$a/warc" >/dev/null && verified "$a" && return
	echo "  exit $code"
	show "$WORK/err"
	return 1
}
claim "a segment that cannot be read: verify --repair ends with 3 and leaves all as it is" unread pread64 1+
claim "three reads that fail: the same" unread pread64 2..4
claim "one that cannot be looked at: the same" unread fstat 1+

# Both tracers see the same calls where they are the same each time.
prepare repair
faultat -dir "$a" -how EIO -at 0 -log "$WORK/calls" "$CURTSY" "${cmd[@]}" >/dev/null 2>&1
ours=$(wc -l <"$WORK/calls")
prepare repair
strace -f -y -o "$WORK/strace" -e "trace=$traced" "$CURTSY" "${cmd[@]}" >/dev/null 2>&1
theirs=$(grep -v 'resumed>' "$WORK/strace" | grep -c "$a")
claim "a repair makes $ours calls, strace counts $theirs" test "$ours" -eq "$theirs"
# What is opened for writing, made, renamed, cut or removed lies in the archive, or in a mirror's OUT and
# the trees beside it that it is swapped with. /dev/null and /dev/tty are nobody's.
cat >"$WORK/outside.py" <<-'PY'
	import os, re, sys
	calls, allowed = sys.argv[1], sys.argv[2:]
	writes = re.compile(r'O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_TMPFILE')
	seen = set()
	for name in os.listdir(calls):
	    for line in open(os.path.join(calls, name), errors='replace'):
	        m = re.match(r'(\w+)\((.*)\) += (-?\d+)', line)
	        if not m or m[3] == '-1' or m[1].startswith('open') and not writes.search(m[2]):
	            continue
	        pairs = re.findall(r'(?:AT_FDCWD|\d+)<((?:\\.|[^>\\])*)>, "((?:\\.|[^"\\])*)"', m[2])
	        if not pairs:
	            pairs = [(p, '') for p in re.findall(r'^\d+<([^>]*)>', m[2])] or [(os.getcwd(), p) for p in re.findall(r'"((?:\\.|[^"\\])*)"', m[2])]
	        if m[1].startswith('symlink'): # where it leads is no file that is touched
	            pairs = pairs[-1:]
	        seen.update((m[1], os.path.normpath(os.path.join(d, f))) for d, f in pairs)
	if not seen and allowed:
	    print('no call was seen')
	for call, path in sorted(seen):
	    if path not in ('/dev/null', '/dev/tty') and not any(path == a or path.startswith(a if a.endswith('-') else a + '/') for a in allowed):
	        print(call, path)
	print(len(seen), 'paths', file=sys.stderr)
PY
# touched OUTSIDE ALLOWED... -- COMMAND...: what the command touches elsewhere goes to the file OUTSIDE.
touched() {
	local file=$1 allowed=() code=0
	shift
	while [[ $1 != -- ]]; do allowed+=("$1"); shift; done
	shift
	rm -rf "$WORK/calls.d"
	mkdir "$WORK/calls.d"
	strace -ff -y -qq -s 4096 -o "$WORK/calls.d/t" -e trace=open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,symlink,symlinkat,link,linkat,mknod,mknodat,truncate,ftruncate,chmod,fchmodat \
		timeout -k 5 120 "$@" >"$WORK/out" 2>"$WORK/err" || code=$?
	python3 "$WORK/outside.py" "$WORK/calls.d" "${allowed[@]}" >"$file" 2>"$WORK/seen"
	[[ $code -eq 0 || $code -eq 3 ]] || { echo "  exit $code"; show "$WORK/err"; return 1; }
}
# inside ALLOWED... -- COMMAND...: it touches nothing else.
inside() { touched "$WORK/outside" "$@" && empty "$WORK/outside"; }
# outside ALLOWED... -- COMMAND...: it does, in many ways, and that is seen.
outside() { touched "$WORK/outside" "$@" && [[ $(wc -l <"$WORK/outside") -ge 6 ]]; }
claim "the check sees what is written, made, renamed, linked and removed elsewhere" outside "$a" -- \
	sh -c "echo x >'$WORK/w1'; mkdir '$WORK/w2'; mv '$WORK/w1' '$WORK/w2/w3'; ln -s x '$WORK/w4'; ln '$WORK/w2/w3' '$WORK/w5'; truncate -s 0 '$WORK/w5'; rm '$WORK/w5'; chmod 600 '$WORK/w2/w3'"
rm -rf "$a" "$WORK/mirrored"
claim "a crawl that is stopped half-way writes in its archive alone" inside "$a" -- "$CURTSY" "${crawling[@]}" --max-pages 20
claim "a resume too" inside "$a" -- "$CURTSY" resume "$a" --delay 0
claim "an update too" inside "$a" -- "$CURTSY" update "$a" --delay 0
claim "verify --repair too" inside "$a" -- "$CURTSY" verify "$a" --repair
for again in '' ', again'; do
	claim "a mirror writes in OUT, and in the trees it swaps it with$again" inside "$WORK/mirrored" "$WORK/.mirrored.curtsy-new-" -- "$CURTSY" mirror "$a" "$WORK/mirrored"
done
for reads in verify status 'list --state fetched' "explain $a $SITE/"; do
	read -ra words <<<"$reads"
	claim "${words[0]} writes nowhere" inside -- "$CURTSY" "${words[@]}" $([[ $reads == explain* ]] || echo "$a")
done
# Little address space is said; below some 1.4 GB the runtime itself may not begin.
narrow() { # KB COMMAND...
	local code=0
	(ulimit -v "$1" && shift && exec "$CURTSY" "$@") >"$WORK/err" 2>&1 || code=$?
	[[ $code -eq 1 ]] && grep -q 'ulimit -v' "$WORK/err" && ! grep -qE '^(fatal error|runtime|goroutine|panic)' "$WORK/err" || { echo "  exit $code"; show "$WORK/err"; return 1; }
}
for kb in 1900000 2000000; do
	claim "ulimit -v $kb: a message in place of the runtime's trace" narrow "$kb" verify "$a"
	claim "the same for a mirror" narrow "$kb" mirror "$a" "$WORK/mirrored"
done
synth_stop
[[ -z ${FAULTS_TABLE:-} ]] || cp "$WORK/table" "$FAULTS_TABLE"
claim "every flipped octet and every failed write of the tests" env -C "$CI_DIR/.." CURTSY_TEST_FLIPS=more go test ./crawler -run "FlippedOctets|EveryWriteMayFail"
strangers=9+$((RANDOM % 9))
[[ $every -gt 1 ]] || strangers=1+0
claim "archives of strangers ($strangers): every command over every one" env -C "$CI_DIR/.." CURTSY_TEST_STRANGERS="$strangers" go test ./cli -count=1 -timeout 30m -run ArchivesOfStrangersHarmNothing
finish
