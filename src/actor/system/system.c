/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/system.h"

#include "actor/cell/behavior_list.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/failure_log.h"
#include "actor/cell/follow.h"
#include "actor/cell/lifecycle.h"
#include "actor/cell/log.h"
#include "actor/cell/log_kept.h"
#include "actor/cell/samples.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "actor/cell/upcalls.h"
#include "actor/cell/view.h"
#include "actor/life/origin.h"
#include "actor/mail/capacity.h"
#include "actor/mail/dead_letter.h"
#include "actor/mail/group_address.h"
#include "actor/system/shutdown.h"
#include "actor/system/shutdown_wait.h"
#include "actor/system/stall.h"
#include "actor/system/start_barrier.h"
#include "actor/system/system_run.h"
#include "actor/system/thread_handoff.h"
#include "actor/system/worker.h"
#include "actor/turn/blocking.h"
#include "actor/turn/fault.h"
#include "actor/turn/samples.h"
#include "actor/verbs/client.h"
#include "actor/verbs/schedule.h"
#include "actor/verbs/topic.h"
#include "base/assert.h"
#include "actor/cell/sched_state.h"
#include "actor/mail/kind.h"
#include "os/memory.h"

#include <stdio.h>
#include <string.h>

/* The behavior of /user: no handlers, because /user is only the parent of all other actors. */
TR_BEHAVIOR(tr_guardian, void);

void tr__system_over(struct tr_system *system)
{
    if (atom32_exchange(&system->ending.is_over, 1, ATOM_SEQ_CST))
        return; /* the shutdown wait has given up, and has called this function already */
    tr_time now_ns = system->platform->mono_now(system->platform);
    atom64_store(&system->ending.over_ns, (uint64_t)now_ns, ATOM_RELEASE);
    atom32_store(&system->ending.is_stopping, 1, ATOM_SEQ_CST);
    for (uint32_t i = 0; i < system->worker_count; i++)
        loop_nudge(&system->workers[i]->loop);
    tr__clients_nudge(system);
    tr__shutdown_wake(system);
}

bool tr__system_has_failed(struct tr_system *system)
{
    return atom32_load(&system->user.failures, ATOM_RELAXED) > 0;
}

/* ---- Making and freeing a system. ---- */

static tr_status options_check(const tr_system_options *options)
{
    if (options->workers < 0 || options->spin_ns < -1)
        return TR_INVALID_ARGUMENT;
    if (options->platform && options->platform->size < sizeof(tr_platform))
        return TR_INVALID_ARGUMENT;
    if ((unsigned)options->log_format > TR_LOG_JOURNALD || (options->log_format && options->on_log))
        return TR_INVALID_ARGUMENT;
    if (options->round_min_ns < 0)
        return TR_INVALID_ARGUMENT;
    if (options->round_min_ns > TR_OPTION_NS_MAX || options->spin_ns > TR_OPTION_NS_MAX)
        return TR_INVALID_ARGUMENT;
    if (options->turn_report_ns < -1 || options->turn_report_ns > TR_OPTION_NS_MAX)
        return TR_INVALID_ARGUMENT;
    if ((uint32_t)options->balance > TR_BALANCE_RESTLESS)
        return TR_INVALID_ARGUMENT;
    if (options->shutdown_timeout_ns < 0)
        return TR_INVALID_ARGUMENT;
    const char *why;
    if (options->supervision && !tr__supervision_is_valid(options->supervision, &why))
        return TR_INVALID_ARGUMENT;
    if (options->pool_supervision && !tr__supervision_is_valid(options->pool_supervision, &why))
        return TR_INVALID_ARGUMENT;
    if (options->blocking_threads_max > TR_BLOCKING_THREADS_LARGEST)
        return TR_LIMIT;
    if (options->workers_max < 0)
        return TR_INVALID_ARGUMENT;
    if (options->workers_max > TR_WORKERS_MAX)
        return TR_LIMIT;
    if (options->stack_bytes && options->stack_bytes < TR_STACK_SIZE)
        return TR_INVALID_ARGUMENT;
    if (options->stack_bytes > TR_STACK_LARGEST)
        return TR_LIMIT;
    tr_status handoff = tr__handoff_check(options);
    if (handoff != TR_OK)
        return handoff;
    if (options->workers > TR_WORKERS_MAX || options->actors_max > TR_ACTORS_MAX)
        return TR_LIMIT;
    if (options->name && !tr__name_is_plain(options->name))
        return TR_NAME_INVALID;
    return TR_OK;
}

/* Returns the usable bytes of each stack: the sizes in the options, rounded up to pages. */
static size_t stack_size_of(const tr_system_options *options)
{
    size_t wanted = options->stack_bytes ? options->stack_bytes : TR_STACK_SIZE;
    size_t page = tr__os_page_size();
    return (wanted + page - 1) / page * page * FIBER_STACK_FACTOR;
}

