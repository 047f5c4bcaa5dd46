// SPDX-License-Identifier: GPL-2.0
/*
 * What sets up a node, with each of its allocations failing: requests of sanxctl,
 * network namespaces, and the modules.  What failed has changed nothing, and can be
 * repeated.
 *
 * kernels: um
 * full: each allocation of each request takes minutes
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "lib/fault.h"
#include "lib/node.h"
#include "lib/util.h"

#define NODE_SECONDS	600
#define PEER		77

FIXTURE(node)
{
	char path[96];		/* where the modules are */
};

FIXTURE_SETUP(node)
{
	struct utsname u;

	ASSERT_EQ(0, fault_init());
	ASSERT_EQ(0, uname(&u));
	snprintf(self->path, sizeof(self->path), "../%s", u.release);
}

FIXTURE_TEARDOWN(node)
{
}

/* An error that generic netlink has for a lack of memory. */
static bool no_memory(long ret)
{
	return ret == -ENOMEM || ret == -ENOBUFS || ret == -ENFILE;
}

static const struct node_entry entry = { "192.0.2.77", PEER };

static int map_load(void)
{
	return node_map_load(&entry, 1);
}

static int map_add(void)
{
	return node_map_add(&entry);
}

static int map_del(void)
{
	return node_map_del(entry.addr);
}

static int port_add(void)
{
	return node_port_deny(4711);
}

static int port_del(void)
{
	return node_port_del(4711);
}

/* The same rule can be there several times. */
static int port_once(void)
{
	port_del();
	return port_add();
}

static int key_add(void)
{
	return node_key_add(PEER, 'k');
}

static int key_del(void)
{
	return node_key_del(PEER);
}

static int nothing(void)
{
	return 0;
}

/**
 * struct change - a request that changes something
 * @name: of it
 * @before: makes what it changes, or removes what it makes; may fail
 * @change: the request
 * @dump: shows it
 * @step: entries that it adds
 */
static const struct change {
	const char	*name;
	int		(*before)(void);
	int		(*change)(void);
	int		dump;
	int		step;
} changes[] = {
	{ "nodemap load", map_del, map_load, SANX_CMD_NODEMAP_GET, 1 },
	{ "nodemap add", map_del, map_add, SANX_CMD_NODEMAP_GET, 1 },
	{ "nodemap del", map_add, map_del, SANX_CMD_NODEMAP_GET, -1 },
	{ "ports add", port_del, port_add, SANX_CMD_PORTS_GET, 1 },
	{ "ports del", port_once, port_del, SANX_CMD_PORTS_GET, -1 },
	{ "ports apply", nothing, node_ports_apply, SANX_CMD_PORTS_GET, 0 },
	{ "key add", key_del, key_add, SANX_CMD_KEY_GET, 1 },
	{ "key del", key_add, key_del, SANX_CMD_KEY_GET, -1 },
};

/* If the answer is lost, the change is made nevertheless, but it is made whole. */
static void try_change(struct __test_metadata *_metadata, const struct change *c)
{
	struct faults f = {};
	int was, is;

	while (fault_next(&f)) {
		c->before();
		was = node_dump(c->dump);
		ASSERT_LE(0, was);
		FAULT_ERR(&f, c->change());
		EXPECT_TRUE(!f.ret || no_memory(f.ret)) TH_LOG("%s: %ld", c->name, f.ret);
		is = node_dump(c->dump);
		EXPECT_TRUE(is == was + c->step || (f.ret && is == was))
			TH_LOG("%s, fault %d, %ld: %d, %d", c->name, f.nth, f.ret, was, is);
	}
	EXPECT_EQ(0, fault_report(&f, c->name));
}

TEST_F_TIMEOUT(node, requests, NODE_SECONDS)
{
	for (int i = 0; i < ARRAY_SIZE(changes); i++)
		try_change(_metadata, &changes[i]);
	map_del();
	port_del();
	key_del();
}

TEST_F_TIMEOUT(node, dumps, NODE_SECONDS)
{
	static const int cmd[] = {
		SANX_CMD_NODEMAP_GET, SANX_CMD_PORTS_GET, SANX_CMD_KEY_GET,
	};

	map_add();
	port_add();
	key_add();
	for (int i = 0; i < ARRAY_SIZE(cmd); i++) {
		int all = node_dump(cmd[i]);
		struct faults f = {};

		ASSERT_LT(0, all);
		while (fault_next(&f)) {
			FAULT_ERR(&f, node_dump(cmd[i]));
			EXPECT_TRUE(f.ret == all || no_memory(f.ret));
		}
		EXPECT_EQ(0, fault_report(&f, "dump"));
	}
	map_del();
	port_del();
	key_del();
}

/* Is there a socket of AF_SANX in this namespace? */
static int make_socket(void)
{
	int fd = rc(socket(node_family(), SOCK_STREAM | SOCK_CLOEXEC, 0));

	return fd < 0 ? fd : rc(close(fd));
}

/* Its namespaces are gone with the child. */
static int child_unshares(void)
{
	struct faults f = {};

	if (fault_within("af_sanx"))
		return 1;
	while (fault_next(&f)) {
		FAULT(&f, unshare(CLONE_NEWNET));
		if (f.ret && !no_memory(f.ret))
			return 2;
		if (make_socket())
			return 3;
	}
	if (fault_report(&f, "unshare") || unshare(CLONE_NEWNET))
		return 4;
	fflush(stdout);
	return make_socket() ? 5 : 0;
}

TEST_F_TIMEOUT(node, namespaces, NODE_SECONDS)
{
	pid_t pid = child_start();

	if (!pid)
		_exit(child_unshares());
	ASSERT_EQ(0, child_wait(pid));
	ASSERT_EQ(0, fault_within(NULL));
}

/* A module may be in use for a moment. */
static int unload(const char *name)
{
	long until = now_ms() + SOON;
	int err;

	do
		err = rc(syscall(SYS_delete_module, name, O_NONBLOCK));
	while (err == -EAGAIN && now_ms() < until && !usleep(20000));
	return err == -ENOENT ? 0 : err;
}

/*
 * Loads a module again and again.  The kernel's own part of that is left out: an
 * allocation counts if the module's init function is among the callers.
 */
static void load(struct __test_metadata *_metadata, const char *dir, const char *name)
{
	struct faults f = {};
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s.ko", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd) TH_LOG("%s", path);
	ASSERT_EQ(0, fault_within("do_one_initcall"));
	while (fault_next(&f)) {
		ASSERT_EQ(0, unload(name));
		FAULT(&f, syscall(SYS_finit_module, fd, "", 0));
		EXPECT_TRUE(!f.ret || no_memory(f.ret)) TH_LOG("fault %d: %ld", f.nth, f.ret);
	}
	ASSERT_EQ(0, fault_within(NULL));
	EXPECT_EQ(0, fault_report(&f, name));
	EXPECT_EQ(0, f.ret);
	close(fd);
}

TEST_F_TIMEOUT(node, modules, NODE_SECONDS)
{
	ASSERT_EQ(0, unload("sanx_verbs"));
	load(_metadata, self->path, "af_sanx");
	EXPECT_EQ(0, make_socket());
	ASSERT_EQ(0, system("$SANX_TREE/scripts/guest/rdma rxe"));
	load(_metadata, self->path, "sanx_verbs");
	EXPECT_EQ(0, unload("sanx_verbs"));
	EXPECT_EQ(0, node_dump(SANX_CMD_LINK_GET));
}

TEST_HARNESS_MAIN
