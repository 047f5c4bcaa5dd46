// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options.  The kernel serves those of SOL_SOCKET and does not pass them
 * on to a family.  The native socket serves the others.  Exceptions are made if
 * TCP would act on its connection, which the native socket does not have.
 * Documentation/options.rst has a line for each option.
 */
#include <linux/in6.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include <uapi/linux/sanx.h>

#include "socket_priv.h"

/* An option that the native socket does not know, at any level. */
#define NO_OPTION	(-1)

/*
 * Does TCP copy the socket's ops into a global table (tls, espintcp), or
 * replace them?  Such an option must not find AF_SANX's ops.
 */
static bool takes_ops(int level, int optname)
{
	return (level == SOL_TCP && optname == TCP_ULP) ||
	       (level == SOL_IPV6 && optname == IPV6_ADDRFORM);
}

/* Options that change TCP itself. */
static bool tcp_needs_tcp(int optname)
{
	switch (optname) {
	case TCP_FASTOPEN_CONNECT:
	case TCP_REPAIR:
	case TCP_ULP:
	case TCP_MD5SIG:
	case TCP_MD5SIG_EXT:
#ifdef TCP_AO_ADD_KEY
	case TCP_AO_ADD_KEY:
	case TCP_AO_DEL_KEY:
	case TCP_AO_INFO:
	case TCP_AO_REPAIR:
#endif
		return true;
	default:
		return false;
	}
}

static bool needs_tcp(int level, int optname)
{
	switch (level) {
	case SOL_TCP:
		return tcp_needs_tcp(optname);
	case SOL_IP:
		return optname == IP_IPSEC_POLICY || optname == IP_XFRM_POLICY;
	case SOL_IPV6:
		return optname == IPV6_IPSEC_POLICY ||
		       optname == IPV6_XFRM_POLICY;
	default:
		return false;
	}
}

/* proto_ops.set_rcvlowat.  lock_sock() held. */
int sanx_set_rcvlowat(struct sock *sk, int val)
{
	int err = sanx_native_ops(sk->sk_socket)->set_rcvlowat(sk, val);
	struct sanx_sock *ss = sanx_sk(sk->sk_socket);
	struct sanx_conn *conn = ss ? sanx_sock_conn(ss) : NULL;

	/*
	 * TCP looks at its own queue only: let readers of the ring check again.
	 * The mark is stored before the bytes are counted.  Pairs with smp_mb() in
	 * sanx_conn_sk(): an arrival that still sees the old mark is seen here.
	 */
	smp_mb();
	if (conn && sanx_conn_readable(conn, sk, sanx_rxq_avail(&conn->rx)))
		sanx_conn_tell_reader(conn, sk);
	return err;
}

/*
 * Applies an option that only TCP can serve.
 *
 * A socket without a connection becomes TCP.  A listener stays AF_SANX's and
 * listens for TCP only.  If TCP looks at the ops, a listener becomes TCP as
 * well: it could stop to listen while TCP still reads the option.
 *
 * A connected socket refuses the option as unknown.  Programs that use these
 * options have to handle kernels without them, and so can handle this.
 * Context: process, may sleep; takes lock_sock().
 * Return: false if the option must be refused.
 */
static bool set_needs_tcp(struct socket *sock, struct sanx_sock *ss, int level,
			  int optname)
{
	struct sock *sk = sock->sk;
	bool ok = true;

	lock_sock(sk);
	if (READ_ONCE(ss->fell_back)) {
		/* nothing to do */
	} else if (ss->conn || ss->explicit) {
		ok = false;
	} else if (sk->sk_state == TCP_LISTEN && !takes_ops(level, optname)) {
		/*
		 * For example, its clients must sign (TCP-MD5).  AF_SANX cannot
		 * check that.
		 */
		ss->tcp_only = true;
		sanx_listener_stop(&ss->lsk);
	} else {
		sanx_fall_back(sock, ss, NULL, SANX_FALLBACK_OPTION);
	}
	release_sock(sk);
	return ok;
}

/*
 * Checks the value of an option that is refused with @err, as TCP does first.
 * Return: -EINVAL, -EFAULT or @err; @val is set unless the value is invalid.
 */
static int refuse(sockptr_t optval, unsigned int optlen, int *val, int err)
{
	if (optlen < sizeof(*val))
		return -EINVAL;
	if (copy_from_sockptr(val, optval, sizeof(*val)))
		return -EFAULT;
	return err;
}

/*
 * As tcp_setsockopt() of a connected socket, for options that depend on it.
 * Return: as set_connected().
 */
