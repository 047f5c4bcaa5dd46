/* SPDX-License-Identifier: GPL-2.0 */
/* Spinlocks, mutexes and RCU.  Each lock knows its owner. */
#ifndef _SIM_LOCK_H
#define _SIM_LOCK_H

#include "atomic.h"

/**
 * struct sim_lock - a lock
 * @owner: the task that holds it, or NULL
 * @waiters: tasks that want it
 */
struct sim_lock {
	struct sim_task		*owner;
	struct sim_waiters	waiters;
};

typedef struct sim_lock spinlock_t;

struct mutex {
	struct sim_lock l;
};

struct rw_semaphore {
	struct sim_lock l;
};

struct lockdep_map {
	int dummy;
};

#define DEFINE_SPINLOCK(x)	spinlock_t x
#define DEFINE_MUTEX(x)		struct mutex x

void sim_spin_lock(struct sim_lock *l);
void sim_spin_unlock(struct sim_lock *l);
void sim_mutex_lock(struct sim_lock *l);
bool sim_mutex_trylock(struct sim_lock *l);
void sim_mutex_unlock(struct sim_lock *l);

#define spin_lock_init(l)	(*(l) = (struct sim_lock){ 0 })
#define spin_lock(l)		sim_spin_lock(l)
#define spin_unlock(l)		sim_spin_unlock(l)
#define spin_lock_bh(l)		sim_spin_lock(l)
#define spin_unlock_bh(l)	sim_spin_unlock(l)
#define spin_lock_irqsave(l, f)	do { (f) = 0; sim_spin_lock(l); } while (0)
#define spin_unlock_irqrestore(l, f) do { (void)(f); sim_spin_unlock(l); } while (0)
#define mutex_init(m)		(*(m) = (struct mutex){ 0 })
#define mutex_lock(m)		sim_mutex_lock(&(m)->l)
#define mutex_trylock(m)	sim_mutex_trylock(&(m)->l)
#define mutex_unlock(m)		sim_mutex_unlock(&(m)->l)
#define mutex_is_locked(m)	((m)->l.owner != NULL)
#define mutex_acquire(...)	do { } while (0)
#define _RET_IP_		0
#define read_lock_bh(l)		sim_spin_lock(l)
#define read_unlock_bh(l)	sim_spin_unlock(l)
#define down_read(s)		sim_mutex_lock(&(s)->l)
#define up_read(s)		sim_mutex_unlock(&(s)->l)

#define __sim_owner(p) _Generic((p),				\
	struct mutex *: ((struct mutex *)(p))->l.owner,		\
	const struct mutex *: ((struct mutex *)(p))->l.owner,	\
	const struct sim_lock *: ((struct sim_lock *)(p))->owner, \
	struct sim_lock *: ((struct sim_lock *)(p))->owner)
#define lockdep_is_held(l)	(__sim_owner(l) == sim_current)
#define lockdep_assert(c)	do {					\
	if (unlikely(!(c)))						\
		sim_fail("%s: %s does not hold", __func__, #c);		\
	} while (0)
#define lockdep_assert_held(l)	do {					\
	if (unlikely(!lockdep_is_held(l)))				\
		sim_fail("%s:%d: %s is not held", __FILE__, __LINE__, #l); \
	} while (0)

struct rcu_head {
	struct rcu_head	*next;
	void		(*func)(struct rcu_head *head);
	u64		seq;
	int		node;
};

void rcu_read_lock(void);
void rcu_read_unlock(void);
#define rcu_read_lock_bh()	rcu_read_lock()
#define rcu_read_unlock_bh()	rcu_read_unlock()
bool rcu_read_lock_held(void);
void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head));
void rcu_barrier(void);
void synchronize_rcu(void);
void sim_rcu_poll(void);
bool sim_rcu_idle(void);
void sim_kfree_rcu(void *p, struct rcu_head *head);

#define RCU_LOCKDEP_WARN(c, s)	WARN_ON_ONCE(c)
#define RCU_INIT_POINTER(p, v)	((void)((p) = (v)))
#define rcu_assign_pointer(p, v) smp_store_release(&(p), v)
#define rcu_access_pointer(p)	READ_ONCE(p)
#define rcu_dereference(p)	({ WARN_ON_ONCE(!rcu_read_lock_held()); READ_ONCE(p); })
#define rcu_dereference_protected(p, c) ({ WARN_ON_ONCE(!(c)); (p); })
#define rcu_dereference_check(p, c) ({ WARN_ON_ONCE(!(c) && !rcu_read_lock_held()); READ_ONCE(p); })
#define rcu_replace_pointer(p, v, c) ({				\
	typeof(p) _old = rcu_dereference_protected(p, c);	\
	rcu_assign_pointer(p, v); _old; })
#define kfree_rcu(p, member)	sim_kfree_rcu(p, &(p)->member)
#define kvfree_rcu(p, member)	do { if (p) sim_kfree_rcu(p, &(p)->member); } while (0)

/* Sleepable RCU: no wire here asks who is there, so nobody reads. */
struct srcu_struct {
	int		readers;
};

#define DEFINE_STATIC_SRCU(name)	static struct srcu_struct name

static inline int srcu_read_lock(struct srcu_struct *s)
{
	return s->readers++;
}

static inline void srcu_read_unlock(struct srcu_struct *s, int idx)
{
	s->readers--;
}

static inline void synchronize_srcu(struct srcu_struct *s)
{
	WARN_ON_ONCE(s->readers);
}

#endif /* _SIM_LOCK_H */
