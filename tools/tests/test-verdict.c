// SPDX-License-Identifier: GPL-2.0
/*
 * What sanxctl explain says: each reason and each cause has a sentence and advice of its own.
 */
#include <string.h>

#include "../sanxctl/explain.h"
#include "tap.h"

/* All that docs have: Documentation/netlink/specs/sanx.yaml, rail.cause. */
static const char *const all_causes[] = {
	"version", "malformed", "program", "forged", "vrf", "unmapped", "other-id", "no-key",
	"other-key", "translated", "fabric", "rate", "half-open", "unable", "quota", "rail",
	"stopped", "refused", "absent", "closed", "silent", "no-way", "unfit", "fault",
	"lost",
};

/* All words have room. */
static void copy(char *to, const char *from)
{
	memcpy(to, from, strlen(from) + 1);
}

static struct explain known(const char *transport, const char *fallback)
{
	struct explain e = { .x = { .node = 2, .rule = 3 } };
	struct in6_addr addr;

	addr_parse("10.0.0.2", &addr);
	memcpy(e.x.remote, &addr, sizeof(addr));
	addr_parse("10.0.0.1", &addr);
	memcpy(e.x.local, &addr, sizeof(addr));
	copy(e.x.transport, transport);
	copy(e.x.fallback, fallback);
	return e;
}

static void add_rail(struct explain *e, const char *transport, const char *state,
		     const char *cause)
{
	struct explain_rail *r = &e->rails[e->n_rails];

	r->number = e->n_rails++;
	addr_parse("10.1.0.1", &r->local);
	addr_parse("10.1.0.2", &r->remote);
	copy(r->transport, transport);
	copy(r->state, state);
	copy(r->cause, cause);
}

static void says(const char *name, const struct explain *e, const char *verdict,
		 const char *advice)
{
	struct explain_words w;

	explain_words(e, &w);
	if (!ok(strstr(w.verdict, verdict) && !strcmp(w.advice, advice), "%s", name))
		printf("# \"%s\", \"%s\"\n", w.verdict, w.advice);
}

static void test_yes(void)
{
	struct explain e = known("verbs", "");

	says("over a link", &e, "A connection goes over verbs to node 2.", "");
	e = known("loop", "");
	says("over loop", &e, "through memory", "");
}

static void test_here(void)
{
	struct explain e = known("", "port");

	says("a rule here", &e, "port rule 3 of this node",
	     "sanxctl ports show; sanxctl ports del ...");
	e = known("", "unmapped");
	says("not in the map", &e, "the node map does not have 10.0.0.2",
	     "sanxctl nodemap add 10.0.0.2 NODEID");
	e = known("", "asked");
	says("asked", &e, "10.0.0.2 is only now being asked",
	     "Ask again in a second; what it has answered: sanxctl nodemap show");
	e = known("", "route");
	says("no route", &e, "no route from 10.0.0.1 to 10.0.0.2",
	     "ip route get 10.0.0.2; ip xfrm policy");
	e = known("", "option");
	says("BPF", &e, "BPF programs", "bpftool cgroup tree");
	e = known("loop", "refused");
	says("no listener here", &e, "or a port rule denies it",
	     "Start the server with sanx-run; sanxctl ports show");
	e = known("verbs", "refused");
	says("no listener", &e, "no AF_SANX socket listens on that port of 10.0.0.2",
	     "Start the server there with sanx-run, or have it open AF_SANX sockets.");
}

static void test_peer(void)
{
	struct explain e = known("verbs", "unmapped");

	says("not in the peer's map, no id", &e,
	     "the node map of node 2 does not have this node at 10.0.0.1",
	     "On node 2: put this node into the node map, at 10.0.0.1.");
	e.self = 1;
	says("not in the peer's map", &e, "the node map of node 2",
	     "On node 2: sanxctl nodemap add 10.0.0.1 1");
	e = known("verbs", "denied");
	says("a rule there", &e, "a port rule of node 2", "On node 2: sanxctl ports show");
	e = known("verbs", "limit");
	says("a limit there", &e, "a limit of node 2",
	     "On node 2: dmesg says which; sysctl net.sanx");
	e = known("verbs", "route");
	says("a route there", &e, "by the routes of node 2, nothing comes to it from 10.0.0.1",
	     "On node 2: ip route get 10.0.0.1; sysctl net.ipv4.conf.all.rp_filter");
}

