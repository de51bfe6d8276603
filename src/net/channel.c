/* SPDX-License-Identifier: Apache-2.0 */
#include "net/channel.h"

#include <string.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "actor/mail/address.h"
#include "actor/mail/mail.h"
#include "actor/mail/ready.h"
#include "base/assert.h"
#include "net/datagram.h"
#include "net/channel_end.h"
#include "net/channel_timers.h"
#include "net/charge.h"
#include "net/deadline.h"
#include "net/event.h"
#include "net/exchange.h"
#include "net/filters.h"
#include "net/input.h"
#include "net/listener.h"
#include "net/net_cell.h"
#include "net/output.h"
#include "net/peer.h"
#include "net/pieces.h"
#include "net/plain.h"
#include "net/process.h"
#include "net/protocol.h"
#include "net/rare.h"
#include "net/shakes.h"
#include "net/signals.h"
#include "net/shutdown.h"
#include "net/table.h"
#include "net/wait.h"
#include "net/work.h"
#include "net/worker.h"

/* ---- States. ---- */

void tr__channel_change(struct channel *channel, enum channel_state state)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    static const uint8_t legal[CHANNEL_STATES] = {
        [CHANNEL_FREE] = 1 << CHANNEL_DIALING | 1 << CHANNEL_OPEN,
        [CHANNEL_DIALING] =
            1 << CHANNEL_OPEN | 1 << CHANNEL_ENDED | 1 << CHANNEL_FREE | 1 << CHANNEL_LINGERING,
        [CHANNEL_OPEN] = 1 << CHANNEL_LINGERING | 1 << CHANNEL_ENDED | 1 << CHANNEL_FREE,
        [CHANNEL_LINGERING] = 1 << CHANNEL_ENDED | 1 << CHANNEL_FREE,
        [CHANNEL_ENDED] = 1 << CHANNEL_FREE,
    };
    TR_ASSERT(legal[channel->state] >> state & 1);
    if (channel->state == CHANNEL_LINGERING)
        channel->charged = 0; /* `charged` shares its memory with drop_left */
    channel->state = (uint8_t)state;
}

/* ---- Making and freeing. ---- */

static struct net_cell *cell_record(struct worker *worker, struct cell *cell)
{
    if (!(cell->flags & CELL_CHANNELS)) {
        struct net_cell *record = slots_place_take(worker->slots, cell, SLOTS_PLACE_CHANNELS);
        if (!record)
            return NULL;
        *record = (struct net_cell){.peer = 0};
        list_init(&record->channels);
        cell->flags |= CELL_CHANNELS;
    }
    return net_cell_of(cell);
}

bool tr__cell_may_have_channels(const struct cell *cell)
{
    return !cell->dispatch || !cell->dispatch->behavior->options.has_no_channels;
}

tr_status tr__channel_adopt(struct channel *channel, struct cell *cell)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (!tr__cell_may_have_channels(cell))
        return TR_NOT_A_CHANNEL_ACTOR;
    if (cell_durable(cell) && channel->endpoint->options.interleaves)
        /*
         * refuse this: with .interleaves, an answer of a durable actor would have to wait for the
         * commit of its turn and also for the answers to earlier pieces
         */
        return TR_NOT_SUPPORTED;
    struct net_cell *record = cell_record(channel->worker, cell);
    if (!record)
        return TR_NO_MEMORY;
    list_remove(&channel->link);
    list_push_last(&record->channels, &channel->link);
    channel->cell = cell;
    atom64_store(&channel->owner, cell->identity, ATOM_RELAXED);
    channel_charge(channel);
    return TR_OK;
}

void tr__channel_forget_event(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct envelope *event = channel->event;
    channel->event = NULL;
    if (!event)
        return;
    if (channel_has(channel, CHANNEL_IN_TURN))
        /*
         * the event belongs to the running turn, whose end calls on_done. Without a sender, on_done
         * finds no channel, and only frees the memory of the event.
         */
        event->sender = 0;
    else
        event->kind = ENVELOPE_VOID;
}

