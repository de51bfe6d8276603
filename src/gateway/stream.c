/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/stream.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/system.h"
#include "actor/verbs/self_memory.h"
#include "durable/connection_gone.h"
#include "gateway/opening.h"
#include "http/answer.h"
#include "http/events.h"
#include "http/websocket.h"
#include "base/assert.h"

struct stream {
    struct http_events base; /* must be the first member */
    const tr_exposed *exposed;
    uint64_t number; /* number of the connection */
    uint64_t event;  /* number of the last event that was sent */
    bool is_settled; /* the actor knows already that the connection ends, and is not notified */
    uint16_t key_size;
    char key[];
};

/*
 * Called when a stream has ended. Notifies its actor, unless the actor knows already, and frees the
 * stream.
 */
static void on_end(struct http_events *base, unsigned code)
{
    struct stream *stream = (struct stream *)(void *)base;
    struct worker *worker = base->channel->worker;
    if (!stream->is_settled)
        tr__connection_gone(worker,
                            stream->exposed->kind,
                            (tr_bytes){stream->key, stream->key_size},
                            stream->number,
                            (int)code);
    source_resize(&worker->system->source, stream, 0);
}

/* ---- Writing. ---- */

/*
 * Writes the event {"event":"said","number":7,"with":{...}} as lines of text/event-stream. The JSON
 * has no line ends inside, because JSON escapes them.
 */
static size_t write_event(char *to, size_t size, uint64_t number, tr_buffer *text)
{
    static const char front[] = "{\"event\":\"", mark[] = "\"with\":";
    if (tr_buffer_size(text) <= sizeof front)
        return 0;
    const char *name = (const char *)tr_buffer_data(text) + sizeof front - 1;
    const char *end = (const char *)tr_buffer_data(text) + tr_buffer_size(text) - 1;
    const char *behind = memchr(name, '"', (size_t)(end - name));
    const char *with = memmem(behind, (size_t)(end - behind), mark, sizeof mark - 1);
    char id[32] = "";
    with += sizeof mark - 1;
    if (number)
        snprintf(id, sizeof id, "id: %llu\n", (unsigned long long)number);
    int length = snprintf(to,
                          size,
                          "%sevent: %.*s\ndata: %.*s\n\n",
                          id,
                          (int)(behind - name),
                          name,
                          (int)(end - with),
                          with);
    return length < 0 ? 0 : (size_t)length;
}

bool tr__stream_event(struct tr_self *self, uint64_t token, uint64_t number, tr_buffer *text)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct http_events *events = tr__http_events_find(self, token);
    struct stream *stream = (struct stream *)(void *)events;
    if (!stream)
        return false;
    size_t size = tr_buffer_size(text) + 64;
    const struct memory_source *source = &self->worker->source;
    bool is_slow = tr__http_events_unsent(events) + size > TR_CONNECTION_UNSENT_MAX;
    bool is_lost = number && number != stream->event + 1;
    char *lines = is_slow || is_lost ? NULL : source_resize(source, NULL, size);
    if (lines && number)
        stream->event = number;
    if (!lines ||
        tr__http_events_write(events, lines, write_event(lines, size, number, text)) != TR_OK)
        tr__http_events_cut(events, WS_CODE_TRY_LATER);
    source_resize(source, lines, 0);
    return true;
}

bool tr__stream_close(struct tr_self *self, uint64_t token, int code, bool is_settled)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct http_events *events = tr__http_events_find(self, token);
    if (!events)
        return false;
    ((struct stream *)(void *)events)->is_settled |= is_settled;
    tr__http_events_close(events, (unsigned)code);
    return true;
}

/* ---- Opening. ---- */

/*
 * What a turn that opens a stream has made so far. It is freed at the end of the turn, unless the
 * open stream owns it.
 */
struct stream_try {
    struct visit visit;
    struct opening opening;
    struct stream *stream;
    bool is_open;
};

static void try_end(void *resource)
{
    struct stream_try *try = resource;
    if (try->is_open)
        return;
    source_resize(&try->visit.self->worker->system->source, try->stream, 0);
    tr__opening_undo(&try->visit, &try->opening, WS_CODE_LOST);
}

static struct stream *stream_new(const struct visit *visit, const struct opening *opening)
{
    size_t key_size = strlen(visit->key);
    struct stream *stream =
        source_resize(&visit->self->worker->system->source, NULL, sizeof *stream + key_size);
    if (!stream)
        tr_crash(visit->self, TR_NO_MEMORY, "out of memory for a connection");
    *stream = (struct stream){.base = {.on_end = on_end, .token = opening->channel},
                              .exposed = visit->exposed,
                              .number = opening->reply.number,
                              .event = opening->reply.event,
                              .key_size = (uint16_t)key_size};
    memcpy(stream->key, visit->key, key_size);
    return stream;
}

/* Writes the first event, which says after which event the stream begins. */
static void greet(struct http_events *events, const struct tr_durable_connection *reply)
{
    char text[128];
    int length = snprintf(text,
                          sizeof text,
                          "id: %llu\nevent: %s\ndata: {}\n\n",
                          (unsigned long long)reply->event,
                          reply->has_gap ? "tr_gap" : "tr_open");
    if (tr__http_events_write(events, text, (size_t)length) != TR_OK)
        tr__http_events_cut(events, WS_CODE_TRY_LATER);
}

void tr__stream_open(struct visit *visit)
{
    tr_self *self = visit->self;
    struct http_request *request = visit->request;
    const tr_http_response response = {.cache = "no-store"};
    const char *last = tr_http_header(self, "last-event-id");
    struct stream_try *try = tr_scratch(self, sizeof *try);
    *try = (struct stream_try){.visit = *visit};
    if (!tr__opening_ask(visit, &try->opening, last ? last : tr_http_query(self, "last")))
        return;
    tr__turn_defer(self, try, try_end);
    try->stream = stream_new(visit, &try->opening);
    tr__http_answer_head(request, 200, "text/event-stream", -1, &response);
    tr_status status = tr__http_events_begin(request, &try->stream->base);
    if (status == TR_NO_MEMORY)
        tr_crash(self, status, "out of memory for a connection");
    try->is_open = status == TR_OK;
    if (try->is_open)
        greet(&try->stream->base, &try->opening.reply);
}
