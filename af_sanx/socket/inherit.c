// SPDX-License-Identifier: GPL-2.0
/*
 * Options that an accepted socket inherits from its listener.  TCP clones the
 * listener.  AF_SANX makes a new sock, so it copies each option here.
 */
#include <linux/netdevice.h>
#include <linux/tcp.h>
#include <net/tcp.h>

#include "socket_priv.h"

/* Flags that options set.  The sock owns the others. */
#define FLAGS	(BIT(SOCK_LINGER) | BIT(SOCK_KEEPOPEN) | BIT(SOCK_URGINLINE) | \
		 BIT(SOCK_BROADCAST) | BIT(SOCK_DBG) | BIT(SOCK_LOCALROUTE) | \
		 BIT(SOCK_RCVTSTAMP) | BIT(SOCK_RCVTSTAMPNS) | \
		 BIT(SOCK_TSTAMP_NEW) | SK_FLAGS_TIMESTAMP | \
		 BIT(SOCK_RXQ_OVFL) | BIT(SOCK_ZEROCOPY) | \
		 BIT(SOCK_WIFI_STATUS) | BIT(SOCK_NOFCS) | \
		 BIT(SOCK_FILTER_LOCKED) | BIT(SOCK_SELECT_ERR_QUEUE) | \
		 BIT(SOCK_TXTIME) | BIT(SOCK_RCVMARK))

static void inherit_flags(struct sock *child, const struct sock *sk)
{
	child->sk_flags = (child->sk_flags & ~FLAGS) | (sk->sk_flags & FLAGS);
	/* Freeing the sock disables it. */
	if (child->sk_flags & SK_FLAGS_TIMESTAMP)
		net_enable_timestamp();
	child->sk_tsflags = READ_ONCE(sk->sk_tsflags);
	child->sk_bind_phc = READ_ONCE(sk->sk_bind_phc);
}

static void inherit_sock(struct sock *child, const struct sock *sk)
{
	child->sk_userlocks = sk->sk_userlocks &
			      (SOCK_RCVBUF_LOCK | SOCK_SNDBUF_LOCK | SOCK_BINDADDR_LOCK);
	WRITE_ONCE(child->sk_rcvbuf, READ_ONCE(sk->sk_rcvbuf));
	WRITE_ONCE(child->sk_sndbuf, READ_ONCE(sk->sk_sndbuf));
	WRITE_ONCE(child->sk_rcvlowat, READ_ONCE(sk->sk_rcvlowat));
	WRITE_ONCE(child->sk_rcvtimeo, READ_ONCE(sk->sk_rcvtimeo));
	WRITE_ONCE(child->sk_sndtimeo, READ_ONCE(sk->sk_sndtimeo));
	WRITE_ONCE(child->sk_mark, READ_ONCE(sk->sk_mark));
	WRITE_ONCE(child->sk_peek_off, READ_ONCE(sk->sk_peek_off));
	child->sk_lingertime = sk->sk_lingertime;
	child->sk_reuse = sk->sk_reuse;
	child->sk_reuseport = sk->sk_reuseport;
	child->sk_no_check_tx = sk->sk_no_check_tx;
	child->sk_txrehash = READ_ONCE(sk->sk_txrehash);
	child->sk_clockid = sk->sk_clockid;
	child->sk_txtime_deadline_mode = sk->sk_txtime_deadline_mode;
	child->sk_txtime_report_errors = sk->sk_txtime_report_errors;
	child->sk_pacing_status = READ_ONCE(sk->sk_pacing_status);
	child->sk_max_pacing_rate = READ_ONCE(sk->sk_max_pacing_rate);
#ifdef CONFIG_NET_RX_BUSY_POLL
	child->sk_ll_usec = READ_ONCE(sk->sk_ll_usec);
	child->sk_prefer_busy_poll = READ_ONCE(sk->sk_prefer_busy_poll);
	child->sk_busy_poll_budget = READ_ONCE(sk->sk_busy_poll_budget);
#endif
}

static void inherit_tcp(struct sock *child, const struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(child);
	const struct inet_connection_sock *from = inet_csk(sk);
	const struct tcp_sock *lp = tcp_sk(sk);
	struct tcp_sock *tp = tcp_sk(child);

	tp->nonagle = lp->nonagle;
	tp->keepalive_time = READ_ONCE(lp->keepalive_time);
	tp->keepalive_intvl = READ_ONCE(lp->keepalive_intvl);
	tp->keepalive_probes = READ_ONCE(lp->keepalive_probes);
	tp->linger2 = READ_ONCE(lp->linger2);
	tp->notsent_lowat = READ_ONCE(lp->notsent_lowat);
	tp->tcp_tx_delay = READ_ONCE(lp->tcp_tx_delay);
	tp->thin_lto = lp->thin_lto;
	tp->recvmsg_inq = lp->recvmsg_inq;
	tp->save_syn = lp->save_syn;
	tp->fastopen_no_cookie = lp->fastopen_no_cookie;
	tp->rx_opt.user_mss = READ_ONCE(lp->rx_opt.user_mss);
	icsk->icsk_user_timeout = READ_ONCE(from->icsk_user_timeout);
	icsk->icsk_syn_retries = READ_ONCE(from->icsk_syn_retries);
}

/*
 * TCP_CONGESTION must be set, not copied: each user holds the algorithm's
 * module.
 */
static void inherit_congestion(struct sock *child, const struct sock *sk)
{
	const struct inet_connection_sock *from = inet_csk(sk);
	char name[TCP_CA_NAME_MAX];

	if (!from->icsk_ca_setsockopt)
		return;
	rcu_read_lock();
	strscpy(name, READ_ONCE(from->icsk_ca_ops)->name, sizeof(name));
	rcu_read_unlock();
	/*
	 * If the algorithm is gone, the child keeps the default, as over TCP.
	 */
	child->sk_prot->setsockopt(child, SOL_TCP, TCP_CONGESTION,
				   KERNEL_SOCKPTR(name), strlen(name));
}

static void inherit_inet(struct sock *child, const struct sock *sk)
{
	const struct inet_sock *from = inet_sk(sk);
	struct inet_sock *to = inet_sk(child);

	sanx_inherit_inet_bits(child, sk);
	to->tos = READ_ONCE(from->tos);
	to->uc_ttl = READ_ONCE(from->uc_ttl);
	to->pmtudisc = READ_ONCE(from->pmtudisc);
	to->uc_index = READ_ONCE(from->uc_index);
	to->local_port_range = from->local_port_range;
}

static void inherit_inet6(struct sock *child, struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	const struct ipv6_pinfo *from = inet6_sk(sk);
	struct ipv6_pinfo *to = inet6_sk(child);

	if (sk->sk_family != AF_INET6)
		return;
	sanx_inherit_inet6_bits(to, from);
	child->sk_ipv6only = sk->sk_ipv6only;
	to->hop_limit = from->hop_limit;
	to->tclass = from->tclass;
	to->pmtudisc = from->pmtudisc;
	to->srcprefs = from->srcprefs;
	to->frag_size = from->frag_size;
	to->ucast_oif = from->ucast_oif;
	to->rxopt.all = from->rxopt.all;
	to->sticky_pktinfo = from->sticky_pktinfo;
#endif
}

/* Give an accepted sock its listener's options. */
void sanx_inherit_options(struct sock *child, struct sock *sk)
{
	inherit_flags(child, sk);
	inherit_sock(child, sk);
	inherit_tcp(child, sk);
	inherit_congestion(child, sk);
	inherit_inet(child, sk);
	inherit_inet6(child, sk);
}
