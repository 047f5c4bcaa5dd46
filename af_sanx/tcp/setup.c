// SPDX-License-Identifier: GPL-2.0
/*
 * Set-up and end of links over TCP.
 *
 * The active end connects from a reserved port, so that the peer knows that the kernel
 * asks, or root, and sends its request.  The reply makes the link usable.
 */
#include <linux/in.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "tcp_priv.h"

static void tlink_setup_work(struct work_struct *work);

/**
 * tlink_addrs() - the ends of a TCP connection
 * @sk: its sock
 * @local: set to our address
 * @remote: set to the peer's
 *
 * Return: the peer's port.
 */
u16 tlink_addrs(const struct sock *sk, struct in6_addr *local,
		struct in6_addr *remote)
{
	const struct inet_sock *inet = inet_sk(sk);

#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		*local = sk->sk_v6_rcv_saddr;
		*remote = sk->sk_v6_daddr;
		return ntohs(inet->inet_dport);
	}
#endif
	ipv6_addr_set_v4mapped(inet->inet_saddr, local);
	ipv6_addr_set_v4mapped(inet->inet_daddr, remote);
	return ntohs(inet->inet_dport);
}

/* Allocate a link.  Return: the link, without a TCP connection, or NULL. */
struct tlink *tlink_alloc(bool active)
{
	struct tlink *tl = kvzalloc(sizeof(*tl), GFP_KERNEL);

	if (!tl)
		return NULL;
	tl->active = active;
	tl->state = active ? TLINK_CONNECTING : TLINK_OFFERED;
	INIT_WORK(&tl->setup, tlink_setup_work);
	INIT_WORK(&tl->tx, tlink_tx_work);
	init_completion(&tl->settled);
	INIT_LIST_HEAD(&tl->node);
	xa_init_flags(&tl->maps, XA_FLAGS_LOCK_BH);
	return tl;
}

/* TCP's callbacks; see struct tlink on which lock is held. */
static void tlink_data_ready(struct sock *sk)
{
	struct tlink *tl = sk->sk_user_data;

	if (!tl)
		return;
	if (tl->state == TLINK_UP)
		tlink_rx_run(tl);
	else if (tl->state < TLINK_OFFERED)
		queue_work(tlink_wq, &tl->setup);
}

static void tlink_write_space(struct sock *sk)
{
	struct tlink *tl = sk->sk_user_data;

	if (tl && tl->state == TLINK_UP)
		tlink_tx_space(tl);
}

static void tlink_state_change(struct sock *sk)
{
	struct tlink *tl = sk->sk_user_data;

	if (!tl)
		return;
	if (tl->state < TLINK_OFFERED)
		queue_work(tlink_wq, &tl->setup);
	else if (sk->sk_state != TCP_ESTABLISHED)
		sanx_wire_failed(tl->wl.link, SANX_WIRE_LOST);
}

/*
 * Let TCP use the memory reserves if memory reclaim waits for a link.  The lock of the sock
 * held.
 *
 * Without SOCK_MEMALLOC, the TCP connection would drop packets that came while there was
 * no memory but the reserves, and memory reclaim may wait for these very packets.
 */
void tlink_use_reserves(struct tlink *tl)
{
	struct sock *sk = tl->sock->sk;

	if (sock_flag(sk, SOCK_MEMALLOC) || !sanx_wire_reserves(tl->wl.link))
		return;
	pr_debug("link to node %u: for memory reclaim\n", sanx_wire_peer(tl->wl.link));
	sk_set_memalloc(sk);
}

/*
 * Let TCP call us about a link.  Takes the lock of the sock.
 *
 * SOCK_NOSPACE makes TCP call sk_write_space for each acknowledgment, and not only
 * when a sender waits.
 */
void tlink_watch(struct tlink *tl)
{
	struct sock *sk = tl->sock->sk;

	lock_sock(sk);
	tlink_use_reserves(tl);
	sk->sk_user_data = tl;
	sk->sk_data_ready = tlink_data_ready;
	sk->sk_write_space = tlink_write_space;
	sk->sk_state_change = tlink_state_change;
	set_bit(SOCK_NOSPACE, &tl->sock->flags);
	release_sock(sk);
}

static void tlink_no_call(struct sock *sk)
{
}

