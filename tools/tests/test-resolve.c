// SPDX-License-Identifier: GPL-2.0
/*
 * sanx_getaddrinfo(), without the module and without a resolver: both are here.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../lib/sanx.h"
#include "../run/family.h"
#include "tap.h"

#define FAMILY	25

/* Most addresses of a host here. */
#define ADDRESSES	4

/* How often that of node 6 is asked before it says who it is. */
#define QUESTIONS	3

/* What getaddrinfo() finds; 10.0.0.N is an address of node N, and of none from 90 on. */
static const struct host {
	const char *name;
	const char *canonical;
	const char *address[ADDRESSES];
} hosts[] = {
	{ "one", "one.example", { "10.0.0.1" } },
	{ "10.0.0.1", "10.0.0.1", { "10.0.0.1" } },
	{ "both", "both.example", { "::ffff:10.0.0.2", "10.0.0.2" } },
	{ "many", "many.example", { "10.0.0.90", "10.0.0.3", "10.0.0.4", "10.0.0.3" } },
	{ "none", "none.example", { "10.0.0.91" } },
	{ "here", "here.example", { "127.0.0.1" } },
	{ "asked", "asked.example", { "10.0.0.6" } },
	{ "silent", "silent.example", { "10.0.0.97" } },
	{ "odd", "odd.example", { "10.0.0.98" } },
	{ "failing", "failing.example", { "10.0.0.99" } },
	{ "half", "half.example", { "10.0.0.97", "10.0.0.5" } },
};

/* The socket that the kernel is asked by, and the one that was closed last. */
#define SOCKET	1000
static int closed;

/* Is the module loaded?  Do signals interrupt whoever sleeps? */
static bool loaded = true, interrupted;

/* The last call of getaddrinfo() for a host. */
static int host_flags;

/* Calls of nanosleep(), and the time that it has taken. */
static int slept;
static long long clock_ns = 77;

#define NSEC_PER_SEC	1000000000LL

/*
 * In place of libc's and the kernel's
 */

static struct addrinfo *info_of(const char *text, const char *name)
{
	struct addrinfo *info = calloc(1, sizeof(*info));
	struct sockaddr_storage *to = calloc(1, sizeof(*to));

	info->ai_family = strchr(text, ':') ? AF_INET6 : AF_INET;
	if (info->ai_family == AF_INET6)
		inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)to)->sin6_addr);
	else
		inet_pton(AF_INET, text, &((struct sockaddr_in *)to)->sin_addr);
	info->ai_addr = (struct sockaddr *)to;
	info->ai_canonname = name ? strdup(name) : NULL;
	return info;
}

static int find_service(const char *service, int type, struct addrinfo **res)
{
	int port = 0;

	if (!strcmp(service, "http") && type == SOCK_STREAM)
		port = 80;
	else if (!strcmp(service, "tftp") && type == SOCK_DGRAM)
		port = 69;
	else if (!strcmp(service, "domain"))
		port = 53;
	/* As glibc's. */
	else if (!service[strspn(service, "0123456789+- ")])
		port = (uint16_t)strtol(service, NULL, 10);
	else if (!strcmp(service, "9pfs"))
		port = 564;
	else
		return EAI_SERVICE;
	*res = info_of("0.0.0.0", NULL);
	((struct sockaddr_in *)(*res)->ai_addr)->sin_port = htons(port);
	return 0;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
		struct addrinfo **res)
{
	size_t i, j;

	if (service)
		return find_service(service, hints->ai_socktype, res);
	host_flags = hints->ai_flags;
	for (i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
		if (strcmp(hosts[i].name, name))
			continue;
		for (j = 0; j < ADDRESSES && hosts[i].address[j]; j++) {
			*res = info_of(hosts[i].address[j], j ? NULL : hosts[i].canonical);
			res = &(*res)->ai_next;
		}
		return 0;
	}
	return EAI_NONAME;
}

void freeaddrinfo(struct addrinfo *res)
{
	struct addrinfo *next;

	for (; res; res = next) {
		next = res->ai_next;
		free(res->ai_addr);
		free(res->ai_canonname);
		free(res);
	}
}

int sanx_family_read(void)
{
	return FAMILY;
}

int socket(int family, int type, int protocol)
{
	if (family != FAMILY || type != (SOCK_STREAM | SOCK_CLOEXEC) ||
	    protocol != SANXPROTO_EXPLICIT || !loaded) {
		errno = EAFNOSUPPORT;
		return -1;
	}
	return SOCKET;
}

