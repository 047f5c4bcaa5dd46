// SPDX-License-Identifier: GPL-2.0
/*
 * Options that only the IP stack supports.  A socket with one of them uses TCP,
 * whether it connects or listens.
 */
#include <linux/filter.h>
#include <net/sock_reuseport.h>
#include <net/xfrm.h>

#include "conn_priv.h"

static bool reuseport_has_prog(const struct sock *sk)
{
	struct sock_reuseport *reuse;
	bool has;

	if (!rcu_access_pointer(sk->sk_reuseport_cb))
		return false;
	rcu_read_lock();
	reuse = rcu_dereference(sk->sk_reuseport_cb);
	has = reuse && rcu_access_pointer(reuse->prog);
	rcu_read_unlock();
	return has;
}

static bool has_policy(const struct sock *sk)
{
#ifdef CONFIG_XFRM
	return rcu_access_pointer(sk->sk_policy[0]) ||
	       rcu_access_pointer(sk->sk_policy[1]);
#else
	return false;
#endif
}

static bool has_cgroup_filter(const struct sock *csk)
{
	struct sock *sk = (struct sock *)csk;

	return sanx_cgroup_prog(sk, CGROUP_INET_INGRESS) ||
	       sanx_cgroup_prog(sk, CGROUP_INET_EGRESS);
}

/**
 * sanx_needs_packets() - has the program set an option that only the IP stack can obey, but for
 * a filter of the socket?
 * @sk: the socket, not connected
 *
 * As sanx_needs_stack(), for a socket whose filter AF_SANX runs itself.
 *
 * Context: any.
 * Return: true if it has.
 */
bool sanx_needs_packets(const struct sock *sk)
{
	if (READ_ONCE(sk->sk_bound_dev_if) ||
	    READ_ONCE(inet_sk(sk)->min_ttl) || has_policy(sk) ||
	    reuseport_has_prog(sk) || has_cgroup_filter(sk))
		return true;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		return READ_ONCE(inet6_sk(sk)->min_hopcount);
#endif
	return false;
}

/**
 * sanx_needs_stack() - has the program set an option that only the IP stack
 * has?
 * @sk: the socket, not connected
 *
 * These options are: a device, a filter of incoming packets, a minimum TTL, an
 * IPsec policy, a BPF program that selects the listener, and a cgroup program
 * that sees each packet.  AF_SANX would let in what they keep out, so the
 * connection must be TCP.  Most of them are options of SOL_SOCKET and are set
 * without a call to AF_SANX, so they are checked when needed.
 *
 * Context: any.
 * Return: true if it has.
 */
bool sanx_needs_stack(const struct sock *sk)
{
	return rcu_access_pointer(sk->sk_filter) || sanx_needs_packets(sk);
}
