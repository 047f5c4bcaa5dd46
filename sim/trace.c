// SPDX-License-Identifier: GPL-2.0
/* The module's tracepoints, in the trace of the simulator. */
#include "sim.h"

void sim_trace_sanx_conn_state(const struct sanx_conn *conn, int next)
{
	sim_note("connection state: client port or ours, next state",
		 sim_port(conn->accepted ? &conn->remote : &conn->local), next);
}

void sim_trace_sanx_lconn_state(u32 peer, u32 id, const char *part,
				const char *from, const char *to)
{
	sim_note(to, peer, id);
}

void sim_trace_sanx_fallback(const struct sock *sk, int why)
{
	sim_note("fallback", why, 0);
}

void sim_trace_sanx_protocol_error(const struct net *net)
{
	if (!sim_plan.hostile)
		sim_fail("node %d counts a protocol error", net->id);
	sim_note("protocol error at node", net->id, 0);
}
