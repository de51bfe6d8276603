/* SPDX-License-Identifier: Apache-2.0 */
/** The filters of a channel: those of its endpoint, and those that are added and removed while it is open. Owner only. */
#ifndef NET_FILTERS_H
#define NET_FILTERS_H

#include "net/channel.h"

/** Puts TLS and the filters of the endpoint on a channel; the PROXY header is not among them. TR_NO_MEMORY, TR_INVALID_ARGUMENT. */
TR_MUST_CHECK tr_status tr__filters_attach(struct channel *channel);
/** Returns the state of the filter with this table, of the library's own; NULL: the channel has none. */
void *tr__filters_find(const struct channel *channel, const struct filter *table);
/** Continues a handshake that began when the channel was open, while nobody reads. May end the channel. */
void tr__filters_shake(struct channel *channel);
/** Returns what a filter says was wrong, or NULL. */
const char *tr__filters_text(const struct channel *channel);

#endif
