/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The alarms of an awake actor.
 *
 * They are in the store, and here while the actor is awake. The clock of the host (durable/clock.c) looks
 * in the store for what is due and tells the actor by name; what it says is a hint: the actor looks at its own
 * plan. An alarm's end, or its retry, is stored with what its handler changed.
 */
#ifndef DURABLE_ALARM_H
#define DURABLE_ALARM_H

#include "calendar/alarm_plan.h"
#include "durable/actor.h"

/*
 * What is stored of an alarm: the size of the plan in two bytes, the lower first, the plan, the name of the
 * message with its NUL, the message as MessagePack.
 */
enum { ALARM_PLAN_AT = 2 };

struct alarm {
    struct list link; /* of its actor */
    struct alarm_plan plan;
    const tr_handler *handler; /* of the application, whose message it brings */
    size_t name_size;          /* its NUL counted */
    size_t bytes_size;         /* of the message, packed */
    char name[];               /* then the message */
};

/** Reads all alarms of an actor; those that are due are told to it. TR_STORE_CORRUPT, TR_NO_MEMORY, ... */
TR_MUST_CHECK tr_status tr__alarms_load(tr_self *self, struct durable_actor *actor);
void tr__alarms_drop(struct worker *worker, struct durable_actor *actor);
/** The earliest time at which one of them is due; TR_NEVER: none is. */
tr_time tr__alarms_next(const struct durable_actor *actor);
/** The clock says that an alarm may be due. */
tr_next tr__durable_alarm(tr_self *self, void *state, const void *message);
/** The turn of this frame was for an alarm, and failed: when it is tried again is stored. */
void tr__alarm_failed(struct worker *worker, struct durable_actor *actor,
                      struct durable_frame *frame);
/** A commit of such a turn is over and on its way to the disk, and what it did to the alarm too. */
void tr__alarm_commit_over(struct durable_actor *actor, struct durable_frame *frame);
/** Takes it out of its list, if it is in one. */
void tr__alarm_free(struct worker *worker, struct alarm *alarm);

#endif