/* Copies the options that the system needs after its start. */
static void options_keep(struct tr_system *system, const tr_system_options *options)
{
    system->log.write = options->on_log;
    system->log.context = options->context;
    system->log.format = options->log_format;
    system->options.exit_when_empty = options->exit_when_empty;
    system->options.spin_ns = options->spin_ns;
    system->options.round_min_ns = options->round_min_ns;
    system->options.balance = options->balance;
    system->options.traps_faults = options->traps_faults;
    system->options.names_faults = options->names_faults;
    system->options.stack_size = stack_size_of(options);
    system->options.seed = options->seed;
    if (!system->options.seed)
        system->options.seed = system->platform->random(system->platform);
    if (options->supervision)
        system->user.supervision = *options->supervision;
    system->pool.has_supervision = options->pool_supervision;
    if (system->pool.has_supervision)
        system->pool.supervision = *options->pool_supervision;
    system->durable.awake_max = options->awake_max;
    system->durable.awake_bytes_max = options->awake_bytes_max;
    snprintf(system->name, sizeof system->name, "%s", options->name ? options->name : "troupe");
}

/* Sets the number of workers, and how many of them are open. */
static void scale_init(struct tr_system *system, const tr_system_options *options)
{
    uint32_t cpus = system->platform->cpu_count(system->platform);
    uint32_t open = options->workers ? (uint32_t)options->workers : cpus;
    if (open > TR_WORKERS_MAX)
        open = TR_WORKERS_MAX;
    uint32_t most = (uint32_t)options->workers_max;
    system->worker_count = most > open ? most : open;
    atom32_init(&system->scale.open, open);
    atom32_init(&system->scale.open_most, open);
    atom32_init(&system->scale.threads, 0);
}

static void locks_init(struct tr_system *system)
{
    atomptr_init(&system->pool.state, NULL);
    atomptr_init(&system->channels.table, NULL);
    atomptr_init(&system->channels.contexts, NULL);
    lock_init(&system->failure_log->lock);
    atomptr_init(&system->log.kept, NULL);
    lock_init(&system->pool.lock);
    lock_init(&system->channels.lock);
    lock_init(&system->gateway.lock);
    lock_init(&system->scale.lock);
    lock_init(&system->foreign.lock);
    lock_init(&system->run.wait_lock);
    lock_init(&system->run.lock);
}

/* Calls the init functions of the parts of a system. */
static void parts_init(struct tr_system *system, const tr_system_options *options)
{
    tr__start_barrier_init(system->start_barrier, options);
    tr__schedules_init(
        system->schedules, system->platform->mono_now(system->platform), system->options.seed);
    bool has_timeout = options->shutdown_timeout_ns;
    tr__shutdown_init(system, has_timeout ? options->shutdown_timeout_ns : TR_SHUTDOWN_TIMEOUT_NS);
    tr__stalls_init(system->stalls, options);
    tr__doorbell_init(&system->doorbell);
    lock_init(&system->samples->lock);
    tr__handoff_init(system->handoff, system, options);
    tr__group_addresses_init(system->group_addresses);
    tr__follow_init(system->follow);
    lock_init(&system->ended_names->lock);
    uint32_t threads_max = options->blocking_threads_max;
    tr__blocking_init(
        system->blocking, system, threads_max ? threads_max : TR_BLOCKING_THREADS_MAX);
}

/*
 * A system, with those of its parts to which struct tr_system has only pointers. So only the few
 * files that use these parts include the headers that declare them.
 */
struct system_memory {
    struct tr_system system;
    struct slots slots;
    struct names names;
    struct names topic_names;
    struct follow follow;
    struct log_levels log_levels;
    struct behavior_list behaviors;
    struct dead_letters dead_letters;
    struct failure_log failure_log;
    struct ended_names ended_names;
    struct system_samples samples;
    struct group_addresses group_addresses;
    struct topics topics;
    struct stalls stalls;
    struct schedules schedules;
    struct blocking blocking;
    struct thread_handoff handoff;
    struct shutdown shutdown;
    struct start_barrier start_barrier;
};

/* As struct system_memory, for a worker. */
struct worker_memory {
    struct worker worker;
    struct worker_samples samples;
};

