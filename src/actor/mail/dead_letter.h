/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Dead letters: messages that were sent and not handled, and why.
 *
 * All dead letters are counted, and records of the last TR_DEAD_LETTERS_MAX are kept. Each
 * subscriber receives a message about each dead letter. The log has the first few dead letters of
 * every second, and a count of the others. One lock protects all of this. That is fast enough,
 * because dead letters are rare.
 */
#ifndef ACTOR_MAIL_DEAD_LETTER_H
#define ACTOR_MAIL_DEAD_LETTER_H

#include <troupe/limits.h>
#include <troupe/message.h>
#include <troupe/system.h>

#include "mem/source.h"
#include "os/lock.h"

struct counters;
struct dead_letter_batches;
struct tr_system;
struct worker;

/** A ref, and its path as dead letters show it, kept for the next dead letter with this ref. */
struct dead_letter_path {
    uint64_t ref;
    bool is_known;
    char text[TR_DEAD_LETTER_PATH_MAX + 1];
};

/** Messages that were not delivered or not handled. */
struct dead_letters {
    struct lock lock;
    uint64_t total;
    tr_dead_letter_record *ring;       /* an array of TR_DEAD_LETTERS_MAX */
    struct dead_letter_path last_from; /* the path of the sender in the newest record */
    struct dead_letter_path last_to;
    uint64_t subscribers[TR_DEAD_LETTER_SUBSCRIBERS_MAX]; /* refs */
    /*
     * written by ATOM_POKE: a thread with many dead letters first checks without the lock whether
     * there are subscribers
     */
    size_t subscriber_count;
    /* Dead letters in the log, of which there is a limit for each second: */
    tr_time second_ns; /* when the current second began */
    uint32_t logged;
    uint64_t unlogged;
    /* Dead letters whose message is shown as text, of which there is a limit for each second: */
    tr_time texts_second_ns;
    uint32_t texts;
};

/** Makes an empty record of dead letters. Returns TR_OK or TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__dead_letters_init(struct dead_letters *letters,
                                              const struct memory_source *source);
void tr__dead_letters_deinit(struct dead_letters *letters, const struct memory_source *source);

/** One dead letter. */
struct dead_letter {
    const tr_type *type;
    const void *message; /* borrowed; NULL: the message is not shown */
    /* the size of the message with everything that it points to; 0: the size is type->size */
    size_t size;
    uint64_t from;
    uint64_t to;
    tr_status reason;
    /*
     * if the receiver has no handler for the message: the name of the receiver's behavior;
     * otherwise NULL
     */
    const char *behavior;
};

/**
 * The largest number of dead letters that one call of tr__dead_letters takes. With this many, the cost of the
 * lock and of reading the clock is negligible.
 */
enum { DEAD_LETTERS_BATCH = 32 };

/**
 * As tr__dead_letter, but records several dead letters in the given order, at most
 * DEAD_LETTERS_BATCH. For the mail of an actor that was killed: there may be a million messages,
 * and other actors wait until all of them are recorded.
 */
void tr__dead_letters(struct tr_system *system, struct worker *worker,
                      const struct dead_letter *letters, size_t count);

/**
 * Records a dead letter. `worker` is the worker that calls this, NULL on any other thread. The
 * caller updates the counters `dead` or `refused` itself.
 */
void tr__dead_letter(struct tr_system *system, struct worker *worker,
                     const struct dead_letter *letter);

/**
 * Copies the newest records, as tr_system_dead_letters does. Returns the number of all dead
 * letters, but without those that workers have only noted. So the newest record of the copy has the
 * returned number. Any thread.
 */
uint64_t tr__dead_letters_copy(struct tr_system *system, tr_dead_letter_record *last, size_t max,
                               size_t *count);

/**
 * Records the dead letters that a worker has only noted after the deadline of a shutdown: see
 * actor/mail/dead_letter_batch.h. Only on the thread of that worker.
 */
void tr__dead_letters_hand_in(struct tr_system *system,
                              struct dead_letter_batches *dead_letter_batches);

#endif
