/* SPDX-License-Identifier: Apache-2.0 */
#include "http/ws_session.h"

#include <stdio.h>
#include <string.h>
#include <troupe/http.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/system.h"
#include "http/call.h"
#include "http/deflate.h"
#include "http/worker.h"
#include "net/channel_end.h"
#include "net/deadline.h"
#include "net/output.h"
#include "net/write.h"
#include "base/assert.h"

enum {
    /* a large frame is handled in parts: as soon as this many of its bytes have come */
    PORTION_MIN = 16 * 1024,
    TEXT_MAX = 160,  /* size of the text in tr_closed */
    DEFLATE_MIN = 64 /* shorter messages are not deflated, because deflating makes them longer */
};

tr_status tr__ws_session_begin(struct channel *channel, const struct ws_setup *setup)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const struct memory_source *source = &channel->worker->system->source;
    size_t pings = setup->role == WS_CLIENT ? sizeof setup->ping_ns : 0;
    size_t text = setup->protocol ? strlen(setup->protocol) + 1 : 0;
    struct ws_session *session = source_resize(source, NULL, sizeof *session + pings + text);
    if (!session)
        return TR_NO_MEMORY;
    *session = (struct ws_session){
        .row = setup->row, .deflate = setup->deflate, .has_protocol = setup->protocol};
    if (pings)
        session->more[0] = setup->ping_ns;
    if (text)
        memcpy((char *)session->more + pings, setup->protocol, text);
    tr__ws_reader_init(
        &session->reader, setup->role, (uint32_t)setup->message_max, setup->deflate.is_agreed);
    channel->session = session;
    return TR_OK;
}

const char *tr__ws_protocol(const struct ws_session *session)
{
    if (!session->has_protocol)
        return NULL;
    return (const char *)(session->more + (session->reader.role == WS_CLIENT));
}

static void joined_free(const struct memory_source *source, struct ws_session *session)
{
    if (session->joined)
        tr__net_buffer_free(session->joined);
    source_resize(source, session->joined, 0);
    session->joined = NULL;
}

void tr__ws_session_free(const struct memory_source *source, void *session)
{
    joined_free(source, session);
    source_resize(source, session, 0);
}

/* Returns the site of a channel of a server. Returns NULL if the channel is one of a client. */
static const struct http_site *site_of(const struct channel *channel)
{
    bool is_client = ws_session_of(channel)->reader.role == WS_CLIENT;
    return is_client ? NULL : channel->endpoint->site;
}

/* ---- Cutting. ---- */

/*
 * Returns the size of a frame with its header. Returns 0 if the header has not come completely, or
 * if the length in it has its highest bit set, which is not allowed.
 */
static size_t frame_size(const unsigned char *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t form = (data[1] & 127) == 126 ? 2 : (data[1] & 127) == 127 ? 8 : 0;
    size_t header = 2 + form + (data[1] & 128 ? 4 : 0);
    if (size < header || (form == 8 && data[2] & 128))
        return 0;
    size_t payload = form ? 0 : data[1] & 127;
    for (size_t i = 0; i < form; i++)
        payload = payload << 8 | data[2 + i];
    return header + payload;
}

size_t tr__ws_cut(const struct ws_session *session, tr_bytes bytes, tr_bytes *piece)
{
    *piece = bytes;
    /* a part of a frame was handled before; these bytes are the rest of it */
    if (session->reader.left) {
        piece->size = bytes.size < session->reader.left ? bytes.size : session->reader.left;
        return piece->size;
    }
    size_t size = frame_size(bytes.data, bytes.size);
    if (size && size <= bytes.size) {
        /* the whole frame has come, so the turn that handles it finds its errors */
        piece->size = size;
        return size;
    }
    /* Check the header now, to find its errors before the whole frame has come. */
    struct ws_reader reader = session->reader;
    unsigned char header[WS_HEADER_MAX];
    size_t count = bytes.size < sizeof header ? bytes.size : sizeof header;
    struct ws_event event;
    memcpy(header, bytes.data, count);
    (void)tr__ws_read(&reader, header, count, &event);
    if (event.kind == WS_ERROR)
        return bytes.size;
    return size && bytes.size >= PORTION_MIN ? bytes.size : 0;
}

/* ---- Writing. ---- */

/*
 * Makes a mask for a frame of a client: RFC 6455, 5.3. On a server returns false, because frames of
 * a server have no mask.
 */
static bool mask_make(const struct channel *channel, unsigned char mask[4])
{
    const tr_platform *platform = channel->worker->loop.platform;
    if (ws_session_of(channel)->reader.role != WS_CLIENT)
        return false;
    uint64_t bits = platform->random(platform);
    memcpy(mask, &bits, 4);
    return true;
}

