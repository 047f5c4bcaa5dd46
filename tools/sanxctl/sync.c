// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl nodemap sync: the node map is what a command writes.
 *
 * The map in use stays if the command fails, if it writes what is no map, if it
 * writes nothing, or if it writes that map.  So it is safe to repeat, and connections
 * see only changes.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "addr.h"
#include "capture.h"
#include "nodemap.h"

/* The longest wait after failures, unless a user has asked for more, in seconds. */
#define WAIT_MAX 600U

/* The name of a command's output in messages. */
#define OUTPUT "<output>"

static int output_parse(char *text, size_t len, struct nodemap *map)
{
	struct parse_source src = { .resolve = addr_resolve };
	FILE *file;
	int rc;

	if (!len)
		return ctl_fail("the command wrote nothing, expected a node map");
	file = fmemopen(text, len, "r");
	if (!file)
		return ctl_fail("out of memory");
	rc = nodemap_parse(&src, file, map);
	if (rc)
		ctl_fail_parse(OUTPUT, &src.error);
	else if (!map->count && !map->prefixes)
		rc = ctl_fail("the command wrote no host, expected a node map");
	fclose(file);
	return rc;
}

/* Return: 1 if the map in use was replaced, 0 if it is that map, or -1. */
static int map_apply(struct ctl *ctl, struct nodemap *map)
{
	struct nodemap used = { };
	int rc;

	rc = nodemap_fetch(ctl, &used);
	if (!rc && !nodemap_same(&used, map))
		rc = nodemap_send(ctl, SANX_CMD_NODEMAP_LOAD, map, OUTPUT) ? -1 : 1;
	nodemap_free(&used);
	return rc;
}

/* Return: as map_apply(). */
static int sync_once(struct ctl *ctl, char **argv)
{
	struct nodemap map = { };
	char *text;
	size_t len;
	int rc;

	rc = capture(argv, &text, &len);
	if (!rc)
		rc = output_parse(text, len, &map);
	if (!rc)
		rc = map_apply(ctl, &map);
	nodemap_free(&map);
	free(text);
	return rc;
}

/* After failures, the command is run less and less often. */
static unsigned int wait_secs(unsigned int every, unsigned int failures)
{
	unsigned int most = every > WAIT_MAX ? every : WAIT_MAX;

	for (; failures > 0 && every < most; failures--)
		every *= 2;
	return every < most ? every : most;
}

/* A signal ends it. */
__attribute__((noreturn))
static void sync_forever(struct ctl *ctl, unsigned int every, char **argv)
{
	unsigned int failures = 0;

	for (;;) {
		failures = sync_once(ctl, argv) < 0 ? failures + 1 : 0;
		sleep(wait_secs(every, failures));
	}
}

static int every_parse(int argc, char **argv, u32 *every)
{
	if (argc < 2)
		return ctl_fail("SECONDS is missing");
	if (!parse_number(argv[1], 10, INT_MAX / 2, every) || !*every)
		return ctl_fail("\"%s\" is not a time, expected a number of seconds", argv[1]);
	return 0;
}

int nodemap_sync(struct ctl *ctl, int argc, char **argv)
{
	u32 every = 0;
	int rc;

	print_single(&ctl->out);
	if (argc && (!strcmp(argv[0], "--every") || !strcmp(argv[0], "-every"))) {
		if (every_parse(argc, argv, &every))
			return -1;
		argc -= 2;
		argv += 2;
	}
	if (argc && !strcmp(argv[0], "--")) {
		argc--;
		argv++;
	} else if (argc && argv[0][0] == '-') {
		return ctl_fail("option \"%s\" is unknown, expected --every or --", argv[0]);
	}
	if (!argc)
		return ctl_fail("COMMAND is missing");

	if (every)
		sync_forever(ctl, every, argv);
	rc = sync_once(ctl, argv);
	if (rc < 0)
		return rc;
	print_string(&ctl->out, NULL, "%s\n", rc ? "changed" : "unchanged");
	print_uint(&ctl->out, "changed", NULL, rc);
	return 0;
}
