/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The keyed timers of one actor: a hash table that leads from a key to an entry. An entry contains
 * a node of the wheel.
 *
 * Keys may come from outside, so the hash is keyed with a secret. An actor with one timer has no
 * table and computes no hash. Finding the timer that was obtained last computes no hash either.
 * Entries and tables come from the pool of the worker. So an actor that arms and cancels timers all
 * the time takes no more memory from the source. The pool returns unused memory to the source.
 *
 * There are no locks: only the worker of the actor may use the table. All calls for one table pass
 * the same pool. The table does not arm or cancel nodes: a caller must cancel the node of an entry
 * before it removes the entry.
 */
#ifndef TIMER_KEYS_H
#define TIMER_KEYS_H

#include "base/hash.h"
#include "mem/block.h"
#include "timer/loose.h"

enum {
    TIMER_KEY_SHORT = 63, /* the longest key with which an entry fits into two cache lines */
};

/** A timer with a key. The key follows the struct in memory. */
struct keyed_timer {
    struct timer_entry entry;
    /* The caller fills this in, except `mark`, which is the hash while the timer is in a table. */
    struct timer_context context;
    char key[]; /* the key, with a NUL at its end that its length does not count */
};

/** The memory of the timers of one worker. */
struct timer_pool {
    struct block_pool blocks; /* for timers with a key, and for tables */
    struct hash_key key;      /* secret key of the hash; the same in all pools of a system */
    struct loose_pool loose;  /* for timers without a key */
};

struct keys_slot {
    struct timer_entry *entry;
    uint32_t hash;
};

/**
 * The timers of an actor by key. All zero is an empty table without memory. It may be moved by
 * assignment.
 */
struct timer_keys {
    union {
        struct timer_entry *one; /* while `bits` is 0: the only entry, or NULL */
        struct keys_slot *slots; /* the table, which is at most three quarters full */
    };
    struct timer_entry *last; /* the entry that was obtained last; NULL if it was removed */
    uint32_t count;
    uint8_t bits; /* There are 2^bits slots. */
    uint8_t block_class;
};

/** The position of a walk; see tr__keys_walk. */
struct keys_walk {
    struct timer_entry *given;
    uint32_t at;
    uint32_t left;
};

/** Makes a pool without memory. Copies `source`. */
void tr__timer_pool_init(struct timer_pool *pool, const struct memory_source *source,
                         struct hash_key key);
/** Returns all memory to the source. Every table and list must be empty. */
void tr__timer_pool_deinit(struct timer_pool *pool);
/** Returns unused memory to the source. Called before the worker sleeps. */
void tr__timer_pool_trim(struct timer_pool *pool);

/** Returns the bytes taken from the source and not given back. */
static inline size_t tr__timer_pool_bytes(const struct timer_pool *pool)
{
    return tr__block_bytes(&pool->blocks) + tr__loose_bytes(&pool->loose);
}

/** Returns the keyed timer that contains an entry. */
static inline struct keyed_timer *keyed_of(struct timer_entry *entry)
{
    return LIST_OWNER(entry, struct keyed_timer, entry);
}

/** Returns the context of a timer of this worker, with a key or without. */
static inline const struct timer_context *timer_context(const struct timer_pool *pool,
                                                        const struct timer_entry *entry)
{
    return timer_has(entry, TIMER_KEYED) ? &((const struct keyed_timer *)entry)->context
                                         : loose_context(&pool->loose, entry);
}

/**
 * Returns the entry of a key; NULL if there is none. The key has `length` bytes, at most
 * TR_TIMER_KEY_MAX.
 */
struct timer_entry *tr__keys_find(const struct timer_keys *keys, const struct timer_pool *pool,
                                  const char *key, size_t length);

/**
 * Returns the entry of a key, and makes it if there is none. The entry is borrowed until it is
 * removed.
 *
 * The key is copied. An entry that exists already is unchanged, and its node may be armed. The
 * context of a new entry is zero. Returns NULL when out of memory; then nothing has changed and
 * `is_new` is not written.
 */
struct timer_entry *tr__keys_obtain(struct timer_keys *keys, struct timer_pool *pool,
                                    const char *key, size_t length, bool *is_new);

/** Removes and frees an entry of this table whose node is not armed. Never fails. */
void tr__keys_remove(struct timer_keys *keys, struct timer_pool *pool, struct timer_entry *entry);

/**
 * Begins a walk over all entries, in no particular order:
 *
 *     struct keys_walk walk = tr__keys_walk(&keys);
 *     for (struct timer_entry *entry; (entry = tr__keys_walk_next(&keys, &pool, &walk));)
 *
 * During a walk nothing may be added, and entries may be removed only by tr__keys_walk_remove. A
 * walk may be ended early; then the table shrinks with the next removal.
 */
struct keys_walk tr__keys_walk(const struct timer_keys *keys);

/**
 * Returns the next entry. Returns NULL when the walk is over; then the table has shrunk to the size
 * that its entries need.
 */
struct timer_entry *tr__keys_walk_next(struct timer_keys *keys, struct timer_pool *pool,
                                       struct keys_walk *walk);

/**
 * Removes and frees the entry that the walk returned last. The node of the entry must not be armed.
 */
void tr__keys_walk_remove(struct timer_keys *keys, struct timer_pool *pool, struct keys_walk *walk);

#endif
