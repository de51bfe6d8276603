/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/turn/follow_turn.h"

#include "actor/cell/dispatch.h"
#include "actor/cell/follow.h"
#include "actor/cell/names.h"
#include "actor/cell/recorder.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "actor/mail/address.h"
#include "actor/mail/outbox.h"
#include "actor/turn/run.h"
#include "actor/turn/samples.h"
#include "base/hash.h"
#include "os/probe.h"
#include "base/assert.h"

/* ---- Switching. ---- */

typedef uint32_t run_function(struct loop *loop, struct task *task, uint32_t turns_max);

static const struct {
    run_function *plain;
    run_function *following;
} runs[] = {{tr__cell_run, tr__cell_run_following},
            {tr__cell_run_trapping, tr__cell_run_trapping_following},
            {tr__cell_run_with_handoff, tr__cell_run_with_handoff_following}};

/*
 * Switches all workers to the functions that look at causal ids (`is_on`), or back to the usual
 * functions. A worker sees the change at its next run.
 */
static void workers_switch(struct tr_system *system, bool is_on)
{
    atom32_store(&system->follow->is_on, is_on, ATOM_RELAXED);
    for (uint32_t i = 0; i < system->worker_count; i++) {
        struct loop_hooks *hooks = &system->workers[i]->hooks;
        run_function *now = ATOM_PEEK(&hooks->run);
        for (size_t at = 0; at < sizeof runs / sizeof *runs; at++) {
            if (now == runs[at].plain || now == runs[at].following)
                ATOM_POKE(&hooks->run, is_on ? runs[at].following : runs[at].plain);
        }
    }
}

tr_status tr__follow_open(struct tr_system *system)
{
    struct follow *follow = system->follow;
    lock_take(&follow->lock);
    tr_status status = tr__follow_rings_make(system);
    if (status == TR_OK && !follow->users++) {
        for (size_t i = 0; i < FOLLOW_CAUSALS; i++)
            atom64_store(&follow->causals[i], 0, ATOM_RELAXED);
        workers_switch(system, true);
    }
    lock_give(&follow->lock);
    return status;
}

void tr__follow_close(struct tr_system *system)
{
    struct follow *follow = system->follow;
    lock_take(&follow->lock);
    TR_ASSERT(follow->users > 0);
    if (!--follow->users)
        workers_switch(system, false);
    lock_give(&follow->lock);
}

tr_status tr__follow_mark(struct tr_system *system, uint64_t actor)
{
    struct follow *follow = system->follow;
    uint32_t place = TR_FOLLOWED_MAX;
    lock_take(&follow->lock);
    for (uint32_t i = TR_FOLLOWED_MAX; i-- > 0;) {
        uint64_t mark = atom64_load(&follow->marks[i], ATOM_RELAXED);
        if (mark == actor || (!mark && (place == TR_FOLLOWED_MAX ||
                                        atom64_load(&follow->marks[place], ATOM_RELAXED) == 0)))
            place = i;
        if (mark == actor)
            break;
    }
    if (place < TR_FOLLOWED_MAX) {
        follow->mark_users[place]++;
        atom64_store(&follow->marks[place], actor, ATOM_RELAXED);
        if (atom32_load(&follow->mark_count, ATOM_RELAXED) <= place)
            atom32_store(&follow->mark_count, place + 1, ATOM_RELEASE);
    }
    lock_give(&follow->lock);
    return place < TR_FOLLOWED_MAX ? TR_OK : TR_LIMIT;
}

void tr__follow_unmark(struct tr_system *system, uint64_t actor)
{
    struct follow *follow = system->follow;
    lock_take(&follow->lock);
    for (uint32_t i = 0; i < TR_FOLLOWED_MAX; i++) {
        if (atom64_load(&follow->marks[i], ATOM_RELAXED) != actor)
            continue;
        if (!--follow->mark_users[i])
            atom64_store(&follow->marks[i], 0, ATOM_RELAXED);
        break;
    }
    lock_give(&follow->lock);
}

/* ---- Turns. ---- */

/*
 * The outbox of each followed turn that has no outbox of its own. It is always open and so holds
 * nothing, and it never changes.
 */
