/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes what a client of HTTP/2 reads from a server, by its own functions for nghttp2 (http/h2_call_input.c), while four requests are
 * under way. The limits of heads, of 1xx and of unread bodies hold whatever comes; an answer that the parser of heads takes is
 * clean; and nothing depends on how the bytes are split. The first byte seeds the portions.
 */
#include <stdlib.h>
#include <string.h>
#include <troupe/self.h>

#include "base/rng.h"
#include "http/h2_call_input.c" /* with functions of the engine in place of those of channels, below */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CALLS = 4, FIELDS = 20, HEAD_MAX = 4096, BLOCK_MAX = 2 * 64 * 1024 };

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* ---- In place of turns and channels. ---- */

void tr__turn_wake_early(struct tr_self *self, tr_status outcome)
{
    (void)self;
    (void)outcome;
    abort(); /* no turn waits */
}

bool tr__wheel_cancel(struct wheel *wheel, struct timer_node *node)
{
    (void)wheel;
    (void)node;
    abort();
}

enum task_class tr__mail_priority(const struct cell *cell)
{
    (void)cell;
    abort();
}

void tr__waits_wake_one(const struct channel_waits *waits)
{
    (void)waits;
    abort(); /* the connection has no host */
}

void tr__h2_client_leave(struct h2_client *client)
{
    client->base.is_leaving = true;
}

void tr__h2_refuse(struct h2_session *session, int32_t id, uint32_t code)
{
    require(nghttp2_submit_rst_stream(session->engine, NGHTTP2_FLAG_NONE, id, code) == 0);
}

void *tr__output_reserve(struct channel *channel, size_t size)
{
    (void)channel;
    (void)size;
    abort(); /* the requests have no bodies */
}

void tr__output_commit(struct channel *channel, size_t size)
{
    (void)channel;
    (void)size;
    abort();
}

static void *resize(const tr_platform *platform, void *memory, size_t size)
{
    (void)platform;
    if (size)
        return realloc(memory, size);
    free(memory);
    return NULL;
}

static tr_platform platform = {.resize = resize};
static struct memory_source source = {.platform = &platform};

/* ---- A connection. ---- */

struct play {
    struct h2_client client;
    struct h2_call calls[CALLS];
    bool is_over;
};

static const nghttp2_nv get[] = {
    {(uint8_t *)":method", (uint8_t *)"GET", 7, 3, NGHTTP2_NV_FLAG_NONE},
    {(uint8_t *)":scheme", (uint8_t *)"http", 7, 4, NGHTTP2_NV_FLAG_NONE},
    {(uint8_t *)":path", (uint8_t *)"/", 5, 1, NGHTTP2_NV_FLAG_NONE},
    {(uint8_t *)":authority", (uint8_t *)"a", 10, 1, NGHTTP2_NV_FLAG_NONE},
};

static void flush(struct play *play)
{
    const uint8_t *bytes;
    while (nghttp2_session_mem_send(play->client.base.engine, &bytes) > 0)
        ;
}

static void begin(struct play *play)
{
    static const nghttp2_settings_entry entries[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, TR_HTTP2_WINDOW},
    };
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *options;
    *play = (struct play){0};
    struct h2_session *session = &play->client.base;
    tr__h2_guard_init_client(&session->guard, BLOCK_MAX);
    require(nghttp2_session_callbacks_new(&callbacks) == 0);
    require(nghttp2_option_new(&options) == 0);
    tr__h2_call_set(callbacks);
    nghttp2_option_set_no_auto_window_update(options, 1);
    nghttp2_option_set_no_closed_streams(options, 1);
    require(nghttp2_session_client_new2(&session->engine, callbacks, &play->client, options) == 0);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(options);
    require(nghttp2_submit_settings(session->engine, NGHTTP2_FLAG_NONE, entries, 2) == 0);
    for (int i = 0; i < CALLS; i++) {
        struct h2_call *call = &play->calls[i];
        *call = (struct h2_call){.client = &play->client,
                                 .limits = {.head_max = HEAD_MAX, .headers_max = FIELDS},
                                 .head = NET_BUFFER(&source),
                                 .in = NET_BUFFER(&source)};
        call->id = nghttp2_submit_request(session->engine, NULL, get, 4, NULL, call);
        require(call->id == 2 * i + 1);
    }
    flush(play);
}

