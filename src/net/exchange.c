/* SPDX-License-Identifier: Apache-2.0 */
#include "net/exchange.h"

#include "actor/ask/ask.h"
#include "actor/ask/ask_open.h"
#include "actor/ask/turn_asks.h"
#include "actor/cell/ask_table.h"
#include "actor/cell/system.h"
#include "actor/cell/upcalls.h"
#include "actor/cell/verb.h"
#include "actor/mail/address.h"
#include "net/input.h"
#include "net/wait.h"
#include "net/output.h"

/* What an ask of this kind asks for: its name is in reports and texts of errors. */
TR_REQUEST(tr_exchange, tr_received);

enum exchange_kind { EXCHANGE_PIECE, EXCHANGE_READABLE, EXCHANGE_WRITABLE };

struct exchange {
    struct exchange *next;
    uint32_t id; /* number of the ask */
    uint32_t kind;
};

/* ---- The list. ---- */

static void push(struct channel *channel, struct exchange *exchange)
{
    struct exchange **first =
        exchange->kind == EXCHANGE_PIECE ? &channel->exchanges : &channel->looks;
    while (*first)
        first = &(*first)->next;
    *first = exchange;
    channel->exchange_count += exchange->kind == EXCHANGE_PIECE;
}

static void pop(struct channel *channel, struct exchange **at)
{
    struct exchange *exchange = *at;
    *at = exchange->next;
    channel->exchange_count -= exchange->kind == EXCHANGE_PIECE;
    source_resize(&channel->worker->system->source, exchange, 0);
}

static struct ask *ask_find(const struct channel *channel, const struct exchange *exchange)
{
    struct cell_extra *extra = channel->cell->extra;
    struct ask *ask = extra ? ask_table_find(&extra->asks.table, exchange->id) : NULL;
    return ask && !ask->is_fixed ? ask : NULL;
}

/* Answers an ask. TR_NO_MEMORY ends it with that status. */
static void answer(struct channel *channel, const struct exchange *exchange, tr_bytes bytes)
{
    struct worker *worker = channel->worker;
    struct cell *cell = channel->cell;
    struct ask *ask = ask_find(channel, exchange);
    if (!ask)
        return; /* its turn has given up */
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
            ->bytes.size--; /* the NUL was copied too */
    atom64_count(&worker->counters.accepted, 1);
    tr__ask_arrived(worker, cell, envelope);
}

void tr__exchanges_read(struct channel *channel)
{
    static const struct cutter piece_cutter = {.how = CUT_PIECE};
    while (channel->exchanges) {
        tr_bytes piece;
        bool is_cut;
        tr_status status = tr__input_take(NULL, channel, &piece_cutter, &piece, &is_cut);
        if (status == TR_WOULD_BLOCK)
            return;
        if (status == TR_CLOSED) {
            tr__channel_hang_up(channel);
            return;
        }
        if (status != TR_OK) {
            tr__channel_end(channel, status, NULL);
            return;
        }
        answer(channel, channel->exchanges, piece);
        pop(channel, &channel->exchanges);
        tr__input_settle(channel);
        tr__waits_wake_one(&channel->writers); /* a turn that waits to exchange */
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
    if (!channel->cell)
        return;
    fail_list(channel, &channel->exchanges, status);
    while (channel->looks) { /* a read or a write does not wait now: it says why */
        answer(channel, channel->looks, (tr_bytes){NULL, 0});
        pop(channel, &channel->looks);
    }
}

void tr__exchanges_free(struct channel *channel)
{
    while (channel->exchanges)
        pop(channel, &channel->exchanges);
    while (channel->looks)
        pop(channel, &channel->looks);
}

static bool is_due(const struct channel *channel, const struct exchange *exchange)
{
    if (exchange->kind == EXCHANGE_WRITABLE)
        return channel->output.size <= channel->endpoint->options.output_max / 2;
    return channel_has(channel, CHANNEL_READABLE | CHANNEL_INPUT_OVER) ||
           tr__input_has_bytes(channel);
}

void tr__exchanges_look(struct channel *channel)
{
    struct exchange **at = &channel->looks;
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
    const struct exchange *lists[] = {channel->exchanges, channel->looks};
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

/* Makes an ask of this turn and its place in the line of the channel. */
static tr_status begin(struct tr_self *self, struct channel *channel, enum exchange_kind kind,
                       tr_channel_ask *asked)
{
    struct worker *worker = self->worker;
    struct exchange *exchange = source_resize(&worker->system->source, NULL, sizeof *exchange);
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
    if (kind == EXCHANGE_PIECE || channel->within_ns)
        ask_arm(worker,
                ask,
                timer_deadline(ask->asked_ns, channel->within_ns ? channel->within_ns : TR_ASK_NS));
    *exchange = (struct exchange){.id = ask->id, .kind = kind};
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
        status = begin(self, channel, kind, &asked);
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

tr_channel_ask tr_exchange(tr_self *self, tr_channel handle, tr_bytes request)
{
    TURN_VERB(self);
    struct channel *channel;
    tr_channel_ask asked;
    tr_status status = tr__channel_of(self, handle, &channel);
    while (status == TR_OK && channel->exchange_count >= channel->endpoint->options.in_flight_max) {
        status = tr__channel_park(self, channel, &channel->writers, false, NULL);
        if (status == TR_OK)
            status = tr__channel_of(self, handle, &channel);
    }
    if (status == TR_OK)
        status = tr_write(self, handle, request);
    if (status == TR_OK) /* the write may have waited, and the channel may be gone */
        status = tr__channel_of(self, handle, &channel);
    if (status == TR_OK && channel->state == CHANNEL_ENDED)
        status = channel->status == TR_OK ? TR_CLOSED : channel->status;
    if (status == TR_OK)
        status = begin(self, channel, EXCHANGE_PIECE, &asked);
    return status == TR_OK ? asked : failed(status);
}
