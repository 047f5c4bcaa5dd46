// SPDX-License-Identifier: GPL-2.0
/*
 * What TCP's tables say of a native socket.
 *
 * Who gets a connection that comes in: the listener that the IP stack would give it to.
 * The native socket of an AF_SANX listener is one of TCP's listeners.  So the stack's own
 * lookup compares all of them, other programs' too: by address, device and SO_REUSEPORT
 * group, and as BPF programs of type sk_lookup say.
 */
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/tcp.h>

#include "conn_priv.h"

/*
 * The listening sock that TCP would give a connection to.  Under RCU, which keeps it.
 *
 * A BPF program of the sock's SO_REUSEPORT group is not asked, as it looks at packets:
 * sanx_needs_stack() is true of all socks in that group.
 *
 * Return: the sock, which may be any program's, or NULL.
 */
struct sock *sanx_native_listener(struct net *net, const struct sanx_endpoint *local,
				  const struct sanx_endpoint *remote,
				  const struct sanx_arrival *by)
{
	struct inet_hashinfo *hashinfo = net->ipv4.tcp_death_row.hashinfo;

	if (ipv6_addr_v4mapped(&local->addr))
		return __inet_lookup_listener(net, hashinfo, NULL, 0,
					      remote->addr.s6_addr32[3], remote->port,
					      local->addr.s6_addr32[3], ntohs(local->port),
					      by->dif, by->sdif);
#if IS_ENABLED(CONFIG_IPV6)
	return inet6_lookup_listener(net, hashinfo, NULL, 0, &remote->addr, remote->port,
				     &local->addr, ntohs(local->port), by->dif, by->sdif);
#else
	return NULL;
#endif
}

/**
 * sanx_native_unhash() - others may have the pair of ends of a connection
 * @sk: the sock, in state TCP_CLOSE
 *
 * Context: any.
 */
void sanx_native_unhash(struct sock *sk)
{
	/* The caller has stored that it is over.  Pairs with smp_mb() in sanx_ends_show(). */
	smp_mb();
	sk->sk_prot->unhash(sk);
}

/**
 * sanx_native_done() - a connection is over: give its place in TCP's tables to others
 * @sk: the sock, in state TCP_CLOSE
 *
 * As tcp_set_state() does when a connection of TCP is reset: the pair of ends is free, and
 * so is the port, unless the program has bound it.
 *
 * Context: any; conn->lock of the sock's connection held.
 */
void sanx_native_done(struct sock *sk)
{
	sanx_native_unhash(sk);
	if (inet_csk(sk)->icsk_bind_hash && !(sk->sk_userlocks & SOCK_BINDPORT_LOCK))
		inet_put_port(sk);
}
