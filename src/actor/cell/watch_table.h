/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Two tables of death watch: the actors that one watcher watches, and the watched actors of a
 * worker.
 *
 * A watch is one envelope, a WATCH. While its target lives, the envelope is in the `watched` of the
 * target's worker. When the target has ended, the envelope travels back as the signal. The watcher
 * keeps the address of the envelope, which identifies the watch: no other envelope has this address
 * until this envelope is freed.
 */
#ifndef ACTOR_CELL_WATCH_TABLE_H
#define ACTOR_CELL_WATCH_TABLE_H

#include "actor/cell/cell.h"
#include "actor/cell/worker_parts.h"
#include "mem/envelope.h"

/* ---- The actors that one watcher watches: a table by target. ---- */

struct watch_entry {
    uint64_t target; /* ref of the watched actor; 0: the place is free */
    /* used only as an address: the envelope belongs to another thread, and may be freed */
    struct envelope *watch;
    /*
     * an UNWATCH that is allocated in advance, so that ending the watch needs no memory. NULL: the
     * target is on the watcher's worker, and no UNWATCH is needed. See actor/life/watchers.c
     */
    struct envelope *unwatch;
};

/**
 * Returns the entry of a target, or NULL if there is none. The entry is valid until the table
 * changes.
 */
struct watch_entry *tr__watch_find(const struct watch_table *table, uint64_t target);
/** Makes space for one more watch. Returns false if out of memory. */
bool tr__watch_reserve(struct watch_table *table, const struct memory_source *source);
/** Adds a watch that is not in the table. The table must have space: see tr__watch_reserve. */
void tr__watch_insert(struct watch_table *table, const struct watch_entry *watch);
/** Removes a watch that tr__watch_find has returned. */
void tr__watch_remove(struct watch_table *table, const struct memory_source *source,
                      struct watch_entry *watch);
void tr__watch_table_free(struct watch_table *table, const struct memory_source *source);
/**
 * Returns how many bytes the watches take at least: the bytes of the table, and of one envelope for
 * each watch.
 */
size_t tr__watch_table_bytes(const struct watch_table *table);

/* ---- Watched actors: a table of the WATCH envelopes, by the ref of the watched actor. ---- */

/** The content of a WATCH. It begins with the fields of the signal that the envelope becomes. */
struct watch_letter {
    uint64_t target;
    /* the envelope before this one, in the ring of watches with the same target */
    struct envelope *previous;
    /* in the first watch of a ring: the first watch of the next ring of the bucket */
    struct envelope *chain;
};

/** The message of an UNWATCH. */
struct unwatch_letter {
    uint64_t target;
    struct envelope *watch;
};

static_assert(sizeof(struct watch_letter) <= ENVELOPE_INLINE, "a watch is in its envelope");

static inline struct watch_letter *watch_letter(struct envelope *envelope)
{
    return envelope_data(envelope);
}

/** Adds an envelope at the end of a ring, or as the first of a new one. */
static inline void watch_ring_push(struct envelope **first, struct envelope *envelope)
{
    if (!*first) {
        envelope->mail.next = &envelope->mail;
        watch_letter(envelope)->previous = envelope;
        *first = envelope;
        return;
    }
    struct envelope *last = watch_letter(*first)->previous;
    last->mail.next = &envelope->mail;
    envelope->mail.next = &(*first)->mail;
    watch_letter(envelope)->previous = last;
    watch_letter(*first)->previous = envelope;
}

/** Removes an envelope from a ring. If it was the first, the next one becomes the first. */
static inline void watch_ring_remove(struct envelope **first, struct envelope *envelope)
{
    struct envelope *next = (struct envelope *)(void *)envelope->mail.next;
    struct envelope *previous = watch_letter(envelope)->previous;
    if (next == envelope) {
        *first = NULL;
        return;
    }
    previous->mail.next = &next->mail;
    watch_letter(next)->previous = previous;
    if (*first == envelope)
        *first = next;
}

/** Keeps a watch until its target ends. */
void tr__watched_add(struct watched *watched, const struct memory_source *source,
                     struct envelope *envelope);
/** Removes a watch that was added. */
void tr__watched_remove(struct watched *watched, const struct memory_source *source,
                        struct envelope *envelope);
/** Returns the first watch of the ring of a target, or NULL. */
struct envelope *tr__watched_find(struct watched *watched, uint64_t target);
/** Removes all watches of a target. Returns their ring, by its first envelope, or NULL. */
struct envelope *tr__watched_take(struct watched *watched, const struct memory_source *source,
                                  uint64_t target);
/**
 * Frees the buckets, but not the envelopes in them. The pools that the envelopes come from free the
 * envelopes.
 */
void tr__watched_free(struct watched *watched, const struct memory_source *source);

#endif
