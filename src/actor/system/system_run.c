/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Running a system and stopping it.
 */
#include "actor/system/system_run.h"

#include "actor/cell/system.h"
#include "actor/cell/worker.h"
#include "actor/system/shutdown.h"
#include "actor/system/shutdown_wait.h"
#include "actor/system/stall.h"
#include "actor/system/start_barrier.h"
#include "actor/system/thread_handoff.h"
#include "actor/system/worker.h"
#include "actor/turn/blocking.h"
#include "actor/turn/fault.h"
#include "base/sized.h"
#include "os/atomic.h"
#include "os/lock.h"
#include "sched/watch.h"

#include <troupe/platform.h>

struct tr_system;

/* ---- Threads. ---- */

/* Whether the calling thread is the thread of a worker, or a thread of thread handoff. */
static bool is_worker(struct tr_system *system)
{
    uint64_t id = system->platform->thread_id(system->platform);
    for (uint32_t i = 0; i < system->worker_count; i++) {
        if (atom64_load(&system->workers[i]->thread_id, ATOM_RELAXED) == id)
            return true;
    }
    return tr__handoff_is_caller(system);
}

/*
 * Joins the thread of a worker. The join frees the handle of the thread. So this function first
 * sets worker->thread to NULL, under the lock that other threads hold while they use such handles.
 */
static void thread_join(struct worker *worker)
{
    struct tr_system *system = worker->system;
    tr_thread *thread = worker->thread;
    lock_take(&system->stalls->threads_lock);
    ATOM_POKE(&worker->thread, NULL);
    lock_give(&system->stalls->threads_lock);
    if (thread)
        system->platform->thread_join(system->platform, thread);
}

static void threads_join(struct tr_system *system)
{
    /*
     * Another thread may just be adding a worker. It holds this lock while it starts the thread of
     * the worker, so wait for the lock. No further worker is added, because the system stops.
     */
    lock_take(&system->scale.lock);
    tr__handoff_close(system);
    for (uint32_t i = 0; i < system->worker_count; i++)
        thread_join(system->workers[i]);
    lock_give(&system->scale.lock);
    tr__blocking_end(system->blocking);
    tr__watch_stop(&system->watch);
    tr__handoff_join(system);
}

/* Starts the thread of a worker. */
static tr_status thread_start(struct tr_system *system, uint32_t index)
{
    const tr_platform *platform = system->platform;
    struct worker *worker = system->workers[index];
    tr_thread *thread = NULL;
    /* Count the thread before it starts, so that the shutdown wait also waits for this thread. */
    atom32_fetch_add(&system->scale.threads, 1, ATOM_SEQ_CST);
    tr_status status =
        platform->thread_start(platform, "troupe-worker", tr__worker_main, worker, &thread);
    if (status == TR_OK) {
        ATOM_POKE(&worker->thread, thread);
        return TR_OK;
    }
    atom32_fetch_sub(&system->scale.threads, 1, ATOM_SEQ_CST);
    tr__shutdown_wake(system);
    return status;
}

/* Starts the watch and the workers. */
static tr_status threads_start(struct tr_system *system)
{
    const tr_platform *platform = system->platform;
    uint32_t started = 0;
    tr_status status = tr__shutdown_open(system);
    if (status == TR_OK)
        status = tr__handoff_open(system);
    struct watch_report report = tr__stalls_report(system);
    if (status == TR_OK)
        status = tr__start_barrier_prepare(system);
    if (status == TR_OK)
        status = tr__watch_start(
            &system->watch, platform, system->run.loops, system->worker_count, &report);
    /*
     * Also start the threads of workers that leave, because actors may have been spawned on these
     * workers before.
     */
    uint32_t most = atom32_load(&system->scale.open_most, ATOM_ACQUIRE);
    for (; started < most && status == TR_OK; started += status == TR_OK)
        status = thread_start(system, started);
    tr_status passed = tr__start_barrier_wait(system, started);
    return status == TR_OK ? passed : status;
}

