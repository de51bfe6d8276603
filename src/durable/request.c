/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/request.h"

#include <string.h>
#include <troupe/wire.h>

#include "actor/ask/ask.h"
#include "actor/cell/durable.h"
#include "actor/cell/names.h"
#include "actor/cell/slots.h"
#include "actor/cell/verb.h"
#include "actor/mail/address.h"
#include "actor/mail/mail.h"
#include "actor/mail/refusal.h"
#include "durable/commit.h"
#include "durable/connections.h"
#include "durable/drive.h"
#include "durable/message_shape.h"
#include "durable/request_ledger.h"
#include "durable/ttl.h"
#include "durable/turn.h"
#include "store/read.h"
#include "base/assert.h"

/** A repeat that waits for the answer to the first request. */
struct request_repeat {
    struct list link;
    /* The envelope for the reply to the repeat. If there is no answer, the envelope is sent with an
     * error. */
    struct envelope *answer;
};

/* ---- The table. ---- */

static struct requests *requests_of(struct worker *worker, struct durable_actor *actor)
{
    struct requests *requests = actor->requests;
    if (requests)
        return requests;
    requests = source_resize(&worker->source, NULL, sizeof *requests);
    if (!requests)
        return NULL;
    *requests = (struct requests){.failed = TR_OK};
    for (int i = 0; i < REQUEST_BUCKETS; i++)
        list_init(&requests->buckets[i]);
    list_init(&requests->open);
    list_init(&requests->answered);
    actor->requests = requests;
    return requests;
}

static struct list *bucket_of(const struct durable_actor *actor, tr_bytes id)
{
    uint64_t hash = hash_bytes(actor->kind->host->system->names->key, id.data, id.size);
    return &actor->requests->buckets[hash % REQUEST_BUCKETS];
}

static struct request *request_find(const struct durable_actor *actor, tr_bytes id)
{
    LIST_EACH (link, bucket_of(actor, id)) {
        struct request *request = LIST_OWNER(link, struct request, link);
        if (request->id_size == id.size && memcmp(request->id, id.data, id.size) == 0)
            return request;
    }
    return NULL;
}

/* Finds an open request by the asker and the number of the ask. */
static struct request *request_open(const struct durable_actor *actor, uint64_t asker, uint32_t ask)
{
    if (!actor->requests)
        return NULL;
    LIST_EACH (link, &actor->requests->open) {
        struct request *request = LIST_OWNER(link, struct request, state);
        if (request->asker == asker && request->ask == ask)
            return request;
    }
    return NULL;
}

static struct request *request_of_turn(const struct tr_self *self,
                                       const struct durable_actor *actor)
{
    const struct envelope *envelope = self->envelope;
    bool is_ask =
        envelope && (envelope->kind == ENVELOPE_ASK || envelope->kind == ENVELOPE_ANSWERED);
    return is_ask ? request_open(actor, envelope->sender, envelope->payload.ask.id) : NULL;
}

bool tr__request_is_open(const struct tr_self *self, const struct durable_actor *actor)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    return request_of_turn(self, actor);
}

/* Frees a request. No repeat may be waiting for its answer. */
static void request_free(struct worker *worker, struct request *request)
{
    list_remove(&request->link);
    list_remove(&request->state);
    source_resize(&worker->source, request->bytes, 0);
    source_resize(&worker->source, request, 0);
}

static void repeats_refuse(struct worker *worker, const struct durable_actor *actor,
                           struct request *request, tr_status status, int code)
{
    struct list *link;
    while ((link = list_pop_first(&request->repeats))) {
        struct request_repeat *repeat = LIST_OWNER(link, struct request_repeat, link);
        tr__ask_refuse(worker, repeat->answer, actor->durable.cell->identity, status, code, NULL);
        source_resize(&worker->source, repeat, 0);
    }
}

