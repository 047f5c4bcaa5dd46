// SPDX-License-Identifier: GPL-2.0
/*
 * A few generic netlink requests, written out, so that the tests do not lean
 * on the tools that they are to test.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

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

int node_ports_deny(bool deny)
{
	uint32_t action = SANX_PORT_ACTION_DENY;
	uint16_t first = 1, last = 65535;
	struct nlattr *nest;
	struct message req;
	int id = genl_id();

	if (id < 0)
		return id;
	start(&req, id, SANX_CMD_PORTS_LOAD, SANX_FAMILY_VERSION);
	if (deny) {
		nest = put(&req, SANX_A_PORTS_RULE | NLA_F_NESTED, NULL, 0);
		put(&req, SANX_A_PORT_RULE_ACTION, &action, sizeof(action));
		put(&req, SANX_A_PORT_RULE_FIRST, &first, sizeof(first));
		put(&req, SANX_A_PORT_RULE_LAST, &last, sizeof(last));
		nest->nla_len = (char *)&req + req.nlh.nlmsg_len -
				(char *)nest;
	}
	return talk(&req, NULL);
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
