// SPDX-License-Identifier: GPL-2.0
/* listen(): the native socket listens, and so does its entry in the table of listeners. */
#include <net/tcp_states.h>

#include "internal.h"

static bool may_listen(const struct sanx_sock *ss)
{
	return !READ_ONCE(ss->fell_back) && !ss->tcp_only;
}

/*
 * TCP clients are served from a moment within the native listen() on.  An
 * AF_SANX client that comes then is to find something here, or it would go on
 * as TCP; but nothing that takes a connection, as listen() can fail.
 */
static void listen_begin(struct sanx_sock *ss)
{
	struct sock *sk = ss->sk;

	lock_sock(sk);
	/* Who waits since before it was destroyed. */
	if (sk->sk_state == TCP_CLOSE)
		sanx_listener_stop(&ss->lsk);
	if (sk->sk_state == TCP_CLOSE && inet_sk(sk)->inet_num &&
	    may_listen(ss))
		sanx_listener_add(&ss->lsk, sk, true);
	release_sock(sk);
}

static void listen_end(struct sanx_sock *ss)
{
	struct sock *sk = ss->sk;

	lock_sock(sk);
	if (sk->sk_state == TCP_LISTEN && may_listen(ss)) {
		sanx_listener_add(&ss->lsk, sk, false);
		sanx_listener_watch(&ss->lsk);
	} else {
		sanx_listener_stop(&ss->lsk);
	}
	release_sock(sk);
}

/**
 * sanx_listen() - proto_ops.listen
 * @sock: the socket
 * @backlog: connections that may wait, for TCP and AF_SANX each
 *
 * Return: 0, or -errno as listen(2).
 */
int sanx_listen(struct socket *sock, int backlog)
{
	struct sanx_sock *ss = sanx_sk(sock);
	int err;

	if (!ss)
		return sanx_native_ops(sock)->listen(sock, backlog);
	/* Connected is an error in TCP's eyes too, but not in the native one's. */
	if (sanx_sock_conn(ss))
		return -EINVAL;
	listen_begin(ss);
	err = ss->native->listen(sock, backlog);
	listen_end(ss);
	return err;
}
