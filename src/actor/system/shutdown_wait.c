/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The shutdown wait: waits until a system has stopped, and decides when to give up.
 * actor/system/shutdown.h has the rules.
 */
#include "actor/system/shutdown_wait.h"

#include "actor/cell/system.h"
#include "actor/cell/upcalls.h"
#include "actor/life/keepers.h"
#include "actor/system/hooks.h"
#include "actor/system/report.h"
#include "actor/system/shutdown.h"
#include "actor/system/thread_handoff.h"
#include "actor/turn/blocking.h"

/*
 * How long /user may take to begin to stop. Any worker that is not stuck begins its next round
 * within a millisecond after it is asked to. When this time is over, a sweep makes the other
 * workers stop the top-level actors.
 */
#define BEGIN_PATIENCE_NS (20 * TR_MILLISECOND)
/*
 * How long before the deadline this thread looks at the workers for the first time. If a handler
 * runs at this first look and does not return, STUCK_NS counts from the first look.
 */
#define LOOK_AHEAD_NS (12 * TR_MILLISECOND)
/*
 * How long worker 0 may take after the deadline to force the shutdown. After this time, the waiting
 * thread forces it.
 */
#define DEADLINE_PATIENCE_NS (3 * TR_MILLISECOND)
/* The time between two sweeps while a worker is stuck. */
#define SWEEP_EVERY_NS (8 * TR_MILLISECOND)
/* A worker without progress for this long is stuck: the other workers stop without it. */
#define STUCK_NS (20 * TR_MILLISECOND)
/* A function of tr_blocking that runs for this long is stuck. */
#define BLOCKED_NS (12 * TR_MILLISECOND)
/*
 * When the thread gives up waiting, counted from the deadline. The thread waits at least
 * VERDICT_FIRST_NS, so that handlers have time to return. It waits at most VERDICT_LAST_NS, so that
 * there is time left if it gets no CPU for a while. Between these two times, it gives up when the
 * other workers have had OTHERS_NS to stop without the stuck workers.
 */
#define VERDICT_FIRST_NS (30 * TR_MILLISECOND)
#define VERDICT_LAST_NS (TR_SHUTDOWN_GRACE_NS - 5 * TR_MILLISECOND)
#define OTHERS_NS (12 * TR_MILLISECOND)
/* If the waiting thread wakes up this much later than planned, the machine is overloaded. */
#define LATE_NS (4 * TR_MILLISECOND)

struct shutdown_wait {
    tr_time came_ns;  /* when the wait began */
    tr_time due_ns;   /* when the thread planned to look again */
    bool has_looked;  /* step_ahead has looked at the workers already */
    bool is_forced;   /* the deadline has passed, and the shutdown was forced */
    tr_time stuck_ns; /* when a function was first found stuck; 0: no function is stuck */
    bool has_helped;  /* a sweep was asked for, because /user did not begin to stop in time */
    bool is_lost;     /* the wait is given up */
};

/*
 * Whether all workers have ended and no function runs on a helper thread. After the last worker has
 * ended, a helper may still run a function whose result no actor waits for, such as the lookup of a
 * host name.
 */
static bool have_ended(struct tr_system *system)
{
    return atom32_load(&system->shutdown->workers_ended, ATOM_ACQUIRE) ==
               atom32_load(&system->scale.threads, ATOM_SEQ_CST) &&
           !tr__blocking_is_busy(system->blocking);
}

static void count_stuck(void *context, const struct handoff_thread *thread)
{
    (void)thread;
    ++*(uint32_t *)context;
}

/*
 * Returns a number that changes whenever a worker makes progress: it adds up turns, stopped actors
 * and the time of the last clock read.
 */
