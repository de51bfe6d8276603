/* SPDX-License-Identifier: Apache-2.0 */
#include "http/client_flow.h"

#include <stdio.h>
#include <string.h>

#include "actor/turn/park.h"
#include "http/h2_call.h"
#include "net/input.h"
#include "net/rare.h"
#include "net/read.h"
#include "net/wait.h"
#include "base/assert.h"

enum {
    READ_MAX = 64 * 1024, /* one read takes at most this many bytes */
    /* one write takes at most this many bytes; few, so that little output waits */
    WRITE_MAX = 16 * 1024
};

static tr_time left_of(const struct http_flow *flow)
{
    return flow->deadline_ns - clock_bound(&flow->self->worker->clock);
}

/* Returns when a connection that is idle from now on must end. */
static tr_time due_of(const struct http_flow *flow, tr_time idle_ns)
{
    return timer_deadline(tr_now(flow->self), idle_ns);
}

tr_status tr__http_flow_open(struct http_flow *flow, struct http_hosts *hosts,
                             const struct http_wish *wish)
{
    tr_status status = tr__http_conn_take(flow->self, hosts, wish, &flow->conn);
    if (status == TR_OK && flow->conn->h2) {
        status = tr__h2_call_open(flow);
        if (status != TR_OK)
            tr__http_conn_return(flow->conn, due_of(flow, TR_HTTP_IDLE_NS), false);
    }
    if (status != TR_OK)
        flow->conn = NULL;
    return status;
}

/* ---- Writing. ---- */

/* Sets has_begun if a byte of the answer has come. Does not wait. */
static void look_for_answer(struct http_flow *flow, struct channel *channel)
{
    if (channel->state == CHANNEL_OPEN && channel_has(channel, CHANNEL_READABLE))
        (void)tr__input_peek(channel);
    if (tr__input_has_bytes(channel))
        flow->has_begun = true;
}

/* Waits until the output has capacity again, or a byte has come. */
static tr_status wait_for_either(struct http_flow *flow, struct channel *channel)
{
    struct channel_wait reads = {.self = flow->self};
    struct channel_wait writes = {.self = flow->self};
    tr_status status = turn_may_park(flow->self);
    if (status != TR_OK)
        return status;
    tr__waits_add(&channel->readers, &reads, false);
    tr__waits_add(&channel->writers, &writes, false);
    status = turn_park_at(flow->self, flow->deadline_ns, NULL);
    tr__waits_remove(&channel->readers, &reads);
    tr__waits_remove(&channel->writers, &writes);
    if (channel_has(channel, CHANNEL_CLOSES))
        /* tr_closed may have waited until no turn waits for the channel */
        tr__channel_call(channel);
    return status;
}

/*
 * Writes at most WRITE_MAX bytes. Waits while the output is full. Returns TR_CLOSED if an answer
 * begins to come meanwhile.
 */
static tr_status write_few(struct http_flow *flow, tr_bytes bytes)
{
    for (;;) {
        struct channel *channel;
        tr_status status = tr_try_write(flow->self, flow->conn->channel, bytes);
        if (status != TR_LIMIT)
            return status;
        status = tr__channel_of(flow->self, flow->conn->channel, &channel);
        if (status == TR_OK)
            status = left_of(flow) > 0 ? wait_for_either(flow, channel) : TR_TIMEOUT;
        if (status != TR_OK)
            return status;
        if (tr__channel_of(flow->self, flow->conn->channel, &channel) != TR_OK)
            return TR_CLOSED;
        look_for_answer(flow, channel);
        if (flow->has_begun)
            return TR_CLOSED;
    }
}

tr_status tr__http_flow_write(struct http_flow *flow, tr_bytes bytes)
{
    const char *data = bytes.data;
    while (bytes.size) {
        size_t size = bytes.size < WRITE_MAX ? bytes.size : WRITE_MAX;
        tr_status status = write_few(flow, (tr_bytes){data, size});
        if (status != TR_OK)
            return status;
        data += size;
        bytes.size -= size;
    }
    return TR_OK;
}

