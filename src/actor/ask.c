/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/ask.h"

#include <stdio.h>

#include "actor/ask_table.h"
#include "actor/ask_then.h"
#include "actor/batch.h"
#include "actor/extra.h"
#include "actor/park.h"
#include "actor/relief.h"
#include "actor/spawn.h"
#include "actor/story.h"
#include "actor/stretch.h"
#include "actor/turn.h"
#include "actor/turn_asks.h"
#include "actor/waiters.h"
#include "actor/why.h"
#include "base/assert.h"

enum { SPARE_MAX = 1024 };

/* Beyond 2^31 ms a 32-bit deadline would be in the past: those asks have only their own timer. */
#define DEADLINE_FAR_NS ((tr_time)0x7fffffff * TR_MILLISECOND)

/* A tr_pending without an ask: its status, so that lack of memory is an outcome like others. */
#define PENDING_IS_STATUS (UINT64_C(1) << 63)

/* ---- One ask. ---- */

static struct ask *ask_take(struct worker *worker)
{
    struct ask *ask = worker->ask_spare;
    if (!ask)
        return source_resize(&worker->source, NULL, sizeof *ask);
    worker->ask_spare = ask->next;
    worker->ask_spare_count--;
    return ask;
}

static void ask_give(struct worker *worker, struct ask *ask)
{
    if (worker->ask_spare_count >= SPARE_MAX) {
        source_resize(&worker->source, ask, 0);
        return;
    }
    ask->next = worker->ask_spare;
    worker->ask_spare = ask;
    worker->ask_spare_count++;
}

void tr__asks_free(struct worker *worker)
{
    while (worker->ask_spare) {
        struct ask *ask = worker->ask_spare;
        worker->ask_spare = ask->next;
        source_resize(&worker->source, ask, 0);
    }
    worker->ask_spare_count = 0;
    tr__ask_table_free_spare(worker);
}

static inline void unlist(struct cell *cell, struct ask *ask)
{
    ask->is_listed = false;
    ask_table_remove(&cell->extra->asks, ask);
}

static void ask_done(struct worker *worker, struct ask *ask, tr_status status)
{
    struct tr_self *turn = ask->turn;
    TR_ASSERT(!ask->is_done);
    ask->is_fixed = true;
    ask->is_done = true;
    ask->status = status;
    tr__wheel_cancel(&worker->ask_timeouts, &ask->timeout);
    if (ask->carrier)
        tr__then_due(worker, ask);
    else
        unlist(turn->cell, ask);
    if (ask->is_wanted && turn->wanted && !--turn->wanted)
        tr__turn_wake(turn, TR_OK);
}

/* The same of one whose reply is there, and of whom no more is kept. */
static inline void ask_answered(struct worker *worker, struct cell *cell, struct ask *ask,
                                struct envelope *reply)
{
    struct tr_self *turn = ask->turn;
    bool is_wanted = ask->is_wanted;
    tr__wheel_cancel(&worker->ask_timeouts, &ask->timeout);
    unlist(cell, ask);
    turn_ask_answer(ask, reply);
    ask_give(worker, ask);
    if (is_wanted && turn->wanted && !--turn->wanted)
        tr__turn_wake(turn, TR_OK);
}

void tr__asks_fire(struct worker *worker, tr_time now_ns)
{
    struct timer_node *node;
    while ((node = tr__wheel_expire(&worker->ask_timeouts, now_ns))) {
        struct ask *ask = LIST_OWNER(node, struct ask, timeout);
        if (ask->is_fixed) {
            tr__story_give_up(worker, ask);
        } else {
            ask->is_fixed = true;
            ask->status = TR_TIMEOUT;
            if (!tr__story_begin(worker, ask)) {
                tr__wheel_arm(&worker->ask_timeouts, node, timer_deadline(now_ns, STORY_NS));
                continue;
            }
        }
        ask_done(worker, ask, ask->status);
    }
}

void tr__ask_end_in_ring(struct worker *worker, struct ask *ask)
{
    TR_ASSERT(!ask->is_fixed);
    ask->is_fixed = true;
    ask->status = TR_ASK_CYCLE;
    tr__wheel_cancel(&worker->ask_timeouts, &ask->timeout);
    if (tr__story_begin(worker, ask))
        ask_done(worker, ask, TR_ASK_CYCLE);
    else
        tr__wheel_arm(
            &worker->ask_timeouts, &ask->timeout, timer_deadline(worker->loop.now_ns, STORY_NS));
}

