/* SPDX-License-Identifier: Apache-2.0 */
/** Turns of durable actors. Runs code before and after each handler of the application. */
#ifndef DURABLE_TURN_H
#define DURABLE_TURN_H

#include "calendar/alarm_plan.h"
#include "durable/actor.h"
#include "durable/record.h"
#include "durable/whole.h"

/** A hold that TR_KEEP_AWAKE or TR_WAIT_UNTIL has made. */
struct durable_hold {
    struct list link; /* link in durable_frame.holds */
    struct wake_lock wake_lock;
    uint64_t number;
};

/** A message that tr_connection_kept has returned to the turn, in memory of the turn. */
struct kept_message {
    struct kept_message *next;
    const tr_type *type;
    void *message;
};

/**
 * The record of a turn of a durable actor. It is not on the stack of the turn, because that stack
 * is lost when the turn crashes.
 */
struct durable_frame {
    struct tr_self *self;
    struct list saver;          /* while the turn waits in tr_save: link in commit.savers */
    struct wake_lock wake_lock; /* raised while the turn runs or waits */
    struct list holds;
    uint32_t lenient; /* how many TR_WAIT_UNTIL blocks the turn is inside */
    /* The turn runs the run handler, on_sleep or on_destroy. tr__frame_begin raises no wake lock
     * for these: the sleep machine has wake locks of its own for the hooks, and tr__durable_run
     * raises that of the run handler. */
    bool is_hook;
    enum sleep_reason hook;     /* which of on_sleep and on_destroy the turn runs; 0: none */
    bool is_run;                /* the turn runs the run handler, so it handles no request */
    enum sleep_counter counter; /* counter that wake_lock raises while `lenient` is 0 */
    bool is_barrier;            /* on_sleep and on_destroy wait until this turn has ended */
    struct list taker;          /* while the turn waits on a queue: link in durable_actor.takers */
    struct durable_call call;   /* where the message of the turn came from */
    struct whole whole;         /* the handler whose changes must be in one commit */
    struct kept_message *read;  /* messages that tr_connection_kept has returned */
    /* A wake lock that the turn raises when it takes an item, and drops at its next wait on a
     * queue. */
    struct wake_lock receive;
    /* The slot that names the items and the alarm of the turn, see durable/running.h. NULL: none. */
    struct running_slot *slot;
    bool has_items; /* the turn has taken an item, and may still have it */
    /* The members from here to is_alarm_gone are for a turn that handles an alarm. */
    bool has_alarm;
    char alarm[TR_ALARM_NAME_MAX + 1];
    struct alarm_mark mark;
    struct alarm_plan plan; /* plan of the alarm when its handler began */
    /* A copy of the alarm. It is needed because the handler may replace the alarm and then fail. */
    struct alarm *kept;
    bool is_alarm_gone; /* an earlier commit of this turn has replaced or removed the alarm */
    void *message;
    const tr_type *message_type;
    struct record_reads reads;
};

/** The functions of a durable actor that src/actor calls; see actor/cell/durable.h. */
extern const struct durable_hooks tr__durable_hooks;

/**
 * Calls a handler of the application from a handler of the runtime. `verb` is what TURN_VERB has
 * made in the handler of the runtime. Only while the handler of the application runs may the worker
 * get another thread.
 */
tr_next tr__durable_user(struct tr_self *self, struct tr_self *verb, const tr_handler *handler,
                         void *state, const void *message);
/**
 * Begins a turn. Returns false if there is no memory. The turn must then fail with TR_NO_MEMORY.
 */
TR_MUST_CHECK bool tr__frame_begin(struct tr_self *self, struct durable_actor *actor,
                                   const char *what, bool is_hook);
/**
 * Closes the last commit of a turn whose handler has returned `next`. If `must` is true, its
 * changes are stored now, whatever the durability of the kind is, and a key that was just created
 * is stored even without changes. Returns the result of the turn.
 */
tr_next tr__frame_done(struct tr_self *self, struct durable_actor *actor, tr_next next, bool must);
/** Ends a turn and frees its record. The turn may have succeeded or failed. */
void tr__frame_end(struct tr_self *self, struct durable_actor *actor);
/**
 * Whether this generation handles no more messages. If so, answers or forwards the message of this
 * turn, and sets *next to the result of the turn.
 */
bool tr__durable_is_over(struct tr_self *self, struct durable_actor *actor, tr_next *next);
/**
 * Runs the turn of a message of the application. Begins a frame, calls the handler, and ends the
 * frame. `verb` is as in tr__durable_user.
 */
tr_next tr__durable_handle(struct tr_self *self, struct tr_self *verb, struct durable_actor *actor,
                           const tr_handler *handler, void *state, const void *message);
/**
 * Sends an actor an ordinary message of the runtime. If the current turn has failed, the next
 * generation handles the message after tr_awake. If there is no memory, nothing is sent.
 */
void tr__durable_notify(struct worker *worker, struct cell *cell, const tr_type *type,
                        const void *message);
/** Handles a message of the application by calling its handler. */
tr_next tr__durable_call(tr_self *self, void *state, const void *message);
/** Handles the first message of a generation. Calls the handlers of tr_created and tr_awake. */
tr_next tr__durable_begin(tr_self *self, void *state, const void *message);
/** Begins the run handler of a generation that has started. */
void tr__durable_started(struct worker *worker, struct durable_actor *actor);
/** Handles tr_durable_hooked. Calls the handler of tr_sleeping or tr_destroying. */
tr_next tr__durable_hook(tr_self *self, void *state, const void *message);
/** Handles tr_durable_driven. Performs steps of the sleep machine while no other turn of the actor runs. */
tr_next tr__durable_drive_turn(tr_self *self, void *state, const void *message);

#endif
