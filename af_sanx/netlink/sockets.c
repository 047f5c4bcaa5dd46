// SPDX-License-Identifier: GPL-2.0
/*
 * The dump of sockets: first those of AF_SANX, in the order of their list, then those that
 * became TCP, chain by chain.
 *
 * Both are read under spinlocks (sanx_socks_each(), sanx_fallen_each()); values that change
 * meanwhile are hints.  A socket that becomes TCP, or goes, while a dump runs may be shown
 * twice or not, and so may its neighbour.
 */
#include <linux/jiffies.h>
#include <net/inet_sock.h>
#include <net/netlink.h>
#include <net/tcp.h>

#include "config/config.h"
#include "conn/conn.h"
#include "netlink_priv.h"
#include "netlink_gen.h"
#include "socket/socket.h"

/**
 * struct sock_view - the values of a socket that a dump shows
 * @local: local address and port
 * @remote: remote address and port
 * @state: name of the state
 * @transport: name of the transport, or "-"
 * @fallback: why it became TCP, or NULL
 * @conn: its connection, or NULL; it stays while the sock does
 * @node: node id of the peer, or 0
 * @denied: a port rule denies it by now
 * @rx: bytes to read; for a listener, connections that wait for accept()
 * @tx: bytes that the peer has not read; for a listener, the backlog
 */
struct sock_view {
	struct sanx_endpoint	local;
	struct sanx_endpoint	remote;
	const char		*state;
	const char		*transport;
	const char		*fallback;
	struct sanx_conn	*conn;
	u32			node;
	bool			denied;
	u32			rx;
	u32			tx;
};

/* Name of a state of TCP, as ss(8) has it.  Return: a constant string. */
const char *sanx_nl_tcp_state(int state)
{
	static const char * const names[] = {
		[TCP_ESTABLISHED]	= "ESTAB",
		[TCP_SYN_SENT]		= "SYN-SENT",
		[TCP_SYN_RECV]		= "SYN-RECV",
		[TCP_FIN_WAIT1]		= "FIN-WAIT-1",
		[TCP_FIN_WAIT2]		= "FIN-WAIT-2",
		[TCP_TIME_WAIT]		= "TIME-WAIT",
		[TCP_CLOSE]		= "UNCONN",
		[TCP_CLOSE_WAIT]	= "CLOSE-WAIT",
		[TCP_LAST_ACK]		= "LAST-ACK",
		[TCP_LISTEN]		= "LISTEN",
		[TCP_CLOSING]		= "CLOSING",
	};

	return state < ARRAY_SIZE(names) && names[state] ? names[state] : "UNCONN";
}

static void view_conn(struct sock_view *v, struct sanx_conn *conn)
{
	struct sanx_via via;

	conn->ops->via(conn, &via);
	v->conn = conn;
	v->local = conn->local;
	v->remote = conn->remote;
	v->state = sanx_state_name(READ_ONCE(conn->state));
	v->transport = via.name;
	v->node = via.node;
	v->denied = sanx_denied(conn);
	v->rx = sanx_rxq_avail(&conn->rx);
	if (READ_ONCE(conn->tx.size))
		v->tx = sanx_conn_taken(conn);
}

/* An explicit datagram socket. */
static void view_dgram(struct sock_view *v, const struct sock *sk)
{
	v->state = sanx_nl_tcp_state(READ_ONCE(sk->sk_state));
	v->node = sanx_addr_node(&v->remote.addr);
	v->rx = atomic_read(&sk->sk_rmem_alloc);
	v->tx = sk_wmem_alloc_get(sk);
}

