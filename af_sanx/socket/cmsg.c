// SPDX-License-Identifier: GPL-2.0
/*
 * Control messages of recvmsg(), if the program requested them: the time of
 * arrival (SO_TIMESTAMP and related options) and the bytes left (TCP_INQ).
 */
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/tcp.h>
#include <net/tcp.h>

#include "socket_priv.h"

static void put_ns(struct msghdr *msg, const struct timespec64 *ts, bool new)
{
	struct __kernel_timespec kts = { ts->tv_sec, ts->tv_nsec };
	struct __kernel_old_timespec old = { ts->tv_sec, ts->tv_nsec };

	if (new)
		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMPNS_NEW, sizeof(kts),
			 &kts);
	else
		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMPNS_OLD, sizeof(old),
			 &old);
}

static void put_us(struct msghdr *msg, const struct timespec64 *ts, bool new)
{
	struct __kernel_sock_timeval stv = {
		ts->tv_sec, ts->tv_nsec / NSEC_PER_USEC
	};
	struct __kernel_old_timeval old = {
		ts->tv_sec, ts->tv_nsec / NSEC_PER_USEC
	};

	if (new)
		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMP_NEW, sizeof(stv), &stv);
	else
		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMP_OLD, sizeof(old), &old);
}

/* As tcp_recv_timestamp(), which is not exported. */
static void put_stamp(struct msghdr *msg, const struct sock *sk, u64 stamp)
{
	struct scm_timestamping_internal tss = { {
		ns_to_timespec64(stamp)
	} };
	bool new = sock_flag(sk, SOCK_TSTAMP_NEW);
	u32 flags = READ_ONCE(sk->sk_tsflags);

	if (sock_flag(sk, SOCK_RCVTSTAMPNS))
		put_ns(msg, &tss.ts[0], new);
	else if (sock_flag(sk, SOCK_RCVTSTAMP))
		put_us(msg, &tss.ts[0], new);
	if (!(flags & SOF_TIMESTAMPING_SOFTWARE) ||
	    !(flags & SOF_TIMESTAMPING_RX_SOFTWARE ||
	      !(flags & SOF_TIMESTAMPING_OPT_RX_FILTER)))
		return;
	if (new)
		put_cmsg_scm_timestamping64(msg, &tss);
	else
		put_cmsg_scm_timestamping(msg, &tss);
}

/* 1 at the end of the stream, so that the program reads it (tcp_inq_hint()). */
static int inq_hint(const struct sanx_conn *conn)
{
	u32 n = sanx_rxq_avail(&conn->rx);

	return !n && sanx_conn_fin_rcvd(conn) ? 1 : n;
}

/* Add control messages to a recvmsg() that succeeded. */
void sanx_recv_cmsg(const struct sanx_conn *conn, const struct sock *sk,
		    struct msghdr *msg, ssize_t n)
{
	bool inq = tcp_sk(sk)->recvmsg_inq;
	u64 stamp = READ_ONCE(conn->rx_stamp);

	if (unlikely(stamp && n))
		put_stamp(msg, sk, stamp);
	if (likely(!inq && !msg->msg_get_inq))
		return;
	msg->msg_inq = inq_hint(conn);
	if (inq)
		put_cmsg(msg, SOL_TCP, TCP_CM_INQ, sizeof(msg->msg_inq),
			 &msg->msg_inq);
}