int close(int fd)
{
	closed = fd;
	errno = EBADF;
	return 0;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)left;
	slept++;
	clock_ns += time->tv_sec * NSEC_PER_SEC + time->tv_nsec / (interrupted ? 100 : 1);
	errno = EINTR;
	return interrupted ? -1 : 0;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
	now->tv_sec = id == CLOCK_MONOTONIC ? clock_ns / NSEC_PER_SEC : 0;
	now->tv_nsec = clock_ns % NSEC_PER_SEC;
	return 0;
}

int getsockopt(int fd, int level, int name, void *val, socklen_t *len)
{
	struct sanx_node_of *of = val;

	errno = 0;
	if (fd != SOCKET || level != SOL_SANX || name != SANX_NODE_OF || *len != sizeof(*of) ||
	    of->addr[10] != 0xff || of->addr[11] != 0xff)
		errno = EPROTO;
	else if (of->addr[12] == 127)
		of->node = 0;
	else if (of->addr[15] == 97 || (of->addr[15] == 6 && slept < QUESTIONS))
		errno = EAGAIN;
	else if (of->addr[15] == 98)
		errno = EINVAL;
	else if (of->addr[15] == 99)
		errno = ENOPROTOOPT;
	else if (of->addr[15] >= 90)
		errno = ENOENT;
	else
		of->node = of->addr[15];
	return errno ? -1 : 0;
}

/*
 * Tests
 */

static const char *type_name(int type)
{
	return type == SOCK_STREAM ? "s" : type == SOCK_DGRAM ? "d" :
	       type == SOCK_SEQPACKET ? "q" : "?";
}

/* What is found, as NODE:PORT and the type of each, or the error. */
static void write_found(char *text, size_t size, int err, const struct addrinfo *info)
{
	const struct sockaddr_sanx *sx;
	size_t n = 0;

	*text = 0;
	if (err)
		snprintf(text, size, "%s", gai_strerror(err));
	for (; !err && info; info = info->ai_next) {
		sx = (const struct sockaddr_sanx *)info->ai_addr;
		n += snprintf(text + n, size - n, "%s%u:%u%s", n ? " " : "", sx->sanx_node,
			      sx->sanx_port, type_name(info->ai_socktype));
		if (info->ai_family != FAMILY || sx->sanx_family != FAMILY ||
		    info->ai_protocol != SANXPROTO_EXPLICIT || sx->sanx_pad ||
		    info->ai_addrlen != sizeof(*sx))
			n += snprintf(text + n, size - n, "!");
	}
}

static void finds(const char *what, const char *node, const char *service,
		  const struct addrinfo *hints, const char *wanted)
{
	struct addrinfo *res = NULL;
	char text[300];
	int err;

	err = sanx_getaddrinfo(node, service, hints, &res);
	write_found(text, sizeof(text), err, res);
	if (!ok(!strcmp(text, wanted), "%s", what))
		printf("# %s, expected %s\n", text, wanted);
	sanx_freeaddrinfo(res);
}

/* With one type, which makes what is found shorter. */
static void streams(const char *what, const char *node, const char *service, int flags,
		    const char *wanted)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags };

	finds(what, node, service, &hints, wanted);
}

static void fails(const char *what, const char *node, const char *service,
		  const struct addrinfo *hints, int err)
{
	finds(what, node, service, hints, gai_strerror(err));
}

static void test_numbers(void)
{
	finds("each type", "7", "4000000000", NULL, "7:4000000000s 7:4000000000d 7:4000000000q");
	streams("the highest node and port", "4294967295", "4294967295", 0,
		"4294967295:4294967295s");
	streams("hexadecimal", "0x10", "0XFFFFFFFF", 0, "16:4294967295s");
	streams("not octal", "010", "010", 0, "10:10s");
	streams("no node is this one", NULL, "5", 0, "0:5s");
	streams("likewise for bind()", NULL, "5", AI_PASSIVE, "0:5s");
	streams("no service is no port", "3", NULL, 0, "3:0s");
	streams("numbers are no names", "3", "5", AI_NUMERICHOST | AI_NUMERICSERV, "3:5s");
	fails("a node of more than 32 bits", "4294967296", "5", NULL, EAI_NONAME);
	fails("a port of more than 32 bits", "3", "4294967296", NULL, EAI_SERVICE);
	fails("a port with something behind it", "3", "5x", NULL, EAI_SERVICE);
	fails("no port of hexadecimal digits", "3", "0x", NULL, EAI_SERVICE);
	fails("an empty port", "3", "", NULL, EAI_SERVICE);
	fails("a sign", "3", "-5", NULL, EAI_SERVICE);
	fails("a sign, and more than 16 bits", "3", "+70000", NULL, EAI_SERVICE);
	fails("a blank before a port", "3", " 70000", NULL, EAI_SERVICE);
	fails("a blank", " 3", "5", NULL, EAI_NONAME);
	fails("neither node nor service", NULL, NULL, NULL, EAI_NONAME);
}

