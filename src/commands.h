/*
 * The commands of the program, one file cmd_NAME.c each. A command gets its
 * own name as argv[0] and answers with the exit status.
 */
#ifndef REDISBATCH_SRC_COMMANDS_H
#define REDISBATCH_SRC_COMMANDS_H

int cmd_mget(int argc, char **argv);
int cmd_mset(int argc, char **argv);
int cmd_pipeline(int argc, char **argv);
int cmd_del(int argc, char **argv);
int cmd_exists(int argc, char **argv);
int cmd_touch(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_tune(int argc, char **argv);

#endif
