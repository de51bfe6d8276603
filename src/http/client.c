/* SPDX-License-Identifier: Apache-2.0 */
#include "http/client.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/slots.h"
#include "actor/life/pooled.h"
#include "actor/mail/kind.h"
#include "actor/mail/refusal.h"
#include "base/assert.h"
#include "http/client_call.h"
#include "net/worker.h"

TR_MESSAGE(tr_http_sweep_);
TR_ACTOR(tr_http_client, tr_http_call_, tr_http_send_, tr_http_finish_, tr_http_next_,
         tr_http_drop_, tr_http_sweep_);

/* ---- Functions for all turns. ---- */

void tr__http_client_fail(struct tr_self *self, tr_status status, const char *text)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct envelope *request = self->envelope;
    if (self->is_cancelled || request->kind != ENVELOPE_ASK)
        return;
    struct envelope *answer = tr__request_stand_in(self->worker, request);
    if (!answer) {
        turn_fail_reply(self, status); /* without a text */
        return;
    }
    request->kind = ENVELOPE_ANSWERED;
    tr__ask_refuse(self->worker, answer, self->cell->identity, status, 0, text);
}

/* Ends the request as tr__http_client_fail does, with a text that has the URL and, if `why` is not NULL, the reason. */
static void fail_at(struct tr_self *self, tr_status status, const char *url, const char *why)
{
    char text[320];
    snprintf(text,
             sizeof text,
             "%.180s: %s%s%s",
             url ? url : "no URL",
             tr_status_text(status),
             why ? ": " : "",
             why ? why : "");
    tr__http_client_fail(self, status, text);
}

tr_time tr__http_client_deadline(const struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    tr_time now_ns = clock_bound(&self->worker->clock);
    uint32_t deadline_ms = self->envelope->payload.ask.deadline_ms;
    if (!deadline_ms)
        return TR_NEVER;
    uint32_t now_ms = (uint32_t)((uint64_t)now_ns / TR_MILLISECOND);
    int32_t left_ms = (int32_t)(deadline_ms - now_ms);
    return left_ms > 0 ? timer_deadline(now_ns, left_ms * TR_MILLISECOND) : now_ns;
}

/* ---- Streams. ---- */

static struct http_stream **stream_at(struct http_client *client, uint64_t number)
{
    struct http_stream **at = &client->streams;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    return at;
}

tr_status tr__http_stream_new(struct tr_self *self, struct http_client *client,
                              const struct http_flow *flow, tr_time idle_ns, uint64_t body_max,
                              const char *url, struct tr_http_stream *handle)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    size_t size = strlen(url) + 1;
    struct http_stream *stream = tr_try_alloc(self, sizeof *stream + size);
    if (!stream)
        return TR_NO_MEMORY;
    *stream = (struct http_stream){.number = ++client->number_last,
                                   .idle_ns = idle_ns,
                                   .body_max = body_max,
                                   .url = (char *)(stream + 1),
                                   .flow = *flow};
    memcpy(stream->url, url, size);
    stream->due_ns = timer_deadline(tr_now(self), TR_HTTP_STREAM_NS);
    stream->next = client->streams;
    client->streams = stream;
    *handle = (struct tr_http_stream){.keeper = tr_me(self), .number = stream->number};
    tr__http_client_arm(self, client);
    return TR_OK;
}

/* Frees a stream. Call when its connection has another owner, or has ended. */
static void stream_free(struct tr_self *self, struct http_client *client,
                        const struct http_stream *stream)
{
    struct http_stream **at = stream_at(client, stream->number);
    struct http_stream *found = *at;
    TR_ASSERT(found == stream);
    *at = found->next;
    tr_free(self, found);
}

/* Ends a stream, and drops its flow, and so the connection or the call of HTTP/2. */
static void stream_end(struct tr_self *self, struct http_client *client, struct http_stream *stream)
{
    stream->flow.self = self;
    tr__http_flow_drop(&stream->flow, &client->hosts, TR_OK);
    stream_free(self, client, stream);
}

