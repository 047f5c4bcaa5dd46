/* SPDX-License-Identifier: GPL-2.0 */
/* The engine, for what makes connections over it and for what shows and rules it. */
#ifndef _SANX_ENGINE_H
#define _SANX_ENGINE_H

#include "link/frame/info.h"

struct net;
struct sanx_transport_ops;

/* ops.c */
extern const struct sanx_transport_ops sanx_link_ops;

/* lnet.c */
int sanx_link_init(void);
void sanx_link_exit(void);
void sanx_link_map_changed(struct net *net);
void sanx_link_rails_changed(struct net *net);

/* peer.c */
unsigned int sanx_links_reset(struct net *net, u32 node, int lane);

/* seek.c */
void sanx_seek_start(struct net *net, const struct in6_addr *addr);

/* dump.c */
void sanx_links_dump(struct net *net, long skip,
		     int (*put)(void *arg, const struct sanx_link_info *info), void *arg);
void sanx_rails_dump(struct net *net, long *at,
		     int (*put)(void *arg, const struct sanx_rail_info *info), void *arg);

/* netuse.c */
int sanx_netuse_init(void);
void sanx_netuse_exit(void);
void sanx_netuse_get(struct net *net);
void sanx_netuse_put(struct net *net, bool defer);

#endif /* _SANX_ENGINE_H */