void tr__ask_told(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    const struct tr_story *story = envelope_data(envelope);
    struct ask *ask = NULL;
    if (envelope->generation == cell_generation(cell) && cell->life != LIFE_NEW && cell->extra)
        ask = ask_table_find(&cell->extra->asks, story->origin_id);
    if (ask && ask->is_fixed && !ask->is_done) {
        tr__story_told(worker, ask, story);
        ask_done(worker, ask, ask->status);
    }
    envelope_give(&worker->pool, envelope);
}

void tr__ask_free(struct worker *worker, struct cell *cell, struct ask *ask)
{
    tr__wheel_cancel(&worker->ask_timeouts, &ask->timeout);
    if (ask->is_listed)
        unlist(cell, ask);
    if (ask->answer)
        envelope_give(&worker->pool, ask->answer);
    if (ask->story)
        source_resize(&worker->source, ask->story, 0);
    ask_give(worker, ask);
}

void tr__ask_end(struct worker *worker, struct cell *cell, struct ask *ask)
{
    tr__ask_free(worker, cell, ask);
    tr__ask_table_shrink(worker, &cell->extra->asks);
}

void tr__ask_arrived(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct ask *ask = NULL;
    if (cell->life != LIFE_NEW && cell->extra)
        ask = ask_table_find(&cell->extra->asks, envelope->payload.ask.id);
    if (!ask || ask->is_fixed) {
        if (envelope->kind == ENVELOPE_REPLY && !tr__why_is_told(envelope)) {
            tr__mail_bury_one(worker, cell, envelope, TR_TIMEOUT);
        } else {
            atom64_count(&worker->counters.handled, 1);
            envelope_give(&worker->pool, envelope);
        }
        return;
    }
    atom64_count(&worker->counters.handled, 1);
    if (envelope->kind == ENVELOPE_REPLY && !ask->carrier && !ask->is_look) {
        ask_answered(worker, cell, ask, envelope);
        return;
    }
    ask->answer = envelope;
    tr_status status = TR_OK;
    if (envelope->kind == ENVELOPE_EXCEPTION) {
        tr_error error = {.status = TR_FAILED};
        tr__ask_read_error(envelope, &error);
        status = error.status == TR_OK ? TR_FAILED : error.status;
    }
    ask_done(worker, ask, status);
}

/* ---- Asking. ---- */

uint32_t tr__ask_deadline_ms(tr_time now_ns, tr_time deadline_ns)
{
    if (deadline_ns - now_ns >= DEADLINE_FAR_NS)
        return 0;
    uint32_t ms = (uint32_t)((uint64_t)deadline_ns / TR_MILLISECOND + 1);
    return ms ? ms : 1;
}

bool tr__ask_is_late(const struct worker *worker, const struct envelope *envelope)
{
    uint32_t deadline_ms = envelope->payload.ask.deadline_ms;
    uint32_t now_ms = (uint32_t)((uint64_t)worker->loop.now_ns / TR_MILLISECOND);
    return envelope->sender && deadline_ms && (int32_t)(now_ms - deadline_ms) >= 0;
}

/* When the ask of a turn is due: not after the request that the turn is about. */
static tr_time deadline_of(const struct tr_self *self, tr_time now_ns, tr_time timeout_ns)
{
    tr_time deadline_ns = timer_deadline(now_ns, timeout_ns ? timeout_ns : TR_ASK_NS);
    const struct envelope *envelope = self->batch ? tr__batch_latest(self) : self->envelope;
    if (!envelope)
        return deadline_ns;
    bool is_ask = envelope->kind == ENVELOPE_ASK || envelope->kind == ENVELOPE_ANSWERED;
    if (!is_ask || !envelope->sender || !envelope->payload.ask.deadline_ms)
        return deadline_ns;
    uint32_t now_ms = (uint32_t)((uint64_t)now_ns / TR_MILLISECOND);
    int32_t left_ms = (int32_t)(envelope->payload.ask.deadline_ms - now_ms);
    tr_time outer_ns = now_ns - now_ns % TR_MILLISECOND + left_ms * TR_MILLISECOND;
    return outer_ns < deadline_ns ? outer_ns : deadline_ns;
}

