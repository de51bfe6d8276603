/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pieces.h"

#include <string.h>

#include "actor/cell/system.h"
#include "actor/mail/kind.h"
#include "base/assert.h"
#include "net/channel_end.h"
#include "net/charge.h"
#include "net/deadline.h"
#include "net/input.h"
#include "net/output.h"
#include "net/rare.h"
#include "net/wait.h"

struct piece {
    struct list link; /* link in pieces.all */
    /* the channel of the piece; NULL: it is gone, or belongs to another actor */
    struct channel *channel;
    bool is_done; /* the turn of the piece has ended */
    uint8_t end;  /* enum piece_end: how the turn wants to end the channel */
    /* output of the turn that is held back; the first piece holds nothing back */
    struct net_buffer held;
};

static const struct memory_source *source_of(const struct worker *worker)
{
    return &worker->system->source;
}

static bool is_ordered(const struct channel *channel)
{
    return channel->endpoint->options.answers_in_order;
}

/*
 * Returns the piece that this turn handles. Returns NULL if the turn handles no piece of this
 * channel.
 */
static struct piece *piece_of(const struct tr_self *self, const struct channel *channel)
{
    const struct envelope *envelope = self->envelope;
    if (!channel->rare->pieces || !envelope || envelope->kind != ENVELOPE_CHANNEL ||
        !(envelope->sender & PIECE_TAG))
        return NULL;
    struct piece *piece = (struct piece *)(uintptr_t)(envelope->sender & ~(uint64_t)PIECE_TAG);
    return piece->channel == channel ? piece : NULL;
}

static bool is_first(const struct channel *channel, const struct piece *piece)
{
    return list_first(&channel->rare->pieces->all) == &piece->link;
}

/* ---- Beginning. ---- */

bool tr__pieces_are_of(const struct tr_self *self, const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (!channel->rare->pieces)
        return true;
    const struct piece *piece = piece_of(self, channel);
    uint32_t own = piece && is_first(channel, piece);
    return channel->rare->pieces->open == own;
}

static struct piece *piece_new(struct channel *channel)
{
    const struct memory_source *source = source_of(channel->worker);
    struct channel_rare *rare = tr__rare_of(channel);
    if (!rare)
        return NULL;
    if (!rare->pieces) {
        rare->pieces = source_resize(source, NULL, sizeof *rare->pieces);
        if (!rare->pieces)
            return NULL;
        channel->rare->pieces->open = 0;
        list_init(&channel->rare->pieces->all);
    }
    struct piece *piece = source_resize(source, NULL, sizeof *piece);
    if (!piece)
        return NULL;
    *piece = (struct piece){.channel = channel, .held = NET_BUFFER(source)};
    list_init(&piece->link);
    return piece;
}

tr_status tr__piece_begin(struct tr_self *self, struct channel *channel, struct envelope *envelope,
                          tr_bytes *bytes)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    char *copy = tr_try_scratch(self, bytes->size + 1);
    struct piece *piece = copy ? piece_new(channel) : NULL;
    if (!piece)
        return TR_NO_MEMORY;
    if (bytes->size)
        memcpy(copy, bytes->data, bytes->size);
    copy[bytes->size] = 0;
    *bytes = (tr_bytes){copy, bytes->size};
    tr__input_settle(channel);
    list_push_last(&channel->rare->pieces->all, &piece->link);
    channel->rare->pieces->open++;
    static_assert(_Alignof(struct piece) > PIECE_TAG, "a tag fits into the address");
    envelope->sender = (uintptr_t)piece | PIECE_TAG;
    channel->event = NULL;
    channel->flags &= ~(uint32_t)CHANNEL_IN_TURN;
    return TR_OK;
}

/* ---- Sending answers in the order of their pieces. ---- */

struct net_buffer *tr__piece_held(const struct tr_self *self, const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (!is_ordered(channel))
        return NULL;
    struct piece *piece = piece_of(self, channel);
    return piece && !is_first(channel, piece) ? &piece->held : NULL;
}

bool tr__pieces_hold_much(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    LIST_EACH (link, &channel->rare->pieces->all) {
        const struct piece *piece = LIST_OWNER(link, const struct piece, link);
        if (net_buffer_size(&piece->held) >= channel->endpoint->options.output_max)
            return true;
    }
    return false;
}

