// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl: configures and shows AF_SANX, with a command line like ip(8).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sanxctl.h"

static const char usage[] =
	"Usage: sanxctl [ OPTIONS ] OBJECT { COMMAND | help }\n"
	"where  OBJECT := { nodemap | ports | key | link | rail | socket | stats |\n"
	"                   explain | doctor | monitor | top }\n"
	"       OPTIONS := { -V[ersion] | -h[elp] | -j[son] | -p[retty] | -n[etns] NETNS }\n";

static const struct object * const objects[] = {
	&nodemap_object,
	&ports_object,
	&key_object,
	&link_object,
	&rail_object,
	&socket_object,
	&stats_object,
	&explain_object,
	&doctor_object,
	&monitor_object,
	&top_object,
};

struct options {
	bool json;
	bool pretty;
	bool version;
	bool help;
	const char *netns;
};

static bool is_prefix(const char *word, const char *name)
{
	return *word && !strncmp(word, name, strlen(word));
}

/* As with ip(8), "-json" and "--json" are the same. */
static bool is_option(const char *word, const char *name)
{
	word += word[1] == '-' ? 2 : 1;
	return is_prefix(word, name);
}

static const struct object *object_find(const char *word)
{
	const struct object *found = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		if (!is_prefix(word, objects[i]->name))
			continue;
		if (found) {
			ctl_fail("object \"%s\" is ambiguous: %s or %s", word,
				 found->name, objects[i]->name);
			return NULL;
		}
		found = objects[i];
	}

	if (!found)
		ctl_fail("object \"%s\" is unknown, try \"sanxctl help\"", word);
	return found;
}

static const struct command *command_find_alias(const struct object *object, const char *word)
{
	const struct command *command;

	for (command = object->commands; command->name; command++)
		if (command->alias && is_prefix(word, command->alias))
			return command;

	ctl_fail("command \"%s\" is unknown, try \"sanxctl %s help\"", word, object->name);
	return NULL;
}

/* The first command, show, is found by its first letter whatever the others are. */
static const struct command *command_find(const struct object *object, const char *word)
{
	const struct command *command, *found = NULL;

	if (is_prefix(word, object->commands->name))
		return object->commands;
	for (command = object->commands; command->name; command++) {
		if (!is_prefix(word, command->name))
			continue;
		if (found) {
			ctl_fail("command \"%s\" is ambiguous: %s or %s", word,
				 found->name, command->name);
			return NULL;
		}
		found = command;
	}

	return found ? found : command_find_alias(object, word);
}

/*
 * Options
 */

/* Return: the number of words that it has; 0 if it is none of ours. */
static int option_take(int argc, char **argv, struct options *opt)
{
	if (is_option(argv[0], "netns")) {
		if (argc < 2)
			return ctl_fail("the name of a network namespace is missing");
		opt->netns = argv[1];
		return 2;
	}
	if (is_option(argv[0], "json"))
		opt->json = true;
	else if (is_option(argv[0], "pretty"))
		opt->pretty = true;
	else if (is_option(argv[0], "Version") || is_option(argv[0], "version"))
		opt->version = true;
	else if (is_option(argv[0], "help"))
		opt->help = true;
	else
		return 0;
	return 1;
}

/* Options in front of the object.  Return: the number of their words, or -1. */
static int options_front(int argc, char **argv, struct options *opt)
{
	int i, n, rc = 0;

	for (i = 0; i < argc && argv[i][0] == '-'; i += n) {
		n = option_take(argc - i, argv + i, opt);
		if (n < 0)
			return n;
		if (!n) {
			rc = ctl_fail("option \"%s\" is unknown, try \"sanxctl -help\"", argv[i]);
			n = 1;
		}
	}
	return rc ? rc : i;
}

static bool is_own_option(const struct object *object, const char *word)
{
	return object->own_option && !strcmp(word, object->own_option);
}

/* Is what follows @word a command of the user with options of its own? */
static bool is_last(const struct object *object, const char *word)
{
	return !strcmp(word, "--") ||
	       (object->wraps && is_prefix(word, object->wraps) &&
		!is_prefix(word, object->commands->name));
}

/*
 * Takes options out of the words from the object on.  What is none stays: the command
 * knows what to say of it.
 * Return: the number of words that are left, or -1.
 */
static int options_behind(const struct object *object, int argc, char **argv,
			  struct options *opt)
{
	int i, n, left = 0;

	for (i = 0; i < argc && !is_last(object, argv[i]); i += n) {
		n = 0;
		if (argv[i][0] == '-' && !is_own_option(object, argv[i]))
			n = option_take(argc - i, argv + i, opt);
		if (n < 0)
			return n;
		if (!n) {
			argv[left++] = argv[i];
			n = 1;
		}
	}
	while (i < argc)
		argv[left++] = argv[i++];
	return left;
}

static int help_print(struct ctl *ctl, const char *text)
{
	print_single(&ctl->out);
	print_string(&ctl->out, "help", "%s", text);
	return 0;
}

static int version_print(struct ctl *ctl)
{
	print_single(&ctl->out);
	print_string(&ctl->out, "version", "sanxctl, af_sanx %s\n", SANX_TOOLS_VERSION);
	return 0;
}

static int object_run(struct ctl *ctl, const struct object *object, int argc, char **argv)
{
	const struct command *command;

	/* What follows may be the name of a host. */
	if (argc && (object->run ? !strcmp(argv[0], "help") : is_prefix(argv[0], "help")))
		return help_print(ctl, object->usage);

	if (object->run)
		return object->run(ctl, argc, argv);
	command = command_find(object, argc ? argv[0] : "show");
	if (!command)
		return -1;
	return command->run(ctl, argc ? argc - 1 : 0, argc ? argv + 1 : NULL);
}

static int ctl_run(struct ctl *ctl, const struct options *opt, const struct object *object,
		   int argc, char **argv)
{
	if (opt->version)
		return version_print(ctl);
	if (opt->help)
		return help_print(ctl, object ? object->usage : usage);
	if (opt->netns && netns_enter(opt->netns))
		return -1;
	return object_run(ctl, object, argc, argv);
}

/* Return: 0 with @object set if there is one, or -1. */
static int words_parse(int *argc, char ***argv, struct options *opt,
		       const struct object **object)
{
	int n = options_front(*argc, *argv, opt);

	if (n < 0)
		return n;
	*argc -= n;
	*argv += n;
	if (*argc && is_prefix((*argv)[0], "help"))
		opt->help = true;
	if (opt->version || opt->help)
		return 0;
	if (!*argc) {
		fputs(usage, stderr);
		return -1;
	}
	*object = object_find((*argv)[0]);
	if (!*object)
		return -1;
	*argv += 1;
	*argc = options_behind(*object, *argc - 1, *argv, opt);
	return *argc < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	const struct object *object = NULL;
	struct options opt = { };
	struct ctl ctl = { };
	int rc;

	argc--;
	argv++;
	rc = words_parse(&argc, &argv, &opt, &object);
	print_init(&ctl.out, opt.json, opt.pretty);
	if (!rc)
		rc = ctl_run(&ctl, &opt, object, argc, argv);
	if (rc)
		print_reset(&ctl.out);
	if (print_finish(&ctl.out)) {
		ctl_fail("standard output: %s", strerror(errno));
		rc = -1;
	}

	return rc || ctl.unwell ? EXIT_FAILURE : EXIT_SUCCESS;
}
