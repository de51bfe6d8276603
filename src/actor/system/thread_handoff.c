/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/thread_handoff.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/follow.h"
#include "actor/cell/log.h"
#include "actor/cell/post.h"
#include "actor/cell/signal.h"
#include "actor/cell/system.h"
#include "actor/cell/upcalls.h"
#include "actor/cell/view.h"
#include "actor/system/handoff_report.h"
#include "actor/system/start_barrier.h"
#include "actor/system/worker.h"
#include "actor/turn/park.h"
#include "actor/turn/run.h"
#include "base/assert.h"

/*
 * A call asks a spare thread to take a worker. If a call has failed or found no thread, the watch
 * calls again for the same worker after this time.
 */
#define CALL_AGAIN_NS (5 * TR_MILLISECOND)
/*
 * If a new thread could not be started, the watch calls again for the same worker after this time.
 */
#define MAKE_AGAIN_NS TR_SECOND

/* ---- Beginning and end of the handoff. ---- */

tr_status tr__handoff_check(const tr_system_options *options)
{
    if (!options->handoff_after_ns)
        return TR_OK;
    if (options->handoff_after_ns < 0 || options->handoff_after_ns > TR_OPTION_NS_MAX)
        return TR_INVALID_ARGUMENT;
    if (options->handoff_threads_max > TR_HANDOFF_THREADS_LARGEST)
        return TR_LIMIT;
    /*
     * Refuse the handoff together with the handling of faults. The signal handler finds the worker
     * by the signal stack of the thread, and a handoff changes the thread of a worker.
     */
    if (options->traps_faults || options->names_faults)
        return TR_NOT_SUPPORTED;
    return tr__os_barrier_init();
}

void tr__handoff_init(struct thread_handoff *handoff, struct tr_system *system,
                      const tr_system_options *options)
{
    handoff->system = system;
    lock_init(&handoff->lock);
    list_init(&handoff->idle);
    atom64_init(&handoff->total, 0);
    handoff->after_ns = options->handoff_after_ns;
    handoff->spares_max =
        options->handoff_threads_max ? options->handoff_threads_max : TR_HANDOFF_THREADS_MAX;
}

static tr_status thread_init(struct thread_handoff *handoff, struct handoff_thread *thread)
{
    const tr_platform *platform = handoff->system->platform;
    memset(thread, 0, sizeof *thread);
    claim_init(&thread->claim);
    thread->handoff = handoff;
    list_init(&thread->link);
    atom64_init(&thread->id, 0);
    return platform->parker_new(platform, &thread->parker);
}

tr_status tr__handoff_open(struct tr_system *system)
{
    struct thread_handoff *handoff = system->handoff;
    if (!handoff->after_ns)
        return TR_OK;
    size_t count = system->worker_count + handoff->spares_max;
    handoff->worker_count = system->worker_count;
    handoff->views = source_resize(&system->source, NULL, count * sizeof(struct view));
    handoff->threads = source_resize(&system->source, NULL, count * sizeof *handoff->threads);
    /* do this even if an error follows, because tr__handoff_deinit reads the threads */
    if (handoff->threads)
        memset(handoff->threads, 0, count * sizeof *handoff->threads);
    if (!handoff->views || !handoff->threads)
        return TR_NO_MEMORY;
    for (uint32_t i = 0; i < system->worker_count; i++) {
        struct worker *worker = system->workers[i];
        tr_status status = thread_init(handoff, &handoff->threads[i]);
        if (status != TR_OK)
            return status;
        /* the start barrier calls on_worker_start on this thread, so `begin` must not call it */
        handoff->threads[i].has_begun = true;
        atomptr_store(&worker->handoff.claim, &handoff->threads[i], ATOM_RELEASE);
        worker->fast_owner = CELL_NOWHERE; /* see worker_hold_sends */
        worker->hooks = tr__worker_handoff_hooks;
        if (atom32_load(&system->follow->is_on,
                        ATOM_RELAXED)) /* tr__follow_open came before the start */
            worker->hooks.run = tr__cell_run_with_handoff_following;
    }
    return TR_OK;
}