size_t tr__pieces_bytes(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const struct pieces *pieces = channel->rare->pieces;
    if (!pieces)
        return 0;
    size_t bytes = sizeof *pieces;
    LIST_EACH (link, &pieces->all) {
        const struct piece *piece = LIST_OWNER(link, const struct piece, link);
        bytes += sizeof *piece + piece->held.capacity;
    }
    return bytes;
}

bool tr__piece_delays_end(const struct tr_self *self, const struct channel *channel,
                          enum piece_end end)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (!piece_held(self, channel))
        return false;
    struct piece *piece = piece_of(self, channel);
    if (end > piece->end)
        piece->end = (uint8_t)end;
    return true;
}

/*
 * Writes the output of a piece's turn that was held back until now to the channel. The channel may
 * end.
 */
static void held_write(struct channel *channel, struct piece *piece)
{
    tr_bytes bytes = net_buffer_bytes(&piece->held);
    tr_status status = TR_OK;
    if (bytes.size && channel->state == CHANNEL_OPEN && !channel_has(channel, CHANNEL_FINISHING))
        status = tr__output_append(channel, bytes.data, bytes.size);
    tr__net_buffer_free(&piece->held);
    if (status != TR_OK)
        tr__channel_end(channel, status, NULL);
}

static void piece_remove(const struct worker *worker, struct piece *piece)
{
    list_remove(&piece->link);
    tr__net_buffer_free(&piece->held);
    source_resize(source_of(worker), piece, 0);
}

/*
 * Writes the held answers of the first pieces to the channel, up to and including the first piece
 * whose turn has not ended.
 */
static void advance(struct channel *channel)
{
    const struct worker *worker = channel->worker;
    struct list *link;
    while (channel->rare->pieces && (link = list_first(&channel->rare->pieces->all))) {
        struct piece *piece = LIST_OWNER(link, struct piece, link);
        uint8_t end = piece->end;
        bool is_done = piece->is_done;
        held_write(channel, piece);
        if (is_done)
            piece_remove(worker, piece);
        if (end == PIECE_FINISHES && channel->state == CHANNEL_OPEN)
            tr__channel_finish(channel);
        if (end == PIECE_CLOSES) {
            tr__pieces_drop(channel); /* what follows a close is not sent */
            tr__channel_close(channel);
        }
        if (!is_done || end == PIECE_CLOSES)
            break;
    }
    /* wake turns that wait because too much of their output was held back */
    tr__waits_wake(&channel->writers);
}

void tr__piece_done(struct worker *worker, struct envelope *envelope)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct piece *piece = (struct piece *)(uintptr_t)(envelope->sender & ~(uint64_t)PIECE_TAG);
    struct channel *channel = piece->channel;
    envelope_give(&worker->pool, envelope);
    if (!channel) {
        piece_remove(worker, piece);
        return;
    }
    TR_ASSERT(channel->rare->pieces->open > 0);
    channel->rare->pieces->open--;
    channel_note_active(channel);
    piece->is_done = true;
    if (!is_ordered(channel))
        piece_remove(worker, piece);
    else if (is_first(channel, piece))
        advance(channel);
    channel_charge(channel);
    tr__channel_call(channel);
}

void tr__pieces_close(const struct tr_self *self, struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (channel->rare->pieces && piece_of(self, channel))
        tr__pieces_drop(channel);
    else
        tr__pieces_release(channel);
}

void tr__pieces_release(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (!channel->rare->pieces)
        return;
    LIST_EACH (link, &channel->rare->pieces->all)
        held_write(channel, LIST_OWNER(link, struct piece, link));
}

void tr__pieces_drop(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (!channel->rare->pieces)
        return;
    LIST_EACH (link, &channel->rare->pieces->all)
        tr__net_buffer_free(&LIST_OWNER(link, struct piece, link)->held);
}

void tr__pieces_free(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct pieces *pieces = channel->rare->pieces;
    struct list *link;
    if (!pieces)
        return;
    while ((link = list_pop_first(&pieces->all))) {
        struct piece *piece = LIST_OWNER(link, struct piece, link);
        list_init(&piece->link);
        piece->channel = NULL;
        if (piece->is_done)
            piece_remove(channel->worker, piece);
    }
    source_resize(source_of(channel->worker), pieces, 0);
    channel->rare->pieces = NULL;
}
