// SPDX-License-Identifier: GPL-2.0
/*
 * Options.  Those of SOL_SOCKET are the kernel's own and never come here; the
 * others are the native socket's, except where TCP would act on a connection
 * that it does not have.
 */
#include <linux/tcp.h>
#include <net/tcp.h>

#include "af_sanx.h"

/* Options that turn TCP itself into something else. */
static bool needs_tcp(int level, int optname)
{
	if (level != SOL_TCP)
		return false;
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

/*
 * Before there is a connection, a socket that needs TCP becomes TCP, and one
 * that listens does so for TCP only.  After,
 * it is too late, and the option is refused; what asks for one of these has
 * to do without on kernels that lack it, and so knows how.
 */
static int set_needs_tcp(struct socket *sock, struct sanx_sock *ss)
{
	struct sock *sk = sock->sk;
	int err = 0;

	lock_sock(sk);
	if (READ_ONCE(ss->fell_back)) {
		/* nothing to do */
	} else if (ss->conn) {
		err = -EOPNOTSUPP;
	} else if (sk->sk_state == TCP_LISTEN) {
		/* Its clients must sign, say, and over AF_SANX could not. */
		ss->tcp_only = true;
		sanx_listener_stop(ss);
	} else {
		sanx_fall_back(sock, ss, SANX_FALLBACK_OPTION);
	}
	release_sock(sk);
	return err;
}

/**
 * sanx_setsockopt() - proto_ops.setsockopt, for levels but SOL_SOCKET
 * @sock: the socket
 * @level: SOL_TCP, SOL_IP, SOL_IPV6 ...
 * @optname: the option
 * @optval: its value
 * @optlen: bytes of it
 *
 * Return: 0, or -errno as setsockopt(2).
 */
int sanx_setsockopt(struct socket *sock, int level, int optname,
		    sockptr_t optval, unsigned int optlen)
{
	struct sanx_sock *ss = sanx_sk(sock);
	const struct proto_ops *native;
	int err;

	if (ss && needs_tcp(level, optname)) {
		err = set_needs_tcp(sock, ss);
		if (err)
			return err;
	}
	native = sanx_native_ops(sock);
	err = native->setsockopt(sock, level, optname, optval, optlen);
	if (!err && level == SOL_TCP && ss && ss->conn)
		sanx_alive_options(ss->conn, sock->sk);
	return err;
}

static u8 tcp_state(const struct sanx_conn *conn)
{
	switch (READ_ONCE(conn->state)) {
	case SANX_CONN_CONNECTING:
		return TCP_SYN_SENT;
	case SANX_CONN_ESTABLISHED:
		return TCP_ESTABLISHED;
	case SANX_CONN_FIN_SENT:
		return TCP_FIN_WAIT2;
	case SANX_CONN_FIN_RCVD:
		return TCP_CLOSE_WAIT;
	case SANX_CONN_FINISHED:
		return TCP_LAST_ACK;
	default:
		return TCP_CLOSE;
	}
}

/* What tcp_get_info() says of the native sock, with the connection's state. */
static int get_tcp_info(struct socket *sock, struct sanx_sock *ss,
			struct sanx_conn *conn, char __user *optval,
			int __user *optlen)
{
	int len, err;

	err = ss->native->getsockopt(sock, SOL_TCP, TCP_INFO, optval, optlen);
	if (err)
		return err;
	if (get_user(len, optlen))
		return -EFAULT;
	static_assert(offsetof(struct tcp_info, tcpi_state) == 0);
	return len > 0 ? put_user(tcp_state(conn), (u8 __user *)optval) : 0;
}

/**
 * sanx_getsockopt() - proto_ops.getsockopt, for levels but SOL_SOCKET
 * @sock: the socket
 * @level: SOL_TCP, SOL_IP, SOL_IPV6 ...
 * @optname: the option
 * @optval: room for its value
 * @optlen: bytes of room; bytes of the value on return
 *
 * Return: 0, or -errno as getsockopt(2).
 */
int sanx_getsockopt(struct socket *sock, int level, int optname,
		    char __user *optval, int __user *optlen)
{
	struct sanx_sock *ss = sanx_sk(sock);
	struct sanx_conn *conn = ss ? sanx_sock_conn(ss) : NULL;
	const struct proto_ops *native;

	if (conn && level == SOL_TCP && optname == TCP_INFO)
		return get_tcp_info(sock, ss, conn, optval, optlen);
	native = sanx_native_ops(sock);
	return native->getsockopt(sock, level, optname, optval, optlen);
}
