/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/observer.h"

#include <string.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/system.h"
#include "actor/cell/worker.h"
#include "observe/actors.h"
#include "observe/running.h"

enum { DEEPEST_MAX = 100 };

tr_time tr__observer_now(const struct observer *observer)
{
    const tr_platform *platform = observer->system->platform;
    return platform->mono_now(platform);
}

/* ---- Samples. ---- */

bool tr__observer_is_watched(const struct observer *observer)
{
    return observer->watched_ns &&
           tr__observer_now(observer) - observer->watched_ns < OBSERVER_WATCH_MS * TR_MILLISECOND;
}

/* Counts a handler that was found running. Returns false if the table is full. */
static bool sample_count(struct observer_sample *samples, const tr_behavior *behavior,
                         const tr_handler *handler)
{
    for (size_t i = 0; i < OBSERVER_SAMPLES; i++) {
        struct observer_sample *sample = &samples[i];
        if (!sample->behavior)
            *sample = (struct observer_sample){.behavior = behavior, .handler = handler};
        if (sample->behavior != behavior || sample->handler != handler)
            continue;
        sample->count++;
        return true;
    }
    return false;
}

void tr__observer_sample(struct observer *observer)
{
    struct tr_system *system = observer->system;
    observer->looks++;
    observer->flame.looks++;
    for (uint32_t i = 0; i < system->worker_count; i++) {
        const struct worker *worker = system->workers[i];
        const struct cell *cell = worker_running(worker);
        const struct dispatch *dispatch = cell ? ATOM_PEEK(&cell->dispatch) : NULL;
        if (!cell)
            continue;
        observer->busy++;
        observer->flame.busy++;
        if (!dispatch)
            continue;
        /* The handler may be of the last turn, of another actor: then it is not known. */
        const tr_behavior *behavior = dispatch->behavior;
        const tr_handler *handler = worker_handler(worker);
        uintptr_t first = (uintptr_t)behavior->handlers;
        uintptr_t end = first + behavior->handler_count * behavior->handler_size;
        bool is_its = (uintptr_t)handler >= first && (uintptr_t)handler < end;
        handler = is_its ? handler : NULL;
        observer->samples_left_out += !sample_count(observer->samples, behavior, handler);
        observer->flame.left_out += !sample_count(observer->flame.samples, behavior, handler);
    }
}

void tr__observer_watch(struct observer *observer)
{
    memset(observer->samples, 0, sizeof observer->samples);
    observer->looks = 0;
    observer->busy = 0;
    observer->samples_left_out = 0;
    observer->watched_ns = tr__observer_now(observer);
}

void tr__observer_watch_on(struct observer *observer)
{
    observer->watched_ns = tr__observer_now(observer);
    if (!observer->flame.since_ns)
        observer->flame.since_ns = observer->watched_ns;
}

/* ---- Ages. ---- */

tr_time tr__observer_age(struct observer *observer, tr_ref actor, uint64_t mark)
{
    tr_time now_ns = tr__observer_now(observer);
    struct observer_mark *oldest = &observer->marks[0];
    for (size_t i = 0; i < OBSERVER_MARKS; i++) {
        struct observer_mark *entry = &observer->marks[i];
        if (entry->ref == actor.bits) {
            if (entry->mark != mark)
                *entry = (struct observer_mark){actor.bits, mark, now_ns};
            return now_ns - entry->seen_ns;
        }
        if (entry->seen_ns < oldest->seen_ns)
            oldest = entry;
    }
    *oldest = (struct observer_mark){actor.bits, mark, now_ns};
    return 0;
}

/* ---- Workers and actors. ---- */

bool tr__observer_is_stuck(struct observer *observer, int worker, tr_worker_info *info)
{
    static const tr_time least_ns = OBSERVER_STUCK_MS * TR_MILLISECOND;
    struct tr_system *system = observer->system;
    if (worker < 0 || (uint32_t)worker >= system->worker_count)
        return false;
    const struct loop *loop = &system->workers[worker]->loop;
    tr_time since_ns = (tr_time)atom64_load(&loop->since_ns, ATOM_RELAXED);
    if (!since_ns || tr__observer_now(observer) - since_ns < least_ns)
        return false;
    tr__worker_describe(system, (uint32_t)worker, info);
    return info->is_running && info->since_ns >= least_ns;
}

bool tr__observer_find(struct observer *observer, tr_ref actor, tr_actor_info *info)
{
    struct actor_glance glance;
    struct tr_system *system = observer->system;
    return tr__actor_glance(system, (uint32_t)actor.bits & system->slots.mask, &glance) &&
           glance.ref == actor.bits && tr__actor_describe(system, &glance, info);
}

size_t tr__observer_deepest(struct observer *observer, uint32_t queued_min, tr_actor_info *infos,
                            size_t max)
{
    struct actor_glance found[DEEPEST_MAX];
    struct tr_system *system = observer->system;
    uint32_t made = atom32_load(&system->slots.made, ATOM_ACQUIRE); /* partner: fresh_range */
    size_t count = 0;
    max = max < DEEPEST_MAX ? max : DEEPEST_MAX;
    for (uint32_t slot = 1; max && slot < made; slot++) {
        struct actor_glance glance;
        if (!tr__actor_glance(system, slot, &glance) || glance.queued < queued_min)
            continue;
        if (count == max && glance.queued <= found[count - 1].queued)
            continue;
        size_t at = count < max ? count++ : count - 1;
        for (; at && found[at - 1].queued < glance.queued; at--)
            found[at] = found[at - 1];
        found[at] = glance;
    }
    size_t written = 0;
    for (size_t i = 0; i < count; i++)
        written += tr__actor_describe(system, &found[i], &infos[written]);
    return written;
}
