// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl explain: what connect() would do here and now, and why.
 *
 * The kernel goes the way of connect() and asks the peer (SANX_EXPLAIN of a socket); the
 * rails to the peer's node show the rest.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../run/family.h"
#include "explain.h"
#include "sanxctl.h"

static const char usage[] =
	"Usage: sanxctl explain [ HOST [ PORT ] ]\n"
	"       sanxctl explain node NODEID\n"
	"       sanxctl explain pid PID [ fd FD ]\n"
	"HOST := { ADDRESS | NAME }; without one, each node of the node map\n"
	"PORT := { 1-65535 | SERVICE }; without one, whether there is a way to the host\n";

/*
 * Ask
 */

/* The protocol of sockets that take the address. */
static int protocol_of(const struct in6_addr *addr)
{
	if (addr_is_explicit(addr))
		return SANXPROTO_EXPLICIT;
	return IN6_IS_ADDR_V4MAPPED(addr) ? SANXPROTO_INET : SANXPROTO_INET6;
}

static int explain_ask(struct explain *e)
{
	socklen_t len = sizeof(e->x);
	int family = sanx_family_read(), fd, rc;
	struct in6_addr remote;

	if (!family)
		return ctl_fail("the module is not loaded: modprobe af_sanx");
	memcpy(&remote, e->x.remote, sizeof(remote));
	fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, protocol_of(&remote));
	if (fd < 0)
		return ctl_fail("socket(AF_SANX): %s", strerror(errno));
	rc = getsockopt(fd, SOL_SANX, SANX_EXPLAIN, &e->x, &len);
	if (rc && errno == ENOPROTOOPT)
		rc = ctl_fail("the module is of another version: modinfo -F version af_sanx");
	else if (rc)
		rc = ctl_fail("the kernel does not explain that: %s", strerror(errno));
	close(fd);
	return rc;
}

static void rail_take(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[SANX_A_RAIL_MAX + 1];
	struct explain *e = data;
	struct explain_rail *r;

	nl_parse(nlh, attr, SANX_A_RAIL_MAX);
	if (nl_uint(attr[SANX_A_RAIL_NODE]) != e->x.node || e->n_rails == EXPLAIN_RAILS)
		return;
	r = &e->rails[e->n_rails++];
	r->number = nl_uint(attr[SANX_A_RAIL_NUMBER]);
	r->remote = nl_addr(attr[SANX_A_RAIL_REMOTE]);
	if (attr[SANX_A_RAIL_LOCAL])
		r->local = nl_addr(attr[SANX_A_RAIL_LOCAL]);
	r->retry_secs = nl_uint(attr[SANX_A_RAIL_RETRY_SECS]);
	nl_word(r->transport, sizeof(r->transport), attr[SANX_A_RAIL_TRANSPORT]);
	nl_word(r->state, sizeof(r->state), attr[SANX_A_RAIL_STATE]);
	nl_word(r->cause, sizeof(r->cause), attr[SANX_A_RAIL_CAUSE]);
}

static void link_take(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[SANX_A_LINK_MAX + 1];
	struct explain *e = data;
	u32 secs;

	nl_parse(nlh, attr, SANX_A_LINK_MAX);
	secs = nl_uint(attr[SANX_A_LINK_RETRY_SECS]);
	if (nl_uint(attr[SANX_A_LINK_NODE]) == e->x.node && secs > e->held_secs)
		e->held_secs = secs;
}

static void node_take(const struct nlattr *nest, struct explain *e)
{
	const struct nlattr *attr[SANX_A_NODE_MAX + 1];
	struct in6_addr addr;

	nl_parse_nested(nest, attr, SANX_A_NODE_MAX);
	addr = nl_addr(attr[SANX_A_NODE_ADDR]);
	if (!memcmp(&addr, e->x.local, sizeof(addr)))
		e->self = nl_uint(attr[SANX_A_NODE_ID]);
}

static void map_take(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;

	nl_for_each(attr, nlh)
		if (mnl_attr_get_type(attr) == SANX_A_NODEMAP_NODE)
			node_take(attr, data);
}

static void rails_again(void *data)
{
	struct explain *e = data;

	e->n_rails = 0;
}

static int explain_look(struct ctl *ctl, struct explain *e)
{
	int rc = ctl_dump(ctl, SANX_CMD_NODEMAP_GET, map_take, NULL, e);

	if (!rc && e->x.node)
		rc = ctl_dump(ctl, SANX_CMD_RAIL_GET, rail_take, rails_again, e);
	if (!rc && e->x.node)
		rc = ctl_dump(ctl, SANX_CMD_LINK_GET, link_take, NULL, e);
	return rc;
}

/*
 * Print
 */

static const char *addr_or_none(const struct in6_addr *addr, char buf[ADDR_STRLEN])
{
	return IN6_IS_ADDR_UNSPECIFIED(addr) ? NULL : addr_format(addr, buf);
}

static void uint_or_null(struct print *out, const char *key, u64 value)
{
	if (value)
		print_uint(out, key, NULL, value);
	else
		print_null(out, key);
}

