// SPDX-License-Identifier: GPL-2.0
/*
 * The addresses and ports of a connection, in TCP's tables.
 *
 * TCP and AF_SANX share one range of ports, and each respects what the other has taken:
 *
 * - Only the pair of both addresses and ports must be unique, so a connect() without bind()
 *   gets a port that other destinations may share, and two connects from one port to one
 *   peer are refused.  TCP checks that in its table of connections.  So the native sock of
 *   a connect() is entered there, in state TCP_CLOSE.  A segment for such a pair finds a
 *   closed sock and is dropped.
 * - An accepted sock holds its listener's port, so that no other program may listen there
 *   while the clients believe that they talk to the first.  It leaves the table of
 *   connections when the client has ended its direction, or its link is lost: a client that
 *   knows nothing of the connection may connect again, by TCP, too, from the same port.
 *
 * An explicit socket is in none of these tables.  Its ports are those of explicit.c.
 *
 * Invariant, of all others: unless ss->ends is NONE, the sock has the addresses of its
 * connection, and is in these tables until the connection is reset (sanx_native_done()).
 * lock_sock() guards both.  "ss" finds the sock there, and prot.c has what it asks and does.
 */
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/ip.h>
#include <net/tcp.h>
#include <net/transp_v6.h>

#include "socket_priv.h"

/**
 * sanx_native_ends() - the addresses and ports that TCP has for a socket
 * @sk: its sock
 * @local: set
 * @remote: set
 *
 * Context: any.  Values that change meanwhile are hints.
 */
void sanx_native_ends(const struct sock *sk, struct sanx_endpoint *local,
		      struct sanx_endpoint *remote)
{
	const struct inet_sock *inet = inet_sk(sk);

	local->port = htons(READ_ONCE(inet->inet_num));
	remote->port = inet->inet_dport;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		local->addr = sk->sk_v6_rcv_saddr;
		remote->addr = sk->sk_v6_daddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(inet->inet_rcv_saddr, &local->addr);
	ipv6_addr_set_v4mapped(inet->inet_daddr, &remote->addr);
}

/**
 * sanx_sock_ends() - the ends of a socket that has no connection
 * @ss: its AF_SANX part
 * @local: set
 * @remote: set
 *
 * Context: any.  Values that change meanwhile are hints.
 */
void sanx_sock_ends(const struct sanx_sock *ss, struct sanx_endpoint *local,
		    struct sanx_endpoint *remote)
{
	if (!ss->explicit) {
		sanx_native_ends(ss->sk, local, remote);
		return;
	}
	*local = *sanx_explicit_end(ss);
	sanx_explicit_peer(ss, remote);
}

static bool is_v6(const struct sock *sk, const struct sanx_endpoint *remote)
{
	return sk->sk_family == AF_INET6 &&
	       !ipv6_addr_v4mapped(&remote->addr);
}

/*
 * Sets the addresses as tcp_v4_connect() and tcp_v6_connect() do.
 * Return: 0, or -ENOMEM for a sock that has a port, but no address.
 */
static int name_ends(struct sock *sk, const struct sanx_endpoint *local,
		     const struct sanx_endpoint *remote)
{
	struct inet_sock *inet = inet_sk(sk);
	struct in6_addr addr = local->addr;
	int err = 0;

#if IS_ENABLED(CONFIG_IPV6)
	if (is_v6(sk, remote)) {
		if (ipv6_addr_any(&sk->sk_v6_rcv_saddr))
			err = inet_bhash2_update_saddr(sk, &addr, AF_INET6);
		if (err)
			return err;
		inet6_sk(sk)->saddr = addr;
		inet->inet_rcv_saddr = LOOPBACK4_IPV6;
		sk->sk_v6_daddr = remote->addr;
		inet->inet_dport = remote->port;
		return 0;
	}
#endif
	if (!inet->inet_saddr)
		err = inet_bhash2_update_saddr(sk, &addr.s6_addr32[3], AF_INET);
	else
		sk_rcv_saddr_set(sk, inet->inet_saddr);
	if (err)
		return err;
	sk_daddr_set(sk, remote->addr.s6_addr32[3]);
	inet->inet_dport = remote->port;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		inet6_sk(sk)->saddr = sk->sk_v6_rcv_saddr;
#endif
	return 0;
}

/* As tcp_disconnect() and a connect() of TCP that fails do. */
static void forget_ends(struct sock *sk)
{
	inet_sk(sk)->inet_dport = 0;
	sk_daddr_set(sk, 0);
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		sk->sk_v6_daddr = in6addr_any;
#endif
	inet_bhash2_reset_saddr(sk);
}

