// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets: the calls of af_sanx/socket/ as far as they concern a connection,
 * with the same order of loads, locks and wake-ups.  sock.follows has the functions there
 * that these follow; a gate fails when one of them has changed.
 */
#include <stdlib.h>

#include "config/config.h"
#include "conn/conn_priv.h"
#include "link/peer/engine.h"
#include "loop/loop.h"
#include "program.h"
#include "socket/socket.h"

/**
 * struct sim_sock - a socket
 * @tp: the sock, first
 * @sock: the socket
 * @node: its node
 * @net: the namespace of the node when it was made
 * @ss: AF_SANX's part, as far as it is used here
 * @fell_back: it would be TCP now
 * @killed: its program was killed
 * @next_hashed: in hashed
 */
struct sim_sock {
	struct tcp_sock		tp;
	struct socket		sock;
	int			node;
	struct net		*net;
	struct sanx_sock	ss;
	struct sanx_endpoint	at;
	bool			fell_back;
	bool			killed;
	struct sim_sock		*next_hashed;
	struct rcu_head		rcu;
};

static struct sock *sk_of(struct sim_sock *s)
{
	return (struct sock *)&s->tp;
}

static void wake(struct sock *sk)
{
	if (skwq_has_sleeper(sk->sk_wq))
		wake_up(&sk->sk_wq->wait);
}

/* No kernel consumer has a sock here. */
bool sanx_feed_arrived(struct sanx_conn *conn, const struct sock *sk)
{
	return false;
}

bool sanx_feed_changed(struct sanx_conn *conn)
{
	return false;
}

struct tcp_sock *sim_sock_tp(struct sim_sock *s)
{
	return &s->tp;
}

struct sanx_conn *sim_sock_conn(struct sim_sock *s)
{
	return s->ss.conn;
}

void sock_put(struct sock *sk)
{
	if (refcount_dec_and_test(&sk->sk_refcnt))
		free(container_of(sk, struct sim_sock, tp.inet_conn.icsk_inet.sk));
}

static void sock_fill(struct sim_sock *s)
{
	struct sock *sk = sk_of(s);

	init_waitqueue_head(&s->sock.wq.wait);
	s->sock.sk = sk;
	refcount_set(&sk->sk_refcnt, 1);
	sk->sk_socket = &s->sock;
	sk->sk_wq = &s->sock.wq;
	sk->sim_net = s->net;
	sk->sk_family = AF_INET;
	sk->sk_state = TCP_CLOSE;
	sk->sk_allocation = GFP_KERNEL;
	sk->sk_sndbuf = s->net->ipv4.sysctl_tcp_wmem[1];
	sk->sk_rcvbuf = s->net->ipv4.sysctl_tcp_rmem[1];
	sk->sk_data_ready = wake;
	sk->sk_state_change = wake;
	(sk->sk_error_report) = wake;
	sk->sk_write_space = sim_native_write_space;
	/* Urgent bytes stay in the stream, so that it is simply compared. */
	sk->sk_flags = BIT(SOCK_URGINLINE);
	s->tp.notsent_lowat = U32_MAX;
}

static struct sim_sock *sock_new(int node)
{
	struct sim_sock *s = calloc(1, sizeof(*s));

	s->node = node;
	s->net = sim_nodes[node].net;
	sock_fill(s);
	s->ss.sk = sk_of(s);
	sanx_listener_init(&s->ss.lsk, s->net);
	return s;
}

/**
 * sim_socket() - socket()
 * @node: where
 */
struct sim_sock *sim_socket(int node)
{
	struct sim_sock *s = sock_new(node);

	sim_socks_add(&s->ss);
	sanx_netuse_get(s->net);
	return s;
}

/**
 * sim_sock_kill() - end the calls of a socket, as a signal does
 * @s: the socket
 */
void sim_sock_kill(struct sim_sock *s)
{
	struct sock *sk = sk_of(s);

	s->killed = true;
	/* Its program may close it meanwhile. */
	sk->sk_refcnt.v++;
	wake(sk);
	sock_put(sk);
}

bool sim_sock_killed(const struct sim_sock *s)
{
	return s->killed;
}

/* What the IP stacks of all nodes look up: listening sockets. */
static struct sim_sock *hashed;

static void hash(struct sim_sock *s)
{
	s->next_hashed = hashed;
	hashed = s;
}

