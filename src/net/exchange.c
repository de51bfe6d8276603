/* SPDX-License-Identifier: Apache-2.0 */
#include "net/exchange.h"

#include <string.h>

#include "actor/ask/ask.h"
#include "actor/ask/ask_open.h"
#include "actor/ask/turn_asks.h"
#include "actor/cell/ask_table.h"
#include "actor/cell/system.h"
#include "actor/cell/upcalls.h"
#include "actor/cell/verb.h"
#include "actor/mail/address.h"
#include "base/assert.h"
#include "net/channel_end.h"
#include "net/input.h"
#include "net/wait.h"
#include "net/output.h"
#include "net/pieces.h"
#include "net/rare.h"

/* The type of the asks of tr_exchange. Its name is in reports and error texts. */
TR_REQUEST(tr_exchange, tr_received);

enum exchange_kind { EXCHANGE_PIECE, EXCHANGE_READABLE, EXCHANGE_WRITABLE };

struct exchange {
    struct exchange *next;
    uint32_t id; /* number of the ask */
    uint8_t kind;
    bool is_alone;
    /* the id that the framing has found in the request; only for a framing that has ids */
    uint64_t number;
};

/* What kind of exchange a turn wants to begin. */
struct wish {
    enum exchange_kind kind;
    bool is_alone;
    uint64_t number;
};

/* ---- The list. ---- */

static void push(struct channel *channel, struct exchange *exchange)
{
    struct exchange **first =
        exchange->kind == EXCHANGE_PIECE ? &channel->rare->exchanges : &channel->rare->looks;
    while (*first)
        first = &(*first)->next;
    *first = exchange;
    channel->rare->exchange_count += exchange->kind == EXCHANGE_PIECE;
}

/*
 * Call when an exchange that had to be the only one ends. Lets other turns begin exchanges again.
 */
static void alone_end(struct channel *channel)
{
    channel->flags &= ~(uint32_t)CHANNEL_ALONE;
    tr__waits_wake(&channel->writers);
}

static void pop(struct channel *channel, struct exchange **at)
{
    struct exchange *exchange = *at;
    *at = exchange->next;
    channel->rare->exchange_count -= exchange->kind == EXCHANGE_PIECE;
    if (exchange->is_alone)
        alone_end(channel);
    source_resize(&channel->worker->system->source, exchange, 0);
}

static struct ask *ask_find(const struct channel *channel, const struct exchange *exchange)
{
    struct cell_extra *extra = channel->cell->extra;
    struct ask *ask = extra ? ask_table_find(&extra->asks.table, exchange->id) : NULL;
    return ask && !ask->is_fixed ? ask : NULL;
}

/* Answers the ask of an exchange. If there is no memory, the ask ends with TR_NO_MEMORY. */
static void answer(struct channel *channel, const struct exchange *exchange, tr_bytes bytes)
{
    struct worker *worker = channel->worker;
    struct cell *cell = channel->cell;
    struct ask *ask = ask_find(channel, exchange);
    if (!ask)
        return; /* no turn waits for the answer, because the turn that asked has given up */
    bool has_nul = bytes.data && channel->endpoint->options.framing == TR_LINES;
    struct tr_received message = {.channel = {channel_bits(channel)},
                                  .bytes = {bytes.data, bytes.size + has_nul}};
    struct address address = {.kind = ENVELOPE_REPLY, .to = cell->identity, .number = exchange->id};
    struct envelope *envelope;
    tr_status status =
        tr__mail_new(&worker->pool, address, &tr_type_tr_received, &message, &envelope);
    if (status != TR_OK) {
        tr__ask_done(worker, ask, status);
        return;
    }
    if (has_nul)
        ((struct tr_received *)(uintptr_t)envelope_data(envelope))
            ->bytes.size--; /* do not count the NUL, which was copied too */
    atom64_count(&worker->counters.accepted, 1);
    tr__ask_arrived(worker, cell, envelope);
}

/* ---- Ids. ---- */

static const tr_framing *ids_of(const struct channel *channel)
{
    const tr_framing *framing = channel->endpoint->options.framing;
    return framing && framing->id ? framing : NULL;
}

static struct exchange **find_number(struct channel *channel, uint64_t number)
{
    struct exchange **at = &channel->rare->exchanges;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    return *at ? at : NULL;
}

/*
 * Returns where the list has the exchange that a piece answers. Returns NULL if the piece answers
 * no exchange. Sets *is_answer if the piece has an id.
 */
