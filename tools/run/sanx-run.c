// SPDX-License-Identifier: GPL-2.0
/*
 * sanx-run: runs a program with its TCP sockets as AF_SANX sockets.
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
#include "words.h"

#define PRELOAD "libsanx-preload.so"

/* As for env(1) and nohup(1). */
enum {
	EXIT_OURS	= 125,
	EXIT_CANNOT	= 126,
	EXIT_ENOENT	= 127,
};

static const char usage_text[] =
	"Usage: sanx-run [--strict] [--] COMMAND [ARGUMENT]...\n"
	"Run COMMAND with its TCP sockets as AF_SANX sockets.\n"
	"\n"
	"  -s, --strict   fail with status 125 rather than run COMMAND over TCP\n"
	"  -h, --help     show this help\n"
	"  -V, --version  show the version\n";

__printf(1, 2)
static void say(const char *fmt, ...)
{
	va_list args;

	fputs("sanx-run: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

/* Return: the index of COMMAND in argv; exits on an error. */
static int parse_options(int argc, char **argv, bool *strict)
{
	static const struct option options[] = {
		{ "strict", no_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "+shV", options, NULL)) != -1) {
		switch (opt) {
		case 's':
			*strict = true;
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
static const char *family_missing(void)
{
	static char why[128];
	int number = sanx_family_read();
	int fd;

	if (!number)
		return "AF_SANX is not loaded (try: modprobe af_sanx)";

	fd = socket(number, SOCK_STREAM | SOCK_CLOEXEC, SANXPROTO_INET);
	if (fd < 0) {
		snprintf(why, sizeof(why), "AF_SANX cannot be used (family %d: %s)",
			 number, strerror(errno));
		return why;
	}

	close(fd);
	return NULL;
}

/*
 * The library is in this program's directory in a build tree, and in
 * ../lib/sanx when installed.
 */
static bool preload_find(char path[PATH_MAX])
{
	static const char * const places[] = {
		"%s/" PRELOAD,
		"%s/../lib/sanx/" PRELOAD,
	};
	char self[PATH_MAX], place[PATH_MAX + 32];
	ssize_t len;
	size_t i;

	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len < 0)
		return false;
	self[len] = '\0';
	*strrchr(self, '/') = '\0';

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		snprintf(place, sizeof(place), places[i], self);
		if (realpath(place, path) && access(path, R_OK) == 0)
			return true;
	}

	return false;
}

/* Is the library in the list already, for example from an outer sanx-run? */
static bool preload_listed(const char *list, const char *path)
{
	size_t len = strlen(path);
	const char *p = list;

	while (*p) {
		size_t n = strcspn(p, ": ");

		if (n == len && !memcmp(p, path, len))
			return true;
		p += n;
		p += strspn(p, ": ");
	}

	return false;
}

/*
 * Appends the library.  Another library in the list that replaces socket() must
 * come first, so that it sees the program's calls.
 */
static const char *preload_set(const char *path)
{
	const char *old = getenv("LD_PRELOAD");
	char *list;
	int rc;

	if (strpbrk(path, ": "))
		return "the path of " PRELOAD " has a space or a colon in it";
	if (!old)
		old = "";
	if (preload_listed(old, path))
		return NULL;

	if (asprintf(&list, "%s%s%s", old, *old ? ":" : "", path) < 0)
		return strerror(errno);
	rc = setenv("LD_PRELOAD", list, 1);
	free(list);
	return rc ? strerror(errno) : NULL;
}

static const char *preload_missing(void)
{
	char path[PATH_MAX];

	if (!preload_find(path))
		return PRELOAD " is not where it belongs";
	return preload_set(path);
}

int main(int argc, char **argv)
{
	const char *no_preload, *no_family;
	bool strict = false;
	int command, status;

	command = parse_options(argc, argv, &strict);

	/*
	 * Set the library without the family too: the module may be loaded
	 * later.
	 */
	no_preload = preload_missing();
	no_family = family_missing();
	if (no_preload || no_family) {
		say("%s%s", no_preload ? no_preload : no_family,
		    strict ? "" : ", running over TCP");
		if (strict)
			return EXIT_OURS;
	}

	execvp(argv[command], argv + command);
	status = errno == ENOENT ? EXIT_ENOENT : EXIT_CANNOT;
	say("%s: %s", argv[command], strerror(errno));
	return status;
}
