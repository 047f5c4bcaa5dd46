// SPDX-License-Identifier: GPL-2.0
/*
 * The parser of node maps and port rules: results and error messages.
 */
#include <stdlib.h>
#include <string.h>

#include "../sanxctl/addr.h"
#include "../sanxctl/parse.h"
#include "tap.h"

/**
 * struct parse_case - a file and the expected result
 * @name: description
 * @text: contents of the file
 * @len: bytes of @text, if it contains a NUL byte; otherwise 0
 * @wanted: all entries, in one line; NULL if an error is expected
 * @line: line of the error
 * @error: message of the error
 */
struct parse_case {
	const char *name;
	const char *text;
	size_t len;
	const char *wanted;
	unsigned int line;
	const char *error;
};

/* "duo" has two addresses, "none" has none, other names are unknown. */
static int fake_resolve(const char *name, struct in6_addr *addrs, int max, const char **why)
{
	if (!strcmp(name, "duo") && max >= 2) {
		addr_parse("10.9.0.1", &addrs[0]);
		addr_parse("fd00::9", &addrs[1]);
		return 2;
	}
	if (!strcmp(name, "none"))
		return 0;
	if (!strcmp(name, "any"))
		return addr_parse("0.0.0.0", &addrs[0]);

	*why = "Name or service not known";
	return -1;
}

#define MAX_ID "4294967295"
#define HOST_LINE "expected HOST NODEID [RAIL...]"

