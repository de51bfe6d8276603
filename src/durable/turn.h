/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Turns of durable actors: what runs before and after each handler of the application.
 */
#ifndef DURABLE_TURN_H
#define DURABLE_TURN_H

#include "calendar/alarm_plan.h"
#include "durable/actor.h"

/** A hold of TR_KEEP_AWAKE or TR_WAIT_UNTIL. */
struct durable_hold {
    struct list link; /* of its turn */
    struct wake_lock wake_lock;
    uint64_t number;
};

/** What a turn of a durable actor has. Not on its stack, which is gone when it has crashed. */
struct durable_frame {
    struct tr_self *self;
    struct list saver;          /* of the commit that it waits for */
    struct wake_lock wake_lock; /* it runs, or waits */
    struct list holds;
    uint32_t lenient;       /* blocks of TR_WAIT_UNTIL that it is in */
    bool is_hook;           /* on_sleep or on_destroy: told to the machine by other means */
    enum sleep_reason hook; /* which of them; 0: none */
    bool is_run;            /* the run handler: no request */
    bool is_barrier;        /* no hook begins before it has ended */
    struct list taker;      /* of the actor, while it waits on a queue */
    /* Of a turn for an alarm. */
    bool has_alarm;
    char alarm[TR_ALARM_NAME_MAX + 1];
    struct alarm_mark mark;
    struct alarm_plan plan; /* as it was when its handler began */
    struct alarm *kept;     /* a copy of it, as the handler may replace it and then fail */
    bool is_alarm_gone;     /* an earlier commit of the handler has replaced it, or taken it back */
    void *message;
    const tr_type *message_type;
};

/** What src/actor calls in a durable actor; see actor/cell/durable.h. */
extern const struct durable_hooks tr__durable_hooks;

/**
 * Calls a handler of the application from a function of the runtime that is called as one. `verb` is what
 * TURN_VERB made there: while the handler runs its thread may be replaced, before and after it may not.
 */
tr_next tr__durable_user(struct tr_self *self, struct tr_self *verb, const tr_handler *handler,
                         void *state, const void *message);
/** Begins a turn; false: no memory, and the turn is to fail with TR_NO_MEMORY. */
TR_MUST_CHECK bool tr__frame_begin(struct tr_self *self, struct durable_actor *actor,
                                   const char *what, bool is_hook);
/** Its handler has returned: the last commit ends. `must`: whether something has changed or not. */
tr_next tr__frame_done(struct tr_self *self, struct durable_actor *actor, tr_next next, bool must);
/** It is over, however it ended. */
void tr__frame_end(struct tr_self *self, struct durable_actor *actor);
/** Calls the handler of the application for a message. */
tr_next tr__durable_call(tr_self *self, void *state, const void *message);
/** The first turn of a generation: tr_created, tr_awake. */
tr_next tr__durable_begin(tr_self *self, void *state, const void *message);
/** It has started: the run handler begins. */
void tr__durable_started(struct worker *worker, struct durable_actor *actor);
/** tr_sleeping or tr_destroying. */
tr_next tr__durable_hook(tr_self *self, void *state, const void *message);
/** Drives the machine where nothing else of the actor runs. */
tr_next tr__durable_drive_turn(tr_self *self, void *state, const void *message);

#endif
