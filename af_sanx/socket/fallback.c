// SPDX-License-Identifier: GPL-2.0
/*
 * Fallback: an AF_SANX socket becomes the native one, for good.
 *
 * It is one store, sock->ops = native ops (sci-socket.txt 5.1.5 merges the two
 * sockets at this point; here they are one from the start).  What takes care
 * is the other side of that: a call on another CPU can have loaded the old
 * sock->ops and not made its call yet; accept() even allocates in between.  So
 * struct sanx_sock and the module must stay for as long as the socket is open.
 * Nothing of the socket may be hooked for that, as it is to be plain TCP:
 * instead the inode that the socket lives in is held, and a reaper looks now
 * and then for sockets that were released, which leaves sock->ops NULL.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include <net/inet_common.h>

#include "config/config.h"
#include "config/trace.h"
#include "internal.h"

/* Guards fallen and n_fallen. */
static DEFINE_SPINLOCK(fallen_lock);
static LIST_HEAD(fallen);
static unsigned int n_fallen;

static void reap_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(reap_work, reap_fn);

/* Sockets that the reaper looks at in a go, at most. */
#define REAP_BATCH	256U

/* Soon where there are few, at most once a second where there are many. */
static unsigned long reap_delay(unsigned int n)
{
	return msecs_to_jiffies(n < REAP_BATCH ? 50 : 1000U * REAP_BATCH / n);
}

/* Takes out who was released; who was not goes to the end of the list. */
static unsigned int reap_batch(struct list_head *dead)
{
	struct sanx_sock *ss;
	unsigned int i;

	lockdep_assert_held(&fallen_lock);
	for (i = min(n_fallen, REAP_BATCH); i; i--) {
		ss = list_first_entry(&fallen, struct sanx_sock, node);
		if (READ_ONCE(ss->sock->ops)) {
			list_move_tail(&ss->node, &fallen);
			continue;
		}
		list_move(&ss->node, dead);
		n_fallen--;
	}
	return n_fallen;
}

static void reap_fn(struct work_struct *work)
{
	struct sanx_sock *ss, *next;
	unsigned int left;
	LIST_HEAD(dead);

	spin_lock(&fallen_lock);
	left = reap_batch(&dead);
	spin_unlock(&fallen_lock);

	list_for_each_entry_safe(ss, next, &dead, node) {
		iput(SOCK_INODE(ss->sock));
		sanx_sock_free(ss);
		module_put(THIS_MODULE);
	}
	if (left)
		schedule_delayed_work(&reap_work, reap_delay(left));
}

/**
 * sanx_fallback_drain() - wait until the reaper has returned
 *
 * For the module's exit: the list is empty then, but the reaper may not be out
 * of the function in which it put the module.
 */
void sanx_fallback_drain(void)
{
	cancel_delayed_work_sync(&reap_work);
}

/* The reaper's from here on, with the reference of the module that the ops had. */
static void leave_to_reaper(struct socket *sock, struct sanx_sock *ss)
{
	ss->sock = sock;
	ihold(SOCK_INODE(sock));
	spin_lock(&fallen_lock);
	list_add_tail(&ss->node, &fallen);
	n_fallen++;
	spin_unlock(&fallen_lock);
	schedule_delayed_work(&reap_work, reap_delay(0));
}

/*
 * The switch.  @ss->fell_back comes before anything that a call can see of the
 * end of the connection, so that it knows what that means.
 */
static void become_native(struct socket *sock, struct sanx_sock *ss,
			  enum sanx_fallback why)
{
	struct sanx_conn *conn = ss->conn;

	sock_owned_by_me(ss->sk);
	trace_sanx_fallback(ss->sk, why);
	sanx_socks_del(ss, true);
	WRITE_ONCE(ss->fell_back, true);
	/* From here on the module is pinned by @ss and not by sock->ops. */
	smp_store_release(&sock->ops, ss->native);
	if (conn) {
		conn->ss = NULL;
		sanx_conn_detach(conn);
		sanx_conn_close(conn, true);
	}
	sanx_stat_add(sock_net(ss->sk), SANX_STAT_FALLBACK + why, 1);
	leave_to_reaper(sock, ss);
}

