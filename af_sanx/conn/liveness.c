// SPDX-License-Identifier: GPL-2.0
/*
 * Liveness of peers: keepalive, TCP_USER_TIMEOUT, and the time limit of
 * tcp_retries2.
 *
 * TCP counts data that is not acknowledged.  A transport like verbs has
 * acknowledgments for a link, not for a connection.  So the core asks the
 * transport when the peer's node was last heard of.  Any frame of any
 * connection counts, and a probe makes the peer send one.
 *
 * While the peer is heard of, no connection keeps a count.  Its timer runs only
 * with SO_KEEPALIVE, when TCP would send a probe, because what was heard by
 * then decides when TCP gives up.  When the peer is silent, the transport calls
 * sanx_conn_quiet().  The timer then ends each connection as its options say,
 * when TCP would (tcp(7); net/ipv4/tcp_timer.c):
 *
 * - Something was sent, or waits to be sent, and TCP_USER_TIMEOUT has passed
 *   since.  Without that option: the time of tcp_retries2 retransmissions.
 * - Nothing waits, the connection was idle for TCP_KEEPIDLE, and TCP_KEEPCNT
 *   probes, TCP_KEEPINTVL apart, were not answered.
 * - The peer is alive but does not read, TCP_USER_TIMEOUT is set, and has
 *   passed without room for what waits to be sent.
 *
 * The error is ETIMEDOUT.
 *
 * conn->lock guards liveness.sending and liveness.sent.  The timer alone uses
 * liveness.shut, liveness.shut_since and liveness.read.  Each activation of the
 * timer has a reference of the connection.
 */
#include <linux/timer.h>
#include <net/tcp.h>

#include "config/cov.h"
#include "conn_priv.h"

/* Interval of probes while something is on the way to the peer. */
#define PROBE_EVERY	HZ

/*
 * Sets the timer, unless it expires sooner already.  A pending timer has a
 * reference of the connection.
 */
static void liveness_arm(struct sanx_conn *conn, unsigned long delay)
{
	struct timer_list *timer = &conn->liveness.timer;
	unsigned long when = jiffies + max(delay, 1UL);

	if (timer_pending(timer) &&
	    time_before_eq(READ_ONCE(timer->expires), when))
		return;
	sanx_conn_get(conn);
	if (mod_timer(timer, when))
		sanx_conn_put(conn);
	/*
	 * liveness_arm() queues and then looks at the state.  sanx_conn_close()
	 * stores the state and then cancels (sanx_liveness_stop()).  At least
	 * one of the two sees the other's store.
	 */
	smp_mb();
	if (!sanx_conn_open(conn) && del_timer(timer))
		sanx_conn_put(conn);
}

/*
 * @n retransmissions as a time in jiffies, as tcp_model_timeout() in
 * net/ipv4/tcp_timer.c.
 * @rto: until the first of them
 */
static unsigned long retries_model(unsigned int n, unsigned long rto)
{
	unsigned int doublings = ilog2(TCP_RTO_MAX / rto);

	if (n <= doublings)
		return ((2UL << n) - 1) * rto;
	return ((2UL << doublings) - 1) * rto +
	       (n - doublings) * (unsigned long)TCP_RTO_MAX;
}

/*
 * When TCP ends a connection whose peer is a jiffy away, in jiffies.  TCP
 * compares tcp_retries2 with the time since its first retransmission, and does
 * so only when the next one is due (retransmits_timed_out()).
 */
static unsigned long retries_limit(const struct sock *sk)
{
	unsigned int n = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_retries2);
	unsigned long rto = TCP_RTO_MIN + 1, past = rto, first = rto;

	while (past - first < retries_model(n, TCP_RTO_MIN)) {
		rto = min(2 * rto, (unsigned long)TCP_RTO_MAX);
		past += rto;
	}
	return past;
}

static unsigned long user_timeout(const struct sock *sk)
{
	return msecs_to_jiffies(READ_ONCE(inet_csk(sk)->icsk_user_timeout));
}

/*
 * How long TCP's connect() repeats its SYN.
 *
 * By TCP_USER_TIMEOUT, TCP_SYNCNT or tcp_syn_retries, as tcp_write_timeout() has it.
 *
 * Return: jiffies; then it fails with ETIMEDOUT.
 */