static const struct outbox open_outbox = {.is_open = true};

void tr__follow_begin(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    struct follow *follow = worker->system->follow;
    const struct cell *cell = self->cell;
    const struct turn_recorder *recorder = worker->system->durable.recorder;
    if (recorder && atom64_load(&recorder->actor, ATOM_RELAXED) && !self->reads)
        recorder->on_begin(self);
    self->followed = 0;
    tr__samples_sender(self);
    bool is_trial = false;
    if (!tr__follow_wants(follow, self->causal, cell->identity)) {
        is_trial = tr__samples_may_be_slow(self) && tr__follow_trial_take(follow);
        if (!is_trial)
            return;
    }
    self->followed = atom64_fetch_add(&follow->turn, 1, ATOM_RELAXED) + 1;
    /*
     * A message of a channel or a timer has no causal id. Give it one, so that the turns that
     * follow from it can be found.
     */
    bool has_causal = self->causal != 0;
    if (!has_causal)
        self->causal =
            hash_bytes(worker->system->names->key, &self->followed, sizeof self->followed) | 1;
    if (is_trial)
        tr__follow_trial_begin(follow, self->causal);
    else if (!has_causal)
        tr__follow_causal(follow, self->causal);
    tr__samples_followed(self, atom64_load(&follow->number, ATOM_RELAXED) + 1);
    PROBE3(turn_begin, cell->identity, self->causal, self->envelope->type->name);
    self->followed_children = (uint64_t)cell->child_count << 32 | cell->child_last;
    tr__follow_record(worker,
                      cell,
                      &(struct follow_event){.what = FOLLOW_BEGAN,
                                             .causal = self->causal,
                                             .turn = self->followed,
                                             .other = turn_sender(self),
                                             .type = self->envelope->type,
                                             .kind = self->envelope->kind,
                                             .handler = self->handler->name,
                                             .behavior = cell->dispatch->behavior->name});
    /* A turn of a durable actor has an outbox of its own. */
    if (!cell_durable(cell))
        outbox_begin(self, (struct outbox *)(uintptr_t)&open_outbox);
}

/* Stops following a turn: records its end, and the children that the turn has spawned. */
static void leave(struct tr_self *self, tr_status status)
{
    struct worker *worker = self->worker;
    const struct cell *cell = self->cell;
    if (self->outbox == &open_outbox)
        outbox_end(self);
    struct follow_event event = {.causal = self->causal, .turn = self->followed};
    if (cell->child_last && cell->child_last != (uint32_t)self->followed_children) {
        const struct cell *child = slots_at(worker->slots, cell->child_last);
        const struct dispatch *dispatch = ATOM_PEEK(&child->dispatch);
        uint32_t before = (uint32_t)(self->followed_children >> 32);
        event.what = FOLLOW_SPAWNED;
        event.other = ATOM_PEEK(&child->identity);
        event.count = cell->child_count > before ? cell->child_count - before : 1;
        event.behavior = dispatch ? dispatch->behavior->name : NULL;
        tr__follow_record(worker, cell, &event);
    }
    event = (struct follow_event){
        .what = FOLLOW_ENDED, .causal = self->causal, .turn = self->followed, .status = status};
    PROBE3(turn_end, cell->identity, self->causal, status);
    tr__follow_record(worker, cell, &event);
    self->followed = 0;
}

/* Ends the record of a turn of an actor that is not durable. */
static void record_end(struct tr_self *self, tr_next next)
{
    if (self->reads && !self->frame)
        self->worker->system->durable.recorder->on_end(self, next);
}

void tr__follow_end(struct tr_self *self, tr_next next)
{
    record_end(self, next);
    if (self->followed)
        leave(self, next.code == TR_NEXT_FAILED ? self->error.status : TR_OK);
}

void tr__follow_crashed(struct tr_self *self)
{
    record_end(self, (tr_next){TR_NEXT_FAILED});
    if (self->followed)
        leave(self, self->error.status != TR_OK ? self->error.status : TR_CANCELLED);
}

void tr__follow_again(struct tr_self *self)
{
    if (self->followed)
        leave(self, TR_OK);
    tr__follow_begin(self);
}