/* Let TCP not call us any more.  Takes the lock of the sock. */
void tlink_ignore(struct tlink *tl)
{
	struct sock *sk = tl->sock->sk;

	lock_sock(sk);
	tl->state = TLINK_STOPPED;
	sk->sk_user_data = NULL;
	sk->sk_data_ready = tlink_no_call;
	sk->sk_write_space = tlink_no_call;
	sk->sk_state_change = tlink_no_call;
	release_sock(sk);
}

/*
 * Set what links need of TCP.  Takes the lock of the sock.
 *
 * Frames are small and must not wait for one another.  Memory reclaim may wait for a
 * link; and a process that sends on it may be in reclaim in the middle of sending for
 * itself, so its page fragment is not ours.
 */
void tlink_tune(struct sock *sk)
{
	tcp_sock_set_nodelay(sk);
	sk->sk_allocation = GFP_NOIO;
	sanx_no_task_frag(sk);
}

static void tlink_name_device(struct tlink *tl)
{
	struct dst_entry *dst;

	strscpy(tl->devname, "tcp", sizeof(tl->devname));
	/* A device that goes leaves its routes at any time. */
	rcu_read_lock();
	dst = __sk_dst_get(tl->sock->sk);
	if (dst)
		strscpy(tl->devname, READ_ONCE(dst->dev)->name,
			sizeof(tl->devname));
	rcu_read_unlock();
}

/* Get the engine's part of a link.  Return: 0 or -ENOMEM. */
int tlink_prepare(struct tlink *tl)
{
	struct sanx_wire_caps caps = {
		.device		= tl->devname,
		.map_max	= BIT(30),
		.imm		= true,
	};

	tl->out = kvcalloc(SANX_WIRE_SLOTS, sizeof(*tl->out), GFP_KERNEL);
	if (!tl->out)
		return -ENOMEM;
	tlink_name_device(tl);
	tl->wl.qpn = get_random_u32() ?: 1;
	return sanx_wire_prepare(tl->wl.link, &caps, &tl->frames);
}

/**
 * tlink_send_setup() - send a message of the set-up
 * @sock: a TCP connection on which little was sent yet
 * @type: type of the message
 * @qpn: our number
 * @body: the body
 * @len: bytes of @body
 *
 * Context: process, may sleep; takes the lock of the sock.
 * Return: 0 or -errno.
 */
int tlink_send_setup(struct socket *sock, enum tlink_setup_type type, u32 qpn,
		     const void *body, u32 len)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct tlink_setup s = {
		.magic		= cpu_to_le32(TLINK_MAGIC),
		.version	= TLINK_VERSION,
		.type		= type,
		.len		= cpu_to_le16(len),
		.qpn		= cpu_to_le32(qpn),
	};
	struct kvec vec = { &s, sizeof(s) };
	int n;

	memcpy(s.body, body, len);
	n = kernel_sendmsg(sock, &msg, &vec, 1, sizeof(s));
	if (n == sizeof(s))
		return 0;
	return n < 0 ? n : -EPIPE;
}

/* Is a message of the set-up well-formed? */
bool tlink_setup_ok(const struct tlink_setup *s)
{
	return le32_to_cpu(s->magic) == TLINK_MAGIC &&
	       s->version == TLINK_VERSION &&
	       le16_to_cpu(s->len) <= sizeof(s->body);
}

/*
 * Read what has arrived of a message of the set-up.  Takes the lock of the sock.
 * Return: 1 if the message is there, and well-formed; 0 if more has to come; or -errno.
 */
int tlink_read_setup(struct tlink *tl)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct tlink_setup *s = &tl->hello;
	struct kvec vec = {
		(u8 *)s + tl->hello_len,
		sizeof(*s) - tl->hello_len,
	};
	int n;

	n = kernel_recvmsg(tl->sock, &msg, &vec, 1, vec.iov_len, MSG_DONTWAIT);
	if (n <= 0)
		return n == -EAGAIN ? 0 : n ?: -ECONNRESET;
	tl->hello_len += n;
	if (tl->hello_len < sizeof(*s))
		return 0;
	return tlink_setup_ok(s) ? 1 : -EPROTO;
}

