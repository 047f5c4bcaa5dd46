// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl nodemap: the node map, from hosts to nodes.
 *
 * The text output of a node map is a file that can be loaded.
 */
#include "addr.h"
#include "machine.h"
#include "nodemap.h"

static const char usage[] =
	"Usage: sanxctl nodemap [ show ]\n"
	"       sanxctl nodemap load [ --allow-empty ] FILE\n"
	"       sanxctl nodemap sync [ --every SECONDS ] -- COMMAND [ ARGUMENT ]...\n"
	"       sanxctl nodemap add HOST NODEID [ RAIL ]...\n"
	"       sanxctl nodemap del HOST\n"
	"       sanxctl nodemap flush\n"
	"FILE   := lines of HOST NODEID [ RAIL ]... or auto PREFIX, and # comments; - is stdin\n"
	"HOST   := { ADDRESS | NAME }\n"
	"NODEID := 1-4294967295\n"
	"PREFIX := ADDRESS/BITS of hosts that are asked who they are\n"
	"RAIL   := { [ rdma: ]ADDRESS | tcp[ :ADDRESS ] }\n";

/*
 * Show
 */

static void written_rail_print(struct print *out, const struct nlattr *rail)
{
	bool tcp = mnl_attr_get_type(rail) == SANX_A_NODE_TCP_RAIL;
	char text[sizeof("tcp:") + ADDR_STRLEN], addr[ADDR_STRLEN];
	struct in6_addr a = nl_addr(rail);

	snprintf(text, sizeof(text), "%s%s", tcp ? "tcp:" : "", addr_format(&a, addr));
	print_list_string(out, " %s", text);
}

static struct prefix prefix_read(const struct nlattr *nest)
{
	const struct nlattr *attr[SANX_A_AUTO_MAX + 1];
	struct prefix prefix = { };

	nl_parse_nested(nest, attr, SANX_A_AUTO_MAX);
	prefix.addr = nl_addr(attr[SANX_A_AUTO_PREFIX]);
	prefix.len = nl_uint(attr[SANX_A_AUTO_PREFIX_LEN]);
	return prefix;
}

static void prefix_print(struct print *out, const struct nlattr *nest)
{
	struct prefix prefix = prefix_read(nest);
	unsigned int v4 = IN6_IS_ADDR_V4MAPPED(&prefix.addr) && prefix.len >= 96 ? 96 : 0;
	char addr[ADDR_STRLEN], text[ADDR_STRLEN + sizeof("/128")];

	snprintf(text, sizeof(text), "%s/%u", addr_format(&prefix.addr, addr),
		 prefix.len - v4);
	print_item_open(out);
	print_null(out, "addr");
	print_null(out, "id");
	print_list_open(out, "rails");
	print_list_close(out);
	print_bool(out, "found", false);
	print_null(out, "found_secs");
	print_string(out, "auto", "auto %s", text);
	print_item_close(out);
}

/* What was found is a comment to those who load it. */
static void node_print(struct print *out, const struct nlattr *nest)
{
	const struct nlattr *attr[SANX_A_NODE_MAX + 1], *rail;
	struct in6_addr addr;
	char text[ADDR_STRLEN];

	nl_parse_nested(nest, attr, SANX_A_NODE_MAX);
	addr = nl_addr(attr[SANX_A_NODE_ADDR]);

	print_item_open(out);
	print_string(out, "addr", attr[SANX_A_NODE_FOUND_SECS] ? "# found: %s" : "%s",
		     addr_format(&addr, text));
	print_uint(out, "id", " %llu", nl_uint(attr[SANX_A_NODE_ID]));
	print_list_open(out, "rails");
	mnl_attr_for_each_nested(rail, nest) {
		if (mnl_attr_get_type(rail) == SANX_A_NODE_RAIL ||
		    mnl_attr_get_type(rail) == SANX_A_NODE_TCP_RAIL)
			written_rail_print(out, rail);
	}
	print_list_close(out);
	print_bool(out, "found", attr[SANX_A_NODE_FOUND_SECS]);
	ctl_print_uint(out, "found_secs", ", %llu s ago", attr[SANX_A_NODE_FOUND_SECS]);
	print_null(out, "auto");
	print_item_close(out);
}

static void nodemap_answer(const struct nlmsghdr *nlh, void *data)
{
	struct ctl *ctl = data;
	const struct nlattr *attr;

	nl_for_each(attr, nlh) {
		if (mnl_attr_get_type(attr) == SANX_A_NODEMAP_NODE)
			node_print(&ctl->out, attr);
		else if (mnl_attr_get_type(attr) == SANX_A_NODEMAP_AUTO)
			prefix_print(&ctl->out, attr);
	}
}

static int nodemap_show(struct ctl *ctl, int argc, char **argv)
{
	if (ctl_no_args(argc, argv))
		return -1;
	return ctl_show(ctl, SANX_CMD_NODEMAP_GET, nodemap_answer);
}

/*
 * Fetch
 */

struct fetch {
	struct nodemap *map;
	bool failed;
};

