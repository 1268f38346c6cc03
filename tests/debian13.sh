#!/bin/sh
# Builds and tests in a Debian 13 of its own: a later compiler, hiredis, cmocka,
# redis-server and valkey-server than Debian 12 has.
#
#	tests/debian13.sh FOLDER GOAL...
#
# FOLDER/root is that system, made once by debootstrap from the mirror that this
# system takes its own packages from. The files that git tracks are copied into
# it, all is built there with each warning an error, and make runs the GOALs.
#
# Needs root. It all goes on among mounts and processes of its own (unshare), so
# whatever ends this script, nothing stays mounted and no server stays alive.
set -eu

if [ "${IN_DEBIAN13:-}" != yes ]; then
	[ "$(id -u)" -eq 0 ] || {
		echo 'debian13: needs root, for debootstrap and chroot' >&2
		exit 1
	}
	command -v debootstrap >/dev/null || {
		echo 'debian13: needs debootstrap; try:' \
			'apt-get install debootstrap' >&2
		exit 1
	}
	# It heeds no signal but this one, and takes all in there with it.
	IN_DEBIAN13=yes unshare --mount --pid --fork --kill-child \
		--propagation private "$0" "$@" &
	world=$!
	trap 'kill -KILL "$world"' EXIT
	trap 'exit 1' HUP INT TERM
	status=0
	wait "$world" || status=$?
	trap - EXIT
	exit "$status"
fi

folder=$1
shift
root=$folder/root
jobs=-j$(nproc)

make_root() {
	mirror=$("$(dirname "$0")/mirror.sh")
	echo "debian13: making a system in $root"
	rm -rf "$folder"
	mkdir -p "$folder"
	debootstrap --variant=minbase trixie "$root" "$mirror" \
		>"$folder/debootstrap.log" 2>&1 || {
		tail "$folder/debootstrap.log" >&2
		exit 1
	}
	# No package may start a service.
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
	chmod 755 "$root/usr/sbin/policy-rc.d"
	cp /etc/resolv.conf "$root/etc/"
	: >"$folder/made"
}

inside() {
	chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		CI="${CI:-}" V="${V:-0}" CFLAGS='-O2 -g -Werror' \
		sh -c 'cd /src && exec "$@"' sh "$@"
}

# Built files stay, but none that git no longer knows.
copy_tree() {
	mkdir -p "$root/src"
	find "$root/src" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
	git ls-files -z | tar --null -T - -cf - | tar -xf - -C "$root/src"
}

get_packages() {
	[ ! -e "$folder/complete" ] || return 0
	inside apt-get -q install -y --no-install-recommends make
	inside make deps
	# Another server, TLS with what its static libraries want, and judges
	# of what the checks look at.
	inside apt-get -q install -y --no-install-recommends valkey-server \
		bash gnuplot-nox libssl-dev libzstd-dev zlib1g-dev mandoc \
		python3
	: >"$folder/complete"
}

say_versions() {
	inside dpkg-query -W -f '  ${Package} ${Version}\n' gcc libhiredis-dev \
		libcmocka-dev redis-server valkey-server
}

[ -e "$folder/made" ] || make_root
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount --bind /dev/pts "$root/dev/pts"
copy_tree
get_packages
say_versions
inside make "$jobs" all tests bench-programs
for goal in "$@"; do
	echo "debian13: $goal"
	inside make "$jobs" "$goal" SERVERS=valkey-server
done