static void test_hosts(void)
{
	streams("a host", "one", "5", 0, "1:5s");
	streams("an address", "10.0.0.1", "5", AI_NUMERICHOST, "1:5s");
	ok(host_flags == AI_NUMERICHOST, "the resolver knows that it is an address");
	streams("two addresses of a node", "both", "5", 0, "2:5s");
	streams("a host of two nodes", "many", "5", 0, "3:5s 4:5s");
	streams("this node", "here", "5", 0, "0:5s");
	streams("an address of which nothing is known yet", "half", "5", 0, "5:5s");
	slept = 0;
	streams("a host that is asked who it is", "asked", "5", 0, "6:5s");
	ok(slept == QUESTIONS, "as often as it takes");
	fails("a host that does not say who it is", "silent", "5", NULL, EAI_AGAIN);
	slept = 0;
	interrupted = true;
	fails("likewise, with signals", "silent", "5", NULL, EAI_AGAIN);
	ok(slept > 10000, "they do not make it wait less");
	interrupted = false;
	fails("a host that is no node", "none", "5", NULL, EAI_ADDRFAMILY);
	fails("an address that the family does not take", "odd", "5", NULL, EAI_ADDRFAMILY);
	fails("a name of no host", "nobody", "5", NULL, EAI_NONAME);
	closed = 0;
	fails("a module that does not know", "failing", "5", NULL, EAI_SYSTEM);
	ok(errno == ENOPROTOOPT, "errno says why");
	ok(closed == SOCKET, "the socket is closed");
	loaded = false;
	fails("no module", "one", "5", NULL, EAI_SYSTEM);
	ok(errno == EAFNOSUPPORT, "errno says so");
	streams("a number needs none", "1", "5", 0, "1:5s");
	loaded = true;
}

static void test_services(void)
{
	const struct addrinfo number = { .ai_flags = AI_NUMERICSERV };

	finds("a service of both protocols", "3", "domain", NULL, "3:53s 3:53d 3:53q");
	finds("a service of TCP", "3", "http", NULL, "3:80s 3:80q");
	finds("a service of UDP", "3", "tftp", NULL, "3:69d");
	finds("a service that begins with a digit", "3", "9pfs", NULL, "3:564s 3:564d 3:564q");
	fails("a service of none", "3", "nothing", NULL, EAI_SERVICE);
	fails("a name where there is to be a number", "3", "http", &number, EAI_NONAME);
}

static void test_hints(void)
{
	const struct addrinfo records = {
		.ai_family = FAMILY, .ai_socktype = SOCK_SEQPACKET,
		.ai_protocol = SANXPROTO_EXPLICIT,
	};
	const struct addrinfo raw = { .ai_socktype = SOCK_RAW };
	const struct addrinfo inet = { .ai_family = AF_INET };
	const struct addrinfo tcp = { .ai_protocol = IPPROTO_TCP };
	const struct addrinfo flags = { .ai_flags = 1 << 30 };
	const struct addrinfo named = { .ai_flags = AI_CANONNAME };

	finds("one type, the family and the protocol", "3", "5", &records, "3:5q");
	fails("another type", "3", "5", &raw, EAI_SOCKTYPE);
	fails("another family", "3", "5", &inet, EAI_FAMILY);
	fails("another protocol", "3", "5", &tcp, EAI_SOCKTYPE);
	fails("flags that there are not", "3", "5", &flags, EAI_BADFLAGS);
	fails("the name of no host", NULL, "5", &named, EAI_BADFLAGS);
}

/* The first one has it. */
static void has_name(const char *node, const char *name)
{
	const struct addrinfo hints = { .ai_flags = AI_CANONNAME };
	struct addrinfo *res = NULL;
	int err = sanx_getaddrinfo(node, "5", &hints, &res);

	ok(!err && !strcmp(res->ai_canonname, name) && !res->ai_next->ai_canonname &&
	   res->ai_flags == AI_CANONNAME, "the name of %s is %s", node, name);
	sanx_freeaddrinfo(res);
}

int main(void)
{
	test_numbers();
	test_hosts();
	test_services();
	test_hints();
	has_name("one", "one.example");
	has_name("7", "7");
	sanx_freeaddrinfo(NULL);
	ok(sanx_family() == FAMILY, "the number of the family");
	return tap_done();
}
