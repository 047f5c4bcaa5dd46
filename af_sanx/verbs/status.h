/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a completion that failed says of its link.  Pure; kunit/status_test.c tests it.
 *
 * The InfiniBand Architecture Specification, volume 1, has the statuses in section
 * 11.6.2.
 */
#ifndef _SANX_VERBS_STATUS_H
#define _SANX_VERBS_STATUS_H

#include <rdma/ib_verbs.h>

#include <net/sanx_wire.h>

/**
 * verbs_status_failure() - is the link lost, or is one of the nodes at fault?
 * @status: of a completion, not IB_WC_SUCCESS
 *
 * A link is lost if the peer cannot be reached, or if a device or a queue pair has
 * failed: what was sent was right, and goes to another link.  If what was sent, or where
 * it was to go, was wrong, then it would be wrong on another link, too.
 *
 * Work behind a failed request is flushed, so a flush alone is a lost link.  If the
 * failure means something else, the completion of the failed request says so, in whatever
 * order they arrive (sanx_wire_failed()).
 *
 * Context: any.
 * Return: SANX_WIRE_LOST or SANX_WIRE_FAULT.
 */
static inline enum sanx_wire_failure
verbs_status_failure(enum ib_wc_status status)
{
	switch (status) {
	/* The peer does not answer, or has no receive, which the engine makes sure of. */
	case IB_WC_RETRY_EXC_ERR:
	case IB_WC_RNR_RETRY_EXC_ERR:
	case IB_WC_RESP_TIMEOUT_ERR:
	/* The queue pair is in the error state: it was driven there, or its port died. */
	case IB_WC_WR_FLUSH_ERR:
	/* A device fails, ours or the peer's. */
	case IB_WC_LOC_QP_OP_ERR:
	case IB_WC_REM_OP_ERR:
	case IB_WC_REM_ABORT_ERR:
	case IB_WC_BAD_RESP_ERR:
	case IB_WC_FATAL_ERR:
	case IB_WC_GENERAL_ERR:
		return SANX_WIRE_LOST;
	/*
	 * A message is too long, an address or a key is wrong, a request is not
	 * permitted.  The rest is for reliable datagrams, which no correct device
	 * reports here.
	 */
	default:
		return SANX_WIRE_FAULT;
	}
}

#endif /* _SANX_VERBS_STATUS_H */
