// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl socket: the AF_SANX sockets, and those that became plain TCP; and their end.
 */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "addr.h"
#include "kill.h"
#include "procs.h"
#include "sanxctl.h"

static const char usage[] =
	"Usage: sanxctl socket [ show [ all ] [ -p ] [ -m ] [ FILTER... ] ]\n"
	"       sanxctl socket kill [ all ] FILTER...\n"
	"FILTER := { state STATE | node ID | [ s | d ]port PORT | pid PID | uid USER |\n"
	"            transport { loop | verbs | tcp-rail | tcp } | fallback REASON }\n"
	"STATE := { established | connecting | listening | connected | unconnected | ... }\n"
	"REASON := { unmapped | port | link | refused | option | accept | asked | route |\n"
	"            denied | limit }\n";

#define HEADING_FORMAT "%-11s %6s %6s %-21s %-21s %-9s %5s %s"

/**
 * struct shown - what of the sockets is asked for
 * @filters: number of conditions
 * @all: also those that became plain TCP
 * @users: the processes that have them open
 * @memory: bytes, rings and times
 * @state: NULL for any
 * @transport: likewise
 * @fallback: likewise
 * @node: node id of the peer; 0 for any
 * @port: of either end; 0 for any
 * @sport: of this end; 0 for any
 * @dport: of the peer's; 0 for any
 * @pid: a process that has it open; 0 for any
 * @uid: its user, if @any_user is not set
 * @any_user: of any user
 */
struct shown {
	unsigned int filters;
	bool all;
	bool users;
	bool memory;
	const char *state;
	const char *transport;
	const char *fallback;
	u32 node;
	u32 port;
	u32 sport;
	u32 dport;
	u32 pid;
	u32 uid;
	bool any_user;
};

static const char *const states[] = {
	"established", "connecting", "listening", "connected", "unconnected", "UNCONN", "LISTEN",
	"ESTAB", "FIN-WAIT", "CLOSE-WAIT", "CLOSING", "CLOSED", "NEW", "REFUSED", "SYN-SENT",
	"SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "LAST-ACK", NULL
};

static const char *const transports[] = { "loop", "verbs", "tcp-rail", "tcp", NULL };

static const char *const fallbacks[] = {
	"unmapped", "port", "link", "refused", "option", "accept", "asked", "route",
	"denied", "limit", NULL
};

/* The arguments of one call, and who has the sockets open if that is asked for. */
static struct shown shown;
static struct procs procs;

/* A socket as the module tells it; strings are valid while its message is. */
struct seen {
	const char *state;
	const char *transport;
	const char *fallback;
	u32 node;
	u32 sport;
	u32 dport;
	u64 inode;
	u32 uid;
	const struct holder *user;
	size_t users;
};

/*
 * Filters
 */

/* As ss(8) has them, in the words that sanxctl shows and in its own. */
static bool is_state(const char *name, const char *wanted)
{
	static const struct {
		const char *wanted, *name;
	} same[] = {
		{ "established", "ESTAB" },
		{ "listening", "LISTEN" },
		{ "unconnected", "UNCONN" },
	};
	size_t i;

	if (!strcasecmp(wanted, "connected"))
		return strcmp(name, "LISTEN") && strcmp(name, "UNCONN");
	for (i = 0; i < ARRAY_SIZE(same); i++)
		if (!strcasecmp(wanted, same[i].wanted))
			wanted = same[i].name;
	return !strcasecmp(name, wanted);
}

static bool is_held_by(const struct seen *seen, u32 pid)
{
	size_t i;

	for (i = 0; i < seen->users; i++)
		if ((u32)seen->user[i].pid == pid)
			return true;
	return false;
}

