/* SPDX-License-Identifier: Apache-2.0 */
/** Turns of durable actors. Opens and closes commits around each handler of the application. */
#include "durable/turn.h"

#include "actor/cell/durable.h"
#include "actor/turn/blocking.h"
#include "actor/turn/fault.h"
#include "actor/turn/park.h"
#include "actor/turn/turn.h"
#include "durable/actor.h"
#include "durable/alarm.h"
#include "durable/changed.h"
#include "durable/commit.h"
#include "durable/connections.h"
#include "durable/drive.h"
#include "durable/events.h"
#include "durable/pressure.h"
#include "durable/queue.h"
#include "durable/queue_retry.h"
#include "durable/request.h"
#include "durable/running.h"
#include "durable/state.h"
#include "actor/ask/answer.h"
#include "actor/cell/log.h"
#include "actor/cell/verb.h"
#include "actor/mail/address.h"
#include "actor/mail/kind.h"
#include "actor/mail/refusal.h"
#include "durable/ttl.h"
#include "actor/mail/mail.h"
#include "store/batch.h"
#include "durable/retry_backoff.h"
#include "durable/why.h"

static const tr_next same = {TR_NEXT_SAME};

/* ---- Records of turns. ---- */

/* Whether the actor has open requests. If it has, their answers are looked for in the outbox; see
 * durable/request.h. */
static bool requests_are_open(const struct durable_actor *actor)
{
    return actor->requests && !list_is_empty(&actor->requests->open);
}

bool tr__frame_begin(struct tr_self *self, struct durable_actor *actor, const char *what,
                     bool is_hook)
{
    struct worker *worker = self->worker;
    const tr_behavior *behavior = actor->kind->declared->behavior;
    struct worker_context *context = host_context(actor->kind->host, worker);
    struct durable_frame *frame = context->spare;
    context->spare = NULL;
    if (!frame)
        frame = source_resize(&worker->source, NULL, sizeof *frame);
    if (!frame)
        return false;
    frame->self = self;
    frame->wake_lock =
        (struct wake_lock){.what = what, .file = behavior->file, .line = (int)behavior->line};
    frame->lenient = 0;
    frame->is_hook = is_hook;
    frame->hook = 0;
    frame->is_run = false;
    frame->call = actor->call;
    actor->call = (struct durable_call){0};
    frame->counter = frame->call.is_end      ? COUNTER_DISCONNECTS
                     : frame->call.is_socket ? COUNTER_SOCKETS
                                             : COUNTER_REQUESTS;
    frame->is_barrier = !is_hook && self->handler->is_barrier;
    list_init(&frame->taker);
    frame->receive =
        (struct wake_lock){.what = what, .file = behavior->file, .line = (int)behavior->line};
    frame->slot = NULL;
    frame->has_items = false;
    frame->has_alarm = false;
    frame->is_alarm_gone = false;
    frame->kept = NULL;
    frame->whole = (struct whole){.name = NULL};
    frame->read = NULL;
    frame->message = NULL;
    frame->reads = (struct record_reads){.count = 0};
    list_init(&frame->saver);
    list_init(&frame->holds);
    self->frame = frame;
    self->reads = &frame->reads;
    outbox_begin(self, &actor->outbox);
    /* After tr_destroy, the outbox holds all messages of the actor back until the destroy is on
     * disk. */
    actor->outbox.is_open = actor->kind->declared->options.durability != TR_SAVE_SYNC &&
                            !actor->is_doomed && !requests_are_open(actor);
    if (is_hook)
        return true;
    actor->barriers += frame->is_barrier;
    actor->has_served |= actor->machine.state != SLEEP_LOADING;
    list_remove(&actor->awake);
    list_push_last(&context->awake, &actor->awake);
    (void)!tr__sleep_raise(&actor->machine, &frame->wake_lock, frame->counter, worker->loop.now_ns);
    return true;
}

static void holds_free(struct worker *worker, struct durable_actor *actor,
                       struct durable_frame *frame)
{
    struct list *link;
    while ((link = list_pop_first(&frame->holds))) {
        struct durable_hold *hold = LIST_OWNER(link, struct durable_hold, link);
        tr__sleep_drop(&actor->machine, &hold->wake_lock, worker->loop.now_ns);
        source_resize(&worker->source, hold, 0);
    }
}

