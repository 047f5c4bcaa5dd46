// SPDX-License-Identifier: GPL-2.0
/*
 * Security labels: an AF_SANX sock gets the labels of a TCP or UDP sock.
 *
 * __sock_create() lets the security module label a socket after the family has
 * made it, by the number of the family.  SELinux does not know AF_SANX's
 * number, and labels the native sock with the generic class "socket".  It then
 * does not check name_connect, and rules on "tcp_socket" do not apply, not even
 * after a fallback.
 *
 * So AF_SANX labels the sock once more, with security_sock_graft() and the
 * inode of a TCP or UDP socket (stream_donor, dgram_donor), which has the right
 * class.  The sock's security context does not change.  This must come after the kernel's
 * labelling and before the program can use the socket: when the task returns
 * from socket(2).  fput() releases a file at that time.  So the shell of the
 * native socket gets a file, and its release labels the sock.  Task work of our
 * own would do as well, but nothing would hold the module until it returned.
 *
 * The inode of the visible socket keeps the label that the kernel gave it.  The
 * kernel checks that label for read() and write() of the file.
 */
#include <linux/in6.h>
#include <linux/net.h>
#include <linux/sctp.h>
#include <linux/security.h>
#include <net/sock.h>

#include "socket_priv.h"

/*
 * A TCP and a UDP socket without a sock.  SELinux writes to their labels, which are
 * never used.
 */
static struct socket *stream_donor, *dgram_donor;

/*
 * Does the security module label by class?
 *
 * SELinux rejects an address that is too short.  Without SELinux, this hook
 * does not check it.  SELinux does not check it either if its policy lacks the
 * classes of 2017 (extended_socket_class).  sanx_label_connect() cannot check
 * then.
 *
 * Return: true if the sock must be labelled.
 */
bool sanx_label_due(struct sock *sk)
{
	struct sockaddr addr = { .sa_family = AF_INET };

	return security_sctp_bind_connect(sk, SCTP_SENDMSG_CONNECT, &addr,
					  sizeof(addr.sa_family));
}

/* Label a sock as TCP's or UDP's.  @sk: the sock, with a reference. */
void sanx_label(struct sock *sk)
{
	security_sock_graft(sk, sk->sk_type == SOCK_DGRAM ? dgram_donor :
							    stream_donor);
}

/*
 * Label an accepted sock as TCP would.
 *
 * TCP clones the listener's label (sk_clone_lock()), whichever task accepts.
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

/*
 * Label a sock when socket(2) returns.  @sk: the sock; @shell takes a reference, and one of the
 * module.
 */
void sanx_label_later(struct socket *shell, struct sock *sk)
{
	__module_get(THIS_MODULE);
	shell->ops = &label_ops;
	sock_hold(sk);
	shell->sk = sk;
}

/*
 * Return: bytes that security_sctp_bind_connect() expects for one address, or 0
 * if @uaddr is not valid.
 */
static int address_size(const struct sockaddr *uaddr, int len)
{
	if (uaddr->sa_family == AF_INET && len >= (int)sizeof(struct sockaddr_in))
		return sizeof(struct sockaddr_in);
	if (uaddr->sa_family == AF_INET6 && len >= SIN6_LEN_RFC2133)
		return sizeof(struct sockaddr_in6);
	return 0;
}

/*
 * Check whether the security module permits a connection.  lock_sock() held.
 *
 * The kernel checks before it calls connect().  But a task that guesses the
 * number of a file that is being made, or a chain of io_uring, can connect
 * before the sock was labelled.  So label it here and check again, by the only
 * such hook that modules may call.
 *
 * Return: 0, or -EACCES.
 */
int sanx_label_connect(struct sock *sk, const struct sockaddr *uaddr, int len)
{
	if (sk->sk_kern_sock || !sanx_label_due(sk))
		return 0;
	return sanx_label_may_connect(sk, uaddr, len);
}

/*
 * Does the security module permit a connection?  lock_sock() held.
 *
 * For what is no connect(), and which the kernel has not checked.  By the only such hook
 * that modules may call.
 *
 * Return: 0, or -EACCES.
 */
int sanx_label_may_connect(struct sock *sk, const struct sockaddr *uaddr, int len)
{
	int size = address_size(uaddr, len);
	struct sockaddr_storage addr = {};

	if (sk->sk_kern_sock)
		return 0;
	if (sanx_label_due(sk))
		sanx_label(sk);
	if (!size)
		return 0;
	memcpy(&addr, uaddr, min(len, size));
	return security_sctp_bind_connect(sk, SCTP_SENDMSG_CONNECT,
					  (struct sockaddr *)&addr, size);
}

int __init sanx_label_init(void)
{
	int err;

	err = sock_create_lite(PF_INET, SOCK_STREAM, IPPROTO_TCP,
			       &stream_donor);
	if (err)
		return err;
	err = sock_create_lite(PF_INET, SOCK_DGRAM, IPPROTO_UDP, &dgram_donor);
	if (err)
		sock_release(stream_donor);
	return err;
}

void sanx_label_exit(void)
{
	sock_release(dgram_donor);
	sock_release(stream_donor);
}
