/* SPDX-License-Identifier: Apache-2.0 */
#include "net/shutdown.h"

#include "actor/cell/extra.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "net/channel_end.h"
#include "net/deadline.h"
#include "net/net_cell.h"
#include "net/wait.h"
#include "net/worker.h"
#include "base/assert.h"

static bool is_stopping(const struct worker *worker)
{
    return __builtin_expect(atom32_load(&worker->system->ending.is_stopping, ATOM_RELAXED) != 0, 0);
}

void tr__shutdown_limit(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (!is_stopping(channel->worker))
        return;
    tr_time deadline_ns =
        (tr_time)atom64_load(&channel->worker->system->ending.deadline_ns, ATOM_RELAXED);
    if (deadline_ns && deadline_ns < channel->deadline_ns)
        channel->deadline_ns = deadline_ns;
}

bool tr__shutdown_ends_read(const struct tr_self *self, const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    return is_stopping(self->worker) && !channel->request &&
           channel_has(channel, CHANNEL_ACCEPTED) && channel->state == CHANNEL_OPEN &&
           !net_buffer_size(&channel->work->input.buffer) && self->envelope &&
           !tr_type_is_equal(self->envelope->type, &tr_type_tr_received);
}

/*
 * Whether a session is in the middle of a piece: a part of a piece has come for its handler, or a
 * whole piece that waits for a turn. False for a channel with a protocol, because the protocol
 * decides this itself.
 */
static bool is_in_piece(const struct channel *channel)
{
    return channel->kind == CHANNEL_STREAM && channel->state == CHANNEL_OPEN &&
           channel_has(channel, CHANNEL_ACCEPTED) && !channel->endpoint->options.protocol &&
           net_buffer_size(&channel->work->input.buffer) &&
           tr__channel_handles(channel, &tr_type_tr_received);
}

bool tr__shutdown_holds(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const struct cell_extra *extra = channel->cell->extra;
    return extra && extra->waits.holds_stop &&
           (is_in_piece(channel) || channel_has(channel, CHANNEL_CLOSES));
}

void tr__shutdown_sealed(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    bool holds = false;
    if (is_stopping(worker)) {
        LIST_EACH (link, &net_cell_of(cell)->channels)
            holds |= is_in_piece(LIST_OWNER(link, struct channel, link));
    }
    struct cell_extra *extra = holds ? tr__extra_of(worker, cell) : cell->extra;
    if (extra)
        extra->waits.holds_stop = holds;
}

static void cell_shut_down(const struct cell *cell)
{
    LIST_EACH (link, &net_cell_of(cell)->channels) {
        struct channel *channel = LIST_OWNER(link, struct channel, link);
        if (channel->kind == CHANNEL_LISTENER)
            tr__channel_end(channel, TR_OK, NULL);
        else if (channel_has(channel, CHANNEL_ACCEPTED))
            /*
             * wake the turn that reads; it calls tr__shutdown_ends_read to decide whether it ends
             */
            tr__waits_wake_one(&channel->readers);
    }
}

void tr__net_shut_down(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    uint32_t used = tr__slots_used(worker->slots);
    for (uint32_t slot = 1; slot < used; slot++) {
        const struct cell *cell = slots_at(worker->slots, slot);
        if (cell && cell_owner(cell) == worker->index && net_cell_of(cell))
            cell_shut_down(cell);
    }
    LIST_EACH (link, &worker->channels.net->lingering) {
        struct channel *channel = LIST_OWNER(link, struct channel, link);
        tr__shutdown_limit(channel);
        tr__channel_arm(channel);
    }
}
