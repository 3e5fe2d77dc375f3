#!/bin/bash
# What is given away: programs for other systems, the same octets twice, a Debian
# package that installs, its manual, its completions in three shells, its units,
# and the parts of the container.
. "$(dirname "$0")/../lib.sh"
need go git dpkg dpkg-deb mandoc systemd-analyze python3
cd "$CI_DIR/.."
deb_tool || skip "nfpm is not installed, and cannot be built here"
sbom_tool || skip "cyclonedx-gomod is not installed, and cannot be built here"
NFPM=$(command -v nfpm) CYCLONEDX=$(command -v cyclonedx-gomod)
export NFPM CYCLONEDX
# From two clones, as who checks a release would: Go finds the commit in a clone only.
release() { git clone -q . "$WORK/src-$1" && (cd "$WORK/src-$1" && TARGETS='linux/amd64 darwin/arm64 windows/amd64' .ci/release "$WORK/$1") >"$WORK/log" 2>&1 || { show "$WORK/log"; return 1; }; }
claim "a release is built" release one
claim "and again" release two
claim "the same octets twice" diff "$WORK/one/SHA256SUMS" "$WORK/two/SHA256SUMS"
sums() { (cd "$WORK/one" && sha256sum --quiet -c SHA256SUMS); }
claim "the checksums hold" sums
static() { ! ldd "$WORK"/one/curtsy-*-linux-amd64 >/dev/null 2>&1; }
claim "the program is static" static
claim "the SBOM names the modules" python3 - "$WORK"/one/*.cdx.json <<'PY'
import json, sys
bom = json.load(open(sys.argv[1]))
names = {c["name"] for c in bom["components"]}
sys.exit(not (bom["bomFormat"] == "CycloneDX" and {"std", "go.etcd.io/bbolt"} <= names and all("@" + c["version"] in c["purl"] for c in bom["components"])))
PY
# The tests too, where signals and errors are others; that macOS can be built for, the release has shown.
vetted() { GOOS=windows go vet . ./app ./cli ./storage/... ./crawler/... ./publish/... ./fleet/... ./internal/mapped 2>"$WORK/log" || { show "$WORK/log"; return 1; }; }
claim "go vet for Windows" vetted

deb=$(echo "$WORK"/one/*_amd64.deb)
mkdir -p "$WORK/root/var/lib/dpkg/updates" "$WORK/root/var/lib/dpkg/info"
touch "$WORK/root/var/lib/dpkg/status"
installed() { dpkg --root="$WORK/root" --force-not-root --force-depends --force-script-chrootless --log=/dev/null -i "$deb" >"$WORK/log" 2>&1 || { show "$WORK/log"; return 1; }; }
if [[ ${CI:-} == true && $(id -u) -eq 0 ]]; then
	root=''
	claim "dpkg installs the package" dpkg -i "$deb"
else
	root=$WORK/root
	claim "dpkg installs the package, below another root" installed
fi
claim "curtsy version says its commit" eval '"$root/usr/bin/curtsy" version --json | grep "\"commit\":\"[0-9a-f]\{40\}\"" >/dev/null'
zcat "$root/usr/share/man/man1/curtsy.1.gz" >"$WORK/curtsy.1"
linted() { mandoc -Tlint "$WORK/curtsy.1" >"$WORK/lint" || true; empty "$WORK/lint"; }
claim "mandoc finds nothing in the manual" linted
claim "bash reads the completions" bash -n "$root/usr/share/bash-completion/completions/curtsy"
for shell in zsh fish; do
	file=$root/usr/share/zsh/vendor-completions/_curtsy
	[[ $shell == zsh ]] || file=$root/usr/share/fish/vendor_completions.d/curtsy.fish
	if command -v $shell >/dev/null; then claim "$shell reads the completions" $shell -n "$file"; else without "$shell is not installed"; fi
done
# What docs/install.md has for each shell, as it is written there.
completes() { # completes SHELL COMMAND...: its line of the table, then whether "curtsy cra" becomes crawl
	local line
	line=$(sed -n "s/^| $1 | \`\([^\`]*\)\`.*/\1/p" docs/install.md)
	[[ $line == *completion* ]] || return 1
	HOME=$WORK/in PATH=$root/usr/bin:$PATH sh -c "$line" && HOME=$WORK/in PATH=$root/usr/bin:$PATH "${@:2}" 2>/dev/null | grep crawl >/dev/null
}
mkdir -p "$WORK/in"
if command -v fish >/dev/null; then claim "docs/install.md: completion in fish" completes fish fish -c 'complete -C "curtsy cra"'; fi
if [[ -e /usr/share/bash-completion/bash_completion ]]; then
	claim "docs/install.md: completion in bash" completes bash bash -c '. /usr/share/bash-completion/bash_completion; . ~/.local/share/bash-completion/completions/curtsy
		COMP_WORDS=(curtsy cra) COMP_CWORD=1 COMP_LINE="curtsy cra" COMP_POINT=10; __start_curtsy; echo "${COMPREPLY[@]}"'
