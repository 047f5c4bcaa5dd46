// SPDX-License-Identifier: GPL-2.0
/*
 * TCP's sockets as sock_diag(7) has them; those of AF_SANX are among them.
 *
 * SOCK_DESTROY ends a connection of AF_SANX as it ends one of TCP: it is what "ss -K" sends.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "diag.h"
#include "sanxctl.h"

#define DIAG_BUF_SIZE	65536

/* A dump is of one family. */
struct dump {
	struct diag_socks *found;
	diag_wants_fn wants;
	const void *arg;
};

static int dump_take(const struct nlmsghdr *nlh, void *data)
{
	const struct inet_diag_msg *sock = mnl_nlmsg_get_payload(nlh);
	struct dump *d = data;
	struct diag_socks *f = d->found;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*sock) || !d->wants(sock, d->arg))
		return MNL_CB_OK;
	f->sock = ctl_grow(f->sock, f->count, &f->room, sizeof(*sock));
	f->sock[f->count++] = *sock;
	return MNL_CB_OK;
}

static struct mnl_socket *diag_open(void)
{
	struct mnl_socket *nl = mnl_socket_open2(NETLINK_SOCK_DIAG, SOCK_CLOEXEC);

	if (nl && mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0) {
		mnl_socket_close(nl);
		nl = NULL;
	}
	return nl;
}

/* Sends a request, and reads all of the answer.  Return: 0, or -1 with errno set. */
static int diag_ask(u16 type, u16 flags, const struct inet_diag_req_v2 *req,
		    mnl_cb_t take, void *data)
{
	struct mnl_socket *nl = diag_open();
	struct nlmsghdr *nlh;
	char *buf = malloc(DIAG_BUF_SIZE);
	int rc = -1;
	ssize_t n;

	if (!nl || !buf)
		goto out;
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	memcpy(mnl_nlmsg_put_extra_header(nlh, sizeof(*req)), req, sizeof(*req));
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		goto out;
	do {
		n = mnl_socket_recvfrom(nl, buf, DIAG_BUF_SIZE);
		rc = n < 0 ? -1 : mnl_cb_run(buf, n, 0, mnl_socket_get_portid(nl), take, data);
	} while (rc > MNL_CB_STOP);
out:
	free(buf);
	if (nl)
		mnl_socket_close(nl);
	return rc < 0 ? -1 : 0;
}

/**
 * diag_find - find sockets of TCP and of AF_SANX
 * @found: filled; the caller frees it in any case
 * @wants: which
 * @arg: second argument of @wants
 *
 * Return: 0, or -1 after a message.
 */
int diag_find(struct diag_socks *found, diag_wants_fn wants, const void *arg)
{
	static const u8 families[] = { AF_INET, AF_INET6 };
	struct inet_diag_req_v2 req = { .sdiag_protocol = IPPROTO_TCP, .idiag_states = ~0U };
	struct dump d = { .found = found, .wants = wants, .arg = arg };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		req.sdiag_family = families[i];
		if (diag_ask(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &req, dump_take, &d))
			return ctl_fail("sock_diag: %s", strerror(errno));
	}
	return 0;
}

/**
 * diag_destroy - end a socket
 * @sock: the socket; another one with its addresses and ports is left alone
 *
 * Return: 0, or -1 with errno set; ENOENT if it is not there any more.
 */
int diag_destroy(const struct inet_diag_msg *sock)
{
	struct inet_diag_req_v2 req = {
		.sdiag_family = sock->idiag_family,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_states = 1 << sock->idiag_state,
		.id = sock->id,
	};

	return diag_ask(SOCK_DESTROY, NLM_F_ACK, &req, NULL, NULL);
}

void diag_free(struct diag_socks *found)
{
	free(found->sock);
}
