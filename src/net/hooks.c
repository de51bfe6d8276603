/* SPDX-License-Identifier: Apache-2.0 */
#include "net/hooks.h"

#include <string.h>

#include "actor/cell/channel.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/slots.h"
#include "actor/mail/kind.h"
#include "actor/mail/mail.h"
#include "base/assert.h"
#include "net/channel_end.h"
#include "net/charge.h"
#include "net/datagram.h"
#include "net/deadline.h"
#include "net/default_handlers.h"
#include "net/dial.h"
#include "net/event.h"
#include "net/exchange.h"
#include "net/held.h"
#include "net/input.h"
#include "net/lent.h"
#include "net/listener.h"
#include "net/move.h"
#include "net/net_cell.h"
#include "net/output.h"
#include "net/peer.h"
#include "net/pieces.h"
#include "net/plain.h"
#include "net/process.h"
#include "net/protocol.h"
#include "net/shakes.h"
#include "net/shutdown.h"
#include "net/signals.h"
#include "net/table.h"
#include "net/why.h"
#include "net/worker.h"

#include <troupe/process.h>

/* ---- The worker. ---- */

static void on_io(struct worker *worker, uint64_t token, uint32_t what)
{
    struct channel *channel = tr__table_find(worker->system, token);
    if (!channel || channel->worker != worker)
        return;
    if (channel->kind == CHANNEL_EXIT)
        tr__process_ready(channel, what);
    else
        tr__channel_ready(channel, what);
}

static bool on_round(struct worker *worker, tr_time now_ns)
{
    struct net_worker *net = worker->channels.net;
    struct timer_node *node;
    /*
     * If a channel in the list `dirty` must be read again, the flush after this round moves it to
     * the list `starved`. Then another round must follow.
     */
    net->has_more = net->has_more && !list_is_empty(&net->dirty);
    while ((node = tr__wheel_expire(&net->wheel, now_ns))) {
        struct channel *channel = LIST_OWNER(node, struct channel_timer, node)->channel;
        if (channel->kind == CHANNEL_EXIT)
            tr__process_expired(channel, now_ns);
        else
            tr__channel_expired(channel, now_ns);
    }
    /*
     * Take the present list as a whole: a channel for which memory is still missing is added to
     * net->starved again, for a later round.
     */
    struct list again;
    struct list *link;
    list_init(&again);
    list_append(&again, &net->starved);
    while ((link = list_pop_first(&again))) {
        struct channel *channel = LIST_OWNER(link, struct channel, listed);
        channel->flags &= ~(uint32_t)CHANNEL_STARVED;
        tr__channel_arm(channel);
        if (channel->state == CHANNEL_LINGERING)
            tr__channel_linger(channel);
        else
            tr__channel_call(channel);
    }
    bool shakes = tr__shakes_round(worker);
    return shakes || net->has_more;
}

/* How long the worker waits before it tries again when memory was missing. */
#define STARVED_NS (10 * TR_MILLISECOND)

static tr_time next_deadline(struct worker *worker)
{
    struct net_worker *net = worker->channels.net;
    tr_time next = wheel_next(&net->wheel);
    if (list_is_empty(&net->starved))
        return next;
    tr_time again = worker->loop.now_ns + (net->has_more ? 0 : STARVED_NS);
    return again < next ? again : next;
}

static bool is_sending(const struct worker *worker)
{
    if (!worker->channels.net)
        return false;
    LIST_EACH (link, &worker->channels.net->lingering) {
        const struct channel *channel = LIST_OWNER(link, struct channel, link);
        if (!tr__output_is_empty(channel) || tr__process_is_ending(channel))
            return true;
    }
    return false;
}

/* ---- Events. ---- */

/* Copies a message into an event. */
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
 * Puts tr_opened into an event. The message is too large for the envelope, so it is in memory of
 * the channel until the turn has ended. A block of the worker's pool would be wrong: if the actor
 * has moved, the worker that frees the message is another one.
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
    tr__event_lend(envelope, tr__event_types.opened, message);
    return true;
}