void tr__channel_disown(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    tr__channel_forget_event(channel);
    tr__channel_timers_end(channel);
    tr__channel_uncharge(channel);
    struct net_cell *record = net_cell_of(channel->cell);
    TR_ASSERT(record);
    if (record->peer == channel_bits(channel))
        record->peer = 0;
    list_remove(&channel->link);
    channel->cell = NULL;
    atom64_store(&channel->owner, 0, ATOM_RELAXED);
}

/*
 * Fills a slot with a new channel. Does not write the members before `worker`, because other
 * threads may read these at the same time.
 */
static void channel_init(struct channel *channel, const struct channel *fresh)
{
    size_t from = offsetof(struct channel, worker);
    memcpy((char *)channel + from, (const char *)fresh + from, sizeof *channel - from);
    atom64_store(&channel->owner, 0, ATOM_RELAXED);
    list_init(&channel->link);
    list_init(&channel->listed);
}

tr_status tr__channel_new(struct worker *worker, struct cell *cell, enum channel_kind kind,
                          struct endpoint *endpoint, struct channel **made)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct channel *channel;
    uint64_t bits;
    if (!tr__net_worker_of(worker))
        return TR_NO_MEMORY;
    tr_status status = tr__table_take(worker->system, &channel, &bits);
    if (status != TR_OK)
        return status;
    const tr_endpoint *options = endpoint ? &endpoint->options : NULL;
    const struct channel fresh = {.worker = worker,
                                  .fd = -1,
                                  .kind = (uint8_t)kind,
                                  .work = (struct channel_work *)(uintptr_t)&tr__no_work,
                                  .rare = (struct channel_rare *)(uintptr_t)&tr__no_rare,
                                  .endpoint = tr__endpoint_share(endpoint),
                                  .deadline_ns = TR_NEVER,
                                  .is_secure = options && options->kind == TR_ENDPOINT_TLS &&
                                               !options->starts_plain};
    channel_init(channel, &fresh);
    atom64_store(&channel->bits, bits, ATOM_RELAXED);
    status = cell ? tr__channel_adopt(channel, cell) : TR_OK;
    if (status != TR_OK) {
        tr__channel_free(channel);
        return status;
    }
    *made = channel;
    return TR_OK;
}

tr_status tr__channel_watch(struct channel *channel, int fd)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct loop *loop = &channel->worker->loop;
    /*
     * If the channel can be written to now, watch only its input. tr__output_flush watches the
     * output when a send would block.
     */
    tr_status status = channel_has(channel, CHANNEL_WRITABLE)
                           ? tr__loop_watch_input(loop, fd, channel_bits(channel))
                           : tr__loop_watch(loop, fd, channel_bits(channel));
    if (status != TR_OK)
        return status;
    channel->fd = fd;
    channel->flags |= CHANNEL_WATCHED;
    return TR_OK;
}

int tr__channel_take_fd(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    int fd = channel->fd;
    if (channel_has(channel, CHANNEL_WATCHED))
        tr__loop_unwatch(&channel->worker->loop, fd);
    channel->flags &= ~(uint32_t)CHANNEL_WATCHED;
    channel->fd = -1;
    return fd;
}

void tr__channel_close_socket(struct channel *channel, bool resets)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct loop *loop = &channel->worker->loop;
    int fd = channel->fd;
    /*
     * An accepted connection has only one descriptor. So closing that descriptor ends the watch,
     * too.
     */
    bool is_only = channel_has(channel, CHANNEL_ACCEPTED) && channel_has(channel, CHANNEL_WATCHED);
    if (is_only) {
        channel->flags &= ~(uint32_t)CHANNEL_WATCHED;
        channel->fd = -1;
    } else {
        fd = tr__channel_take_fd(channel);
    }
    bool is_bound = channel->kind == CHANNEL_LISTENER || channel->kind == CHANNEL_DATAGRAM;
    if (fd >= 0 && is_bound && channel->endpoint->file[1])
        loop->platform->socket_file_remove(
            loop->platform, channel->endpoint->options.address, channel->endpoint->file);
    if (fd >= 0 && channel->kind == CHANNEL_SIGNALS)
        loop->platform->signals_close(loop->platform, fd);
    else if (fd >= 0)
        loop->platform->socket_close(loop->platform, fd, resets);
    if (is_only)
        tr__loop_forget(loop);
}

