/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the kernels that this tree supports, 6.1 to 6.12.  Kbuild
 * force-includes this header.  No other folder checks the kernel version.
 */
#ifndef _SANX_COMPAT_H
#define _SANX_COMPAT_H

#include <linux/version.h>
#include <linux/ipv6.h>
#include <linux/sysctl.h>
#include <linux/net.h>
#include <linux/tcp.h>
#include <net/genetlink.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <net/tcp.h>

/*
 * Split genetlink operations exist since 6.2.  Each operation here is either a
 * do or a dump, so plain operations serve as well.
 */
#if KERNEL_VERSION(6, 2, 0) > LINUX_VERSION_CODE
#define genl_split_ops		genl_ops
#define SANX_GENL_OPS		.ops = sanx_nl_ops, \
				.n_ops = ARRAY_SIZE(sanx_nl_ops)
#else
#define SANX_GENL_OPS		.split_ops = sanx_nl_ops, \
				.n_split_ops = ARRAY_SIZE(sanx_nl_ops)
#endif

/*
 * sanx_tcp_lend() - give TCP pages to send, which it sends from without a copy
 * @sk: the sock, locked
 * @bv: the pages
 * @n: entries of @bv
 * @len: bytes of @bv
 * @flags: MSG_MORE or 0
 *
 * Since 6.5 sendmsg() does it, and sendpage() is gone.
 * Return: bytes taken, or -errno.
 */
#if KERNEL_VERSION(6, 5, 0) > LINUX_VERSION_CODE
static inline int sanx_tcp_lend(struct sock *sk, const struct bio_vec *bv,
				int n, size_t len, int flags)
{
	int i, rc, done = 0;

	for (i = 0; i < n; i++) {
		rc = tcp_sendpage_locked(sk, bv[i].bv_page, bv[i].bv_offset,
					 bv[i].bv_len,
					 MSG_DONTWAIT | MSG_NOSIGNAL |
					 (i < n - 1 ? MSG_MORE : flags));
		if (rc <= 0)
			return done ?: rc;
		done += rc;
		if (rc < bv[i].bv_len)
			break;
	}
	return done;
}
#else
static inline int sanx_tcp_lend(struct sock *sk, const struct bio_vec *bv,
				int n, size_t len, int flags)
{
	struct msghdr msg = {
		.msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL | MSG_SPLICE_PAGES |
			     flags,
	};

	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, bv, n, len);
	return tcp_sendmsg_locked(sk, &msg, len);
}
#endif

/* Since 6.11 handlers of sysctls cannot change their table. */
#if KERNEL_VERSION(6, 11, 0) > LINUX_VERSION_CODE
#define sanx_ctl_table		struct ctl_table
#else
#define sanx_ctl_table		const struct ctl_table
#endif

/*
 * sanx_no_task_frag() - a sock does not use the page fragment of the sending task
 * @sk: the sock; its sk_allocation lacks __GFP_FS, which is enough before 6.2
 */
#if KERNEL_VERSION(6, 2, 0) > LINUX_VERSION_CODE
static inline void sanx_no_task_frag(struct sock *sk)
{
}
#else
static inline void sanx_no_task_frag(struct sock *sk)
{
	sk->sk_use_task_frag = false;
}
#endif

/* Since 6.10 accept() takes its arguments in a struct. */
#if KERNEL_VERSION(6, 10, 0) > LINUX_VERSION_CODE
struct proto_accept_arg {
	int flags;
	bool kern;
	int is_empty;
};

static inline int sanx_native_accept(const struct proto_ops *ops,
				     struct socket *sock,
				     struct socket *newsock,
				     struct proto_accept_arg *arg)
{
	return ops->accept(sock, newsock, arg->flags, arg->kern);
}

/* Defines a proto_ops.accept that calls @fn with a struct proto_accept_arg. */
#define SANX_DEFINE_ACCEPT(fn)						\
static int fn##_flags(struct socket *sock, struct socket *newsock,	\
		      int flags, bool kern)				\
{									\
	struct proto_accept_arg arg = { .flags = flags, .kern = kern };	\
									\
	return fn(sock, newsock, &arg);					\
}

#define SANX_PROTO_ACCEPT(fn)	.accept = fn##_flags
#else
static inline int sanx_native_accept(const struct proto_ops *ops,
				     struct socket *sock,
				     struct socket *newsock,
				     struct proto_accept_arg *arg)
{
	return ops->accept(sock, newsock, arg);
}

#define SANX_DEFINE_ACCEPT(fn)	static_assert(__alignof__(fn))
#define SANX_PROTO_ACCEPT(fn)	.accept = fn
#endif

/*
 * 6.5 removed sendpage() and added MSG_SPLICE_PAGES and splice_eof().  Since then io_uring
 * calls proto.ioctl, which stores the answer in memory of the kernel.
 */
#if KERNEL_VERSION(6, 5, 0) > LINUX_VERSION_CODE
#define SANX_PROTO_IOCTL	0
#define SANX_PROTO_SENDPAGE	.sendpage = sock_no_sendpage,

/* Have sendfile() call sendmsg(), in a copy of native ops. */
static inline void sanx_ops_by_sendmsg(struct proto_ops *ops)
{
	ops->sendpage = sock_no_sendpage;
}

static inline void sanx_native_splice_eof(const struct proto_ops *ops,
					  struct socket *sock)
{
}

/* Later ones of 6.1 have the flag, which nobody sets there. */
#ifndef MSG_SPLICE_PAGES
#define MSG_SPLICE_PAGES	0
#endif
#else
#define MSG_SENDPAGE_NOTLAST	0
#define SANX_PROTO_IOCTL	1
#define SANX_PROTO_SENDPAGE	.splice_eof = sanx_splice_eof,

