// SPDX-License-Identifier: GPL-2.0
/*
 * Fallback: an AF_SANX socket becomes its native socket, for good.
 *
 * The fallback is one store: sock->ops = native ops.  (sci-socket.txt 5.1.5
 * merges the two sockets at this point.  Here they are one socket from the
 * start.)
 *
 * The lifetime of struct sanx_sock needs care.  A call on another CPU can have
 * loaded the old sock->ops without having made its call yet.  accept() even
 * allocates memory between the two.  So struct sanx_sock and the module must
 * stay until the socket is released.
 *
 * The socket must be plain TCP, so nothing in it can be hooked to learn of its
 * release.  Instead the fallback takes a reference of the socket's inode, and
 * puts the socket on a list.  A reaper scans the list.  The release of a socket
 * sets sock->ops to NULL; the reaper then puts the inode and the module, and
 * frees struct sanx_sock.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include <net/inet_common.h>

#include "config/config.h"
#include "conn/trace.h"
#include "config/cov.h"
#include "internal.h"

/* Guards fallen, n_fallen, and sanx_sock.node of the sockets in fallen. */
static DEFINE_SPINLOCK(fallen_lock);
static LIST_HEAD(fallen);
static unsigned int n_fallen;

static void reap_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(reap_work, reap_fn);

/* Most sockets that the reaper looks at in one run. */
#define REAP_BATCH	256U

/*
 * 50 ms for few sockets.  For many, so long that each is looked at once a
 * second.
 * Return: jiffies until the next run.
 */
static unsigned long reap_delay(unsigned int n)
{
	return msecs_to_jiffies(n < REAP_BATCH ? 50 : 1000U * REAP_BATCH / n);
}

/*
 * Moves released sockets to @dead, and the others that it looked at to the end
 * of the list.
 * Return: the number of sockets left in the list.
 */
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
 * For the module's exit.  The list is empty then, but reap_fn() may not have
 * returned yet after it put the last reference of the module.
 *
 * Context: process, may sleep.
 */
void sanx_fallback_drain(void)
{
	cancel_delayed_work_sync(&reap_work);
}

/*
 * Passes @ss to the reaper, with the reference of the module that sock->ops
 * had.
 */
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
 * Makes the socket TCP.
 * Context: lock_sock() held; so that the socket cannot be released, the caller
 * holds it open or is a call on it.
 */
static void become_native(struct socket *sock, struct sanx_sock *ss,
			  enum sanx_fallback why)
{
	struct sanx_conn *conn = ss->conn;

	sock_owned_by_me(ss->sk);
	trace_sanx_fallback(ss->sk, why);
	sanx_socks_del(ss, true);
	WRITE_ONCE(ss->fell_back, true);
	/*
	 * Store ss->fell_back, above, before sock->ops, and before the
	 * connection ends.  A call that sees its connection end, then knows
	 * that TCP has the answer (recv_end(), sanx_sendmsg(), sanx_poll()).
	 * The net core loads sock->ops and calls through it: no barrier of its
	 * own, the address depends on the load.  From here on the reaper holds
	 * the module, not sock->ops.
	 */
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
 * sanx_fallback_adopt() - give a TCP socket TCP's ops in place of ours
 * @sock: a socket that is TCP according to sanx_sk()
 *
 * kernel_accept() gives its listener's ops to each socket that accept()
 * returned, also to a TCP socket.  Before TCP looks at the ops of such a
 * socket, they must be TCP's own.
 *
 * On success, the reaper owns the new struct sanx_sock and one reference of
 * this module.
 *
 * Context: process, may sleep; a call on the open socket.  Takes lock_sock().
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
		/* Another call was faster. */
		release_sock(ss->sk);
		sanx_sock_free(ss);
		return 0;
	}
	__module_get(ss->native->owner);
	/*
	 * Store fell_back before i_private.  Pairs with the load of i_private
	 * in sanx_sk().
	 */
	smp_store_release(&inode->i_private, ss);
	/* As in become_native(): fell_back before sock->ops. */
	smp_store_release(&sock->ops, ss->native);
	leave_to_reaper(sock, ss);
	release_sock(ss->sk);
	return 0;
}

/**
 * sanx_fall_back() - make a socket TCP before it is connected
 * @sock: the socket, not connected by AF_SANX
 * @ss: its AF_SANX part; the reaper owns it afterwards
 * @why: the counter to increment
 *
 * Context: process, may sleep; lock_sock() held.  The caller is a call on the
 * open socket, so the socket cannot be released meanwhile.
 */