static void rail_json(struct print *out, const struct explain_rail *r)
{
	char text[ADDR_STRLEN];

	print_entry_open(out);
	print_uint(out, "rail", NULL, r->number);
	print_string(out, "transport", NULL, r->transport);
	print_string(out, "local", NULL, addr_or_none(&r->local, text));
	print_string(out, "remote", NULL, addr_format(&r->remote, text));
	print_string(out, "state", NULL, r->state);
	print_string(out, "cause", NULL, explain_word(r->cause));
	uint_or_null(out, "retry_secs", r->retry_secs);
	print_entry_close(out);
}

static void rail_text(struct print *out, const struct explain_rail *r)
{
	char local[ADDR_STRLEN], remote[ADDR_STRLEN], line[256];
	int len;

	len = snprintf(line, sizeof(line), "rail %u    %s %s - %s: %s", r->number, r->transport,
		       IN6_IS_ADDR_UNSPECIFIED(&r->local) ? "?" : addr_format(&r->local, local),
		       addr_format(&r->remote, remote), r->state);
	if (*r->cause)
		len += snprintf(line + len, sizeof(line) - len, ", %s", explain_cause(r->cause));
	if (r->retry_secs)
		snprintf(line + len, sizeof(line) - len, ", again in %u s", r->retry_secs);
	print_string(out, NULL, "%s\n", line);
}

static void rails_print(struct print *out, const struct explain *e)
{
	unsigned int i;

	print_list_open(out, "rails");
	for (i = 0; i < e->n_rails; i++) {
		if (out->text)
			rail_text(out, &e->rails[i]);
		else
			rail_json(out, &e->rails[i]);
	}
	print_list_close(out);
}

/* Step by step, for text only. */
static void steps_print(struct print *out, const struct explain *e)
{
	char addr[ADDR_STRLEN];
	struct in6_addr a;

	memcpy(&a, e->x.remote, sizeof(a));
	print_string(out, NULL, "peer      %s", addr_format(&a, addr));
	if (e->x.port)
		print_uint(out, NULL, " port %llu", ntohs(e->x.port));
	print_string(out, NULL, "%s", "\n");
	if (e->x.node)
		print_uint(out, NULL, "node      %llu\n", e->x.node);
	else
		print_string(out, NULL, "node      %s\n", "none");
	if (e->x.rule)
		print_uint(out, NULL, "rule      %llu\n", e->x.rule);
	else
		print_string(out, NULL, "rule      %s\n", "none");
	memcpy(&a, e->x.local, sizeof(a));
	if (!IN6_IS_ADDR_UNSPECIFIED(&a))
		print_string(out, NULL, "source    %s\n", addr_format(&a, addr));
	rails_print(out, e);
	if (e->x.transport[0])
		print_string(out, NULL, "asked     over %s\n", e->x.transport);
	print_string(out, NULL, "answer    %s\n", e->x.fallback[0] ? e->x.fallback : "yes");
}

static void explain_json(struct print *out, const struct explain *e)
{
	char addr[ADDR_STRLEN];
	struct in6_addr a;

	memcpy(&a, e->x.remote, sizeof(a));
	print_string(out, "addr", NULL, addr_format(&a, addr));
	uint_or_null(out, "port", ntohs(e->x.port));
	uint_or_null(out, "node", e->x.node);
	uint_or_null(out, "rule", e->x.rule);
	memcpy(&a, e->x.local, sizeof(a));
	print_string(out, "local", NULL, addr_or_none(&a, addr));
	rails_print(out, e);
	print_string(out, "transport", NULL, explain_word(e->x.transport));
	print_string(out, "fallback", NULL, explain_word(e->x.fallback));
	uint_or_null(out, "held_secs", e->held_secs);
}

/* @steps: also what leads to the verdict; JSON always has it */
static void explain_print(struct print *out, const struct explain *e, bool steps)
{
	struct explain_words w;

	explain_words(e, &w);
	if (!out->text)
		explain_json(out, e);
	else if (steps)
		steps_print(out, e);
	print_string(out, "verdict", "%s", w.verdict);
	print_string(out, "advice", "\n%s", explain_word(w.advice));
}

/*
 * Commands
 */

static int port_parse(const char *text, __be16 *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_family = AF_INET }, *list;
	u32 number;

	/* getaddrinfo() takes numbers of any size. */
	if (*text < 'A') {
		if (!parse_number(text, 10, UINT16_MAX, &number) || !number)
			return ctl_fail("port \"%s\", expected 1 to 65535", text);
		*port = htons(number);
		return 0;
	}
	if (getaddrinfo(NULL, text, &hints, &list))
		return ctl_fail("\"%s\" is no port", text);
	*port = ((struct sockaddr_in *)list->ai_addr)->sin_port;
	freeaddrinfo(list);
	return 0;
}

/* Return: 0, or -1 after a message. */
static int explain_answer(struct ctl *ctl, struct explain *e)
{
	if (explain_look(ctl, e))
		return -1;
	explain_print(&ctl->out, e, true);
	print_string(&ctl->out, NULL, "%s", "\n");
	return 0;
}

