/* SPDX-License-Identifier: Apache-2.0 */
#include "net/names.h"

#include <string.h>

#include "actor/cell/system.h"
#include "actor/turn/park.h"
#include "actor/turn/shared_job.h"
#include "base/assert.h"
#include "net/wait.h"

/*
 * On a virtual platform, how often a turn asks again whether the time of a look-up has passed.
 * Other platforms notify the turn when they know the answer.
 */
#define AGAIN_NS (10 * TR_MILLISECOND)

struct look_up {
    struct shared_job shared; /* must be the first member */
    const tr_platform *platform;
    struct name_addresses found;
    char host[];
};

/* Runs on a helper thread. */
static void look_up(void *argument)
{
    struct look_up *lookup = argument;
    lookup->found.status = lookup->platform->resolve(lookup->platform,
                                                     lookup->host,
                                                     0,
                                                     lookup->found.list,
                                                     TR_ADDRESSES_MAX,
                                                     &lookup->found.count);
}

static void copy(const struct shared_job *shared, void *result)
{
    const struct look_up *lookup = (const struct look_up *)shared;
    struct name_addresses *to = result;
    *to = lookup->found;
    if (shared->failure != TR_OK)
        to->status = shared->failure;
}

static struct look_up *look_up_new(struct worker *worker, const char *host)
{
    size_t size = strlen(host) + 1;
    struct look_up *made = source_resize(&worker->system->source, NULL, sizeof *made + size);
    if (!made)
        return NULL;
    memcpy(made->host, host, size);
    tr__shared_init(&made->shared, made->host, look_up, copy);
    made->platform = worker->loop.platform;
    made->found.count = 0;
    return made;
}

/*
 * Waits until the look-up is done, or until the channel wakes the turn. Returns TR_WOULD_BLOCK if
 * the channel has woken the turn, or if the turn must ask the platform again.
 */
static tr_status wait_once(struct tr_self *self, const char *host, struct name_addresses *addresses)
{
    struct look_up *fresh = look_up_new(self->worker, host);
    if (!fresh)
        return TR_NO_MEMORY;
    tr_status status = tr__shared_await(self, &fresh->shared, addresses);
    if (status != TR_OK || addresses->status != TR_WOULD_BLOCK)
        return status == TR_OK ? addresses->status : status;
    tr_time again_ns = timer_deadline(clock_bound(&self->worker->clock), AGAIN_NS);
    status = turn_park_at(self, again_ns, NULL);
    return status == TR_OK || status == TR_TIMEOUT ? TR_WOULD_BLOCK : status;
}

tr_status tr__names_look_up(struct tr_self *self, struct channel *channel, const char *host,
                            uint16_t port, struct name_addresses *addresses)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    tr_status status = TR_WOULD_BLOCK;
    struct channel_wait wait = {.self = self};
    /* wait in the list of the channel too, so that the end of the channel wakes this turn */
    tr__waits_add(&channel->readers, &wait, false);
    while (status == TR_WOULD_BLOCK && channel->state == CHANNEL_DIALING)
        status = wait_once(self, host, addresses);
    tr__waits_remove(&channel->readers, &wait);
    if (channel->state != CHANNEL_DIALING)
        return channel->status == TR_OK ? TR_CANCELLED : channel->status;
    if (status != TR_OK)
        return status;
    if (!addresses->count)
        return TR_ADDRESS_INVALID;
    for (size_t i = 0; i < addresses->count; i++)
        addresses->list[i].port = port;
    tr__names_interleave(addresses->list, addresses->count);
    return TR_OK;
}

void tr__names_interleave(tr_address *addresses, size_t count)
{
    TR_ASSERT(count <= TR_ADDRESSES_MAX);
    tr_address from[TR_ADDRESSES_MAX];
    memcpy(from, addresses, count * sizeof *from);
    /*
     * next[0]: index of the next address of the same family as the first address. next[1]: of the
     * other family.
     */
    size_t next[2] = {0, 0};
    for (size_t i = 0; i < count; i++) {
        for (size_t turn = 0; turn < 2; turn++) {
            bool is_other = (i + turn) % 2;
            size_t *at = &next[is_other];
            while (*at < count && (from[*at].family != from[0].family) != is_other)
                ++*at;
            if (*at < count) {
                addresses[i] = from[(*at)++];
                break;
            }
        }
    }
}