void tr__frame_end(struct tr_self *self, struct durable_actor *actor)
{
    struct worker *worker = self->worker;
    struct durable_frame *frame = self->frame;
    struct worker_context *context = host_context(actor->kind->host, worker);
    self->frame = NULL;
    self->reads = NULL;
    tr__running_leave(frame);
    outbox_end(self);
    list_remove(&frame->saver);
    list_remove(&frame->taker);
    tr__queues_return(actor, self);
    tr__sleep_drop(&actor->machine, &frame->receive, worker->loop.now_ns);
    holds_free(worker, actor, frame);
    if (frame->message)
        tr_message_free(frame->message_type, frame->message);
    for (; frame->read; frame->read = frame->read->next)
        tr_message_free(frame->read->type, frame->read->message);
    if (frame->kept)
        tr__alarm_free(worker, frame->kept);
    if (frame->whole.state)
        tr__whole_free(worker, frame);
    if (frame->reads.items || frame->reads.before)
        tr__record_free(worker, &frame->reads);
    if (!frame->is_hook || frame->is_run)
        tr__sleep_drop(&actor->machine, &frame->wake_lock, worker->loop.now_ns);
    actor->barriers -= frame->is_barrier;
    if (actor->hook && !actor->barriers)
        tr__turn_wake(actor->hook, TR_OK);
    if (context->spare)
        source_resize(&worker->source, frame, 0);
    else
        context->spare = frame;
    tr__durable_weigh(worker, actor);
}

/* ---- The result of a handler. ---- */

static tr_next not_stored(struct tr_self *self, tr_status status)
{
    char why[sizeof self->error.text];
    tr__durable_state_why(self->worker, durable_of(self), status, why, sizeof why);
    turn_fail_reply(self, status);
    return tr_fail(self, status, "the changes cannot be stored: %s", why);
}

static tr_next no_memory(struct tr_self *self)
{
    return tr_fail(self, TR_NO_MEMORY, "out of memory for a turn");
}

void tr__durable_notify(struct worker *worker, struct cell *cell, const tr_type *type,
                        const void *message)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct address address = {.kind = ENVELOPE_NOTICE, .to = cell->identity};
    struct envelope *envelope;
    tr_status status = tr__mail_new(&worker->pool, address, type, message, &envelope);
    if (status == TR_OK && tr__mail_send_now(worker, cell, envelope) != TR_OK)
        envelope_give(&worker->pool, envelope);
}

/* Notes a failed attempt for the alarm and for each item of a failed turn. Call after the commit of
 * the turn was undone. */
static void frame_failed(struct tr_self *self, struct durable_actor *actor)
{
    if (self->frame->has_alarm)
        tr__alarm_failed(self->worker, actor, self->frame);
    tr__queues_failed(self->worker, actor, self);
}

/* Writes the record of a turn that has not failed, and counts it. */
static void record_end(struct tr_self *self)
{
    tr__record_ended(self);
    tr__record_order_taken(self);
}

tr_next tr__frame_done(struct tr_self *self, struct durable_actor *actor, tr_next next, bool must)
{
    struct worker *worker = self->worker;
    if (next.code == TR_NEXT_BECOME) {
        tr__become_forget(self);
        next = tr_fail(self, TR_NOT_SUPPORTED, "tr_become is not possible in a durable actor");
    }
    if (next.code == TR_NEXT_STOP) {
        (void)!tr__sleep_ask(&actor->machine, SLEEP_REASON_SLEEP, worker->loop.now_ns);
        next = same;
    }
    if (next.code != TR_NEXT_FAILED && !self->is_cancelled) {
        bool is_wanted = tr__record_wants(self);
        if (is_wanted)
            tr__record_before(self, actor);
        tr_status status = tr__stretch_end(self, actor, must);
        if (status != TR_OK)
            next = not_stored(self, status);
        else if (is_wanted)
            record_end(self);
    }
    if (next.code == TR_NEXT_FAILED && !self->is_cancelled)
        tr__record_failed(self, false);
    if (self->is_cancelled)
        tr__commit_drop(worker, actor, TR_CANCELLED);
    else if (next.code == TR_NEXT_FAILED)
        tr__commit_fail(worker, actor, tr__ask_failed_status(self));
    /* A cancelled turn stores no failed attempt, because its actor is about to end or to
     * restart. */
    if (next.code == TR_NEXT_FAILED && !self->is_cancelled)
        frame_failed(self, actor);
    return next;
}

/* ---- Messages. ---- */

tr_next tr__durable_user(struct tr_self *self, struct tr_self *verb, const tr_handler *handler,
                         void *state, const void *message)
{
    struct fiber *fiber = self->worker->stacks.host.current;
    if (verb)
        claim_go_out(self->claim, self);
    tr_next next = tr__fault_call_inside(self, fiber, handler->call, state, message);
    if (verb)
        (void)verb_begin(self);
    return next;
}

