#!/bin/bash
# What docs/manual.md has for every week, run as it is written there: the systemd units, the line
# for cron, the script that mails what has changed; against a real https://example.org/, an nginx
# of this machine behind a proxy that knows no other host.
. "$(dirname "$0")/../lib.sh"
need nginx openssl python3 systemd-analyze
tools

mkdir -p "$WORK/root" "$WORK/home/.local/bin" "$WORK/run"
page() { printf '<!DOCTYPE html><html lang="en"><title>%s</title><h1>%s</h1><p>%s\n' "$1" "$1" "$2"; }
page Home 'The market. <a href="/news.html">News</a>' >"$WORK/root/index.html"
page News 'It opens at eight.' >"$WORK/root/news.html"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=docs -addext 'subjectAltName=DNS:example.org' \
	-keyout "$WORK/key.pem" -out "$WORK/cert.pem" 2>/dev/null
tls=$(freeport)
nginx_start "listen 127.0.0.1:$tls ssl; ssl_certificate $WORK/cert.pem; ssl_certificate_key $WORK/key.pem; root $WORK/root;"
python3 "$CI_DIR/tools/connect.py" "$tls" example.org >"$WORK/proxy.port" &
CHILDREN+=($!)
until_true test -s "$WORK/proxy.port"

export HOME=$WORK/home XDG_RUNTIME_DIR=$WORK/run
ln -s "$CURTSY" "$HOME/.local/bin/curtsy"
chmod 700 "$XDG_RUNTIME_DIR"
# alone COMMAND...: with the environment that cron and systemd give, and what the test needs.
alone() {
	env -i HOME="$HOME" LOGNAME=you SHELL=/bin/sh PATH=/usr/bin:/bin HTTPS_PROXY="http://127.0.0.1:$(cat "$WORK/proxy.port")" \
		SSL_CERT_FILE="$WORK/cert.pem" CURTSY_DELAY=20ms "$@" >"$WORK/out" 2>"$WORK/err"
}
silent() { empty "$WORK/out" && empty "$WORK/err"; }
requests() { wc -l <"$NGINX_LOG"; }

# block LANGUAGE WORD: the block of code in the manual that has that word.
block() {
	python3 - "$CI_DIR/../docs/manual.md" "$1" "$2" <<-'PY'
		import re, sys
		text = open(sys.argv[1]).read()
		found = [b for b in re.findall(r"^```%s\n(.*?)^```$" % sys.argv[2], text, re.M | re.S) if sys.argv[3] in b]
		assert len(found) == 1, (sys.argv[2:], len(found))
		print(found[0], end="")
	PY
}

echo "# cron"
block crontab MAILTO >"$WORK/crontab"
line=$(grep -v '^MAILTO=' "$WORK/crontab")
claim 'the line for cron has five fields of time, and no %, which cron reads as a line end' \
	test "$(grep -cE '^[0-9*/,-]+ [0-9*/,-]+ [0-9*/,-]+ [0-9*/,-]+ [0-9*/,-]+  ?[^ ]' <<<"$line")-$(grep -c % <<<"$line")" = 1-0
weekly=$(sed -E 's/^([^ ]+ +){5}//' <<<"$line")
claim 'its first run crawls' alone sh -c "$weekly"
claim 'and prints nothing' silent
claim 'the page is kept' grep -q 'https://example.org/news.html' <("$CURTSY" list "$HOME/archives/example.org")
before=$(requests)
claim 'a run a moment later does nothing' alone sh -c "$weekly"
claim 'and makes no request' test "$(requests)" -eq "$before"
claim 'a week later it updates' alone sh -c "$weekly --if-older 1ms"
claim 'and asks for each page' test "$(requests)" -gt "$before"

echo "# systemd"
units=$HOME/.config/systemd/user
mkdir -p "$units"
for kind in service timer; do block ini "curtsy-example.$kind" >"$units/curtsy-example.$kind"; done
well() { systemd-analyze verify --user "$units/curtsy-example.$1" >"$WORK/log" 2>&1 && empty "$WORK/log"; }
for kind in service timer; do claim "systemd-analyze finds nothing in the $kind" well $kind; done
when=$(sed -n 's/^OnCalendar=//p' "$units/curtsy-example.timer")
is_time() { systemd-analyze calendar "$1" >"$WORK/log" 2>&1 || { show "$WORK/log"; return 1; }; }
claim "$when is a time" is_time "$when"
start=$(sed -n 's/^ExecStart=//p' "$units/curtsy-example.service")
rm -r "$HOME/archives"
claim 'the first start crawls' alone sh -c "${start//%h/$HOME}"
claim 'the page is kept' grep -q 'https://example.org/news.html' <("$CURTSY" list "$HOME/archives/example.org")
rm -r "$HOME/archives"
code=0
alone sh -c "${start//%h/$HOME} --max-pages 1" || code=$?
claim 'what a limit ended has the exit code that the service takes for success' \
	test "$code" = "$(sed -n 's/^SuccessExitStatus=//p' "$units/curtsy-example.service")"
claim 'the next start goes on' alone sh -c "${start//%h/$HOME} --max-pages 0"

echo "# mail"
block sh curtsy-mail >"$HOME/.local/bin/curtsy-mail"
printf '#!/bin/sh\ncat >>"$HOME/mail"\n' >"$HOME/.local/bin/sendmail"
chmod +x "$HOME"/.local/bin/*
mails() { [[ ! -e $HOME/mail ]] || grep -c '^Subject: ' "$HOME/mail"; }
sleep 1 # times are whole seconds: what the start before has fetched is no change since
claim 'nothing has changed: it ends well' alone "$HOME/.local/bin/curtsy-mail"
claim 'and there is no mail' test ! -e "$HOME/mail"
page News 'It opens at nine.' >"$WORK/root/news.html"
claim 'a page has changed' alone "$HOME/.local/bin/curtsy-mail"
claim 'one mail says so' test "$(mails)" = 1
claim 'to whom, and what' test "$(grep -cE '^To: you@example.org$|^changed +https://example.org/news.html|^ .*nine' "$HOME/mail")" = 3
claim 'the mail is one as RFC 5322 has it' python3 -c 'import email, sys; m = email.message_from_file(open(sys.argv[1])); sys.exit(not (m["Subject"] and "nine" in m.get_payload()))' "$HOME/mail"
sleep 1
claim 'no mail the next time' alone "$HOME/.local/bin/curtsy-mail"
claim 'still one' test "$(mails)" = 1
claim 'and the archive is sound' verified "$HOME/archives/example.org"
finish
