// SPDX-License-Identifier: GPL-2.0
/*
 * What a machine's owner has set up for TCP holds: privileges, cgroups and the
 * programs that are attached to them.
 */
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <linux/bpf.h>

#include "lib/cgroup.h"
#include "sanx_test.h"

/* Ports below 1024 take a privilege. */
SANX_TEST(low_port)
{
	struct address a = self->addr;
	int fd = client_socket(variant), status;
	pid_t child;

	address_set_port(&a, 999);
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (setresuid(65534, 65534, 65534))
			_exit(1);
		_exit(rc(bind(fd, &a.sa, a.len)) == -EACCES ? 0 : 2);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, rc(bind(fd, &a.sa, a.len)));
}

/* A program that denies connect() and bind(). */
SANX_TEST(cgroup_denies)
{
	bool v4 = variant->family == AF_INET;
	char path[64];
	struct address any;
	int cgroup = enter_cgroup(path, sizeof(path)), fd;

	ASSERT_LE(0, cgroup);
	ASSERT_EQ(0, attach_verdict(cgroup, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
				    v4 ? BPF_CGROUP_INET4_CONNECT :
					 BPF_CGROUP_INET6_CONNECT, 0));
	ASSERT_EQ(0, attach_verdict(cgroup, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
				    v4 ? BPF_CGROUP_INET4_BIND :
					 BPF_CGROUP_INET6_BIND, 0));
	fd = client_socket(variant);
	address_make(&any, v4 ? "127.0.0.1" : "::1", 0);
	EXPECT_EQ(-EPERM, rc(bind(fd, &any.sa, any.len)));
	EXPECT_EQ(-EPERM, rc(connect(fd, &self->addr.sa, self->addr.len)));
	leave_cgroup(path, cgroup);
	self->fallbacks = ANY_FALLBACKS;
}

static void connects_by_tcp(struct __test_metadata *_metadata,
			    const FIXTURE_VARIANT(stream) *variant,
			    FIXTURE_DATA(stream) *self, int type, int where,
			    int verdict)
{
	struct node_stats now;
	char path[64], c;
	int cgroup = enter_cgroup(path, sizeof(path)), fd, s;

	ASSERT_LE(0, cgroup);
	ASSERT_EQ(0, attach_verdict(cgroup, type, where, verdict));
	fd = client_socket(variant);
	ASSERT_EQ(0, rc(connect(fd, &self->addr.sa, self->addr.len)));
	s = rc(accept(self->listener, NULL, NULL));
	ASSERT_LE(0, s);
	EXPECT_EQ(1, send(fd, "x", 1, 0));
	EXPECT_EQ(1, recv(s, &c, 1, 0));
	if (variant->carried) {
		ASSERT_EQ(0, node_stats(&now));
		EXPECT_EQ(1, now.v[SANX_A_STATS_FALLBACK_OPTION] -
			     self->before.v[SANX_A_STATS_FALLBACK_OPTION]);
	}
	leave_cgroup(path, cgroup);
	self->fallbacks = ANY_FALLBACKS;
}

/* One that permits, and could as well have changed the address, gets TCP. */
SANX_TEST(cgroup_looks)
{
	connects_by_tcp(_metadata, variant, self,
			BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
			variant->family == AF_INET ?
			BPF_CGROUP_INET4_CONNECT : BPF_CGROUP_INET6_CONNECT, 1);
}

/* One that is to see each packet gets packets. */
SANX_TEST(cgroup_filters)
{
	connects_by_tcp(_metadata, variant, self, BPF_PROG_TYPE_CGROUP_SKB,
			BPF_CGROUP_INET_EGRESS, 1);
}

/* What was sent and not read is its reader's memory. */
SANX_TEST(cgroup_memory)
{
	enum { N = 16, BYTES = 40000 };
	char path[64], file[128];
	int cgroup = enter_cgroup(path, sizeof(path)), fd[N], s, i;
	struct address a;
	long before;

	ASSERT_LE(0, cgroup);
	snprintf(file, sizeof(file), "%s/memory.current", path);
	s = server_socket(variant);
	a = self->addr;
	address_set_port(&a, 0);
	ASSERT_EQ(0, rc(bind(s, &a.sa, a.len)));
	ASSERT_EQ(0, rc(listen(s, N)));
	ASSERT_EQ(0, local_address(s, &a));
	write_file(CGROUPS "/cgroup.procs", "0");
	for (i = 0; i < N; i++) {
		fd[i] = client_socket(variant);
		ASSERT_EQ(0, rc(connect(fd[i], &a.sa, a.len)));
	}
	before = read_number(file);
	ASSERT_LE(0, before);
	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	ASSERT_EQ(0, write_file(file, "0"));
	for (i = 0; i < N; i++)
		ASSERT_LE(0, rc(accept(s, NULL, NULL)));
	write_file(CGROUPS "/cgroup.procs", "0");
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, send_pattern(fd[i], BYTES, BYTES, 0));
	snprintf(file, sizeof(file), "%s/memory.current", path);
	/* Rings are made by a worker: send() does not wait for them. */
	for (i = 0; i < 100 && read_number(file) - before < N * BYTES / 2; i++)
		sleep_ms(50);
	EXPECT_LE(N * BYTES / 2, read_number(file) - before);
	self->fallbacks = ANY_FALLBACKS;
	leave_cgroup(path, cgroup);
}

