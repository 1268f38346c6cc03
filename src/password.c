#include "password.h"

#include "say.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

/* A terminal drops what is beyond so many bytes of a line, and says nothing. */
enum { TERMINAL_MOST = 4094 };

/* Through volatile, or the compiler would leave it out before a free(). */
static void overwrite(char *text, size_t len, char c)
{
	volatile char *p = text;

	while (len-- > 0)
		*p++ = c;
}

void password_wipe(char *text)
{
	if (text != NULL)
		overwrite(text, strlen(text), '\0');
}

void password_free(char *text)
{
	password_wipe(text);
	free(text);
}

/* ------------------------------------------------------ the command line -- */

static char *copy(const char *text)
{
	char *copied = strdup(text);

	if (copied == NULL)
		say("out of memory");
	return copied;
}

char *password_from_argument(char *argument)
{
	char *copied = copy(argument);

	overwrite(argument, strlen(argument), '*');
	return copied;
}

/* Up to the last @ of all, be it right or not: it may be a password that was
 * not encoded. */
char *password_from_uri(char *argument)
{
	char *copied = copy(argument);
	char *start = strstr(argument, "://");
	char *at;

	start = start != NULL ? start + 3 : argument;
	at = strrchr(start, '@');
	if (at != NULL)
		overwrite(start, (size_t)(at - start), '*');
	return copied;
}

/* ---------------------------------------------------------------- a line -- */

typedef struct line {
	int fd;
	size_t len;
	/* One more than a password may have, and the line's end. */
	char bytes[PASSWORD_MOST + 3];
} line;

static bool is_whole(const line *l)
{
	return memchr(l->bytes, '\n', l->len) != NULL;
}

/* False with errno; EINTR only if a signal ends the run. */
static bool read_line(line *l)
{
	ssize_t n = 1;

	while (n > 0 && !is_whole(l) && l->len < sizeof(l->bytes)) {
		n = -1;
		if (signals_await(l->fd, POLLIN))
			n = read(l->fd, l->bytes + l->len,
				 sizeof(l->bytes) - l->len);
		if (n < 0 && errno == EINTR && signals_caught() == 0)
			n = 1;
		else if (n > 0)
			l->len += (size_t)n;
	}
	return n >= 0;
}

/* Without its end, be it that of this system or of another. */
static size_t line_len(const line *l)
{
	const char *end = memchr(l->bytes, '\n', l->len);
	size_t len = end != NULL ? (size_t)(end - l->bytes) : l->len;

	return len > 0 && l->bytes[len - 1] == '\r' ? len - 1 : len;
}

static const char *line_problem(const line *l, size_t most)
{
	size_t len = line_len(l);

	if (len == 0)
		return "there is no password";
	if (len > most)
		return "the password is too long";
	if (memchr(l->bytes, '\0', len) != NULL)
		return "there is a NUL in the password";
	return NULL;
}

/* Takes the password out of the line; from is named in messages. */
static exits take_line(const line *l, const char *from, size_t most, char **out)
{
	const char *problem = line_problem(l, most);

	if (problem != NULL) {
		say("%s: %s", from, problem);
		return EXITS_USAGE;
	}
	*out = strndup(l->bytes, line_len(l));
	if (*out != NULL)
		return EXITS_FINE;
	say("out of memory");
	return EXITS_LOCAL;
}

static exits ended_by_signal(void)
{
	return (exits)(EXITS_SIGNAL + signals_caught());
}

/* ---------------------------------------------------------------- a file -- */

static void warn_of_readers(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_mode & (S_IRGRP | S_IROTH)) != 0)
		say("warning: %s can be read by others; chmod 600 helps", path);
}

exits password_from_file(const char *path, char **out)
{
	line *l = calloc(1, sizeof(*l));
	exits status = EXITS_LOCAL;

	*out = NULL;
	if (l == NULL) {
		say("out of memory");
		return status;
	}
	l->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (l->fd >= 0 && read_line(l)) {
		warn_of_readers(l->fd, path);
		status = take_line(l, path, PASSWORD_MOST, out);
	} else if (signals_caught() != 0) {
		status = ended_by_signal();
	} else {
		say("%s: %s", path, strerror(errno));
	}
	if (l->fd >= 0)
		close(l->fd);
	overwrite(l->bytes, l->len, '\0');
	free(l);
	return status;
}

/* ---------------------------------------------------------- the terminal -- */

/* Neither shown nor stopped: a program that is stopped or quits would leave a
 * terminal that shows nothing. The usual signals are seen by read_line(). */
static void hide(struct termios *t)
{
	t->c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL);
	t->c_lflag |= ICANON | ISIG;
	t->c_iflag |= ICRNL;
	t->c_cc[VQUIT] = _POSIX_VDISABLE;
	t->c_cc[VSUSP] = _POSIX_VDISABLE;
}

static void put(int fd, const char *text)
{
	/* Without a prompt it goes on all the same. */
	if (write(fd, text, strlen(text)) < 0)
		return;
}

static bool ask(line *l, const char *prompt)
{
	struct termios usual;
	struct termios hidden;
	bool got;
	int error;

	if (tcgetattr(l->fd, &usual) != 0)
		return false;
	hidden = usual;
	hide(&hidden);
	if (tcsetattr(l->fd, TCSAFLUSH, &hidden) != 0)
		return false;
	put(l->fd, prompt);
	got = read_line(l);
	error = errno;
	(void)tcsetattr(l->fd, TCSAFLUSH, &usual);
	put(l->fd, "\n");
	errno = error;
	return got;
}

exits password_from_terminal(const char *prompt, char **out)
{
	line *l = calloc(1, sizeof(*l));
	exits status = EXITS_LOCAL;

	*out = NULL;
	if (l == NULL) {
		say("out of memory");
		return status;
	}
	l->fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (l->fd >= 0 && ask(l, prompt))
		status = take_line(l, "the terminal", TERMINAL_MOST, out);
	else if (signals_caught() != 0)
		status = ended_by_signal();
	else
		say("--askpass: there is no terminal: %s", strerror(errno));
	if (l->fd >= 0)
		close(l->fd);
	overwrite(l->bytes, l->len, '\0');
	free(l);
	return status;
}
