/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What connect() would do, and why: what is known of it, and the words for it.
 */
#ifndef SANXCTL_EXPLAIN_H
#define SANXCTL_EXPLAIN_H

#include <linux/sanx.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "addr.h"

#define EXPLAIN_RAILS	4
#define EXPLAIN_WORD	24

/**
 * struct explain_rail - a rail to the node
 * @number: its number
 * @transport: "verbs" or "tcp-rail"
 * @local: our address, or unspecified
 * @remote: that of the node
 * @state: as "sanxctl rail" shows it
 * @cause: likewise; empty if there is none
 * @retry_secs: likewise; 0 if it does not apply
 */
struct explain_rail {
	u32 number;
	char transport[EXPLAIN_WORD];
	struct in6_addr local;
	struct in6_addr remote;
	char state[EXPLAIN_WORD];
	char cause[EXPLAIN_WORD];
	u32 retry_secs;
};

/**
 * struct explain - what is known
 * @x: the kernel's answer
 * @self: our node id, or 0 if the node map does not have @x.local
 * @rails: the rails to the node, in the order of the node map
 * @n_rails: number of @rails
 * @held_secs: seconds until connections wait for a link again, or 0
 * @otherwise: what there is without a way; NULL if a connection is plain TCP then
 */
struct explain {
	struct sanx_explain x;
	u32 self;
	struct explain_rail rails[EXPLAIN_RAILS];
	unsigned int n_rails;
	u32 held_secs;
	const char *otherwise;
};

/**
 * struct explain_words - what it comes to
 * @otherwise: how a verdict begins that there is no way
 * @verdict: one sentence
 * @advice: what would change it; empty if there is nothing to change
 */
struct explain_words {
	const char *otherwise;
	char verdict[512];
	char advice[512];
};

/**
 * struct explain_socket - a socket that exists
 * @state: as "sanxctl socket" shows it
 * @transport: likewise
 * @fallback: likewise; empty if it is no plain TCP, or was never anything else
 * @node: node id of the peer, or 0
 */
struct explain_socket {
	char state[EXPLAIN_WORD];
	char transport[EXPLAIN_WORD];
	char fallback[EXPLAIN_WORD];
	u32 node;
};

struct ctl;

/* A word that there may be none of. */
static inline const char *explain_word(const char *word)
{
	return *word ? word : NULL;
}

const char *explain_cause(const char *cause);
void explain_words(const struct explain *e, struct explain_words *w);
void explain_socket_words(const struct explain_socket *s, bool sanx, const char *remote,
			  u16 port, struct explain_words *w);

/* explain_pid.c */
int explain_pid(struct ctl *ctl, int argc, char **argv);

#endif /* SANXCTL_EXPLAIN_H */