static void node_fetch(const struct nlattr *nest, struct fetch *fetch)
{
	const struct nlattr *attr[SANX_A_NODE_MAX + 1], *rail;
	struct node node = { };
	u16 type;

	nl_parse_nested(nest, attr, SANX_A_NODE_MAX);
	if (attr[SANX_A_NODE_FOUND_SECS])
		return;
	node.addr = nl_addr(attr[SANX_A_NODE_ADDR]);
	node.id = nl_uint(attr[SANX_A_NODE_ID]);
	mnl_attr_for_each_nested(rail, nest) {
		type = mnl_attr_get_type(rail);
		if ((type != SANX_A_NODE_RAIL && type != SANX_A_NODE_TCP_RAIL) ||
		    node.rails == SANX_MAX_RAILS)
			continue;
		node.rail[node.rails].tcp = type == SANX_A_NODE_TCP_RAIL;
		node.rail[node.rails++].addr = nl_addr(rail);
	}
	if (nodemap_append(fetch->map, &node))
		fetch->failed = true;
}

static void fetch_answer(const struct nlmsghdr *nlh, void *data)
{
	struct fetch *fetch = data;
	struct nodemap *map = fetch->map;
	const struct nlattr *attr;

	nl_for_each(attr, nlh) {
		if (mnl_attr_get_type(attr) == SANX_A_NODEMAP_NODE)
			node_fetch(attr, fetch);
		else if (mnl_attr_get_type(attr) == SANX_A_NODEMAP_AUTO &&
			 map->prefixes < SANX_MAX_AUTOS)
			map->prefix[map->prefixes++] = prefix_read(attr);
	}
}

static void fetch_again(void *data)
{
	struct fetch *fetch = data;

	fetch->map->count = 0;
	fetch->map->prefixes = 0;
}

/**
 * nodemap_fetch() - read the node map that the module uses, without what was found
 * @ctl: this run
 * @map: filled; the caller frees it in any case
 *
 * Return: 0, or -1 after a message.
 */
int nodemap_fetch(struct ctl *ctl, struct nodemap *map)
{
	struct fetch fetch = { .map = map };
	int rc;

	rc = ctl_dump(ctl, SANX_CMD_NODEMAP_GET, fetch_answer, fetch_again, &fetch);
	if (!rc && fetch.failed)
		rc = ctl_fail("out of memory");
	return rc;
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

static void prefix_put(struct nl_request *req, const struct prefix *prefix)
{
	struct nlattr *entry = nl_entry_start(req, SANX_A_NODEMAP_AUTO);

	mnl_attr_put(req->nlh, SANX_A_AUTO_PREFIX, SANX_ADDR_LEN, &prefix->addr);
	mnl_attr_put_u8(req->nlh, SANX_A_AUTO_PREFIX_LEN, prefix->len);
	nl_entry_end(req, entry);
}

/* The line that entry @i of a request was made from: hosts, and then prefixes. */
static unsigned int entry_line(const struct nodemap *map, size_t i)
{
	if (i < map->count)
		return map->node[i].line;
	i -= map->count;
	return i < map->prefixes ? map->prefix[i].line : 0;
}

/* Where to find nodes, and which node this machine is then. */
static int autos_put(struct nl_request *req, const struct nodemap *map)
{
	u32 self;
	size_t i;

	if (!map->prefixes)
		return 0;
	if (machine_node_id(&self))
		return -1;
	for (i = 0; i < map->prefixes; i++)
		prefix_put(req, &map->prefix[i]);
	mnl_attr_put_u32(req->nlh, SANX_A_NODEMAP_SELF, self);
	return 0;
}

/**
 * nodemap_send() - send a request that changes the node map
 * @ctl: this run
 * @cmd: the module's command
 * @map: its entries
 * @file: the file that the map was read from; NULL for the command line
 *
 * Return: 0, or -1 after a message.
 */
int nodemap_send(struct ctl *ctl, u8 cmd, const struct nodemap *map, const char *file)
{
	struct nl_request req;
	struct nl_error error;
	size_t i;
	int rc;

	/* One more, for the node id of this machine. */
	if (nl_request_init(&req, cmd, map->count + map->prefixes + 1, NODE_ROOM))
		return ctl_fail("out of memory");

	for (i = 0; i < map->count; i++)
		node_put(&req, &map->node[i]);
	rc = autos_put(&req, map);
	if (rc)
		goto out;

	rc = ctl_send(ctl, &req, NULL, NULL, &error);
	if (rc)
		ctl_fail_nl(file, error.has_attr ?
			    entry_line(map, nl_entry_find(&req, error.attr)) : 0, &error);
out:
	nl_request_free(&req);
	return rc;
}

static int nodemap_load(struct ctl *ctl, int argc, char **argv)
{
	struct parse_source src = { .resolve = addr_resolve };
	struct nodemap map = { };
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

	rc = nodemap_parse(&src, file, &map);
	if (rc)
		ctl_fail_parse(name, &src.error);
	else if (!empty && !map.count && !map.prefixes)
		rc = ctl_fail("%s has no host: nodemap flush, or load --allow-empty", name);
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
	{ "sync", NULL, nodemap_sync },
	{ "add", NULL, nodemap_add },
	{ "del", "delete", nodemap_del },
	{ "flush", NULL, nodemap_flush },
	{ }
};

const struct object nodemap_object = {
	.name = "nodemap",
	.usage = usage,
	.wraps = "sync",
	.commands = commands,
};
