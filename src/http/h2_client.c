/* SPDX-License-Identifier: Apache-2.0 */
#include "http/h2_client.h"

#include <string.h>

#include "actor/cell/system.h"
#include "http/client_hosts.h"
#include "http/h2_call.h"
#include "http/h2_call_input.h"
#include "http/h2_memory.h"
#include "http/h2_session.h"
#include "net/channel_end.h"
#include "net/deadline.h"
#include "net/event.h"
#include "net/input.h"
#include "net/protocol.h"
#include "net/rare.h"
#include "net/wait.h"

enum { HEAD_MAX = 64 * 1024 /* the largest .head_max that an ask can have */ };

/* ---- Ends. ---- */

void tr__h2_client_leave(struct h2_client *client)
{
    bool is_first = !client->base.is_leaving;
    client->base.is_leaving = true;
    if (is_first && client->conn && client->base.channel->cell)
        tr__http_conn_leave(client->conn);
}

static void wake_all(struct h2_client *client)
{
    LIST_EACH (link, &client->base.all)
        tr__h2_call_wake(h2_call_at(link));
}

/*
 * Marks a connection as ended: nothing more is read or written. Its open calls fail with `status`
 * and `why`.
 */
static void over(struct h2_client *client, tr_status status, const char *why)
{
    client->base.is_over = true;
    if (client->status == TR_OK) {
        client->status = status;
        client->why = why ? why : client->why;
    }
    tr__h2_client_leave(client);
    wake_all(client);
}

/* Ends a connection on which nghttp2 cannot continue. Sends no GOAWAY. */
static void cut(struct h2_client *client, ssize_t problem)
{
    bool is_memory = problem == NGHTTP2_ERR_NOMEM || problem == NGHTTP2_ERR_CALLBACK_FAILURE ||
                     client->base.is_starved;
    tr_status status = is_memory ? TR_NO_MEMORY : TR_BAD_DATA;
    over(client, status, is_memory ? NULL : nghttp2_strerror((int)problem));
    if (client->base.channel->state == CHANNEL_OPEN)
        tr__channel_end(client->base.channel, status, NULL);
}

/* Ends the connection because the server has broken a rule. Sends GOAWAY with this code. */
static void fail(struct h2_client *client, uint32_t code, const char *why)
{
    struct h2_session *session = &client->base;
    session->is_busy = true;
    session->is_forced = true;
    if (nghttp2_session_terminate_session(session->engine, code) == 0)
        /* if memory is missing, no GOAWAY is sent, which does not matter */
        (void)tr__h2_send_frames(session);
    session->is_busy = false;
    /*
     * `over` keeps an earlier reason unless the status is TR_OK; this reason says more, so let it
     * replace the earlier one
     */
    client->status = TR_OK;
    over(client, TR_BAD_DATA, why);
    if (session->channel->state == CHANNEL_OPEN)
        tr__channel_close(session->channel);
}

/* Call after frames were read or written. If the connection cannot continue, ends it. */
static void client_check(struct h2_client *client)
{
    struct h2_session *session = &client->base;
    if (session->is_over || session->channel->state != CHANNEL_OPEN)
        return;
    if (session->is_starved) {
        cut(client, NGHTTP2_ERR_NOMEM);
    } else if (session->guard.why) {
        fail(client, NGHTTP2_ENHANCE_YOUR_CALM, session->guard.why);
    } else if (!nghttp2_session_want_read(session->engine) &&
               !nghttp2_session_want_write(session->engine)) {
        over(client, TR_CLOSED, NULL); /* GOAWAY was sent or received, and all streams have ended */
        tr__channel_close(session->channel);
    }
}

void tr__h2_client_flush(struct h2_client *client)
{
    struct h2_session *session = &client->base;
    if (session->is_busy || session->is_over)
        return;
    session->is_busy = true;
    session->is_blocked = false;
    ssize_t problem = session->is_starved ? NGHTTP2_ERR_NOMEM : tr__h2_send_frames(session);
    session->is_busy = false;
    if (problem < 0)
        cut(client, problem);
    else
        client_check(client);
}

/* ---- Times. ---- */

void tr__h2_client_doubt(struct h2_client *client, tr_time since_ns)
{
    struct h2_session *session = &client->base;
    if (!h2_session_is_up(session) || client->is_pinged || client->heard_ns > since_ns)
        return;
    client->is_pinged = true;
    session->channel->deadline_ns =
        timer_deadline(session->channel->worker->loop.now_ns, TR_HTTP2_PING_NS);
    tr__channel_arm(session->channel);
    if (nghttp2_submit_ping(session->engine, NGHTTP2_FLAG_NONE, NULL) != 0)
        session->is_starved = true;
}