static void parts_place(struct system_memory *parts)
{
    struct tr_system *system = &parts->system;
    system->slots = &parts->slots;
    system->names = &parts->names;
    system->follow = &parts->follow;
    system->log.levels = &parts->log_levels;
    system->user.behaviors = &parts->behaviors;
    system->dead_letters = &parts->dead_letters;
    system->failure_log = &parts->failure_log;
    system->ended_names = &parts->ended_names;
    system->samples = &parts->samples;
    system->group_addresses = &parts->group_addresses;
    system->topics = &parts->topics;
    system->topics->names = &parts->topic_names;
    system->stalls = &parts->stalls;
    system->schedules = &parts->schedules;
    system->blocking = &parts->blocking;
    system->handoff = &parts->handoff;
    system->shutdown = &parts->shutdown;
    system->start_barrier = &parts->start_barrier;
}

static struct tr_system *system_alloc(const tr_system_options *options)
{
    struct memory_source source = {.platform =
                                       options->platform ? options->platform : tr_platform_real(),
                                   .resize = options->resize,
                                   .context = options->context};
    void *memory = source_resize(&source, NULL, sizeof(struct system_memory) + 64);
    if (!memory)
        return NULL;
    uintptr_t aligned = ((uintptr_t)memory + 63) & ~(uintptr_t)63;
    struct system_memory *parts = (struct system_memory *)aligned;
    memset(parts, 0, sizeof *parts);
    struct tr_system *system = &parts->system;
    parts_place(parts);
    system->memory = memory;
    system->source = source;
    system->platform = source.platform;
    options_keep(system, options);
    scale_init(system, options);
    locks_init(system);
    parts_init(system, options);
    return system;
}

/* Makes /user, which lives on worker 0 and is Running from the beginning. */
static tr_status guardian_make(struct tr_system *system)
{
    struct worker *worker = system->workers[0];
    struct cell *cell;
    tr_status status = tr__slot_take(system->slots, &worker->slot_cache, &cell);
    if (status != TR_OK)
        return status;
    cell_clear(cell);
    cell->dispatch = tr__dispatch_of(&worker->dispatches, &tr_behavior_tr_guardian);
    if (!cell->dispatch)
        return TR_NO_MEMORY;
    status = tr__names_add(system->names, "/user", cell->identity, &cell->name);
    if (status != TR_OK)
        return status;
    cell_become(system, cell, LIFE_STARTING, __func__);
    cell_become(system, cell, LIFE_RUNNING, __func__);
    cell->flags |= CELL_STARTED;
    cell_sched_change_from(cell, SCHED_CREATED, SCHED_WAITING);
    tr__capacity_open(cell, &tr_behavior_tr_guardian);
    system->user.guardian = cell;
    system->user.name = cell->name;
    door_open(&cell->door, cell->identity, 0, false);
    return TR_OK;
}

static tr_status worker_make(struct tr_system *system, uint32_t index)
{
    void *memory = source_resize(&system->source, NULL, sizeof(struct worker_memory) + 64);
    if (!memory)
        return TR_NO_MEMORY;
    uintptr_t aligned = ((uintptr_t)memory + 63) & ~(uintptr_t)63;
    struct worker_memory *parts = (struct worker_memory *)aligned;
    memset(parts, 0, sizeof *parts);
    struct worker *worker = &parts->worker;
    worker->samples = &parts->samples;
    worker->memory = memory;
    tr_status status = tr__worker_init(worker, system, index);
    if (status != TR_OK) {
        source_resize(&system->source, memory, 0);
        return status;
    }
    grace_join(&system->names->grace, &worker->reader);
    system->workers[index] = worker;
    system->run.loops[index] = &worker->loop;
    return TR_OK;
}

static void *table_alloc(struct tr_system *system, size_t count)
{
    void *table = source_resize(&system->source, NULL, count * sizeof(void *));
    if (table)
        memset(table, 0, count * sizeof(void *));
    return table;
}

static tr_status system_fill(struct tr_system *system, const tr_system_options *options)
{
    uint32_t count = system->worker_count;
    uint64_t stream = system->options.seed;
    system->workers = table_alloc(system, count);
    system->run.loops = table_alloc(system, count);
    system->pools = table_alloc(system, count + 1);
    if (!system->workers || !system->run.loops || !system->pools)
        return TR_NO_MEMORY;
    tr__names_init(system->names,
                   &system->source,
                   (struct hash_key){rng_splitmix(&stream), rng_splitmix(&stream)});
    tr_status status = tr__slots_init(system->slots,
                                      &system->source,
                                      options->actors_max ? options->actors_max : TR_ACTORS_MAX - 2,
                                      rng_splitmix(&stream));
    if (status != TR_OK)
        return status;
    tr__topics_init(system->topics, system);
    status = tr__dead_letters_init(system->dead_letters, &system->source);
    if (status != TR_OK)
        return status;
    status = tr__stalls_fill(system);
    if (status != TR_OK)
        return status;
    status = tr__envelope_pool_init(&system->foreign.pool,
                                    &system->source,
                                    (uint16_t)count,
                                    (uint16_t)(count + 1),
                                    system->pools,
                                    ENVELOPE_NOTICE);
    if (status != TR_OK)
        return status;
    system->pools[count] = &system->foreign.pool;
    for (uint32_t i = 0; i < count; i++) {
        status = worker_make(system, i);
        if (status != TR_OK)
            return status;
    }
    return guardian_make(system);
}

