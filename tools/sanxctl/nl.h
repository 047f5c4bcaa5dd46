/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink requests to the module.
 */
#ifndef SANXCTL_NL_H
#define SANXCTL_NL_H

#include <netinet/in.h>
#include <stdbool.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include "words.h"

/* All attributes of a message of the module, in order. */
#define nl_for_each(attr, nlh) mnl_attr_for_each(attr, nlh, GENL_HDRLEN)

/**
 * struct nl_error - the result of a request
 * @err: errno (positive), or 0
 * @text: the kernel's message; may be empty
 * @has_attr: an attribute caused the error
 * @attr: offset of that attribute from the start of the request, in bytes
 */
struct nl_error {
	int err;
	char text[256];
	bool has_attr;
	u32 attr;
};

/**
 * struct nl - a connection to the module
 * @sock: the socket
 * @seq: sequence number of the last request
 * @family: number of the module's generic netlink family
 * @events: number of its multicast group of that name; 0 if it has none
 */
struct nl {
	struct mnl_socket *sock;
	u32 seq;
	u16 family;
	u32 events;
};

/**
 * struct nl_request - a request that is being built
 * @nlh: the message
 * @start: offset of each entry from the start of the message, in bytes
 * @entries: number of entries
 */
struct nl_request {
	struct nlmsghdr *nlh;
	u32 *start;
	size_t entries;
};

/* Processes one message of an answer. */
typedef void (*nl_answer_fn)(const struct nlmsghdr *nlh, void *data);

int nl_open(struct nl *nl, struct nl_error *error);
void nl_close(struct nl *nl);

int nl_request_init(struct nl_request *req, u8 cmd, size_t entries, size_t entry_room);
void nl_request_free(struct nl_request *req);
struct nlattr *nl_entry_start(struct nl_request *req, u16 type);
void nl_entry_end(struct nl_request *req, struct nlattr *entry);
size_t nl_entry_find(const struct nl_request *req, u32 offset);

int nl_do(struct nl *nl, struct nl_request *req, nl_answer_fn answer, void *data,
	  struct nl_error *error);
int nl_dump(struct nl *nl, u8 cmd, nl_answer_fn answer, void (*again)(void *data),
	    void *data, struct nl_error *error);
int nl_listen(struct nl *nl, struct nl_error *error);
int nl_hear(struct nl *nl, nl_answer_fn event, void *data, struct nl_error *error);
void nl_error_parse(const struct nlmsghdr *nlh, struct nl_error *error);

void nl_parse(const struct nlmsghdr *nlh, const struct nlattr **attr, u16 max);
void nl_parse_nested(const struct nlattr *nest, const struct nlattr **attr, u16 max);
u64 nl_uint(const struct nlattr *attr);
const char *nl_string(const struct nlattr *attr);
void nl_word(char *to, size_t room, const struct nlattr *attr);
struct in6_addr nl_addr(const struct nlattr *attr);

#endif /* SANXCTL_NL_H */
