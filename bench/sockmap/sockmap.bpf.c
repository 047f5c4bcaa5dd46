// SPDX-License-Identifier: GPL-2.0
/*
 * What programs on one host use today to get around TCP: sockops enters both
 * ends of each connection into a sockhash, and what one end sends is put into
 * the other end's receive queue.  sockmap.sh loads it.
 */
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* <sys/socket.h> is for the host's C library. */
#define AF_INET		2

/* One end of a connection, as this end sees it; ports in network order. */
struct end {
	__u32	local_ip;
	__u32	remote_ip;
	__u32	local_port;
	__u32	remote_port;
};

struct {
	__uint(type, BPF_MAP_TYPE_SOCKHASH);
	__uint(max_entries, 32768);
	__type(key, struct end);
	__type(value, __u64);
} ends SEC(".maps");

/* sockmap.sh knows these numbers. */
enum count {
	JOINED,		/* ends that are in the hash */
	NOT_JOINED,
	REDIRECTED,	/* bytes */
	COUNTS
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

static void count(__u32 what, __u64 n)
{
	__u64 *sum = bpf_map_lookup_elem(&counts, &what);

	if (sum)
		__sync_fetch_and_add(sum, n);
}

SEC("sockops")
int join(struct bpf_sock_ops *ops)
{
	struct end me = {
		.local_ip = ops->local_ip4,
		.remote_ip = ops->remote_ip4,
		.local_port = bpf_htonl(ops->local_port),
		.remote_port = ops->remote_port,
	};

	if (ops->op != BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB &&
	    ops->op != BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB)
		return 1;
	if (ops->family != AF_INET ||
	    bpf_sock_hash_update(ops, &ends, &me, BPF_NOEXIST))
		count(NOT_JOINED, 1);
	else
		count(JOINED, 1);
	return 1;
}

SEC("sk_msg")
int redirect(struct sk_msg_md *msg)
{
	struct end peer = {
		.local_ip = msg->remote_ip4,
		.remote_ip = msg->local_ip4,
		.local_port = msg->remote_port,
		.remote_port = bpf_htonl(msg->local_port),
	};
	__u32 size = msg->size;

	/*
	 * An end that has closed is not in the hash any more.  With SK_PASS TCP would
	 * carry what is for it; here send() fails, as nothing is to take another path.
	 */
	if (bpf_msg_redirect_hash(msg, &ends, &peer, BPF_F_INGRESS) != SK_PASS)
		return SK_DROP;
	count(REDIRECTED, size);
	return SK_PASS;
}

char _license[] SEC("license") = "GPL";