static void on_deadline(struct channel *channel)
{
    struct h2_client *client = h2_client_of(channel);
    channel->deadline_ns = TR_NEVER;
    if (client && client->is_pinged)
        tr__channel_end(channel, TR_STALLED, NULL);
}

/* ---- The protocol of the channel. ---- */

/* Notes that bytes have come, which shows that the server is alive. */
static void note_heard(struct h2_client *client)
{
    struct channel *channel = client->base.channel;
    client->heard_ns = channel->worker->loop.now_ns;
    if (!client->is_pinged)
        return;
    client->is_pinged = false;
    channel->deadline_ns = TR_NEVER;
    if (client->conn)
        tr__waits_wake_one(&client->conn->host->line);
}

/* Returns how many bytes at the end must be read later, as tr__h2_read does. */
static size_t read_bytes(struct h2_client *client, tr_bytes bytes)
{
    struct h2_session *session = &client->base;
    if (session->is_over || session->is_busy)
        return 0;
    note_heard(client);
    size_t size = tr__h2_guard_look(&session->guard, bytes.data, bytes.size, client->heard_ns);
    session->is_busy = true;
    ssize_t taken = size ? nghttp2_session_mem_recv(session->engine, bytes.data, size) : 0;
    session->is_busy = false;
    if (taken == NGHTTP2_ERR_FLOODED)
        fail(client, NGHTTP2_ENHANCE_YOUR_CALM, "too many frames that need an answer");
    else if (taken < 0)
        cut(client, taken);
    else
        tr__h2_client_flush(client);
    return h2_session_is_up(session) ? bytes.size - size : 0;
}

static void on_input(struct channel *channel)
{
    static const struct cutter all = {.how = CUT_PIECE};
    struct h2_client *client = h2_client_of(channel);
    h2_guard_next(&client->base.guard);
    for (int reads = 0; channel->state == CHANNEL_OPEN && !client->base.is_busy; reads++) {
        if (reads == TR_HTTP2_READS_MAX) {
            tr__channel_again(channel);
            return;
        }
        tr_bytes piece;
        bool is_cut;
        tr_status status = tr__input_take(NULL, channel, &all, &piece, &is_cut);
        if (status == TR_WOULD_BLOCK)
            return;
        if (status == TR_CLOSED) {
            over(client, TR_CLOSED, NULL);
            tr__channel_hang_up(channel);
            return;
        }
        if (status != TR_OK) {
            tr__channel_end(channel, status, NULL);
            return;
        }
        size_t rest = read_bytes(client, piece);
        if (rest && channel->state == CHANNEL_OPEN)
            tr__h2_read_later(channel, rest);
        tr__input_settle(channel);
        if (rest)
            return;
    }
}

static void on_drained(struct channel *channel)
{
    struct h2_client *client = h2_client_of(channel);
    if (client->base.is_blocked)
        tr__h2_client_flush(client);
}

static void on_ended(struct channel *channel)
{
    over(h2_client_of(channel), channel->status == TR_OK ? TR_CLOSED : channel->status, NULL);
}

static void on_close(struct channel *channel, bool has_failed)
{
    struct h2_client *client = h2_client_of(channel);
    struct h2_session *session = client ? &client->base : NULL;
    (void)has_failed;
    if (!h2_session_is_up(session) || session->is_busy)
        return;
    session->is_forced = true;
    session->is_busy = true;
    if (nghttp2_submit_goaway(session->engine, NGHTTP2_FLAG_NONE, 0, NGHTTP2_NO_ERROR, NULL, 0) ==
        0)
        (void)tr__h2_send_frames(session);
    session->is_busy = false;
    over(client, TR_CLOSED, NULL);
}

static void streams_free(struct channel *channel)
{
    struct h2_client *client = h2_client_of(channel);
    const struct memory_source *source = client->base.source;
    struct list *link;
    /* this also frees the session of nghttp2, which is in the same memory */
    tr__h2_memory_free(&client->base);
    while ((link = list_pop_first(&client->base.all))) {
        struct h2_call *call = h2_call_at(link);
        call->client = NULL;
        if (!channel->cell)
            tr__h2_call_drop(call); /* the flow of the call has ended together with the actor */
    }
    channel->rare->streams = NULL;
    source_resize(source, client, 0);
}

