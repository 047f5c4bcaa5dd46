/* SPDX-License-Identifier: GPL-2.0 */
/* Authentication of the two ends of a link: see auth.c. */
#ifndef _SANX_AUTH_H
#define _SANX_AUTH_H

#include "link/frame/proof.h"

int sanx_auth_ask(struct sanx_auth *auth, const struct sanx_keys *keys);
int sanx_auth_check_ask(struct sanx_auth *auth, const struct sanx_keys *keys);
int sanx_auth_answer(struct sanx_auth *auth);
int sanx_auth_check_answer(struct sanx_auth *auth,
			   const struct sanx_keys *keys,
			   const struct sanx_hello *answer);
bool sanx_auth_proves(const struct sanx_auth *auth, const void *proof);
void sanx_auth_end(struct sanx_auth *auth);

#endif /* _SANX_AUTH_H */
