/* SPDX-License-Identifier: Apache-2.0 */
/**
 * TURN_VERB: what a function does first when user code has called it, and last before it returns to
 * user code. See actor/system/thread_handoff.h.
 */
#ifndef ACTOR_CELL_VERB_H
#define ACTOR_CELL_VERB_H

#include "actor/cell/upcalls.h"
#include "actor/cell/worker.h"
#include "os/atomic.h"
#include "sched/claim.h"

/**
 * Enters the runtime from user code. Returns the turn, for verb_end. Returns NULL if verb_end has
 * nothing to do.
 */
static inline struct tr_self *verb_begin(const struct tr_self *caller)
{
    struct tr_self *self = (struct tr_self *)(uintptr_t)caller;
    if (__builtin_expect(!self || !self->claim, 1))
        return NULL;
    if (atomptr_load(&self->claim->user, ATOM_RELAXED) != self)
        return NULL; /* another verb, or the runtime itself, has called this verb */
    if (__builtin_expect(!claim_come_in(self->claim), 0))
        tr__handoff_return(self);
    return self;
}

static inline void verb_end(struct tr_self **self)
{
    /*
     * Reads the claim of the turn again, because the turn may have another claim after a wait in
     * the verb.
     */
    if (__builtin_expect(*self != NULL, 0))
        claim_go_out((*self)->claim, *self);
}

/**
 * Calls turn_recorder.on_read for a number that a turn reads. Returns the number that the turn gets
 * instead, which is the same unless a record is run again.
 */
uint64_t tr__verb_read(const tr_self *self, uint32_t what, uint64_t number);

/**
 * Must be the first line of each function that handlers call and that touches data of the worker.
 */
#define TURN_VERB(self)                                                                            \
    __attribute__((__cleanup__(verb_end), __unused__)) struct tr_self *verb_turn = verb_begin(self)

#endif
