# Sourced behind lib.sh by scripts that serve DokuWiki, MediaWiki and repositories, as Debian
# ships them, from Apache.
PHP_MODULE=$(ls /usr/lib/apache2/modules/libphp*.so 2>/dev/null | head -n 1)

need_wikis() {
	[[ -n $PHP_MODULE && -d /usr/share/dokuwiki && -d /usr/share/mediawiki ]] || skip "dokuwiki, mediawiki or libapache2-mod-php is not installed"
}

# doku_make: DokuWiki's own code with configuration and data of ours in $WORK/doku.
doku_make() {
	mkdir -p "$WORK/doku/conf" "$WORK/doku/data"
	cp -r /var/lib/dokuwiki/data/. "$WORK/doku/data"
	cp /etc/dokuwiki/local.php /etc/dokuwiki/plugins*.php /var/lib/dokuwiki/acl/* "$WORK/doku/conf"
	echo "\$conf['savedir'] = '$WORK/doku/data';" >>"$WORK/doku/conf/local.php"
	echo "<?php define('DOKU_CONF', '$WORK/doku/conf/');" >"$WORK/doku/before.php"
}

doku_page() { mkdir -p "$(dirname "$WORK/doku/data/pages/$1")"; cat >"$WORK/doku/data/pages/$1.txt"; }

# doku_notes: twelve pages, five notes and a start page that links to them.
doku_notes() {
	local n
	for n in $(seq 12); do
		printf '====== Page %s ======\nTo [[page%s]], [[notes:page%s]], %s[[http://example.invalid/|away]].\n' \
			"$n" $((n % 12 + 1)) $((n % 5 + 1)) "${1:+[[missing$n]], }" | doku_page "page$n"
	done
	for n in $(seq 5); do printf '====== Note %s ======\n[[:page%s]] [[:start]]\n' "$n" "$n" | doku_page "notes/page$n"; done
	printf '====== Start ======\n[[page1]] [[notes:page1]] [[wiki:syntax]] [[wiki:welcome]]\n' | doku_page start
	doku_old
}

# doku_old: DokuWiki says noindex, nofollow on pages of the last five days.
doku_old() { find "$WORK/doku/data/pages" -name '*.txt' -exec touch -d 2020-01-01 {} +; }

# wiki_make URL: MediaWiki in $WORK/wiki, by its own installer; further settings from stdin.
wiki_make() {
	mkdir -p "$WORK/wiki/cache" "$WORK/wiki/images"
	php /usr/share/mediawiki/maintenance/install.php --dbtype sqlite --dbpath "$WORK/wiki" --dbname wiki --confpath "$WORK/wiki" \
		--server "$1" --scriptpath '' --pass "pass-$RANDOM$RANDOM" Wiki Admin >"$WORK/install.log" 2>&1 ||
		{ show "$WORK/install.log" '' 20; bad "MediaWiki's installer"; exit 1; }
	cat >>"$WORK/wiki/LocalSettings.php" <<-PHP
		\$wgCacheDirectory = "$WORK/wiki/cache";
		\$wgUploadDirectory = "$WORK/wiki/images";
		\$wgJobRunRate = 0;
		wfLoadSkin( 'Vector' );
		$(cat)
	PHP
	export MW_CONFIG_FILE=$WORK/wiki/LocalSettings.php
}

# wiki_page TITLE: a new revision, from stdin.
wiki_page() { php /usr/share/mediawiki/maintenance/edit.php -s made -u Admin "$1" >/dev/null; }

# history COMMITS FILES: for git fast-import; the first commit adds all files, each further one changes three.
history() {
	awk -v commits="$1" -v files="$2" 'function file(n, c,   text) { text = "file " n " of commit " c "\n"
			printf "M 100644 inline dir%d/file%d.txt\ndata %d\n%s\n", n % 5, n, length(text), text }
		BEGIN { for (c = 1; c <= commits; c++) {
			message = "change " c
			printf "commit refs/heads/master\ncommitter nobody <nobody@example.invalid> %d +0000\ndata %d\n%s\n", 1600000000 + c * 3600, length(message), message
			if (c == 1) for (n = 0; n < files; n++) file(n, c)
			else for (k = 0; k < 3; k++) file((c * 3 + k) % files, c)
			print "" } }'
}

# apache_start PORT...: Apache on these ports, with the virtual hosts from stdin.
apache_start() {
	local account='' p m modules=/usr/lib/apache2/modules
	[[ $(id -u) -ne 0 ]] || { account=$'User www-data\nGroup www-data'; chown -R www-data:www-data "$WORK"/{doku,wiki,git} 2>/dev/null || true; }
	chmod 755 "$WORK" # Apache's workers are not root
	cat >"$WORK/apache.conf" <<-CONF
		ServerRoot "$WORK"
		ServerName 127.0.0.1
		PidFile "$WORK/apache.pid"
		DefaultRuntimeDir "$WORK"
		Mutex file:$WORK
		ErrorLog "$WORK/apache.err"
		$account
		$(for m in mpm_prefork authz_core authz_host access_compat mime dir alias rewrite headers env setenvif version filter deflate cgi; do
			[[ ! -e $modules/mod_$m.so ]] || echo "LoadModule ${m}_module $modules/mod_$m.so"
		done)
		LoadModule php_module $PHP_MODULE
		TypesConfig /etc/mime.types
		KeepAlive On
		MaxKeepAliveRequests 0
		DirectoryIndex index.html index.php
		<FilesMatch "\.php$">
			SetHandler application/x-httpd-php
		</FilesMatch>
		LogFormat "%>s\t%r\t%{User-Agent}i" witness
		$(for p in "$@"; do echo "Listen 127.0.0.1:$p"; done)
		<Directory />
			Options +FollowSymLinks +ExecCGI
			AllowOverride None
			Require all granted
		</Directory>
		$(cat)
	CONF
	# in a process group of its own, because Apache ends with a signal to its whole group
	setsid apache2 -f "$WORK/apache.conf" -D FOREGROUND &
	CHILDREN+=($!)
	for p in "$@"; do until_true listens "$p" || { show "$WORK/apache.err"; exit 1; }; done
}