/* Returns the application's handler for a handler in the table of the kind. */
static const tr_handler *handler_behind(const struct durable_actor *actor,
                                        const tr_handler *handler)
{
    return &actor->kind->declared->behavior->handlers[handler - actor->kind->handlers];
}

/* Forwards a message to the next generation, because it came too late for this generation. */
static tr_next pass_on(struct tr_self *self, const struct durable_actor *actor)
{
    uint64_t bits;
    if (actor->requests && tr__request_is_open(self, actor)) {
        /* The id of the request was lost when the request was stashed. The asker still has the id,
         * and sends the request again with it. */
        self->error.code = REFUSAL_UNBEGUN;
        turn_fail_reply(self, TR_STOPPED);
        return same;
    }
    tr_status status = tr_self_try_durable(self, actor->kind->origin, actor_key(actor), &bits);
    if (status == TR_OK)
        return tr_self_forward(self, tr_ref_from_bits(bits));
    /*
     * The key is being destroyed, or the system stops. A request gets the status of that as its answer. Any other
     * message becomes a dead letter.
     */
    if (self->envelope->kind != ENVELOPE_ASK)
        return (tr_next){TR_NEXT_UNHANDLED};
    self->reply_failed = status == TR_DESTROYING ? TR_DESTROYING : TR_STOPPED;
    return same;
}

bool tr__durable_is_over(struct tr_self *self, struct durable_actor *actor, tr_next *next)
{
    bool is_broken = actor->broken != TR_OK;
    bool is_late =
        actor->machine.state >= SLEEP_FINALIZE && actor->machine.state != SLEEP_DESTROY_GRACE;
    if (is_broken)
        *next = not_stored(self, actor->broken);
    else if (is_late && self->envelope->kind == ENVELOPE_CHANNEL)
        /* Drop a message of a channel, because the channels of this generation are about to
         * close. */
        *next = same;
    else if (is_late)
        *next = pass_on(self, actor);
    return is_broken || is_late;
}

tr_next tr__durable_handle(struct tr_self *self, struct tr_self *verb, struct durable_actor *actor,
                           const tr_handler *handler, void *state, const void *message)
{
    if (!tr__frame_begin(self, actor, self->envelope->type->name, false))
        return no_memory(self);
    tr__ttl_use(self->worker, actor);
    tr_next next = tr__durable_user(self, verb, handler, state, message);
    tr__ttl_use(self->worker, actor);
    next = tr__durable_changed(self, verb, actor, next);
    if (actor->requests)
        tr__request_turn_over(self, actor, next);
    next = tr__frame_done(self, actor, next, false);
    tr__frame_end(self, actor);
    tr__durable_drive(self->worker, actor, false);
    return next;
}

tr_next tr__durable_call(tr_self *self, void *state, const void *message)
{
    TURN_VERB(self);
    struct durable_actor *actor = durable_of(self);
    const tr_handler *handler = handler_behind(actor, self->handler);
    tr_next next;
    if (tr__durable_is_over(self, actor, &next))
        return next;
    return tr__durable_handle(self, verb_turn, actor, handler, state, message);
}

void tr__durable_started(struct worker *worker, struct durable_actor *actor)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, actor->durable.cell));
    static const struct tr_durable_runs runs;
    (void)!tr__sleep_started(&actor->machine, worker->loop.now_ns);
    tr__backoff_forget(actor);
    if (actor->kind->run &&
        tr__durable_tell(worker, actor->durable.cell, &tr_type_tr_durable_runs, &runs) != TR_OK)
        tr__durable_break(worker, actor, TR_NO_MEMORY);
    if (actor->events)
        tr__events_wake(worker, actor);
    tr__durable_drive(worker, actor, false);
}

/*
 * Removes everything that is stored of this key. The reason is an earlier first start that has not finished, or a
 * destroy that was not completed.
 */
static tr_status erase_first(struct tr_self *self, struct durable_actor *actor)
{
    actor->has_remains = false;
    tr__connections_drop(self->worker, actor);
    struct store_batch *batch = tr__commit_batch(actor);
    if (actor->events)
        tr__events_erased(self->worker, actor);
    tr_status status = batch ? tr__store_destroy(batch) : TR_NO_MEMORY;
    atom64_fetch_add(&actor->kind->host->destroyed, 1, ATOM_RELAXED);
    return status == TR_OK ? tr_try_save(self) : status;
}

