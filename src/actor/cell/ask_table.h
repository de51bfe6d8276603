/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The record of an ask, and the table of the asks of an actor, by number. The table uses open
 * addressing and is at most three quarters full. actor/ask/ask.h says what happens to an ask.
 *
 * The newest ask is kept beside the slots of the table. So an actor needs no slots if each of its
 * asks is answered before it makes the next one. Each worker may keep one empty array of slots, for
 * the next actor that needs slots. Only the owner uses a table.
 */
#ifndef ACTOR_CELL_ASK_TABLE_H
#define ACTOR_CELL_ASK_TABLE_H

#include "actor/cell/cell.h"
#include "actor/cell/worker.h"
#include "mem/envelope.h"
#include "timer/wheel.h"
#include "base/assert.h"

struct ask {
    struct timer_node timeout;
    struct ask *next; /* the next ask in the list of free asks */
    struct tr_self *turn;
    const tr_type *type; /* type of the request */
    uint64_t to;
    tr_time asked_ns;
    union {
        struct {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            uint32_t id;
            /* place of the ask among the asks of its turn; see actor/ask/turn_asks.h */
            uint32_t place;
#else
            uint32_t place;
            uint32_t id;
#endif
        };
        uint64_t pending; /* `id` and `place` together: tr_pending.id */
    };
    union {
        struct {
            bool is_listed; /* the ask is in the table of its actor */
            bool is_young;  /* the timer of the ask is in no wheel yet; see actor/ask/ask_open.h */
            bool is_wanted; /* a turn waits for this ask */
            /*
             * the runtime itself asks, for instance for tr_actor_why: the ask gets no trace; see
             * actor/verbs/why.h
             */
            bool is_look;
            /* the outcome is decided: an answer that comes now is late. Never set while is_young */
            bool is_fixed;
            bool is_done; /* is_fixed is set, and the trace, if there is one, is complete */
            /*
             * the ask is in a cycle of asks. A turn that waited only for this ask would wait
             * forever; see actor/ask/ask_cycle.h
             */
            bool is_in_cycle;
            /* the ask is young, and its deadline is not known yet; see actor/ask/ask_open.h */
            bool is_untimed;
        };
        uint32_t standing; /* is_listed to is_look as one word, for one test */
        uint64_t flags;    /* all flags as one word, for one test: ASK_LISTED and so on */
    };
    uint32_t tick; /* while is_untimed: the tick of the loop at which the ask was made */
    /* the ask is in the chain of asks that may be young. A free ask may still be in this chain */
    bool is_chained;
    /* of an ask by tr_ask_then: its outcome comes after the messages that arrived before it */
    bool is_in_order;
    struct ask *young_next; /* the next ask of the chain of young asks */
    /*
     * of an ask by tr_ask_then: the envelope that brings the outcome to the actor. NULL for other
     * asks, and when the function of tr_ask_then is called; see actor/ask/ask_then.h
     */
    struct envelope *carrier;
    struct envelope *answer; /* the reply or the exception; NULL: neither has arrived */
    tr_status status;
    char *trace;        /* the trace of an ask that timed out, or NULL */
    uint64_t traced_to; /* ref of the actor that has to continue the trace */
};

/* The flags of an ask as bits of `flags`. Each bool is a byte there. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ASK_BYTE(place) (UINT64_C(1) << 8 * (place))
#define ASK_STANDING(flags) ((uint32_t)(flags))
#else
#define ASK_BYTE(place) (UINT64_C(1) << 8 * (7 - (place)))
#define ASK_STANDING(flags) ((uint32_t)((flags) >> 32))
#endif
#define ASK_LISTED ASK_BYTE(0)
#define ASK_YOUNG ASK_BYTE(1)
#define ASK_WANTED ASK_BYTE(2)
#define ASK_UNTIMED ASK_BYTE(7)

static_assert(offsetof(struct ask, is_wanted) == offsetof(struct ask, flags) + 2,
              "ASK_WANTED is the third byte");
static_assert(offsetof(struct ask, is_untimed) == offsetof(struct ask, flags) + 7,
              "ASK_UNTIMED is the last byte");

/**
 * Sets is_wanted: a turn starts to wait for the ask. Writes the four bytes of `standing` with one
 * store, because the reply soon reads them with one load. A load directly after a store to only one
 * of the bytes would be slow.
 */
