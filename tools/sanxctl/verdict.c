// SPDX-License-Identifier: GPL-2.0
/*
 * Words about why a connection would be plain TCP, and what would change that.
 *
 * Pure: tools/tests/test-verdict.c goes through all of it.
 */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "explain.h"

/**
 * struct cause - why a rail has no link
 * @name: as the kernel names it
 * @words: about the node, "it"
 * @advice: what would change it, at the node unless it says otherwise
 */
struct cause {
	const char *name;
	const char *words;
	const char *advice;
};

static const struct cause causes[] = {
	{ "version", "its module has another version of the protocol",
	  "install the same version on both: modinfo -F version af_sanx" },
	{ "malformed", "it finds the request malformed",
	  "install the same version on both: modinfo -F version af_sanx" },
	{ "program", "the request has not come there from a port below 1024",
	  "look for a translator of addresses between the two" },
	{ "forged", "the request has not come there from the address that it names",
	  "compare the addresses of the device: rdma link, ip addr" },
	{ "vrf", "the request comes in there by a VRF, of which its node map knows nothing",
	  "take the rail out of the VRF" },
	{ "unmapped", "its node map does not have this node at that address",
	  "" },
	{ "other-id", "it has another id in its own node map",
	  "load the same node map on both: sanxctl nodemap show" },
	{ "no-key", "only one of the two nodes has a key for the other",
	  "give both the same key: sanxctl key show" },
	{ "other-key", "the two nodes have different keys",
	  "give both the same key: sanxctl key show" },
	{ "translated", "it sees other addresses",
	  "look for a translator of addresses between the two" },
	{ "fabric", "any program on this fabric could pass for this node, so both need a key",
	  "give both the same key: sanxctl key generate, sanxctl key add" },
	{ "rate", "this node asks it for links too often",
	  "look why links do not stay, or raise net.sanx.setups_peer there: dmesg" },
	{ "half-open", "too many links to it are not up yet",
	  "look at net.sanx.half_open and half_open_peer there: dmesg" },
	{ "unable", "it has no memory or no device for a link",
	  "look at the memory and the device there: dmesg" },
	{ "quota", "what the user of its namespace may have is used up",
	  "look at the limits for namespaces of users there: man 7 af_sanx" },
	{ "rail", "its administrator keeps the rail free",
	  "say there that it may be used: sanxctl rail set %s up" },
	{ "stopped", "its module stops, or has no such rails",
	  "look whether sanx_verbs is loaded there: lsmod" },
	{ "refused", "it refuses, and does not say why", "look there: dmesg" },
	{ "absent", "no module of AF_SANX listens there on that rail",
	  "load it there: modprobe af_sanx; and modprobe sanx_verbs for RDMA" },
	{ "closed", "it does not answer, and its node map may lack this node at that address",
	  "" },
	{ "silent", "nothing answers there",
	  "look at the way there, from here: ping %s; rdma link" },
	{ "no-way", "this node has no device, address or memory for it",
	  "look here: rdma link, ip addr, dmesg" },
	{ "unfit", "the device here cannot map the rings of the connections",
	  "look here: dmesg" },
	{ "fault", "one of the two nodes has violated the protocol",
	  "look here and there: dmesg" },
	{ "lost", "the link has ended",
	  "look at the way there, from here: ping %s; rdma link" },
};

static const struct cause *cause_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(causes); i++)
		if (!strcmp(name, causes[i].name))
			return &causes[i];
	return NULL;
}

/**
 * explain_cause - words for why a rail has no link
 * @cause: as the kernel names it
 *
 * Return: words about the node, "it".
 */
const char *explain_cause(const char *cause)
{
	const struct cause *c = cause_find(cause);

	return c ? c->words : cause;
}

__printf(2, 3)
static void say(struct explain_words *w, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(w->verdict, sizeof(w->verdict), fmt, args);
	va_end(args);
}

/* There is no way; @fmt says why. */
__printf(2, 3)
static void say_not(struct explain_words *w, const char *fmt, ...)
{
	int len = snprintf(w->verdict, sizeof(w->verdict), "%s: ", w->otherwise);
	va_list args;

	va_start(args, fmt);
	vsnprintf(w->verdict + len, sizeof(w->verdict) - len, fmt, args);
	va_end(args);
}

__printf(2, 3)
static void advise(struct explain_words *w, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(w->advice, sizeof(w->advice), fmt, args);
	va_end(args);
}

static const char *local_text(const struct explain *e, char buf[ADDR_STRLEN])
{
	struct in6_addr addr;

	memcpy(&addr, e->x.local, sizeof(addr));
	return addr_format(&addr, buf);
}

static const char *remote_text(const struct explain *e, char buf[ADDR_STRLEN])
{
	struct in6_addr addr;

	memcpy(&addr, e->x.remote, sizeof(addr));
	return addr_format(&addr, buf);
}

/*
 * The rail to talk about: the first of which is known why it has no link; else the first that
 * this node could use; else the first.
 */