void sanx_fall_back(struct socket *sock, struct sanx_sock *ss,
		    enum sanx_fallback why)
{
	sanx_listener_stop(&ss->lsk);
	sanx_ends_forget(ss);
	WRITE_ONCE(sock->state, SS_UNCONNECTED);
	become_native(sock, ss, why);
}

/*
 * Connects natively and falls back, for a connect() that returned EINPROGRESS.
 * TCP's connect comes first, so that poll() never sees a socket that is neither
 * connected nor connecting.
 * Context: the connect thread, lock_sock() held.
 */
static void connect_native(struct socket *sock, struct sanx_sock *ss,
			   const struct sanx_conn *conn)
{
	struct sock *sk = sock->sk;
	struct sockaddr_storage addr;
	int err, len;

	sanx_ends_forget(ss);
	WRITE_ONCE(sock->state, SS_UNCONNECTED);
	len = sanx_endpoint_fill(&conn->remote, sk->sk_family,
				 (struct sockaddr *)&addr);
	err = __inet_stream_connect(sock, (struct sockaddr *)&addr, len,
				    O_NONBLOCK, 0);
	if (err && err != -EINPROGRESS)
		WRITE_ONCE(sk->sk_err, -err);
	become_native(sock, ss, conn->fallback);
}

/*
 * Takes a reference of the socket's file, so that the socket cannot be
 * released.  Does not sleep.  A socket without a file belongs to the kernel,
 * see release_native().
 * @file: set to the file to put, or NULL
 * Return: false if the socket is being released.
 */
static bool hold_open(struct socket *sock, struct file **file)
{
	*file = sock ? sock->file : NULL;
	return sock && (!*file || atomic_long_inc_not_zero(&(*file)->f_count));
}

/*
 * Context: lock_sock() held.
 * @file: set to the file to put after release_sock(), or NULL
 * Return: true if the socket is TCP now, and news_of_tcp() is to follow.
 */
static bool fall_back_late(struct sanx_conn *conn, struct sock *sk,
			   struct file **file)
{
	struct socket *sock = sk->sk_socket;
	struct sanx_sock *ss = conn->ss;

	*file = NULL;
	if (!ss || READ_ONCE(conn->state) != SANX_CONN_REFUSED ||
	    !hold_open(sock, file))
		return false;
	connect_native(sock, ss, conn);
	return true;
}

/*
 * Wakes a blocking connect(), which finds that the socket is TCP, and waits there.  Who
 * polls is told by TCP, later: for a wake-up without an event, io_uring calls connect()
 * again, and takes EALREADY for the result (6.1).  Nobody polls for EPOLLMSG.
 */
static void news_of_connecting(struct sock *sk)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait, EPOLLMSG);
	rcu_read_unlock();
}

/*
 * Wakes those who wait for the end of connect(): poll(), and a blocking
 * connect(), which finds that the socket is TCP.
 *
 * Not before release_sock(): over loopback TCP's answer is in the backlog until
 * then, and TCP stores sk_err before the state.  Whoever is woken in between
 * sees EPOLLERR without EPOLLHUP.
 */
static void news_of_tcp(struct sock *sk)
{
	/* If it ends just now, TCP wakes all. */
	if ((1 << READ_ONCE(sk->sk_state)) & (TCPF_SYN_SENT | TCPF_SYN_RECV)) {
		news_of_connecting(sk);
		return;
	}
	if (READ_ONCE(sk->sk_err))
		sk_error_report(sk);
	sk->sk_state_change(sk);
}

/**
 * sanx_fallback_work() - make the socket of a refused connection TCP
 * @work: &sanx_conn.work, with a reference of the connection
 *
 * Puts that reference, or passes it to sanx_conn_refused_later() if the socket
 * is locked.
 *
 * Context: the connect thread; no lock held.
 */
void sanx_fallback_work(struct kthread_work *work)
{
	struct sanx_conn *conn = container_of(work, struct sanx_conn,
					      work.work);
	struct sock *sk = sanx_conn_sk_get(conn);
	struct file *file;
	bool cov, fell;

	if (sk && !sanx_lock_sock_soon(sk)) {
		sock_put(sk);
		sanx_conn_refused_later(conn);
		return;
	}
	if (sk) {
		cov = sanx_cov_start(conn->net);
		fell = fall_back_late(conn, sk, &file);
		release_sock(sk);
		if (fell)
			news_of_tcp(sk);
		sanx_cov_stop(cov);
		if (file)
			fput(file);
		sock_put(sk);
	}
	sanx_conn_put(conn);
}