static const struct parse_case nodemap_cases[] = {
	{ "nothing", "", .wanted = "" },
	{ "comments and blank lines", "# a\n\n  \t\n#\n   # b\n", .wanted = "" },
	{ "one host", "10.0.0.1 1\n", .wanted = "10.0.0.1=1" },
	{ "no newline at the end", "10.0.0.1 1", .wanted = "10.0.0.1=1" },
	{ "blanks around", " \t10.0.0.1\t 1 \r\n", .wanted = "10.0.0.1=1" },
	{ "comment after", "10.0.0.1 1# x\n10.0.0.2 2 #y", .wanted = "10.0.0.1=1 10.0.0.2=2" },
	{ "IPv6", "fd00::1 " MAX_ID "\n", .wanted = "fd00::1=" MAX_ID },
	{ "v4-mapped is IPv4", "::ffff:10.0.0.1 1\n", .wanted = "10.0.0.1=1" },
	{ "rails", "10.0.0.1 1 10.1.0.1 fd01::1\n", .wanted = "10.0.0.1=1,10.1.0.1,fd01::1" },
	{ "four rails", "10.0.0.1 1 1.1.1.1 2.2.2.2 3.3.3.3 4.4.4.4",
	  .wanted = "10.0.0.1=1,1.1.1.1,2.2.2.2,3.3.3.3,4.4.4.4" },
	{ "rails of both kinds, in order", "10.0.0.1 1 10.1.0.1 tcp:10.2.0.1 rdma:fd01::1",
	  .wanted = "10.0.0.1=1,10.1.0.1,tcp:10.2.0.1,fd01::1" },
	{ "a TCP rail at the host's address", "fd00::1 1 tcp\n",
	  .wanted = "fd00::1=1,tcp:fd00::1" },
	{ "one address for both kinds", "10.0.0.1 1 10.1.0.1 tcp:10.1.0.1",
	  .wanted = "10.0.0.1=1,10.1.0.1,tcp:10.1.0.1" },
	{ "a TCP rail at each address of a name", "duo 3 tcp\n",
	  .wanted = "10.9.0.1=3,tcp:10.9.0.1 fd00::9=3,tcp:fd00::9" },
	{ "a node with two hosts", "10.0.0.1 1\n10.0.0.2 1\n",
	  .wanted = "10.0.0.1=1 10.0.0.2=1" },
	{ "a name with two addresses", "duo 3 10.1.0.1\n",
	  .wanted = "10.9.0.1=3,10.1.0.1 fd00::9=3,10.1.0.1" },
	{ "the same entry twice", "duo 3\n10.0.0.1 1\n10.9.0.1 3\n",
	  .wanted = "10.9.0.1=3 fd00::9=3 10.0.0.1=1" },

	{ "auto", "auto 10.0.0.0/8\n10.0.0.1 1\nauto fd00::/16 # x\nauto ::/1\n",
	  .wanted = "10.0.0.1=1 auto:10.0.0.0/104 auto:fd00::/16 auto:::/1" },
	{ "auto for one host, and for all of IPv4", "auto 10.0.0.1\nauto 0.0.0.0/0",
	  .wanted = " auto:10.0.0.1/128 auto:0.0.0.0/96" },

	{ "auto without a prefix", "\nauto # x\n", .line = 2, .error =
	  "auto has no prefix, expected ADDRESS/BITS after it" },
	{ "auto with two prefixes", "auto 10.0.0.0/8 11.0.0.0/8", .line = 1, .error =
	  "\"11.0.0.0/8\" is one too many, expected auto ADDRESS/BITS" },
	{ "auto with a name", "auto duo", .line = 1, .error =
	  "\"duo\" is not a prefix, expected ADDRESS/BITS" },
	{ "auto with too many bits", "auto 10.0.0.0/33", .line = 1, .error =
	  "\"10.0.0.0/33\" is not a prefix, expected ADDRESS/BITS" },
	{ "auto with no bits of IPv6", "auto ::/0", .line = 1, .error =
	  "\"::/0\" is not a prefix, expected ADDRESS/BITS" },
	{ "auto with bits behind the prefix", "auto 10.0.0.1/8", .line = 1, .error =
	  "\"10.0.0.1/8\" has bits behind the prefix, expected zeroes there" },
	{ "no node id", "# a\n10.0.0.1\n", .line = 2, .error =
	  "host \"10.0.0.1\" has no node id, " HOST_LINE },
	{ "node id 0", "10.0.0.1 0", .line = 1, .error =
	  "node id \"0\": not a node id, expected 1-4294967295" },
	{ "node id too large", "10.0.0.1 4294967296", .line = 1, .error =
	  "node id \"4294967296\": not a node id, expected 1-4294967295" },
	{ "node id far too large", "10.0.0.1 18446744073709551617", .line = 1, .error =
	  "node id \"18446744073709551617\": not a node id, expected 1-4294967295" },
	{ "node id negative", "10.0.0.1 -1", .line = 1, .error =
	  "node id \"-1\": not a node id, expected 1-4294967295" },
	{ "node id with a letter", "10.0.0.1 1x", .line = 1, .error =
	  "node id \"1x\": not a node id, expected 1-4294967295" },
	{ "unknown name", "10.0.0.1 1\n\nwho 2\n", .line = 3, .error =
	  "host \"who\": Name or service not known, expected an address or a name that has one" },
	{ "name without an address", "none 2\n", .line = 1, .error =
	  "host \"none\": no address, expected an address or a name that has one" },
	{ "no host's address", "224.0.0.1 2\n", .line = 1, .error =
	  "host \"224.0.0.1\": 224.0.0.1 is no host's address, expected unicast" },
	{ "name with no host's address", "any 2\n", .line = 1, .error =
	  "host \"any\": 0.0.0.0 is no host's address, expected unicast" },
	{ "IPv6 multicast", "ff02::1 2\n", .line = 1, .error =
	  "host \"ff02::1\": ff02::1 is no host's address, expected unicast" },
	{ "five rails", "10.0.0.1 1 1.1.1.1 2.2.2.2 3.3.3.3 4.4.4.4 5.5.5.5", .line = 1, .error =
	  "rail \"5.5.5.5\" is one too many, expected at most 4" },
	{ "rail by name", "10.0.0.1 1 duo", .line = 1, .error =
	  "rail \"duo\": not a host's address, expected IPv4, IPv6 or tcp" },
	{ "rail that is no host", "10.0.0.1 1 ::", .line = 1, .error =
	  "rail \"::\": not a host's address, expected IPv4, IPv6 or tcp" },
	{ "rail twice", "10.0.0.1 1 1.1.1.1 ::ffff:1.1.1.1", .line = 1, .error =
	  "rail \"::ffff:1.1.1.1\" is there already, expected another" },
	{ "TCP rail twice", "10.0.0.1 1 tcp tcp:10.0.0.1", .line = 1, .error =
	  "rail \"tcp:10.0.0.1\" is there twice, expected once" },
	{ "TCP rail without an address", "10.0.0.1 1 tcp:", .line = 1, .error =
	  "rail \"tcp:\": not a host's address, expected IPv4, IPv6 or tcp" },
	{ "a kind of rail that is unknown", "10.0.0.1 1 udp:10.1.0.1", .line = 1, .error =
	  "rail \"udp:10.1.0.1\": not a host's address, expected IPv4, IPv6 or tcp" },
	{ "one address, rails of another kind", "10.0.0.1 1 10.1.0.1\n10.0.0.1 1 tcp:10.1.0.1",
	  .line = 2, .error =
	  "10.0.0.1 is node 1 here and node 1 on line 1, other rails, expected one of them" },
	{ "one address, two nodes", "10.0.0.1 1\n10.0.0.2 2\n10.0.0.1 3\n10.0.0.2 3", .line = 3,
	  .error = "10.0.0.1 is node 3 here and node 1 on line 1, expected one of them" },
	{ "one address, other rails", "10.0.0.1 1\n10.0.0.1 1 10.1.0.1\n", .line = 2, .error =
	  "10.0.0.1 is node 1 here and node 1 on line 1, other rails, expected one of them" },
	{ "NUL byte", "10.0.0.1 1\n10.0.0.2\0 2\n", .len = 23, .line = 2, .error =
	  "a NUL byte is in this line, expected text" },
	{ "what drives terminals", "\033[2J 1\n", .line = 1, .error =
	  "host \"?[2J\": Name or service not known, expected an address or a name that has one" },
	{ "a long word", "deny-deny-deny-deny-deny-deny-deny-deny-deny-deny", .line = 1, .error =
	  "host \"deny-deny-deny-deny-deny-deny-deny-deny-de...\" has no node id, " HOST_LINE },
};

