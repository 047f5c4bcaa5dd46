// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink requests to the module.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sanx_netlink.h>

#include "nl.h"

/* The kernel's messages of a dump are not larger. */
#define NL_BUF_SIZE 65536

/* Attempts at a dump that is interrupted by changes. */
#define NL_DUMP_TRIES 10

static int nl_fail(struct nl_error *error, int err)
{
	error->err = err;
	return -1;
}

static void nl_explain(struct nl_error *error, const char *text)
{
	snprintf(error->text, sizeof(error->text), "%s", text);
}

/*
 * Answers
 */

static bool nl_attr_holds(const struct nlattr *attr, u16 size)
{
	return attr && mnl_attr_get_payload_len(attr) >= size;
}

struct nl_table {
	const struct nlattr **attr;
	u16 max;
};

static int nl_table_put(const struct nlattr *attr, void *data)
{
	struct nl_table *table = data;
	u16 type = mnl_attr_get_type(attr);

	if (type <= table->max)
		table->attr[type] = attr;
	return MNL_CB_OK;
}

/**
 * nl_parse - find the attributes of a generic netlink message
 * @nlh: the message
 * @attr: table of @max + 1 entries, filled; NULL for missing attributes
 * @max: highest attribute to find
 */
void nl_parse(const struct nlmsghdr *nlh, const struct nlattr **attr, u16 max)
{
	struct nl_table table = { .attr = attr, .max = max };

	memset(attr, 0, (max + 1) * sizeof(*attr));
	mnl_attr_parse(nlh, GENL_HDRLEN, nl_table_put, &table);
}

void nl_parse_nested(const struct nlattr *nest, const struct nlattr **attr, u16 max)
{
	struct nl_table table = { .attr = attr, .max = max };

	memset(attr, 0, (max + 1) * sizeof(*attr));
	mnl_attr_parse_nested(nest, nl_table_put, &table);
}

/* An unsigned integer of 16, 32 or 64 bits; 0 if the attribute is missing. */
u64 nl_uint(const struct nlattr *attr)
{
	if (nl_attr_holds(attr, sizeof(u64)))
		return mnl_attr_get_u64(attr);
	if (nl_attr_holds(attr, sizeof(u32)))
		return mnl_attr_get_u32(attr);
	if (nl_attr_holds(attr, sizeof(u16)))
		return mnl_attr_get_u16(attr);
	if (nl_attr_holds(attr, sizeof(u8)))
		return mnl_attr_get_u8(attr);
	return 0;
}

const char *nl_string(const struct nlattr *attr)
{
	if (!attr || mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) < 0)
		return "";
	return mnl_attr_get_str(attr);
}

/**
 * nl_word - copy a string
 * @to: the copy; empty if there is no attribute
 * @room: bytes of @to; what is longer is cut
 * @attr: the attribute, or NULL
 */
void nl_word(char *to, size_t room, const struct nlattr *attr)
{
	snprintf(to, room, "%s", nl_string(attr));
}

struct in6_addr nl_addr(const struct nlattr *attr)
{
	struct in6_addr addr = { };

	if (nl_attr_holds(attr, sizeof(addr)))
		memcpy(&addr, mnl_attr_get_payload(attr), sizeof(addr));
	return addr;
}

static int nl_error_attr(const struct nlattr *attr, void *data)
{
	struct nl_error *error = data;

	switch (mnl_attr_get_type(attr)) {
	case NLMSGERR_ATTR_MSG:
		nl_explain(error, nl_string(attr));
		break;
	case NLMSGERR_ATTR_OFFS:
		error->has_attr = nl_attr_holds(attr, sizeof(u32));
		error->attr = nl_uint(attr);
		break;
	}

	return MNL_CB_OK;
}

/**
 * nl_error_parse - read the result in a message
 * @nlh: message of type NLMSG_ERROR or NLMSG_DONE
 * @error: filled with the result; its err is 0 on success
 */
