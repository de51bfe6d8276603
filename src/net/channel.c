/* SPDX-License-Identifier: Apache-2.0 */
#include "net/channel.h"

#include <string.h>

#include "actor/cell/extra.h"
#include "actor/cell/system.h"
#include "actor/mail/address.h"
#include "actor/mail/mail.h"
#include "actor/turn/park.h"
#include "base/assert.h"
#include "net/datagram.h"
#include "net/dial.h"
#include "net/exchange.h"
#include "net/filter.h"
#include "net/input.h"
#include "net/listener.h"
#include "net/output.h"
#include "net/protocol.h"
#include "net/table.h"
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
    struct cell_extra *extra = tr__extra_of(worker, cell);
    if (!extra)
        return NULL;
    if (!extra->channels) {
        struct net_cell *record = source_resize(&worker->source, NULL, sizeof *record);
        if (!record)
            return NULL;
        *record = (struct net_cell){.count = 0};
        list_init(&record->channels);
        extra->channels = &record->base;
    }
    return (struct net_cell *)(void *)extra->channels;
}

tr_status tr__channel_adopt(struct channel *channel, struct cell *cell)
{
    struct net_cell *record = cell_record(channel->worker, cell);
    if (!record)
        return TR_NO_MEMORY;
    list_remove(&channel->link);
    list_push_last(&record->channels, &channel->link);
    record->count++;
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
    if (channel_has(channel, CHANNEL_IN_TURN)) {
        event->sender = 0; /* on_done finds no channel, and frees what was lent */
        channel->opened = NULL;
    } else
        event->kind = ENVELOPE_VOID;
}