static struct exchange **place_of(struct channel *channel, tr_bytes piece, bool *is_answer)
{
    const tr_framing *ids = ids_of(channel);
    uint64_t number;
    if (!ids)
        return &channel->rare->exchanges;
    *is_answer = ids->id(ids, piece, &number);
    return *is_answer ? find_number(channel, number) : NULL;
}

/*
 * Forgets the oldest exchange whose turn has given up. The reply of this exchange may still come. Returns false if
 * there is no such exchange.
 */
static bool forget_one(struct channel *channel)
{
    if (!ids_of(channel))
        /*
         * without ids no exchange may be forgotten, because replies are matched by the order of the
         * exchanges
         */
        return false;
    for (struct exchange **at = &channel->rare->exchanges; *at; at = &(*at)->next) {
        if (!ask_find(channel, *at)) {
            pop(channel, at);
            return true;
        }
    }
    return false;
}

/* ---- Reading. ---- */

/*
 * Handles a piece that belongs to no exchange. The turn that reads, or the handler, gets the piece
 * before the replies behind it are read. If no turn reads and there is no handler, the piece waits
 * for a turn that reads. But a piece with an id that no request has ends the channel in that case.
 */
static void pass_on(struct channel *channel, tr_bytes piece, bool is_answer)
{
    bool has_reader = !waits_are_empty(&channel->readers);
    if (is_answer && !has_reader && !tr__channel_handles(channel, &tr_type_tr_received)) {
        tr__channel_end(channel, TR_BAD_DATA, "an answer came with an id that no request has");
        return;
    }
    if (!tr__input_unread(channel, piece.size ? piece.size : 1))
        TR_NOT_REACHED("a piece of a framing can be unread");
    channel->work->input.needs = 0;
    channel->flags |= CHANNEL_UNASKED;
    if (has_reader)
        tr__waits_wake_one(&channel->readers);
    else
        tr__channel_call(channel);
}

tr_status tr__exchanges_pass(struct tr_self *self, struct channel *channel, tr_bytes *piece)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    char *copy = tr_try_scratch(self, piece->size + 1);
    if (!copy)
        return TR_NO_MEMORY;
    channel->flags &= ~(uint32_t)CHANNEL_UNASKED;
    if (piece->size)
        memcpy(copy, piece->data, piece->size);
    copy[piece->size] = 0;
    *piece = (tr_bytes){copy, piece->size};
    tr__input_settle(channel);
    tr__exchanges_read(channel);
    return TR_OK;
}

/* Takes the next piece. Returns false if none has come or the channel has ended. */
static bool take(struct channel *channel, tr_bytes *piece)
{
    static const struct cutter piece_cutter = {.how = CUT_PIECE};
    bool is_cut;
    tr_status status = tr__input_take(NULL, channel, &piece_cutter, piece, &is_cut);
    if (status == TR_CLOSED && pieces_are_open(channel))
        tr__exchanges_fail(channel, TR_CLOSED);
    else if (status == TR_CLOSED)
        tr__channel_hang_up(channel);
    else if (status != TR_OK && status != TR_WOULD_BLOCK)
        tr__channel_end(channel, status, NULL);
    return status == TR_OK;
}

void tr__exchanges_read(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    bool has_taker = !waits_are_empty(&channel->readers) || channel->event;
    if (channel_has(channel, CHANNEL_UNASKED) && has_taker)
        /* wait until the turn or the handler has taken the piece that belongs to no exchange */
        return;
    channel->flags &= ~(uint32_t)CHANNEL_UNASKED;
    while (channel->rare->exchanges) {
        tr_bytes piece;
        if (!take(channel, &piece))
            return;
        bool is_answer = false;
        struct exchange **at = place_of(channel, piece, &is_answer);
        if (!at) {
            pass_on(channel, piece, is_answer);
            return;
        }
        answer(channel, *at, piece);
        pop(channel, at);
        tr__input_settle(channel);
        if (channel_has(channel, CHANNEL_ALONE))
            tr__waits_wake(&channel->writers);
        else
            /* wakes a turn that waits to begin an exchange */
            tr__waits_wake_one(&channel->writers);
    }
    if (channel_has(channel, CHANNEL_READABLE) || tr__input_has_bytes(channel))
        tr__waits_wake_one(&channel->readers);
    tr__channel_call(channel);
}

static void fail_list(struct channel *channel, struct exchange **list, tr_status status)
{
    while (*list) {
        struct ask *ask = ask_find(channel, *list);
        pop(channel, list);
        if (ask)
            tr__ask_done(channel->worker, ask, status);
    }
}

