/*
 * The server is started by fork and exec, never through a shell, and ended by
 * its own pid, never by a name: other servers on the machine are not ours.
 */
#define _XOPEN_SOURCE 700 /* nftw */

#include "server.h"

#include "port.h"
#include "tick.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum {
	START_TRIES = 5,
	START_MS = 10000,
	TERM_MS = 5000,
	MAX_ARGS = 96,
	MAX_PATH = 1024
};

struct rbt_server {
	pid_t pid; /* 0: it has ended */
	int port;
	char **extra; /* copies, for the next start; ends with NULL */
	char program[MAX_PATH];
	char dir[MAX_PATH];
	char socket[MAX_PATH + 16];
	char log[MAX_PATH + 16];
};

static char why[MAX_PATH + 256];

__attribute__((format(printf, 1, 2))) static void say_why(const char *format,
							  ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
}

/* ------------------------------------------------------- the program -- */

static bool find_in_path(const char *name, char *out, size_t size)
{
	const char *at = getenv("PATH");

	while (at && *at) {
		size_t n = strcspn(at, ":");
		int len = snprintf(out, size, "%.*s/%s", (int)n, at, name);

		if (n > 0 && len > 0 && (size_t)len < size &&
		    access(out, X_OK) == 0)
			return true;
		at += n;
		at += *at == ':';
	}
	return false;
}

static bool find_program(char *out, size_t size)
{
	const char *named = getenv("RB_TEST_SERVER");

	if (named && *named) {
		if (strchr(named, '/'))
			snprintf(out, size, "%s", named);
		else if (!find_in_path(named, out, size))
			snprintf(out, size, "%s", named);
		if (access(out, X_OK) == 0)
			return true;
		say_why("RB_TEST_SERVER is %s: %s", named, strerror(errno));
		return false;
	}
	if (find_in_path("redis-server", out, size) ||
	    find_in_path("valkey-server", out, size))
		return true;
	say_why("neither redis-server nor valkey-server found; run "
		"`make deps`");
	return false;
}

int rbt_server_available(void)
{
	char program[MAX_PATH];

	why[0] = '\0';
	return find_program(program, sizeof(program));
}

/* ----------------------------------------------------- the directory -- */

static int remove_entry(const char *path, const struct stat *st, int type,
			struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

static void remove_dir(const char *dir)
{
	if (dir[0] != '\0')
		nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static bool make_dir_in(rbt_server *s, const char *parent)
{
	struct sockaddr_un un;
	int n = snprintf(s->dir, sizeof(s->dir), "%s/redisbatch-XXXXXX",
			 parent);

	/* The socket's path must fit into an address too. */
	if (n < 0 || (size_t)n + sizeof("/socket") > sizeof(un.sun_path) ||
	    !mkdtemp(s->dir)) {
		say_why("no temporary directory in %s: %s", parent,
			strerror(errno));
		s->dir[0] = '\0';
		return false;
	}
	snprintf(s->socket, sizeof(s->socket), "%s/socket", s->dir);
	snprintf(s->log, sizeof(s->log), "%s/log", s->dir);
	return true;
}

static bool make_dir(rbt_server *s)
{
	const char *tmp = getenv("TMPDIR");

	if (tmp && tmp[0] == '/' && make_dir_in(s, tmp))
		return true;
	return make_dir_in(s, "/tmp");
}

/* ---------------------------------------------------------- starting -- */

/* Runs between fork and exec: async-signal-safe functions only. */
static void become_server(const rbt_server *s, char **argv, pid_t parent)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR);
	int log = open(s->log, O_WRONLY | O_CREAT | O_APPEND, 0600);

#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
#else
	(void)parent;
#endif
	/* Away from the terminal's Ctrl-C: it is ours to end the server. */
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (null < 0 || log < 0)
		_exit(127);
	dup2(null, 0);
	dup2(log, 1);
	dup2(log, 2);
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	execv(s->program, argv);
	_exit(127);
}

static bool spawn(rbt_server *s)
{
	char port[16];
	/* execv() promises not to change the strings it is given. */
	const char *argv[MAX_ARGS] = {
		s->program,  "--port",	    port,   "--bind",
		"127.0.0.1", "--dir",	    s->dir, "--unixsocket",
		s->socket,   "--save",	    "",	    "--appendonly",
		"no",	     "--logfile",   s->log, "--loglevel",
		"warning",   "--daemonize", "no",   NULL,
	};
	union {
		const char **fixed;
		char **loose;
	} args = { argv };
	size_t n = 0;
	pid_t parent = getpid();

	while (argv[n])
		n++;
	for (size_t i = 0; s->extra[i]; i++) {
		if (n + 1 >= MAX_ARGS) {
			say_why("too many arguments for %s", s->program);
			return false;
		}
		argv[n++] = s->extra[i];
	}
	argv[n] = NULL;
	snprintf(port, sizeof(port), "%d", s->port);
	s->pid = fork();
	if (s->pid == 0)
		become_server(s, args.loose, parent);
	if (s->pid < 0)
		say_why("fork: %s", strerror(errno));
	return s->pid > 0;
}