static void wake(const struct handoff_thread *thread)
{
    const tr_platform *platform = thread->handoff->system->platform;
    platform->wake(platform, thread->parker);
}

void tr__handoff_close(struct tr_system *system)
{
    struct thread_handoff *handoff = system->handoff;
    lock_take(&handoff->lock);
    handoff->is_over = true;
    LIST_EACH (link, &handoff->idle)
        wake(LIST_OWNER(link, struct handoff_thread, link));
    lock_give(&handoff->lock);
}

void tr__handoff_join(struct tr_system *system)
{
    struct thread_handoff *handoff = system->handoff;
    const tr_platform *platform = system->platform;
    for (uint32_t i = 0; handoff->threads && i < handoff->spares; i++) {
        struct handoff_thread *thread = &handoff->threads[handoff->worker_count + i];
        if (thread->thread)
            platform->thread_join(platform, thread->thread);
        ATOM_POKE(&thread->thread, NULL);
    }
}

void tr__handoff_deinit(struct tr_system *system)
{
    struct thread_handoff *handoff = system->handoff;
    uint32_t count = handoff->threads ? handoff->worker_count + handoff->spares_max : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (handoff->threads[i].parker)
            system->platform->parker_free(system->platform, handoff->threads[i].parker);
    }
    source_resize(&system->source, handoff->views, 0);
    source_resize(&system->source, handoff->threads, 0);
}

bool tr__handoff_is_caller(struct tr_system *system)
{
    struct thread_handoff *handoff = system->handoff;
    uint64_t id = system->platform->thread_id(system->platform);
    uint32_t count = handoff->threads ? handoff->worker_count + handoff->spares_max : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (atom64_load(&handoff->threads[i].id, ATOM_RELAXED) == id)
            return true;
    }
    return false;
}

const tr_thread *tr__handoff_handle(const struct handoff_thread *thread)
{
    const struct thread_handoff *handoff = thread->handoff;
    size_t index = (size_t)(thread - handoff->threads);
    if (index >= handoff->worker_count)
        return ATOM_PEEK(&thread->thread);
    return ATOM_PEEK(&handoff->system->workers[index]->thread);
}

const tr_thread *tr__worker_thread(const struct worker *worker)
{
    const struct handoff_thread *claim = atomptr_load(&worker->handoff.claim, ATOM_ACQUIRE);
    return claim ? tr__handoff_handle(claim) : ATOM_PEEK(&worker->thread);
}

void tr__handoff_each(struct tr_system *system,
                      void (*visit)(void *context, const struct handoff_thread *thread),
                      void *context)
{
    struct thread_handoff *handoff = system->handoff;
    if (!handoff->threads)
        return;
    lock_take(&handoff->lock);
    for (uint32_t i = 0; i < handoff->worker_count + handoff->spares; i++) {
        const struct handoff_thread *thread = &handoff->threads[i];
        if (thread->is_stuck && !claim_is_back(&thread->claim))
            visit(context, thread);
    }
    lock_give(&handoff->lock);
}

/* ---- Taking a worker. ---- */

/*
 * Whether the worker may continue without this turn, as if the turn waited. Returns false for
 * signals, set-ups and cancelled turns, because there the runtime itself waits for the end of the
 * turn's code. Returns false in nested calls too, because the inner call must return first.
 */
static bool may_be_handed_off(const struct tr_self *turn)
{
    return turn->kind == TURN_MESSAGE && turn->state == TURN_RUNS && !turn->is_cancelled &&
           !turn->worker->turns.depth;
}

/* Gives the worker back to a thread that waits for it, and wakes the thread. */
static void hand(struct handoff_thread *thread)
{
    claim_hand(&thread->claim);
    wake(thread);
}

/* Makes `thread` the only thread that may touch the data of the worker: see worker_is_mine. */
static void owner_change(struct worker *worker, const struct handoff_thread *thread)
{
    atom64_store(&worker->thread_id, atom64_load(&thread->id, ATOM_RELAXED), ATOM_RELAXED);
}

/* Makes another thread act for the worker, beginning with the rest of the current run. */
static void claim_change(struct worker *worker, struct handoff_thread *thread)
{
    worker->turns.message->claim = &thread->claim;
    atomptr_store(&worker->handoff.claim, thread, ATOM_RELEASE); /* pairs with tr__worker_thread */
    owner_change(worker, thread);
}