void tr__requests_drop(struct worker *worker, struct durable_actor *actor)
{
    TR_ASSERT_SLOW(durable_is_mine(actor));
    struct requests *requests = actor->requests;
    struct list *link;
    if (!requests)
        return;
    while ((link = list_first(&requests->open))) {
        struct request *request = LIST_OWNER(link, struct request, state);
        repeats_refuse(worker, actor, request, TR_STOPPED, REFUSAL_UNBEGUN);
        request_free(worker, request);
    }
    while ((link = list_first(&requests->answered)))
        request_free(worker, LIST_OWNER(link, struct request, state));
    source_resize(&worker->source, requests, 0);
    actor->requests = NULL;
}

void tr__requests_submitted(struct durable_actor *actor, uint64_t commit)
{
    TR_ASSERT_SLOW(durable_is_mine(actor));
    struct list *all = &actor->requests->answered;
    for (struct list *link = all->previous; link != all; link = link->previous) {
        struct request *request = LIST_OWNER(link, struct request, state);
        if (request->commit)
            break;
        request->commit = commit;
    }
}

void tr__requests_stored(struct worker *worker, struct durable_actor *actor, uint64_t commit)
{
    TR_ASSERT_SLOW(durable_is_mine(actor));
    struct list *link;
    while ((link = list_first(&actor->requests->answered))) {
        struct request *request = LIST_OWNER(link, struct request, state);
        if (!request->commit || request->commit > commit)
            break;
        /* The record of the request is on disk. From now on the answer is read from there. */
        request_free(worker, request);
    }
}

/* ---- Answers. ---- */

/* Makes the reply that a record has, and sends it. Returns TR_OK if the reply was sent, or if the
 * asker is gone. */
static tr_status reply_send(struct worker *worker, const struct durable_actor *actor,
                            struct address address, const tr_type *request,
                            const struct request_record *record)
{
    const tr_type *type = request->reply;
    struct cell *cell = slots_find(worker->slots, address.to);
    struct envelope *envelope;
    tr_wire_error error;
    void *message;
    if (!cell)
        return TR_OK;
    if (!type || strcmp(type->name, record->reply) != 0)
        return TR_WRONG_TYPE;
    tr_status status = tr__message_shape_check(worker, actor, type, record->shape, error.text);
    if (status == TR_OK)
        status = tr_unpack(type, record->bytes, &message, &error);
    if (status != TR_OK)
        return status;
    address.kind = ENVELOPE_REPLY;
    address.sender = actor->durable.cell->identity;
    status = tr__mail_new(&worker->pool, address, type, message, &envelope);
    tr_message_free(type, message);
    if (status != TR_OK)
        return status;
    status = tr__mail_send(worker, cell, envelope);
    if (status != TR_OK)
        envelope_give(&worker->pool, envelope);
    return status == TR_STOPPED ? TR_OK : status;
}

/* Answers a repeat with a stored record. `answer` is the envelope for the reply; it is taken. */
static void answer_send(struct worker *worker, const struct durable_actor *actor,
                        const tr_type *request, struct envelope *answer,
                        const struct request_record *record)
{
    uint64_t self = actor->durable.cell->identity;
    tr_status status = TR_REQUEST_BEGUN;
    if (record->outcome == REQUEST_ENDED) {
        tr__ask_refuse(worker, answer, self, record->status, record->code, record->text);
        return;
    }
    const struct address address = {
        .to = answer->sender, .causal = answer->causal, .number = answer->payload.ask.id};
    if (record->outcome == REQUEST_REPLIED)
        status = reply_send(worker, actor, address, request, record);
    if (status == TR_OK)
        envelope_give(&worker->pool, answer);
    else
        tr__ask_refuse(worker, answer, self, status, 0, NULL);
}

static void repeats_answer(struct worker *worker, struct durable_actor *actor,
                           struct request *request, const struct request_record *record)
{
    struct list *link;
    while ((link = list_pop_first(&request->repeats))) {
        struct request_repeat *repeat = LIST_OWNER(link, struct request_repeat, link);
        answer_send(worker, actor, request->type, repeat->answer, record);
        source_resize(&worker->source, repeat, 0);
    }
}