tr_status tr__http_flow_ask(struct http_flow *flow, tr_bytes head)
{
    return flow->call ? tr__h2_call_ask(flow, head) : tr__http_flow_write(flow, head);
}

tr_status tr__http_flow_send(struct http_flow *flow, tr_bytes bytes)
{
    char size[24];
    if (flow->call)
        flow->has_begun |= tr__h2_call_has_begun(flow->call);
    if (!flow->has_chunks && bytes.size > (uint64_t)flow->to_send)
        return TR_LIMIT;
    if (flow->has_begun)
        return TR_CLOSED;
    if (!bytes.size)
        return TR_OK;
    if (!flow->has_chunks) {
        flow->to_send -= (int64_t)bytes.size;
        return flow->call ? tr__h2_call_send(flow, bytes, !flow->to_send)
                          : tr__http_flow_write(flow, bytes);
    }
    if (flow->call)
        return tr__h2_call_send(flow, bytes, false);
    int length = snprintf(size, sizeof size, "%zx\r\n", bytes.size);
    tr_status status = tr__http_flow_write(flow, (tr_bytes){size, (size_t)length});
    if (status == TR_OK)
        status = tr__http_flow_write(flow, bytes);
    if (status == TR_OK)
        status = tr__http_flow_write(flow, TR_BYTES("\r\n"));
    return status;
}

tr_status tr__http_flow_end(struct http_flow *flow)
{
    tr_status status = TR_OK;
    if (flow->has_begun)
        return TR_CLOSED;
    if (flow->has_chunks && flow->call)
        status = tr__h2_call_send(flow, TR_BYTES(""), true);
    else if (flow->has_chunks)
        status = tr__http_flow_write(flow, TR_BYTES("0\r\n\r\n"));
    else if (flow->to_send)
        return TR_INVALID_TRANSITION;
    flow->is_sent = status == TR_OK;
    return status;
}

/* ---- Reading. ---- */

/*
 * Takes at most `max` bytes that have come. If none have come, waits for them, at most `within_ns`.
 */
static tr_status take(struct http_flow *flow, size_t max, tr_time within_ns, tr_bytes *bytes)
{
    const struct cutter cutter = {.how = CUT_SOME, .size = max < READ_MAX ? max : READ_MAX};
    struct channel *channel;
    bool is_cut;
    tr_status status = tr__channel_of(flow->self, flow->conn->channel, &channel);
    if (status != TR_OK)
        return status;
    struct channel_rare *rare = tr__rare_of(channel);
    if (!rare)
        return TR_NO_MEMORY;
    if (within_ns <= 0)
        return TR_TIMEOUT;
    rare->within_ns = within_ns;
    return tr__channel_take(flow->self, flow->conn->channel, &cutter, bytes, &is_cut);
}

/*
 * Returns the last `size` bytes that were taken to the input. With `needs_more`, the next read
 * waits until more bytes have come; otherwise it can take these bytes at once.
 */
static tr_status put_back(struct http_flow *flow, size_t size, bool needs_more)
{
    struct channel *channel;
    tr_status status = tr__channel_of(flow->self, flow->conn->channel, &channel);
    if (status != TR_OK)
        return status;
    if (!tr__input_unread(channel, size))
        return TR_BAD_DATA;
    if (!needs_more)
        channel->work->input.needs = 0;
    return TR_OK;
}

/* Whether a head belongs to an interim answer (1xx). */
static bool is_interim(tr_bytes head)
{
    return head.size > 12 && ((const char *)head.data)[9] == '1';
}

/*
 * Reads one head, of an interim answer (1xx) or of the final one. Waits at most `within_ns` for the
 * first byte of the head. `is_expected`: the caller waits for 100 Continue and wants only an
 * interim head. If the final head comes instead, leaves it in the input and returns TR_CLOSED.
 */
