/* SPDX-License-Identifier: GPL-2.0 */
/* Virtual time, timers and high resolution timers. */
#ifndef _SIM_TIME_H
#define _SIM_TIME_H

#include "lock.h"

#define HZ			250UL
#define NSEC_PER_USEC		1000UL
#define NSEC_PER_MSEC		1000000UL
#define NSEC_PER_SEC		1000000000UL
#define SIM_JIFFY_NS		(NSEC_PER_SEC / HZ)

/* The kernel's first value: it wraps as 32 bits after five minutes. */
#define SIM_JIFFIES_0		((unsigned long)(u32)(-300 * (int)HZ))
#define jiffies			(SIM_JIFFIES_0 + (unsigned long)(sim_now / SIM_JIFFY_NS))

#define time_after(a, b)	((long)((b) - (a)) < 0)
#define time_before(a, b)	time_after(b, a)
#define time_after_eq(a, b)	((long)((a) - (b)) >= 0)
#define time_before_eq(a, b)	time_after_eq(b, a)
#define msecs_to_jiffies(ms)	((unsigned long)DIV_ROUND_UP((u64)(ms) * HZ, 1000))
#define nsecs_to_jiffies(ns)	((unsigned long)((u64)(ns) * HZ / NSEC_PER_SEC))
#define jiffies_to_msecs(j)	((unsigned int)((j) * 1000 / HZ))
#define jiffies_to_usecs(j)	((unsigned int)((j) * 1000000 / HZ))
#define jiffies64_to_nsecs(j)	((u64)(j) * SIM_JIFFY_NS)
#define usecs_to_jiffies(us)	((unsigned long)DIV_ROUND_UP((u64)(us) * HZ, 1000000))

u64 ktime_get_ns(void);
#define ktime_get_real_ns()	ktime_get_ns()
#define local_clock()		ktime_get_ns()
#define ns_to_ktime(ns)		((ktime_t)(ns))

/**
 * struct timer_list - a timer
 * @expires: in jiffies
 * @t: the simulator's timer
 * @function: called in softirq
 */
struct timer_list {
	unsigned long		expires;
	struct sim_timer	t;
	void			(*function)(struct timer_list *t);
};

void timer_setup(struct timer_list *t, void (*fn)(struct timer_list *t),
		 unsigned int flags);
bool sim_timer_arm(struct timer_list *t, unsigned long expires);
int mod_timer(struct timer_list *t, unsigned long expires);
int timer_reduce(struct timer_list *t, unsigned long expires);
int del_timer(struct timer_list *t);
int del_timer_sync(struct timer_list *t);
bool timer_pending(const struct timer_list *t);
#define from_timer(var, timer, field) \
	container_of(timer, typeof(*var), field)

enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };

struct hrtimer {
	struct sim_timer	t;
	enum hrtimer_restart	(*function)(struct hrtimer *t);
};

#define CLOCK_MONOTONIC		1
#define HRTIMER_MODE_REL	1
#define HRTIMER_MODE_REL_SOFT	2
#define HRTIMER_MODE_REL_PINNED_SOFT 3
#define hrtimer_resolution	1U

void hrtimer_init(struct hrtimer *t, int clock, int mode);
void hrtimer_start(struct hrtimer *t, ktime_t delay, int mode);
int hrtimer_cancel(struct hrtimer *t);
int hrtimer_try_to_cancel(struct hrtimer *t);
bool hrtimer_active(const struct hrtimer *t);

#endif /* _SIM_TIME_H */
