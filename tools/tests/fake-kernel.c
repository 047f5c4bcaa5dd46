// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel for tests of sanxctl: replaces libmnl's sockets.
 *
 * It keeps the node map and the port rules in files in $FAKE_STATE.  Each file
 * is the request that loaded it.  $FAKE selects an error:
 *	absent		the module is not loaded
 *	denied		the caller may not change anything
 *	interrupted	a change interrupts the first dump
 *	broken		dumps fail after some messages
 *	found		the node map has a node that was found
 *	well		rails are up, counters are 0, one priority has flow control
 * Its own address is 10.0.0.1, on eth7.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/dcbnl.h>
#include <linux/inet_diag.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sanx.h>

#include <linux/sanx_netlink.h>

#include "../run/family.h"
#include "../sanxctl/addr.h"
#include "../sanxctl/nl.h"

#define FAMILY 0x25
#define GROUP 0x26

/* A node id, or a port, that is refused. */
#define BAD_NODE 666

static union {
	char bytes[1 << 16];
	struct nlmsghdr nlh;
} answer;
static char *answer_end;
static const struct nlmsghdr *request;

/* What a listener hears next. */
static enum {
	ANSWERS,
	EVENTS,
	LOSS,
	FAULT,
} hears;

static bool fake(const char *how)
{
	const char *env = getenv("FAKE");

	return env && !strcmp(env, how);
}

/*
 * Answers
 */

static void answer_start(void)
{
	memset(&answer, 0, sizeof(answer));
	answer_end = answer.bytes;
}

static struct nlmsghdr *message(u16 type)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(answer_end);

	nlh->nlmsg_type = type;
	nlh->nlmsg_seq = request->nlmsg_seq;
	if (type >= NLMSG_MIN_TYPE)
		mnl_nlmsg_put_extra_header(nlh, GENL_HDRLEN);
	return nlh;
}

/* A message that nobody has asked for. */
static struct nlmsghdr *event(u8 cmd)
{
	struct nlmsghdr *nlh = message(FAMILY);
	struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);

	nlh->nlmsg_seq = 0;
	genl->cmd = cmd;
	return nlh;
}

static void message_end(const struct nlmsghdr *nlh)
{
	answer_end = (char *)nlh + MNL_ALIGN(nlh->nlmsg_len);
}

static void answer_error(int error, const char *text, const struct nlattr *attr)
{
	struct nlmsghdr *nlh = message(NLMSG_ERROR);
	struct nlmsgerr *msg = mnl_nlmsg_put_extra_header(nlh, sizeof(*msg));

	nlh->nlmsg_flags = NLM_F_ACK_TLVS | NLM_F_CAPPED;
	msg->error = -error;
	if (text)
		mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, text);
	if (attr)
		mnl_attr_put_u32(nlh, NLMSGERR_ATTR_OFFS, (char *)attr - (char *)request);
	message_end(nlh);
}

static void answer_done(int error)
{
	struct nlmsghdr *nlh = message(NLMSG_DONE);
	int *code = mnl_nlmsg_put_extra_header(nlh, sizeof(*code));

	*code = -error;
	message_end(nlh);
}

static void put_addr(struct nlmsghdr *nlh, u16 type, const char *text)
{
	struct in6_addr addr;

	addr_parse(text, &addr);
	mnl_attr_put(nlh, type, sizeof(addr), &addr);
}

/*
 * State
 */

static FILE *state_open(u8 cmd, const char *mode)
{
	bool nodes = cmd < SANX_CMD_PORTS_GET;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", getenv("FAKE_STATE"), nodes ? "nodes" : "ports");
	return fopen(path, mode);
}

static void state_save(u8 cmd)
{
	FILE *file = state_open(cmd, "w");

	fwrite(request, 1, request->nlmsg_len, file);
	fclose(file);
}

