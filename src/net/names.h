/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Names of other machines: helper threads look them up. Channels that ask for the same name at the
 * same time share a look-up. A channel stops waiting when its time for opening is over. See
 * actor/turn/shared_job.h.
 */
#ifndef NET_NAMES_H
#define NET_NAMES_H

#include "net/channel.h"

/** The addresses of a name, in the order in which they are tried. */
struct name_addresses {
    tr_status status;
    size_t count;
    tr_address list[TR_ADDRESSES_MAX];
};

/**
 * Looks up the host of a channel that is being opened, and waits for the result. TR_OK: there is at
 * least one address. Fails with the statuses of the platform's `resolve`, TR_NO_MEMORY, TR_LIMIT
 * and TR_CANCELLED, or, if the channel ends during the wait, with its status. After a failure the
 * channel may be freed. Owner only.
 */
TR_MUST_CHECK tr_status tr__names_look_up(struct tr_self *self, struct channel *channel,
                                          const char *host, uint16_t port,
                                          struct name_addresses *addresses);

/**
 * Puts addresses in the order of RFC 8305: the families take turns, beginning with the family of
 * the first address; addresses of the same family stay in their order. So if one family does not
 * work, the second attempt already uses the other family. Any thread.
 */
void tr__names_interleave(tr_address *addresses, size_t count);

#endif
