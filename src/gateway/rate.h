/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How often callers ask: a bucket of tokens for each name, which fills at its rate and holds a minute of it.
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
 * Counts a request of a caller, who may send `per_minute`; 0, or no caller: any number. Returns 0, or after how many
 * seconds the next one may come. Without memory for the table nothing is counted. In a turn.
 */
uint32_t tr__rate_count(struct tr_self *self, const char *caller, uint32_t per_minute);
/** Returns the name under which a caller is counted, for tr__rate_count_name. In a turn. */
uint64_t tr__rate_name(struct tr_self *self, const char *caller);
/** As tr__rate_count, for a result of tr__rate_name. In a turn. */
uint32_t tr__rate_count_name(struct tr_self *self, uint64_t name, uint32_t per_minute);

#endif
