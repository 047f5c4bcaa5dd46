// SPDX-License-Identifier: GPL-2.0
/* Addresses in socket calls, and the local address for a peer's. */
#include <net/addrconf.h>
#include <net/dst.h>
#include <net/ipv6_stubs.h>
#include <net/route.h>

#include "socket_priv.h"

static void set_v4(struct sanx_endpoint *ep, __be32 addr)
{
	ipv6_addr_set_v4mapped(addr, &ep->addr);
}

/* Have the unspecified address mean loopback, as in connect(). */
void sanx_endpoint_here(struct sanx_endpoint *ep)
{
	if (ipv6_addr_any(&ep->addr))
		ep->addr = in6addr_loopback;
	else if (ep->addr.s6_addr32[3] == 0 && ipv6_addr_v4mapped(&ep->addr))
		set_v4(ep, htonl(INADDR_LOOPBACK));
}

/* Can AF_SANX connect a socket to an address?  Return: false if the result is TCP's. */
bool sanx_endpoint_takes(const struct sanx_endpoint *ep, const struct sock *sk)
{
	if (sanx_addr_explicit(&ep->addr))
		return false;
	if (ipv6_addr_v4mapped(&ep->addr))
		return sk->sk_family == AF_INET || !ipv6_only_sock(sk);
	return sk->sk_family == AF_INET6 &&
	       !(ipv6_addr_type(&ep->addr) & (IPV6_ADDR_LINKLOCAL | IPV6_ADDR_MULTICAST));
}

/*
 * Read a peer's address from a connect().
 *
 * As in TCP's connect(), the unspecified address means loopback.
 *
 * Return: 0, or -EINVAL if AF_SANX does not support the address; TCP then returns the result.
 */
int sanx_endpoint_parse(struct sanx_endpoint *ep, const struct sock *sk,
			const struct sockaddr *uaddr, int len)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)uaddr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)uaddr;

	if (len < (int)sizeof(*in))
		return -EINVAL;
	if (in->sin_family == AF_INET && sk->sk_family == AF_INET) {
		set_v4(ep, in->sin_addr.s_addr ?: htonl(INADDR_LOOPBACK));
		ep->port = in->sin_port;
		return ep->port ? 0 : -EINVAL;
	}
	if (in6->sin6_family != AF_INET6 || sk->sk_family != AF_INET6 ||
	    len < SIN6_LEN_RFC2133 || in6->sin6_scope_id)
		return -EINVAL;
	ep->addr = in6->sin6_addr;
	ep->port = in6->sin6_port;
	sanx_endpoint_here(ep);
	return ep->port && sanx_endpoint_takes(ep, sk) ? 0 : -EINVAL;
}

/**
 * sanx_endpoint_fill() - write an address for a program
 * @ep: the address
 * @family: AF_INET or AF_INET6, of the socket; of no interest for an explicit one
 * @uaddr: filled; room for a sockaddr_in6
 *
 * Context: any.
 * Return: bytes of the address.
 */
int sanx_endpoint_fill(const struct sanx_endpoint *ep, int family,
		       struct sockaddr *uaddr)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)uaddr;
	struct sockaddr_in *in = (struct sockaddr_in *)uaddr;

	if (sanx_addr_explicit(&ep->addr))
		return sanx_explicit_fill(ep, uaddr);
	if (family == AF_INET) {
		memset(in, 0, sizeof(*in));
		in->sin_family = AF_INET;
		in->sin_port = ep->port;
		in->sin_addr.s_addr = ep->addr.s6_addr32[3];
		return sizeof(*in);
	}
	memset(in6, 0, sizeof(*in6));
	in6->sin6_family = AF_INET6;
	in6->sin6_port = ep->port;
	in6->sin6_addr = ep->addr;
	return sizeof(*in6);
}

static struct dst_entry *route_v4(struct sock *sk, __be32 dst, __be32 *src)
{
	struct flowi4 fl4 = {
		.daddr		= dst,
		.saddr		= *src,
		.flowi4_mark	= READ_ONCE(sk->sk_mark),
		.flowi4_proto	= IPPROTO_TCP,
		.flowi4_uid	= sock_net_uid(sock_net(sk), sk),
	};
	struct rtable *rt = ip_route_output_key(sock_net(sk), &fl4);

	if (IS_ERR(rt))
		return ERR_CAST(rt);
	*src = fl4.saddr;
	return &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *route_v6(struct sock *sk, const struct in6_addr *dst,
				  struct in6_addr *src)
{
	struct flowi6 fl6 = {
		.daddr		= *dst,
		.saddr		= *src,
		.flowi6_mark	= READ_ONCE(sk->sk_mark),
		.flowi6_proto	= IPPROTO_TCP,
		.flowi6_uid	= sock_net_uid(sock_net(sk), sk),
	};
	struct dst_entry *dst_entry;

	dst_entry = ipv6_stub->ipv6_dst_lookup_flow(sock_net(sk), sk, &fl6,
						    NULL);
	if (!IS_ERR(dst_entry))
		*src = fl6.saddr;
	return dst_entry;
}
#endif

/*
 * Looks up the route to @remote.
 * @src: the source address, or the unspecified one to have the route choose it;
 *	set to the result
 * Return: the route, with a reference, or ERR_PTR().
 */
static struct dst_entry *route(struct sock *sk, const struct in6_addr *remote,
			       struct in6_addr *src)
{
	struct dst_entry *dst;
	__be32 v4;

	if (ipv6_addr_v4mapped(remote)) {
		v4 = src->s6_addr32[3];
		dst = route_v4(sk, remote->s6_addr32[3], &v4);
		ipv6_addr_set_v4mapped(v4, src);
		return dst;
	}
#if IS_ENABLED(CONFIG_IPV6)
	return route_v6(sk, remote, src);
#else
	return ERR_PTR(-EAFNOSUPPORT);
#endif
}

/**
 * sanx_route() - find the local address of a connection
 * @sk: the socket; if it is bound to an address, that one is used
 * @remote: the peer
 * @local: the address is filled
 *
 * Context: process, lock_sock() held.
 * Return: 0; -errno if there is no route, or no answer that comes back in clear.
 */
int sanx_route(struct sock *sk, const struct sanx_endpoint *remote,
	       struct sanx_endpoint *local)
{
	struct sanx_endpoint from = {
		.addr = in6addr_any, .port = inet_sk(sk)->inet_sport,
	};
	struct dst_entry *dst;
	int err = 0;

	if (ipv6_addr_v4mapped(&remote->addr))
		from.addr.s6_addr32[3] = inet_sk(sk)->inet_saddr;
#if IS_ENABLED(CONFIG_IPV6)
	else
		from.addr = inet6_sk(sk)->saddr;
#endif
	dst = route(sk, &remote->addr, &from.addr);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	if (!sanx_route_answered(sock_net(sk), dst, &from, remote))
		err = -EHOSTUNREACH;
	dst_release(dst);
	local->addr = from.addr;
	return err;
}

/*
 * IP_MTU of a connection.
 * Return: bytes, the MTU of TCP's path to the peer; or 0 without a route.
 */
u32 sanx_route_mtu(struct sock *sk, const struct sanx_conn *conn)
{
	struct in6_addr src = conn->local.addr;
	struct dst_entry *dst;
	u32 mtu;

	dst = route(sk, &conn->remote.addr, &src);
	if (IS_ERR(dst))
		return 0;
	mtu = dst_mtu(dst);
	dst_release(dst);
	return mtu;
}
