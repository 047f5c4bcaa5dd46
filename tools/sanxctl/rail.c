// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl rail: the rails to other nodes, and whether they are used.
 */
#include <stdlib.h>
#include <string.h>

#include "addr.h"
#include "sanxctl.h"

#define WEIGHT_MAX	255

static const char usage[] =
	"Usage: sanxctl rail [ show ]\n"
	"       sanxctl rail set RAIL [ up | drain | down ] [ weight NUMBER ]\n"
	"RAIL := { ADDRESS | rdma:ADDRESS | tcp:ADDRESS }, of this node or of another\n";

static const char *const admin_names[] = {
	[SANX_RAIL_ADMIN_UP]	= "up",
	[SANX_RAIL_ADMIN_DRAIN]	= "drain",
	[SANX_RAIL_ADMIN_DOWN]	= "down",
};

/*
 * Show
 */

static const char *admin_name(u64 admin)
{
	return admin < ARRAY_SIZE(admin_names) ? admin_names[admin] : "?";
}

static void counts_print(struct print *out, const struct nlattr **attr)
{
	const struct nlattr *rtt = attr[SANX_A_RAIL_RTT];

	print_uint(out, "links", " links %llu", nl_uint(attr[SANX_A_RAIL_LINKS]));
	print_uint(out, "conns", " conns %llu", nl_uint(attr[SANX_A_RAIL_CONNS]));
	/* 0 until the peer has acknowledged something. */
	ctl_print_uint(out, "rtt_ns", " rtt_ns %llu", nl_uint(rtt) ? rtt : NULL);
	print_uint(out, "tx_bytes", " tx_bytes %llu", nl_uint(attr[SANX_A_RAIL_TX_BYTES]));
	print_uint(out, "rx_bytes", " rx_bytes %llu", nl_uint(attr[SANX_A_RAIL_RX_BYTES]));
	print_uint(out, "errors", " errors %llu", nl_uint(attr[SANX_A_RAIL_ERRORS]));
	ctl_print_uint(out, "retry_secs", " retry_secs %llu", attr[SANX_A_RAIL_RETRY_SECS]);
	ctl_print_string(out, "cause", " cause %s", attr[SANX_A_RAIL_CAUSE]);
}

/**
 * rail_print - print what the module tells of a rail
 * @out: the output, with an open object
 * @nlh: the message
 */
void rail_print(struct print *out, const struct nlmsghdr *nlh)
{
	const struct nlattr *attr[SANX_A_RAIL_MAX + 1];
	struct in6_addr local, remote;
	char text[ADDR_STRLEN];

	nl_parse(nlh, attr, SANX_A_RAIL_MAX);
	remote = nl_addr(attr[SANX_A_RAIL_REMOTE]);

	print_uint(out, "node", "node %llu", nl_uint(attr[SANX_A_RAIL_NODE]));
	print_uint(out, "rail", " rail %llu", nl_uint(attr[SANX_A_RAIL_NUMBER]));
	print_string(out, "transport", " transport %s", nl_string(attr[SANX_A_RAIL_TRANSPORT]));
	/* This node may have no address of that kind. */
	local = nl_addr(attr[SANX_A_RAIL_LOCAL]);
	print_string(out, "local", " local %s",
		     attr[SANX_A_RAIL_LOCAL] ? addr_format(&local, text) : NULL);
	print_string(out, "remote", " remote %s", addr_format(&remote, text));
	print_string(out, "state", " state %s", nl_string(attr[SANX_A_RAIL_STATE]));
	print_string(out, "admin", " admin %s", admin_name(nl_uint(attr[SANX_A_RAIL_ADMIN])));
	print_uint(out, "weight", " weight %llu", nl_uint(attr[SANX_A_RAIL_WEIGHT]));
	counts_print(out, attr);
}

static void rail_answer(const struct nlmsghdr *nlh, void *data)
{
	struct ctl *ctl = data;

	print_item_open(&ctl->out);
	rail_print(&ctl->out, nlh);
	print_item_close(&ctl->out);
}

