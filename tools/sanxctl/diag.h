/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TCP's sockets as sock_diag(7) has them; those of AF_SANX are among them.
 */
#ifndef SANXCTL_DIAG_H
#define SANXCTL_DIAG_H

#include <linux/inet_diag.h>
#include <stdbool.h>

#include "words.h"

/**
 * struct diag_socks - sockets that were found
 * @sock: the sockets
 * @count: their number
 * @room: how many there is room for
 */
struct diag_socks {
	struct inet_diag_msg *sock;
	size_t count;
	size_t room;
};

/* Return: whether a socket is to be found. */
typedef bool (*diag_wants_fn)(const struct inet_diag_msg *sock, const void *arg);

int diag_find(struct diag_socks *found, diag_wants_fn wants, const void *arg);
int diag_destroy(const struct inet_diag_msg *sock);
void diag_free(struct diag_socks *found);

#endif /* SANXCTL_DIAG_H */
