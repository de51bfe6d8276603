/* SPDX-License-Identifier: Apache-2.0 */
#include "net/hooks.h"

#include "actor/mail/mail.h"
#include "base/assert.h"
#include "net/datagram.h"
#include "net/dial.h"
#include "net/exchange.h"
#include "net/input.h"
#include "net/listener.h"
#include "net/move.h"
#include "net/output.h"
#include "net/pieces.h"
#include "net/table.h"
#include "net/worker.h"

/* ---- The worker. ---- */

static void on_io(struct worker *worker, uint64_t token, uint32_t what)
{
    struct channel *channel = tr__table_find(worker->system, token);
    if (channel && channel->worker == worker)
        tr__channel_ready(channel, what);
}

static void on_round(struct worker *worker, tr_time now_ns)
{
    struct net_worker *net = worker->channels.net;
    struct timer_node *node;
    while ((node = tr__wheel_expire(&net->wheel, now_ns)))
        tr__channel_expired(LIST_OWNER(node, struct channel, timer), now_ns);
    /* Those for which there is still no memory come back to the list, for a later round. */
    struct list again;
    struct list *link;
    list_init(&again);
    list_append(&again, &net->starved);
    while ((link = list_pop_first(&again)))
        tr__channel_call(LIST_OWNER(link, struct channel, starved));
}

/* Memory that was missing is asked for again so soon. */
#define STARVED_NS (10 * TR_MILLISECOND)

static tr_time next_deadline(struct worker *worker)
{
    struct net_worker *net = worker->channels.net;
    tr_time next = wheel_next(&net->wheel);
    if (list_is_empty(&net->starved))
        return next;
    tr_time again = worker->loop.now_ns + STARVED_NS;
    return again < next ? again : next;
}

static bool is_sending(const struct worker *worker)
{
    if (!worker->channels.net)
        return false;
    LIST_EACH (link, &worker->channels.net->lingering) {
        if (!tr__output_is_empty(LIST_OWNER(link, struct channel, link)))
            return true;
    }
    return false;
}

/* ---- Events. ---- */

static struct channel *channel_of(const struct envelope *envelope)
{
    return (struct channel *)(uintptr_t)envelope->sender;
}

/* Fills an event with a message that lies inside it. */
static void put(struct envelope *envelope, const tr_type *type, const void *message, size_t size)
{
    static_assert(sizeof(struct tr_received) <= ENVELOPE_INLINE,
                  "events have no memory of their own");
    static_assert(sizeof(struct tr_closed) <= ENVELOPE_INLINE,
                  "events have no memory of their own");
    envelope->type = type;
    envelope_copy(envelope, message, size);
}

/*
 * tr_opened has more than fits: it is in memory of the channel until the turn has ended. It cannot be in a block of
 * the worker's pool, because the envelope may be of another worker, from which the actor has moved.
 */
static bool put_opened(struct channel *channel, struct envelope *envelope)
{
    struct tr_opened *message =
        source_resize(&channel->worker->system->source, NULL, sizeof *message);
    if (!message)
        return false;
    *message =
        (struct tr_opened){.channel = {channel_bits(channel)},
                           .peer = tr__channel_peer(channel),
                           .is_accepted = channel_has(channel, CHANNEL_ACCEPTED | CHANNEL_TAKEN),
                           .is_handed_over = channel_has(channel, CHANNEL_HANDED_OVER),
                           .protocol = tr__channel_protocol(channel)};
    channel->opened = message;
    tr__event_lend(envelope, &tr_type_tr_opened, message);
    return true;
}

static void put_closed(struct channel *channel, struct envelope *envelope)
{
    struct tr_closed message = {
        .channel = {channel_bits(channel)}, .status = channel->status, .text = channel->text};
    put(envelope, &tr_type_tr_closed, &message, sizeof message);
}

/*
 * Gives the turn a copy of its piece if others are read before it ends. False: out of memory. Then no turn begins, the
 * piece is unread, and comes again soon.
 */
static bool piece_keep(struct tr_self *self, struct channel *channel, struct envelope *envelope,
                       tr_bytes *bytes)
{
    size_t size = bytes->size ? bytes->size : 1;
    bool is_copied = false;
    tr_status status = TR_OK;
    if (channel->exchanges) {
        status = tr__exchanges_pass(self, channel, bytes);
        is_copied = status == TR_OK;
    }
    if (status == TR_OK && channel->endpoint->options.interleaves)
        status = tr__piece_begin(self, channel, envelope, bytes);
    if (status == TR_OK || is_copied) /* one that was copied is handled alone if it must be */
        return true;
    if (!tr__input_unread(channel, size))
        TR_NOT_REACHED("a piece that was just taken can be unread");
    channel->input.needs = 0;
    tr__input_settle(channel); /* nobody has borrowed it */
    tr__channel_starve(channel);
    return false;
}

/*
 * Takes the next piece for the handler. False: there is none, or the channel has ended. After an error the
 * channel has CHANNEL_CLOSES.
 */
