// SPDX-License-Identifier: GPL-2.0
/*
 * Parser of node maps and port rules.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "addr.h"
#include "parse.h"

#define BLANKS " \t\r\n\v\f"

__printf(2, 3)
static int wrong(struct parse_source *src, const char *fmt, ...)
{
	va_list args;

	src->error.line = src->line;
	va_start(args, fmt);
	vsnprintf(src->error.text, sizeof(src->error.text), fmt, args);
	va_end(args);
	return -1;
}

void *table_grow(void *table, size_t count, size_t *room, size_t size)
{
	void *bigger;

	if (count < *room)
		return table;

	bigger = reallocarray(table, *room ? *room * 2 : 16, size);
	if (bigger)
		*room = *room ? *room * 2 : 16;
	return bigger;
}

/*
 * Lines
 */

struct line {
	char **word;
	size_t words;
	size_t room;
};

typedef int (*parse_words_fn)(struct parse_source *src, int words, char **word, void *what);

static int line_split(struct parse_source *src, char *text, struct line *line)
{
	char *save, *word;
	void *table;

	text[strcspn(text, "#")] = '\0';
	line->words = 0;
	for (word = strtok_r(text, BLANKS, &save); word; word = strtok_r(NULL, BLANKS, &save)) {
		table = table_grow(line->word, line->words, &line->room, sizeof(*line->word));
		if (!table)
			return wrong(src, "out of memory");
		line->word = table;
		line->word[line->words++] = word;
	}

	return 0;
}

static int line_parse(struct parse_source *src, char *text, size_t len, struct line *line,
		      parse_words_fn parse, void *what)
{
	if (strlen(text) != len)
		return wrong(src, "a NUL byte is in this line, expected text");
	if (line_split(src, text, line))
		return -1;
	if (!line->words)
		return 0;
	return parse(src, line->words, line->word, what);
}

static int lines_parse(struct parse_source *src, FILE *file, parse_words_fn parse, void *what)
{
	struct line line = { };
	char *text = NULL;
	size_t room = 0;
	ssize_t len;
	int rc = 0;

	src->line = 0;
	errno = 0;
	while (!rc && (len = getline(&text, &room, file)) >= 0) {
		src->line++;
		rc = line_parse(src, text, len, &line, parse, what);
	}

	if (!rc && !feof(file)) {
		src->line = 0;
		rc = wrong(src, "%s", strerror(errno));
	}

	free(line.word);
	free(text);
	return rc;
}

/*
 * Prefixes
 */

/* Parses ADDRESS or ADDRESS/BITS; at least one bit. */
static bool prefix_word(char *word, struct prefix *prefix)
{
	char *slash = strchr(word, '/');
	u32 len = 128;
	bool v4, ok;

	if (slash)
		*slash = '\0';
	ok = addr_parse(word, &prefix->addr);
	v4 = ok && IN6_IS_ADDR_V4MAPPED(&prefix->addr);
	if (slash) {
		*slash = '/';
		ok = ok && parse_number(slash + 1, 10, v4 ? 32 : 128, &len);
		len += v4 ? 96 : 0;
	}
	prefix->len = len;
	return ok && len;
}

/* Bits behind the prefix do not count, and are not accepted. */
static bool prefix_is_whole(const struct prefix *prefix)
{
	unsigned int len;

	for (len = prefix->len; len < 128; len++)
		if (prefix->addr.s6_addr[len / 8] & 0x80 >> len % 8)
			return false;
	return true;
}

/*
 * Node maps
 */

/**
 * nodemap_append - append an entry
 * @map: the map
 * @node: the entry
 *
 * Return: 0, or -1 without memory; then @map is unchanged.
 */
int nodemap_append(struct nodemap *map, const struct node *node)
{
	void *table = table_grow(map->node, map->count, &map->room, sizeof(*node));

	if (!table)
		return -1;
	map->node = table;
	map->node[map->count++] = *node;
	return 0;
}

static bool rail_same(const struct rail *a, const struct rail *b)
{
	return a->tcp == b->tcp && IN6_ARE_ADDR_EQUAL(&a->addr, &b->addr);
}

