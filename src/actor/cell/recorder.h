/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The interface between the actor layer and records of turns (durable/record.h): the functions that are called while a
 * turn is recorded, or run again from its record.
 *
 * src/durable records the turns of durable actors itself. The turns of an actor that is not durable are recorded while
 * turn_recorder.actor is its ref. The code that sets this member calls tr__follow_open before, so that each turn calls
 * tr__follow_begin.
 */
#ifndef ACTOR_CELL_RECORDER_H
#define ACTOR_CELL_RECORDER_H

#include <troupe/behavior.h>

#include "os/atomic.h"

struct ask;
struct tr_self;

struct turn_recorder {
    /*
     * ref of the actor that is not durable and whose turns are recorded; 0: none. Read by any
     * worker
     */
    atom64 actor;
    /**
     * Notes a time or a random number that a turn reads. While a record is run again, replaces the number by the noted
     * one. `what` is an enum record_what of durable/record_read.h. Called only if self->reads is set.
     */
    void (*on_read)(struct tr_self *self, uint32_t what, uint64_t *number);
    /**
     * Handles a request that the turn could not send. While a record is run again, may answer the request from the
     * record, and then returns true. Otherwise *status is the outcome of the ask. Called only if self->reads is set.
     */
    bool (*on_unsent)(struct tr_self *self, const struct ask *ask, tr_status *status);
    /** Notes that a turn begins, while `actor` is set. Sets self->reads if the turn is recorded. */
    void (*on_begin)(struct tr_self *self);
    /** Notes the end of a turn whose actor is not durable. self->reads must be set; this function sets it to NULL. */
    void (*on_end)(struct tr_self *self, tr_next next);
    /** Whether this memory belongs to the state of a record that is run again. Such memory is not freed. Any thread. */
    bool (*has_loaded)(const struct turn_recorder *recorder, const void *memory);
};

#endif
