// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting: busy poll for a while, then sleep.
 *
 * Sleeping and being woken takes longer than many answers.  So a reader that
 * finds nothing polls for a while, if the answer is likely to come in that
 * time.  It is not in the wait queue then, so no sender has to wake it (the mix
 * of polling and sleeping in sci-socket.txt).  The time is:
 *
 * - SO_BUSY_POLL, or net.core.busy_read for new sockets, if that is set;
 * - else at most net.sanx.spin_us, adapted to the connection: a wait that ended
 *   within that time makes the next one poll longer, a longer wait makes it
 *   poll shorter, down to not at all.  A node with one CPU does not poll,
 *   because the sender could not run meanwhile.
 *
 * Polling ends as soon as another task wants the CPU.
 *
 * That task may be the one that answers.  So a reader that has only this CPU cedes
 * it once before it sleeps, and looks again: the answer, if it is there then, needs
 * no wake-up.  Where this is of no use, because the scheduler prefers the reader, or
 * others use the CPU, most waits do without it.  A reader that may run elsewhere
 * sleeps at once, because a wake-up can find it an idle CPU.
 */
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>

#include "config/config.h"
#include "conn_priv.h"

/* A shorter time is not worth reading the clock. */
#define BUSY_POLL_NS_MIN	2000U
/* Waits that sleep at once, after one that has ceded the CPU in vain. */
#define CEDE_PAUSE		15

/* Return: the time that the program has set, in ns, or 0. */
static u64 busy_poll_asked(const struct sock *sk)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	return (u64)READ_ONCE(sk->sk_ll_usec) * NSEC_PER_USEC;
#else
	return 0;
#endif
}

/**
 * sanx_busy_poll_start() - a wait begins
 * @w: filled
 * @conn: the connection
 * @sk: its sock
 * @timeo: timeout of the wait, in jiffies
 *
 * Context: process, before the caller is in a wait queue.
 */
void sanx_busy_poll_start(struct sanx_busy_poll *w,
			  const struct sanx_conn *conn,
			  const struct sock *sk, long timeo)
{
	u64 ns = busy_poll_asked(sk);

	w->ns_max = 0;
	w->ns = 0;
	if (!ns) {
		if (num_online_cpus() == 1)
			return;
		w->ns_max = READ_ONCE(sanx_net(conn->net)->spin_us) *
			  NSEC_PER_USEC;
		if (!w->ns_max)
			return;
		ns = min(READ_ONCE(conn->busy_poll_ns), w->ns_max);
	}
	w->ns = min_t(u64, ns, jiffies64_to_nsecs(min_t(long, timeo, HZ * 60)));
	w->start = local_clock();
}

/**
 * sanx_busy_poll_again() - poll once more?
 * @w: as filled by sanx_busy_poll_start()
 *
 * Context: process; the caller may be preempted.
 * Return: true to poll again; false to sleep.
 */
bool sanx_busy_poll_again(const struct sanx_busy_poll *w)
{
	if (!w->ns || need_resched() || !single_task_running() ||
	    signal_pending(current) || local_clock() - w->start >= w->ns)
		return false;
	cpu_relax();
	return true;
}

/* Has the caller no other CPU to run on? */
static bool cede_here(void)
{
	return num_online_cpus() == 1 || current->nr_cpus_allowed == 1;
}

/**
 * sanx_busy_poll_cede() - let tasks run that want this CPU
 * @conn: the connection
 *
 * The caller stays runnable, so the scheduler gives it its share: this does not
 * put it behind the others, as yield() would.  If the scheduler prefers the
 * caller, nothing happens.
 *
 * Context: process, may sleep; before the caller is in a wait queue.
 * Return: true if the caller should look once more, and then call
 * sanx_busy_poll_ceded().
 */
bool sanx_busy_poll_cede(struct sanx_conn *conn)
{
	u8 pause = READ_ONCE(conn->cede_pause);

	if (!cede_here() || single_task_running())
		return false;
	if (pause) {
		WRITE_ONCE(conn->cede_pause, pause - 1);
		return false;
	}
	if (!READ_ONCE(sanx_net(conn->net)->spin_us))
		return false;
	schedule();
	return true;
}

/**
 * sanx_busy_poll_ceded() - say what ceding the CPU was good for
 * @conn: the connection
 * @ready: the caller need not sleep
 *
 * As for conn->busy_poll_ns, concurrent readers may overwrite each other's value.
 *
 * Context: any.
 */
void sanx_busy_poll_ceded(struct sanx_conn *conn, bool ready)
{
	if (!ready)
		WRITE_ONCE(conn->cede_pause, CEDE_PAUSE);
}

/**
 * sanx_busy_poll_adapt() - adapt the time of the next wait, after a sleep
 * @w: as filled by sanx_busy_poll_start(), with @ns_max not 0
 * @conn: the connection
 *
 * conn->busy_poll_ns has no lock: concurrent readers of a connection may
 * overwrite each other's value.
 *
 * Context: process.
 */
void sanx_busy_poll_adapt(const struct sanx_busy_poll *w,
			  struct sanx_conn *conn)
{
	u32 ns = READ_ONCE(conn->busy_poll_ns);

	if (local_clock() - w->start <= w->ns_max)
		ns = clamp(2 * ns, BUSY_POLL_NS_MIN, w->ns_max);
	else
		ns = ns / 2 < BUSY_POLL_NS_MIN ? 0 : ns / 2;
	WRITE_ONCE(conn->busy_poll_ns, ns);
}
