// SPDX-License-Identifier: GPL-2.0
/*
 * connect(): AF_SANX if the peer has it, otherwise TCP (sci-socket.txt 5.1.5).
 *
 * The transport answers the request later, in any context.  Until then the
 * caller waits on the socket's wait queue, or returns EINPROGRESS.  After a
 * refusal the socket becomes TCP, and TCP's connect() continues; an explicit socket
 * gets an error.
 *
 * Locks: lock_sock() serialises all of this, and is released while the caller
 * waits.
 */
#include "socket_priv.h"
#include "link/peer/engine.h"
#include "loop/loop.h"

/*
 * A socket that has dropped this many connections becomes TCP.  An explicit one is of no more
 * use, and may have tried for long.
 */
#define OLD_MAX		8
#define OLD_MAX_EXPLICIT	1024

/*
 * Is a BPF program on connect attached to the cgroup?  It may want to see or
 * change the address.
 */
static bool cgroup_wants_connect(struct sock *sk)
{
	if (sk->sk_family == AF_INET6)
		return sanx_cgroup_prog(sk, CGROUP_INET6_CONNECT);
	return sk->sk_family == AF_INET && sanx_cgroup_prog(sk, CGROUP_INET4_CONNECT);
}

/*
 * The node map does not have a host.  If auto covers it, it is asked, and only later the
 * map may have it.
 * Return: the reason for TCP.
 */
enum sanx_fallback sanx_seek(struct net *net, const struct in6_addr *addr)
{
	if (!sanx_auto_wants(net, addr))
		return SANX_FALLBACK_UNMAPPED;
	sanx_seek_start(net, addr);
	return SANX_FALLBACK_ASKED;
}

/*
 * Choose the transport of a connect().  lock_sock() held.
 *
 * The order of the checks decides which reason is counted, not whether TCP is used.
 *
 * Return: false for TCP, with @t->why set.
 */
bool sanx_target_pick(struct sanx_sock *ss, struct sanx_target *t)
{
	struct sock *sk = ss->sk;
	struct net *net = sock_net(sk);

	t->ops = NULL;
	/*
	 * Dropped connections stay until the socket is released: limit their
	 * number.
	 */
	t->why = ss->explicit ? SANX_FALLBACK_LIMIT : SANX_FALLBACK_OPTION;
	if (ss->n_old >= (ss->explicit ? OLD_MAX_EXPLICIT : OLD_MAX))
		return false;
	t->why = SANX_FALLBACK_OPTION;
	/* TCP keeps a shutdown() that came before connect(). */
	if (sanx_needs_stack(sk) || READ_ONCE(sk->sk_shutdown))
		return false;
	if (cgroup_wants_connect(sk))
		return false;
	t->why = SANX_FALLBACK_PORT;
	if (t->remote.port && !sanx_port_allowed(net, SANX_WAY_OUT, &t->remote.addr, &t->remote))
		return false;
	if (sanx_loop && sanx_addr_is_local(net, &t->remote.addr)) {
		t->ops = &sanx_loop_ops;
	} else if (sanx_node_by_addr(net, &t->remote.addr, NULL)) {
		t->ops = &sanx_link_ops;
	} else {
		t->why = sanx_seek(net, &t->remote.addr);
		return false;
	}
	return true;
}

/*
 * Starts the connection.
 * Context: lock_sock() held.
 * Return: 0 if it is established or requested; -errno for the program; 1 for
 * TCP, with t->why set.  The caller forgets a connection that an explicit socket has then.
 */
