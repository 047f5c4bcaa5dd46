// SPDX-License-Identifier: GPL-2.0
/*
 * What a program asks for with a sendmsg().
 *
 * Only what is understood in full here goes over AF_SANX.  All else is UDP's: errors
 * too, so that they are the same, and the first datagram of a socket without a port,
 * which gets one then.
 */
#include <linux/errqueue.h>
#include <linux/ipv6.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/udp.h>

#include "config/config.h"
#include "conn/conn.h"
#include "dgram_priv.h"

/* What UDP over IPv4 takes at most; what is longer is left to UDP. */
#define DGRAM_MAX	(0xffff - sizeof(struct iphdr) - sizeof(struct udphdr))

/* Flags that change nothing for a datagram that is copied at once. */
#define FLAGS_OK	(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR | MSG_WAITALL | \
			 MSG_CMSG_COMPAT | MSG_BATCH)

#define TSTAMP_TX	(SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_TX_SOFTWARE | \
			 SOF_TIMESTAMPING_TX_SCHED | SOF_TIMESTAMPING_TX_ACK)

#if IS_ENABLED(CONFIG_IPV6)
static bool v6_plain(const struct sock *sk)
{
	const struct ipv6_pinfo *np = inet6_sk(sk);

	return !rcu_access_pointer(np->opt) && !np->flow_label &&
	       !sanx_sndflow(sk) && !np->sticky_pktinfo.ipi6_ifindex &&
	       !np->ucast_oif && !np->frag_size && !sanx_dontfrag(sk) &&
	       !udp_test_bit(NO_CHECK6_TX, sk);
}
#else
static bool v6_plain(const struct sock *sk)
{
	return false;
}
#endif

/*
 * Is a BPF program that may change the address attached to the cgroup?  A socket of IPv6
 * with a v4-mapped address has that for IPv4.
 */
static bool cgroup_wants(struct sock *sk)
{
	return sanx_cgroup_prog(sk, CGROUP_UDP4_SENDMSG) ||
	       sanx_cgroup_prog(sk, CGROUP_UDP6_SENDMSG);
}

/* Has the program set nothing that only the IP stack can do for a sender? */
static bool sock_plain(struct sock *sk)
{
	const struct inet_sock *inet = inet_sk(sk);

	if (!inet->inet_sport || READ_ONCE(sk->sk_err) ||
	    READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN)
		return false;
	if (READ_ONCE(udp_sk(sk)->pending) || udp_test_bit(CORK, sk) ||
	    sock_flag(sk, SOCK_LOCALROUTE) || sock_flag(sk, SOCK_TXTIME) ||
	    READ_ONCE(sk->sk_tsflags) & TSTAMP_TX)
		return false;
	if (rcu_access_pointer(inet->inet_opt) || inet->uc_index)
		return false;
	if (sk->sk_family == AF_INET6 && !v6_plain(sk))
		return false;
	/* skb.c uses it; a socket of the kernel may have one of its own. */
	if (sk_page_frag(sk) != &current->task_frag)
		return false;
	return !sanx_needs_stack(sk) && !cgroup_wants(sk);
}

static bool set_dest(struct sock *sk, const struct msghdr *msg,
		     struct sanx_dgram *d)
{
	const struct sockaddr_in6 *in6 = msg->msg_name;
	const struct sockaddr_in *in = msg->msg_name;

	if (!in) {
		if (READ_ONCE(sk->sk_state) != TCP_ESTABLISHED)
			return false;
		d->dport = inet_sk(sk)->inet_dport;
		if (sk->sk_family == AF_INET6)
			d->dest.daddr = sk->sk_v6_daddr;
		else
			ipv6_addr_set_v4mapped(inet_sk(sk)->inet_daddr,
					       &d->dest.daddr);
		return true;
	}
	if (sk->sk_family == AF_INET) {
		if (msg->msg_namelen < (int)sizeof(*in) ||
		    in->sin_family != AF_INET)
			return false;
		d->dport = in->sin_port;
		ipv6_addr_set_v4mapped(in->sin_addr.s_addr, &d->dest.daddr);
		return true;
	}
	if (msg->msg_namelen < SIN6_LEN_RFC2133 || in6->sin6_family != AF_INET6)
		return false;
	d->dport = in6->sin6_port;
	d->dest.daddr = in6->sin6_addr;
	return true;
}

/* A destination that means itself, to a port. */
static bool dest_plain(const struct sock *sk, const struct sanx_dgram *d)
{
	const struct in6_addr *addr = &d->dest.daddr;

	if (!d->dport)
		return false;
	if (d->v4)
		return addr->s6_addr32[3] && !ipv6_only_sock(sk);
	return !ipv6_addr_any(addr) && !sanx_addr_explicit(addr) &&
	       !(ipv6_addr_type(addr) & (IPV6_ADDR_LINKLOCAL |
					 IPV6_ADDR_MULTICAST));
}

static void set_sock_v4(const struct sock *sk, struct sanx_dgram *d)
{
	const struct inet_sock *inet = inet_sk(sk);

	ipv6_addr_set_v4mapped(inet->inet_saddr, &d->dest.saddr);
	d->dest.tos = READ_ONCE(inet->tos);
	d->hops = READ_ONCE(inet->uc_ttl);
	d->df = !ip_sk_ignore_df(sk);
}

#if IS_ENABLED(CONFIG_IPV6)
static void set_sock_v6(const struct sock *sk, struct sanx_dgram *d)
{
	const struct ipv6_pinfo *np = inet6_sk(sk);

	d->dest.saddr = np->saddr;
	d->dest.tos = np->tclass;
	d->hops = np->hop_limit;
	d->df = !ip6_sk_ignore_df(sk);
}
#else
static void set_sock_v6(const struct sock *sk, struct sanx_dgram *d)
{
}
#endif