/* A node that was found by asking. */
static void dump_found(void)
{
	struct nlmsghdr *nlh = message(FAMILY);
	struct nlattr *nest = mnl_attr_nest_start(nlh, SANX_A_NODEMAP_NODE);

	put_addr(nlh, SANX_A_NODE_ADDR, "10.5.0.1");
	mnl_attr_put_u32(nlh, SANX_A_NODE_ID, 0x80000001);
	put_addr(nlh, SANX_A_NODE_RAIL, "10.5.0.1");
	put_addr(nlh, SANX_A_NODE_TCP_RAIL, "10.5.0.1");
	mnl_attr_put_u32(nlh, SANX_A_NODE_FOUND_SECS, 7);
	mnl_attr_nest_end(nlh, nest);
	message_end(nlh);
}

/* Dumps one message for each entry of the saved request. */
static void state_dump(u8 cmd)
{
	static char saved[1 << 16];
	const struct nlattr *entry;
	struct nlmsghdr *nlh;
	FILE *file = state_open(cmd, "r");

	if (!file)
		return;
	if (fread(saved, 1, sizeof(saved), file)) {
		nl_for_each(entry, (struct nlmsghdr *)saved) {
			nlh = message(FAMILY);
			mnl_attr_put(nlh, mnl_attr_get_type(entry),
				     mnl_attr_get_payload_len(entry),
				     mnl_attr_get_payload(entry));
			message_end(nlh);
		}
	}
	fclose(file);
	if (fake("found") && cmd == SANX_CMD_NODEMAP_GET)
		dump_found();
}

/*
 * Commands
 */

static void do_change(u8 cmd)
{
	bool nodes = cmd < SANX_CMD_PORTS_GET;
	u16 type = nodes ? SANX_A_NODE_ID : SANX_A_PORT_RULE_FIRST;
	const struct nlattr *entry, *attr;

	if (fake("denied")) {
		answer_error(EPERM, NULL, NULL);
		return;
	}

	nl_for_each(entry, request) {
		if (nodes && mnl_attr_get_type(entry) == SANX_A_NODEMAP_SELF)
			continue;
		mnl_attr_for_each_nested(attr, entry) {
			if (mnl_attr_get_type(attr) == type && nl_uint(attr) == BAD_NODE) {
				answer_error(EINVAL, "that one is not liked", attr);
				return;
			}
		}
	}

	state_save(cmd);
	answer_error(0, NULL, NULL);
}

static void put_link(struct nlmsghdr *nlh)
{
	mnl_attr_put_u32(nlh, SANX_A_LINK_NODE, 2);
	mnl_attr_put_strz(nlh, SANX_A_LINK_TRANSPORT, "verbs");
	mnl_attr_put_strz(nlh, SANX_A_LINK_DEVICE, "a\"b\\c/\001");
	mnl_attr_put_strz(nlh, SANX_A_LINK_STATE, "up");
	mnl_attr_put_u32(nlh, SANX_A_LINK_CONNS, 3);
	mnl_attr_put_u32(nlh, SANX_A_LINK_LANE, 5);
	put_addr(nlh, SANX_A_LINK_LOCAL, "10.0.0.1");
	put_addr(nlh, SANX_A_LINK_REMOTE, "fd00::2");
	mnl_attr_put_u32(nlh, SANX_A_LINK_RAIL, 1);
	mnl_attr_put_u32(nlh, SANX_A_LINK_UP_SECS, 70);
	mnl_attr_put_u32(nlh, SANX_A_LINK_MOVES, 2);
	mnl_attr_put_strz(nlh, SANX_A_LINK_MOVED, "lost");
	mnl_attr_put_u32(nlh, SANX_A_LINK_MOVED_SECS, 71);
}

static void dump_links(void)
{
	struct nlmsghdr *nlh = message(FAMILY);

	put_link(nlh);
	message_end(nlh);
}

/* All is well, as far as "doctor" looks. */
static void dump_rail_up(void)
{
	struct nlmsghdr *nlh = message(FAMILY);

	mnl_attr_put_u32(nlh, SANX_A_RAIL_NODE, 2);
	mnl_attr_put_strz(nlh, SANX_A_RAIL_TRANSPORT, "verbs");
	put_addr(nlh, SANX_A_RAIL_REMOTE, "10.0.0.2");
	mnl_attr_put_strz(nlh, SANX_A_RAIL_STATE, "up");
	message_end(nlh);
}

