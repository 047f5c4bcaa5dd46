// SPDX-License-Identifier: GPL-2.0
/*
 * OPENs and RESUMEs of the peer, until they are answered.  peer/serve.c serves them.
 *
 * link->tx_lock guards link.opens_free and .rejects, link->requests_lock guards .requests.
 * Each request that is not in .opens_free holds a user of its link.
 */
#include "frames.h"

/**
 * sanx_request_put() - a request is answered, or never will be
 * @o: the request; free for the next one afterwards.  The caller keeps its link
 *	by other means
 *
 * Drops the request's user of the link.
 *
 * Context: any, tx_lock held.
 */
void sanx_request_put(struct sanx_request *o)
{
	struct sanx_link *link = o->link;

	lockdep_assert_held(&link->tx_lock);
	list_move(&o->node, &link->opens_free);
	sanx_link_user_put(link);
}

/**
 * sanx_request_queue() - have a request served, or one that had to wait served again
 * @o: the request, not answered; sanx_request_work() owns it afterwards
 *
 * Context: any.
 */
void sanx_request_queue(struct sanx_request *o)
{
	struct sanx_link *link = o->link;

	spin_lock_bh(&link->requests_lock);
	list_add_tail(&o->node, &link->requests);
	/*
	 * Under the lock: once the request is seen in the list, it may be dropped, and
	 * the link freed with its last user.
	 */
	queue_delayed_work(sanx_accept_wq, &link->serve, 0);
	spin_unlock_bh(&link->requests_lock);
}

/**
 * sanx_request_hurry() - have all requests of a link dropped now
 * @link: a dying link
 *
 * They may wait for their turn (sanx_bounds_request()).
 *
 * Context: any.
 */
void sanx_request_hurry(struct sanx_link *link)
{
	mod_delayed_work(sanx_accept_wq, &link->serve, 0);
}