/* Gives a TCP rail without an address that of the host, which may be there already. */
static int rails_settle(struct parse_source *src, struct node *node)
{
	char text[ADDR_STRLEN];
	unsigned int i, other;

	for (i = 0; i < node->rails; i++) {
		struct rail *rail = &node->rail[i];

		if (!IN6_IS_ADDR_UNSPECIFIED(&rail->addr))
			continue;
		rail->addr = node->addr;
		for (other = 0; other < node->rails; other++)
			if (other != i && rail_same(&node->rail[other], rail))
				return wrong(src, "rail \"tcp:%s\" is there twice, expected once",
					     addr_format(&rail->addr, text));
	}

	return 0;
}

/* Appends a copy of @node for each address of @host. */
static int nodemap_append_host(struct parse_source *src, const char *host,
			       const struct node *node, struct nodemap *map)
{
	struct in6_addr addrs[PARSE_NAME_ADDRS];
	const char *why = "no address";
	char quoted[QUOTE_LEN], text[ADDR_STRLEN];
	int i, count = 1;

	if (!addr_parse(host, &addrs[0]))
		count = src->resolve(host, addrs, PARSE_NAME_ADDRS, &why);
	if (count <= 0)
		return wrong(src, "host %s: %s, expected an address or a name that has one",
			     quote(host, quoted), why);

	for (i = 0; i < count; i++) {
		struct node one = *node;

		one.addr = addrs[i];
		if (!addr_is_host(&one.addr))
			return wrong(src, "host %s: %s is no host's address, expected unicast",
				     quote(host, quoted), addr_format(&one.addr, text));
		one.line = src->line;
		if (rails_settle(src, &one))
			return -1;
		if (nodemap_append(map, &one))
			return wrong(src, "out of memory");
	}

	return 0;
}

/* Parses [rdma:]ADDRESS, tcp:ADDRESS or tcp. */
static bool rail_word(const char *word, struct rail *rail)
{
	rail->tcp = !strncmp(word, "tcp", 3);
	rail->addr = in6addr_any;
	if (!strcmp(word, "tcp"))
		return true;
	if (rail->tcp || !strncmp(word, "rdma:", 5)) {
		word = strchr(word, ':');
		if (!word++)
			return false;
	}
	return addr_parse(word, &rail->addr) && addr_is_host(&rail->addr);
}

static int rail_parse(struct parse_source *src, const char *word, struct node *node)
{
	struct rail *rail = &node->rail[node->rails];
	char quoted[QUOTE_LEN];
	unsigned int i;

	if (node->rails == SANX_MAX_RAILS)
		return wrong(src, "rail %s is one too many, expected at most %d",
			     quote(word, quoted), SANX_MAX_RAILS);
	if (!rail_word(word, rail))
		return wrong(src, "rail %s: not a host's address, expected IPv4, IPv6 or tcp",
			     quote(word, quoted));
	for (i = 0; i < node->rails; i++)
		if (rail_same(&node->rail[i], rail))
			return wrong(src, "rail %s is there already, expected another",
				     quote(word, quoted));

	node->rails++;
	return 0;
}

/**
 * nodemap_parse_words - parse one entry: HOST NODEID [RAIL...]
 * @src: the input; its error is set on failure
 * @words: number of words
 * @word: the words
 * @map: the entries are appended, one for each address of the host
 *
 * Return: 0, or -1 with @src->error filled in.
 */
int nodemap_parse_words(struct parse_source *src, int words, char **word, struct nodemap *map)
{
	u32 id;
	struct node node = { };
	char quoted[QUOTE_LEN];
	int i;

	if (words < 2)
		return wrong(src, "host %s has no node id, expected HOST NODEID [RAIL...]",
			     quote(word[0], quoted));
	if (!parse_number(word[1], 10, UINT_MAX, &id) || !id)
		return wrong(src, "node id %s: not a node id, expected 1-4294967295",
			     quote(word[1], quoted));
	node.id = id;

	for (i = 2; i < words; i++)
		if (rail_parse(src, word[i], &node))
			return -1;

	return nodemap_append_host(src, word[0], &node, map);
}

/**
 * nodemap_parse_host - parse a host without node id and rails
 * @src: the input; its error is set on failure
 * @host: the host
 * @map: the entries are appended, one for each address of the host
 *
 * Return: 0, or -1 with @src->error filled in.
 */