static uint64_t done_by(const struct worker *worker)
{
    return atom64_load(&worker->counters.handled, ATOM_RELAXED) +
           atom64_load(&worker->counters.signals, ATOM_RELAXED) +
           atom64_load(&worker->counters.dead, ATOM_RELAXED) +
           atom64_load(&worker->counters.stopped, ATOM_RELAXED) +
           atom64_load(&worker->shutdown.steps, ATOM_RELAXED) +
           atom64_load(&worker->loop.seen_ns, ATOM_RELAXED);
}

/*
 * Whether a worker that was ready to run has had less than half a CPU since the last look. Such a
 * worker may hold a lock, and other workers may sleep because they need this lock.
 */
static bool is_starved(const struct worker *worker, tr_time now_ns)
{
    if (worker->shutdown.seen_cpu < 0 || worker->shutdown.first_cpu < 0)
        return false;
    return worker->shutdown.seen_cpu - worker->shutdown.first_cpu <
           (now_ns - worker->shutdown.seen_ns) / 2;
}

/* Reads the CPU time of all workers. Returns whether any of the workers is starved. */
static bool is_any_starved(struct tr_system *system, tr_time now_ns)
{
    const tr_platform *platform = system->platform;
    bool is_any = false;
    for (uint32_t i = 0; i < system->worker_count; i++) {
        struct worker *worker = system->workers[i];
        const tr_thread *thread = tr__worker_thread(worker);
        worker->shutdown.seen_cpu = thread ? platform->thread_cpu(platform, thread) : -1;
        is_any |= is_starved(worker, now_ns);
    }
    return is_any;
}

/*
 * Returns for how long a worker has been in user code without progress. The time in which the
 * worker's thread was ready to run but had no CPU does not count. While the machine is overloaded,
 * the time in which this thread sleeps does not count either.
 */
static tr_time stuck_for(struct tr_system *system, struct worker *worker, tr_time now_ns,
                         bool is_overloaded)
{
    const struct cell *running = worker_running(worker);
    uint64_t done = done_by(worker);
    bool is_well = done != worker->shutdown.seen || !running || running == system->user.guardian;
    tr_time cpu_ns = worker->shutdown.seen_cpu;
    if (is_well)
        worker->shutdown.stuck_ns = 0;
    else if (cpu_ns < 0) /* the thread sleeps in a system call */
        worker->shutdown.stuck_ns += is_overloaded ? 0 : now_ns - worker->shutdown.seen_ns;
    else if (worker->shutdown.first_cpu >= 0)
        worker->shutdown.stuck_ns += cpu_ns - worker->shutdown.first_cpu;
    worker->shutdown.seen = done;
    worker->shutdown.seen_ns = now_ns;
    worker->shutdown.first_cpu = cpu_ns;
    return worker->shutdown.stuck_ns;
}

/*
 * Marks the workers that are stuck. Returns the number of functions that do not return: functions
 * of stuck workers, functions of tr_blocking, and functions on threads that have lost their worker
 * by a handoff. Before the deadline this function only measures, and marks no worker. A worker that
 * cancels a hundred thousand turns would look stuck then, because it reads no clock for long.
 */
static uint32_t mark_stuck(struct tr_system *system, const struct shutdown_wait *shutdown_wait,
                           tr_time now_ns)
{
    uint32_t count = 0;
    bool is_overloaded = is_any_starved(system, now_ns);
    /* a late wake-up means that this thread got no CPU either */
    is_overloaded |= now_ns - shutdown_wait->due_ns >= LATE_NS;
    for (uint32_t i = 0; i < system->worker_count; i++) {
        struct worker *worker = system->workers[i];
        if (!tr__worker_thread(worker))
            continue;
        bool is_stuck = stuck_for(system, worker, now_ns, is_overloaded) >= STUCK_NS;
        is_stuck &= shutdown_wait->is_forced;
        atom32_store(&worker->shutdown.is_stuck, is_stuck, ATOM_RELAXED);
        count += is_stuck;
    }
    if (shutdown_wait->is_forced) {
        count += tr__blocking_stuck(system->blocking, now_ns, BLOCKED_NS, is_overloaded);
        tr__handoff_each(system, count_stuck, &count);
    }
    return count;
}