/* Puts the outcome of an open request into the batch of the open commit, and answers its repeats. */
static tr_status request_close(struct worker *worker, struct durable_actor *actor,
                               struct request *request, struct request_record *record)
{
    const tr_bytes id = {request->id, request->id_size};
    if (record->outcome == REQUEST_REPLIED && record->bytes.size > TR_REQUEST_ANSWER_MAX)
        return TR_TOO_LARGE;
    record->print = request->print;
    record->until_wall_ns = request->until_wall_ns;
    tr_status status = tr__request_put(worker, actor, id, record, &request->bytes, &request->size);
    if (status != TR_OK)
        return status;
    request->is_answered = true;
    list_remove(&request->state);
    list_push_last(&actor->requests->answered, &request->state);
    repeats_answer(worker, actor, request, record);
    return TR_OK;
}

static tr_status close_with_reply(struct worker *worker, struct durable_actor *actor,
                                  struct request *request, const tr_type *type, const void *message)
{
    tr_wire_error error;
    struct request_record record = {.outcome = REQUEST_REPLIED, .reply = type->name};
    size_t size = tr_pack(type, message, NULL, 0, &error);
    if (!size)
        return error.status;
    if (size > TR_REQUEST_ANSWER_MAX)
        return TR_TOO_LARGE;
    void *bytes = source_resize(&worker->source, NULL, size);
    if (!bytes)
        return TR_NO_MEMORY;
    (void)tr_pack(type, message, bytes, size, &error);
    record.bytes = (tr_bytes){bytes, size};
    tr_status status =
        tr__message_shape(worker, actor->kind->host, tr__commit_batch(actor), type, &record.shape);
    if (status == TR_OK)
        status = request_close(worker, actor, request, &record);
    source_resize(&worker->source, bytes, 0);
    return status;
}

static tr_status close_without_reply(struct worker *worker, struct durable_actor *actor,
                                     struct request *request, tr_status status, int code,
                                     const char *text)
{
    struct request_record record = {
        .outcome = REQUEST_ENDED, .status = status, .code = code, .text = text ? text : ""};
    return request_close(worker, actor, request, &record);
}

/* Returns the open request that a message in the outbox answers or forwards. Returns NULL if there
 * is none. */
static struct request *request_of_item(const struct durable_actor *actor,
                                       const struct outbox_item *item)
{
    if (!item->cell)
        return NULL; /* the message is for a channel */
    const struct envelope *envelope = item->envelope;
    uint32_t slot = (uint32_t)ATOM_PEEK(&item->cell->identity);
    if (mail_is_answer(envelope))
        return request_open(
            actor, (uint64_t)envelope->generation << 32 | slot, envelope->payload.ask.id);
    if (envelope->kind == ENVELOPE_ASK)
        return request_open(actor, envelope->sender, envelope->payload.ask.id);
    return NULL;
}

/* If a message in the outbox answers or forwards a request, closes that request. */
static tr_status close_with_item(struct worker *worker, struct durable_actor *actor,
                                 const struct outbox_item *item)
{
    struct envelope *envelope = item->envelope;
    struct request *request = request_of_item(actor, item);
    if (!request)
        return TR_OK;
    if (envelope->kind == ENVELOPE_REPLY)
        return close_with_reply(worker, actor, request, envelope->type, envelope_data(envelope));
    if (envelope->kind == ENVELOPE_ASK) {
        /* The request was forwarded, so this actor does not know its answer. */
        struct request_record record = {.outcome = REQUEST_BEGUN};
        return request_close(worker, actor, request, &record);
    }
    tr_error error = {.status = TR_FAILED};
    tr__ask_read_error(envelope, &error);
    return close_without_reply(worker, actor, request, error.status, error.code, error.text);
}

