/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/running.h"

#include <string.h>

#include "actor/cell/system.h"
#include "actor/cell/view.h"
#include "actor/cell/worker.h"
#include "actor/system/handoff_report.h"
#include "base/sized.h"
#include "sched/watch.h"

/* Fills in those members of *info that are about the running turn. */
static void turn_describe(struct tr_system *system, const struct view *view, tr_worker_info *info)
{
    tr_time now_ns = system->platform->mono_now(system->platform);
    const tr_type *type = view->type ? view->type : view->handler ? view->handler->type : NULL;
    info->is_running = true;
    info->actor = tr_ref_from_bits(view->ref);
    info->type = type ? type->name : NULL;
    info->handler = view->handler ? view->handler->name : NULL;
    if (view->behavior) {
        info->behavior = view->behavior->name;
        info->file = view->behavior->file;
        info->line = view->behavior->line;
    }
    /*
     * The watch looks at a worker only from time to time. Between two of its looks, several short
     * turns seem to be one turn. So set since_ns only if the turn has lasted longer than that.
     */
    if (view->since_ns && now_ns - view->since_ns > WATCH_CALM_NS + TR_MILLISECOND)
        info->since_ns = now_ns - view->since_ns;
    memcpy(info->path, view->path, sizeof info->path);
}

static void describe(struct worker *worker, struct view *view, tr_worker_info *info)
{
    struct tr_system *system = worker->system;
    const struct counters *counters = &worker->counters;
    *info = (tr_worker_info){.worker = (int)worker->index,
                             .is_open = worker->index < system_open_workers(system),
                             .handled = atom64_load(&counters->handled, ATOM_RELAXED),
                             .runs = atom64_load(&worker->loop.runs, ATOM_RELAXED),
                             .parks = atom64_load(&worker->loop.parks, ATOM_RELAXED),
                             .spawned = atom64_load(&counters->spawned, ATOM_RELAXED),
                             .failures = atom64_load(&counters->failures, ATOM_RELAXED),
                             .ready = atom32_load(&worker->balance.load, ATOM_RELAXED)};
    if (!view || !tr__view_running(worker, view))
        return;
    turn_describe(system, view, info);
}

bool tr__handed_off_describe(tr_system *system, uint32_t thread, tr_worker_info *info)
{
    uint32_t worker = 0;
    struct view *view = source_resize(&system->source, NULL, sizeof *view);
    bool is_stuck = view && tr__handoff_view(system, thread, view, &worker);
    *info = (tr_worker_info){.worker = (int)worker};
    if (is_stuck)
        turn_describe(system, view, info);
    source_resize(&system->source, view, 0);
    return is_stuck;
}

void tr__worker_describe(tr_system *system, uint32_t worker, tr_worker_info *info)
{
    struct view *view = source_resize(&system->source, NULL, sizeof *view);
    describe(system->workers[worker], view, info);
    source_resize(&system->source, view, 0);
}

size_t tr_system_running_sized(tr_system *system, tr_worker_info *workers, size_t size, size_t max)
{
    if (!system)
        return 0;
    /* Without memory, the members about the running turn stay empty. */
    struct view *view = source_resize(&system->source, NULL, sizeof *view);
    for (uint32_t i = 0; workers && i < system->worker_count && i < max; i++) {
        tr_worker_info info;
        describe(system->workers[i], view, &info);
        sized_write((char *)workers + i * size, size, &info, sizeof info);
    }
    source_resize(&system->source, view, 0);
    return system->worker_count;
}
