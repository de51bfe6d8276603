/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The filters of a channel: those of its endpoint, and those that the program adds and removes
 * while the channel is open. Owner only.
 */
#ifndef NET_FILTERS_H
#define NET_FILTERS_H

#include "net/channel.h"

/**
 * Puts TLS and the filters of the endpoint on a channel, but not the filter of the PROXY header.
 * Fails with TR_NO_MEMORY, TR_INVALID_ARGUMENT.
 */
TR_MUST_CHECK tr_status tr__filters_attach(struct channel *channel);
/**
 * Returns the state of the library's filter that has this table of functions. Returns NULL if the channel has no such
 * filter.
 */
void *tr__filters_find(const struct channel *channel, const struct filter *table);
/**
 * Continues the handshake of a filter that was added to an open channel. Call if no turn reads from
 * the channel; a turn that reads continues the handshake itself. May end the channel.
 */
void tr__filters_shake(struct channel *channel);
/** Returns the error text of the filter that has failed, or NULL. */
const char *tr__filters_text(const struct channel *channel);

#endif
