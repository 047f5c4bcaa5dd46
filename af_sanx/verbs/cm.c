// SPDX-License-Identifier: GPL-2.0
/*
 * The connection manager's part: how a link comes to be, and who may have one.
 *
 * Request and reply carry a &struct sanx_hello.  It names both nodes, and both
 * sides hold it against the node map: who asks must ask for us, be in the map,
 * and come from an address that is a rail of that node.
 *
 * The active side speaks first, as iWARP requires, and the passive side takes
 * its first frame for the sign that the link is up: that comes after the last
 * message of the connection manager, and cannot get lost.
 */
#include <linux/in.h>
#include <linux/sched/mm.h>
#include <net/ipv6.h>
#include <rdma/ib_cm.h>

#include "verbs.h"

/* Private data of a rejection that only asks to wait for our own request. */
#define REJECT_TIE	0x534e5854	/* "SNXT" */
/* Of one that says nothing of who may have a link: there was no memory, say. */
#define REJECT_LATER	0x534e584c	/* "SNXL" */
/* Of one that does: not in the node map, say. */
#define REJECT_NEVER	0x534e584e	/* "SNXN" */

/*
 * A packet may stay unacknowledged for 4.096 us * 2^18 = 1 s, and is sent 7
 * times.  The largest number of retries, 7, means for ever to some devices.
 */
#define ACK_TIMEOUT	18
#define RETRIES		6
#define RNR_RETRIES	7	/* for ever; but see link_credit.h */

static int cm_link_event(struct rdma_cm_id *id, struct rdma_cm_event *ev);

static void addr_to_sockaddr(struct sockaddr_storage *ss,
			     const struct in6_addr *addr, u16 port)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *sin = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	if (ipv6_addr_v4mapped(addr)) {
		sin->sin_family = AF_INET;
		sin->sin_port = htons(port);
		sin->sin_addr.s_addr = addr->s6_addr32[3];
	} else {
		sin6->sin6_family = AF_INET6;
		sin6->sin6_port = htons(port);
		sin6->sin6_addr = *addr;
	}
}

static void sockaddr_to_addr(struct in6_addr *addr,
			     const struct sockaddr_storage *ss)
{
	if (ss->ss_family == AF_INET)
		ipv6_addr_set_v4mapped(((const struct sockaddr_in *)ss)
				       ->sin_addr.s_addr, addr);
	else
		*addr = ((const struct sockaddr_in6 *)ss)->sin6_addr;
}

static void cm_set_addrs(struct vlink *link, const struct rdma_cm_id *id)
{
	mutex_lock(&link->group->vnet->lock);
	sockaddr_to_addr(&link->local, &id->route.addr.src_addr);
	sockaddr_to_addr(&link->remote, &id->route.addr.dst_addr);
	mutex_unlock(&link->group->vnet->lock);
}

static void hello_fill(struct sanx_hello *hello, const struct vlink *link)
{
	struct sanx_hello_info info = {
		.from		= link->self,
		.to		= link->group->peer,
		.recvs		= VLINK_RECVS,
		.inline_max	= SANX_INLINE_MAX,
		.lane		= link->group->lane,
		.instance	= link->group->vnet->instance,
	};

	sanx_hello_build(hello, &info);
}

/* What the peer said becomes ours before any frame passes. */
static void hello_take(struct vlink *link, const struct sanx_hello_info *info)
{
	spin_lock_bh(&link->tx_lock);
	link_credit_init_tx(&link->credit, info->recvs);
	link->inline_max = info->inline_max;
	link->instance = info->instance;
	spin_unlock_bh(&link->tx_lock);
}

static void param_fill(struct rdma_conn_param *param,
		       const struct sanx_hello *hello)
{
	*param = (struct rdma_conn_param){
		.private_data		= hello,
		.private_data_len	= sizeof(*hello),
		.responder_resources	= 1,
		.initiator_depth	= 1,
		.retry_count		= RETRIES,
		.rnr_retry_count	= RNR_RETRIES,
	};
}

/* Gets a link what it needs, and what it has to say; @param points to @hello. */
static int cm_prepare(struct vlink *link, struct rdma_conn_param *param,
		      struct sanx_hello *hello)
{
	int err = vlink_setup(link);

	if (err)
		return err;
	hello_fill(hello, link);
	param_fill(param, hello);
	link->live = true;
	return 0;
}

static int cm_connect(struct vlink *link)
{
	struct rdma_conn_param param;
	struct sanx_hello hello;

	return cm_prepare(link, &param, &hello) ?:
	       rdma_connect_locked(link->id, &param);
}

static int cm_established(struct vlink *link, const struct rdma_conn_param *p)
{
	struct sanx_hello_info info;
	int err;

	if (!link->active)
		return 0;
	err = sanx_hello_parse(&info, p->private_data, p->private_data_len);
	if (err)
		return err;
	if (info.from != link->group->peer || info.to != link->self ||
	    info.lane != link->group->lane)
		return -EPROTO;
	hello_take(link, &info);
	vlink_came_up(link);
	return 0;
}