static void put_process_ended(struct channel *channel, struct envelope *envelope)
{
    const struct process *process = channel->rare->process;
    bool is_whole = channel->status == TR_CLOSED || channel->status == TR_OK;
    struct tr_process_ended message = {.channel = {channel_bits(channel)},
                                       .code = process->how.code,
                                       .signal = process->how.signal,
                                       .status = is_whole ? process->reaped : channel->status};
    put(envelope, tr__event_types.process_ended, &message, sizeof message);
}

static void put_closed(struct channel *channel, struct envelope *envelope)
{
    if (channel_is_process(channel)) {
        put_process_ended(channel, envelope);
        return;
    }
    struct tr_closed message = {
        .channel = {channel_bits(channel)}, .status = channel->status, .text = channel->rare->text};
    put(envelope, tr__event_types.closed, &message, sizeof message);
}

/*
 * If other code reads from the channel before the turn ends, gives the turn a copy of its piece.
 * Returns false if out of memory. Then no turn begins, the piece counts as unread, and the loop
 * tries again soon.
 */
static bool piece_keep(struct tr_self *self, struct channel *channel, struct envelope *envelope,
                       tr_bytes *bytes)
{
    size_t size = bytes->size ? bytes->size : 1;
    bool is_copied = false;
    tr_status status = TR_OK;
    if (channel->rare->exchanges) {
        status = tr__exchanges_pass(self, channel, bytes);
        is_copied = status == TR_OK;
    }
    if (status == TR_OK && channel->endpoint->options.interleaves)
        status = tr__piece_begin(self, channel, envelope, bytes);
    /*
     * If the piece was copied, the turn can begin in any case. If tr__piece_begin has failed, no
     * other piece is handled at the same time.
     */
    if (status == TR_OK || is_copied)
        return true;
    if (!tr__input_unread(channel, size))
        TR_NOT_REACHED("a piece that was just taken can be unread");
    channel->work->input.needs = 0;
    tr__input_settle(channel); /* end the loan of the piece, because no turn begins */
    tr__channel_starve(channel);
    return false;
}

/*
 * Takes the next piece for the handler. Returns false if there is none, or if the channel has
 * ended. After an error CHANNEL_CLOSES is set.
 */
static bool put_piece(struct tr_self *self, struct channel *channel, struct envelope *envelope)
{
    static const struct cutter piece_cutter = {.how = CUT_PIECE};
    const struct tr_protocol *protocol = protocol_of(channel);
    const tr_handler *handler = protocol ? protocol->handler
                                         : dispatch_find(&self->worker->dispatches,
                                                         channel->cell->dispatch,
                                                         &tr_type_tr_received);
    if (!handler || !waits_are_empty(&channel->readers) || exchanges_are_first(channel) ||
        channel_has(channel, CHANNEL_CLOSE_HELD) || !pieces_may_begin(channel))
        return false;
    struct tr_received message = {.channel = {channel_bits(channel)}};
    bool is_cut;
    tr_status status = tr__input_take(self, channel, &piece_cutter, &message.bytes, &is_cut);
    if (status == TR_OK && !piece_keep(self, channel, envelope, &message.bytes))
        return false;
    if (status == TR_OK) {
        put(envelope,
            protocol ? protocol->handler->type : &tr_type_tr_received,
            &message,
            sizeof message);
        return true;
    }
    if (status == TR_WOULD_BLOCK && protocol && net_buffer_size(&channel->work->input.buffer))
        protocol->on_part(channel);
    if (status == TR_CLOSED && pieces_are_open(channel))
        /* the turns of open pieces may still write, so the channel does not end yet */
        return false;
    if (status == TR_CLOSED)
        tr__channel_hang_up(channel);
    else if (status != TR_WOULD_BLOCK && channel->state != CHANNEL_ENDED)
        tr__channel_end(channel, status, NULL);
    return false;
}

