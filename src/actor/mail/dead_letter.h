/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Dead letters: what was sent and not handled, and why.
 *
 * All are counted, the last thousand are kept, those who subscribed are told of each, and the log
 * has the first few of every second and a count of the rest. Under a lock: they are the exception.
 */
#ifndef ACTOR_MAIL_DEAD_LETTER_H
#define ACTOR_MAIL_DEAD_LETTER_H

#include <troupe/message.h>

#include "mem/source.h"

struct counters;
struct dead_letter_batches;
struct dead_letters;
struct tr_system;
struct worker;

/** TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__dead_letters_init(struct dead_letters *letters,
                                              const struct memory_source *source);
void tr__dead_letters_deinit(struct dead_letters *letters, const struct memory_source *source);

/** What became a dead letter. */
struct dead_letter {
    const tr_type *type;
    uint64_t from;
    uint64_t to;
    tr_status reason;
    const char *behavior; /* of the receiver, when it did not know the message; else NULL */
};

/** As many as tr__dead_letters takes at once: enough that the lock and the clock are for nothing. */
enum { DEAD_LETTERS_BATCH = 32 };

/**
 * Records dead letters, in this order, at most DEAD_LETTERS_BATCH. An actor that is killed may
 * leave a million of them, for which others wait. As tr__dead_letter.
 */
void tr__dead_letters(struct tr_system *system, struct worker *worker,
                      const struct dead_letter *letters, size_t count);

/**
 * Records a dead letter. `worker` is the caller's, NULL on any other thread. The counters are the
 * caller's business.
 */
void tr__dead_letter(struct tr_system *system, struct worker *worker,
                     const struct dead_letter *letter);

/** Records what a worker has noted after the deadline: see actor/mail/dead_letter_batch.h. Its worker only. */
void tr__dead_letters_hand_in(struct tr_system *system,
                              struct dead_letter_batches *dead_letter_batches);

#endif