/* Writes a control frame to the output. Its payload is small. Does not wait. */
static tr_status append(struct channel *channel, enum ws_opcode opcode, tr_bytes payload)
{
    unsigned char frame[WS_HEADER_MAX + WS_CONTROL_MAX];
    unsigned char mask[4];
    bool is_masked = mask_make(channel, mask);
    const struct ws_frame head = {
        .opcode = opcode, .size = payload.size, .mask = is_masked ? mask : NULL};
    size_t size = tr__ws_write_header(&head, frame);
    if (payload.size)
        memcpy(frame + size, payload.data, payload.size);
    if (is_masked)
        tr__ws_mask(frame + size, payload.size, mask);
    tr_status status = tr__output_append(channel, frame, size + payload.size);
    if (status == TR_OK)
        tr__output_touch(channel);
    return status;
}

/*
 * Writes a frame to a channel that can be written to. The payload must be in memory of the library, because on a client
 * this function masks it in place.
 */
static tr_status write_frame(struct tr_self *self, struct channel *channel, enum ws_opcode opcode,
                             tr_bytes payload, bool is_deflated)
{
    unsigned char head[WS_HEADER_MAX];
    unsigned char mask[4];
    bool is_masked = mask_make(channel, mask);
    const struct ws_frame frame = {.opcode = opcode,
                                   .size = payload.size,
                                   .is_deflated = is_deflated,
                                   .mask = is_masked ? mask : NULL};
    size_t size = tr__ws_write_header(&frame, head);
    if (is_masked)
        tr__ws_mask((unsigned char *)(uintptr_t)payload.data, payload.size, mask);
    return tr__write_with(self, channel, (tr_bytes){head, size}, payload);
}

/*
 * Writes a copy of a message, deflated or masked. Waits for capacity of the output before it makes
 * the copy: if the turn ended during a wait after that, nothing would free the copy.
 */
static tr_status write_copy(struct tr_self *self, tr_channel handle, enum ws_opcode opcode,
                            tr_bytes payload, bool is_deflated)
{
    struct channel *channel;
    struct net_buffer copy = NET_BUFFER(&self->worker->system->source);
    tr_status status = tr__write_capacity(self, handle, payload.size + WS_HEADER_MAX, &channel);
    if (status != TR_OK)
        return status;
    if (is_deflated) {
        struct deflate *deflate = tr__http_worker_deflate(self->worker);
        unsigned bits = ws_session_of(channel)->deflate.bits;
        status = deflate ? tr__deflate_message(deflate, bits, payload, &copy) : TR_NO_MEMORY;
    } else {
        status = tr__net_buffer_append(&copy, payload.data, payload.size);
    }
    if (status == TR_OK)
        status = write_frame(self, channel, opcode, net_buffer_bytes(&copy), is_deflated);
    tr__net_buffer_free(&copy);
    return status;
}

tr_status tr__ws_write(struct tr_self *self, struct channel *channel, enum ws_opcode opcode,
                       tr_bytes payload)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    tr_channel handle = {channel_bits(channel)};
    const struct ws_session *session = ws_session_of(channel);
    bool is_deflated = session->deflate.is_agreed && payload.size >= DEFLATE_MIN;
    if (!is_deflated && session->reader.role == WS_SERVER)
        return write_frame(self, channel, opcode, payload, false);
    tr_status status = write_copy(self, handle, opcode, payload, is_deflated);
    /*
     * End the channel: programs may ignore the status, and then nobody would notice that a message
     * is missing.
     */
    if (status != TR_OK && tr__writable(self, handle, &channel) == TR_OK)
        tr__channel_end(channel, status, NULL);
    return status;
}

tr_status tr__ws_append_text(struct channel *channel, tr_buffer *text)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    unsigned char head[WS_HEADER_MAX];
    const struct ws_frame frame = {.opcode = WS_OP_TEXT, .size = tr_buffer_size(text)};
    size_t size = tr__ws_write_header(&frame, head);
    tr_status status = tr__output_append(channel, head, size);
    if (status == TR_OK)
        status = tr__output_append_buffer(channel, text, false);
    if (status == TR_OK)
        tr__output_touch(channel);
    return status;
}

/* ---- Ends. ---- */

void tr__ws_tell_end(struct channel *channel, unsigned code)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct ws_session *session = ws_session_of(channel);
    struct ws_above *above = session->above;
    session->above = NULL;
    if (above)
        above->on_end(channel, above, code);
}

void tr__ws_on_free(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (ws_session_of(channel))
        tr__ws_tell_end(channel, WS_CODE_LOST);
}

