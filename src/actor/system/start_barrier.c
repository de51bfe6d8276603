/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/start_barrier.h"

#include "actor/cell/log.h"
#include "actor/cell/system.h"

void tr__start_barrier_init(struct start_barrier *start_barrier, const tr_system_options *options)
{
    start_barrier->on_worker_start = options->on_worker_start;
    start_barrier->context = options->context;
}

void tr__start_barrier_deinit(struct tr_system *system)
{
    /*
     * The threads of the workers are joined by now, so none of them can wake the parker any more.
     */
    if (system->start_barrier->parker)
        system->platform->parker_free(system->platform, system->start_barrier->parker);
}

void tr__start_barrier_refuse(struct tr_system *system, tr_status status)
{
    uint32_t none = TR_OK;
    (void)atom32_compare_exchange(
        &system->run.start_status, &none, (uint32_t)status, ATOM_RELAXED, ATOM_RELAXED);
}

static tr_status call(struct tr_system *system, uint32_t index)
{
    struct start_barrier *start_barrier = system->start_barrier;
    struct worker *worker = system->workers[index];
    atom32_store(&worker->shutdown.is_at_start_barrier, 1, ATOM_RELAXED);
    tr_status status = start_barrier->on_worker_start(system, (int)index, start_barrier->context);
    atom32_store(&worker->shutdown.is_at_start_barrier, 0, ATOM_RELAXED);
    if (status == TR_OK)
        return TR_OK;
    tr__log(system,
            TR_LEVEL_ERROR,
            NULL,
            "worker %u did not start: %s: %s",
            (unsigned)index,
            tr_status_name(status),
            tr_status_text(status));
    return status;
}

tr_status tr__start_barrier_prepare(struct tr_system *system)
{
    struct start_barrier *start_barrier = system->start_barrier;
    if (!start_barrier->on_worker_start)
        return TR_OK;
    return system->platform->parker_new(system->platform, &start_barrier->parker);
}

bool tr__start_barrier_pass(struct worker *worker)
{
    struct tr_system *system = worker->system;
    struct start_barrier *start_barrier = system->start_barrier;
    const tr_platform *platform = system->platform;
    if (!start_barrier->on_worker_start)
        return true;
    /*
     * If the barrier is open here, this worker was added later: the barrier opens only after all
     * workers that start together have arrived.
     */
    bool is_late =
        atom32_load(&start_barrier->is_open, ATOM_ACQUIRE); /* pairs with tr__start_barrier_open */
    tr_status status = call(system, worker->index);
    if (is_late)
        atom32_store(&start_barrier->late, (uint32_t)status, ATOM_RELAXED);
    else if (status != TR_OK)
        tr__start_barrier_refuse(system, status);
    atom32_fetch_add(&start_barrier->arrived, 1, ATOM_RELEASE); /* pairs with wait_for */
    platform->wake(platform, start_barrier->parker);
    while (
        !atom32_load(&start_barrier->is_open, ATOM_ACQUIRE)) /* pairs with tr__start_barrier_open */
        platform->park(platform, worker->loop.parker, TR_NEVER);
    return !is_late || status == TR_OK;
}

uint32_t tr__start_barrier_arrived(const struct start_barrier *start_barrier)
{
    return atom32_load(&start_barrier->arrived, ATOM_RELAXED);
}

bool tr__start_barrier_is_caller(struct tr_system *system)
{
    uint64_t id = system->platform->thread_id(system->platform);
    for (uint32_t i = 0; i < system->worker_count; i++) {
        const struct worker *worker = system->workers[i];
        if (atom64_load(&worker->thread_id, ATOM_RELAXED) == id &&
            atom32_load(&worker->shutdown.is_at_start_barrier, ATOM_RELAXED))
            return true;
    }
    return false;
}

static void wait_for(struct tr_system *system, uint32_t count)
{
    struct start_barrier *start_barrier = system->start_barrier;
    while (atom32_load(&start_barrier->arrived, ATOM_ACQUIRE) <
           count) /* pairs with tr__start_barrier_pass */
        system->platform->park(system->platform, start_barrier->parker, TR_NEVER);
}

tr_status tr__start_barrier_wait(struct tr_system *system, uint32_t count)
{
    if (!system->start_barrier->on_worker_start)
        return TR_OK;
    wait_for(system, count);
    return (tr_status)atom32_load(&system->run.start_status, ATOM_RELAXED);
}

tr_status tr__start_barrier_wait_late(struct tr_system *system, uint32_t count)
{
    if (!system->start_barrier->on_worker_start)
        return TR_OK;
    wait_for(system, count);
    return (tr_status)atom32_load(&system->start_barrier->late, ATOM_RELAXED);
}

void tr__start_barrier_open(struct tr_system *system)
{
    struct start_barrier *start_barrier = system->start_barrier;
    if (!start_barrier->on_worker_start)
        return;
    atom32_store(&start_barrier->is_open, 1, ATOM_RELEASE); /* pairs with tr__start_barrier_pass */
    for (uint32_t i = 0; i < system->worker_count; i++)
        system->platform->wake(system->platform, system->workers[i]->loop.parker);
}

tr_status tr__start_barrier_pass_embedded(struct tr_system *system)
{
    struct start_barrier *start_barrier = system->start_barrier;
    if (!start_barrier->on_worker_start || start_barrier->has_called)
        return TR_OK;
    start_barrier->has_called = true;
    tr_status status = call(system, 0);
    if (status != TR_OK)
        tr__start_barrier_refuse(system, status);
    return status;
}