/*
 * Finds a stream, and marks it as used by this turn. If there is no such stream, or another turn
 * uses it, answers the request with an error and returns NULL.
 */
static struct http_stream *stream_begin(struct tr_self *self, struct http_client *client,
                                        uint64_t number)
{
    struct http_stream *stream = *stream_at(client, number);
    if (!stream || stream->is_busy) {
        tr_status status = stream ? TR_INVALID_TRANSITION : TR_NOT_FOUND;
        tr__http_client_fail(
            self, status, stream ? "another turn uses this stream" : "the stream has ended");
        return NULL;
    }
    stream->is_busy = true;
    stream->flow.self = self;
    stream->flow.deadline_ns = tr__http_client_deadline(self);
    stream->flow.why = NULL;
    return stream;
}

static void stream_rest(struct tr_self *self, struct http_stream *stream)
{
    stream->is_busy = false;
    stream->due_ns = timer_deadline(tr_now(self), TR_HTTP_STREAM_NS);
}

static tr_next on_send(tr_self *self, struct http_client *client,
                       const struct tr_http_send_ *message)
{
    struct http_stream *stream = stream_begin(self, client, message->number);
    if (!stream)
        return TR_SAME;
    tr_status status = tr__http_flow_send(&stream->flow, message->bytes);
    if (status == TR_OK)
        (void)tr_self_try_reply(self, &tr_type_tr_done, &(struct tr_done){0});
    else
        fail_at(self, status, stream->url, stream->flow.why);
    /*
     * the answer can still be read after TR_CLOSED and TR_RESET, because the server may have sent
     * it before that
     */
    bool is_usable = status == TR_OK || status == TR_LIMIT || stream->flow.has_begun ||
                     status == TR_CLOSED || status == TR_RESET;
    if (is_usable)
        stream_rest(self, stream);
    else
        stream_end(self, client, stream);
    return TR_SAME;
}

static tr_next on_finish(tr_self *self, struct http_client *client,
                         const struct tr_http_finish_ *message)
{
    struct http_stream *stream = stream_begin(self, client, message->number);
    struct http_answer_head head = {0};
    if (!stream)
        return TR_SAME;
    /* copy the flow, because the stream is freed at the end of this turn */
    struct http_flow flow = stream->flow;
    tr_status status = TR_OK;
    if (!flow.has_begun)
        status = tr__http_flow_end(&flow);
    if (status == TR_INVALID_TRANSITION) {
        fail_at(self, status, stream->url, "fewer bytes than .length were sent");
        stream_end(self, client, stream);
        return TR_SAME;
    }
    /*
     * Read the answer even if the connection has ended, because the server may have answered before
     * that.
     */
    if (status == TR_OK || flow.has_begun || status == TR_CLOSED || status == TR_RESET)
        status = tr__http_flow_head(&flow, &head);
    const struct http_stream_wish wish = {.streams = message->streams,
                                          .idle_ns = stream->idle_ns,
                                          .body_max = stream->body_max,
                                          .url = stream->url};
    if (status == TR_OK)
        status = tr__http_client_reply(self, client, &flow, &head, &wish);
    else
        tr__http_flow_drop(&flow, &client->hosts, status);
    if (status != TR_OK)
        fail_at(self, status, stream->url, flow.why);
    stream_free(self, client, stream);
    return TR_SAME;
}

