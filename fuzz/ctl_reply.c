// SPDX-License-Identifier: GPL-2.0
/*
 * Answers of the kernel, as sanxctl reads them (tools/sanxctl/nl.c, and each
 * command that shows something).
 *
 * The input is a byte that chooses the command and whether it writes JSON, and then
 * what the kernel sends: a byte of length for each datagram, and the datagram.  The
 * functions of libmnl that are sockets are here instead; those that read messages
 * are libmnl's.
 */
#include <errno.h>

#include <sanitizer/asan_interface.h>

#include "fuzz/fuzz.h"
#include "tools/sanxctl/sanxctl.h"

static struct fuzz_input input;
static unsigned int sent;

struct mnl_socket {
	int unused;
};

static struct mnl_socket the_socket;

struct mnl_socket *mnl_socket_open2(int bus, int flags)
{
	return &the_socket;
}

int mnl_socket_bind(struct mnl_socket *nl, unsigned int groups, pid_t pid)
{
	return 0;
}

int mnl_socket_setsockopt(const struct mnl_socket *nl, int type, void *buf, socklen_t len)
{
	return 0;
}

int mnl_socket_get_fd(const struct mnl_socket *nl)
{
	return -1;
}

int mnl_socket_close(struct mnl_socket *nl)
{
	return 0;
}

ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *buf, size_t len)
{
	sent++;
	return len;
}

/*
 * What is behind a datagram in the buffer must not be read.  Behind the end of the
 * input, the socket fails.
 */
ssize_t mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t size)
{
	struct nlmsghdr *nlh = buf;
	size_t len;

	ASAN_UNPOISON_MEMORY_REGION(buf, size);
	/* The first request asks for the number of the family. */
	if (sent == 1) {
		sent++;
		nlh = mnl_nlmsg_put_header(buf);
		nlh->nlmsg_type = NLMSG_ERROR;
		nlh->nlmsg_seq = 1;
		memset(mnl_nlmsg_put_extra_header(nlh, sizeof(struct nlmsgerr)), 0,
		       sizeof(struct nlmsgerr));
		return nlh->nlmsg_len;
	}
	if (!input.size) {
		errno = ENOBUFS;
		return -1;
	}
	len = fuzz_u8(&input) * 4;
	if (len > input.size)
		len = input.size;
	fuzz_bytes(&input, buf, len);
	ASAN_POISON_MEMORY_REGION((char *)buf + len, size - len);
	return len;
}

static int show(struct ctl *ctl, const struct object *object)
{
	const struct command *c;

	for (c = object->commands; c->name; c++)
		if (!strcmp(c->name, "show"))
			return c->run(ctl, 0, NULL);
	return -1;
}

static int run(struct ctl *ctl, unsigned int which)
{
	static const struct object * const objects[] = {
		&nodemap_object, &ports_object, &key_object,
		&link_object, &socket_object, &stats_object,
	};
	char peer[] = "7", id[] = "1", *args[] = { peer, id, NULL };
	const struct command *c;

	if (which < ARRAY_SIZE(objects))
		return show(ctl, objects[which]);
	/* Commands whose answer is no list: of one message, and of none. */
	for (c = which == 6 ? ports_object.commands : key_object.commands; c->name; c++) {
		if (which == 6 && !strcmp(c->name, "apply"))
			return c->run(ctl, 0, NULL);
		if (which == 7 && !strcmp(c->name, "del"))
			return c->run(ctl, 2, args);
	}
	return -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctl ctl = { };
	static FILE *null;
	unsigned int how;

	/* sanxctl's; libFuzzer and sanitizers do not print there. */
	if (!null)
		null = fopen("/dev/null", "w");
	stdout = null;
	stderr = null;
	input = (struct fuzz_input){ data, size };
	sent = 0;
	how = fuzz_u8(&input);
	print_init(&ctl.out, how & 8, how & 16);
	run(&ctl, how % 8);
	print_finish(&ctl.out);
	return 0;
}