int nodemap_parse_host(struct parse_source *src, const char *host, struct nodemap *map)
{
	struct node node = { };

	return nodemap_append_host(src, host, &node, map);
}

/* Parses auto PREFIX. */
static int auto_line(struct parse_source *src, int words, char **word, struct nodemap *map)
{
	char quoted[QUOTE_LEN];
	struct prefix prefix;

	if (words < 2)
		return wrong(src, "auto has no prefix, expected ADDRESS/BITS after it");
	if (words > 2)
		return wrong(src, "%s is one too many, expected auto ADDRESS/BITS",
			     quote(word[2], quoted));
	if (!prefix_word(word[1], &prefix))
		return wrong(src, "%s is not a prefix, expected ADDRESS/BITS",
			     quote(word[1], quoted));
	if (!prefix_is_whole(&prefix))
		return wrong(src, "%s has bits behind the prefix, expected zeroes there",
			     quote(word[1], quoted));
	if (map->prefixes == SANX_MAX_AUTOS)
		return wrong(src, "%s is one prefix too many, expected at most %d",
			     quote(word[1], quoted), SANX_MAX_AUTOS);
	prefix.line = src->line;
	map->prefix[map->prefixes++] = prefix;
	return 0;
}

static int nodemap_line(struct parse_source *src, int words, char **word, void *what)
{
	if (!strcmp(word[0], "auto"))
		return auto_line(src, words, word, what);
	return nodemap_parse_words(src, words, word, what);
}

static int node_compare(const void *a, const void *b)
{
	const struct node *x = *(struct node * const *)a, *y = *(struct node * const *)b;
	int diff = memcmp(&x->addr, &y->addr, sizeof(x->addr));

	if (diff)
		return diff;
	return x < y ? -1 : x > y;
}

static bool node_same(const struct node *a, const struct node *b)
{
	unsigned int i;

	if (a->id != b->id || a->rails != b->rails)
		return false;
	for (i = 0; i < a->rails; i++)
		if (!rail_same(&a->rail[i], &b->rail[i]))
			return false;
	return true;
}

/*
 * Handles two entries for one address: drops @again if they are equal,
 * otherwise reports the contradiction.
 */
static int node_clash(struct parse_source *src, const struct node *first, struct node *again)
{
	char text[ADDR_STRLEN];

	if (node_same(first, again)) {
		again->id = 0;
		return 0;
	}

	if (src->error.line && src->error.line <= again->line)
		return -1;
	src->line = again->line;
	return wrong(src, "%s is node %u here and node %u on line %u%s, expected one of them",
		     addr_format(&again->addr, text), again->id, first->id, first->line,
		     again->id == first->id ? ", other rails" : "");
}

static void nodemap_compact(struct nodemap *map)
{
	size_t i, count = 0;

	for (i = 0; i < map->count; i++)
		if (map->node[i].id)
			map->node[count++] = map->node[i];
	map->count = count;
}

/* Drops duplicate addresses, and reports contradictions. */
static int nodemap_check(struct parse_source *src, struct nodemap *map)
{
	struct node **sorted, *first = NULL;
	size_t i;
	int rc = 0;

	if (!map->count)
		return 0;

	sorted = calloc(map->count, sizeof(*sorted));
	if (!sorted)
		return wrong(src, "out of memory");

	for (i = 0; i < map->count; i++)
		sorted[i] = &map->node[i];
	qsort(sorted, map->count, sizeof(*sorted), node_compare);

	for (i = 0; i < map->count; i++) {
		if (!first || memcmp(&first->addr, &sorted[i]->addr, sizeof(first->addr)))
			first = sorted[i];
		else if (node_clash(src, first, sorted[i]))
			rc = -1;
	}

	free(sorted);
	nodemap_compact(map);
	return rc;
}

/**
 * nodemap_parse - parse a file of hosts
 * @src: the input; its error is set on failure
 * @file: the file
 * @map: the entries in the order of the file, without duplicate addresses
 *
 * Return: 0, or -1 with @src->error filled in.  The caller frees @map in both
 * cases.
 */
int nodemap_parse(struct parse_source *src, FILE *file, struct nodemap *map)
{
	if (lines_parse(src, file, nodemap_line, map))
		return -1;
	return nodemap_check(src, map);
}

