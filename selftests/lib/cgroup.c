// SPDX-License-Identifier: GPL-2.0
/* Cgroups of a test's own, and programs attached to them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "cgroup.h"
#include "util.h"

/* Makes a cgroup of its own for this process; its directory's descriptor. */
int enter_cgroup(char *path, size_t size)
{
	static int serial;
	char procs[128];

	snprintf(path, size, CGROUPS "/%d-%d", getpid(), serial++);
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	mkdir(CGROUPS, 0755);
	if (mount("none", CGROUPS, "cgroup2", 0, NULL) && errno != EBUSY)
		return -errno;
	write_file(CGROUPS "/cgroup.subtree_control", "+memory");
	if (mkdir(path, 0755))
		return -errno;
	if (write_file(procs, "0"))
		return -EPERM;
	return rc(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

void leave_cgroup(const char *path, int fd)
{
	write_file(CGROUPS "/cgroup.procs", "0");
	close(fd);
	rmdir(path);
}

int attach_verdict(int cgroup, int type, int where, int verdict)
{
	struct bpf_insn insn[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = verdict },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = type,
		.expected_attach_type = where,
		.insns = (uintptr_t)insn,
		.insn_cnt = 2,
		.license = (uintptr_t)"GPL",
	};
	int prog = rc(syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr)));
	int err;

	if (prog < 0)
		return prog;
	memset(&attr, 0, sizeof(attr));
	attr.target_fd = cgroup;
	attr.attach_bpf_fd = prog;
	attr.attach_type = where;
	err = rc(syscall(SYS_bpf, BPF_PROG_ATTACH, &attr, sizeof(attr)));
	close(prog);
	return err;
}