static int tcp_set_connected(int optname, sockptr_t optval, unsigned int optlen)
{
	int val;

	switch (optname) {
	case TCP_FASTOPEN:
	case TCP_FASTOPEN_CONNECT:
	case TCP_FASTOPEN_NO_COOKIE:
		return refuse(optval, optlen, &val, -EINVAL);
	case TCP_QUEUE_SEQ:
		return refuse(optval, optlen, &val, -EPERM);
	case TCP_WINDOW_CLAMP:
		return refuse(optval, optlen, &val, 0) ?: val ? 1 : -EINVAL;
	default:
		return 1;
	}
}

/*
 * Likewise for ipv6_setsockopt().  IPV6_ADDRFORM would replace AF_SANX's ops by
 * TCP's.
 * Return: as set_connected().
 */
static int ipv6_set_connected(const struct sock *sk,
			      const struct sanx_conn *conn, int optname,
			      sockptr_t optval, unsigned int optlen)
{
	int val = 0, err;

	if (sk->sk_family != AF_INET6 ||
	    (optname != IPV6_ADDRFORM && optname != IPV6_V6ONLY))
		return 1;
	if (optlen < sizeof(val) || sockptr_is_null(optval))
		return -EINVAL;
	err = refuse(optval, optlen, &val, -EINVAL);
	if (err == -EFAULT || optname == IPV6_V6ONLY || val != PF_INET)
		return err;
	return ipv6_only_sock(sk) || !ipv6_addr_v4mapped(&conn->remote.addr) ?
	       -EADDRNOTAVAIL : -ENOPROTOOPT;
}

/*
 * Sets an option of a socket that AF_SANX connected.  The native socket is not
 * connected, and could answer differently.
 * Return: 0, -errno, or 1 if the native socket gives the right answer.
 */
static int set_connected(const struct sock *sk, struct sanx_conn *conn,
			 int level, int optname, sockptr_t optval,
			 unsigned int optlen)
{
	if (sanx_conn_tcp_state(conn) == TCP_CLOSE)
		return 1;
	switch (level) {
	case SOL_TCP:
		return tcp_set_connected(optname, optval, optlen);
	case SOL_IPV6:
		return ipv6_set_connected(sk, conn, optname, optval, optlen);
	default:
		return 1;
	}
}

/*
 * Sets an option of a TCP socket that still came through AF_SANX's ops: the
 * socket fell back during the call, or kernel_accept() left it the listener's
 * ops.
 */
static int set_native(struct socket *sock, int level, int optname,
		      sockptr_t optval, unsigned int optlen)
{
	int err = takes_ops(level, optname) ? sanx_fallback_adopt(sock) : 0;

	if (err)
		return err;
	return sanx_native_ops(sock)->setsockopt(sock, level, optname, optval,
						 optlen);
}

/* Applies options that take effect at once. */
static void tcp_was_set(const struct sock *sk, struct sanx_conn *conn,
			int optname)
{
	int nonagle = tcp_sk(sk)->nonagle;

	if (optname == TCP_CORK)
		WRITE_ONCE(conn->hold.cork, nonagle & TCP_NAGLE_CORK);
	/* Push as __tcp_sock_set_cork() and __tcp_sock_set_nodelay() do. */
	if ((optname == TCP_CORK && !(nonagle & TCP_NAGLE_CORK)) ||
	    (optname == TCP_NODELAY && nonagle & TCP_NAGLE_OFF))
		sanx_hold_pull(conn);
	sanx_liveness_options(conn, sk);
}

/*
 * proto_ops.setsockopt, for all levels but SOL_SOCKET, which comes of explicit sockets only.
 * Takes lock_sock().
 * Return: 0, or -errno as in setsockopt(2).
 */
int sanx_setsockopt(struct socket *sock, int level, int optname,
		    sockptr_t optval, unsigned int optlen)
{
	struct sanx_sock *ss = sanx_sk(sock);
	struct sanx_conn *conn;
	int err = 1;

	if (!ss)
		return set_native(sock, level, optname, optval, optlen);
	if (level == SOL_SANX && optname == SANX_TALLY)
		return sanx_tally_join(ss, optval, optlen);
	if (level == SOL_SOCKET)
		return sanx_explicit_sol_socket(sock, optname, optval, optlen);
	conn = sanx_sock_conn(ss);
	if (conn)
		err = set_connected(sock->sk, conn, level, optname, optval,
				    optlen);
	if (err <= 0)
		return err;
	if (needs_tcp(level, optname) && !set_needs_tcp(sock, ss, level, optname))
		optname = NO_OPTION;
	err = ss->native->setsockopt(sock, level, optname, optval, optlen);
	if (!err && conn && level == SOL_TCP)
		tcp_was_set(sock->sk, conn, optname);
	return err;
}

