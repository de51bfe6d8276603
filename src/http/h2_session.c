/* SPDX-License-Identifier: Apache-2.0 */
#include "http/h2_session.h"

#include <string.h>

#include "actor/cell/log.h"
#include "actor/cell/names.h"
#include "actor/cell/system.h"
#include "http/h2_events.h"
#include "http/h2_input.h"
#include "http/h2_inside.h"
#include "http/h2_memory.h"
#include "http/h2_stream.h"
#include "http/site.h"
#include "http/websocket.h"
#include "net/channel_end.h"
#include "net/deadline.h"
#include "net/event.h"
#include "net/input.h"
#include "net/output.h"
#include "net/rare.h"
#include "base/assert.h"

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
static_assert(sizeof preface == H2_PREFACE_SIZE + 1, "RFC 9113, 3.4");

enum {
    /* bytes of the table of compressed headers in each direction: the initial size of RFC 9113 */
    TABLE_MAX = 4096
};

bool tr__h2_is_built(void)
{
    return true;
}

int tr__h2_preface(tr_bytes bytes)
{
    size_t size = bytes.size < H2_PREFACE_SIZE ? bytes.size : H2_PREFACE_SIZE;
    if (memcmp(bytes.data, preface, size) != 0)
        return 0;
    return size == H2_PREFACE_SIZE ? 1 : -1;
}

static const struct http_site *site_of(const struct h2_session *session)
{
    return session->channel->endpoint->site;
}

static struct h2_stream *stream_at(const struct list *link)
{
    return LIST_OWNER((uintptr_t)link, struct h2_stream, link);
}

/* ---- What goes. ---- */

static int on_sent(nghttp2_session *engine, const nghttp2_frame *frame, void *context)
{
    (void)engine;
    struct h2_session *session = context;
    bool is_mistake = frame->hd.type == NGHTTP2_RST_STREAM &&
                      frame->rst_stream.error_code != NGHTTP2_NO_ERROR &&
                      frame->rst_stream.error_code != NGHTTP2_INTERNAL_ERROR;
    if (is_mistake)
        tr__h2_guard_reset(&session->guard, session->channel->worker->loop.now_ns);
    return 0;
}

/* Writes a frame with data: the head of the frame, then bytes from memory of the turn. */
static int on_send_data(nghttp2_session *engine, nghttp2_frame *frame, const uint8_t *head,
                        size_t size, nghttp2_data_source *source, void *context)
{
    (void)engine;
    (void)frame;
    struct h2_session *session = context;
    struct h2_stream *stream = source->ptr;
    struct channel *channel = session->channel;
    if (stream->out_size < size)
        /* the turn of the stream has ended, so there are no bytes to send */
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    unsigned char *to = tr__output_reserve(channel, H2_FRAME_HEAD_SIZE + size);
    if (!to)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    memcpy(to, head, H2_FRAME_HEAD_SIZE);
    if (size)
        memcpy(to + H2_FRAME_HEAD_SIZE, stream->out, size);
    stream->out += size;
    stream->out_size -= size;
    if (!stream->out_size && stream->has_events)
        /* a stream of events on which nothing waits needs no buffer */
        tr__net_buffer_free(&stream->waiting);
    else if (!stream->out_size)
        tr__h2_stream_wake(stream);
    tr__h2_guard_sent(&session->guard);
    tr__output_commit(channel, H2_FRAME_HEAD_SIZE + size);
    return 0;
}

static bool is_full(const struct h2_session *session)
{
    const struct channel *channel = session->channel;
    return !session->is_forced &&
           channel->work->output.size >= channel->endpoint->options.output_max;
}

ssize_t tr__h2_send_frames(struct h2_session *session)
{
    struct channel *channel = session->channel;
    while (channel->state == CHANNEL_OPEN) {
        const uint8_t *data;
        if (is_full(session)) {
            session->is_blocked = true;
            return 0;
        }
        ssize_t size = nghttp2_session_mem_send(session->engine, &data);
        if (size <= 0)
            return size;
        if (tr__output_append(channel, data, (size_t)size) != TR_OK)
            return NGHTTP2_ERR_NOMEM;
    }
    return 0;
}

/* Ends a connection on which nghttp2 cannot continue. Sends no GOAWAY. */
static void cut(struct h2_session *session, ssize_t problem)
{
    session->is_over = true;
    bool is_memory = problem == NGHTTP2_ERR_NOMEM || problem == NGHTTP2_ERR_CALLBACK_FAILURE ||
                     session->is_starved;
    if (session->channel->state == CHANNEL_OPEN)
        tr__channel_end(session->channel,
                        is_memory ? TR_NO_MEMORY : TR_BAD_DATA,
                        is_memory ? NULL : nghttp2_strerror((int)problem));
}

