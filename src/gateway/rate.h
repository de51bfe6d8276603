/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Limits how often callers may send requests. Each caller has a name, and each name has a bucket of
 * tokens. A request takes one token. The bucket fills at the rate that the name is allowed, and
 * holds the tokens of one minute.
 *
 * The table belongs to the system, and has a fixed size. If more names send requests at the same
 * time than the table has places, the table forgets the names that have sent no request for the
 * longest time. A forgotten name may send more requests than it is allowed. No name is ever limited
 * to fewer.
 */
#ifndef GATEWAY_RATE_H
#define GATEWAY_RATE_H

#include <stdint.h>

struct tr_self;

/**
 * Counts a request of a caller, which may send `per_minute` requests in a minute. There is no limit
 * if `per_minute` is 0 or `caller` is NULL. Returns 0 if the request is allowed, otherwise the
 * seconds until the next one is. If there is no memory for the table, counts nothing. In a turn.
 */
uint32_t tr__rate_count(struct tr_self *self, const char *caller, uint32_t per_minute);
/** Returns the number that stands for the name of a caller, for tr__rate_count_name. In a turn. */
uint64_t tr__rate_name(struct tr_self *self, const char *caller);
/** Does what tr__rate_count does, for a number that tr__rate_name has returned. In a turn. */
uint32_t tr__rate_count_name(struct tr_self *self, uint64_t name, uint32_t per_minute);

#endif
