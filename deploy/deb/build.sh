#!/usr/bin/env bash
# usage: build.sh [-b FOLDER] [-o FOLDER] [anet-hub|anet]...   (both when nothing is named)
# Packs programs (-b, bin) for Debian and its kin, with dpkg-deb alone. Prints the
# files that it made (-o, dist).
set -euo pipefail
umask 022
cd "$(dirname "$0")/../.."

bin=bin
out=dist
while getopts b:o: flag; do
	case $flag in
	b) bin=$OPTARG ;;
	o) out=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))

readonly maintainer='anet <anet@localhost>'
# Files are as old as the commit, so that one commit makes one package.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

# version is that of the program: a tag, or before the first one a commit, which is
# older than any tag will be.
version() {
	local said commit
	said=$("$bin/$1" version --json | sed -n 's/.*"version": "\(.*\)".*/\1/p')
	commit=$("$bin/$1" version --json | sed -n 's/.*"commit": "\(.*\)".*/\1/p')
	case $said in
	v[0-9]*) said=${said#v} && echo "${said/-/+}" | tr - . ;;
	*) echo "0~$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M)${commit:++$commit}" ;;
	esac
}

put() { install -D -m "$1" "$2" "$root/$3"; }

common() {
	put 755 "$bin/$1" "usr/bin/$1"
	put 644 LICENSE "usr/share/doc/$1/copyright"
	put 644 CHANGELOG.md "usr/share/doc/$1/CHANGELOG.md"
	mkdir -p "$root/usr/share/man/man1"
	env -u XDG_DATA_HOME HOME='~' "$bin/$1" man "$root/usr/share/man/man1" # whoever builds
	gzip -9n "$root"/usr/share/man/man1/*.1
	local shells=(bash "bash-completion/completions/$1" zsh "zsh/vendor-completions/_$1" fish "fish/vendor_completions.d/$1.fish")
	for ((i = 0; i < ${#shells[@]}; i += 2)); do
		mkdir -p "$(dirname "$root/usr/share/${shells[i + 1]}")"
		"$bin/$1" completion "${shells[i]}" >"$root/usr/share/${shells[i + 1]}"
	done
}

files_of_anet-hub() {
	local here=deploy/deb/anet-hub unit
	for unit in anet-hub.service anet-hub-backup.service anet-hub-backup.timer; do
		put 644 deploy/systemd/$unit lib/systemd/system/$unit
	done
	put 644 $here/sysusers.conf usr/lib/sysusers.d/anet-hub.conf
	put 640 $here/anet-hub.env etc/anet-hub/anet-hub.env
	put 644 docs/hub.md usr/share/doc/anet-hub/hub.md
	echo /etc/anet-hub/anet-hub.env >"$root/DEBIAN/conffiles"
	install -m 755 $here/postinst $here/prerm $here/postrm "$root/DEBIAN/"
}

files_of_anet() {
	put 644 deploy/systemd/anet.service usr/lib/systemd/user/anet.service
	put 644 docs/node.md usr/share/doc/anet/node.md
}

pack() {
	local name=$1 arch v
	arch=$(dpkg --print-architecture)
	v=$(version "$name")
	root=$(mktemp -d)
	chmod 755 "$root"
	mkdir "$root/DEBIAN"
	common "$name"
	"files_of_$name"
	{
		printf 'Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n' "$name" "$v" "$arch" "$maintainer"
		printf 'Priority: optional\nHomepage: https://github.com/anet-hub/anet\nInstalled-Size: %s\n' "$(du -sk --exclude=DEBIAN "$root" | cut -f1)"
		cat "deploy/deb/$name/control"
	} >"$root/DEBIAN/control"
	mkdir -p "$out"
	dpkg-deb --root-owner-group -Zgzip --build "$root" "$out/${name}_${v}_$arch.deb" >/dev/null
	rm -r "$root"
	echo "$out/${name}_${v}_$arch.deb"
}

[ $# -gt 0 ] || set -- anet-hub anet
for name in "$@"; do
	pack "$name"
done
