/*
 * Passwords: where they come from, and how they are got rid of. What holds one
 * is overwritten before it is freed.
 */
#ifndef REDISBATCH_SRC_PASSWORD_H
#define REDISBATCH_SRC_PASSWORD_H

#include "exits.h"

/* The most bytes of a password, which is what a server takes from somebody who
 * is not logged in; more is refused, and never cut. */
enum { PASSWORD_MOST = 16384 };

/* Overwrites a text, also one that is not used again. NULL is fine. */
void password_wipe(char *text);
/* And frees it. */
void password_free(char *text);

/*
 * A copy of an argument of the command line, where stars take the place of what
 * is secret, so that ps does not show it: all of it, or what a URI has before
 * its host. NULL: out of memory, which was said.
 */
char *password_from_argument(char *argument);
char *password_from_uri(char *argument);

/* The first line of the file, for password_free(). Says so if others may read
 * the file. What is wrong was said: EXITS_LOCAL or EXITS_USAGE. */
exits password_from_file(const char *path, char **out);

/* Asks for it on the terminal, without showing it. EXITS_SIGNAL and a number: a
 * signal came instead. */
exits password_from_terminal(const char *prompt, char **out);

#endif