void tr__channel_disown(struct channel *channel)
{
    event_forget(channel);
    struct net_cell *record = net_cell_of(channel->cell);
    TR_ASSERT(record && record->count > 0);
    record->count--;
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
    list_init(&channel->dirty);
    list_init(&channel->starved);
    list_init(&channel->readers);
    list_init(&channel->writers);
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
    const struct memory_source *source = &worker->system->source;
    const struct channel fresh = {
        .worker = worker,
        .fd = -1,
        .kind = (uint8_t)kind,
        .endpoint = tr__endpoint_share(endpoint),
        .deadline_ns = TR_NEVER,
        .active_ns = worker->loop.now_ns,
        .input = {.buffer = NET_BUFFER(source), .piece = UINT32_MAX, .nul = UINT32_MAX},
        .filter = {.raw = NET_BUFFER(source), .out = NET_BUFFER(source)}};
    channel_init(channel, &fresh);
    atom64_store(&channel->bits, bits, ATOM_RELAXED);
    if (cell && tr__channel_adopt(channel, cell) != TR_OK) {
        tr__channel_free(channel);
        return TR_NO_MEMORY;
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
    const tr_platform *platform = channel->worker->loop.platform;
    int fd = tr__channel_take_fd(channel);
    if (fd >= 0)
        platform->socket_close(platform, fd, resets);
}

void tr__channel_free(struct channel *channel)
{
    struct worker *worker = channel->worker;
    const struct memory_source *source = &worker->system->source;
    uint64_t bits = channel_bits(channel);
    close_socket(channel, channel->state != CHANNEL_ENDED && channel->state != CHANNEL_LINGERING);
    event_forget(channel);
    list_remove(&channel->dirty);
    list_remove(&channel->starved);
    tr__exchanges_free(channel);
    tr__input_free(channel);
    tr__datagrams_free(channel);
    tr__output_free(channel);
    if (channel->filter.table)
        channel->filter.table->free(channel->filter.state);
    tr__net_buffer_free(&channel->filter.raw);
    tr__net_buffer_free(&channel->filter.out);
    if (timer_is_armed(&channel->timer))
        tr__wheel_cancel(&worker->channels.net->wheel, &channel->timer);
    if (channel->cell)
        tr__channel_disown(channel);
    else
        list_remove(&channel->link);
    tr__session_uncount(channel);
    source_resize(source, channel->opened, 0);
    source_resize(source, channel->text, 0);
    tr__endpoint_drop(source, channel->endpoint);
    channel->state = CHANNEL_FREE;
    atom64_store(&channel->bits, 0, ATOM_RELAXED);
    tr__table_give(worker->system, channel, bits);
}

tr_status tr__channel_of(const struct tr_self *self, tr_channel handle, struct channel **found)
{
    struct channel *channel = tr__table_find(self->worker->system, handle.bits);
    if (!channel)
        return handle.bits ? TR_CLOSED : TR_NOT_OWNER;
    if (atom64_load(&channel->owner, ATOM_RELAXED) != self->cell->identity)
        return TR_NOT_OWNER;
    *found = channel;
    return TR_OK;
}

/* ---- Turns that wait, and events. ---- */

void tr__waits_wake_one(struct list *waits)
{
    struct list *link = list_first(waits);
    if (link)
        turn_wake(LIST_OWNER(link, struct channel_wait, link)->self, TR_OK);
}

void tr__waits_wake(struct list *waits)
{
    LIST_EACH (link, waits)
        turn_wake(LIST_OWNER(link, struct channel_wait, link)->self, TR_OK);
}

static bool cell_handles(const struct channel *channel, const tr_type *type)
{
    return protocol_of(channel) ||
           (channel->cell->dispatch &&
            dispatch_find(&channel->worker->dispatches, channel->cell->dispatch, type));
}

/* Whether the handler of the actor would get something that has come. */
static bool has_piece(const struct channel *channel)
{
    if (!list_is_empty(&channel->readers) || channel->exchanges)
        return false;
    bool has_come = channel_has(channel, CHANNEL_READABLE) || tr__input_has_bytes(channel) ||
                    tr__datagrams_has_some(channel);
    if (channel->kind == CHANNEL_LISTENER)
        return has_come && channel->state == CHANNEL_OPEN && !channel_has(channel, CHANNEL_PAUSED);
    if (channel->state != CHANNEL_OPEN && channel->state != CHANNEL_ENDED)
        return false;
    const tr_type *type =
        channel->kind == CHANNEL_DATAGRAM ? &tr_type_tr_datagram : &tr_type_tr_received;
    return has_come && cell_handles(channel, type);
}

static bool has_news(const struct channel *channel)
{
    if (channel_has(channel, CHANNEL_OPENS | CHANNEL_DIALED | CHANNEL_CLOSES))
        return true;
    if (channel_has(channel, CHANNEL_DRAINS) &&
        channel->output.size <= channel->endpoint->options.output_max / 2)
        return true;
    return has_piece(channel);
}

/* Whether the other side has ended, all that it sent was read, and nobody has noticed the end. */
static bool is_read_out(const struct channel *channel)
{
    return channel->state == CHANNEL_OPEN && channel->kind == CHANNEL_STREAM &&
           channel_has(channel, CHANNEL_INPUT_OVER) && list_is_empty(&channel->readers) &&
           !channel->input.borrower && !net_buffer_size(&channel->input.buffer);
}

void tr__channel_starve(struct channel *channel)
{
    list_remove(&channel->starved);
    list_push_last(&channel->worker->channels.net->starved, &channel->starved);
}

/* The other side has ended, and nobody reads: finds the end if nothing is before it. */
static void look_for_end(struct channel *channel)
{
    if (channel->kind != CHANNEL_STREAM || channel->input.borrower ||
        net_buffer_size(&channel->input.buffer))
        return;
    tr_status status = tr__input_peek(channel);
    if (status == TR_OK || status == TR_WOULD_BLOCK)
        return;
    if (status == TR_CLOSED)
        tr__channel_call(channel);
    else if (!net_buffer_size(&channel->input.buffer))
        tr__channel_end(channel, status, NULL);
}

/* Whether an end may be there that nobody would find by reading. */
static bool may_hide_end(const struct channel *channel)
{
    return channel->state == CHANNEL_OPEN && channel->kind == CHANNEL_STREAM &&
           channel_has(channel, CHANNEL_HUNG_UP) && channel_has(channel, CHANNEL_READABLE) &&
           !channel_has(channel, CHANNEL_INPUT_OVER | CHANNEL_OPENS) &&
           list_is_empty(&channel->readers) && !channel->exchanges && !channel->input.borrower &&
           !net_buffer_size(&channel->input.buffer) && !cell_handles(channel, &tr_type_tr_received);
}

void tr__channel_call(struct channel *channel)
{
    struct worker *worker = channel->worker;
    struct cell *cell = channel->cell;
    if (channel->event || !cell || cell->flags & CELL_SEALED || cell->life >= LIFE_STOPPING)
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
    struct envelope *event = envelope_take(&worker->pool);
    if (!event) {
        tr__channel_starve(channel);
        return;
    }
    event->type = &tr_type_tr_received;
    event->block_class = ENVELOPE_NO_BLOCK;
    struct address address = {.kind = ENVELOPE_CHANNEL, .to = cell->identity};
    mail_address(event, address);
    tr__channel_queue(channel, event);
}

void tr__event_lend(struct envelope *event, const tr_type *type, void *message)
{
    event->type = type;
    event->block_class = ENVELOPE_LENT;
    event->payload.block.data = message;
    event->payload.block.size = 0;
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

static void text_set(struct channel *channel, const char *text)
{
    if (!text || !text[0] || channel->text)
        return;
    size_t size = strlen(text) + 1;
    channel->text = source_resize(&channel->worker->system->source, NULL, size);
    if (channel->text) /* without memory tr_closed has no text */
        memcpy(channel->text, text, size);
}

void tr__channel_end(struct channel *channel, tr_status status, const char *text)
{
    if (channel->state == CHANNEL_ENDED)
        return;
    bool resets = status != TR_OK && status != TR_CLOSED;
    channel->status = status;
    text_set(channel, text);
    close_socket(channel, resets);
    tr__channel_change(channel, CHANNEL_ENDED);
    channel->flags &= ~(uint32_t)(CHANNEL_READABLE | CHANNEL_WRITABLE | CHANNEL_DRAINS);
    channel->flags |= CHANNEL_INPUT_OVER;
    tr__output_free(channel);
    tr__wheel_cancel(&channel->worker->channels.net->wheel, &channel->timer);
    if (!channel->cell) {
        tr__channel_free(channel);
        return;
    }
    tr__session_uncount(channel);
    if (!channel_has(channel, CHANNEL_WAITS_OPEN))
        channel->flags |= CHANNEL_CLOSES;
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
    if (channel->input.borrower)
        return; /* bytes are lent: the end of that turn continues */
    while (channel_has(channel, CHANNEL_READABLE) && !channel_has(channel, CHANNEL_INPUT_OVER)) {
        size_t before = net_buffer_size(&channel->input.buffer);
        tr_status status = tr__input_peek(channel);
        size_t got = net_buffer_size(&channel->input.buffer) - before;
        channel->input.buffer.begin = channel->input.buffer.end;
        tr__input_settle(channel);
        if (status == TR_WOULD_BLOCK)
            break;
        if (status != TR_OK && status != TR_CLOSED) {
            tr__channel_end(channel, status, NULL);
            return;
        }
        channel->drop_left -= got < channel->drop_left ? (uint32_t)got : channel->drop_left;
        if (!channel->drop_left) {
            tr__channel_end(channel, TR_RESET, NULL);
            return;
        }
    }
    if (tr__output_is_empty(channel) && channel_has(channel, CHANNEL_INPUT_OVER))
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
    channel->input.buffer.begin = channel->input.buffer.end; /* nothing comes any more */
    if (!channel->input.borrower)
        tr__input_settle(channel); /* otherwise the end of that turn does it */
    tr__channel_change(channel, CHANNEL_LINGERING);
    tr__waits_wake(&channel->readers);
    tr__waits_wake(&channel->writers);
    linger(channel);
}

void tr__channel_hang_up(struct channel *channel)
{
    if (channel->state != CHANNEL_OPEN)
        return;
    tr__exchanges_fail(channel, TR_CLOSED);
    if (tr__output_is_empty(channel) && !channel->filter.table)
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

void tr__channel_close(struct channel *channel)
{
    if (channel->state == CHANNEL_LINGERING || channel->state == CHANNEL_ENDED)
        return;
    bool is_stream = channel->kind == CHANNEL_STREAM && channel->state == CHANNEL_OPEN;
    tr__exchanges_fail(channel, TR_CANCELLED);
    if (!is_stream) {
        tr__channel_end(channel, TR_OK, NULL);
        return;
    }
    linger_begin(channel, TR_OK);
}

void tr__channel_reset(struct channel *channel)
{
    close_socket(channel, true);
    tr__channel_end(channel, TR_OK, NULL);
}

void tr__channel_orphan(struct channel *channel, bool resets)
{
    struct net_worker *net = channel->worker->channels.net;
    event_forget(channel);
    /* Turns that waited have ended: what was on their stacks is gone. */
    list_init(&channel->readers);
    list_init(&channel->writers);
    channel->input.borrower = NULL;
    tr__exchanges_free(channel);
    tr__channel_disown(channel);
    channel->flags &= ~(uint32_t)(CHANNEL_IN_TURN | CHANNEL_CLOSES | CHANNEL_OPENS);
    list_push_last(&net->lingering, &channel->link);
    bool is_whole = channel->kind == CHANNEL_STREAM &&
                    (channel->state == CHANNEL_OPEN || channel->state == CHANNEL_LINGERING);
    if (channel->kind == CHANNEL_LISTENER)
        tr__channel_end(channel, TR_OK, NULL);
    else if ((resets && !channel_has(channel, CHANNEL_ANSWERED)) || !is_whole)
        tr__channel_free(channel);
    else if (channel->state == CHANNEL_OPEN)
        tr__channel_close(channel);
}

/* ---- Deadlines. ---- */

static tr_time deadline_of(const struct channel *channel)
{
    const tr_endpoint *options = &channel->endpoint->options;
    tr_time next = channel->deadline_ns;
    if (channel->state == CHANNEL_OPEN && channel->kind == CHANNEL_STREAM) {
        tr_time idle =
            options->idle_ns ? timer_deadline(channel->active_ns, options->idle_ns) : TR_NEVER;
        tr_time stall = tr__output_is_empty(channel)
                            ? TR_NEVER
                            : timer_deadline(channel->output.since_ns, options->stall_ns);
        next = idle < next ? idle : next;
        next = stall < next ? stall : next;
    }
    return channel->state == CHANNEL_ENDED ? TR_NEVER : next;
}

void tr__channel_arm(struct channel *channel)
{
    struct wheel *wheel = &channel->worker->channels.net->wheel;
    tr_time next = deadline_of(channel);
    /* A node that fires too early is armed again: an active channel costs no change of the wheel. */
    if (next == TR_NEVER || (timer_is_armed(&channel->timer) && channel->timer.deadline_ns <= next))
        return;
    tr__wheel_cancel(wheel, &channel->timer);
    tr__wheel_arm(wheel, &channel->timer, next);
}

void tr__channel_expired(struct channel *channel, tr_time now_ns)
{
    const tr_endpoint *options = &channel->endpoint->options;
    if (deadline_of(channel) > now_ns) {
        tr__channel_arm(channel);
        return;
    }
    if (channel->kind == CHANNEL_LISTENER) {
        tr__listener_again(channel);
        return;
    }
    bool is_stalled = !tr__output_is_empty(channel) &&
                      timer_deadline(channel->output.since_ns, options->stall_ns) <= now_ns;
    if (channel->state == CHANNEL_LINGERING)
        tr__channel_end(channel, TR_TIMEOUT, NULL);
    else if (channel->state == CHANNEL_OPEN && is_stalled)
        tr__channel_end(channel, TR_STALLED, NULL);
    else if (channel->state == CHANNEL_OPEN && protocol_of(channel))
        protocol_of(channel)->on_deadline(channel);
    else
        tr__channel_end(channel, TR_TIMEOUT, NULL);
}

/* ---- Readiness. ---- */

static void ready_open(struct channel *channel)
{
    if (channel_has(channel, CHANNEL_WRITABLE) && !tr__output_is_empty(channel)) {
        tr__output_flush(channel);
        if (channel->state != CHANNEL_OPEN)
            return;
    }
    if (channel->looks)
        tr__exchanges_look(channel);
    if (!channel_has(channel, CHANNEL_READABLE))
        return;
    if (channel->exchanges) {
        tr__exchanges_read(channel);
    } else if (!list_is_empty(&channel->readers)) {
        tr__waits_wake_one(&channel->readers);
    } else if (has_piece(channel)) {
        tr__channel_call(channel);
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
        if (channel->filter.table)
            tr__channel_shake(channel);
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