static const struct parse_case ports_cases[] = {
	{ "nothing", "", .wanted = "" },
	{ "comments and blank lines", "# a\n\n  \t\n#\n   # b\n", .wanted = "" },
	{ "one port", "allow 80\n", .wanted = "+80-80" },
	{ "a range", "deny 1-65535\n", .wanted = "-1-65535" },
	{ "a range of one", "deny 7-7\n", .wanted = "-7-7" },
	{ "several words", "allow 80 90-99 100 # x\ndeny 5",
	  .wanted = "+80-80 +90-99 +100-100 -5-5" },
	{ "commas", "allow 80,90-99 100,101", .wanted = "+80-80 +90-99 +100-100 +101-101" },
	{ "order kept, overlap fine", "deny 22\nallow 1-100\ndeny 22",
	  .wanted = "-22-22 +1-100 -22-22" },

	{ "a default", "deny default", .wanted = "-0-0" },
	{ "in", "deny in 5", .wanted = "-in:5-5" },
	{ "out", "allow out 5 6", .wanted = "+out:5-5 +out:6-6" },
	{ "from a node", "deny from 7 5", .wanted = "-in:7:5-5" },
	{ "in from a node, named", "deny in from 7 5", .wanted = "-in:7:5-5" },
	{ "to a host", "deny to 10.0.0.1 5", .wanted = "-out:10.0.0.1/128:5-5" },
	{ "out to a network", "deny out to 10.0.0.0/8 5,default",
	  .wanted = "-out:10.0.0.0/104:5-5 -out:10.0.0.0/104:0-0" },
	{ "all of IPv4", "deny in from 0.0.0.0/0 5", .wanted = "-in:0.0.0.0/96:5-5" },
	{ "an IPv6 network", "deny from fd77::/16 5", .wanted = "-in:fd77::/16:5-5" },
	{ "an IPv6 network, whole", "deny from fd77::/48 5", .wanted = "-in:fd77::/48:5-5" },

	{ "an explicit port", "deny explicit 5", .wanted = "-explicit:5-5" },
	{ "a range of explicit ports", "allow explicit 1-4294967295",
	  .wanted = "+explicit:1-4294967295" },
	{ "several explicit ports", "deny explicit 5,70000 80000-90000",
	  .wanted = "-explicit:5-5 -explicit:70000-70000 -explicit:80000-90000" },
	{ "an explicit port, in", "deny in explicit 5", .wanted = "-in:explicit:5-5" },
	{ "an explicit port of a node", "deny out to 7 explicit 5",
	  .wanted = "-out:7:explicit:5-5" },
	{ "explicit is for one line", "deny explicit 5\ndeny 5",
	  .wanted = "-explicit:5-5 -5-5" },

	{ "no peer", "deny in from", .line = 1, .error =
	  "from has no peer, expected a node id or ADDRESS[/BITS]" },
	{ "no port behind a way", "deny in", .line = 1, .error =
	  "in has no port, expected PORT or PORT-PORT after it" },
	{ "no port behind a peer", "deny to 3", .line = 1, .error =
	  "3 has no port, expected PORT or PORT-PORT after it" },
	{ "out from", "deny out from 3 5", .line = 1, .error =
	  "\"from\" is not a port or a range, expected PORT[-PORT] of 1-65535" },
	{ "node 0", "deny from 0 5", .line = 1, .error =
	  "\"0\" is not a peer, expected a node id, ADDRESS or ADDRESS/BITS" },
	{ "a name as peer", "deny from there 5", .line = 1, .error =
	  "\"there\" is not a peer, expected a node id, ADDRESS or ADDRESS/BITS" },
	{ "too many bits", "deny from 10.0.0.0/33 5", .line = 1, .error =
	  "\"10.0.0.0/33\" is not a peer, expected a node id, ADDRESS or ADDRESS/BITS" },
	{ "no bits of IPv6", "deny from ::/0 5", .line = 1, .error =
	  "\"::/0\" is not a peer, expected a node id, ADDRESS or ADDRESS/BITS" },
	{ "bits behind a prefix", "deny from 10.0.0.1/8 5", .line = 1, .error =
	  "\"10.0.0.1/8\" has bits behind the prefix, expected zeroes there" },
	{ "a default range", "deny default-5", .line = 1, .error =
	  "\"default-5\" is not a port or a range, expected PORT[-PORT] of 1-65535" },

	{ "no explicit port", "deny explicit", .line = 1, .error =
	  "explicit has no port, expected PORT or PORT-PORT after it" },
	{ "explicit port 0", "deny explicit 0", .line = 1, .error =
	  "\"0\" is not a port or a range, expected PORT[-PORT] of 1-4294967295" },
	{ "explicit port too large", "deny explicit 4294967296", .line = 1, .error =
	  "\"4294967296\" is not a port or a range, expected PORT[-PORT] of 1-4294967295" },
	{ "explicit range backwards", "deny explicit 70000-5", .line = 1, .error =
	  "range \"70000-5\" ends before it starts, expected the lower port first" },
	{ "an explicit default", "deny explicit 5,default", .line = 1, .error =
	  "default is for all ports, expected it without explicit" },
	{ "explicit behind a port", "deny 5 explicit 6", .line = 1, .error =
	  "\"explicit\" is not a port or a range, expected PORT[-PORT] of 1-65535" },
	{ "explicit before the peer", "deny explicit from 7 5", .line = 1, .error =
	  "\"from\" is not a port or a range, expected PORT[-PORT] of 1-4294967295" },
	{ "explicit cut short", "deny exp 5", .line = 1, .error =
	  "\"exp\" is not a port or a range, expected PORT[-PORT] of 1-65535" },

	{ "action", "allow 1\npermit 80\n", .line = 2, .error =
	  "\"permit\" is not an action, expected allow or deny" },
	{ "action cut short", "all 80\n", .line = 1, .error =
	  "\"all\" is not an action, expected allow or deny" },
	{ "no port", "\ndeny\n", .line = 2, .error =
	  "deny has no port, expected PORT or PORT-PORT after it" },
	{ "port 0", "deny 0", .line = 1, .error =
	  "\"0\" is not a port or a range, expected PORT[-PORT] of 1-65535" },
	{ "port too large", "deny 65536", .line = 1, .error =
	  "\"65536\" is not a port or a range, expected PORT[-PORT] of 1-65535" },
	{ "range from 0", "deny 0-5", .line = 1, .error =
	  "\"0-5\" is not a port or a range, expected PORT[-PORT] of 1-65535" },
	{ "range without end", "deny 5-", .line = 1, .error =
	  "\"5-\" is not a port or a range, expected PORT[-PORT] of 1-65535" },
	{ "range without start", "deny -5", .line = 1, .error =
	  "\"-5\" is not a port or a range, expected PORT[-PORT] of 1-65535" },
	{ "range of three", "deny 1-2-3", .line = 1, .error =
	  "\"1-2-3\" is not a port or a range, expected PORT[-PORT] of 1-65535" },
	{ "range backwards", "allow 1\nallow 2\ndeny 9-5", .line = 3, .error =
	  "range \"9-5\" ends before it starts, expected the lower port first" },
	{ "comma too many", "deny 1,,2", .line = 1, .error =
	  "\"\" is not a port or a range, expected PORT[-PORT] of 1-65535" },
	{ "comma at the end", "deny 1,", .line = 1, .error =
	  "\"\" is not a port or a range, expected PORT[-PORT] of 1-65535" },
	{ "service name", "deny http", .line = 1, .error =
	  "\"http\" is not a port or a range, expected PORT[-PORT] of 1-65535" },
};

