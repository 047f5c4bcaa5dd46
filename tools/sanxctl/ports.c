// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl ports: the ports that AF_SANX may use.
 *
 * The text output of the rules is a file that can be loaded.
 */
#include "sanxctl.h"

static const char usage[] =
	"Usage: sanxctl ports [ show ]\n"
	"       sanxctl ports load FILE\n"
	"       sanxctl ports { add | del } ACTION PORTS...\n"
	"       sanxctl ports flush\n"
	"FILE   := lines of ACTION PORTS... and # comments; - is stdin\n"
	"ACTION := { allow | deny }\n"
	"PORTS  := { PORT | PORT-PORT }[,PORTS]\n"
	"The first rule that a port falls in decides; without one, it is allowed.\n";

/*
 * Show
 */

static void rule_print(struct print *out, const struct nlattr *nest)
{
	const struct nlattr *attr[SANX_A_PORT_RULE_MAX + 1];
	u64 action, first, last;

	nl_parse_nested(nest, attr, SANX_A_PORT_RULE_MAX);
	action = nl_uint(attr[SANX_A_PORT_RULE_ACTION]);
	first = nl_uint(attr[SANX_A_PORT_RULE_FIRST]);
	last = nl_uint(attr[SANX_A_PORT_RULE_LAST]);

	print_item_open(out);
	print_string(out, "action", "%s ",
		     action == SANX_PORT_ACTION_ALLOW ? "allow" : "deny");
	print_uint(out, "first", "%llu", first);
	print_uint(out, "last", last == first ? NULL : "-%llu", last);
	print_item_close(out);
}

static void ports_answer(const struct nlmsghdr *nlh, void *data)
{
	struct ctl *ctl = data;
	const struct nlattr *attr;

	nl_for_each(attr, nlh)
		if (mnl_attr_get_type(attr) == SANX_A_PORTS_RULE)
			rule_print(&ctl->out, attr);
}

static int ports_show(struct ctl *ctl, int argc, char **argv)
{
	if (ctl_no_args(argc, argv))
		return -1;
	return ctl_show(ctl, SANX_CMD_PORTS_GET, ports_answer);
}

/*
 * Change
 */

#define RULE_ROOM (MNL_ATTR_HDRLEN + (MNL_ATTR_HDRLEN + sizeof(u32)) * 3)

static void rule_put(struct nl_request *req, const struct port_rule *rule)
{
	struct nlattr *entry = nl_entry_start(req, SANX_A_PORTS_RULE);

	mnl_attr_put_u32(req->nlh, SANX_A_PORT_RULE_ACTION, rule->action);
	mnl_attr_put_u16(req->nlh, SANX_A_PORT_RULE_FIRST, rule->first);
	mnl_attr_put_u16(req->nlh, SANX_A_PORT_RULE_LAST, rule->last);
	nl_entry_end(req, entry);
}

/* @file: the file that the rules were read from; NULL for the command line */
static int ports_send(struct ctl *ctl, u8 cmd, const struct ports *ports,
		      const char *file)
{
	struct nl_request req;
	struct nl_error error;
	size_t i;
	int rc;

	if (nl_request_init(&req, cmd, ports->count, RULE_ROOM))
		return ctl_fail("out of memory");

	for (i = 0; i < ports->count; i++)
		rule_put(&req, &ports->rule[i]);

	rc = ctl_send(ctl, &req, &error);
	if (rc) {
		i = error.has_attr ? nl_entry_find(&req, error.attr) : ports->count;
		ctl_fail_nl(file, i < ports->count ? ports->rule[i].line : 0, &error);
	}

	nl_request_free(&req);
	return rc;
}

static int ports_load(struct ctl *ctl, int argc, char **argv)
{
	struct parse_source src = { };
	struct ports ports = { };
	const char *name;
	FILE *file;
	int rc;

	if (ctl_one_arg(argc, argv, "FILE"))
		return -1;
	file = ctl_open(argv[0], &name);
	if (!file)
		return -1;

	rc = ports_parse(&src, file, &ports);
	if (rc)
		ctl_fail_parse(name, &src.error);
	else
		rc = ports_send(ctl, SANX_CMD_PORTS_LOAD, &ports, name);

	ctl_close(file);
	ports_free(&ports);
	return rc;
}

static int ports_change(struct ctl *ctl, u8 cmd, int argc, char **argv)
{
	struct parse_source src = { };
	struct ports ports = { };
	int rc;

	if (!argc)
		return ctl_fail("ACTION is missing, expected allow or deny");

	rc = ports_parse_words(&src, argc, argv, &ports);
	if (rc)
		ctl_fail_parse(NULL, &src.error);
	else
		rc = ports_send(ctl, cmd, &ports, NULL);

	ports_free(&ports);
	return rc;
}

static int ports_add(struct ctl *ctl, int argc, char **argv)
{
	return ports_change(ctl, SANX_CMD_PORTS_ADD, argc, argv);
}

static int ports_del(struct ctl *ctl, int argc, char **argv)
{
	return ports_change(ctl, SANX_CMD_PORTS_DEL, argc, argv);
}

static int ports_flush(struct ctl *ctl, int argc, char **argv)
{
	const struct ports none = { };

	if (ctl_no_args(argc, argv))
		return -1;
	return ports_send(ctl, SANX_CMD_PORTS_LOAD, &none, NULL);
}

static const struct command commands[] = {
	{ "show", "list", ports_show },
	{ "load", NULL, ports_load },
	{ "add", NULL, ports_add },
	{ "del", "delete", ports_del },
	{ "flush", NULL, ports_flush },
	{ }
};

const struct object ports_object = {
	.name = "ports",
	.usage = usage,
	.commands = commands,
};
