/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The receiver's side of an ask: replies, refusals, and the end of requests that got no answer.
 */
#include "actor/ask/answer.h"

#include <stdio.h>
#include <string.h>
#include <troupe/ask.h>

#include "actor/cell/channel.h"
#include "actor/cell/durable.h"
#include "actor/cell/names.h"
#include "actor/mail/address.h"
#include "actor/ask/ask.h"
#include "actor/ask/ask_open.h"
#include "actor/ask/batch.h"
#include "actor/ask/deliver.h"
#include "actor/cell/extra.h"
#include "actor/cell/log.h"
#include "actor/cell/verb.h"
#include "actor/mail/dead_letter.h"
#include "actor/mail/refusal.h"
#include "base/assert.h"
#include "actor/mail/kind.h"
#include "actor/mail/mail.h"

tr_status tr__ask_failed_status(const struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    if (!cell_durable(self->cell))
        return TR_FAILED;
    if (self->reply_failed != TR_OK)
        return self->reply_failed;
    switch ((int)self->error.status) {
    case TR_STALE:
    case TR_STORE_FAILED:
    case TR_STORE_BUSY:
    case TR_STORE_FULL:
    case TR_STORE_CORRUPT:
        return self->error.status;
    default:
        return TR_FAILED;
    }
}

/*
 * Writes the error text of a request without a reply. The text names the handler and its actor,
 * because the asker knows only the request.
 */
__attribute__((__noinline__)) static void silence_say(const struct tr_self *self, char *words,
                                                      size_t size)
{
    char path[TR_PATH_MAX + 1];
    tr__cell_path(self->worker->system, self->cell, path);
    snprintf(words,
             size,
             "%.60s: %.60s of %.100s ended without a reply (tr_reply, tr_refuse, tr_reply_later)",
             self->envelope->type->name,
             self->handler ? self->handler->name : "its handler",
             path);
}

void tr__request_finish(struct tr_self *self, tr_next next)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    struct envelope *envelope = self->envelope;
    tr_status status = TR_NO_REPLY;
    int code = 0;
    const char *text = NULL;
    char words[320];
    if (self->is_cancelled) {
        /*
         * The status of a sealed actor is TR_STOPPED too, because no other incarnation follows: the
         * actor falls asleep or ends.
         */
        bool is_over = self->cell->life >= LIFE_STOPPING || self->cell->flags & CELL_SEALED;
        status = is_over ? TR_STOPPED : TR_RESTARTED;
    } else if (next.code == TR_NEXT_FAILED) {
        status = tr__ask_failed_status(self);
        snprintf(
            words, sizeof words, "%s: %s", tr_status_name(self->error.status), self->error.text);
        text = words;
    } else if (next.code == TR_NEXT_UNHANDLED) {
        status = TR_UNHANDLED;
    } else if (self->reply_failed != TR_OK) {
        status = self->reply_failed; /* the handler did reply, but the reply could not be sent */
        code = self->error.code;
    } else {
        silence_say(self, words, sizeof words);
        text = words;
    }
    self->envelope = NULL;
    tr__ask_refuse(worker, envelope, self->cell->identity, status, code, text);
}

/*
 * Delivers a reply if its receiver is on this worker and the reply answers the newest ask of the
 * receiver, as most replies do. In any other case does nothing and returns false.
 */
static inline bool reply_fast(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    if (worker->outbox_turn || cell_owner(cell) != worker->index || door_has_mail(&cell->door) ||
        cell->life == LIFE_NEW || !cell->extra)
        return false;
    struct ask *ask = cell->extra->asks.table.newest;
    if (!ask || ask->id != envelope->payload.ask.id || !ask_is_plain(ask))
        return false;
    atom64_count(&worker->counters.accepted, 1);
    atom64_count(&worker->counters.handled, 1);
    ask_answer(worker, cell, ask, envelope);
    return true;
}

/*
 * Handles a reply whose asker is gone: passes it to a durable actor, which may keep it. Returns
 * TR_STOPPED.
 */
__attribute__((__noinline__)) static tr_status answer_lost(struct tr_self *self,
                                                           const struct durable_answer *answer)
{
    const struct durable *durable = cell_durable(self->cell);
    if (durable)
        durable->hooks->on_lost_answer(self, answer);
    return TR_STOPPED;
}