bool tr__ws_write_last(struct channel *channel, unsigned code, tr_bytes reason)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct ws_session *session = ws_session_of(channel);
    unsigned char payload[WS_CONTROL_MAX];
    tr__ws_tell_end(channel, code);
    if (session->is_over)
        return true;
    size_t size = tr__ws_write_close(code, reason, payload);
    session->is_over = append(channel, WS_OP_CLOSE, (tr_bytes){payload, size}) == TR_OK;
    return session->is_over;
}

void tr__ws_on_close(struct channel *channel, bool has_failed)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (!ws_session_of(channel))
        return;
    const struct tr_system *system = channel->worker->system;
    bool is_stopping = atom32_load(&system->ending.is_stopping, ATOM_RELAXED);
    unsigned code = has_failed ? WS_CODE_FAILED : is_stopping ? WS_CODE_GOING_AWAY : WS_CODE_NORMAL;
    /*
     * If the run has failed, its output is dropped. A close frame behind that output would be
     * dropped, too, so send none.
     */
    bool is_cut = has_failed && channel->work->output.size;
    if (!is_cut && tr__ws_write_last(channel, code, (tr_bytes){"", 0}))
        channel->flags |= CHANNEL_ANSWERED;
    else
        channel->flags &= ~(uint32_t)CHANNEL_ANSWERED;
}

/*
 * Answers a close or an error of the other side by a close, and closes the channel. Code and reason
 * become the text of tr_closed.
 */
static void end(struct channel *channel, unsigned code, tr_bytes reason)
{
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "%u %.*s", code, (int)reason.size, (const char *)reason.data);
    tr__channel_set_text(channel, text);
    (void)tr__ws_write_last(channel, code, reason);
    tr__channel_hang_up(channel);
}

/* ---- Times. ---- */

void tr__ws_wait(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct ws_session *session = ws_session_of(channel);
    const struct http_site *site = site_of(channel);
    tr_time ping_ns = site ? site->options.ws_ping_ns : session->more[0];
    tr_time deadline = timer_deadline(channel->worker->loop.now_ns, ping_ns);
    session->is_pinged = false;
    channel->flags &= ~(uint32_t)CHANNEL_IN_PART;
    if (channel->deadline_ns == deadline)
        return; /* the deadline is set already, by an earlier message of this round */
    channel->deadline_ns = deadline;
    tr__channel_arm(channel);
}

void tr__ws_deadline(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct ws_session *session = ws_session_of(channel);
    /* while a turn runs, no input is read, so it is not known whether the other side is silent */
    bool is_busy = channel_has(channel, CHANNEL_IN_TURN);
    if (session->is_pinged && !is_busy) {
        tr__channel_end(channel, TR_TIMEOUT, "a ping was not answered");
        return;
    }
    tr__ws_wait(channel);
    session->is_pinged = !is_busy && append(channel, WS_OP_PING, (tr_bytes){"", 0}) == TR_OK;
}

/* ---- Turns. ---- */

/* Calls the handler of the program. */
static tr_next call(struct tr_self *self, const struct channel *channel, void *state,
                    const struct tr_ws_message *message)
{
    struct dispatch *dispatch = self->cell->dispatch;
    const struct http_site *site = site_of(channel);
    bool is_of_site = site && site->behavior == dispatch->behavior;
    const tr_handler *row = is_of_site ? ws_session_of(channel)->row : NULL;
    if (!row)
        row = dispatch_find(&self->worker->dispatches, dispatch, &tr_type_tr_ws_message);
    if (!row) {
        tr_log_warn(self, "nobody handles tr_ws_message: the WebSocket is closed");
        tr_ws_close(self, message->channel, WS_CODE_FAILED, NULL);
        return TR_SAME;
    }
    const tr_message any = {&tr_type_tr_ws_message, message};
    tr_next next = http_call_user(self, row, state, row->type ? (const void *)message : &any);
    return next.code == TR_NEXT_UNHANDLED || next.code == TR_NEXT_STASHED ? TR_SAME : next;
}

/* Appends a portion of a message to the portions that have come before. Fails with TR_NO_MEMORY. */
static tr_status join(const struct memory_source *source, struct ws_session *session,
                      const struct ws_event *event)
{
    if (event->is_first)
        /* the bytes of the last message are still here if its turn has failed */
        joined_free(source, session);
    if (!session->joined) {
        session->joined = source_resize(source, NULL, sizeof *session->joined);
        if (!session->joined)
            return TR_NO_MEMORY;
        *session->joined = NET_BUFFER(source);
    }
    unsigned char *to = net_buffer_reserve(session->joined, event->bytes.size + 1);
    if (!to)
        return TR_NO_MEMORY;
    if (event->bytes.size)
        memcpy(to, event->bytes.data, event->bytes.size);
    to[event->bytes.size] = '\0';
    net_buffer_commit(session->joined, event->bytes.size);
    return TR_OK;
}

/*
 * Replaces `bytes`, a deflated message, by its inflated form in scratch memory. A text gets a NUL
 * behind it.
 */
