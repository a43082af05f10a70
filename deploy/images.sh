#!/usr/bin/env bash
# usage: images.sh [postgres|programs]...   (all when nothing is named)
# Makes the images of docker-compose.yml from files of this machine; nothing is
# pulled. The programs' images hold the static binaries of bin/ and nothing
# else. PostgreSQL's holds the installed server and the libraries it is linked
# with, and answers to the same variables as the image everybody knows.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly tag=local
# The user the programs run as; a number, since a scratch image has no names.
readonly uid=65532
readonly pg_uid=999

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
	local bin lib share root=$stage/postgres programs modules content before
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
	# The same image again would only restart a server that runs from it.
	content=$(cat deploy/images.sh "$stage/image.tar" | sha256sum | cut -c1-64)
	if test "$(docker image inspect -f '{{.Config.Labels.content}}' "anet-postgres:$tag" 2>/dev/null)" = "$content"; then
		say "anet-postgres:$tag is there already"
		return
	fi
	before=$(docker images -q "anet-postgres:$tag")
	docker import \
		-c "LABEL content=$content" -c "ENV PATH=$bin:/usr/local/bin:/usr/bin:/bin" -c 'ENV PGDATA=/var/lib/postgresql/data' \
		-c 'USER postgres' -c 'VOLUME /var/lib/postgresql/data' -c 'EXPOSE 5432' \
		-c 'ENTRYPOINT ["/usr/local/bin/entrypoint"]' \
		"$stage/image.tar" "anet-postgres:$tag" >/dev/null
	# The one it replaces would stay without a name; in use, it stays.
	test -z "$before" || docker image rm "$before" >/dev/null 2>&1 || true
	say "anet-postgres:$tag from $bin"
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

# program makes the image of one static binary.
program() {
	local name=$1 context=$stage/$1
	test -x "bin/$name" || { say "bin/$name is missing: make build"; exit 1; }
	mkdir -p "$context"/{root/{tmp,etc/ssl/certs},home/data,sockets/anet}
	# Folders keep their modes as the content of a folder that is copied.
	chmod 1777 "$context/root/tmp"
	chmod 700 "$context/home/data" "$context/sockets/anet"
	cp "bin/$name" "$context/"
	# Without the system's certificates a node could join no hub by https.
	if test -r /etc/ssl/certs/ca-certificates.crt; then
		cp -L /etc/ssl/certs/ca-certificates.crt "$context/root/etc/ssl/certs/"
	fi
	printf 'anet:x:%s:%s::/data:/none\n' $uid $uid >"$context/root/etc/passwd"
	build "$name" "$name"
}

# build makes an image of the folder staged under a name.
build() {
	docker build -t "$2:$tag" -f "deploy/images/$1.Dockerfile" "$stage/$1" >"$stage/said" 2>&1 ||
		{ cat "$stage/said" >&2; exit 1; }
	say "$2:$tag"
}

if test $# = 0; then
	set -- programs postgres
fi
for what in "$@"; do
	case $what in
	postgres | programs) "$what" ;;
	*) say "unknown: $what (postgres, programs)"; exit 2 ;;
	esac
done
