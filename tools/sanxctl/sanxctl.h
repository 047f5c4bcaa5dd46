/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations for all objects of sanxctl.
 *
 * A function that returns -1 has printed a message on the standard error.
 * ctl_send() does not; it sets a struct nl_error.
 */
#ifndef SANXCTL_H
#define SANXCTL_H

#include <stdio.h>

#include "nl.h"
#include "parse.h"
#include "print.h"

/**
 * struct ctl - one run of sanxctl
 * @nl: connection to the module, after ctl_connect()
 * @out: output for the standard output
 * @unwell: things that "doctor" found to be wrong; the exit status says so
 */
struct ctl {
	struct nl nl;
	struct print out;
	unsigned int unwell;
};

/**
 * struct command - a command of an object
 * @name: its name
 * @alias: another name, used if no name matches
 * @run: runs it, with the arguments behind the name
 */
struct command {
	const char *name;
	const char *alias;
	int (*run)(struct ctl *ctl, int argc, char **argv);
};

/**
 * struct object - an object of the command line
 * @name: its name
 * @usage: its usage text
 * @commands: its commands; ends with one without a name
 * @own_option: an option of its commands that is also one of all objects
 * @wraps: its command that takes a command of the user; the words behind it are not ours
 * @run: in place of @commands: runs it, with the arguments behind the name
 */
struct object {
	const char *name;
	const char *usage;
	const struct command *commands;
	const char *own_option;
	const char *wraps;
	int (*run)(struct ctl *ctl, int argc, char **argv);
};

extern const struct object nodemap_object;
extern const struct object ports_object;
extern const struct object key_object;
extern const struct object link_object;
extern const struct object rail_object;
extern const struct object socket_object;
extern const struct object stats_object;
extern const struct object explain_object;
extern const struct object doctor_object;
extern const struct object monitor_object;
extern const struct object top_object;

/* rail.c */
void rail_print(struct print *out, const struct nlmsghdr *nlh);

int ctl_connect(struct ctl *ctl);

FILE *ctl_open(const char *path, const char **name);
void ctl_close(FILE *file);

int ctl_dump(struct ctl *ctl, u8 cmd, nl_answer_fn answer, void (*again)(void *data),
	     void *data);
int ctl_show(struct ctl *ctl, u8 cmd, nl_answer_fn answer);
int ctl_ask(struct ctl *ctl, u8 cmd, nl_answer_fn answer, void *data);
int ctl_send(struct ctl *ctl, struct nl_request *req, nl_answer_fn answer, void *data,
	     struct nl_error *error);
int ctl_do(struct ctl *ctl, struct nl_request *req, nl_answer_fn answer, void *data);

void ctl_print_uint(struct print *out, const char *key, const char *fmt,
		    const struct nlattr *attr);
void ctl_print_string(struct print *out, const char *key, const char *fmt,
		      const struct nlattr *attr);

int ctl_no_args(int argc, char **argv);
void *ctl_grow(void *table, size_t count, size_t *room, size_t size);
bool ctl_allow_empty(int *argc, char **argv);
int ctl_named_number(int argc, char **argv, const char *name, const char *what, u32 max,
		     u32 *number);
int ctl_one_arg(int argc, char **argv, const char *what);

__printf(1, 2)
int ctl_fail(const char *fmt, ...);
int ctl_fail_parse(const char *file, const struct parse_error *error);
int ctl_fail_nl(const char *file, unsigned int line, const struct nl_error *error);

/* netns.c */
int netns_enter(const char *name);

#endif /* SANXCTL_H */
