// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting: spin for a moment, then sleep.
 *
 * To fall asleep and to be woken costs more than many an answer takes to come.
 * So a reader that finds nothing looks for it for a while, if that is likely to
 * be enough, and is then not in the wait queue, so that nobody has to wake it
 * (the mix of polling and sleeping of sci-socket.txt).  How long:
 *
 * - as long as SO_BUSY_POLL says, or net.core.busy_read for new sockets;
 * - else at most net.sanx.spin_us, and by what was seen on the connection: a wait
 *   that was over within that time makes the next one spin for longer, one that
 *   was not for shorter, down to not at all.  Never on a node with one CPU, where
 *   what is waited for could not come about meanwhile.
 *
 * It ends when another task wants the CPU, at once.
 */
#include <linux/cpumask.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>

#include "config/config.h"
#include "internal.h"

/* Less is not worth the look at the clock. */
#define SPIN_NS_MIN	2000U

/* What the program asked for itself; 0 for nothing. */
static u64 spin_asked(const struct sock *sk)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	return (u64)READ_ONCE(sk->sk_ll_usec) * NSEC_PER_USEC;
#else
	return 0;
#endif
}

/**
 * sanx_spin_start() - a wait begins
 * @w: how it goes on
 * @conn: the connection
 * @sk: its sock
 * @timeo: when it is to be over, in jiffies from now
 *
 * Context: process, before it is in a wait queue.
 */
void sanx_spin_start(struct sanx_spin *w, const struct sanx_conn *conn,
		     const struct sock *sk, long timeo)
{
	u64 ns = spin_asked(sk);

	w->most = 0;
	w->ns = 0;
	if (!ns) {
		if (num_online_cpus() == 1)
			return;
		w->most = READ_ONCE(sanx_net(conn->net)->spin_us) *
			  NSEC_PER_USEC;
		if (!w->most)
			return;
		ns = min(READ_ONCE(conn->spin_ns), w->most);
	}
	w->ns = min_t(u64, ns, jiffies64_to_nsecs(min_t(long, timeo, HZ * 60)));
	w->start = local_clock();
}

/**
 * sanx_spin_on() - look once more?
 * @w: as sanx_spin_start() left it, its @ns not 0
 *
 * Context: process, may be put off the CPU.
 * Return: true if so; false to go to sleep.
 */
bool sanx_spin_on(const struct sanx_spin *w)
{
	if (need_resched() || !single_task_running() ||
	    signal_pending(current) || local_clock() - w->start >= w->ns)
		return false;
	cpu_relax();
	return true;
}

/**
 * sanx_spin_learn() - what was waited for has come, after a sleep
 * @w: as sanx_spin_start() left it, its @most not 0
 * @conn: the connection
 *
 * Readers of one connection may overwrite what another one has learnt.
 *
 * Context: process.
 */
void sanx_spin_learn(const struct sanx_spin *w, struct sanx_conn *conn)
{
	u32 ns = READ_ONCE(conn->spin_ns);

	if (local_clock() - w->start <= w->most)
		ns = clamp(2 * ns, SPIN_NS_MIN, w->most);
	else
		ns = ns / 2 < SPIN_NS_MIN ? 0 : ns / 2;
	WRITE_ONCE(conn->spin_ns, ns);
}