/*
 * Logs why a connection ends. Uses a low level, because a mistake of a client is no failure of the
 * server.
 */
static void say(const struct h2_session *session, const char *why)
{
    const struct channel *channel = session->channel;
    char path[TR_PATH_MAX + 1] = "";
    if (channel->cell)
        tr__cell_path(channel->worker->system, channel->cell, path);
    tr__log(channel->worker->system, TR_LEVEL_INFO, path, "HTTP/2: %s: the connection ends", why);
}

/* Wakes all turns of the connection that wait. */
static void wake_all(struct h2_session *session)
{
    LIST_EACH (link, &session->all)
        tr__h2_stream_wake(stream_at(link));
}

/* Ends the connection because the client has broken a rule. Sends GOAWAY with this code. */
static void fail(struct h2_session *session, uint32_t code, const char *why)
{
    if (session->is_over || session->is_busy)
        return;
    if (session->is_starved) {
        cut(session, NGHTTP2_ERR_NOMEM);
        return;
    }
    say(session, why);
    session->guard.why = NULL;
    session->is_forced = true;
    tr__protocol_turns_forget(session->channel);
    session->is_busy = true;
    if (nghttp2_session_terminate_session(session->engine, code) == 0)
        /* if memory is missing, no GOAWAY is sent, which does not matter */
        (void)tr__h2_send_frames(session);
    session->is_busy = false;
    session->is_over = true;
    if (session->channel->state == CHANNEL_OPEN)
        tr__channel_close(session->channel);
    wake_all(session);
}

/* Sets the deadline of the connection, which depends on what the connection waits for. */
static void look_at_time(struct h2_session *session)
{
    struct channel *channel = session->channel;
    const tr_http_options *options = &site_of(session)->options;
    enum h2_wait waits = h2_guard_is_amid(&session->guard) ? H2_WAITS_HEAD
                         : session->events_count           ? H2_WAITS_EVENTS
                         : session->count                  ? H2_WAITS_TURNS
                                                           : H2_WAITS_REQUEST;
    bool is_same = session->waits == waits && session->block == session->guard.blocks;
    if (is_same && channel->deadline_ns != TR_NEVER)
        /* the connection waits for the same as before, so its deadline stays, even if small pieces have come */
        return;
    session->waits = (uint8_t)waits;
    session->block = session->guard.blocks;
    tr_time limit_ns = waits == H2_WAITS_HEAD     ? options->head_ns
                       : waits == H2_WAITS_EVENTS ? EVENTS_COMMENT_NS
                                                  : options->keep_ns;
    channel->deadline_ns =
        waits == H2_WAITS_TURNS ? TR_NEVER : timer_deadline(channel->worker->loop.now_ns, limit_ns);
    tr__channel_arm(channel);
}

/*
 * Call after frames were read or written. If the connection cannot continue, ends it; otherwise
 * sets its deadline.
 */
static void session_check(struct h2_session *session)
{
    if (session->is_over || session->channel->state != CHANNEL_OPEN)
        return;
    if (session->is_starved) {
        cut(session, NGHTTP2_ERR_NOMEM);
        return;
    }
    if (session->guard.why) {
        fail(session, NGHTTP2_ENHANCE_YOUR_CALM, session->guard.why);
        return;
    }
    if (!nghttp2_session_want_read(session->engine) &&
        !nghttp2_session_want_write(session->engine)) {
        /* GOAWAY was sent, and all streams have ended, so the connection ends */
        session->is_over = true;
        tr__channel_close(session->channel);
        return;
    }
    look_at_time(session);
}

void tr__h2_flush(struct h2_session *session)
{
    if (session->is_busy || session->is_over)
        return;
    session->is_busy = true;
    session->is_blocked = false;
    ssize_t problem = session->is_starved ? NGHTTP2_ERR_NOMEM : tr__h2_send_frames(session);
    session->is_busy = false;
    if (problem < 0)
        cut(session, problem);
    else
        session_check(session);
}

void tr__h2_on_drained(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct h2_session *session = h2_session_of(channel);
    if (session->is_blocked)
        tr__h2_flush(session);
}

/* ---- Reading. ---- */

