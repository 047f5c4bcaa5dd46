// SPDX-License-Identifier: GPL-2.0
/*
 * Questions to others: who is there?
 *
 * A TCP connection for one question and one answer, as a request for a link that ends
 * with the reply.  It may wait: nobody waits for it.
 */
#include <linux/sched/mm.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "tcp_priv.h"

/* How long connecting and the answer may take, each; in jiffies. */
#define WHO_TIME	HZ

static int who_answered(struct socket *sock, struct sanx_seek *s)
{
	struct msghdr msg = { .msg_flags = MSG_NOSIGNAL };
	struct tlink_setup setup;
	struct kvec vec = { &setup, sizeof(setup) };
	int n;

	n = kernel_recvmsg(sock, &msg, &vec, 1, sizeof(setup), MSG_WAITALL);
	if (n != sizeof(setup))
		return n < 0 ? n : -ECONNRESET;
	if (!tlink_setup_ok(&setup))
		return -EPROTO;
	if (setup.type != TLINK_HERE && setup.type != TLINK_REFUSE)
		return -EPROTO;
	return sanx_wire_answered(s, setup.body, le16_to_cpu(setup.len));
}

static int who_exchange(struct socket *sock, struct sanx_seek *s)
{
	struct in6_addr local, remote;
	u8 question[SANX_WIRE_HELLO];
	int len;

	tlink_addrs(sock->sk, &local, &remote);
	len = sanx_wire_question(s, &local, question);
	if (len < 0)
		return len;
	return tlink_send_setup(sock, TLINK_WHO, 0, question, len) ?:
	       who_answered(sock, s);
}

/* sanx_wire_ops.who. */
int tlink_who(struct net *net, const struct in6_addr *addr, struct sanx_seek *s)
{
	unsigned int noio = memalloc_noio_save();
	struct in6_addr any = in6addr_any;
	struct socket *sock;
	int err;

	if (ipv6_addr_v4mapped(addr))
		ipv6_addr_set_v4mapped(htonl(INADDR_ANY), &any);
	err = tlink_dial(net, &any, addr, WHO_TIME, &sock);
	if (!err) {
		err = who_exchange(sock, s);
		/* A kernel's socket that is released sends its FIN only once. */
		sock_no_linger(sock->sk);
		sock_release(sock);
	}
	memalloc_noio_restore(noio);
	return err;
}