static bool is_shown(const struct seen *seen)
{
	if (seen->fallback && !shown.all && !shown.fallback)
		return false;
	if (shown.state && !is_state(seen->state, shown.state))
		return false;
	if (shown.transport && strcmp(seen->transport, shown.transport))
		return false;
	if (shown.fallback && (!seen->fallback || strcmp(seen->fallback, shown.fallback)))
		return false;
	return (!shown.node || seen->node == shown.node) &&
	       (!shown.port || seen->sport == shown.port || seen->dport == shown.port) &&
	       (!shown.sport || seen->sport == shown.sport) &&
	       (!shown.dport || seen->dport == shown.dport) &&
	       (!shown.pid || is_held_by(seen, shown.pid)) &&
	       (shown.any_user || seen->uid == shown.uid);
}

/*
 * Output
 */

static void endpoint_print(struct print *out, const char *key, const struct nlattr *addr,
			   const struct nlattr *port)
{
	struct in6_addr raw = nl_addr(addr);
	char text[ENDPOINT_STRLEN];

	print_string(out, key, " %-21s", endpoint_format(&raw, nl_uint(port), text));
}

/* The port of an explicit socket's end is its type; all others that are shown are streams. */
static const char *type_read(const struct nlattr **attr)
{
	struct in6_addr raw = nl_addr(attr[SANX_A_SOCKET_LOCAL_ADDR]);

	if (!addr_is_explicit(&raw))
		return "stream";
	switch (nl_uint(attr[SANX_A_SOCKET_LOCAL_PORT])) {
	case SOCK_SEQPACKET:
		return "seqpacket";
	case SOCK_DGRAM:
		return "dgram";
	default:
		return "stream";
	}
}

static u32 port_read(const struct nlattr *addr, const struct nlattr *port)
{
	struct in6_addr raw = nl_addr(addr);

	return endpoint_port(&raw, nl_uint(port));
}

static void memory_print(struct print *out, const struct nlattr **attr)
{
	bool text = shown.memory;

	ctl_print_uint(out, "tx_bytes", text ? " tx_bytes:%llu" : NULL,
		       attr[SANX_A_SOCKET_TX_BYTES]);
	ctl_print_uint(out, "rx_bytes", text ? " rx_bytes:%llu" : NULL,
		       attr[SANX_A_SOCKET_RX_BYTES]);
	ctl_print_uint(out, "tx_ring_bytes", text ? " tx_ring:%llu" : NULL,
		       attr[SANX_A_SOCKET_TX_RING]);
	ctl_print_uint(out, "rx_ring_bytes", text ? " rx_ring:%llu" : NULL,
		       attr[SANX_A_SOCKET_RX_RING]);
	ctl_print_uint(out, "tx_age_ms", text ? " sent:%llums" : NULL,
		       attr[SANX_A_SOCKET_TX_MS]);
	ctl_print_uint(out, "rx_age_ms", text ? " came:%llums" : NULL,
		       attr[SANX_A_SOCKET_RX_MS]);
}

/* As ss -p. */
static void users_print(struct print *out, const struct seen *seen)
{
	const struct holder *user = seen->user;
	size_t i;

	if (!shown.users) {
		print_null(out, "users");
		return;
	}
	print_list_open(out, "users");
	for (i = 0; i < seen->users; i++) {
		print_entry_open(out);
		print_string(out, "name", i ? ",(\"%s\"" : " users:((\"%s\"", user[i].name);
		print_uint(out, "pid", ",pid=%llu", user[i].pid);
		print_uint(out, "fd", ",fd=%llu)", user[i].fd);
		print_entry_close(out);
	}
	if (seen->users)
		print_string(out, NULL, "%s", ")");
	print_list_close(out);
}

