// SPDX-License-Identifier: GPL-2.0
/*
 * TCP_INFO: counters of a connection in TCP's terms.  Documentation/options.rst
 * has the meaning of each field.  Fields without a meaning here are 0.
 */
#include <linux/tcp.h>
#include <net/tcp.h>

#include "socket_priv.h"

/* Most bytes reported as an MSS; small enough for any program's arithmetic. */
#define MSS_MAX	32768U

/* The TCP state that corresponds to a connection's. */
u8 sanx_conn_tcp_state(struct sanx_conn *conn)
{
	switch (READ_ONCE(conn->state)) {
	case SANX_CONN_CONNECTING:
	case SANX_CONN_REFUSED:
		return TCP_SYN_SENT;
	case SANX_CONN_ESTABLISHED:
		return TCP_ESTABLISHED;
	case SANX_CONN_FIN_SENT:
		return TCP_FIN_WAIT2;
	case SANX_CONN_FIN_RCVD:
		return TCP_CLOSE_WAIT;
	case SANX_CONN_FINISHED:
		return sanx_conn_over(conn) ? TCP_CLOSE : TCP_LAST_ACK;
	default:
		return TCP_CLOSE;
	}
}

/*
 * TCP_MAXSEG of a connection.
 * Return: most bytes in one piece, limited by TCP_MAXSEG of the program.
 */
u32 sanx_conn_mss(const struct sanx_conn *conn, const struct sock *sk)
{
	u32 want = READ_ONCE(tcp_sk(sk)->rx_opt.user_mss);
	u32 mss = min(conn->tx.size ?: SANX_RING_MIN, MSS_MAX);

	return want ? min(want, mss) : mss;
}

/* TCP counts the SYN of the connecting end, and each FIN, as a byte. */
static void info_bytes(struct sanx_conn *conn, struct tcp_info *info, u32 outq)
{
	enum sanx_conn_state state = READ_ONCE(conn->state);
	bool fin_tx = state == SANX_CONN_FIN_SENT ||
		      state == SANX_CONN_FINISHED;
	bool fin_rx = sanx_conn_fin_rcvd(conn);
	u32 unsent = sanx_conn_unsent(conn);

	info->tcpi_notsent_bytes = unsent;
	info->tcpi_bytes_sent = READ_ONCE(conn->tx.next);
	if (conn->ops->counts_unsent)
		info->tcpi_bytes_sent -= unsent;
	info->tcpi_bytes_acked = info->tcpi_bytes_sent -
				 (outq - min(unsent, outq)) + fin_tx +
				 (!conn->accepted && sanx_conn_open(conn));
	info->tcpi_bytes_received = READ_ONCE(conn->rx.tail) + fin_rx;
}

static void info_times(const struct sanx_conn *conn, struct tcp_info *info)
{
	info->tcpi_last_data_sent = sanx_age_ms(READ_ONCE(conn->tx_time));
	info->tcpi_last_data_recv = sanx_age_ms(READ_ONCE(conn->rx_time));
	info->tcpi_last_ack_recv = min(sanx_age_ms(READ_ONCE(conn->ack_time)),
				       info->tcpi_last_data_recv);
	info->tcpi_rtt = READ_ONCE(conn->rtt_us);
	info->tcpi_min_rtt = info->tcpi_rtt;
}

static void info_windows(const struct sanx_conn *conn, struct tcp_info *info,
			 u32 outq)
{
	const struct sanx_rxq *rx = &conn->rx;
	u32 mss = info->tcpi_snd_mss;

	outq -= min(info->tcpi_notsent_bytes, outq);
	info->tcpi_unacked = DIV_ROUND_UP(outq, mss);
	info->tcpi_snd_cwnd = max(conn->tx.size / mss, 1U);
	info->tcpi_snd_wnd = sanx_txq_room(&conn->tx) + outq;
	info->tcpi_rcv_space = rx->size;
	info->tcpi_rcv_ssthresh = rx->size;
	sanx_set_rcv_wnd(info, READ_ONCE(rx->granted) - READ_ONCE(rx->tail));
}

/*
 * Replaces all fields of the native socket, which is idle, except the pacing
 * rate that the program has set.
 */
static void info_conn(struct sanx_conn *conn, const struct sock *sk,
		      struct tcp_info *info)
{
	u64 pacing = info->tcpi_max_pacing_rate;
	u32 outq = sanx_conn_outq(conn);

	memset(info, 0, sizeof(*info));
	info->tcpi_state = sanx_conn_tcp_state(conn);
	info->tcpi_pacing_rate = pacing;
	info->tcpi_max_pacing_rate = pacing;
	info->tcpi_snd_mss = sanx_conn_mss(conn, sk);
	info->tcpi_rcv_mss = min(conn->rx.size, MSS_MAX);
	info->tcpi_advmss = info->tcpi_rcv_mss;
	info_bytes(conn, info, outq);
	info_times(conn, info);
	info_windows(conn, info, outq);
}

/* getsockopt(TCP_INFO). */
int sanx_tcp_info(const struct sanx_sock *ss, char __user *optval,
		  int __user *optlen)
{
	struct sanx_conn *conn = sanx_sock_conn(ss);
	struct tcp_info info;
	int len;

	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	tcp_get_info(ss->sk, &info);
	if (conn)
		info_conn(conn, ss->sk, &info);
	else if (info.tcpi_state == TCP_LISTEN)
		info.tcpi_unacked += sanx_listener_waiting(&ss->lsk);
	len = min_t(unsigned int, len, sizeof(info));
	if (put_user(len, optlen) || copy_to_user(optval, &info, len))
		return -EFAULT;
	return 0;
}