/* Sends the request of an ask that is in the table. */
static tr_status post(struct tr_self *self, struct ask *ask, const void *message,
                      tr_time deadline_ns)
{
    struct worker *worker = self->worker;
    struct cell *cell = slots_find(worker->slots, ask->to);
    if (!cell)
        return TR_STOPPED;
    struct envelope *envelope = envelope_take(&worker->pool);
    if (!envelope)
        return TR_NO_MEMORY;
    tr_status status =
        envelope_fill(&worker->pool, envelope, ask->type, message, ENVELOPE_INLINE_ASK);
    if (status != TR_OK) {
        envelope_give_empty(&worker->pool, envelope);
        return status;
    }
    envelope->sender = self->cell->identity;
    envelope->causal = self->causal;
    envelope->generation = (uint32_t)(ask->to >> 32);
    envelope->kind = ENVELOPE_ASK;
    envelope->payload.ask.id = ask->id;
    envelope->payload.ask.deadline_ms = tr__ask_deadline_ms(ask->asked_ns, deadline_ns);
    status = tr__mail_send(worker, cell, envelope);
    if (__builtin_expect(status != TR_OK, 0) && front_is(cell)) {
        struct cell *member = cell;
        status =
            tr__front_send(worker, envelope, &member, &ask->to); /* who was asked, from now on */
        cell = member;
    }
    if (status == TR_MAILBOX_FULL && !ask->carrier &&
        room_policy(room_load(&cell->door.room)) == TR_PARK)
        status = tr__turn_wait_for_room(self, cell, envelope, deadline_ns);
    if (status != TR_OK)
        envelope_give(&worker->pool, envelope);
    return status;
}

struct ask *tr__ask_new(struct tr_self *self, uint64_t to, const tr_type *type)
{
    struct worker *worker = self->worker;
    struct cell_extra *extra = tr__extra_of(worker, self->cell);
    struct ask *ask = extra ? ask_take(worker) : NULL;
    if (!ask)
        return NULL;
    /* One by one: compilers clear a struct of this size by an instruction that is slow to start. */
    ask->timeout.next = NULL;
    ask->timeout.previous = NULL;
    ask->timeout.deadline_ns = 0;
    ask->turn = self;
    ask->carrier = NULL;
    ask->answer = NULL;
    ask->type = type;
    ask->to = to;
    ask->asked_ns = 0;
    ask->status = TR_OK;
    ask->is_listed = true;
    ask->is_fixed = false;
    ask->is_done = false;
    ask->is_wanted = false;
    ask->is_ringed = false;
    ask->is_look = false;
    ask->story = NULL;
    ask->story_to = 0;
    if (tr__ask_table_add(worker, &extra->asks, ask))
        return ask;
    ask_give(worker, ask);
    return NULL;
}

void tr__ask_send(struct tr_self *self, struct ask *ask, const void *message, tr_time timeout_ns)
{
    struct worker *worker = self->worker;
    ask->asked_ns = clock_bound_roughly(&worker->clock);
    tr_time deadline_ns = deadline_of(self, ask->asked_ns, timeout_ns);
    if (__builtin_expect(deadline_ns <= ask->asked_ns, 0) &&
        deadline_ns <= clock_bound(&worker->clock)) {
        ask_done(worker, ask, TR_TIMEOUT);
        return;
    }
    tr__wheel_arm(&worker->ask_timeouts, &ask->timeout, deadline_ns);
    tr_status status = post(self, ask, message, deadline_ns);
    if (status != TR_OK && !ask->is_fixed)
        ask_done(worker, ask, status);
}

static tr_pending pending_status(tr_status status)
{
    return (tr_pending){PENDING_IS_STATUS | (uint32_t)-status};
}

tr_pending tr_self_ask(tr_self *self, tr_ref to, const tr_type *type, const void *message,
                       tr_time timeout_ns)
{
    TURN_VERB(self);
    if (!self || !type || !message)
        return pending_status(TR_INVALID_ARGUMENT);
    tr_status status = turn_may_park(self);
    if (status != TR_OK)
        return pending_status(status);
    struct ask *ask = tr__ask_new(self, to.bits, type);
    if (!ask)
        return pending_status(TR_NO_MEMORY);
    if (!tr__turn_asks_add(self, ask)) {
        tr__ask_end(self->worker, self->cell, ask);
        return pending_status(TR_NO_MEMORY);
    }
    self->has_story = true;
    tr_pending pending = ask_pending(ask);
    tr__ask_send(self, ask, message, timeout_ns);
    return pending;
}

/* ---- Waiting. ---- */