static void put_rail(struct nlmsghdr *nlh)
{
	mnl_attr_put_u32(nlh, SANX_A_RAIL_NODE, 2);
	mnl_attr_put_u32(nlh, SANX_A_RAIL_NUMBER, 0);
	mnl_attr_put_strz(nlh, SANX_A_RAIL_TRANSPORT, "verbs");
	put_addr(nlh, SANX_A_RAIL_LOCAL, "10.0.0.1");
	put_addr(nlh, SANX_A_RAIL_REMOTE, "10.0.0.2");
	mnl_attr_put_strz(nlh, SANX_A_RAIL_STATE, "failed");
	mnl_attr_put_u32(nlh, SANX_A_RAIL_ADMIN, SANX_RAIL_ADMIN_DRAIN);
	mnl_attr_put_u32(nlh, SANX_A_RAIL_WEIGHT, 3);
	mnl_attr_put_u32(nlh, SANX_A_RAIL_RTT, 1234);
	mnl_attr_put_u64(nlh, SANX_A_RAIL_TX_BYTES, UINT64_MAX);
	mnl_attr_put_u64(nlh, SANX_A_RAIL_RX_BYTES, 6);
	mnl_attr_put_u32(nlh, SANX_A_RAIL_ERRORS, 7);
	mnl_attr_put_u32(nlh, SANX_A_RAIL_RETRY_SECS, 8);
	mnl_attr_put_strz(nlh, SANX_A_RAIL_CAUSE, "no-key");
}

static void dump_rails(void)
{
	struct nlmsghdr *nlh;

	if (fake("well")) {
		dump_rail_up();
		return;
	}
	nlh = message(FAMILY);
	put_rail(nlh);
	message_end(nlh);

	/* A rail for which this node has no address. */
	nlh = message(FAMILY);
	mnl_attr_put_u32(nlh, SANX_A_RAIL_NODE, 2);
	mnl_attr_put_u32(nlh, SANX_A_RAIL_NUMBER, 1);
	mnl_attr_put_strz(nlh, SANX_A_RAIL_TRANSPORT, "tcp-rail");
	put_addr(nlh, SANX_A_RAIL_REMOTE, "fd00::2");
	mnl_attr_put_strz(nlh, SANX_A_RAIL_STATE, "no-wire");
	mnl_attr_put_u32(nlh, SANX_A_RAIL_WEIGHT, 1);
	message_end(nlh);
}

/* Answers with what was set, as a warning of the kernel. */
static void do_rail(void)
{
	const struct nlattr *attr[SANX_A_RAIL_MAX + 1];
	struct in6_addr addr, none;
	static char text[200];
	char name[INET6_ADDRSTRLEN];

	nl_parse(request, attr, SANX_A_RAIL_MAX);
	addr = nl_addr(attr[SANX_A_RAIL_ADDR]);
	inet_pton(AF_INET6, "::ffff:10.9.9.9", &none);
	if (!memcmp(&addr, &none, sizeof(addr))) {
		answer_error(ENOENT, "no such rail", NULL);
		return;
	}
	inet_ntop(AF_INET6, &addr, name, sizeof(name));
	snprintf(text, sizeof(text), "%s tcp %llu admin %lld weight %lld", name,
		 (unsigned long long)nl_uint(attr[SANX_A_RAIL_TCP]),
		 attr[SANX_A_RAIL_ADMIN] ? (long long)nl_uint(attr[SANX_A_RAIL_ADMIN]) : -1,
		 attr[SANX_A_RAIL_WEIGHT] ? (long long)nl_uint(attr[SANX_A_RAIL_WEIGHT]) : -1);
	answer_error(0, text, NULL);
}

/* What a dump and an event both tell. */
static void put_ends(struct nlmsghdr *nlh, u16 local_port, const char *remote, u16 remote_port)
{
	put_addr(nlh, SANX_A_SOCKET_LOCAL_ADDR, "10.0.0.1");
	mnl_attr_put_u16(nlh, SANX_A_SOCKET_LOCAL_PORT, local_port);
	put_addr(nlh, SANX_A_SOCKET_REMOTE_ADDR, remote);
	mnl_attr_put_u16(nlh, SANX_A_SOCKET_REMOTE_PORT, remote_port);
}