static void unhash(struct sim_sock *s)
{
	struct sim_sock **at;

	for (at = &hashed; *at; at = &(*at)->next_hashed)
		if (*at == s) {
			*at = s->next_hashed;
			return;
		}
}

struct sock *sanx_native_listener(struct net *net, const struct sanx_endpoint *local,
				  const struct sanx_endpoint *remote,
				  const struct sanx_arrival *by)
{
	struct sim_sock *s;

	for (s = hashed; s; s = s->next_hashed)
		if (s->net == net && inet_sk(sk_of(s))->inet_sport == local->port)
			return sk_of(s);
	return NULL;
}

/* No other sock of a node takes its numbers. */
void sanx_native_done(struct sock *sk)
{
}

void sanx_native_unhash(struct sock *sk)
{
}

#define BEYOND	0x10000U

/* In some worlds all sockets are explicit, with ports beyond TCP's. */
static void endpoint(struct sanx_endpoint *ep, int node, u16 port)
{
	if (sim_plan.explicit) {
		sanx_endpoint_explicit(ep, SOCK_STREAM, node, BEYOND + port);
		return;
	}
	sim_addr(&ep->addr, node);
	ep->port = htons(port);
}

/* sim_port() - the port that sim_listen() or sim_connect() was given */
u16 sim_port(const struct sanx_endpoint *ep)
{
	return sim_plan.explicit ? sanx_addr_port(&ep->addr) - BEYOND : ntohs(ep->port);
}

/**
 * sim_listen() - bind() and listen()
 */
int sim_listen(struct sim_sock *s, u16 port, unsigned int backlog)
{
	const struct sanx_endpoint *at = sim_plan.explicit ? &s->at : NULL;
	struct sock *sk = sk_of(s);

	endpoint(&s->at, s->node % 2 ? s->node : 0, port);
	lock_sock(sk);
	inet_sk(sk)->inet_num = port;
	inet_sk(sk)->inet_sport = htons(port);
	sk->sk_max_ack_backlog = backlog;
	sanx_listener_add(&s->ss.lsk, sk, at, true);
	WRITE_ONCE(sk->sk_state, TCP_LISTEN);
	hash(s);
	sanx_listener_add(&s->ss.lsk, sk, at, false);
	sanx_listener_watch(&s->ss.lsk);
	release_sock(sk);
	return 0;
}

static struct sim_sock *accepted(struct sim_sock *l, struct sanx_conn *conn)
{
	struct sim_sock *s = sock_new(l->node);

	sim_rule_soon(l->node);
	sanx_conn_attach(conn, sk_of(s));
	/* As in accept_conn() and start(). */
	smp_store_release(&s->ss.conn, conn);
	sim_socks_add(&s->ss);
	sanx_netuse_get(s->net);
	/* As in accept_conn(). */
	sanx_listener_taken(&l->ss.lsk, conn);
	return s;
}

/**
 * sim_accept() - accept()
 * @l: a listener
 * @timeo: in jiffies
 * Return: the socket, or NULL after @timeo.
 */
struct sim_sock *sim_accept(struct sim_sock *l, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sanx_conn *conn;

	add_wait_queue(sk_sleep(sk_of(l)), &wait);
	for (;;) {
		conn = sanx_listener_take(&l->ss.lsk);
		if (conn || !timeo)
			break;
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
	}
	remove_wait_queue(sk_sleep(sk_of(l)), &wait);
	return conn ? accepted(l, conn) : NULL;
}

static bool connecting(const struct sim_sock *s)
{
	return !READ_ONCE(s->fell_back) &&
	       READ_ONCE(s->ss.conn->state) == SANX_CONN_CONNECTING;
}

/* In the connect thread: the socket becomes TCP. */
static void refused(struct kthread_work *work)
{
	struct sanx_conn *conn = container_of(work, struct sanx_conn, work.work);
	struct sock *sk = sanx_conn_sk_get(conn);
	struct sim_sock *s;

	if (sk && !sanx_lock_sock_soon(sk)) {
		sock_put(sk);
		sanx_conn_refused_later(conn);
		return;
	}
	if (sk) {
		s = container_of(sk, struct sim_sock,
				 tp.inet_conn.icsk_inet.sk);
		s->fell_back = true;
		wake(sk);
		release_sock(sk);
		sock_put(sk);
	}
	sanx_conn_put(conn);
}

/**
 * sim_question() - ask whether a node would admit a connection
 * @s: a socket of who asks
 * @to: the other node
 * @port: the port
 *
 * Return: the answer.
 */