/* An ask of this turn; or the envelope of its answer, and then no ask, and TR_OK. */
static inline tr_status ask_of(const struct tr_self *self, tr_pending pending, struct ask **found,
                               struct envelope **answer)
{
    *found = NULL;
    *answer = NULL;
    if (!self)
        return TR_INVALID_ARGUMENT;
    if (__builtin_expect(pending.id >> 32 >= self->asks.count, 0))
        return pending.id & PENDING_IS_STATUS ? (tr_status) - (int32_t)(uint32_t)pending.id
                                              : TR_INVALID_ARGUMENT;
    uintptr_t place = self->asks.places[pending.id >> 32];
    struct ask *ask = (struct ask *)place;
    struct envelope *kept = place_answer(place);
    if ((kept ? kept->payload.ask.id : ask->id) != (uint32_t)pending.id)
        return TR_INVALID_ARGUMENT;
    if (kept)
        *answer = kept;
    else
        *found = ask;
    return TR_OK;
}

/* Whether it is one of this turn's, or has its outcome in itself. */
static bool is_sound(const struct tr_self *self, tr_pending pending)
{
    struct ask *ask;
    struct envelope *answer;
    return ask_of(self, pending, &ask, &answer) != TR_INVALID_ARGUMENT;
}

/* One that may still be waited for, or NULL. */
static struct ask *open_ask(const struct tr_self *self, tr_pending pending)
{
    struct ask *ask;
    struct envelope *answer;
    (void)ask_of(self, pending, &ask, &answer);
    return ask && !ask->is_done ? ask : NULL;
}

void tr_self_at(tr_self *self, const char *where)
{
    TURN_VERB(self);
    if (self)
        self->where = where;
}

void tr_client_at(tr_client *client, const char *where)
{
    (void)client;
    (void)where;
}

/* Waits until so many of those that are wanted are done. */
STRETCH_INLINE tr_status park(struct tr_self *self, uint32_t wanted)
{
    self->wanted = wanted;
    tr_status status;
    if (__builtin_expect(turn_wants_barrier(self), 0))
        status = tr__barrier_wait_for_replies(self);
    else
        status = stretch_leave(self);
    self->wanted = 0;
    return status;
}

STRETCH_INLINE tr_status try_await(tr_self *self, tr_pending pending, const void **reply)
{
    struct ask *ask;
    struct envelope *answer;
    tr_status status = ask_of(self, pending, &ask, &answer);
    if (__builtin_expect(!ask && !answer, 0))
        return status;
    if (__builtin_expect(self->is_cancelled, 0))
        return TR_CANCELLED;
    if (ask && !ask->is_done) {
        ask->is_wanted = true;
        status = park(self, 1);
        if (__builtin_expect(status == TR_CANCELLED, 0))
            return status;
        (void)ask_of(self, pending, &ask, &answer);
        if (ask)
            ask->is_wanted = false;
        /* It could not wait; but an answer may have come since a ring was found. */
        if (__builtin_expect(status != TR_OK, 0) && ask && !ask->is_done)
            ask_done(self->worker, ask, status);
    }
    TR_ASSERT(answer || ask);
    if (__builtin_expect(answer != NULL, 1) || ask->status == TR_OK)
        *reply = envelope_data(answer ? answer : ask->answer);
    return answer ? TR_OK : ask->status;
}

tr_status tr_self_try_await(tr_self *self, tr_pending pending, const void **reply)
{
    TURN_VERB(self);
    const void *answer = NULL;
    tr_status status = try_await(self, pending, &answer);
    if (reply)
        *reply = answer;
    return status;
}

bool tr_self_is_answered(tr_self *self, tr_pending pending)
{
    TURN_VERB(self);
    return !open_ask(self, pending);
}

tr_status tr_self_await_all(tr_self *self, const tr_pending *asks, size_t count)
{
    TURN_VERB(self);
    struct ask *ask;
    struct envelope *answer;
    uint32_t open = 0;
    if (!self || !asks || !count)
        return TR_INVALID_ARGUMENT;
    for (size_t i = 0; i < count; i++) {
        if (!is_sound(self, asks[i]))
            return TR_INVALID_ARGUMENT;
    }
    if (self->is_cancelled)
        return TR_CANCELLED;
    for (size_t i = 0; i < count; i++) {
        ask = open_ask(self, asks[i]);
        if (ask && !ask->is_wanted) {
            ask->is_wanted = true;
            open++;
        }
    }
    tr_status status = open ? park(self, open) : TR_OK;
    tr_status first = TR_OK;
    for (size_t i = 0; i < count; i++) {
        tr_status one = ask_of(self, asks[i], &ask, &answer);
        if (ask) {
            ask->is_wanted = false;
            one = ask->status;
        }
        first = first == TR_OK ? one : first;
    }
    return status == TR_OK ? first : status;
}

