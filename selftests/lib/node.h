/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests ask of the module, over generic netlink. */
#ifndef SANX_NODE_H
#define SANX_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/sanx.h>
#include <linux/sanx_netlink.h>

/**
 * struct node_stats - the counters of this network namespace
 * @v: by SANX_A_STATS_*
 */
struct node_stats {
	uint64_t v[SANX_A_STATS_MAX + 1];
};

/**
 * node_stats() - read the counters
 * @st: filled; all zero if it fails
 *
 * Return: 0, or -errno; -ENOENT if the module is not loaded.
 */
int node_stats(struct node_stats *st);

/* By how much a counter has grown since @before was read. */
long node_stat_since(const struct node_stats *before, int stat);

/**
 * node_ports_deny() - replace all port rules
 * @deny: deny every port, by default; else allow every port
 *
 * Return: 0, or -errno.
 */
int node_ports_deny(bool deny);

/**
 * node_socket_end() - end an explicit socket, as the administrator does
 * @inode: its inode number
 *
 * Return: 0, or -errno.
 */
int node_socket_end(uint64_t inode);

/**
 * struct node_entry - a line of the node map
 * @addr: the address
 * @id: the node that has it
 * @rail: its RDMA address, or NULL if that is @addr
 * @tcp_rail: the address of a TCP rail behind that, or NULL for none
 */
struct node_entry {
	const char	*addr;
	uint32_t	id;
	const char	*rail;
	const char	*tcp_rail;
};

/**
 * node_map_load() - replace the node map
 * @entry: its lines
 * @n: how many there are, 30 at most; 0 empties it, and so ends all links
 *
 * Return: 0, or -errno.
 */
int node_map_load(const struct node_entry *entry, int n);

/* Adds a line, or removes that of an address; 0 or -errno. */
int node_map_add(const struct node_entry *entry);
int node_map_del(const char *addr);

/* Adds a port rule that denies a port, or removes it; 0 or -errno. */
int node_port_deny(uint16_t port);
int node_port_del(uint16_t port);

/* Ends connections that a port rule denies; 0 or -errno. */
int node_ports_apply(void);

/* Adds the key of a node, SANX_KEY_LEN times @fill, or removes its keys; 0 or -errno. */
int node_key_add(uint32_t node, unsigned char fill);
int node_key_del(uint32_t node);

/**
 * node_dump() - ask for all of something
 * @cmd: SANX_CMD_*_GET
 *
 * Return: the number of messages, or -errno.
 */
int node_dump(int cmd);

/**
 * node_family() - the number of the address family
 *
 * Return: it, or -errno if the module is not loaded.
 */
int node_family(void);

/* In place of a family: an explicit socket. */
#define FAMILY_EXPLICIT	SANXPROTO_EXPLICIT

/**
 * node_socket() - make a socket, of AF_SANX or of IP
 * @sanx: of AF_SANX
 * @family: AF_INET or AF_INET6, of its addresses; or FAMILY_EXPLICIT
 * @type: SOCK_STREAM or SOCK_DGRAM, with flags as for socket()
 *
 * Return: as socket().
 */
int node_socket(bool sanx, int family, int type);

#endif /* SANX_NODE_H */
