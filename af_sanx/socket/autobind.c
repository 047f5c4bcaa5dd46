// SPDX-License-Identifier: GPL-2.0
/*
 * The port of a socket that connects without bind().
 *
 * TCP shares such ports between destinations.  Only the pair of addresses and
 * ports must be unique, which TCP checks in its table of connections.  So the
 * native sock is entered into that table in state TCP_CLOSE.  TCP and AF_SANX
 * then share one range of ports, and each sees the ports of the other.  A
 * segment for such a pair finds a closed sock and is dropped.
 *
 * Invariant: a sock with ss->autobound set is in the table.  lock_sock() guards
 * both.
 */
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/ip.h>
#include <net/tcp.h>
#include <net/transp_v6.h>

#include "internal.h"

static bool is_v6(const struct sock *sk, const struct sanx_endpoint *remote)
{
	return sk->sk_family == AF_INET6 &&
	       !ipv6_addr_v4mapped(&remote->addr);
}

/* Sets the addresses as tcp_v4_connect() and tcp_v6_connect() do. */
static void name_ends(struct sock *sk, const struct sanx_endpoint *local,
		      const struct sanx_endpoint *remote)
{
	struct inet_sock *inet = inet_sk(sk);

	inet->inet_dport = remote->port;
#if IS_ENABLED(CONFIG_IPV6)
	if (is_v6(sk, remote)) {
		sk->sk_v6_rcv_saddr = local->addr;
		inet6_sk(sk)->saddr = local->addr;
		inet->inet_rcv_saddr = LOOPBACK4_IPV6;
		sk->sk_v6_daddr = remote->addr;
		return;
	}
#endif
	inet->inet_saddr = local->addr.s6_addr32[3];
	sk_rcv_saddr_set(sk, inet->inet_saddr);
	sk_daddr_set(sk, remote->addr.s6_addr32[3]);
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		inet6_sk(sk)->saddr = sk->sk_v6_rcv_saddr;
#endif
}

static void forget_ends(struct sock *sk)
{
	inet_sk(sk)->inet_sport = 0;
	inet_sk(sk)->inet_dport = 0;
	sk_daddr_set(sk, 0);
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		sk->sk_v6_daddr = in6addr_any;
#endif
	if (!(sk->sk_userlocks & SOCK_BINDADDR_LOCK))
		inet_reset_saddr(sk);
}

/*
 * Finds a port and enters the sock.  The sock may replace one in TIME-WAIT, and
 * then gets sequence numbers and timestamps for a TCP connection.  They are
 * restored: a fallback gets a port and numbers of its own.
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

/**
 * sanx_bind_auto() - take a port for a connect() without bind()
 * @ss: the socket's AF_SANX part
 * @local: our end; its port is set
 * @remote: the peer
 *
 * Context: process, may sleep; lock_sock() held.
 * Return: 0, or -errno as in connect(2): -EADDRNOTAVAIL if TCP has no port for
 * this pair of addresses either.
 */
int sanx_bind_auto(struct sanx_sock *ss, struct sanx_endpoint *local,
		   const struct sanx_endpoint *remote)
{
	struct sock *sk = ss->sk;
	int err;

	sock_owned_by_me(sk);
	if (!inet_sk(sk)->inet_num) {
		name_ends(sk, local, remote);
		err = hash_connect(sk, is_v6(sk, remote));
		if (err) {
			forget_ends(sk);
			return err;
		}
		ss->autobound = true;
	}
	local->port = inet_sk(sk)->inet_sport;
	return 0;
}

/**
 * sanx_unbind_auto() - give back the port that sanx_bind_auto() took
 * @ss: the socket's AF_SANX part
 *
 * TCP does this when an attempt ends.  It must also come before the native
 * socket does anything: TCP expects a closed sock in no table.
 *
 * Context: process, lock_sock() held.
 */
void sanx_unbind_auto(struct sanx_sock *ss)
{
	struct sock *sk = ss->sk;

	sock_owned_by_me(sk);
	if (!ss->autobound)
		return;
	ss->autobound = false;
	sk->sk_prot->unhash(sk);
	if (inet_csk(sk)->icsk_bind_hash)
		inet_put_port(sk);
	forget_ends(sk);
}
