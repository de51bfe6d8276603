/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/socket.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/system.h"
#include "actor/cell/verb.h"
#include "actor/verbs/self_memory.h"
#include "durable/connection_gone.h"
#include "durable/key_ask.h"
#include "gateway/guard.h"
#include "gateway/opening.h"
#include "gateway/rate.h"
#include "gateway/stream.h"
#include "gateway/words.h"
#include "http/ws_upgrade.h"
#include "net/channel_end.h"
#include "base/assert.h"

enum { WORDS_MAX = 320 };

static struct socket_above *above_of(const struct channel *channel)
{
    const struct ws_session *session = ws_session_of(channel);
    return session ? (struct socket_above *)(void *)session->above : NULL;
}

static void above_free(const struct memory_source *source, struct socket_above *above)
{
    source_resize(source, above->pass, 0);
    source_resize(source, above, 0);
}

/*
 * Called when a WebSocket has ended. Notifies its actor, unless the actor knows already, and frees
 * the record of the socket.
 */
static void on_end(struct channel *channel, struct ws_above *base, unsigned code)
{
    struct socket_above *above = (struct socket_above *)(void *)base;
    if (!above->is_settled)
        tr__connection_gone(channel->worker,
                            above->exposed->kind,
                            (tr_bytes){above->key, above->key_size},
                            above->number,
                            (int)code);
    above_free(&channel->worker->system->source, above);
}

/* ---- Sending. ---- */

static void close_with(struct channel *channel, unsigned code, const char *words)
{
    (void)tr__ws_write_last(channel, code, (tr_bytes){words, strlen(words)});
    tr__channel_close(channel);
}

/*
 * Sends a text to the client. If too many bytes are unsent, because the client does not read them,
 * closes the socket instead.
 */
static void send_text(struct channel *channel, tr_buffer *text)
{
    if (channel->state != CHANNEL_OPEN)
        return;
    bool is_slow = channel->work &&
                   channel->work->output.size + tr_buffer_size(text) > TR_CONNECTION_UNSENT_MAX;
    if (is_slow)
        close_with(channel, WS_CODE_TRY_LATER, "too slow");
    else if (tr__ws_append_text(channel, text) != TR_OK)
        /* the output may end in the middle of a frame, so nothing can follow */
        tr__channel_reset(channel);
}

void tr__socket_event(struct channel *channel, uint64_t number, tr_buffer *text)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct socket_above *above = above_of(channel);
    if (!above)
        return;
    if (number && number != above->event + 1) {
        close_with(channel, WS_CODE_TRY_LATER, "events were lost");
        return;
    }
    if (number)
        above->event = number;
    send_text(channel, text);
}

/* ---- Requests. ---- */

/* A request that a client has sent. It is in memory of the turn that waits for its outcome. */
struct socket_request {
    struct ordered_ask ask; /* must be the first member */
    struct tr_self *self;
    tr_channel channel;
    struct words words;
    uint64_t causal;
    const tr_type *type; /* type of `message` */
    void *message;       /* the message for the actor; NULL: not read yet */
};

/*
 * Called when the turn of a request ends, even if it has failed. Frees what the request has
 * allocated.
 */
static void request_free(void *resource)
{
    struct socket_request *request = resource;
    tr__words_free(&request->words);
    if (request->message)
        tr_message_free(request->type, request->message);
}

/*
 * Answers a request: sends {"id":1,"what":text,"causal":"..."}. Sends nothing if the request has no
 * id.
 */
static void answer(const struct socket_request *request, const char *what, const char *text,
                   size_t size)
{
    struct channel *channel;
    char front[64], back[48];
    if (!request->words.has_id ||
        tr__channel_of(request->self, request->channel, &channel) != TR_OK)
        return;
    int before = snprintf(
        front, sizeof front, "{\"id\":%llu,\"%s\":", (unsigned long long)request->words.id, what);
    int after =
        snprintf(back, sizeof back, ",\"causal\":\"%llx\"}", (unsigned long long)request->causal);
    tr_buffer *buffer = tr_buffer_new((size_t)before + size + (size_t)after);
    if (!buffer) {
        /* without a reset, the client would wait forever for this answer */
        tr__channel_reset(channel);
        return;
    }
    char *to = tr_buffer_data(buffer);
    memcpy(to, front, (size_t)before);
    memcpy(to + before, text, size);
    memcpy(to + before + size, back, (size_t)after);
    send_text(channel, buffer);
    tr_buffer_release(buffer);
}