/* The answer to one PING on a new connection, or "" for none. */
static void ask_ping(const char *path, char *answer, size_t size)
{
	struct sockaddr_un un;
	struct pollfd pfd;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ssize_t n = 0;

	answer[0] = '\0';
	if (fd < 0)
		return;
	memset(&un, 0, sizeof(un));
	un.sun_family = AF_UNIX;
	/* It fits: the directory was made so. */
	memcpy(un.sun_path, path, strnlen(path, sizeof(un.sun_path) - 1));
	if (connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0 &&
	    send(fd, "PING\r\n", 6, MSG_NOSIGNAL) == 6) {
		pfd.fd = fd;
		pfd.events = POLLIN;
		if (poll(&pfd, 1, 1000) == 1)
			n = recv(fd, answer, size - 1, 0);
		answer[n > 0 ? n : 0] = '\0';
	}
	close(fd);
}

static void say_log(const rbt_server *s)
{
	char line[512], last[512] = "it exited at once";
	FILE *log = fopen(s->log, "r");

	while (log && fgets(line, sizeof(line), log)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0] != '\0')
			memcpy(last, line, sizeof(last));
	}
	if (log)
		fclose(log);
	say_why("%s did not start: %s", s->program, last);
}

static bool wait_ready(rbt_server *s)
{
	uint64_t end = rbt_now_us() + (uint64_t)START_MS * 1000;
	char answer[64];

	while (rbt_now_us() < end) {
		if (waitpid(s->pid, NULL, WNOHANG) == s->pid) {
			s->pid = 0;
			say_log(s);
			return false;
		}
		ask_ping(s->socket, answer, sizeof(answer));
		/* A password is a sign of life as well. */
		if (!strncmp(answer, "+PONG", 5) ||
		    !strncmp(answer, "-NOAUTH", 7))
			return true;
		rbt_sleep_ms(5);
	}
	say_why("%s did not answer within %d s", s->program, START_MS / 1000);
	return false;
}

/* ------------------------------------------------------------ ending -- */

static bool wait_exit(pid_t pid, unsigned ms)
{
	uint64_t end = rbt_now_us() + (uint64_t)ms * 1000;
	pid_t got;

	do {
		got = waitpid(pid, NULL, WNOHANG);
		if (got == pid || (got < 0 && errno == ECHILD))
			return true;
		rbt_sleep_ms(2);
	} while (rbt_now_us() < end);
	return false;
}

static void end_process(rbt_server *s)
{
	if (s->pid <= 0)
		return;
	/* A server that a test has stopped (SIGSTOP) hears nothing else. */
	kill(s->pid, SIGCONT);
	kill(s->pid, SIGTERM);
	if (!wait_exit(s->pid, TERM_MS)) {
		kill(s->pid, SIGKILL);
		wait_exit(s->pid, TERM_MS);
	}
	s->pid = 0;
}

static void free_extra(rbt_server *s)
{
	for (size_t i = 0; s->extra && s->extra[i]; i++)
		free(s->extra[i]);
	free(s->extra);
}

void rbt_server_stop(rbt_server *server)
{
	if (!server)
		return;
	end_process(server);
	remove_dir(server->dir);
	free_extra(server);
	free(server);
}

void rbt_server_kill(rbt_server *server)
{
	if (server->pid <= 0)
		return;
	kill(server->pid, SIGKILL);
	wait_exit(server->pid, TERM_MS);
	server->pid = 0;
}

/* -------------------------------------------------- from begin to end -- */

static bool copy_extra(rbt_server *s, const char *const *extra)
{
	size_t n = 0;
	bool copied;

	while (extra && extra[n])
		n++;
	s->extra = calloc(n + 1, sizeof(*s->extra));
	copied = s->extra != NULL;
	for (size_t i = 0; copied && i < n; i++) {
		s->extra[i] = strdup(extra[i]);
		copied = s->extra[i] != NULL;
	}
	return copied;
}

static bool spawn_ready(rbt_server *s)
{
	if (spawn(s) && wait_ready(s)) {
		why[0] = '\0';
		return true;
	}
	end_process(s);
	return false;
}

static bool start_somewhere(rbt_server *s, int (*find_port)(void))
{
	for (int i = 0; i < START_TRIES; i++) {
		s->port = find_port();
		if (s->port < 0) {
			say_why("no free port: %s", strerror(errno));
			return false;
		}
		if (spawn_ready(s))
			return true;
	}
	return false;
}

static rbt_server *start(const char *const *extra, int (*find_port)(void))
{
	rbt_server *s = calloc(1, sizeof(*s));

	why[0] = '\0';
	if (!s || !copy_extra(s, extra))
		say_why("out of memory");
	else if (find_program(s->program, sizeof(s->program)) && make_dir(s) &&
		 start_somewhere(s, find_port))
		return s;
	rbt_server_stop(s);
	return NULL;
}

rbt_server *rbt_server_start(const char *const *extra_args)
{
	return start(extra_args, rbt_port_any);
}

rbt_server *rbt_server_start_lasting(const char *const *extra_args)
{
	return start(extra_args, rbt_port_lasting);
}

bool rbt_server_restart(rbt_server *server)
{
	for (int i = 0; i < START_TRIES; i++)
		if (spawn_ready(server))
			return true;
	return false;
}

/* --------------------------------------------------------- accessors -- */

const char *rbt_server_socket(const rbt_server *server)
{
	return server->socket;
}

int rbt_server_port(const rbt_server *server)
{
	return server->port;
}

pid_t rbt_server_pid(const rbt_server *server)
{
	return server->pid;
}

const char *rbt_server_dir(const rbt_server *server)
{
	return server->dir;
}

const char *rbt_server_program(const rbt_server *server)
{
	return server->program;
}

const char *rbt_server_why(void)
{
	return why;
}
