# A server of one's own for the scripts that source this file; sh.
#
#	start_server FOLDER NAME   on the unix socket FOLDER/server.sock;
#	                           $RB_TEST_SERVER, as in tests/support/server.h
#	stop_server                waits for its end; fine if there is none

server=

start_server() {
	program=$(command -v "${RB_TEST_SERVER:-redis-server}" ||
		command -v "${RB_TEST_SERVER:-valkey-server}") || {
		echo "$2: there is no ${RB_TEST_SERVER:-redis-server or" \
			"valkey-server}" >&2
		exit 1
	}
	"$program" --port 0 --unixsocket "$1/server.sock" --save "" \
		--appendonly no --dir "$1" >"$1/server.log" 2>&1 &
	server=$!
	tries=0
	until [ -S "$1/server.sock" ]; do
		tries=$((tries + 1))
		if [ "$tries" -gt 200 ] || ! kill -0 "$server"; then
			cat "$1/server.log" >&2
			exit 1
		fi
		sleep 0.05
	done
}

stop_server() {
	[ -n "$server" ] || return 0
	kill "$server" 2>/dev/null || :
	wait "$server" 2>/dev/null || :
	server=
}