tr_next tr__durable_begin(tr_self *self, void *state, const void *message)
{
    TURN_VERB(self);
    (void)message;
    static const struct tr_created created;
    struct durable_actor *actor = durable_of(self);
    const struct durable_kind *kind = actor->kind;
    tr_next next = same;
    bool is_created = actor->is_new && kind->created;
    if (actor->machine.state != SLEEP_LOADING)
        /* This is a second tr_durable_begins. The start that sent the first one failed before that
         * message was handled. */
        return same;
    if (!tr__frame_begin(self, actor, "tr_awake", false))
        return no_memory(self);
    bool erases = actor->has_remains || (actor->is_half && is_created);
    tr_status status = erases ? erase_first(self, actor) : TR_OK;
    if (status == TR_OK)
        status = tr__running_fail(self, actor);
    if (status != TR_OK)
        next = not_stored(self, status);
    else if (is_created)
        next = tr__durable_user(self, verb_turn, kind->created, state, &created);
    if (is_created)
        tr__ttl_use(self->worker, actor);
    if (next.code == TR_NEXT_SAME && kind->awake && !self->is_cancelled) {
        struct tr_awake awake = {.epoch = actor->end.generation.epoch,
                                 .counter = actor->end.generation.counter};
        next = tr__durable_user(self, verb_turn, kind->awake, state, &awake);
    }
    if (next.code == TR_NEXT_SAME && !self->is_cancelled)
        next = tr__connections_bury(self, verb_turn, actor, state);
    next = tr__durable_changed(self, verb_turn, actor, next);
    if (next.code != TR_NEXT_FAILED && !self->is_cancelled)
        actor->is_creating = false;
    /* If the key was just created, store it even if nothing has changed. The store then knows the key. */
    next = tr__frame_done(self, actor, next, is_created);
    tr__frame_end(self, actor);
    if (next.code != TR_NEXT_FAILED && !self->is_cancelled)
        tr__durable_started(self->worker, actor);
    return next;
}

/* Waits until no turn of the actor is a barrier. At most one turn is a barrier at a time. When it
 * ends, it wakes this turn, which resumes before the next message is handled. So no other turn
 * begins before the hook. Returns false if the hook must not run. */
static bool hook_wait(struct tr_self *self, struct durable_actor *actor)
{
    while (actor->barriers && !self->is_cancelled && !actor->is_deadline_over) {
        actor->hook = self;
        tr_status status = turn_park_at(self, TR_NEVER, NULL);
        actor->hook = NULL;
        if (status != TR_OK)
            return false;
    }
    return !self->is_cancelled && !actor->is_deadline_over;
}

static const char *hook_name(enum sleep_reason reason)
{
    return reason == SLEEP_REASON_SLEEP ? "tr_sleeping" : "tr_destroying";
}

/* Logs the failure of a hook. The actor ends nevertheless. The state may be half changed, so no
 * other turn may see it. A sleep ends now, with the state that was stored before. A destroy
 * continues. */
static void hook_failed(struct tr_self *self, struct durable_actor *actor, enum sleep_reason reason)
{
    tr__log(self->worker->system,
            TR_LEVEL_WARN,
            tr_path(self),
            "%s failed: %s: %s",
            hook_name(reason),
            tr_status_name(self->error.status),
            self->error.text);
    if (actor->machine.state == SLEEP_GRACE)
        (void)!tr__sleep_crash(&actor->machine, self->error.status);
    else
        (void)!tr__sleep_hook_end(&actor->machine, reason, self->worker->loop.now_ns);
    tr__durable_drive(self->worker, actor, false);
}

/* Submits the finished commits of earlier turns. So they are stored even if the hook fails. */
static void hook_save(struct worker *worker, struct durable_actor *actor)
{
    if (!actor->is_dirty)
        return;
    tr_status status = tr__commit_end(worker, actor, true);
    if (status != TR_OK)
        tr__durable_break(worker, actor, status);
}