/* Fills the event with the next message for the actor. Returns false if there is none. */
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
            /*
             * out of memory: try again soon, because the actor must get tr_opened before all other
             * messages
             */
            tr__channel_starve(channel);
            return false;
        }
        channel->flags &= ~(uint32_t)CHANNEL_OPENS;
        return true;
    }
    if (channel->kind == CHANNEL_DATAGRAM && tr__datagram_put(self, channel, envelope))
        return true;
    if (channel->kind == CHANNEL_SIGNALS && tr__signal_put(channel, envelope))
        return true;
    if (channel->kind == CHANNEL_STREAM &&
        (channel->state == CHANNEL_OPEN || channel->state == CHANNEL_ENDED) &&
        put_piece(self, channel, envelope))
        return true;
    if (channel_drains(channel)) {
        channel->flags &= ~(uint32_t)CHANNEL_DRAINS;
        put(envelope, tr__event_types.drained, &handle, sizeof handle);
        return true;
    }
    /* tr_closed must come after all bytes that a turn may still read. */
    if (channel_has(channel, CHANNEL_CLOSES) && process_is_over(channel) &&
        waits_are_empty(&channel->readers) && waits_are_empty(&channel->writers) &&
        !pieces_are_open(channel)) {
        channel->flags &= ~(uint32_t)CHANNEL_CLOSES;
        put_closed(channel, envelope);
        return true;
    }
    return false;
}

/* As admit, for a turn that a protocol has queued. */
static bool admit_turn(struct tr_self *self, struct envelope *envelope)
{
    struct protocol_turn *turn = protocol_turn_of(envelope);
    struct {
        tr_channel channel;
    } handle = {{channel_bits(turn->channel)}};
    /* makes tr__turn_finish call on_done, which ends the turn of the protocol */
    turn_require_slow_end(self);
    turn->event = NULL;
    turn->is_running = true;
    put(envelope, turn->protocol->turn_handler->type, &handle, sizeof handle);
    atom64_count(&self->worker->counters.accepted, 1);
    return true;
}

/*
 * What fill_event does for a plain channel and an actor without anything unusual. The turn may then
 * end by on_plain_end. Returns false if the caller must use fill_event instead. The channel may
 * have ended.
 */
static bool fill_plainly(struct tr_self *self, struct channel *channel, struct envelope *envelope)
{
    const struct cell *cell = self->cell;
    if (!channel_is_plain(channel) || !channel_is_raw(channel) ||
        !waits_are_empty(&channel->readers) || self->borrowed ||
        cell->flags & (CELL_METERED | CELL_BARRIER) || cell_durable(cell))
        return false;
    const tr_handler *handler =
        dispatch_find(&self->worker->dispatches, cell->dispatch, &tr_type_tr_received);
    if (!handler)
        return false;
    struct tr_received message = {.channel = {channel_bits(channel)}};
    tr_status status = tr__plain_receive(self, channel, &message.bytes);
    if (__builtin_expect(status == TR_OK, 1)) {
        envelope->type = &tr_type_tr_received;
        memcpy(envelope->payload.bytes, &message, sizeof message);
        return true;
    }
    if (status != TR_NOT_SUPPORTED && status != TR_WOULD_BLOCK && status != TR_CLOSED)
        tr__channel_end(channel, status, NULL);
    return false;
}

static bool admit(struct tr_self *self, struct envelope *envelope)
{
    if (protocol_turn_is(envelope))
        return admit_turn(self, envelope);
    struct channel *channel = event_channel(envelope);
    TR_ASSERT_SLOW(channel->event == envelope && channel->cell == self->cell);
    /* this flag keeps the envelope from being freed if the channel ends during the turn */
    channel->flags |= CHANNEL_IN_TURN;
    if (fill_plainly(self, channel, envelope)) {
        atom64_count(&self->worker->counters.accepted, 1);
        return true;
    }
    /* makes tr__turn_finish call on_done, which ends the use of the envelope by its channel */
    turn_require_slow_end(self);
    if (fill_event(self, channel, envelope)) {
        atom64_count(&self->worker->counters.accepted, 1);
        if (envelope->sender & PIECE_TAG)
            /* the turn of the next piece may begin while this one waits */
            tr__channel_call(channel);
        return true;
    }
    channel->flags &= ~(uint32_t)CHANNEL_IN_TURN;
    channel->event = NULL;
    envelope->kind = ENVELOPE_VOID;
    envelope_give(&self->worker->pool, envelope);
    return false;
}

/*
 * Takes back memory that the channel has lent to an envelope, when the turn of the envelope has
 * ended.
 */