tr_status tr__requests_close(struct worker *worker, struct durable_actor *actor)
{
    TR_ASSERT_SLOW(durable_is_mine(actor));
    struct requests *requests = actor->requests;
    tr_status status = requests->failed;
    /* Look only at the messages that are in the outbox now. The answers to repeats are appended to
     * them. */
    uint32_t count = actor->outbox.count;
    for (uint32_t i = 0; i < count && status == TR_OK && !list_is_empty(&requests->open); i++) {
        const struct outbox_item item = actor->outbox.items[i];
        status = close_with_item(worker, actor, &item);
    }
    return status;
}

void tr__request_lost_answer(struct tr_self *self, const struct durable_answer *answer)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    struct durable_actor *actor = durable_of(self);
    struct request *request = request_open(actor, answer->asker, answer->ask);
    if (!request || !self->frame)
        return;
    tr_status status;
    if (answer->type)
        status = close_with_reply(worker, actor, request, answer->type, answer->message);
    else
        status =
            close_without_reply(worker, actor, request, TR_REFUSED, answer->code, answer->text);
    if (status != TR_OK)
        actor->requests->failed = status;
}

/* ---- Turns. ---- */

static tr_status put_begun(struct worker *worker, struct durable_actor *actor,
                           struct request *request)
{
    struct request_record record = {
        .outcome = REQUEST_BEGUN, .print = request->print, .until_wall_ns = request->until_wall_ns};
    const tr_bytes id = {request->id, request->id_size};
    tr_status status = tr__request_put(worker, actor, id, &record, NULL, NULL);
    request->is_stored |= status == TR_OK;
    return status;
}

tr_status tr__requests_begin(struct worker *worker, struct durable_actor *actor)
{
    TR_ASSERT_SLOW(durable_is_mine(actor));
    const struct tr_self *self = worker->outbox_turn;
    struct request *request = self ? request_of_turn(self, actor) : NULL;
    if (!request)
        return TR_OK;
    return request->is_stored ? TR_OK : put_begun(worker, actor, request);
}

/* Whether the handler has called tr_reply_later for a request, so that the reply comes later. */
static bool is_put_off(const struct tr_self *self, const struct request *request)
{
    LIST_EACH (link, &self->cell->extra->asks.laters) {
        const struct later *later = LIST_OWNER(link, struct later, link);
        if (later->answer->sender == request->asker &&
            later->answer->payload.ask.id == request->ask)
            return true;
    }
    return false;
}

/* Whether the outbox of the open commit has an answer to a request, or the forwarded request. */
static bool is_held(const struct durable_actor *actor, const struct request *request)
{
    for (uint32_t i = 0; i < actor->outbox.count; i++) {
        if (request_of_item(actor, &actor->outbox.items[i]) == request)
            return true;
    }
    return false;
}

/* Closes a request whose turn has ended without an answer. Stores the status that the asker will get. */
static tr_status close_unanswered(struct tr_self *self, struct durable_actor *actor,
                                  struct request *request)
{
    tr_status status = self->reply_failed;
    /* The reply is too large, or there was no memory for it. So nothing of this part of the turn is
     * stored. */
    if (status != TR_OK && status != TR_REFUSED)
        return status;
    return close_without_reply(self->worker,
                               actor,
                               request,
                               status == TR_OK ? TR_NO_REPLY : status,
                               status == TR_OK ? 0 : self->error.code,
                               NULL);
}

void tr__request_turn_over(struct tr_self *self, struct durable_actor *actor, tr_next next)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    struct request *request = request_of_turn(self, actor);
    tr_status status = TR_OK;
    if (!request || self->is_cancelled || next.code == TR_NEXT_FAILED ||
        next.code == TR_NEXT_STASHED)
        return;
    if (next.code == TR_NEXT_UNHANDLED) {
        repeats_refuse(worker, actor, request, TR_UNHANDLED, 0);
        request_free(worker, request);
        return;
    }
    if (self->envelope->kind == ENVELOPE_ASK) {
        status = close_unanswered(self, actor, request);
    } else if (!is_put_off(self, request) && !is_held(actor, request)) {
        status = TR_NO_MEMORY; /* the outbox had no memory for the answer */
    }
    if (status != TR_OK)
        actor->requests->failed = status;
}

