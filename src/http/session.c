/* SPDX-License-Identifier: Apache-2.0 */
#include "http/session.h"

#include <string.h>

#include "actor/cell/verb.h"
#include "actor/cell/system.h"
#include "base/sized.h"
#include "http/access_log.h"
#include "http/answer.h"
#include "http/body.h"
#include "http/events.h"
#include "http/h2_guard.h"
#include "http/h2_session.h"
#include "http/h2_stream.h"
#include "http/later.h"
#include "http/routing.h"
#include "http/ws_session.h"
#include "net/channel_end.h"
#include "net/deadline.h"
#include "net/dial.h"

/*
 * The type of a piece of input, which is a head. No other file has its descriptor, so no program
 * can have a handler for this type.
 */
TR_MESSAGE(tr_http_piece_, (channel, channel), (bytes, bytes));
static_assert(sizeof(struct tr_http_piece_) == sizeof(struct tr_received),
              "net fills in a struct tr_received");

static const struct http_site *site_of(const struct channel *channel)
{
    return channel->endpoint->site;
}

/* ---- Making a site. ---- */

static bool offers_h2(const char *alpn)
{
    for (const char *at = alpn; at && *at; at += strspn(at, ",")) {
        size_t size = strcspn(at, ",");
        if (size == 2 && memcmp(at, "h2", 2) == 0)
            return true;
        at += size;
    }
    return false;
}

/*
 * Copies the options of the program. Returns false if the program was compiled with more options
 * than this library has, and has set one of these.
 */
static bool options_read(const tr_endpoint *endpoint, tr_http_options *options)
{
    *options = (tr_http_options){.size = sizeof *options};
    return !endpoint->http ||
           sized_read(options, sizeof *options, endpoint->http, endpoint->http_size);
}

static tr_status on_open_listener(struct tr_self *self, struct endpoint *endpoint,
                                  const tr_behavior *behavior)
{
    struct http_site *site = NULL;
    const tr_handler *row;
    const char *why;
    tr_http_options options;
    if (!tr__http_is_built())
        return TR_NOT_SUPPORTED;
    if (!options_read(&endpoint->options, &options)) {
        tr_log_error(
            self, "cannot listen: an option of HTTP is not known to this version of the library");
        return TR_INVALID_ARGUMENT;
    }
    if (!tr__h2_is_built() && offers_h2(endpoint->options.alpn)) {
        tr_log_error(self, "cannot listen: .alpn has h2, and HTTP/2 was not built");
        return TR_NOT_SUPPORTED;
    }
    tr_status status =
        tr__http_site_new(&self->worker->system->source, &options, behavior, &site, &row, &why);
    /* clear the pointer: the site has a copy of the options, and the program may free them */
    endpoint->options.http = NULL;
    endpoint->site = site;
    if (status == TR_INVALID_ARGUMENT && row)
        tr_log_error(self,
                     "cannot listen: %s: TR_%s(\"%s\", %s, %s): %s",
                     behavior->name,
                     row->place ? "FILES" : row->method,
                     row->path,
                     row->type ? row->type->name : "any",
                     row->name,
                     why);
    else if (status == TR_INVALID_ARGUMENT)
        tr_log_error(self, "cannot listen: %s: %s", behavior->name, why);
    return status;
}

static void site_drop(const struct memory_source *source, void *site)
{
    source_resize(source, site, 0);
}

/* ---- Between requests. ---- */

/* Checks whether a new connection begins with HTTP/2. Returns the result of tr__h2_preface. */
static int begins_h2(const struct channel *channel, tr_bytes bytes)
{
    bool is_first = !channel_has(channel, CHANNEL_ANSWERED);
    return is_first && !site_of(channel)->options.has_no_http2 ? tr__h2_preface(bytes) : 0;
}

static size_t cut(const struct channel *channel, tr_bytes bytes, size_t seen, tr_bytes *piece)
{
    const struct ws_session *session = ws_session_of(channel);
    *piece = bytes;
    if (session)
        return tr__ws_cut(session, bytes, piece);
    if (h2_session_of(channel) || http_events_of(channel))
        return bytes.size;
    int is_h2 = begins_h2(channel, bytes);
    if (is_h2) {
        piece->size = H2_PREFACE_SIZE;
        return is_h2 > 0 ? H2_PREFACE_SIZE : 0;
    }
    if (bytes.size <= H2_PREFACE_SIZE)
        /*
         * until now these bytes could be the preface of HTTP/2, and no search has looked at them,
         * so search all of them
         */
        seen = 0;
    return tr__http_head_cut(bytes, seen, site_of(channel)->limits.head_max, piece);
}

/*
 * Sets the deadline for the next request of the connection. Arms the timer only if it would fire
 * too late; if it fires too early, it is armed again then.
 */
