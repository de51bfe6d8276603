/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verbs of a turn: messages, become, spawn, identity and place, time, random numbers, log.
 */
#include <stdio.h>
#include <string.h>
#include <troupe/name.h>

#include "actor/ask/answer.h"
#include "actor/ask/ask_open.h"
#include "actor/ask/deliver.h"
#include "actor/cell/channel.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/log.h"
#include "actor/cell/names.h"
#include "actor/cell/verb.h"
#include "actor/life/spawn.h"
#include "actor/mail/dead_letter.h"
#include "actor/mail/group_address.h"
#include "actor/mail/mail.h"
#include "actor/cell/overflow.h"
#include "actor/turn/turn.h"
#include "wire/copy.h"
#include "wire/type.h"
#include "actor/mail/address.h"
#include "actor/mail/kind.h"

/* ---- Messages. ---- */

/*
 * Counts a message as refused, makes it a dead letter, and returns `reason`. If `message` is NULL,
 * the dead letter does not show its content.
 */
__attribute__((__cold__, __noinline__)) static tr_status notice_refuse(
    struct tr_self *self, uint64_t to, const tr_type *type, const void *message, size_t size,
    tr_status reason)
{
    struct worker *worker = self->worker;
    atom64_count(&worker->counters.refused, 1);
    tr__dead_letter(worker->system,
                    worker,
                    &(struct dead_letter){.type = type,
                                          .message = message,
                                          .size = size,
                                          .from = self->cell->identity,
                                          .to = to,
                                          .reason = reason});
    return reason;
}

/*
 * Ends a send that was refused with `status`. Takes the envelope. Returns the status that the verb
 * returns to its caller.
 */
__attribute__((__cold__, __noinline__)) static tr_status unsent(struct tr_self *self,
                                                                struct cell *cell, uint64_t to,
                                                                struct envelope *envelope,
                                                                tr_status status)
{
    struct worker *worker = self->worker;
    const tr_type *type = envelope->type;
    size_t size = mail_bytes(envelope);
    const void *message = envelope_data(envelope);
    if (status != TR_MAILBOX_FULL || !mailbox_overflow_has(cell, OVERFLOW_SWALLOWS)) {
        notice_refuse(self, to, type, message, size, status);
        envelope_give(&worker->pool, envelope);
        return status;
    }
    /* The message counts as accepted, and is dropped at once. */
    atom64_count(&worker->counters.accepted, 1);
    atom64_count(&worker->counters.dead, 1);
    tr__dead_letter(worker->system,
                    worker,
                    &(struct dead_letter){.type = type,
                                          .message = message,
                                          .size = size,
                                          .from = self->cell->identity,
                                          .to = to,
                                          .reason = TR_MAILBOX_FULL});
    envelope_give(&worker->pool, envelope);
    return TR_OK;
}

ATOM_INLINE tr_status notice_send(struct tr_self *self, uint64_t to, uint64_t sender,
                                  const tr_type *type, const void *message)
{
    struct worker *worker = self->worker;
    if (__builtin_expect(self->is_cancelled, 0))
        return notice_refuse(self, to, type, message, 0, TR_CANCELLED);
    struct cell *cell = slots_find(worker->slots, to);
    if (__builtin_expect(!cell, 0))
        return notice_refuse(self, to, type, message, 0, TR_STOPPED);
    struct address address = {
        .kind = ENVELOPE_NOTICE, .to = to, .sender = sender, .causal = self->causal};
    struct envelope *envelope = NULL;
    tr_status status = mail_new(&worker->pool, address, type, message, &envelope);
    if (__builtin_expect(status != TR_OK, 0))
        return notice_refuse(self, to, type, NULL, 0, status);
    status = deliver(self, &cell, &to, envelope, NULL, ENVELOPE_NOTICE, 0);
    if (__builtin_expect(status == TR_OK, 1))
        return TR_OK;
    return unsent(self, cell, to, envelope, status);
}

/*
 * Sends a notice of `size` bytes, which must fit into an envelope, by the fast path. If the
 * receiver is no actor of this worker, or if anything about the turn or the receiver is unusual,
 * does nothing and returns false. All checks come before the first write, and no function is
 * called. So the other paths cost this path no register.
 */