static void nodemap_write(const struct nodemap *map, FILE *out)
{
	char text[ADDR_STRLEN];
	unsigned int rail;
	size_t i;

	for (i = 0; i < map->count; i++) {
		const struct node *node = &map->node[i];

		fprintf(out, "%s%s=%u", i ? " " : "", addr_format(&node->addr, text), node->id);
		for (rail = 0; rail < node->rails; rail++)
			fprintf(out, ",%s%s", node->rail[rail].tcp ? "tcp:" : "",
				addr_format(&node->rail[rail].addr, text));
	}
	for (i = 0; i < map->prefixes; i++)
		fprintf(out, " auto:%s/%u", addr_format(&map->prefix[i].addr, text),
			map->prefix[i].len);
}

static int nodemap_try(struct parse_source *src, FILE *in, FILE *out)
{
	struct nodemap map = { };
	int rc;

	rc = nodemap_parse(src, in, &map);
	if (!rc)
		nodemap_write(&map, out);
	nodemap_free(&map);
	return rc;
}

static void rule_write(const struct port_rule *rule, size_t i, FILE *out)
{
	static const char * const way[] = { "", "out:", "in:" };
	char text[ADDR_STRLEN];

	fprintf(out, "%s%c%s", i ? " " : "",
		rule->action == SANX_PORT_ACTION_ALLOW ? '+' : '-', way[rule->way]);
	if (rule->node)
		fprintf(out, "%u:", rule->node);
	if (rule->prefix_len)
		fprintf(out, "%s/%u:", addr_format(&rule->prefix, text), rule->prefix_len);
	fprintf(out, "%s%u-%u", rule->explicit ? "explicit:" : "", rule->first, rule->last);
}