/*
 * Sets is_abandoned: from now on slots and names are not freed (rule 4 of actor/system/shutdown.h).
 */
static void abandon(struct tr_system *system)
{
    lock_take(&system->ending.lock);
    atom32_store(&system->ending.is_abandoned, 1, ATOM_RELEASE);
    lock_give(&system->ending.lock);
}

/*
 * Does what is due before the deadline. If /user has not started to stop in time, asks for a sweep
 * that stops the top-level actors. Returns the time at which the thread must look again at the
 * latest.
 */
static tr_time step_before(struct tr_system *system, struct shutdown_wait *shutdown_wait,
                           tr_time now_ns)
{
    tr_time look_ns =
        (tr_time)atom64_load(&system->ending.began_ns, ATOM_RELAXED) + BEGIN_PATIENCE_NS;
    if (shutdown_wait->has_helped || atom32_load(&system->ending.has_begun, ATOM_ACQUIRE))
        return TR_NEVER;
    if (now_ns < look_ns)
        return look_ns;
    shutdown_wait->has_helped = true;
    tr__shutdown_ask(system);
    return TR_NEVER;
}

/* Returns the time at which the wait is given up if a function is stuck. */
static tr_time verdict_ns(const struct shutdown_wait *shutdown_wait, tr_time deadline_ns)
{
    tr_time others_ns = shutdown_wait->stuck_ns + OTHERS_NS;
    if (others_ns > deadline_ns + VERDICT_LAST_NS)
        return deadline_ns + VERDICT_LAST_NS;
    tr_time first_ns = deadline_ns + VERDICT_FIRST_NS;
    return others_ns > first_ns ? others_ns : first_ns;
}

/*
 * Does what is due after the deadline: forces the shutdown, marks stuck workers, asks for sweeps,
 * and decides whether to give up waiting. Returns the time at which the thread must look again at
 * the latest.
 */
static tr_time step_after(struct tr_system *system, struct shutdown_wait *shutdown_wait,
                          tr_time now_ns, tr_time deadline_ns)
{
    if (!shutdown_wait->is_forced)
        /* does nothing if worker 0 has forced the shutdown already */
        (void)tr__shutdown_force(system);
    shutdown_wait->is_forced = true;
    /*
     * If the wait began after the deadline, count from the beginning of the wait. This thread has
     * not seen what the workers did before.
     */
    if (deadline_ns < shutdown_wait->came_ns)
        deadline_ns = shutdown_wait->came_ns;
    bool is_stuck = mark_stuck(system, shutdown_wait, now_ns) > 0;
    if (!is_stuck)
        shutdown_wait->stuck_ns = 0;
    else if (!shutdown_wait->stuck_ns)
        shutdown_wait->stuck_ns = now_ns;
    tr_time end_ns = verdict_ns(shutdown_wait, deadline_ns);
    if (now_ns >= end_ns && !is_stuck)
        end_ns = deadline_ns + TR_SHUTDOWN_GRACE_NS + TR_SHUTDOWN_EXTRA_NS;
    shutdown_wait->is_lost = now_ns >= end_ns;
    if (is_stuck || shutdown_wait->is_lost) {
        abandon(system);
        tr__shutdown_ask(system);
    }
    return now_ns + SWEEP_EVERY_NS < end_ns ? now_ns + SWEEP_EVERY_NS : end_ns;
}

/* Looks once, shortly before the deadline, at what each worker does. */
static void step_ahead(struct tr_system *system, struct shutdown_wait *shutdown_wait,
                       tr_time now_ns)
{
    if (!shutdown_wait->has_looked)
        (void)mark_stuck(system, shutdown_wait, now_ns);
    shutdown_wait->has_looked = true;
}

/*
 * Looks at the workers, and does what is due. Returns the time at which the thread must look again
 * at the latest.
 */
