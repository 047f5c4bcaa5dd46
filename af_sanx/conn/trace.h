/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sanx

#if !defined(_SANX_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SANX_TRACE_H

#include <linux/tracepoint.h>

#include "conn/transport.h"

#define show_sanx_state(s) __print_symbolic(s,			\
		{ SANX_CONN_NEW,		"NEW" },		\
		{ SANX_CONN_CONNECTING,		"CONNECTING" },		\
		{ SANX_CONN_ESTABLISHED,	"ESTABLISHED" },	\
		{ SANX_CONN_FIN_SENT,		"FIN_SENT" },		\
		{ SANX_CONN_FIN_RCVD,		"FIN_RCVD" },		\
		{ SANX_CONN_FINISHED,		"FINISHED" },		\
		{ SANX_CONN_REFUSED,		"REFUSED" },		\
		{ SANX_CONN_DEAD,		"DEAD" },		\
		{ SANX_CONN_ENDED,		"ENDED" })

#define show_sanx_fallback(why) __print_symbolic(why,			\
		{ SANX_FALLBACK_UNMAPPED,	"unmapped" },		\
		{ SANX_FALLBACK_PORT,		"port" },		\
		{ SANX_FALLBACK_LINK,		"link" },		\
		{ SANX_FALLBACK_REFUSED,	"refused" },		\
		{ SANX_FALLBACK_OPTION,		"option" },		\
		{ SANX_FALLBACK_ACCEPT,		"accept" },		\
		{ SANX_FALLBACK_ASKED,		"asked" },		\
		{ SANX_FALLBACK_ROUTE,		"route" },		\
		{ SANX_FALLBACK_DENIED,		"denied" },		\
		{ SANX_FALLBACK_LIMIT,		"limit" })

/* A connection changes state. */
TRACE_EVENT(sanx_conn_state,
	    TP_PROTO(const struct sanx_conn *conn, int next),
	    TP_ARGS(conn, next),
	    TP_STRUCT__entry(__field(const void *, conn)
			     __field(int, old)
			     __field(int, next)
			     __field(int, err)
			     __field(u16, lport)
			     __field(u16, rport)
			     __array(u8, laddr, 16)
			     __array(u8, raddr, 16)),
	    TP_fast_assign(__entry->conn = conn;
			   __entry->old = conn->state;
			   __entry->next = next;
			   __entry->err = conn->err;
			   __entry->lport = be16_to_cpu(conn->local.port);
			   __entry->rport = be16_to_cpu(conn->remote.port);
			   memcpy(__entry->laddr, &conn->local.addr, 16);
			   memcpy(__entry->raddr, &conn->remote.addr, 16);),
	    TP_printk("conn=%p local=%pI6c:%u remote=%pI6c:%u %s -> %s err=%d",
		      __entry->conn, __entry->laddr, __entry->lport,
		      __entry->raddr, __entry->rport,
		      show_sanx_state(__entry->old),
		      show_sanx_state(__entry->next), __entry->err)
);

/* A socket becomes plain TCP; @why is enum sanx_fallback. */
TRACE_EVENT(sanx_fallback,
	    TP_PROTO(const struct sock *sk, int why),
	    TP_ARGS(sk, why),
	    TP_STRUCT__entry(__field(const void *, sk)
			     __field(int, why)),
	    TP_fast_assign(__entry->sk = sk;
			   __entry->why = why;),
	    TP_printk("sk=%p why=%s", __entry->sk,
		      show_sanx_fallback(__entry->why))
);

/* A peer violates the protocol. */
TRACE_EVENT(sanx_protocol_error,
	    TP_PROTO(const struct net *net),
	    TP_ARGS(net),
	    TP_STRUCT__entry(__field(unsigned int, netns)),
	    TP_fast_assign(__entry->netns = net->ns.inum;),
	    TP_printk("netns=%u", __entry->netns)
);

/*
 * A connection between two nodes changes its state; @part, @from and @to are
 * constant strings of link/frame/lconn_state.c.
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

#endif /* _SANX_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH conn
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
