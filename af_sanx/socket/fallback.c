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
 * puts the socket into a table.  A reaper scans the table.  The release of a socket
 * sets sock->ops to NULL; the reaper then puts the inode and the module, and
 * frees struct sanx_sock.  Until then it says why the socket became TCP.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include <net/inet_common.h>

#include "config/config.h"
#include "conn/trace.h"
#include "conn/watch.h"
#include "config/cov.h"
#include "socket_priv.h"

/* As in Documentation/netlink/specs/sanx.yaml, the counters without "fallback-". */
static const char * const fallback_names[__SANX_FALLBACKS] = {
	[SANX_FALLBACK_UNMAPPED]	= "unmapped",
	[SANX_FALLBACK_PORT]		= "port",
	[SANX_FALLBACK_LINK]		= "link",
	[SANX_FALLBACK_REFUSED]		= "refused",
	[SANX_FALLBACK_OPTION]		= "option",
	[SANX_FALLBACK_ACCEPT]		= "accept",
	[SANX_FALLBACK_ASKED]		= "asked",
	[SANX_FALLBACK_ROUTE]		= "route",
	[SANX_FALLBACK_DENIED]		= "denied",
	[SANX_FALLBACK_LIMIT]		= "limit",
};

/**
 * sanx_fallback_name() - name of a reason for user space
 * @why: the reason
 *
 * Context: any.
 * Return: a constant string.
 */
const char *sanx_fallback_name(enum sanx_fallback why)
{
	return fallback_names[why];
}

/*
 * Guards fallen, n_fallen, reap_next, and sanx_sock.node of the sockets in fallen.  A socket
 * stays in its chain, at its place, so that a dump can go on where it has stopped.
 */
static DEFINE_SPINLOCK(fallen_lock);
static struct list_head fallen[SANX_FALLEN_CHAINS];
static unsigned int n_fallen;
/* The chain that the reaper looks at next. */
static unsigned int reap_next;

static void reap_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(reap_work, reap_fn);

/* The reaper looks at no further chain in one run when it has looked at so many sockets. */
#define REAP_BATCH	256U

/*
 * 50 ms for few sockets.  For many, so long that each is looked at about once a
 * second; a run looks at a whole chain at least.
 * Return: jiffies until the next run.
 */
static unsigned long reap_delay(unsigned int n)
{
	if (n < REAP_BATCH)
		return msecs_to_jiffies(50);
	return msecs_to_jiffies(max(1000U * REAP_BATCH / n, 1000U / SANX_FALLEN_CHAINS));
}

/* Moves the released sockets of a chain to @dead.  Return: how many it looked at. */
static unsigned int reap_chain(struct list_head *chain, struct list_head *dead)
{
	struct sanx_sock *ss, *next;
	unsigned int seen = 0;

	lockdep_assert_held(&fallen_lock);
	list_for_each_entry_safe(ss, next, chain, node) {
		seen++;
		if (READ_ONCE(ss->sock->ops))
			continue;
		list_move(&ss->node, dead);
		n_fallen--;
	}
	return seen;
}