static void put_socket(struct nlmsghdr *nlh, u64 tx_bytes)
{
	put_ends(nlh, 80, "10.0.0.2", 40000);
	mnl_attr_put_strz(nlh, SANX_A_SOCKET_STATE, "ESTAB");
	mnl_attr_put_strz(nlh, SANX_A_SOCKET_TRANSPORT, "loop");
	mnl_attr_put_u32(nlh, SANX_A_SOCKET_NODE, 2);
	mnl_attr_put_u64(nlh, SANX_A_SOCKET_TX_BYTES, tx_bytes);
	mnl_attr_put_u64(nlh, SANX_A_SOCKET_RX_BYTES, 0);
}

/* One that became TCP. */
static void put_fallen(struct nlmsghdr *nlh)
{
	put_ends(nlh, 40001, "10.0.0.3", 81);
	mnl_attr_put_strz(nlh, SANX_A_SOCKET_STATE, "ESTAB");
	mnl_attr_put_strz(nlh, SANX_A_SOCKET_TRANSPORT, "tcp");
	mnl_attr_put_strz(nlh, SANX_A_SOCKET_FALLBACK, "refused");
}

/* Each dump of a run has more bytes than the one before, if it "grows". */
/* An explicit socket: port 70000 of this node. */
static void dump_explicit(u64 inode, const char *state)
{
	struct nlmsghdr *nlh = message(FAMILY);

	put_addr(nlh, SANX_A_SOCKET_LOCAL_ADDR, "100::1:1170:0:0");
	mnl_attr_put_u16(nlh, SANX_A_SOCKET_LOCAL_PORT, SOCK_STREAM);
	mnl_attr_put_strz(nlh, SANX_A_SOCKET_STATE, state);
	mnl_attr_put_u64(nlh, SANX_A_SOCKET_INODE, inode);
	message_end(nlh);
}

/* The one with inode 98 has gone meanwhile. */
static void do_end(void)
{
	const struct nlattr *attr[SANX_A_SOCKET_MAX + 1];

	nl_parse(request, attr, SANX_A_SOCKET_MAX);
	answer_error(fake("forbidden") ? EPERM :
		     nl_uint(attr[SANX_A_SOCKET_INODE]) == 98 ? ENOENT : 0, NULL, NULL);
}

static void dump_sockets(void)
{
	static u64 tx_bytes = 10;
	struct nlmsghdr *nlh = message(FAMILY);

	put_socket(nlh, tx_bytes);
	tx_bytes += fake("grows") ? 1000000000 : 0;
	mnl_attr_put_u32(nlh, SANX_A_SOCKET_RX_QUEUE, 5);
	mnl_attr_put_u32(nlh, SANX_A_SOCKET_TX_QUEUE, 6);
	mnl_attr_put_u64(nlh, SANX_A_SOCKET_INODE, 0x100000001ULL);
	mnl_attr_put_u32(nlh, SANX_A_SOCKET_UID, 1000);
	mnl_attr_put_u32(nlh, SANX_A_SOCKET_DENIED, 1);
	mnl_attr_put_u32(nlh, SANX_A_SOCKET_TX_MS, 30);
	mnl_attr_put_u32(nlh, SANX_A_SOCKET_TX_RING, 65536);
	mnl_attr_put_u32(nlh, SANX_A_SOCKET_RX_RING, 32768);
	message_end(nlh);

	nlh = message(FAMILY);
	put_fallen(nlh);
	mnl_attr_put_u64(nlh, SANX_A_SOCKET_INODE, 77);
	message_end(nlh);

	if (fake("explicit") || fake("forbidden")) {
		dump_explicit(99, "LISTEN");
		dump_explicit(98, "LISTEN");
	}

	/* A socket with few attributes. */
	nlh = message(FAMILY);
	put_addr(nlh, SANX_A_SOCKET_LOCAL_ADDR, "::");
	mnl_attr_put_u16(nlh, SANX_A_SOCKET_LOCAL_PORT, 8080);
	mnl_attr_put_strz(nlh, SANX_A_SOCKET_STATE, "LISTEN");
	message_end(nlh);
}

