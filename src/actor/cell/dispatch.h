/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How a worker finds the handler of a message.
 *
 * A behavior is a constant table of the application. Each worker makes a dispatch of it once: a hash
 * table from the address of a type's descriptor to the handler. A message type is its name and fields,
 * and the same type may have several descriptors (one per source file), so an address that was never
 * seen is compared by name and fields once and then has its own entry. Owned by one worker.
 */
#ifndef ACTOR_CELL_DISPATCH_H
#define ACTOR_CELL_DISPATCH_H

#include <assert.h>
#include <troupe/behavior.h>

#include "mem/source.h"
#include "os/atomic.h"

struct dispatch_entry {
    /* As `type` where `call` may be called with the message; else an address that no type has. */
    const tr_type *quick;
    tr_next (*call)(tr_self *self, void *state, const void *message); /* that of the handler */
    const tr_handler *handler;                                        /* NULL: known to have none */
    const tr_type *type;                                              /* NULL: free */
};

static_assert(sizeof(struct dispatch_entry) == 32, "places are found by a mask of bytes");

struct dispatch {
    struct dispatch_entry *entries;
    uint64_t factor; /* of the hash: one that gives each type that is known a place of its own */
    uint32_t mask;   /* of the hash, in bytes: the size of the table less that of one entry */
    uint32_t used;
    const tr_behavior *behavior;
    const tr_handler *any;
    const tr_handler *pre_start;
    const tr_handler *post_stop;
    const tr_handler *pre_restart;
    const tr_handler *post_restart;
    bool is_checked;       /* against the list of TR_ACTOR */
    bool is_plain;         /* its actors begin without code of their own, and without a budget */
    uint32_t worker;       /* whose it is */
    struct dispatch *next; /* of this worker */
};

struct dispatches {
    struct memory_source source;
    struct dispatch **buckets;
    size_t bucket_count;
    size_t count;
    struct dispatch *last; /* that was asked for; NULL: none yet */
    uint32_t worker;
};

void tr__dispatches_init(struct dispatches *dispatches, const struct memory_source *source,
                         uint32_t worker);
void tr__dispatches_deinit(struct dispatches *dispatches);

/** Whether this is a table that the library can read; *why says what is wrong with it. */
bool tr__behavior_is_valid(const tr_behavior *behavior, const char **why);

/** The same of a supervision. */
bool tr__supervision_is_valid(const tr_supervision *supervision, const char **why);

/** The dispatch of a behavior that is valid; NULL when out of memory. */
struct dispatch *tr__dispatch_of(struct dispatches *dispatches, const tr_behavior *behavior);

/** As dispatch_known, of another behavior than the last one. */
struct dispatch *tr__dispatch_search(struct dispatches *dispatches, const tr_behavior *behavior);

/**
 * The dispatch of a behavior, NULL when it has none yet. One that has was found valid and, being a
 * constant table, still is: nobody need read all of it for each actor.
 */
static inline struct dispatch *dispatch_known(struct dispatches *dispatches,
                                              const tr_behavior *behavior)
{
    struct dispatch *last = dispatches->last;
    if (__builtin_expect(last && last->behavior == behavior, 1))
        return last;
    return tr__dispatch_search(dispatches, behavior);
}

/**
 * The first message of a list such as "deposit, withdraw, " that a behavior has no handler for, cut
 * to fit; false when there is none. Another behavior of the same actor may have one.
 */
bool tr__protocol_lacks(const struct dispatch *dispatch, const char *list, char *name, size_t size);

/** The handler of all set-ups. */
extern const tr_handler tr__setup_handler;

/**
 * The handler of a signal that is called by this function; for a set-up, one that names it. NULL: not
 * known. `dispatch` may be NULL.
 */
const tr_handler *tr__dispatch_handler(const struct dispatch *dispatch,
                                       tr_next (*call)(tr_self *self, void *state,
                                                       const void *message));

/** For a type not found at its first place: looks on, compares, learns. */
const tr_handler *tr__dispatch_learn(struct dispatches *dispatches, struct dispatch *dispatch,
                                     const tr_type *type);

/** The first bit of the product that is the hash: there are as many above it as a table needs. */
enum { DISPATCH_SHIFT = 40 };

/** Where a type is, most of the time. */
ATOM_INLINE struct dispatch_entry *dispatch_place(const struct dispatch *dispatch,
                                                  const tr_type *type)
{
    uint64_t hash = (uintptr_t)type * dispatch->factor >> DISPATCH_SHIFT;
    return (void *)((char *)dispatch->entries + ((uint32_t)hash & dispatch->mask));
}

/** The handler of a type: its own, that of any, or NULL. */
ATOM_INLINE const tr_handler *dispatch_find(struct dispatches *dispatches,
                                            struct dispatch *dispatch, const tr_type *type)
{
    const struct dispatch_entry *entry = dispatch_place(dispatch, type);
    if (__builtin_expect(entry->type == type, 1))
        return entry->handler;
    return tr__dispatch_learn(dispatches, dispatch, type);
}

#endif