static void answer_problem(const struct socket_request *request, const struct problem *problem)
{
    char text[PROBLEM_TEXT_MAX];
    answer(request, "error", text, tr__problem_write(problem, text, sizeof text));
}

static void on_outcome(struct ordered_ask *ask, tr_status status, const void *reply,
                       const tr_error *why)
{
    const struct socket_request *request = (const struct socket_request *)(const void *)ask;
    struct problem problem = {.id = PROBLEM_FAILED};
    tr_wire_error error;
    if (status != TR_OK) {
        problem = tr__problem_of_ask(status, why);
        answer_problem(request, &problem);
        return;
    }
    char few[1024];
    char *text = few;
    size_t size = tr_json_write(request->type->reply, reply, few, sizeof few, &error);
    if (size >= sizeof few) {
        /*
         * if memory is missing, this must not end the turn, because the turn that runs here is not
         * that of the request
         */
        text = tr_try_scratch(request->self, size + 1);
        size = text ? tr_json_write(request->type->reply, reply, text, size + 1, &error) : 0;
    }
    if (size)
        answer(request, "reply", text, size);
    else
        answer_problem(request, &problem);
}

/*
 * Reads the fields of the message for the actor. If they are wrong, answers the client and returns
 * false.
 */
static bool read_fields(struct socket_request *request)
{
    tr_wire_error error;
    char words[WORDS_MAX];
    tr_bytes with = request->words.with.size ? request->words.with : TR_BYTES("{}");
    tr_status status = tr_json_read(request->type, with, &request->message, &error);
    if (status == TR_OK)
        return true;
    request->message = NULL;
    if (status == TR_NO_MEMORY)
        tr_crash(request->self, status, "out of memory for a message of a client");
    snprintf(words, sizeof words, "%s%s%s", error.path, error.path[0] ? ": " : "", error.text);
    answer_problem(request, &(struct problem){.id = PROBLEM_BAD_JSON, .words = words});
    return false;
}

/* Asks the actor, and waits for the outcome, which on_outcome sends to the client. */
static void ask(struct socket_request *request, const struct socket_above *above)
{
    struct tr_self *self = request->self;
    struct key_wrapped *wrapped = tr_scratch(self, sizeof *wrapped);
    /* copy the key, because the socket may end during the ask */
    char *key = tr_scratch(self, above->key_size);
    const char *id = request->words.key;
    const struct key_call call = {
        .kind = above->exposed->kind,
        .key = {memcpy(key, above->key, above->key_size), above->key_size},
        .id = {id, id ? strlen(id) : 0},
        .connection = above->number};
    tr_status status = tr__key_wrap(self, &call, request->type, request->message, wrapped);
    if (status != TR_OK) {
        struct problem problem = tr__problem_of_ask(status, NULL);
        answer_problem(request, &problem);
        return;
    }
    request->ask = (struct ordered_ask){.kind = call.kind,
                                        .key = call.key,
                                        .type = wrapped->type,
                                        .message = wrapped->message,
                                        .on_outcome = on_outcome,
                                        .has_id = call.id.size};
    tr__ask_in_order(self, &request->ask);
}

/*
 * Returns the record of the socket that a request came on. Returns NULL if the socket has ended
 * while the turn was waiting.
 */
static struct socket_above *above_now(const struct socket_request *request)
{
    struct channel *channel;
    bool is_there = tr__channel_of(request->self, request->channel, &channel) == TR_OK;
    return is_there ? above_of(channel) : NULL;
}

/*
 * Returns whether wait_s is 0, which means that a message is allowed now. If wait_s is not 0,
 * answers that the client must wait for wait_s seconds.
 */
static bool is_in_time(const struct socket_request *request, uint32_t wait_s)
{
    if (wait_s)
        answer_problem(request, &(struct problem){.id = PROBLEM_TOO_MANY, .after_s = wait_s});
    return !wait_s;
}

/*
 * Asks the guard about a message. If the guard or the rate forbids the message, answers the client
 * and returns false. Copies texts of the socket first, because the socket may end meanwhile.
 */
