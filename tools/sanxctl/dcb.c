// SPDX-License-Identifier: GPL-2.0
/*
 * Priority flow control of a network device (IEEE 802.1Qbb), by rtnetlink.
 */
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "doctor.h"

struct pfc {
	bool known;
	struct ieee_pfc ieee;
};

static int pfc_take(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr, *nested;
	struct pfc *pfc = data;

	mnl_attr_for_each(attr, nlh, sizeof(struct dcbmsg)) {
		if (mnl_attr_get_type(attr) != DCB_ATTR_IEEE)
			continue;
		mnl_attr_for_each_nested(nested, attr) {
			if (mnl_attr_get_type(nested) != DCB_ATTR_IEEE_PFC ||
			    mnl_attr_get_payload_len(nested) < sizeof(pfc->ieee))
				continue;
			memcpy(&pfc->ieee, mnl_attr_get_payload(nested), sizeof(pfc->ieee));
			pfc->known = true;
		}
	}
	return MNL_CB_OK;
}

/**
 * dcb_pfc - find which priorities of a device have flow control
 * @interface: the network device
 *
 * Return: a bit for each priority, or -1 if the device does not say.
 */
int dcb_pfc(const char *interface)
{
	char buf[8192];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct dcbmsg *dcb = mnl_nlmsg_put_extra_header(nlh, sizeof(*dcb));
	struct mnl_socket *nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	struct pfc pfc = { };
	ssize_t n;

	if (!nl)
		return -1;
	nlh->nlmsg_type = RTM_GETDCB;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	dcb->cmd = DCB_CMD_IEEE_GET;
	mnl_attr_put_strz(nlh, DCB_ATTR_IFNAME, interface);
	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) >= 0 &&
	    mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) > 0) {
		n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		if (n > 0)
			mnl_cb_run(buf, n, 0, mnl_socket_get_portid(nl), pfc_take, &pfc);
	}
	mnl_socket_close(nl);
	return pfc.known ? pfc.ieee.pfc_en : -1;
}