static size_t cut_all(const struct channel *channel, tr_bytes bytes, size_t seen, tr_bytes *piece)
{
    (void)channel;
    (void)seen;
    *piece = bytes;
    return bytes.size;
}

static void ignore(struct channel *channel)
{
    (void)channel;
}

static tr_next on_piece(tr_self *self, void *state, const void *message)
{
    (void)self;
    (void)state;
    (void)message;
    return TR_SAME; /* do nothing, because a channel of HTTP/2 is read outside of turns */
}

/*
 * The type of a piece of input. No other file has its descriptor, so no program can have a handler
 * for this type.
 */
TR_MESSAGE(tr_http2_piece_, (channel, channel), (bytes, bytes));

static const tr_handler piece_handler = {
    .type = &tr_type_tr_http2_piece_, .call = on_piece, .name = "frames of HTTP/2"};

static const struct tr_protocol h2_protocol = {
    .dials = true,
    .handler = &piece_handler,
    .cut = cut_all,
    .on_open = ignore,
    .on_part = ignore,
    .on_deadline = on_deadline,
    .on_close = on_close,
    .on_input = on_input,
    .on_drained = on_drained,
    .on_ended = on_ended,
    .streams_free = streams_free,
};

/* ---- Beginning. ---- */

static tr_status engine_new(struct h2_client *client)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *options = tr__h2_options_new();
    int problem = NGHTTP2_ERR_NOMEM;
    if (options && nghttp2_session_callbacks_new(&callbacks) == 0) {
        tr__h2_call_set(callbacks);
        problem = nghttp2_session_client_new3(
            &client->base.engine, callbacks, client, options, &client->base.memory);
    }
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(options);
    return problem ? TR_NO_MEMORY : TR_OK;
}

/* Sends the settings of this client. */
static tr_status settings_send(struct h2_session *session)
{
    const nghttp2_settings_entry entries[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, TR_HTTP2_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEAD_MAX},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
    };
    int problem = nghttp2_submit_settings(
        session->engine, NGHTTP2_FLAG_NONE, entries, sizeof entries / sizeof entries[0]);
    if (!problem)
        problem = nghttp2_session_set_local_window_size(
            session->engine, NGHTTP2_FLAG_NONE, 0, (int32_t)TR_HTTP2_CONNECTION_WINDOW);
    return problem ? TR_NO_MEMORY : TR_OK;
}

tr_status tr__h2_client_begin(struct channel *channel, struct http_conn *conn)
{
    const struct memory_source *source = &channel->worker->system->source;
    struct channel_rare *rare = tr__rare_of(channel);
    struct h2_client *client = rare ? source_resize(source, NULL, sizeof *client) : NULL;
    if (!client)
        return TR_NO_MEMORY;
    *client = (struct h2_client){.conn = conn, .base = {.channel = channel, .source = source}};
    tr__h2_memory_init(&client->base);
    list_init(&client->base.streams.turns);
    list_init(&client->base.all);
    tr__h2_guard_init_client(&client->base.guard, 2 * HEAD_MAX);
    client->heard_ns = channel->worker->loop.now_ns;
    /* only this channel uses the endpoint, so the endpoint may be changed */
    channel->endpoint->options.protocol = &h2_protocol;
    rare->streams = &client->base.streams;
    conn->h2 = client;
    tr_status status = engine_new(client);
    client->base.is_starved |= status != TR_OK;
    if (status == TR_OK)
        status = settings_send(&client->base);
    if (status != TR_OK)
        return status;
    tr__h2_client_flush(client);
    if (channel->state == CHANNEL_OPEN)
        /* the settings of the server may have come already, so read them now */
        tr__channel_call(channel);
    return client->base.is_over ? client->status : TR_OK;
}

bool tr__h2_client_has_place(const struct h2_client *client, uint32_t count)
{
    const struct h2_session *session = &client->base;
    if (!h2_session_is_up(session) || session->is_leaving || client->is_pinged ||
        session->channel->state != CHANNEL_OPEN ||
        !nghttp2_session_check_request_allowed(session->engine))
        return false;
    uint32_t peer_max = nghttp2_session_get_remote_settings(
        session->engine, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    return count < peer_max && count < TR_HTTP2_STREAMS_MAX;
}

void tr__h2_client_forget(struct h2_client *client)
{
    client->conn = NULL;
}
