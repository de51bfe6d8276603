/* SPDX-License-Identifier: Apache-2.0 */
#include "net/channel.h"

#include <string.h>

#include "actor/cell/log.h"
#include "actor/cell/names.h"
#include "actor/cell/system.h"
#include "actor/mail/address.h"
#include "actor/mail/mail.h"
#include "base/assert.h"
#include "net/datagram.h"
#include "net/channel_timers.h"
#include "net/deadline.h"
#include "net/event.h"
#include "net/exchange.h"
#include "net/filters.h"
#include "net/input.h"
#include "net/listener.h"
#include "net/output.h"
#include "net/peer.h"
#include "net/pieces.h"
#include "net/process.h"
#include "net/protocol.h"
#include "net/rare.h"
#include "net/shakes.h"
#include "net/shutdown.h"
#include "net/signals.h"
#include "net/table.h"
#include "net/wait.h"
#include "net/work.h"
#include "net/worker.h"

/* ---- States. ---- */

void tr__channel_change(struct channel *channel, enum channel_state state)
{
    static const uint8_t legal[CHANNEL_STATES] = {
        [CHANNEL_FREE] = 1 << CHANNEL_DIALING | 1 << CHANNEL_OPEN,
        [CHANNEL_DIALING] =
            1 << CHANNEL_OPEN | 1 << CHANNEL_ENDED | 1 << CHANNEL_FREE | 1 << CHANNEL_LINGERING,
        [CHANNEL_OPEN] = 1 << CHANNEL_LINGERING | 1 << CHANNEL_ENDED | 1 << CHANNEL_FREE,
        [CHANNEL_LINGERING] = 1 << CHANNEL_ENDED | 1 << CHANNEL_FREE,
        [CHANNEL_ENDED] = 1 << CHANNEL_FREE,
    };
    TR_ASSERT(legal[channel->state] >> state & 1);
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
    if (!tr__cell_may_have_channels(cell))
        return TR_NOT_A_CHANNEL_ACTOR;
    if (cell_durable(cell) && channel->endpoint->options.interleaves)
        return TR_NOT_SUPPORTED; /* answers would wait for two things, commits and earlier pieces */
    struct net_cell *record = cell_record(channel->worker, cell);
    if (!record)
        return TR_NO_MEMORY;
    list_remove(&channel->link);
    list_push_last(&record->channels, &channel->link);
    channel->cell = cell;
    atom64_store(&channel->owner, cell->identity, ATOM_RELAXED);
    return TR_OK;
}

/* Takes the event from a channel. One that is queued is dropped when its turn comes. */
static void event_forget(struct channel *channel)
{
    struct envelope *event = channel->event;
    channel->event = NULL;
    if (!event)
        return;
    if (channel_has(channel, CHANNEL_IN_TURN))
        event->sender = 0; /* on_done finds no channel, and frees what was lent */
    else
        event->kind = ENVELOPE_VOID;
}

void tr__channel_disown(struct channel *channel)
{
    event_forget(channel);
    tr__channel_timers_end(channel);
    struct net_cell *record = net_cell_of(channel->cell);
    TR_ASSERT(record);
    if (record->peer == channel_bits(channel))
        record->peer = 0;
    list_remove(&channel->link);
    channel->cell = NULL;
    atom64_store(&channel->owner, 0, ATOM_RELAXED);
}

/* Fills a slot with a new channel, except for what other workers may read at this moment. */
static void channel_init(struct channel *channel, const struct channel *fresh)
{
    size_t from = offsetof(struct channel, link);
    memcpy((char *)channel + from, (const char *)fresh + from, sizeof *channel - from);
    atom64_store(&channel->owner, 0, ATOM_RELAXED);
    list_init(&channel->link);
    list_init(&channel->listed);
}

tr_status tr__channel_new(struct worker *worker, struct cell *cell, enum channel_kind kind,
                          struct endpoint *endpoint, struct channel **made)
{
    struct channel *channel;
    uint64_t bits;
    if (!tr__net_worker_of(worker))
        return TR_NO_MEMORY;
    tr_status status = tr__table_take(worker->system, &channel, &bits);
    if (status != TR_OK)
        return status;
    const struct channel fresh = {.worker = worker,
                                  .fd = -1,
                                  .kind = (uint8_t)kind,
                                  .work = (struct channel_work *)(uintptr_t)&tr__no_work,
                                  .rare = (struct channel_rare *)(uintptr_t)&tr__no_rare,
                                  .endpoint = tr__endpoint_share(endpoint),
                                  .deadline_ns = TR_NEVER};
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
    tr_status status = tr__loop_watch(&channel->worker->loop, fd, channel_bits(channel));
    if (status != TR_OK)
        return status;
    channel->fd = fd;
    channel->flags |= CHANNEL_WATCHED;
    return TR_OK;
}

