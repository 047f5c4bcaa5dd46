// SPDX-License-Identifier: GPL-2.0
/*
 * A few generic netlink requests, written out, so that the tests do not lean
 * on the tools that they are to test.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/sanx.h>

#include "node.h"

/* One request and its answer. */
struct message {
	struct nlmsghdr		nlh;
	struct genlmsghdr	genl;
	unsigned char		attrs[4000];
};

static void start(struct message *msg, int type, int cmd, int version)
{
	memset(msg, 0, sizeof(*msg));
	msg->nlh.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	msg->nlh.nlmsg_type = type;
	msg->nlh.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	msg->genl.cmd = cmd;
	msg->genl.version = version;
}

static struct nlattr *put(struct message *msg, int type, const void *data,
			  size_t len)
{
	struct nlattr *attr = (void *)((char *)msg +
				       NLMSG_ALIGN(msg->nlh.nlmsg_len));

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	if (len)
		memcpy((char *)attr + NLA_HDRLEN, data, len);
	msg->nlh.nlmsg_len = NLMSG_ALIGN(msg->nlh.nlmsg_len) +
			     NLA_ALIGN(attr->nla_len);
	return attr;
}

/*
 * Sends @req and waits for its acknowledgment.  A message before that goes to
 * @answer, if there is one.
 */
static int talk(struct message *req, struct message *answer)
{
	struct nlmsgerr *ack;
	struct message in;
	int fd, err = 0;
	ssize_t n;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (fd < 0)
		return -errno;
	if (send(fd, req, req->nlh.nlmsg_len, 0) < 0)
		goto fail;
	for (;;) {
		n = recv(fd, &in, sizeof(in), 0);
		if (n < 0)
			goto fail;
		if (in.nlh.nlmsg_type == NLMSG_ERROR) {
			ack = NLMSG_DATA(&in.nlh);
			err = ack->error;
			break;
		}
		if (answer)
			memcpy(answer, &in, n);
	}
	close(fd);
	return err;
fail:
	err = -errno;
	close(fd);
	return err;
}

/* Attribute @type of an answer, or NULL. */
static void *find(struct message *msg, int type)
{
	int rest = (int)msg->nlh.nlmsg_len - (int)NLMSG_LENGTH(GENL_HDRLEN);
	char *p = (char *)msg->attrs;
	struct nlattr *attr;

	while (rest >= (int)NLA_HDRLEN) {
		attr = (struct nlattr *)p;
		if (attr->nla_len < NLA_HDRLEN || attr->nla_len > rest)
			break;
		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return p + NLA_HDRLEN;
		p += NLA_ALIGN(attr->nla_len);
		rest -= NLA_ALIGN(attr->nla_len);
	}
	return NULL;
}

