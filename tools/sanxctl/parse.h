/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parser of the files that sanxctl reads.  An error has the line and a message.
 *
 * The parser uses nothing but its arguments.  The caller passes the function
 * that resolves host names.
 */
#ifndef SANXCTL_PARSE_H
#define SANXCTL_PARSE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>

#include <linux/sanx_netlink.h>

#include "text.h"
#include "words.h"

/* Most addresses of a host name. */
#define PARSE_NAME_ADDRS	64

/**
 * struct parse_error - an error in the input
 * @line: number of the line at fault, from 1; 0 if no line is at fault
 * @text: the error and the expected input
 */
struct parse_error {
	unsigned int line;
	char text[256];
};

/**
 * struct rail - an address between which and one of another node links run
 * @tcp: over TCP; else over RDMA
 * @addr: the address
 */
struct rail {
	bool tcp;
	struct in6_addr addr;
};

struct node {
	struct in6_addr addr;
	struct rail rail[SANX_MAX_RAILS];
	unsigned int rails;
	u32 id;
	unsigned int line;
};

/**
 * struct prefix - the first bits of addresses
 * @addr: IPv6, or IPv4 as v4-mapped; bits behind @len are 0
 * @len: number of bits
 * @line: line of the file
 */
struct prefix {
	struct in6_addr addr;
	u8 len;
	unsigned int line;
};

/**
 * struct nodemap - a node map
 * @node: the entries
 * @count: number of entries
 * @room: entries that there is room for
 * @prefix: addresses that may be nodes and are asked
 * @prefixes: number of prefixes
 */
struct nodemap {
	struct node *node;
	size_t count;
	size_t room;
	struct prefix prefix[SANX_MAX_AUTOS];
	size_t prefixes;
};

/*
 * @explicit: the ports are those of explicit sockets; @first, @last: 0 of a default; @way:
 * set of enum sanx_port_way, 0 for both; @node: 0 for any; @prefix_len: 0 for any address
 */
struct port_rule {
	enum sanx_port_action action;
	bool explicit;
	u32 first;
	u32 last;
	u8 way;
	u8 prefix_len;
	u32 node;
	struct in6_addr prefix;
	unsigned int line;
};

struct ports {
	struct port_rule *rule;
	size_t count;
	size_t room;
};

/**
 * struct parse_source - the state of a parser
 * @line: number of the current line, from 1; 0 for the command line
 * @resolve: resolves a host name, as addr_resolve() does
 * @error: the first error in the input
 */
struct parse_source {
	unsigned int line;
	int (*resolve)(const char *name, struct in6_addr *addrs, int max, const char **why);
	struct parse_error error;
};

/**
 * table_grow() - make room for one more entry, by doubling a table
 * @table: the table, or NULL
 * @count: entries in it
 * @room: entries that there is room for
 * @size: bytes of an entry
 *
 * Return: the table, or NULL without memory; then the old one is unchanged.
 */
void *table_grow(void *table, size_t count, size_t *room, size_t size);

int nodemap_parse(struct parse_source *src, FILE *file, struct nodemap *map);
int nodemap_parse_words(struct parse_source *src, int words, char **word,
			struct nodemap *map);
int nodemap_parse_host(struct parse_source *src, const char *host, struct nodemap *map);
int nodemap_append(struct nodemap *map, const struct node *node);
bool nodemap_same(const struct nodemap *a, const struct nodemap *b);
void nodemap_free(struct nodemap *map);

int ports_parse(struct parse_source *src, FILE *file, struct ports *ports);
int ports_parse_words(struct parse_source *src, int words, char **word,
		      struct ports *ports);
void ports_free(struct ports *ports);

#endif /* SANXCTL_PARSE_H */
