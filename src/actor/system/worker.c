/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/worker.h"

#include "actor/ask/ask.h"
#include "actor/cell/channel.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/extra.h"
#include "actor/cell/names.h"
#include "actor/cell/samples.h"
#include "actor/cell/slots.h"
#include "actor/cell/upcalls.h"
#include "actor/cell/watch_table.h"
#include "actor/cell/worker.h"
#include "actor/life/children.h"
#include "actor/life/failure.h"
#include "actor/life/spawn.h"
#include "actor/life/stop.h"
#include "actor/mail/dead_letter_batch.h"
#include "actor/mail/outbox.h"
#include "actor/system/balance.h"
#include "actor/system/leave.h"
#include "actor/system/move.h"
#include "actor/system/shutdown.h"
#include "actor/system/start_barrier.h"
#include "actor/system/thread_handoff.h"
#include "actor/time/timers.h"
#include "actor/turn/budget.h"
#include "actor/turn/fault.h"
#include "actor/turn/park.h"
#include "actor/turn/run.h"
#include "actor/turn/samples.h"
#include "actor/turn/stack.h"
#include "actor/verbs/schedule.h"
#include "base/assert.h"
#include "os/memory.h"
#include "actor/mail/kind.h"

#include <stdio.h>

#define TRIM_EVERY_NS (100 * TR_MILLISECOND)
#define TRIM_SELDOM_NS (10 * TR_SECOND)
/*
 * The heap of the C library is trimmed only after at least this many actors have ended. Fewer
 * actors leave too little memory to return.
 */
enum { HEAP_TRIM_MIN = 4096 };

/*
 * The upper bits of the number of a wait are the index of the worker that gave the number. So two
 * workers never give the same number, even if an actor moves between them.
 */
enum { WAIT_HOME_SHIFT = 48 };

/*
 * Handles the post of an actor of this worker: takes in its mail, and makes the actor ready if the
 * actor has something to do.
 */
static void on_post_alive(struct worker *worker, struct cell *cell)
{
    if (balance_post(worker, cell))
        return;
    tr__mail_take_in(worker, cell, door_take_posted(&cell->door));
    if (cell->sched_state != SCHED_WAITING) {
        if (__builtin_expect(atom32_load(&cell->control, ATOM_SEQ_CST) & CONTROL_BACK, 0))
            tr__handoff_back(worker, cell);
        return;
    }
    bool is_needed = mail_has_arrived(cell) || mail_is_over(cell);
    if (atom32_load(&cell->control, ATOM_SEQ_CST) || (is_needed && cell->life == LIFE_RUNNING))
        mail_make_ready(worker, cell);
}

static void on_post(struct loop *loop, struct stack_node *node)
{
    struct worker *worker = worker_of_loop(loop);
    struct cell *cell = cell_of_ready(node);
    switch ((enum life)cell->life) {
    case LIFE_NEW:
        tr__spawn_mount(worker, cell);
        break;
    case LIFE_STARTING:
    case LIFE_RUNNING:
    case LIFE_SUSPENDED:
        if (__builtin_expect(cell_owner(cell) == worker->index, 1))
            on_post_alive(worker, cell);
        else
            tr__move_take(worker, cell);
        break;
    case LIFE_STOPPING:
        /*
         * The actor is Stopping and waits for its children. Mail in its door came too late, but the
         * post may also be an order.
         */
        tr__mail_take_in(worker, cell, door_take_posted(&cell->door));
        if (atom32_load(&cell->control, ATOM_SEQ_CST) && cell->sched_state == SCHED_WAITING)
            mail_make_ready(worker, cell);
        break;
    case LIFE_STOPPED:
        /*
         * The door of the actor is closed. If CELL_POSTED is set, this post was on its way when the
         * door was closed. Otherwise this is the post by which the ended actor gets to the worker
         * of its parent.
         */
        if (!(cell->flags & CELL_POSTED)) {
            tr__child_ended(worker, cell);
            break;
        }
        cell->flags &= (uint16_t)~CELL_POSTED;
        tr__cell_leave(worker, cell);
        break;
    case LIFE_COUNT:
        TR_NOT_REACHED("no such state");
    }
}

static void on_io(struct loop *loop, uint64_t token, uint32_t what)
{
    struct worker *worker = worker_of_loop(loop);
    worker->channels.hooks->on_io(worker, token, what);
}

