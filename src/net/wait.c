/* SPDX-License-Identifier: Apache-2.0 */
#include "net/wait.h"

#include "actor/turn/park.h"

tr_status tr__channel_park(struct tr_self *self, struct channel *channel, struct list *waits,
                           bool is_again, const char *where)
{
    struct channel_wait wait = {.self = self};
    tr_status status = turn_may_park(self);
    if (status != TR_OK)
        return status;
    tr_time deadline_ns = TR_NEVER;
    if (channel->within_ns)
        deadline_ns = timer_deadline(clock_bound(&self->worker->clock), channel->within_ns);
    if (is_again)
        list_push_first(waits, &wait.link);
    else
        list_push_last(waits, &wait.link);
    status = turn_park_at(self, deadline_ns, where);
    list_remove(&wait.link);
    if (channel_has(channel, CHANNEL_CLOSES))
        tr__channel_call(channel); /* tr_closed waits until no turn is here */
    return status;
}