/* Moves released sockets to @dead.  Return: the number of sockets left in the table. */
static unsigned int reap_batch(struct list_head *dead)
{
	unsigned int i, seen = 0;

	for (i = 0; i < SANX_FALLEN_CHAINS && seen < REAP_BATCH; i++) {
		seen += reap_chain(&fallen[reap_next], dead);
		reap_next = (reap_next + 1) % SANX_FALLEN_CHAINS;
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
 * sanx_fallback_init() - prepare for sockets that become TCP
 *
 * Context: init of the module.
 */
void __init sanx_fallback_init(void)
{
	unsigned int i;

	for (i = 0; i < SANX_FALLEN_CHAINS; i++)
		INIT_LIST_HEAD(&fallen[i]);
}

/**
 * sanx_fallback_drain() - wait until the reaper has returned
 *
 * For the module's exit.  The table is empty then, but reap_fn() may not have
 * returned yet after it put the last reference of the module.
 *
 * Context: process, may sleep.
 */
void sanx_fallback_drain(void)
{
	cancel_delayed_work_sync(&reap_work);
}

static struct list_head *fallen_chain(const struct sanx_sock *ss)
{
	return &fallen[hash_ptr(ss, ilog2(SANX_FALLEN_CHAINS))];
}

/*
 * Passes @ss to the reaper, with the reference of the module that sock->ops
 * had.
 */
static void leave_to_reaper(struct socket *sock, struct sanx_sock *ss,
			    enum sanx_fallback why)
{
	ss->sock = sock;
	ss->why = why;
	ihold(SOCK_INODE(sock));
	spin_lock(&fallen_lock);
	list_add_tail(&ss->node, fallen_chain(ss));
	n_fallen++;
	spin_unlock(&fallen_lock);
	schedule_delayed_work(&reap_work, reap_delay(0));
}

/*
 * Makes the socket TCP.
 * @remote: what it connects to, or NULL
 * Context: lock_sock() held; so that the socket cannot be released, the caller
 * holds it open or is a call on it.
 */
static void become_native(struct socket *sock, struct sanx_sock *ss,
			  const struct sanx_endpoint *remote, enum sanx_fallback why)
{
	struct sanx_conn *conn = ss->conn;

	sock_owned_by_me(ss->sk);
	trace_sanx_fallback(ss->sk, why);
	sanx_tell(fallback, ss->sk, remote, why);
	sanx_socks_del(ss, true);
	WRITE_ONCE(ss->fell_back, true);
	/*
	 * Store ss->fell_back, above, before sock->ops, and before the
	 * connection ends.  A call that sees its connection end, then knows
	 * that TCP has the answer (sanx_recv_end(), sanx_sendmsg(), sanx_poll()).
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
	sanx_tally_fallback(ss, ss->sk, remote, why);
	leave_to_reaper(sock, ss, why);
}

/*
 * Give a TCP socket TCP's ops in place of ours.
 *
 * kernel_accept() gives its listener's ops to each socket that accept()
 * returned, also to a TCP socket.  Before TCP looks at the ops of such a
 * socket, they must be TCP's own.
 *
 * On success, the reaper owns the new struct sanx_sock and one reference of
 * this module.
 *
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
	leave_to_reaper(sock, ss, SANX_FALLBACK_ACCEPT);
	release_sock(ss->sk);
	return 0;
}

/*
 * The sock of a socket that may be released meanwhile.  Its release holds the lock of its
 * inode, and clears sock->sk.  One without a file, which is the kernel's, is released without
 * that lock.
 * Return: the sock with a reference, or NULL.
 */
static struct sock *fallen_sk(const struct sanx_sock *ss, const struct net *net)
{
	struct inode *inode = SOCK_INODE(ss->sock);
	struct sock *sk = NULL;

	if (!ss->sock->file || !inode_trylock(inode))
		return NULL;
	if (ss->sock->sk && net_eq(sock_net(ss->sock->sk), net)) {
		sk = ss->sock->sk;
		sock_hold(sk);
	}
	inode_unlock(inode);
	return sk;
}

/**
 * sanx_fallen_each() - call a function for sockets that became TCP
 * @net: their namespace
 * @chain: which of them, from 0 to SANX_FALLEN_CHAINS - 1; in each they have an order
 * @fn: the function; returns false to stop.  It runs under a spinlock and must not
 *	sleep.  The sock has a reference until it returns.
 * @arg: third argument of @fn
 *
 * Context: process.
 * Return: false if @fn did.
 */
bool sanx_fallen_each(const struct net *net, unsigned int chain,
		      bool (*fn)(const struct sock *sk, enum sanx_fallback why, void *arg),
		      void *arg)
{
	const struct sanx_sock *ss;
	bool go_on = true;
	struct sock *sk;

	spin_lock(&fallen_lock);
	list_for_each_entry(ss, &fallen[chain], node) {
		sk = fallen_sk(ss, net);
		if (!sk)
			continue;
		go_on = fn(sk, ss->why, arg);
		sock_put(sk);
		if (!go_on)
			break;
	}
	spin_unlock(&fallen_lock);
	return go_on;
}

/**
 * sanx_fall_back() - make a socket TCP before it is connected
 * @sock: the socket, not connected by AF_SANX
 * @ss: its AF_SANX part; the reaper owns it afterwards
 * @remote: what it is about to connect to, or NULL
 * @why: the counter to increment
 *
 * Context: process, may sleep; lock_sock() held.  The caller is a call on the
 * open socket, so the socket cannot be released meanwhile.
 */
void sanx_fall_back(struct socket *sock, struct sanx_sock *ss,
		    const struct sanx_endpoint *remote, enum sanx_fallback why)
{
	sanx_listener_stop(&ss->lsk);
	sanx_ends_forget(ss);
	WRITE_ONCE(sock->state, SS_UNCONNECTED);
	become_native(sock, ss, remote, why);
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
	become_native(sock, ss, &conn->remote, conn->fallback);
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
	if (!ss || READ_ONCE(conn->state) != SANX_CONN_REFUSED)
		return false;
	if (ss->explicit) {
		sanx_conn_refused_end(conn, -sanx_explicit_error(conn->fallback));
		return false;
	}
	if (!hold_open(sock, file))
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

/*
 * Make the socket of a refused connection TCP, or tell an explicit one.
 * @work: &sanx_conn.work, with a reference of the connection.
 *
 * Puts that reference, or passes it to sanx_conn_refused_later() if the socket
 * is locked.
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
