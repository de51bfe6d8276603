/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks: requests that a turn waits for.
 *
 * An ask belongs to the turn that made it, and lives until that turn ends. A table of the actor
 * finds the ask by its number. (For asks of tr_ask_then see actor/ask/ask_then.h.) An ask is done
 * when a REPLY or an EXCEPTION with its number arrives, when its time is up, or when it could not
 * be sent. The first of these counts, and a REPLY that comes later is a dead letter. A late reply
 * finds no ask: the number of an ask is used again only after 2^32 others, and the next incarnation
 * of an actor has another generation.
 *
 * The side of the receiver: a request that is handled is answered once. tr_reply makes its envelope
 * ANSWERED. When a turn ends and its envelope is still an ASK, the runtime turns this envelope into
 * the EXCEPTION for the asker. It does the same with an ASK that becomes a dead letter. So an
 * EXCEPTION needs no allocation. All functions: owner only.
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

/**
 * The bit of tr_pending.id that says that the tr_pending is not an ask but only has a status. So
 * an ask for which there is no memory has an outcome like any other ask.
 */
#define PENDING_IS_STATUS (UINT64_C(1) << 63)

/** A request whose reply was deferred with tr_reply_later. */
struct later {
    struct list link;
    uint64_t number;
    const tr_type *type;
    /* the envelope of the answer, which names the asker; sent as an EXCEPTION if no reply comes */
    struct envelope *answer;
    tr_time since_ns; /* when the reply was deferred */
};

/**
 * Returns a new ask of this turn's actor, whose request is not sent yet; NULL when out of memory.
 */
struct ask *tr__ask_new(struct tr_self *self, uint64_t to, const tr_type *type);
/** Sends the request of an ask. The ask may be done when this returns. */
void tr__ask_send(struct tr_self *self, struct ask *ask, const void *message, tr_time timeout_ns);
/**
 * Removes an ask from its table, and frees the ask, its answer and its trace. tr__ask_table_shrink
 * must follow.
 */
void tr__ask_free(struct worker *worker, struct cell *cell, struct ask *ask);
/** Calls tr__ask_free, and then tr__ask_table_shrink. */
void tr__ask_end(struct worker *worker, struct cell *cell, struct ask *ask);

/**
 * Ends an ask whose outcome is known and whose trace is complete. Wakes its turn, unless the turn
 * waits for another ask. For an ask of tr_ask_then, queues its carrier instead.
 */
void tr__ask_done(struct worker *worker, struct ask *ask, tr_status status);

/** Handles a TRACED, the trace that has come back to its asker. Takes the envelope. */
void tr__ask_told(struct worker *worker, struct cell *cell, struct envelope *envelope);

/**
 * Sets the outcome of an ask to TR_ASK_CYCLE, because the ask is in a cycle and would never be
 * answered. The ask is done when its trace is complete.
 */
void tr__ask_end_in_cycle(struct worker *worker, struct ask *ask);

/**
 * Moves the timers of new asks into the wheel. The worker must call this before it looks at the
 * wheel.
 */
void tr__asks_settle(struct worker *worker);

/** Ends the asks whose timeout has expired. */
void tr__asks_fire(struct worker *worker, tr_time now_ns);

/** Frees the spare asks and the spare table that a worker keeps. */
void tr__asks_free(struct worker *worker);

/**
 * Returns a deadline in the format of envelopes. Returns 0 when there is no deadline, and when the
 * deadline is too late for that format.
 */
uint32_t tr__ask_deadline_ms(tr_time now_ns, tr_time deadline_ns);
/** Whether a deadline in the format of envelopes has passed. False for 0, which is no deadline. */
bool tr__ask_is_late(uint32_t deadline_ms, tr_time now_ns);

#endif
