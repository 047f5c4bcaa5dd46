// SPDX-License-Identifier: GPL-2.0
/*
 * Explicit sockets (sci-socket.txt 5.1): sockets that are addressed by node and port, and
 * are never TCP's.
 *
 * A program that asks for SANXPROTO_EXPLICIT wants the system area network or nothing.  Its
 * connections are those of all others: the same transports, rings and frames, with ends as
 * struct sanx_endpoint says.  What differs is here: the ports of a namespace, which TCP
 * does not know, addresses, and what becomes of a socket that cannot be connected, which
 * gets an error and can try again.
 *
 * The sock is one of TCP's, so that all that the layers below ask of a sock, from its
 * options to its accounts, is there.  But it is in none of TCP's tables, has no port of
 * TCP's, and TCP never connects it or makes it listen: explicit_native has ops in place of
 * those that would.  What else of TCP it meets, as send() without a connection, finds it
 * closed.  Those of datagrams have one of UDP's (explicit_dgram.c).
 */
#include <linux/random.h>
#include <linux/rhashtable.h>
#include <net/inet_common.h>
#include <net/ip.h>
#include <net/netns/generic.h>
#include <net/tcp.h>
#include <uapi/linux/sanx.h>

#include "config/config.h"
#include "socket_priv.h"

/* Ports that sockets get that name none: from here to INT_MAX. */
#define PORT_EPHEMERAL	0x40000000U
/* As many random ones are tried. */
#define PORT_TRIES	1000U

/*
 * A namespace has a table of &struct sanx_explicit with a port of their own.  Each type of
 * sockets has its ports, as TCP and UDP have.
 */
static const struct rhashtable_params port_params = {
	.head_offset		= offsetof(struct sanx_explicit, node),
	.key_offset		= offsetof(struct sanx_explicit, port),
	.key_len		= sizeof_field(struct sanx_explicit, port),
	.automatic_shrinking	= true,
};

static unsigned int ports_id;

static struct proto_ops explicit_native __ro_after_init;

static struct rhashtable *ports_of(const struct sanx_sock *ss)
{
	return net_generic(sock_net(ss->sk), ports_id);
}

/**
 * sanx_explicit_of() - find a socket by its port
 * @net: the namespace
 * @type: type of the socket
 * @port: the port
 *
 * Context: under RCU.
 * Return: its explicit part, or NULL.
 */
const struct sanx_explicit *sanx_explicit_of(struct net *net, u16 type, u32 port)
{
	const struct sanx_explicit_port key = { .nr = port, .type = type };

	return rhashtable_lookup(net_generic(net, ports_id), &key, port_params);
}

static bool has_port(const struct sanx_sock *ss)
{
	return ss->explicit->port.nr;
}

/* Context: lock_sock() held.  Return: 0; -EADDRINUSE if another socket has it; -ENOMEM. */
static int take_port(struct sanx_sock *ss, u32 node, u32 port)
{
	struct sanx_explicit *ex = ss->explicit;
	int err;

	sock_owned_by_me(ss->sk);
	ex->port.nr = port;
	/* Before it can be found. */
	sanx_endpoint_explicit(&ex->local, ex->port.type, node, port);
	err = rhashtable_lookup_insert_fast(ports_of(ss), &ex->node, port_params);
	if (err) {
		ex->port.nr = 0;
		sanx_endpoint_explicit(&ex->local, ex->port.type, 0, 0);
	}
	return !err || err == -ENOMEM ? err : -EADDRINUSE;
}

/* Context: lock_sock() held. */
static void give_port(struct sanx_sock *ss)
{
	struct sanx_explicit *ex = ss->explicit;

	sock_owned_by_me(ss->sk);
	if (!has_port(ss))
		return;
	rhashtable_remove_fast(ports_of(ss), &ex->node, port_params);
	ex->port.nr = 0;
	sanx_endpoint_explicit(&ex->local, ex->port.type, 0, 0);
}

/* One that the program did not name.  Context: as above. */
static void give_any_port(struct sanx_sock *ss)
{
	if (!(ss->sk->sk_userlocks & SOCK_BINDPORT_LOCK))
		give_port(ss);
}

/* Context and return value: as take_port(). */
static int take_any_port(struct sanx_sock *ss, u32 node)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < PORT_TRIES; i++) {
		err = take_port(ss, node, PORT_EPHEMERAL + get_random_u32() % PORT_EPHEMERAL);
		if (err != -EADDRINUSE)
			break;
	}
	return err;
}

