/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Makes a filter of the program (troupe/filter.h) usable as a struct filter of the library. Makes
 * the sinks to which the functions of such a filter write. Owner only.
 */
#ifndef NET_USER_FILTER_H
#define NET_USER_FILTER_H

#include <troupe/filter.h>

#include "net/filter.h"

struct user_filter;

extern const struct filter tr__user_filter;

/** Whether a filter of the program has all functions that it needs. */
bool tr__user_filter_is_valid(const tr_filter *table);
/**
 * Makes the state of a channel. Returns NULL if there is no memory. The source must outlive the
 * state.
 */
TR_MUST_CHECK struct user_filter *tr__user_filter_new(const struct memory_source *source,
                                                      const tr_filter *table);
/** Whether a state was made for this filter of the program. For tr__chain_find. */
bool tr__user_filter_is_of(const void *state, const void *table);

#endif
