/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Records of turns: everything that is needed to run a turn again (docs/guide/replay.md). Turns of durable actors that fail
 * leave one, and turns of any actor that somebody asked for.
 *
 * What a turn reads is kept while it runs: time and random numbers, keys of the store. Every turn keeps its replies
 * anyway. The state before the turn of a durable actor is the one that was stored last. A turn keeps a copy of that state
 * when it waits for the first time. Turns of other actors copy their state when they begin: durable/record_plain.c.
 */
#ifndef DURABLE_RECORD_H
#define DURABLE_RECORD_H

#include <troupe/durable.h>

#include "actor/cell/recorder.h"
#include "actor/cell/system.h"
#include "durable/record_read.h"

struct ask;
struct durable_actor;
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
    const tr_behavior *behavior; /* the actor's when the turn began; NULL: the actor is durable */
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

/** Part of a program: where its turns are recorded, and which ones. Any thread reads it. */
struct recorder {
    struct turn_recorder base; /* first; base.actor is changed under `lock` */
    struct tr_system *system;
    const char *
        directory; /* of the store; NULL: nothing is recorded. Written before the start, as is the next one */
    bool has_secrets; /* records have the values of secret fields */
    atom64 again_ns; /* if all names are taken: no failed turn replaces a record before this time */
    atom64 durable_actor;  /* the next turns of this actor are recorded, failed or not; 0: none */
    atom32 durable_left;   /* how many turns of durable_actor are still to be recorded */
    struct lock lock;      /* protects the next two */
    uint32_t plain_left;   /* how many turns of base.actor are still to be recorded */
    bool only_failing;     /* only turns of base.actor that fail are recorded */
    struct replay *replay; /* a record that is run again; NULL: none */
    const void *
        replayed_state; /* of an actor that is not durable: the block of its state in the replay, and its size */
    size_t replayed_size;
};

/** Makes `recorder` the recorder of a system that has not started. */
void tr__recorder_init(struct recorder *recorder, struct tr_system *system, const char *directory,
                       bool has_secrets);
/** Returns the recorder of the program; NULL: there is none. Any thread. */
static inline struct recorder *recorder_in(const struct tr_system *system)
{
    return (struct recorder *)(void *)system->durable.recorder;
}
static inline struct recorder *recorder_of(const struct tr_self *self)
{
    return recorder_in(self->worker->system);
}

/**
 * Notes a number that a turn reads. In a replay, replaces it by the number of the record. It is turn_recorder.on_read.
 */
void tr__record_number(struct tr_self *self, uint32_t what, uint64_t *number);
/** As tr__record_number, for a value of the store. In a replay *value points to memory of the turn. */
void tr__record_key(struct tr_self *self, bool *is_there, tr_bytes *value);
/** As tr__record_key, for `*count` pairs. In a replay *list points to memory of the turn. */
void tr__record_list(struct tr_self *self, const tr_kv **list, size_t *count);
/** Keeps the state before the turn of a durable actor, when the turn waits for the first time. */
void tr__record_before(struct tr_self *self, struct durable_actor *actor);
/**
 * Writes the record of a turn that has failed. In a replay, notes how the turn has failed. `is_ordered`: somebody asked for it, and it
 * may replace an older record at once.
 */
void tr__record_failed(struct tr_self *self, bool is_ordered);
/** Writes the record of a turn that has not failed. In a replay, compares the state with the state in the record. */
void tr__record_ended(struct tr_self *self);
/** Whether a turn of a durable actor that does not fail has use for tr__record_before and tr__record_ended. */
bool tr__record_wants(const struct tr_self *self);
/**
 * Records the next `count` turns of a durable actor. Replaces the order of an earlier call. Any thread.
 */
void tr__record_order(struct recorder *recorder, uint64_t actor, uint32_t count);
/** Counts a turn of tr__record_order that was recorded. */
void tr__record_order_taken(struct tr_self *self);
void tr__record_free(struct worker *worker, struct record_reads *reads);
/**
 * Answers an ask whose request could not be sent, from the record that is run again. Returns true if the record has the
 * reply, which has then arrived. Otherwise sets *status to how the ask ends, if the record says so. It is
 * turn_recorder.on_unsent.
 */
bool tr__record_answer(struct tr_self *self, const struct ask *ask, tr_status *status);

/* ---- For durable/record_plain.c. ---- */

/**
 * Packs a message, without its secrets if they are not wanted. The bytes are memory of the worker's source. No bytes: the
 * message cannot be packed.
 */
tr_bytes tr__record_pack(struct worker *worker, const tr_type *type, const void *message,
                         bool has_secrets);
/**
 * Returns the type of the message that a turn handles, and sets *message to it. NULL: the runtime has begun the turn
 * by itself, so there is no message of the program.
 */
const tr_type *tr__record_handled(const struct tr_self *self, const void **message);
/** Returns the descriptor of the state of the actor; NULL: it has none. */
const tr_type *tr__record_state_type(const struct tr_self *self);

#endif
