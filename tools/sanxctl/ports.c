// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl ports: the ports that AF_SANX may use.
 *
 * The text output of the rules is a file that can be loaded.
 */
#include "addr.h"
#include "sanxctl.h"

static const char usage[] =
	"Usage: sanxctl ports [ show ]\n"
	"       sanxctl ports load [ --allow-empty ] FILE\n"
	"       sanxctl ports { add | del } RULE\n"
	"       sanxctl ports flush\n"
	"       sanxctl ports apply\n"
	"FILE   := lines of RULE and # comments; - is stdin\n"
	"RULE   := ACTION [ in ] [ from PEER ] [ explicit ] PORTS... |\n"
	"          ACTION [ out ] [ to PEER ] [ explicit ] PORTS...\n"
	"ACTION := { allow | deny }\n"
	"PEER   := { NODEID | ADDRESS | ADDRESS/BITS }\n"
	"PORTS  := { PORT | PORT-PORT | default }[,PORTS]\n"
	"With explicit, PORTS are those of explicit sockets, which go on behind 65535.\n"
	"The first rule that matches decides, then the first default; else allow.\n";

/*
 * Show
 */

static const char *way_name(u64 way)
{
	return way == SANX_PORT_WAY_IN ? "in" : way == SANX_PORT_WAY_OUT ? "out" : "both";
}

static const char *prefix_format(const struct nlattr **attr, char *buf, size_t size)
{
	struct in6_addr addr;
	char text[ADDR_STRLEN];
	unsigned int len, bits;

	if (!attr[SANX_A_PORT_RULE_PREFIX])
		return "";
	addr = nl_addr(attr[SANX_A_PORT_RULE_PREFIX]);
	len = attr[SANX_A_PORT_RULE_PREFIX_LEN] ?
	      nl_uint(attr[SANX_A_PORT_RULE_PREFIX_LEN]) : 128;
	bits = IN6_IS_ADDR_V4MAPPED(&addr) && len >= 96 ? 96 : 0;
	addr_format(&addr, text);
	if (len == 128)
		snprintf(buf, size, "%s", text);
	else
		snprintf(buf, size, "%s/%u", text, len - bits);
	return buf;
}

/* The words between action and ports. */
static void peer_print(struct print *out, const struct nlattr **attr)
{
	u64 way = nl_uint(attr[SANX_A_PORT_RULE_WAY]);
	u64 node = nl_uint(attr[SANX_A_PORT_RULE_NODE]);
	const char *word = way == SANX_PORT_WAY_OUT ? "to" : "from";
	char text[ADDR_STRLEN + 8];
	const char *prefix = prefix_format(attr, text, sizeof(text));

	print_string(out, "way", way ? "%s " : NULL, way_name(way));
	if (node || *prefix)
		print_string(out, NULL, "%s ", word);
	print_uint(out, "node", node ? "%llu " : NULL, node);
	print_string(out, "prefix", *prefix ? "%s " : NULL, prefix);
}

static void range_print(struct print *out, const struct nlattr **attr)
{
	bool explicit = attr[SANX_A_PORT_RULE_EXPLICIT_FIRST];
	u64 first = nl_uint(attr[explicit ? SANX_A_PORT_RULE_EXPLICIT_FIRST :
					    SANX_A_PORT_RULE_FIRST]);
	u64 last = nl_uint(attr[explicit ? SANX_A_PORT_RULE_EXPLICIT_LAST :
					   SANX_A_PORT_RULE_LAST]);

	print_bool(out, "explicit", explicit);
	if (explicit)
		print_string(out, NULL, "%s ", "explicit");
	if (!first)
		print_string(out, NULL, "%s", "default");
	print_uint(out, "first", first ? "%llu" : NULL, first);
	print_uint(out, "last", last == first ? NULL : "-%llu", last);
}

static void rule_print(struct print *out, const struct nlattr *nest)
{
	const struct nlattr *attr[SANX_A_PORT_RULE_MAX + 1];
	u64 action;

	nl_parse_nested(nest, attr, SANX_A_PORT_RULE_MAX);
	action = nl_uint(attr[SANX_A_PORT_RULE_ACTION]);

	print_item_open(out);
	print_string(out, "action", "%s ",
		     action == SANX_PORT_ACTION_ALLOW ? "allow" : "deny");
	peer_print(out, attr);
	range_print(out, attr);
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

#define RULE_ROOM (MNL_ATTR_HDRLEN + (MNL_ATTR_HDRLEN + sizeof(u32)) * 6 + \
		   MNL_ATTR_HDRLEN + sizeof(struct in6_addr))

static void range_put(struct nl_request *req, const struct port_rule *rule)
{
	if (!rule->first)
		return;
	if (rule->explicit) {
		mnl_attr_put_u32(req->nlh, SANX_A_PORT_RULE_EXPLICIT_FIRST, rule->first);
		mnl_attr_put_u32(req->nlh, SANX_A_PORT_RULE_EXPLICIT_LAST, rule->last);
	} else {
		mnl_attr_put_u16(req->nlh, SANX_A_PORT_RULE_FIRST, rule->first);
		mnl_attr_put_u16(req->nlh, SANX_A_PORT_RULE_LAST, rule->last);
	}
}

static void rule_put(struct nl_request *req, const struct port_rule *rule)
{
	struct nlattr *entry = nl_entry_start(req, SANX_A_PORTS_RULE);

	mnl_attr_put_u32(req->nlh, SANX_A_PORT_RULE_ACTION, rule->action);
	range_put(req, rule);
	if (rule->way)
		mnl_attr_put_u32(req->nlh, SANX_A_PORT_RULE_WAY, rule->way);
	if (rule->node)
		mnl_attr_put_u32(req->nlh, SANX_A_PORT_RULE_NODE, rule->node);
	if (rule->prefix_len) {
		mnl_attr_put(req->nlh, SANX_A_PORT_RULE_PREFIX, sizeof(rule->prefix),
			     &rule->prefix);
		mnl_attr_put_u8(req->nlh, SANX_A_PORT_RULE_PREFIX_LEN, rule->prefix_len);
	}
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

	rc = ctl_send(ctl, &req, NULL, NULL, &error);
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
	bool empty;
	int rc;

	empty = ctl_allow_empty(&argc, argv);
	if (ctl_one_arg(argc, argv, "FILE"))
		return -1;
	file = ctl_open(argv[0], &name);
	if (!file)
		return -1;

	rc = ports_parse(&src, file, &ports);
	if (rc)
		ctl_fail_parse(name, &src.error);
	else if (!empty && !ports.count)
		rc = ctl_fail("%s has no rule: ports flush, or load --allow-empty", name);
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

static void apply_answer(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[SANX_A_PORTS_MAX + 1];
	struct ctl *ctl = data;

	nl_parse(nlh, attr, SANX_A_PORTS_MAX);
	print_uint(&ctl->out, "ended", "%llu ended\n", nl_uint(attr[SANX_A_PORTS_ENDED]));
}

static int ports_apply(struct ctl *ctl, int argc, char **argv)
{
	print_single(&ctl->out);
	if (ctl_no_args(argc, argv))
		return -1;
	return ctl_ask(ctl, SANX_CMD_PORTS_APPLY, apply_answer, ctl);
}

static const struct command commands[] = {
	{ "show", "list", ports_show },
	{ "load", NULL, ports_load },
	{ "add", NULL, ports_add },
	{ "del", "delete", ports_del },
	{ "flush", NULL, ports_flush },
	{ "apply", NULL, ports_apply },
	{ }
};

const struct object ports_object = {
	.name = "ports",
	.usage = usage,
	.commands = commands,
};