unsigned long sanx_liveness_connects(const struct sock *sk)
{
	unsigned int n = READ_ONCE(inet_csk(sk)->icsk_syn_retries) ?:
			 READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_syn_retries);
	unsigned long limit = retries_model(n, TCP_TIMEOUT_INIT);

	return min(user_timeout(sk) ?: limit, limit);
}

static struct sanx_liveness_report liveness_report(struct sanx_conn *conn)
{
	struct sanx_liveness_report report = { .heard = jiffies,
					       .acked = jiffies };

	if (conn->ops->liveness)
		conn->ops->liveness(conn, &report);
	return report;
}

static void liveness_probe(struct sanx_conn *conn)
{
	if (conn->ops->probe)
		conn->ops->probe(conn);
}

/*
 * Does the peer not have bytes that it should have?  Corked bytes do not count.
 */
static bool liveness_unread(struct sanx_conn *conn)
{
	return sanx_conn_outq(conn) > sanx_hold_corked(conn);
}

/* Return: true if something is on the way; @since is set to when that began. */
static bool liveness_sending(struct sanx_conn *conn,
			     const struct sanx_liveness_report *report,
			     unsigned long *since)
{
	struct sanx_liveness *live = &conn->liveness;
	bool sending;

	spin_lock_bh(&conn->lock);
	if (!report->lost && (time_after(report->heard, live->sent) ||
			      !report->unacked))
		live->sending = false;
	if (report->lost && !live->sending &&
	    (report->unacked || liveness_unread(conn))) {
		live->sending = true;
		live->sent = time_after(report->acked, report->heard) ?
			     report->acked : report->heard;
	}
	sending = live->sending;
	*since = live->sent;
	spin_unlock_bh(&conn->lock);
	return sending;
}

/*
 * Each of these functions returns the jiffies until the next check, 0 if none
 * is needed, or < 0 to end the connection.
 */
static long check_sending(struct sanx_conn *conn, const struct sock *sk,
			  unsigned long since)
{
	unsigned long limit = user_timeout(sk) ?: retries_limit(sk);
	unsigned long past = jiffies - since;

	if (past >= limit)
		return -ETIMEDOUT;
	liveness_probe(conn);
	return min(limit - past, (unsigned long)PROBE_EVERY);
}

static long check_window(struct sanx_conn *conn, const struct sock *sk)
{
	struct sanx_liveness *live = &conn->liveness;
	u64 read = READ_ONCE(conn->tx.read);
	unsigned long user = user_timeout(sk);

	if (!user || !liveness_unread(conn)) {
		live->shut = false;
		return user && sanx_hold_corked(conn) ? PROBE_EVERY : 0;
	}
	if (!live->shut || live->read != read) {
		live->shut = true;
		live->read = read;
		live->shut_since = jiffies;
	}
	if (jiffies - live->shut_since >= user)
		return -ETIMEDOUT;
	return min3(live->shut_since + user - jiffies, user / 8,
		    (unsigned long)PROBE_EVERY) + 1;
}

/*
 * How long TCP would have had no answer, in jiffies.  TCP sends a probe when
 * the connection has been idle for @idle, and @idle after each answer again.
 */
static unsigned long idle_unanswered(const struct sanx_conn *conn,
				     unsigned long heard, unsigned long idle)
{
	u32 from = READ_ONCE(conn->tx_time), rx = READ_ONCE(conn->rx_time);

	if ((s32)(rx - from) > 0)
		from = rx;
	if ((s32)((u32)heard - from) > 0)
		from += ((u32)heard - from) / idle * idle;
	return (u32)jiffies - from;
}

static bool keeps_alive(const struct sanx_conn *conn, const struct sock *sk)
{
	return conn->ops->liveness && sock_flag(sk, SOCK_KEEPOPEN);
}

/* A peer that got no probe, because the timer was late, is not given up. */
static long check_idle(struct sanx_conn *conn, const struct sock *sk,
		       const struct sanx_liveness_report *report)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	unsigned long idle = max(keepalive_time_when(tp), 1);
	unsigned long intvl = max(keepalive_intvl_when(tp), 1);
	unsigned long probes = keepalive_probes(tp);
	unsigned long user = user_timeout(sk);
	unsigned long quiet;

	if (!keeps_alive(conn, sk))
		return 0;
	quiet = idle_unanswered(conn, report->heard, idle);
	if (quiet < idle)
		return idle - quiet;
	/*
	 * With TCP_USER_TIMEOUT, the first probe that is due after it counts.
	 */
	if (user)
		probes = user > idle ? DIV_ROUND_UP(user - idle, intvl) : 1;
	if (report->lost && quiet >= idle + probes * intvl)
		return -ETIMEDOUT;
	liveness_probe(conn);
	return intvl - (quiet - idle) % intvl;
}

