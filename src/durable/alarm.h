/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The alarms of an awake actor.
 *
 * Alarms are in the store, and in durable_actor.alarms while the actor is awake. The clock of the
 * host (durable/clock.c) finds due alarms in the store, and sends their names to the actor. This is
 * only a hint: the actor itself checks the plan of the alarm. The end of an alarm, or its retry, is
 * stored together with the changes that its handler made.
 */
#ifndef DURABLE_ALARM_H
#define DURABLE_ALARM_H

#include "calendar/alarm_plan.h"
#include "durable/actor.h"

/*
 * The stored bytes of an alarm: the size of its plan (two bytes, low byte first), the plan, the name of the message
 * with its NUL, the front of the message's shape (missing if an earlier version of the library has stored the alarm),
 * the message as MessagePack.
 */
enum { ALARM_PLAN_AT = 2 };

struct alarm {
    struct list link; /* link in durable_actor.alarms */
    struct alarm_plan plan;
    const tr_handler *handler; /* handler of the application for the alarm's message */
    size_t name_size;          /* length of the name, with its NUL */
    size_t bytes_size;         /* size of the packed message */
    /* hash of the message's shape; 0: the message has none. See durable/message_shape.h */
    uint64_t shape;
    char name[]; /* the name, then the packed message */
};

/**
 * Reads all alarms of an actor, and sends it a message for each that is due. Fails with
 * TR_STORE_CORRUPT, TR_NO_MEMORY, ...
 */
TR_MUST_CHECK tr_status tr__alarms_load(tr_self *self, struct durable_actor *actor);
void tr__alarms_drop(struct worker *worker, struct durable_actor *actor);
/** Returns the earliest time at which an alarm of the actor is due, or TR_NEVER. */
tr_time tr__alarms_next(const struct durable_actor *actor);
/** Handles tr_durable_due: calls the handler of an alarm if the alarm is due. */
tr_next tr__durable_alarm(tr_self *self, void *state, const void *message);
/** Stores when an alarm is tried again after its turn has failed. `frame` is the frame of that turn. */
void tr__alarm_failed(struct worker *worker, struct durable_actor *actor,
                      struct durable_frame *frame);
/**
 * Adds a failure of an alarm to the open commit, because an earlier process has ended while it
 * handled this occurrence of the alarm. `failures` is how often the occurrence had failed before
 * that. Does nothing if the alarm is gone, or if this failure was stored already. Fails with
 * TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__alarm_crashed(tr_self *self, struct durable_actor *actor,
                                          const char *name, struct alarm_mark mark,
                                          uint32_t failures);
/**
 * Notes whether the alarm that this turn handles was replaced or removed by the commit of this turn
 * that is being submitted.
 */
void tr__alarm_commit_over(struct durable_actor *actor, struct durable_frame *frame);
/** Frees an alarm. If it is in a list, removes it from the list first. */
void tr__alarm_free(struct worker *worker, struct alarm *alarm);

#endif
