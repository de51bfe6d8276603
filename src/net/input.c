/* SPDX-License-Identifier: Apache-2.0 */
#include "net/input.h"

#include <string.h>

#include "actor/cell/system.h"
#include "base/assert.h"
#include "net/area.h"
#include "net/charge.h"
#include "net/deadline.h"
#include "net/event.h"
#include "net/filter.h"
#include "net/lent.h"
#include "net/output.h"
#include "net/protocol.h"
#include "net/tls.h"
#include "net/wait.h"
#include "net/work.h"
#include "net/worker.h"

enum {
    NOWHERE = UINT32_MAX,
    OWN_MIN = 2048, /* bytes of space for a receive into memory of the channel */
    /* bytes of space for what a filter makes from one receive; more if needed */
    FILTERED_MIN = 500,
    RECEIVE_MAX = 64 * 1024 /* one receive takes at most this many bytes */
};

static const struct memory_source *source_of(const struct channel *channel)
{
    return &channel->worker->system->source;
}

/* ---- Memory. ---- */

static void area_leave(struct channel *channel)
{
    struct channel_input *input = &channel->work->input;
    if (!input->area)
        return;
    tr__area_give(source_of(channel), channel->worker->channels.net->area, input->area);
    input->area = NULL;
    input->buffer = NET_BUFFER(source_of(channel));
}

/*
 * Gives the memory of an input back, to its area or to the worker. The input must have no unread
 * bytes.
 */
static void memory_release(struct channel *channel)
{
    if (channel->work->input.area)
        area_leave(channel);
    else if (channel->work->input.buffer.data)
        net_buffer_spare(&channel->work->input.buffer, &channel->worker->channels.net->spare_input);
}

tr_status tr__input_leave_area(struct channel *channel, size_t more)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct channel_input *input = &channel->work->input;
    if (!input->area)
        return TR_OK;
    tr_bytes bytes = net_buffer_bytes(&input->buffer);
    struct net_buffer own = NET_BUFFER(source_of(channel));
    void *to = net_buffer_reserve(&own, bytes.size + more + 1);
    if (!to)
        return TR_NO_MEMORY;
    if (bytes.data)
        memcpy(to, bytes.data, bytes.size);
    net_buffer_commit(&own, bytes.size);
    area_leave(channel);
    input->buffer = own;
    return TR_OK;
}

/*
 * Makes space for at least `more` + 1 bytes behind the unread bytes. The last one is for a NUL.
 * Fails with TR_NO_MEMORY.
 */
static tr_status reserve(struct channel *channel, size_t more)
{
    struct channel_work *work = work_of(channel);
    if (!work)
        return TR_NO_MEMORY;
    struct channel_input *input = &work->input;
    struct net_worker *net = channel->worker->channels.net;
    if (net_buffer_size(&input->buffer) > 0) {
        tr_status status = tr__input_leave_area(channel, more);
        if (status != TR_OK)
            return status;
        return net_buffer_reserve(&input->buffer, more + 1) ? TR_OK : TR_NO_MEMORY;
    }
    memory_release(channel);
    if (channel->rare->filter.table)
        net_buffer_use(&input->buffer, &net->spare_input);
    if (channel->rare->filter.table || more > AREA_LOW - 1)
        return net_buffer_reserve(&input->buffer, more + 1) ? TR_OK : TR_NO_MEMORY;
    struct area *area = tr__area_take(source_of(channel), &net->area);
    if (!area)
        return TR_NO_MEMORY;
    input->area = area;
    input->buffer = (struct net_buffer){.source = source_of(channel),
                                        .data = area->bytes + area->used,
                                        .capacity = AREA_SIZE - area->used};
    return TR_OK;
}

/* ---- Filling. ---- */

/*
 * Call after a receive. If the receive has returned fewer bytes than there was space for, no more
 * bytes have come. Then clears CHANNEL_READABLE, unless the other side has ended.
 */