void tr__exchanges_fail(struct channel *channel, tr_status status)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (!channel->cell)
        return;
    fail_list(channel, &channel->rare->exchanges, status);
    /*
     * answer the asks of tr_readable and tr_writable, because a read or a write would return an
     * error now without waiting
     */
    while (channel->rare->looks) {
        answer(channel, channel->rare->looks, (tr_bytes){NULL, 0});
        pop(channel, &channel->rare->looks);
    }
}

void tr__exchanges_free(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    while (channel->rare->exchanges)
        pop(channel, &channel->rare->exchanges);
    while (channel->rare->looks)
        pop(channel, &channel->rare->looks);
}

static bool is_due(const struct channel *channel, const struct exchange *exchange)
{
    if (exchange->kind == EXCHANGE_WRITABLE)
        return !channel_has(channel, CHANNEL_FILE) &&
               channel->work->output.size <= channel->endpoint->options.output_max / 2;
    return channel_has(channel, CHANNEL_READABLE | CHANNEL_INPUT_OVER) ||
           tr__input_has_bytes(channel);
}

void tr__exchanges_look(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct exchange **at = &channel->rare->looks;
    while (*at) {
        if (!is_due(channel, *at)) {
            at = &(*at)->next;
            continue;
        }
        answer(channel, *at, (tr_bytes){NULL, 0});
        pop(channel, at);
    }
}

bool tr__exchange_is_here(const struct channel *channel, uint32_t id)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const struct exchange *lists[] = {channel->rare->exchanges, channel->rare->looks};
    for (size_t i = 0; i < 2; i++) {
        for (const struct exchange *exchange = lists[i]; exchange; exchange = exchange->next) {
            if (exchange->id == id)
                return true;
        }
    }
    return false;
}

/* ---- Verbs. ---- */

static tr_channel_ask failed(tr_status status)
{
    return (tr_channel_ask){.any = {PENDING_IS_STATUS | (uint32_t)-status}};
}

/* Makes an ask of this turn, and a record for it among the exchanges of the channel. */
static tr_status begin(struct tr_self *self, struct channel *channel, struct wish wish,
                       tr_channel_ask *asked)
{
    struct worker *worker = self->worker;
    struct exchange *exchange = tr__rare_of(channel)
                                    ? source_resize(&worker->system->source, NULL, sizeof *exchange)
                                    : NULL;
    struct ask *ask = exchange ? tr__ask_new(self, 0, &tr_type_tr_exchange) : NULL;
    if (ask && !turn_asks_add(self, ask)) {
        tr__ask_end(worker, self->cell, ask);
        ask = NULL;
    }
    if (!ask) {
        source_resize(&worker->system->source, exchange, 0);
        return TR_NO_MEMORY;
    }
    ask->asked_ns = clock_bound_roughly(&worker->clock);
    ask->is_untimed = false;
    if (wish.kind == EXCHANGE_PIECE || channel->rare->within_ns)
        ask_arm(worker,
                ask,
                timer_deadline(ask->asked_ns,
                               channel->rare->within_ns ? channel->rare->within_ns : TR_ASK_NS));
    *exchange = (struct exchange){.id = ask->id,
                                  .kind = (uint8_t)wish.kind,
                                  .is_alone = wish.is_alone,
                                  .number = wish.number};
    asked->any = ask_pending(ask);
    push(channel, exchange);
    return TR_OK;
}

static tr_channel_ask look_for(tr_self *self, tr_channel handle, enum exchange_kind kind)
{
    struct channel *channel;
    tr_channel_ask asked;
    tr_status status = tr__channel_of(self, handle, &channel);
    if (status == TR_OK)
        status = begin(self, channel, (struct wish){.kind = kind}, &asked);
    if (status != TR_OK)
        return failed(status);
    tr__exchanges_look(channel);
    return asked;
}

tr_channel_ask tr_readable(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    return look_for(self, handle, EXCHANGE_READABLE);
}

tr_channel_ask tr_writable(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    return look_for(self, handle, EXCHANGE_WRITABLE);
}

/* ---- Requests. ---- */

/* Finds a channel on which this turn may send a request now. */
static tr_status usable(struct tr_self *self, tr_channel handle, struct channel **found)
{
    tr_status status = tr__channel_of(self, handle, found);
    if (status == TR_OK && (*found)->state == CHANNEL_ENDED)
        status = (*found)->status == TR_OK ? TR_CLOSED : (*found)->status;
    return status;
}

static bool is_full(struct channel *channel)
{
    return channel->rare->exchange_count >= channel->endpoint->options.in_flight_max &&
           !forget_one(channel);
}

