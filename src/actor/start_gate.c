/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/start_gate.h"

#include "actor/system.h"

void tr__start_gate_init(struct start_gate *gate, const tr_system_options *options)
{
    gate->on_worker_start = options->on_worker_start;
    gate->context = options->context;
}

void tr__start_gate_deinit(struct tr_system *system)
{
    /* A worker may have been about to wake it until its thread was joined. */
    if (system->gate.parker)
        system->platform->parker_free(system->platform, system->gate.parker);
}

void tr__start_gate_refuse(struct start_gate *gate, tr_status status)
{
    uint32_t none = TR_OK;
    (void)atom32_compare_exchange(
        &gate->status, &none, (uint32_t)status, ATOM_RELAXED, ATOM_RELAXED);
}

/* Notes the first that goes wrong. */
static tr_status call(struct tr_system *system, uint32_t index)
{
    struct start_gate *gate = &system->gate;
    tr_status status = gate->on_worker_start(system, (int)index, gate->context);
    if (status == TR_OK)
        return TR_OK;
    tr__start_gate_refuse(gate, status);
    tr__log(system,
            TR_LEVEL_ERROR,
            NULL,
            "worker %u did not start: %s: %s",
            (unsigned)index,
            tr_status_name(status),
            tr_status_text(status));
    return status;
}

tr_status tr__start_gate_prepare(struct tr_system *system)
{
    struct start_gate *gate = &system->gate;
    if (!gate->on_worker_start)
        return TR_OK;
    return system->platform->parker_new(system->platform, &gate->parker);
}

void tr__start_gate_pass(struct worker *worker)
{
    struct tr_system *system = worker->system;
    struct start_gate *gate = &system->gate;
    const tr_platform *platform = system->platform;
    if (!gate->on_worker_start)
        return;
    (void)call(system, worker->index);
    atom32_fetch_add(&gate->arrived, 1, ATOM_RELEASE); /* partner: wait */
    platform->wake(platform, gate->parker);
    while (!atom32_load(&gate->is_open, ATOM_ACQUIRE)) /* partner: open */
        platform->park(platform, worker->loop.parker, TR_NEVER);
}

tr_status tr__start_gate_wait(struct tr_system *system, uint32_t count)
{
    struct start_gate *gate = &system->gate;
    if (!gate->on_worker_start)
        return TR_OK;
    while (atom32_load(&gate->arrived, ATOM_ACQUIRE) < count) /* partner: pass */
        system->platform->park(system->platform, gate->parker, TR_NEVER);
    return (tr_status)atom32_load(&gate->status, ATOM_RELAXED);
}

void tr__start_gate_open(struct tr_system *system)
{
    struct start_gate *gate = &system->gate;
    if (!gate->on_worker_start)
        return;
    atom32_store(&gate->is_open, 1, ATOM_RELEASE); /* partner: pass */
    for (uint32_t i = 0; i < system->worker_count; i++)
        system->platform->wake(system->platform, system->workers[i]->loop.parker);
}

tr_status tr__start_gate_pass_embedded(struct tr_system *system)
{
    struct start_gate *gate = &system->gate;
    if (!gate->on_worker_start || gate->has_called)
        return TR_OK;
    gate->has_called = true;
    return call(system, 0);
}