static void note_received(struct channel *channel, size_t got, size_t room)
{
    if (got < room && !channel_has(channel, CHANNEL_HUNG_UP))
        channel->flags &= ~(uint32_t)CHANNEL_READABLE;
    channel_note_active(channel);
}

/*
 * Receives into `buffer`, which must have space. Returns TR_OK, TR_WOULD_BLOCK, TR_CLOSED at the
 * end of the input, or an error such as TR_RESET.
 */
static tr_status receive(struct channel *channel, struct net_buffer *buffer)
{
    const tr_platform *platform = channel->worker->loop.platform;
    size_t room = buffer->capacity - buffer->end - 1;
    size_t got = 0;
    room = room < RECEIVE_MAX ? room : RECEIVE_MAX;
    tr_status status =
        platform->socket_receive(platform, channel->fd, buffer->data + buffer->end, room, &got);
    if (status == TR_WOULD_BLOCK)
        channel->flags &= ~(uint32_t)CHANNEL_READABLE;
    if (status == TR_RESET && channel->rare->process)
        /*
         * a process that ends before it has read all of its input resets its socket; that counts as
         * an end in order
         */
        return TR_CLOSED;
    if (status != TR_OK)
        return status;
    if (!got)
        return TR_CLOSED;
    net_buffer_commit(buffer, got);
    note_received(channel, got, room);
    return TR_OK;
}

static tr_status fill_plainly(struct channel *channel, size_t more)
{
    tr_status status = reserve(channel, more);
    if (status != TR_OK)
        return status;
    struct channel_input *input = &channel->work->input;
    size_t before = input->buffer.end;
    status = receive(channel, &input->buffer);
    if (input->area && status == TR_OK)
        input->area->used += (uint32_t)source_round(input->buffer.end - before + 1);
    else if (input->area)
        area_leave(channel);
    return status;
}

static bool filter_has_more(const struct channel_filter *filter)
{
    return filter->table->has_more && filter->table->has_more(filter->state);
}

/* Call when the handshake of a filter that was added to the open channel has ended. */
static void note_shaken(struct channel *channel)
{
    channel->flags &= ~(uint32_t)CHANNEL_SHAKES;
    channel->deadline_ns = TR_NEVER;
    if (work_is_there(channel))
        channel->work->output.since_ns = channel->worker->loop.now_ns;
    tr__waits_wake(&channel->readers);
    tr__output_touch(channel); /* this sends the output that has waited for the handshake */
}

/* Passes received bytes to the filter. The filter may also make bytes for the other side. */
static tr_status pass(struct channel *channel, tr_bytes raw, size_t *taken)
{
    struct channel_filter *filter = &channel->rare->filter;
    *taken = 0;
    tr_status status = filter->table->inbound(
        filter->state, raw, taken, &channel->work->input.buffer, &filter->out);
    TR_ASSERT(*taken <= raw.size);
    if (net_buffer_size(&filter->out))
        tr__output_touch(channel);
    if (filter_has_more(filter))
        channel->flags |= CHANNEL_READABLE;
    if (channel_has(channel, CHANNEL_SHAKES) && filter->table->is_open(filter->state))
        note_shaken(channel);
    if (!channel->secure_flags && filter->table == &tr__tls_filter)
        channel->secure_flags = tr__tls_describe(filter->state, &channel->secure_cipher);
    return status;
}

/* Passes the bytes that the filter has not taken before to the filter again. */
static tr_status pass_raw(struct channel *channel)
{
    struct net_buffer *raw = &channel->rare->filter.raw;
    size_t taken;
    tr_status status = pass(channel, net_buffer_bytes(raw), &taken);
    net_buffer_consume(raw, taken);
    if (!net_buffer_size(raw))
        tr__net_buffer_free(raw);
    return status;
}