/* The number that generic netlink gave to our family. */
static int genl_id(void)
{
	struct message req, answer;
	uint16_t *id;
	int err;

	start(&req, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	put(&req, CTRL_ATTR_FAMILY_NAME, SANX_FAMILY_NAME,
	    sizeof(SANX_FAMILY_NAME));
	err = talk(&req, &answer);
	if (err)
		return err;
	id = find(&answer, CTRL_ATTR_FAMILY_ID);
	return id ? *id : -ENOENT;
}

int node_stats(struct node_stats *st)
{
	int id = genl_id(), err, i;
	struct message req, answer;
	void *value;

	memset(st, 0, sizeof(*st));
	if (id < 0)
		return id;
	start(&req, id, SANX_CMD_STATS_GET, SANX_FAMILY_VERSION);
	err = talk(&req, &answer);
	if (err)
		return err;
	for (i = 1; i <= SANX_A_STATS_MAX; i++) {
		value = find(&answer, i);
		if (value && i != SANX_A_STATS_PAD)
			memcpy(&st->v[i], value, sizeof(st->v[i]));
	}
	return 0;
}

long node_stat_since(const struct node_stats *before, int stat)
{
	struct node_stats now;

	node_stats(&now);
	return now.v[stat] - before->v[stat];
}

int node_ports_deny(bool deny)
{
	uint32_t action = SANX_PORT_ACTION_DENY;
	struct nlattr *nest;
	struct message req;
	int id = genl_id();

	if (id < 0)
		return id;
	start(&req, id, SANX_CMD_PORTS_LOAD, SANX_FAMILY_VERSION);
	if (deny) {
		nest = put(&req, SANX_A_PORTS_RULE | NLA_F_NESTED, NULL, 0);
		put(&req, SANX_A_PORT_RULE_ACTION, &action, sizeof(action));
		nest->nla_len = (char *)&req + req.nlh.nlmsg_len -
				(char *)nest;
	}
	return talk(&req, NULL);
}

/* A request to change something. */
static int start_change(struct message *req, int cmd)
{
	int id = genl_id();

	if (id >= 0)
		start(req, id, cmd, SANX_FAMILY_VERSION);
	return id < 0 ? id : 0;
}

static void end_nest(struct message *msg, struct nlattr *nest)
{
	nest->nla_len = (char *)msg + msg->nlh.nlmsg_len - (char *)nest;
}

/* An address, as IPv6. */
static void put_addr(struct message *msg, int type, const char *text)
{
	unsigned char addr[SANX_ADDR_LEN] = { [10] = 0xff, [11] = 0xff };

	if (inet_pton(AF_INET, text, addr + 12) != 1)
		inet_pton(AF_INET6, text, addr);
	put(msg, type, addr, sizeof(addr));
}

static void put_entry(struct message *msg, const struct node_entry *e)
{
	struct nlattr *nest;

	nest = put(msg, SANX_A_NODEMAP_NODE | NLA_F_NESTED, NULL, 0);
	put_addr(msg, SANX_A_NODE_ADDR, e->addr);
	if (e->id)
		put(msg, SANX_A_NODE_ID, &e->id, sizeof(e->id));
	if (e->rail)
		put_addr(msg, SANX_A_NODE_RAIL, e->rail);
	if (e->tcp_rail)
		put_addr(msg, SANX_A_NODE_TCP_RAIL, e->tcp_rail);
	end_nest(msg, nest);
}

static int change_map(int cmd, const struct node_entry *entry, int n)
{
	struct message req;
	int err = start_change(&req, cmd);

	for (int i = 0; i < n && !err; i++)
		put_entry(&req, &entry[i]);
	return err ?: talk(&req, NULL);
}

int node_map_load(const struct node_entry *entry, int n)
{
	return change_map(SANX_CMD_NODEMAP_LOAD, entry, n);
}

int node_map_add(const struct node_entry *entry)
{
	return change_map(SANX_CMD_NODEMAP_ADD, entry, 1);
}

int node_map_del(const char *addr)
{
	const struct node_entry entry = { .addr = addr };

	return change_map(SANX_CMD_NODEMAP_DEL, &entry, 1);
}

static int change_port(int cmd, uint16_t port)
{
	uint32_t action = SANX_PORT_ACTION_DENY;
	struct nlattr *nest;
	struct message req;
	int err = start_change(&req, cmd);

	if (err)
		return err;
	nest = put(&req, SANX_A_PORTS_RULE | NLA_F_NESTED, NULL, 0);
	put(&req, SANX_A_PORT_RULE_ACTION, &action, sizeof(action));
	put(&req, SANX_A_PORT_RULE_FIRST, &port, sizeof(port));
	put(&req, SANX_A_PORT_RULE_LAST, &port, sizeof(port));
	end_nest(&req, nest);
	return talk(&req, NULL);
}

int node_port_deny(uint16_t port)
{
	return change_port(SANX_CMD_PORTS_ADD, port);
}

int node_port_del(uint16_t port)
{
	return change_port(SANX_CMD_PORTS_DEL, port);
}

int node_ports_apply(void)
{
	struct message req, answer;

	return start_change(&req, SANX_CMD_PORTS_APPLY) ?: talk(&req, &answer);
}

int node_socket_end(uint64_t inode)
{
	struct message req;
	int err = start_change(&req, SANX_CMD_SOCKET_END);

	if (err)
		return err;
	put(&req, SANX_A_SOCKET_INODE, &inode, sizeof(inode));
	return talk(&req, NULL);
}

int node_key_add(uint32_t node, unsigned char fill)
{
	unsigned char secret[SANX_KEY_LEN];
	struct message req, answer;
	int err = start_change(&req, SANX_CMD_KEY_ADD);

	if (err)
		return err;
	memset(secret, fill, sizeof(secret));
	put(&req, SANX_A_KEY_NODE, &node, sizeof(node));
	put(&req, SANX_A_KEY_SECRET, secret, sizeof(secret));
	return talk(&req, &answer);
}

int node_key_del(uint32_t node)
{
	struct message req;
	int err = start_change(&req, SANX_CMD_KEY_DEL);

	if (err)
		return err;
	put(&req, SANX_A_KEY_NODE, &node, sizeof(node));
	return talk(&req, NULL);
}

/* Counts the messages in @buf.  @done is set if it has the last one. */
static int count_messages(const void *buf, int len, bool *done)
{
	const struct nlmsghdr *nlh;
	int n = 0;

	for (nlh = buf; NLMSG_OK(nlh, len); nlh = NLMSG_NEXT(nlh, len)) {
		if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE) {
			*done = true;
			return *(const int *)NLMSG_DATA(nlh) ?: n;
		}
		n++;
	}
	return n;
}

int node_dump(int cmd)
{
	static char buf[32768];
	struct message req;
	bool done = false;
	int fd, all = start_change(&req, cmd), n = 0;

	if (all)
		return all;
	req.nlh.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (fd < 0)
		return -errno;
	if (send(fd, &req, req.nlh.nlmsg_len, 0) < 0)
		n = -errno;
	while (n >= 0 && !done) {
		n = recv(fd, buf, sizeof(buf), 0);
		n = n < 0 ? -errno : count_messages(buf, n, &done);
		all += n;
	}
	close(fd);
	return n < 0 ? n : all;
}

int node_family(void)
{
	FILE *f = fopen("/sys/module/af_sanx/parameters/family", "r");
	int family = -ENOENT;

	if (!f)
		return -errno;
	if (fscanf(f, "%d", &family) != 1)
		family = -EINVAL;
	fclose(f);
	return family;
}

int node_socket(bool sanx, int family, int type)
{
	if (family == FAMILY_EXPLICIT)
		return socket(node_family(), type, SANXPROTO_EXPLICIT);
	if (!sanx)
		return socket(family, type, 0);
	return socket(node_family(), type, family == AF_INET6 ? SANXPROTO_INET6 :
								SANXPROTO_INET);
}
