// SPDX-License-Identifier: GPL-2.0
/*
 * denied: accept() of a connection that TCP_DEFER_ACCEPT held back and whose
 * byte has come, in a cgroup where no socket may be made.  With nothing of it
 * left, the module can go at once, and nothing happens when the time is over.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/sanx.h>

#include "../lib/cgroup.h"
#include "../lib/node.h"
#include "../lib/util.h"

/* As TCP counts: three repetitions of a SYN-ACK, 1 + 2 + 4 s. */
#define DEFER	7

static void must(const char *what, long ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "denied: %s: %s\n", what, strerror(-ret));
	exit(1);
}

static int sanx_socket(void)
{
	int fd = rc(socket(node_family(), SOCK_STREAM | SOCK_CLOEXEC,
			   SANXPROTO_INET));

	must("socket", fd);
	return fd;
}

int main(void)
{
	int listener = sanx_socket(), client = sanx_socket(), cgroup;
	struct address a;
	char path[64];
	long ret;

	address_make(&a, "127.0.0.1", 0);
	must("bind", rc(bind(listener, &a.sa, a.len)));
	must("TCP_DEFER_ACCEPT", set_option(listener, SOL_TCP,
					    TCP_DEFER_ACCEPT, DEFER));
	must("listen", rc(listen(listener, 1)));
	must("name", local_address(listener, &a));
	must("connect", rc(connect(client, &a.sa, a.len)));
	must("send", rc(send(client, "x", 1, 0)));
	if (poll_one(listener, POLLIN, SOON) != POLLIN)
		must("poll", -ETIMEDOUT);

	cgroup = enter_cgroup(path, sizeof(path));
	must("cgroup", cgroup);
	must("BPF program", attach_verdict(cgroup, BPF_PROG_TYPE_CGROUP_SOCK,
					   BPF_CGROUP_INET_SOCK_CREATE, 0));
	ret = rc(accept(listener, NULL, NULL));
	leave_cgroup(path, cgroup);
	if (ret >= 0) {
		fprintf(stderr, "denied: accept() was not denied\n");
		return 1;
	}
	return 0;
}