void nl_error_parse(const struct nlmsghdr *nlh, struct nl_error *error)
{
	const struct nlmsgerr *msg = mnl_nlmsg_get_payload(nlh);
	size_t skip = sizeof(msg->error);

	memset(error, 0, sizeof(*error));

	if (nlh->nlmsg_type == NLMSG_ERROR)
		skip = sizeof(*msg);
	if (mnl_nlmsg_get_payload_len(nlh) < skip) {
		error->err = nlh->nlmsg_type == NLMSG_ERROR ? EBADMSG : 0;
		return;
	}

	/* The kernel says nothing below -MAX_ERRNO; what is below -INT_MAX has no sign. */
	if (msg->error < 0)
		error->err = msg->error < -INT_MAX ? EBADMSG : -msg->error;
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (nlh->nlmsg_type == NLMSG_ERROR && !(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += mnl_nlmsg_get_payload_len(&msg->msg);
	if (skip <= mnl_nlmsg_get_payload_len(nlh))
		mnl_attr_parse(nlh, skip, nl_error_attr, error);
}

/*
 * Requests
 */

/**
 * nl_request_init - start a request
 * @req: the request, to be freed with nl_request_free()
 * @cmd: command of the module
 * @entries: most entries that will be added
 * @entry_room: most bytes of an entry
 *
 * Return: 0, or -1 without memory; then there is nothing to free.
 */
int nl_request_init(struct nl_request *req, u8 cmd, size_t entries, size_t entry_room)
{
	size_t head = MNL_NLMSG_HDRLEN + MNL_ALIGN(GENL_HDRLEN);
	struct genlmsghdr *genl;
	void *buf;

	memset(req, 0, sizeof(*req));
	buf = calloc(1, head + entries * entry_room);
	req->start = calloc(entries + 1, sizeof(*req->start));
	if (!buf || !req->start) {
		free(buf);
		free(req->start);
		return -1;
	}

	req->nlh = mnl_nlmsg_put_header(buf);
	genl = mnl_nlmsg_put_extra_header(req->nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = SANX_FAMILY_VERSION;
	return 0;
}

void nl_request_free(struct nl_request *req)
{
	free(req->nlh);
	free(req->start);
}

struct nlattr *nl_entry_start(struct nl_request *req, u16 type)
{
	req->start[req->entries++] = req->nlh->nlmsg_len;
	return mnl_attr_nest_start(req->nlh, type);
}

void nl_entry_end(struct nl_request *req, struct nlattr *entry)
{
	mnl_attr_nest_end(req->nlh, entry);
}

/**
 * nl_entry_find - find the entry that contains an attribute
 * @req: the request
 * @offset: offset of the attribute, as in struct nl_error
 *
 * Return: number of the entry, from 0; or the number of entries if no entry
 * contains it.
 */
size_t nl_entry_find(const struct nl_request *req, u32 offset)
{
	size_t i = req->entries;

	if (offset >= req->nlh->nlmsg_len)
		return req->entries;

	while (i--)
		if (req->start[i] <= offset)
			return i;

	return req->entries;
}

/*
 * Exchange of messages
 */

/*
 * The kernel takes a node map in one message only, so the socket's send buffer
 * must hold a whole map.
 */
static void nl_make_room(struct nl *nl, int size)
{
	int fd = mnl_socket_get_fd(nl->sock), have = 0;
	socklen_t len = sizeof(have);

	/* The kernel uses some of the send buffer itself. */
	size += 4096;
	if (!getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &have, &len) && have >= size)
		return;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

static int nl_send(struct nl *nl, struct nlmsghdr *nlh, struct nl_error *error)
{
	nlh->nlmsg_seq = ++nl->seq;
	nl_make_room(nl, nlh->nlmsg_len);
	if (mnl_socket_sendto(nl->sock, nlh, nlh->nlmsg_len) >= 0)
		return 0;

	if (errno == EMSGSIZE)
		nl_explain(error,
			   "the request does not fit in a socket's buffer, net.core.wmem_max is too small");
	return nl_fail(error, errno);
}

struct nl_talk {
	struct nl *nl;
	nl_answer_fn answer;
	void *data;
	struct nl_error *error;
	bool interrupted;
	bool done;
};

static void nl_take(const struct nlmsghdr *nlh, void *data)
{
	struct nl_talk *talk = data;

	if (nlh->nlmsg_seq != talk->nl->seq)
		return;

	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		talk->interrupted = true;

	if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE) {
		nl_error_parse(nlh, talk->error);
		talk->done = true;
	} else if (nlh->nlmsg_type >= NLMSG_MIN_TYPE && talk->answer) {
		talk->answer(nlh, talk->data);
	}
}

/* libmnl compares the length of a message as a signed number. */
static bool nl_ok(const struct nlmsghdr *nlh, int len)
{
	return mnl_nlmsg_ok(nlh, len) && nlh->nlmsg_len <= (u32)len;
}

/* Waits for messages, and has @take called for each of those that have come together. */
static int nl_receive(struct nl *nl, nl_answer_fn take, void *data, struct nl_error *error)
{
	static u64 buf[NL_BUF_SIZE / sizeof(u64)];
	const struct nlmsghdr *nlh;
	ssize_t got;
	int len;

	do {
		got = mnl_socket_recvfrom(nl->sock, buf, sizeof(buf));
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return nl_fail(error, errno);

	len = got;
	for (nlh = (void *)buf; nl_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len))
		take(nlh, data);
	return 0;
}

/* Receives messages up to the result of the request. */
static int nl_result(struct nl_talk *talk)
{
	while (!talk->done)
		if (nl_receive(talk->nl, nl_take, talk, talk->error))
			return -1;

	return talk->error->err ? -1 : 0;
}

/**
 * nl_do - send a request and receive the answer
 * @nl: the connection
 * @req: the request
 * @answer: called for each message of the answer; NULL to ignore them
 * @data: argument of @answer
 * @error: the error on failure; on success its text may be a warning
 *
 * Return: 0, or -1 with @error filled in.
 */
int nl_do(struct nl *nl, struct nl_request *req, nl_answer_fn answer, void *data,
	  struct nl_error *error)
{
	struct nl_talk talk = { .nl = nl, .answer = answer, .data = data, .error = error };

	memset(error, 0, sizeof(*error));
	req->nlh->nlmsg_type = nl->family;
	req->nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	if (nl_send(nl, req->nlh, error))
		return -1;
	return nl_result(&talk);
}

static int nl_dump_once(struct nl *nl, struct nl_request *req, struct nl_talk *talk)
{
	req->nlh->nlmsg_type = nl->family;
	req->nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	if (nl_send(nl, req->nlh, talk->error))
		return -1;
	return nl_result(talk);
}

/**
 * nl_dump - dump all items of a kind
 * @nl: the connection
 * @cmd: the module's dump command
 * @answer: called for each message of the dump
 * @again: called when the dump was interrupted by a change; the messages that
 *	@answer got are then void, and the dump starts again; NULL if they do no harm
 * @data: argument of @answer and @again
 * @error: the error on failure
 *
 * Return: 0, or -1 with @error filled in.
 */
int nl_dump(struct nl *nl, u8 cmd, nl_answer_fn answer, void (*again)(void *data),
	    void *data, struct nl_error *error)
{
	struct nl_request req;
	int tries, rc = -1;

	memset(error, 0, sizeof(*error));
	if (nl_request_init(&req, cmd, 0, 0))
		return nl_fail(error, ENOMEM);

	for (tries = 0; tries < NL_DUMP_TRIES; tries++) {
		struct nl_talk talk = {
			.nl = nl, .answer = answer, .data = data, .error = error
		};

		rc = nl_dump_once(nl, &req, &talk);
		if (rc || !talk.interrupted)
			break;
		if (again)
			again(data);
		rc = nl_fail(error, EINTR);
	}

	nl_request_free(&req);
	return rc;
}

/*
 * Events
 */

/**
 * nl_listen - have the module's events sent to this connection
 * @nl: the connection; nl_hear() takes them
 * @error: the error on failure
 *
 * Return: 0, or -1 with @error filled in.
 */
int nl_listen(struct nl *nl, struct nl_error *error)
{
	memset(error, 0, sizeof(*error));
	if (!nl->events) {
		nl_explain(error, "the module tells no events: it is of another version");
		return nl_fail(error, EOPNOTSUPP);
	}
	if (mnl_socket_setsockopt(nl->sock, NETLINK_ADD_MEMBERSHIP, &nl->events,
				  sizeof(nl->events)))
		return nl_fail(error, errno);
	return 0;
}

/**
 * struct nl_ear - who listens
 * @nl: the connection
 * @event: as for nl_hear()
 * @data: likewise
 */
struct nl_ear {
	const struct nl *nl;
	nl_answer_fn event;
	void *data;
};

static void nl_event(const struct nlmsghdr *nlh, void *data)
{
	const struct nl_ear *ear = data;

	if (nlh->nlmsg_type == ear->nl->family)
		ear->event(nlh, ear->data);
}

/**
 * nl_hear - wait for events
 * @nl: a connection that listens
 * @event: called for each of those that are there
 * @data: argument of @event
 * @error: the error on failure; its err is ENOBUFS if some were lost, and more may come
 *
 * Return: 0, or -1 with @error filled in.
 */
int nl_hear(struct nl *nl, nl_answer_fn event, void *data, struct nl_error *error)
{
	struct nl_ear ear = { .nl = nl, .event = event, .data = data };

	memset(error, 0, sizeof(*error));
	return nl_receive(nl, nl_event, &ear, error);
}

/*
 * Opening
 */

static void nl_groups_parse(struct nl *nl, const struct nlattr *groups)
{
	const struct nlattr *attr[CTRL_ATTR_MCAST_GRP_MAX + 1], *group;

	mnl_attr_for_each_nested(group, groups) {
		nl_parse_nested(group, attr, CTRL_ATTR_MCAST_GRP_MAX);
		if (!strcmp(nl_string(attr[CTRL_ATTR_MCAST_GRP_NAME]), SANX_MCGRP_EVENTS))
			nl->events = nl_uint(attr[CTRL_ATTR_MCAST_GRP_ID]);
	}
}

static void nl_family_answer(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[CTRL_ATTR_MCAST_GROUPS + 1];
	struct nl *nl = data;

	nl_parse(nlh, attr, CTRL_ATTR_MCAST_GROUPS);
	nl->family = nl_uint(attr[CTRL_ATTR_FAMILY_ID]);
	if (attr[CTRL_ATTR_MCAST_GROUPS])
		nl_groups_parse(nl, attr[CTRL_ATTR_MCAST_GROUPS]);
}

static int nl_family_resolve(struct nl *nl, struct nl_error *error)
{
	struct nl_request req;
	int rc;

	if (nl_request_init(&req, CTRL_CMD_GETFAMILY, 1, 64))
		return nl_fail(error, ENOMEM);

	mnl_attr_put_strz(req.nlh, CTRL_ATTR_FAMILY_NAME, SANX_FAMILY_NAME);
	nl->family = GENL_ID_CTRL;
	rc = nl_do(nl, &req, nl_family_answer, nl, error);
	nl_request_free(&req);

	if (rc && error->err == ENOENT)
		nl_explain(error, "AF_SANX is not loaded (try: modprobe af_sanx)");
	return rc;
}

/**
 * nl_open - connect to the module
 * @nl: the connection, to be closed with nl_close()
 * @error: the error on failure
 *
 * Return: 0, or -1 with @error filled in and nothing to close.
 */
int nl_open(struct nl *nl, struct nl_error *error)
{
	int on = 1;

	memset(nl, 0, sizeof(*nl));
	memset(error, 0, sizeof(*error));

	nl->sock = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!nl->sock)
		return nl_fail(error, errno);
	if (mnl_socket_bind(nl->sock, 0, MNL_SOCKET_AUTOPID)) {
		nl_fail(error, errno);
		goto fail;
	}

	/* Without them, errors have no text and include the request. */
	mnl_socket_setsockopt(nl->sock, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(nl->sock, NETLINK_CAP_ACK, &on, sizeof(on));

	if (nl_family_resolve(nl, error))
		goto fail;
	return 0;

fail:
	nl_close(nl);
	return -1;
}

void nl_close(struct nl *nl)
{
	mnl_socket_close(nl->sock);
}
