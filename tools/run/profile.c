// SPDX-License-Identifier: GPL-2.0
/*
 * Profiles: files that say what a program needs, see sanx-run(1).
 *
 * What is the program's own is set: socket options, variables, and options of sanx-run.
 * What is the machine's is compared, as it takes root to set, and others use it, too.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run.h"
#include "sanxctl/text.h"

#ifndef SANX_PROC_SYS
#define SANX_PROC_SYS	"/proc/sys"
#endif

#define BLANKS		" \t\r\n"
#define VALUE_LEN	256

/**
 * struct line - a line of a profile
 * @choice: what it changes
 * @path: the file
 * @number: of the line, from 1
 * @rest: what follows the words that were taken
 */
struct line {
	struct choice	*choice;
	const char	*path;
	unsigned int	number;
	char		*rest;
};

/* Return: the next word; empty at the end. */
static char *word(struct line *line)
{
	char *start = line->rest + strspn(line->rest, BLANKS);
	size_t len = strcspn(start, BLANKS);

	line->rest = start + len;
	if (*line->rest)
		*line->rest++ = '\0';
	return start;
}

/* Return: all that is left, without blanks at its ends. */
static char *remainder_of(struct line *line)
{
	char *start = line->rest + strspn(line->rest, BLANKS);
	size_t len = strlen(start);

	while (len && strchr(BLANKS, start[len - 1]))
		len--;
	start[len] = '\0';
	line->rest = start + len;
	return start;
}

static int wrong(const struct line *line, const char *what, const char *text)
{
	char quoted[QUOTE_LEN];

	say("%s:%u: %s: %s", line->path, line->number, quote(text, quoted), what);
	return -1;
}

/*
 * What a line may say
 */

static int yes_or_no(struct line *line, bool *to)
{
	const char *text = remainder_of(line);

	if (strcmp(text, "yes") && strcmp(text, "no"))
		return wrong(line, "expected yes or no", text);
	*to = !strcmp(text, "yes");
	return 0;
}

static int on_dgram(struct line *line)
{
	return yes_or_no(line, &line->choice->dgram);
}

static int on_strict(struct line *line)
{
	return yes_or_no(line, &line->choice->strict);
}

static int on_summary(struct line *line)
{
	static const char * const names[] = {
		[SUMMARY_NONE] = "no",
		[SUMMARY_SUMS] = "yes",
		[SUMMARY_EACH] = "each",
	};
	const char *text = remainder_of(line);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(text, names[i])) {
			line->choice->summary = i;
			return 0;
		}
	}
	return wrong(line, "expected no, yes or each", text);
}

static const struct socket_option {
	const char *name;
	int level;
	int number;
} socket_options[] = {
	{ "SO_BUSY_POLL", SOL_SOCKET, SO_BUSY_POLL },
	{ "SO_KEEPALIVE", SOL_SOCKET, SO_KEEPALIVE },
	{ "SO_RCVBUF", SOL_SOCKET, SO_RCVBUF },
	{ "SO_SNDBUF", SOL_SOCKET, SO_SNDBUF },
	{ "TCP_KEEPCNT", IPPROTO_TCP, TCP_KEEPCNT },
	{ "TCP_KEEPIDLE", IPPROTO_TCP, TCP_KEEPIDLE },
	{ "TCP_KEEPINTVL", IPPROTO_TCP, TCP_KEEPINTVL },
	{ "TCP_NODELAY", IPPROTO_TCP, TCP_NODELAY },
	{ "TCP_NOTSENT_LOWAT", IPPROTO_TCP, TCP_NOTSENT_LOWAT },
	{ "TCP_USER_TIMEOUT", IPPROTO_TCP, TCP_USER_TIMEOUT },
};

static int on_option(struct line *line)
{
	const char *name = word(line), *text = remainder_of(line);
	struct choice *c = line->choice;
	u32 value;
	size_t i, len = strlen(c->options);

	for (i = 0; i < ARRAY_SIZE(socket_options); i++)
		if (!strcmp(name, socket_options[i].name))
			break;
	if (i == ARRAY_SIZE(socket_options))
		return wrong(line, "not a socket option that a profile can set", name);
	if (!parse_number(text, 10, INT_MAX, &value))
		return wrong(line, "expected a number", text);
	if (c->n_options++ == SANX_OPTIONS_MAX)
		return wrong(line, "too many socket options", name);
	snprintf(c->options + len, sizeof(c->options) - len, "%d:%d:%u,", socket_options[i].level,
		 socket_options[i].number, value);
	return 0;
}

/* Who has set a variable knows better. */
static int on_env(struct line *line)
{
	const char *name = word(line), *value = remainder_of(line);

	if (!*name || strchr(name, '='))
		return wrong(line, "expected the name of a variable", name);
	if (setenv(name, value, 0))
		return wrong(line, strerror(errno), name);
	return 0;
}

/* Compares the numbers of two values one by one.  Return: whether all are as wanted. */
static bool compare(const char *is, const char *wanted, const char *how)
{
	char *is_end, *wanted_end;
	long long a, b;

	for (; *wanted; is = is_end, wanted = wanted_end + strspn(wanted_end, BLANKS)) {
		a = strtoll(is, &is_end, 10);
		b = strtoll(wanted, &wanted_end, 10);
		if (is_end == is || wanted_end == wanted)
			return false;
		if (*how == '>' ? a < b : a > b)
			return false;
	}
	return true;
}