static bool put_piece(struct tr_self *self, struct channel *channel, struct envelope *envelope)
{
    static const struct cutter piece_cutter = {.how = CUT_PIECE};
    const tr_handler *handler =
        dispatch_find(&self->worker->dispatches, channel->cell->dispatch, &tr_type_tr_received);
    if (!handler || !list_is_empty(&channel->readers) || exchanges_are_first(channel) ||
        !pieces_may_begin(channel))
        return false;
    struct tr_received message = {.channel = {channel_bits(channel)}};
    bool is_cut;
    tr_status status = tr__input_take(self, channel, &piece_cutter, &message.bytes, &is_cut);
    if (status == TR_OK && !piece_keep(self, channel, envelope, &message.bytes))
        return false;
    if (status == TR_OK) {
        put(envelope, &tr_type_tr_received, &message, sizeof message);
        return true;
    }
    if (status == TR_CLOSED && pieces_are_open(channel))
        return false; /* they may still write */
    if (status == TR_CLOSED)
        tr__channel_hang_up(channel);
    else if (status != TR_WOULD_BLOCK && channel->state != CHANNEL_ENDED)
        tr__channel_end(channel, status, NULL);
    return false;
}

/* Fills the event with what comes next. False: nothing. */
static bool fill_event(struct tr_self *self, struct channel *channel, struct envelope *envelope)
{
    struct {
        tr_channel channel;
    } handle = {{channel_bits(channel)}};
    if (channel_has(channel, CHANNEL_DIALED)) {
        channel->flags &= ~(uint32_t)CHANNEL_DIALED;
        put(envelope, &tr__dialing_type, &handle, sizeof handle);
        return true;
    }
    if (channel->kind == CHANNEL_LISTENER && channel->state == CHANNEL_OPEN) {
        put(envelope, &tr__acceptable_type, &handle, sizeof handle);
        return channel_has(channel, CHANNEL_READABLE);
    }
    if (channel_has(channel, CHANNEL_OPENS)) {
        if (!put_opened(channel, envelope)) {
            tr__channel_starve(channel); /* nothing comes before tr_opened */
            return false;
        }
        channel->flags &= ~(uint32_t)CHANNEL_OPENS;
        return true;
    }
    if (channel->kind == CHANNEL_DATAGRAM && tr__datagram_put(self, channel, envelope))
        return true;
    if (channel->kind == CHANNEL_STREAM &&
        (channel->state == CHANNEL_OPEN || channel->state == CHANNEL_ENDED) &&
        put_piece(self, channel, envelope))
        return true;
    if (channel_has(channel, CHANNEL_DRAINS) &&
        channel->output.size <= channel->endpoint->options.output_max / 2) {
        channel->flags &= ~(uint32_t)CHANNEL_DRAINS;
        put(envelope, &tr_type_tr_drained, &handle, sizeof handle);
        return true;
    }
    /* Bytes that a turn may still read come before the end. */
    if (channel_has(channel, CHANNEL_CLOSES) && list_is_empty(&channel->readers) &&
        list_is_empty(&channel->writers) && !pieces_are_open(channel)) {
        channel->flags &= ~(uint32_t)CHANNEL_CLOSES;
        put_closed(channel, envelope);
        return true;
    }
    return false;
}

static bool admit(struct tr_self *self, struct envelope *envelope)
{
    struct channel *channel = channel_of(envelope);
    TR_ASSERT_SLOW(channel->event == envelope && channel->cell == self->cell);
    channel->flags |= CHANNEL_IN_TURN; /* so that an end leaves the envelope alone */
    if (fill_event(self, channel, envelope)) {
        atom64_count(&self->worker->counters.accepted, 1);
        if (envelope->sender & PIECE_TAG)
            tr__channel_call(channel); /* the next piece may begin while this one waits */
        return true;
    }
    channel->flags &= ~(uint32_t)CHANNEL_IN_TURN;
    channel->event = NULL;
    envelope->kind = ENVELOPE_VOID;
    envelope_give(&self->worker->pool, envelope);
    return false;
}

/* Takes back what was lent to an envelope. */
static void event_empty(struct channel *channel, struct envelope *envelope)
{
    if (envelope->block_class != ENVELOPE_LENT)
        return;
    envelope->block_class = ENVELOPE_NO_BLOCK;
    if (channel->opened) {
        source_resize(&channel->worker->system->source, channel->opened, 0);
        channel->opened = NULL;
    }
    tr__datagram_done(channel);
}

static void on_done(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    (void)cell;
    if (envelope->sender & PIECE_TAG) {
        tr__piece_done(worker, envelope);
        return;
    }
    struct channel *channel = channel_of(envelope);
    if (!channel) { /* it was freed, or handed over, by its own turn */
        if (envelope->block_class == ENVELOPE_LENT && envelope->type == &tr_type_tr_opened)
            source_resize(&worker->system->source, envelope->payload.block.data, 0);
        envelope->block_class = ENVELOPE_NO_BLOCK;
        envelope_give(&worker->pool, envelope);
        return;
    }
    bool was_closed = envelope->type == &tr_type_tr_closed;
    event_empty(channel, envelope);
    channel->event = NULL;
    channel->flags &= ~(uint32_t)CHANNEL_IN_TURN;
    envelope_give(&worker->pool, envelope);
    if (was_closed)
        tr__channel_free(channel);
    else
        tr__channel_call(channel);
}