static void event_empty(struct channel *channel, struct envelope *envelope)
{
    if (envelope->block_class != ENVELOPE_LENT)
        return;
    envelope->block_class = ENVELOPE_NO_BLOCK;
    if (envelope->type == tr__event_types.opened)
        source_resize(&channel->worker->system->source, envelope->payload.block.data, 0);
    else
        tr__datagram_done(channel);
}

static void on_done(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    (void)cell;
    if (envelope->sender & PIECE_TAG) {
        tr__piece_done(worker, envelope);
        return;
    }
    if (protocol_turn_is(envelope)) {
        tr__protocol_turn_done(worker, envelope);
        return;
    }
    struct channel *channel = event_channel(envelope);
    if (!channel) { /* the turn has freed the channel, or handed it over */
        if (envelope->block_class == ENVELOPE_LENT && envelope->type == tr__event_types.opened)
            source_resize(&worker->system->source, envelope->payload.block.data, 0);
        envelope->block_class = ENVELOPE_NO_BLOCK;
        envelope_give(&worker->pool, envelope);
        return;
    }
    bool was_closed =
        envelope->type == tr__event_types.closed || envelope->type == tr__event_types.process_ended;
    event_empty(channel, envelope);
    channel->event = NULL;
    envelope_give(&worker->pool, envelope);
    if (channel->request)
        protocol_of(channel)->on_turn_end(channel);
    channel->request = NULL;
    channel->flags &= ~(uint32_t)CHANNEL_IN_TURN;
    channel_note_active(channel);
    if (was_closed && channel->work->input.borrower)
        /*
         * another turn still uses bytes of the channel, so the end of that turn frees the channel
         */
        channel->flags |= CHANNEL_GONE;
    else if (was_closed)
        tr__channel_free(channel);
    else
        tr__channel_call(channel);
}

static void on_turn_end(struct tr_self *self);

static void on_plain_end(struct tr_self *self)
{
    struct worker *worker = self->worker;
    struct envelope *envelope = self->envelope;
    /* NULL if the envelope belongs to a piece, or its channel is gone. */
    struct channel *channel = envelope->sender & PIECE_TAG ? NULL : event_channel(envelope);
    bool is_plain = channel && channel_is_plain(channel) && !channel->request;
    if (__builtin_expect(!is_plain || !tr__plain_return(self, channel), 0)) {
        if (self->borrowed || self->lent)
            on_turn_end(self);
        on_done(worker, self->cell, envelope);
        return;
    }
    channel->event = NULL;
    channel->flags &= ~(uint32_t)CHANNEL_IN_TURN;
    envelope_give_empty(&worker->pool, envelope);
    tr__channel_call(channel);
}

/* ---- Protocols. ---- */

/* Returns the protocol that has begun this turn. Returns NULL if there is none. */
static const struct tr_protocol *protocol_of_turn(const struct tr_self *self)
{
    if (self->envelope->sender & PIECE_TAG)
        return NULL;
    if (protocol_turn_is(self->envelope)) {
        const struct protocol_turn *turn = protocol_turn_of(self->envelope);
        return turn->request ? turn->protocol : NULL;
    }
    const struct channel *channel = event_channel(self->envelope);
    return channel && channel->request ? protocol_of(channel) : NULL;
}

static bool on_reply(struct tr_self *self, const tr_type *type, const void *message,
                     tr_status *status)
{
    const struct tr_protocol *protocol = protocol_of_turn(self);
    if (protocol)
        *status = protocol->reply(self, type, message);
    return protocol;
}

static bool on_refuse(struct tr_self *self, int code, const char *text)
{
    const struct tr_protocol *protocol = protocol_of_turn(self);
    if (protocol)
        protocol->refuse(self, code, text);
    return protocol;
}

static bool on_forward(struct tr_self *self, tr_ref to, tr_next *next)
{
    const struct tr_protocol *protocol = protocol_of_turn(self);
    if (protocol)
        *next = protocol->forward(self, to);
    return protocol;
}

static tr_later on_later(struct tr_self *self)
{
    const struct tr_protocol *protocol = protocol_of_turn(self);
    return protocol ? protocol->later(self) : (tr_later){0};
}