static void wait_for_request(struct channel *channel)
{
    channel->flags &= ~(uint32_t)CHANNEL_IN_PART;
    channel->deadline_ns =
        timer_deadline(channel->worker->loop.now_ns, site_of(channel)->options.keep_ns);
    tr__channel_arm(channel);
}

static void on_part(struct channel *channel)
{
    if (ws_session_of(channel)) {
        tr__ws_wait(channel);
        return;
    }
    if (channel_has(channel, CHANNEL_IN_PART))
        return;
    channel->flags |= CHANNEL_IN_PART;
    channel->deadline_ns =
        timer_deadline(channel->worker->loop.now_ns, site_of(channel)->options.head_ns);
    tr__channel_arm(channel);
}

static tr_time within(const struct channel *channel)
{
    const struct http_request *request = channel->request;
    return request->reads_body ? request->site->options.body_ns : 0;
}

/* Called when a connection has opened: prepares it for its first request. */
static void on_open(struct channel *channel)
{
    const char *protocol = tr__channel_protocol(channel);
    if (!protocol || strcmp(protocol, "h2") != 0)
        wait_for_request(channel);
    else if (tr__h2_begin(channel) != TR_OK)
        tr__channel_end(channel, TR_NO_MEMORY, NULL);
}

static void on_close(struct channel *channel, bool has_failed)
{
    if (h2_session_of(channel))
        tr__h2_on_close(channel, has_failed);
    else if (http_events_of(channel))
        tr__http_events_on_close(channel, has_failed);
    else
        tr__ws_on_close(channel, has_failed);
}

static void on_deadline(struct channel *channel)
{
    if (channel->deadline_ns > channel->worker->loop.now_ns) {
        /* the deadline is not reached, so the channel was idle for .idle_ns of the endpoint */
        tr__channel_end(channel, TR_TIMEOUT, NULL);
        return;
    }
    if (ws_session_of(channel)) {
        tr__ws_deadline(channel);
        return;
    }
    if (h2_session_of(channel)) {
        tr__h2_on_deadline(channel);
        return;
    }
    if (http_events_of(channel)) {
        tr__http_events_deadline(channel);
        return;
    }
    channel->deadline_ns = TR_NEVER;
    if (channel->request) /* a turn handles a request now, and such a turn has limits of its own */
        return;
    if (channel_has(channel, CHANNEL_IN_PART))
        tr__http_answer_bare(channel, 408);
    tr__channel_close(channel);
}

/* ---- Turns. ---- */

/*
 * Makes a connection without TLS, which has begun with the preface of HTTP/2, a connection of
 * HTTP/2.
 */
static void switch_to_h2(struct channel *channel, tr_bytes preface)
{
    channel->flags &= ~(uint32_t)CHANNEL_IN_PART;
    if (tr__h2_begin(channel) != TR_OK)
        tr__channel_end(channel, TR_NO_MEMORY, NULL);
    else
        tr__h2_read(channel, preface);
}

static tr_next on_head(tr_self *self, void *state, const void *data)
{
    TURN_VERB(self);
    const struct tr_received *piece = data;
    struct channel *channel;
    if (tr__channel_of(self, piece->channel, &channel) != TR_OK)
        return TR_SAME;
    if (ws_session_of(channel))
        return tr__ws_turn(self, channel, state, piece);
    if (http_events_of(channel)) {
        /* if the client sends anything during a stream of events, end the stream */
        tr__http_events_close(http_events_of(channel), WS_CODE_GOING_AWAY);
        return TR_SAME;
    }
    if (begins_h2(channel, piece->bytes) > 0) {
        switch_to_h2(channel, piece->bytes);
        return TR_SAME;
    }
    const struct http_site *site = site_of(channel);
    channel->flags &= ~(uint32_t)(CHANNEL_IN_PART | CHANNEL_ANSWERED);
    channel->deadline_ns = TR_NEVER;
    struct http_request *request = tr__http_request_new(self, channel, piece->bytes.size);
    channel->request = request;
    char *bytes = (char *)(uintptr_t)piece->bytes.data;
    int refusal = tr__http_head_parse(bytes, piece->bytes.size, &site->limits, &request->head);
    if (!refusal) {
        request->keeps = request->head.keeps;
        tr__http_body_begin(request, bytes, piece->bytes.size);
    }
    return tr__http_request_run(request, state, refusal);
}

/* Decides what happens to the connection when a turn has ended, in whatever way. */
static void settle(struct channel *channel, struct http_request *request)
{
    if (channel->state != CHANNEL_OPEN)
        return;
    if (http_events_of(channel)) {
        tr__http_events_wait(channel);
        return;
    }
    if (request->phase == ANSWER_BEGUN) {
        /* the answer is incomplete, and a reset shows this to the client */
        tr__channel_reset(channel);
        return;
    }
    if (request->phase == ANSWER_NONE) {
        request->keeps = false;
        tr__http_answer_last(request, request->self->is_cancelled ? 503 : 500);
    }
    channel->flags |= CHANNEL_ANSWERED;
    if (ws_session_of(channel))
        tr__ws_wait(channel);
    else if (request->keeps)
        wait_for_request(channel);
    else
        tr__channel_close(channel);
}