ATOM_INLINE bool send_quickly(struct tr_self *self, uint64_t to, const tr_type *type,
                              const void *message, size_t size)
{
    struct worker *worker = self->worker;
    struct cell *cell = slots_map_find(&worker->map, to);
    /*
     * mail_can_go_fast compares the owner first, because only the owner may read the other members.
     */
    if (__builtin_expect(
            !cell || !mail_can_go_fast(worker, cell, ENVELOPE_NOTICE) || self->is_unusual, 0))
        return false;
    TR_ASSERT_SLOW(!self->outbox);
    uint64_t stock_and_lines = cell->stock_and_lines + MAIL_ONE_NOTICE;
    if (__builtin_expect(!message || mail_is_overdrawn(stock_and_lines) || !worker->pool.free, 0))
        return false;
    struct envelope *envelope = envelope_take_free(&worker->pool);
    struct address address = {
        .kind = ENVELOPE_NOTICE, .to = to, .sender = self->cell->identity, .causal = self->causal};
    mail_fill_inside(&worker->pool, envelope, address, type, message, size);
    mail_send_fast(worker, cell, envelope, stock_and_lines);
    return true;
}

/*
 * Most messages have this size, one word, which is copied without further registers. All other
 * sizes are behind a jump.
 */
enum { WORD = 8 };

/*
 * Whether a message with this type->inline_size fits into its envelope. An inline_size of 0 means
 * that the message is not flat or is too large, and gives false.
 */
ATOM_INLINE bool is_inside(size_t inline_size)
{
    return inline_size - 1 < ENVELOPE_INLINE;
}

__attribute__((__noinline__)) static tr_status tell_slowly(struct tr_self *self, uint64_t to,
                                                           const tr_type *type, const void *message)
{
    TURN_VERB(self);
    if (!self || !type || !message)
        return TR_INVALID_ARGUMENT;
    return notice_send(self, to, self->cell->identity, type, message);
}

__attribute__((__noinline__)) static tr_status tell_any(struct tr_self *self, uint64_t to,
                                                        const tr_type *type, const void *message)
{
    if (__builtin_expect(self && type && is_inside(type->inline_size), 1) &&
        __builtin_expect(send_quickly(self, to, type, message, type->inline_size), 1))
        return TR_OK;
    return tell_slowly(self, to, type, message);
}

tr_status tr_self_tell(tr_self *self, tr_ref to, const tr_type *type, const void *message)
{
    if (__builtin_expect(!type || type->inline_size != WORD || !self, 0))
        return tell_any(self, to.bits, type, message);
    if (__builtin_expect(send_quickly(self, to.bits, type, message, WORD), 1))
        return TR_OK;
    return tell_slowly(self, to.bits, type, message);
}

/*
 * Replies to the sender of a notice or of a request by the fast path. In the cases in which
 * send_quickly returns false, does nothing and returns false too.
 */
ATOM_INLINE bool reply_quickly(struct tr_self *self, const tr_type *type, const void *message)
{
    if (__builtin_expect(!self || !type || !self->envelope, 0))
        return false;
    const struct envelope *envelope = self->envelope;
    if (envelope->kind == ENVELOPE_ASK)
        return message && !self->claim && ask_reply_quickly(self, type, message);
    return envelope->kind == ENVELOPE_NOTICE && is_inside(type->inline_size) &&
           send_quickly(self, envelope->sender, type, message, type->inline_size);
}

ATOM_INLINE tr_status reply_slowly(struct tr_self *self, const tr_type *type, const void *message)
{
    if (__builtin_expect(!self || !type || !message, 0))
        return TR_INVALID_ARGUMENT;
    const struct envelope *envelope = self->envelope;
    if (envelope && envelope->kind == ENVELOPE_ASK) {
        tr_status status = tr__ask_reply(self, type, message);
        if (__builtin_expect(status == TR_OK, 1))
            return TR_OK;
        return notice_refuse(self, envelope->sender, type, NULL, 0, status);
    }
    tr_status status;
    if (envelope && envelope->kind == ENVELOPE_CHANNEL &&
        self->worker->channels.hooks->on_reply(self, type, message, &status))
        return status;
    uint64_t sender = turn_sender(self);
    if (__builtin_expect(!sender || envelope->kind == ENVELOPE_ANSWERED, 0))
        return notice_refuse(self, sender, type, NULL, 0, TR_NO_SENDER);
    return notice_send(self, sender, self->cell->identity, type, message);
}

__attribute__((__noinline__)) static tr_status try_reply_slowly(struct tr_self *self,
                                                                const tr_type *type,
                                                                const void *message)
{
    TURN_VERB(self);
    return reply_slowly(self, type, message);
}

