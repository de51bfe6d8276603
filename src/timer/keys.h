/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The keyed timers of one actor: a hash table from a key to an entry, which embeds a wheel's node.
 *
 * Keys may come from outside, so the hash is keyed with a secret. An actor with one timer has no
 * table and pays no hash, and nobody does for the timer that was armed last. Entries and tables come
 * from the pool of the worker, so an actor that arms and cancels takes nothing from the source in
 * the steady state; the pool gives memory back.
 *
 * One owner at a time and no locks: the worker that the actor is on. All calls on one table name
 * the same pool. The table does not arm or cancel: whoever removes an entry has cancelled its node.
 */
#ifndef TIMER_KEYS_H
#define TIMER_KEYS_H

#include "base/hash.h"
#include "mem/block.h"
#include "timer/loose.h"

enum {
    TIMER_KEY_SHORT = 63, /* Longest key of an entry that is two cache lines. */
};

/** A timer with a key, which lies behind it. */
struct keyed_timer {
    struct timer_entry entry;
    struct timer_context context; /* The caller's; `mark` is the hash, set when it is in a table. */
    char key[];                   /* Ends with NUL, which is not counted. */
};

/** The memory of the timers of one worker. */
struct timer_pool {
    struct block_pool blocks; /* Of timers with a key, and of tables. */
    struct hash_key key;      /* The same in all pools of a system. */
    struct loose_pool loose;  /* Of timers without a key. */
};

struct keys_slot {
    struct timer_entry *entry;
    uint32_t hash;
};

/** Zeroes are a table without entries, which holds no memory. It may be moved by assignment. */
struct timer_keys {
    union {
        struct timer_entry *one; /* While bits is 0; or NULL. */
        struct keys_slot *slots; /* Open addressing, at most three quarters full. */
    };
    struct timer_entry *last; /* What was obtained last, while it is there; or NULL. */
    uint32_t count;
    uint8_t bits; /* There are 2^bits slots. */
    uint8_t block_class;
};

/** Where a walk is; see tr__keys_walk. */
struct keys_walk {
    struct timer_entry *given;
    uint32_t at;
    uint32_t left;
};

/** Makes a pool that holds no memory. Copies `source`. */
void tr__timer_pool_init(struct timer_pool *pool, const struct memory_source *source,
                         struct hash_key key);
/** Gives all memory back. Every table and list is empty. */
void tr__timer_pool_deinit(struct timer_pool *pool);
/** Gives what is not in use back to the source. Before the worker sleeps. */
void tr__timer_pool_trim(struct timer_pool *pool);

/** The bytes taken from the source and not given back. */
static inline size_t tr__timer_pool_bytes(const struct timer_pool *pool)
{
    return tr__block_bytes(&pool->blocks) + tr__loose_bytes(&pool->loose);
}

/** The whole of a timer that has a key. */
static inline struct keyed_timer *keyed_of(struct timer_entry *entry)
{
    return LIST_OWNER(entry, struct keyed_timer, entry);
}

/** The context of a timer of this worker, with a key or without. */
static inline const struct timer_context *timer_context(const struct timer_pool *pool,
                                                        const struct timer_entry *entry)
{
    return timer_has(entry, TIMER_KEYED) ? &((const struct keyed_timer *)entry)->context
                                         : loose_context(&pool->loose, entry);
}

/** The entry of a key, or NULL. The key is `length` bytes, at most TR_TIMER_KEY_MAX. */
struct timer_entry *tr__keys_find(const struct timer_keys *keys, const struct timer_pool *pool,
                                  const char *key, size_t length);

/**
 * The entry of a key, made if there is none; borrowed until it is removed.
 *
 * The key is copied. An entry that was there is as it was, its node perhaps armed; the context of a
 * new one is zero. NULL when out of
 * memory, nothing changed and `is_new` not written.
 */
struct timer_entry *tr__keys_obtain(struct timer_keys *keys, struct timer_pool *pool,
                                    const char *key, size_t length, bool *is_new);

/** Removes and frees an entry of this table whose node is not armed. Never fails. */
void tr__keys_remove(struct timer_keys *keys, struct timer_pool *pool, struct timer_entry *entry);

/**
 * Begins a walk over all entries, in no useful order:
 *
 *     struct keys_walk walk = tr__keys_walk(&keys);
 *     for (struct timer_entry *entry; (entry = tr__keys_walk_next(&keys, &pool, &walk));)
 *
 * During a walk nothing is added, and nothing is removed but by tr__keys_walk_remove. It may be
 * left early; then the table shrinks with the next removal.
 */
struct keys_walk tr__keys_walk(const struct timer_keys *keys);

/** The next entry, or NULL: then the table has shrunk to what its entries need. */
struct timer_entry *tr__keys_walk_next(struct timer_keys *keys, struct timer_pool *pool,
                                       struct keys_walk *walk);

/** Removes and frees the entry that the walk has given last, whose node is not armed. */
void tr__keys_walk_remove(struct timer_keys *keys, struct timer_pool *pool, struct keys_walk *walk);

#endif