/* The TCP connection is established: sends the request. */
static int setup_ask(struct tlink *tl)
{
	struct in6_addr local, remote;
	u8 hello[SANX_WIRE_HELLO];
	int err;

	tlink_addrs(tl->sock->sk, &local, &remote);
	sanx_wire_set_addrs(tl->wl.link, &local, &remote);
	err = tlink_prepare(tl) ?: sanx_wire_hello(tl->wl.link, hello);
	if (err)
		return err;
	lock_sock(tl->sock->sk);
	tl->state = TLINK_ASKED;
	release_sock(tl->sock->sk);
	return tlink_send_setup(tl->sock, TLINK_ASK, tl->wl.qpn, hello,
				sizeof(hello));
}

/* Processes the reply, if it is there. */
static int setup_answered(struct tlink *tl)
{
	const struct tlink_setup *s = &tl->hello;
	struct sanx_link *link = tl->wl.link;
	int rc;

	rc = tlink_read_setup(tl);
	if (rc <= 0)
		return rc;
	if (s->type == TLINK_REFUSE) {
		sanx_wire_refused(link, s->body, le16_to_cpu(s->len));
		return 0;
	}
	if (s->type != TLINK_ACCEPT)
		return -EPROTO;
	tl->wl.peer_qpn = le32_to_cpu(s->qpn);
	lock_sock(tl->sock->sk);
	tl->state = TLINK_UP;
	release_sock(tl->sock->sk);
	sanx_wire_connected(link, s->body, le16_to_cpu(s->len));
	/* The peer sends nothing before our first frame has arrived. */
	return 0;
}

/* Why is there no TCP connection, or not any more? */
static int setup_sock_error(struct tlink *tl)
{
	struct sock *sk = tl->sock->sk;
	int err;

	if (sk->sk_state == TCP_ESTABLISHED || sk->sk_state == TCP_SYN_SENT)
		return 0;
	err = -sock_error(sk);
	return err ? -err : -ECONNRESET;
}

static void setup_lost(struct sanx_link *link, int err)
{
	if (err == -ECONNRESET || err == -EPIPE)
		sanx_wire_cause(link, SANX_CAUSE_CLOSED);
	else if (err == -ENOMEM || err == -ENOBUFS || err == -EDQUOT)
		sanx_wire_cause(link, SANX_CAUSE_NO_WAY);
	sanx_wire_failed(link, SANX_WIRE_LOST);
}

static void setup_step(struct tlink *tl)
{
	struct sanx_link *link = tl->wl.link;
	int err = 0;

	if (tl->state == TLINK_CONNECTING &&
	    READ_ONCE(tl->sock->sk->sk_state) == TCP_ESTABLISHED)
		err = setup_ask(tl);
	if (!err && tl->state == TLINK_ASKED)
		err = setup_answered(tl);
	if (!err && tl->state < TLINK_OFFERED)
		err = setup_sock_error(tl);
	/* Nobody listens there: no AF_SANX, or no such rail in its map. */
	if (err == -ECONNREFUSED && tl->state == TLINK_CONNECTING)
		sanx_wire_refused(link, NULL, 0);
	else if (err == -EPROTO)
		sanx_wire_failed(link, SANX_WIRE_FAULT);
	else if (err)
		setup_lost(link, err);
}

/* The next step of the set-up of an active link, one at a time. */
static void tlink_setup_work(struct work_struct *work)
{
	struct tlink *tl = container_of(work, struct tlink, setup);
	unsigned int noio = memalloc_noio_save();

	if (tl->active && !sanx_wire_ending(tl->wl.link))
		setup_step(tl);
	memalloc_noio_restore(noio);
}

/* sanx_wire_ops.create. */
struct sanx_wire_link *tlink_create(struct sanx_link *link, struct net *net)
{
	struct tlink *tl = tlink_alloc(true);

	if (!tl)
		return ERR_PTR(-ENOMEM);
	tl->wl.link = link;
	tl->net = net;
	return &tl->wl;
}

/* Return: 0; -EADDRINUSE if another socket keeps the port for itself; or -errno. */
static int dial_bind(struct socket *sock, const struct in6_addr *src, u16 port)
{
	struct sockaddr_storage ss;
	int len = sanx_wire_sockaddr(&ss, src, port);

	/* Links to other peers may have the same port. */
	sock->sk->sk_reuse = SK_CAN_REUSE;
	return kernel_bind(sock, (struct sockaddr *)&ss, len);
}

/*
 * Return: 0; -EINPROGRESS; -EADDRINUSE if there is such a connection already, or was, until
 * its TIME-WAIT is over; or -errno.
 */