static int ports_try(struct parse_source *src, FILE *in, FILE *out)
{
	struct ports ports = { };
	size_t i;
	int rc;

	rc = ports_parse(src, in, &ports);
	for (i = 0; !rc && i < ports.count; i++)
		rule_write(&ports.rule[i], i, out);
	ports_free(&ports);
	return rc;
}

static void judge(const char *what, const struct parse_case *want, int rc, const char *got,
		  const struct parse_source *src)
{
	bool good;

	if (want->wanted)
		good = !rc && !strcmp(got, want->wanted);
	else
		good = rc && src->error.line == want->line &&
		       !strcmp(src->error.text, want->error);

	if (!ok(good, "%s: %s", what, want->name))
		printf("# got %d, \"%s\", line %u: %s\n", rc, got, src->error.line,
		       src->error.text);
}

static void try_cases(const char *what, const struct parse_case *cases, size_t count,
		      int (*try)(struct parse_source *src, FILE *in, FILE *out))
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct parse_source src = { .resolve = fake_resolve };
		size_t len = cases[i].len;
		FILE *in, *out;
		char *got;
		size_t got_len;
		int rc;

		if (!len)
			len = strlen(cases[i].text);
		in = fmemopen((char *)cases[i].text, len, "r");
		out = open_memstream(&got, &got_len);
		rc = try(&src, in, out);
		fclose(in);
		fclose(out);
		judge(what, &cases[i], rc, got, &src);
		free(got);
	}
}