/* Frees what the protocol of a channel keeps between pieces. */
static void session_free(struct channel *channel)
{
    const struct tr_protocol *protocol = protocol_of(channel);
    if (channel->session)
        protocol->on_free(channel);
    if (channel->session)
        protocol->session_free(&channel->worker->system->source, channel->session);
    channel->session = NULL;
}

void tr__channel_free(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct worker *worker = channel->worker;
    if (channel->rare->process)
        tr__process_leave(channel);
    tr__channel_close_socket(
        channel, channel->state != CHANNEL_ENDED && channel->state != CHANNEL_LINGERING);
    tr__channel_forget_event(channel);
    list_remove(&channel->listed);
    tr__exchanges_free(channel);
    tr__pieces_free(channel);
    tr__protocol_turns_forget(channel);
    tr__input_free(channel);
    tr__datagrams_free(channel);
    tr__output_free(channel);
    if (work_is_there(channel))
        tr__work_give(channel);
    tr__channel_disarm(channel);
    if (channel->cell)
        tr__channel_disown(channel);
    else
        list_remove(&channel->link);
    tr__session_uncount(channel);
    tr__peer_free(channel);
    session_free(channel);
    tr__rare_free(channel);
    tr__endpoint_drop(&worker->system->source, channel->endpoint);
    channel->state = CHANNEL_FREE;
    tr__table_give(worker->system, channel);
}

tr_status tr__channel_of(const struct tr_self *self, tr_channel handle, struct channel **found)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct channel *channel = tr__table_find(self->worker->system, handle.bits);
    if (!channel || atom64_load(&channel->owner, ATOM_RELAXED) != self->cell->identity) {
        if (!tr__cell_may_have_channels(self->cell))
            return TR_NOT_A_CHANNEL_ACTOR;
        return !channel && handle.bits ? TR_CLOSED : TR_NOT_OWNER;
    }
    *found = channel;
    return TR_OK;
}

/* ---- Turns that wait, and events. ---- */

bool tr__channel_handles(const struct channel *channel, const tr_type *type)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    return protocol_of(channel) ||
           (channel->cell->dispatch &&
            dispatch_find(&channel->worker->dispatches, channel->cell->dispatch, type));
}

/*
 * Whether the handler of the actor could get a piece now, because bytes have come and no turn or
 * exchange takes them.
 */
static bool has_piece(const struct channel *channel)
{
    if (!waits_are_empty(&channel->readers) || exchanges_are_first(channel) ||
        channel_has(channel, CHANNEL_CLOSE_HELD) || channel->rare->streams)
        return false;
    bool has_come = channel_has(channel, CHANNEL_READABLE) || tr__input_has_bytes(channel) ||
                    tr__datagrams_has_some(channel);
    if (channel->kind == CHANNEL_LISTENER)
        return has_come && channel->state == CHANNEL_OPEN && !channel_has(channel, CHANNEL_PAUSED);
    if (channel->state != CHANNEL_OPEN && channel->state != CHANNEL_ENDED)
        return false;
    const tr_type *type = channel->kind == CHANNEL_DATAGRAM  ? &tr_type_tr_datagram
                          : channel->kind == CHANNEL_SIGNALS ? tr__signal_type
                                                             : &tr_type_tr_received;
    return has_come && pieces_may_begin(channel) && tr__channel_handles(channel, type);
}

static bool has_news(const struct channel *channel)
{
    if (channel_has(channel, CHANNEL_OPENS | CHANNEL_DIALED) ||
        (channel_has(channel, CHANNEL_CLOSES) && process_is_over(channel)))
        return true;
    return channel_drains(channel) || has_piece(channel);
}