/* ---- The actor. ---- */

static void on_birth(struct worker *worker, struct cell *cell)
{
    struct channel *channel = worker->channels.newborn;
    worker->channels.newborn = NULL;
    if (tr__channel_adopt(channel, cell) != TR_OK)
        return; /* the deck finds the channel without an actor, and stops the new actor */
    net_cell_of(cell)->peer = channel_bits(channel);
}

static void on_end(struct worker *worker, struct cell *cell, bool resets)
{
    (void)worker;
    struct net_cell *record = net_cell_of(cell);
    struct list *link;
    while ((link = list_first(&record->channels)))
        tr__channel_orphan(LIST_OWNER(link, struct channel, link), resets);
    /*
     * The queued events are ENVELOPE_VOID now. Move them to the other mail of the actor. They are
     * dropped when their turns come.
     */
    if (record->base.ready) {
        ring_join(&cell->notices, &record->base.ready);
        cell->flags |= CELL_MIXED;
    }
    cell->flags &= (uint16_t)~CELL_CHANNELS;
    slots_place_give(record, SLOTS_PLACE_CHANNELS);
}

static void on_change(struct worker *worker, struct cell *cell)
{
    (void)worker;
    LIST_EACH (link, &net_cell_of(cell)->channels) {
        struct channel *channel = LIST_OWNER(link, struct channel, link);
        if (channel_has(channel, CHANNEL_FINISHING))
            tr__output_touch(channel);
        /* the actor may have a new behavior, whose handlers can read the unread bytes */
        tr__input_look_again(channel);
        tr__channel_ready(channel, 0);
        if (channel->cell == cell)
            tr__channel_call(channel); /* bytes that have come earlier may need a turn now */
    }
}

static void on_abandon(struct worker *worker, struct cell *cell)
{
    (void)worker;
    LIST_EACH (link, &net_cell_of(cell)->channels) {
        struct channel *channel = LIST_OWNER(link, struct channel, link);
        const struct tr_self *borrower = channel->work->input.borrower;
        channel->readers.first = channel->writers.first = NULL;
        /*
         * if a helper thread still uses the bytes, leave them: this function is called again when the thread has
         * finished
         */
        if (!borrower || !borrower->job)
            tr__input_abandon(channel);
    }
}

static void on_turn_end(struct tr_self *self)
{
    while (self->borrowed) {
        struct channel *channel = self->borrowed;
        tr__input_settle(channel);
        if (channel_has(channel, CHANNEL_GONE))
            tr__channel_free(channel);
        else if (channel->state == CHANNEL_LINGERING)
            /* the output is sent when the run ends, unless the run fails */
            tr__output_touch(channel);
        else
            /* there may be an event for the actor, such as the end of the channel */
            tr__channel_call(channel);
    }
    tr__lent_free(self);
}

const struct channel_hooks tr__net_hooks = {
    .on_io = on_io,
    .on_flush = tr__output_flush_all,
    .on_round = on_round,
    .next = next_deadline,
    .admit = admit,
    .fallback = tr__default_handler,
    .on_batch = tr__datagrams_batch,
    .on_declined = tr__datagrams_declined,
    .on_done = on_done,
    .on_plain_end = on_plain_end,
    .on_reply = on_reply,
    .on_refuse = on_refuse,
    .on_forward = on_forward,
    .on_later = on_later,
    .on_turn_end = on_turn_end,
    .on_birth = on_birth,
    .on_end = on_end,
    .on_change = on_change,
    .on_shutdown = tr__net_shut_down,
    .on_sealed = tr__shutdown_sealed,
    .on_abandon = on_abandon,
    .bytes = tr__channels_bytes,
    .on_metered = tr__channels_metered,
    .may_move = tr__channels_may_move,
    .on_leave = tr__channels_leave,
    .on_arrive = tr__channels_arrive,
    .on_handed = tr__channel_handed,
    .on_release = tr__held_release,
    .on_drop = tr__held_drop,
    .why = tr__net_why,
    .why_turn = tr__net_why_turn,
    .view = tr__net_view,
    .is_sending = is_sending,
    .on_worker_end = tr__net_worker_end,
};
