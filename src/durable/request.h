/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests with an id. Such a request has one effect and one answer, however often it is sent.
 *
 * A request with an id comes as a tr_durable_once, which has the id and the packed message. Its
 * turn is the turn of the handler for the packed message. Its outcome is stored under its id. That
 * outcome is in the same batch as the changes of the part of the turn that answers the request.
 *
 * 1. A request is open from its turn on until its answer is in a batch. Any turn may send the
 *    answer: tr__requests_close finds answers in the outbox when a commit is closed, by the asker
 *    and the number of the ask.
 * 2. If a part of its turn is stored before the part with the answer, the batch has the outcome
 *    REQUEST_BEGUN. If a crash follows, it is not known what the rest of the turn would have done.
 *    So a repeat is then refused with TR_REQUEST_BEGUN.
 * 3. A repeat of an open request waits for the answer. A repeat of an answered request gets the
 *    stored answer. Until the commit with the answer is on disk, the answer is in memory; later it
 *    is read from the store.
 * 4. When the generation ends, open requests are forgotten. Changes of their turns that were not
 *    stored have not happened.
 *
 * Only the owner of the actor uses them.
 */
#ifndef DURABLE_REQUEST_H
#define DURABLE_REQUEST_H

#include "base/list.h"
#include "durable/actor.h"
#include "durable/request_record.h"

struct durable_answer;

enum { REQUEST_BUCKETS = 32 };

/** The requests of a generation. This struct is allocated for the first request with an id. */
struct requests {
    /* Hash table of all requests. A bucket is a list of struct request, the newest first. */
    struct list buckets[REQUEST_BUCKETS];
    struct list open;     /* list of struct request */
    struct list answered; /* list of struct request, in the order of their commits */
    /* If not TR_OK: why an answer of the open commit could not be put into its batch. */
    tr_status failed;
    /* The next members count the records in the store and in batches that are on their way; see
     * durable/request_ledger.c. */
    bool is_loaded;
    uint64_t first; /* number of the oldest record; 0: there is none */
    uint64_t last;  /* highest number that a record has had so far */
    uint64_t first_before;
    uint64_t total;         /* bytes of all records so far, including removed ones */
    tr_time first_until_ns; /* when the oldest record expires; TR_NEVER: there is none */
};

struct request {
    struct list link;    /* link in its bucket */
    struct list state;   /* link in requests.open or requests.answered */
    struct list repeats; /* list of struct request_repeat */
    uint32_t repeat_count;
    uint32_t ask; /* number of the ask */
    uint64_t asker;
    const tr_type *type;
    struct request_print print;
    bool is_stored;   /* a batch has the outcome REQUEST_BEGUN of this request */
    bool is_answered; /* the request is answered, and `bytes` is its record */
    tr_time until_wall_ns;
    /* With is_answered: the number of the commit that has the record. 0: that commit was not
     * submitted yet. */
    uint64_t commit;
    unsigned char *bytes;
    size_t size;
    size_t id_size;
    char id[];
};

/** Handles a tr_durable_once. */
tr_next tr__durable_once(tr_self *self, void *state, const void *message);
/** Whether the message of this turn is an open request. */
bool tr__request_is_open(const struct tr_self *self, const struct durable_actor *actor);
/**
 * If the turn handles an open request, ends that request. Call when the handler has returned `next`
 * and the commit is still open.
 */
void tr__request_turn_over(struct tr_self *self, struct durable_actor *actor, tr_next next);

/**
 * Puts the answers that are in the outbox into the batch of the open commit. The caller is about to
 * close the commit.
 */
TR_MUST_CHECK tr_status tr__requests_close(struct worker *worker, struct durable_actor *actor);
/**
 * If the turn handles an open request, puts REQUEST_BEGUN into the batch of the open commit. Call only if the commit
 * stores something.
 */
TR_MUST_CHECK tr_status tr__requests_begin(struct worker *worker, struct durable_actor *actor);
/** Notes that the batch of the open commit was submitted with this number. */
void tr__requests_submitted(struct durable_actor *actor, uint64_t commit);
/**
 * Forgets the answers of all commits with numbers up to `commit`. They are on disk, and are read
 * from there.
 */
void tr__requests_stored(struct worker *worker, struct durable_actor *actor, uint64_t commit);
/** Forgets all requests. Refuses repeats that wait; their senders can send them again. */
void tr__requests_drop(struct worker *worker, struct durable_actor *actor);
/** Implements durable_hooks.on_lost_answer; see actor/cell/durable.h. */
void tr__request_lost_answer(struct tr_self *self, const struct durable_answer *answer);

#endif
