/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What sessions need to know of a shard: it has a part of the keys, and nobody else touches them. A session asks it for many
 * things at once.
 */
#ifndef EXAMPLES_SHARD_H
#define EXAMPLES_SHARD_H

#include <troupe/troupe.h>

enum verb {
    GET,
    SET,
    SET_MISSING, /* only if the key is not there */
    SET_THERE,   /* only if it is */
    DEL,         /* the number of the result: how many were there, 0 or 1 */
    EXISTS,      /* 0 or 1 */
    ADD,         /* the sum */
    EXPIRE,      /* 0 or 1 */
    TTL,         /* ns that are left, or TTL_NONE, TTL_NO_KEY */
    COUNT,       /* of all keys */
    CLEAR,       /* deletes all keys */
    VERBS
};
enum { TTL_NONE = -1, TTL_NO_KEY = -2 };
enum outcome {
    DONE,
    NOT_DONE, /* a condition did not hold, or nothing was found */
    NOT_A_NUMBER,
    OVERFLOWS,
    NO_SPACE,
    LATER,  /* the answer is large without it: it must be asked for again */
    NOBODY, /* a session says so: the shard did not answer. The number is the tr_status */
};

/* The number is what is added, or for how many ns a key lives; 0: forever. The shard of a key is in the hash. */
TR_MESSAGE(job, (enum_of(verb), verb), (bytes, key), (bytes, value), (i64, number), (u64, hash));
TR_MESSAGE(result, (enum_of(outcome), outcome), (bytes, value), (i64, number));
/* The results are in the order of the jobs. */
TR_MESSAGE(done, (list(message(result)), results));
TR_REQUEST(work, done, (list(message(job)), jobs));

/* Keys in the order of their hashes, at least `count` of those from `from` on before the pattern is applied. */
TR_MESSAGE(page, (list(bytes), keys), (u32, next), (bool, is_last));
TR_REQUEST(scan, page, (u32, from), (u32, count), (bytes, pattern));

TR_ACTOR(shard, work, scan);

/** The hash of a key. Its upper bits order the keys of a shard. */
uint64_t hash_of(tr_bytes key, uint64_t seed);

/** Which of so many shards has the keys with this hash. */
static inline size_t shard_of(uint64_t hash, size_t count)
{
    return (size_t)((hash & UINT32_MAX) * count >> 32);
}

#endif
