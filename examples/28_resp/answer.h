/* SPDX-License-Identifier: Apache-2.0 */
/** How commands are answered, when their asks have outcomes: the functions of plans. */
#ifndef EXAMPLES_ANSWER_H
#define EXAMPLES_ANSWER_H

#include "session.h"

enum { KEYS_PAGE = 1000 }; /* keys that a shard is asked for at once */

#define NOT_AN_INTEGER "-ERR value is not an integer or out of range\r\n"

/** plan->text as it is. */
void answer_text(struct batch *batch, const struct plan *plan);
/** plan->text as a value. */
void answer_bulk(struct batch *batch, const struct plan *plan);
/** The value that a `get` has found. */
void answer_found(struct batch *batch, const struct plan *plan);
/** The values that each `get` has found. */
void answer_all_found(struct batch *batch, const struct plan *plan);
/** OK, if all were done. */
void answer_done(struct batch *batch, const struct plan *plan);
/** The sum of the numbers in the replies. */
void answer_sum(struct batch *batch, const struct plan *plan);
/** What is left of a lifetime; plan->number is the unit, in ns. */
void answer_ttl(struct batch *batch, const struct plan *plan);
/** What the server says of itself; the replies count keys. */
void answer_info(struct batch *batch, const struct plan *plan);
/** All keys that match plan->text. It has no asks, and asks itself. */
void answer_keys(struct batch *batch, const struct plan *plan);
/** Some keys and a cursor, of the shard with the number plan->number. */
void answer_scan(struct batch *batch, const struct plan *plan);

/** Returns how many shards there are; their refs, up to TR_WORKERS_MAX, if they are wanted. */
size_t shards_of(struct batch *batch, shard_ref *shards);

#endif