static const struct explain_rail *rail_of(const struct explain *e)
{
	unsigned int i;

	for (i = 0; i < e->n_rails; i++)
		if (e->rails[i].cause[0] && strcmp(e->rails[i].state, "no-wire"))
			return &e->rails[i];
	for (i = 0; i < e->n_rails; i++)
		if (strcmp(e->rails[i].state, "no-wire"))
			return &e->rails[i];
	return e->n_rails ? e->rails : NULL;
}

static void rail_failed(const struct explain *e, const struct explain_rail *r,
			struct explain_words *w)
{
	bool lacks = !strcmp(r->cause, "unmapped") || !strcmp(r->cause, "closed");
	bool tcp = !strcmp(r->transport, "tcp-rail");
	const struct cause *c = cause_find(r->cause);
	char remote[ADDR_STRLEN], local[ADDR_STRLEN], addr[ADDR_STRLEN];

	local_text(e, addr);
	addr_format(&r->remote, remote);
	addr_format(&r->local, local);
	say_not(w, "there is no link to node %u at %s, as %s.", e->x.node,
		remote, explain_cause(r->cause));
	if (lacks && e->self)
		advise(w, "On node %u: sanxctl nodemap add %s %u %s%s", e->x.node, addr, e->self,
		       tcp ? "tcp:" : "", local);
	else if (lacks)
		advise(w, "On node %u: put this node into the node map, at %s.", e->x.node, local);
	else if (c && strstr(c->advice, "%s"))
		advise(w, "%.*s%s%s%s.", (int)(strstr(c->advice, "%s") - c->advice), c->advice,
		       tcp && !strcmp(r->cause, "rail") ? "tcp:" : "", remote,
		       strstr(c->advice, "%s") + 2);
	else if (c)
		advise(w, "%s.", c->advice);
	if (w->advice[0] >= 'a' && w->advice[0] <= 'z')
		w->advice[0] -= 'a' - 'A';
}

static void no_wire(const struct explain *e, const struct explain_rail *r,
		    struct explain_words *w)
{
	if (strcmp(r->transport, "verbs")) {
		say_not(w, "this node has no address for rails to node %u.",
			e->x.node);
		advise(w, "Give this node such a rail in the node map: sanxctl nodemap show");
		return;
	}
	say_not(w, "sanx_verbs is not loaded for rails to node %u, or no RDMA address is here.",
		e->x.node);
	advise(w, "modprobe sanx_verbs; or give both nodes a TCP rail in the node map (tcp).");
}

/* There is no link: the rails tell why. */
static void no_link(const struct explain *e, struct explain_words *w)
{
	const struct explain_rail *r = rail_of(e);
	char local[ADDR_STRLEN];

	if (!r) {
		say_not(w, "the node map has no rail to node %u.",
			e->x.node);
		advise(w, "Look here: sanxctl nodemap show");
		return;
	}
	addr_format(&r->local, local);
	if (!strcmp(r->state, "no-wire")) {
		no_wire(e, r, w);
	} else if (!strcmp(r->state, "down")) {
		say_not(w, "this node has set the rail from %s down.",
			local);
		advise(w, "sanxctl rail set %s%s up",
		       strcmp(r->transport, "tcp-rail") ? "" : "tcp:", local);
	} else if (!strcmp(r->state, "no-carrier")) {
		say_not(w, "the port of this node with %s is down or has no carrier.",
			local);
		advise(w, "Look at the cable and the port: ip -br link; ip -br addr");
	} else if (r->cause[0]) {
		rail_failed(e, r, w);
	} else if (e->held_secs) {
		say_not(w, "node %u has not answered in time, and is asked again in %u s.",
			e->x.node, e->held_secs);
		advise(w, "Look here and there: dmesg");
	} else {
		say_not(w, "node %u has not answered in time.", e->x.node);
		advise(w, "Look here and there: dmesg");
	}
}

/* What the node has answered, or would: it was asked. */
static bool peer_says(const struct explain *e, struct explain_words *w)
{
	char local[ADDR_STRLEN];
	u32 node = e->x.node;

	local_text(e, local);
	if (!strcmp(e->x.fallback, "unmapped")) {
		say_not(w, "the node map of node %u does not have this node at %s.",
			node, local);
		if (e->self)
			advise(w, "On node %u: sanxctl nodemap add %s %u", node, local, e->self);
		else
			advise(w, "On node %u: put this node into the node map, at %s.", node,
			       local);
	} else if (!strcmp(e->x.fallback, "route")) {
		say_not(w, "by the routes of node %u, nothing comes to it from %s.",
			node, local);
		advise(w, "On node %u: ip route get %s; sysctl net.ipv4.conf.all.rp_filter", node,
		       local);
	} else if (!strcmp(e->x.fallback, "denied")) {
		say_not(w, "a port rule of node %u denies the port.", node);
		advise(w, "On node %u: sanxctl ports show", node);
	} else if (!strcmp(e->x.fallback, "limit")) {
		say_not(w, "a limit of node %u is reached.", node);
		advise(w, "On node %u: dmesg says which; sysctl net.sanx", node);
	} else {
		return false;
	}
	return true;
}