/* Whether the other side has ended, all its bytes were read, and the channel has not ended yet. */
static bool is_read_out(const struct channel *channel)
{
    return channel->state == CHANNEL_OPEN && channel->kind == CHANNEL_STREAM &&
           channel_has(channel, CHANNEL_INPUT_OVER) && waits_are_empty(&channel->readers) &&
           !channel->work->input.borrower && !net_buffer_size(&channel->work->input.buffer) &&
           !pieces_are_open(channel);
}

/*
 * Call when the other side has ended and no turn reads. Tries to receive. If no bytes come before
 * the end of the input, this ends the channel.
 */
static void look_for_end(struct channel *channel)
{
    if (channel->kind != CHANNEL_STREAM || channel->work->input.borrower ||
        net_buffer_size(&channel->work->input.buffer))
        return;
    tr_status status = tr__input_peek(channel);
    if (status == TR_OK || status == TR_WOULD_BLOCK)
        return;
    if (status == TR_CLOSED)
        tr__channel_call(channel);
    else if (!net_buffer_size(&channel->work->input.buffer))
        tr__channel_end(channel, status, NULL);
}

/*
 * Whether the input may have ended unnoticed. This is so if no turn reads and there is no handler
 * for input, because only a read finds the end.
 */
static bool may_hide_end(const struct channel *channel)
{
    return channel->state == CHANNEL_OPEN && channel->kind == CHANNEL_STREAM &&
           channel_has(channel, CHANNEL_HUNG_UP) && channel_has(channel, CHANNEL_READABLE) &&
           !channel_has(channel, CHANNEL_INPUT_OVER | CHANNEL_OPENS) &&
           waits_are_empty(&channel->readers) && !channel->rare->exchanges &&
           !channel->work->input.borrower && !net_buffer_size(&channel->work->input.buffer) &&
           !tr__channel_handles(channel, &tr_type_tr_received);
}

/*
 * Queues an event for the actor, without a message. The message is made when the turn of the event
 * begins.
 */
static void event_new(struct channel *channel)
{
    struct envelope *event = envelope_take(&channel->worker->pool);
    if (!event) {
        tr__channel_starve(channel);
        return;
    }
    event->type = &tr_type_tr_received;
    event->block_class = ENVELOPE_NO_BLOCK;
    struct address address = {.kind = ENVELOPE_CHANNEL, .to = channel->cell->identity};
    mail_address(event, address);
    tr__channel_queue(channel, event);
}

static bool may_call(const struct channel *channel)
{
    const struct cell *cell = channel->cell;
    return !channel->event && cell && cell->life < LIFE_STOPPING &&
           (!(cell->flags & CELL_SEALED) || tr__shutdown_holds(channel));
}

/*
 * Returns true if there is certainly nothing to do for the actor of a channel or for a turn. This
 * is so after most turns.
 */
static bool is_quiet(const struct channel *channel)
{
    const uint32_t news = CHANNEL_READABLE | CHANNEL_HUNG_UP | CHANNEL_INPUT_OVER | CHANNEL_DIALED |
                          CHANNEL_OPENS | CHANNEL_DRAINS | CHANNEL_CLOSES;
    return !channel_has(channel, news) && !net_buffer_size(&channel->work->input.buffer) &&
           !channel->rare->datagrams;
}

/* If the protocol of a channel reads outside of turns, lets it read the bytes that have come. */
static void read_streams(struct channel *channel)
{
    if (channel->rare->streams && channel->state == CHANNEL_OPEN &&
        !channel->work->input.borrower &&
        (channel_has(channel, CHANNEL_READABLE) || tr__input_has_bytes(channel)))
        protocol_of(channel)->on_input(channel);
}

void tr__channel_call(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    read_streams(channel);
    if (is_quiet(channel) || !may_call(channel) || channel_has(channel, CHANNEL_GONE))
        return;
    if (is_read_out(channel)) {
        /* if the channel ends here, tr__channel_end calls tr__channel_call again */
        tr__channel_hang_up(channel);
        return;
    }
    if (!has_news(channel)) {
        if (may_hide_end(channel))
            look_for_end(channel);
        return;
    }
    event_new(channel);
}