static void seen_read(struct seen *seen, const struct nlattr **attr)
{
	*seen = (struct seen) {
		.state = nl_string(attr[SANX_A_SOCKET_STATE]),
		.transport = nl_string(attr[SANX_A_SOCKET_TRANSPORT]),
		.node = nl_uint(attr[SANX_A_SOCKET_NODE]),
		.sport = port_read(attr[SANX_A_SOCKET_LOCAL_ADDR],
				   attr[SANX_A_SOCKET_LOCAL_PORT]),
		.dport = port_read(attr[SANX_A_SOCKET_REMOTE_ADDR],
				   attr[SANX_A_SOCKET_REMOTE_PORT]),
		.inode = nl_uint(attr[SANX_A_SOCKET_INODE]),
		.uid = nl_uint(attr[SANX_A_SOCKET_UID]),
	};
	if (attr[SANX_A_SOCKET_FALLBACK])
		seen->fallback = nl_string(attr[SANX_A_SOCKET_FALLBACK]);
	/* What no process has open any more has the number 0, and so have others. */
	if (seen->inode)
		seen->user = procs_find(&procs, seen->inode, &seen->users);
}

static void seen_print(struct print *out, const struct seen *seen, const struct nlattr **attr)
{
	u64 denied = nl_uint(attr[SANX_A_SOCKET_DENIED]);
	const char *type = type_read(attr);

	print_string(out, "state", "%-11s", seen->state);
	print_uint(out, "rx_queue", " %6llu", nl_uint(attr[SANX_A_SOCKET_RX_QUEUE]));
	print_uint(out, "tx_queue", " %6llu", nl_uint(attr[SANX_A_SOCKET_TX_QUEUE]));
	endpoint_print(out, "local", attr[SANX_A_SOCKET_LOCAL_ADDR],
		       attr[SANX_A_SOCKET_LOCAL_PORT]);
	endpoint_print(out, "remote", attr[SANX_A_SOCKET_REMOTE_ADDR],
		       attr[SANX_A_SOCKET_REMOTE_PORT]);
	print_string(out, "transport", " %-9s", seen->transport);
	print_uint(out, "uid", " %5llu", seen->uid);
	print_uint(out, "inode", " %llu", seen->inode);
	ctl_print_uint(out, "node", " node:%llu", attr[SANX_A_SOCKET_NODE]);
	ctl_print_string(out, "fallback", " fallback:%s", attr[SANX_A_SOCKET_FALLBACK]);
	print_uint(out, "denied", NULL, denied);
	if (denied)
		print_string(out, NULL, " %s", "denied");
	print_string(out, "type", NULL, type);
	if (strcmp(type, "stream"))
		print_string(out, NULL, " %s", type);
	users_print(out, seen);
	memory_print(out, attr);
}

static void socket_answer(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[SANX_A_SOCKET_MAX + 1];
	struct ctl *ctl = data;
	struct seen seen;

	nl_parse(nlh, attr, SANX_A_SOCKET_MAX);
	seen_read(&seen, attr);
	if (!is_shown(&seen))
		return;
	print_item_open(&ctl->out);
	seen_print(&ctl->out, &seen, attr);
	print_item_close(&ctl->out);
}

/*
 * Arguments
 */

static int number_read(const char *word, const char *value, u32 min, u32 max, u32 *number)
{
	if (!parse_number(value, 10, max, number) || *number < min)
		return ctl_fail("%s \"%s\" is not a number from %u to %u", word, value, min, max);
	return 0;
}

/* One of those that there are, in any case of letters. */
static int word_read(const char *word, const char *value, const char *const *known,
		     const char **to)
{
	for (; *known; known++) {
		if (strcasecmp(value, *known))
			continue;
		*to = *known;
		return 0;
	}
	return ctl_fail("%s \"%s\" is unknown, try \"sanxctl socket help\"", word, value);
}

/* A name or a number. */
static int user_read(const char *value)
{
	const struct passwd *user = getpwnam(value);

	shown.any_user = false;
	if (user)
		shown.uid = user->pw_uid;
	else if (!parse_number(value, 10, UINT32_MAX, &shown.uid))
		return ctl_fail("there is no user \"%s\"", value);
	return 0;
}