/* Sends a reply to the asker. The request itself still belongs to the caller. */
static inline tr_status reply(struct tr_self *self, uint64_t to, uint32_t id, const tr_type *type,
                              const void *message)
{
    struct worker *worker = self->worker;
    struct cell *cell = slots_find(worker->slots, to);
    if (__builtin_expect(!cell, 0))
        return answer_lost(
            self,
            &(struct durable_answer){.asker = to, .ask = id, .type = type, .message = message});
    struct address address = {.kind = ENVELOPE_REPLY,
                              .to = to,
                              .sender = self->cell->identity,
                              .causal = self->causal,
                              .number = id};
    struct envelope *envelope = NULL;
    tr_status status = mail_new(&worker->pool, address, type, message, &envelope);
    if (__builtin_expect(status != TR_OK, 0))
        return status;
    if (__builtin_expect(reply_fast(worker, cell, envelope), 1))
        return TR_OK;
    status = deliver(self, &cell, &to, envelope, NULL, ENVELOPE_REPLY, 0);
    if (status != TR_OK)
        envelope_give(&worker->pool, envelope);
    return status;
}

/*
 * Whether `type` is the reply type of `request`. One type may have several descriptors, because
 * each file has its own descriptors of the types of a header. Comparing two descriptors member by
 * member takes 400 instructions, so a worker remembers the last pair that was equal.
 */
static inline bool is_reply_of(struct worker *worker, const tr_type *request, const tr_type *type)
{
    const tr_type *expected = request->reply;
    if (__builtin_expect(expected == type, 1) ||
        (worker->asks.reply_expected == expected && worker->asks.reply_given == type))
        return true;
    if (!expected || !tr_type_is_equal(expected, type))
        return false;
    worker->asks.reply_expected = expected;
    worker->asks.reply_given = type;
    return true;
}

tr_status tr__ask_reply(struct tr_self *self, const tr_type *type, const void *message)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct envelope *envelope = self->envelope;
    TR_ASSERT(envelope->kind == ENVELOPE_ASK);
    if (self->is_cancelled)
        return TR_CANCELLED;
    if (!is_reply_of(self->worker, envelope->type, type))
        return TR_WRONG_TYPE;
    tr_status status = reply(self, envelope->sender, envelope->payload.ask.id, type, message);
    if (__builtin_expect(status == TR_OK, 1)) {
        envelope->kind = ENVELOPE_ANSWERED;
        return TR_OK;
    }
    if (status == TR_STOPPED)
        envelope->kind = ENVELOPE_ANSWERED;
    else
        turn_fail_reply(self, status);
    return status;
}

tr_status tr__ask_forward(struct tr_self *self, uint64_t to)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    struct envelope *request = self->envelope;
    struct cell *cell = slots_find(worker->slots, to);
    struct envelope *envelope = NULL;
    struct address address = {.kind = ENVELOPE_ASK,
                              .to = to,
                              .sender = request->sender,
                              .causal = request->causal,
                              .number = request->payload.ask.id,
                              .deadline_ms = request->payload.ask.deadline_ms};
    tr_status status = TR_STOPPED;
    if (cell)
        status =
            tr__mail_new(&worker->pool, address, request->type, envelope_data(request), &envelope);
    if (status == TR_OK) {
        status = deliver(self, &cell, &to, envelope, NULL, ENVELOPE_ASK, 0);
        if (status != TR_OK)
            envelope_give(&worker->pool, envelope);
    }
    if (status == TR_OK)
        request->kind = ENVELOPE_ANSWERED;
    else
        turn_fail_reply(self, status);
    return status;
}

void tr__turn_refuse(struct tr_self *self, int code, const char *text)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    if (self->is_cancelled)
        return;
    struct worker *worker = self->worker;
    struct envelope *request = self->envelope;
    if (request && request->kind == ENVELOPE_ASK) {
        struct envelope *answer = tr__request_stand_in(worker, request);
        if (!answer) {
            self->error.code = code;
            turn_fail_reply(self, TR_REFUSED); /* without a text */
            return;
        }
        request->kind = ENVELOPE_ANSWERED;
        if (!slots_find(worker->slots, request->sender))
            (void)answer_lost(self,
                              &(struct durable_answer){.asker = request->sender,
                                                       .ask = request->payload.ask.id,
                                                       .code = code,
                                                       .text = text});
        tr__ask_refuse(worker, answer, self->cell->identity, TR_REFUSED, code, text);
        return;
    }
    if (request && request->kind == ENVELOPE_CHANNEL &&
        worker->channels.hooks->on_refuse(self, code, text))
        return;
    const struct durable *durable = cell_durable(self->cell);
    if (durable && durable->hooks->on_refuse(self))
        return;
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, self->cell, path);
    tr__log_turn(worker->system,
                 TR_LEVEL_WARN,
                 path,
                 self->causal,
                 "tr_refuse without effect: %s is not an ask; code %d: %s",
                 request ? request->type->name : "a signal",
                 code,
                 text);
}

