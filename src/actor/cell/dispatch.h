/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How a worker finds the handler of a message.
 *
 * A behavior is a constant table of the application. Each worker makes a dispatch of it once: a
 * hash table from the address of a type's descriptor to the handler. A message type is its name and
 * fields, and the same type may have several descriptors (one for each source file). So when a
 * descriptor comes for the first time, its name and fields are compared with those of each handler.
 * Then the descriptor gets an entry of its own. A dispatch belongs to one worker.
 */
#ifndef ACTOR_CELL_DISPATCH_H
#define ACTOR_CELL_DISPATCH_H

#include <assert.h>
#include <troupe/behavior.h>

#include "actor/cell/worker_parts.h"
#include "mem/source.h"
#include "os/atomic.h"

struct behavior_list;

enum { DISPATCH_SIGNALS = 4 }; /* SIGNAL_CALLED_COUNT of actor/cell/signal.h */

struct dispatch_entry {
    /*
     * The same as `type` if `call` may be called directly with the message. Otherwise the address
     * of a descriptor that no message has.
     */
    const tr_type *quick;
    tr_next (*call)(tr_self *self, void *state, const void *message); /* handler->call */
    /* NULL: the type is known to have no handler */
    const tr_handler *handler;
    const tr_type *type; /* NULL: the entry is free */
};

static_assert(sizeof(struct dispatch_entry) == 32, "places are found by a mask of bytes");

struct dispatch {
    struct dispatch_entry *entries;
    /* factor of the hash, chosen so that, if possible, each known type has a place of its own */
    uint64_t factor;
    /* mask of the hash, in bytes: the size of the table minus the size of one entry */
    uint32_t mask;
    uint32_t used;
    const tr_behavior *behavior;
    const tr_handler *any;
    /* the handlers of signals, by enum signal; NULL: no handler */
    const tr_handler *signals[DISPATCH_SIGNALS];
    bool is_checked; /* the behavior was compared with the messages of TR_ACTOR */
    /* actors of this behavior have no budget, and no user code runs at their start */
    bool is_plain;
    uint32_t worker;       /* index of the worker that owns the dispatch */
    struct dispatch *next; /* the next dispatch in the same bucket of this worker */
};

void tr__dispatches_init(struct dispatches *dispatches, const struct memory_source *source,
                         uint32_t worker);
void tr__dispatches_deinit(struct dispatches *dispatches);

/** Whether the library can read this behavior. If it cannot, *why says what is wrong. */
bool tr__behavior_is_valid(const tr_behavior *behavior, const char **why);

/** Returns the name of a behavior for an error text. The behavior may be invalid. */
const char *tr__behavior_name(const tr_behavior *behavior);

/** Whether this supervision is valid. If it is not, *why says what is wrong. */
bool tr__supervision_is_valid(const tr_supervision *supervision, const char **why);

/**
 * Returns the dispatch of a valid behavior, and makes it if there is none. Returns NULL if there is
 * no memory.
 */
struct dispatch *tr__dispatch_of(struct dispatches *dispatches, const tr_behavior *behavior);

/** As dispatch_known, but slower: does not look at dispatches->last first. */
struct dispatch *tr__dispatch_search(struct dispatches *dispatches, const tr_behavior *behavior);

/**
 * Returns the dispatch of a behavior, or NULL if it has none yet. A dispatch is made only for a
 * valid behavior, and a behavior is a constant table. So a behavior with a dispatch need not be
 * checked again for each actor.
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
 * Looks in a list such as "deposit, withdraw, " for the first message for which neither the
 * behavior nor any of `others` has a handler. Copies the name of that message, cut to fit. Returns
 * false if there is no such message.
 */
bool tr__protocol_lacks(const struct dispatch *dispatch, const struct behavior_list *others,
                        const char *list, char *name, size_t size);

/** Stands for the set-up of any behavior where a report needs the handler that runs. */
extern const tr_handler tr__setup_handler;

/**
 * Returns the signal handler of `dispatch` whose function is `call`. Returns tr__setup_handler if
 * `call` is the set-up of the behavior, and NULL if it is neither. `dispatch` may be NULL.
 */
const tr_handler *tr__dispatch_handler(const struct dispatch *dispatch,
                                       tr_next (*call)(tr_self *self, void *state,
                                                       const void *message));

/**
 * As dispatch_find, for a type whose entry is not at the first place of the type. Searches the
 * other places. If the type has no entry, compares its name and fields with those of each handler,
 * and adds an entry.
 */
const tr_handler *tr__dispatch_learn(struct dispatches *dispatches, struct dispatch *dispatch,
                                     const tr_type *type);

/**
 * The hash of a type is the address of its descriptor times `factor`, shifted right by this many
 * bits and masked. The bits that remain are enough for the largest table.
 */
enum { DISPATCH_SHIFT = 40 };

/** Returns the place at which the search for a type begins. Its entry is almost always there. */
ATOM_INLINE struct dispatch_entry *dispatch_place(const struct dispatch *dispatch,
                                                  const tr_type *type)
{
    uint64_t hash = (uintptr_t)type * dispatch->factor >> DISPATCH_SHIFT;
    return (void *)((char *)dispatch->entries + ((uint32_t)hash & dispatch->mask));
}

/**
 * Returns the handler of a type: the handler of this type, else the handler of any type, else NULL.
 */
ATOM_INLINE const tr_handler *dispatch_find(struct dispatches *dispatches,
                                            struct dispatch *dispatch, const tr_type *type)
{
    const struct dispatch_entry *entry = dispatch_place(dispatch, type);
    if (__builtin_expect(entry->type == type, 1))
        return entry->handler;
    return tr__dispatch_learn(dispatches, dispatch, type);
}

#endif