/* Give a socket a port that has none.  Context and return value: as take_port(). */
int sanx_explicit_autobind(struct sanx_sock *ss)
{
	return has_port(ss) ? 0 : take_any_port(ss, 0);
}

/*
 * Read a struct sockaddr_sanx.
 * Return: 0; -EINVAL; -EAFNOSUPPORT.
 */
int sanx_explicit_parse(const struct sock *sk, const struct sockaddr *uaddr, int len,
			u32 *node, u32 *port)
{
	const struct sockaddr_sanx *sa = (const struct sockaddr_sanx *)uaddr;

	BUILD_BUG_ON(sizeof(*sa) != sizeof(*uaddr));
	if (len < (int)sizeof(*sa))
		return -EINVAL;
	if (sa->sanx_family != sk->sk_family)
		return -EAFNOSUPPORT;
	if (memchr_inv(sa->sanx_zero, 0, sizeof(sa->sanx_zero)) || sa->sanx_pad)
		return -EINVAL;
	*node = sa->sanx_node;
	*port = sa->sanx_port;
	return 0;
}

/* Write a struct sockaddr_sanx.  Return: its size. */
int sanx_explicit_fill(const struct sanx_endpoint *ep, struct sockaddr *uaddr)
{
	struct sockaddr_sanx *sa = (struct sockaddr_sanx *)uaddr;

	memset(sa, 0, sizeof(*sa));
	sa->sanx_family = sanx_family_number();
	sa->sanx_node = sanx_addr_node(&ep->addr);
	sa->sanx_port = sanx_addr_port(&ep->addr);
	return sizeof(*sa);
}

/**
 * sanx_explicit_end() - the end of an explicit socket
 * @ss: the socket's AF_SANX part
 *
 * Context: lock_sock() held, or what changes meanwhile is a hint.
 * Return: it, or NULL for a socket that has addresses of TCP.
 */
const struct sanx_endpoint *sanx_explicit_end(const struct sanx_sock *ss)
{
	return ss->explicit ? &ss->explicit->local : NULL;
}

/* The ports of TCP that do (ip_unprivileged_port_start). */
static bool needs_privilege(struct net *net, u32 port)
{
	return port <= U16_MAX && inet_port_requires_bind_service(net, port) &&
	       !ns_capable(net->user_ns, CAP_NET_BIND_SERVICE);
}

static int bind_locked(struct sanx_sock *ss, u32 node, u32 port)
{
	struct sock *sk = ss->sk;
	int err;

	sock_owned_by_me(sk);
	if (sk->sk_state != TCP_CLOSE || has_port(ss))
		return -EINVAL;
	if (node && node != sanx_node_self(sock_net(sk)))
		return -EADDRNOTAVAIL;
	if (!port)
		return take_any_port(ss, node);
	if (needs_privilege(sock_net(sk), port))
		return -EACCES;
	err = take_port(ss, node, port);
	if (!err)
		sk->sk_userlocks |= SOCK_BINDPORT_LOCK;
	return err;
}

/* proto_ops.bind */
int sanx_explicit_bind(struct socket *sock, struct sockaddr *uaddr, int len)
{
	struct sock *sk = sock->sk;
	u32 node, port;
	int err;

	err = sanx_explicit_parse(sk, uaddr, len, &node, &port);
	if (err)
		return err;
	lock_sock(sk);
	err = bind_locked(sanx_sk(sock), node, port);
	release_sock(sk);
	return err;
}

static int explicit_getname(struct socket *sock, struct sockaddr *uaddr, int peer)
{
	return peer ? -ENOTCONN : sanx_explicit_fill(sanx_explicit_end(sanx_sk(sock)), uaddr);
}

/*
 * As inet_listen(), of a sock that is in no table.  sanx_listen() enters the listener before
 * and after, by its port; so one without a port gets it before.
 */
static int explicit_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	int err = -EINVAL;

	lock_sock(sk);
	if (sock->state == SS_UNCONNECTED &&
	    (sk->sk_state == TCP_CLOSE || sk->sk_state == TCP_LISTEN))
		err = sanx_explicit_autobind(sanx_sk(sock));
	if (!err) {
		WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
		/* Pairs with READ_ONCE() of listens(): the table has it by its lock. */
		WRITE_ONCE(sk->sk_state, TCP_LISTEN);
	}
	release_sock(sk);
	return err;
}

