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
	"where  OBJECT := { nodemap | ports | key | link | rail | socket | stats | explain }\n"
	"       OPTIONS := { -V[ersion] | -h[elp] | -j[son] | -p[retty] }\n";

static const struct object * const objects[] = {
	&nodemap_object,
	&ports_object,
	&key_object,
	&link_object,
	&rail_object,
	&socket_object,
	&stats_object,
	&explain_object,
};

struct options {
	bool json;
	bool pretty;
	bool version;
	bool help;
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

/* Return: the number of options in front of the object, or -1. */
static int options_parse(int argc, char **argv, struct options *opt)
{
	int i, rc = 0;

	for (i = 0; i < argc && argv[i][0] == '-'; i++) {
		if (is_option(argv[i], "json"))
			opt->json = true;
		else if (is_option(argv[i], "pretty"))
			opt->pretty = true;
		else if (is_option(argv[i], "Version") || is_option(argv[i], "version"))
			opt->version = true;
		else if (is_option(argv[i], "help"))
			opt->help = true;
		else
			rc = ctl_fail("option \"%s\" is unknown, try \"sanxctl -help\"", argv[i]);
	}

	return rc ? rc : i;
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

static int object_run(struct ctl *ctl, int argc, char **argv)
{
	const struct object *object = object_find(argv[0]);
	const struct command *command;

	if (!object)
		return -1;
	/* What follows may be the name of a host. */
	if (argc > 1 && (object->run ? !strcmp(argv[1], "help") : is_prefix(argv[1], "help")))
		return help_print(ctl, object->usage);

	if (object->run)
		return object->run(ctl, argc - 1, argv + 1);
	command = command_find(object, argc > 1 ? argv[1] : "show");
	if (!command)
		return -1;
	if (argc < 2)
		return command->run(ctl, 0, NULL);
	return command->run(ctl, argc - 2, argv + 2);
}

static int ctl_run(struct ctl *ctl, const struct options *opt, int argc, char **argv)
{
	if (opt->version)
		return version_print(ctl);
	if (opt->help || (argc && is_prefix(argv[0], "help")))
		return help_print(ctl, usage);
	if (!argc) {
		fputs(usage, stderr);
		return -1;
	}
	return object_run(ctl, argc, argv);
}

int main(int argc, char **argv)
{
	struct options opt = { };
	struct ctl ctl = { };
	int used, rc = -1;

	used = options_parse(argc - 1, argv + 1, &opt);
	print_init(&ctl.out, opt.json, opt.pretty);

	if (used >= 0)
		rc = ctl_run(&ctl, &opt, argc - 1 - used, argv + 1 + used);
	if (rc)
		print_reset(&ctl.out);
	if (print_finish(&ctl.out)) {
		ctl_fail("standard output: %s", strerror(errno));
		rc = -1;
	}

	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
