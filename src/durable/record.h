/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Records of durable turns that have failed, or that somebody asked for: everything that is needed to run the turn again (docs/guide/replay.md).
 *
 * What a turn reads is kept while it runs: time and random numbers, keys of the store. Every turn keeps its replies
 * anyway. The state before the turn is the one that was stored last. A turn keeps a copy of that state when it waits
 * for the first time.
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

/** What a turn has read so far. */
struct record_reads {
    struct tr_record_item *items;
    size_t count;
    size_t capacity;
    size_t bytes;
    bool is_cut;
    /* with has_before: the state before the turn, because a part of the turn was stored since */
    bool has_before;
    unsigned char *before;
    size_t before_size;
};

/** A record that is run again. */
struct replay {
    const struct tr_record *record;
    size_t next[RECORD_WHATS]; /* for each record_what: index of the next item to look at */
    bool is_over;
    /* the turn has not failed, and its state at the end differs from the record */
    bool is_changed;
    bool has_strayed; /* the turn has read something that is not in the record */
    tr_status status;
    char text[256];
};

/**
 * Notes a number that a turn reads. In a replay, replaces it by the number of the record. It is durable_hooks.on_read.
 */
void tr__record_number(struct tr_self *self, uint32_t what, uint64_t *number);
/** As tr__record_number, for a value of the store. In a replay *value points to memory of the turn. */
void tr__record_key(struct tr_self *self, bool *is_there, tr_bytes *value);
/** As tr__record_key, for `*count` pairs. In a replay *list points to memory of the turn. */
void tr__record_list(struct tr_self *self, const tr_kv **list, size_t *count);
/** Keeps the state before the turn, when the turn waits for the first time. */
void tr__record_before(struct tr_self *self, struct durable_actor *actor);
/** Writes the record of a turn that has failed. In a replay, notes how the turn has failed. */
void tr__record_failed(struct tr_self *self, struct durable_actor *actor);
/**
 * Writes the record of a turn that has not failed, if tr__record_order has asked for it. In a
 * replay, compares the state with the state in the record.
 */
void tr__record_ended(struct tr_self *self, struct durable_actor *actor);
/** Whether a turn that does not fail has use for tr__record_before and tr__record_ended. */
bool tr__record_wants(const struct tr_self *self, const struct durable_actor *actor);
/**
 * Records the next `count` turns of an actor; an earlier call for another actor does not count any more. Any thread.
 */
void tr__record_order(struct durable_host *host, uint64_t actor, uint32_t count);
void tr__record_free(struct worker *worker, struct durable_frame *frame);
/**
 * Answers an ask whose request could not be sent, from the record that is run again. Returns true if the record has the
 * reply, which has then arrived. Otherwise sets *status to how the ask ends, if the record says so. It is
 * durable_hooks.on_unsent.
 */
bool tr__record_answer(struct tr_self *self, const struct ask *ask, tr_status *status);

#endif