void tr__channel_queue(struct channel *channel, struct envelope *event)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct worker *worker = channel->worker;
    struct cell *cell = channel->cell;
    event->sender = (uintptr_t)channel;
    channel->event = event;
    mail_count(cell, event);
    cell->flags |= CELL_MIXED;
    /* The event of tr_dial must pass a turn that is a barrier, because that turn may wait for the dialed channel. */
    bool passes = channel_has(channel, CHANNEL_DIALED);
    ring_push(passes ? &cell->replies : &net_cell_of(cell)->base.ready, event);
    if (mail_is_idle(cell) && (passes || !(cell->flags & CELL_BARRIER)))
        mail_make_ready(worker, cell);
}

/* ---- Readiness. ---- */

static void ready_open(struct channel *channel)
{
    if (channel_has(channel, CHANNEL_WRITABLE) && !tr__output_is_empty(channel)) {
        tr__output_flush(channel);
        if (channel->state != CHANNEL_OPEN)
            return;
    }
    if (channel->rare->looks)
        tr__exchanges_look(channel);
    if (!channel_has(channel, CHANNEL_READABLE))
        return;
    if (channel->rare->streams) {
        tr__channel_call(channel);
    } else if (channel->rare->exchanges) {
        tr__exchanges_read(channel);
    } else if (!waits_are_empty(&channel->readers)) {
        tr__waits_wake_one(&channel->readers);
    } else if (has_piece(channel)) {
        if (channel_has(channel, CHANNEL_INPUT_OVER))
            tr__channel_call(channel);
        else if (may_call(channel))
            event_new(channel);
    } else if (channel_has(channel, CHANNEL_SHAKES)) {
        tr__filters_shake(channel);
    } else if (channel_has(channel, CHANNEL_HUNG_UP) && !channel->event) {
        look_for_end(channel);
    }
}

/* As tr__channel_ready, for a plain channel without output. Returns false and does nothing if the
 * channel is not plain. */
static bool ready_plainly(struct channel *channel, uint32_t what)
{
    const struct cell *cell = channel->cell;
    if (!channel_is_plain(channel) || what & TR_IO_END || channel_has(channel, CHANNEL_HUNG_UP) ||
        !(what & TR_IO_IN) || channel->work->output.size || !cell || !channel_is_raw(channel) ||
        cell->flags & (CELL_FAILED | CELL_SEALED) || cell->life != LIFE_RUNNING || !cell->dispatch)
        return false;
    bool waits = !waits_are_empty(&channel->readers);
    if (!waits &&
        !dispatch_find(&channel->worker->dispatches, cell->dispatch, &tr_type_tr_received))
        return false;
    channel->flags |= CHANNEL_READABLE | (what & TR_IO_OUT ? CHANNEL_WRITABLE : 0u);
    if (waits)
        tr__waits_wake_one(&channel->readers);
    else if (!channel->event)
        event_new(channel);
    return true;
}

void tr__channel_ready(struct channel *channel, uint32_t what)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (__builtin_expect(ready_plainly(channel, what), 1))
        return;
    if (what & TR_IO_IN)
        channel->flags |= CHANNEL_READABLE;
    if (what & TR_IO_OUT)
        channel->flags |= CHANNEL_WRITABLE;
    if (what & TR_IO_END)
        channel->flags |= CHANNEL_READABLE | CHANNEL_HUNG_UP;
    /*
     * Do not touch the turns of an actor that has failed: they may be gone. The channels of such an actor end with it.
     */
    if (channel->cell && channel->cell->flags & CELL_FAILED)
        return;
    switch ((enum channel_state)channel->state) {
    case CHANNEL_DIALING:
        if (channel->rare->filter.table)
            tr__shakes_add(channel);
        else
            tr__waits_wake(&channel->readers);
        break;
    case CHANNEL_OPEN:
        ready_open(channel);
        break;
    case CHANNEL_LINGERING:
        tr__channel_linger(channel);
        break;
    case CHANNEL_ENDED:
    case CHANNEL_FREE:
    case CHANNEL_STATES:
        break;
    }
}
