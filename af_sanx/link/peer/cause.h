/* SPDX-License-Identifier: GPL-2.0 */
/* Why there is no link: see cause.c. */
#ifndef _SANX_CAUSE_H
#define _SANX_CAUSE_H

#include <net/sanx_wire.h>

/**
 * enum sanx_refusal - what follows from a refusal at who has asked
 * @SANX_REFUSED_NOT: nothing was refused
 * @SANX_REFUSED_TIE: it waits for a request of the peer, which is in progress
 * @SANX_REFUSED_LATER: it asks again later
 * @SANX_REFUSED_NEVER: it is refused as long as the two node maps are as they are, or
 *	because it makes no sense
 * @SANX_REFUSED_ABSENT: it is not AF_SANX that has refused
 */
enum sanx_refusal {
	SANX_REFUSED_NOT,
	SANX_REFUSED_TIE,
	SANX_REFUSED_LATER,
	SANX_REFUSED_NEVER,
	SANX_REFUSED_ABSENT,
	/* private: */
	__SANX_REFUSALS
};

const char *sanx_cause_name(enum sanx_cause cause);
const char *sanx_cause_asked(enum sanx_cause cause);
const char *sanx_cause_asks(enum sanx_cause cause);
enum sanx_refusal sanx_refusal_parse(const void *data, size_t len, enum sanx_cause *cause);

#endif /* _SANX_CAUSE_H */