static tr_status inflate(struct tr_self *self, const struct ws_session *session, tr_bytes *bytes)
{
    struct net_buffer out = NET_BUFFER(&self->worker->system->source);
    struct deflate *deflate = tr__http_worker_deflate(self->worker);
    tr_status status = deflate
                           ? tr__inflate_message(deflate, *bytes, session->reader.message_max, &out)
                           : TR_NO_MEMORY;
    tr_bytes all = net_buffer_bytes(&out);
    char *copy = status == TR_OK ? tr_try_scratch(self, all.size + 1) : NULL;
    if (status == TR_OK && !copy)
        status = TR_NO_MEMORY;
    if (status == TR_OK) {
        if (all.data) /* an empty message has no bytes to copy */
            memcpy(copy, all.data, all.size);
        copy[all.size] = '\0';
        *bytes = (tr_bytes){copy, all.size};
    }
    tr__net_buffer_free(&out);
    return status;
}

/*
 * Calls the handler with a message, which is inflated first if needed. If the message is invalid,
 * ends the WebSocket.
 */
static tr_next deliver(struct tr_self *self, struct channel *channel, void *state,
                       const struct ws_event *event, struct tr_ws_message *message)
{
    const struct ws_session *session = ws_session_of(channel);
    static const char too_large[] = "the message is too large when it is inflated";
    static const char bad[] = "the message is malformed when it is inflated";
    if (!event->is_deflated)
        return call(self, channel, state, message);
    tr_status status = inflate(self, session, &message->bytes);
    if (status == TR_OK && message->is_text && !tr__ws_text_is_valid(message->bytes))
        status = TR_BAD_DATA;
    if (status == TR_OK)
        return call(self, channel, state, message);
    if (status == TR_TOO_LARGE)
        end(channel, WS_CODE_TOO_LARGE, (tr_bytes){too_large, sizeof too_large - 1});
    else if (status == TR_BAD_DATA)
        end(channel, WS_CODE_BAD_DATA, (tr_bytes){bad, sizeof bad - 1});
    else
        end(channel, WS_CODE_TRY_LATER, (tr_bytes){"", 0});
    return TR_SAME;
}

static tr_next on_data(struct tr_self *self, struct channel *channel, void *state,
                       const struct ws_event *event)
{
    struct ws_session *session = ws_session_of(channel);
    struct tr_ws_message message = {.channel = {channel_bits(channel)}, .is_text = event->is_text};
    if (event->is_first && event->is_last) {
        message.bytes = event->bytes;
        if (event->is_text) {
            /* Make space for a NUL behind the payload: move the payload one byte to the front, where the header was. */
            char *bytes = (char *)(uintptr_t)event->bytes.data - 1;
            memmove(bytes, bytes + 1, event->bytes.size);
            bytes[event->bytes.size] = '\0';
            message.bytes.data = bytes;
        }
        return deliver(self, channel, state, event, &message);
    }
    const struct memory_source *source = &self->worker->system->source;
    if (join(source, session, event) != TR_OK) {
        tr_log_warn(self, "out of memory for a message of a WebSocket");
        end(channel, WS_CODE_TRY_LATER, (tr_bytes){"", 0});
        return TR_SAME;
    }
    if (!event->is_last)
        return TR_SAME;
    /*
     * Copy the message into memory of the turn, because the channel may be gone when the handler
     * returns.
     */
    tr_bytes all = net_buffer_bytes(session->joined);
    char *bytes = tr_scratch(self, all.size + 1);
    if (all.data)
        memcpy(bytes, all.data, all.size);
    bytes[all.size] = '\0';
    joined_free(source, session);
    message.bytes = (tr_bytes){bytes, all.size};
    return deliver(self, channel, state, event, &message);
}

tr_next tr__ws_turn(struct tr_self *self, struct channel *channel, void *state,
                    const struct tr_received *piece)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct ws_event event;
    struct ws_session *session = ws_session_of(channel);
    unsigned char *bytes = (unsigned char *)(uintptr_t)piece->bytes.data;
    tr__ws_wait(channel);
    (void)tr__ws_read(&session->reader, bytes, piece->bytes.size, &event);
    switch (event.kind) {
    case WS_DATA:
        return on_data(self, channel, state, &event);
    case WS_PING:
        if (tr__writable(self, piece->channel, &channel) == TR_OK)
            (void)!write_frame(self, channel, WS_OP_PONG, event.bytes, false);
        break;
    case WS_CLOSE:
        end(channel, event.code, event.bytes);
        break;
    case WS_ERROR:
        end(channel, event.code, (tr_bytes){event.text, strlen(event.text)});
        break;
    case WS_MORE:
    case WS_PONG:
        break;
    }
    return TR_SAME;
}