tr_status tr_self_try_reply(tr_self *self, const tr_type *type, const void *message)
{
    if (__builtin_expect(reply_quickly(self, type, message), 1))
        return TR_OK;
    return try_reply_slowly(self, type, message);
}

__attribute__((__noinline__)) static tr_next reply_or_fail(struct tr_self *self,
                                                           const tr_type *type, const void *message)
{
    TURN_VERB(self);
    tr_status status = reply_slowly(self, type, message);
    if (__builtin_expect(status == TR_WRONG_TYPE, 0))
        return tr_fail(
            self, status, "%s is not a reply to %s", type->name, self->envelope->type->name);
    return TR_SAME;
}

/*
 * Replies in a turn whose message is not a notice, and so is nearly always a request. This function
 * is not inline, because it needs more registers.
 */
__attribute__((__noinline__)) static tr_next reply_to_ask(struct tr_self *self, const tr_type *type,
                                                          const void *message)
{
    if (__builtin_expect(self->envelope->kind == ENVELOPE_ASK && message && !self->claim, 1) &&
        __builtin_expect(ask_reply_quickly(self, type, message), 1))
        return TR_SAME;
    return reply_or_fail(self, type, message);
}

/* Replies to a notice, with a message of any size. */
__attribute__((__noinline__)) static tr_next reply_any(struct tr_self *self, const tr_type *type,
                                                       const void *message)
{
    if (__builtin_expect(reply_quickly(self, type, message), 1))
        return TR_SAME;
    return reply_or_fail(self, type, message);
}

tr_next tr_self_reply(tr_self *self, const tr_type *type, const void *message)
{
    if (__builtin_expect(!self || !self->envelope || !type, 0))
        return reply_or_fail(self, type, message);
    const struct envelope *envelope = self->envelope;
    if (envelope->kind != ENVELOPE_NOTICE)
        return reply_to_ask(self, type, message);
    if (__builtin_expect(type->inline_size != WORD, 0))
        return reply_any(self, type, message);
    if (__builtin_expect(send_quickly(self, envelope->sender, type, message, WORD), 1))
        return TR_SAME;
    return reply_or_fail(self, type, message);
}

tr_next tr_self_forward(tr_self *self, tr_ref to)
{
    TURN_VERB(self);
    if (!self)
        return TR_SAME;
    struct envelope *envelope = self->envelope;
    if (!envelope || envelope->kind == ENVELOPE_SIGNAL)
        return tr_fail(self, TR_NOT_IN_A_TURN, "no message to forward in this turn");
    if (envelope->kind == ENVELOPE_ASK && !self->is_cancelled) {
        (void)tr__ask_forward(self, to.bits);
        return TR_SAME;
    }
    tr_next next;
    if (envelope->kind == ENVELOPE_CHANNEL &&
        self->worker->channels.hooks->on_forward(self, to, &next))
        return next;
    (void)notice_send(self, to.bits, turn_sender(self), envelope->type, envelope_data(envelope));
    return TR_SAME;
}

/* ---- Behaviors and failures. ---- */

tr_next tr_self_become(tr_self *self, const tr_behavior *behavior, const tr_type *setup_type,
                       const void *setup)
{
    TURN_VERB(self);
    if (!self)
        return TR_SAME;
    const char *why;
    if (!tr__behavior_is_valid(behavior, &why))
        return tr_fail(self, TR_INVALID_ARGUMENT, "tr_become: %s", why);
    if (!mail_bound_is_valid(behavior))
        return tr_fail(self, TR_LIMIT, "tr_become: %s: the mailbox is too large", behavior->name);
    tr__become_forget(self);
    const void *kept = NULL;
    if (setup_type) {
        if (!setup || !tr__type_is_valid(setup_type, &why))
            return tr_fail(self, TR_INVALID_ARGUMENT, "tr_become: malformed set-up message");
        size_t size = tr__copy_size(setup_type, setup);
        if (size > TR_PAYLOAD_MAX)
            return tr_fail(self, TR_TOO_LARGE, "tr_become: the set-up message is too large");
        void *memory = tr_scratch(self, size);
        tr__copy_into(setup_type, setup, memory, size);
        kept = memory;
    }
    self->become.behavior = behavior;
    self->become.type = setup_type;
    self->become.message = kept;
    turn_require_slow_end(self);
    return TR_VALUE(tr_next, TR_NEXT_BECOME);
}