/* What the peer said with a rejection, or 0. */
static u32 cm_reject_word(const struct rdma_conn_param *p)
{
	__le32 why;

	if (!p->private_data || p->private_data_len < sizeof(why))
		return 0;
	memcpy(&why, p->private_data, sizeof(why));
	return le32_to_cpu(why);
}

/*
 * A rejection without a word of ours is the connection manager's.  It may be for ever,
 * as the peer has no AF_SANX now; or for a moment, in which the peer's device is new,
 * and nobody listens there yet.
 */
static void cm_rejected(struct vlink *link, struct rdma_cm_event *ev)
{
	u32 why = cm_reject_word(&ev->param.conn);
	struct vgroup *g = link->group;

	mutex_lock(&g->vnet->lock);
	/* A tie: the peer's request is on its way, ours is to be forgotten. */
	if (why == REJECT_TIE)
		link->tied = true;
	else if (why != REJECT_LATER)
		vorphan_refused(g, why == REJECT_NEVER);
	mutex_unlock(&g->vnet->lock);
	vlink_kill(link, ECONNREFUSED);
}

static int cm_step(struct vlink *link, struct rdma_cm_event *ev)
{
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return rdma_resolve_route(link->id, link_timeout_ms);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		cm_set_addrs(link, link->id);
		return cm_connect(link);
	case RDMA_CM_EVENT_ESTABLISHED:
		return cm_established(link, &ev->param.conn);
	case RDMA_CM_EVENT_REJECTED:
		cm_rejected(link, ev);
		return 0;
	case RDMA_CM_EVENT_DISCONNECTED:
		/* Whether it was meant the peer says when asked to go on. */
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* There may be another rail, or this one again soon. */
	default:
		return -ETIMEDOUT;
	}
}

/*
 * Context: process, the handler mutex of @id held.  The id is destroyed by
 * link_end() alone, so this returns 0 always.
 */
static int cm_link_event(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct vlink *link = id->context;
	unsigned int noio;
	int err;

	pr_debug("link to node %u: %s (%d)\n", link->group->peer,
		 rdma_event_msg(ev->event), ev->status);
	if (READ_ONCE(link->state) >= VLINK_DYING)
		return 0;
	noio = memalloc_noio_save();
	err = cm_step(link, ev);
	memalloc_noio_restore(noio);
	if (err == -EPROTO)
		sanx_count_protocol_error(link->group->vnet->net);
	if (err)
		vlink_kill(link, err == -ETIMEDOUT ? ETIMEDOUT : ECONNRESET);
	return 0;
}

/* Our rail for the peer's: that of the same number, or one of its family. */
static bool cm_source(const struct vlink *link, const struct in6_addr *dst,
		      struct in6_addr *src)
{
	bool v4 = ipv6_addr_v4mapped(dst);
	struct sanx_node_info self;
	unsigned int i, n;

	if (!sanx_node_by_id(link->group->vnet->net, link->self, &self))
		return false;
	for (i = 0; i < self.n_rails; i++) {
		n = (link->rail + i) % self.n_rails;
		if (!!ipv6_addr_v4mapped(&self.rail[n]) == v4) {
			*src = self.rail[n];
			return true;
		}
	}
	return false;
}

static int cm_resolve(struct vlink *link)
{
	struct sockaddr_storage src, dst;
	struct sanx_node_info info;
	struct in6_addr from;

	if (!sanx_node_by_id(link->group->vnet->net, link->group->peer, &info) ||
	    link->rail >= info.n_rails)
		return -ENOENT;
	addr_to_sockaddr(&dst, &info.rail[link->rail], service_port);
	if (!cm_source(link, &info.rail[link->rail], &from))
		return -EADDRNOTAVAIL;
	addr_to_sockaddr(&src, &from, 0);
	/* Not every device has a say in this. */
	rdma_set_ack_timeout(link->id, ACK_TIMEOUT);
	/* Half its time: should news of a neighbour get lost, it looks then. */
	return rdma_resolve_addr(link->id, (struct sockaddr *)&src,
				 (struct sockaddr *)&dst,
				 link_timeout_ms / info.n_rails / 2);
}

/**
 * vcm_start() - begin an active link
 * @work: of a &struct vlink
 *
 * Context: process, may sleep.
 */
void vcm_start(struct work_struct *work)
{
	struct vlink *link = container_of(work, struct vlink, start);
	unsigned int noio = memalloc_noio_save();
	struct rdma_cm_id *id;
	int err;

	id = rdma_create_id(link->group->vnet->net, cm_link_event, link,
			    RDMA_PS_TCP, IB_QPT_RC);
	err = PTR_ERR_OR_ZERO(id);
	if (!err) {
		link->id = id;
		err = cm_resolve(link);
	}
	if (err)
		vlink_kill(link, ETIMEDOUT);
	memalloc_noio_restore(noio);
}

/*
 * RoCE: the address that the peer claims is in a message, the one that it has
 * is in the path.
 */
static bool cm_gid_ok(const struct rdma_cm_id *id)
{
	union ib_gid gid;

	if (!rdma_protocol_roce(id->device, id->port_num) || !id->route.path_rec)
		return true;
	rdma_ip2gid((struct sockaddr *)&id->route.addr.dst_addr, &gid);
	return !memcmp(&gid, &id->route.path_rec->dgid, sizeof(gid));
}

