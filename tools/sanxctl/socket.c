// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl socket: the AF_SANX sockets that are not plain TCP.
 */
#include "addr.h"
#include "sanxctl.h"

static const char usage[] = "Usage: sanxctl socket [ show ]\n";

#define HEADING_FORMAT "%-11s %6s %6s %-21s %-21s %-9s %5s %s"

static void endpoint_print(struct print *out, const char *key, const struct nlattr *addr,
			   const struct nlattr *port)
{
	struct in6_addr raw = nl_addr(addr);
	char text[ENDPOINT_STRLEN];

	print_string(out, key, " %-21s", endpoint_format(&raw, nl_uint(port), text));
}

static void socket_answer(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[SANX_A_SOCKET_MAX + 1];
	struct ctl *ctl = data;
	struct print *out = &ctl->out;
	u64 denied;

	nl_parse(nlh, attr, SANX_A_SOCKET_MAX);

	print_item_open(out);
	print_string(out, "state", "%-11s", nl_string(attr[SANX_A_SOCKET_STATE]));
	print_uint(out, "rx_queue", " %6llu", nl_uint(attr[SANX_A_SOCKET_RX_QUEUE]));
	print_uint(out, "tx_queue", " %6llu", nl_uint(attr[SANX_A_SOCKET_TX_QUEUE]));
	endpoint_print(out, "local", attr[SANX_A_SOCKET_LOCAL_ADDR],
		       attr[SANX_A_SOCKET_LOCAL_PORT]);
	endpoint_print(out, "remote", attr[SANX_A_SOCKET_REMOTE_ADDR],
		       attr[SANX_A_SOCKET_REMOTE_PORT]);
	print_string(out, "transport", " %-9s", nl_string(attr[SANX_A_SOCKET_TRANSPORT]));
	print_uint(out, "uid", " %5llu", nl_uint(attr[SANX_A_SOCKET_UID]));
	print_uint(out, "inode", " %llu", nl_uint(attr[SANX_A_SOCKET_INODE]));
	denied = nl_uint(attr[SANX_A_SOCKET_DENIED]);
	print_uint(out, "denied", NULL, denied);
	if (denied)
		print_string(out, NULL, " %s", "denied");
	print_item_close(out);
}

static int socket_show(struct ctl *ctl, int argc, char **argv)
{
	char heading[128];

	if (ctl_no_args(argc, argv))
		return -1;

	snprintf(heading, sizeof(heading), HEADING_FORMAT, "State", "Recv-Q", "Send-Q",
		 "Local", "Remote", "Transport", "Uid", "Inode");
	print_heading(&ctl->out, heading);
	return ctl_show(ctl, SANX_CMD_SOCKET_GET, socket_answer);
}

static const struct command commands[] = {
	{ "show", "list", socket_show },
	{ }
};

const struct object socket_object = {
	.name = "socket",
	.usage = usage,
	.commands = commands,
};