tr_ref tr_self_spawn(tr_self *self, const tr_spawn_args *args)
{
    TURN_VERB(self);
    uint64_t bits = 0;
    tr_error error;
    error.text[0] = '\0'; /* nothing but the text of this error is read */
    tr_spawn_args with_error;
    if (!spawn_args_copy(args, &with_error))
        tr_crash(self, TR_INVALID_ARGUMENT, "spawn: " SPAWN_ARGS_FAULT);
    with_error.error = &error;
    tr_status status = tr_self_try_spawn(self, &with_error, &bits);
    if (status != TR_OK)
        tr_crash(self,
                 status,
                 "cannot spawn %s: %.200s",
                 tr__behavior_name(with_error.behavior),
                 error.text);
    return tr_ref_from_bits(bits);
}

/* ---- Identity and place. ---- */

tr_ref tr_me(const tr_self *self)
{
    return self ? tr_ref_from_bits(self->cell->identity) : TR_NOBODY;
}

tr_ref tr_parent(const tr_self *self)
{
    if (!self)
        return TR_NOBODY;
    const struct cell *parent = slots_parent(self->worker->slots, self->cell);
    if (!parent || parent == self->worker->system->user.guardian)
        return TR_NOBODY;
    return tr_ref_from_bits(parent->identity);
}

const char *tr_path(const tr_self *self)
{
    TURN_VERB(self);
    if (!self)
        return "/";
    const struct cell *cell = self->cell;
    if (cell->name)
        return cell->name->path;
    char path[TR_PATH_MAX + 1];
    tr__cell_path(self->worker->system, cell, path);
    size_t size = strlen(path) + 1;
    return memcpy(tr_scratch((tr_self *)(uintptr_t)self, size), path, size);
}

const char *tr_name(const tr_self *self)
{
    TURN_VERB(self);
    return strrchr(tr_path(self), '/') + 1;
}

size_t tr_children(const tr_self *self, tr_ref *children, size_t max)
{
    TURN_VERB(self);
    if (!self)
        return 0;
    const struct cell *parent = self->cell;
    const struct slots *slots = self->worker->slots;
    if (!parent->child_count)
        return 0;
    const struct cell *child = slots_at(slots, parent->child_last);
    for (size_t i = 0; i < parent->child_count && children; i++) {
        child = slots_at(slots, child->sibling_next);
        if (i == max)
            break;
        children[i] = tr_ref_from_bits(tr__group_of_child(child));
    }
    return parent->child_count;
}

tr_ref tr_self_find(tr_self *self, const char *path)
{
    TURN_VERB(self);
    if (!self || !path)
        return TR_NOBODY;
    return tr_ref_from_bits(
        tr__names_find(self->worker->system->names, &self->worker->reader, path));
}

tr_ref tr_self_child(tr_self *self, const char *name)
{
    TURN_VERB(self);
    if (!self || !name || !tr__name_is_valid(name))
        return TR_NOBODY;
    char path[TR_PATH_MAX + TR_NAME_SIZE + 1];
    tr__cell_path(self->worker->system, self->cell, path);
    size_t length = strlen(path);
    snprintf(path + length, sizeof path - length, "/%s", name);
    return tr_ref_from_bits(
        tr__names_find(self->worker->system->names, &self->worker->reader, path));
}

int tr_worker(const tr_self *self)
{
    return self ? (int)self->worker->index : -1;
}

tr_system *tr_system_of(const tr_self *self)
{
    return self ? self->worker->system : NULL;
}

uint64_t tr_causal_id(const tr_self *self)
{
    return self ? self->causal : 0;
}

/* ---- Time, random numbers, log. ---- */

tr_time tr_wall_now(const tr_self *self)
{
    if (!self)
        return 0;
    const tr_platform *platform = self->worker->system->platform;
    tr_time now_ns = platform->wall_now(platform);
    return self->reads ? (tr_time)tr__verb_read(self, 2, (uint64_t)now_ns) : now_ns;
}

uint64_t tr_random(tr_self *self)
{
    TURN_VERB(self);
    if (!self)
        return 0;
    uint64_t number = rng_next(&self->worker->rng);
    return self->reads ? tr__verb_read(self, 3, number) : number;
}

void tr_log(tr_self *self, tr_level level, const char *format, ...)
{
    TURN_VERB(self);
    if (!self || !format)
        return;
    char path[TR_PATH_MAX + 1];
    tr__cell_path(self->worker->system, self->cell, path);
    va_list list;
    va_start(list, format);
    tr__log_list(self->worker->system, level, path, self->causal, format, list);
    va_end(list);
}
