/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Limits how often callers may ask. Each name has a bucket of tokens, which fills at the rate of
 * the name and holds the tokens of one minute.
 *
 * The table belongs to the system, and has a fixed size. If more names ask at the same time than it
 * has places, the names that have asked least recently are forgotten. A forgotten name may ask more
 * often than it should; no name may ask less often.
 */
#ifndef GATEWAY_RATE_H
#define GATEWAY_RATE_H

#include <stdint.h>

struct tr_self;

/**
 * Counts a request of a caller, who may send `per_minute` requests. There is no limit if that is 0
 * or `caller` is NULL. Returns 0, or the seconds until the next request is allowed. If there is no
 * memory for the table, counts nothing. In a turn.
 */
uint32_t tr__rate_count(struct tr_self *self, const char *caller, uint32_t per_minute);
/** Returns the name under which a caller is counted, for tr__rate_count_name. In a turn. */
uint64_t tr__rate_name(struct tr_self *self, const char *caller);
/** As tr__rate_count, for a result of tr__rate_name. In a turn. */
uint32_t tr__rate_count_name(struct tr_self *self, uint64_t name, uint32_t per_minute);

#endif