static int rail_show(struct ctl *ctl, int argc, char **argv)
{
	if (ctl_no_args(argc, argv))
		return -1;
	return ctl_show(ctl, SANX_CMD_RAIL_GET, rail_answer);
}

/*
 * Change
 */

/**
 * struct rail_change - what a command says about a rail
 * @addr: the address of the rail
 * @tcp: of a TCP rail
 * @admin: enum sanx_rail_admin, or -1 to leave it as it is
 * @weight: the weight, or -1
 */
struct rail_change {
	struct in6_addr addr;
	bool tcp;
	int admin;
	int weight;
};

static int rail_parse(struct rail_change *c, const char *text)
{
	const char *addr = text;

	if (!strncmp(text, "tcp:", 4))
		c->tcp = true;
	if (c->tcp || !strncmp(text, "rdma:", 5))
		addr = strchr(text, ':') + 1;
	if (!addr_parse(addr, &c->addr))
		return ctl_fail("\"%s\" is not the address of a rail", text);
	return 0;
}

static int weight_parse(struct rail_change *c, const char *text)
{
	char *end;
	long weight;

	if (!text)
		return ctl_fail("the weight is missing, expected 0 to %d", WEIGHT_MAX);
	weight = strtol(text, &end, 10);
	if (end == text || *end || weight < 0 || weight > WEIGHT_MAX)
		return ctl_fail("weight \"%s\", expected 0 to %d", text, WEIGHT_MAX);
	c->weight = weight;
	return 0;
}

static int admin_parse(struct rail_change *c, const char *text)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(admin_names); i++) {
		if (strcmp(text, admin_names[i]))
			continue;
		if (c->admin >= 0)
			return ctl_fail("argument \"%s\" is one too many", text);
		c->admin = i;
		return 0;
	}
	return ctl_fail("\"%s\", expected up, drain, down or weight", text);
}

static int change_parse(struct rail_change *c, int argc, char **argv)
{
	int i;

	if (!argc)
		return ctl_fail("RAIL is missing");
	if (rail_parse(c, argv[0]))
		return -1;
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "weight")) {
			if (weight_parse(c, i + 1 < argc ? argv[i + 1] : NULL))
				return -1;
			i++;
		} else if (admin_parse(c, argv[i])) {
			return -1;
		}
	}
	if (c->admin < 0 && c->weight < 0)
		return ctl_fail("nothing to set, expected up, drain, down or weight");
	return 0;
}

static int change_send(struct ctl *ctl, const struct rail_change *c)
{
	struct nl_request req;

	if (nl_request_init(&req, SANX_CMD_RAIL_SET, 1,
			    MNL_ATTR_HDRLEN + sizeof(c->addr) +
			    (MNL_ATTR_HDRLEN + sizeof(u32)) * 3))
		return ctl_fail("out of memory");
	mnl_attr_put(req.nlh, SANX_A_RAIL_ADDR, sizeof(c->addr), &c->addr);
	if (c->tcp)
		mnl_attr_put_u32(req.nlh, SANX_A_RAIL_TCP, 1);
	if (c->admin >= 0)
		mnl_attr_put_u32(req.nlh, SANX_A_RAIL_ADMIN, c->admin);
	if (c->weight >= 0)
		mnl_attr_put_u32(req.nlh, SANX_A_RAIL_WEIGHT, c->weight);
	return ctl_do(ctl, &req, NULL, NULL);
}

static int rail_set(struct ctl *ctl, int argc, char **argv)
{
	struct rail_change c = { .admin = -1, .weight = -1 };

	if (change_parse(&c, argc, argv))
		return -1;
	return change_send(ctl, &c);
}

static const struct command commands[] = {
	{ "show", "list", rail_show },
	{ "set", NULL, rail_set },
	{ }
};

const struct object rail_object = {
	.name = "rail",
	.usage = usage,
	.commands = commands,
};