size_t tr__h2_read(struct channel *channel, tr_bytes bytes)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct h2_session *session = h2_session_of(channel);
    if (session->is_over || session->is_busy)
        return 0;
    tr_time now_ns = channel->worker->loop.now_ns;
    size_t size = tr__h2_guard_look(&session->guard, bytes.data, bytes.size, now_ns);
    session->is_busy = true;
    ssize_t taken = size ? nghttp2_session_mem_recv(session->engine, bytes.data, size) : 0;
    session->is_busy = false;
    if (taken == NGHTTP2_ERR_BAD_CLIENT_MAGIC)
        fail(session, NGHTTP2_PROTOCOL_ERROR, "no preface of HTTP/2");
    else if (taken == NGHTTP2_ERR_FLOODED)
        fail(session, NGHTTP2_ENHANCE_YOUR_CALM, "too many frames that need an answer");
    else if (taken < 0)
        cut(session, taken);
    else
        tr__h2_flush(session);
    return h2_session_is_up(session) ? bytes.size - size : 0;
}

/*
 * Call when the other side has ended its output. Requests that have come completely are still
 * answered.
 */
static void note_end(struct h2_session *session)
{
    session->is_cut = true;
    wake_all(session);
    if (!session->streams.open)
        tr__channel_hang_up(session->channel);
}

void tr__h2_read_later(struct channel *channel, size_t size)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (!tr__input_unread(channel, size))
        TR_NOT_REACHED("a piece that was just taken can be unread");
    channel->work->input.needs = 0; /* these bytes are to be read though no more may come */
    tr__channel_again(channel);
}

void tr__h2_on_input(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    static const struct cutter all = {.how = CUT_PIECE};
    struct h2_session *session = h2_session_of(channel);
    h2_guard_next(&session->guard);
    for (int reads = 0; channel->state == CHANNEL_OPEN && !session->is_busy; reads++) {
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
            note_end(session);
            return;
        }
        if (status != TR_OK) {
            tr__channel_end(channel, status, NULL);
            return;
        }
        size_t rest = tr__h2_read(channel, piece);
        if (rest && channel->state == CHANNEL_OPEN)
            tr__h2_read_later(channel, rest);
        tr__input_settle(channel);
        if (rest)
            return;
    }
}

/* ---- Times. ---- */

void tr__h2_on_deadline(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct h2_session *session = h2_session_of(channel);
    channel->deadline_ns = TR_NEVER;
    if (session->waits == H2_WAITS_HEAD)
        fail(session, NGHTTP2_ENHANCE_YOUR_CALM, "a head took too long");
    else if (session->waits == H2_WAITS_EVENTS)
        tr__h2_events_comment(session);
    else
        tr__channel_close(channel);
}

/* ---- Beginning and end. ---- */

static nghttp2_session_callbacks *callbacks_new(void)
{
    nghttp2_session_callbacks *callbacks;
    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        return NULL;
    tr__h2_input_set(callbacks);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, on_send_data);
    return callbacks;
}

/*
 * nghttp2 has a limit for CONTINUATION frames. It counts such a frame several times if the head of
 * the frame comes in several pieces (nghttp2#2817), and so would end good connections. This
 * function turns the limit off; http/h2_guard.c counts these frames instead. nghttp2 before 1.61
 * has neither the limit nor the function.
 */
/* NOLINTNEXTLINE(readability-redundant-declaration) */
__attribute__((weak)) void nghttp2_option_set_max_continuations(nghttp2_option *option, size_t max);

nghttp2_option *tr__h2_options_new(void)
{
    nghttp2_option *options;
    if (nghttp2_option_new(&options) != 0)
        return NULL;
    nghttp2_option_set_no_auto_window_update(options, 1);
    /*
     * nghttp2 need not keep closed streams, because they are only used for priorities, which are
     * ignored
     */
    nghttp2_option_set_no_closed_streams(options, 1);
    if (nghttp2_option_set_max_continuations)
        nghttp2_option_set_max_continuations(options, SIZE_MAX);
    nghttp2_option_set_max_deflate_dynamic_table_size(options, TABLE_MAX);
    return options;
}

static tr_status engine_new(struct h2_session *session)
{
    nghttp2_session_callbacks *callbacks = callbacks_new();
    nghttp2_option *options = tr__h2_options_new();
    int problem = NGHTTP2_ERR_NOMEM;
    if (callbacks && options)
        problem = nghttp2_session_server_new3(
            &session->engine, callbacks, session, options, &session->memory);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(options);
    return problem ? TR_NO_MEMORY : TR_OK;
}