/* ---- A request arrives. ---- */

static const tr_next same = {TR_NEXT_SAME};

static tr_next answer_with(struct tr_self *self, struct durable_actor *actor, tr_status status)
{
    turn_fail_reply(self, status);
    tr__durable_drive(self->worker, actor, false);
    return same;
}

/* Makes a repeat wait for the answer to the first request. */
static tr_next repeat_wait(struct tr_self *self, struct durable_actor *actor,
                           struct request *request)
{
    struct worker *worker = self->worker;
    if (request->repeat_count >= TR_REQUEST_REPEATS_MAX)
        return answer_with(self, actor, TR_LIMIT);
    struct request_repeat *repeat = source_resize(&worker->source, NULL, sizeof *repeat);
    struct envelope *answer = repeat ? tr__request_stand_in(worker, self->envelope) : NULL;
    if (!answer) {
        source_resize(&worker->source, repeat, 0);
        return answer_with(self, actor, TR_NO_MEMORY);
    }
    repeat->answer = answer;
    list_push_last(&request->repeats, &repeat->link);
    request->repeat_count++;
    self->envelope->kind = ENVELOPE_ANSWERED;
    tr__durable_drive(worker, actor, false);
    return same;
}

/* Answers a repeat with the stored record. Does so in a frame, so that the answer leaves after the
 * commits that are on their way. */
static tr_next repeat_answer(struct tr_self *self, struct durable_actor *actor,
                             const tr_handler *handler, const struct request_record *record)
{
    struct envelope *answer = tr__request_stand_in(self->worker, self->envelope);
    if (!answer)
        return answer_with(self, actor, TR_NO_MEMORY);
    if (!tr__frame_begin(self, actor, "a repeated request", false)) {
        envelope_give(&self->worker->pool, answer);
        return answer_with(self, actor, TR_NO_MEMORY);
    }
    self->envelope->kind = ENVELOPE_ANSWERED;
    answer_send(self->worker, actor, handler->type, answer, record);
    tr_next next = tr__frame_done(self, actor, same, false);
    tr__frame_end(self, actor);
    tr__durable_drive(self->worker, actor, false);
    return next;
}

/* Looks for an earlier request with this id. Returns TR_NOT_FOUND if there is none, or if its
 * record has expired. */
static tr_status request_look(struct tr_self *self, struct durable_actor *actor, tr_bytes id,
                              struct request **open, struct request_record *record)
{
    const struct durable_kind *kind = actor->kind;
    struct store_row row;
    struct request *request = request_find(actor, id);
    tr_status status = TR_NOT_FOUND;
    *open = request && !request->is_answered ? request : NULL;
    if (*open) {
        record->print = request->print;
        return TR_OK;
    }
    if (request)
        status = tr__request_read((tr_bytes){request->bytes, request->size}, record);
    else if (!actor->is_new)
        status = tr__store_read_request(host_context(kind->host, self->worker)->reader,
                                        kind->declared->name,
                                        actor_key(actor),
                                        id,
                                        &row);
    if (status == TR_OK && !request)
        status = tr__request_read(row.bytes, record);
    if (status == TR_OK && record->until_wall_ns <= tr__request_now(self->worker))
        status = TR_NOT_FOUND;
    return status;
}

/* Unpacks the request from the envelope that carries its id. Makes a new envelope for the request,
 * which becomes self->envelope. */
static tr_status request_unpack(struct tr_self *self, const tr_handler *handler, tr_bytes packed)
{
    struct worker *worker = self->worker;
    struct envelope *outer = self->envelope;
    struct envelope *inner;
    tr_wire_error error;
    void *message;
    tr_status status = tr_unpack(handler->type, packed, &message, &error);
    if (status != TR_OK)
        return status;
    struct address address = {.kind = ENVELOPE_ASK,
                              .to = self->cell->identity,
                              .sender = outer->sender,
                              .causal = outer->causal,
                              .number = outer->payload.ask.id,
                              .deadline_ms = outer->payload.ask.deadline_ms};
    status = tr__mail_new(&worker->pool, address, handler->type, message, &inner);
    tr_message_free(handler->type, message);
    if (status != TR_OK)
        return status;
    self->envelope = inner;
    envelope_give(&worker->pool, outer);
    return TR_OK;
}

