/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks: requests that a turn waits for.
 *
 * An ask belongs to the turn that made it and lives until that ends, in a table of its actor by number.
 * It is done when a REPLY or an EXCEPTION with its number arrives, when its time is up, or when it could
 * not be sent; whichever is first counts, and what comes later is a dead letter. Numbers are not used
 * twice before 2^32 others, and an actor's next incarnation has another generation, so a late reply
 * meets nobody.
 *
 * The other side: a request that is handled is answered once. tr_reply makes its envelope ANSWERED;
 * one that is still an ASK when its turn has ended, or that is buried, becomes itself the EXCEPTION
 * that says so, for which nothing need be allocated. Owner only, all of it.
 */
#ifndef ACTOR_ASK_ASK_H
#define ACTOR_ASK_ASK_H

#include <troupe/message.h>
#include <troupe/status.h>

#include "actor/cell/worker.h"
#include "mem/envelope.h"
#include "timer/wheel.h"

struct worker;

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

/** A tr_pending without an ask: its status, so that lack of memory is an outcome like others. */
#define PENDING_IS_STATUS (UINT64_C(1) << 63)

/** Whose ask it is; of one that is not done. */
static inline struct cell *ask_cell(const struct ask *ask)
{
    return ask->carrier ? (struct cell *)(void *)ask->carrier->mail.next : ask->turn->cell;
}

/** What is said of an ask that got no reply; the second when there is no memory for words. */
TR_MESSAGE(tr_ask_failed, (i32, status), (i32, code), (str, text));
TR_MESSAGE(tr_ask_ended, (i32, status), (i32, code));

/** A request whose reply was put off. */
struct later {
    struct list link;
    uint64_t number;
    const tr_type *type;
    struct envelope *answer; /* says who asked, and that there is no reply if none comes */
};

/** An ask of this turn's actor, not yet sent; NULL when out of memory. */
struct ask *tr__ask_new(struct tr_self *self, uint64_t to, const tr_type *type);
/** Sends it. It may be done at once. */
void tr__ask_send(struct tr_self *self, struct ask *ask, const void *message, tr_time timeout_ns);
/** Forgets an ask, and frees it and its answer; tr__ask_table_shrink is to follow. */
void tr__ask_free(struct worker *worker, struct cell *cell, struct ask *ask);
/** The same, and that too. */
void tr__ask_end(struct worker *worker, struct cell *cell, struct ask *ask);

/** Its outcome is known, and told: wakes its turn if that waited for no other. */
void tr__ask_done(struct worker *worker, struct ask *ask, tr_status status);

/** A REPLY or an EXCEPTION has arrived; takes it. */
void tr__ask_arrived(struct worker *worker, struct cell *cell, struct envelope *envelope);

/** A trace has come back; takes it. */
void tr__ask_told(struct worker *worker, struct cell *cell, struct envelope *envelope);

/** It would never be answered: ends with TR_ASK_CYCLE, when its trace is told. */
void tr__ask_end_in_ring(struct worker *worker, struct ask *ask);

/** Gives the timers of new asks to the wheel, before that is looked at. */
void tr__asks_settle(struct worker *worker);

/** Ends those whose time is up. */
void tr__asks_fire(struct worker *worker, tr_time now_ns);

/** Frees what a worker keeps for the next asks, and an actor for those it had. */
void tr__asks_free(struct worker *worker);

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

/** When an answer to a client was sent, in milliseconds; never 0. */
static inline uint32_t ask_stamp_ms(tr_time now_ns)
{
    uint32_t ms = (uint32_t)((uint64_t)now_ns / TR_MILLISECOND);
    return ms ? ms : 1;
}

/** When a request is due, as envelopes say it; 0: never, or so late that they cannot say it. */
uint32_t tr__ask_deadline_ms(tr_time now_ns, tr_time deadline_ns);

#endif
