/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Several filters of a channel as one: input passes them from the socket to the framing, output the
 * other way.
 *
 * Rules
 *     1. A filter begins when all filters below it, which are nearer to the socket, are open.
 *     2. What a filter makes for the other side passes the filters below it.
 *     3. One call passes at most CHAIN_HELD more bytes to the framing. So a filter that expands a
 *        small input does not fill the memory before the actor reads. has_more returns whether more
 *        bytes wait.
 *     4. When a filter has ended in order, the filters above it still get the bytes from before its
 *        end. Then the chain has ended. Owner only.
 */
#ifndef NET_CHAIN_H
#define NET_CHAIN_H

#include <troupe/limits.h>

#include "net/filter.h"

enum { CHAIN_HELD = TR_FILTER_HELD_MAX };

struct chain;

extern const struct filter tr__chain_filter;

/** Makes a chain without filters. NULL: out of memory. The source must outlive it. */
TR_MUST_CHECK struct chain *tr__chain_new(const struct memory_source *source);
/**
 * Adds a filter next to the framing. The filter has not started. If there are too many filters,
 * returns TR_LIMIT, and the caller still owns the state.
 */
TR_MUST_CHECK tr_status tr__chain_add(struct chain *chain, const struct filter *table, void *state);
/** Puts a filter that is already open into a chain without filters. */
void tr__chain_adopt(struct chain *chain, const struct filter *table, void *state);
/**
 * Gives bytes to the filter next to the framing. The filters below it must have passed them. Fails
 * with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__chain_feed(struct chain *chain, tr_bytes bytes);
/** Notes that no more bytes come from the socket. */
void tr__chain_end(struct chain *chain);
/** Returns the number of filters with this table. */
uint32_t tr__chain_count(const struct chain *chain, const struct filter *table);
/**
 * Of the filters with this table, finds the one nearest to the framing. Returns its state and sets
 * *place; NULL: there is none.
 */
void *tr__chain_find(const struct chain *chain, const struct filter *table,
                     bool (*is_it)(const void *state, const void *what), const void *what,
                     uint32_t *place);
/**
 * Removes the filter at this place. The bytes that it has not taken go to the next filter, or to
 * `in`. The bytes that end its output go to `out`. On an error, which is a status of a filter, the
 * filter is not removed.
 */
TR_MUST_CHECK tr_status tr__chain_remove(struct chain *chain, uint32_t place, struct net_buffer *in,
                                         struct net_buffer *out);

#endif
