// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl nodemap: the node map, from hosts to nodes.
 *
 * The text output of a node map is a file that can be loaded.
 */
#include "addr.h"
#include "sanxctl.h"

static const char usage[] =
	"Usage: sanxctl nodemap [ show ]\n"
	"       sanxctl nodemap load FILE\n"
	"       sanxctl nodemap add HOST NODEID [ RAIL ]...\n"
	"       sanxctl nodemap del HOST\n"
	"       sanxctl nodemap flush\n"
	"FILE   := lines of HOST NODEID [ RAIL ]... and # comments; - is stdin\n"
	"HOST   := { ADDRESS | NAME }\n"
	"NODEID := 1-4294967295\n"
	"RAIL   := { [ rdma: ]ADDRESS | tcp[ :ADDRESS ] }\n";

/*
 * Show
 */

static void rail_print(struct print *out, const struct nlattr *rail)
{
	bool tcp = mnl_attr_get_type(rail) == SANX_A_NODE_TCP_RAIL;
	char text[sizeof("tcp:") + ADDR_STRLEN], addr[ADDR_STRLEN];
	struct in6_addr a = nl_addr(rail);

	snprintf(text, sizeof(text), "%s%s", tcp ? "tcp:" : "", addr_format(&a, addr));
	print_list_string(out, " %s", text);
}

static void node_print(struct print *out, const struct nlattr *nest)
{
	const struct nlattr *attr[SANX_A_NODE_MAX + 1], *rail;
	struct in6_addr addr;
	char text[ADDR_STRLEN];

	nl_parse_nested(nest, attr, SANX_A_NODE_MAX);
	addr = nl_addr(attr[SANX_A_NODE_ADDR]);

	print_item_open(out);
	print_string(out, "addr", "%s", addr_format(&addr, text));
	print_uint(out, "id", " %llu", nl_uint(attr[SANX_A_NODE_ID]));
	print_list_open(out, "rails");
	mnl_attr_for_each_nested(rail, nest) {
		if (mnl_attr_get_type(rail) == SANX_A_NODE_RAIL ||
		    mnl_attr_get_type(rail) == SANX_A_NODE_TCP_RAIL)
			rail_print(out, rail);
	}
	print_list_close(out);
	print_item_close(out);
}

static void nodemap_answer(const struct nlmsghdr *nlh, void *data)
{
	struct ctl *ctl = data;
	const struct nlattr *attr;

	nl_for_each(attr, nlh)
		if (mnl_attr_get_type(attr) == SANX_A_NODEMAP_NODE)
			node_print(&ctl->out, attr);
}

static int nodemap_show(struct ctl *ctl, int argc, char **argv)
{
	if (ctl_no_args(argc, argv))
		return -1;
	return ctl_show(ctl, SANX_CMD_NODEMAP_GET, nodemap_answer);
}

/*
 * Change
 */

#define NODE_ROOM (MNL_ATTR_HDRLEN + \
		   (MNL_ATTR_HDRLEN + SANX_ADDR_LEN) * (1 + SANX_MAX_RAILS) + \
		   MNL_ATTR_HDRLEN + sizeof(u32))

static void rail_put(struct nl_request *req, const struct rail *rail)
{
	mnl_attr_put(req->nlh, rail->tcp ? SANX_A_NODE_TCP_RAIL : SANX_A_NODE_RAIL,
		     SANX_ADDR_LEN, &rail->addr);
}

static void node_put(struct nl_request *req, const struct node *node)
{
	struct nlattr *entry = nl_entry_start(req, SANX_A_NODEMAP_NODE);
	unsigned int i;

	mnl_attr_put(req->nlh, SANX_A_NODE_ADDR, SANX_ADDR_LEN, &node->addr);
	if (node->id)
		mnl_attr_put_u32(req->nlh, SANX_A_NODE_ID, node->id);
	for (i = 0; i < node->rails; i++)
		rail_put(req, &node->rail[i]);
	nl_entry_end(req, entry);
}

/* @file: the file that the map was read from; NULL for the command line */
static int nodemap_send(struct ctl *ctl, u8 cmd, const struct nodemap *map,
			const char *file)
{
	struct nl_request req;
	struct nl_error error;
	size_t i;
	int rc;

	if (nl_request_init(&req, cmd, map->count, NODE_ROOM))
		return ctl_fail("out of memory");

	for (i = 0; i < map->count; i++)
		node_put(&req, &map->node[i]);

	rc = ctl_send(ctl, &req, &error);
	if (rc) {
		i = error.has_attr ? nl_entry_find(&req, error.attr) : map->count;
		ctl_fail_nl(file, i < map->count ? map->node[i].line : 0, &error);
	}

	nl_request_free(&req);
	return rc;
}

static int nodemap_load(struct ctl *ctl, int argc, char **argv)
{
	struct parse_source src = { .resolve = addr_resolve };
	struct nodemap map = { };
	const char *name;
	FILE *file;
	int rc;

	if (ctl_one_arg(argc, argv, "FILE"))
		return -1;
	file = ctl_open(argv[0], &name);
	if (!file)
		return -1;

	rc = nodemap_parse(&src, file, &map);
	if (rc)
		ctl_fail_parse(name, &src.error);
	else
		rc = nodemap_send(ctl, SANX_CMD_NODEMAP_LOAD, &map, name);

	ctl_close(file);
	nodemap_free(&map);
	return rc;
}

static int nodemap_add(struct ctl *ctl, int argc, char **argv)
{
	struct parse_source src = { .resolve = addr_resolve };
	struct nodemap map = { };
	int rc;

	if (!argc)
		return ctl_fail("HOST is missing");

	rc = nodemap_parse_words(&src, argc, argv, &map);
	if (rc)
		ctl_fail_parse(NULL, &src.error);
	else
		rc = nodemap_send(ctl, SANX_CMD_NODEMAP_ADD, &map, NULL);

	nodemap_free(&map);
	return rc;
}

static int nodemap_del(struct ctl *ctl, int argc, char **argv)
{
	struct parse_source src = { .resolve = addr_resolve };
	struct nodemap map = { };
	int rc;

	if (ctl_one_arg(argc, argv, "HOST"))
		return -1;

	rc = nodemap_parse_host(&src, argv[0], &map);
	if (rc)
		ctl_fail_parse(NULL, &src.error);
	else
		rc = nodemap_send(ctl, SANX_CMD_NODEMAP_DEL, &map, NULL);

	nodemap_free(&map);
	return rc;
}

static int nodemap_flush(struct ctl *ctl, int argc, char **argv)
{
	const struct nodemap none = { };

	if (ctl_no_args(argc, argv))
		return -1;
	return nodemap_send(ctl, SANX_CMD_NODEMAP_LOAD, &none, NULL);
}

static const struct command commands[] = {
	{ "show", "list", nodemap_show },
	{ "load", NULL, nodemap_load },
	{ "add", NULL, nodemap_add },
	{ "del", "delete", nodemap_del },
	{ "flush", NULL, nodemap_flush },
	{ }
};

const struct object nodemap_object = {
	.name = "nodemap",
	.usage = usage,
	.commands = commands,
};