/* Receives for a filter that takes all bytes. Uses the area of the worker only during this call. */
static tr_status receive_and_pass(struct channel *channel)
{
    struct area **current = &channel->worker->channels.net->area;
    struct area *area = tr__area_take(source_of(channel), current);
    if (!area)
        return TR_NO_MEMORY;
    struct net_buffer raw = {.data = area->bytes + area->used, .capacity = AREA_SIZE - area->used};
    tr_status status = receive(channel, &raw);
    if (status == TR_OK) {
        size_t taken;
        status = pass(channel, net_buffer_bytes(&raw), &taken);
        TR_ASSERT(status != TR_OK || taken == net_buffer_size(&raw));
    } else if (status == TR_CLOSED) {
        status = channel->rare->filter.table->input_end(channel->rare->filter.state);
    }
    tr__area_give(source_of(channel), *current, area);
    return status;
}

/* Receives for a filter that may leave bytes untaken. */
static tr_status receive_raw(struct channel *channel)
{
    struct channel_filter *filter = &channel->rare->filter;
    tr_status status = TR_OK;
    if (!filter_has_more(filter)) {
        if (!net_buffer_reserve(&filter->raw, AREA_LOW))
            return TR_NO_MEMORY;
        status = receive(channel, &filter->raw);
    }
    if (status == TR_CLOSED)
        return filter->table->input_end(filter->state);
    if (status == TR_WOULD_BLOCK && !net_buffer_size(&filter->raw))
        tr__net_buffer_free(&filter->raw);
    return status == TR_OK ? pass_raw(channel) : status;
}

static tr_status fill_filtered(struct channel *channel, size_t more)
{
    size_t before = net_buffer_size(&channel->work->input.buffer);
    tr_status status = reserve(channel, before ? more : FILTERED_MIN);
    if (status != TR_OK)
        return status;
    bool is_kept = !channel->rare->filter.table->takes_all || channel->rare->filter.raw.data;
    status = is_kept ? receive_raw(channel) : receive_and_pass(channel);
    bool has_more = net_buffer_size(&channel->work->input.buffer) > before;
    if (status == TR_OK && !has_more)
        return channel_has(channel, CHANNEL_READABLE) ? TR_OK : TR_WOULD_BLOCK;
    return status;
}

static tr_status fill(struct channel *channel, size_t more)
{
    tr_status status =
        channel->rare->filter.table ? fill_filtered(channel, more) : fill_plainly(channel, more);
    if (status == TR_CLOSED) {
        channel->flags |= CHANNEL_INPUT_OVER;
        channel->flags &= ~(uint32_t)CHANNEL_READABLE;
    }
    channel_charge(channel);
    return status;
}

tr_status tr__input_peek(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (channel_has(channel, CHANNEL_INPUT_OVER))
        return TR_CLOSED;
    return fill(channel, OWN_MIN);
}

tr_status tr__input_filter_again(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    tr_bytes bytes = net_buffer_bytes(&channel->work->input.buffer);
    tr_status status = tr__net_buffer_append(&channel->rare->filter.raw, bytes.data, bytes.size);
    if (status != TR_OK || bytes.size == 0)
        return status;
    net_buffer_consume(&channel->work->input.buffer, bytes.size);
    return pass_raw(channel);
}

/* ---- Cutting. ---- */

static size_t cut_line(tr_bytes bytes, size_t seen, tr_bytes *piece)
{
    const unsigned char *data = bytes.data;
    const unsigned char *end = memchr(data + seen, '\n', bytes.size - seen);
    if (!end)
        return 0;
    size_t size = (size_t)(end - data);
    *piece = (tr_bytes){data, size && data[size - 1] == '\r' ? size - 1 : size};
    return size + 1;
}

static size_t cut_until(tr_bytes bytes, size_t seen, tr_bytes end, tr_bytes *piece)
{
    const unsigned char *data = bytes.data;
    size_t from = seen >= end.size ? seen - end.size + 1 : 0;
    const unsigned char *at = memmem(data + from, bytes.size - from, end.data, end.size);
    if (!at)
        return 0;
    *piece = (tr_bytes){data, (size_t)(at - data) + end.size};
    return piece->size;
}

