// SPDX-License-Identifier: GPL-2.0
/* What an administrator finds and ends with ss(8): SOCK_DIAG and SOCK_DESTROY. */
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/stat.h>

#include "sanx_test.h"

static void fill_addr(const struct address *a, __be32 *to)
{
	if (a->sa.sa_family == AF_INET)
		memcpy(to, &((const struct sockaddr_in *)&a->sa)->sin_addr, 4);
	else
		memcpy(to, &((const struct sockaddr_in6 *)&a->sa)->sin6_addr, 16);
}

/*
 * Asks for the sock with the names of @fd.
 * @type: SOCK_DIAG_BY_FAMILY or SOCK_DESTROY
 * @msg: set to its description for the first
 * Return: 0, or -errno of the kernel's answer.
 */
static int ask(int fd, int type, struct inet_diag_msg *msg)
{
	struct {
		struct nlmsghdr			nlh;
		struct inet_diag_req_v2		req;
	} r = { .nlh = { .nlmsg_len = sizeof(r), .nlmsg_type = type,
			 .nlmsg_flags = NLM_F_REQUEST | (type == SOCK_DESTROY ? NLM_F_ACK : 0) } };
	char buf[4096] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = (void *)buf;
	struct address local, peer;
	int nl, n, err = -EIO;

	if (local_address(fd, &local) || peer_address(fd, &peer))
		return -ENOTCONN;
	r.req.sdiag_family = local.sa.sa_family;
	r.req.sdiag_protocol = IPPROTO_TCP;
	r.req.idiag_states = ~0U;
	r.req.id.idiag_sport = htons(address_port(&local));
	r.req.id.idiag_dport = htons(address_port(&peer));
	fill_addr(&local, r.req.id.idiag_src);
	fill_addr(&peer, r.req.id.idiag_dst);
	r.req.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
	r.req.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	nl = socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG);
	if (nl < 0 || send(nl, &r, sizeof(r), 0) < 0)
		return -errno;
	n = recv(nl, buf, sizeof(buf), 0);
	if (n >= (int)sizeof(*nlh) && nlh->nlmsg_type == NLMSG_ERROR) {
		err = ((struct nlmsgerr *)NLMSG_DATA(nlh))->error;
	} else if (n >= (int)NLMSG_LENGTH(sizeof(*msg)) && msg) {
		*msg = *(struct inet_diag_msg *)NLMSG_DATA(nlh);
		err = 0;
	}
	close(nl);
	return err;
}

/* Each end of a connection is found, and is whose it is. */
SANX_TEST(found)
{
	struct inet_diag_msg msg;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, ask(self->end[i], SOCK_DIAG_BY_FAMILY, &msg));
		EXPECT_EQ(inode_of(self->end[i]), msg.idiag_inode);
	}
}

/* An end that is killed says so, and the other one was reset. */
SANX_TEST(killed)
{
	int end[2];
	char c;

	for (int i = 0; i < 2; i++) {
		connect_pair(_metadata, self, variant, &end[0], &end[1]);
		ASSERT_EQ(0, ask(end[i], SOCK_DESTROY, NULL));
		EXPECT_EQ(ECONNABORTED, get_option(end[i], SOL_SOCKET, SO_ERROR));
		EXPECT_EQ(-EPIPE, rc(send(end[i], "x", 1, MSG_NOSIGNAL)));
		ASSERT_LT(0, poll_one(end[!i], POLLERR, SOON));
		EXPECT_EQ(-ECONNRESET, rc(recv(end[!i], &c, 1, 0)));
		EXPECT_EQ(0, recv(end[i], &c, 1, 0));
		close(end[0]);
		close(end[1]);
	}
	self->fallbacks = ANY_FALLBACKS;
}

/* A program that waits for bytes is woken. */
SANX_TEST(killed_reader)
{
	struct task t = { .fn = task_recv, .fd = self->server, .len = 1 };
	char c;

	t.buf = &c;
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	ASSERT_EQ(0, ask(self->server, SOCK_DESTROY, NULL));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(-ECONNABORTED, t.ret);
	self->fallbacks = ANY_FALLBACKS;
}

SANX_TEST_MAIN