static void check_head(const struct h2_call *call)
{
    struct tr_http_field fields[FIELDS];
    struct http_answer_head answer = {.head = {.fields = fields}};
    tr_bytes head = net_buffer_bytes(&call->head);
    char *copy = malloc(head.size + 2);
    require(copy != NULL && head.size);
    memcpy(copy, head.data, head.size);
    memcpy(copy + head.size, "\r\n", 2);
    tr_status status = tr__http_answer_parse(copy, head.size + 2, &call->limits, &answer);
    if (status == TR_OK)
        require(answer.status == call->number);
    for (uint32_t i = 0; status == TR_OK && i < answer.head.field_count; i++) {
        require(!strpbrk(fields[i].name, " \r\n\t:") && fields[i].name[0]);
        require(!strpbrk(fields[i].value, "\r\n"));
    }
    free(copy);
}

static void check(const struct play *play)
{
    for (int i = 0; i < CALLS; i++) {
        const struct h2_call *call = &play->calls[i];
        require(net_buffer_size(&call->head) <= HEAD_MAX && call->field_count <= FIELDS);
        require(net_buffer_size(&call->in) <= TR_HTTP2_WINDOW);
        require(call->interims <= TR_HTTP_INTERIM_MAX + 1);
        require(call->interims <= TR_HTTP_INTERIM_MAX || call->status != TR_OK);
        require(!call->has_final || (call->number >= 200 && call->number <= 999));
        if (call->has_final && call->status == TR_OK)
            check_head(call);
    }
}

/* Reads bytes of the server, as the channel of a client does, from memory that ends behind them. */
static void feed(struct play *play, const uint8_t *data, size_t size)
{
    struct h2_session *session = &play->client.base;
    uint8_t *copy = malloc(size + !size);
    require(copy != NULL);
    memcpy(copy, data, size);
    for (size_t at = 0;
         at < size && !play->is_over;) { /* in portions that the guard lets through */
        h2_guard_next(&session->guard);
        size_t good = tr__h2_guard_look(&session->guard, copy + at, size - at, 0);
        require(good <= size - at);
        require(good == size - at || session->guard.why || session->guard.burst >= H2_BURST_MAX);
        play->is_over |=
            nghttp2_session_mem_recv(session->engine, copy + at, good) != (ssize_t)good;
        play->is_over |= session->guard.why != NULL;
        at += good;
    }
    free(copy);
    check(play);
}

static void end(struct play *play)
{
    if (!play->is_over)
        flush(play);
    nghttp2_session_del(play->client.base.engine);
    check(play);
    for (int i = 0; i < CALLS; i++) {
        tr__net_buffer_free(&play->calls[i].head);
        tr__net_buffer_free(&play->calls[i].in);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct play whole, split, live;
    struct rng rng;
    if (size < 1)
        return 0;
    rng_init(&rng, data[0]);
    begin(&whole);
    feed(&whole, data + 1, size - 1);
    begin(&split);
    begin(&live); /* answers what comes, as it comes */
    for (size_t at = 1; at < size;) {
        size_t some = 1 + rng_below(&rng, size - at);
        if (!split.is_over)
            feed(&split, data + at, some);
        if (!live.is_over) {
            feed(&live, data + at, some);
            flush(&live);
        }
        at += some;
    }
    for (int i = 0; !whole.is_over && i < CALLS; i++) {
        const struct h2_call *a = &whole.calls[i], *b = &split.calls[i];
        require(a->status == b->status && a->has_final == b->has_final && a->number == b->number &&
                a->is_input_over == b->is_input_over);
        /* of a body that breaks its Content-Length, more may be given if it comes in pieces */
        require(!a->is_input_over || a->status != TR_OK ||
                net_buffer_size(&a->in) == net_buffer_size(&b->in));
    }
    require(whole.is_over || !split.is_over);
    end(&whole);
    end(&split);
    end(&live);
    return 0;
}
