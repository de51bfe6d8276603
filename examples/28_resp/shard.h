/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What sessions need to know of a shard: it has a part of the keys, and nobody else touches them.
 */
#ifndef EXAMPLES_SHARD_H
#define EXAMPLES_SHARD_H

#include <troupe/troupe.h>

enum condition { ALWAYS, IF_MISSING, IF_THERE };
enum outcome { DONE, NOT_DONE, NOT_A_NUMBER, OVERFLOWS, NO_SPACE };
enum { TTL_NONE = -1, TTL_NO_KEY = -2 };

TR_MESSAGE(found, (bool, is_there), (bytes, value));
TR_MESSAGE(done, (enum_of(outcome), outcome), (i64, number));

/* Of one key. They go through the router, which knows the shard of each key. */
TR_REQUEST(get, found, (bytes, key));
TR_REQUEST(set, done, (bytes, key), (bytes, value), (enum_of(condition), condition),
           (i64, lifetime_ns));         /* 0: forever */
TR_REQUEST(del, done, (bytes, key));    /* number: how many were there, 0 or 1 */
TR_REQUEST(exists, done, (bytes, key)); /* number: 0 or 1 */
TR_REQUEST(add, done, (bytes, key), (i64, amount));
TR_REQUEST(expire, done, (bytes, key), (i64, lifetime_ns)); /* number: 0 or 1 */
TR_REQUEST(ttl, done, (bytes, key)); /* number: ns that are left, or TTL_NONE, TTL_NO_KEY */

/* Of all keys of a shard. They are sent to each one. */
TR_REQUEST(count_keys, done);
TR_REQUEST(clear, done);
/* Keys in the order of their hashes, at least `count` of those from `from` on before the pattern is applied. */
TR_MESSAGE(page, (list(bytes), keys), (u32, next), (bool, is_last));
TR_REQUEST(scan, page, (u32, from), (u32, count), (bytes, pattern));

TR_ACTOR(shard, get, set, del, exists, add, expire, ttl, count_keys, clear, scan);
TR_ROUTES(shard, TR_ROUTE_BY(get, key), TR_ROUTE_BY(set, key), TR_ROUTE_BY(del, key),
          TR_ROUTE_BY(exists, key), TR_ROUTE_BY(add, key), TR_ROUTE_BY(expire, key),
          TR_ROUTE_BY(ttl, key));

#endif
