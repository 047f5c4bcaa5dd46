// SPDX-License-Identifier: GPL-2.0
/*
 * What a security module takes our sockets for: TCP's.
 *
 * __sock_create() has a socket labelled after its family has made it, by the number
 * of the family.  SELinux does not know ours, and makes the native sock one of the
 * generic class "socket": then name_connect is not asked for, and rules on
 * "tcp_socket" do not hold, not even where the connection becomes TCP.
 *
 * So it is labelled once more, by security_sock_graft() and the inode of a TCP
 * socket, which has the right class; whose it is stays as it was.  That has to be
 * after the kernel's labelling, and before the program can use the socket: when
 * the task returns from socket(2).  fput() releases a file just then, and here it is
 * the file of the native socket's shell, whose release labels.  Task work of our
 * own would do as well, but nothing would hold the module while it returns.
 *
 * The inode of our socket keeps the label that the kernel gave it: it is asked where
 * a file is read or written.
 */
#include <linux/in6.h>
#include <linux/net.h>
#include <linux/sctp.h>
#include <linux/security.h>
#include <net/sock.h>

#include "internal.h"

/* A TCP socket without a sock.  SELinux writes to its label; nobody reads that. */
static struct socket *label_donor;

/**
 * sanx_label_due() - does anybody label by class?
 * @sk: a sock
 *
 * SELinux finds an address that is cut short; without it nobody looks.  Nor does it,
 * where its policy is older than the classes of 2017 (extended_socket_class): then
 * sanx_label_connect() cannot ask, either.
 *
 * Context: process.
 * Return: true if so.
 */
bool sanx_label_due(struct sock *sk)
{
	struct sockaddr addr = { .sa_family = AF_INET };

	return security_sctp_bind_connect(sk, SCTP_SENDMSG_CONNECT, &addr,
					  sizeof(addr.sa_family));
}

/**
 * sanx_label() - have a sock taken for TCP's
 * @sk: it, with a reference
 *
 * Context: process.
 */
void sanx_label(struct sock *sk)
{
	security_sock_graft(sk, label_donor);
}

/**
 * sanx_label_child() - have a sock taken for one that TCP made for a listener
 * @sk: it, which nobody else knows yet
 * @lsk: the listener's sock
 *
 * TCP clones the listener's (sk_clone_lock()), whoever accepts it.
 *
 * Context: process.
 */
void sanx_label_child(struct sock *sk, const struct sock *lsk)
{
	security_sk_clone(lsk, sk);
}

static int label_release(struct socket *shell)
{
	struct sock *sk = shell->sk;

	shell->sk = NULL;
	sanx_label(sk);
	sock_put(sk);
	return 0;
}

static const struct proto_ops label_ops = {
	.family = PF_INET,
	.owner = THIS_MODULE,
	.release = label_release,
};

/**
 * sanx_label_later() - label a socket when the call that makes it returns
 * @shell: what is left of the native socket, with a file and without ops; labels
 *	@sk when the file is released
 * @sk: the sock
 *
 * Context: process.
 */
void sanx_label_later(struct socket *shell, struct sock *sk)
{
	__module_get(THIS_MODULE);
	shell->ops = &label_ops;
	sock_hold(sk);
	shell->sk = sk;
}

/* What security_sctp_bind_connect() takes for one address; 0 for none. */
static int address_size(const struct sockaddr *uaddr, int len)
{
	if (uaddr->sa_family == AF_INET && len >= (int)sizeof(struct sockaddr_in))
		return sizeof(struct sockaddr_in);
	if (uaddr->sa_family == AF_INET6 && len >= SIN6_LEN_RFC2133)
		return sizeof(struct sockaddr_in6);
	return 0;
}

/**
 * sanx_label_connect() - may this connection be begun?
 * @sk: the sock
 * @uaddr: the peer's address
 * @len: bytes of it, enough for the family
 *
 * The kernel asks before it calls connect().  Who knows the number of a file that
 * is just being made can be faster than the label, as can a chain of io_uring;
 * then it is asked here once more, by the one hook for it that modules may call.
 *
 * Context: process, lock_sock() held.
 * Return: 0, or -EACCES.
 */
int sanx_label_connect(struct sock *sk, const struct sockaddr *uaddr, int len)
{
	int size = address_size(uaddr, len);
	struct sockaddr_storage addr = {};

	if (sk->sk_kern_sock || !sanx_label_due(sk))
		return 0;
	sanx_label(sk);
	if (!size)
		return 0;
	memcpy(&addr, uaddr, min(len, size));
	return security_sctp_bind_connect(sk, SCTP_SENDMSG_CONNECT,
					  (struct sockaddr *)&addr, size);
}

int __init sanx_label_init(void)
{
	return sock_create_lite(PF_INET, SOCK_STREAM, IPPROTO_TCP,
				&label_donor);
}

void sanx_label_exit(void)
{
	sock_release(label_donor);
}