static int explain_host(struct ctl *ctl, int argc, char **argv)
{
	struct explain e = { };
	struct in6_addr addr;
	const char *why = "no address";

	print_single(&ctl->out);
	if (argc > 2)
		return ctl_no_args(argc - 2, argv + 2);
	if (!addr_parse(argv[0], &addr) && addr_resolve(argv[0], &addr, 1, &why) < 1)
		return ctl_fail("host \"%s\": %s", argv[0], why);
	memcpy(e.x.remote, &addr, sizeof(addr));
	if (argc > 1 && port_parse(argv[1], &e.x.port))
		return -1;
	return explain_ask(&e) ? -1 : explain_answer(ctl, &e);
}

/* The first address of a node. */
struct host {
	struct in6_addr addr;
	u32 id;
};

struct hosts {
	struct host *host;
	size_t n;
	size_t room;
};

static const struct host *host_of(const struct hosts *h, u32 id)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->host[i].id == id)
			return &h->host[i];
	return NULL;
}

static void host_add(struct hosts *h, const struct in6_addr *addr, u32 id)
{
	if (host_of(h, id))
		return;
	h->host = ctl_grow(h->host, h->n, &h->room, sizeof(*h->host));
	h->host[h->n++] = (struct host) { .addr = *addr, .id = id };
}

static void hosts_take(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *node[SANX_A_NODE_MAX + 1], *attr;
	struct in6_addr addr;

	nl_for_each(attr, nlh) {
		if (mnl_attr_get_type(attr) != SANX_A_NODEMAP_NODE)
			continue;
		nl_parse_nested(attr, node, SANX_A_NODE_MAX);
		addr = nl_addr(node[SANX_A_NODE_ADDR]);
		host_add(data, &addr, nl_uint(node[SANX_A_NODE_ID]));
	}
}

static void hosts_again(void *data)
{
	struct hosts *h = data;

	h->n = 0;
}

/* Return: 0; 1 after a message about this one; -1 after another. */
static int explain_each(struct ctl *ctl, const struct host *host)
{
	char text[ADDR_STRLEN];
	struct explain e = { };

	memcpy(e.x.remote, &host->addr, sizeof(host->addr));
	/* Of one that cannot be asked, a message has said why. */
	if (explain_ask(&e))
		return 1;
	if (explain_look(ctl, &e))
		return -1;
	print_item_open(&ctl->out);
	print_string(&ctl->out, NULL, "%s ", addr_format(&host->addr, text));
	print_uint(&ctl->out, NULL, "node %llu: ", host->id);
	explain_print(&ctl->out, &e, false);
	print_item_close(&ctl->out);
	return 0;
}

static int explain_all(struct ctl *ctl)
{
	struct hosts h = { };
	int rc = ctl_dump(ctl, SANX_CMD_NODEMAP_GET, hosts_take, hosts_again, &h);
	size_t i;

	for (i = 0; rc >= 0 && i < h.n; i++)
		rc = explain_each(ctl, &h.host[i]);
	free(h.host);
	return rc < 0 ? -1 : 0;
}

/*
 * Asks as an explicit socket, whose connections need a way to the node and no more.  The words
 * are about addresses of the node map.
 */
static int ask_node(struct ctl *ctl, const struct hosts *h, const struct host *host,
		    struct explain *e)
{
	struct in6_addr addr;
	const struct host *own;

	addr_of_node(host->id, &addr);
	memcpy(e->x.remote, &addr, sizeof(addr));
	if (explain_ask(e))
		return -1;
	memcpy(&addr, e->x.local, sizeof(addr));
	own = host_of(h, addr_node(&addr));
	addr = own ? own->addr : in6addr_any;
	memcpy(e->x.local, &addr, sizeof(addr));
	memcpy(e->x.remote, &host->addr, sizeof(host->addr));
	e->otherwise = "There is no connection";
	return explain_answer(ctl, e);
}

/* Is there a way to a node? */
static int explain_node(struct ctl *ctl, int argc, char **argv)
{
	const struct host *host;
	struct explain e = { };
	struct hosts h = { };
	u32 id;
	int rc;

	print_single(&ctl->out);
	if (argc > 1)
		return ctl_no_args(argc - 1, argv + 1);
	if (!argc || !parse_number(argv[0], 10, UINT32_MAX, &id) || !id)
		return ctl_fail("NODEID is missing, expected 1-4294967295");
	rc = ctl_dump(ctl, SANX_CMD_NODEMAP_GET, hosts_take, hosts_again, &h);
	if (!rc) {
		host = host_of(&h, id);
		rc = host ? 0 : ctl_fail("node %u is not in the node map", id);
	}
	if (!rc)
		rc = ask_node(ctl, &h, host, &e);
	free(h.host);
	return rc;
}

static int explain_run(struct ctl *ctl, int argc, char **argv)
{
	if (!argc)
		return explain_all(ctl);
	if (!strcmp(argv[0], "node"))
		return explain_node(ctl, argc - 1, argv + 1);
	if (!strcmp(argv[0], "pid"))
		return explain_pid(ctl, argc - 1, argv + 1);
	return explain_host(ctl, argc, argv);
}

const struct object explain_object = {
	.name = "explain",
	.usage = usage,
	.run = explain_run,
};
