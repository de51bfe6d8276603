/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/hooks.h"

#include <stdio.h>

#include "actor/cell/log.h"
#include "actor/cell/system.h"
#include "actor/system/shutdown.h"

static void hook_main(void *context)
{
    struct hook *hook = context;
    const tr_platform *platform = hook->system->platform;
    tr_parker *parker = hook->parker;
    hook->status = hook->on_shutdown(hook->context);
    atom32_store(&hook->is_done, 1, ATOM_RELEASE); /* pairs with hook_wait */
    platform->wake(platform, parker);
}

/*
 * Adds a hook to the report, because it has returned or timed out. If the hook has failed, logs it.
 */
static void note(struct hook *hook, tr_status status, tr_time took_ns)
{
    struct tr_system *system = hook->system;
    struct shutdown *shutdown = system->shutdown;
    lock_take(&system->ending.lock);
    tr_report_hook *line = &shutdown->final.hook[shutdown->final.hook_count++];
    (void)snprintf(line->name, sizeof line->name, "%s", hook->name);
    line->phase = hook->phase;
    line->status = status;
    line->took_ns = took_ns;
    lock_give(&system->ending.lock);
    if (status == TR_OK)
        return;
    tr__log(system,
            TR_LEVEL_ERROR,
            NULL,
            "shutdown hook \"%s\": %s: %s",
            hook->name,
            tr_status_name(status),
            status == TR_TIMEOUT ? "the hook has not returned in time" : tr_status_text(status));
}

/* Waits for a hook. Returns true if the hook has returned, false if the deadline has passed. */
static bool hook_wait(struct hook *hook, tr_time deadline_ns, void (*on_wake)(void *context),
                      void *context)
{
    const tr_platform *platform = hook->system->platform;
    while (!atom32_load(&hook->is_done, ATOM_ACQUIRE)) {
        if (platform->mono_now(platform) >= deadline_ns)
            return false;
        platform->park(platform, hook->parker, deadline_ns);
        if (on_wake)
            on_wake(context);
    }
    return true;
}

static void hook_call(struct hook *hook, tr_parker *parker, void (*on_wake)(void *context),
                      void *context)
{
    struct tr_system *system = hook->system;
    const tr_platform *platform = system->platform;
    tr_time begin_ns = platform->mono_now(platform);
    tr_status status = TR_NOT_SUPPORTED;
    hook->parker = parker;
    if (parker)
        status = platform->thread_start(platform, "troupe-hook", hook_main, hook, &hook->thread);
    if (status != TR_OK) {
        status = hook->on_shutdown(hook->context);
    } else {
        tr_time deadline_ns =
            hook->timeout_ns > TR_NEVER - begin_ns ? TR_NEVER : begin_ns + hook->timeout_ns;
        if (hook_wait(hook, deadline_ns, on_wake, context)) {
            platform->thread_join(platform, hook->thread);
            status = hook->status;
        } else {
            atom32_fetch_add(&system->shutdown->hooks.hung, 1, ATOM_RELAXED);
            status = TR_TIMEOUT;
        }
    }
    note(hook, status, platform->mono_now(platform) - begin_ns);
}

bool tr__hooks_have(const struct hooks *hooks, tr_hook_phase phase)
{
    for (uint32_t i = 0; i < hooks->count; i++) {
        if (hooks->list[i].phase == phase)
            return true;
    }
    return false;
}

void tr__hooks_call(struct tr_system *system, tr_hook_phase phase, tr_parker *parker,
                    void (*on_wake)(void *context), void *context)
{
    struct hooks *hooks = &system->shutdown->hooks;
    for (uint32_t i = 0; i < hooks->count; i++) {
        if (hooks->list[i].phase == phase)
            hook_call(&hooks->list[i], parker, on_wake, context);
    }
}

/* ---- The hooks of TR_BEFORE_STOP: tr_system_shutdown does not wait for them. ---- */

static void leader_main(void *context)
{
    struct tr_system *system = context;
    const tr_platform *platform = system->platform;
    tr_parker *parker;
    if (platform->parker_new(platform, &parker) != TR_OK)
        parker = NULL;
    tr__hooks_call(system, TR_BEFORE_STOP, parker, NULL, NULL);
    /* If a hook has timed out, keep the parker, because that hook may still wake it. */
    if (parker && !atom32_load(&system->shutdown->hooks.hung, ATOM_RELAXED))
        platform->parker_free(platform, parker);
    tr__shutdown_begin(system);
}

void tr__hooks_lead(struct tr_system *system)
{
    const tr_platform *platform = system->platform;
    struct shutdown *shutdown = system->shutdown;
    tr_thread *leader = NULL;
    /*
     * Start the thread under the lock, because the thread may end before hooks.leader is set.
     * tr__hooks_join takes the same lock before it reads hooks.leader, so hooks.leader is set by
     * then.
     */
    lock_take(&system->ending.lock);
    tr_status status =
        platform->thread_start(platform, "troupe-hooks", leader_main, system, &leader);
    shutdown->hooks.leader = leader;
    lock_give(&system->ending.lock);
    if (status == TR_OK)
        return;
    tr__hooks_call(system, TR_BEFORE_STOP, NULL, NULL, NULL);
    tr__shutdown_begin(system);
}

void tr__hooks_join(struct tr_system *system)
{
    struct shutdown *shutdown = system->shutdown;
    lock_take(&system->ending.lock);
    tr_thread *leader = shutdown->hooks.leader;
    shutdown->hooks.leader = NULL;
    lock_give(&system->ending.lock);
    if (leader)
        system->platform->thread_join(system->platform, leader);
}

tr_status tr_system_add_hook(tr_system *system, tr_hook_phase phase, const char *name,
                             tr_time timeout_ns, tr_status (*on_shutdown)(void *context),
                             void *context)
{
    if (!system || !name || !on_shutdown || timeout_ns < 0)
        return TR_INVALID_ARGUMENT;
    if (phase != TR_BEFORE_STOP && phase != TR_AFTER_STOP)
        return TR_INVALID_ARGUMENT;
    struct shutdown *shutdown = system->shutdown;
    struct hooks *hooks = &shutdown->hooks;
    tr_status status = TR_OK;
    lock_take(&system->ending.lock);
    if (shutdown->is_asked_for) {
        status = TR_STOPPING;
    } else if (hooks->count == TR_HOOKS_MAX) {
        status = TR_LIMIT;
    } else {
        struct hook *hook = &hooks->list[hooks->count++];
        *hook = (struct hook){.system = system,
                              .on_shutdown = on_shutdown,
                              .context = context,
                              .phase = phase,
                              .timeout_ns = timeout_ns ? timeout_ns : TR_HOOK_TIMEOUT_NS};
        (void)snprintf(hook->name, sizeof hook->name, "%s", name);
        atom32_init(&hook->is_done, 0);
    }
    lock_give(&system->ending.lock);
    return status;
}