static tr_time shutdown_wait_look(struct tr_system *system, struct shutdown_wait *shutdown_wait)
{
    tr_time now_ns = system->platform->mono_now(system->platform);
    if (!atom64_load(&system->ending.began_ns, ATOM_SEQ_CST))
        return TR_NEVER;
    tr_time deadline_ns = (tr_time)atom64_load(&system->ending.deadline_ns, ATOM_SEQ_CST);
    /* A deadline that is close to TR_NEVER means no deadline. */
    if (deadline_ns >= TR_NEVER - TR_MINUTE)
        return step_before(system, shutdown_wait, now_ns);
    tr_time look_ns = deadline_ns + DEADLINE_PATIENCE_NS;
    if (now_ns >= look_ns)
        return step_after(system, shutdown_wait, now_ns, deadline_ns);
    if (now_ns >= deadline_ns - LOOK_AHEAD_NS)
        step_ahead(system, shutdown_wait, now_ns);
    else
        look_ns = deadline_ns - LOOK_AHEAD_NS;
    tr_time before_ns = step_before(system, shutdown_wait, now_ns);
    return before_ns < look_ns ? before_ns : look_ns;
}

static tr_status result_of(struct tr_system *system, tr_status status)
{
    return status == TR_OK ? tr_system_error(system, NULL) : status;
}

bool tr__shutdown_is_left(struct tr_system *system)
{
    struct shutdown *shutdown = system->shutdown;
    lock_take(&system->ending.lock);
    bool is_left = shutdown->is_lost || atom32_load(&shutdown->hooks.hung, ATOM_RELAXED) > 0;
    lock_give(&system->ending.lock);
    return is_left;
}

/* Calls the hooks of TR_AFTER_STOP. Returns the status of the whole shutdown. */
static tr_status finish(struct tr_system *system, tr_parker *parker, bool is_lost,
                        void (*on_wake)(void *context), void *context)
{
    struct shutdown *shutdown = system->shutdown;
    tr__hooks_join(system);
    tr__hooks_call(system, TR_AFTER_STOP, parker, on_wake, context);
    is_lost |= atom32_load(&shutdown->hooks.hung, ATOM_RELAXED) > 0;
    is_lost |= tr__shutdown_has_unstored(system);
    tr_status status = result_of(system, is_lost ? TR_SHUTDOWN_INCOMPLETE : TR_OK);
    lock_take(&system->ending.lock);
    shutdown->final.status = status;
    lock_give(&system->ending.lock);
    return status;
}

tr_status tr__shutdown_wait(struct tr_system *system, void (*on_wake)(void *context), void *context)
{
    const tr_platform *platform = system->platform;
    tr_parker *parker = atomptr_load(&system->ending.parker, ATOM_ACQUIRE);
    struct shutdown_wait shutdown_wait = {.came_ns = platform->mono_now(platform)};
    while (!have_ended(system)) {
        shutdown_wait.due_ns = shutdown_wait_look(system, &shutdown_wait);
        if (shutdown_wait.is_lost)
            break;
        platform->park(platform, parker, shutdown_wait.due_ns);
        if (on_wake)
            on_wake(context);
    }
    if (shutdown_wait.is_lost) {
        tr__report_lose(system);
        tr__system_over(system);
    }
    return finish(system, parker, shutdown_wait.is_lost, on_wake, context);
}

void tr__shutdown_finish_embedded(struct tr_system *system)
{
    struct hooks *hooks = &system->shutdown->hooks;
    if (atom32_exchange(&hooks->are_over, 1, ATOM_RELAXED))
        return;
    if (!hooks->count || tr__shutdown_open(system) != TR_OK) {
        (void)finish(system, NULL, false, NULL, NULL);
        return;
    }
    tr_parker *parker = atomptr_load(&system->ending.parker, ATOM_ACQUIRE);
    tr_status status = finish(system, parker, false, NULL, NULL);
    lock_take(&system->run.lock);
    system->run.ended = status; /* for tr_system_free */
    lock_give(&system->run.lock);
}
