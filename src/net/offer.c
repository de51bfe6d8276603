/* SPDX-License-Identifier: Apache-2.0 */
#include "net/offer.h"

#include <troupe/group.h>

#include "actor/cell/verb.h"
#include "net/connection.h"
#include "net/listener.h"
#include "base/assert.h"

tr_ref tr__offer_choose(struct tr_self *self, const struct listener_shared *shared, uint32_t turn)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    tr_ref all = shared->endpoint->options.accepted_by;
    size_t count = tr_self_group_members(self, all, NULL, 0);
    tr_ref *members = count ? tr_try_scratch(self, count * sizeof *members) : NULL;
    if (!members)
        /* `all` is one actor, or a group that has ended or that needs more memory than there is */
        return all;
    size_t now = tr_self_group_members(self, all, members, count);
    count = now < count ? now : count; /* members may have stopped since they were counted */
    return count ? members[turn % count] : all;
}

void tr__offer_end(struct tr_self *self, struct listener_shared *shared, uint64_t number,
                   tr_status status)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    const tr_platform *platform = self->worker->loop.platform;
    struct accepted taken;
    if (!tr__accepted_claim(shared, number, &taken))
        return;
    platform->socket_close(platform, taken.fd, false);
    tr__listener_uncount(shared, self->worker, taken.worker, &taken.peer);
    if (status != TR_REFUSED)
        tr_log_warn(self, "a connection was closed: nobody took it: %s", tr_status_text(status));
}

/* Makes the channel of a connection that this actor has claimed. */
static tr_status take(struct tr_self *self, struct listener_shared *shared,
                      const struct accepted *taken, struct channel **made)
{
    struct worker *worker = self->worker;
    struct channel *channel;
    tr_status status = tr__connection_make(worker, shared, taken, &channel);
    if (status != TR_OK) {
        tr__listener_uncount(shared, worker, taken->worker, &taken->peer);
        return status;
    }
    (void)tr__listener_share(shared);
    channel->listener_worker = (uint16_t)taken->worker;
    channel->flags &= ~(uint32_t)CHANNEL_ACCEPTED;
    channel->flags |= CHANNEL_TAKEN | CHANNEL_COUNTED;
    status = tr__channel_adopt(channel, self->cell);
    if (status != TR_OK)
        tr__channel_free(channel);
    *made = channel;
    return status;
}

tr_status tr_accept(tr_self *self, const struct tr_connection *request, tr_channel *channel)
{
    TURN_VERB(self);
    struct accepted taken;
    struct channel *made = NULL;
    if (!self || !request || !channel)
        return TR_INVALID_ARGUMENT;
    if (!tr__cell_may_have_channels(self->cell))
        return TR_NOT_A_CHANNEL_ACTOR;
    if (cell_durable(self->cell))
        return TR_NOT_SUPPORTED;
    if (self->cell->life >= LIFE_STOPPING)
        return TR_STOPPING;
    struct listener_shared *shared =
        tr__listener_find(self->worker->system, request->listener.bits);
    tr_status status = TR_CLOSED;
    if (shared && tr__accepted_claim(shared, request->number, &taken))
        status = take(self, shared, &taken, &made);
    if (shared)
        tr__listener_shared_drop(shared);
    if (status != TR_OK)
        return status;
    *channel = (tr_channel){channel_bits(made)};
    struct tr_connection_taken reply = {.channel = *channel};
    /* If the reply fails, the listener closes nothing, because the connection was claimed. */
    (void)tr_self_try_reply(self, &tr_type_tr_connection_taken, &reply);
    tr__connection_begin(made);
    return TR_OK;
}
