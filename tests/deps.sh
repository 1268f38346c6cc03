#!/bin/sh
# Installs what building and testing libredisbatch needs and this system lacks.
#
# What is there is found out by trying it, not by the names of packages, so a
# compiler or a hiredis that came another way is respected. Every command that
# changes something is printed before it runs.
set -eu

policy=/usr/sbin/policy-rc.d
draft=

have() {
	command -v "$1" >/dev/null 2>&1
}

have_module() {
	have "${PKG_CONFIG:-pkg-config}" &&
		"${PKG_CONFIG:-pkg-config}" --exists "$1"
}

# A compiler may be there without the C library's headers.
have_compiler() {
	have "$1" && echo '#include <stdio.h>' |
		"$1" -E -x "$2" - >/dev/null 2>&1
}

have_server() {
	have redis-server || have valkey-server
}

# Which of the needed things are not there, one word each.
missing() {
	have_compiler cc c || echo cc
	have_compiler c++ c++ || echo c++
	have "${PKG_CONFIG:-pkg-config}" || echo pkg-config
	have_module hiredis || echo hiredis
	have_module cmocka || echo cmocka
	have_module jansson || echo jansson
	have_server || echo server
}

lacks() {
	case " $lacking " in *" $1 "*) return 0 ;; esac
	return 1
}

run() {
	printf '+ %s\n' "$*"
	"$@"
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		run "$@"
	elif have sudo; then
		run sudo "$@"
	else
		echo "deps: not root, and there is no sudo to run: $*" >&2
		exit 1
	fi
}

# The words for what is lacking, as the packages of one system.
# Arguments: pairs of a word and its packages.
packages() {
	while [ $# -gt 0 ]; do
		if lacks "$1"; then
			echo "$2"
		fi
		shift 2
	done | tr '\n' ' '
}

# The tests start servers of their own. On Debian a server package would also
# start one on the usual port, unless policy-rc.d says no.
hold_services() {
	if lacks server && [ ! -e "$policy" ]; then
		echo "deps: $policy says no to starting services until this is done"
		trap release_services EXIT
		trap 'exit 1' HUP INT TERM
		draft=$(mktemp)
		printf '#!/bin/sh\nexit 101\n' >"$draft"
		as_root install -m 755 "$draft" "$policy"
	fi
}

release_services() {
	if [ -n "$draft" ]; then
		as_root rm -f "$policy"
		rm -f "$draft"
		draft=
	fi
}

apt_offers() {
	apt-cache policy "$1" 2>/dev/null | grep 'Candidate:' |
		grep -qv '(none)'
}

with_apt() {
	# Old lists may do where the network does not.
	as_root apt-get update ||
		echo 'deps: apt-get update failed; trying with the lists there are'
	server=redis-server
	if ! apt_offers redis-server && apt_offers valkey-server; then
		server=valkey-server
	fi
	hold_services
	# shellcheck disable=SC2046
	as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y --no-install-recommends \
		$(packages cc 'gcc libc6-dev' c++ g++ pkg-config pkg-config \
			hiredis libhiredis-dev cmocka libcmocka-dev \
			jansson libjansson-dev \
			server "$server")
	release_services
}

with_dnf() {
	server=valkey
	if ! dnf -q list valkey >/dev/null 2>&1; then
		server=redis
	fi
	# shellcheck disable=SC2046
	as_root dnf install -y --setopt=install_weak_deps=False \
		$(packages cc gcc c++ gcc-c++ pkg-config pkgconf-pkg-config \
			hiredis hiredis-devel cmocka libcmocka-devel \
			jansson jansson-devel \
			server "$server")
}

with_apk() {
	server=redis
	if [ -z "$(apk search -x redis 2>/dev/null)" ] &&
		[ -n "$(apk search -x valkey 2>/dev/null)" ]; then
		server=valkey
	fi
	# shellcheck disable=SC2046
	as_root apk add --no-cache \
		$(packages cc build-base c++ build-base pkg-config pkgconf \
			hiredis hiredis-dev cmocka cmocka-dev \
			jansson jansson-dev \
			server "$server")
}

# Homebrew must not run as root, and the compiler is not its to install.
with_brew() {
	if lacks cc || lacks c++; then
		run xcode-select --install
	fi
	# shellcheck disable=SC2046
	run brew install $(packages pkg-config pkg-config hiredis hiredis \
		cmocka cmocka jansson jansson server redis)
}

by_hand() {
	cat >&2 <<'END'
deps: none of apt-get, dnf, apk and brew is here. Please install:
  a C and a C++ compiler with the C library's headers
  pkg-config
  hiredis, with its headers
  cmocka, with its headers
  redis-server or valkey-server
END
	exit 1
}

lacking=$(missing | tr '\n' ' ')
if [ -z "$lacking" ]; then
	echo 'deps: everything is there'
	exit 0
fi
echo "deps: missing: $lacking"

if have apt-get; then
	with_apt
elif have dnf; then
	with_dnf
elif have apk; then
	with_apk
elif have brew; then
	with_brew
else
	by_hand
fi

lacking=$(missing | tr '\n' ' ')
if [ -n "$lacking" ]; then
	echo "deps: still missing: $lacking" >&2
	exit 1
fi
echo 'deps: everything is there now'
