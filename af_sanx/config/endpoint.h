/* SPDX-License-Identifier: GPL-2.0 */
/* Where a connection ends, and by what it comes; config.h has it. */
#ifndef _SANX_ENDPOINT_H
#define _SANX_ENDPOINT_H

#include <linux/in6.h>

/**
 * struct sanx_endpoint - an address and a port
 * @addr: IPv6 address, or IPv4 address as v4-mapped
 * @port: big endian
 */
struct sanx_endpoint {
	struct in6_addr	addr;
	__be16		port;
};

/**
 * struct sanx_arrival - the device by which the SYN of a connection would come
 * @dif: its index; that of a VRF for the devices in it
 * @sdif: index of the device in that VRF; else 0
 */
struct sanx_arrival {
	int	dif;
	int	sdif;
};

#endif /* _SANX_ENDPOINT_H */