static void do_stats(void)
{
	struct nlmsghdr *nlh = message(FAMILY);
	int i;

	for (i = SANX_A_STATS_CONNS_LOOP; i <= SANX_A_STATS_MAX; i++)
		if (i != SANX_A_STATS_PAD)
			mnl_attr_put_u64(nlh, i, fake("well") ? 0 :
					 i == SANX_A_STATS_TX_BYTES ? UINT64_MAX : (u64)i);
	message_end(nlh);
	answer_error(0, NULL, NULL);
}

static void dump_key(u32 node, u32 id)
{
	struct nlmsghdr *nlh = message(FAMILY);

	mnl_attr_put_u32(nlh, SANX_A_KEY_NODE, node);
	mnl_attr_put_u32(nlh, SANX_A_KEY_ID, id);
	message_end(nlh);
}

/* The id of a key is its first four bytes; it is there if they are those of BAD_KEY. */
#define BAD_KEY 0x62616421

static void do_key(u8 cmd)
{
	const struct nlattr *attr[SANX_A_KEY_MAX + 1];
	struct nlmsghdr *nlh;
	u32 id;

	nl_parse(request, attr, SANX_A_KEY_MAX);
	if (fake("denied")) {
		answer_error(EPERM, NULL, NULL);
		return;
	}
	if (cmd == SANX_CMD_KEY_DEL) {
		id = nl_uint(attr[SANX_A_KEY_ID]);
		if (id == BAD_KEY)
			answer_error(ENOENT, "no such key", NULL);
		else
			answer_error(0, NULL, NULL);
		return;
	}
	memcpy(&id, mnl_attr_get_payload(attr[SANX_A_KEY_SECRET]), sizeof(id));
	nlh = message(FAMILY);
	mnl_attr_put_u32(nlh, SANX_A_KEY_ID, be32toh(id) + nl_uint(attr[SANX_A_KEY_NODE]));
	message_end(nlh);
	answer_error(0, NULL, NULL);
}

static void do_apply(void)
{
	struct nlmsghdr *nlh = message(FAMILY);

	mnl_attr_put_u32(nlh, SANX_A_PORTS_ENDED, 3);
	message_end(nlh);
	answer_error(0, NULL, NULL);
}

static void do_reset(void)
{
	const struct nlattr *attr[SANX_A_LINK_MAX + 1];
	struct nlmsghdr *nlh;

	nl_parse(request, attr, SANX_A_LINK_MAX);
	if (fake("denied")) {
		answer_error(EPERM, NULL, NULL);
		return;
	}
	nlh = message(FAMILY);
	mnl_attr_put_u32(nlh, SANX_A_LINK_ENDED,
			 nl_uint(attr[SANX_A_LINK_NODE]) * 100 +
			 (attr[SANX_A_LINK_LANE] ? nl_uint(attr[SANX_A_LINK_LANE]) : 99));
	message_end(nlh);
	answer_error(0, NULL, NULL);
}

/* The events that a listener gets. */
static void tell_events(void)
{
	struct nlmsghdr *nlh = event(SANX_CMD_SOCKET_NTF);

	put_socket(nlh, 10);
	message_end(nlh);
	nlh = event(SANX_CMD_LINK_NTF);
	put_link(nlh);
	mnl_attr_put_strz(nlh, SANX_A_LINK_WHY, "the peer was lost");
	message_end(nlh);
	nlh = event(SANX_CMD_RAIL_NTF);
	put_rail(nlh);
	message_end(nlh);
	nlh = event(SANX_CMD_SOCKET_NTF);
	put_fallen(nlh);
	message_end(nlh);
	/* Of a version that is not known yet. */
	message_end(event(SANX_CMD_MAX + 1));
}

