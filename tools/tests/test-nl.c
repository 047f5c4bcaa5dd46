// SPDX-License-Identifier: GPL-2.0
/*
 * Errors in the kernel's answers, and the entries that they refer to.
 */
#include <errno.h>
#include <string.h>

#include <linux/sanx_netlink.h>

#include "../sanxctl/nl.h"
#include "tap.h"

#define ENTRIES 100

static void request_make(struct nl_request *req)
{
	struct nlattr *entry;
	int i;

	nl_request_init(req, SANX_CMD_NODEMAP_LOAD, ENTRIES, 64);
	for (i = 0; i < ENTRIES; i++) {
		entry = nl_entry_start(req, SANX_A_NODEMAP_NODE);
		mnl_attr_put_u32(req->nlh, SANX_A_NODE_ID, i);
		if (i % 3)
			mnl_attr_put_u32(req->nlh, SANX_A_NODE_RAIL, i);
		nl_entry_end(req, entry);
	}
}

static void try_find(void)
{
	const struct nlattr *entry, *attr;
	struct nl_request req;
	size_t at = 0, wrong = 0;

	request_make(&req);
	nl_for_each(entry, req.nlh) {
		wrong += nl_entry_find(&req, (char *)entry - (char *)req.nlh) != at;
		mnl_attr_for_each_nested(attr, entry)
			wrong += nl_entry_find(&req, (char *)attr - (char *)req.nlh) != at;
		at++;
	}
	ok(at == ENTRIES && !wrong, "every attribute is found in its entry");

	ok(nl_entry_find(&req, 0) == ENTRIES, "the header is in no entry");
	ok(nl_entry_find(&req, req.nlh->nlmsg_len) == ENTRIES, "the end is in no entry");
	nl_request_free(&req);

	nl_request_init(&req, SANX_CMD_NODEMAP_LOAD, 0, 0);
	ok(nl_entry_find(&req, 20) == 0, "an empty request has no entry");
	nl_request_free(&req);
}

/* An answer with @error; includes the request unless @capped. */
static struct nlmsghdr *error_make(char *buf, int error, bool capped)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct nlmsgerr *msg = mnl_nlmsg_put_extra_header(nlh, sizeof(*msg));

	nlh->nlmsg_type = NLMSG_ERROR;
	nlh->nlmsg_flags = NLM_F_ACK_TLVS | (capped ? NLM_F_CAPPED : 0);
	msg->error = error;
	msg->msg.nlmsg_len = MNL_NLMSG_HDRLEN + 64;
	if (!capped)
		memset(mnl_nlmsg_put_extra_header(nlh, 64), 0xff, 64);
	return nlh;
}

static void try_error(bool capped)
{
	const char *how = capped ? "short answer" : "answer with the request";
	struct nlmsghdr *nlh;
	struct nl_error error;
	char buf[1024] = "";

	nlh = error_make(buf, -EINVAL, capped);
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "no");
	mnl_attr_put_u32(nlh, NLMSGERR_ATTR_OFFS, 1234);
	nl_error_parse(nlh, &error);
	ok(error.err == EINVAL && !strcmp(error.text, "no") && error.has_attr &&
	   error.attr == 1234, "%s: text and attribute", how);

	nlh = error_make(buf, -EPERM, capped);
	nl_error_parse(nlh, &error);
	ok(error.err == EPERM && !*error.text && !error.has_attr, "%s: neither", how);

	nlh = error_make(buf, 0, capped);
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "mind");
	nl_error_parse(nlh, &error);
	ok(!error.err && !strcmp(error.text, "mind"), "%s: a warning", how);
}

static void try_done(void)
{
	struct nlmsghdr *nlh;
	struct nl_error error;
	char buf[256] = "";
	int *code;

	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = NLMSG_DONE;
	nl_error_parse(nlh, &error);
	ok(!error.err, "the end of a dump");

	code = mnl_nlmsg_put_extra_header(nlh, sizeof(*code));
	*code = -ENOMEM;
	nlh->nlmsg_flags = NLM_F_ACK_TLVS;
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "full");
	nl_error_parse(nlh, &error);
	ok(error.err == ENOMEM && !strcmp(error.text, "full"), "a dump that fails");

	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = NLMSG_ERROR;
	nl_error_parse(nlh, &error);
	ok(error.err == EBADMSG, "an answer cut short");
}

int main(void)
{
	try_find();
	try_error(true);
	try_error(false);
	try_done();
	return tap_done();
}
