/* SPDX-License-Identifier: Apache-2.0 */
#include "http/h2_guard.h"

#include <troupe/limits.h>

/* RFC 9113, 6 */
enum frame_type {
    FRAME_DATA,
    FRAME_HEADERS,
    FRAME_PRIORITY,
    FRAME_RST_STREAM,
    FRAME_SETTINGS,
    FRAME_PUSH_PROMISE,
    FRAME_PING,
    FRAME_GOAWAY,
    FRAME_WINDOW_UPDATE,
    FRAME_CONTINUATION
};
enum { FLAG_ACK = 1, FLAG_END_STREAM = 1, FLAG_END_HEADERS = 4 };

void tr__h2_guard_init(struct h2_guard *guard, uint32_t block_max)
{
    *guard = (struct h2_guard){
        .preface_left = H2_PREFACE_SIZE, .block_max = block_max, .credit = H2_CREDIT_STEP};
}

void tr__h2_guard_init_client(struct h2_guard *guard, uint32_t block_max)
{
    tr__h2_guard_init(guard, block_max);
    guard->preface_left = 0;
    guard->is_client = true;
}

/* When a period is over, sets its counts to 0, and begins the next period. */
static void look_at_time(struct h2_guard *guard, tr_time now_ns)
{
    if (now_ns - guard->since_ns < TR_HTTP2_FLOOD_NS)
        return;
    guard->since_ns = now_ns;
    guard->resets = 0;
    guard->settings = 0;
    guard->idle = 0;
}

static void give_credit(struct h2_guard *guard)
{
    guard->credit += guard->credit < H2_CREDIT_MAX ? H2_CREDIT_STEP : 0;
}

static void count_idle(struct h2_guard *guard, const char *why)
{
    guard->burst++;
    if (guard->credit)
        guard->credit--;
    else if (++guard->idle > TR_HTTP2_IDLE_FRAMES_MAX)
        guard->why = why;
}

/*
 * Counts a frame that is a part of a block of headers. Sets guard->why if the block is too large.
 */
static void count_block(struct h2_guard *guard, uint32_t size, uint8_t flags)
{
    guard->is_in_block = !(flags & FLAG_END_HEADERS);
    guard->is_in_head = true;
    if (size > guard->block_max - guard->block_bytes) {
        guard->why = "a block of headers is too large";
        return;
    }
    guard->block_bytes += size;
}

void tr__h2_guard_reset(struct h2_guard *guard, tr_time now_ns)
{
    look_at_time(guard, now_ns);
    if (++guard->resets > TR_HTTP2_RESETS_MAX)
        guard->why = "too many streams were reset";
}

void tr__h2_guard_sent(struct h2_guard *guard)
{
    give_credit(guard);
}

/* Counts a frame whose head has come. */
static void look_at_frame(struct h2_guard *guard, tr_time now_ns)
{
    const uint8_t *head = guard->head;
    uint32_t size = (uint32_t)head[0] << 16 | (uint32_t)head[1] << 8 | head[2];
    uint8_t flags = head[4];
    guard->left = size;
    guard->is_in_head = false;
    look_at_time(guard, now_ns);
    switch (head[3]) {
    case FRAME_DATA:
        if (size)
            give_credit(guard);
        else if (!(flags & FLAG_END_STREAM))
            count_idle(guard, "too many empty frames of data");
        break;
    case FRAME_HEADERS:
        give_credit(guard);
        guard->blocks++;
        guard->block_bytes = 0;
        guard->continuations = 0;
        count_block(guard, size, flags);
        break;
    case FRAME_CONTINUATION:
        if (++guard->continuations > TR_HTTP2_CONTINUATIONS_MAX)
            guard->why = "too many frames of one block of headers";
        else
            count_block(guard, size, flags);
        break;
    case FRAME_RST_STREAM:
        if (guard->is_client)
            count_idle(guard, "too many resets of streams");
        else
            tr__h2_guard_reset(guard, now_ns);
        break;
    case FRAME_SETTINGS:
        guard->burst += H2_SETTINGS_WEIGHT;
        if (!(flags & FLAG_ACK) && ++guard->settings > TR_HTTP2_SETTINGS_MAX)
            guard->why = "too many frames of settings";
        break;
    case FRAME_PING:
        count_idle(guard, "too many pings");
        break;
    case FRAME_PRIORITY:
    case FRAME_PUSH_PROMISE:
    case FRAME_GOAWAY:
    case FRAME_WINDOW_UPDATE:
    /* frames of unknown kinds have no effect, so they count as frames that carry nothing */
    default:
        count_idle(guard, "too many frames that carry nothing");
        break;
    }
}

size_t tr__h2_guard_look(struct h2_guard *guard, const unsigned char *data, size_t size,
                         tr_time now_ns)
{
    size_t at = 0;
    while (at < size && !guard->why && guard->burst < H2_BURST_MAX) {
        size_t there = size - at;
        if (guard->preface_left) {
            size_t some = there < guard->preface_left ? there : guard->preface_left;
            guard->preface_left -= (uint8_t)some;
            at += some;
        } else if (guard->left) {
            size_t some = there < guard->left ? there : guard->left;
            guard->left -= (uint32_t)some;
            at += some;
        } else {
            guard->head[guard->head_size++] = data[at++];
            if (guard->head_size < H2_FRAME_HEAD_SIZE)
                continue;
            guard->head_size = 0;
            look_at_frame(guard, now_ns);
        }
    }
    /*
     * If a frame is one too many, leave out the last byte of the frame's head, so that nghttp2 does
     * not handle this frame.
     */
    return guard->why && at ? at - 1 : at;
}