static void test_link(void)
{
	struct explain e = known("verbs", "link");

	says("no rails", &e, "has no rail to node 2", "Look here: sanxctl nodemap show");
	add_rail(&e, "verbs", "no-wire", "");
	says("no verbs", &e, "sanx_verbs is not loaded",
	     "modprobe sanx_verbs; or give both nodes a TCP rail in the node map (tcp).");
	add_rail(&e, "tcp-rail", "down", "");
	says("a rail that is down, behind one without a wire", &e,
	     "this node has set the rail from 10.1.0.1 down", "sanxctl rail set tcp:10.1.0.1 up");
	e = known("verbs", "link");
	add_rail(&e, "tcp-rail", "no-wire", "");
	says("no address", &e, "no address for rails",
	     "Give this node such a rail in the node map: sanxctl nodemap show");
	e = known("verbs", "link");
	add_rail(&e, "verbs", "no-carrier", "");
	says("a dead port", &e, "10.1.0.1 is down or has no carrier",
	     "Look at the cable and the port: ip -br link; ip -br addr");
	e = known("verbs", "link");
	add_rail(&e, "verbs", "failed", "unmapped");
	e.self = 1;
	says("not in its map", &e,
	     "there is no link to node 2 at 10.1.0.2, as its node map does not",
	     "On node 2: sanxctl nodemap add 10.0.0.1 1 10.1.0.1");
	e = known("verbs", "link");
	add_rail(&e, "verbs", "idle", "");
	add_rail(&e, "tcp-rail", "failed", "rail");
	says("the second rail has a cause", &e, "keeps the rail free",
	     "Say there that it may be used: sanxctl rail set tcp:10.1.0.2 up.");
	e = known("verbs", "link");
	add_rail(&e, "verbs", "failed", "silent");
	says("silence", &e, "nothing answers there",
	     "Look at the way there, from here: ping 10.1.0.2; rdma link.");
	e = known("verbs", "link");
	add_rail(&e, "verbs", "up", "");
	says("no answer", &e, "has not answered in time.", "Look here and there: dmesg");
	e.held_secs = 7;
	says("no answer for a time", &e, "is asked again in 7 s", "Look here and there: dmesg");
}

static void test_causes(void)
{
	struct explain_words w[ARRAY_SIZE(all_causes)];
	struct explain e;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(all_causes); i++) {
		e = known("verbs", "link");
		add_rail(&e, "verbs", "failed", all_causes[i]);
		explain_words(&e, &w[i]);
		ok(strcmp(explain_cause(all_causes[i]), all_causes[i]) &&
		   strstr(w[i].verdict, explain_cause(all_causes[i])) && w[i].advice[0] &&
		   !strchr(w[i].advice, '%'), "%s: has words", all_causes[i]);
		for (k = 0; k < i && strcmp(w[k].verdict, w[i].verdict); k++)
			;
		ok(k == i, "%s: words of its own", all_causes[i]);
	}
	ok(!strcmp(explain_cause("later"), "later"), "a cause of a later kernel is itself");
}

static void says_socket(const char *name, const char *state, const char *transport,
			const char *fallback, bool sanx, const char *verdict, const char *advice)
{
	struct explain_socket s = { .node = strcmp(transport, "tcp-rail") ? 2 : 0 };
	struct explain_words w;

	copy(s.state, state);
	copy(s.transport, transport);
	copy(s.fallback, fallback);
	explain_socket_words(&s, sanx, "10.0.0.2", 80, &w);
	if (!ok(strstr(w.verdict, verdict) && strstr(w.advice, advice) &&
		!*advice == !w.advice[0], "socket, %s", name))
		printf("# \"%s\", \"%s\"\n", w.verdict, w.advice);
}

static void test_sockets(void)
{
	static const char *const all[] = {
		"unmapped", "port", "link", "refused", "asked", "route", "denied", "limit",
	};
	size_t i;

	says_socket("over a link", "ESTAB", "verbs", "", true, "over verbs to node 2", "");
	says_socket("that has lost it", "ESTAB", "tcp-rail", "", true, "no link at present", "");
	says_socket("over loop", "ESTAB", "loop", "", true, "through memory", "");
	says_socket("that listens", "LISTEN", "-", "", true, "clients of AF_SANX and of TCP", "");
	says_socket("not connected", "UNCONN", "-", "", true, "not connected", "");
	says_socket("of TCP", "ESTAB", "tcp", "", false, "is a socket of TCP", "sanx-run");
	says_socket("of TCP that listens", "LISTEN", "tcp", "", false, "TCP clients only",
		    "sanx-run");
	says_socket("with an option", "ESTAB", "tcp", "option", true, "only TCP does", "af_sanx");
	says_socket("of a TCP client", "ESTAB", "tcp", "accept", true,
		    "client was one of plain TCP", "");
	for (i = 0; i < ARRAY_SIZE(all); i++)
		says_socket(all[i], "ESTAB", "tcp", all[i], true, "It became plain TCP, as ",
			    "sanxctl explain 10.0.0.2 80");
}

int main(void)
{
	test_yes();
	test_here();
	test_peer();
	test_link();
	test_causes();
	test_sockets();
	return tap_done();
}