static enum system_phase phase_of(struct tr_system *system)
{
    lock_take(&system->run.lock);
    enum system_phase phase = system->run.phase;
    lock_give(&system->run.lock);
    return phase;
}

/*
 * Changes the phase from SYSTEM_NEW to SYSTEM_STARTED. Returns TR_INVALID_TRANSITION if the system
 * runs already or has run, either with threads or embedded.
 */
static tr_status phase_begin(struct tr_system *system)
{
    lock_take(&system->run.lock);
    tr_status status = system->run.phase == SYSTEM_NEW ? TR_OK : TR_INVALID_TRANSITION;
    if (status == TR_OK)
        system->run.phase = SYSTEM_STARTED;
    lock_give(&system->run.lock);
    return status;
}

static void phase_end(struct tr_system *system, tr_status ended)
{
    lock_take(&system->run.lock);
    system->run.phase = SYSTEM_ENDED;
    system->run.ended = ended;
    lock_give(&system->run.lock);
}

/*
 * Stops a system because a thread could not be started, or because on_worker_start has failed. Runs
 * the workers that have no thread on the calling thread, until all actors have stopped.
 */
static void run_orphans(struct tr_system *system)
{
    tr__shutdown_at_once(system);
    tr__handoff_close(system); /* a worker that runs on this thread cannot be handed off */
    tr__start_barrier_open(system);
    while (!atom32_load(&system->ending.is_over, ATOM_SEQ_CST)) {
        for (uint32_t i = 0; i < system->worker_count; i++) {
            struct worker *worker = system->workers[i];
            if (worker->thread)
                continue;
            ready_rise(&worker->loop.ready);
            worker->loop.round_end_ns = 0;
            tr__faults_begin(worker);
            (void)tr__worker_slice(worker, RUN_ONCE_TURNS);
            tr__faults_end(worker);
        }
        system->platform->yield(system->platform);
    }
}

tr_status tr_system_start(tr_system *system)
{
    if (!system)
        return TR_INVALID_ARGUMENT;
    if (phase_of(system) != SYSTEM_NEW)
        /*
         * check this before taking wait_lock, because a handler that calls this must not wait for
         * the lock
         */
        return TR_INVALID_TRANSITION;
    bool is_first = true;
    /*
     * Hold the lock, so that a thread that calls tr_system_wait finds either all threads started or
     * none.
     */
    lock_take(&system->run.wait_lock);
    lock_take(&system->scale.lock);
    tr_status status = phase_begin(system);
    if (status == TR_OK)
        status = threads_start(system);
    else
        is_first = false;
    if (status == TR_OK)
        tr__start_barrier_open(system);
    lock_give(&system->scale.lock);
    if (!is_first)
        goto give;
    if (status != TR_OK) {
        run_orphans(system);
        threads_join(system);
        phase_end(system, TR_OK);
    }
give:
    lock_give(&system->run.wait_lock);
    return status;
}

/* ---- More workers. ---- */

/*
 * Starts the thread of one more worker, and waits until on_worker_start has returned there. Returns
 * the status of on_worker_start, or the reason why the thread could not be started. Under
 * scale.lock.
 */
static tr_status worker_add(struct tr_system *system, uint32_t index)
{
    struct worker *worker = system->workers[index];
    uint32_t arrived = tr__start_barrier_arrived(system->start_barrier);
    if (worker->thread)
        /* an earlier call has started this thread, and then failed for another worker */
        return TR_OK;
    tr_status status = thread_start(system, index);
    if (status != TR_OK)
        return status;
    status = tr__start_barrier_wait_late(system, arrived + 1);
    if (status == TR_OK)
        return TR_OK;
    /* on_worker_start has failed, so the thread ends by itself. Join it, and count it no more. */
    thread_join(worker);
    atom32_fetch_sub(&system->scale.threads, 1, ATOM_SEQ_CST);
    tr__shutdown_wake(system);
    return status;
}

/* Notifies the pool, if there is one, that the number of workers has changed. */
static void tell_pool(struct tr_system *system)
{
    lock_take(&system->pool.lock);
    void (*follow)(struct tr_system *) = system->pool.follow;
    lock_give(&system->pool.lock);
    if (follow)
        follow(system);
}

