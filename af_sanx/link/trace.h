/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sanx

#if !defined(_SANX_LINK_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SANX_LINK_TRACE_H

#include <linux/tracepoint.h>

/*
 * A connection between two nodes changes its state; @part, @from and @to are
 * constant strings of lconn_state.c.
 */
TRACE_EVENT(sanx_lconn_state,
	    TP_PROTO(u32 peer, u32 id, const char *part, const char *from,
		     const char *to),
	    TP_ARGS(peer, id, part, from, to),
	    TP_STRUCT__entry(__field(u32, peer)
			     __field(u32, id)
			     __field(const char *, part)
			     __field(const char *, from)
			     __field(const char *, to)),
	    TP_fast_assign(__entry->peer = peer;
			   __entry->id = id;
			   __entry->part = part;
			   __entry->from = from;
			   __entry->to = to;),
	    TP_printk("node=%u id=%u %s: %s -> %s", __entry->peer, __entry->id,
		      __entry->part, __entry->from, __entry->to)
);

#endif /* _SANX_LINK_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH link
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
