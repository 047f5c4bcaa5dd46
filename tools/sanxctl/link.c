// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl link: the links to other nodes.
 */
#include <string.h>

#include "addr.h"
#include "keyfile.h"
#include "sanxctl.h"

static const char usage[] =
	"Usage: sanxctl link [ show ]\n"
	"       sanxctl link reset NODEID [ lane NUMBER ]\n";

/* What is not known yet, or does not apply, is missing or 0. */
static const struct nlattr *known(const struct nlattr *attr)
{
	return nl_uint(attr) ? attr : NULL;
}

static void counts_print(struct print *out, const struct nlattr **attr)
{
	const struct nlattr *long_min = known(attr[SANX_A_LINK_LONG_MIN]);

	/* Links that copy every send() have none. */
	if (nl_uint(long_min) == UINT32_MAX)
		long_min = NULL;
	ctl_print_uint(out, "rtt_ns", " rtt_ns %llu", known(attr[SANX_A_LINK_RTT]));
	ctl_print_uint(out, "long_min_bytes", " long_min_bytes %llu", long_min);
	ctl_print_uint(out, "rail", " rail %llu", attr[SANX_A_LINK_RAIL]);
	ctl_print_uint(out, "up_secs", " up_secs %llu", attr[SANX_A_LINK_UP_SECS]);
	ctl_print_uint(out, "moves", " moves %llu", attr[SANX_A_LINK_MOVES]);
	ctl_print_string(out, "moved", " moved %s", attr[SANX_A_LINK_MOVED]);
	ctl_print_uint(out, "moved_secs", " moved_secs %llu", attr[SANX_A_LINK_MOVED_SECS]);
	ctl_print_uint(out, "retry_secs", " retry_secs %llu", attr[SANX_A_LINK_RETRY_SECS]);
}

static void link_answer(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[SANX_A_LINK_MAX + 1];
	struct ctl *ctl = data;
	struct print *out = &ctl->out;
	struct in6_addr local, remote;
	char text[ADDR_STRLEN], key[KEY_ID_LEN] = "none";

	nl_parse(nlh, attr, SANX_A_LINK_MAX);
	local = nl_addr(attr[SANX_A_LINK_LOCAL]);
	remote = nl_addr(attr[SANX_A_LINK_REMOTE]);
	if (attr[SANX_A_LINK_KEY])
		key_id_format(nl_uint(attr[SANX_A_LINK_KEY]), key);

	print_item_open(out);
	print_uint(out, "node", "node %llu", nl_uint(attr[SANX_A_LINK_NODE]));
	print_string(out, "transport", " transport %s", nl_string(attr[SANX_A_LINK_TRANSPORT]));
	print_string(out, "device", " device %s", nl_string(attr[SANX_A_LINK_DEVICE]));
	print_uint(out, "lane", " lane %llu", nl_uint(attr[SANX_A_LINK_LANE]));
	print_string(out, "state", " state %s", nl_string(attr[SANX_A_LINK_STATE]));
	ctl_print_uint(out, "standby", " standby %llu", attr[SANX_A_LINK_STANDBY]);
	print_uint(out, "conns", " conns %llu", nl_uint(attr[SANX_A_LINK_CONNS]));
	print_string(out, "local", " local %s", addr_format(&local, text));
	print_string(out, "remote", " remote %s", addr_format(&remote, text));
	print_string(out, "auth", " auth %s", key);
	counts_print(out, attr);
	print_item_close(out);
}

static int link_show(struct ctl *ctl, int argc, char **argv)
{
	if (ctl_no_args(argc, argv))
		return -1;
	return ctl_show(ctl, SANX_CMD_LINK_GET, link_answer);
}

static void reset_answer(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[SANX_A_LINK_MAX + 1];
	struct ctl *ctl = data;

	nl_parse(nlh, attr, SANX_A_LINK_MAX);
	print_uint(&ctl->out, "ended", "%llu ended\n", nl_uint(attr[SANX_A_LINK_ENDED]));
}

/* @lane: NULL for all */
static int reset_send(struct ctl *ctl, u32 node, const u32 *lane)
{
	struct nl_request req;

	if (nl_request_init(&req, SANX_CMD_LINK_RESET, 1, (MNL_ATTR_HDRLEN + sizeof(u32)) * 2))
		return ctl_fail("out of memory");
	mnl_attr_put_u32(req.nlh, SANX_A_LINK_NODE, node);
	if (lane)
		mnl_attr_put_u32(req.nlh, SANX_A_LINK_LANE, *lane);
	return ctl_do(ctl, &req, reset_answer, ctl);
}

static int link_reset(struct ctl *ctl, int argc, char **argv)
{
	u32 node, lane;
	int given;

	print_single(&ctl->out);
	if (!argc)
		return ctl_fail("NODEID is missing");
	if (!parse_number(argv[0], 10, UINT32_MAX, &node) || !node)
		return ctl_fail("\"%s\" is not a node id, expected 1-4294967295", argv[0]);
	given = ctl_named_number(argc - 1, argv + 1, "lane", "lane", UINT8_MAX, &lane);
	if (given < 0)
		return -1;
	return reset_send(ctl, node, given ? &lane : NULL);
}

static const struct command commands[] = {
	{ "show", "list", link_show },
	{ "reset", NULL, link_reset },
	{ }
};

const struct object link_object = {
	.name = "link",
	.usage = usage,
	.commands = commands,
};