tr_next tr__durable_hook(tr_self *self, void *state, const void *message)
{
    TURN_VERB(self);
    static const struct tr_sleeping sleeping;
    static const struct tr_destroying destroying;
    const struct tr_durable_hooked *hooked = message;
    struct durable_actor *actor = durable_of(self);
    enum sleep_reason reason = (enum sleep_reason)hooked->reason;
    bool is_sleep = reason == SLEEP_REASON_SLEEP;
    const tr_handler *handler = is_sleep ? actor->kind->sleeping : actor->kind->destroying;
    tr_next next = same;
    if (!hook_wait(self, actor) || tr__sleep_hook_begin(&actor->machine, reason) != TR_OK)
        return same;
    if (is_sleep)
        hook_save(self->worker, actor);
    if (!tr__frame_begin(self, actor, hook_name(reason), true))
        return no_memory(self);
    self->frame->hook = reason;
    next = tr__durable_user(
        self, verb_turn, handler, state, is_sleep ? (const void *)&sleeping : &destroying);
    if (is_sleep)
        next = tr__durable_changed(self, verb_turn, actor, next);
    next = tr__frame_done(self, actor, next, false);
    tr__frame_end(self, actor);
    if (self->is_cancelled)
        return same;
    if (next.code == TR_NEXT_FAILED) {
        hook_failed(self, actor, reason);
        return same;
    }
    (void)!tr__sleep_hook_end(&actor->machine, reason, self->worker->loop.now_ns);
    tr__durable_drive(self->worker, actor, false);
    return same;
}

tr_next tr__durable_drive_turn(tr_self *self, void *state, const void *message)
{
    TURN_VERB(self);
    (void)state;
    (void)message;
    struct durable_actor *actor = durable_of(self);
    actor->is_drive_posted = false;
    if (actor->broken != TR_OK && actor->machine.state < SLEEP_FINALIZE)
        return not_stored(self, actor->broken);
    tr__durable_drive(self->worker, actor, true);
    return same;
}

/* ---- Waits of a turn. ---- */

static tr_status on_park(struct tr_self *self)
{
    struct worker *worker = self->worker;
    struct durable_actor *actor = durable_of(self);
    if (!self->frame)
        return TR_OK;
    tr_status refusal = tr__whole_may_wait(self);
    if (refusal != TR_OK)
        return refusal;
    /* A blocking call may end the process, as a handler may, so the turn keeps its slot during the
     * call. A call that several turns share does not belong to this handler. */
    if (!self->job || self->job->shared)
        tr__running_leave(self->frame);
    tr__record_before(self, actor);
    tr_status status = self->is_cancelled ? TR_CANCELLED : tr__stretch_end(self, actor, false);
    outbox_leave(self);
    if (self->is_cancelled)
        tr__commit_drop(worker, actor, status);
    else if (status != TR_OK)
        tr__commit_fail(worker, actor, status);
    else if (self->frame->has_alarm)
        tr__alarm_commit_over(actor, self->frame);
    if (self->is_cancelled)
        return TR_OK;
    if (status != TR_OK)
        tr__durable_break(worker, actor, status);
    /* The part of the turn that has ended may have asked for a sleep or released a hold. So perform
     * the steps that are due now. Before a wait on a queue this was already done. */
    if (list_is_empty(&self->frame->taker))
        tr__durable_drive(worker, actor, false);
    return TR_OK;
}

static void on_resume(struct tr_self *self)
{
    if (!self->frame)
        return;
    tr__running_enter(self);
    tr__whole_continue(self);
}

/* Forgets the hook that waits in hook_wait. The turn of the hook was dropped during this wait, and
 * its frame is gone. */
static void on_abandon(struct durable *durable)
{
    struct durable_actor *actor = LIST_OWNER(durable, struct durable_actor, durable);
    actor->hook = NULL;
}

static tr_next on_crash(struct tr_self *self, tr_next next)
{
    struct durable_actor *actor = durable_of(self);
    enum sleep_reason hook = self->frame->hook;
    bool is_running = outbox_is_in_use(self);
    if (is_running && !self->is_cancelled)
        tr__record_failed(self, false);
    if (is_running && self->is_cancelled)
        tr__commit_drop(self->worker, actor, tr__ask_failed_status(self));
    else if (is_running)
        tr__commit_fail(self->worker, actor, tr__ask_failed_status(self));
    if (is_running && !self->is_cancelled)
        frame_failed(self, actor);
    tr__frame_end(self, actor);
    if (!hook || self->is_cancelled)
        return next;
    hook_failed(self, actor, hook);
    return same;
}

const struct durable_hooks tr__durable_hooks = {
    .on_park = on_park,
    .on_resume = on_resume,
    .on_crash = on_crash,
    .on_abandon = on_abandon,
    .on_lost_answer = tr__request_lost_answer,
    .on_refuse = tr__connection_refused,
    .on_stored = tr__commit_stored,
    .on_stop = tr__durable_stop,
    .on_leave = tr__durable_leave,
    .on_skipped = tr__durable_skipped,
    .on_wake_timer = tr__durable_wake_timer,
    .has_loaded = tr__durable_has_loaded,
    .why = tr__durable_why,
    .on_end = tr__durable_end,
};