static long sooner(long a, long b)
{
	if (a < 0 || b < 0)
		return min(a, b);
	return a && b ? min(a, b) : a ?: b;
}

static long liveness_check(struct sanx_conn *conn, const struct sock *sk)
{
	struct sanx_liveness_report report = liveness_report(conn);
	unsigned long since;
	bool sending;
	long next;

	/*
	 * Without @watch, sends were not recorded, and this estimates when they
	 * began.  So it comes before @watch is set.
	 */
	sending = liveness_sending(conn, &report, &since);
	WRITE_ONCE(conn->liveness.watch, report.lost || user_timeout(sk));
	if (sending)
		next = check_sending(conn, sk, since);
	else
		next = check_idle(conn, sk, &report);
	return sooner(next, check_window(conn, sk));
}

static void liveness_timer(struct timer_list *t)
{
	struct sanx_conn *conn = container_of(t, struct sanx_conn,
					      liveness.timer);
	bool cov = sanx_cov_start(conn->net);
	struct sock *sk;
	long next = 0;

	rcu_read_lock();
	sk = sanx_conn_sk(conn);
	if (sk && sanx_conn_open(conn))
		next = liveness_check(conn, sk);
	rcu_read_unlock();
	if (next < 0) {
		conn->ops->abort(conn);
		sanx_conn_reset(conn, ETIMEDOUT);
	} else if (next) {
		liveness_arm(conn, next);
	}
	sanx_conn_put(conn);
	sanx_cov_stop(cov);
}

/* Initialise the liveness of a new connection. */
void sanx_liveness_init(struct sanx_conn *conn)
{
	timer_setup(&conn->liveness.timer, liveness_timer, 0);
}

/**
 * sanx_liveness_options() - the options of a connection's sock have changed
 * @conn: the connection
 * @sk: its sock
 *
 * Context: any.
 */
void sanx_liveness_options(struct sanx_conn *conn, const struct sock *sk)
{
	bool watch = user_timeout(sk) || READ_ONCE(conn->liveness.watch);

	if (watch)
		WRITE_ONCE(conn->liveness.watch, true);
	if (watch || keeps_alive(conn, sk))
		liveness_arm(conn, 1);
}

/**
 * sanx_liveness_wait() - the program waits for its peer
 * @conn: the connection
 * @sk: its sock
 *
 * SO_KEEPALIVE is set without a call to AF_SANX, so it is looked at here.
 *
 * Context: any.
 */
void sanx_liveness_wait(struct sanx_conn *conn, const struct sock *sk)
{
	if (keeps_alive(conn, sk) && !timer_pending(&conn->liveness.timer))
		liveness_arm(conn, 1);
}

/**
 * sanx_liveness_send() - the program is about to send
 * @conn: a connection with sanx_liveness.watch set
 * @sk: its sock
 *
 * Context: process, tx_mutex held; takes conn->lock.
 */
void sanx_liveness_send(struct sanx_conn *conn, const struct sock *sk)
{
	struct sanx_liveness *live = &conn->liveness;

	spin_lock_bh(&conn->lock);
	if (!live->sending) {
		live->sending = true;
		live->sent = jiffies;
	}
	spin_unlock_bh(&conn->lock);
	liveness_arm(conn, min(user_timeout(sk) / 4 ?: PROBE_EVERY,
			       (unsigned long)PROBE_EVERY));
}

/**
 * sanx_conn_quiet() - the peer was not heard of for some time
 * @conn: a connection of a transport with a liveness()
 *
 * The transport calls this repeatedly until the peer is heard of.
 *
 * Context: any.
 */
void sanx_conn_quiet(struct sanx_conn *conn)
{
	liveness_arm(conn, 1);
}

/*
 * The socket was closed.  May sleep: no lock of @conn is held.
 *
 * The timer does not run any more after this.  liveness_arm() on another CPU
 * may still set it, but then cancels it again.
 */
void sanx_liveness_stop(struct sanx_conn *conn)
{
	if (del_timer_sync(&conn->liveness.timer))
		sanx_conn_put(conn);
}
