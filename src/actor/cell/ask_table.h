/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The record of an ask, and the asks of an actor, by number: open addressing, at most three quarters full. What becomes
 * of an ask is in actor/ask/ask.h.
 *
 * The newest ask is beside it, so that asks of which each is answered before the next is made need no
 * table at all. An actor that has none gets one that the worker keeps empty for this. Owner only.
 */
#ifndef ACTOR_CELL_ASK_TABLE_H
#define ACTOR_CELL_ASK_TABLE_H

#include "actor/cell/cell.h"
#include "actor/cell/worker.h"
#include "mem/envelope.h"
#include "timer/wheel.h"

struct ask {
    struct timer_node timeout;
    struct ask *next; /* of a free one */
    struct tr_self *turn;
    const tr_type *type; /* of the request */
    uint64_t to;
    tr_time asked_ns;
    union {
        struct {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            uint32_t id;
            uint32_t place; /* in its turn: actor/ask/turn_asks.h */
#else
            uint32_t place;
            uint32_t id;
#endif
        };
        uint64_t pending; /* both: tr_pending.id */
    };
    union {
        struct {
            bool is_listed;  /* in the table of its actor */
            bool is_young;   /* its timer is in no wheel yet: actor/ask/ask_open.h */
            bool is_wanted;  /* its turn waits for it */
            bool is_look;    /* it asks why, and has no trace: see actor/verbs/why.h */
            bool is_fixed;   /* its outcome is known: what comes now is late; not of a young one */
            bool is_done;    /* the same, and its trace, if it has one, is told */
            bool is_ringed;  /* as far as its turn depends on this one it waits for ever: ring.h */
            bool is_untimed; /* of a young one: its time is counted from when it is in the wheel */
        };
        uint32_t standing; /* the first four, */
        uint64_t flags;    /* and all of them, for one look: ASK_LISTED and so on */
    };
    uint32_t tick;          /* of an untimed one: of the loop, when it was asked */
    bool is_chained;        /* with those that may be young, also when it is free, */
    struct ask *young_next; /* the next of them */
    struct envelope
        *carrier; /* of tr_ask_then, until its function is called: actor/ask/ask_then.h */
    struct envelope *answer; /* a REPLY or an EXCEPTION; NULL: none came */
    tr_status status;
    char *trace;       /* of one that timed out, or NULL */
    uint64_t story_to; /* who is to go on with it */
};

/* The flags of an ask by their place: a bool is a byte. */
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

/** A turn begins to wait for it. As a word, since a reply looks at the word soon. */
static inline void ask_want(struct ask *ask)
{
    ask->standing |= ASK_STANDING(ASK_WANTED);
}

/** Whose ask it is; of one that is not done. */
static inline struct cell *ask_cell(const struct ask *ask)
{
    return ask->carrier ? (struct cell *)(void *)ask->carrier->mail.next : ask->turn->cell;
}

/*
 * Numbers are consecutive. They are spread (by the golden ratio), or those of one long wait would be
 * one long run of places that every later ask has to pass.
 */
static inline uint32_t ask_table_home(uint32_t id, uint32_t mask)
{
    return id * 0x9e3779b1u >> __builtin_clz(mask);
}

/** The ask of a number, or NULL. */
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

/** Gives an ask its number and adds it. False: no memory. */
bool tr__ask_table_add(struct worker *worker, struct ask_table *table, struct ask *ask);

/** The same, inline where there is no other. */
static inline bool ask_table_add(struct worker *worker, struct ask_table *table, struct ask *ask)
{
    uint32_t id = table->last + 1;
    if (__builtin_expect(table->newest || table->count || !id, 0))
        return tr__ask_table_add(worker, table, ask);
    table->last = id;
    ask->id = id;
    table->newest = ask;
    return true;
}

/** Removes one that has a slot. */
void tr__ask_table_take_out(struct ask_table *table, const struct ask *ask);

/** Removes one that is there; tr__ask_table_shrink is to follow. */
static inline void ask_table_remove(struct ask_table *table, const struct ask *ask)
{
    if (__builtin_expect(table->newest == ask, 1))
        table->newest = NULL;
    else
        tr__ask_table_take_out(table, ask);
}

/** After one or many were removed: gives back what the others do not need. */
void tr__ask_table_shrink(struct worker *worker, struct ask_table *table);

/** Frees what the worker keeps. */
void tr__ask_table_free_spare(struct worker *worker);

/** The incarnation ends: frees the table of an actor that has no ask any more. */
void tr__ask_table_free(struct worker *worker, struct cell *cell);

/** Whether nobody waits any more for the answer to a request whose time seems to be up. */
bool tr__ask_is_over(const struct worker *worker, const struct envelope *envelope);

/** Whether the time of a request is up: nobody waits for it. */
static inline bool ask_is_late(const struct worker *worker, const struct envelope *envelope)
{
    uint32_t deadline_ms = envelope->payload.ask.deadline_ms;
    uint32_t now_ms = (uint32_t)((uint64_t)worker->loop.now_ns / TR_MILLISECOND);
    bool is_late = deadline_ms && (int32_t)(now_ms - deadline_ms) >= 0;
    return __builtin_expect(is_late, 0) && tr__ask_is_over(worker, envelope);
}

/** Frees the places, of a turn without asks. */
void tr__turn_asks_free(struct tr_self *self);

#endif
