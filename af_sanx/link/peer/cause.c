// SPDX-License-Identifier: GPL-2.0
/*
 * Why there is no link: what follows at the node that asks, and how both nodes say it.
 */
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "cause.h"

/**
 * struct cause - what there is to say about a cause
 * @name: name for user space
 * @refusal: what follows at who asks
 * @asked: words for the log of who is asked, of who asks ("it"); NULL if they are said
 *	elsewhere, or if nothing is wrong
 * @asks: words for the log of who asks, of who is asked ("it")
 */
struct cause {
	const char		*name;
	enum sanx_refusal	refusal;
	const char		*asked;
	const char		*asks;
};

static const struct cause causes[__SANX_CAUSES] = {
	[SANX_CAUSE_TIE]	= { "tie", SANX_REFUSED_TIE },
	[SANX_CAUSE_VERSION]	= { "version", SANX_REFUSED_NEVER,
		"its module has another version of the protocol",
		"its module has another version of the protocol" },
	[SANX_CAUSE_MALFORMED]	= { "malformed", SANX_REFUSED_NEVER,
		"the request is malformed",
		"it finds the request malformed" },
	[SANX_CAUSE_PROGRAM]	= { "program", SANX_REFUSED_NEVER,
		"the request does not come from a reserved port",
		"the request has not come there from a reserved port" },
	[SANX_CAUSE_FORGED]	= { "forged", SANX_REFUSED_NEVER,
		"the request does not come from that address",
		"the request has not come there from the address that it names" },
	[SANX_CAUSE_APART]	= { "vrf", SANX_REFUSED_NEVER,
		"the request comes in by a VRF, of which the node map knows nothing",
		"the request comes in there by a VRF, of which its node map knows nothing" },
	[SANX_CAUSE_UNMAPPED]	= { "unmapped", SANX_REFUSED_NEVER,
		"the node map does not have its node at that address",
		"its node map does not have this node at the address of this end" },
	[SANX_CAUSE_OTHER_ID]	= { "other-id", SANX_REFUSED_NEVER,
		"its node map has another id for this node",
		"it has another id in its own node map" },
	[SANX_CAUSE_NO_KEY]	= { "no-key", SANX_REFUSED_LATER,
		"one of the two nodes has a key, and the other has none",
		"one of the two nodes has a key, and the other has none" },
	[SANX_CAUSE_OTHER_KEY]	= { "other-key", SANX_REFUSED_LATER,
		"it has another key", "it has another key" },
	[SANX_CAUSE_TRANSLATED]	= { "translated", SANX_REFUSED_LATER,
		"it was sent between other addresses: is there a translator of addresses?",
		"it sees other addresses: is there a translator of addresses?" },
	[SANX_CAUSE_FABRIC]	= { "fabric", SANX_REFUSED_LATER,
		"any program on its fabric could have asked, so both nodes need a key",
		"any program on its fabric could have asked, so both nodes need a key" },
	[SANX_CAUSE_RATE]	= { "rate", SANX_REFUSED_LATER,
		"it asks too often: net.sanx.setups_peer is reached",
		"its net.sanx.setups_peer is reached" },
	[SANX_CAUSE_HALF_OPEN]	= { "half-open", SANX_REFUSED_LATER,
		"net.sanx.half_open or half_open_peer is reached",
		"its net.sanx.half_open or half_open_peer is reached" },
	[SANX_CAUSE_UNABLE]	= { "unable", SANX_REFUSED_LATER, NULL,
		"it has no memory or no device for a link" },
	[SANX_CAUSE_QUOTA]	= { "quota", SANX_REFUSED_NEVER, NULL,
		"what the user of its namespace may have is used up" },
	[SANX_CAUSE_RAIL]	= { "rail", SANX_REFUSED_LATER, NULL,
		"its administrator keeps the rail free" },
	[SANX_CAUSE_STOPPED]	= { "stopped", SANX_REFUSED_NEVER, NULL,
		"it stops, or has no such rails" },
	[SANX_CAUSE_CHANGING]	= { "changing", SANX_REFUSED_LATER, NULL,
		"its configuration is being changed" },
	[SANX_CAUSE_MUTE]	= { "mute", SANX_REFUSED_NEVER, NULL,
		"it does not say who it is" },
	[SANX_CAUSE_REFUSED]	= { "refused", SANX_REFUSED_NOT, NULL,
		"it refuses, and does not say why" },
	[SANX_CAUSE_ABSENT]	= { "absent", SANX_REFUSED_ABSENT, NULL,
		"no module listens there on that rail" },
	[SANX_CAUSE_CLOSED]	= { "closed", SANX_REFUSED_NOT, NULL,
		"it does not answer: its node map may lack this node, at the address of this end" },
	[SANX_CAUSE_SILENT]	= { "silent", SANX_REFUSED_NOT, NULL,
		"nobody answers there" },
	[SANX_CAUSE_NO_WAY]	= { "no-way", SANX_REFUSED_NOT, NULL,
		"this node has no device, address or memory for it" },
	[SANX_CAUSE_UNFIT]	= { "unfit", SANX_REFUSED_NOT, NULL,
		"the device cannot map the rings of the connections" },
	[SANX_CAUSE_FAULT]	= { "fault", SANX_REFUSED_NOT, NULL,
		"one of the two nodes has violated the protocol" },
	[SANX_CAUSE_LOST]	= { "lost", SANX_REFUSED_NOT, NULL,
		"the link to it has ended" },
};

