/* SPDX-License-Identifier: Apache-2.0 */
#include "net/move.h"

#include <string.h>
#include <troupe/net.h>

#include "actor/cell/extra.h"
#include "actor/cell/slots.h"
#include "actor/cell/verb.h"
#include "actor/mail/address.h"
#include "actor/mail/group_address.h"
#include "actor/mail/mail.h"
#include "net/channel_end.h"
#include "net/deadline.h"
#include "net/event.h"
#include "net/input.h"
#include "net/lent.h"
#include "net/net_cell.h"
#include "net/output.h"
#include "net/pieces.h"
#include "net/protocol.h"
#include "net/wait.h"
#include "net/worker.h"
#include "base/assert.h"

/* Packs a channel, as move.h describes. TR_NO_MEMORY: nothing has changed. */
static tr_status pack(struct channel *channel)
{
    struct worker *worker = channel->worker;
    tr_status status = tr__input_leave_area(channel, 0);
    if (status != TR_OK)
        return status;
    if (channel_has(channel, CHANNEL_WATCHED))
        tr__loop_unwatch(&worker->loop, channel->fd);
    channel->flags &= ~(uint32_t)(CHANNEL_WATCHED | CHANNEL_DIRTY | CHANNEL_STARVED);
    list_remove(&channel->listed);
    if (channel->timer)
        tr__wheel_cancel(&worker->channels.net->wheel, &channel->timer->node);
    return TR_OK;
}

/*
 * Unpacks a channel on this worker. TR_NO_MEMORY, TR_LIMIT: the channel cannot be watched, and the caller must end it.
 */
static tr_status unpack(struct worker *worker, struct channel *channel)
{
    channel->worker = worker;
    if (!tr__net_worker_of(worker))
        return TR_NO_MEMORY;
    if (channel->fd >= 0) {
        tr_status status = tr__channel_watch(channel, channel->fd);
        if (status != TR_OK)
            return status;
    }
    tr__channel_arm(channel);
    if (!tr__output_is_empty(channel) || channel_has(channel, CHANNEL_FINISHING))
        tr__output_touch(channel);
    return TR_OK;
}

/* ---- Channels that move together with their actor. ---- */

bool tr__channels_may_move(const struct cell *cell)
{
    const struct net_cell *record = net_cell_of(cell);
    uint32_t count = 0;
    LIST_EACH (link, &record->channels) {
        const struct channel *channel = LIST_OWNER(link, struct channel, link);
        bool is_plain = channel->kind == CHANNEL_STREAM && channel->state == CHANNEL_OPEN &&
                        !channel->rare->process;
        if (++count > TR_MOVED_CHANNELS_MAX || !is_plain || channel_has(channel, CHANNEL_IN_TURN) ||
            pieces_are_open(channel) || channel->rare->exchanges || channel->rare->looks)
            return false;
    }
    return true;
}

bool tr__channels_leave(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct net_cell *record = net_cell_of(cell);
    /*
     * the extra has the number of the actor's last ask; the new worker must not use this number
     * again
     */
    if (!tr__extra_of(worker, cell))
        return false;
    LIST_EACH (link, &record->channels) {
        if (pack(LIST_OWNER(link, struct channel, link)) != TR_OK) {
            tr__channels_arrive(worker, cell);
            return false;
        }
    }
    return true;
}

void tr__channels_arrive(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct net_cell *record = net_cell_of(cell);
    LIST_EACH (link, &record->channels) {
        struct channel *channel = LIST_OWNER(link, struct channel, link);
        if (channel->worker == worker && channel_has(channel, CHANNEL_WATCHED))
            continue; /* this channel was never packed, because memory was missing */
        tr_status status = unpack(worker, channel);
        if (status != TR_OK)
            tr__channel_end(channel, status, NULL);
        else
            tr__channel_call(channel);
    }
}

/* ---- Channels that are handed over. ---- */

static struct channel *channel_in(const struct envelope *envelope)
{
    void *channel;
    memcpy(&channel, envelope->payload.bytes, sizeof channel);
    return channel;
}

void tr__channel_handed(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct channel *channel = channel_in(envelope);
    bool is_alive = envelope->generation == cell_generation(cell) && cell->life < LIFE_STOPPING;
    envelope_give(&worker->pool, envelope);
    channel->flags &= ~(uint32_t)CHANNEL_IN_TURN;
    tr_status status = unpack(worker, channel);
    if (!is_alive || status != TR_OK || tr__channel_adopt(channel, cell) != TR_OK) {
        tr__channel_free(channel); /* freeing a channel resets its connection */
        return;
    }
    channel_note_active(channel);
    channel->flags |= CHANNEL_HANDED_OVER | CHANNEL_OPENS;
    channel->flags &= ~(uint32_t)(CHANNEL_ACCEPTED | CHANNEL_TAKEN);
    tr__channel_call(channel);
}

/*
 * Whether the channel can be handed over: it is an open stream, is not of a process, has no
 * protocol, and neither turns nor asks of its actor wait for it.
 */
static bool may_be_handed(const struct channel *channel)
{
    return channel->kind == CHANNEL_STREAM && channel->state == CHANNEL_OPEN &&
           !channel->rare->process && !protocol_of(channel) && waits_are_empty(&channel->readers) &&
           waits_are_empty(&channel->writers) && !channel->rare->exchanges && !channel->rare->looks;
}

tr_status tr_self_hand_over(tr_self *self, tr_channel handle, tr_ref to)
{
    TURN_VERB(self);
    struct channel *channel;
    struct worker *worker = self->worker;
    tr_status status = tr__channel_of(self, handle, &channel);
    if (status != TR_OK)
        return status;
    /* Wait until the commit of this actor has released the held output. */
    while (status == TR_OK && channel->work->output.held) {
        status = tr__channel_park(self, channel, &channel->writers, false, NULL);
        if (status == TR_OK)
            status = tr__channel_of(self, handle, &channel);
    }
    if (status != TR_OK)
        return status;
    if (channel->state == CHANNEL_LINGERING || channel->state == CHANNEL_ENDED ||
        channel_has(channel, CHANNEL_CLOSE_HELD))
        return TR_CLOSED;
    if (channel_has(channel, CHANNEL_END_HELD) || !may_be_handed(channel) ||
        !tr__pieces_are_of(self, channel))
        return TR_INVALID_TRANSITION;
    struct cell *cell = slots_find(worker->slots, to.bits);
    if (!cell || cell_is_client(cell) || cell_is_group_address(cell))
        return cell ? TR_INVALID_ARGUMENT : TR_STOPPED;
    struct address address = {.kind = ENVELOPE_HANDED, .to = to.bits, .causal = self->causal};
    struct envelope *envelope = envelope_take(&worker->pool);
    if (!envelope)
        return TR_NO_MEMORY;
    envelope->type = tr__event_types.opened;
    envelope->block_class = ENVELOPE_NO_BLOCK;
    mail_address(envelope, address);
    memcpy(envelope->payload.bytes, &channel, sizeof channel);
    /* the turn keeps the bytes that it has read, until it ends */
    status = tr__lent_away(channel);
    if (status == TR_OK) {
        tr__input_settle(channel);
        tr__input_look_again(channel);
        status = pack(channel);
    }
    if (status == TR_OK) {
        tr__pieces_free(channel);
        tr__channel_disown(channel);
        status = tr__mail_send(worker, cell, envelope);
        if (status == TR_OK)
            return TR_OK;
        if (unpack(worker, channel) != TR_OK || tr__channel_adopt(channel, self->cell) != TR_OK)
            tr__channel_free(channel);
    }
    envelope_give(&worker->pool, envelope);
    return status;
}