tr_next tr_refuse(tr_self *self, int code, const char *format, ...)
{
    TURN_VERB(self);
    if (!self)
        return TR_SAME;
    char text[sizeof(tr_error){0}.text];
    va_list list;
    if (!format)
        format = "";
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (self->batch)
        tr__batch_refuse(self, code, text);
    else
        tr__turn_refuse(self, code, text);
    return TR_SAME;
}

/* ---- Deferred replies. ---- */

tr_later tr__later_new(struct tr_self *self, const struct envelope *request, const tr_type *type)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    tr_later none = {0};
    struct cell_extra *extra = tr__extra_of(worker, self->cell);
    struct later *later = extra ? source_resize(&worker->source, NULL, sizeof *later) : NULL;
    struct envelope *answer = later ? tr__request_stand_in(worker, request) : NULL;
    if (!answer) {
        source_resize(&worker->source, later, 0);
        turn_fail_reply(self, TR_NO_MEMORY);
        return none;
    }
    *later = (struct later){.number = ++worker->turns.wait_last,
                            .type = type,
                            .answer = answer,
                            .since_ns = worker->loop.now_ns};
    list_push_last(&extra->asks.laters, &later->link);
    return (tr_later){later->number};
}

tr_later tr_reply_later(tr_self *self)
{
    TURN_VERB(self);
    tr_later none = {0};
    struct envelope *request = self ? self->envelope : NULL;
    if (!request || self->is_cancelled)
        return none;
    if (request->kind == ENVELOPE_CHANNEL)
        return self->worker->channels.hooks->on_later(self);
    if (request->kind != ENVELOPE_ASK)
        return none;
    tr_later later = tr__later_new(self, request, request->type);
    if (later.number)
        request->kind = ENVELOPE_ANSWERED;
    return later;
}

static void later_free(struct worker *worker, struct later *later)
{
    list_remove(&later->link);
    source_resize(&worker->source, later, 0);
}

tr_status tr_self_reply_to(tr_self *self, tr_later handle, const tr_type *type, const void *message)
{
    TURN_VERB(self);
    if (!self || !type || !message)
        return TR_INVALID_ARGUMENT;
    if (self->is_cancelled)
        return TR_CANCELLED;
    struct cell_extra *extra = self->cell->extra;
    struct later *later = NULL;
    for (struct list *link = extra ? extra->asks.laters.next : NULL;
         link && link != &extra->asks.laters;
         link = link->next) {
        later = LIST_OWNER(link, struct later, link);
        if (later->number == handle.number)
            break;
        later = NULL;
    }
    if (!later || !handle.number)
        return TR_NOT_FOUND;
    if (later->type->reply && !is_reply_of(self->worker, later->type, type))
        return TR_WRONG_TYPE;
    struct envelope *answer = later->answer;
    tr_status status = reply(self, answer->sender, answer->payload.ask.id, type, message);
    if (status != TR_OK && status != TR_STOPPED)
        return status;
    if (status == TR_STOPPED) {
        atom64_count(&self->worker->counters.refused, 1);
        tr__dead_letter(self->worker->system,
                        self->worker,
                        &(struct dead_letter){.type = type,
                                              .from = self->cell->identity,
                                              .to = answer->sender,
                                              .reason = status});
    }
    envelope_give(&self->worker->pool, answer);
    later_free(self->worker, later);
    return status;
}

void tr__laters_refuse(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    tr_status status = cell->life == LIFE_STARTING ? TR_RESTARTED : TR_STOPPED;
    struct list *link;
    while ((link = list_first(&cell->extra->asks.laters))) {
        struct later *later = LIST_OWNER(link, struct later, link);
        tr__ask_refuse(worker, later->answer, cell->identity, status, 0, NULL);
        later_free(worker, later);
    }
}

/* ---- Queued requests of an actor that stops. ---- */

static void refuse_asks_of(struct worker *worker, struct cell *cell, struct envelope **ring,
                           bool has_place)
{
    struct envelope *others = NULL;
    while (*ring) {
        struct envelope *envelope = ring_pop(ring);
        if (envelope->kind != ENVELOPE_ASK) {
            ring_push(&others, envelope);
            continue;
        }
        mail_uncount(cell, envelope);
        if (has_place)
            capacity_give_any(cell, envelope);
        tr__mail_bury_one(worker, cell, envelope, TR_STOPPED);
    }
    *ring = others;
}

void tr__asks_refuse_queued(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    refuse_asks_of(worker, cell, &cell->cycle, true);
    refuse_asks_of(worker, cell, &cell->notices, true);
    if (!cell->extra)
        return;
    refuse_asks_of(worker, cell, &cell->extra->mail.requests, true);
    refuse_asks_of(worker, cell, &cell->extra->mail.held, true);
    refuse_asks_of(worker, cell, &cell->extra->stash.ring, false);
}