static void on_flush(struct loop *loop)
{
    struct worker *worker = worker_of_loop(loop);
    worker->channels.hooks->on_flush(worker);
}

static void on_alarm(struct loop *loop)
{
    tr__shutdown_alarm(worker_of_loop(loop));
}

static void on_round(struct loop *loop)
{
    struct worker *worker = worker_of_loop(loop);
    tr__waits_fire(worker, loop->now_ns);
    tr__delays_fire(worker, loop->now_ns);
    tr__wake_timers_fire(worker, loop->now_ns);
    tr__asks_fire(worker, loop->now_ns);
    bool has_more =
        worker->channels.hooks && worker->channels.hooks->on_round(worker, loop->now_ns);
    if (atom32_load(&worker->system->ending.sweep, ATOM_ACQUIRE) != worker->shutdown.swept)
        tr__shutdown_sweep(worker);
    if (loop->now_ns - worker->mail.dead_letters.handed_in_ns >= BURIALS_EVERY_NS)
        tr__dead_letter_batches_end(worker);
    has_more |= tr__timers_fire(worker, loop->now_ns);
    has_more |= tr__schedules_fire(worker, loop->now_ns);
    loop->wants_round = has_more;
    /* After the deadline of a shutdown all actors are killed, so no actor needs to move. */
    if (!atom32_load(&worker->system->ending.is_forced, ATOM_RELAXED))
        tr__balance_round(worker);
    tr_time samples_ns = (tr_time)atom64_load(&worker->system->samples->until_ns, ATOM_RELAXED);
    if (__builtin_expect(samples_ns > loop->now_ns, 0))
        tr__samples_arm(worker);
}

/*
 * Frees the places beside the cells of ended actors, and then makes the C library return freed
 * memory. Without this call the C library would keep nearly all of that memory, because a few
 * blocks in between are still used. Does so only when as many actors have ended as are alive, so
 * that the cost for each ended actor is small.
 */
static void heap_trim(struct worker *worker)
{
    struct tr_system *system = worker->system;
    uint64_t spawned = 0;
    uint64_t stopped = 0;
    for (uint32_t i = 0; i < system->worker_count; i++) {
        const struct counters *counters = &system->workers[i]->counters;
        spawned += atom64_load(&counters->spawned, ATOM_RELAXED);
        stopped += atom64_load(&counters->stopped, ATOM_RELAXED);
    }
    uint64_t last = atom64_load(&system->heap_trim_stopped, ATOM_RELAXED);
    uint64_t live = spawned > stopped ? spawned - stopped : 0;
    uint64_t least = live > HEAP_TRIM_MIN ? live : HEAP_TRIM_MIN;
    if (stopped < last + least ||
        !atom64_compare_exchange(
            &system->heap_trim_stopped, &last, stopped, ATOM_RELAXED, ATOM_RELAXED))
        return;
    tr__slots_trim(system->slots, &worker->slot_cache);
    if (!system->source.resize && system->platform == tr_platform_real())
        tr__os_memory_trim();
}

/*
 * Frees memory that a burst of messages has left in the pools of this worker and of the clients.
 * Nudges other workers that have envelopes to take back. Returns whether the envelope pool or the
 * stack pool of this worker has shrunk.
 */
static bool trim(struct worker *worker)
{
    struct tr_system *system = worker->system;
    bool has_shrunk = tr__envelope_pool_trim(&worker->pool);
    tr__timer_pool_trim(&worker->timers.pool);
    tr__turns_trim(worker);
    /*
     * tr__asks_free must not free asks that are in the chain of young asks; see
     * actor/ask/ask_open.h
     */
    TR_ASSERT(!worker->asks.young);
    tr__asks_free(worker);
    tr__extras_free(worker);
    worker->trim.has_stacks = tr__fiber_pool_trim(&worker->stacks.pool);
    worker->trim.has_stacks |= tr__stacks_trim(worker);
    has_shrunk |= worker->trim.has_stacks;
    heap_trim(worker);
    lock_take(&system->foreign.lock);
    tr__envelope_pool_trim(&system->foreign.pool);
    lock_give(&system->foreign.lock);
    for (uint32_t i = 0; i < system->worker_count; i++) {
        /*
         * Many envelopes of this other worker may have come back to it. If it sleeps, it does not
         * notice them by itself.
         */
        if (i != worker->index && !stack_is_empty(&system->workers[i]->pool.returned))
            loop_nudge(&system->workers[i]->loop);
    }
    return has_shrunk;
}

