/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Two tables of death watch: whom one watches, and who are watched on a worker.
 *
 * A watch is one envelope. As long as its target lives it is in the `watched` of the target's worker;
 * then it travels back as the signal. The watcher keeps its address, which is therefore the name of
 * this watch: no other envelope has it before this one is given back.
 */
#ifndef ACTOR_CELL_WATCH_TABLE_H
#define ACTOR_CELL_WATCH_TABLE_H

#include "mem/envelope.h"

/* ---- Whom one watches: a table by target. ---- */

struct watch_entry {
    uint64_t target;          /* ref; 0 in a free place */
    struct envelope *watch;   /* not to be looked into: it is elsewhere, and may be gone */
    struct envelope *unwatch; /* kept for the end of it; NULL: none is needed, see watchers.c */
};

struct watch_table {
    struct watch_entry *slots; /* NULL: none so far */
    uint32_t mask;
    uint32_t count;
};

/** The watch of a target; NULL for none. Good until the table changes. */
struct watch_entry *tr__watch_find(const struct watch_table *table, uint64_t target);
/** Makes sure that one more fits. False: out of memory. */
bool tr__watch_reserve(struct watch_table *table, const struct memory_source *source);
/** Puts one in that is not there; there is capacity. */
void tr__watch_insert(struct watch_table *table, const struct watch_entry *watch);
/** Takes one out that tr__watch_find has given. */
void tr__watch_remove(struct watch_table *table, const struct memory_source *source,
                      struct watch_entry *watch);
void tr__watch_table_free(struct watch_table *table, const struct memory_source *source);
/** Bytes that the table has, and at least those of its envelopes. */
size_t tr__watch_table_bytes(const struct watch_table *table);

/* ---- Who are watched: the envelopes themselves, by target. ---- */

/** What an envelope of a watch holds. It begins as the signal does that it becomes. */
struct watch_letter {
    uint64_t target;
    struct envelope *previous; /* in the ring of those with the same target */
    struct envelope *chain;    /* of the first in a ring: the first in the next one */
};

/** What an UNWATCH holds. */
struct unwatch_letter {
    uint64_t target;
    struct envelope *watch;
};

static_assert(sizeof(struct watch_letter) <= ENVELOPE_INLINE, "a watch is in its envelope");

enum { WATCHED_FEW = 8 };

/** Rings of envelopes, each ring known by its first one. Putting one in needs no memory. */
struct watched {
    struct envelope *few[WATCHED_FEW]; /* the buckets, unless there are more */
    struct envelope **buckets;         /* NULL: those few */
    uint32_t mask;                     /* of `buckets` */
    uint32_t count;                    /* rings */
};

static inline struct watch_letter *watch_letter(struct envelope *envelope)
{
    return envelope_data(envelope);
}

/** At the end of a ring, or as the first of a new one. */
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

/** Takes one out of a ring, in which the next one becomes the first if this was. */
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
/** Takes a watch out that is there. */
void tr__watched_remove(struct watched *watched, const struct memory_source *source,
                        struct envelope *envelope);
/** Takes all watches of a target out: the first of a ring, or NULL. */
struct envelope *tr__watched_take(struct watched *watched, const struct memory_source *source,
                                  uint64_t target);
/** Frees the buckets. What is in them is left to who frees its memory. */
void tr__watched_free(struct watched *watched, const struct memory_source *source);

#endif
