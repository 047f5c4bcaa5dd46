// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that all objects of sanxctl use: files, requests, error messages.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sanxctl.h"

int ctl_connect(struct ctl *ctl)
{
	struct nl_error error;

	if (nl_open(&ctl->nl, &error))
		return ctl_fail_nl(NULL, 0, &error);
	return 0;
}

/**
 * ctl_open - open a file to read
 * @path: the file; "-" is the standard input
 * @name: set to the name of the file for messages
 *
 * Return: the file, to be closed with ctl_close(), or NULL after a message.
 */
FILE *ctl_open(const char *path, const char **name)
{
	FILE *file;

	if (!strcmp(path, "-")) {
		*name = "<stdin>";
		return stdin;
	}

	*name = path;
	file = fopen(path, "re");
	if (!file)
		ctl_fail("%s: %s", path, strerror(errno));
	return file;
}

void ctl_close(FILE *file)
{
	if (file != stdin)
		fclose(file);
}

static void show_again(void *data)
{
	struct ctl *ctl = data;

	print_reset(&ctl->out);
}

/**
 * ctl_dump - have all items of a kind
 * @ctl: this run
 * @cmd: the module's dump command
 * @answer: as for nl_dump()
 * @again: likewise
 * @data: likewise
 *
 * Return: 0, or -1 after a message.
 */
int ctl_dump(struct ctl *ctl, u8 cmd, nl_answer_fn answer, void (*again)(void *data),
	     void *data)
{
	struct nl_error error;
	int rc;

	if (ctl_connect(ctl))
		return -1;

	rc = nl_dump(&ctl->nl, cmd, answer, again, data, &error);
	if (rc)
		ctl_fail_nl(NULL, 0, &error);
	nl_close(&ctl->nl);
	return rc;
}

/**
 * ctl_show - dump and print all items of an object
 * @ctl: this run
 * @cmd: the module's dump command
 * @answer: prints one message of the dump; called with @ctl
 *
 * Return: 0, or -1 after a message.
 */
int ctl_show(struct ctl *ctl, u8 cmd, nl_answer_fn answer)
{
	return ctl_dump(ctl, cmd, answer, show_again, ctl);
}

/**
 * ctl_send - send a request
 * @ctl: this run
 * @req: the request
 * @answer: processes the answer; NULL if there is none
 * @data: for @answer
 * @error: set on failure; the caller prints the message
 *
 * Return: 0 or -1.
 */
int ctl_send(struct ctl *ctl, struct nl_request *req, nl_answer_fn answer, void *data,
	     struct nl_error *error)
{
	int rc;

	if (nl_open(&ctl->nl, error))
		return -1;

	rc = nl_do(&ctl->nl, req, answer, data, error);
	if (!rc && error->text[0])
		fprintf(stderr, "Warning: %s.\n", error->text);
	nl_close(&ctl->nl);
	return rc;
}

/**
 * ctl_do - send a request, and say what is wrong with it as a whole
 * @ctl: this run
 * @req: the request; freed, and what it held is not left in memory
 * @answer: as for ctl_send()
 * @data: likewise
 *
 * Return: 0, or -1 after a message.
 */
int ctl_do(struct ctl *ctl, struct nl_request *req, nl_answer_fn answer, void *data)
{
	struct nl_error error;
	int rc = ctl_send(ctl, req, answer, data, &error);

	if (rc)
		ctl_fail_nl(NULL, 0, &error);
	explicit_bzero(req->nlh, req->nlh->nlmsg_len);
	nl_request_free(req);
	return rc;
}

/**
 * ctl_ask - send a request without attributes that is answered by one object
 * @ctl: this run
 * @cmd: the module's command
 * @answer: processes the answer
 * @data: for @answer
 *
 * Return: 0, or -1 after a message.
 */
int ctl_ask(struct ctl *ctl, u8 cmd, nl_answer_fn answer, void *data)
{
	struct nl_request req;

	if (nl_request_init(&req, cmd, 0, 0))
		return ctl_fail("out of memory");
	return ctl_do(ctl, &req, answer, data);
}

/**
 * ctl_print_uint - print a number that there may be none of
 * @out: the output
 * @key: as for print_uint(); JSON has it in any case
 * @fmt: likewise; text has nothing for what is missing
 * @attr: the number, or NULL
 */