/* As the module does: a host without an RDMA rail is one, in front of the others. */
static void rails_complete(struct node *node)
{
	unsigned int i;

	for (i = 0; i < node->rails; i++)
		if (!node->rail[i].tcp)
			return;
	if (node->rails == SANX_MAX_RAILS)
		return;
	memmove(&node->rail[1], &node->rail[0], node->rails * sizeof(node->rail[0]));
	node->rail[0] = (struct rail) { .addr = node->addr };
	node->rails++;
}

static int node_order(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return memcmp(&x->addr, &y->addr, sizeof(x->addr));
}

/* Return: a copy as the module makes it when it is loaded, or NULL without memory. */
static struct node *nodes_settled(const struct nodemap *map)
{
	struct node *node = calloc(map->count, sizeof(*node));
	size_t i;

	if (!node)
		return NULL;
	memcpy(node, map->node, map->count * sizeof(*node));
	for (i = 0; i < map->count; i++)
		rails_complete(&node[i]);
	qsort(node, map->count, sizeof(*node), node_order);
	return node;
}

static bool prefixes_same(const struct nodemap *a, const struct nodemap *b)
{
	size_t i;

	if (a->prefixes != b->prefixes)
		return false;
	for (i = 0; i < a->prefixes; i++)
		if (a->prefix[i].len != b->prefix[i].len ||
		    !IN6_ARE_ADDR_EQUAL(&a->prefix[i].addr, &b->prefix[i].addr))
			return false;
	return true;
}

/**
 * nodemap_same - are two maps the same to the module?
 * @a: a map without duplicate addresses
 * @b: another
 *
 * Return: true if so; false if not, or without memory.
 */
bool nodemap_same(const struct nodemap *a, const struct nodemap *b)
{
	struct node *x, *y;
	bool same;
	size_t i;

	if (a->count != b->count || !prefixes_same(a, b))
		return false;
	if (!a->count)
		return true;
	x = nodes_settled(a);
	y = nodes_settled(b);
	same = x && y;
	for (i = 0; same && i < a->count; i++)
		same = !node_order(&x[i], &y[i]) && node_same(&x[i], &y[i]);
	free(x);
	free(y);
	return same;
}

void nodemap_free(struct nodemap *map)
{
	free(map->node);
	*map = (struct nodemap) { };
}

/*
 * Port rules
 */

static u32 port_most(const struct port_rule *rule)
{
	return rule->explicit ? UINT_MAX : USHRT_MAX;
}

static bool port_parse(const char *text, u32 most, u32 *port)
{
	return parse_number(text, 10, most, port) && *port;
}

static bool range_parse(char *text, struct port_rule *rule)
{
	u32 most = port_most(rule);
	char *dash = strchr(text, '-');
	bool ok;

	if (!dash) {
		rule->last = 0;
		ok = port_parse(text, most, &rule->first);
		rule->last = rule->first;
		return ok;
	}

	*dash = '\0';
	ok = port_parse(text, most, &rule->first) && port_parse(dash + 1, most, &rule->last);
	*dash = '-';
	return ok;
}

/* Parses PORT, PORT-PORT or default. */
static int ports_word(struct parse_source *src, char *text, struct port_rule *rule)
{
	char quoted[QUOTE_LEN];

	if (!strcmp(text, "default")) {
		if (rule->explicit)
			return wrong(src, "default is for all ports, expected it without explicit");
		rule->first = 0;
		rule->last = 0;
		return 0;
	}
	if (!range_parse(text, rule))
		return wrong(src, "%s is not a port or a range, expected PORT[-PORT] of 1-%u",
			     quote(text, quoted), port_most(rule));
	if (rule->first > rule->last)
		return wrong(src, "range %s ends before it starts, expected the lower port first",
			     quote(text, quoted));
	return 0;
}

static int ports_append(struct parse_source *src, char *text, struct port_rule *rule,
			struct ports *ports)
{
	void *table;

	if (ports_word(src, text, rule))
		return -1;
	table = table_grow(ports->rule, ports->count, &ports->room, sizeof(*rule));
	if (!table)
		return wrong(src, "out of memory");
	ports->rule = table;
	ports->rule[ports->count] = *rule;
	ports->rule[ports->count++].line = src->line;
	return 0;
}