static inline void sanx_ops_by_sendmsg(struct proto_ops *ops)
{
	ops->splice_eof = NULL;
}

static inline void sanx_native_splice_eof(const struct proto_ops *ops,
					  struct socket *sock)
{
	if (ops->splice_eof)
		ops->splice_eof(sock);
}
#endif

/* Before 6.6 an empty entry ended a table of sysctls. */
#if KERNEL_VERSION(6, 6, 0) > LINUX_VERSION_CODE
#define register_net_sysctl_sz(net, path, table, n) \
	((void)(n), register_net_sysctl(net, path, table))
#endif

/* Exports for the KUnit suites only.  The header exists since 6.2. */
#if KERNEL_VERSION(6, 2, 0) > LINUX_VERSION_CODE
#define EXPORT_SYMBOL_IF_KUNIT(symbol)	static_assert(sizeof(typeof(symbol) *))
#else
#include <kunit/visibility.h>
#endif

/* TCP supports SO_PEEK_OFF since 6.9. */
#if KERNEL_VERSION(6, 9, 0) > LINUX_VERSION_CODE
#define SANX_PROTO_PEEK_OFF
#else
#define SANX_PROTO_PEEK_OFF	.set_peek_off = sk_set_peek_off,
#endif

/* struct tcp_info has the receive window since 6.2. */
static inline void sanx_set_rcv_wnd(struct tcp_info *info, u32 n)
{
#if KERNEL_VERSION(6, 2, 0) <= LINUX_VERSION_CODE
	info->tcpi_rcv_wnd = n;
#endif
}

/* A timestamping flag that exists since 6.12. */
#if KERNEL_VERSION(6, 12, 0) > LINUX_VERSION_CODE
#define SOF_TIMESTAMPING_OPT_RX_FILTER	0
#endif

/* Flags set by options of IP and IPv6; one word since 6.6. */
#if KERNEL_VERSION(6, 6, 0) > LINUX_VERSION_CODE
static inline void sanx_inherit_inet_bits(struct sock *child,
					  const struct sock *sk)
{
	const struct inet_sock *from = inet_sk(sk);
	struct inet_sock *to = inet_sk(child);

	to->cmsg_flags = from->cmsg_flags;
	to->recverr = from->recverr;
	to->recverr_rfc4884 = from->recverr_rfc4884;
	to->freebind = from->freebind;
	to->mc_loop = from->mc_loop;
	to->mc_all = from->mc_all;
	to->transparent = from->transparent;
	to->bind_address_no_port = from->bind_address_no_port;
}

static inline void sanx_inherit_inet6_bits(struct ipv6_pinfo *to,
					   const struct ipv6_pinfo *from)
{
	to->mc_loop = from->mc_loop;
	to->mc_all = from->mc_all;
	to->recverr = from->recverr;
	to->recverr_rfc4884 = from->recverr_rfc4884;
	to->sndflow = from->sndflow;
	to->repflow = from->repflow;
	to->dontfrag = from->dontfrag;
	to->autoflowlabel = from->autoflowlabel;
	to->autoflowlabel_set = from->autoflowlabel_set;
	to->rtalert_isolate = from->rtalert_isolate;
}
#else
static inline void sanx_inherit_inet_bits(struct sock *child,
					  const struct sock *sk)
{
	inet_sk(child)->inet_flags = inet_sk(sk)->inet_flags;
}

static inline void sanx_inherit_inet6_bits(struct ipv6_pinfo *to,
					   const struct ipv6_pinfo *from)
{
}
#endif

/* The sockets of UDP: one table for all namespaces before 6.2. */
#if KERNEL_VERSION(6, 2, 0) > LINUX_VERSION_CODE
#define sanx_udp_table(net)	((void)(net), &udp_table)
#else
#define sanx_udp_table(net)	((net)->ipv4.udp_table)
#endif

/* Flags of IPv6, bits of a word since 6.7. */
#if KERNEL_VERSION(6, 7, 0) > LINUX_VERSION_CODE
#define sanx_sndflow(sk)	(inet6_sk(sk)->sndflow)
#define sanx_dontfrag(sk)	(inet6_sk(sk)->dontfrag)
#else
#define sanx_sndflow(sk)	inet6_test_bit(SNDFLOW, sk)
#define sanx_dontfrag(sk)	inet6_test_bit(DONTFRAG, sk)
#endif

/* sanx_wants_pktinfo() - has a program asked for the addresses of packets? */
static inline bool sanx_wants_pktinfo(const struct sock *sk)
{
#if KERNEL_VERSION(6, 6, 0) > LINUX_VERSION_CODE
	unsigned long flags = inet_sk(sk)->cmsg_flags;
#else
	unsigned long flags = inet_cmsg_flags(inet_sk(sk));
#endif

	return flags & IP_CMSG_PKTINFO || ipv6_sk_rxinfo(sk);
}

/*
 * Flags of a struct socket that say what its ops can do.  In 6.12 options of SOL_SOCKET
 * reach UDP, too.
 */
#ifdef SOCK_CUSTOM_SOCKOPT
#define SANX_SOCK_FLAGS	(BIT(SOCK_SUPPORT_ZC) | BIT(SOCK_CUSTOM_SOCKOPT))
#else
#define SANX_SOCK_FLAGS	BIT(SOCK_SUPPORT_ZC)
#endif

#endif /* _SANX_COMPAT_H */