/* ---- Without a handler. ---- */

static tr_next on_closed_session(tr_self *self, void *state, const void *message)
{
    (void)self;
    (void)state;
    (void)message;
    return TR_STOP;
}

static tr_next on_closed_dialed(tr_self *self, void *state, const void *message)
{
    (void)state;
    const struct tr_closed *closed = message;
    if (closed->status == TR_OK)
        return TR_SAME;
    return tr_fail(self,
                   closed->status,
                   "a channel has ended: %s%s%s",
                   tr_status_text(closed->status),
                   closed->text ? ": " : "",
                   closed->text ? closed->text : "");
}

static tr_next on_ignored(tr_self *self, void *state, const void *message)
{
    (void)self;
    (void)state;
    (void)message;
    return TR_SAME;
}

static const tr_handler closed_session = {
    .type = &tr_type_tr_closed, .call = on_closed_session, .name = "tr_closed"};
static const tr_handler closed_dialed = {
    .type = &tr_type_tr_closed, .call = on_closed_dialed, .name = "tr_closed"};
static const tr_handler ignored = {
    .type = &tr_type_tr_drained, .call = on_ignored, .name = "tr_drained"};

static const tr_handler *fallback(struct tr_self *self, const struct envelope *envelope)
{
    (void)self;
    if (envelope->type == &tr__dialing_type)
        return &tr__dial_handler;
    if (envelope->type == &tr_type_tr_closed && channel_has(channel_of(envelope), CHANNEL_TAKEN))
        return &ignored; /* its other channels are not concerned */
    if (envelope->type == &tr_type_tr_closed)
        return channel_has(channel_of(envelope), CHANNEL_ACCEPTED) ? &closed_session
                                                                   : &closed_dialed;
    if (envelope->type == &tr_type_tr_drained || envelope->type == &tr_type_tr_opened)
        return &ignored;
    return NULL;
}

/* ---- The actor. ---- */

static void on_birth(struct worker *worker, struct cell *cell)
{
    struct channel *channel = worker->channels.newborn;
    worker->channels.newborn = NULL;
    if (tr__channel_adopt(channel, cell) != TR_OK)
        return; /* its deck sees that it has no actor, and stops that one */
    net_cell_of(cell)->peer = channel_bits(channel);
}

static void on_end(struct worker *worker, struct cell *cell, bool resets)
{
    struct net_cell *record = net_cell_of(cell);
    struct list *link;
    while ((link = list_first(&record->channels)))
        tr__channel_orphan(LIST_OWNER(link, struct channel, link), resets);
    /* The events that are queued are VOID now; the other mail takes them along. */
    if (record->base.ready) {
        ring_join(&cell->notices, &record->base.ready);
        cell->flags |= CELL_MIXED;
    }
    cell->extra->channels = NULL;
    source_resize(&worker->source, record, 0);
}

static void on_change(struct worker *worker, struct cell *cell)
{
    (void)worker;
    LIST_EACH (link, &net_cell_of(cell)->channels) {
        struct channel *channel = LIST_OWNER(link, struct channel, link);
        tr__channel_ready(channel, 0);
        if (channel->cell == cell)
            tr__channel_call(channel); /* for bytes that were received already */
    }
}

static void on_abandon(struct worker *worker, struct cell *cell)
{
    (void)worker;
    LIST_EACH (link, &net_cell_of(cell)->channels) {
        struct channel *channel = LIST_OWNER(link, struct channel, link);
        list_init(&channel->readers);
        list_init(&channel->writers);
        channel->input.borrower = NULL;
    }
}

static void on_turn_end(struct tr_self *self)
{
    while (self->borrowed) {
        struct channel *channel = self->borrowed;
        tr__input_settle(channel);
        if (channel->state == CHANNEL_LINGERING)
            tr__channel_ready(channel, 0);
        else
            tr__channel_call(channel); /* its end may be all that is left */
    }
}

const struct channel_hooks tr__net_hooks = {
    .on_io = on_io,
    .on_flush = tr__output_flush_all,
    .on_round = on_round,
    .next = next_deadline,
    .admit = admit,
    .fallback = fallback,
    .on_done = on_done,
    .on_turn_end = on_turn_end,
    .on_birth = on_birth,
    .on_end = on_end,
    .on_change = on_change,
    .on_abandon = on_abandon,
    .may_move = tr__channels_may_move,
    .on_leave = tr__channels_leave,
    .on_arrive = tr__channels_arrive,
    .on_handed = tr__channel_handed,
    .is_sending = is_sending,
    .on_worker_end = tr__net_worker_end,
};