static int start(struct socket *sock, struct sanx_sock *ss, struct sanx_target *t)
{
	struct sock *sk = sock->sk;
	struct sanx_conn *conn;
	int err;

	/* Without a route, TCP returns the error. */
	t->why = SANX_FALLBACK_ROUTE;
	if (!ss->explicit && sanx_route(sk, &t->remote, &t->local))
		return 1;
	err = sanx_ends_connect(ss, &t->local, &t->remote);
	if (err)
		return err;
	conn = sanx_conn_alloc(t->ops, sock_net(sk), &t->local, &t->remote,
			       sanx_memcg_get(sk));
	if (!conn) {
		sanx_ends_forget(ss);
		return -ENOMEM;
	}
	conn->rx_max = sanx_ring_size(READ_ONCE(sk->sk_rcvbuf));
	sanx_rxq_init(&conn->rx, NULL, conn->rx_max);
	sanx_conn_attach(conn, sk);
	conn->ss = ss;
	/*
	 * The connection is set up before it is published.  Pairs with
	 * smp_load_acquire() in sanx_sock_conn().
	 */
	smp_store_release(&ss->conn, conn);
	WRITE_ONCE(sock->state, SS_CONNECTING);
	err = sanx_conn_connect(conn, sanx_fallback_work);
	if (!err && READ_ONCE(conn->state) != SANX_CONN_REFUSED)
		return 0;
	if (!err)
		t->why = sanx_conn_reason(conn);
	else if (err == -ECONNREFUSED)
		t->why = SANX_FALLBACK_REFUSED;
	else
		t->why = SANX_FALLBACK_LINK;
	sanx_conn_give_up(conn);
	return err == -ENOMEM && ss->explicit ? err : 1;
}

/*
 * Waits for the answer, as inet_wait_for_connect() does.
 * Context: lock_sock() held; released while it sleeps.
 * Return: the rest of @timeo, in jiffies.
 */