static void on_turn_end(struct channel *channel)
{
    struct http_request *request = channel->request;
    tr__http_request_end(request);
    settle(channel, request);
    tr__http_access_log(request, channel);
}

/* Frees the record of the WebSocket or of the events of a channel that is about to be freed. */
static void on_free(struct channel *channel)
{
    if (http_events_of(channel))
        tr__http_events_on_free(channel);
    else
        tr__ws_on_free(channel);
}

/* ---- Replies, refusals and forwards in turns of HTTP. ---- */

static tr_status reply(struct tr_self *self, const tr_type *type, const void *message)
{
    struct http_request *request = tr__http_request_of(self);
    if (!request || request->phase != ANSWER_NONE)
        return TR_NO_SENDER;
    const tr_type *asked = request->type;
    if (asked && asked->reply && asked->reply != type && !tr_type_is_equal(asked->reply, type))
        return TR_WRONG_TYPE;
    int status = request->status ? request->status : 200;
    if (tr__http_answer_json(request, status, type, message) != TR_OK)
        tr__http_answer_error(request, 500, "the server has failed", NULL);
    return TR_OK;
}

static void request_refuse(struct tr_self *self, int code, const char *text)
{
    struct http_request *request = tr__http_request_of(self);
    if (!request || request->phase != ANSWER_NONE)
        return;
    bool is_status = code >= 400 && code <= 599;
    request->status = 0;
    if (is_status)
        tr__http_answer_error(request, code, text, NULL);
    else
        tr__http_answer_error(request, 422, text, NULL);
}

static const struct {
    tr_status status;
    int code;
    const char *text;
} failures[] = {
    {TR_TIMEOUT, 504, "the answer took too long"},
    {TR_MAILBOX_FULL, 503, "the server is busy"},
    {TR_STOPPED, 503, "the server is stopping"},
    {TR_STOPPING, 503, "the server is stopping"},
};

static tr_next forward(struct tr_self *self, tr_ref to)
{
    struct http_request *request = tr__http_request_of(self);
    if (!request || request->raw || !request->message)
        return tr_fail(self, TR_INVALID_TRANSITION, "tr_forward: this turn has no typed request");
    const void *answer = NULL;
    tr_pending ask = tr_self_ask(self, to, request->type, request->message, 0);
    tr_status status = tr_self_try_await(self, ask, &answer);
    if (status == TR_OK) {
        (void)reply(self, request->type->reply, answer);
        return TR_SAME;
    }
    const tr_error *error = tr_self_ask_error(self, ask);
    if (status == TR_REFUSED) {
        request_refuse(self, error ? error->code : 422, error ? error->text : "");
        return TR_SAME;
    }
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        if (failures[i].status == status) {
            request_refuse(self, failures[i].code, failures[i].text);
            return TR_SAME;
        }
    }
    request_refuse(self, 502, "the server has failed");
    return TR_SAME;
}

static const tr_handler head_handler = {
    .type = &tr_type_tr_http_piece_, .call = on_head, .name = "an HTTP request"};

const struct tr_protocol tr__http_protocol = {
    .open = on_open_listener,
    .drop = site_drop,
    .handler = &head_handler,
    .cut = cut,
    .on_open = on_open,
    .on_part = on_part,
    .on_deadline = on_deadline,
    .within = within,
    .on_turn_end = on_turn_end,
    .on_close = on_close,
    .on_free = on_free,
    .session_free = tr__ws_session_free,
    .on_input = tr__h2_on_input,
    .on_drained = tr__h2_on_drained,
    .on_ended = tr__h2_on_ended,
    .streams_free = tr__h2_free,
    .turn_handler = &tr__h2_handler,
    .on_turn_done = tr__h2_on_turn_done,
    .reply = reply,
    .refuse = request_refuse,
    .forward = forward,
    .later = tr__http_later,
};

const tr_endpoint *tr_http_endpoint_sized(tr_endpoint *endpoint, size_t http_size)
{
    const char *address = endpoint->address;
    endpoint->http_size = http_size;
    endpoint->protocol = &tr__http_protocol;
    bool has_h2 = tr__h2_is_built() && !(endpoint->http && endpoint->http->has_no_http2);
    if (endpoint->kind == TR_ENDPOINT_TLS && !endpoint->alpn && has_h2)
        endpoint->alpn = "h2,http/1.1";
    if (endpoint->kind == TR_ENDPOINT_TCP && address && (strchr(address, '/') || address[0] == '@'))
        endpoint->kind = TR_ENDPOINT_UNIX;
    return endpoint;
}