void ctl_print_uint(struct print *out, const char *key, const char *fmt,
		    const struct nlattr *attr)
{
	if (attr)
		print_uint(out, key, fmt, nl_uint(attr));
	else
		print_null(out, key);
}

/* As ctl_print_uint(), for a string. */
void ctl_print_string(struct print *out, const char *key, const char *fmt,
		      const struct nlattr *attr)
{
	print_string(out, key, fmt, attr ? nl_string(attr) : NULL);
}

int ctl_no_args(int argc, char **argv)
{
	if (argc)
		return ctl_fail("argument \"%s\" is one too many", argv[0]);
	return 0;
}

int ctl_one_arg(int argc, char **argv, const char *what)
{
	if (!argc)
		return ctl_fail("%s is missing", what);
	return ctl_no_args(argc - 1, argv + 1);
}

/**
 * ctl_named_number - take a number with a name before it, which may be left out
 * @argc: number of @argv
 * @argv: nothing, or @name and the number
 * @name: its name
 * @what: what it is the number of, for messages
 * @max: the largest that is valid
 * @number: set to it
 *
 * Return: 1 if it is there, 0 if not, or -1 after a message.
 */
int ctl_named_number(int argc, char **argv, const char *name, const char *what, u32 max,
		     u32 *number)
{
	if (!argc)
		return 0;
	if (strcmp(argv[0], name))
		return ctl_no_args(argc, argv);
	if (argc == 1)
		return ctl_fail("the number of a %s is missing", what);
	if (!parse_number(argv[1], 10, max, number))
		return ctl_fail("\"%s\" is not the number of a %s", argv[1], what);
	return ctl_no_args(argc - 2, argv + 2) ?: 1;
}

/**
 * ctl_grow - table_grow(), for those who have nothing to undo
 * @table: as there
 * @count: likewise
 * @room: likewise
 * @size: likewise
 *
 * Return: the table.  Without memory it exits the program.
 */
void *ctl_grow(void *table, size_t count, size_t *room, size_t size)
{
	table = table_grow(table, count, room, size);
	if (!table) {
		perror("sanxctl");
		exit(EXIT_FAILURE);
	}
	return table;
}

/**
 * ctl_allow_empty - take --allow-empty out of the arguments
 * @argc: their number; one less afterwards if it was there
 * @argv: the arguments
 *
 * A file that is empty by mistake must not flush what is in use.
 *
 * Return: whether it was there.
 */
bool ctl_allow_empty(int *argc, char **argv)
{
	int i, left = 0;

	for (i = 0; i < *argc; i++)
		if (strcmp(argv[i], "--allow-empty"))
			argv[left++] = argv[i];
	*argc = left;
	return left < i;
}

/**
 * ctl_fail - print an error message
 * @fmt: as for printf(); the end of the sentence is added
 *
 * Return: -1.
 */
int ctl_fail(const char *fmt, ...)
{
	char text[512];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (len > 0 && (size_t)len < sizeof(text) && text[len - 1] == '.')
		text[len - 1] = '\0';

	fprintf(stderr, "Error: %s.\n", text);
	return -1;
}

static int fail_at(const char *file, unsigned int line, const char *text)
{
	if (file && line)
		fprintf(stderr, "%s:%u: %s\n", file, line, text);
	else if (file)
		fprintf(stderr, "%s: %s\n", file, text);
	else
		return ctl_fail("%s", text);
	return -1;
}

/**
 * ctl_fail_parse - print an error in a file or on the command line
 * @file: the file; NULL for the command line
 * @error: the error
 *
 * Return: -1.
 */
int ctl_fail_parse(const char *file, const struct parse_error *error)
{
	return fail_at(file, error->line, error->text);
}

/**
 * ctl_fail_nl - print why the module refused a request
 * @file: the file that the request was made from, or NULL
 * @line: the line of @file at fault, or 0
 * @error: the module's answer
 *
 * Return: -1.
 */
int ctl_fail_nl(const char *file, unsigned int line, const struct nl_error *error)
{
	const char *text = error->text;

	if (!*text && error->err == EPERM)
		text = "Operation not permitted (CAP_NET_ADMIN is needed)";
	else if (!*text)
		text = strerror(error->err);

	return fail_at(line ? file : NULL, line, text);
}
