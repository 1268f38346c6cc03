#!/bin/sh
# Prints the mirror of Debian that the system takes its own packages from.
#
#	tests/mirror.sh
set -eu

mirror=$(apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI)' \
	'Created-By: Packages' |
	awk '$1 == "Debian" && $2 !~ /-/ { print $3; exit }')
if [ -z "$mirror" ]; then
	echo 'mirror: this system has no mirror of Debian in its sources' >&2
	exit 1
fi
echo "$mirror"
