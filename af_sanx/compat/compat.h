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
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define genl_split_ops		genl_ops
#define SANX_GENL_OPS(ops_)	.ops = (ops_), .n_ops = ARRAY_SIZE(ops_)
#else
#define SANX_GENL_OPS(ops_)	.split_ops = (ops_), \
				.n_split_ops = ARRAY_SIZE(ops_)
#endif

/* accept() got its arguments in a struct with 6.10. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define SANX_ACCEPT_ARGS	int flags, bool kern
#define SANX_ACCEPT_FLAGS	(flags)
static inline int sanx_native_accept(const struct proto_ops *ops,
				     struct socket *sock,
				     struct socket *newsock, int flags,
				     bool kern)
{
	return ops->accept(sock, newsock, flags | O_NONBLOCK, kern);
}

#define SANX_NATIVE_ACCEPT(ops, sock, newsock) \
	sanx_native_accept(ops, sock, newsock, flags, kern)
#else
#define SANX_ACCEPT_ARGS	struct proto_accept_arg *arg
#define SANX_ACCEPT_FLAGS	(arg->flags)
static inline int sanx_native_accept(const struct proto_ops *ops,
				     struct socket *sock,
				     struct socket *newsock,
				     const struct proto_accept_arg *arg)
{
	struct proto_accept_arg once = *arg;

	once.flags |= O_NONBLOCK;
	return ops->accept(sock, newsock, &once);
}

#define SANX_NATIVE_ACCEPT(ops, sock, newsock) \
	sanx_native_accept(ops, sock, newsock, arg)
#endif

/* sendpage() went with 6.5, MSG_SPLICE_PAGES came in its place. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define SANX_PROTO_SENDPAGE	.sendpage = sock_no_sendpage,
#else
#define SANX_PROTO_SENDPAGE
#endif

/* Symbols for the KUnit suites alone; the suites need 6.4 or newer. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define EXPORT_SYMBOL_IF_KUNIT(symbol)
#else
#include <kunit/visibility.h>
#endif

#endif /* _SANX_COMPAT_H */