static tr_time earlier(tr_time a_ns, tr_time b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

tr_time tr__worker_next(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    tr__asks_settle(worker);
    tr_time next_ns = earlier(wheel_next(&worker->timers.wheel), wheel_next(&worker->timers.idles));
    next_ns = earlier(next_ns, wheel_next(&worker->timers.wake_timers));
    next_ns = earlier(next_ns, wheel_next(&worker->turns.deadlines));
    next_ns = earlier(next_ns, wheel_next(&worker->life.delays));
    next_ns = earlier(next_ns, wheel_next(&worker->asks.timeouts));
    next_ns = earlier(next_ns, leave_next(worker));
    if (worker->channels.hooks)
        next_ns = earlier(next_ns, worker->channels.hooks->next(worker));
    return earlier(next_ns, tr__schedules_next(worker));
}

/*
 * Returns envelopes to their pools, and frees memory. Called before the worker sleeps. Returns the
 * time at which the worker must wake up at the latest.
 */
static tr_time on_idle(struct loop *loop)
{
    struct worker *worker = worker_of_loop(loop);
    tr__envelope_flush(&worker->pool);
    if (!list_is_empty(&worker->budgets.parts))
        tr__budget_flush(worker);
    tr__balance_rest(worker);
    uint64_t turns = atom64_load(&worker->counters.handled, ATOM_RELAXED) +
                     atom64_load(&worker->counters.accepted, ATOM_RELAXED);
    tr_time next_ns = tr__worker_next(worker);
    bool is_trimmed = worker->trim.last_turns == turns && !worker->trim.has_stacks;
    if (is_trimmed && stack_is_empty(&worker->pool.returned))
        return next_ns;
    /*
     * A forced shutdown frees all memory soon, and a thread waits for it. So spend no time on
     * trims.
     */
    if (atom32_load(&worker->system->ending.is_forced, ATOM_RELAXED))
        return next_ns;
    if (loop->now_ns < worker->trim.last_ns + worker->trim.every_ns)
        return earlier(next_ns, worker->trim.last_ns + worker->trim.every_ns);
    worker->trim.last_ns = loop->now_ns;
    worker->trim.last_turns = turns;
    /*
     * A trim costs a walk over the pools. It frees nothing if every part of them is in use. After
     * each such trim the time to the next trim is doubled.
     */
    bool is_vain = !trim(worker) && worker->trim.every_ns < TRIM_SELDOM_NS;
    worker->trim.every_ns = is_vain ? 2 * worker->trim.every_ns : TRIM_EVERY_NS;
    return worker->trim.has_stacks ? earlier(next_ns, loop->now_ns + TRIM_EVERY_NS) : next_ns;
}

/* The hooks of a worker that runs its cells with the function `how`. */
#define WORKER_HOOKS(how)                                                                          \
    {                                                                                              \
        .run = (how), .on_post = on_post, .on_io = on_io, .on_flush = on_flush,                    \
        .on_round = on_round, .on_alarm = on_alarm, .on_idle = on_idle                             \
    }

const struct loop_hooks tr__worker_hooks = WORKER_HOOKS(tr__cell_run);
const struct loop_hooks tr__worker_trapping_hooks = WORKER_HOOKS(tr__cell_run_trapping);
const struct loop_hooks tr__worker_handoff_hooks = WORKER_HOOKS(tr__cell_run_with_handoff);

/*
 * Names the last turn that ran on a stack that has overflowed. An overflow is found only when a
 * turn leaves the stack, so an earlier turn on the same stack may be the cause.
 */
static void describe_running(const struct fiber_pool *pool, char *text, size_t size)
{
    const struct worker *worker = pool->owner;
    const struct cell *running = worker_running(worker);
    if (!running)
        return;
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, running, path);
    const tr_type *type = worker_type(worker);
    const char *what = type ? type->name : "a signal";
    snprintf(text, size, "%s in %s (or an earlier turn on the same stack)", what, path);
}

void tr__worker_fiber(void *context)
{
    struct worker *worker = context;
    worker_set_running(worker, NULL);
    for (;;) {
        worker->has_more = tr__loop_slice(&worker->loop);
        tr__fiber_yield(&worker->stacks.host);
    }
}

