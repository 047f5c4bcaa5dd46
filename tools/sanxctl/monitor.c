// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl monitor: what happens, as it happens.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "addr.h"
#include "sanxctl.h"

static const char usage[] =
	"Usage: sanxctl monitor [ socket ] [ link ] [ rail ]\n"
	"Without one of these, all of them are told.\n";

/* Bits of what is told. */
enum {
	TELL_SOCKET	= 1 << 0,
	TELL_LINK	= 1 << 1,
	TELL_RAIL	= 1 << 2,
};

/**
 * struct monitor - one run
 * @json: write JSON, an event a line
 * @told: set of TELL_*
 * @failed: the standard output could not be written
 */
struct monitor {
	bool json;
	unsigned int told;
	bool failed;
};

/* Local time, as people compare it with their logs. */
static void time_print(struct print *out)
{
	char text[64], zone[8];
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), ".%03ld%s",
		 now.tv_nsec / 1000000, zone);
	print_string(out, "time", NULL, text);
	/* A person knows the day. */
	print_string(out, NULL, "%.12s ", strchr(text, 'T') + 1);
}

static void endpoint_print(struct print *out, const char *key, const char *fmt,
			   const struct nlattr *addr, const struct nlattr *port)
{
	struct in6_addr raw = nl_addr(addr);
	char text[ENDPOINT_STRLEN];

	print_string(out, key, fmt, endpoint_format(&raw, nl_uint(port), text));
}

static void socket_tell(struct print *out, const struct nlmsghdr *nlh)
{
	const struct nlattr *attr[SANX_A_SOCKET_MAX + 1];

	nl_parse(nlh, attr, SANX_A_SOCKET_MAX);
	print_string(out, "state", "%s", nl_string(attr[SANX_A_SOCKET_STATE]));
	endpoint_print(out, "local", " %s", attr[SANX_A_SOCKET_LOCAL_ADDR],
		       attr[SANX_A_SOCKET_LOCAL_PORT]);
	endpoint_print(out, "remote", " %s", attr[SANX_A_SOCKET_REMOTE_ADDR],
		       attr[SANX_A_SOCKET_REMOTE_PORT]);
	print_string(out, "transport", " %s", nl_string(attr[SANX_A_SOCKET_TRANSPORT]));
	ctl_print_uint(out, "node", " node:%llu", attr[SANX_A_SOCKET_NODE]);
	ctl_print_string(out, "fallback", " fallback:%s", attr[SANX_A_SOCKET_FALLBACK]);
	ctl_print_uint(out, "tx_bytes", " tx_bytes:%llu", attr[SANX_A_SOCKET_TX_BYTES]);
	ctl_print_uint(out, "rx_bytes", " rx_bytes:%llu", attr[SANX_A_SOCKET_RX_BYTES]);
}

/* Figures of a link that comes or goes say nothing. */
static void link_tell(struct print *out, const struct nlmsghdr *nlh)
{
	const struct nlattr *attr[SANX_A_LINK_MAX + 1];
	struct in6_addr local, remote;
	char text[ADDR_STRLEN];

	nl_parse(nlh, attr, SANX_A_LINK_MAX);
	local = nl_addr(attr[SANX_A_LINK_LOCAL]);
	remote = nl_addr(attr[SANX_A_LINK_REMOTE]);
	print_string(out, "state", "%s", nl_string(attr[SANX_A_LINK_STATE]));
	print_uint(out, "node", " node %llu", nl_uint(attr[SANX_A_LINK_NODE]));
	print_uint(out, "lane", " lane %llu", nl_uint(attr[SANX_A_LINK_LANE]));
	print_string(out, "transport", " %s", nl_string(attr[SANX_A_LINK_TRANSPORT]));
	print_string(out, "device", NULL, nl_string(attr[SANX_A_LINK_DEVICE]));
	print_string(out, "local", " %s", addr_format(&local, text));
	print_string(out, "remote", " - %s", addr_format(&remote, text));
	ctl_print_string(out, "why", ": %s", attr[SANX_A_LINK_WHY]);
}

/* What is told of a command of the module, and how. */
static const struct {
	u8 cmd;
	const char *name;
	unsigned int bit;
	void (*print)(struct print *out, const struct nlmsghdr *nlh);
} kinds[] = {
	{ SANX_CMD_SOCKET_NTF, "socket", TELL_SOCKET, socket_tell },
	{ SANX_CMD_LINK_NTF, "link", TELL_LINK, link_tell },
	{ SANX_CMD_RAIL_NTF, "rail", TELL_RAIL, rail_print },
};

static void event_print(const struct nlmsghdr *nlh, void *data)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	struct monitor *m = data;
	struct print out;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].cmd == genl->cmd)
			break;
	if (i == ARRAY_SIZE(kinds) || !(m->told & kinds[i].bit))
		return;
	print_init(&out, m->json, false);
	print_single(&out);
	time_print(&out);
	print_string(&out, "event", "%-6s ", kinds[i].name);
	kinds[i].print(&out, nlh);
	print_string(&out, NULL, "%s", "\n");
	if (print_finish(&out))
		m->failed = true;
}

static int words_take(struct monitor *m, int argc, char **argv)
{
	size_t k;
	int i;

	for (i = 0; i < argc; i++) {
		for (k = 0; k < ARRAY_SIZE(kinds) && strcmp(argv[i], kinds[k].name); k++)
			;
		if (k == ARRAY_SIZE(kinds))
			return ctl_fail("\"%s\", expected socket, link or rail", argv[i]);
		m->told |= kinds[k].bit;
	}
	if (!m->told)
		m->told = ~0U;
	return 0;
}

/* A signal ends it. */
static int monitor_run(struct ctl *ctl, int argc, char **argv)
{
	struct monitor m = { .json = !ctl->out.text };
	struct nl_error error;

	print_none(&ctl->out);
	if (words_take(&m, argc, argv))
		return -1;
	if (ctl_connect(ctl))
		return -1;
	if (nl_listen(&ctl->nl, &error)) {
		nl_close(&ctl->nl);
		return ctl_fail_nl(NULL, 0, &error);
	}
	while (!m.failed) {
		if (!nl_hear(&ctl->nl, event_print, &m, &error))
			continue;
		if (error.err != ENOBUFS)
			break;
		fprintf(stderr, "Warning: events were lost, as they come too fast.\n");
	}
	nl_close(&ctl->nl);
	if (m.failed)
		return ctl_fail("standard output: %s", strerror(errno));
	return ctl_fail_nl(NULL, 0, &error);
}

const struct object monitor_object = {
	.name = "monitor",
	.usage = usage,
	.run = monitor_run,
};
