/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/ask/batch.h"

#include <stdio.h>
#include <troupe/ask.h>
#include <troupe/batch.h>
#include <stdarg.h>

#include "actor/ask/answer.h"
#include "actor/cell/ask_table.h"
#include "actor/cell/channel.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/upcalls.h"
#include "actor/cell/verb.h"
#include "actor/mail/capacity.h"
#include "actor/turn/park.h"
#include "actor/turn/turn.h"
#include "base/assert.h"
#include "actor/mail/mail.h"
#include "actor/mail/kind.h"

/* ---- Which messages belong together. ---- */

/* Whether a message may be in a batch, judged by the message alone. */
static bool may_be_in(const tr_handler *handler, const struct envelope *envelope)
{
    const void *message = envelope_data((struct envelope *)(uintptr_t)envelope);
    if (!mail_takes_capacity(envelope)) /* an event of a timer */
        return false;
    if (handler->filter && !handler->filter(message))
        return false;
    return !handler->barrier_if || !handler->barrier_if(message);
}

static bool may_follow(struct tr_self *self, const struct envelope *envelope)
{
    struct worker *worker = self->worker;
    struct dispatch *dispatch = self->cell->dispatch;
    if (envelope->kind != self->envelope->kind)
        return false;
    if (envelope->type != self->envelope->type &&
        dispatch_find(&worker->dispatches, dispatch, envelope->type) != self->handler)
        return false;
    /*
     * Leave out a request whose deadline has passed: in a turn of its own it becomes a dead letter.
     */
    if (envelope->kind == ENVELOPE_ASK && ask_is_late(worker, envelope))
        return false;
    return may_be_in(self->handler, envelope);
}

/* Returns how many messages this turn takes, including the message that began the turn. */
static uint32_t count_batch(struct tr_self *self)
{
    const tr_handler *handler = self->handler;
    const struct envelope *last = self->cell->cycle;
    uint32_t max = handler->batch_max ? handler->batch_max : TR_BATCH_MAX;
    uint32_t count = 1;
    if (!last || max == 1 || !may_be_in(handler, self->envelope))
        return count;
    const struct door_mail *mail = &last->mail;
    do {
        mail = mail->next;
        if (!may_follow(self, (const struct envelope *)(const void *)mail))
            break;
        count++;
    } while (mail != &last->mail && count < max);
    return count;
}

/*
 * Takes the next message out of the cycle, and updates the same counts as for the message that
 * began the turn.
 */
static struct envelope *take_next(struct tr_self *self)
{
    struct cell *cell = self->cell;
    TR_ASSERT(cell->cycle);
    struct envelope *envelope = ring_pop(&cell->cycle);
    mail_uncount(cell, envelope);
    capacity_give_any(cell, envelope);
    self->turns++;
    return envelope;
}

/*
 * As tr_self_batch, but for a turn of a channel. If the handler has a filter or barrier_if, it gets
 * only one message, because nothing here tests these for the further messages of the channel.
 */
static const void *const *channel_batch(struct tr_self *self, const void *const *one, size_t *count)
{
    const tr_handler *handler = self->handler;
    size_t max = handler->batch_max ? handler->batch_max : TR_BATCH_MAX;
    if (handler->filter || handler->barrier_if)
        return one;
    const void *const *messages = self->worker->channels.hooks->on_batch(self, max, count);
    return messages ? messages : one;
}

const void *const *tr_self_batch(tr_self *self, const void *const *one, size_t *count)
{
    TURN_VERB(self);
    *count = 1;
    if (self->kind != TURN_MESSAGE || self->batch)
        return one;
    if (self->envelope->kind == ENVELOPE_CHANNEL)
        return channel_batch(self, one, count);
    uint32_t taken = count_batch(self);
    if (taken == 1)
        return one;
    size_t size = sizeof(struct batch) + taken * sizeof(struct batch_item);
    struct batch *batch = tr_try_scratch(self, size + taken * sizeof(void *));
    if (!batch)
        return one;
    batch->count = taken;
    batch->messages = (const void **)(void *)((char *)batch + size);
    for (uint32_t i = 0; i < taken; i++) {
        struct envelope *envelope = i ? take_next(self) : self->envelope;
        batch->items[i] = (struct batch_item){envelope, TR_OK};
        batch->messages[i] = envelope_data(envelope);
    }
    self->batch = batch;
    *count = taken;
    return batch->messages;
}

/* ---- One message of a batch: verbs act as if the turn had only this message. ---- */

/* The members of a turn that focus_on replaces and focus_end restores. */
struct focus {
    struct envelope *envelope;
    uint64_t causal;
    tr_status reply_failed;
};