/* The first of these that is over. */
static bool find_done(const struct tr_self *self, size_t *index, const tr_pending *asks,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (open_ask(self, asks[i]))
            continue;
        *index = i;
        return true;
    }
    return false;
}

tr_status tr_self_await_any(tr_self *self, size_t *index, const tr_pending *asks, size_t count)
{
    TURN_VERB(self);
    struct ask *ask;
    struct envelope *answer;
    if (!self || !index || !asks || !count)
        return TR_INVALID_ARGUMENT;
    for (size_t i = 0; i < count; i++) {
        if (!is_sound(self, asks[i]))
            return TR_INVALID_ARGUMENT;
    }
    if (self->is_cancelled)
        return TR_CANCELLED;
    if (find_done(self, index, asks, count))
        return TR_OK;
    for (size_t i = 0; i < count; i++)
        open_ask(self, asks[i])->is_wanted = true;
    tr_status status = park(self, 1);
    for (size_t i = 0; i < count; i++) {
        (void)ask_of(self, asks[i], &ask, &answer);
        if (ask)
            ask->is_wanted = false;
    }
    if (status == TR_OK && !find_done(self, index, asks, count))
        TR_UNREACHABLE("a turn was woken for nothing");
    return status;
}

tr_status tr_sleep(tr_self *self, tr_time ns)
{
    TURN_VERB(self);
    if (!self || ns < 0)
        return TR_INVALID_ARGUMENT;
    tr_time now_ns = clock_bound(&self->worker->clock);
    tr_status status = tr__turn_park(self, timer_deadline(now_ns, ns));
    return status == TR_TIMEOUT ? TR_OK : status;
}

/* ---- How it ended. ---- */

const tr_error *tr_self_why(tr_self *self, tr_pending pending)
{
    TURN_VERB(self);
    static const tr_error no_memory = {.status = TR_NO_MEMORY, .text = "no memory for the story"};
    struct ask *ask;
    struct envelope *answer;
    tr_status status = ask_of(self, pending, &ask, &answer);
    tr_error *error = self ? tr_try_scratch(self, sizeof *error) : NULL;
    if (!error)
        return &no_memory;
    *error = (tr_error){.status = ask ? ask->status : status};
    if (!ask && !answer) {
        snprintf(error->text, sizeof error->text, "%s", tr_status_text(status));
        return error;
    }
    uint64_t to = ask ? ask->to : answer_to(answer);
    const char *name = ask ? ask->type->name : answer_type(answer)->name;
    error->actor = tr_ref_from_bits(to);
    struct cell *cell = slots_find(self->worker->slots, to);
    char path[TR_PATH_MAX + 1] = "somebody who has stopped";
    /* What another worker, or a client, owns is not to be looked at. */
    if (cell && cell_owner(cell) == self->worker->index)
        tr__cell_path(self->worker->system, cell, path);
    else if (cell)
        snprintf(path, sizeof path, "an actor of another worker");
    snprintf(error->where, sizeof error->where, "%.*s", (int)sizeof error->where - 1, path);
    if (ask && !ask->is_done)
        snprintf(error->text, sizeof error->text, "%s is not answered yet", name);
    else if (ask && ask->story)
        snprintf(error->text, sizeof error->text, "%s: %s", name, ask->story);
    else if (ask && ask->answer && ask->answer->kind == ENVELOPE_EXCEPTION)
        tr__ask_read_error(ask->answer, error);
    if (!error->text[0])
        snprintf(error->text, sizeof error->text, "%s: %s", name, tr_status_text(error->status));
    return error;
}

tr_next tr_self_give_up(tr_self *self, tr_pending pending)
{
    TURN_VERB(self);
    if (!self)
        return TR_SAME;
    const tr_error *error = tr_self_why(self, pending);
    if (error->status == TR_REFUSED)
        return tr_refuse(self, error->code, "%s", error->text);
    return tr_fail(self, error->status, "%s", error->text);
}

const void *tr_self_await(tr_self *self, tr_pending pending)
{
    TURN_VERB(self);
    const void *reply = NULL;
    TR_ASSERT(self); /* there is no turn to end */
    tr_status status = try_await(self, pending, &reply);
    if (__builtin_expect(status == TR_OK, 1))
        return reply;
    struct ask *ask;
    struct envelope *answer;
    (void)ask_of(self, pending, &ask, &answer);
    if (ask && ask->is_done)
        tr__turn_end(self, tr_self_give_up(self, pending));
    tr__turn_end(self, tr_fail(self, status, "tr_await: %s", tr_status_text(status)));
}
