/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Records of turns. A record has everything that is needed to run the turn again
 * (docs/guide/replay.md). If a turn of a durable actor fails, it leaves a record, unless the kind
 * has events or the runtime has begun the turn by itself. So does any turn whose record somebody
 * has asked for.
 *
 * While a turn runs, the values that it reads are kept: time, random numbers, and keys of the store. Every turn keeps
 * its replies anyway. For a turn of a durable actor, the state before the turn is the state that was stored last. The
 * turn keeps a copy of that state when it waits for the first time. Turns of other actors copy their state when they
 * begin (durable/record_plain.c).
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
    /* With has_before: a copy of the state before the turn. */
    bool has_before;
    unsigned char *before;
    size_t before_size;
    /* behavior of the actor when the turn began; NULL: the actor is durable */
    const tr_behavior *behavior;
};

/** A record that is being run again. */
struct replay {
    const struct tr_record *record;
    /* For each kind of read (record_what): the index of the item at which the next search
     * begins. */
    size_t next[RECORD_WHATS];
    bool is_over;
    /* The turn has not failed, but its state at the end differs from the state in the record. */
    bool is_changed;
    bool has_strayed; /* the turn has read something that is not in the record */
    tr_status status;
    char text[256];
};

/**
 * Says where the turns of a program are recorded, and which turns are recorded. Any thread reads
 * it.
 */
struct recorder {
    struct turn_recorder base; /* must be the first member; base.actor is changed under `lock` */
    struct tr_system *system;
    /* The directory of the store. NULL: nothing is recorded. Written before the start. */
    const char *directory;
    bool has_secrets; /* records have the values of secret fields; written before the start */
    /* when all names are taken: before this time no failed turn replaces a record */
    atom64 again_ns;
    /* the next turns of this actor are recorded, even if they do not fail; 0: none */
    atom64 durable_actor;
    atom32 durable_left;   /* how many turns of durable_actor must still be recorded */
    struct lock lock;      /* protects the next two members */
    uint32_t plain_left;   /* how many turns of base.actor must still be recorded */
    bool only_failing;     /* of base.actor, only turns that fail are recorded */
    struct replay *replay; /* the record that is being run again; NULL: none */
    /* In a replay of an actor that is not durable: the block of its state. */
    const void *replayed_state;
    size_t replayed_size;
};

/** Makes `recorder` the recorder of a system that has not started. */
void tr__recorder_init(struct recorder *recorder, struct tr_system *system, const char *directory,
                       bool has_secrets);
/** Returns the recorder of the program. Returns NULL if there is none. Any thread. */
static inline struct recorder *recorder_in(const struct tr_system *system)
{
    return (struct recorder *)(void *)system->durable.recorder;
}
static inline struct recorder *recorder_of(const struct tr_self *self)
{
    return recorder_in(self->worker->system);
}

/**
 * Notes a number that a turn has read. In a replay, replaces the number by the one in the record. Implements
 * turn_recorder.on_read.
 */
void tr__record_number(struct tr_self *self, uint32_t what, uint64_t *number);
/**
 * Notes a value of the store that a turn has read. In a replay, replaces the value by the one in the record, which is
 * in memory of the turn.
 */
void tr__record_key(struct tr_self *self, bool *is_there, tr_bytes *value);
/**
 * Notes `*count` pairs that a turn has read. In a replay, replaces the pairs by those in the
 * record, which are in memory of the turn.
 */
void tr__record_list(struct tr_self *self, const tr_kv **list, size_t *count);
/**
 * Keeps the state from before a turn of a durable actor. Call when the turn waits for the first
 * time.
 */
void tr__record_before(struct tr_self *self, struct durable_actor *actor);
/**
 * Writes the record of a turn that has failed. If `is_ordered`, somebody has asked for this record, and it may replace
 * an older record at once. In a replay, notes how the turn has failed.
 */
void tr__record_failed(struct tr_self *self, bool is_ordered);
/**
 * Writes the record of a turn that has not failed. In a replay, compares the state with the state in the record.
 */
void tr__record_ended(struct tr_self *self);
/**
 * Whether tr__record_before and tr__record_ended are needed for this turn of a durable actor even if it does not fail.
 */
bool tr__record_wants(const struct tr_self *self);
/**
 * Asks for records of the next `count` turns of a durable actor. Replaces what an earlier call has asked for. Any
 * thread.
 */
void tr__record_order(struct recorder *recorder, uint64_t actor, uint32_t count);
/** Notes that one of the turns for which tr__record_order has asked was recorded. */
void tr__record_order_taken(struct tr_self *self);
void tr__record_free(struct worker *worker, struct record_reads *reads);
/**
 * Answers an ask of a turn that is being run again. Called when the request of the ask could not be
 * sent. If the record has the reply, sends the reply to the actor and returns true. Otherwise
 * returns false. If the record has no reply but a status with which the ask ended, sets *status to
 * this status. Implements turn_recorder.on_unsent.
 */
bool tr__record_answer(struct tr_self *self, const struct ask *ask, tr_status *status);

/* ---- For durable/record_plain.c. ---- */

/**
 * Packs a message. If `has_secrets` is false, leaves out its secrets. The bytes are memory of the worker's source.
 * Returns no bytes if the message cannot be packed.
 */
tr_bytes tr__record_pack(struct worker *worker, const tr_type *type, const void *message,
                         bool has_secrets);
/**
 * Returns the type of the message that a turn handles, and sets *message to the message. Returns NULL if the runtime
 * has begun the turn by itself, so that there is no message of the program.
 */
const tr_type *tr__record_handled(const struct tr_self *self, const void **message);
/** Returns the descriptor of the state of the turn's actor. Returns NULL if there is none. */
const tr_type *tr__record_state_type(const struct tr_self *self);

#endif
