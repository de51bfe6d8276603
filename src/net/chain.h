/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Makes several filters of a channel work as one filter. Input passes the filters from the socket
 * to the framing. Output passes them in the opposite order. "Below" means nearer to the socket.
 *
 * Rules
 *     1. A filter begins when all filters below it are open.
 *     2. What a filter makes for the other side passes the filters below it.
 *     3. One call passes at most CHAIN_HELD more bytes to the framing. So a filter that expands a
 *        small input does not fill the memory before the actor reads. The function has_more of the
 *        chain says whether more bytes wait.
 *     4. When a filter has ended in order, the filters above it still get the bytes that it has
 *        passed before. After those bytes the chain has ended. Owner only.
 */
#ifndef NET_CHAIN_H
#define NET_CHAIN_H

#include <troupe/limits.h>

#include "net/filter.h"

enum { CHAIN_HELD = TR_FILTER_HELD_MAX };

struct chain;

extern const struct filter tr__chain_filter;

/**
 * Makes a chain without filters. Returns NULL if there is no memory. The source must outlive the
 * chain.
 */
TR_MUST_CHECK struct chain *tr__chain_new(const struct memory_source *source);
/**
 * Adds a filter next to the framing. The filter has not started. If there are too many filters,
 * returns TR_LIMIT, and the caller still owns the state.
 */
TR_MUST_CHECK tr_status tr__chain_add(struct chain *chain, const struct filter *table, void *state);
/**
 * Makes a filter that is open already the only filter of a chain. The chain must have no filters.
 */
void tr__chain_adopt(struct chain *chain, const struct filter *table, void *state);
/**
 * Gives bytes to the filter next to the framing. The bytes must have passed all filters below that
 * one. Fails with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__chain_feed(struct chain *chain, tr_bytes bytes);
/** Notes that no more bytes come from the socket. */
void tr__chain_end(struct chain *chain);
/** Returns how many filters of the chain have this table of functions. */
uint32_t tr__chain_count(const struct chain *chain, const struct filter *table);
/**
 * Finds a filter with this table of functions whose state fits: is_it(state, what) returns true. If
 * several fit, finds the one nearest to the framing. Returns its state and sets *place to its place
 * in the chain. Returns NULL if there is no such filter.
 */
void *tr__chain_find(const struct chain *chain, const struct filter *table,
                     bool (*is_it)(const void *state, const void *what), const void *what,
                     uint32_t *place);
/**
 * Removes the filter at this place. The bytes that this filter has not taken go to the filter above
 * it; if there is none, to `in`. The bytes that end its output go to `out`. If a filter returns an
 * error, returns that error and removes nothing.
 */
TR_MUST_CHECK tr_status tr__chain_remove(struct chain *chain, uint32_t place, struct net_buffer *in,
                                         struct net_buffer *out);

#endif
