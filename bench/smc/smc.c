// SPDX-License-Identifier: GPL-2.0
/*
 * smc add NETDEV RDMADEV: gives both the same network name (PNETID), and this
 * node a group of nodes (UEID), without which there is no SMC-R over RoCEv2.
 *
 * smc stats: how many connections were SMC-R, how many fell back to TCP, and
 * for each reason a line "reason COUNT WORDS".  Both ends are counted.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/smc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PNETID	"SANXBENCH"
#define UEID	"SANX.BENCH"

/* A dump's messages come in pieces of this size at most. */
static char buffer[65536];

static struct mnl_socket *netlink;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct nlmsghdr *request(uint16_t family, uint8_t command, uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = family;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = command;
	genl->version = 1;
	return nlh;
}

/* Returns a negative number, with errno set, if the kernel refuses. */
static int ask(struct nlmsghdr *nlh, mnl_cb_t answer, void *data)
{
	int rc;

	if (mnl_socket_sendto(netlink, nlh, nlh->nlmsg_len) < 0)
		die("netlink: send");
	do {
		rc = mnl_socket_recvfrom(netlink, buffer, sizeof(buffer));
		if (rc < 0)
			die("netlink: receive");
		rc = mnl_cb_run(buffer, rc, 0, 0, answer, data);
	} while (rc > 0);
	return rc;
}

static int found_family(const struct nlmsghdr *nlh, void *data)
{
	struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			*(uint16_t *)data = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static uint16_t family(const char *name)
{
	struct nlmsghdr *nlh = request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK);
	uint16_t id = 0;

	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, name);
	if (ask(nlh, found_family, &id) < 0 || !id)
		die(name);
	return id;
}

static void add_pnetid(const char *netdev, const char *rdmadev)
{
	struct nlmsghdr *nlh;

	nlh = request(family(SMCR_GENL_FAMILY_NAME), SMC_PNETID_ADD, NLM_F_ACK);
	mnl_attr_put_strz(nlh, SMC_PNETID_NAME, PNETID);
	mnl_attr_put_strz(nlh, SMC_PNETID_ETHNAME, netdev);
	mnl_attr_put_strz(nlh, SMC_PNETID_IBNAME, rdmadev);
	mnl_attr_put_u8(nlh, SMC_PNETID_IBPORT, 1);
	if (ask(nlh, NULL, NULL) < 0 && errno != EEXIST)
		die("PNETID");
}

/* The kernel takes it only with all its blanks. */
static void add_ueid(void)
{
	char ueid[SMC_MAX_EID_LEN + 1];
	struct nlmsghdr *nlh;

	snprintf(ueid, sizeof(ueid), "%-*s", SMC_MAX_EID_LEN, UEID);
	nlh = request(family(SMC_GENL_FAMILY_NAME), SMC_NETLINK_ADD_UEID, NLM_F_ACK);
	mnl_attr_put_strz(nlh, SMC_NLA_EID_TABLE_ENTRY, ueid);
	if (ask(nlh, NULL, NULL) < 0 && errno != EEXIST)
		die("UEID");
}

/* net/smc/smc_clc.h */
static const struct {
	uint32_t code;
	const char *words;
} reasons[] = {
	{ 0x01010000, "insufficient memory" },
	{ 0x02010000, "timeout waiting for the QP's confirm link" },
	{ 0x02020000, "timeout waiting for the QP's add link" },
	{ 0x03000000, "configuration error" },
	{ 0x03010000, "the peer did not indicate SMC" },
	{ 0x03020000, "IPsec" },
	{ 0x03030000, "no SMC device found" },
	{ 0x03030002, "no SMC-R device found" },
	{ 0x03030004, "the peer sent no v2 extension" },
	{ 0x03030007, "no SMC-Dv2 device found" },
	{ 0x03030008, "the peer sent no UEID" },
	{ 0x03030009, "releases do not match" },
	{ 0x03040000, "modes do not match" },
	{ 0x03060000, "a socket option that SMC has not" },
	{ 0x03070000, "IP subnets differ" },
	{ 0x030a0000, "no active link" },
	{ 0x030b0000, "the server's link was not found" },
	{ 0x030c0000, "versions do not match" },
	{ 0x030e0000, "no route to the peer" },
	{ 0x030f0000, "only one end has a gateway" },
	{ 0x04000000, "synchronization error" },
	{ 0x05000000, "the peer declined" },
	{ 0x09990000, "internal error" },
	{ 0x09990001, "rtoken handling failed" },
	{ 0x09990002, "the link did not become ready" },
	{ 0x09990003, "registering buffers failed" },
	{ }
};

