/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests with an id: each has one effect and one answer, however often it is sent.
 *
 * Such a request comes as a tr_durable_once, which has the id and the packed message. Its turn is that of the handler
 * for the message. What became of it is stored in the batch of the part of the turn that answers it, under its id.
 *
 * 1. A request is open from its turn on until its answer is in a batch. Any turn may send the answer:
 *    tr__requests_close finds answers in the outbox when a commit is closed, by the asker and the number of the ask.
 * 2. If a part of its turn is stored before the part with the answer, the batch has REQUEST_BEGUN. After a crash nobody
 *    knows what the rest of the turn would have done, so a repeat is refused with TR_REQUEST_BEGUN.
 * 3. A repeat of an open request waits for its answer. A repeat of an answered one gets the stored answer. That is in
 *    memory until its commit is on disk, and then in the store.
 * 4. If the generation ends, open requests are forgotten. What they have not stored has not happened.
 *
 * Owner only.
 */
#ifndef DURABLE_REQUEST_H
#define DURABLE_REQUEST_H

#include "base/list.h"
#include "durable/actor.h"
#include "durable/request_record.h"

enum { REQUEST_BUCKETS = 32 };

/** The requests of a generation. It is made for its first request with an id. */
struct requests {
    struct list
        buckets[REQUEST_BUCKETS]; /* lists of struct request, by their ids, the newest first */
    struct list open;             /* list of struct request */
    struct list answered;         /* list of struct request, in the order of their commits */
    tr_status failed;             /* an answer of the open commit could not be kept; else TR_OK */
    /* What the store has, and batches that are on their way; see durable/request_ledger.c. */
    bool is_loaded;
    uint64_t first; /* number of the oldest; 0: there is none */
    uint64_t last;  /* the highest number so far */
    uint64_t first_before;
    uint64_t total;         /* bytes of all, those that were removed included */
    tr_time first_until_ns; /* until when the oldest counts; TR_NEVER: there is none */
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
    bool is_stored;   /* a batch has REQUEST_BEGUN */
    bool is_answered; /* `bytes` is its record */
    tr_time until_wall_ns;
    uint64_t commit; /* with is_answered: number of the commit that has it; 0: not submitted */
    unsigned char *bytes;
    size_t size;
    size_t id_size;
    char id[];
};

/** Handles a tr_durable_once. */
tr_next tr__durable_once(tr_self *self, void *state, const void *message);
/** Returns whether the message of this turn is an open request. */
bool tr__request_is_open(const struct tr_self *self, const struct durable_actor *actor);
/** Ends the open request of a turn, if it has one: its handler has returned `next`. The commit is still open. */
void tr__request_turn_over(struct tr_self *self, struct durable_actor *actor, tr_next next);

/** The open commit is about to be closed: puts the answers in its outbox into its batch. */
TR_MUST_CHECK tr_status tr__requests_close(struct worker *worker, struct durable_actor *actor);
/** The open commit stores something: if its turn is that of an open request, puts REQUEST_BEGUN into its batch. */
TR_MUST_CHECK tr_status tr__requests_begin(struct worker *worker, struct durable_actor *actor);
/** The batch of the open commit was submitted with this number. */
void tr__requests_submitted(struct durable_actor *actor, uint64_t commit);
/** The commit with this number is on disk. */
void tr__requests_stored(struct worker *worker, struct durable_actor *actor, uint64_t commit);
/** Forgets all requests. Repeats that wait are refused; they can be sent again. */
void tr__requests_drop(struct worker *worker, struct durable_actor *actor);
/** The function on_lost_answer of actor/cell/durable.h. */
void tr__request_lost_answer(struct tr_self *self, const struct durable_answer *answer);

#endif