else
	without "bash-completion is not installed"
fi
mkdir -p "$WORK/in/site" && touch "$WORK/in/site/crawl.db"
# Read to its end: a program that writes to a pipe nobody reads would fail for that.
offered() { (cd "$WORK/in" && "$root/usr/bin/curtsy" __complete status '' >"$WORK/offered" 2>/dev/null && [[ $(sed -n 1p "$WORK/offered") == site ]]); }
claim "archives are offered" offered
units=$root/usr/lib/systemd/system
exposure() { systemd-analyze security --offline=true "$units/curtsy@.service" >"$WORK/log" 2>&1; tail -n 1 "$WORK/log"; less "$(sed -n 's/.*: \([0-9.]*\) .*/\1/p' "$WORK/log" | tail -n 1)" 2.0; }
claim "systemd-analyze security: under 2.0" exposure
applications=$root/usr/share
if command -v desktop-file-validate >/dev/null; then claim "desktop-file-validate" desktop-file-validate "$applications/applications/curtsy.desktop"; else without "desktop-file-validate is not installed"; fi
claim "the entry of the menu starts a program that is there, with an icon" eval 'test -x "$root/usr/bin/$(sed -n "s/^Exec=\([^ ]*\) app$/\1/p" "$applications/applications/curtsy.desktop")" && grep -q "<svg" "$applications/icons/hicolor/scalable/apps/curtsy.svg"'
claim "the macOS bundle starts its page, with an icon" python3 - "$WORK"/one/*-darwin-arm64.app.tar.gz <<'PY'
import plistlib, sys, tarfile
with tarfile.open(sys.argv[1]) as t:
    read = lambda name: t.extractfile('Curtsy.app/Contents/' + name).read()
    info = plistlib.loads(read('Info.plist'))
    start, program = (t.getmember('Curtsy.app/Contents/MacOS/' + name) for name in (info['CFBundleExecutable'], 'curtsy'))
    assert start.mode & 0o111 and program.mode & 0o111 and b'/curtsy" app' in read('MacOS/' + info['CFBundleExecutable'])
    assert read('MacOS/curtsy')[:4] == b'\xcf\xfa\xed\xfe', 'not a Mach-O program'
    assert read('Resources/' + info['CFBundleIconFile'])[:4] == b'icns'
PY
claim "the image's parts are there, and it runs as nobody" eval 'test -x "$WORK/one/image/curtsy" && grep -qx "FROM scratch" "$WORK/one/image/Containerfile" && grep -qx "USER 65532:65532" "$WORK/one/image/Containerfile"'
if command -v buildah >/dev/null; then
	built() { buildah --storage-driver vfs bud --isolation chroot -t curtsy-ci "$WORK/one/image" >"$WORK/log" 2>&1 || { show "$WORK/log"; return 1; }; }
	claim "buildah builds the image" built
else
	without "buildah is not installed: the image is checked by its parts alone"
fi
finish