/*
 * Sets the number of open workers. Returns TR_OK or TR_STOPPING. If a thread could not be started,
 * returns the status of that failure. Under scale.lock.
 */
static tr_status workers_open(struct tr_system *system, uint32_t count)
{
    uint32_t open = system_open_workers(system);
    if (atom32_load(&system->ending.is_stopping, ATOM_SEQ_CST) || system_start_has_failed(system))
        return TR_STOPPING;
    tr_status status = TR_OK;
    bool has_threads = phase_of(system) == SYSTEM_STARTED;
    for (uint32_t i = open; i < count && has_threads && status == TR_OK; i++) {
        if (!system->workers[i]->thread) /* a worker that has left before still has its thread */
            status = worker_add(system, i);
    }
    if (status != TR_OK)
        return status;
    if (count > atom32_load(&system->scale.open_most, ATOM_RELAXED))
        atom32_store(
            &system->scale.open_most, count, ATOM_RELEASE); /* pairs with tr__spawn_check */
    atom32_store(&system->scale.open, count, ATOM_RELEASE); /* pairs with system_open_workers */
    tell_pool(system);
    if (count < open)
        atom32_fetch_add(&system->scale.leave_call, 1, ATOM_SEQ_CST); /* pairs with leave_next */
    for (uint32_t i = count; i < open; i++)
        loop_nudge(&system->workers[i]->loop);
    return TR_OK;
}

tr_status tr_system_set_workers(tr_system *system, int workers)
{
    if (!system || workers < 1)
        return TR_INVALID_ARGUMENT;
    if ((uint32_t)workers > system->worker_count)
        return TR_LIMIT;
    if (tr__start_barrier_is_caller(system))
        return TR_WOULD_DEADLOCK;
    lock_take(&system->scale.lock);
    tr_status status = workers_open(system, (uint32_t)workers);
    lock_give(&system->scale.lock);
    return status;
}

/* ---- Waiting for the end. ---- */

tr_status tr__system_wait(struct tr_system *system, void (*on_wake)(void *context), void *context)
{
    /*
     * This thread holds the lock during the wait. When other threads that wait get the lock, the
     * system has ended.
     */
    lock_take(&system->run.wait_lock);
    if (phase_of(system) == SYSTEM_STARTED) {
        tr_status status = tr__shutdown_wait(system, on_wake, context);
        if (!tr__shutdown_is_left(system))
            threads_join(system);
        phase_end(system, status);
    }
    lock_give(&system->run.wait_lock);
    lock_take(&system->run.lock);
    tr_status ended = system->run.ended;
    lock_give(&system->run.lock);
    return ended;
}

tr_status tr_system_wait(tr_system *system)
{
    if (!system)
        return TR_INVALID_ARGUMENT;
    if (is_worker(system))
        return TR_WOULD_DEADLOCK;
    enum system_phase phase = phase_of(system);
    if (phase == SYSTEM_NEW || phase == SYSTEM_EMBEDDED)
        return TR_INVALID_TRANSITION;
    return tr__system_wait(system, NULL, NULL);
}

tr_status tr_system_run(tr_system *system)
{
    tr_status status = tr_system_start(system);
    return status == TR_OK ? tr__system_wait(system, NULL, NULL) : status;
}

/* ---- Embedded in another event loop. ---- */

static uint64_t turns_so_far(const struct worker *worker)
{
    return atom64_load(&worker->loop.runs, ATOM_RELAXED) +
           atom64_load(&worker->counters.signals, ATOM_RELAXED);
}

/* Returns the time at which this worker must do something: its next timer, or its alarm. */
static tr_time due_ns(struct worker *worker)
{
    tr_time next_ns = tr__worker_next(worker);
    return worker->loop.alarm_ns < next_ns ? worker->loop.alarm_ns : next_ns;
}

/*
 * Gives the worker to the calling thread, and makes the system embedded, so that it gets no threads
 * any more. Returns TR_WOULD_DEADLOCK if the calling thread has the worker already. Returns
 * TR_INVALID_TRANSITION if another thread has the worker, or if the system was started.
 */
