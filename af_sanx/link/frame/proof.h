/* SPDX-License-Identifier: GPL-2.0 */
/* What the two ends of a link have proved to each other: see peer/auth.c. */
#ifndef _SANX_PROOF_H
#define _SANX_PROOF_H

#include <linux/in6.h>
#include <linux/siphash.h>
#include <linux/types.h>

#include "config/config.h"
#include "format.h"

/**
 * enum sanx_auth_phase - what one end of a link knows of the other
 * @SANX_AUTH_NONE: nothing yet
 * @SANX_AUTH_SAID: our hello is made, with our proof.  An active end awaits the
 *	reply, a passive end awaits AUTH
 * @SANX_AUTH_PROVEN: the peer has shown that it has the key, and that it has
 *	received our hello
 */
enum sanx_auth_phase {
	SANX_AUTH_NONE,
	SANX_AUTH_SAID,
	SANX_AUTH_PROVEN,
};

/**
 * struct sanx_auth_text - what both ends of a link know of its set-up
 * @label: what it is used for, and nothing else
 * @addr: addresses of the active and of the passive end, IPv4 as v4-mapped
 * @qpn: queue pair numbers of the active and of the passive end
 * @ask: the hello of the request
 * @answer: the hello of the reply, with a proof of 0
 *
 * The proof in a request covers what is known by then: its own bytes, @qpn[1]
 * and @answer are 0.
 */
struct sanx_auth_text {
	u8			label[8];
	struct in6_addr		addr[2];
	__le32			qpn[2];
	struct sanx_hello	ask;
	struct sanx_hello	answer;
};

static_assert(sizeof(struct sanx_auth_text) == 160);

/**
 * struct sanx_auth - authentication of one link
 * @phase: see there
 * @text: as far as it is known
 * @key: the key of the link, with a reference; NULL until it is chosen
 * @proof: AUTH: of an active end what it sends, of a passive end what it expects
 * @resume: key of the tokens of connections that are opened on this link
 */
struct sanx_auth {
	enum sanx_auth_phase	phase;
	struct sanx_auth_text	text;
	struct sanx_key		*key;
	u8			proof[SANX_PROOF_LEN];
	siphash_key_t		resume;
};

/**
 * sanx_auth_token() - what an end shows to continue a connection on another link
 * @key: &struct sanx_auth.resume of the link that the connection was opened on
 * @link: that of the link that it is to continue on
 * @opener: the connector's id of the connection
 * @acceptor: the acceptor shows it, in RESUME_ACK; else the connector, in RESUME
 *
 * Who was not one of the two ends of the first link cannot guess it, and who has seen
 * one knows none of any other link.
 *
 * Context: any.
 * Return: the token.
 */
static inline u64 sanx_auth_token(const siphash_key_t *key, const siphash_key_t *link,
				  u32 opener, bool acceptor)
{
	return siphash_3u64(link->key[0], link->key[1],
			    (u64)acceptor << 32 | opener, key);
}

#endif /* _SANX_PROOF_H */