static tr_status head_read(struct http_flow *flow, tr_time within_ns, bool is_expected,
                           struct http_answer_head *answer)
{
    size_t seen = 0;
    tr_bytes bytes, head;
    size_t used = 0;
    while (!used) {
        tr_status status = take(flow, READ_MAX, seen ? left_of(flow) : within_ns, &bytes);
        if (status != TR_OK)
            return status;
        flow->has_begun = true;
        flow->has_any = true;
        used = tr__http_answer_cut(bytes, seen, flow->limits.head_max, &head);
        if (used)
            break;
        seen = bytes.size;
        status = put_back(flow, bytes.size, true);
        if (status != TR_OK)
            return status;
    }
    if (is_expected && !is_interim(head)) {
        tr_status status = put_back(flow, bytes.size, false);
        return status == TR_OK ? TR_CLOSED : status;
    }
    char *copy = tr_try_scratch(flow->self, head.size + 1);
    answer->head.fields =
        tr_try_scratch(flow->self, flow->limits.headers_max * sizeof *answer->head.fields);
    if (!copy || !answer->head.fields)
        return TR_NO_MEMORY;
    memcpy(copy, head.data, head.size);
    tr_status status = put_back(flow, bytes.size - used, false);
    if (status == TR_OK)
        status = tr__http_answer_parse(copy, head.size, &flow->limits, answer);
    if (status != TR_OK)
        flow->why = answer->head.why;
    return status;
}

/* Sets the members of a flow that say how the end of the answer's body is found: RFC 9112, 6.3. */
static void settle(struct http_flow *flow, const struct http_answer_head *answer)
{
    const struct http_head *head = &answer->head;
    bool has_none = flow->is_head || answer->status == 204 || answer->status == 304;
    flow->has_final = true;
    flow->keeps = head->keeps;
    if (has_none || head->length == 0)
        flow->form = BODY_NONE;
    else if (head->is_chunked)
        flow->form = BODY_CHUNKS;
    else
        flow->form = head->length > 0 ? BODY_LENGTH : BODY_REST;
    if (answer->status == 204 && (head->is_chunked || head->length > 0))
        flow->keeps = false; /* a proxy may expect a body here, so do not reuse the connection */
    flow->is_over = flow->form == BODY_NONE;
    flow->left = flow->form == BODY_LENGTH ? (uint64_t)head->length : 0;
    flow->chunk = (struct http_chunk){0};
}

/*
 * Reads the head of an answer of HTTP/2. No rule says where the body ends, because HTTP/2 marks the
 * end of a stream.
 */
static tr_status head_of_call(struct http_flow *flow, struct http_answer_head *answer)
{
    tr_status status = tr__h2_call_head(flow, answer);
    if (status != TR_OK)
        return status;
    bool has_none = flow->is_head || answer->status == 204 || answer->status == 304;
    flow->has_final = true;
    flow->keeps = true;
    flow->is_over = has_none || tr__h2_call_is_over(flow->call);
    return TR_OK;
}

tr_status tr__http_flow_head(struct http_flow *flow, struct http_answer_head *answer)
{
    if (flow->call)
        return head_of_call(flow, answer);
    for (int i = 0; i <= TR_HTTP_INTERIM_MAX; i++) {
        tr_status status = head_read(flow, left_of(flow), false, answer);
        if (status != TR_OK)
            return status;
        if (answer->status == 101 && flow->upgrades)
            return TR_OK;
        if (answer->status == 101)
            break;
        if (answer->status >= 200) {
            settle(flow, answer);
            return TR_OK;
        }
    }
    flow->why = "there are too many answers of 1xx, or one that was not asked for";
    return TR_BAD_DATA;
}

tr_status tr__http_flow_expect(struct http_flow *flow, struct http_answer_head *answer)
{
    if (flow->call)
        return tr__h2_call_expect(flow);
    tr_time within_ns = left_of(flow);
    bool is_short = within_ns > TR_HTTP_CONTINUE_NS;
    tr_status status = head_read(flow, is_short ? TR_HTTP_CONTINUE_NS : within_ns, true, answer);
    if (status == TR_TIMEOUT && is_short && !flow->has_begun)
        /* return no error: not every server answers Expect (RFC 9110, 10.1.1), so the request continues */
        return TR_OK;
    if (status != TR_OK)
        return status;
    flow->has_begun = false;
    flow->why = "an answer of 101 was not asked for";
    return answer->status == 101 ? TR_BAD_DATA : TR_OK;
}