enum sanx_fallback sim_question(struct sim_sock *s, int to, u16 port)
{
	struct sanx_endpoint local, remote;
	enum sanx_fallback answer = SANX_FALLBACK_LINK;
	struct sanx_via via;

	endpoint(&local, s->node, 0);
	local.port = 0;
	endpoint(&remote, to, port);
	if (!port)
		remote.port = 0;
	sanx_conn_question(&sanx_link_ops, sk_of(s), &local, &remote, &via, &answer);
	return answer;
}

static struct sanx_conn *conn_new(struct sim_sock *s, int to, u16 port,
				  u16 from)
{
	/* A link of a node to itself is for addresses that loop does not take. */
	bool loop = to == s->node && sim_chance(2);
	const struct sanx_transport_ops *ops = loop ? &sanx_loop_ops : &sanx_link_ops;
	struct sanx_endpoint local, remote;
	struct sanx_conn *conn;

	endpoint(&local, s->node, from);
	endpoint(&remote, to, port);
	conn = sanx_conn_alloc(ops, s->net, &local, &remote, NULL);
	sim_rule_soon(s->node);
	return conn;
}

static int start(struct sim_sock *s, struct sanx_conn *conn)
{
	struct sock *sk = sk_of(s);
	int err;

	conn->rx_max = sanx_ring_size(READ_ONCE(sk->sk_rcvbuf));
	sanx_rxq_init(&conn->rx, NULL, conn->rx_max);
	sanx_conn_attach(conn, sk);
	/* As in accept_conn() and start(). */
	smp_store_release(&s->ss.conn, conn);
	err = sanx_conn_connect(conn, refused);
	if (!err && READ_ONCE(conn->state) != SANX_CONN_REFUSED)
		return 0;
	sanx_conn_give_up(conn);
	s->fell_back = true;
	return 1;
}