/* TCP must not take it for a listener of its own.  Context: lock_sock() held. */
static void end_listening(struct sanx_sock *ss)
{
	struct sock *sk = ss->sk;

	sock_owned_by_me(sk);
	if (sk->sk_state == TCP_LISTEN)
		WRITE_ONCE(sk->sk_state, TCP_CLOSE);
}

/**
 * sanx_explicit_disconnect() - connect(AF_UNSPEC) of a socket that has no connection
 * @ss: its AF_SANX part
 *
 * As tcp_disconnect(), it ends listening.
 *
 * Context: process, may sleep; lock_sock() held.
 */
void sanx_explicit_disconnect(struct sanx_sock *ss)
{
	if (ss->sk->sk_state == TCP_LISTEN) {
		end_listening(ss);
		sanx_listener_stop(&ss->lsk);
	}
	give_any_port(ss);
}

/* As inet_shutdown(), which ends a listener, of a socket that is not connected. */
static int explicit_shutdown(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	int err = -ENOTCONN;

	lock_sock(sk);
	if (sk->sk_state == TCP_LISTEN) {
		if (how != SHUT_WR)
			sanx_explicit_disconnect(sanx_sk(sock));
		err = 0;
	}
	sk->sk_state_change(sk);
	release_sock(sk);
	return err;
}

/* The queue of errors; what inet_recv_error() does, which does not know the family. */
static int explicit_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	if (flags & MSG_ERRQUEUE)
		return sock_recv_errqueue(sock->sk, msg, len, SOL_IP, IP_RECVERR);
	return inet_recvmsg(sock, msg, len, flags);
}

/* MSG_FASTOPEN would connect the sock by TCP. */
static int explicit_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	/* As over AF_UNIX, and not a signal. */
	if (sanx_sk_records(sock->sk))
		return -ENOTCONN;
	return msg->msg_flags & MSG_FASTOPEN ? -EOPNOTSUPP : inet_sendmsg(sock, msg, len);
}

static int explicit_release(struct socket *sock)
{
	struct sanx_sock *ss = sanx_sk(sock);
	struct sock *sk = sock->sk;

	lock_sock(sk);
	end_listening(ss);
	give_port(ss);
	if (sk->sk_type != SOCK_DGRAM)
		sanx_prot_reset(sk);
	release_sock(sk);
	return inet_release(sock);
}

/**
 * sanx_explicit_make() - make a native socket that of an explicit one
 * @ss: its AF_SANX part
 * @type: type of the socket
 *
 * Context: process, may sleep; nobody else uses the socket yet.
 * Return: 0 or -ENOMEM.
 */
int sanx_explicit_make(struct sanx_sock *ss, u16 type)
{
	struct sanx_explicit *ex = kzalloc(sizeof(*ex), GFP_KERNEL_ACCOUNT);

	if (!ex)
		return -ENOMEM;
	ex->sk = ss->sk;
	ex->port.type = type;
	sanx_endpoint_explicit(&ex->local, type, 0, 0);
	mutex_init(&ex->reading);
	ss->explicit = ex;
	ss->native = &explicit_native;
	ss->sk->sk_family = sanx_family_number();
	ss->sk->sk_protocol = SANXPROTO_EXPLICIT;
	ss->sk->sk_type = type;
	if (type != SOCK_DGRAM)
		sanx_prot_set(ss->sk);
#ifndef SOCK_CUSTOM_SOCKOPT
	/* The kernel refuses SO_ZEROCOPY, so MSG_ZEROCOPY alone asks for it. */
	sock_set_flag(ss->sk, SOCK_ZEROCOPY);
#endif
	return 0;
}

/**
 * sanx_explicit_graft() - the part of sanx_native_graft() for explicit sockets
 * @sock: the socket
 *
 * Context: process; nobody else uses the socket yet.
 */
void sanx_explicit_graft(struct socket *sock)
{
	if (sock->sk->sk_type == SOCK_DGRAM) {
		sanx_explicit_dgram_graft(sock);
		return;
	}
	if (sanx_sk_records(sock->sk))
		sock->ops = &sanx_seqpacket_ops;
#ifdef SOCK_CUSTOM_SOCKOPT
	set_bit(SOCK_CUSTOM_SOCKOPT, &sock->flags);
#endif
}

/**
 * sanx_explicit_sol_socket() - set an option of SOL_SOCKET
 * @sock: the socket
 * @optname: the option
 * @optval: its value
 * @optlen: bytes of it
 *
 * SO_ZEROCOPY is here, as vsock has it: sk_setsockopt() knows which families can do it.
 *
 * Context: process, may sleep; takes lock_sock().
 * Return: 0, or -errno as in setsockopt(2).
 */
