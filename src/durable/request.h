/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests with an id: each has one effect and one answer, however often it is sent.
 *
 * Such a request comes as a tr_durable_once, which has the id and the packed message. Its turn is
 * the turn of the handler for the message. Its outcome is stored under its id, in the same batch as
 * the changes of the part of the turn that answers it.
 *
 * 1. A request is open from its turn on until its answer is in a batch. Any turn may send the
 *    answer: tr__requests_close finds answers in the outbox when a commit is closed, by the asker
 *    and the number of the ask.
 * 2. If a part of its turn is stored before the part with the answer, the batch has REQUEST_BEGUN.
 *    After a crash nobody knows what the rest of the turn would have done, so a repeat is refused
 *    with TR_REQUEST_BEGUN.
 * 3. A repeat of an open request waits for its answer. A repeat of an answered one gets the stored
 *    answer. The answer is in memory until its commit is on disk, and then in the store.
 * 4. If the generation ends, open requests are forgotten. What they have not stored has not
 *    happened.
 *
 * Owner only.
 */
#ifndef DURABLE_REQUEST_H
#define DURABLE_REQUEST_H

#include "base/list.h"
#include "durable/actor.h"
#include "durable/request_record.h"

enum { REQUEST_BUCKETS = 32 };

/** The requests of a generation. The record is made for the first request with an id. */
struct requests {
    struct list
        /* hash table of lists of struct request, by their ids; in each list the newest first */
        buckets[REQUEST_BUCKETS];
    struct list open;     /* list of struct request */
    struct list answered; /* list of struct request, in the order of their commits */
    /* not TR_OK: why an answer of the open commit could not be put into its batch */
    tr_status failed;
    /* The records in the store and in batches that are on their way; see durable/request_ledger.c. */
    bool is_loaded;
    uint64_t first; /* number of the oldest record; 0: there is none */
    uint64_t last;  /* the highest number of a record so far */
    uint64_t first_before;
    uint64_t total;         /* bytes of all records, including those that were removed */
    tr_time first_until_ns; /* when the oldest record becomes too old; TR_NEVER: there is none */
};

struct request {
    struct list link;    /* link in a bucket */
    struct list state;   /* link in `open` or `answered` */
    struct list repeats; /* list of struct request_repeat */
    uint32_t repeat_count;
    uint32_t ask; /* number of the ask */
    uint64_t asker;
    const tr_type *type;
    struct request_print print;
    bool is_stored;   /* REQUEST_BEGUN of this request is in a batch */
    bool is_answered; /* the request is answered: `bytes` is its record */
    tr_time until_wall_ns;
    /* with is_answered: number of the commit that has the record; 0: not submitted */
    uint64_t commit;
    unsigned char *bytes;
    size_t size;
    size_t id_size;
    char id[];
};

/** Handles a tr_durable_once. */
tr_next tr__durable_once(tr_self *self, void *state, const void *message);
/** Returns whether the message of this turn is an open request. */
bool tr__request_is_open(const struct tr_self *self, const struct durable_actor *actor);
/**
 * Ends the open request of a turn, if it has one. Call when its handler has returned `next` and the
 * commit is still open.
 */
void tr__request_turn_over(struct tr_self *self, struct durable_actor *actor, tr_next next);

/**
 * Puts the answers that are in the outbox into the batch of the open commit, which is about to
 * close.
 */
TR_MUST_CHECK tr_status tr__requests_close(struct worker *worker, struct durable_actor *actor);
/**
 * Puts REQUEST_BEGUN into the batch of the open commit, if the turn handles an open request. Call if the commit stores
 * something.
 */
TR_MUST_CHECK tr_status tr__requests_begin(struct worker *worker, struct durable_actor *actor);
/** Notes that the batch of the open commit was submitted with this number. */
void tr__requests_submitted(struct durable_actor *actor, uint64_t commit);
/** Forgets the answers of the commit with this number, because they are on disk. */
void tr__requests_stored(struct worker *worker, struct durable_actor *actor, uint64_t commit);
/** Forgets all requests. Waiting repeats are refused; their senders can send them again. */
void tr__requests_drop(struct worker *worker, struct durable_actor *actor);
/** Implements durable_hooks.on_lost_answer; see actor/cell/durable.h. */
void tr__request_lost_answer(struct tr_self *self, const struct durable_answer *answer);

#endif