static bool pass_guard(const struct socket_request *request, const struct socket_above *above)
{
    struct tr_self *self = request->self;
    const struct socket_pass *pass = above->pass;
    enum problem_id problem;
    const struct tr_authorize question = {
        .kind = above->exposed->kind->name,
        .key = tr_format(self, "%.*s", (int)above->key_size, above->key),
        .message = request->words.ask,
        .authorization = pass->authorization ? tr_format(self, "%s", pass->authorization) : NULL,
        .cookie = pass->cookie ? tr_format(self, "%s", pass->cookie) : NULL,
        .peer = tr_channel_peer(self, request->channel)};
    const struct tr_principal *principal = tr__guard_ask(self, pass->guard, &question, &problem);
    if (!principal) {
        answer_problem(request, &(struct problem){.id = problem});
        return false;
    }
    const char *caller = principal->caller ? principal->caller : "";
    return is_in_time(request, tr__rate_count(self, caller, principal->per_minute));
}

/*
 * Whether the guard and the rate allow a message. If one of them does not, answers the client and
 * returns false.
 */
static bool admit(const struct socket_request *request, const struct socket_above *above)
{
    const struct socket_pass *pass = above->pass;
    if (!pass)
        return true;
    if (pass->guard.bits)
        return pass_guard(request, above);
    return is_in_time(request,
                      tr__rate_count_name(request->self, pass->rate_name, pass->per_minute));
}

/* Checks a request of a client, and asks the actor. */
static void handle(struct socket_request *request, const struct socket_above *above)
{
    const char *name = request->words.ask;
    if (!admit(request, above))
        return;
    above = above_now(request);
    if (!above)
        return;
    const tr_exposed_message *exposed = tr__exposed_find(above->exposed, name, strlen(name));
    if (!exposed) {
        const char *words = tr_format(request->self, "no message %s is served here", name);
        answer_problem(request, &(struct problem){.id = PROBLEM_UNKNOWN_MESSAGE, .words = words});
        return;
    }
    request->type = exposed->type;
    if (read_fields(request))
        ask(request, above);
}

/* Handles a message of the client. */
static tr_next on_message(tr_self *self, void *state, const void *data)
{
    TURN_VERB(self);
    (void)state;
    const struct tr_ws_message *message = data;
    struct channel *channel;
    tr_wire_error error;
    if (tr__channel_of(self, message->channel, &channel) != TR_OK || !above_of(channel))
        return TR_SAME;
    tr__visit_number(self);
    struct socket_request *request = tr_scratch(self, sizeof *request);
    *request = (struct socket_request){
        .self = self, .channel = message->channel, .causal = tr_causal_id(self)};
    tr_status status = TR_BAD_DATA;
    if (message->is_text)
        status = tr__words_read(message->bytes, &request->words, &error);
    if (status == TR_NO_MEMORY)
        tr_crash(self, status, "out of memory for a message of a client");
    if (status != TR_OK) {
        close_with(channel, WS_CODE_BAD_DATA, "a message is no JSON of this protocol");
        return TR_SAME;
    }
    tr__turn_defer(self, request, request_free);
    handle(request, above_of(channel));
    return TR_SAME;
}

static const tr_handler row = {
    .type = &tr_type_tr_ws_message, .call = on_message, .name = "a socket of a gateway"};

/* ---- Opening. ---- */

/* Sends the first message of a socket, {"open":...}. */
static void greet(struct channel *channel, const struct tr_durable_connection *reply)
{
    char text[80];
    int size = snprintf(text,
                        sizeof text,
                        "{\"open\":{\"event\":%llu,\"gap\":%s}}",
                        (unsigned long long)reply->event,
                        reply->has_gap ? "true" : "false");
    tr_buffer *buffer = tr_buffer_new((size_t)size);
    if (!buffer) {
        tr__channel_reset(channel);
        return;
    }
    memcpy(tr_buffer_data(buffer), text, (size_t)size);
    send_text(channel, buffer);
    tr_buffer_release(buffer);
}

static size_t text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

