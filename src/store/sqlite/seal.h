/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The seal of a row. It has the generation that wrote the row, and a sum over this generation, the
 * name of the actor, and the contents of the row. A row that is torn, has a flipped bit or belongs
 * to another actor does not match its seal.
 *
 * The sum is SipHash with a key of the store. It is computed part by part: the sum of the parts so
 * far is half of the key for the next part. A seal does not protect against people who can read the
 * store, because the store contains the key.
 */
#ifndef STORE_SQLITE_SEAL_H
#define STORE_SQLITE_SEAL_H

#include "store/store.h"

#include "base/hash.h"

/* epoch, counter and sum have 8 bytes each, in the byte order of this machine */
enum { SEAL_SIZE = 24 };

/**
 * The kinds of rows. The kind is part of the sum, so that the same bytes in another table do not
 * match.
 */
enum seal_kind {
    SEAL_STORE = 1,
    SEAL_ACTOR,
    SEAL_KV,
    SEAL_ALARM,
    SEAL_QUEUE,
    SEAL_EVENT,
    SEAL_SNAPSHOT,
    SEAL_PAGE,
    SEAL_SHAPE,
    SEAL_REQUEST,
};

/** A sum that is being computed. */
struct seal {
    struct hash_key key;
};

static inline void seal_bytes(struct seal *seal, tr_bytes bytes)
{
    seal->key.low = hash_bytes(seal->key, bytes.data, bytes.size) + bytes.size;
}

static inline void seal_number(struct seal *seal, uint64_t number)
{
    seal->key.low = hash_mix(seal->key.low ^ number) + seal->key.high;
}

static inline struct seal seal_begin(struct hash_key key, enum seal_kind kind, tr_bytes name,
                                     struct store_generation generation)
{
    struct seal seal = {key};
    seal_number(&seal, (uint64_t)kind);
    seal_bytes(&seal, name);
    seal_number(&seal, generation.epoch);
    seal_number(&seal, generation.counter);
    return seal;
}

static inline void seal_end(const struct seal *seal, struct store_generation generation,
                            unsigned char out[SEAL_SIZE])
{
    memcpy(out, &generation.epoch, 8);
    memcpy(out + 8, &generation.counter, 8);
    memcpy(out + 16, &seal->key.low, 8);
}

/** Reads the generation from a seal. Returns false if the bytes do not have the size of a seal. */
static inline bool seal_generation(tr_bytes bytes, struct store_generation *generation)
{
    if (bytes.size != SEAL_SIZE)
        return false;
    memcpy(&generation->epoch, bytes.data, 8);
    memcpy(&generation->counter, (const char *)bytes.data + 8, 8);
    return true;
}

/** Whether a seal contains the computed sum. */
static inline bool seal_fits(const struct seal *seal, tr_bytes bytes)
{
    return bytes.size == SEAL_SIZE && memcmp(&seal->key.low, (const char *)bytes.data + 16, 8) == 0;
}

/**
 * A bit of the column `version` of an actor, above the 32 bits of the version. It says that the actor is to be
 * destroyed. make.c has an index on this bit.
 */
#define SEAL_DOOMED (UINT64_C(1) << 32)

static inline uint64_t seal_version(uint32_t version, bool is_doomed)
{
    return version | (is_doomed ? SEAL_DOOMED : 0);
}

/* Returns the sum of a state. A state has a sum of its own. So when other columns of the row
 * change, the writer need not read the state. */
static inline uint64_t seal_state_sum(struct hash_key key, tr_bytes state)
{
    struct seal seal = {key};
    seal_bytes(&seal, state);
    return seal.key.low;
}

/* Continues the sum of an actor's row, which seal_begin has begun. */
static inline struct seal seal_actor_end(struct seal seal, uint64_t version, uint64_t sequence,
                                         bool has_state, uint64_t state_sum)
{
    seal_number(&seal, version);
    seal_number(&seal, sequence);
    seal_number(&seal, has_state);
    seal_number(&seal, state_sum);
    return seal;
}

static inline struct seal seal_actor(struct hash_key key, tr_bytes name,
                                     struct store_generation generation, uint64_t version,
                                     uint64_t sequence, bool has_state, uint64_t state_sum)
{
    struct seal seal = seal_begin(key, SEAL_ACTOR, name, generation);
    return seal_actor_end(seal, version, sequence, has_state, state_sum);
}

/**
 * Computes the sum of a row that is not an actor's. The row has a key, two numbers, which may be 0,
 * and a value.
 */
static inline struct seal seal_row(struct hash_key key, enum seal_kind kind, tr_bytes name,
                                   struct store_generation generation, tr_bytes row_key,
                                   uint64_t number, uint64_t other_number, tr_bytes value)
{
    struct seal seal = seal_begin(key, kind, name, generation);
    seal_bytes(&seal, row_key);
    seal_number(&seal, number);
    seal_number(&seal, other_number);
    seal_bytes(&seal, value);
    return seal;
}

#endif