static int action_parse(struct parse_source *src, const char *word, struct port_rule *rule)
{
	char quoted[QUOTE_LEN];

	if (!strcmp(word, "allow"))
		rule->action = SANX_PORT_ACTION_ALLOW;
	else if (!strcmp(word, "deny"))
		rule->action = SANX_PORT_ACTION_DENY;
	else
		return wrong(src, "%s is not an action, expected allow or deny",
			     quote(word, quoted));

	return 0;
}

static int rule_prefix(struct parse_source *src, char *word, struct port_rule *rule)
{
	char quoted[QUOTE_LEN];
	struct prefix prefix;

	if (!prefix_word(word, &prefix))
		return wrong(src, "%s is not a peer, expected a node id, ADDRESS or ADDRESS/BITS",
			     quote(word, quoted));
	if (!prefix_is_whole(&prefix))
		return wrong(src, "%s has bits behind the prefix, expected zeroes there",
			     quote(word, quoted));
	rule->prefix = prefix.addr;
	rule->prefix_len = prefix.len;
	return 0;
}

static int peer_parse(struct parse_source *src, char *word, struct port_rule *rule)
{
	u32 node;

	if (!parse_number(word, 10, UINT_MAX, &node) || !node)
		return rule_prefix(src, word, rule);
	rule->node = node;
	return 0;
}

/*
 * Parses [in] [from PEER] or [out] [to PEER].
 * Return: number of words, or -1.
 */
static int way_parse(struct parse_source *src, int words, char **word, struct port_rule *rule)
{
	static const struct {
		const char *way, *peer;
		u8 bit;
	} ways[] = {
		{ "in", "from", SANX_PORT_WAY_IN },
		{ "out", "to", SANX_PORT_WAY_OUT },
	};
	size_t i;
	int n;

	for (i = 0; i < 2; i++) {
		n = words && !strcmp(word[0], ways[i].way);
		if (n)
			rule->way = ways[i].bit;
		if (n >= words || strcmp(word[n], ways[i].peer)) {
			if (n)
				return n;
			continue;
		}
		rule->way = ways[i].bit;
		if (n + 1 == words)
			return wrong(src, "%s has no peer, expected a node id or ADDRESS[/BITS]",
				     word[n]);
		return peer_parse(src, word[n + 1], rule) ? -1 : n + 2;
	}
	return 0;
}

/**
 * ports_parse_words - parse one line of rules: allow|deny [in|out] [from|to PEER]
 * [explicit] PORT[-PORT]... or default
 * @src: the input; its error is set on failure
 * @words: number of words
 * @word: the words
 * @ports: the rules are appended, one for each port or range
 *
 * Return: 0, or -1 with @src->error filled in.
 */
int ports_parse_words(struct parse_source *src, int words, char **word, struct ports *ports)
{
	struct port_rule rule = { };
	char *rest, *text;
	int i, n;

	if (action_parse(src, word[0], &rule))
		return -1;
	n = way_parse(src, words - 1, word + 1, &rule);
	if (n < 0)
		return -1;
	if (n + 1 < words && !strcmp(word[n + 1], "explicit")) {
		rule.explicit = true;
		n++;
	}
	if (words < n + 2)
		return wrong(src, "%s has no port, expected PORT or PORT-PORT after it", word[n]);

	for (i = n + 1; i < words; i++) {
		rest = word[i];
		while ((text = strsep(&rest, ",")))
			if (ports_append(src, text, &rule, ports))
				return -1;
	}

	return 0;
}

static int ports_line(struct parse_source *src, int words, char **word, void *what)
{
	return ports_parse_words(src, words, word, what);
}

/**
 * ports_parse - parse a file of port rules
 * @src: the input; its error is set on failure
 * @file: the file
 * @ports: the rules in the order of the file
 *
 * Return: 0, or -1 with @src->error filled in.  The caller frees @ports in both
 * cases.
 */
int ports_parse(struct parse_source *src, FILE *file, struct ports *ports)
{
	return lines_parse(src, file, ports_line, ports);
}

void ports_free(struct ports *ports)
{
	free(ports->rule);
	*ports = (struct ports) { };
}
