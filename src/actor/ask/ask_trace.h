/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The trace of an ask that got no answer in time or is in a cycle: which actor asked which, and
 * where the request is.
 *
 * The worker of the actor that was asked writes the trace, because only that worker may look at the
 * actor. The worker finds the request in a mailbox, or finds the turn that handles the request. If
 * that turn waits for an ask of its own, the trace continues with that ask. If that ask went to an
 * actor of another worker, the text so far goes to the other worker in a TRACE, and the other worker
 * continues it. The last worker sends the complete text back to the asker in a TRACED. If a worker
 * does not answer within ASK_TRACE_NS, the trace names that worker and what it runs. The outcome of
 * the ask is fixed before the trace begins. The turn of the ask resumes when the trace is complete.
 */
#ifndef ACTOR_ASK_ASK_TRACE_H
#define ACTOR_ASK_ASK_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <troupe/message.h>

struct ask;
struct cell;
struct envelope;
struct tr_system;
struct worker;

/** How long a trace may take. */
#define ASK_TRACE_NS (1 * TR_MILLISECOND)

enum { ASK_TRACE_MAX = 960 }; /* characters */

/**
 * The message in a TRACE and a TRACED. `asker` and `id` are the request that the trace looks for,
 * and `origin` and `origin_id` are the ask that the trace is about. `text` is the text so far.
 */
TR_MESSAGE(tr_ask_trace, (u64, asker), (u32, id), (u64, origin), (u32, origin_id), (u32, hops),
           (str, text));

/**
 * Begins the trace of an ask whose outcome is TR_TIMEOUT or TR_ASK_CYCLE. Returns true if the trace
 * is complete: then it is in ask->trace, and logged. Returns true also if the ask gets no trace,
 * because ask->is_look is set or because too many traces were begun. Returns false if the trace is
 * completed later, by tr__ask_trace_arrived or, when no worker answers in time, by
 * tr__ask_trace_give_up. Owner only.
 */
bool tr__ask_trace_begin(struct worker *worker, struct ask *ask);

/**
 * Returns the waiting turn of an actor that handles a request, alone or in a batch, and has neither
 * answered nor forwarded this request. Returns NULL if there is no such turn.
 */
const struct tr_self *tr__ask_turn(const struct cell *cell, uint64_t asker, uint32_t id);
/**
 * Whether a request is in a mailbox of an actor, or a turn of the actor that runs or is stuck
 * handles it. A request that was answered or forwarded does not count. If the mailboxes are very
 * long, returns true without looking at all of them. Owner only.
 */
bool tr__ask_is_here(const struct worker *worker, const struct cell *cell, uint64_t asker,
                     uint32_t id);
/** Whether the reply to a request was deferred with tr_reply_later. */
bool tr__ask_is_put_off(const struct cell *cell, uint64_t asker, uint32_t id);

/** Handles a TRACE that has arrived at an actor that was asked. Takes the envelope. Owner only. */
void tr__ask_trace_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);

/** Completes the trace of an ask for which no TRACED has come back in time. Owner only. */
void tr__ask_trace_give_up(struct worker *worker, struct ask *ask);

/**
 * Writes what a thread that does not own the actor can see of an actor that was asked. `words` has
 * space for ASK_TRACE_MAX characters. Any thread.
 */
void tr__ask_trace_guess(const struct tr_system *system, uint64_t ref, char *words);

/** Completes the trace of an ask with the text of a TRACED that has arrived. Owner only. */
void tr__ask_trace_arrived(struct worker *worker, struct ask *ask,
                           const struct tr_ask_trace *trace);

#endif
