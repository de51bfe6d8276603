/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/handoff_report.h"

#include "actor/cell/dispatch.h"
#include "actor/cell/system.h"
#include "actor/cell/view.h"
#include "actor/system/stall.h"
#include "actor/system/stall_stack.h"
#include "actor/system/thread_handoff.h"
#include "base/assert.h"

/* Describes the stuck turn of a thread. Under the lock. */
static void describe(const struct handoff_thread *thread, struct view *view)
{
    const struct dispatch *dispatch = ATOM_PEEK(&thread->cell->dispatch);
    view->ref = ATOM_PEEK(&thread->cell->identity);
    view->type = thread->type;
    view->handler = thread->handler;
    view->behavior = dispatch ? dispatch->behavior : NULL;
    view->since_ns = thread->since_ns;
    /* the channels belong to the worker, and another thread may be using them */
    view->peer[0] = 0;
    view->channel_count = 0;
    tr__view_path(thread->worker->system, thread->cell, view->path);
}

/*
 * From now on this file reports the stuck turn of a thread. Until now the turn was not reported, or
 * actor/system/stall.c reported it as the turn that its worker runs. Under the lock.
 */
static void follow(struct handoff_thread *thread, struct view *view)
{
    TR_ASSERT_SLOW(lock_is_held(&thread->handoff->lock));
    struct worker *worker = thread->worker;
    struct stalls *stalls = worker->system->stalls;
    thread->told_number = thread->number;
    describe(thread, view);
    const struct loop *loop = &worker->loop;
    thread->is_told = loop->is_reported && stalls->views[worker->index].ref == view->ref;
    thread->tell_ns = thread->is_told ? loop->report_ns : stalls->report_ns;
}

bool tr__handoff_follows(struct tr_system *system, uint64_t ref)
{
    struct thread_handoff *handoff = system->handoff;
    bool is_found = false;
    if (!handoff->threads)
        return false;
    lock_take(&handoff->lock);
    for (uint32_t i = 0; i < handoff->worker_count + handoff->spares && !is_found; i++) {
        struct handoff_thread *thread = &handoff->threads[i];
        struct view *view = &handoff->views[i];
        bool is_its = thread->is_stuck && ATOM_PEEK(&thread->cell->identity) == ref;
        if (is_its && !thread->is_told && thread->number != thread->told_number)
            follow(thread, view);
        is_found = thread->is_told && view->ref == ref;
    }
    lock_give(&handoff->lock);
    return is_found;
}

bool tr__handoff_has(struct tr_system *system, uint64_t ref)
{
    struct thread_handoff *handoff = system->handoff;
    bool is_found = false;
    if (!handoff->threads)
        return false;
    lock_take(&handoff->lock);
    for (uint32_t i = 0; i < handoff->worker_count + handoff->spares && !is_found; i++) {
        const struct handoff_thread *thread = &handoff->threads[i];
        is_found = thread->is_stuck && ATOM_PEEK(&thread->cell->identity) == ref;
    }
    lock_give(&handoff->lock);
    return is_found;
}

uint32_t tr__handoff_threads(const struct tr_system *system)
{
    const struct thread_handoff *handoff = system->handoff;
    return handoff->threads ? handoff->worker_count + handoff->spares : 0;
}

bool tr__handoff_view(struct tr_system *system, uint32_t thread, struct view *view,
                      uint32_t *worker)
{
    struct thread_handoff *handoff = system->handoff;
    const struct handoff_thread *stuck = &handoff->threads[thread];
    lock_take(&handoff->lock);
    bool is_stuck = stuck->is_stuck;
    if (is_stuck) {
        describe(stuck, view);
        *worker = stuck->worker->index;
    }
    lock_give(&handoff->lock);
    return is_stuck;
}

/* Finds the functions in which the stuck thread is, from its stack. */
static void stack_look(struct handoff_thread *thread, const struct view *view,
                       struct stall_stack *stack)
{
    struct thread_handoff *handoff = thread->handoff;
    struct tr_system *system = handoff->system;
    lock_take(&system->stalls->threads_lock);
    tr__stall_look(system, tr__handoff_handle(thread), view->handler, !thread->is_told, stack);
    lock_give(&system->stalls->threads_lock);
    lock_take(&handoff->lock);
    if (!thread->is_stuck || thread->number != thread->told_number)
        stack->count = 0;
    lock_give(&handoff->lock);
}

/*
 * If a report of the turn of a thread is due, reports the turn. Returns whether the thread is
 * stuck.
 */
static bool look_at(struct thread_handoff *handoff, uint32_t index, tr_time now_ns)
{
    struct handoff_thread *thread = &handoff->threads[index];
    struct view *view = &handoff->views[index];
    lock_take(&handoff->lock);
    bool is_stuck = thread->is_stuck;
    bool is_new = is_stuck && thread->number != thread->told_number;
    bool is_over = thread->is_told && (!is_stuck || is_new);
    int worker = is_stuck || is_over ? (int)thread->worker->index : 0;
    if (is_new && !is_over)
        follow(thread, view);
    lock_give(&handoff->lock);
    tr_time age_ns = now_ns - view->since_ns;
    struct stall_stack stack = {0};
    if (is_over) {
        thread->is_told = false;
        tr__stalls_tell(handoff->system, view, worker, age_ns, STALL_OVER | STALL_RELIEVED, &stack);
    } else if (is_stuck && age_ns >= thread->tell_ns) {
        unsigned flags = STALL_RELIEVED | (thread->is_told ? 0 : STALL_FIRST);
        stack_look(thread, view, &stack);
        thread->is_told = true;
        tr__stalls_tell(handoff->system, view, worker, age_ns, flags, &stack);
        while (thread->tell_ns <= age_ns)
            thread->tell_ns *= WATCH_GROWTH;
    }
    return is_stuck;
}

bool tr__handoff_look(void *context, tr_time now_ns)
{
    struct tr_system *system = context;
    struct thread_handoff *handoff = system->handoff;
    bool is_any = false;
    for (uint32_t i = 0; i < handoff->worker_count + handoff->spares; i++) {
        if (system->stalls->report_ns)
            is_any |= look_at(handoff, i, now_ns);
    }
    return is_any;
}