static bool has_message(const struct tr_self *self, size_t index)
{
    return self && self->envelope && index < (self->batch ? self->batch->count : 1);
}

static struct focus focus_on(struct tr_self *self, size_t index)
{
    struct focus before = {self->envelope, self->causal, self->reply_failed};
    if (!self->batch)
        return before;
    const struct batch_item *item = &self->batch->items[index];
    self->envelope = item->envelope;
    self->causal = item->envelope->causal;
    if (index) /* for the first message, self->reply_failed has the right value already */
        self->reply_failed = item->reply_failed;
    return before;
}

static void focus_end(struct tr_self *self, size_t index, const struct focus *before)
{
    if (!self->batch)
        return;
    self->batch->items[index].reply_failed = self->reply_failed;
    self->envelope = before->envelope;
    self->causal = before->causal;
    if (index)
        self->reply_failed = before->reply_failed;
}

static void refuse_one(struct tr_self *self, size_t index, int code, const char *text)
{
    struct focus before = focus_on(self, index);
    tr__turn_refuse(self, code, text);
    focus_end(self, index, &before);
}

tr_status tr_self_reply_at(tr_self *self, size_t index, const tr_type *type, const void *message)
{
    TURN_VERB(self);
    if (!has_message(self, index))
        return TR_INVALID_ARGUMENT;
    struct focus before = focus_on(self, index);
    tr_status status = tr_self_try_reply(self, type, message);
    focus_end(self, index, &before);
    return status;
}

tr_status tr_refuse_at(tr_self *self, size_t index, int code, const char *format, ...)
{
    TURN_VERB(self);
    if (!has_message(self, index))
        return TR_INVALID_ARGUMENT;
    char text[sizeof(tr_error){0}.text];
    va_list list;
    va_start(list, format);
    if (!format)
        format = "";
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    refuse_one(self, index, code, text);
    return TR_OK;
}

tr_later tr_reply_later_at(tr_self *self, size_t index)
{
    TURN_VERB(self);
    if (!has_message(self, index))
        return (tr_later){0};
    struct focus before = focus_on(self, index);
    tr_later later = tr_reply_later(self);
    focus_end(self, index, &before);
    return later;
}

tr_ref tr_sender_at(const tr_self *self, size_t index)
{
    TURN_VERB(self);
    if (!has_message(self, index))
        return TR_NOBODY;
    if (!self->batch)
        return tr_sender(self);
    return tr_ref_from_bits(self->batch->items[index].envelope->sender);
}

/* ---- All messages of a batch. ---- */

void tr__batch_refuse(struct tr_self *self, int code, const char *text)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    for (uint32_t i = 0; i < self->batch->count; i++) {
        if (self->batch->items[i].envelope->kind != ENVELOPE_ANSWERED)
            refuse_one(self, i, code, text);
    }
}

const struct envelope *tr__batch_latest(const struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    const struct envelope *latest = self->envelope;
    for (uint32_t i = 1; i < self->batch->count; i++) {
        const struct envelope *envelope = self->batch->items[i].envelope;
        uint32_t due_ms = envelope->payload.ask.deadline_ms;
        uint32_t latest_ms = latest->payload.ask.deadline_ms;
        if (!latest_ms)
            break; /* a message without a deadline counts as the latest */
        if (!due_ms || (int32_t)(due_ms - latest_ms) > 0)
            latest = envelope;
    }
    return latest;
}

uint32_t tr__batch_current(const struct cell *cell)
{
    uint32_t count = 0;
    PARKED_EACH (self, cell->extra) {
        count += self->batch ? self->batch->count : 1;
    }
    return count;
}

/* Ends one message of a batch, as tr__turn_finish ends the message of a turn. */
static void end_one(struct tr_self *self, tr_next next)
{
    struct worker *worker = self->worker;
    if (next.code == TR_NEXT_UNHANDLED) {
        tr__turn_unhandled(self);
        return;
    }
    atom64_count(&worker->counters.handled, 1);
    if (self->envelope->kind == ENVELOPE_ASK)
        tr__request_finish(self, next);
    else
        envelope_give(&worker->pool, self->envelope);
}

void tr__batch_end(struct tr_self *self, tr_next next)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct batch *batch = self->batch;
    uint32_t last = batch->count - 1;
    TR_ASSERT(next.code != TR_NEXT_STASHED);
    batch->items[0].reply_failed = self->reply_failed;
    self->batch = NULL;
    for (uint32_t i = 0; i <= last; i++) {
        self->envelope = batch->items[i].envelope;
        self->causal = self->envelope->causal;
        self->reply_failed = batch->items[i].reply_failed;
        if (i < last)
            end_one(self, next);
    }
}
