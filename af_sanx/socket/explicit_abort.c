// SPDX-License-Identifier: GPL-2.0
/*
 * The administrator ends an explicit socket, as "ss -K" ends others: sock_diag(7) looks for
 * sockets in the tables of TCP and UDP, where there are no explicit ones.
 */
#include <linux/delay.h>
#include <net/tcp_states.h>

#include "socket_priv.h"

#define LOCK_TRIES	100U
#define LOCK_RETRY	10U	/* ms */

struct wanted {
	unsigned long	inode;
	struct sock	*sk;
};

/* Under socks.lock. */
static bool find(const struct sanx_sock *ss, void *arg)
{
	struct wanted *w = arg;

	if (!ss->explicit || sock_i_ino(ss->sk) != w->inode)
		return true;
	w->sk = ss->sk;
	sock_hold(w->sk);
	return false;
}

/* As udp_abort(). */
static void abort_dgram(struct sanx_sock *ss)
{
	WRITE_ONCE(ss->sk->sk_err, ECONNABORTED);
	sk_error_report(ss->sk);
	sanx_explicit_dgram_disconnect(ss);
}

/*
 * As tcp_abort().  All who wait in accept() are woken, and only when it listens no more: an
 * error report wakes one of them.
 */
static void abort_listener(struct sanx_sock *ss)
{
	struct sock *sk = ss->sk;

	sanx_explicit_disconnect(ss);
	WRITE_ONCE(sk->sk_err, ECONNABORTED);
	sk->sk_state_change(sk);
	sk_error_report(sk);
}

static bool has_end(const struct sanx_sock *ss)
{
	return ss->conn && (sanx_sock_connecting(ss, ss->conn) || !sanx_conn_over(ss->conn));
}

/*
 * Context: lock_sock() held.
 * @conn: set to the connection that is to be aborted, with a reference; or NULL
 * Return: 0; -ENOENT if there is nothing to end.
 */
static int abort_locked(struct sock *sk, struct sanx_conn **conn)
{
	struct sanx_sock *ss;

	*conn = NULL;
	/* UDP's sock is dead before close() takes the rest without the lock. */
	if (sock_flag(sk, SOCK_DEAD))
		return -ENOENT;
	ss = sanx_sk(sk->sk_socket);
	if (has_end(ss))
		*conn = sanx_conn_get(ss->conn);
	else if (sk->sk_type == SOCK_DGRAM)
		abort_dgram(ss);
	else if (sk->sk_state == TCP_LISTEN)
		abort_listener(ss);
	else
		return -ENOENT;
	return 0;
}

/*
 * A program can hold the lock of its socket for as long as it likes, and requests of generic
 * netlink hold up others.
 * Return: 0 with the lock held; -EBUSY after about a second; -EINTR.
 */
static int lock_in_time(struct sock *sk)
{
	unsigned int tries = 0;

	while (!sanx_lock_sock_soon(sk)) {
		if (++tries == LOCK_TRIES)
			return -EBUSY;
		if (msleep_interruptible(LOCK_RETRY))
			return -EINTR;
	}
	return 0;
}

/**
 * sanx_explicit_abort() - end an explicit socket
 * @net: the namespace
 * @inode: its inode number
 *
 * A connection is reset at both ends.  The program gets ECONNABORTED, or EINVAL from accept().
 *
 * Context: process, may sleep; takes lock_sock().
 * Return: 0; -ENOENT if there is none, or if it neither listens nor has a connection; -EBUSY
 * if the program is in a call that holds lock_sock(); -EINTR.
 */
int sanx_explicit_abort(const struct net *net, unsigned long inode)
{
	struct wanted w = { .inode = inode };
	struct sanx_conn *conn;
	int err;

	sanx_socks_each(net, find, &w);
	if (!w.sk)
		return -ENOENT;
	err = lock_in_time(w.sk);
	if (!err) {
		err = abort_locked(w.sk, &conn);
		release_sock(w.sk);
	}
	sock_put(w.sk);
	if (!err && conn) {
		sanx_conn_abort(conn, ECONNABORTED);
		sanx_conn_put(conn);
	}
	return err;
}