static void view_sock(struct sock_view *v, const struct sanx_sock *ss)
{
	struct sanx_conn *conn = sanx_sock_conn(ss);
	const struct sock *sk = ss->sk;

	memset(v, 0, sizeof(*v));
	if (conn) {
		view_conn(v, conn);
		return;
	}
	sanx_sock_ends(ss, &v->local, &v->remote);
	v->transport = "-";
	v->state = "UNCONN";
	if (sk->sk_type == SOCK_DGRAM)
		view_dgram(v, sk);
	if (READ_ONCE(sk->sk_state) != TCP_LISTEN)
		return;
	v->state = "LISTEN";
	v->rx = sanx_listener_waiting(&ss->lsk);
	v->tx = READ_ONCE(sk->sk_max_ack_backlog);
}

/* As tcp_diag_get_info(): what ss shows. */
static void view_fallen(struct sock_view *v, const struct sock *sk, enum sanx_fallback why)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	int state = inet_sk_state_load(sk);

	memset(v, 0, sizeof(*v));
	sanx_native_ends(sk, &v->local, &v->remote);
	v->transport = "tcp";
	v->fallback = sanx_fallback_name(why);
	v->state = sanx_nl_tcp_state(state);
	if (state == TCP_LISTEN) {
		v->rx = READ_ONCE(sk->sk_ack_backlog);
		v->tx = READ_ONCE(sk->sk_max_ack_backlog);
	}
	/* Of one without a connection TCP's counters mean nothing. */
	if (state == TCP_LISTEN || state == TCP_CLOSE)
		return;
	v->rx = max_t(int, READ_ONCE(tp->rcv_nxt) - READ_ONCE(tp->copied_seq), 0);
	v->tx = READ_ONCE(tp->write_seq) - READ_ONCE(tp->snd_una);
}

/* Return: false if there is no room. */
bool sanx_nl_put_ends(struct sk_buff *skb, const struct sanx_endpoint *local,
		      const struct sanx_endpoint *remote)
{
	return !nla_put_in6_addr(skb, SANX_A_SOCKET_LOCAL_ADDR, &local->addr) &&
	       !nla_put_u16(skb, SANX_A_SOCKET_LOCAL_PORT, ntohs(local->port)) &&
	       !nla_put_in6_addr(skb, SANX_A_SOCKET_REMOTE_ADDR, &remote->addr) &&
	       !nla_put_u16(skb, SANX_A_SOCKET_REMOTE_PORT, ntohs(remote->port));
}

/* Likewise. */
bool sanx_nl_put_bytes(struct sk_buff *skb, u64 sent, u64 came)
{
	return !nla_put_u64_64bit(skb, SANX_A_SOCKET_TX_BYTES, sent, SANX_A_SOCKET_PAD) &&
	       !nla_put_u64_64bit(skb, SANX_A_SOCKET_RX_BYTES, came, SANX_A_SOCKET_PAD);
}

static bool put_conn(struct sk_buff *skb, struct sanx_conn *conn)
{
	u64 sent, came;

	sanx_conn_bytes(conn, &sent, &came);
	return sanx_nl_put_bytes(skb, sent, came) &&
	       (!sent || !nla_put_u32(skb, SANX_A_SOCKET_TX_MS,
				      sanx_age_ms(READ_ONCE(conn->tx_time)))) &&
	       (!came || !nla_put_u32(skb, SANX_A_SOCKET_RX_MS,
				      sanx_age_ms(READ_ONCE(conn->rx_time)))) &&
	       !nla_put_u32(skb, SANX_A_SOCKET_TX_RING, READ_ONCE(conn->tx.size)) &&
	       !nla_put_u32(skb, SANX_A_SOCKET_RX_RING, READ_ONCE(conn->rx.size));
}