static int put_value(char __user *optval, int __user *optlen, const void *val,
		     unsigned int size)
{
	unsigned int len;

	if (get_user(len, optlen))
		return -EFAULT;
	len = min(len, size);
	if (put_user(len, optlen) || copy_to_user(optval, val, len))
		return -EFAULT;
	return 0;
}

static int put_int(char __user *optval, int __user *optlen, int val)
{
	int len;

	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	return put_value(optval, optlen, &val, sizeof(val));
}

static int get_pathmtu(u32 mtu, char __user *optval, int __user *optlen)
{
	struct ip6_mtuinfo info = { .ip6m_mtu = mtu };
	int len;

	if (get_user(len, optlen))
		return -EFAULT;
	if (len < (int)sizeof(info))
		return -EINVAL;
	return put_value(optval, optlen, &info, sizeof(info));
}

/*
 * IP_MTU, IPV6_MTU, IPV6_PATHMTU: the native socket has no route, unlike TCP.
 * Return: as set_connected().
 */
static int get_mtu(struct sock *sk, struct sanx_conn *conn, int level,
		   int optname, char __user *optval, int __user *optlen)
{
	u32 mtu;

	if (!(level == SOL_IP && optname == IP_MTU) &&
	    !(level == SOL_IPV6 && sk->sk_family == AF_INET6 &&
	      (optname == IPV6_MTU || optname == IPV6_PATHMTU)))
		return 1;
	mtu = sanx_route_mtu(sk, conn);
	if (!mtu)
		return -ENOTCONN;
	if (level == SOL_IPV6 && optname == IPV6_PATHMTU)
		return get_pathmtu(mtu, optval, optlen);
	return put_int(optval, optlen, mtu);
}

/* Return: as set_connected(). */
static int get_connected(struct sock *sk, struct sanx_conn *conn, int level,
			 int optname, char __user *optval, int __user *optlen)
{
	if (sanx_conn_tcp_state(conn) == TCP_CLOSE)
		return 1;
	/* It has no packets. */
	if (level == SOL_IP && sanx_addr_explicit(&conn->local.addr))
		return 1;
	if (level == SOL_TCP && optname == TCP_MAXSEG)
		return put_int(optval, optlen, sanx_conn_mss(conn, sk));
	/* The native queue is always empty: TCP's answer would be wrong. */
	if (level == SOL_TCP && optname == TCP_ZEROCOPY_RECEIVE)
		return -ENOPROTOOPT;
	if (level == SOL_IPV6 && optname == IPV6_ADDRFORM &&
	    sk->sk_family == AF_INET6)
		return put_int(optval, optlen, sk->sk_family);
	/* Despite its name, this is the local port. */
	if (level == SOL_IP && optname == IP_PROTOCOL)
		return put_int(optval, optlen, ntohs(conn->local.port));
	return get_mtu(sk, conn, level, optname, optval, optlen);
}

/*
 * proto_ops.getsockopt, for all levels but SOL_SOCKET.
 * Return: 0, or -errno as in getsockopt(2).
 */
int sanx_getsockopt(struct socket *sock, int level, int optname,
		    char __user *optval, int __user *optlen)
{
	struct sanx_sock *ss = sanx_sk(sock);
	const struct proto_ops *native;
	struct sanx_conn *conn;
	int err = 1;

	if (ss && level == SOL_SANX && optname == SANX_EXPLAIN)
		return sanx_explain(sock, ss, optval, optlen);
	if (ss && level == SOL_SANX && optname == SANX_NODE_OF)
		return sanx_explain_node(sock, ss, optval, optlen);
	if (ss && level == SOL_SANX && (optname == SANX_TALLY || optname == SANX_TALLY_EACH))
		return sanx_tally_read(ss, optname == SANX_TALLY_EACH, optval, optlen);
	if (ss && level == SOL_TCP && optname == TCP_INFO)
		return sanx_tcp_info(ss, optval, optlen);
	conn = ss ? sanx_sock_conn(ss) : NULL;
	if (conn)
		err = get_connected(sock->sk, conn, level, optname, optval,
				    optlen);
	if (err <= 0)
		return err;
	native = sanx_native_ops(sock);
	return native->getsockopt(sock, level, optname, optval, optlen);
}