static inline void ask_want(struct ask *ask)
{
    ask->standing |= ASK_STANDING(ASK_WANTED);
}

/** Returns the actor that asked, for an ask that is not done. */
static inline struct cell *ask_cell(const struct ask *ask)
{
    return ask->carrier ? (struct cell *)(void *)ask->carrier->mail.next : ask->turn->cell;
}

/*
 * Returns the slot at which the search for a number begins. A multiplication with the golden ratio
 * spreads consecutive numbers. Without it, the asks that stay open during one long wait would fill
 * consecutive slots, and the search for every later ask would have to pass all of them.
 */
static inline uint32_t ask_table_home(uint32_t id, uint32_t mask)
{
    return id * 0x9e3779b1u >> __builtin_clz(mask);
}

/** Returns the ask with this number, or NULL if there is none. */
static inline struct ask *ask_table_find(const struct ask_table *table, uint32_t id)
{
    if (__builtin_expect(table->newest && table->newest->id == id, 1))
        return table->newest;
    if (!table->slots)
        return NULL;
    uint32_t place = ask_table_home(id, table->mask);
    while (table->slots[place] && table->slots[place]->id != id)
        place = (place + 1) & table->mask;
    return table->slots[place];
}

/** Gives an ask its number and adds it to the table. Returns false if there is no memory. */
bool tr__ask_table_add(struct worker *worker, struct ask_table *table, struct ask *ask);

/** As tr__ask_table_add, but inline if the table has no asks. */
static inline bool ask_table_add(struct worker *worker, struct ask_table *table, struct ask *ask)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    uint32_t id = table->last + 1;
    if (__builtin_expect(table->newest || table->count || !id, 0))
        return tr__ask_table_add(worker, table, ask);
    table->last = id;
    ask->id = id;
    table->newest = ask;
    return true;
}

/** Removes an ask that is in `slots` of the table. */
void tr__ask_table_take_out(struct ask_table *table, const struct ask *ask);

/** Removes an ask that is in the table. The caller calls tr__ask_table_shrink afterwards. */
static inline void ask_table_remove(struct ask_table *table, const struct ask *ask)
{
    if (__builtin_expect(table->newest == ask, 1))
        table->newest = NULL;
    else
        tr__ask_table_take_out(table, ask);
}

/** Frees slots that the remaining asks do not need. Called after one or more asks were removed. */
void tr__ask_table_shrink(struct worker *worker, struct ask_table *table);

/** Frees the empty array of slots that the worker keeps. */
void tr__ask_table_free_spare(struct worker *worker);

/** Frees the table of an actor at the end of its incarnation. The table must be empty. */
void tr__ask_table_free(struct worker *worker, struct cell *cell);

/**
 * Returns whether no turn waits any more for the answer to a request. Called when the deadline of
 * the request seems to have passed.
 */
bool tr__ask_is_over(const struct worker *worker, const struct envelope *envelope);

/** Returns whether the deadline of a request has passed and no turn waits for its answer. */
static inline bool ask_is_late(const struct worker *worker, const struct envelope *envelope)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    uint32_t deadline_ms = envelope->payload.ask.deadline_ms;
    uint32_t now_ms = (uint32_t)((uint64_t)worker->loop.now_ns / TR_MILLISECOND);
    bool is_late = deadline_ms && (int32_t)(now_ms - deadline_ms) >= 0;
    return __builtin_expect(is_late, 0) && tr__ask_is_over(worker, envelope);
}

/** Frees the memory in which a turn keeps its asks. The turn must have no asks any more. */
void tr__turn_asks_free(struct tr_self *self);

#endif
