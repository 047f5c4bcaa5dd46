// SPDX-License-Identifier: GPL-2.0
/*
 * What the stack calls on a sock with a connection, and not on its socket.
 *
 * "ss -K" and bpf_sock_destroy() end a sock by proto.diag_destroy, and io_uring asks it by
 * proto.ioctl.  TCP's functions would look at a closed sock.  So the sock has a copy of TCP's
 * proto with these two replaced, as long as it is in TCP's tables (ends.c).  An explicit one
 * has it always, without psock_update_sk_prot: so no sockmap takes it, which has rules for
 * closed socks of TCP only.
 *
 * Invariant: sk->sk_prot is one of ours only while ss->ends is not NONE, or the socket is
 * explicit, and the socket is not released; lock_sock() guards all of that.  Children are
 * cloned of listeners, which never have it.
 */
#include <linux/bpf.h>
#include <linux/module.h>
#include <net/tcp.h>
#include <uapi/linux/sanx.h>

#include "socket_priv.h"

enum { PROT_V4, PROT_V6, PROT_EXPLICIT, PROTS };

/* By prot_index(), each with TCP's that it is a copy of; prot_mutex. */
static struct proto prots[PROTS];
static struct proto *prot_of[PROTS];
static DEFINE_MUTEX(prot_mutex);

static unsigned int prot_index(const struct sock *sk)
{
	if (sk->sk_protocol == SANXPROTO_EXPLICIT)
		return PROT_EXPLICIT;
	return sk->sk_family == AF_INET6 ? PROT_V6 : PROT_V4;
}

#if SANX_PROTO_IOCTL
static int prot_ioctl(struct sock *sk, int cmd, int *karg)
{
	struct sanx_sock *ss = sanx_sk(sk->sk_socket);
	int err = ss ? sanx_sock_ask(ss, cmd, karg) : -ENOIOCTLCMD;

	return err == -ENOIOCTLCMD ? prot_of[prot_index(sk)]->ioctl(sk, cmd, karg) : err;
}
#endif

/* Context: lock_sock() held.  Return: the connection, with a reference, or NULL. */
static struct sanx_conn *prot_conn(struct sock *sk)
{
	struct sanx_sock *ss;

	if (sk->sk_prot != &prots[prot_index(sk)])
		return NULL;
	ss = sanx_sk(sk->sk_socket);
	return ss && ss->conn ? sanx_conn_get(ss->conn) : NULL;
}

/*
 * A program of BPF that iterates over socks has locked the sock.  Else the caller has only a
 * reference of it, so its socket, which has one of this module, may be closed meanwhile.
 */
static int prot_diag_destroy(struct sock *sk, int err)
{
	bool locked = has_current_bpf_ctx();
	struct sanx_conn *conn;

	if (!try_module_get(THIS_MODULE))
		return -ENOENT;
	if (!locked)
		lock_sock(sk);
	conn = prot_conn(sk);
	if (!locked)
		release_sock(sk);
	if (conn) {
		sanx_conn_abort(conn, err);
		sanx_conn_put(conn);
	}
	module_put(THIS_MODULE);
	return conn ? 0 : -ENOENT;
}

static void prot_make(unsigned int i, struct proto *tcp)
{
	mutex_lock(&prot_mutex);
	if (!prot_of[i]) {
		prots[i] = *tcp;
#if SANX_PROTO_IOCTL
		prots[i].ioctl = prot_ioctl;
#endif
		prots[i].diag_destroy = prot_diag_destroy;
#ifdef CONFIG_BPF_SYSCALL
		if (i == PROT_EXPLICIT)
			prots[i].psock_update_sk_prot = NULL;
#endif
		/* Pairs with smp_load_acquire() in sanx_prot_set(). */
		smp_store_release(&prot_of[i], tcp);
	}
	mutex_unlock(&prot_mutex);
}

/* Let the stack find AF_SANX's functions at a sock.  lock_sock() held. */
void sanx_prot_set(struct sock *sk)
{
	unsigned int i = prot_index(sk);

	/* Pairs with smp_store_release() in prot_make(). */
	if (!smp_load_acquire(&prot_of[i]))
		prot_make(i, sk->sk_prot_creator);
	if (sk->sk_prot == prot_of[i])
		WRITE_ONCE(sk->sk_prot, &prots[i]);
}

/* Undo sanx_prot_set().  lock_sock() held. */
void sanx_prot_reset(struct sock *sk)
{
	unsigned int i = prot_index(sk);

	if (sk->sk_prot == &prots[i])
		WRITE_ONCE(sk->sk_prot, prot_of[i]);
}