/* Return: whether it has been read; blanks between numbers are one space then. */
static bool sysctl_read(const char *name, char value[VALUE_LEN])
{
	char path[PATH_MAX], *p;
	size_t len;
	FILE *file;

	len = snprintf(path, sizeof(path), SANX_PROC_SYS "/%s", name);
	if (len >= sizeof(path))
		return false;
	for (p = path + sizeof(SANX_PROC_SYS); *p; p++)
		if (*p == '.')
			*p = '/';
	file = fopen(path, "re");
	if (!file)
		return false;
	len = fread(value, 1, VALUE_LEN - 1, file);
	fclose(file);
	while (len && isspace((unsigned char)value[len - 1]))
		len--;
	value[len] = '\0';
	for (p = value; *p; p++)
		if (isspace((unsigned char)*p))
			*p = ' ';
	return true;
}

static int on_expect(struct line *line)
{
	const char *name = word(line), *how = word(line), *wanted = remainder_of(line);
	char value[VALUE_LEN];
	bool well;

	if (!*name || name[strcspn(name, "/")])
		return wrong(line, "expected the name of a sysctl", name);
	if (strcmp(how, "=") && strcmp(how, ">=") && strcmp(how, "<="))
		return wrong(line, "expected =, >= or <=", how);
	if (!*wanted)
		return wrong(line, "expected a value", wanted);
	if (!sysctl_read(name, value)) {
		say("%s: there is no %s", line->path, name);
		return 0;
	}
	well = *how == '=' ? !strcmp(value, wanted) : compare(value, wanted, how);
	if (!well)
		say("%s: %s is %s, and should be %s %s (sysctl -w %s=\"%s\")", line->path, name,
		    value, how, wanted, name, wanted);
	return 0;
}

static const struct {
	const char *word;
	int (*take)(struct line *line);
} words[] = {
	{ "dgram", on_dgram },
	{ "strict", on_strict },
	{ "summary", on_summary },
	{ "option", on_option },
	{ "env", on_env },
	{ "expect", on_expect },
};

static int line_take(struct line *line)
{
	const char *first = word(line);
	size_t i;

	if (!*first || *first == '#')
		return 0;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(first, words[i].word))
			return words[i].take(line);
	return wrong(line, "expected dgram, strict, summary, option, env or expect", first);
}

/*
 * Files
 */

static int file_take(struct choice *choice, const char *path, FILE *file)
{
	struct line line = { .choice = choice, .path = path };
	char *text = NULL;
	size_t room = 0;
	int rc = 0;

	while (!rc && getline(&text, &room, file) >= 0) {
		line.number++;
		line.rest = text;
		rc = line_take(&line);
	}
	if (!rc && ferror(file)) {
		say("%s: %s", path, strerror(errno));
		rc = -1;
	}
	free(text);
	return rc;
}

#define PLACES	3

/*
 * Where profiles are: the administrator's, beside this program in a build tree, and in
 * ../share/sanx when it is installed.
 * Return: whether there is a place of that number.
 */
static bool place(size_t i, char path[PATH_MAX])
{
	static const char * const places[PLACES] = {
		"/etc/sanx/profiles", "profiles", "../share/sanx/profiles",
	};

	if (*places[i] == '/')
		return realpath(places[i], path);
	return find_beside(places[i], path);
}

static FILE *named_open(const char *name, char path[PATH_MAX])
{
	size_t i, len;
	FILE *file;

	for (i = 0; i < PLACES; i++) {
		if (!place(i, path))
			continue;
		len = strlen(path);
		if (snprintf(path + len, PATH_MAX - len, "/%s", name) >= (int)(PATH_MAX - len))
			continue;
		file = fopen(path, "re");
		if (file || errno != ENOENT)
			return file;
	}
	errno = ENOENT;
	return NULL;
}

static int is_profile(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static void names_add(const char *path, char *list, size_t room)
{
	struct dirent **d;
	int i, n = scandir(path, &d, is_profile, alphasort);
	size_t len;

	for (i = 0; i < n; i++) {
		len = strlen(list);
		snprintf(list + len, room - len, " %s", d[i]->d_name);
		free(d[i]);
	}
	if (n >= 0)
		free(d);
}

static int not_there(const char *name)
{
	char path[PATH_MAX], list[1024] = "";
	size_t i;

	for (i = 0; i < PLACES; i++)
		if (place(i, path))
			names_add(path, list, sizeof(list));
	say("there is no profile %s; there are:%s", name, *list ? list : " none");
	return -1;
}

/**
 * profile_read - do what a profile says
 * @choice: what it changes
 * @name: name of a profile, or the path of one, with a slash in it
 *
 * Sets variables of the environment, and warns of sysctls that are not as expected.
 *
 * Return: 0, or -1 after a message.
 */
int profile_read(struct choice *choice, const char *name)
{
	char path[PATH_MAX];
	FILE *file;
	int rc;

	if (strchr(name, '/')) {
		snprintf(path, sizeof(path), "%s", name);
		file = fopen(path, "re");
	} else {
		file = named_open(name, path);
		if (!file && errno == ENOENT)
			return not_there(name);
	}
	if (!file) {
		say("%s: %s", path, strerror(errno));
		return -1;
	}
	rc = file_take(choice, path, file);
	fclose(file);
	return rc;
}
