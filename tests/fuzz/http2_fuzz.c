/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes what a server of HTTP/2 reads: the counts of frames are the same however the bytes are split, nothing is read of a
 * flood, and a head that nghttp2 and the parser of heads take is clean, as one of HTTP/1.1 is. The first byte seeds the
 * portions; the preface is put before the rest.
 */
#include <stdlib.h>
#include <string.h>
#include <troupe/self.h>

#include "base/rng.h"
#include "http/h2_head.h"
#include "http/h2_inside.h"
#include "http/site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
enum { FIELDS = 20, HEAD_MAX = 4096 };

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* ---- In place of a turn. ---- */

static char *scratch;

void *tr_scratch(tr_self *self, size_t size)
{
    (void)self;
    free(scratch);
    scratch = malloc(size);
    require(scratch != NULL);
    return scratch;
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
static struct http_site site = {.limits = {.head_max = HEAD_MAX, .headers_max = FIELDS}};

/* ---- Heads. ---- */

/* Streams of the session, also those whose head is not whole, of which nghttp2 does not tell. */
static struct own_stream {
    struct h2_stream stream; /* first */
    struct own_stream *next;
} * own_streams;

static void own_free(struct h2_stream *stream)
{
    struct own_stream **at = &own_streams;
    while (&(*at)->stream != stream)
        at = &(*at)->next;
    *at = (*at)->next;
    tr__net_buffer_free(&stream->head);
    tr__net_buffer_free(&stream->cookies);
    free(stream);
}

static void stream_free(nghttp2_session *session, int32_t id)
{
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
    if (!stream)
        return;
    (void)nghttp2_session_set_stream_user_data(session, id, NULL);
    own_free(stream);
}

static int on_begin(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    (void)context;
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    struct own_stream *own = calloc(1, sizeof *own);
    require(own != NULL);
    own->stream.head = own->stream.cookies = NET_BUFFER(&source);
    own->next = own_streams;
    own_streams = own;
    return nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, &own->stream);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
                     void *context)
{
    (void)flags;
    (void)context;
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (!stream || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    require(tr__h2_head_add(
                stream, &site.limits, (tr_bytes){name, name_size}, (tr_bytes){value, value_size}) ==
            TR_OK);
    return 0;
}

/* What a program gets is clean. */
static void check(const struct http_head *head)
{
    require(head->method && head->target && head->path && head->host);
    require(!strpbrk(head->target, " \r\n\t"));
    require(head->path[0] == '/' || head->is_asterisk);
    for (uint32_t i = 0; i < head->field_count; i++) {
        require(!strpbrk(head->fields[i].name, " \r\n\t:") && head->fields[i].name[0]);
        require(!strpbrk(head->fields[i].value, "\r\n"));
    }
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    (void)context;
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (!stream || frame->hd.type != NGHTTP2_HEADERS)
        return 0;
    struct tr_http_field fields[FIELDS + 1];
    struct http_request request = {.site = &site, .head = {.fields = fields}};
    if (tr__h2_head_agrees(stream) && tr__h2_head_parse(stream, &request) == 0)
        check(&request.head);
    stream_free(session, frame->hd.stream_id);
    return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *context)
{
    (void)code;
    (void)context;
    stream_free(session, id);
    return 0;
}

static nghttp2_session *session_new(void)
{
    nghttp2_session_callbacks *callbacks;
    nghttp2_session *session;
    require(nghttp2_session_callbacks_new(&callbacks) == 0);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    require(nghttp2_session_server_new(&session, callbacks, NULL) == 0);
    nghttp2_session_callbacks_del(callbacks);
    return session;
}

/* Reads all, in portions if rng is not NULL. Returns how many bytes the guard let through. */
static size_t play(const uint8_t *data, size_t size, struct rng *rng, struct h2_guard *guard)
{
    nghttp2_session *session = session_new();
    size_t all = 0;
    tr__h2_guard_init(guard, 2 * HEAD_MAX);
    for (size_t at = 0; at < size && !guard->why;) {
        size_t some = rng ? 1 + rng_below(rng, size - at) : size - at;
        uint8_t *copy = malloc(some); /* a read behind the bytes is found */
        require(copy != NULL);
        memcpy(copy, data + at, some);
        h2_guard_next(guard);
        size_t good = tr__h2_guard_look(guard, copy, some, 0);
        require(good <= some && (good == some || guard->why || guard->burst >= H2_BURST_MAX));
        require(guard->burst < H2_BURST_MAX + H2_SETTINGS_WEIGHT);
        if (!guard->why)
            some = good; /* the rest comes again */
        bool is_taken = nghttp2_session_mem_recv(session, copy, good) == (ssize_t)good;
        free(copy);
        all += good;
        at += some;
        if (!is_taken)
            break;
    }
    nghttp2_session_del(session);
    while (own_streams) /* those that were still open */
        own_free(&own_streams->stream);
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct h2_guard whole, split;
    struct rng rng;
    if (size < 1)
        return 0;
    rng_init(&rng, data[0]);
    size_t all_size = sizeof preface - 1 + size - 1;
    uint8_t *all = malloc(all_size);
    require(all != NULL);
    memcpy(all, preface, sizeof preface - 1);
    memcpy(all + sizeof preface - 1, data + 1, size - 1);
    size_t read = 0;
    tr__h2_guard_init(&whole, 2 * HEAD_MAX);
    while (read < all_size && !whole.why) {
        h2_guard_next(&whole);
        read += tr__h2_guard_look(&whole, all + read, all_size - read, 0);
    }
    size_t again = 0;
    tr__h2_guard_init(&split, 2 * HEAD_MAX);
    while (again < all_size && !split.why) {
        if (split.burst >= H2_BURST_MAX)
            h2_guard_next(&split);
        again += tr__h2_guard_look(&split, all + again, 1 + rng_below(&rng, all_size - again), 0);
    }
    require(whole.blocks == split.blocks && whole.resets == split.resets &&
            whole.idle == split.idle && whole.why == split.why);
    require(whole.why ? again <= read + 1 && read <= again + 1 : read == again);
    (void)play(all, all_size, NULL, &whole);
    (void)play(all, all_size, &rng, &split);
    free(all);
    free(scratch);
    scratch = NULL;
    return 0;
}