/* An error of the file as a whole has no line. */
static void try_directory(void)
{
	struct parse_source src = { .resolve = fake_resolve };
	struct nodemap map = { };
	FILE *file = fopen("/", "r");

	ok(nodemap_parse(&src, file, &map) && !src.error.line &&
	   !strcmp(src.error.text, "Is a directory"), "node map: a directory");
	fclose(file);
}

/* The most hosts that a map can have. */
static void try_large(void)
{
	struct parse_source src = { .resolve = fake_resolve };
	struct nodemap map = { };
	FILE *file = tmpfile();
	unsigned int i;

	for (i = 0; i < 65536; i++)
		fprintf(file, "10.0.%u.%u %u 10.1.%u.%u\n", i >> 8, i & 255, i + 1,
			i >> 8, i & 255);
	rewind(file);

	ok(!nodemap_parse(&src, file, &map) && map.count == 65536 &&
	   map.node[65535].id == 65536 && map.node[65535].line == 65536,
	   "node map: 65536 hosts");
	nodemap_free(&map);
	fclose(file);
}

/* The most prefixes that a map can have, and one more. */
static void try_prefixes(void)
{
	struct parse_source src = { .resolve = fake_resolve };
	struct nodemap map = { };
	FILE *file = tmpfile();
	unsigned int i;

	for (i = 0; i < SANX_MAX_AUTOS; i++)
		fprintf(file, "auto 10.%u.0.0/16\n", i);
	rewind(file);
	ok(!nodemap_parse(&src, file, &map) && map.prefixes == SANX_MAX_AUTOS,
	   "node map: 64 prefixes");
	nodemap_free(&map);
	fseek(file, 0, SEEK_END);
	fprintf(file, "auto 11.0.0.0/8\n");
	rewind(file);
	ok(nodemap_parse(&src, file, &map) && src.error.line == SANX_MAX_AUTOS + 1,
	   "node map: 65 prefixes");
	nodemap_free(&map);
	fclose(file);
}

struct same_case {
	const char *name;
	const char *one;
	const char *other;
	bool wanted;
};

