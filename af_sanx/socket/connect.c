// SPDX-License-Identifier: GPL-2.0
/*
 * connect(): AF_SANX where the peer can, TCP where not (sci-socket.txt 5.1.5).
 *
 * The answer to the request comes from the transport at some time; until then
 * the caller waits on the socket's wait queue, or has EINPROGRESS.  A refusal
 * makes the socket TCP, and TCP's connect() goes on from there.
 */
#include "internal.h"

/* Connections that a socket can have had and lost before it is TCP. */
#define OLD_MAX	8

/**
 * struct target - where a connect() goes
 * @remote: the peer
 * @local: our end
 * @ops: the transport, pinned
 * @why: why not, if there is none
 */
struct target {
	struct sanx_endpoint		remote;
	struct sanx_endpoint		local;
	const struct sanx_transport_ops	*ops;
	enum sanx_fallback		why;
};

/* Does a program of its cgroup want to see, or change, where TCP goes? */
static bool cgroup_wants_connect(struct sock *sk)
{
	if (sk->sk_family == AF_INET6)
		return sanx_cgroup_prog(sk, CGROUP_INET6_CONNECT);
	return sanx_cgroup_prog(sk, CGROUP_INET4_CONNECT);
}

/* Who can carry it?  Order matters for what is counted, not for the answer. */
static bool pick_transport(struct sanx_sock *ss, struct target *t)
{
	struct sock *sk = ss->sk;
	struct net *net = sock_net(sk);

	t->ops = NULL;
	t->why = SANX_FALLBACK_OPTION;
	if (sanx_needs_stack(sk))
		return false;
	/* Each dead connection stays until the socket goes: some, not many. */
	if (ss->n_old >= OLD_MAX)
		return false;
	if (cgroup_wants_connect(sk))
		return false;
	t->why = SANX_FALLBACK_PORT;
	if (!sanx_port_allowed(net, t->remote.port))
		return false;
	if (sanx_addr_is_local(net, &t->remote.addr))
		t->ops = sanx_transport_get(true);
	if (t->ops)
		return true;
	t->why = SANX_FALLBACK_UNMAPPED;
	if (!sanx_node_by_addr(net, &t->remote.addr, NULL))
		return false;
	t->ops = sanx_transport_get(false);
	t->why = SANX_FALLBACK_LINK;
	return t->ops;
}

/*
 * Starts the connection.
 * Return: 0 when it is under way or there; -errno for the program; 1 for TCP,
 * with t->why.
 */
static int start(struct socket *sock, struct sanx_sock *ss, struct target *t)
{
	struct sock *sk = sock->sk;
	struct sanx_conn *conn;
	int err;

	/* Without a route TCP has the error to give. */
	if (sanx_route(sk, &t->remote, &t->local.addr))
		return 1;
	err = sanx_bind_auto(ss, &t->local, &t->remote);
	if (err)
		return err;
	conn = sanx_conn_alloc(t->ops, sock_net(sk), &t->local, &t->remote);
	if (!conn) {
		sanx_unbind_auto(ss);
		return -ENOMEM;
	}
	conn->memcg = sanx_memcg_get(sk);
	conn->rx_max = sanx_ring_size(READ_ONCE(sk->sk_rcvbuf));
	sanx_rxq_init(&conn->rx, NULL, conn->rx_max);
	sanx_conn_attach(conn, sk);
	conn->ss = ss;
	/* Pairs with the acquire in sanx_sock_conn(). */
	smp_store_release(&ss->conn, conn);
	WRITE_ONCE(sock->state, SS_CONNECTING);
	err = sanx_conn_connect(conn, sanx_fallback_work);
	if (!err && READ_ONCE(conn->state) != SANX_CONN_REFUSED)
		return 0;
	if (!err)
		t->why = conn->fallback;
	else if (err == -ECONNREFUSED)
		t->why = SANX_FALLBACK_REFUSED;
	else
		t->why = SANX_FALLBACK_LINK;
	sanx_conn_give_up(conn);
	return 1;
}

/* Waits for the answer, without the socket's lock.  As inet_wait_for_connect().*/
static long wait_answer(struct sock *sk, struct sanx_sock *ss,
			struct sanx_conn *conn, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	add_wait_queue(sk_sleep(sk), &wait);
	/* Pairs with skwq_has_sleeper(): queued before the state is looked at. */
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
 * The attempt ended badly; the socket can be connected again, as over TCP.
 * Another connect() may have seen to that already.
 */
static int failed(struct socket *sock, struct sanx_sock *ss,
		  struct sanx_conn *conn)
{
	int err = sock_error(sock->sk) ?: -ECONNABORTED;

	if (ss->conn == conn)
		sanx_sock_forget(sock, ss);
	return err;
}

/* The connect thread made it TCP; it may have had TCP's answer, a bad one. */
static int fallen(struct socket *sock)
{
	if (READ_ONCE(sock->state) == SS_UNCONNECTED && sock->sk->sk_err)
		return sock_error(sock->sk);
	return 1;
}

/*
 * Finishes a connect() that is under way.
 * Return: 0, -errno, or 1 when the socket fell back.
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

/* A first connect(), the lock held.  Returns as finish(). */
static int connect_first(struct socket *sock, struct sanx_sock *ss,
			 struct target *t, int flags)
{
	int err = 1;

	/* As tcp_connect_init(). */
	WRITE_ONCE(sock->sk->sk_err, 0);
	if (pick_transport(ss, t)) {
		err = start(sock, ss, t);
		sanx_transport_put(t->ops);
	}
	if (err > 0) {
		sanx_fall_back(sock, ss, t->why);
		return 1;
	}
	/* As TCP's, also where there is an answer already; poll() tells. */
	if (!err && flags & O_NONBLOCK)
		return -EINPROGRESS;
	return err ?: finish(sock, ss, flags, -EINPROGRESS);
}

static int connect_locked(struct socket *sock, struct sanx_sock *ss,
			  struct sockaddr *uaddr, int len, int flags)
{
	struct sock *sk = sock->sk;
	struct target t;
	int err;

	if (READ_ONCE(ss->fell_back))
		return 1;
	if (len >= (int)sizeof(uaddr->sa_family) &&
	    uaddr->sa_family == AF_UNSPEC && ss->conn) {
		/* tcp_disconnect() leaves this behind, too. */
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
		/* Listening, or no address at all: TCP has the error. */
		if (sk->sk_state != TCP_CLOSE ||
		    len < (int)sizeof(uaddr->sa_family) ||
		    uaddr->sa_family == AF_UNSPEC)
			return 2;
		err = sanx_label_connect(sk, uaddr, len);
		if (err)
			return err;
		/* An address that only TCP has an answer to. */
		if (sanx_endpoint_parse(&t.remote, sk, uaddr, len)) {
			sanx_fall_back(sock, ss, SANX_FALLBACK_OPTION);
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
 * @len: bytes of it
 * @flags: O_NONBLOCK
 *
 * Return: 0, or -errno as connect(2) and tcp(7).
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
	/* The connect thread has begun it, not another call of the program. */
	if (err == -EALREADY && first)
		err = -EINPROGRESS;
	/* connect(AF_UNSPEC) ends listening. */
	if (READ_ONCE(sk->sk_state) != TCP_LISTEN)
		sanx_listener_stop(&ss->lsk);
	return err;
}