static void log_handoff(struct worker *worker, const struct tr_self *turn, tr_time since_ns)
{
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, turn->cell, path);
    tr__log(worker->system,
            TR_LEVEL_WARN,
            path,
            "handoff: another thread now runs worker %u; %s has handled %.64s for %lld ms",
            (unsigned)worker->index,
            turn->handler->name ? turn->handler->name : "its handler",
            turn->envelope->type->name,
            (long long)((worker->loop.now_ns - since_ns) / TR_MILLISECOND));
}

/*
 * Makes `thread` act for the worker of the turn, and marks the thread that the turn runs on as
 * stuck. Under the lock.
 */
static void take_over(struct handoff_thread *thread, struct handoff_thread *stuck,
                      struct tr_self *turn, tr_time since_ns)
{
    TR_ASSERT_SLOW(lock_is_held(&thread->handoff->lock));
    struct worker *worker = turn->worker;
    /*
     * The turn keeps its fiber. It also keeps the stack with which its thread was started, because
     * it needs this stack when it continues.
     */
    stuck->turn = turn;
    stuck->side = worker->stacks.host.side;
    worker->stacks.host.current = NULL;
    claim_change(worker, thread);
    stuck->is_stuck = true;
    stuck->number++;
    stuck->cell = turn->cell;
    stuck->type = turn->envelope->type;
    stuck->handler = turn->handler;
    stuck->worker = worker;
    stuck->since_ns = since_ns;
}

/*
 * Takes the worker `called` for this thread. Returns false if the worker has made progress since
 * the call, if the worker cannot continue without its turn, or if there is no memory. Then nothing
 * has changed.
 */
static bool take(struct handoff_thread *thread, struct worker *called, uint64_t steps)
{
    struct thread_handoff *handoff = thread->handoff;
    struct handoff_thread *stuck = atomptr_load(&called->handoff.claim, ATOM_ACQUIRE);
    struct tr_self *turn = claim_take(&stuck->claim);
    if (!turn)
        return false;
    struct worker *taken = turn->worker;
    owner_change(taken, thread);
    /* By now, the stuck thread may have made progress, or may act for another worker. */
    bool is_due = taken == called && loop_steps(&called->loop) == steps &&
                  may_be_handed_off(turn) && tr__turn_prepare(turn);
    /*
     * Taking the turn away counts as progress of the worker. Do it under the lock, so that a thread
     * that sees this progress also sees its reason, is_stuck.
     */
    lock_take(&handoff->lock);
    tr_time since_ns = (tr_time)atom64_load(&called->loop.since_ns, ATOM_RELAXED);
    bool is_taken = is_due && tr__turn_stick(turn);
    if (is_taken)
        take_over(thread, stuck, turn, since_ns);
    lock_give(&handoff->lock);
    if (is_taken) {
        atom64_fetch_add(&handoff->total, 1, ATOM_RELAXED);
        log_handoff(called, turn, since_ns);
        return true;
    }
    owner_change(taken, stuck);
    if (!claim_give_up(&stuck->claim))
        hand(stuck);
    return false;
}

/*
 * Calls on_worker_start, unless this thread has called it before. Returns whether the thread may
 * run a worker.
 */
static bool begin(struct handoff_thread *thread, const struct worker *worker)
{
    struct tr_system *system = worker->system;
    const struct start_barrier *start_barrier = system->start_barrier;
    if (thread->has_begun || !start_barrier->on_worker_start)
        return true;
    thread->has_begun = true;
    tr_status status =
        start_barrier->on_worker_start(system, (int)worker->index, start_barrier->context);
    if (status == TR_OK)
        return true;
    /* when the watch calls this thread the next time, call on_worker_start again */
    thread->has_begun = false;
    tr__log(system,
            TR_LEVEL_ERROR,
            NULL,
            "a handoff thread did not start: %s: %s; the next try is in a second",
            tr_status_name(status),
            tr_status_text(status));
    return false;
}

/*
 * Waits until the watch calls this thread. Returns the worker that the thread is to take. Returns
 * NULL if the system is over.
 */
