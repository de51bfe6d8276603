/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The functions of http/h2_*.h for a build without nghttp2. Nearly all of them are never called,
 * because no connection uses HTTP/2.
 */
#include "base/assert.h"
#include "http/h2_answer.h"
#include "http/h2_call.h"
#include "http/h2_client.h"
#include "http/h2_events.h"
#include "http/h2_session.h"
#include "http/h2_stream.h"

bool tr__h2_is_built(void)
{
    return false;
}

int tr__h2_preface(tr_bytes bytes)
{
    (void)bytes;
    /*
     * The caller then reads the preface as HTTP/1.1, and refuses it as a request with the unknown
     * method "PRI".
     */
    return 0;
}

tr_status tr__h2_begin(struct channel *channel)
{
    (void)channel;
    return TR_NOT_SUPPORTED;
}

static const char none[] = "no channel speaks HTTP/2";

#define NEVER(name)                                                                                \
    void name(struct channel *channel)                                                             \
    {                                                                                              \
        (void)channel;                                                                             \
        TR_NOT_REACHED(none);                                                                      \
    }
NEVER(tr__h2_on_input)
NEVER(tr__h2_on_drained)
NEVER(tr__h2_on_ended)
NEVER(tr__h2_on_deadline)
NEVER(tr__h2_free)

size_t tr__h2_read(struct channel *channel, tr_bytes bytes)
{
    (void)channel;
    (void)bytes;
    TR_NOT_REACHED(none);
}

void tr__h2_on_close(struct channel *channel, bool has_failed)
{
    (void)channel;
    (void)has_failed;
    TR_NOT_REACHED(none);
}

void tr__h2_on_turn_done(struct protocol_turn *turn)
{
    (void)turn;
    TR_NOT_REACHED(none);
}

const tr_handler tr__h2_handler = {.name = "none"};

bool tr__h2_is_gone(const struct h2_stream *stream)
{
    (void)stream;
    TR_NOT_REACHED(none);
}

bool tr__h2_body_read(struct http_request *request, tr_bytes *bytes)
{
    (void)request;
    (void)bytes;
    TR_NOT_REACHED(none);
}

void tr__h2_answer_head(struct http_request *request, const char *type,
                        const tr_http_response *response)
{
    (void)request;
    (void)type;
    (void)response;
    TR_NOT_REACHED(none);
}

void tr__h2_answer(struct http_request *request, const char *type, tr_bytes body,
                   const tr_http_response *response)
{
    (void)request;
    (void)type;
    (void)body;
    (void)response;
    TR_NOT_REACHED(none);
}

tr_status tr__h2_write(struct http_request *request, tr_bytes bytes)
{
    (void)request;
    (void)bytes;
    TR_NOT_REACHED(none);
}

void tr__h2_end(struct http_request *request)
{
    (void)request;
    TR_NOT_REACHED(none);
}

struct http_events *tr__h2_events_find(const struct channel *channel, uint64_t token)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    (void)channel;
    (void)token;
    TR_NOT_REACHED(none);
}

tr_status tr__h2_events_begin(struct http_events *events)
{
    (void)events;
    TR_NOT_REACHED(none);
}

size_t tr__h2_events_unsent(const struct http_events *events)
{
    (void)events;
    TR_NOT_REACHED(none);
}

tr_status tr__h2_events_write(struct http_events *events, const char *text, size_t size)
{
    (void)events;
    (void)text;
    (void)size;
    TR_NOT_REACHED(none);
}

void tr__h2_events_leave(struct http_events *events)
{
    (void)events;
    TR_NOT_REACHED(none);
}

void tr__h2_events_close(struct h2_stream *stream)
{
    (void)stream;
    TR_NOT_REACHED(none);
}

void tr__h2_events_cut(struct h2_stream *stream)
{
    (void)stream;
    TR_NOT_REACHED(none);
}

/* ---- The client. ---- */

tr_status tr__h2_client_begin(struct channel *channel, struct http_conn *conn)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    (void)channel;
    (void)conn;
    return TR_NOT_SUPPORTED;
}

bool tr__h2_client_has_place(const struct h2_client *client, uint32_t count)
{
    (void)client;
    (void)count;
    TR_NOT_REACHED(none);
}

void tr__h2_client_forget(struct h2_client *client)
{
    (void)client;
    TR_NOT_REACHED(none);
}

tr_status tr__h2_call_open(struct http_flow *flow)
{
    (void)flow;
    TR_NOT_REACHED(none);
}

tr_status tr__h2_call_ask(struct http_flow *flow, tr_bytes head)
{
    (void)flow;
    (void)head;
    TR_NOT_REACHED(none);
}

tr_status tr__h2_call_send(struct http_flow *flow, tr_bytes bytes, bool is_last)
{
    (void)flow;
    (void)bytes;
    (void)is_last;
    TR_NOT_REACHED(none);
}

tr_status tr__h2_call_expect(struct http_flow *flow)
{
    (void)flow;
    TR_NOT_REACHED(none);
}

tr_status tr__h2_call_head(struct http_flow *flow, struct http_answer_head *answer)
{
    (void)flow;
    (void)answer;
    TR_NOT_REACHED(none);
}

tr_status tr__h2_call_read(struct http_flow *flow, size_t max, tr_bytes *piece)
{
    (void)flow;
    (void)max;
    (void)piece;
    TR_NOT_REACHED(none);
}

bool tr__h2_call_has_begun(const struct h2_call *call)
{
    (void)call;
    TR_NOT_REACHED(none);
}

bool tr__h2_call_is_over(const struct h2_call *call)
{
    (void)call;
    TR_NOT_REACHED(none);
}

void tr__h2_call_cancel(struct h2_call *call)
{
    (void)call;
    TR_NOT_REACHED(none);
}

void tr__h2_call_free(struct h2_call *call, bool is_late)
{
    (void)call;
    (void)is_late;
    TR_NOT_REACHED(none);
}
