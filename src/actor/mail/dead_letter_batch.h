/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What becomes of the mail of an actor that has ended.
 *
 * Usually each message becomes a dead letter at once. The worker counts it, writes a record of it
 * among the last thousand, notifies each subscriber, and returns its envelope to its pool. After
 * the deadline of a shutdown millions of messages may be left, and a thread waits for the end of
 * the shutdown. Then a worker does only what is necessary:
 *
 *   1. The worker counts its messages, and notes the last thousand of them. So most messages are
 *      never written to the records of the system, where later messages would replace them.
 *   2. An envelope that contains its message does not go back to its pool, because its slab is
 *      freed with the system. An envelope with a block goes back as usual, because its message may
 *      hold buffers.
 *   3. The worker hands in its notes (tr__dead_letter_batches_end) every few milliseconds, when it
 *      has nothing to do, and before it runs user code, which may never return.
 *   4. `pending` counts the dead letters that are not handed in yet. They belong to the total, so a
 *      reader of the total adds `pending`.
 *
 * While there are subscribers, messages become dead letters in the usual way.
 */
#ifndef ACTOR_MAIL_DEAD_LETTER_BATCH_H
#define ACTOR_MAIL_DEAD_LETTER_BATCH_H

#include <troupe/message.h>
#include <troupe/status.h>

struct cell;
struct worker;

/** How often a worker hands in its notes. */
#define BURIALS_EVERY_NS (4 * TR_MILLISECOND)

/** A note: a dead letter that the worker has not handed in yet. */
struct dead_letter_batch_note {
    const tr_type *type;
    uint64_t from;
    uint64_t to;
    uint32_t size;
    tr_status reason;
};

/** Hands in the notes of this worker. Worker only. */
void tr__dead_letter_batches_end(struct worker *worker);
void tr__dead_letter_batches_free(struct worker *worker);

/**
 * Makes dead letters of all mail of an actor. The caller has emptied the actor's stash and dropped
 * its timers. Owner only.
 */
void tr__mail_bury(struct worker *worker, struct cell *cell, tr_status reason);

#endif