/*
 * Gives each envelope that is still behind a door back to its pool, and frees what cells still
 * have. No thread runs any more.
 */
static void mail_sweep(struct tr_system *system)
{
    struct worker *worker = system->workers ? system->workers[0] : NULL;
    uint32_t used = system->slots->chunks ? tr__slots_used(system->slots) : 0;
    for (uint32_t slot = 1; worker && slot < used; slot++) {
        struct cell *cell = slots_at(system->slots, slot);
        void *head = cell ? atomptr_load(&cell->door.inbox, ATOM_ACQUIRE) : NULL;
        struct door_mail *mail = door_holds_mail(head) ? head : NULL;
        while (mail) {
            struct envelope *envelope = (struct envelope *)(void *)mail;
            mail = mail->next;
            envelope_give(&worker->pool, envelope);
        }
        /* A client may have spawned this actor so late that no worker has set it up: free its origin. */
        if (cell && cell->identity && cell->origin)
            tr__origin_free(&system->source, cell->origin);
        /* Rule 4 of actor/system/shutdown.h has kept this name until now, for other threads. */
        if (cell && cell != system->user.guardian && !system_may_reuse(system))
            tr__names_free(system->names, cell->name);
    }
    for (uint32_t i = 0; i <= system->worker_count; i++) {
        if (system->pools && system->pools[i])
            tr__envelope_flush(system->pools[i]);
    }
    for (uint32_t i = 0; i <= system->worker_count; i++) {
        if (system->pools && system->pools[i])
            tr__envelope_pool_trim(system->pools[i]);
    }
}

void tr_system_free(tr_system *system)
{
    if (!system)
        return;
    const struct memory_source source = system->source;
    TR_ASSERT(system->run.phase != SYSTEM_STARTED);
    /*
     * The shutdown gave up waiting for functions of the application. They may still run and use the
     * system, so free nothing.
     */
    if (tr__shutdown_is_left(system))
        return;
    /* Stop the system here if it was never started, or is embedded in another event loop. */
    if (system->user.guardian && !atom32_load(&system->ending.is_over, ATOM_SEQ_CST))
        tr__system_drain(system);
    tr__shutdown_deinit(system);
    tr__blocking_end(system->blocking);
    if (system->durable.free)
        system->durable.free(system);
    tr__clients_close(system);
    mail_sweep(system);
    if (system->user.guardian)
        tr__names_free(system->names, system->user.name);
    tr__schedules_deinit(system->schedules, &source);
    tr__clients_free(system);
    for (uint32_t i = 0; system->workers && i < system->worker_count; i++) {
        if (!system->workers[i])
            continue;
        tr__worker_deinit(system->workers[i]);
        source_resize(&source, system->workers[i]->memory, 0);
    }
    if (system->gateway.free)
        system->gateway.free(system);
    if (system->channels.free_contexts)
        system->channels.free_contexts(system);
    if (system->channels.free)
        system->channels.free(system);
    /* If tr__system_new ran out of memory, the parts that it has not made are all zero. */
    if (system->foreign.pool.source.platform)
        tr__envelope_pool_deinit(&system->foreign.pool);
    tr__dead_letters_deinit(system->dead_letters, &source);
    source_resize(&source, system->failure_log->ring, 0);
    tr__log_kept_free(system);
    tr__follow_deinit(system);
    tr__stalls_deinit(system);
    tr__handoff_deinit(system);
    tr__start_barrier_deinit(system);
    if (system->pool.free)
        system->pool.free(system);
    tr__group_addresses_deinit(system);
    tr__topics_deinit(system);
    tr__slots_deinit(system->slots);
    if (system->names->source.platform)
        tr__names_deinit(system->names);
    tr__faults_switch_off(system);
    source_resize(&source, system->pools, 0);
    source_resize(&source, system->run.loops, 0);
    source_resize(&source, system->workers, 0);
    source_resize(&source, system->memory, 0);
}

tr_status tr__system_new(const tr_system_options *options, tr_system **made)
{
    TR_ASSERT(options->size == sizeof *options);
    tr_status status = options_check(options);
    if (status != TR_OK)
        return status;
    struct tr_system *system = system_alloc(options);
    if (!system)
        return TR_NO_MEMORY;
    status = tr__faults_switch_on(system);
    if (status == TR_OK)
        status = system_fill(system, options);
    if (status != TR_OK) {
        tr_system_free(system);
        return status;
    }
    *made = system;
    return TR_OK;
}