static void wheels_init(struct worker *worker)
{
    tr_time now_ns = worker->loop.now_ns;
    tr__wheel_init(&worker->timers.wheel, now_ns);
    tr__wheel_init(&worker->timers.idles, now_ns);
    tr__wheel_init(&worker->turns.deadlines, now_ns);
    tr__wheel_init(&worker->life.delays, now_ns);
    tr__wheel_init(&worker->timers.wake_timers, now_ns);
    tr__wheel_init(&worker->asks.timeouts, now_ns);
    worker->asks.young_end = &worker->asks.young;
}

static void turns_init(struct worker *worker)
{
    worker->turns.wait_last = (uint64_t)worker->index << WAIT_HOME_SHIFT;
    for (int i = 0; i < WORKER_TURNS; i++)
        tr__turn_init(&worker->turns.calls[i], worker);
    worker->turns.message = &worker->turns.calls[0];
    worker->turns.message->scratch.current = &worker->turns.message->scratch.own;
}

/* Makes the fibers on which the loop runs. If this fails, frees what it has made. */
static tr_status stacks_init(struct worker *worker)
{
    struct tr_system *system = worker->system;
    struct fiber_pool *pool = &worker->stacks.pool;
    tr_status status = tr__fiber_pool_init(pool, system->platform, system->options.stack_size, 0);
    if (status != TR_OK)
        return status;
    pool->describe = describe_running;
    pool->owner = worker;
    status = tr__fiber_new(pool, tr__worker_fiber, worker, &worker->stacks.fiber);
    if (status == TR_OK)
        status = tr__fiber_new(pool, tr__worker_fiber, worker, &worker->stacks.last);
    if (status != TR_OK)
        tr__fiber_pool_deinit(pool);
    return status;
}

tr_status tr__worker_init(struct worker *worker, struct tr_system *system, uint32_t index)
{
    const tr_platform *platform = system->platform;
    tr_parker *parker;
    tr_status status = platform->parker_new(platform, &parker);
    if (status != TR_OK)
        return status;
    worker->system = system;
    worker->slots = system->slots;
    worker->map = slots_map_of(worker->slots);
    worker->index = index;
    worker->fast_owner = index;
    worker->source = system->source;
    const struct loop_hooks *hooks =
        system->options.traps_faults ? &tr__worker_trapping_hooks : &tr__worker_hooks;
    worker->hooks = *hooks;
    tr__loop_init(&worker->loop, &worker->hooks, platform, parker, system->options.spin_ns);
    if (system->options.round_min_ns)
        worker->loop.round_min_ns = worker->loop.io_round_ns = system->options.round_min_ns;
    worker->samples->awake[0].at_ns = worker->samples->awake[1].at_ns =
        platform->mono_now(platform);
    atom64_init(&worker->loop.awake_ns, 0);
    atom64_init(&worker->thread_id, 0);
    atomptr_init(&worker->handoff.claim, NULL);
    rng_init(&worker->rng, system->options.seed + index);
    /*
     * No thread runs the worker yet. So announce that it sleeps: then a post makes the descriptor
     * readable.
     */
    (void)ready_doze(&worker->loop.ready);
    tr__dispatches_init(&worker->dispatches, &worker->source, index);
    list_init(&worker->budgets.parts);
    worker->trim.every_ns = TRIM_EVERY_NS;
    worker->balance.crowded_ns = TR_NEVER;
    tr__scratch_init(&worker->scratch, &worker->source);
    tr__clock_init(&worker->clock, platform);
    wheels_init(worker);
    tr__timer_pool_init(&worker->timers.pool, &worker->source, system->names->key);
    worker->timers.pool.loose.home = (uint8_t)index;
    tr__fiber_host_init(&worker->stacks.host);
    turns_init(worker);
    status = tr__envelope_pool_init(&worker->pool,
                                    &worker->source,
                                    (uint16_t)index,
                                    (uint16_t)(system->worker_count + 1),
                                    system->pools,
                                    ENVELOPE_NOTICE);
    if (status != TR_OK)
        goto free_parker;
    system->pools[index] = &worker->pool;
    status = stacks_init(worker);
    if (status == TR_OK)
        return TR_OK;
    system->pools[index] = NULL;
    tr__envelope_pool_deinit(&worker->pool);
free_parker:
    platform->parker_free(platform, parker);
    return status;
}

