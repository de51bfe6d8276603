/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/stall.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/log.h"
#include "actor/cell/view.h"
#include "actor/system/handoff_report.h"
#include "actor/system/stall_log.h"
#include "actor/system/stall_stack.h"
#include "actor/system/thread_handoff.h"
#include "os/probe.h"

/*
 * Returns the number of lines of the log that were left out before this line. Returns -1 if this
 * line must be left out too, because too many were logged in this second.
 */
static int64_t may_log(struct stalls *stalls, tr_time now_ns)
{
    if (!stalls->second_ns || now_ns - stalls->second_ns >= TR_SECOND) {
        stalls->second_ns = now_ns;
        stalls->logged = 0;
    }
    if (stalls->logged == TR_STALL_LOGS_MAX) {
        stalls->unlogged++;
        return -1;
    }
    stalls->logged++;
    int64_t unlogged = (int64_t)stalls->unlogged;
    stalls->unlogged = 0;
    return unlogged;
}

static void log_stall(struct tr_system *system, const struct view *view, const tr_stall *stall)
{
    char place[200];
    char more[64] = "";
    char channel[TR_ADDRESS_TEXT_MAX + 64] = "";
    int64_t unlogged = may_log(system->stalls, system->platform->mono_now(system->platform));
    if (unlogged < 0)
        return;
    if (unlogged > 0)
        snprintf(more, sizeof more, " (%lld more were not logged)", (long long)unlogged);
    tr__view_place(view, place, sizeof place);
    if (stall->peer && view->channel_count > 1)
        snprintf(channel,
                 sizeof channel,
                 ", one of its %u channels is to %s",
                 (unsigned)view->channel_count,
                 stall->peer);
    else if (stall->peer)
        snprintf(channel, sizeof channel, ", its channel is to %s", stall->peer);
    tr__log(system,
            TR_LEVEL_WARN,
            stall->path,
            "long turn: %.64s %s %lld ms%s, in %s, on worker %d%s%s%s",
            stall->type ? stall->type : "a signal",
            stall->is_over ? "took" : "has taken",
            (long long)(stall->duration_ns / TR_MILLISECOND),
            stall->is_over ? "" : " so far",
            place[0] ? place : "unknown code",
            stall->worker,
            stall->is_handed_off ? ", handed off" : "",
            channel,
            more);
}

void tr__stalls_tell(struct tr_system *system, const struct view *view, int worker,
                     tr_time duration_ns, unsigned flags, const struct stall_stack *stack)
{
    struct stalls *stalls = system->stalls;
    PROBE2(stall, worker, duration_ns);
    tr_stall stall = {.actor = tr_ref_from_bits(view->ref),
                      .path = view->path,
                      .duration_ns = duration_ns,
                      .worker = worker,
                      .is_over = flags & STALL_OVER,
                      .is_handed_off = flags & STALL_RELIEVED};
    const tr_type *type = view->type ? view->type : view->handler ? view->handler->type : NULL;
    if (type)
        stall.type = type->name;
    if (view->handler)
        stall.handler = view->handler->name;
    if (view->behavior) {
        stall.behavior = view->behavior->name;
        stall.file = view->behavior->file;
        stall.line = view->behavior->line;
    }
    if (view->peer[0])
        stall.peer = view->peer;
    if (flags & STALL_FIRST)
        atom64_count(&stalls->total, 1);
    tr__stall_log_note(system, &stall, flags & STALL_FIRST, stack);
    log_stall(system, view, &stall);
    if (stalls->on_stall)
        stalls->on_stall(stalls->context, &stall);
}

static bool on_stall(void *context, struct loop *loop, tr_time duration_ns, bool is_over)
{
    struct tr_system *system = context;
    struct worker *worker = worker_of_loop(loop);
    struct view *view = &system->stalls->views[worker->index];
    struct stall_stack stack = {0};
    uint64_t steps = loop_steps(loop);
    /*
     * A turn that has ended cannot be described any more. For such a turn, `view` still has the
     * description of the last report.
     */
    if (!is_over && !tr__view_running(worker, view))
        return false;
    /*
     * Another thread has taken the worker, but has not made its first step. This turn is reported
     * later, as a turn that was handed off.
     */
    if (!is_over && tr__handoff_has(system, view->ref))
        return false;
    /*
     * The worker makes progress only because another thread has taken it. The turn itself is not
     * over.
     */
    if (is_over && tr__handoff_follows(system, view->ref))
        return true;
    if (!is_over) {
        tr__view_channels(system, view);
        lock_take(&system->stalls->threads_lock);
        tr__stall_look(
            system, tr__worker_thread(worker), view->handler, !loop->is_reported, &stack);
        lock_give(&system->stalls->threads_lock);
        if (loop_steps(loop) != steps)
            stack.count = 0; /* the stack belongs to a later turn */
    }
    unsigned flags = is_over ? STALL_OVER : loop->is_reported ? 0 : STALL_FIRST;
    tr__stalls_tell(system, view, (int)worker->index, duration_ns, flags, &stack);
    return true;
}

void tr__stalls_init(struct stalls *stalls, const tr_system_options *options)
{
    *stalls = (struct stalls){.report_ns = TR_TURN_REPORT_NS};
    atom64_init(&stalls->total, 0);
    lock_init(&stalls->log.lock);
    lock_init(&stalls->threads_lock);
    if (options->turn_report_ns)
        stalls->report_ns = options->turn_report_ns < 0 ? 0 : options->turn_report_ns;
    stalls->on_stall = options->on_stall;
    stalls->context = options->context;
}

tr_status tr__stalls_fill(struct tr_system *system)
{
    size_t size = system->worker_count * sizeof(struct view);
    if (!system->stalls->report_ns)
        return TR_OK;
    system->stalls->views = source_resize(&system->source, NULL, size);
    return system->stalls->views ? TR_OK : TR_NO_MEMORY;
}

void tr__stalls_deinit(struct tr_system *system)
{
    source_resize(&system->source, system->stalls->views, 0);
    system->stalls->views = NULL;
    tr__stall_log_free(system);
}

struct watch_report tr__stalls_report(struct tr_system *system)
{
    struct watch_report report = {.stall_ns = system->stalls->report_ns,
                                  .on_stall = on_stall,
                                  .context = system,
                                  .doorbell = &system->doorbell};
    tr__handoff_watch(system, &report);
    return report;
}
