/* SPDX-License-Identifier: Apache-2.0 */
#include "net/glance.h"

#include "net/table.h"

/*
 * ThreadSanitizer must not instrument this function, because it would report the data race, which
 * is allowed (net/glance.h). Not inlined, so that each member is read only once.
 */
__attribute__((__noinline__, __no_sanitize__("thread"))) static struct channel_glance glance_read(
    const struct channel *channel)
{
    return (struct channel_glance){.fd = channel->fd,
                                   .flags = channel->flags,
                                   .kind = channel->kind,
                                   .state = channel->state,
                                   .is_secure = channel->is_secure,
                                   .secure_flags = channel->secure_flags,
                                   .secure_cipher = channel->secure_cipher};
}

bool tr__channel_glance(struct tr_system *system, uint32_t slot, struct channel_glance *glance)
{
    const struct channel *channel = tr__table_slot(system, slot);
    uint64_t bits = channel ? channel_bits(channel) : 0;
    if (!(uint32_t)bits)
        return false;
    *glance = glance_read(channel);
    glance->bits = bits;
    glance->owner = atom64_load(&channel->owner, ATOM_RELAXED);
    return channel_bits(channel) == bits && glance->state != CHANNEL_FREE;
}

bool tr__channel_is_same(struct tr_system *system, const struct channel_glance *glance)
{
    struct channel_glance now;
    return tr__channel_glance(system, (uint32_t)glance->bits, &now) && now.bits == glance->bits &&
           now.fd == glance->fd;
}

uint32_t tr__channel_slots(struct tr_system *system)
{
    return tr__table_used(system);
}