/* Sends the settings of this server. */
static tr_status settings_send(struct h2_session *session)
{
    const tr_http_options *options = &site_of(session)->options;
    const nghttp2_settings_entry entries[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options->streams_max},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, TR_HTTP2_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)options->head_max},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
    };
    int problem = nghttp2_submit_settings(
        session->engine, NGHTTP2_FLAG_NONE, entries, sizeof entries / sizeof entries[0]);
    if (!problem)
        problem = nghttp2_session_set_local_window_size(
            session->engine, NGHTTP2_FLAG_NONE, 0, (int32_t)TR_HTTP2_CONNECTION_WINDOW);
    return problem ? TR_NO_MEMORY : TR_OK;
}

tr_status tr__h2_begin(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const struct memory_source *source = &channel->worker->system->source;
    struct channel_rare *rare = tr__rare_of(channel);
    struct h2_session *session = rare ? source_resize(source, NULL, sizeof *session) : NULL;
    if (!session)
        return TR_NO_MEMORY;
    *session = (struct h2_session){.channel = channel, .source = source};
    tr__h2_memory_init(session);
    list_init(&session->streams.turns);
    list_init(&session->all);
    const struct http_site *site = channel->endpoint->site;
    tr__h2_guard_init(&session->guard, (uint32_t)(2 * site->limits.head_max));
    tr_status status = engine_new(session);
    rare->streams = &session->streams;
    if (status == TR_OK)
        status = settings_send(session);
    channel->deadline_ns = TR_NEVER;
    if (status == TR_OK)
        tr__h2_flush(session);
    return status;
}

void tr__h2_on_ended(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct h2_session *session = h2_session_of(channel);
    session->is_over = true;
    wake_all(session);
}

/*
 * Resets the streams that have no complete answer. Streams whose requests no turn has seen are
 * refused, so that the client may send these requests again.
 */
static void end_streams(struct h2_session *session)
{
    LIST_EACH (link, &session->all) {
        struct h2_stream *stream = stream_at(link);
        bool is_unseen = !stream->turn.request && !stream->is_begun;
        if (stream->is_closed || (stream->is_begun && stream->is_last))
            continue;
        tr__h2_refuse(
            session, stream->id, is_unseen ? NGHTTP2_REFUSED_STREAM : NGHTTP2_INTERNAL_ERROR);
    }
}

void tr__h2_on_close(struct channel *channel, bool has_failed)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct h2_session *session = h2_session_of(channel);
    if (!session->is_over && !session->is_busy && !session->is_starved) {
        session->is_forced = true;
        tr__protocol_turns_forget(channel);
        session->is_busy = true;
        tr__h2_events_end_all(session, has_failed);
        /* this sends the answers that are complete */
        ssize_t problem = tr__h2_send_frames(session);
        end_streams(session);
        if (problem == 0 &&
            nghttp2_submit_goaway(session->engine,
                                  NGHTTP2_FLAG_NONE,
                                  nghttp2_session_get_last_proc_stream_id(session->engine),
                                  has_failed ? NGHTTP2_INTERNAL_ERROR : NGHTTP2_NO_ERROR,
                                  NULL,
                                  0) == 0)
            (void)tr__h2_send_frames(session);
        session->is_busy = false;
        session->is_over = true;
        wake_all(session);
    }
    if (has_failed && !session->is_starved)
        /* every stream was answered or reset, so the output is sent even if the actor has failed */
        channel->flags |= CHANNEL_ANSWERED;
}

void tr__h2_free(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct h2_session *session = h2_session_of(channel);
    const struct memory_source *source = &channel->worker->system->source;
    session->is_over = true;
    session->is_busy = true;
    /* this also frees the session of nghttp2, which is in the same memory */
    tr__h2_memory_free(session);
    bool is_in_order = channel->status == TR_OK || channel->status == TR_CLOSED;
    struct list *link;
    while ((link = list_first(&session->all))) {
        struct h2_stream *stream = stream_at(link);
        tr__h2_events_gone(stream, is_in_order ? WS_CODE_GOING_AWAY : WS_CODE_LOST);
        list_remove(&stream->link);
        list_init(&stream->link);
        list_remove(&stream->turn.link);
        list_init(&stream->turn.link);
        stream->session = NULL;
        stream->turn.channel = NULL;
        stream->is_closed = true;
        tr__h2_stream_rest(stream);
    }
    channel->rare->streams = NULL;
    source_resize(source, session, 0);
}
