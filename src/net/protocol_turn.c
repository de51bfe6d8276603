/* SPDX-License-Identifier: Apache-2.0 */
#include "net/protocol_turn.h"

#include "actor/mail/address.h"
#include "actor/mail/mail.h"
#include "actor/mail/ready.h"
#include "base/assert.h"
#include "net/net_cell.h"
#include "net/protocol.h"

static void leave(struct protocol_turn *turn)
{
    list_remove(&turn->link);
    list_init(&turn->link);
    if (turn->channel)
        turn->channel->rare->streams->open--;
}

tr_status tr__protocol_turn_queue(struct protocol_turn *turn)
{
    struct channel *channel = turn->channel;
    struct worker *worker = channel->worker;
    struct cell *cell = channel->cell;
    static_assert(_Alignof(struct protocol_turn) > TURN_TAG, "a tag fits into the address");
    if (!cell || cell->flags & CELL_SEALED || cell->life >= LIFE_STOPPING)
        return TR_STOPPING;
    struct envelope *event = envelope_take(&worker->pool);
    if (!event)
        return TR_NO_MEMORY;
    event->type = protocol_of(channel)->turn_handler->type;
    event->block_class = ENVELOPE_NO_BLOCK;
    mail_address(event, (struct address){.kind = ENVELOPE_CHANNEL, .to = cell->identity});
    event->sender = (uintptr_t)turn | TURN_TAG;
    turn->event = event;
    list_push_last(&channel->rare->streams->turns, &turn->link);
    channel->rare->streams->open++;
    mail_count(cell, event);
    cell->flags |= CELL_MIXED;
    ring_push(&net_cell_of(cell)->base.ready, event);
    if (mail_is_idle(cell) && !(cell->flags & CELL_BARRIER))
        mail_make_ready(worker, cell);
    return TR_OK;
}

void tr__protocol_turn_forget(struct protocol_turn *turn)
{
    if (!turn->event)
        return;
    turn->event->kind = ENVELOPE_VOID; /* when the turn of the event comes, the event is dropped */
    turn->event->sender = 0;
    turn->event = NULL;
    leave(turn);
}

void tr__protocol_turns_forget(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (!channel->rare->streams)
        return;
    LIST_EACH (link, &channel->rare->streams->turns)
        tr__protocol_turn_forget(LIST_OWNER(link, struct protocol_turn, link));
}

void tr__protocol_turn_done(struct worker *worker, struct envelope *envelope)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct protocol_turn *turn = protocol_turn_of(envelope);
    struct channel *channel = turn->channel;
    TR_ASSERT(!turn->event);
    envelope_give(&worker->pool, envelope);
    leave(turn);
    turn->is_running = false;
    turn->protocol->on_turn_done(turn);
    if (channel)
        /* the actor may get tr_closed only now, because this turn has ended */
        tr__channel_call(channel);
}
