// SPDX-License-Identifier: GPL-2.0
/*
 * sanx-run: runs a program with its TCP sockets, and with --dgram its UDP sockets, as
 * AF_SANX sockets.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sanx.h>

#include "family.h"
#include "run.h"
#include "words.h"

#define PRELOAD		"libsanx-preload.so"
#define PRELOAD_DGRAM	"libsanx-preload-dgram.so"

static const char usage_text[] =
	"Usage: sanx-run [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	"Run COMMAND with its TCP sockets as AF_SANX sockets.\n"
	"\n"
	"  -d, --dgram          its UDP sockets, too\n"
	"  -p, --profile NAME   with what the profile of that name, or file, says\n"
	"  -s, --strict         fail with status 125 rather than run COMMAND over TCP\n"
	"      --summary        say at the end what its connections went over\n"
	"  -v, --verbose        likewise, and of each\n"
	"  -h, --help           show this help\n"
	"  -V, --version        show the version\n";

/**
 * say - write a message to the standard error
 * @fmt: as for printf(), without a newline; what is longer than 1023 bytes is cut
 */
void say(const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	/* In one piece: the command and its children may write there, too. */
	dprintf(STDERR_FILENO, "sanx-run: %s\n", text);
}

/* Return: the index of COMMAND in argv; exits on an error. */
static int parse_options(int argc, char **argv, struct choice *choice)
{
	static const struct option options[] = {
		{ "dgram", no_argument, NULL, 'd' },
		{ "profile", required_argument, NULL, 'p' },
		{ "strict", no_argument, NULL, 's' },
		{ "summary", no_argument, NULL, 'S' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "+dp:svhV", options, NULL)) != -1) {
		switch (opt) {
		case 'd':
			choice->dgram = true;
			break;
		case 'p':
			if (profile_read(choice, optarg))
				exit(EXIT_OURS);
			break;
		case 's':
			choice->strict = true;
			break;
		case 'S':
			if (choice->summary == SUMMARY_NONE)
				choice->summary = SUMMARY_SUMS;
			break;
		case 'v':
			choice->summary = SUMMARY_EACH;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(EXIT_SUCCESS);
		case 'V':
			puts("sanx-run, af_sanx " SANX_TOOLS_VERSION);
			exit(EXIT_SUCCESS);
		default:
			fputs(usage_text, stderr);
			exit(EXIT_OURS);
		}
	}

	if (optind == argc) {
		say("a command is missing");
		fputs(usage_text, stderr);
		exit(EXIT_OURS);
	}

	return optind;
}

/* Return: NULL if the family can be used, otherwise the reason. */
static const char *family_missing(int type)
{
	static char why[128];
	int number = sanx_family_read();
	int fd;

	if (!number)
		return "AF_SANX is not loaded (try: modprobe af_sanx)";

	fd = socket(number, type | SOCK_CLOEXEC, SANXPROTO_INET);
	if (fd < 0) {
		snprintf(why, sizeof(why), "AF_SANX cannot be used (family %d: %s)",
			 number, strerror(errno));
		return why;
	}

	close(fd);
	return NULL;
}

/**
 * find_beside - find what came with this program
 * @below: where it is, from this program's folder
 * @path: set to its path
 *
 * Return: whether it is there.
 */
bool find_beside(const char *below, char path[PATH_MAX])
{
	char self[PATH_MAX], place[PATH_MAX + 64];
	ssize_t len;

	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len < 0)
		return false;
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	len = snprintf(place, sizeof(place), "%s/%s", self, below);
	return len < (ssize_t)sizeof(place) && realpath(place, path);
}

/*
 * The library is in this program's directory in a build tree, and in
 * ../lib/sanx when installed.
 */
static bool preload_find(const char *library, char path[PATH_MAX])
{
	static const char * const places[] = { "%s", "../lib/sanx/%s" };
	char below[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		snprintf(below, sizeof(below), places[i], library);
		if (find_beside(below, path) && access(path, R_OK) == 0)
			return true;
	}

	return false;
}

/*
 * Finds a library in the list, for example of an outer sanx-run.
 * @name: its path, or the end of one from a slash on
 * @len: set to the bytes of the entry
 * Return: the entry, or NULL.
 */
static const char *preload_listed(const char *list, const char *name, size_t *len)
{
	size_t end = strlen(name);
	const char *p;

	for (p = list; *p; p += *len, p += strspn(p, ": ")) {
		*len = strcspn(p, ": ");
		if (*len >= end && !memcmp(p + *len - end, name, end) &&
		    (*len == end || *name == '/'))
			return p;
	}

	return NULL;
}

/*
 * Appends the library.  Another library in the list that replaces socket() must
 * come first, so that it sees the program's calls.  One of ours does not come twice:
 * that for datagrams takes the place of the other, which would be called first.
 */
static const char *preload_set(const char *path)
{
	const char *old = getenv("LD_PRELOAD"), *plain;
	size_t len, before;
	char *list;
	int rc;

	if (strpbrk(path, ": "))
		return "the path of the library has a space or a colon in it";
	if (!old)
		old = "";
	if (preload_listed(old, path, &len) ||
	    preload_listed(old, "/" PRELOAD_DGRAM, &len))
		return NULL;

	plain = preload_listed(old, "/" PRELOAD, &len);
	before = plain ? (size_t)(plain - old) : strlen(old);
	if (plain)
		rc = asprintf(&list, "%.*s%s%s", (int)before, old, path, plain + len);
	else
		rc = asprintf(&list, "%s%s%s", old, *old ? ":" : "", path);
	if (rc < 0)
		return strerror(errno);
	rc = setenv("LD_PRELOAD", list, 1);
	free(list);
	return rc ? strerror(errno) : NULL;
}

static const char *preload_missing(const char *library)
{
	static char why[64];
	char path[PATH_MAX];

	if (preload_find(library, path))
		return preload_set(path);
	snprintf(why, sizeof(why), "%s is not where it belongs", library);
	return why;
}

int main(int argc, char **argv)
{
	const char *no_preload, *no_family;
	struct choice choice = { };
	int command;

	command = parse_options(argc, argv, &choice);
	if (*choice.options && setenv(SANX_OPTIONS_ENV, choice.options, 1)) {
		say("%s", strerror(errno));
		return EXIT_OURS;
	}

	/*
	 * Set the library without the family too: the module may be loaded
	 * later.
	 */
	no_preload = preload_missing(choice.dgram ? PRELOAD_DGRAM : PRELOAD);
	no_family = family_missing(choice.dgram ? SOCK_DGRAM : SOCK_STREAM);
	if (no_preload || no_family) {
		say("%s%s%s", no_preload ? no_preload : no_family,
		    choice.strict ? "" : ", running over TCP",
		    choice.dgram && !choice.strict ? " and UDP" : "");
		if (choice.strict)
			return EXIT_OURS;
	}

	if (choice.summary != SUMMARY_NONE)
		return summary_run(argv + command, choice.summary == SUMMARY_EACH);
	return command_exec(argv + command);
}