static struct worker *await_call(struct handoff_thread *thread, uint64_t *steps)
{
    struct thread_handoff *handoff = thread->handoff;
    const tr_platform *platform = handoff->system->platform;
    lock_take(&handoff->lock);
    if (!thread->call)
        list_push_first(&handoff->idle, &thread->link);
    while (!thread->call && !handoff->is_over) {
        lock_give(&handoff->lock);
        platform->park(platform, thread->parker, TR_NEVER);
        lock_take(&handoff->lock);
    }
    struct worker *worker = thread->call;
    *steps = thread->call_steps;
    thread->call = NULL;
    list_remove(&thread->link);
    lock_give(&handoff->lock);
    return worker;
}

void tr__handoff_serve(struct handoff_thread *thread)
{
    struct thread_handoff *handoff = thread->handoff;
    struct worker *worker;
    uint64_t steps;
    bool has_ended = false;
    while (!has_ended && (worker = await_call(thread, &steps))) {
        bool may_work = begin(thread, worker);
        bool is_taken = may_work && take(thread, worker, steps);
        const tr_platform *platform = handoff->system->platform;
        tr_time retry_ns = may_work ? 0 : platform->mono_now(platform) + MAKE_AGAIN_NS;
        lock_take(&handoff->lock);
        thread->retry_ns = retry_ns;
        worker->handoff.is_wanted = false;
        lock_give(&handoff->lock);
        has_ended = is_taken && tr__worker_work(worker);
    }
}

static void spare_main(void *context)
{
    struct handoff_thread *thread = context;
    const tr_platform *platform = thread->handoff->system->platform;
    atom64_store(&thread->id, platform->thread_id(platform), ATOM_RELAXED);
    tr__handoff_serve(thread);
    atom64_store(&thread->id, 0, ATOM_RELAXED); /* another thread may get this id */
}

/* ---- Calling a thread. On the watch's thread. ---- */

/* Starts one more thread, and calls the new thread for this worker. Under the lock. */
static tr_status make(struct thread_handoff *handoff, struct worker *worker, uint64_t steps)
{
    const tr_platform *platform = handoff->system->platform;
    struct handoff_thread *thread = &handoff->threads[handoff->worker_count + handoff->spares];
    tr_status status = thread->parker ? TR_OK : thread_init(handoff, thread);
    if (status != TR_OK)
        return status;
    thread->call = worker;
    thread->call_steps = steps;
    tr_thread *handle;
    status = platform->thread_start(platform, "troupe-handoff", spare_main, thread, &handle);
    if (status != TR_OK) {
        thread->call = NULL;
        return status;
    }
    ATOM_POKE(&thread->thread, handle);
    return TR_OK;
}

/* Logs that no thread can take the worker of a stuck turn. Logs it once for each such turn. */
static void say_no(struct thread_handoff *handoff, struct worker *worker, uint64_t steps,
                   tr_status status)
{
    if (worker->handoff.call_steps == steps)
        return;
    worker->handoff.call_steps = steps;
    if (status == TR_LIMIT)
        tr__log(handoff->system,
                TR_LEVEL_WARN,
                NULL,
                "no handoff for worker %u: all %u handoff threads are in use",
                (unsigned)worker->index,
                (unsigned)handoff->spares_max);
    else
        tr__log(handoff->system,
                TR_LEVEL_ERROR,
                NULL,
                "no handoff for worker %u: cannot start a thread: %s",
                (unsigned)worker->index,
                tr_status_text(status));
}

/* Returns an idle thread that the watch may call now; NULL for none. Under the lock. */
static struct handoff_thread *idle_pick(struct thread_handoff *handoff, tr_time now_ns)
{
    LIST_EACH (link, &handoff->idle) {
        struct handoff_thread *thread = LIST_OWNER(link, struct handoff_thread, link);
        if (thread->retry_ns <= now_ns)
            return thread;
    }
    return NULL;
}