/* The word in front, as all versions have it. */
static const u32 refusal_words[__SANX_REFUSALS] = {
	[SANX_REFUSED_TIE]	= 0x534e5854,	/* "SNXT" */
	[SANX_REFUSED_LATER]	= 0x534e584c,	/* "SNXL" */
	[SANX_REFUSED_NEVER]	= 0x534e584e,	/* "SNXN" */
};

/**
 * sanx_cause_name() - name of a cause
 * @cause: a cause
 *
 * Context: any.
 * Return: a constant string for user space; NULL for SANX_CAUSE_NONE and SANX_CAUSE_UP.
 */
const char *sanx_cause_name(enum sanx_cause cause)
{
	return causes[cause].name;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_cause_name);

/*
 * What the log of the node that was asked says.
 * Return: words about who has asked, "it"; NULL if there are none.
 */
const char *sanx_cause_asked(enum sanx_cause cause)
{
	return causes[cause].asked;
}

/**
 * sanx_cause_asks() - what the log of the node that has asked says
 * @cause: a cause other than SANX_CAUSE_NONE, SANX_CAUSE_TIE and SANX_CAUSE_UP
 *
 * Context: any.
 * Return: words about who was asked, "it".
 */
const char *sanx_cause_asks(enum sanx_cause cause)
{
	return causes[cause].asks;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_cause_asks);

/**
 * sanx_wire_refusal() - what a peer is told whose request, or question, is refused
 * @buf: SANX_WIRE_REFUSAL bytes, filled, for sanx_wire_refused() of the peer
 * @why: why it is
 *
 * Context: any.
 */
void sanx_wire_refusal(void *buf, enum sanx_cause why)
{
	__le32 said[] = {
		cpu_to_le32(refusal_words[causes[why].refusal]), cpu_to_le32(why),
	};

	static_assert(sizeof(said) == SANX_WIRE_REFUSAL);
	memcpy(buf, said, sizeof(said));
}
EXPORT_SYMBOL_GPL(sanx_wire_refusal);

/**
 * sanx_refusal_parse() - read a refusal
 * @data: what came, or NULL
 * @len: its size in bytes; a wire may add zeroes, and another version may say less or more
 * @cause: set to what it says; to SANX_CAUSE_REFUSED if that is nothing, or nothing that is
 *	known here
 *
 * Context: any.
 * Return: what follows; SANX_REFUSED_ABSENT if it is no refusal of AF_SANX.
 */
enum sanx_refusal sanx_refusal_parse(const void *data, size_t len, enum sanx_cause *cause)
{
	enum sanx_refusal how;
	__le32 said[2] = {};

	*cause = SANX_CAUSE_ABSENT;
	if (!data || len < sizeof(said[0]))
		return SANX_REFUSED_ABSENT;
	memcpy(said, data, min(len, sizeof(said)));
	for (how = SANX_REFUSED_TIE; how <= SANX_REFUSED_NEVER; how++) {
		if (le32_to_cpu(said[0]) != refusal_words[how])
			continue;
		*cause = le32_to_cpu(said[1]);
		if (*cause >= __SANX_CAUSES_TOLD || causes[*cause].refusal != how)
			*cause = SANX_CAUSE_REFUSED;
		return how;
	}
	return SANX_REFUSED_ABSENT;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_refusal_parse);