void tr__worker_deinit(struct worker *worker)
{
    tr__fiber_discard(worker->stacks.fiber);
    tr__fiber_discard(worker->stacks.last);
    tr__fiber_pool_deinit(&worker->stacks.pool);
    tr__stacks_free(worker);
    tr__timer_pool_deinit(&worker->timers.pool);
    source_resize(&worker->source, worker->faults.symbols, 0);
    tr__turns_free(worker);
    tr__samples_free(worker);
    tr__asks_free(worker);
    tr__extras_free(worker);
    if (worker->channels.hooks)
        worker->channels.hooks->on_worker_end(worker);
    tr__scratch_deinit(&worker->scratch);
    tr__dispatches_deinit(&worker->dispatches);
    tr__watched_free(&worker->life.watched, &worker->source);
    tr__dead_letter_batches_free(worker);
    tr__envelope_pool_deinit(&worker->pool);
    worker->loop.platform->parker_free(worker->loop.platform, worker->loop.parker);
}

bool tr__worker_slice(struct worker *worker, uint32_t turns_max)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    worker->loop.slice_left = turns_max;
    worker->stacks.fiber = tr__fiber_resume(&worker->stacks.host, worker->stacks.fiber);
    TR_ASSERT(worker->stacks.fiber);
    tr__dead_letter_batches_end(worker);
    return worker->has_more;
}

bool tr__worker_is_over(struct worker *worker, tr_time *until_ns)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct tr_system *system = worker->system;
    const tr_platform *platform = system->platform;
    *until_ns = TR_NEVER;
    if (!atom32_load(&system->ending.is_over, ATOM_SEQ_CST))
        return false;
    if (!worker->channels.hooks || !worker->channels.hooks->is_sending(worker))
        return true;
    tr_time deadline_ns = (tr_time)atom64_load(&system->ending.deadline_ns, ATOM_SEQ_CST);
    if (deadline_ns && platform->mono_now(platform) >= deadline_ns)
        return true;
    *until_ns = deadline_ns ? deadline_ns : TR_NEVER;
    return false;
}

bool tr__worker_work(struct worker *worker)
{
    struct tr_system *system = worker->system;
    for (;;) {
        tr_time until_ns;
        bool has_more = tr__worker_slice(worker, LOOP_NO_LIMIT);
        if (__builtin_expect(worker->handoff.successor != NULL, 0)) {
            tr__handoff_hand(worker);
            return false;
        }
        if (has_more)
            continue;
        if (tr__worker_is_over(worker, &until_ns)) {
            if (tr__shutdown_may_leave(worker))
                break;
            if (tr__loop_has_work(&worker->loop))
                continue;
        }
        uint64_t wakes = atom64_load(&worker->counters.wakes, ATOM_RELAXED);
        worker->loop.has_woken = wakes != worker->wakes_seen;
        worker->wakes_seen = wakes;
        tr__loop_rest(&worker->loop, until_ns);
        tr__balance_rise(worker);
        if (system->watch.platform)
            watch_rouse(&system->watch);
    }
    tr__faults_end(worker);
    /* Clear the id of this thread, because another thread may get the same id. */
    atom64_store(&worker->thread_id, 0, ATOM_RELAXED);
    atom32_fetch_add(&system->shutdown->workers_ended, 1, ATOM_RELEASE); /* pairs with have_ended */
    tr__shutdown_wake(system);
    return true;
}

void tr__worker_main(void *context)
{
    struct worker *worker = context;
    struct tr_system *system = worker->system;
    struct handoff_thread *claim = atomptr_load(&worker->handoff.claim, ATOM_RELAXED);
    uint64_t id = system->platform->thread_id(system->platform);
    atom64_store(&worker->thread_id, id, ATOM_RELAXED);
    if (!tr__start_barrier_pass(worker)) {
        atom64_store(&worker->thread_id, 0, ATOM_RELAXED);
        return;
    }
    tr__faults_begin(worker);
    ready_rise(&worker->loop.ready);
    if (system->watch.platform) {
        worker->asks.is_ticked = worker->clock.has_counter;
        watch_rouse(&system->watch);
    }
    if (claim)
        atom64_store(&claim->id, id, ATOM_RELAXED);
    if (!tr__worker_work(worker))
        tr__handoff_serve(claim);
    if (claim)
        atom64_store(&claim->id, 0, ATOM_RELAXED);
}
