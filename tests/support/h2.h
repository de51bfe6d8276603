/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A client of HTTP/2 for tests on kits, on the client side of nghttp2, and frames by hand.
 *
 *     struct h2_client client;
 *     h2_open(&client);
 *     int32_t id = h2_get(&client, "/a");
 *     h2_run(&client, TR_SECOND);
 *     ck_assert_str_eq(h2_answer_of(&client, id)->body, "...");
 *     h2_close(&client);
 */
#ifndef TROUPE_TESTS_SUPPORT_H2_H
#define TROUPE_TESTS_SUPPORT_H2_H

#include "support/net.h"

#include <nghttp2/nghttp2.h>
#include <troupe/http.h>

enum { H2_ANSWERS_MAX = 512 };

struct h2_answer {
    int32_t id;
    int status;      /* the last one; 100 Continue comes before it */
    int continues;   /* how many 100 came */
    char *head;      /* lines "name: value\n", without Date */
    char *body;      /* a NUL is behind it */
    size_t size;     /* of the body */
    bool is_over;    /* END_STREAM */
    bool is_reset;   /* or closed with an error */
    uint32_t code;   /* of the reset */
    tr_bytes upload; /* what is left to send of the request */
    bool is_open;    /* more of it follows */
};

struct h2_client {
    tr_kit_peer *peer;
    nghttp2_session *session;
    struct h2_answer answers[H2_ANSWERS_MAX];
    int count;
    bool has_goaway;
    uint32_t goaway_code;
    int32_t goaway_last;
    bool holds_window; /* what comes is not consumed */
    bool is_broken;    /* the server has sent what nghttp2 does not take */
};

KITS_UNUSED static struct h2_answer *h2_answer_of(struct h2_client *client, int32_t id)
{
    for (int i = 0; i < client->count; i++) {
        if (client->answers[i].id == id)
            return &client->answers[i];
    }
    return NULL;
}

static void h2_append(char **text, size_t at, const void *data, size_t size)
{
    *text = realloc(*text, at + size + 1);
    ck_assert_ptr_nonnull(*text);
    memcpy(*text + at, data, size);
    (*text)[at + size] = '\0';
}

static int h2_on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                        size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
                        void *context)
{
    (void)session;
    (void)flags;
    struct h2_answer *answer = h2_answer_of(context, frame->hd.stream_id);
    if (!answer)
        return 0;
    if (name_size == 7 && memcmp(name, ":status", 7) == 0) {
        answer->status = atoi((const char *)value);
        answer->continues += answer->status == 100;
        return 0;
    }
    if (name_size == 4 && memcmp(name, "date", 4) == 0)
        return 0;
    size_t at = answer->head ? strlen(answer->head) : 0;
    h2_append(&answer->head, at, name, name_size);
    h2_append(&answer->head, at + name_size, ": ", 2);
    h2_append(&answer->head, at + name_size + 2, value, value_size);
    h2_append(&answer->head, at + name_size + 2 + value_size, "\n", 1);
    return 0;
}

static int h2_on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
                      size_t size, void *context)
{
    (void)flags;
    struct h2_client *client = context;
    struct h2_answer *answer = h2_answer_of(client, id);
    if (answer) {
        h2_append(&answer->body, answer->size, data, size);
        answer->size += size;
    }
    if (!client->holds_window)
        nghttp2_session_consume(session, id, size);
    return 0;
}

static int h2_on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    (void)session;
    struct h2_client *client = context;
    struct h2_answer *answer = h2_answer_of(client, frame->hd.stream_id);
    if (frame->hd.type == NGHTTP2_GOAWAY) {
        client->has_goaway = true;
        client->goaway_code = frame->goaway.error_code;
        client->goaway_last = frame->goaway.last_stream_id;
    }
    bool may_end = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (answer && may_end && frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        answer->is_over = true;
    if (answer && frame->hd.type == NGHTTP2_RST_STREAM) {
        answer->is_reset = true;
        answer->code = frame->rst_stream.error_code;
    }
    return 0;
}

/** Makes a client on a connection that is there, and sends its settings. `window`: of each stream; 0: the default. */
KITS_UNUSED static void h2_open_on(struct h2_client *client, tr_kit_peer *with, uint32_t window)
{
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *options;
    *client = (struct h2_client){.peer = with};
    ck_assert_int_eq(nghttp2_session_callbacks_new(&callbacks), 0);
    ck_assert_int_eq(nghttp2_option_new(&options), 0);
    nghttp2_option_set_no_auto_window_update(options, 1);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, h2_on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, h2_on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, h2_on_frame);
    ck_assert_int_eq(nghttp2_session_client_new2(&client->session, callbacks, client, options), 0);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(options);
    const nghttp2_settings_entry entry = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window};
    ck_assert_int_eq(nghttp2_submit_settings(client->session, 0, &entry, window ? 1 : 0), 0);
}

/** Connects to SERVER. */
KITS_UNUSED static void h2_open(struct h2_client *client)
{
    h2_open_on(client, peer_new(), 0);
}

/** Sends what there is to send, and reads what comes until nothing does within this time. */
KITS_UNUSED static void h2_run(struct h2_client *client, tr_time within_ns)
{
    static unsigned char left[1 << 20];
    static size_t left_size;
    left_size = 0;
    for (;;) {
        const uint8_t *data;
        ssize_t size;
        while ((size = nghttp2_session_mem_send(client->session, &data)) > 0) {
            ck_assert_uint_le(left_size + (size_t)size, sizeof left);
            memcpy(left + left_size, data, (size_t)size);
            left_size += (size_t)size;
        }
        size_t sent = left_size ? tr_kit_send(client->peer, (tr_bytes){left, left_size}) : 0;
        memmove(left, left + sent, left_size - sent);
        left_size -= sent;
        tr_bytes bytes = tr_kit_receive(client->peer, within_ns);
        if (!bytes.size && !sent)
            return;
        if (bytes.size && nghttp2_session_mem_recv(client->session, bytes.data, bytes.size) !=
                              (ssize_t)bytes.size)
            client->is_broken = true;
    }
}

