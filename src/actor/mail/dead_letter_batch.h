/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What becomes of the mail of an actor that has ended.
 *
 * Ordinarily each message becomes a dead letter at once: counted, kept among the last thousand, told
 * to those who subscribed, and its envelope goes back to its pool. After the deadline of a shutdown
 * millions may be left, and somebody waits for that; then a worker does the least that can be done:
 *
 *   1. Messages are counted, and its last thousand are noted. What would be pushed out of the last
 *      thousand of the system anyway is never written there.
 *   2. An envelope that holds its message stays where it is: its slab goes with the system. One with a
 *      block is given back as ever, for the message may hold buffers.
 *   3. The notes are handed in (tr__dead_letter_batches_end) every few milliseconds, when the worker has nothing
 *      to do, and before user code runs that need not come back.
 *   4. What is not yet handed in is in `pending`, and belongs to the total: who asks for that adds it.
 *
 * While somebody has subscribed, he is told of each as ever.
 */
#ifndef ACTOR_MAIL_DEAD_LETTER_BATCH_H
#define ACTOR_MAIL_DEAD_LETTER_BATCH_H

#include <troupe/message.h>
#include <troupe/status.h>

struct cell;
struct worker;

/** Between two rounds in which a worker hands in what it has. */
#define BURIALS_EVERY_NS (4 * TR_MILLISECOND)

/** A dead letter that is not yet handed in. */
struct dead_letter_batch_note {
    const tr_type *type;
    uint64_t from;
    uint64_t to;
    tr_status reason;
};

/** Hands in what is pending. Worker only. */
void tr__dead_letter_batches_end(struct worker *worker);
void tr__dead_letter_batches_free(struct worker *worker);

/** All mail of an actor becomes dead letters; its stash is empty, and its timers are dropped. Owner only. */
void tr__mail_bury(struct worker *worker, struct cell *cell, tr_status reason);

#endif