static long wait_answer(struct sim_sock *s, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = sk_of(s);

	add_wait_queue(sk_sleep(sk), &wait);
	/* As in af_sanx/socket/. */
	smp_mb();
	while (timeo && !s->killed && connecting(s)) {
		release_sock(sk);
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
		lock_sock(sk);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return timeo;
}

/**
 * sim_connect() - connect()
 * @s: a new socket
 * @to: node
 * @port: of the listener
 * @from: our port
 * @timeo: in jiffies
 * Return: 0; 1 if the socket would be TCP now; or -errno.
 */
int sim_connect(struct sim_sock *s, int to, u16 port, u16 from, long timeo)
{
	struct sanx_conn *conn = conn_new(s, to, port, from);
	int err;

	if (!conn)
		return -ENOMEM;
	lock_sock(sk_of(s));
	err = start(s, conn);
	if (!err)
		timeo = wait_answer(s, timeo);
	if (err || s->fell_back || READ_ONCE(conn->state) == SANX_CONN_REFUSED)
		err = 1;
	else if (!sanx_conn_open(conn))
		err = timeo ? sock_error(sk_of(s)) ?: -ECONNABORTED : -EINPROGRESS;
	release_sock(sk_of(s));
	return err;
}

static void want_room(struct sock *sk)
{
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	/* As in sanx_want_room(). */
	smp_mb__after_atomic();
}

static bool send_ready(struct sanx_conn *conn, enum sanx_room which)
{
	return !sanx_conn_open(conn) ||
	       READ_ONCE(conn->shutdown) & SEND_SHUTDOWN ||
	       READ_ONCE(conn->peer_gone) || sanx_hold_room(conn, which);
}

static long send_sleep(wait_queue_entry_t *wait, enum sanx_room which,
		       long *window_wait, long timeo)
{
	long left;

	if (which == SANX_ROOM_SPARE)
		return wait_woken(wait, TASK_INTERRUPTIBLE, timeo);
	left = wait_woken(wait, TASK_INTERRUPTIBLE, min(*window_wait, timeo));
	left = *window_wait - min(*window_wait, timeo) + left;
	if (timeo != MAX_SCHEDULE_TIMEOUT)
		timeo = max(timeo - (*window_wait - left), 0L);
	*window_wait = left;
	return timeo;
}

static int send_wait(struct sim_sock *s, struct sanx_conn *conn, long *timeo,
		     enum sanx_room *which)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	enum sanx_room first = SANX_ROOM_WINDOW;
	struct sock *sk = sk_of(s);
	long window_wait = SANX_WINDOW_WAIT;
	int err = 0;

	if (!*timeo) {
		want_room(sk);
		return send_ready(conn, *which) ? 0 : -EAGAIN;
	}
	add_wait_queue(sk_sleep(sk), &wait);
	for (;;) {
		want_room(sk);
		if (send_ready(conn, *which))
			break;
		if (!window_wait) {
			*which = SANX_ROOM_SPARE;
			first = SANX_ROOM_SPARE;
			break;
		}
		if (!*timeo) {
			err = -EAGAIN;
			break;
		}
		if (s->killed) {
			err = -EINTR;
			break;
		}
		*timeo = send_sleep(&wait, *which, &window_wait, *timeo);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	WRITE_ONCE(conn->room_first, first);
	return err;
}

static int send_may(struct sim_sock *s, struct sanx_conn *conn)
{
	if (READ_ONCE(sk_of(s)->sk_err))
		return -EPIPE;
	if (!sanx_conn_open(conn) ||
	    (READ_ONCE(conn->shutdown) & SEND_SHUTDOWN)) {
		/* As in sanx_send_may() of af_sanx/socket/. */
		smp_rmb();
		return -EPIPE;
	}
	return 0;
}

static ssize_t send_some(struct sim_sock *s, struct sanx_conn *conn,
			 struct msghdr *msg, int flags)
{
	size_t len = msg_data_left(msg);
	int err = send_may(s, conn);

	if (err || !len)
		return err;
	if (READ_ONCE(conn->peer_gone)) {
		iov_iter_advance(&msg->msg_iter, len);
		sanx_conn_reset(conn, ECONNRESET);
		return len;
	}
	if (unlikely(READ_ONCE(conn->liveness.watch)))
		sanx_liveness_send(conn, sk_of(s));
	return sanx_hold_send(conn, msg, len, flags);
}

static int send_flags(struct sim_sock *s, struct sanx_conn *conn, int flags,
		      long timeo, enum sanx_room which)
{
	flags &= MSG_OOB | MSG_MORE;
	if (which == SANX_ROOM_SPARE)
		flags |= SANX_MSG_SPARE;
	if (timeo != MAX_SCHEDULE_TIMEOUT)
		flags |= MSG_DONTWAIT;
	if (READ_ONCE(conn->hold.cork))
		flags |= MSG_MORE;
	if (!(s->tp.nonagle & TCP_NAGLE_OFF))
		flags |= MSG_BATCH;
	return flags;
}

static ssize_t send_all(struct sim_sock *s, struct sanx_conn *conn,
			struct msghdr *msg, int flags, long *timeo,
			u64 *lent)
{
	enum sanx_room which = *timeo ? READ_ONCE(conn->room_first) :
					SANX_ROOM_SPARE;
	size_t sent = 0;
	u64 before;
	ssize_t n;

	for (;;) {
		mutex_lock(&conn->tx_mutex);
		before = conn->lent;
		n = send_some(s, conn, msg,
			      send_flags(s, conn, flags, *timeo, which));
		if (conn->lent != before)
			*lent = conn->lent;
		mutex_unlock(&conn->tx_mutex);
		if (n >= 0) {
			sent += n;
			if (!msg_data_left(msg))
				return sent;
			cond_resched();
			continue;
		}
		if (n == -EAGAIN)
			n = send_wait(s, conn, timeo, &which);
		if (n)
			return sent ?: n;
	}
}

static int put_wait(struct sim_sock *s, struct sanx_conn *conn, int *flags,
		    unsigned long paced)
{
	enum sanx_room which = SANX_ROOM_WINDOW;
	long timeo = SANX_WINDOW_WAIT;

	if (*flags & SANX_MSG_WHOLE) {
		sim_sleep(NSEC_PER_SEC / 10, "memory for a record");
		return s->killed ? -EINTR : 0;
	}
	if (*flags & SANX_MSG_SPARE || time_after(jiffies, paced) ||
	    send_wait(s, conn, &timeo, &which) || which == SANX_ROOM_SPARE)
		*flags |= SANX_MSG_SPARE | SANX_MSG_WHOLE;
	return 0;
}

static int put_all(struct sim_sock *s, struct sanx_conn *conn, struct msghdr *m, int flags)
{
	unsigned long paced = jiffies + HZ / 20;
	ssize_t n;
	int err;

	while (msg_data_left(m)) {
		err = send_may(s, conn);
		if (!err && READ_ONCE(conn->peer_gone))
			err = -EPIPE;
		if (err)
			return err;
		n = sanx_hold_send(conn, m, msg_data_left(m), flags);
		if (n == -EAGAIN)
			n = put_wait(s, conn, &flags, paced);
		if (n < 0)
			return n;
		cond_resched();
	}
	return 0;
}

/* Bytes of the header of a record. */
#define HEADER	8U

/* A first piece, as the header is, and then the others. */
static ssize_t record_try(struct sim_sock *s, struct sanx_conn *conn, struct msghdr *msg,
			  int flags, long timeo, enum sanx_room which)
{
	size_t len = msg_data_left(msg);
	int err = send_may(s, conn);
	ssize_t n;
	u32 room;

	if (err || !len)
		return err;
	if (READ_ONCE(conn->peer_gone))
		return send_some(s, conn, msg, flags);
	if (unlikely(READ_ONCE(conn->liveness.watch)))
		sanx_liveness_send(conn, sk_of(s));
	room = sanx_hold_room(conn, which);
	if (!room || (!timeo && room < len && !sanx_conn_affords(conn)))
		return -EAGAIN;
	flags = send_flags(s, conn, flags, timeo, which);
	if (len <= HEADER)
		n = sanx_hold_send(conn, msg, len, flags);
	else
		n = conn->ops->send(conn, msg, HEADER, flags & ~MSG_MORE,
				    len < 32768 ? SANX_HELD_CORKED : SANX_HELD_NONE);
	if (n < 0)
		return n;
	err = put_all(s, conn, msg, flags);
	if (err)
		sanx_conn_abort(conn, err == -EPIPE ? ECONNRESET : ECONNABORTED);
	return err ?: len;
}

static ssize_t send_record(struct sim_sock *s, struct sanx_conn *conn, struct msghdr *msg,
			   int flags, long *timeo, u64 *lent)
{
	enum sanx_room which = *timeo ? READ_ONCE(conn->room_first) : SANX_ROOM_SPARE;
	u64 before;
	ssize_t n;

	for (;;) {
		mutex_lock(&conn->tx_mutex);
		before = conn->lent;
		n = record_try(s, conn, msg, flags, *timeo, which);
		if (conn->lent != before)
			*lent = conn->lent;
		mutex_unlock(&conn->tx_mutex);
		if (n != -EAGAIN)
			return n;
		n = send_wait(s, conn, timeo, &which);
		if (n)
			return n;
	}
}

/**
 * sim_send() - send()
 * @s: a connected socket
 * @msg: what to send, and who is told when it is its own again, or NULL
 * @flags: MSG_*
 * @timeo: in jiffies
 * Return: bytes, or -errno.
 */
ssize_t sim_send(struct sim_sock *s, struct msghdr *msg, int flags,
		 long timeo)
{
	struct sanx_conn *conn = s->ss.conn;
	u64 lent = 0;
	ssize_t n;

	/* Records have no urgent bytes. */
	if (sim_plan.records && !(flags & MSG_OOB))
		n = send_record(s, conn, msg, flags, &timeo, &lent);
	else
		n = send_all(s, conn, msg, flags, &timeo, &lent);
	if (lent && !msg->msg_ubuf && !(msg->msg_flags & MSG_SPLICE_PAGES))
		conn->ops->wait_pages(conn, lent);
	if (n > 0)
		WRITE_ONCE(conn->tx_time, jiffies);
	if (n == -EPIPE)
		n = sock_error(sk_of(s)) ?: -EPIPE;
	return n;
}

static bool recv_ready(struct sim_sock *s, struct sanx_conn *conn)
{
	return sanx_rxq_avail(&conn->rx) ||
	       READ_ONCE(conn->shutdown) & RCV_SHUTDOWN ||
	       READ_ONCE(sk_of(s)->sk_err) || !sanx_conn_open(conn);
}

static int recv_wait(struct sim_sock *s, struct sanx_conn *conn, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = sk_of(s);
	int err = 0;

	sanx_hold_answer(conn);
	if (!*timeo)
		return -EAGAIN;
	sanx_liveness_wait(conn, sk);
	add_wait_queue(sk_sleep(sk), &wait);
	/* As in af_sanx/socket/. */
	smp_mb();
	while (!recv_ready(s, conn)) {
		if (!*timeo) {
			err = -EAGAIN;
			break;
		}
		if (s->killed) {
			err = -EINTR;
			break;
		}
		*timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, *timeo);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return err;
}

/* Return: 1 to wait, 2 to read again; 0 or -errno at the end. */
static int recv_end(struct sim_sock *s, struct sanx_conn *conn)
{
	bool fin = READ_ONCE(conn->shutdown) & RCV_SHUTDOWN;
	bool dead = !sanx_conn_open(conn);
	bool failed;

	/* As in sanx_recv_end() of af_sanx/socket/. */
	smp_rmb();
	failed = READ_ONCE(sk_of(s)->sk_err);
	if (!fin && !dead && !failed)
		return 1;
	/* Likewise. */
	smp_rmb();
	if (sanx_rxq_avail(&conn->rx))
		return 2;
	if (sanx_conn_fin_rcvd(conn))
		return 0;
	if (failed)
		return sock_error(sk_of(s));
	return fin ? 0 : -ENOTCONN;
}

static ssize_t recv_some(struct sim_sock *s, struct sanx_conn *conn,
			 struct iov_iter *to)
{
	bool hole;
	u64 pos, end;
	u32 n;

	pos = conn->rx.head;
	end = pos + sanx_rxq_avail(&conn->rx);
	n = sanx_urg_run(conn, sk_of(s), pos, end - pos, &hole);
	/* Only a peer that lies makes one: urgent bytes are inline. */
	sim_assert(!hole || sim_plan.hostile);
	n = hole ? 1 : min_t(u64, n, iov_iter_count(to));
	if (!n)
		return 0;
	if (!hole)
		n = sanx_rxq_read(&conn->rx, 0, to, n);
	if (!n)
		return -EFAULT;
	sanx_conn_pass(conn, n);
	return n;
}

/**
 * sim_recv() - recv()
 * @s: a connected socket
 * @to: takes the bytes
 * @flags: not used
 * @timeo: in jiffies
 * Return: bytes, 0 at the end of the stream, or -errno.
 */
ssize_t sim_recv(struct sim_sock *s, struct iov_iter *to, int flags,
		 long timeo)
{
	struct sanx_conn *conn = s->ss.conn;
	ssize_t n;
	int err;

	for (;;) {
		mutex_lock(&conn->rx_mutex);
		n = recv_some(s, conn, to);
		mutex_unlock(&conn->rx_mutex);
		if (n)
			return n;
		err = recv_end(s, conn);
		if (err == 2)
			continue;
		if (err <= 0)
			return err;
		err = recv_wait(s, conn, &timeo);
		if (err)
			return err;
	}
}

/**
 * sim_shutdown() - shutdown()
 * @how: RCV_SHUTDOWN, SEND_SHUTDOWN or both
 */
int sim_shutdown(struct sim_sock *s, int how)
{
	int err;

	lock_sock(sk_of(s));
	err = sanx_conn_shutdown(s->ss.conn, how);
	release_sock(sk_of(s));
	return err;
}

/**
 * sim_cork() - set or clear TCP_CORK
 */
void sim_cork(struct sim_sock *s, bool on)
{
	if (on)
		s->tp.nonagle |= TCP_NAGLE_CORK;
	else
		s->tp.nonagle &= ~TCP_NAGLE_CORK;
	WRITE_ONCE(s->ss.conn->hold.cork, on);
	if (!on)
		sanx_hold_pull(s->ss.conn);
}

static void sock_put_rcu(struct rcu_head *rcu)
{
	sock_put(sk_of(container_of(rcu, struct sim_sock, rcu)));
}

/**
 * sim_close() - close()
 * @s: the socket; gone afterwards
 * @abort: as with SO_LINGER and a time of 0
 */
void sim_close(struct sim_sock *s, bool abort)
{
	struct sock *sk = sk_of(s);
	struct sanx_conn *conn;

	lock_sock(sk);
	sanx_listener_pause(&s->ss.lsk);
	conn = s->ss.conn;
	if (conn)
		sanx_conn_detach(conn);
	release_sock(sk);
	if (conn)
		sanx_conn_close(conn, abort);
	sim_socks_del(&s->ss);
	sanx_netuse_put(s->net, false);
	WRITE_ONCE(sk->sk_state, TCP_CLOSE);
	unhash(s);
	sanx_listener_stop(&s->ss.lsk);
	if (conn) {
		sanx_conn_stop(conn);
		sanx_conn_put(conn);
	}
	sanx_listener_destroy(&s->ss.lsk);
	call_rcu(&s->rcu, sock_put_rcu);
}