static void here_says(const struct explain *e, struct explain_words *w)
{
	const char *why = e->x.fallback;
	char local[ADDR_STRLEN], remote[ADDR_STRLEN];

	local_text(e, local);
	remote_text(e, remote);
	if (!strcmp(why, "refused") && !strcmp(e->x.transport, "loop")) {
		say_not(w, "no AF_SANX socket listens there on %s, or a port rule denies it.",
			remote);
		advise(w, "Start the server with sanx-run; sanxctl ports show");
	} else if (!strcmp(why, "refused")) {
		say_not(w, "no AF_SANX socket listens on that port of %s.",
			remote);
		advise(w, "Start the server there with sanx-run, or have it open AF_SANX sockets.");
	} else if (!strcmp(why, "port")) {
		say_not(w, "port rule %u of this node denies the port.",
			e->x.rule);
		advise(w, "sanxctl ports show; sanxctl ports del ...");
	} else if (!strcmp(why, "unmapped")) {
		say_not(w, "the node map does not have %s.", remote);
		advise(w, "sanxctl nodemap add %s NODEID", remote);
	} else if (!strcmp(why, "asked")) {
		say_not(w, "%s is only now being asked which node it is.", remote);
		advise(w, "Ask again in a second; what it has answered: sanxctl nodemap show");
	} else if (!strcmp(why, "route")) {
		say_not(w, "there is no route from %s to %s and back, or IPsec protects it.",
			local, remote);
		advise(w, "ip route get %s; ip xfrm policy", remote);
	} else if (!strcmp(why, "option")) {
		say_not(w, "BPF programs of this cgroup look at connections or packets.");
		advise(w, "bpftool cgroup tree");
	} else {
		no_link(e, w);
	}
}

/**
 * explain_words - say what would become of a connection
 * @e: what is known
 * @w: filled
 */
void explain_words(const struct explain *e, struct explain_words *w)
{
	*w = (struct explain_words) {
		.otherwise = e->otherwise ?: "A connection is plain TCP",
	};

	if (!e->x.fallback[0] && !strcmp(e->x.transport, "loop"))
		say(w, "A connection goes through memory: the peer is on this host.");
	else if (!e->x.fallback[0])
		say(w, "A connection goes over %s to node %u.", e->x.transport, e->x.node);
	else if (!e->x.transport[0] || !peer_says(e, w))
		here_says(e, w);
}

/* Why a socket became plain TCP, when it did. */
static const struct {
	const char *name;
	const char *words;
} became[] = {
	{ "unmapped", "the node map did not have the peer, or that of the peer this node" },
	{ "port", "a port rule of this node denied the port" },
	{ "link", "there was no link to the peer" },
	{ "refused", "no AF_SANX socket listened there" },
	{ "option", "the program has asked for something that only TCP does" },
	{ "accept", "the client was one of plain TCP" },
	{ "asked", "the peer was being asked which node it is" },
	{ "route", "there was no route to the peer and back, or IPsec protects it" },
	{ "denied", "a port rule of the peer denied the port" },
	{ "limit", "a limit of the peer was reached" },
};

static const char *became_words(const char *fallback)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(became); i++)
		if (!strcmp(fallback, became[i].name))
			return became[i].words;
	return fallback;
}

static void tcp_words(const char *state, struct explain_words *w)
{
	if (!strcmp(state, "LISTEN"))
		say(w, "It is a socket of TCP, and takes TCP clients only.");
	else
		say(w, "It is a socket of TCP: made as one, or accept()ed from a TCP client.");
	advise(w, "Start the program with sanx-run, or have it open AF_SANX sockets.");
}

/**
 * explain_socket_words - say why a socket is what it is
 * @s: the socket
 * @sanx: the module knows it
 * @remote: the peer's address
 * @port: the peer's port, or 0
 * @w: filled
 */
void explain_socket_words(const struct explain_socket *s, bool sanx, const char *remote,
			  u16 port, struct explain_words *w)
{
	*w = (struct explain_words) { };

	if (!sanx) {
		tcp_words(s->state, w);
	} else if (s->fallback[0]) {
		say(w, "It became plain TCP, as %s.", became_words(s->fallback));
		if (port && strcmp(s->fallback, "option") && strcmp(s->fallback, "accept"))
			advise(w, "What would become of it now: sanxctl explain %s %u", remote,
			       port);
		else if (!strcmp(s->fallback, "option"))
			advise(w, "man 7 af_sanx has what only TCP does.");
	} else if (!strcmp(s->state, "LISTEN")) {
		say(w, "It takes clients of AF_SANX and of TCP.");
	} else if (!strcmp(s->transport, "loop")) {
		say(w, "It goes through memory: the peer is on this host.");
	} else if (!strcmp(s->transport, "-")) {
		say(w, "It is of AF_SANX, and not connected.");
	} else if (s->node) {
		say(w, "It goes over %s to node %u.", s->transport, s->node);
	} else {
		say(w, "It goes over %s, and has no link at present.", s->transport);
	}
}
