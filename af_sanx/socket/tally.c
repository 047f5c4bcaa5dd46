// SPDX-License-Identifier: GPL-2.0
/*
 * Tallies: the connections of a program and its children, counted for sanx-run(1).
 *
 * A socket joins a tally by a number (SANX_TALLY).  A file descriptor would not do, as programs
 * close descriptors that they do not know; nor would the process, as a socket may outlive it.
 *
 * A connection counts when its socket is released or drops it; a socket that becomes TCP
 * counts at that time.  The kernel releases what a program has open before its parent's wait(2)
 * returns, except for sockets held by io_uring(7) or passed in SCM_RIGHTS and not received.
 *
 * Only the socket that made a tally may read it.  A server may pass an accepted socket to a
 * program that must not see the connections of others.
 */
#include <linux/kref.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <uapi/linux/sanx.h>

#include "socket_priv.h"

static_assert(sizeof(struct sanx_tally) == 16);
static_assert(sizeof(struct sanx_tally_row) == 88);

/* Three transports, and each reason to become TCP. */
#define SUMS_MAX	(3 + __SANX_FALLBACKS)

/**
 * struct tally - what is counted together
 * @refs: one for each of its sockets
 * @node: in tallies
 * @key: the number
 * @maker: the socket that made it, which sets this to NULL before it is freed
 * @lock: guards what follows, but the first @n_conns of @conns, which do not change any more
 * @sums: by transport and reason
 * @n_sums: number of them
 * @conns: the connections that are kept; constant pointer
 * @n_conns: number of them
 * @each: most of them; constant
 */
struct tally {
	struct kref			refs;
	struct rb_node			node;
	u64				key;
	const struct sanx_sock		*maker;
	spinlock_t			lock; /* guards: see above */
	struct sanx_tally_row		sums[SUMS_MAX];
	unsigned int			n_sums;
	struct sanx_tally_row		*conns;
	unsigned int			n_conns;
	unsigned int			each;
};

/*
 * Guards tallies, and the last reference of those in it.  It is a spinlock, and
 * so is that of a tally, as the connect thread takes them for everybody's sockets.
 */
static DEFINE_SPINLOCK(tallies_lock);
static struct rb_root tallies = RB_ROOT;

static int tally_cmp(struct rb_node *a, const struct rb_node *b)
{
	u64 x = rb_entry(a, struct tally, node)->key;
	u64 y = rb_entry(b, struct tally, node)->key;

	return x < y ? -1 : x > y;
}

static void tally_destroy(struct tally *tally)
{
	kvfree(tally->conns);
	kfree(tally);
}

static struct tally *tally_new(const struct sanx_tally *t, const struct sanx_sock *maker)
{
	struct tally *tally = kzalloc(sizeof(*tally), GFP_KERNEL_ACCOUNT);

	if (!tally)
		return NULL;
	kref_init(&tally->refs);
	spin_lock_init(&tally->lock);
	tally->key = t->key;
	tally->maker = maker;
	tally->each = t->each;
	if (t->each)
		tally->conns = kvcalloc(t->each, sizeof(*tally->conns), GFP_KERNEL_ACCOUNT);
	if (t->each && !tally->conns) {
		kfree(tally);
		return NULL;
	}
	return tally;
}

/* Return: the tally of that number, with a reference; NULL without memory. */
static struct tally *tally_get(const struct sanx_tally *t, const struct sanx_sock *ss)
{
	struct tally *new = tally_new(t, ss), *tally = new;
	struct rb_node *there;

	if (!new)
		return NULL;
	spin_lock(&tallies_lock);
	there = rb_find_add(&new->node, &tallies, tally_cmp);
	if (there) {
		tally = rb_entry(there, struct tally, node);
		kref_get(&tally->refs);
	}
	spin_unlock(&tallies_lock);
	if (there)
		tally_destroy(new);
	return tally;
}

static void tally_free(struct kref *refs)
	__releases(&tallies_lock)
{
	struct tally *tally = container_of(refs, struct tally, refs);

	rb_erase(&tally->node, &tallies);
	spin_unlock(&tallies_lock);
	tally_destroy(tally);
}

/* It is set once, and stays until the socket is freed. */
static struct tally *tally_of(const struct sanx_sock *ss)
{
	/* Pairs with smp_store_release() in sanx_tally_join(). */
	return smp_load_acquire(&ss->tally);
}

/* A socket is freed. */
void sanx_tally_leave(struct sanx_sock *ss)
{
	struct tally *tally = ss->tally;

	if (!tally)
		return;
	if (READ_ONCE(tally->maker) == ss)
		WRITE_ONCE(tally->maker, NULL);
	kref_put_lock(&tally->refs, tally_free, &tallies_lock);
}

static void row_add(struct tally *tally, const struct sanx_tally_row *row)
{
	struct sanx_tally_row *sum;

	lockdep_assert_held(&tally->lock);
	for (sum = tally->sums; sum < tally->sums + tally->n_sums; sum++)
		if (!strcmp(sum->transport, row->transport) &&
		    !strcmp(sum->fallback, row->fallback))
			break;
	if (WARN_ON_ONCE(sum == tally->sums + SUMS_MAX))
		return;
	if (sum == tally->sums + tally->n_sums) {
		memcpy(sum->transport, row->transport, sizeof(sum->transport));
		memcpy(sum->fallback, row->fallback, sizeof(sum->fallback));
		tally->n_sums++;
	}
	sum->conns++;
	sum->tx_bytes += row->tx_bytes;
	sum->rx_bytes += row->rx_bytes;
}

