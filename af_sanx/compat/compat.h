/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the kernels that this tree builds for, 6.1 to 6.12.
 * Force-included by Kbuild; nothing outside this folder looks at a version.
 */
#ifndef _SANX_COMPAT_H
#define _SANX_COMPAT_H

#include <linux/version.h>
#include <linux/net.h>
#include <net/genetlink.h>
#include <net/sock.h>

/* Split genetlink operations came with 6.2; ours are a do or a dump each. */
#if KERNEL_VERSION(6, 2, 0) > LINUX_VERSION_CODE
#define genl_split_ops		genl_ops
#define SANX_GENL_OPS		.ops = sanx_nl_ops, \
				.n_ops = ARRAY_SIZE(sanx_nl_ops)
#else
#define SANX_GENL_OPS		.split_ops = sanx_nl_ops, \
				.n_split_ops = ARRAY_SIZE(sanx_nl_ops)
#endif

/* accept() got its arguments in a struct with 6.10. */
#if KERNEL_VERSION(6, 10, 0) > LINUX_VERSION_CODE
struct proto_accept_arg {
	int flags;
	bool kern;
};

static inline int sanx_native_accept(const struct proto_ops *ops,
				     struct socket *sock,
				     struct socket *newsock,
				     struct proto_accept_arg *arg)
{
	return ops->accept(sock, newsock, arg->flags, arg->kern);
}

int sanx_accept(struct socket *sock, struct socket *newsock,
		struct proto_accept_arg *arg);

static inline int sanx_accept_flags(struct socket *sock,
				    struct socket *newsock, int flags,
				    bool kern)
{
	struct proto_accept_arg arg = { .flags = flags, .kern = kern };

	return sanx_accept(sock, newsock, &arg);
}

#define SANX_PROTO_ACCEPT	.accept = sanx_accept_flags
#else
static inline int sanx_native_accept(const struct proto_ops *ops,
				     struct socket *sock,
				     struct socket *newsock,
				     struct proto_accept_arg *arg)
{
	return ops->accept(sock, newsock, arg);
}

#define SANX_PROTO_ACCEPT	.accept = sanx_accept
#endif

/* sendpage() went with 6.5, MSG_SPLICE_PAGES came in its place. */
#if KERNEL_VERSION(6, 5, 0) > LINUX_VERSION_CODE
#define SANX_PROTO_SENDPAGE	.sendpage = sock_no_sendpage,
#else
#define SANX_PROTO_SENDPAGE
#endif

/* Symbols for the KUnit suites alone; the header came with 6.2. */
#if KERNEL_VERSION(6, 2, 0) > LINUX_VERSION_CODE
#define EXPORT_SYMBOL_IF_KUNIT(symbol)	static_assert(__alignof__(symbol))
#else
#include <kunit/visibility.h>
#endif

/* TCP's sockets have SO_PEEK_OFF since 6.9. */
#if KERNEL_VERSION(6, 9, 0) > LINUX_VERSION_CODE
#define SANX_PROTO_PEEK_OFF
#else
#define SANX_PROTO_PEEK_OFF	.set_peek_off = sk_set_peek_off,
#endif

#endif /* _SANX_COMPAT_H */
