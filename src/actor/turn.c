/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/turn.h"

#include "actor/client.h"
#include "actor/spawn.h"
#include "actor/stop.h"
#include "base/assert.h"
#include "wire/copy.h"

static const tr_next same = { TR_NEXT_SAME };
static const tr_next failed = { TR_NEXT_FAILED };

/* Runs what tr_defer registered, the last one first. */
static void run_defers(struct tr_self *self)
{
    while (self->defer_count) {
        struct turn_defer *defer = &self->defers[--self->defer_count];
        defer->release(defer->resource);
    }
}

void tr__become_forget(struct tr_self *self)
{
    if (self->become_message && !self->become_type->is_flat)
        tr__copy_drop(self->become_type, (void *)(uintptr_t)self->become_message);
    self->become = NULL;
    self->become_type = NULL;
    self->become_message = NULL;
}

static void story_clear(struct tr_self *self)
{
    self->defer_count = 0;
    self->has_story = false;
    self->error.status = TR_OK;
}

/* The failure of an actor: it is logged, and the actor stops. */
static void fail(struct tr_self *self)
{
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    const tr_error *error = &self->error;
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, cell, path);
    tr__log(worker->system, TR_LEVEL_ERROR, path, "failed in %s: %s: %s",
        self->envelope ? self->envelope->type->name : "a signal",
        tr_status_name(error->status), error->text);
    cell->flags |= CELL_FAILED;
    tr__cell_stop(worker, cell, false);
}

bool tr__turn_apply(struct tr_self *self, tr_next next)
{
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    TR_ASSERT(cell->life == LIFE_RUNNING);
    switch (next.code) {
    case TR_NEXT_SAME:
    case TR_NEXT_UNHANDLED:
        return true;
    case TR_NEXT_STOP:
        tr__cell_stop(worker, cell, false);
        break;
    case TR_NEXT_BECOME:
        switch (tr__cell_adopt(worker, cell, self->become, self->become_type,
            self->become_message, self->causal, &self->error)) {
        case TR_OK:
            return true;
        case TR_STOPPED: /* the set-up said so */
            tr__cell_stop(worker, cell, false);
            break;
        default:
            fail(self);
            break;
        }
        break;
    case TR_NEXT_FAILED:
        fail(self);
        break;
    }
    return false;
}

/* ---- Messages: on the worker's own fiber. ---- */

static void bury_unhandled(struct tr_self *self)
{
    struct worker *worker = self->worker;
    struct envelope *envelope = self->envelope;
    if (envelope->kind == ENVELOPE_PROBE) {
        tr__probe_answer(worker, envelope, true);
        return;
    }
    atom64_count(&worker->counters.dead, 1);
    tr__dead_letter(worker->system, worker,
        &(struct dead_letter){ .type = envelope->type, .from = envelope->sender,
            .to = self->cell->identity, .reason = TR_UNHANDLED,
            .behavior = self->cell->dispatch->behavior->name });
    envelope_give(&worker->pool, envelope);
}

/* The end of a turn that did more than handle its message. As tr__turn_apply. */
static bool message_end_slowly(struct tr_self *self, tr_next next)
{
    struct worker *worker = self->worker;
    run_defers(self);
    if (next.code == TR_NEXT_UNHANDLED) {
        bury_unhandled(self);
        self->envelope = NULL;
    } else {
        atom64_count(&worker->counters.handled, 1);
    }
    bool is_running = tr__turn_apply(self, next);
    if (self->envelope)
        envelope_give(&worker->pool, self->envelope);
    tr__become_forget(self);
    tr__scratch_reset(&worker->scratch, self->scratch_mark);
    story_clear(self);
    return is_running;
}

static inline bool message_end(struct tr_self *self, tr_next next)
{
    if (__builtin_expect(next.code != TR_NEXT_SAME || self->has_story, 0))
        return message_end_slowly(self, next);
    atom64_count(&self->worker->counters.handled, 1);
    envelope_give(&self->worker->pool, self->envelope);
    return true;
}

/* False when the actor has stopped running. */
static inline bool message_turn(struct tr_self *self)
{
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    struct envelope *envelope = ring_pop(&cell->cycle);
    mail_uncount(cell, envelope);
    self->turns++;
    self->envelope = envelope;
    self->causal = envelope->causal;
    worker->running_type = envelope->type;
    const tr_handler *row = dispatch_find(&worker->dispatches, cell->dispatch, envelope->type);
    if (__builtin_expect(!row, 0)) {
        bury_unhandled(self);
        return true;
    }
    tr_next next;
    if (__builtin_expect(row->type != NULL, 1)) {
        next = row->call(self, cell->state, envelope_data(envelope));
    } else {
        tr_message any = { envelope->type, envelope_data(envelope) };
        if (envelope->kind == ENVELOPE_PROBE) {
            tr__probe_answer(worker, envelope, true);
            return true;
        }
        next = row->call(self, cell->state, &any);
    }
    return message_end(self, next);
}

static inline bool is_called(const struct cell *cell)
{
    return atom32_load(&cell->control, ATOM_RELAXED);
}

/* Cycles, until nothing is left or the budget is used. */
static void run(struct tr_self *self)
{
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    for (;;) {
        if (__builtin_expect(is_called(cell), 0) && !tr__cell_obey(worker, cell))
            return;
        if (!cell->cycle) {
            if (__builtin_expect(door_has_mail(&cell->door), 0)) {
                mail_look(worker, cell);
                if (is_called(cell))
                    continue;
            }
            if (!mail_begin_cycle(cell))
                break;
        }
        do {
            if (__builtin_expect(!message_turn(self), 0))
                return; /* it stops, or is gone */
            if (self->turns >= self->turns_max || loop_is_time_up(&worker->loop))
                goto over;
        } while (cell->cycle && !is_called(cell));
    }
over:
    tr__cell_settle(worker, cell);
}

