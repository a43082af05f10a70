#!/usr/bin/env bash
# usage: images.sh [postgres|programs|prometheus|faults]...   (the first two when
# nothing is named)
# Makes the images of docker-compose.yml from files of this machine; nothing is
# pulled. The programs' images hold the static binaries of bin/ and nothing
# else. PostgreSQL's holds the installed server and the libraries it is linked
# with, and answers to the same variables as the image everybody knows; so is
# Prometheus', from Debian's package.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly tag=local
# The user the programs run as; a number, since a scratch image has no names.
readonly uid=65532
readonly pg_uid=999
readonly nobody=65534

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

say() { echo "images: $*" >&2; }

# newest_postgres prints the folder of the newest installed server.
newest_postgres() {
	local dir named
	named=$(readlink -f "$(command -v initdb || echo /none)")
	for dir in $(printf '%s\n' /usr/lib/postgresql/*/bin /usr/pgsql-*/bin "$(dirname "$named")" | sort -rV); do
		if test -x "$dir/initdb" && test -x "$dir/postgres"; then
			echo "$dir"
			return
		fi
	done
	say "PostgreSQL's programs are not installed: e2e/scripts/bootstrap postgres"
	exit 1
}

# libraries prints everything the named files are linked with, the loader too.
libraries() {
	ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// && $1 !~ /:$/ { print $1 }' | sort -u
}

# into copies files and folders to the same paths below a root, without links.
into() {
	local root=$1
	shift
	cp -rL --parents "$@" "$root"
}

postgres() {
	local bin lib share root=$stage/postgres programs modules
	bin=$(newest_postgres)
	lib=$("$bin/pg_config" --pkglibdir)
	share=$("$bin/pg_config" --sharedir)
	mkdir -p "$root"/{etc,tmp,usr/local/bin,run/postgresql,var}
	programs=("$bin"/{postgres,initdb,pg_isready,psql,pg_dump} /bin/sh /bin/mv /bin/rm)
	# Without the just-in-time compiler, which is larger than all the rest.
	mapfile -t modules < <(find "$lib" -maxdepth 1 -name '*.so' ! -name 'llvmjit*')
	into "$root" "${programs[@]}" "${modules[@]}" "$share" /usr/share/zoneinfo
	# shellcheck disable=SC2046
	into "$root" $(libraries "${programs[@]}" "${modules[@]}")
	rm -rf "${root:?}$share/man"
	chmod 1777 "$root/tmp"
	ln -s ../run "$root/var/run" # where Debian's clients look for the socket
	install -m 755 deploy/images/postgres/entrypoint "$root/usr/local/bin/entrypoint"
	printf 'root:x:0:0::/:/bin/sh\npostgres:x:%s:%s::/var/lib/postgresql:/bin/sh\n' $pg_uid $pg_uid >"$root/etc/passwd"
	printf 'root:x:0:\npostgres:x:%s:\n' $pg_uid >"$root/etc/group"
	pack "$root" $pg_uid var/lib/postgresql/data run/postgresql
	import anet-postgres "$bin" \
		-c "ENV PATH=$bin:/usr/local/bin:/usr/bin:/bin" -c 'ENV PGDATA=/var/lib/postgresql/data' \
		-c 'USER postgres' -c 'VOLUME /var/lib/postgresql/data' -c 'EXPOSE 5432' \
		-c 'ENTRYPOINT ["/usr/local/bin/entrypoint"]'
}

# prometheus has the place of the data and the user of the image everybody knows.
prometheus() {
	local bin root=$stage/prometheus
	bin=$(type -P prometheus) || { say "Prometheus is not installed: e2e/scripts/bootstrap promtool"; exit 1; }
	mkdir -p "$root"/{etc/prometheus,tmp}
	into "$root" "$bin" /usr/share/prometheus
	# shellcheck disable=SC2046
	into "$root" $(libraries "$bin")
	chmod 1777 "$root/tmp"
	printf 'root:x:0:0::/:/none\nnobody:x:%s:%s::/:/none\n' $nobody $nobody >"$root/etc/passwd"
	pack "$root" $nobody prometheus
	import anet-prometheus "$bin" \
		-c 'USER nobody' -c 'VOLUME /prometheus' -c 'EXPOSE 9090' -c "ENTRYPOINT [\"$bin\"]"
}

# import makes an image of the archive that pack wrote, unless it is there: the
# same one again would only restart what runs from it.
import() {
	local name=$1:$tag from=$2 content before
	shift 2
	content=$(cat deploy/images.sh "$stage/image.tar" | sha256sum | cut -c1-64)
	if test "$(docker image inspect -f '{{.Config.Labels.content}}' "$name" 2>/dev/null)" = "$content"; then
		say "$name is there already"
		return
	fi
	before=$(docker images -q "$name")
	docker import -c "LABEL content=$content" "$@" "$stage/image.tar" "$name" >/dev/null
	# The one it replaces would stay without a name; in use, it stays.
	test -z "$before" || docker image rm "$before" >/dev/null 2>&1 || true
	say "$name from $from"
}

# pack writes a root folder to image.tar, in which root owns all but the named
# folders. The archive says who owns what, so an ordinary user can make it, and
# nothing of when it was made.
pack() {
	local root=$1 owner=$2 archive=$stage/image.tar
	shift 2
	(cd "$root" && mkdir -p "$@" && chmod 700 "$@")
	tar -C "$root" --sort=name --mtime=@0 --numeric-owner --owner=0 --group=0 "${@/#/--exclude=./}" -cf "$archive" .
	tar -C "$root" --sort=name --mtime=@0 --numeric-owner --owner="$owner" --group="$owner" -rf "$archive" "${@/#/./}"
}

programs() {
	program anet-hub
	program anet
	program text-service
	mkdir "$stage/text-desk"
	cp deploy/images/text-desk.json "$stage/text-desk/config.json"
	build text-desk anet-text-desk
}

# faults are the driver and a hub whose clock it can move.
faults() {
	program anet-hub bin/faults anet-hub-faults
	mkdir "$stage/faults"
	cp bin/faults/faults "$stage/faults/"
	build faults anet-faults
}

# program makes the image of one static binary.
program() {
	local name=$1 from=${2:-bin} image=${3:-$1} context=$stage/${3:-$1}
	test -x "$from/$name" || { say "$from/$name is missing: make build"; exit 1; }
	mkdir -p "$context"/{root/{tmp,etc/ssl/certs},home/data,sockets/anet}
	# Folders keep their modes as the content of a folder that is copied.
	chmod 1777 "$context/root/tmp"
	chmod 700 "$context/home/data" "$context/sockets/anet"
	cp "$from/$name" "$context/"
	# Without the system's certificates a node could join no hub by https.
	if test -r /etc/ssl/certs/ca-certificates.crt; then
		cp -L /etc/ssl/certs/ca-certificates.crt "$context/root/etc/ssl/certs/"
	fi
	printf 'anet:x:%s:%s::/data:/none\n' $uid $uid >"$context/root/etc/passwd"
	build "$name" "$image" "$image"
}

# build makes an image by a Dockerfile, of the folder staged under its name or another.
build() {
	docker build -t "$2:$tag" -f "deploy/images/$1.Dockerfile" "$stage/${3:-$1}" >"$stage/said" 2>&1 ||
		{ cat "$stage/said" >&2; exit 1; }
	say "$2:$tag"
}

if test $# = 0; then
	set -- programs postgres
fi
for what in "$@"; do
	case $what in
	postgres | programs | prometheus | faults) "$what" ;;
	*) say "unknown: $what (postgres, programs, prometheus, faults)"; exit 2 ;;
	esac
done