static void on_stuck(void *context, struct loop *loop, uint64_t steps, tr_time now_ns)
{
    struct tr_system *system = context;
    struct thread_handoff *handoff = system->handoff;
    struct worker *worker = worker_of_loop(loop);
    const struct handoff_thread *claim = atomptr_load(&worker->handoff.claim, ATOM_ACQUIRE);
    /*
     * claim.user says whether the thread runs user code. It may have changed by now, so the thread
     * that is called checks this again.
     */
    if (now_ns < worker->handoff.call_ns || !atomptr_load(&claim->claim.user, ATOM_RELAXED))
        return;
    worker->handoff.call_ns = now_ns + CALL_AGAIN_NS;
    lock_take(&handoff->lock);
    bool is_needed = !worker->handoff.is_wanted && !handoff->is_over;
    struct handoff_thread *spare = is_needed ? idle_pick(handoff, now_ns) : NULL;
    /*
     * If there are idle threads, but on_worker_start has failed on all of them and it is too early
     * to call them again, make no new thread.
     */
    is_needed = is_needed && (spare || list_is_empty(&handoff->idle));
    if (spare) {
        list_remove(&spare->link);
        spare->call = worker;
        spare->call_steps = steps;
    }
    bool has_place = handoff->spares < handoff->spares_max;
    tr_status status = spare || has_place ? TR_OK : TR_LIMIT;
    if (is_needed && status == TR_OK)
        worker->handoff.is_wanted = true;
    if (is_needed && status == TR_OK && !spare) {
        /* Still under the lock, so that tr__handoff_join finds the new thread counted. */
        status = make(handoff, worker, steps);
        worker->handoff.is_wanted = status == TR_OK;
        handoff->spares += status == TR_OK;
        if (status != TR_OK)
            worker->handoff.call_ns = now_ns + MAKE_AGAIN_NS;
    }
    lock_give(&handoff->lock);
    if (spare)
        wake(spare);
    if (is_needed && status != TR_OK)
        say_no(handoff, worker, steps, status);
}

/* ---- Coming back. ---- */

void tr__handoff_return(struct tr_self *self)
{
    struct handoff_thread *thread = (struct handoff_thread *)(void *)self->claim;
    struct cell *cell = self->cell;
    struct tr_system *system = self->worker->system;
    atom32_fetch_or(&cell->control, CONTROL_BACK, ATOM_SEQ_CST); /* pairs with on_post_alive */
    if (door_nudge(&cell->door) == DOOR_TAKEN_POST)
        tr__system_post(system, NULL, cell);
    while (!claim_is_held(&thread->claim))
        system->platform->park(system->platform, thread->parker, TR_NEVER);
    /*
     * Clear CONTROL_BACK. It is still set if the other thread has not taken the worker after all,
     * because then no run of the actor has handled it.
     */
    atom32_fetch_and(&cell->control, ~(uint32_t)CONTROL_BACK, ATOM_RELAXED);
}

void tr__handoff_back(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    const struct tr_self *turn = cell->extra ? cell->extra->waits.stuck : NULL;
    if (turn && cell->sched_state == SCHED_RUNNING && claim_is_back(turn->claim))
        mail_make_ready(worker, cell);
}

void tr__handoff_leave(struct worker *worker, struct tr_self *turn)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct handoff_thread *successor = (struct handoff_thread *)(void *)turn->claim;
    TR_ASSERT(successor->turn == turn);
    TR_ASSERT(claim_is_back(&successor->claim));
    worker->handoff.successor = successor;
    tr__fiber_yield(&worker->stacks.host);
}

void tr__handoff_hand(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct handoff_thread *successor = worker->handoff.successor;
    struct thread_handoff *handoff = successor->handoff;
    worker->handoff.successor = NULL;
    worker->stacks.host.side = successor->side;
    worker->stacks.host.current = successor->turn->wait.fiber;
    claim_change(worker, successor);
    lock_take(&handoff->lock);
    successor->is_stuck = false;
    lock_give(&handoff->lock);
    hand(successor); /* from here on this thread must touch nothing of the worker */
}

void tr__handoff_watch(struct tr_system *system, struct watch_report *report)
{
    if (!system->handoff->threads)
        return;
    report->handoff_ns = system->handoff->after_ns;
    report->on_stuck = on_stuck;
    report->on_look = tr__handoff_look;
}