static const struct same_case same_cases[] = {
	{ "none", "", "", true },
	{ "in another order", "10.0.0.1 1\n10.0.0.2 2 tcp\n", "10.0.0.2 2 tcp\n10.0.0.1 1\n",
	  true },
	{ "the module's rail", "10.0.0.1 1\n", "10.0.0.1 1 10.0.0.1\n", true },
	{ "the module's rail before one of TCP", "10.0.0.1 1 tcp", "10.0.0.1 1 10.0.0.1 tcp",
	  true },
	{ "no room for the module's rail", "10.0.0.1 1 tcp tcp:10.0.0.2 tcp:10.0.0.3 tcp:10.0.0.4",
	  "10.0.0.1 1 tcp tcp:10.0.0.2 tcp:10.0.0.3 tcp:10.0.0.4", true },
	{ "another id", "10.0.0.1 1\n", "10.0.0.1 2\n", false },
	{ "another host", "10.0.0.1 1\n", "10.0.0.2 1\n", false },
	{ "one more", "10.0.0.1 1\n", "10.0.0.1 1\n10.0.0.2 2\n", false },
	{ "another rail", "10.0.0.1 1 10.1.0.1\n", "10.0.0.1 1 10.2.0.1\n", false },
	{ "another order of rails", "10.0.0.1 1 10.1.0.1 10.2.0.1\n",
	  "10.0.0.1 1 10.2.0.1 10.1.0.1\n", false },
	{ "prefixes", "auto 10.0.0.0/8\n10.0.0.1 1\n", "10.0.0.1 1\nauto 10.0.0.0/8\n", true },
	{ "another prefix", "auto 10.0.0.0/8\n", "auto 10.0.0.0/9\n", false },
	{ "no prefix", "auto 10.0.0.0/8\n", "", false },
	{ "another kind of rail", "10.0.0.1 1 10.1.0.1 10.2.0.1\n",
	  "10.0.0.1 1 10.1.0.1 tcp:10.2.0.1\n", false },
};

static void map_from(const char *text, struct nodemap *map)
{
	struct parse_source src = { .resolve = fake_resolve };
	FILE *in = *text ? fmemopen((char *)text, strlen(text), "r") : fopen("/dev/null", "r");

	nodemap_parse(&src, in, map);
	fclose(in);
}

static void try_same(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(same_cases); i++) {
		struct nodemap one = { }, other = { };

		map_from(same_cases[i].one, &one);
		map_from(same_cases[i].other, &other);
		ok(nodemap_same(&one, &other) == same_cases[i].wanted, "the same map: %s",
		   same_cases[i].name);
		nodemap_free(&one);
		nodemap_free(&other);
	}
}

struct addr_case {
	const char *text;
	const char *wanted;
};

static const struct addr_case addr_cases[] = {
	{ "10.0.0.1", "10.0.0.1:80" },
	{ "::ffff:10.0.0.1", "10.0.0.1:80" },
	{ "FD00:0::1", "[fd00::1]:80" },
	{ "::", "[::]:80" },
	{ "0.0.0.0", "0.0.0.0:80" },
	{ "10.1", NULL },
	{ "010.0.0.1", NULL },
	{ "1", NULL },
	{ "fe80::1%lo", NULL },
	{ "[::1]", NULL },
	{ "", NULL },
};

static void try_addrs(void)
{
	char text[ENDPOINT_STRLEN];
	struct in6_addr addr;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(addr_cases); i++) {
		const struct addr_case *want = &addr_cases[i];
		bool good = addr_parse(want->text, &addr);

		if (want->wanted)
			good = good && !strcmp(endpoint_format(&addr, 80, text), want->wanted);
		else
			good = !good;
		ok(good, "address \"%s\"", want->text);
	}
}

static void try_resolve(void)
{
	struct in6_addr addrs[4];
	const char *why = "";

	ok(addr_resolve("10.1", addrs, 4, &why) < 0 && !strcmp(why, "not a whole address"),
	   "resolve: 10.1 is no name");
	ok(addr_resolve("::1%lo", addrs, 4, &why) < 0, "resolve: ::1%%lo is no name");
	ok(addr_resolve("localhost", addrs, 4, &why) > 0, "resolve: localhost");
	ok(addr_resolve("localhost", addrs, 1, &why) == 1, "resolve: no more than asked for");
}

int main(void)
{
	try_cases("node map", nodemap_cases, ARRAY_SIZE(nodemap_cases), nodemap_try);
	try_directory();
	try_large();
	try_prefixes();
	try_same();
	try_cases("ports", ports_cases, ARRAY_SIZE(ports_cases), ports_try);
	try_addrs();
	try_resolve();
	return tap_done();
}