static tr_status read_chunks(struct http_flow *flow, size_t max, tr_bytes *piece)
{
    while (!flow->chunk.is_over) {
        tr_bytes bytes;
        if (flow->chunk.is_bad) {
            flow->why = "a chunk of the body is malformed";
            return TR_BAD_DATA;
        }
        tr_status status = take(flow, READ_MAX, left_of(flow), &bytes);
        if (status != TR_OK)
            return status;
        size_t used = tr__http_chunks_take(&flow->chunk, bytes, max, piece);
        bool needs_more = !piece->size && !flow->chunk.is_over && !flow->chunk.is_bad;
        status = put_back(flow, bytes.size - used, needs_more);
        if (status != TR_OK || piece->size)
            return status;
    }
    flow->is_over = true;
    *piece = (tr_bytes){"", 0};
    return TR_OK;
}

tr_status tr__http_flow_read(struct http_flow *flow, size_t max, tr_bytes *piece)
{
    *piece = (tr_bytes){"", 0};
    if (flow->is_over)
        return TR_OK;
    if (flow->call) {
        tr_status status = tr__h2_call_read(flow, max, piece);
        flow->is_over = status == TR_OK && tr__h2_call_is_over(flow->call);
        return status;
    }
    if (flow->form == BODY_CHUNKS)
        return read_chunks(flow, max, piece);
    if (flow->form == BODY_LENGTH && flow->left < max)
        max = (size_t)flow->left;
    tr_status status = take(flow, max, left_of(flow), piece);
    if (status == TR_CLOSED && flow->form == BODY_REST) {
        *piece = (tr_bytes){"", 0};
        flow->is_over = true;
        return TR_OK;
    }
    if (status == TR_CLOSED)
        flow->why = "the body ended before its length";
    if (status == TR_OK && flow->form == BODY_LENGTH) {
        flow->left -= piece->size;
        flow->is_over = !flow->left;
    }
    return status;
}

/* ---- Ends. ---- */

/* Whether the connection of a flow of HTTP/1.1 can carry another request. */
static bool keeps(const struct http_flow *flow)
{
    struct channel *channel;
    if (!flow->keeps || !flow->is_sent || !flow->has_final || !flow->is_over ||
        flow->form == BODY_REST)
        return false;
    return tr__channel_of(flow->self, flow->conn->channel, &channel) == TR_OK &&
           channel->state == CHANNEL_OPEN && !tr__input_has_bytes(channel);
}

void tr__http_flow_close(struct http_flow *flow, struct http_hosts *hosts, tr_time idle_ns)
{
    struct http_conn *conn = flow->conn;
    tr_time due_ns = due_of(flow, idle_ns);
    if (flow->call) {
        tr__h2_call_free(flow->call, false);
        tr__http_conn_return(conn, due_ns, true);
    } else if (keeps(flow)) {
        tr__http_conn_keep(flow->self, conn, due_ns);
    } else {
        tr__http_conn_end(flow->self, hosts, conn, false);
    }
    flow->call = NULL;
    flow->conn = NULL;
}

void tr__http_flow_drop(struct http_flow *flow, struct http_hosts *hosts, tr_status why)
{
    struct http_conn *conn = flow->conn;
    if (flow->call) {
        tr__h2_call_free(flow->call, why == TR_TIMEOUT);
        tr__http_conn_return(conn, due_of(flow, TR_HTTP_IDLE_NS), false);
    } else {
        tr__http_conn_end(flow->self, hosts, conn, true);
    }
    flow->call = NULL;
    flow->conn = NULL;
}

void tr__http_flow_cancel(struct http_flow *flow, struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    if (flow->call)
        tr__h2_call_cancel(flow->call);
    else
        tr_reset(self, flow->conn->channel);
}