int tr__channel_take_fd(struct channel *channel)
{
    int fd = channel->fd;
    if (channel_has(channel, CHANNEL_WATCHED))
        tr__loop_unwatch(&channel->worker->loop, fd);
    channel->flags &= ~(uint32_t)CHANNEL_WATCHED;
    channel->fd = -1;
    return fd;
}

static void close_socket(struct channel *channel, bool resets)
{
    struct loop *loop = &channel->worker->loop;
    int fd = channel->fd;
    /* A connection that was accepted has no second descriptor: to close it ends the watch. */
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

void tr__channel_free(struct channel *channel)
{
    struct worker *worker = channel->worker;
    if (channel->rare->process)
        tr__process_leave(channel);
    close_socket(channel, channel->state != CHANNEL_ENDED && channel->state != CHANNEL_LINGERING);
    event_forget(channel);
    list_remove(&channel->listed);
    tr__exchanges_free(channel);
    tr__pieces_free(channel);
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
    tr__rare_free(channel);
    tr__endpoint_drop(&worker->system->source, channel->endpoint);
    channel->state = CHANNEL_FREE;
    tr__table_give(worker->system, channel);
}

tr_status tr__channel_of(const struct tr_self *self, tr_channel handle, struct channel **found)
{
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
    return protocol_of(channel) ||
           (channel->cell->dispatch &&
            dispatch_find(&channel->worker->dispatches, channel->cell->dispatch, type));
}

/* Whether the handler of the actor would get something that has come. */
static bool has_piece(const struct channel *channel)
{
    if (!waits_are_empty(&channel->readers) || exchanges_are_first(channel) ||
        channel_has(channel, CHANNEL_CLOSE_HELD))
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

/* Whether the other side has ended, all that it sent was read, and nobody has noticed the end. */
static bool is_read_out(const struct channel *channel)
{
    return channel->state == CHANNEL_OPEN && channel->kind == CHANNEL_STREAM &&
           channel_has(channel, CHANNEL_INPUT_OVER) && waits_are_empty(&channel->readers) &&
           !channel->work->input.borrower && !net_buffer_size(&channel->work->input.buffer) &&
           !pieces_are_open(channel);
}

/* The other side has ended, and nobody reads: finds the end if nothing is before it. */
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

/* Whether an end may be there that nobody would find by reading. */
static bool may_hide_end(const struct channel *channel)
{
    return channel->state == CHANNEL_OPEN && channel->kind == CHANNEL_STREAM &&
           channel_has(channel, CHANNEL_HUNG_UP) && channel_has(channel, CHANNEL_READABLE) &&
           !channel_has(channel, CHANNEL_INPUT_OVER | CHANNEL_OPENS) &&
           waits_are_empty(&channel->readers) && !channel->rare->exchanges &&
           !channel->work->input.borrower && !net_buffer_size(&channel->work->input.buffer) &&
           !tr__channel_handles(channel, &tr_type_tr_received);
}

/* Queues an event without a message: what it is about is found when its turn comes. */
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
    return !channel->event && cell && !(cell->flags & CELL_SEALED) && cell->life < LIFE_STOPPING;
}

/* Whether there is certainly nothing for anybody, as after most turns. */
static bool is_quiet(const struct channel *channel)
{
    const uint32_t news = CHANNEL_READABLE | CHANNEL_HUNG_UP | CHANNEL_INPUT_OVER | CHANNEL_DIALED |
                          CHANNEL_OPENS | CHANNEL_DRAINS | CHANNEL_CLOSES;
    return !channel_has(channel, news) && !net_buffer_size(&channel->work->input.buffer) &&
           !channel->rare->datagrams;
}

void tr__channel_call(struct channel *channel)
{
    if (is_quiet(channel) || !may_call(channel) || channel_has(channel, CHANNEL_GONE))
        return;
    if (is_read_out(channel)) {
        tr__channel_hang_up(channel); /* calls this again, when it has ended */
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
    struct worker *worker = channel->worker;
    struct cell *cell = channel->cell;
    event->sender = (uintptr_t)channel;
    channel->event = event;
    mail_count(cell, event);
    cell->flags |= CELL_MIXED;
    /* A dial passes a barrier: the turn that waits as one may wait for it. */
    bool passes = channel_has(channel, CHANNEL_DIALED);
    ring_push(passes ? &cell->replies : &net_cell_of(cell)->base.ready, event);
    if (mail_is_idle(cell) && (passes || !(cell->flags & CELL_BARRIER)))
        mail_make_ready(worker, cell);
}

/* ---- Ends. ---- */

void tr__channel_set_text(struct channel *channel, const char *text)
{
    if (!text || !text[0] || channel->rare->text)
        return;
    size_t size = strlen(text) + 1;
    struct channel_rare *rare = tr__rare_of(channel);
    char *copy = rare ? source_resize(&channel->worker->system->source, NULL, size) : NULL;
    if (copy) /* without memory tr_closed has no text */
        rare->text = memcpy(copy, text, size);
}

void tr__channel_end(struct channel *channel, tr_status status, const char *text)
{
    if (channel->state == CHANNEL_ENDED)
        return;
    /* After TR_RESET there is no connection that could be reset. */
    bool resets = status != TR_OK && status != TR_CLOSED && status != TR_RESET;
    channel->status = status;
    tr__channel_set_text(channel, text || !resets ? text : tr__filters_text(channel));
    if (channel->rare->filter.table && resets)
        tr__output_send_last(channel); /* an alert */
    close_socket(channel, resets);
    tr__channel_change(channel, CHANNEL_ENDED);
    channel->flags &= ~(uint32_t)(CHANNEL_READABLE | CHANNEL_WRITABLE | CHANNEL_DRAINS);
    channel->flags |= CHANNEL_INPUT_OVER;
    tr__output_free(channel);
    tr__pieces_drop(channel);
    tr__channel_disarm(channel);
    if (!channel->cell) {
        tr__channel_free(channel);
        return;
    }
    tr__session_uncount(channel);
    tr__channel_timers_end(channel);
    if (!channel_has(channel, CHANNEL_WAITS_OPEN))
        channel->flags |= CHANNEL_CLOSES;
    if (channel->rare->process)
        tr__process_channel_ended(channel, status);
    tr__exchanges_fail(channel, status == TR_OK ? TR_CANCELLED : status);
    tr__waits_wake(&channel->readers);
    tr__waits_wake(&channel->writers);
    tr__channel_call(channel);
}

/* Continues to close a channel that lingers, as far as possible now. It may be freed. */
static void linger(struct channel *channel)
{
    tr__output_flush(channel);
    if (channel->state != CHANNEL_LINGERING)
        return;
    if (channel->work->input.borrower)
        return; /* bytes are lent: the end of that turn continues */
    while (channel_has(channel, CHANNEL_READABLE) && !channel_has(channel, CHANNEL_INPUT_OVER)) {
        size_t before = net_buffer_size(&channel->work->input.buffer);
        tr_status status = tr__input_peek(channel);
        size_t got = net_buffer_size(&channel->work->input.buffer) - before;
        tr__input_drop(channel);
        if (status == TR_WOULD_BLOCK)
            break;
        if (status != TR_OK && status != TR_CLOSED) {
            tr__channel_end(channel, status, NULL);
            return;
        }
        channel->drop_left -= got < channel->drop_left ? (uint32_t)got : channel->drop_left;
        if (!channel->drop_left) {
            close_socket(channel, true);
            tr__channel_end(channel, TR_RESET, NULL);
            return;
        }
    }
    if (tr__output_is_empty(channel) && channel_has(channel, CHANNEL_INPUT_OVER) &&
        !channel_has(channel, CHANNEL_FILE))
        tr__channel_end(channel, channel->status, NULL);
}

/* Lets a channel linger: it sends what is left, and ends with this status. It may be freed. */
static void linger_begin(struct channel *channel, tr_status status)
{
    channel->status = status;
    channel->flags |= CHANNEL_FINISHING;
    channel->flags &= ~(uint32_t)CHANNEL_DRAINS;
    channel->drop_left = TR_LINGER_BYTES_MAX;
    channel->deadline_ns =
        timer_deadline(channel->worker->loop.now_ns, channel->endpoint->options.linger_ns);
    tr__shutdown_limit(channel);
    tr__input_drop(channel); /* nothing comes any more */
    tr__channel_change(channel, CHANNEL_LINGERING);
    tr__channel_timers_end(channel);
    tr__waits_wake(&channel->readers);
    tr__waits_wake(&channel->writers);
    if (channel->cell)
        tr__output_touch(channel); /* with the rest of what the run writes, if it does not fail */
    else
        linger(channel);
}

void tr__channel_hang_up(struct channel *channel)
{
    if (channel->state != CHANNEL_OPEN)
        return;
    tr__exchanges_fail(channel, TR_CLOSED);
    if (tr__output_is_empty(channel) && !channel->rare->filter.table)
        tr__channel_end(channel, TR_CLOSED, NULL);
    else
        linger_begin(channel, TR_CLOSED);
}

void tr__channel_finish(struct channel *channel)
{
    if (channel_has(channel, CHANNEL_FINISHING))
        return;
    channel->flags |= CHANNEL_FINISHING;
    tr__output_touch(channel);
}

/* Lets the protocol write a last piece. */
static void protocol_closes(struct channel *channel, bool has_failed)
{
    if (protocol_of(channel) && channel->state == CHANNEL_OPEN &&
        !channel_has(channel, CHANNEL_FINISHING))
        protocol_of(channel)->on_close(channel, has_failed);
}

void tr__channel_close(struct channel *channel)
{
    if (channel->state == CHANNEL_LINGERING || channel->state == CHANNEL_ENDED)
        return;
    bool is_stream = channel->kind == CHANNEL_STREAM && channel->state == CHANNEL_OPEN;
    tr__exchanges_fail(channel, TR_CANCELLED);
    if (channel->state == CHANNEL_DIALING && channel->work->output.size) {
        channel->flags |=
            CHANNEL_FINISHING | CHANNEL_CLOSES_OPENED; /* tr__channel_opened continues */
        return;
    }
    if (!is_stream) {
        tr__channel_end(channel, TR_OK, NULL);
        return;
    }
    protocol_closes(channel, false);
    linger_begin(channel, TR_OK);
}

void tr__channel_reset(struct channel *channel)
{
    tr__process_kill(channel);
    close_socket(channel, true);
    tr__channel_end(channel, TR_OK, NULL);
}

/* The actor ends before the channel to which it wrote is open, and with it the turn that dials. */
static void say_unsent(const struct channel *channel)
{
    struct tr_system *system = channel->worker->system;
    char path[TR_PATH_MAX + 1];
    tr__cell_path(system, channel->cell, path);
    tr__log(system,
            TR_LEVEL_WARN,
            path,
            "%zu bytes for %s were not sent: the actor has ended before the channel was open",
            channel->work->output.size,
            channel->endpoint->options.address);
}

void tr__channel_orphan(struct channel *channel, bool resets)
{
    struct net_worker *net = channel->worker->channels.net;
    bool is_opening = channel->state == CHANNEL_DIALING && channel->kind == CHANNEL_STREAM;
    bool has_unsent =
        is_opening && !resets && channel->work->output.size > channel->work->output.held;
    if (has_unsent && channel->fd < 0)
        say_unsent(channel);
    event_forget(channel);
    /* Turns that waited have ended: what was on their stacks is gone. */
    channel->readers.first = channel->writers.first = NULL;
    tr__input_abandon(channel);
    tr__exchanges_free(channel);
    if (!resets)
        tr__pieces_release(channel);
    tr__pieces_free(channel);
    tr__channel_disown(channel);
    channel->flags &= ~(uint32_t)(CHANNEL_IN_TURN | CHANNEL_CLOSES | CHANNEL_OPENS);
    list_push_last(&net->lingering, &channel->link);
    /* What is still held never leaves, and nobody is to take a part for all. */
    resets |= channel->work->output.held || channel_has(channel, CHANNEL_END_HELD);
    if (resets)
        protocol_closes(channel, true);
    bool cuts = resets && !channel_has(channel, CHANNEL_ANSWERED);
    bool is_whole = channel->kind == CHANNEL_STREAM &&
                    (channel->state == CHANNEL_OPEN || channel->state == CHANNEL_LINGERING);
    if (channel->kind == CHANNEL_LISTENER && channel->state != CHANNEL_ENDED)
        tr__channel_end(channel, TR_OK, NULL);
    else if (has_unsent && !resets && channel->fd >= 0)
        tr__channel_close(channel); /* it is accepted, and still shakes hands */
    else if (cuts || !is_whole || channel->rare->process || channel_has(channel, CHANNEL_FILE)) {
        bool is_all_sent = channel_has(channel, CHANNEL_FINISHED) && tr__output_is_empty(channel);
        if (cuts && !is_all_sent)
            close_socket(channel, true); /* also one that was closed, and lingers */
        tr__channel_free(channel);
    } else if (channel->state == CHANNEL_OPEN)
        tr__channel_close(channel);
    else
        tr__output_touch(channel); /* it lingers; a run that has failed sent nothing */
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
    if (channel->rare->exchanges) {
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

void tr__channel_ready(struct channel *channel, uint32_t what)
{
    if (what & TR_IO_IN)
        channel->flags |= CHANNEL_READABLE;
    if (what & TR_IO_OUT)
        channel->flags |= CHANNEL_WRITABLE;
    if (what & TR_IO_END)
        channel->flags |= CHANNEL_READABLE | CHANNEL_HUNG_UP;
    /* The turns of an actor that has failed may be gone; its channels end with it. */
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
        linger(channel);
        break;
    case CHANNEL_ENDED:
    case CHANNEL_FREE:
    case CHANNEL_STATES:
        break;
    }
}