static bool cmsg_int(const struct cmsghdr *cmsg, int least, int most, int *value)
{
	if (cmsg->cmsg_len != CMSG_LEN(sizeof(int)))
		return false;
	*value = *(const int *)CMSG_DATA(cmsg);
	return *value >= least && *value <= most;
}

/* Type of service or traffic class. */
static bool cmsg_tos(const struct cmsghdr *cmsg, struct sanx_dgram *d)
{
	int value;

	if (!cmsg_int(cmsg, 0, 255, &value))
		return false;
	d->dest.tos = value;
	return true;
}

static bool cmsg_v4(const struct cmsghdr *cmsg, struct sanx_dgram *d)
{
	const struct in_pktinfo *info = CMSG_DATA(cmsg);

	switch (cmsg->cmsg_type) {
	case IP_PKTINFO:
		if (cmsg->cmsg_len != CMSG_LEN(sizeof(*info)))
			return false;
		if (info->ipi_ifindex)
			d->dest.oif = info->ipi_ifindex;
		/* 0 has the route choose, whatever the socket is bound to. */
		ipv6_addr_set_v4mapped(info->ipi_spec_dst.s_addr,
				       &d->dest.saddr);
		return true;
	case IP_TTL:
		return cmsg_int(cmsg, 1, 255, &d->hops);
	case IP_TOS:
		return cmsg_tos(cmsg, d);
	default:
		return false;
	}
}

/*
 * May the program send from this address?  Routes do not ask that for IPv6.  What else
 * UDP permits, such as anycast or IPV6_TRANSPARENT, is left to it.
 */
static bool source_ok(struct net *net, const struct in6_pktinfo *info)
{
	struct net_device *dev = NULL;
	bool ok = true;

#if IS_ENABLED(CONFIG_IPV6)
	rcu_read_lock();
	if (info->ipi6_ifindex) {
		dev = dev_get_by_index_rcu(net, info->ipi6_ifindex);
		ok = dev;
	}
	if (ok && !ipv6_addr_any(&info->ipi6_addr))
		ok = ipv6_addr_type(&info->ipi6_addr) & IPV6_ADDR_UNICAST &&
		     ipv6_chk_addr(net, &info->ipi6_addr, dev, !!dev);
	rcu_read_unlock();
#endif
	return ok;
}

static bool cmsg_v6(struct net *net, const struct cmsghdr *cmsg,
		    struct sanx_dgram *d)
{
	const struct in6_pktinfo *info = CMSG_DATA(cmsg);

	switch (cmsg->cmsg_type) {
	case IPV6_PKTINFO:
		if (cmsg->cmsg_len != CMSG_LEN(sizeof(*info)) ||
		    !source_ok(net, info))
			return false;
		if (info->ipi6_ifindex)
			d->dest.oif = info->ipi6_ifindex;
		if (!ipv6_addr_any(&info->ipi6_addr))
			d->dest.saddr = info->ipi6_addr;
		return true;
	case IPV6_HOPLIMIT:
		return cmsg_int(cmsg, 0, 255, &d->hops);
	case IPV6_TCLASS:
		return cmsg_tos(cmsg, d);
	default:
		return false;
	}
}

static bool cmsg_one(struct net *net, const struct cmsghdr *cmsg,
		     struct sanx_dgram *d)
{
	if (cmsg->cmsg_level == SOL_UDP && cmsg->cmsg_type == UDP_SEGMENT) {
		if (cmsg->cmsg_len != CMSG_LEN(sizeof(u16)))
			return false;
		d->gso_size = *(const u16 *)CMSG_DATA(cmsg);
		return true;
	}
	if (cmsg->cmsg_level == SOL_IP)
		return d->v4 && cmsg_v4(cmsg, d);
	if (cmsg->cmsg_level == SOL_IPV6)
		return !d->v4 && cmsg_v6(net, cmsg, d);
	return false;
}

static bool set_cmsgs(struct net *net, struct msghdr *msg, struct sanx_dgram *d)
{
	struct cmsghdr *cmsg;

	for_each_cmsghdr(cmsg, msg)
		if (!CMSG_OK(msg, cmsg) || !cmsg_one(net, cmsg, d))
			return false;
	return true;
}

/* UDP refuses what is cut into too many datagrams, or has no checksum. */
static bool gso_plain(struct sock *sk, size_t len, const struct sanx_dgram *d)
{
	return !d->gso_size ||
	       (len <= (size_t)d->gso_size * UDP_MAX_SEGMENTS &&
		!sk->sk_no_check_tx);
}

/* Read what a program asks for.  Return: true, or false if UDP has to send it. */
bool sanx_dgram_parse(struct sock *sk, struct msghdr *msg, size_t len,
		      struct sanx_dgram *d)
{
	if (len > DGRAM_MAX || msg->msg_flags & ~FLAGS_OK || !sock_plain(sk))
		return false;
	memset(&d->dest, 0, sizeof(d->dest));
	if (!set_dest(sk, msg, d))
		return false;
	d->v4 = ipv6_addr_v4mapped(&d->dest.daddr);
	if (!dest_plain(sk, d))
		return false;
	d->sport = inet_sk(sk)->inet_sport;
	d->dest.mark = READ_ONCE(sk->sk_mark);
	d->gso_size = READ_ONCE(udp_sk(sk)->gso_size);
	if (d->v4)
		set_sock_v4(sk, d);
	else
		set_sock_v6(sk, d);
	if (msg->msg_controllen && !set_cmsgs(sock_net(sk), msg, d))
		return false;
	return gso_plain(sk, len, d) &&
	       sanx_dgram_allowed(d, sock_net(sk), SANX_WAY_OUT, &d->dest.daddr);
}