static ssize_t h2_on_upload(nghttp2_session *session, int32_t id, uint8_t *to, size_t max,
                            uint32_t *flags, nghttp2_data_source *source, void *context)
{
    (void)session;
    (void)id;
    (void)context;
    struct h2_answer *answer = source->ptr;
    size_t size = answer->upload.size < max ? answer->upload.size : max;
    if (!size && answer->is_open)
        return NGHTTP2_ERR_DEFERRED;
    memcpy(to, answer->upload.data, size);
    answer->upload.data = (const char *)answer->upload.data + size;
    answer->upload.size -= size;
    if (!answer->upload.size && !answer->is_open)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)size;
}

/** Asks. `fields` is "name", "value", ..., NULL, or NULL itself. A body without data (NULL) is none; `is_open`: more follows. */
KITS_UNUSED static int32_t h2_ask(struct h2_client *client, const char *method, const char *path,
                                  const char *const *fields, tr_bytes body, bool is_open)
{
    nghttp2_nv all[256];
    size_t count = 0;
    const char *const first[] = {
        ":method", method, ":scheme", "http", ":path", path, ":authority", "a", NULL};
    const char *const *lists[] = {first, fields};
    for (int i = 0; i < 2; i++) {
        for (const char *const *at = lists[i]; at && at[0]; at += 2)
            all[count++] = (nghttp2_nv){(uint8_t *)(uintptr_t)at[0],
                                        (uint8_t *)(uintptr_t)at[1],
                                        strlen(at[0]),
                                        strlen(at[1]),
                                        NGHTTP2_NV_FLAG_NONE};
    }
    ck_assert_int_lt(client->count, H2_ANSWERS_MAX);
    struct h2_answer *answer = &client->answers[client->count++];
    *answer = (struct h2_answer){.upload = body, .is_open = is_open};
    h2_append(&answer->head, 0, "", 0);
    h2_append(&answer->body, 0, "", 0);
    nghttp2_data_provider provider = {{.ptr = answer}, h2_on_upload};
    answer->id = nghttp2_submit_request(
        client->session, NULL, all, count, body.data ? &provider : NULL, NULL);
    ck_assert_int_gt(answer->id, 0);
    return answer->id;
}

KITS_UNUSED static int32_t h2_get(struct h2_client *client, const char *path)
{
    return h2_ask(client, "GET", path, NULL, (tr_bytes){NULL, 0}, false);
}

KITS_UNUSED static int32_t h2_post(struct h2_client *client, const char *path, const char *text)
{
    return h2_ask(client, "POST", path, NULL, (tr_bytes){text, strlen(text)}, false);
}

/** Sends more of a body that was left open. */
KITS_UNUSED static void h2_more(struct h2_client *client, int32_t id, const char *text,
                                bool is_open)
{
    struct h2_answer *answer = h2_answer_of(client, id);
    answer->upload = (tr_bytes){text, strlen(text)};
    answer->is_open = is_open;
    (void)nghttp2_session_resume_data(client->session, id); /* the stream may be gone */
}

/** The answer is whole, and this. */
#define H2_GETS(client, id, status_, text)                                                         \
    do {                                                                                           \
        const struct h2_answer *answer_ = h2_answer_of(client, id);                                \
        ck_assert_int_eq(answer_->status, status_);                                                \
        ck_assert_str_eq(answer_->body, text);                                                     \
        ck_assert(answer_->is_over);                                                               \
    } while (0)

/** The stream was reset with this code. */
#define H2_RESET(client, id, code_)                                                                \
    do {                                                                                           \
        ck_assert(h2_answer_of(client, id)->is_reset);                                             \
        ck_assert_uint_eq(h2_answer_of(client, id)->code, code_);                                  \
    } while (0)

/** The connection has ended, with GOAWAY and this code. */
#define H2_ENDED(client, code_)                                                                    \
    do {                                                                                           \
        ck_assert((client)->has_goaway);                                                           \
        ck_assert_uint_eq((client)->goaway_code, code_);                                           \
        ck_assert_int_ne(tr_kit_peer_status((client)->peer), TR_OK);                               \
    } while (0)

KITS_UNUSED static void h2_forget(struct h2_client *client)
{
    for (int i = 0; i < client->count; i++) {
        free(client->answers[i].head);
        free(client->answers[i].body);
    }
    nghttp2_session_del(client->session);
}

KITS_UNUSED static void h2_close(struct h2_client *client)
{
    tr_kit_close(client->peer);
    h2_forget(client);
    tr_kit_advance(kit, TR_SECOND);
}

/* ---- Frames by hand. ---- */

#define H2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

/** Appends a frame. Returns what is behind it. */
KITS_UNUSED static unsigned char *h2_frame(unsigned char *to, uint8_t type, uint8_t flags,
                                           uint32_t id, const void *data, size_t size)
{
    const unsigned char head[] = {(unsigned char)(size >> 16),
                                  (unsigned char)(size >> 8),
                                  (unsigned char)size,
                                  type,
                                  flags,
                                  (unsigned char)(id >> 24),
                                  (unsigned char)(id >> 16),
                                  (unsigned char)(id >> 8),
                                  (unsigned char)id};
    memcpy(to, head, sizeof head);
    if (size)
        memcpy(to + sizeof head, data, size);
    return to + sizeof head + size;
}

#endif