uint32_t tr__cell_run(struct loop *loop, struct task *task, uint32_t turns_max)
{
    struct worker *worker = worker_of_loop(loop);
    struct cell *cell = cell_of_task(task);
    struct tr_self *self = &worker->turns[0];
    TR_ASSERT(cell->house == HOUSE_READY);
    TR_ASSERT(cell_owner(cell) == worker->index);
    cell->house = HOUSE_SCHEDULED;
    self->cell = cell;
    self->kind = TURN_MESSAGE;
    self->turns = 0;
    self->turns_max = turns_max;
    worker->running = cell;
    if (cell->cycle && (cell->replies || cell->exceptions))
        tr__mail_resume_cycle(cell);
    cell->house = HOUSE_RUNNING;
    run(self);
    worker->running = NULL;
    return self->turns ? self->turns : 1;
}

/* A message's turn has crashed; its stack is gone, and this is a fresh one. */
static void message_crashed(void *context)
{
    struct tr_self *self = context;
    struct worker *worker = self->worker;
    (void)message_end(self, failed); /* its actor stops, or is gone */
    worker->running = NULL;
    tr__loop_charge(&worker->loop, self->turns);
    tr__worker_fiber(worker);
}

/* ---- Other calls of user code: each on a fiber of its own. ---- */

static void call_main(void *context)
{
    struct tr_self *self = context;
    self->next = self->call(self, self->cell->state, self->message);
    tr__fiber_end(&self->worker->host, self->caller);
}

static void call_crashed(void *context)
{
    struct tr_self *self = context;
    self->next = failed;
    tr__fiber_end(&self->worker->host, self->caller);
}

struct tr_self *tr__call(struct worker *worker, struct cell *cell, enum turn_kind kind,
    tr_next (*call)(tr_self *self, void *state, const void *message), const void *message,
    uint64_t causal)
{
    if (worker->depth + 1 >= WORKER_TURNS)
        return NULL;
    struct tr_self *self = &worker->turns[worker->depth + 1];
    struct fiber *fiber;
    if (tr__fiber_new(&worker->fibers, call_main, self, &fiber) != TR_OK)
        return NULL;
    worker->depth++;
    atom64_count(&worker->counters.signals, 1);
    story_clear(self);
    self->cell = cell;
    self->envelope = NULL;
    self->causal = causal;
    self->kind = kind;
    self->scratch_mark = tr__scratch_mark(&worker->scratch);
    self->call = call;
    self->message = message;
    self->next = same;
    self->caller = worker->host.current;
    const struct cell *running = worker->running;
    const tr_type *running_type = worker->running_type;
    worker->running = cell;
    worker->running_type = NULL;
    tr__fiber_switch(&worker->host, fiber);
    worker->running = running;
    worker->running_type = running_type;
    run_defers(self);
    return self;
}

void tr__call_end(struct tr_self *self)
{
    struct worker *worker = self->worker;
    TR_ASSERT(self == &worker->turns[worker->depth]);
    tr__become_forget(self);
    tr__scratch_reset(&worker->scratch, self->scratch_mark);
    worker->depth--;
}

void tr__turn_crash(struct tr_self *self)
{
    struct worker *worker = self->worker;
    TR_ASSERT(self == &worker->turns[worker->depth]);
    tr__fiber_replace(&worker->host, &worker->fibers,
        worker->depth ? call_crashed : message_crashed, self);
}

/* ---- Where an actor goes after a run. ---- */

/* What waits for an actor that is not running: mail, orders, or its own end. */
static bool is_needed(const struct cell *cell)
{
    return cell->cycle || mail_has_arrived(cell) ||
           atom32_load(&cell->control, ATOM_SEQ_CST) || cell->flags & CELL_SEALED;
}

void tr__cell_settle(struct worker *worker, struct cell *cell)
{
    TR_ASSERT(cell->life == LIFE_RUNNING);
    if (cell->cycle || mail_has_arrived(cell) ||
        atom32_load(&cell->control, ATOM_RELAXED)) {
        mail_make_ready(worker, cell);
        return;
    }
    if (cell->flags & CELL_SEALED) {
        tr__cell_stop(worker, cell, false);
        return;
    }
    cell->house = HOUSE_WAITING;
    /* The re-check: what came in between has posted the door, but there is no need to wait. */
    mail_look(worker, cell);
    if (is_needed(cell))
        mail_make_ready(worker, cell);
}

bool tr__cell_obey(struct worker *worker, struct cell *cell)
{
    uint32_t bits = atom32_exchange(&cell->control, 0, ATOM_SEQ_CST); /* partner: door_nudge */
    if (bits & CONTROL_LOOK && cell->life == LIFE_RUNNING) {
        mail_look(worker, cell);
        bits |= atom32_exchange(&cell->control, 0, ATOM_SEQ_CST);
    }
    if (cell->life == LIFE_RUNNING) {
        if (bits & CONTROL_KILL) {
            tr__cell_stop(worker, cell, true);
            return false;
        }
        if (bits & CONTROL_STOP) {
            mail_look(worker, cell);
            cell->flags |= CELL_SEALED;
        }
        return true;
    }
    /* It waits for its children. */
    if (bits & CONTROL_KILL && !(cell->flags & CELL_KILLING)) {
        cell->flags |= CELL_KILLING;
        tr__children_stop(worker, cell, true);
    }
    cell->house = HOUSE_WAITING;
    if (bits & CONTROL_FINISH && !cell->child_count)
        tr__cell_finish(worker, cell);
    return false;
}