/**
 * sanx_fallback_adopt() - give a TCP socket its own ops in the place of ours
 * @sock: a socket that sanx_sk() says is TCP
 *
 * kernel_accept() gives its listener's ops to whatever accept() returned.  Who
 * is about to have TCP look at the ops has to see to it that they are TCP's.
 *
 * Context: process, may sleep; a call on the open socket.
 * Return: 0, or -ENOMEM.
 */
int sanx_fallback_adopt(struct socket *sock)
{
	struct inode *inode = SOCK_INODE(sock);
	struct sanx_sock *ss;

	if (READ_ONCE(inode->i_private))
		return 0;
	ss = sanx_sock_alloc(sock->sk, sanx_native_ops(sock));
	if (!ss)
		return -ENOMEM;
	ss->fell_back = true;
	lock_sock(ss->sk);
	if (inode->i_private) {
		/* Another call has been faster. */
		release_sock(ss->sk);
		sanx_sock_free(ss);
		return 0;
	}
	__module_get(ss->native->owner);
	/* Pairs with the read in sanx_sk(): it has fallen back who sees it. */
	smp_store_release(&inode->i_private, ss);
	/* As in become_native(). */
	smp_store_release(&sock->ops, ss->native);
	leave_to_reaper(sock, ss);
	release_sock(ss->sk);
	return 0;
}

/**
 * sanx_fall_back() - make a socket the native one
 * @sock: the socket, not connected by AF_SANX
 * @ss: its AF_SANX part, which leaves with the socket
 * @why: what to count
 *
 * Context: process, lock_sock() held; a call on the open socket, so that it
 * cannot be released meanwhile.
 */
void sanx_fall_back(struct socket *sock, struct sanx_sock *ss,
		    enum sanx_fallback why)
{
	sanx_listener_stop(&ss->lsk);
	sanx_unbind_auto(ss);
	WRITE_ONCE(sock->state, SS_UNCONNECTED);
	become_native(sock, ss, why);
}

/*
 * Falls back and connects natively, on behalf of a connect() that returned
 * EINPROGRESS.  In this order, so that poll() never finds a socket that seems
 * to be neither connected nor connecting.
 */
static void connect_native(struct socket *sock, struct sanx_sock *ss,
			   const struct sanx_conn *conn)
{
	struct sock *sk = sock->sk;
	struct sockaddr_storage addr;
	int err, len;

	sanx_unbind_auto(ss);
	WRITE_ONCE(sock->state, SS_UNCONNECTED);
	len = sanx_endpoint_fill(&conn->remote, sk->sk_family,
				 (struct sockaddr *)&addr);
	err = __inet_stream_connect(sock, (struct sockaddr *)&addr, len,
				    O_NONBLOCK, 0);
	if (err && err != -EINPROGRESS)
		WRITE_ONCE(sk->sk_err, -err);
	become_native(sock, ss, conn->fallback);
	if (sk->sk_err)
		sk_error_report(sk);
	/* A blocking connect() waits for news and finds TCP. */
	sk->sk_state_change(sk);
}

/*
 * Keeps a socket from being released, without waiting.  One without a file is
 * the kernel's own; see release_native().
 */
static bool hold_open(struct socket *sock, struct file **file)
{
	*file = sock ? sock->file : NULL;
	return sock && (!*file || atomic_long_inc_not_zero(&(*file)->f_count));
}

/* Under lock_sock(). */
static void fall_back_late(struct sanx_conn *conn, struct sock *sk,
			   struct file **file)
{
	struct socket *sock = sk->sk_socket;
	struct sanx_sock *ss = conn->ss;

	*file = NULL;
	if (!ss || READ_ONCE(conn->state) != SANX_CONN_REFUSED ||
	    !hold_open(sock, file))
		return;
	connect_native(sock, ss, conn);
}

/**
 * sanx_fallback_work() - finish a refused connection's socket as TCP
 * @work: &sanx_conn.work, with a reference of the connection
 *
 * Context: the connect thread.
 */
void sanx_fallback_work(struct kthread_work *work)
{
	struct sanx_conn *conn = container_of(work, struct sanx_conn,
					      work.work);
	struct sock *sk = sanx_conn_sk_get(conn);
	struct file *file;

	if (sk && !sanx_lock_sock_soon(sk)) {
		sock_put(sk);
		sanx_conn_refused_later(conn);
		return;
	}
	if (sk) {
		fall_back_late(conn, sk, &file);
		release_sock(sk);
		if (file)
			fput(file);
		sock_put(sk);
	}
	sanx_conn_put(conn);
}