/* Cuts a piece from the beginning of `bytes`. Returns what tr_framing.cut returns. */
static size_t cut(const struct channel *channel, const struct cutter *cutter, tr_bytes bytes,
                  size_t seen, tr_bytes *piece)
{
    const tr_framing *framing = channel->endpoint->options.framing;
    switch (cutter->how) {
    case CUT_LINE:
        return cut_line(bytes, seen, piece);
    case CUT_EXACTLY:
        *piece = (tr_bytes){bytes.data, cutter->size};
        return bytes.size >= cutter->size ? cutter->size : 0;
    case CUT_UNTIL:
        return cut_until(bytes, seen, cutter->end, piece);
    case CUT_SOME:
        *piece = (tr_bytes){bytes.data, bytes.size < cutter->size ? bytes.size : cutter->size};
        return piece->size;
    case CUT_PIECE:
        break;
    }
    if (protocol_of(channel))
        return protocol_of(channel)->cut(channel, bytes, seen, piece);
    if (framing)
        return framing->cut(framing, bytes, seen, piece);
    *piece = bytes;
    return bytes.size;
}

static bool is_line(const struct channel *channel, const struct cutter *cutter)
{
    return cutter->how == CUT_LINE ||
           (cutter->how == CUT_PIECE && channel->endpoint->options.framing == TR_LINES);
}

/* ---- Taking. ---- */

static void borrow(struct tr_self *self, struct channel *channel)
{
    struct channel_input *input = &channel->work->input;
    if (input->borrower == self || !self)
        return;
    TR_ASSERT_SLOW(!input->borrower);
    input->borrower = self;
    input->borrowed_next = self->borrowed;
    self->borrowed = channel;
    turn_require_slow_end(self);
}

void tr__input_unborrow(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct tr_self *self = channel->work->input.borrower;
    if (!self)
        return;
    struct channel **at = &self->borrowed;
    while (*at && *at != channel)
        at = &(*at)->work->input.borrowed_next;
    if (*at)
        *at = channel->work->input.borrowed_next;
    channel->work->input.borrower = NULL;
}

/* Ends the last piece. Restores the byte that a NUL has overwritten behind the piece. */
static void piece_end(struct channel_input *input)
{
    if (input->piece == NOWHERE)
        /* there is no piece, and the record may be tr__no_work, which must not be written */
        return;
    if (input->nul != NOWHERE)
        input->buffer.data[input->nul] = input->under_nul;
    input->nul = NOWHERE;
    input->piece = NOWHERE;
}

/*
 * Lends a turn the piece at the beginning of the unread bytes. `size` counts the piece and the
 * bytes around it, such as a length before it or a line end behind it.
 */
static void piece_begin(struct tr_self *self, struct channel *channel, size_t size, tr_bytes piece,
                        bool has_nul)
{
    struct channel_input *input = &channel->work->input;
    input->piece = (uint32_t)input->buffer.begin;
    input->buffer.begin += size;
    input->seen = 0;
    input->needs = 0;
    input->is_empty = !piece.size;
    if (has_nul) {
        input->nul =
            (uint32_t)((const unsigned char *)piece.data + piece.size - input->buffer.data);
        input->under_nul = input->buffer.data[input->nul];
        input->buffer.data[input->nul] = 0;
    }
    borrow(self, channel);
}

static tr_status take_last(struct tr_self *self, struct channel *channel,
                           const struct cutter *cutter, tr_bytes *piece, bool *is_cut)
{
    *is_cut = net_buffer_size(&channel->work->input.buffer) > 0;
    if (!*is_cut || !is_line(channel, cutter))
        return TR_CLOSED;
    /* a buffer of the channel needs one more byte for a NUL; an area always has one */
    if (!net_buffer_reserve(&channel->work->input.buffer, 1))
        return TR_NO_MEMORY;
    tr_bytes bytes = net_buffer_bytes(&channel->work->input.buffer);
    if (bytes.size > channel->endpoint->options.frame_max)
        return TR_TOO_LARGE;
    *piece = bytes; /* the last line of the input may have no line end */
    piece_begin(self, channel, bytes.size, bytes, true);
    return TR_OK;
}