int sanx_explicit_sol_socket(struct socket *sock, int optname, sockptr_t optval,
			     unsigned int optlen)
{
	struct sock *sk = sock->sk;
	int val;

	if (optname != SO_ZEROCOPY)
		return sock_setsockopt(sock, SOL_SOCKET, optname, optval, optlen);
	if (optlen < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	if (val < 0 || val > 1)
		return -EINVAL;
	lock_sock(sk);
	sock_valbool_flag(sk, SOCK_ZEROCOPY, val);
	release_sock(sk);
	return 0;
}

/**
 * sanx_explicit_connect() - the local end of a connect()
 * @ss: the socket's AF_SANX part
 * @local: set
 * @remote: the peer.  Without a node map this node is 0, and can reach itself
 *
 * Context: lock_sock() held.
 * Return: 0; -EADDRINUSE; -ENETUNREACH if the node map does not have this node.
 */
int sanx_explicit_connect(struct sanx_sock *ss, struct sanx_endpoint *local,
			  const struct sanx_endpoint *remote)
{
	struct sock *sk = ss->sk;
	u32 node = sanx_node_self(sock_net(sk));
	int err;

	if (!node && sanx_addr_node(&remote->addr))
		return -ENETUNREACH;
	err = sanx_explicit_autobind(ss);
	if (err)
		return err;
	ss->ends = sk->sk_userlocks & SOCK_BINDPORT_LOCK ? SANX_ENDS_NAMED : SANX_ENDS_PORT;
	sanx_endpoint_explicit(local, sk->sk_type, node, ss->explicit->port.nr);
	return 0;
}

/**
 * sanx_explicit_accept() - make a native socket that of an accepted explicit one
 * @ss: its AF_SANX part.  It has no port of its own: that of its listener is free for
 *	others as soon as the listener is closed
 * @type: type of the socket
 *
 * Context: process, may sleep; nobody else uses the socket yet.
 * Return: 0 or -ENOMEM.
 */
int sanx_explicit_accept(struct sanx_sock *ss, u16 type)
{
	int err = sanx_explicit_make(ss, type);

	if (!err)
		ss->ends = SANX_ENDS_NAMED;
	return err;
}

/**
 * sanx_explicit_forget() - give back what sanx_explicit_connect() took
 * @ss: the socket's AF_SANX part
 *
 * Context: lock_sock() held.
 */
void sanx_explicit_forget(struct sanx_sock *ss)
{
	sock_owned_by_me(ss->sk);
	if (ss->ends == SANX_ENDS_PORT)
		give_port(ss);
	ss->ends = SANX_ENDS_NONE;
}

/**
 * sanx_explicit_error() - what a connect() gets where others would become TCP
 * @why: why they would
 *
 * Return: -errno.
 */
int sanx_explicit_error(enum sanx_fallback why)
{
	switch (why) {
	case SANX_FALLBACK_REFUSED:
		return -ECONNREFUSED;
	case SANX_FALLBACK_PORT:
	case SANX_FALLBACK_DENIED:
		return -EACCES;
	case SANX_FALLBACK_OPTION:
		return -EOPNOTSUPP;
	case SANX_FALLBACK_LIMIT:
		return -ENOBUFS;
	default:
		return -ENETUNREACH;
	}
}

static int __net_init ports_init(struct net *net)
{
	return rhashtable_init(net_generic(net, ports_id), &port_params);
}

static void __net_exit ports_exit(struct net *net)
{
	rhashtable_destroy(net_generic(net, ports_id));
}

static struct pernet_operations ports_net_ops = {
	.init	= ports_init,
	.exit	= ports_exit,
	.id	= &ports_id,
	.size	= sizeof(struct rhashtable),
};

int __init sanx_explicit_init(void)
{
	explicit_native = inet_stream_ops;
	explicit_native.bind = sanx_explicit_bind;
	/* connect_explicit() leaves none. */
	explicit_native.connect = sock_no_connect;
	explicit_native.getname = explicit_getname;
	explicit_native.listen = explicit_listen;
	explicit_native.shutdown = explicit_shutdown;
	explicit_native.sendmsg = explicit_sendmsg;
	explicit_native.recvmsg = explicit_recvmsg;
	explicit_native.release = explicit_release;
	sanx_explicit_dgram_init();
	return register_pernet_subsys(&ports_net_ops);
}

void sanx_explicit_exit(void)
{
	unregister_pernet_subsys(&ports_net_ops);
}