static void row_count(struct tally *tally, const struct sanx_tally_row *row)
{
	spin_lock(&tally->lock);
	row_add(tally, row);
	if (tally->n_conns < tally->each)
		tally->conns[tally->n_conns++] = *row;
	spin_unlock(&tally->lock);
}

static void row_ends(struct sanx_tally_row *row, const struct sanx_endpoint *local,
		     const struct sanx_endpoint *remote)
{
	memcpy(row->local, &local->addr, sizeof(row->local));
	memcpy(row->remote, &remote->addr, sizeof(row->remote));
	row->local_port = local->port;
	row->remote_port = remote->port;
}

/**
 * sanx_tally_conn() - count a connection whose socket is released, or has given it up
 * @ss: the socket
 * @conn: the connection; one that never was established does not count
 *
 * Context: process.
 */
void sanx_tally_conn(const struct sanx_sock *ss, struct sanx_conn *conn)
{
	struct sanx_tally_row row = { .conns = 1 };
	struct tally *tally = tally_of(ss);
	struct sanx_via via;

	if (!tally || !sanx_conn_was_open(conn))
		return;
	conn->ops->via(conn, &via);
	strscpy(row.transport, via.name, sizeof(row.transport));
	row_ends(&row, &conn->local, &conn->remote);
	sanx_conn_bytes(conn, &row.tx_bytes, &row.rx_bytes);
	row_count(tally, &row);
}

/**
 * sanx_tally_fallback() - count a socket that becomes TCP
 * @ss: the socket, or the listener that has accepted a TCP client
 * @sk: its sock, or that of the client
 * @to: what it connects to, or NULL
 * @why: the reason
 *
 * Context: process.
 */
void sanx_tally_fallback(const struct sanx_sock *ss, const struct sock *sk,
			 const struct sanx_endpoint *to, enum sanx_fallback why)
{
	struct sanx_tally_row row = { .conns = 1, .transport = "tcp" };
	struct tally *tally = tally_of(ss);
	struct sanx_endpoint local, remote;

	if (!tally)
		return;
	strscpy(row.fallback, sanx_fallback_name(why), sizeof(row.fallback));
	sanx_native_ends(sk, &local, &remote);
	row_ends(&row, &local, to ?: &remote);
	row_count(tally, &row);
}

/* Have a socket counted with that which accepted it. */
void sanx_tally_child(struct sanx_sock *ss, const struct sanx_sock *listener)
{
	ss->tally = tally_of(listener);
	if (ss->tally)
		kref_get(&ss->tally->refs);
}

/*
 * setsockopt(SOL_SANX, SANX_TALLY).  Takes lock_sock().
 * Return: 0; -EINVAL; -EFAULT; -ENOMEM; -EISCONN; -EALREADY if it is counted already.
 */
int sanx_tally_join(struct sanx_sock *ss, sockptr_t optval, unsigned int optlen)
{
	struct sanx_tally t;
	struct tally *tally;
	int err = 0;

	if (optlen < sizeof(t))
		return -EINVAL;
	if (copy_from_sockptr(&t, optval, sizeof(t)))
		return -EFAULT;
	if (!t.key || t.each > SANX_TALLY_EACH_MAX || t.pad)
		return -EINVAL;
	lock_sock(ss->sk);
	if (READ_ONCE(ss->fell_back) || ss->conn) {
		err = -EISCONN;
	} else if (ss->tally) {
		err = -EALREADY;
	} else {
		tally = tally_get(&t, ss);
		if (!tally)
			err = -ENOMEM;
		/* The tally before its pointer.  Pairs with tally_of(). */
		smp_store_release(&ss->tally, tally);
	}
	release_sock(ss->sk);
	return err;
}

/* Return: whether there is a sum of that number. */
static bool sum_get(struct tally *tally, unsigned int i, struct sanx_tally_row *row)
{
	bool there;

	spin_lock(&tally->lock);
	there = i < tally->n_sums;
	if (there)
		*row = tally->sums[i];
	spin_unlock(&tally->lock);
	return there;
}

/* Nothing is locked while user memory is written.  Return: bytes, or -EFAULT. */
static int sums_put(struct tally *tally, char __user *to, int room)
{
	struct sanx_tally_row row;
	unsigned int i;

	for (i = 0; (i + 1) * sizeof(row) <= room && sum_get(tally, i, &row); i++)
		if (copy_to_user(to + i * sizeof(row), &row, sizeof(row)))
			return -EFAULT;
	return i * sizeof(row);
}

/* Likewise. */
static int conns_put(struct tally *tally, char __user *to, int room)
{
	unsigned int n;

	spin_lock(&tally->lock);
	n = tally->n_conns;
	spin_unlock(&tally->lock);
	n = min_t(unsigned int, n, room / sizeof(*tally->conns));
	if (n && copy_to_user(to, tally->conns, n * sizeof(*tally->conns)))
		return -EFAULT;
	return n * sizeof(*tally->conns);
}

/*
 * getsockopt(SOL_SANX, SANX_TALLY and SANX_TALLY_EACH).
 * Return: 0; -EINVAL; -EFAULT; -ENOENT if the socket is in none; -EPERM if another one made it.
 */
int sanx_tally_read(const struct sanx_sock *ss, bool each, char __user *optval,
		    int __user *optlen)
{
	struct tally *tally = tally_of(ss);
	int len;

	if (!tally)
		return -ENOENT;
	/* It is this one as long as this one is there. */
	if (READ_ONCE(tally->maker) != ss)
		return -EPERM;
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	len = each ? conns_put(tally, optval, len) : sums_put(tally, optval, len);
	if (len < 0)
		return len;
	return put_user(len, optlen) ? -EFAULT : 0;
}