static tr_status once_begin(struct tr_system *system, struct worker *worker)
{
    uint64_t id = system->platform->thread_id(system->platform);
    tr_status status = TR_OK;
    lock_take(&system->run.lock);
    uint64_t inside = atom64_load(&worker->thread_id, ATOM_RELAXED);
    if (system->run.phase == SYSTEM_NEW)
        system->run.phase = SYSTEM_EMBEDDED;
    if (system->run.phase != SYSTEM_EMBEDDED)
        status = TR_INVALID_TRANSITION;
    else if (inside)
        status = inside == id ? TR_WOULD_DEADLOCK : TR_INVALID_TRANSITION;
    else
        atom64_store(&worker->thread_id, id, ATOM_RELAXED);
    lock_give(&system->run.lock);
    return status;
}

/*
 * Takes the worker from the calling thread again, after once_begin. Uses the lock, so that the next
 * thread that gets the worker sees everything that this thread has done.
 */
static void once_end(struct tr_system *system, struct worker *worker)
{
    lock_take(&system->run.lock);
    atom64_store(&worker->thread_id, 0, ATOM_RELAXED);
    lock_give(&system->run.lock);
}

/*
 * Announces that the worker sleeps. From now on, a post or the next timer makes the descriptor
 * readable. If there is more to do, makes the descriptor readable now.
 */
static void once_announce(struct worker *worker, bool has_more)
{
    struct loop *loop = &worker->loop;
    const tr_platform *platform = loop->platform;
    (void)loop->hooks->on_idle(loop);
    platform->park(platform, loop->parker, 0);
    platform->parker_alarm(platform, loop->parker, due_ns(worker));
    if (has_more || !ready_doze(&loop->ready))
        platform->wake(platform, loop->parker);
}

tr_status tr_system_run_once(tr_system *system, tr_time wait_ns)
{
    if (!system || wait_ns < 0)
        return TR_INVALID_ARGUMENT;
    if (system->worker_count != 1)
        return TR_INVALID_TRANSITION;
    struct worker *worker = system->workers[0];
    struct loop *loop = &worker->loop;
    const tr_platform *platform = system->platform;
    tr_status status = once_begin(system, worker);
    if (status != TR_OK)
        return status;
    status = tr__start_barrier_pass_embedded(system);
    if (status != TR_OK) {
        tr__system_drain(system);
        once_end(system, worker);
        tr__shutdown_finish_embedded(system);
        return status;
    }
    tr__faults_begin(worker);
    ready_rise(&loop->ready);
    loop->round_end_ns = 0;
    /* The number of turns is bounded, so that the caller's event loop can continue. */
    uint64_t before = turns_so_far(worker);
    bool has_more = tr__worker_slice(worker, RUN_ONCE_TURNS);
    tr_time until_ns;
    bool is_over = tr__worker_is_over(worker, &until_ns);
    tr_time now_ns = platform->mono_now(platform);
    tr_time deadline_ns = wait_ns > TR_NEVER - now_ns ? TR_NEVER : now_ns + wait_ns;
    /* If the sleep ends early, and no turn has run, sleep again. */
    while (!has_more && !is_over && before == turns_so_far(worker) && now_ns < deadline_ns) {
        tr__loop_rest(loop, deadline_ns < until_ns ? deadline_ns : until_ns);
        has_more = tr__worker_slice(worker, RUN_ONCE_TURNS);
        is_over = tr__worker_is_over(worker, &until_ns);
        now_ns = platform->mono_now(platform);
    }
    if (!is_over)
        once_announce(worker, has_more);
    tr__faults_end(worker);
    once_end(system, worker);
    if (is_over)
        tr__shutdown_finish_embedded(system);
    return is_over ? TR_STOPPED : TR_OK;
}