/* Whether a cutter itself says where a piece ends, so that the framing is not needed. */
static bool finds_end(const struct cutter *cutter)
{
    return cutter->how == CUT_LINE || cutter->how == CUT_EXACTLY || cutter->how == CUT_UNTIL;
}

/* Looks for a piece in the unread bytes. Returns TR_OK, TR_WOULD_BLOCK, TR_BAD_DATA or
 * TR_TOO_LARGE. */
static tr_status piece_find(struct tr_self *self, struct channel *channel,
                            const struct cutter *cutter, tr_bytes *piece)
{
    struct channel_input *input = &channel->work->input;
    tr_bytes bytes = net_buffer_bytes(&input->buffer);
    size_t max = channel->endpoint->options.frame_max;
    size_t seen = input->how == cutter->how ? input->seen : 0;
    bool is_new = bytes.size > seen && (bytes.size > input->needs || finds_end(cutter));
    if (cutter->how == CUT_EXACTLY && cutter->size <= bytes.size && bytes.size)
        is_new = true;
    if (!is_new)
        /*
         * return before anything is written: the record may be tr__no_work, which must not be
         * written
         */
        return TR_WOULD_BLOCK;
    input->how = (uint8_t)cutter->how;
    input->seen = (uint32_t)seen;
    size_t size = cut(channel, cutter, bytes, seen, piece);
    if (size == SIZE_MAX)
        return TR_BAD_DATA;
    if (size || (cutter->how == CUT_EXACTLY && !cutter->size)) {
        TR_ASSERT(size <= bytes.size);
        if (piece->size > max && (cutter->how != CUT_PIECE || channel->endpoint->options.framing))
            return TR_TOO_LARGE;
        piece_begin(self, channel, size, *piece, is_line(channel, cutter));
        return TR_OK;
    }
    input->seen = (uint32_t)bytes.size;
    return bytes.size > max + TR_FRAME_HEAD_MAX ? TR_TOO_LARGE : TR_WOULD_BLOCK;
}

/* Returns how many bytes of space the next receive should have. */
static size_t wanted(const struct channel *channel, const struct cutter *cutter)
{
    size_t there = net_buffer_size(&channel->work->input.buffer);
    if (cutter->how == CUT_EXACTLY && cutter->size > there + OWN_MIN)
        return cutter->size - there;
    /*
     * double the space each time, so that a piece that comes in many parts is copied only a few
     * times
     */
    return there > OWN_MIN ? there : OWN_MIN;
}

tr_status tr__input_take(struct tr_self *self, struct channel *channel, const struct cutter *cutter,
                         tr_bytes *piece, bool *is_cut)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    *is_cut = false;
    if (self && self->lent)
        tr__lent_return(self, channel);
    if (channel->work->input.borrower != self && tr__lent_away(channel) != TR_OK)
        return TR_NO_MEMORY;
    piece_end(&channel->work->input);
    if (cutter->how == CUT_EXACTLY && cutter->size > channel->endpoint->options.frame_max)
        return TR_TOO_LARGE;
    for (;;) {
        tr_status status = TR_WOULD_BLOCK;
        if (net_buffer_size(&channel->work->input.buffer))
            status = piece_find(self, channel, cutter, piece);
        if (status != TR_WOULD_BLOCK)
            return status;
        if (channel_has(channel, CHANNEL_INPUT_OVER))
            return take_last(self, channel, cutter, piece, is_cut);
        if (net_buffer_size(&channel->work->input.buffer) >
            channel->endpoint->options.frame_max + AREA_SIZE)
            /*
             * receiving alone never fills the buffer to this size, so the program has put too many
             * bytes back by tr_unread
             */
            return TR_TOO_LARGE;
        status = channel_has(channel, CHANNEL_READABLE) ? fill(channel, wanted(channel, cutter))
                                                        : TR_WOULD_BLOCK;
        if (status == TR_OK || status == TR_CLOSED)
            continue;
        if (status == TR_WOULD_BLOCK)
            tr__input_settle(channel);
        return status;
    }
}

