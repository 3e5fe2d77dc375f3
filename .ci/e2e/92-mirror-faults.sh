#!/bin/bash
# Every system call that a mirror is written with fails, in every way, one after
# another, while a new mirror takes the place of an older one. After each: an exit
# code that says what is so, a message that says what to try, and in OUT either
# the old mirror or the new one, whole; the next export makes it the new one.
# EVERY=1 tries each call (the default: one in so many); KINDS takes some out.
. "$(dirname "$0")/../lib.sh"
need strace
tools
every=${EVERY:-31}
synth_start -pages "${PAGES:-40}" -bytes 1500 -fanout 60 -links 2
a=$WORK/archive
out=$WORK/m/out
if ! strace -f -o "$WORK/strace" "$CURTSY" --version >/dev/null 2>&1; then skip "may not trace"; fi
"$CURTSY" crawl "$SITE/" --archive "$a" --delay 0 --max-pages 30 >/dev/null 2>&1 || [[ $? -eq 3 ]]
"$CURTSY" mirror "$a" "$WORK/old" >/dev/null 2>&1
"$CURTSY" resume "$a" --delay 0 --max-pages 1000 >/dev/null 2>&1
"$CURTSY" mirror "$a" "$WORK/new" >/dev/null 2>&1
synth_stop

wrong() { # WORDS: the point that was tried is not as it should be
	trouble=$((trouble + 1))
	[[ $trouble -gt ${SHOW:-12} ]] || { echo "  $how $n: $*: $(tail -n 1 "$WORK/call")"; show "$WORK/err" '' 4; }
}

holds() { diff -r "$WORK/$1" "$out" >/dev/null 2>&1; }

# point: one call fails; false when the program makes fewer calls.
point() {
	local code=0
	rm -rf "$WORK/m"
	mkdir "$WORK/m"
	cp -a "$WORK/old" "$out"
	timeout -k 5 120 faultat -dir "$WORK/m" -how "${how%+}" $([[ $how != *+ ]] || echo -stays) -at "$n" -log "$WORK/call" "$CURTSY" mirror "$a" "$out" >"$WORK/err" 2>&1 || code=$?
	[[ -s $WORK/call ]] || return 1
	cat "$WORK/call" >>"$WORK/calls"
	! grep -qE 'panic:|fatal error:|goroutine [0-9]+|SIGBUS' "$WORK/err" || wrong "a panic"
	case $how in
	kill | killed | torn) [[ $code -eq 137 ]] || wrong "exit $code, want a kill" ;;
	*) case $code in
		0) harmless=$((harmless + 1)); holds new || wrong "exit 0, and OUT is not the new mirror" ;;
		3) grep -q '^ *try: ' "$WORK/err" || wrong "exit 3, and no word of what to try" ;;
		*) wrong "exit $code" ;;
		esac ;;
	esac
	holds old || holds new || wrong "OUT is neither the old mirror nor the new one"
	left=$(ls -A "$WORK/m" | grep -vx out || true)
	case $how in
	kill | killed | torn | *+) ;; # the next export removes it when it is an hour old
	*) [[ -z $left ]] || grep -q unlinkat "$WORK/call" || grep -qF "$left" "$WORK/err" || wrong "left beside OUT, and not named: $left" ;;
	esac
	"$CURTSY" mirror "$a" "$out" >"$WORK/err" 2>&1 || wrong "the next export: exit $?"
	holds new || wrong "the next export does not make it the new one"
}

RANDOM=${SEED:=$(date +%s)}
echo "  seed $SEED, every ${every}th call"
for how in EIO EIO+ ENOSPC ENOSPC+ EDQUOT+ EMFILE EMFILE+ kill killed short torn; do
	[[ -z ${KINDS:-} || " $KINDS " == *" $how "* ]] || continue
	trouble=0 harmless=0 points=0 from=$SECONDS
	: >"$WORK/calls"
	for ((n = 1 + RANDOM % every; ; n += every)); do
		point || break
		points=$((points + 1))
	done
	if [[ $points -eq 0 ]]; then n=1; if point; then points=1; fi; fi
	claim "mirror, $how: $points calls ($(cut -f 2 "$WORK/calls" | sort | uniq -c | awk '{ printf "%s%s %s", s, $1, $2; s = ", " }')) in $((SECONDS - from)) s, $trouble not as they should be, $harmless without harm" \
		test "$trouble" -eq 0 -a "$points" -gt 0
done
finish