int tr_system_fd(const tr_system *system)
{
    if (!system || system->worker_count != 1)
        return -1;
    if (atom32_load(&system->scale.threads, ATOM_RELAXED))
        return -1; /* the system was started, so a thread of its own runs the worker */
    const tr_platform *platform = system->platform;
    struct worker *worker = system->workers[0];
    struct loop *loop = &worker->loop;
    int fd = platform->parker_fd(platform, loop->parker);
    if (fd < 0)
        return -1;
    if (ready_is_asleep(&loop->ready))
        platform->parker_alarm(platform, loop->parker, due_ns(worker));
    else
        platform->wake(platform, loop->parker); /* there is something to do already */
    return fd;
}

tr_time tr_system_timeout(const tr_system *system)
{
    if (!system || system->worker_count != 1)
        return TR_NEVER;
    tr_time next_ns = due_ns(system->workers[0]);
    if (next_ns == TR_NEVER)
        return TR_NEVER;
    tr_time now_ns = system->platform->mono_now(system->platform);
    return next_ns > now_ns ? next_ns - now_ns : 0;
}

/* ---- Without threads. ---- */

void tr__system_drain(struct tr_system *system)
{
    tr__shutdown_at_once(system);
    while (!atom32_load(&system->ending.is_over, ATOM_SEQ_CST)) {
        for (uint32_t i = 0; i < system->worker_count; i++) {
            struct loop *loop = &system->workers[i]->loop;
            ready_rise(&loop->ready);
            loop->round_end_ns = 0;
            tr__faults_begin(system->workers[i]);
            (void)tr__worker_slice(system->workers[i], LOOP_NO_LIMIT);
            tr__faults_end(system->workers[i]);
        }
        if (system->durable.has_work && system->durable.has_work(system))
            (void)system->durable.work(system);
        system->platform->yield(system->platform); /* let a function of tr_blocking run */
    }
}

/* ---- Counters. ---- */

int tr_system_workers(const tr_system *system)
{
    return system ? (int)system_open_workers(system) : 0;
}

static uint64_t value(const atom64 *counter)
{
    return atom64_load(counter, ATOM_RELAXED);
}

static void counters_add(tr_counters *sum, const struct counters *counters)
{
    /*
     * Load each counter only once. A reader subtracts an earlier sum from a later one, and no
     * difference may be negative.
     */
    uint64_t handled = value(&counters->handled);
    uint64_t refused = value(&counters->refused);
    sum->accepted += value(&counters->accepted);
    sum->handled += handled;
    sum->dead_letters += value(&counters->dead) + refused;
    sum->refused += refused;
    sum->turns += handled + value(&counters->signals);
    sum->posts += value(&counters->posts);
    sum->wakes += value(&counters->wakes);
    sum->spawned += value(&counters->spawned);
    sum->stopped += value(&counters->stopped);
    sum->failures += value(&counters->failures);
    sum->restarts += value(&counters->restarts);
    sum->moves += value(&counters->moves);
}

static void counters_fill(struct tr_system *system, tr_counters *counters)
{
    *counters = (tr_counters){0};
    for (uint32_t i = 0; i < system->worker_count; i++) {
        const struct worker *worker = system->workers[i];
        counters_add(counters, &worker->counters);
        counters->runs += value(&worker->loop.runs);
        counters->parks += value(&worker->loop.parks);
    }
    counters_add(counters, &system->foreign.counters);
    /*
     * Subtract the messages that clients have received. They count as handled, but no turn has
     * handled them.
     */
    uint64_t received = value(&system->foreign.counters.handled);
    counters->turns -= counters->turns > received ? received : counters->turns;
    counters->stalls = value(&system->stalls->total);
    counters->handoffs = value(&system->handoff->total);
    counters->live =
        counters->spawned > counters->stopped ? counters->spawned - counters->stopped : 0;
    uint64_t gone = counters->handled + counters->dead_letters - counters->refused;
    counters->queued = counters->accepted > gone ? counters->accepted - gone : 0;
}

void tr_system_counters_sized(tr_system *system, tr_counters *counters, size_t size)
{
    tr_counters all;
    if (!system || !counters)
        return;
    counters_fill(system, &all);
    sized_write(counters, size, &all, sizeof all);
}