static int dial_connect(struct socket *sock, const struct in6_addr *dst,
			long timeo)
{
	struct sockaddr_storage ss;
	int len = sanx_wire_sockaddr(&ss, dst, tcp_rail_port);
	int err;

	tlink_tune(sock->sk);
	if (timeo) {
		sock->sk->sk_sndtimeo = timeo;
		sock->sk->sk_rcvtimeo = timeo;
	}
	err = kernel_connect(sock, (struct sockaddr *)&ss, len,
			     timeo ? 0 : O_NONBLOCK);
	if (err == -EADDRNOTAVAIL)
		return -EADDRINUSE;
	return timeo && err == -EINPROGRESS ? -ETIMEDOUT : err;
}

/*
 * Connect from a reserved port.
 *
 * Each time the next port, and one that is taken is passed over.
 *
 * Return: 0; -EINPROGRESS, for a @timeo of 0; or -errno.
 */
int tlink_dial(struct net *net, const struct in6_addr *src,
	       const struct in6_addr *dst, long timeo, struct socket **res)
{
	static atomic_t next;
	struct socket *sock;
	int i, err = -EADDRINUSE;

	*res = NULL;
	for (i = 0; i < SANX_WIRE_PORTS && err == -EADDRINUSE; i++) {
		err = sock_create_kern(net, ipv6_addr_v4mapped(dst) ?
				       AF_INET : AF_INET6, SOCK_STREAM,
				       IPPROTO_TCP, &sock);
		if (err)
			return err;
		err = dial_bind(sock, src, sanx_wire_next_port(&next)) ?:
		      dial_connect(sock, dst, timeo);
		if (err && err != -EINPROGRESS)
			sock_release(sock);
		else
			*res = sock;
	}
	return err;
}

/* sanx_wire_ops.connect. */
int tlink_connect(struct sanx_wire_link *wl, const struct sanx_wire_path *path)
{
	struct tlink *tl = tlink_of(wl);
	int err = tlink_dial(tl->net, &path->src, &path->dst, 0, &tl->sock);

	if (err && err != -EINPROGRESS)
		return err;
	tlink_watch(tl);
	/* TCP may have had something to tell before. */
	queue_work(tlink_wq, &tl->setup);
	return 0;
}

/* sanx_wire_ops.quiesce. */
void tlink_quiesce(struct sanx_wire_link *wl)
{
	struct tlink *tl = tlink_of(wl);

	if (tl->active)
		cancel_work_sync(&tl->setup);
	else
		wait_for_completion(&tl->settled);
}

/*
 * sanx_wire_ops.stop.
 *
 * Disconnecting purges TCP's queues.  What network devices still have is of send
 * buffers, whose bytes do not change: see tx.c.
 */
void tlink_stop(struct sanx_wire_link *wl)
{
	struct tlink *tl = tlink_of(wl);
	struct sock *sk;

	if (!tl->sock)
		return;
	sk = tl->sock->sk;
	tlink_ignore(tl);
	cancel_work_sync(&tl->setup);
	cancel_work_sync(&tl->tx);
	lock_sock(sk);
	sk->sk_prot->disconnect(sk, 0);
	release_sock(sk);
}

/*
 * Undoes sk_set_memalloc().  A packet from the reserves that waits for the lock of a sock
 * without SOCK_MEMALLOC is a BUG (__sk_backlog_rcv()), so first it has to be certain that
 * none does.
 */
static void tlink_leave_reserves(struct sock *sk)
{
	if (!sock_flag(sk, SOCK_MEMALLOC))
		return;
	/* tlink_stop() has made the sock unreachable; who has found it before ends here. */
	synchronize_net();
	lock_sock(sk);
	sk_clear_memalloc(sk);
	release_sock(sk);
}

/**
 * tlink_free() - sanx_wire_ops.free
 * @wl: as there
 *
 * Context: process, may sleep.
 */
void tlink_free(struct sanx_wire_link *wl)
{
	struct tlink *tl = tlink_of(wl);
	unsigned long key = 0;

	if (tl->sock) {
		tlink_leave_reserves(tl->sock->sk);
		sock_release(tl->sock);
	}
	/* An insertion that had no memory may have left nodes without an entry. */
	WARN_ON_ONCE(xa_find(&tl->maps, &key, ULONG_MAX, XA_PRESENT));
	xa_destroy(&tl->maps);
	kvfree(tl->out);
	kvfree(tl);
}