static long wait_answer(struct sock *sk, struct sanx_sock *ss,
			struct sanx_conn *conn, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	add_wait_queue(sk_sleep(sk), &wait);
	/*
	 * Enter the wait queue before loading the state.  Pairs with the
	 * barrier in skwq_has_sleeper() of the wake-ups.
	 */
	smp_mb();
	while (ss->conn == conn && sanx_sock_connecting(ss, conn)) {
		release_sock(sk);
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
		lock_sock(sk);
		if (signal_pending(current) || !timeo)
			break;
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return timeo;
}

/*
 * The attempt failed.  As over TCP, the socket can connect again.  Another
 * connect() may have dropped the connection already.
 */
static int failed(struct socket *sock, struct sanx_sock *ss,
		  struct sanx_conn *conn)
{
	int err = sock_error(sock->sk) ?: -ECONNABORTED;

	if (ss->conn == conn)
		sanx_sock_forget(sock, ss);
	return err;
}

/*
 * The connect thread made the socket TCP.  TCP may have failed already.
 * Return: -errno of TCP's connect, or 1 to call it.
 */
static int fallen(struct socket *sock)
{
	if (READ_ONCE(sock->state) == SS_UNCONNECTED && sock->sk->sk_err)
		return sock_error(sock->sk);
	return 1;
}

/*
 * Finishes a connect() that was started.
 * @nowait_err: the error if the answer is not there after the timeout
 * Context: lock_sock() held; released while it waits.
 * Return: 0, -errno, or 1 if the socket fell back.
 */
static int finish(struct socket *sock, struct sanx_sock *ss, int flags,
		  int nowait_err)
{
	struct sock *sk = sock->sk;
	struct sanx_conn *conn = ss->conn;
	long timeo = sock_sndtimeo(sk, flags & O_NONBLOCK);

	if (!conn)
		return -EINVAL;
	if (sanx_sock_connecting(ss, conn)) {
		if (!timeo)
			return nowait_err;
		timeo = wait_answer(sk, ss, conn, timeo);
	}
	if (READ_ONCE(ss->fell_back))
		return fallen(sock);
	if (ss->conn == conn && sanx_sock_connecting(ss, conn))
		return signal_pending(current) ? sock_intr_errno(timeo) :
						 nowait_err;
	if (ss->conn != conn || !sanx_conn_open(conn))
		return failed(sock, ss, conn);
	WRITE_ONCE(sock->state, SS_CONNECTED);
	return 0;
}

/* The first connect().  Context and return value as for finish(). */
static int connect_first(struct socket *sock, struct sanx_sock *ss,
			 struct sanx_target *t, int flags)
{
	int err = 1;

	/* tcp_connect_init() clears it too. */
	WRITE_ONCE(sock->sk->sk_err, 0);
	if (sanx_target_pick(ss, t))
		err = start(sock, ss, t);
	if (err && ss->explicit) {
		if (ss->conn)
			sanx_sock_forget(sock, ss);
		return err < 0 ? err : sanx_explicit_error(t->why);
	}
	if (err > 0) {
		sanx_fall_back(sock, ss, &t->remote, t->why);
		return 1;
	}
	/*
	 * As over TCP, also if the answer is there already.  poll() reports it.
	 */
	if (!err && flags & O_NONBLOCK)
		return -EINPROGRESS;
	return err ?: finish(sock, ss, flags, -EINPROGRESS);
}

/* Of an explicit socket that has no connection.  Node 0 is this one. */
static int connect_explicit(struct socket *sock, struct sanx_sock *ss,
			    const struct sockaddr *uaddr, int len, int flags)
{
	struct sock *sk = ss->sk;
	struct sanx_target t;
	u32 node, port;
	int err;

	if (len >= (int)sizeof(uaddr->sa_family) && uaddr->sa_family == AF_UNSPEC) {
		sanx_explicit_disconnect(ss);
		return 0;
	}
	if (sk->sk_state != TCP_CLOSE)
		return -EISCONN;
	err = sanx_explicit_parse(sk, uaddr, len, &node, &port);
	if (err)
		return err;
	if (!port)
		return -EINVAL;
	sanx_endpoint_explicit(&t.remote, sk->sk_type, node ?: sanx_node_self(sock_net(sk)),
			       port);
	return connect_first(sock, ss, &t, flags);
}

static int connect_locked(struct socket *sock, struct sanx_sock *ss,
			  struct sockaddr *uaddr, int len, int flags)
{
	struct sock *sk = sock->sk;
	struct sanx_target t;
	int err;

	if (READ_ONCE(ss->fell_back))
		return 1;
	if (len >= (int)sizeof(uaddr->sa_family) &&
	    uaddr->sa_family == AF_UNSPEC && ss->conn) {
		/* As tcp_disconnect() does. */
		if (sanx_sock_connecting(ss, ss->conn) ||
		    !sanx_conn_over(ss->conn))
			WRITE_ONCE(sk->sk_err, ECONNRESET);
		sanx_sock_forget(sock, ss);
		return 0;
	}
	switch (sock->state) {
	case SS_CONNECTED:
		return -EISCONN;
	case SS_CONNECTING:
		return finish(sock, ss, flags, -EALREADY);
	case SS_UNCONNECTED:
		if (ss->explicit)
			return connect_explicit(sock, ss, uaddr, len, flags);
		/*
		 * A listener, or an address without a family: TCP returns the
		 * error.
		 */
		if (sk->sk_state != TCP_CLOSE ||
		    len < (int)sizeof(uaddr->sa_family) ||
		    uaddr->sa_family == AF_UNSPEC)
			return 2;
		err = sanx_label_connect(sk, uaddr, len);
		if (err)
			return err;
		/*
		 * TCP returns the result for an address that AF_SANX does not
		 * support.
		 */
		if (sanx_endpoint_parse(&t.remote, sk, uaddr, len)) {
			sanx_fall_back(sock, ss, NULL, SANX_FALLBACK_OPTION);
			return 1;
		}
		return connect_first(sock, ss, &t, flags);
	default:
		return -EINVAL;
	}
}

/**
 * sanx_connect() - proto_ops.connect
 * @sock: the socket
 * @uaddr: the peer, a sockaddr_in or sockaddr_in6 by the socket's family
 * @len: bytes of @uaddr
 * @flags: O_NONBLOCK
 *
 * Context: process, may sleep; takes lock_sock().
 * Return: 0, or -errno as in connect(2) and tcp(7).
 */
int sanx_connect(struct socket *sock, struct sockaddr *uaddr, int len,
		 int flags)
{
	struct sanx_sock *ss = sanx_sk(sock);
	struct sock *sk = sock->sk;
	bool first;
	int err;

	if (!ss)
		return sanx_native_ops(sock)->connect(sock, uaddr, len, flags);
	lock_sock(sk);
	first = sock->state == SS_UNCONNECTED;
	err = connect_locked(sock, ss, uaddr, len, flags);
	release_sock(sk);
	if (err <= 0)
		return err;
	err = ss->native->connect(sock, uaddr, len, flags);
	/*
	 * The connect thread called TCP's connect, so this is the program's
	 * first call.
	 */
	if (err == -EALREADY && first)
		err = -EINPROGRESS;
	/* connect(AF_UNSPEC) ends listening. */
	if (READ_ONCE(sk->sk_state) != TCP_LISTEN)
		sanx_listener_stop(&ss->lsk);
	return err;
}
