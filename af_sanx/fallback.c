// SPDX-License-Identifier: GPL-2.0
/*
 * Fallback: an AF_SANX socket becomes the native one, for good.
 *
 * It is one store, sock->ops = native ops (sci-socket.txt 5.1.5 merges the two
 * sockets at this point; here they are one from the start).  What takes care
 * is the other side of that: a call on another CPU can have loaded the old
 * sock->ops and not made its call yet; accept() even allocates in between.  So
 * struct sanx_sock, which has those ops in it, and the module, which has their
 * code, must stay for as long as the socket is open.  Nothing of the socket
 * may be hooked for that, as it is to be plain TCP: instead the inode that the
 * socket lives in is held, and a reaper looks now and then for sockets that
 * were released, which leaves sock->ops NULL.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include <net/inet_connection_sock.h>
#include <net/inet_common.h>
#include <net/inet_hashtables.h>

#include "af_sanx.h"
#include "trace.h"

/* Guards fallen and n_fallen. */
static DEFINE_SPINLOCK(fallen_lock);
static LIST_HEAD(fallen);
static unsigned int n_fallen;

static void reap_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(reap_work, reap_fn);

/* Soon where there are few, at most once a second where there are many. */
static unsigned long reap_delay(unsigned int n)
{
	return msecs_to_jiffies(min(50 + n / 16, 1000U));
}

static void reap_fn(struct work_struct *work)
{
	struct sanx_sock *ss, *next;
	unsigned int left;
	LIST_HEAD(dead);

	spin_lock(&fallen_lock);
	list_for_each_entry_safe(ss, next, &fallen, node) {
		if (READ_ONCE(ss->sock->ops))
			continue;
		list_move(&ss->node, &dead);
		n_fallen--;
	}
	left = n_fallen;
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

/*
 * A port that connect() took for AF_SANX and not bind(): TCP picks its own, as
 * it may share one between destinations.
 */
static void unbind_auto(struct sock *sk, struct sanx_sock *ss)
{
	if (!ss->autobound)
		return;
	ss->autobound = false;
	inet_put_port(sk);
	inet_sk(sk)->inet_sport = 0;
}

/**
 * sanx_fall_back() - make a socket the native one
 * @sock: the socket, not connected by AF_SANX
 * @ss: its AF_SANX part, which leaves with the socket
 * @why: what to count
 *
 * Context: process, lock_sock() held.
 */
void sanx_fall_back(struct socket *sock, struct sanx_sock *ss,
		    enum sanx_fallback why)
{
	struct sock *sk = sock->sk;
	struct sanx_conn *conn = ss->conn;

	trace_sanx_fallback(sk, why);
	sanx_net_del_sock(ss);
	unbind_auto(sk, ss);
	sock->state = SS_UNCONNECTED;
	if (conn) {
		conn->ss = NULL;
		sanx_conn_detach(conn);
		sanx_conn_close(conn, true);
	}
	ss->sock = sock;
	ihold(SOCK_INODE(sock));
	WRITE_ONCE(ss->fell_back, true);
	/* From here on the module is pinned by @ss and not by sock->ops. */
	WRITE_ONCE(sock->ops, ss->native);
	sanx_stat_add(sock_net(sk), SANX_STAT_FALLBACK + why, 1);

	spin_lock(&fallen_lock);
	list_add_tail(&ss->node, &fallen);
	n_fallen++;
	spin_unlock(&fallen_lock);
	schedule_delayed_work(&reap_work, reap_delay(0));
}

/* Connects natively on behalf of a connect() that returned EINPROGRESS. */
static void connect_native(struct socket *sock, const struct sanx_conn *conn)
{
	struct sock *sk = sock->sk;
	struct sockaddr_storage addr;
	int err, len;

	len = sanx_endpoint_fill(&conn->remote, sk->sk_family,
				 (struct sockaddr *)&addr);
	err = __inet_stream_connect(sock, (struct sockaddr *)&addr, len,
				    O_NONBLOCK, 0);
	if (err && err != -EINPROGRESS) {
		WRITE_ONCE(sk->sk_err, -err);
		sk_error_report(sk);
	}
	/* A blocking connect() waits for news and finds TCP. */
	sk->sk_state_change(sk);
}

/**
 * sanx_fallback_work() - finish a refused connection's socket as TCP
 * @work: &sanx_conn.work, with a reference of the connection
 *
 * Context: the connect thread.
 */
void sanx_fallback_work(struct kthread_work *work)
{
	struct sanx_conn *conn = container_of(work, struct sanx_conn, work);
	struct sanx_sock *ss;
	struct socket *sock;
	struct sock *sk;

	rcu_read_lock();
	sk = READ_ONCE(conn->sk);
	if (READ_ONCE(conn->detached) ||
	    (sk && !refcount_inc_not_zero(&sk->sk_refcnt)))
		sk = NULL;
	rcu_read_unlock();
	if (!sk)
		goto out;
	lock_sock(sk);
	ss = conn->ss;
	sock = sk->sk_socket;
	if (ss && sock && READ_ONCE(conn->state) == SANX_CONN_REFUSED) {
		sanx_fall_back(sock, ss, conn->fallback);
		connect_native(sock, conn);
	}
	release_sock(sk);
	sock_put(sk);
out:
	sanx_conn_put(conn);
}
