/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/watch.h"

/* Gives a tick to every loop that is awake. True when there was one. */
static bool tick(struct watch *watch)
{
    bool is_busy = false;
    for (size_t i = 0; i < watch->loop_count; i++) {
        struct loop *loop = watch->loops[i];
        if (atom32_load(&loop->ready.sleep, ATOM_SEQ_CST) == READY_ASLEEP)
            continue;
        /* The watch alone writes it; nothing is published by it. */
        atom32_store(&loop->tick, atom32_load(&loop->tick, ATOM_RELAXED) + 1, ATOM_RELAXED);
        is_busy = true;
    }
    return is_busy;
}

/* Sleeps until a loop rouses it. The announcement and the last look mirror watch_rouse. */
static void doze(struct watch *watch)
{
    atom32_exchange(&watch->is_asleep, 1, ATOM_SEQ_CST);
    if (!tick(watch) && !atom32_load(&watch->is_over, ATOM_SEQ_CST))
        watch->platform->park(watch->platform, watch->parker, TR_NEVER);
    atom32_store(&watch->is_asleep, 0, ATOM_SEQ_CST);
}

static void watch_main(void *context)
{
    struct watch *watch = context;
    int patience = WATCH_PATIENCE;
    while (!atom32_load(&watch->is_over, ATOM_ACQUIRE)) {
        tr_time now_ns = watch->platform->mono_now(watch->platform);
        watch->platform->park(watch->platform, watch->parker, now_ns + WATCH_TICK_NS);
        watch->ticks++;
        if (tick(watch)) {
            patience = WATCH_PATIENCE;
        } else if (--patience <= 0) {
            doze(watch);
            patience = WATCH_PATIENCE;
        }
    }
}

tr_status tr__watch_start(struct watch *watch, const tr_platform *platform, struct loop **loops,
                          size_t loop_count)
{
    *watch = (struct watch){.platform = platform, .loops = loops, .loop_count = loop_count};
    atom32_init(&watch->is_asleep, 0);
    atom32_init(&watch->is_over, 0);
    tr_status status = platform->parker_new(platform, &watch->parker);
    if (status != TR_OK)
        goto forget;
    status = platform->thread_start(platform, "troupe-watch", watch_main, watch, &watch->thread);
    if (status != TR_OK)
        goto free_parker;
    return TR_OK;

free_parker:
    platform->parker_free(platform, watch->parker);
forget:
    watch->platform = NULL;
    return status;
}

void tr__watch_stop(struct watch *watch)
{
    if (!watch->platform)
        return;
    const tr_platform *platform = watch->platform;
    atom32_store(&watch->is_over, 1, ATOM_SEQ_CST);
    platform->wake(platform, watch->parker);
    platform->thread_join(platform, watch->thread);
    platform->parker_free(platform, watch->parker);
    watch->platform = NULL;
}
