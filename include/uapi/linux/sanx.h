/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * AF_SANX: stream sockets over system area networks.
 *
 * What a program needs to open one.  Addresses are struct sockaddr_in and
 * struct sockaddr_in6 with AF_INET and AF_INET6 in them, as for TCP; only the
 * first argument of socket() differs.  See af_sanx(7).
 */
#ifndef _UAPI_LINUX_SANX_H
#define _UAPI_LINUX_SANX_H

/**
 * define SANX_FAMILY_DEFAULT - the family number when nothing else is asked for
 *
 * A number that the kernel once gave to a family that is gone (AF_WANPIPE).
 * The module parameter "family" overrides it, so a program must take the
 * number in use from /sys/module/af_sanx/parameters/family and use this one
 * only where that file cannot be read.
 */
#define SANX_FAMILY_DEFAULT	25

/*
 * The third argument of socket(): which native socket is beneath.  IPPROTO_TCP
 * means the same as SANXPROTO_INET.
 */
#define SANXPROTO_INET		0	/* sockaddr_in, as AF_INET */
#define SANXPROTO_INET6		41	/* sockaddr_in6, as AF_INET6 */

#endif /* _UAPI_LINUX_SANX_H */
