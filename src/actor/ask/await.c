/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Waiting for asks, and reading their outcomes.
 */
#include <stdio.h>
#include <troupe/ask.h>

#include "actor/ask/await.h"
#include "actor/ask/ask.h"
#include "actor/ask/ask_cycle.h"
#include "actor/ask/turn_asks.h"
#include "actor/cell/names.h"
#include "actor/cell/slots.h"
#include "actor/cell/verb.h"
#include "actor/mail/kind.h"
#include "actor/mail/refusal.h"
#include "actor/turn/resume.h"
#include "actor/turn/turn.h"
#include "base/assert.h"

/* ---- Waiting. ---- */

/*
 * Finds an ask of this turn. If the ask was answered, sets *answer to its reply, otherwise sets
 * *found to the ask. Returns TR_OK in both cases. If `pending` has a status instead of an ask,
 * returns that status. In all other cases returns TR_INVALID_ARGUMENT.
 */
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
    if (place_is_answered(place)) {
        struct envelope *kept = place_answer(place);
        if (kept->payload.ask.id != (uint32_t)pending.id)
            return TR_INVALID_ARGUMENT;
        *answer = kept;
    } else {
        struct ask *ask = (struct ask *)place;
        if (ask->id != (uint32_t)pending.id)
            return TR_INVALID_ARGUMENT;
        *found = ask;
    }
    return TR_OK;
}

/* Whether `pending` is an ask of this turn, or has a status instead of an ask. */
static bool is_sound(const struct tr_self *self, tr_pending pending)
{
    struct ask *ask;
    struct envelope *answer;
    return ask_of(self, pending, &ask, &answer) != TR_INVALID_ARGUMENT;
}

/* Returns an ask of this turn if it is not done, otherwise NULL. */
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
        self->wait.where = where;
}

void tr_client_at(tr_client *client, const char *where)
{
    (void)client;
    (void)where;
}

/*
 * Waits, in a turn that is a barrier, until wait.wanted of the asks with is_wanted are done.
 * Returns what tr__turn_park returns. Ends asks that are in a cycle with TR_ASK_CYCLE.
 */
static tr_status barrier_wait_for_replies(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    self->waits.number = ++self->worker->turns.wait_last;
    bool has_left = tr__ask_cycle_look_for_replies(self);
    if (!self->wait.wanted) {
        self->waits.number = 0;
        return TR_OK; /* the search for cycles has ended the asks */
    }
    /*
     * A wait for replies has no single receiver, so note the turn's own actor. The asks of the turn
     * name the actors that it waits for.
     */
    self->waits.on = self->cell->identity;
    if (has_left)
        tr__ask_cycle_announce_for_replies(self);
    tr_status status = tr__turn_park(self, TR_NEVER);
    self->waits.on = 0;
    self->waits.number = 0;
    return status;
}

/*
 * As barrier_wait_for_replies, but for a turn that is no barrier. Such a turn handles a request and
 * has asked an actor that is behind a barrier, so it may be in a cycle too.
 */
static tr_status turn_wait_behind_barrier(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    (void)tr__ask_cycle_look_for_replies(self);
    return self->wait.wanted ? tr__turn_park(self, TR_NEVER)
                             : TR_OK; /* the search for cycles has ended the asks */
}

/*
 * Waits for the wanted asks, in the cases that park_plainly cannot handle. One of them is the first
 * wait of a turn.
 */
__attribute__((__noinline__)) static tr_status park_slowly(struct tr_self *self)
{
    if (turn_wants_barrier(self))
        return barrier_wait_for_replies(self);
    if (self->asks_barrier)
        return turn_wait_behind_barrier(self);
    return tr__turn_park(self, TR_NEVER);
}

/* Waits until `wanted` of the asks with is_wanted are done. Returns what tr__turn_park returns. */
RESUME_INLINE tr_status park(struct tr_self *self, uint32_t wanted)
{
    self->wait.wanted = wanted;
    tr_status status =
        __builtin_expect(park_is_plain(self), 1) ? park_plainly(self) : park_slowly(self);
    self->wait.wanted = 0;
    return status;
}

/* Ends the wait for an ask of this turn that was not answered. Returns the outcome of the ask. */
__attribute__((__noinline__)) static tr_status ask_over(struct tr_self *self, struct ask *ask,
                                                        tr_status status)
{
    ask->is_wanted = false;
    /*
     * `status` says why the turn could not wait, and becomes the outcome of the ask. But if the ask
     * was done meanwhile, for example after the search has found a cycle, it keeps its own status.
     */
    if (status != TR_OK && !ask->is_done)
        tr__ask_done(self->worker, ask, status);
    return ask->status;
}

RESUME_INLINE tr_status try_await(tr_self *self, tr_pending pending, const void **reply)
{
    struct ask *ask;
    struct envelope *answer;
    tr_status status = ask_of(self, pending, &ask, &answer);
    if (__builtin_expect(!ask && !answer, 0))
        return status;
    if (__builtin_expect(self->is_cancelled, 0))
        return TR_CANCELLED;
    if (ask) {
        if (__builtin_expect(!ask->is_done, 1)) {
            ask_want(ask);
            status = park(self, 1);
            if (__builtin_expect(status == TR_CANCELLED, 0))
                return status;
        }
        /*
         * The ask still belongs to this turn, and its number in the turn is the same. If it was
         * answered, this place has its reply now.
         */
        uintptr_t place = self->asks.places[pending.id >> 32];
        if (__builtin_expect(!place_is_answered(place), 0)) {
            status = ask_over(self, ask, status);
            if (status != TR_OK)
                return status;
            answer = ask->answer;
        } else {
            answer = place_answer(place);
        }
    }
    TR_ASSERT_SLOW(answer->payload.ask.id == (uint32_t)pending.id);
    *reply = envelope_data(answer);
    return TR_OK;
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

bool tr__ask_is_unbegun(const struct tr_self *self, tr_pending pending)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct ask *ask;
    struct envelope *answer;
    (void)ask_of(self, pending, &ask, &answer);
    if (!ask || !ask->is_done || ask->status != TR_STOPPED)
        return false;
    return !ask->answer || tr__refusal_is_unbegun(ask->answer);
}