static bool put_view(struct sk_buff *skb, const struct sock_view *v)
{
	return sanx_nl_put_ends(skb, &v->local, &v->remote) &&
	       !nla_put_string(skb, SANX_A_SOCKET_STATE, v->state) &&
	       !nla_put_string(skb, SANX_A_SOCKET_TRANSPORT, v->transport) &&
	       !nla_put_u32(skb, SANX_A_SOCKET_RX_QUEUE, v->rx) &&
	       !nla_put_u32(skb, SANX_A_SOCKET_TX_QUEUE, v->tx) &&
	       !nla_put_u32(skb, SANX_A_SOCKET_DENIED, v->denied) &&
	       (!v->fallback ||
		!nla_put_string(skb, SANX_A_SOCKET_FALLBACK, v->fallback)) &&
	       (!v->node || !nla_put_u32(skb, SANX_A_SOCKET_NODE, v->node)) &&
	       (!v->conn || put_conn(skb, v->conn));
}

/* Whose it is.  @to: who asks */
static bool put_owner(struct sk_buff *skb, const struct sock *to, const struct sock *sk)
{
	/* These lock, and do not write to the sock. */
	struct sock *of = (struct sock *)sk;

	return !nla_put_u64_64bit(skb, SANX_A_SOCKET_INODE, sock_i_ino(of),
				  SANX_A_SOCKET_PAD) &&
	       !nla_put_u32(skb, SANX_A_SOCKET_UID,
			    from_kuid_munged(sk_user_ns(to), sock_i_uid(of)));
}

/**
 * struct sock_dump - state of a dump of sockets
 * @skb: the message buffer
 * @cb: the dump; cb->args[1] is 0 while it is at AF_SANX's list, then the number of the chain
 *	of those that became TCP, from 1; cb->args[0] counts the sockets added of that
 * @seen: sockets passed over or added of that in this call
 */
struct sock_dump {
	struct sk_buff		*skb;
	struct netlink_callback	*cb;
	long			seen;
};

/* Return: false if there is no room. */
static bool dump_view(struct sock_dump *d, const struct sock_view *v, const struct sock *sk)
{
	void *hdr = sanx_nl_dump_start(d->skb, d->cb, SANX_CMD_SOCKET_GET);

	if (!hdr)
		return false;
	if (!put_view(d->skb, v) || !put_owner(d->skb, NETLINK_CB(d->cb->skb).sk, sk)) {
		genlmsg_cancel(d->skb, hdr);
		return false;
	}
	genlmsg_end(d->skb, hdr);
	d->cb->args[0]++;
	return true;
}

static bool dump_sock(const struct sanx_sock *ss, void *arg)
{
	struct sock_dump *d = arg;
	struct sock_view v;

	if (d->seen++ < d->cb->args[0])
		return true;
	view_sock(&v, ss);
	return dump_view(d, &v, ss->sk);
}

static bool dump_fallen(const struct sock *sk, enum sanx_fallback why, void *arg)
{
	struct sock_dump *d = arg;
	struct sock_view v;

	if (d->seen++ < d->cb->args[0])
		return true;
	view_fallen(&v, sk, why);
	return dump_view(d, &v, sk);
}

/* Return: false if there was no room for all. */
static bool dump_part(const struct net *net, unsigned int part, struct sock_dump *d)
{
	d->seen = 0;
	return part ? sanx_fallen_each(net, part - 1, dump_fallen, d) :
		      sanx_socks_each(net, dump_sock, d);
}

int sanx_nl_socket_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct net *net = sock_net(skb->sk);
	struct sock_dump d = { skb, cb };

	while (cb->args[1] <= SANX_FALLEN_CHAINS && dump_part(net, cb->args[1], &d)) {
		cb->args[1]++;
		cb->args[0] = 0;
	}
	return skb->len;
}

int sanx_nl_socket_end_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *inode = info->attrs[SANX_A_SOCKET_INODE];
	int err;

	if (!inode)
		return sanx_nl_fail(info, "no inode", -EINVAL);
	err = sanx_explicit_abort(genl_info_net(info), nla_get_u64(inode));
	if (err == -ENOENT)
		return sanx_nl_fail(info, "no such socket is open", err);
	if (err == -EBUSY)
		return sanx_nl_fail(info, "its program keeps it locked", err);
	return err;
}
