/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The trace of an ask that got no answer in time: who asked whom, and where the request is.
 *
 * Told on the worker of whoever was asked, since only that one may look at an actor: it finds the
 * request in a mailbox, or the turn that handles it, and when that turn waits for an ask of its own the
 * trace goes on with that one. Where it leaves a worker it travels as a STORY, with what was told so
 * far, and comes back to the asker as TOLD. A worker that does not answer within STORY_NS is named with
 * what it runs. The outcome of the ask is fixed before the trace begins; its turn goes on when that ends.
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
#define STORY_NS (1 * TR_MILLISECOND)

enum { STORY_MAX = 960 }; /* characters */

/** What travels: the request that is looked for, whose trace it is, and what was told so far. */
TR_MESSAGE(tr_ask_trace, (u64, asker), (u32, id), (u64, origin), (u32, origin_id), (u32, hops),
           (str, text));

/**
 * An ask has timed out. True: its trace is told, in ask->trace, and logged. False: it will be, by
 * tr__ask_trace_mail or, when nobody answers, by tr__ask_trace_give_up. Owner only.
 */
bool tr__ask_trace_begin(struct worker *worker, struct ask *ask);

/** The turn of an actor that waits and handles a request, alone or among others; NULL: none does. */
const struct tr_self *tr__ask_turn(const struct cell *cell, uint64_t asker, uint32_t id);
/**
 * Whether a request waits in a mailbox of an actor, or a turn of it that runs now has it; not so when it was
 * passed on, or is answered. Of a very long mailbox it is believed. Owner only.
 */
bool tr__ask_is_here(const struct worker *worker, const struct cell *cell, uint64_t asker,
                     uint32_t id);
/** Whether the reply to a request was put off. */
bool tr__ask_is_put_off(const struct cell *cell, uint64_t asker, uint32_t id);

/** A STORY has arrived at an actor that was asked; takes it. Owner only. */
void tr__ask_trace_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);

/** Nobody told the end of the trace in time. Owner only. */
void tr__ask_trace_give_up(struct worker *worker, struct ask *ask);

/** What can be said from outside of one who was asked: `words` has capacity for STORY_MAX. Any thread. */
void tr__ask_trace_guess(const struct tr_system *system, uint64_t ref, char *words);

/** A trace that was told elsewhere has come back. Owner only. */
void tr__ask_trace_arrived(struct worker *worker, struct ask *ask,
                           const struct tr_ask_trace *trace);

#endif
