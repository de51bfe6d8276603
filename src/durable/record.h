/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Records of durable turns that have failed, or that somebody asked for: everything that is needed
 * to run the turn again (docs/guide/replay.md).
 *
 * While a turn runs, the times, random numbers and keys that it reads are kept. Its replies are
 * kept in any case. The state before the turn is the one that was stored last. When the turn waits
 * for the first time, a copy of that state is kept.
 */
#ifndef DURABLE_RECORD_H
#define DURABLE_RECORD_H

#include <troupe/durable.h>

#include "durable/record_read.h"

struct ask;
struct durable_actor;
struct durable_frame;
struct durable_host;
struct tr_self;
struct worker;

/** The values that a turn has read so far. */
struct record_reads {
    struct tr_record_item *items;
    size_t count;
    size_t capacity;
    size_t bytes;
    bool is_cut;
    /* the state before the turn, with has_before: it is kept here once a part of the turn was
     * stored */
    bool has_before;
    unsigned char *before;
    size_t before_size;
};

/** A record that is run again. */
struct replay {
    const struct tr_record *record;
    /* for each kind of read (record_what): index of the next item to look at */
    size_t next[RECORD_WHATS];
    bool is_over;
    /* the turn has not failed, and its state at the end differs from the record */
    bool is_changed;
    bool has_strayed; /* the turn has read something that is not in the record */
    tr_status status;
    char text[256];
};

/**
 * Notes a number that a turn reads. In a replay, replaces the number by that of the record.
 * Implements durable_hooks.on_read.
 */
void tr__record_number(struct tr_self *self, uint32_t what, uint64_t *number);
/** As tr__record_number, for a value of the store. In a replay *value points to memory of the turn. */
void tr__record_key(struct tr_self *self, bool *is_there, tr_bytes *value);
/** As tr__record_key, for `*count` pairs. In a replay *list points to memory of the turn. */
void tr__record_list(struct tr_self *self, const tr_kv **list, size_t *count);
/** Called when a turn waits for the first time. Keeps the state before the turn. */
void tr__record_before(struct tr_self *self, struct durable_actor *actor);
/**
 * Writes the record of a turn that has failed. In a replay, notes how the turn that is run again
 * has failed.
 */
void tr__record_failed(struct tr_self *self, struct durable_actor *actor);
/**
 * Writes the record of a turn that has not failed, if tr__record_order has asked for it. In a
 * replay, compares the state with the state in the record.
 */
void tr__record_ended(struct tr_self *self, struct durable_actor *actor);
/**
 * Whether tr__record_before and tr__record_ended must be called for this turn, even if it does not
 * fail.
 */
bool tr__record_wants(const struct tr_self *self, const struct durable_actor *actor);
/**
 * Records the next `count` turns of an actor. This replaces an earlier call, even one for another
 * actor. Any thread.
 */
void tr__record_order(struct durable_host *host, uint64_t actor, uint32_t count);
void tr__record_free(struct worker *worker, struct durable_frame *frame);
/**
 * In a replay, answers an ask whose request could not be sent. If the record has the reply,
 * delivers it and returns true. Otherwise, if the record has the status with which the ask ended,
 * sets *status to it. It is durable_hooks.on_unsent.
 */
bool tr__record_answer(struct tr_self *self, const struct ask *ask, tr_status *status);

#endif