static bool is_filter(const char *word)
{
	static const char *const filters[] = {
		"state", "transport", "fallback", "node", "port", "sport", "dport", "pid", "uid",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(filters); i++)
		if (!strcmp(word, filters[i]))
			return true;
	return false;
}

static int filter_read(const char *word, const char *value)
{
	if (!is_filter(word))
		return ctl_fail("\"%s\" is unknown, try \"sanxctl socket help\"", word);
	if (!value)
		return ctl_fail("a value for \"%s\" is missing", word);
	shown.filters++;
	if (!strcmp(word, "state"))
		return word_read(word, value, states, &shown.state);
	if (!strcmp(word, "transport"))
		return word_read(word, value, transports, &shown.transport);
	if (!strcmp(word, "fallback"))
		return word_read(word, value, fallbacks, &shown.fallback);
	if (!strcmp(word, "node"))
		return number_read(word, value, 1, UINT32_MAX, &shown.node);
	if (!strcmp(word, "port"))
		return number_read(word, value, 1, UINT32_MAX, &shown.port);
	if (!strcmp(word, "sport"))
		return number_read(word, value, 1, UINT32_MAX, &shown.sport);
	if (!strcmp(word, "dport"))
		return number_read(word, value, 1, UINT32_MAX, &shown.dport);
	if (!strcmp(word, "pid"))
		return number_read(word, value, 1, INT32_MAX, &shown.pid);
	return user_read(value);
}

static int arguments_read(int argc, char **argv)
{
	int i;

	shown = (struct shown) { .any_user = true };
	for (i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "all"))
			shown.all = true;
		else if (!strcmp(argv[i], "-p") || !strcmp(argv[i], "--processes"))
			shown.users = true;
		else if (!strcmp(argv[i], "-m") || !strcmp(argv[i], "--memory"))
			shown.memory = true;
		else if (!filter_read(argv[i], i + 1 < argc ? argv[i + 1] : NULL))
			i++;
		else
			return -1;
	}
	return 0;
}

static int socket_show(struct ctl *ctl, int argc, char **argv)
{
	char heading[128];
	int rc = 0;

	if (arguments_read(argc, argv))
		return -1;
	snprintf(heading, sizeof(heading), HEADING_FORMAT, "State", "Recv-Q", "Send-Q",
		 "Local", "Remote", "Transport", "Uid", "Inode");
	print_heading(&ctl->out, heading);
	if (shown.users || shown.pid)
		rc = procs_scan(&procs);
	if (!rc)
		rc = ctl_show(ctl, SANX_CMD_SOCKET_GET, socket_answer);
	procs_free(&procs);
	return rc;
}

static void kill_answer(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[SANX_A_SOCKET_MAX + 1];
	struct seen seen;

	nl_parse(nlh, attr, SANX_A_SOCKET_MAX);
	seen_read(&seen, attr);
	if (is_shown(&seen))
		kill_add(data, attr);
}

static void kill_again(void *data)
{
	kill_clear(data);
}

static int socket_kill(struct ctl *ctl, int argc, char **argv)
{
	struct kill_list list = { };
	int rc = 0;

	print_single(&ctl->out);
	if (arguments_read(argc, argv))
		return -1;
	if (shown.users || shown.memory)
		return ctl_fail("-p and -m are options of show");
	if (!shown.filters)
		return ctl_fail("FILTER is missing, which says what is to end");
	if (shown.pid)
		rc = procs_scan(&procs);
	if (!rc)
		rc = ctl_dump(ctl, SANX_CMD_SOCKET_GET, kill_answer, kill_again, &list);
	if (!rc)
		rc = kill_all(ctl, &list);
	procs_free(&procs);
	kill_free(&list);
	return rc;
}

static const struct command commands[] = {
	{ "show", "list", socket_show },
	{ "kill", NULL, socket_kill },
	{ }
};

const struct object socket_object = {
	.name = "socket",
	.usage = usage,
	.own_option = "-p",
	.commands = commands,
};
