/* SPDX-License-Identifier: Apache-2.0 */
#include "net/wait.h"

#include "net/deadline.h"
#include "net/input.h"
#include "net/protocol.h"

#include "actor/turn/park.h"
#include "actor/turn/resume.h"
#include "base/assert.h"

static struct channel_wait *wait_at(struct list *link)
{
    return LIST_OWNER(link, struct channel_wait, link);
}

void tr__waits_add(struct channel_waits *waits, struct channel_wait *wait, bool is_first)
{
    if (waits->first)
        /* the list is circular, so the place before the first is the end */
        list_insert_before(&waits->first->link, &wait->link);
    else
        list_init(&wait->link);
    if (is_first || !waits->first)
        waits->first = wait;
}

void tr__waits_remove(struct channel_waits *waits, struct channel_wait *wait)
{
    struct channel_wait *next = wait_at(wait->link.next);
    if (waits->first == wait)
        waits->first = next == wait ? NULL : next;
    list_remove(&wait->link);
}

void tr__waits_wake_one(const struct channel_waits *waits)
{
    if (waits->first)
        turn_wake(waits->first->self, TR_OK);
}

void tr__waits_wake(const struct channel_waits *waits)
{
    const struct channel_wait *wait = waits->first;
    if (!wait)
        return;
    do {
        turn_wake(wait->self, TR_OK);
        wait = wait_at(wait->link.next);
    } while (wait != waits->first);
}

tr_status tr__channel_park(struct tr_self *self, struct channel *channel,
                           struct channel_waits *waits, bool is_again, const char *where)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct channel_wait wait = {.self = self};
    tr_status status = turn_may_park(self);
    if (status != TR_OK)
        return status;
    tr_time deadline_ns = TR_NEVER;
    tr_time within_ns = channel_within(channel);
    if (within_ns)
        deadline_ns = timer_deadline(clock_bound(&self->worker->clock), within_ns);
    if (channel->timer && waits == &channel->readers)
        tr__channel_begin_read(channel);
    tr__waits_add(waits, &wait, is_again);
    if (channel->timer)
        /*
         * Arm the timer again. The time for which the turn worked did not count as idle, so the
         * timer may have been set for a later time. From now on the time counts as idle again.
         */
        tr__channel_arm(channel);
    if (deadline_ns == TR_NEVER && park_is_plain(self)) {
        const char *awaits_at = self->wait.where;
        self->wait.where = where;
        status = park_plainly(self);
        self->wait.where = awaits_at;
    } else {
        status = turn_park_at(self, deadline_ns, where);
    }
    tr__waits_remove(waits, &wait);
    if (channel->timer && waits == &channel->readers)
        tr__channel_end_read(channel);
    if (channel_has(channel, CHANNEL_CLOSES))
        /* tr_closed may have waited until no turn waits for the channel */
        tr__channel_call(channel);
    return status;
}

tr_status tr__channel_give_way(struct tr_self *self, struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    TR_ASSERT_SLOW(waits_are_empty(&channel->readers));
    struct channel_wait wait = {.self = self};
    if (self->lent || self->frame || turn_may_park(self) != TR_OK)
        /* a durable turn does not give way, because the end of its stretch would store its changes */
        return TR_OK;
    if (channel->state != CHANNEL_OPEN || channel_has(channel, CHANNEL_GONE))
        /* little is left to read, and the end of a turn that borrows a piece may free the channel */
        return TR_OK;
    if (channel->work->input.borrower == self)
        /* the piece of the last read is over */
        tr__input_settle(channel);
    tr__waits_add(&channel->readers, &wait, true);
    tr_status status = tr__turn_give_way(self);
    tr__waits_remove(&channel->readers, &wait);
    if (channel_has(channel, CHANNEL_CLOSES))
        /* tr_closed may have waited until no turn waits for the channel */
        tr__channel_call(channel);
    return status == TR_CANCELLED ? TR_CANCELLED : TR_OK;
}