static tr_status request_add(struct tr_self *self, struct durable_actor *actor,
                             const tr_handler *handler, tr_bytes id, struct request_print print)
{
    struct worker *worker = self->worker;
    tr_status status = tr__request_admit(worker, actor);
    if (status != TR_OK)
        return status;
    struct request *request = source_resize(&worker->source, NULL, sizeof *request + id.size);
    if (!request)
        return TR_NO_MEMORY;
    *request = (struct request){.ask = self->envelope->payload.ask.id,
                                .asker = self->envelope->sender,
                                .type = handler->type,
                                .print = print,
                                .until_wall_ns = tr__request_now(worker) + actor->kind->answers_ns,
                                .id_size = id.size};
    memcpy(request->id, id.data, id.size);
    list_init(&request->repeats);
    list_push_first(bucket_of(actor, id), &request->link);
    list_push_last(&actor->requests->open, &request->state);
    return TR_OK;
}

static const tr_handler *handler_of(const struct durable_actor *actor, const char *type)
{
    const tr_behavior *behavior = actor->kind->declared->behavior;
    for (size_t i = 0; type && i < behavior->handler_count; i++) {
        const tr_handler *handler = &behavior->handlers[i];
        if (handler->type && !handler->is_batch && strcmp(handler->type->name, type) == 0)
            return handler;
    }
    return NULL;
}

static tr_next request_handle(struct tr_self *self, struct tr_self *verb,
                              struct durable_actor *actor, const tr_handler *handler, void *state,
                              struct durable_call call)
{
    actor->call = call;
    return tr__durable_handle(self, verb, actor, handler, state, envelope_data(self->envelope));
}

tr_next tr__durable_once(tr_self *self, void *state, const void *message)
{
    TURN_VERB(self);
    const struct tr_durable_once *once = message;
    struct durable_actor *actor = durable_of(self);
    struct request_record record;
    struct durable_call call;
    struct request *open;
    tr_next next;
    if (tr__durable_is_over(self, actor, &next))
        return next;
    tr__ttl_use(self->worker, actor); /* a repeat counts as a use of the actor too */
    const tr_handler *handler = handler_of(actor, once->type);
    if (!handler || self->envelope->kind != ENVELOPE_ASK)
        return (tr_next){TR_NEXT_UNHANDLED};
    bool has_id = once->id.size; /* read now, because unpacking the request frees `once` */
    tr_bytes id;
    tr_status found = tr__connection_call(self, actor, once, &call, &id);
    if (found == TR_OK && !has_id)
        found = request_unpack(self, handler, once->message);
    if (found != TR_OK)
        return answer_with(self, actor, found);
    if (!has_id)
        return request_handle(self, verb_turn, actor, handler, state, call);
    if (!requests_of(self->worker, actor))
        return answer_with(self, actor, TR_NO_MEMORY);
    struct request_print print = tr__request_print(once->type, once->message);
    tr_status status = request_look(self, actor, id, &open, &record);
    if (status == TR_OK && !request_print_is_equal(record.print, print))
        return answer_with(self, actor, TR_REQUEST_DIFFERS);
    if (status == TR_OK && open)
        return repeat_wait(self, actor, open);
    if (status == TR_OK)
        return repeat_answer(self, actor, handler, &record);
    if (status == TR_NOT_FOUND)
        status = request_add(self, actor, handler, id, print);
    if (status != TR_OK)
        return answer_with(self, actor, status);
    status = request_unpack(self, handler, once->message);
    if (status != TR_OK) {
        request_free(self->worker, request_of_turn(self, actor));
        return answer_with(self, actor, status);
    }
    return request_handle(self, verb_turn, actor, handler, state, call);
}