static bool cm_peer_ok(struct vnet *vnet, const struct sanx_hello_info *hello,
		       const struct rdma_cm_id *id)
{
	struct in6_addr addr;

	sockaddr_to_addr(&addr, &id->route.addr.dst_addr);
	return hello->to == sanx_node_self(vnet->net) &&
	       sanx_node_has_rail(vnet->net, hello->from, &addr) &&
	       cm_gid_ok(id);
}

static int cm_accept(struct vlink *link, const struct sanx_hello_info *info)
{
	struct rdma_conn_param param;
	struct sanx_hello hello;

	hello_take(link, info);
	return cm_prepare(link, &param, &hello) ?:
	       rdma_accept(link->id, &param);
}

static int cm_reject(struct rdma_cm_id *id, u32 why)
{
	__le32 data = cpu_to_le32(why);

	rdma_reject(id, &data, sizeof(data), IB_CM_REJ_CONSUMER_DEFINED);
	return -ECONNREFUSED;
}

static u32 cm_refusal(int err)
{
	switch (err) {
	case -EALREADY:
		return REJECT_TIE;
	case -ENOMEM:
		return REJECT_LATER;
	default:
		return REJECT_NEVER;
	}
}

/*
 * Return: 0, and the id is a link's; or else the connection manager destroys
 * it, and nothing of ours hangs on it.
 */
static int cm_request(struct vnet *vnet, struct rdma_cm_id *id,
		      const struct rdma_conn_param *p)
{
	struct sanx_hello_info info;
	struct vlink *link;

	if (sanx_hello_parse(&info, p->private_data, p->private_data_len) ||
	    !cm_peer_ok(vnet, &info, id)) {
		pr_debug("refused a link: not in the node map\n");
		return cm_reject(id, REJECT_NEVER);
	}
	link = vgroup_accept(vnet, info.from, info.lane, id);
	if (IS_ERR(link))
		return cm_reject(id, cm_refusal(PTR_ERR(link)));
	id->context = link;
	id->event_handler = cm_link_event;
	cm_set_addrs(link, id);
	if (cm_accept(link, &info)) {
		cm_reject(id, REJECT_LATER);
		vlink_kill(link, ECONNRESET);
	}
	vlink_put(link);
	return 0;
}

static int cm_listen_event(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	unsigned int noio;
	int err;

	/* A listener's own events (of devices) are the listening layer's. */
	if (ev->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	noio = memalloc_noio_save();
	err = cm_request(id->context, id, &ev->param.conn);
	memalloc_noio_restore(noio);
	return err;
}

static struct rdma_cm_id *cm_listen(struct vnet *vnet, int family)
{
	struct sockaddr_storage any = { .ss_family = family };
	struct rdma_cm_id *id;
	int err;

	id = rdma_create_id(vnet->net, cm_listen_event, vnet, RDMA_PS_TCP,
			    IB_QPT_RC);
	if (IS_ERR(id))
		return id;
	if (family == AF_INET)
		((struct sockaddr_in *)&any)->sin_port = htons(service_port);
	else
		((struct sockaddr_in6 *)&any)->sin6_port = htons(service_port);
	err = rdma_set_afonly(id, 1);
	if (!err)
		err = rdma_bind_addr(id, (struct sockaddr *)&any);
	if (!err)
		err = rdma_listen(id, 64);
	if (!err)
		return id;
	rdma_destroy_id(id);
	return ERR_PTR(err);
}

/**
 * vcm_listen() - take links from other nodes, on all devices that come and go
 * @vnet: the namespace; may listen already
 *
 * One listener an address family: iWARP devices cannot tell an IPv4 peer of a
 * listener for both.
 *
 * Context: process, may sleep; vnet.ctl held.
 * Return: 0, or -errno if there is not even one.
 */
int vcm_listen(struct vnet *vnet)
{
	static const int family[] = { AF_INET, AF_INET6 };
	struct rdma_cm_id *id;
	int err = 0;
	unsigned int i;

	lockdep_assert_held(&vnet->ctl);
	for (i = 0; i < ARRAY_SIZE(family); i++) {
		if (vnet->listen[i] ||
		    (family[i] == AF_INET6 && !ipv6_mod_enabled()))
			continue;
		id = cm_listen(vnet, family[i]);
		if (IS_ERR(id))
			err = PTR_ERR(id);
		else
			vnet->listen[i] = id;
	}
	return vnet->listen[0] || vnet->listen[1] ? 0 : err;
}

/**
 * vcm_unlisten() - take no more links
 * @vnet: the namespace; may not be listening
 *
 * On return no request is being handled.
 *
 * Context: process, may sleep; vnet.ctl held.
 */
void vcm_unlisten(struct vnet *vnet)
{
	unsigned int i;

	lockdep_assert_held(&vnet->ctl);
	for (i = 0; i < ARRAY_SIZE(vnet->listen); i++) {
		if (vnet->listen[i])
			rdma_destroy_id(vnet->listen[i]);
		vnet->listen[i] = NULL;
	}
}