/*
 * Finds a port, if the sock has none, and enters the sock.  It may replace one in TIME-WAIT,
 * and then gets sequence numbers and timestamps for a TCP connection.  They are restored: a
 * fallback gets its own.
 * Return: 0 or -errno.
 */
static int hash_connect(struct sock *sk, bool v6)
{
	struct inet_timewait_death_row *row = &sock_net(sk)->ipv4.tcp_death_row;
	struct tcp_sock *tp = tcp_sk(sk);
	struct tcp_options_received opt = tp->rx_opt;
	u32 seq = tp->write_seq;
	int err = -EAFNOSUPPORT;

	if (!v6)
		err = inet_hash_connect(row, sk);
#if IS_ENABLED(CONFIG_IPV6)
	else
		err = inet6_hash_connect(row, sk);
#endif
	WRITE_ONCE(tp->write_seq, seq);
	tp->rx_opt.ts_recent = opt.ts_recent;
	tp->rx_opt.ts_recent_stamp = opt.ts_recent_stamp;
	return err;
}

/*
 * Enter the ends of a connect().  lock_sock() held.
 * Return: 0, or -errno as in connect(2): -EADDRNOTAVAIL if there is such a connection, or no
 * free port.
 */
int sanx_ends_connect(struct sanx_sock *ss, struct sanx_endpoint *local,
		      const struct sanx_endpoint *remote)
{
	struct sock *sk = ss->sk;
	bool bound = inet_sk(sk)->inet_num;
	int err;

	sock_owned_by_me(sk);
	if (ss->explicit)
		return sanx_explicit_connect(ss, local, remote);
	err = name_ends(sk, local, remote);
	if (err)
		return err;
	err = hash_connect(sk, is_v6(sk, remote));
	if (err) {
		forget_ends(sk);
		return err;
	}
	sanx_prot_set(sk);
	ss->ends = bound ? SANX_ENDS_NAMED : SANX_ENDS_PORT;
	local->port = inet_sk(sk)->inet_sport;
	return 0;
}

/*
 * Enter the ends of an accepted connection.
 * Return: 0, -ENOMEM, or -EINVAL if the listener gives its port back at this moment.
 */
int sanx_ends_accept(struct sanx_sock *ss, struct sock *lsk,
		     const struct sanx_conn *conn)
{
	struct sock *sk = ss->sk;
	int err;

	err = name_ends(sk, &conn->local, &conn->remote);
	if (err)
		return err;
	inet_sk(sk)->inet_num = ntohs(conn->local.port);
	inet_sk(sk)->inet_sport = conn->local.port;
	/* The listener may be giving its port back, and binding another one. */
	lock_sock(lsk);
	local_bh_disable();
	err = __inet_inherit_port(lsk, sk);
	local_bh_enable();
	release_sock(lsk);
	if (err) {
		inet_sk(sk)->inet_num = 0;
		return err == -ENOENT ? -EINVAL : err;
	}
	ss->ends = SANX_ENDS_PORT;
	return 0;
}

/* Enter an accepted connection into the table of connections. */
void sanx_ends_show(struct sanx_sock *ss)
{
	struct sock *sk = ss->sk;

	if (ss->explicit)
		return;
	sanx_prot_set(sk);
	local_bh_disable();
	inet_ehash_nolisten(sk, NULL, NULL);
	local_bh_enable();
	/*
	 * The client may have ended its direction meanwhile, or reset the connection, which
	 * is stored before the sock is looked for in the table.  Pairs with smp_mb() in
	 * sanx_native_unhash().
	 */
	smp_mb();
	if (READ_ONCE(ss->conn->shutdown) & RCV_SHUTDOWN || !sanx_conn_open(ss->conn))
		sanx_native_unhash(sk);
}

/**
 * sanx_ends_forget() - give back what sanx_ends_connect() and sanx_ends_accept() took
 * @ss: the socket's AF_SANX part; its connection has no sock any more, or was refused, so
 *	that sanx_native_done() does not run
 *
 * TCP does this when an attempt ends.  It must also come before the native
 * socket does anything: TCP expects a closed sock in no table of connections.
 *
 * Context: process, lock_sock() held.
 */
void sanx_ends_forget(struct sanx_sock *ss)
{
	struct sock *sk = ss->sk;

	sock_owned_by_me(sk);
	if (ss->ends == SANX_ENDS_NONE)
		return;
	if (ss->explicit) {
		sanx_explicit_forget(ss);
		return;
	}
	sk->sk_prot->unhash(sk);
	if (ss->ends == SANX_ENDS_PORT && inet_csk(sk)->icsk_bind_hash)
		inet_put_port(sk);
	ss->ends = SANX_ENDS_NONE;
	sanx_prot_reset(sk);
	forget_ends(sk);
}
