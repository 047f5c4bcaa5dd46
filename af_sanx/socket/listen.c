// SPDX-License-Identifier: GPL-2.0
/*
 * listen(): the native socket listens, and an entry in the table of listeners
 * takes AF_SANX connections.
 */
#include <net/tcp_states.h>

#include "socket_priv.h"

static bool may_listen(const struct sanx_sock *ss)
{
	return !READ_ONCE(ss->fell_back) && !ss->tcp_only;
}

/*
 * The native listen() serves TCP clients before it returns.  An AF_SANX client
 * that comes then must not be refused, or it would continue as TCP.  So enter
 * the listener first, but let it take no connections yet (sanx_listener.soon),
 * since listen() can fail.
 */
static void listen_begin(struct sanx_sock *ss)
{
	struct sock *sk = ss->sk;

	lock_sock(sk);
	/* Connections may be left from before SOCK_DESTROY: reset them. */
	if (sk->sk_state == TCP_CLOSE)
		sanx_listener_stop(&ss->lsk);
	if (sk->sk_state == TCP_CLOSE && may_listen(ss) &&
	    (ss->explicit ? ss->explicit->port.nr : inet_sk(sk)->inet_num))
		sanx_listener_add(&ss->lsk, sk, sanx_explicit_end(ss), true);
	release_sock(sk);
}

static void listen_end(struct sanx_sock *ss)
{
	struct sock *sk = ss->sk;

	lock_sock(sk);
	if (sk->sk_state == TCP_LISTEN && may_listen(ss)) {
		sanx_listener_add(&ss->lsk, sk, sanx_explicit_end(ss), false);
		sanx_listener_watch(&ss->lsk);
	} else {
		sanx_listener_stop(&ss->lsk);
	}
	release_sock(sk);
}

/* proto_ops.listen.  Takes lock_sock().  Return: 0, or -errno as in listen(2). */
int sanx_listen(struct socket *sock, int backlog)
{
	struct sanx_sock *ss = sanx_sk(sock);
	int err;

	if (!ss)
		return sanx_native_ops(sock)->listen(sock, backlog);
	/* TCP refuses a connected socket.  The native one is not connected. */
	if (sanx_sock_conn(ss))
		return -EINVAL;
	listen_begin(ss);
	err = ss->native->listen(sock, backlog);
	listen_end(ss);
	return err;
}