/*
 * Waits until this turn may write a request. With `is_alone` sets CHANNEL_ALONE first, so that no
 * other request can be written before this one.
 */
static tr_status wait_to_go(struct tr_self *self, tr_channel handle, bool is_alone,
                            struct channel **found)
{
    bool has_waited = false;
    bool is_next = false; /* this call has set CHANNEL_ALONE */
    tr_status status = usable(self, handle, found);
    while (status == TR_OK) {
        struct channel *channel = *found;
        bool is_held = channel_has(channel, CHANNEL_ALONE) && !is_next;
        if (is_alone && !is_held) {
            channel->flags |= CHANNEL_ALONE;
            is_next = true;
        }
        if (!is_held && !(is_alone ? channel->rare->exchanges != NULL : is_full(channel)))
            return TR_OK;
        status = tr__channel_park(self, channel, &channel->writers, has_waited, NULL);
        has_waited = true;
        tr_status now = usable(self, handle, found);
        status = status == TR_OK ? now : status;
    }
    if (is_next && tr__channel_of(self, handle, found) == TR_OK)
        alone_end(*found);
    return status;
}

/* Writes a request whose exchange exists already. If the write fails, the ask ends with its status. */
static void write_numbered(tr_self *self, tr_channel handle, tr_bytes request, uint64_t number)
{
    struct channel *channel;
    tr_status status = tr_write(self, handle, request);
    if (status == TR_OK || tr__channel_of(self, handle, &channel) != TR_OK)
        /*
         * either the write was successful, or the channel has ended, and its exchanges have ended
         * with it
         */
        return;
    struct exchange **at = find_number(channel, number);
    struct ask *ask = at ? ask_find(channel, *at) : NULL;
    if (at)
        pop(channel, at);
    if (ask)
        tr__ask_done(channel->worker, ask, status);
}

/*
 * Makes an exchange, then writes its request with an id. The exchange comes first, so that no other
 * turn can send a request with the same id while the write waits.
 */
static tr_status go_numbered(tr_self *self, tr_channel handle, tr_bytes request, bool is_alone,
                             tr_channel_ask *asked)
{
    struct channel *channel;
    struct wish wish = {.kind = EXCHANGE_PIECE, .is_alone = is_alone};
    tr_status status = wait_to_go(self, handle, is_alone, &channel);
    if (status != TR_OK)
        return status;
    const tr_framing *ids = ids_of(channel);
    if (!ids->id(ids, request, &wish.number) || find_number(channel, wish.number))
        status = TR_INVALID_ARGUMENT;
    if (status == TR_OK)
        status = begin(self, channel, wish, asked);
    if (status == TR_OK)
        write_numbered(self, handle, request, wish.number);
    else if (is_alone)
        alone_end(channel);
    return status;
}

/*
 * Writes the request, then makes its exchange. The exchanges must be in the order in which the
 * requests were written.
 */
static tr_status go_in_order(tr_self *self, tr_channel handle, tr_bytes request, bool is_alone,
                             tr_channel_ask *asked)
{
    struct channel *channel;
    struct wish wish = {.kind = EXCHANGE_PIECE, .is_alone = is_alone};
    tr_status status = wait_to_go(self, handle, is_alone, &channel);
    if (status != TR_OK)
        return status;
    status = tr_write(self, handle, request);
    /* the write may have waited, so find the channel again: it may have ended */
    if (status == TR_OK)
        status = usable(self, handle, &channel);
    if (status == TR_OK)
        status = begin(self, channel, wish, asked);
    if (status != TR_OK && is_alone && tr__channel_of(self, handle, &channel) == TR_OK)
        alone_end(channel);
    return status;
}

static tr_channel_ask exchange(tr_self *self, tr_channel handle, tr_bytes request, bool is_alone)
{
    struct channel *channel;
    tr_channel_ask asked;
    tr_status status = usable(self, handle, &channel);
    if (status == TR_OK && ids_of(channel))
        status = go_numbered(self, handle, request, is_alone, &asked);
    else if (status == TR_OK)
        status = go_in_order(self, handle, request, is_alone, &asked);
    return status == TR_OK ? asked : failed(status);
}

tr_channel_ask tr_exchange(tr_self *self, tr_channel handle, tr_bytes request)
{
    TURN_VERB(self);
    return exchange(self, handle, request, false);
}

tr_channel_ask tr_exchange_alone(tr_self *self, tr_channel handle, tr_bytes request)
{
    TURN_VERB(self);
    return exchange(self, handle, request, true);
}