void tr__input_watch_end(struct tr_self *self, struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (channel->work->input.borrower != self && tr__lent_away(channel) != TR_OK)
        /*
         * out of memory, so the turn that uses the bytes keeps them; the end of that turn checks
         * the channel again
         */
        return;
    if (work_of(channel))
        borrow(self, channel);
    else
        tr__channel_starve(channel);
}

bool tr__input_unread(struct channel *channel, size_t size)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct channel_input *input = &channel->work->input;
    bool is_piece = input->how == CUT_PIECE || input->how == CUT_SOME;
    bool is_framed = input->how == CUT_PIECE && channel->endpoint->options.framing;
    bool is_whole = is_framed || input->how == CUT_LINE;
    bool is_empty = is_whole && input->is_empty && input->piece != NOWHERE;
    if (!size && !is_empty)
        return true;
    if (input->piece == NOWHERE)
        return false;
    size_t begin = input->piece;
    if (!is_whole) {
        if (size > input->buffer.begin - begin)
            return false;
        begin = input->buffer.begin - size;
    }
    bool has_more = net_buffer_size(&input->buffer) > 0;
    piece_end(input);
    input->buffer.begin = begin;
    input->seen = 0;
    /*
     * Without a rule for the end of a piece, these bytes would be the next piece again, so wait
     * until more come. With such a rule the bytes are a whole piece, so do not wait.
     */
    bool waits_for_more = is_piece && !is_framed && !has_more;
    input->needs = waits_for_more ? (uint32_t)net_buffer_size(&input->buffer) : 0;
    return true;
}

void tr__input_look_again(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (work_is_there(channel))
        channel->work->input.seen = channel->work->input.needs = 0;
}

bool tr__input_more(struct channel *channel, size_t size, tr_bytes *bytes)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct net_buffer *buffer = &channel->work->input.buffer;
    if (channel->work->input.piece == NOWHERE || net_buffer_size(buffer) < size)
        return false;
    *bytes = (tr_bytes){buffer->data + buffer->begin, size};
    buffer->begin += size;
    return true;
}

bool tr__input_has_bytes(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    size_t size = net_buffer_size(&channel->work->input.buffer);
    return size > channel->work->input.needs && size > channel->work->input.seen;
}

void tr__input_settle(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct channel_input *input = &channel->work->input;
    tr__input_unborrow(channel);
    piece_end(input);
    if (!net_buffer_size(&input->buffer))
        memory_release(channel);
    else if (!tr__input_has_bytes(channel))
        /* if there is no memory, the bytes stay in the area */
        (void)tr__input_leave_area(channel, 0);
    work_rest(channel);
    channel_charge(channel);
}

void tr__input_drop(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (!work_is_there(channel))
        return;
    channel->work->input.buffer.begin = channel->work->input.buffer.end;
    if (!channel->work->input.borrower)
        tr__input_settle(channel);
}

void tr__input_abandon(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (work_is_there(channel))
        channel->work->input.borrower = NULL;
}

void tr__input_replace(struct channel *channel, struct net_buffer rest)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct channel_input *input = &channel->work->input;
    input->area = NULL;
    input->buffer = rest;
    input->nul = NOWHERE;
    input->piece = NOWHERE;
}

void tr__input_free(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (!work_is_there(channel))
        return;
    tr__input_unborrow(channel);
    channel->work->input.nul = NOWHERE;
    channel->work->input.piece = NOWHERE;
    memory_release(channel);
}
