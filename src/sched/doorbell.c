/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/doorbell.h"

#include <stddef.h>

void tr__doorbell_init(struct doorbell *doorbell)
{
    *doorbell = (struct doorbell){.on_ring = NULL};
    atom32_init(&doorbell->is_quiet, 0);
    atom32_init(&doorbell->is_wanted, 0);
    lock_init(&doorbell->lock);
}

void tr__doorbell_open(struct doorbell *doorbell, void (*on_ring)(void *context), void *context)
{
    lock_take(&doorbell->lock);
    doorbell->on_ring = on_ring;
    doorbell->context = context;
    lock_give(&doorbell->lock);
}

void tr__doorbell_close(struct doorbell *doorbell)
{
    lock_take(&doorbell->lock);
    doorbell->on_ring = NULL;
    lock_give(&doorbell->lock);
}

void tr__doorbell_ring(struct doorbell *doorbell)
{
    lock_take(&doorbell->lock);
    if (doorbell->on_ring)
        doorbell->on_ring(doorbell->context);
    lock_give(&doorbell->lock);
}
