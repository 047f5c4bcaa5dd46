// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl link: the links to other nodes.
 */
#include "addr.h"
#include "keyfile.h"
#include "sanxctl.h"

static const char usage[] = "Usage: sanxctl link [ show ]\n";

static void link_answer(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[SANX_A_LINK_MAX + 1];
	struct ctl *ctl = data;
	struct print *out = &ctl->out;
	struct in6_addr local, remote;
	char text[ADDR_STRLEN], key[KEY_ID_LEN] = "none";
	u64 rtt, long_min;

	nl_parse(nlh, attr, SANX_A_LINK_MAX);
	rtt = nl_uint(attr[SANX_A_LINK_RTT]);
	long_min = nl_uint(attr[SANX_A_LINK_LONG_MIN]);
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
	if (attr[SANX_A_LINK_STANDBY])
		print_uint(out, "standby", " standby %llu", nl_uint(attr[SANX_A_LINK_STANDBY]));
	print_uint(out, "conns", " conns %llu", nl_uint(attr[SANX_A_LINK_CONNS]));
	print_string(out, "local", " local %s", addr_format(&local, text));
	print_string(out, "remote", " remote %s", addr_format(&remote, text));
	print_string(out, "auth", " auth %s", key);
	/*
	 * rtt is 0 until the peer has acknowledged something.
	 * long_min is UINT32_MAX on links that copy every send().
	 */
	if (rtt)
		print_uint(out, "rtt_ns", " rtt_ns %llu", rtt);
	if (long_min && long_min != UINT32_MAX)
		print_uint(out, "long_min", " long_min %llu", long_min);
	if (attr[SANX_A_LINK_RAIL])
		print_uint(out, "rail", " rail %llu", nl_uint(attr[SANX_A_LINK_RAIL]));
	if (attr[SANX_A_LINK_UP_SECS])
		print_uint(out, "up_secs", " up_secs %llu", nl_uint(attr[SANX_A_LINK_UP_SECS]));
	if (attr[SANX_A_LINK_MOVES])
		print_uint(out, "moves", " moves %llu", nl_uint(attr[SANX_A_LINK_MOVES]));
	if (attr[SANX_A_LINK_MOVED])
		print_string(out, "moved", " moved %s", nl_string(attr[SANX_A_LINK_MOVED]));
	if (attr[SANX_A_LINK_MOVED_SECS])
		print_uint(out, "moved_secs", " moved_secs %llu",
			   nl_uint(attr[SANX_A_LINK_MOVED_SECS]));
	if (attr[SANX_A_LINK_RETRY_SECS])
		print_uint(out, "retry_secs", " retry_secs %llu",
			   nl_uint(attr[SANX_A_LINK_RETRY_SECS]));
	print_item_close(out);
}

static int link_show(struct ctl *ctl, int argc, char **argv)
{
	if (ctl_no_args(argc, argv))
		return -1;
	return ctl_show(ctl, SANX_CMD_LINK_GET, link_answer);
}

static const struct command commands[] = {
	{ "show", "list", link_show },
	{ }
};

const struct object link_object = {
	.name = "link",
	.usage = usage,
	.commands = commands,
};