static tr_next on_next(tr_self *self, struct http_client *client,
                       const struct tr_http_next_ *message)
{
    struct http_stream *stream = stream_begin(self, client, message->number);
    struct tr_http_portion_ portion = {.bytes = {"", 0}};
    if (!stream)
        return TR_SAME;
    size_t max = message->max < TR_HTTP_PIECE_MAX ? (size_t)message->max : TR_HTTP_PIECE_MAX;
    tr_status status = stream->flow.has_final
                           ? tr__http_flow_read(&stream->flow, max, &portion.bytes)
                           : TR_INVALID_TRANSITION;
    if (status == TR_OK)
        (void)tr_self_try_reply(self, &tr_type_tr_http_portion_, &portion);
    else
        fail_at(self, status, stream->url, stream->flow.why);
    if (status == TR_INVALID_TRANSITION || (status == TR_OK && portion.bytes.size)) {
        stream_rest(self, stream);
        return TR_SAME;
    }
    if (status == TR_OK)
        tr__http_flow_close(&stream->flow, &client->hosts, stream->idle_ns);
    else
        tr__http_flow_drop(&stream->flow, &client->hosts, status);
    stream_free(self, client, stream);
    return TR_SAME;
}

static tr_next on_drop(tr_self *self, struct http_client *client,
                       const struct tr_http_drop_ *message)
{
    struct http_stream *stream = *stream_at(client, message->number);
    if (stream && !stream->is_busy)
        stream_end(self, client, stream);
    else if (stream)
        /* the turn that uses the stream gets an error, and ends the stream */
        tr__http_flow_cancel(&stream->flow, self);
    return TR_SAME;
}

/* ---- Asks, and ending unused connections and streams. ---- */

static tr_next on_call(tr_self *self, struct http_client *client,
                       const struct tr_http_call_ *message)
{
    const char *why;
    tr_status status = tr__http_client_call(self, client, message, &why);
    if (status != TR_OK)
        fail_at(self, status, message->url, why);
    return TR_SAME;
}

void tr__http_client_arm(struct tr_self *self, struct http_client *client)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    tr_timer timer;
    if (client->is_armed)
        return;
    tr_status status = tr_try_timer_once(self, &timer, NULL, TR_SECOND, tr_http_sweep_);
    /* if the timer could not be armed, the next ask tries again */
    client->is_armed = status == TR_OK;
}

static tr_next on_sweep(tr_self *self, struct http_client *client)
{
    tr_time now_ns = tr_now(self);
    bool has_more = tr__http_hosts_sweep(self, &client->hosts, now_ns) != TR_NEVER;
    struct http_stream *next;
    client->is_armed = false;
    for (struct http_stream *stream = client->streams; stream; stream = next) {
        next = stream->next;
        if (!stream->is_busy && stream->due_ns <= now_ns)
            stream_end(self, client, stream);
        else
            has_more = true;
    }
    if (has_more)
        tr__http_client_arm(self, client);
    return TR_SAME;
}

static tr_next on_closed(tr_self *self, struct http_client *client, const struct tr_closed *message)
{
    tr__http_hosts_closed(self, &client->hosts, message->channel);
    return TR_SAME;
}

TR_BEHAVIOR(tr_http_client, struct http_client, TR_ON(tr_http_call_, on_call),
            TR_ON(tr_http_send_, on_send), TR_ON(tr_http_finish_, on_finish),
            TR_ON(tr_http_next_, on_next), TR_ON(tr_http_drop_, on_drop),
            TR_ON(tr_http_sweep_, on_sweep), TR_ON(tr_closed, on_closed),
            TR_OPTIONS(.is_pinned = true));

tr_status tr__http_client_of(struct tr_self *self, uint64_t *ref)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    struct net_worker *net = tr__net_worker_of(worker);
    char path[48];
    if (!net)
        return TR_NO_MEMORY;
    if (net->http_client && slots_find(worker->slots, net->http_client)) {
        *ref = net->http_client;
        return TR_OK;
    }
    snprintf(path, sizeof path, "/system/http-client-%u", (unsigned)worker->index);
    const struct pooled_spawner spawner = {
        .worker = worker, .reader = &worker->reader, .causal = self->causal};
    const struct pooled_place place = {
        .parent = worker->system->user.guardian, .path = path, .bits = CELL_POOLED};
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_tr_http_client, .worker = (int)worker->index};
    tr_status status =
        tr__pooled_spawn_at(worker->system, &spawner, &place, &args, &net->http_client);
    *ref = net->http_client;
    return status;
}
