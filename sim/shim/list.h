/* SPDX-License-Identifier: GPL-2.0 */
/* Doubly linked lists with the names of the kernel's. */
#ifndef _SIM_LIST_H
#define _SIM_LIST_H

#include "types.h"

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

/* Left in entries that were deleted, so that their use is found. */
#define LIST_POISON		((void *)0xdead0001UL)

#define LIST_HEAD_INIT(name)	{ &(name), &(name) }
#define LIST_HEAD(name)		struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *h)
{
	h->next = h;
	h->prev = h;
}

static inline bool list_empty(const struct list_head *h)
{
	return h->next == h;
}

static inline bool list_empty_careful(const struct list_head *h)
{
	return h->next == h && h->prev == h;
}

static inline void __list_put(struct list_head *n, struct list_head *prev,
			      struct list_head *next)
{
	n->prev = prev;
	n->next = next;
	prev->next = n;
	next->prev = n;
}

static inline void list_add(struct list_head *n, struct list_head *h)
{
	__list_put(n, h, h->next);
}

static inline void list_add_tail(struct list_head *n, struct list_head *h)
{
	__list_put(n, h->prev, h);
}

void sim_list_check(const struct list_head *n);

static inline void __list_take(struct list_head *n)
{
	if (unlikely(n->next->prev != n || n->prev->next != n))
		sim_list_check(n);
	n->next->prev = n->prev;
	n->prev->next = n->next;
}

static inline void list_del(struct list_head *n)
{
	__list_take(n);
	n->next = LIST_POISON;
	n->prev = LIST_POISON;
}

static inline void list_del_init(struct list_head *n)
{
	__list_take(n);
	INIT_LIST_HEAD(n);
}

static inline void list_move(struct list_head *n, struct list_head *h)
{
	__list_take(n);
	list_add(n, h);
}

static inline void list_move_tail(struct list_head *n, struct list_head *h)
{
	__list_take(n);
	list_add_tail(n, h);
}

static inline void list_splice_init(struct list_head *from,
				    struct list_head *to)
{
	if (list_empty(from))
		return;
	from->next->prev = to;
	from->prev->next = to->next;
	to->next->prev = from->prev;
	to->next = from->next;
	INIT_LIST_HEAD(from);
}

static inline void list_splice_tail_init(struct list_head *from,
					 struct list_head *to)
{
	list_splice_init(from, to->prev);
}

#define list_entry(p, type, member)	container_of(p, type, member)
#define list_first_entry(h, type, member) list_entry((h)->next, type, member)
#define list_last_entry(h, type, member) list_entry((h)->prev, type, member)
#define list_is_last(p, h)		((p)->next == (h))
#define list_first_entry_or_null(h, type, member) \
	(list_empty(h) ? NULL : list_first_entry(h, type, member))
#define list_next_entry(p, member) \
	list_entry((p)->member.next, typeof(*(p)), member)
#define list_for_each_entry(p, h, member)				\
	for (p = list_first_entry(h, typeof(*p), member);		\
	     &p->member != (h); p = list_next_entry(p, member))
#define list_for_each_entry_reverse(p, h, member)			\
	for (p = list_last_entry(h, typeof(*p), member);		\
	     &p->member != (h); p = list_entry(p->member.prev, typeof(*p), member))
#define list_for_each_entry_from(p, h, member)				\
	for (; &p->member != (h); p = list_next_entry(p, member))
#define list_for_each_entry_safe(p, n, h, member)			\
	for (p = list_first_entry(h, typeof(*p), member),		\
	     n = list_next_entry(p, member);				\
	     &p->member != (h); p = n, n = list_next_entry(n, member))

static inline bool hlist_unhashed(const struct hlist_node *n)
{
	return !n->pprev;
}

static inline void hlist_add_head(struct hlist_node *n, struct hlist_head *h)
{
	n->next = h->first;
	if (n->next)
		n->next->pprev = &n->next;
	h->first = n;
	n->pprev = &h->first;
}

static inline void hlist_del_init(struct hlist_node *n)
{
	if (!n->pprev)
		return;
	*n->pprev = n->next;
	if (n->next)
		n->next->pprev = n->pprev;
	n->next = NULL;
	n->pprev = NULL;
}

#define hlist_entry_safe(p, type, member) \
	({ typeof(p) _p = (p); _p ? container_of(_p, type, member) : NULL; })
#define hlist_for_each_entry(p, h, member)				\
	for (p = hlist_entry_safe((h)->first, typeof(*p), member); p;	\
	     p = hlist_entry_safe(p->member.next, typeof(*p), member))

#define hlist_for_each_entry_safe(p, n, h, member)			\
	for (p = hlist_entry_safe((h)->first, typeof(*p), member);	\
	     p && ({ n = p->member.next; 1; });				\
	     p = hlist_entry_safe(n, typeof(*p), member))

#define DECLARE_HASHTABLE(name, bits)	struct hlist_head name[1 << (bits)]
#define __sim_bucket(table, key)	(&(table)[(key) % ARRAY_SIZE(table)])
#define hash_init(table)		memset(table, 0, sizeof(table))
#define hash_add_rcu(table, n, key)	\
	do { sim_point(); hlist_add_head(n, __sim_bucket(table, key)); } while (0)
#define hash_for_each_possible(table, p, member, key)			\
	hlist_for_each_entry(p, __sim_bucket(table, key), member)
/* A reader may be at an entry that is deleted, as its next one stays. */
#define hash_for_each_possible_rcu(table, p, member, key)		\
	for (p = hlist_entry_safe(__sim_bucket(table, key)->first, typeof(*p), member); \
	     ({ sim_point(); p; });					\
	     p = hlist_entry_safe(p->member.next, typeof(*p), member))
#define hash_for_each(table, i, p, member)				\
	for (i = 0; i < (int)ARRAY_SIZE(table); i++)			\
		hlist_for_each_entry(p, &(table)[i], member)
#define hash_for_each_safe(table, i, n, p, member)			\
	for (i = 0; i < (int)ARRAY_SIZE(table); i++)			\
		hlist_for_each_entry_safe(p, n, &(table)[i], member)

static inline void hash_del_rcu(struct hlist_node *n)
{
	*n->pprev = n->next;
	if (n->next)
		n->next->pprev = n->pprev;
	n->pprev = LIST_POISON;
}

#endif /* _SIM_LIST_H */
