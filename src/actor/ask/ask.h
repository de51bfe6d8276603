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
#include "base/list.h"
#include "mem/envelope.h"

struct cell;
struct worker;

/** A tr_pending without an ask: its status, so that lack of memory is an outcome like others. */
#define PENDING_IS_STATUS (UINT64_C(1) << 63)

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

/** When a request is due, as envelopes say it; 0: never, or so late that they cannot say it. */
uint32_t tr__ask_deadline_ms(tr_time now_ns, tr_time deadline_ns);

#endif
