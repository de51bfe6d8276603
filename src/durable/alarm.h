/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The alarms of an awake actor.
 *
 * Alarms are in the store, and in durable_actor.alarms while the actor is awake. The clock of the
 * host (durable/clock.c) finds due alarms in the store, and sends their names to the actor. Such a
 * message is only a hint. The actor itself checks the plan of the alarm. The end of an alarm, or
 * its retry, is stored together with the changes that the alarm's handler made.
 */
#ifndef DURABLE_ALARM_H
#define DURABLE_ALARM_H

#include "calendar/alarm_plan.h"
#include "durable/actor.h"

/*
 * The stored bytes of an alarm are, in this order: the size of its plan (two bytes, low byte
 * first), the plan, the name of the message with its NUL, the front of the message's shape, and the
 * message as MessagePack. The front is missing if the message has no shape, or if an earlier
 * version of the library has stored the alarm.
 */
enum { ALARM_PLAN_AT = 2 };

struct alarm {
    struct list link; /* link in durable_actor.alarms */
    struct alarm_plan plan;
    const tr_handler *handler; /* the application's handler for the alarm's message */
    size_t name_size;          /* length of the name, with its NUL */
    size_t bytes_size;         /* size of the packed message */
    /* The hash of the message's shape; see durable/message_shape.h. 0: the message has no shape. */
    uint64_t shape;
    char name[]; /* the name, and behind it the packed message */
};

/**
 * Reads all alarms of an actor. For each alarm that is due or must move, sends the actor a message.
 * Fails with TR_STORE_CORRUPT, TR_NO_MEMORY or another status of the store.
 */
TR_MUST_CHECK tr_status tr__alarms_load(tr_self *self, struct durable_actor *actor);
void tr__alarms_drop(struct worker *worker, struct durable_actor *actor);
/** Returns the earliest time at which an alarm of the actor is due, or TR_NEVER. */
tr_time tr__alarms_next(const struct durable_actor *actor);
/** Handles tr_durable_due. If the alarm is due, calls its handler. */
tr_next tr__durable_alarm(tr_self *self, void *state, const void *message);
/** Stores when an alarm is tried again after its turn has failed. `frame` belongs to that turn. */
void tr__alarm_failed(struct worker *worker, struct durable_actor *actor,
                      struct durable_frame *frame);
/**
 * Adds a failure of an alarm to the open commit. The reason is that an earlier process has ended
 * while it handled this occurrence of the alarm. `failures` is how often the occurrence had failed
 * before. Does nothing if the alarm is gone, or if this failure was already stored. Fails with
 * TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__alarm_crashed(tr_self *self, struct durable_actor *actor,
                                          const char *name, struct alarm_mark mark,
                                          uint32_t failures);
/**
 * Notes in `frame` whether a commit of this turn replaces or removes the alarm that the turn
 * handles. The commit is being submitted now.
 */
void tr__alarm_commit_over(struct durable_actor *actor, struct durable_frame *frame);
/** Frees an alarm. If the alarm is in a list, removes it from the list first. */
void tr__alarm_free(struct worker *worker, struct alarm *alarm);

#endif