static void print_reason(uint32_t code, unsigned int count)
{
	size_t i;

	for (i = 0; reasons[i].words; i++)
		if (reasons[i].code == code) {
			printf("reason %u %s\n", count, reasons[i].words);
			return;
		}
	printf("reason %u code 0x%08x\n", count, code);
}

static int fell_back(const struct nlmsghdr *nlh, void *data)
{
	uint64_t *total = data;
	uint32_t code = 0;
	uint16_t count = 0;
	struct nlattr *nest, *attr;

	mnl_attr_for_each(nest, nlh, sizeof(struct genlmsghdr))
		mnl_attr_for_each_nested(attr, nest)
			switch (mnl_attr_get_type(attr)) {
			case SMC_NLA_FBACK_STATS_SRV_CNT:
			case SMC_NLA_FBACK_STATS_CLNT_CNT:
				*total += mnl_attr_get_u64(attr);
				break;
			case SMC_NLA_FBACK_STATS_RSN_CODE:
				code = mnl_attr_get_u32(attr);
				break;
			case SMC_NLA_FBACK_STATS_RSN_CNT:
				count = mnl_attr_get_u16(attr);
				break;
			}
	print_reason(code, count);
	return MNL_CB_OK;
}

static int was_smcr(const struct nlmsghdr *nlh, void *data)
{
	struct nlattr *stats, *tech, *attr;
	uint64_t *total = data;

	mnl_attr_for_each(stats, nlh, sizeof(struct genlmsghdr))
		mnl_attr_for_each_nested(tech, stats) {
			if (mnl_attr_get_type(tech) != SMC_NLA_STATS_SMCR_TECH)
				continue;
			mnl_attr_for_each_nested(attr, tech)
				switch (mnl_attr_get_type(attr)) {
				case SMC_NLA_STATS_T_CLNT_V1_SUCC:
				case SMC_NLA_STATS_T_CLNT_V2_SUCC:
				case SMC_NLA_STATS_T_SRV_V1_SUCC:
				case SMC_NLA_STATS_T_SRV_V2_SUCC:
					*total += mnl_attr_get_u64(attr);
					break;
				}
		}
	return MNL_CB_OK;
}

static uint64_t dump(uint8_t command, mnl_cb_t answer)
{
	uint16_t id = family(SMC_GENL_FAMILY_NAME);
	uint64_t total = 0;

	if (ask(request(id, command, NLM_F_DUMP), answer, &total) < 0)
		die("SMC statistics");
	return total;
}

int main(int argc, char **argv)
{
	netlink = mnl_socket_open(NETLINK_GENERIC);
	if (!netlink || mnl_socket_bind(netlink, 0, MNL_SOCKET_AUTOPID))
		die("netlink");
	if (argc == 4 && !strcmp(argv[1], "add")) {
		add_pnetid(argv[2], argv[3]);
		add_ueid();
	} else if (argc == 2 && !strcmp(argv[1], "stats")) {
		printf("fallback %ju\n",
		       (uintmax_t)dump(SMC_NETLINK_GET_FBACK_STATS, fell_back));
		printf("smcr %ju\n",
		       (uintmax_t)dump(SMC_NETLINK_GET_STATS, was_smcr));
	} else {
		fputs("usage: smc add NETDEV RDMADEV | smc stats\n", stderr);
		return 2;
	}
	return 0;
}