bool tr_self_is_answered(tr_self *self, tr_pending pending)
{
    TURN_VERB(self);
    return !open_ask(self, pending);
}

/*
 * Checks whether the turn may wait for all of these asks. Returns TR_OK, TR_INVALID_ARGUMENT or
 * TR_CANCELLED.
 */
static tr_status check_all(const struct tr_self *self, const tr_pending *asks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_sound(self, asks[i]))
            return TR_INVALID_ARGUMENT;
    }
    return self->is_cancelled ? TR_CANCELLED : TR_OK;
}

tr_status tr_self_await_all(tr_self *self, const tr_pending *asks, size_t count)
{
    TURN_VERB(self);
    struct ask *ask;
    struct envelope *answer;
    uint32_t open = 0;
    if (!self || !asks)
        return TR_INVALID_ARGUMENT;
    tr_status status = check_all(self, asks, count);
    if (status != TR_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        ask = open_ask(self, asks[i]);
        if (ask && !ask->is_wanted) {
            ask->is_wanted = true;
            open++;
        }
    }
    status = open ? park(self, open) : TR_OK;
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

/*
 * Finds the first of these asks that is done, and sets *index to its index. Returns false if none
 * is done.
 */
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
    tr_status status = check_all(self, asks, count);
    if (status != TR_OK)
        return status;
    if (find_done(self, index, asks, count))
        return TR_OK;
    for (size_t i = 0; i < count; i++)
        open_ask(self, asks[i])->is_wanted = true;
    status = park(self, 1);
    for (size_t i = 0; i < count; i++) {
        (void)ask_of(self, asks[i], &ask, &answer);
        if (ask)
            ask->is_wanted = false;
    }
    if (status == TR_OK && !find_done(self, index, asks, count))
        TR_NOT_REACHED("a turn was woken for nothing");
    return status;
}

tr_status tr_self_sleep(tr_self *self, tr_time ns, const char *where)
{
    TURN_VERB(self);
    if (!self || ns < 0)
        return TR_INVALID_ARGUMENT;
    tr_time now_ns = clock_bound(&self->worker->clock);
    tr_status status = turn_park_at(self, timer_deadline(now_ns, ns), where);
    return status == TR_TIMEOUT ? TR_OK : status;
}

tr_status tr_self_ask_cancel(tr_self *self, tr_pending pending)
{
    TURN_VERB(self);
    struct ask *ask;
    struct envelope *answer;
    tr_status status = ask_of(self, pending, &ask, &answer);
    if (status == TR_INVALID_ARGUMENT)
        return status;
    if (!ask || ask->is_done)
        return TR_NOT_FOUND;
    tr__ask_done(self->worker, ask, TR_CANCELLED);
    return TR_OK;
}

/* ---- How an ask ended. ---- */

const tr_error *tr_self_ask_error(tr_self *self, tr_pending pending)
{
    TURN_VERB(self);
    static const tr_error no_memory = {.status = TR_NO_MEMORY,
                                       .text = "out of memory for the error text"};
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
    char path[TR_PATH_MAX + 1] = "an actor that has stopped";
    /* Only the worker that owns the cell may look at it. */
    if (cell && cell_owner(cell) == self->worker->index)
        tr__cell_path(self->worker->system, cell, path);
    else if (cell)
        snprintf(path, sizeof path, "an actor of another worker");
    snprintf(error->where, sizeof error->where, "%.*s", (int)sizeof error->where - 1, path);
    if (ask && !ask->is_done)
        snprintf(error->text, sizeof error->text, "%s has not been answered yet", name);
    else if (ask && ask->trace)
        snprintf(error->text, sizeof error->text, "%s: %s", name, ask->trace);
    else if (ask && ask->answer && ask->answer->kind == ENVELOPE_EXCEPTION)
        tr__ask_read_error(ask->answer, error);
    if (!error->text[0])
        snprintf(error->text,
                 sizeof error->text,
                 "%s: %s",
                 name,
                 to || error->status != TR_STOPPED ? tr_status_text(error->status)
                                                   : "the request was sent to nobody");
    return error;
}

tr_next tr_self_give_up(tr_self *self, tr_pending pending)
{
    TURN_VERB(self);
    if (!self)
        return TR_SAME;
    const tr_error *error = tr_self_ask_error(self, pending);
    if (error->status == TR_REFUSED)
        return tr_refuse(self, error->code, "%s", error->text);
    return tr_fail(self, error->status, "%s", error->text);
}

const void *tr_self_await(tr_self *self, tr_pending pending)
{
    TURN_VERB(self);
    const void *reply = NULL;
    TR_ASSERT(self); /* tr_crash below ends a turn, so there must be a turn */
    tr_status status = try_await(self, pending, &reply);
    if (__builtin_expect(status == TR_OK, 1))
        return reply;
    struct ask *ask;
    struct envelope *answer;
    (void)ask_of(self, pending, &ask, &answer);
    if (ask && ask->is_done)
        tr__turn_abort(self, tr_self_give_up(self, pending));
    tr__turn_abort(self, tr_fail(self, status, "tr_await: %s", tr_status_text(status)));
}