/* Copies what is needed to check each message of a socket. Returns NULL if there is no memory. */
static struct socket_pass *pass_new(const struct visit *visit, bool asks)
{
    size_t first = asks ? text_size(visit->authorization) : 0;
    size_t second = asks ? text_size(visit->cookie) : 0;
    struct socket_pass *pass =
        source_resize(&visit->self->worker->system->source, NULL, sizeof *pass + first + second);
    if (!pass)
        return NULL;
    *pass = (struct socket_pass){.per_minute = visit->per_minute};
    if (visit->per_minute)
        pass->rate_name = tr__rate_name(visit->self, visit->caller);
    if (asks)
        pass->guard = visit->guard;
    if (first)
        pass->authorization = memcpy(pass->texts, visit->authorization, first);
    if (second)
        pass->cookie = memcpy(pass->texts + first, visit->cookie, second);
    return pass;
}

static struct socket_above *above_new(const struct visit *visit,
                                      const struct tr_durable_connection *reply)
{
    size_t key_size = strlen(visit->key);
    size_t size = offsetof(struct socket_above, key) + key_size;
    size = size < sizeof(struct socket_above) ? sizeof(struct socket_above) : size;
    struct socket_above *above = source_resize(&visit->self->worker->system->source, NULL, size);
    if (!above)
        return NULL;
    *above = (struct socket_above){.base = {on_end},
                                   .exposed = visit->exposed,
                                   .number = reply->number,
                                   .event = reply->event,
                                   .key_size = (uint16_t)key_size};
    memcpy(above->key, visit->key, key_size);
    bool asks = visit->guard.bits && !visit->is_for_connection;
    if (asks || visit->per_minute)
        above->pass = pass_new(visit, asks);
    if (above->pass || (!asks && !visit->per_minute))
        return above;
    above_free(&visit->self->worker->system->source, above);
    return NULL;
}

/*
 * What a turn that opens a socket has made so far. It is freed at the end of the turn, unless the
 * open socket owns it.
 */
struct socket_try {
    struct visit visit;
    struct opening opening;
    struct socket_above *above;
    bool is_open;
};

static void try_end(void *resource)
{
    struct socket_try *try = resource;
    if (try->is_open)
        return;
    if (try->above)
        above_free(&try->visit.self->worker->system->source, try->above);
    tr__opening_undo(&try->visit, &try->opening, WS_CODE_LOST);
}

void tr__socket_open(struct visit *visit)
{
    struct tr_self *self = visit->self;
    struct socket_try *try = tr_scratch(self, sizeof *try);
    *try = (struct socket_try){.visit = *visit};
    if (!tr__opening_ask(visit, &try->opening, tr_http_query(self, "last")))
        return;
    tr__turn_defer(self, try, try_end);
    try->above = above_new(visit, &try->opening.reply);
    tr_status status =
        try->above ? tr__ws_accept_above(visit->request, &row, &try->above->base) : TR_NO_MEMORY;
    if (status == TR_NO_MEMORY)
        tr_crash(self, TR_NO_MEMORY, "out of memory for a connection");
    try->is_open = status == TR_OK;
    if (try->is_open)
        greet(visit->request->channel, &try->opening.reply);
}

/* ---- Messages of actors to their connections. ---- */

tr_next tr_self_gateway_event(tr_self *self, void *state, const void *message)
{
    TURN_VERB(self);
    (void)state;
    const struct tr_gateway_event_ *event = message;
    struct channel *channel;
    if (!tr__stream_event(self, event->channel, event->number, event->text) &&
        tr__channel_of(self, (tr_channel){event->channel}, &channel) == TR_OK)
        tr__socket_event(channel, event->number, event->text);
    return TR_SAME;
}

tr_next tr_self_gateway_close(tr_self *self, void *state, const void *message)
{
    TURN_VERB(self);
    (void)state;
    const struct tr_gateway_close_ *close = message;
    struct channel *channel;
    if (tr__stream_close(self, close->channel, close->code, close->is_settled) ||
        tr__channel_of(self, (tr_channel){close->channel}, &channel) != TR_OK)
        return TR_SAME;
    struct socket_above *above = above_of(channel);
    if (!above)
        return TR_SAME;
    above->is_settled |= close->is_settled;
    close_with(channel, (unsigned)close->code, close->words ? close->words : "");
    return TR_SAME;
}