static void do_dump(u8 cmd)
{
	static bool interrupted;
	char *start = answer_end;

	if (cmd == SANX_CMD_LINK_GET) {
		dump_links();
	} else if (cmd == SANX_CMD_RAIL_GET) {
		dump_rails();
	} else if (cmd == SANX_CMD_SOCKET_GET) {
		dump_sockets();
	} else if (cmd == SANX_CMD_KEY_GET) {
		dump_key(0, 0x12abcd);
		dump_key(7, UINT32_MAX);
	} else {
		state_dump(cmd);
	}

	if (fake("interrupted") && !interrupted && answer_end != start) {
		((struct nlmsghdr *)start)->nlmsg_flags |= NLM_F_DUMP_INTR;
		interrupted = true;
	}
	answer_done(fake("broken") ? EIO : 0);
}

static void put_groups(struct nlmsghdr *nlh)
{
	struct nlattr *groups = mnl_attr_nest_start(nlh, CTRL_ATTR_MCAST_GROUPS);
	struct nlattr *group = mnl_attr_nest_start(nlh, 1);

	mnl_attr_put_u32(nlh, CTRL_ATTR_MCAST_GRP_ID, GROUP);
	mnl_attr_put_strz(nlh, CTRL_ATTR_MCAST_GRP_NAME, SANX_MCGRP_EVENTS);
	mnl_attr_nest_end(nlh, group);
	mnl_attr_nest_end(nlh, groups);
}

static void do_ctrl(void)
{
	struct nlmsghdr *nlh;

	if (fake("absent")) {
		answer_error(ENOENT, NULL, NULL);
		return;
	}
	nlh = message(GENL_ID_CTRL);
	mnl_attr_put_u16(nlh, CTRL_ATTR_FAMILY_ID, FAMILY);
	if (!fake("old"))
		put_groups(nlh);
	message_end(nlh);
	answer_error(0, NULL, NULL);
}

static void do_dcb(void)
{
	struct ieee_pfc pfc = { .pfc_en = fake("well") ? 1 << 3 : 0 };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(answer_end);
	struct nlattr *nest;

	nlh->nlmsg_type = RTM_GETDCB;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct dcbmsg));
	nest = mnl_attr_nest_start(nlh, DCB_ATTR_IEEE);
	mnl_attr_put(nlh, DCB_ATTR_IEEE_PFC, sizeof(pfc), &pfc);
	mnl_attr_nest_end(nlh, nest);
	message_end(nlh);
}

/* A message without the header of generic netlink. */
static void put_diag(u8 state, const char *src, u16 sport, const char *dst, u16 dport)
{
	struct inet_diag_msg sock = { .idiag_family = AF_INET, .idiag_state = state };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(answer_end);

	nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	inet_pton(AF_INET, src, sock.id.idiag_src);
	inet_pton(AF_INET, dst, sock.id.idiag_dst);
	sock.id.idiag_sport = htons(sport);
	sock.id.idiag_dport = htons(dport);
	memcpy(mnl_nlmsg_put_extra_header(nlh, sizeof(sock)), &sock, sizeof(sock));
	message_end(nlh);
}

/* TCP's tables: two of dump_sockets(), one of somebody else, and none of IPv6. */
static void do_diag(void)
{
	const struct inet_diag_req_v2 *req = mnl_nlmsg_get_payload(request);

	if (request->nlmsg_type == SOCK_DESTROY) {
		answer_error(fake("denied") ? EPERM :
			     ntohs(req->id.idiag_sport) == 40001 ? ENOENT : 0, NULL, NULL);
		return;
	}
	if (req->sdiag_family == AF_INET) {
		put_diag(1, "10.0.0.1", 80, "10.0.0.2", 40000);
		put_diag(1, "10.0.0.1", 80, "10.0.0.2", 40009);
		put_diag(1, "10.0.0.1", 40001, "10.0.0.3", 81);
		put_diag(10, "0.0.0.0", 8080, "0.0.0.0", 0);
	}
	answer_done(0);
}

/*
 * The C library's functions
 */

int sanx_family_read(void)
{
	return fake("absent") ? 0 : AF_MAX + 1;
}

/* The only socket that sanxctl makes itself is the family's. */
int socket(int domain, int type, int protocol)
{
	(void)type;
	(void)protocol;
	if (domain == AF_MAX + 1)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	errno = EAFNOSUPPORT;
	return -1;
}