/*
 * However large the reader's ring is: what a sender keeps, SO_SNDBUF bounds.  The
 * reader has a cgroup of its own to pay for that ring.
 */
/* Over iWARP the device has TCP keep what it sends, at the sender's cost. */
SANX_TEST_OF("tcp tcpclient tcpserver loop fallback roce", cgroup_sndbuf)
{
	enum { N = 32, SNDBUF = 8192, RCVBUF = 400000, BYTES = 60000 };
	/* The kernel doubles it; and what a socket is made of, and is ready for. */
	const long most = N * (2 * SNDBUF + 32768);
	char path[64], readers[64], file[128];
	int s, fd[N], r[N], reader, cgroup, i;
	struct address a;

	reader = enter_cgroup(readers, sizeof(readers));
	ASSERT_LE(0, reader);
	s = server_socket(variant);
	a = self->addr;
	address_set_port(&a, 0);
	ASSERT_EQ(0, set_option(s, SOL_SOCKET, SO_RCVBUF, RCVBUF));
	ASSERT_EQ(0, rc(bind(s, &a.sa, a.len)));
	ASSERT_EQ(0, rc(listen(s, N)));
	ASSERT_EQ(0, local_address(s, &a));
	cgroup = enter_cgroup(path, sizeof(path));
	ASSERT_LE(0, cgroup);
	for (i = 0; i < N; i++) {
		fd[i] = client_socket(variant);
		ASSERT_EQ(0, set_option(fd[i], SOL_SOCKET, SO_SNDBUF, SNDBUF));
		ASSERT_EQ(0, rc(connect(fd[i], &a.sa, a.len)));
	}
	write_file(CGROUPS "/cgroup.procs", "0");
	for (i = 0; i < N; i++) {
		r[i] = rc(accept(s, NULL, NULL));
		ASSERT_LE(0, r[i]);
	}
	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	ASSERT_EQ(0, write_file(file, "0"));
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, send_pattern(fd[i], BYTES, BYTES, 0));
	write_file(CGROUPS "/cgroup.procs", "0");
	snprintf(file, sizeof(file), "%s/memory.current", path);
	EXPECT_GE(most, read_number(file));
	for (i = 0; i < N; i++)
		EXPECT_EQ(0, recv_pattern(r[i], BYTES, BYTES, 0));
	self->fallbacks = ANY_FALLBACKS;
	leave_cgroup(path, cgroup);
	leave_cgroup(readers, reader);
}

/* Reads all; 0 at the end of the stream, or -errno. */
static ssize_t read_out(int fd)
{
	static char buf[65536];
	ssize_t n;

	do
		n = rc(recv(fd, buf, sizeof(buf), 0));
	while (n > 0);
	return n;
}

/*
 * Connections that were closed with bytes which the reader has not taken, and which
 * the sender therefore still has, are limited.  Those beyond are reset.
 */
SANX_TEST(max_orphans)
{
	enum { MOST = 2, N = 5 };
	bool kept = variant->carried == SANX_A_STATS_CONNS_VERBS;
	int client[N], server[N], resets = 0, i;
	ssize_t err;

	for (i = 0; i < N; i++) {
		connect_pair(_metadata, self, variant, &client[i], &server[i]);
		ASSERT_LT(0, fill(variant, client[i]));
	}
	ASSERT_EQ(0, write_file("/proc/sys/net/sanx/max_orphans", "2"));
	for (i = 0; i < N; i++)
		close(client[i]);
	EXPECT_EQ(0, write_file("/proc/sys/net/sanx/max_orphans", "4096"));
	for (i = 0; i < N; i++) {
		err = read_out(server[i]);
		EXPECT_TRUE(!err || err == -ECONNRESET);
		resets += err == -ECONNRESET;
		close(server[i]);
	}
	EXPECT_EQ(kept ? N - MOST : 0, resets);
}

SANX_TEST_MAIN
