/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An endpoint that echoes messages, on the codec of src/http: what a session will do with its events, without a network.
 * Pings are answered by pongs, closes by closes, errors by a close with their code.
 */
#ifndef TROUPE_TESTS_SUPPORT_WS_ECHO_H
#define TROUPE_TESTS_SUPPORT_WS_ECHO_H

#include "http/websocket.h"
#include "support/ws_client.h"

struct ws_echo {
    struct ws_reader reader;
    struct ws_bytes unread;  /* bytes that the reader has not taken */
    struct ws_bytes message; /* portions of a message that is not whole */
    struct ws_bytes sent;
    size_t portions;   /* how many were given */
    const char *fault; /* the text of the error, or NULL */
    bool is_over;
    /** Called for deflated messages; appends what to echo to `to`. Returns the code of an error, or 0. */
    unsigned (*on_deflated)(const struct ws_bytes *message, bool is_text, struct ws_bytes *to);
};

static inline void ws_echo_send(struct ws_echo *echo, enum ws_opcode opcode, bool is_deflated,
                                const void *data, size_t size)
{
    static const unsigned char mask[4] = {1, 0x80, 0xff, 0x55};
    bool is_client = echo->reader.role == WS_CLIENT;
    unsigned char header[WS_HEADER_MAX];
    struct ws_frame frame = {.opcode = opcode,
                             .size = size,
                             .is_deflated = is_deflated,
                             .mask = is_client ? mask : NULL};
    ws_add(&echo->sent, header, tr__ws_write_header(&frame, header));
    size_t at = echo->sent.size;
    ws_add(&echo->sent, data, size);
    if (is_client && size > 0)
        tr__ws_mask(echo->sent.data + at, size, mask);
}

static inline void ws_echo_close(struct ws_echo *echo, unsigned code, tr_bytes reason)
{
    unsigned char payload[WS_CONTROL_MAX];
    ws_echo_send(echo, WS_OP_CLOSE, false, payload, tr__ws_write_close(code, reason, payload));
    echo->is_over = true;
}

static inline void ws_echo_data(struct ws_echo *echo, const struct ws_event *event)
{
    echo->portions++;
    ck_assert_int_eq(event->is_first, echo->portions == 1);
    ws_add(&echo->message, event->bytes.data, event->bytes.size);
    if (!event->is_last)
        return;
    enum ws_opcode opcode = event->is_text ? WS_OP_TEXT : WS_OP_BINARY;
    struct ws_bytes answer = {0};
    unsigned code = 0;
    if (event->is_deflated)
        code = echo->on_deflated(&echo->message, event->is_text, &answer);
    else
        ws_add(&answer, echo->message.data, echo->message.size);
    if (code != 0)
        ws_echo_close(echo, code, (tr_bytes){0});
    else
        ws_echo_send(echo, opcode, event->is_deflated, answer.data, answer.size);
    free(answer.data);
    echo->message.size = 0;
    echo->portions = 0;
}

static inline void ws_echo_event(struct ws_echo *echo, const struct ws_event *event)
{
    switch (event->kind) {
    case WS_MORE:
        break;
    case WS_DATA:
        ws_echo_data(echo, event);
        break;
    case WS_PING:
        ws_echo_send(echo, WS_OP_PONG, false, event->bytes.data, event->bytes.size);
        break;
    case WS_PONG:
        break;
    case WS_CLOSE:
        ws_echo_close(echo, event->code, event->bytes);
        break;
    case WS_ERROR:
        ck_assert_ptr_nonnull(event->text);
        echo->fault = event->text;
        ws_echo_close(echo, event->code, (tr_bytes){0});
        break;
    }
}

/** Gives bytes that came. Each read sees memory that ends behind them. */
static inline void ws_echo_give(struct ws_echo *echo, const unsigned char *data, size_t size)
{
    ws_add(&echo->unread, data, size);
    for (;;) {
        size_t left = echo->unread.size;
        unsigned char *exact = malloc(left + 1);
        struct ws_event event;
        ck_assert_ptr_nonnull(exact);
        if (left > 0)
            memcpy(exact + 1, echo->unread.data, left); /* odd, so that nothing is aligned */
        size_t taken = tr__ws_read(&echo->reader, exact + 1, left, &event);
        ck_assert_uint_le(taken, left);
        if (taken > 0)
            memmove(echo->unread.data, echo->unread.data + taken, left - taken);
        echo->unread.size -= taken;
        ws_echo_event(echo, &event);
        free(exact);
        if (event.kind == WS_MORE || event.kind == WS_ERROR || (taken == 0 && left == 0))
            break;
    }
}

static inline void ws_echo_deinit(struct ws_echo *echo)
{
    free(echo->unread.data);
    free(echo->message.data);
    free(echo->sent.data);
}

#endif