/* A peer that has no socket of the family there. */
int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	struct sanx_explain *x = value;
	struct in6_addr addr;

	(void)fd;
	if (level != SOL_SANX || name != SANX_EXPLAIN || *len != sizeof(*x)) {
		errno = ENOPROTOOPT;
		return -1;
	}
	memcpy(&addr, x->remote, sizeof(addr));
	if (addr_is_explicit(&addr))
		addr_of_node(1, &addr);
	else
		addr_parse("10.0.0.1", &addr);
	memcpy(x->local, &addr, sizeof(addr));
	x->node = 2;
	snprintf(x->transport, sizeof(x->transport), "verbs");
	snprintf(x->fallback, sizeof(x->fallback), "refused");
	return 0;
}

int getifaddrs(struct ifaddrs **list)
{
	static struct sockaddr_in sin = { .sin_family = AF_INET };
	static char name[IFNAMSIZ];
	static struct ifaddrs one = { .ifa_name = name };

	snprintf(name, sizeof(name), "eth7");
	inet_pton(AF_INET, "10.0.0.1", &sin.sin_addr);
	one.ifa_addr = (struct sockaddr *)&sin;
	*list = &one;
	return 0;
}

void freeifaddrs(struct ifaddrs *list)
{
	(void)list;
}

/*
 * libmnl's functions
 */

struct mnl_socket *mnl_socket_open2(int bus, int flags)
{
	(void)bus;
	(void)flags;
	return (struct mnl_socket *)&answer;
}

int mnl_socket_bind(struct mnl_socket *nl, unsigned int groups, pid_t pid)
{
	(void)nl;
	(void)groups;
	(void)pid;
	return 0;
}

int mnl_socket_setsockopt(const struct mnl_socket *nl, int type, void *buf, socklen_t len)
{
	static const struct nlmsghdr none;

	(void)nl;
	if (type != NETLINK_ADD_MEMBERSHIP)
		return 0;
	if (len != sizeof(u32) || *(u32 *)buf != GROUP) {
		errno = EINVAL;
		return -1;
	}
	request = &none;
	answer_start();
	tell_events();
	hears = EVENTS;
	return 0;
}

int mnl_socket_get_fd(const struct mnl_socket *nl)
{
	(void)nl;
	return -1;
}

int mnl_socket_close(struct mnl_socket *nl)
{
	(void)nl;
	return 0;
}

ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *buf, size_t len)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(buf);

	(void)nl;
	request = buf;
	answer_start();

	if (request->nlmsg_type == GENL_ID_CTRL)
		do_ctrl();
	else if (request->nlmsg_type == RTM_GETDCB)
		do_dcb();
	else if (request->nlmsg_type == SOCK_DIAG_BY_FAMILY || request->nlmsg_type == SOCK_DESTROY)
		do_diag();
	else if (request->nlmsg_flags & NLM_F_DUMP)
		do_dump(genl->cmd);
	else if (genl->cmd == SANX_CMD_STATS_GET)
		do_stats();
	else if (genl->cmd == SANX_CMD_PORTS_APPLY)
		do_apply();
	else if (genl->cmd == SANX_CMD_LINK_RESET)
		do_reset();
	else if (genl->cmd == SANX_CMD_SOCKET_END)
		do_end();
	else if (genl->cmd == SANX_CMD_KEY_ADD || genl->cmd == SANX_CMD_KEY_DEL)
		do_key(genl->cmd);
	else if (genl->cmd == SANX_CMD_RAIL_SET)
		do_rail();
	else
		do_change(genl->cmd);
	return len;
}

ssize_t mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t size)
{
	size_t len = answer_end - answer.bytes;

	(void)nl;
	if (hears == LOSS || hears == FAULT) {
		errno = hears == LOSS ? ENOBUFS : EIO;
		hears++;
		return -1;
	}
	hears += hears == EVENTS;
	if (len > size) {
		errno = ENOSPC;
		return -1;
	}
	memcpy(buf, &answer, len);
	return len;
}
