/* SPDX-License-Identifier: Apache-2.0 */
#include "app/service.h"

#include <string.h>

#include <troupe/app.h>

#include "actor/cell/log.h"
#include "actor/cell/system.h"
#include "actor/cell/verb.h"
#include "actor/cell/view.h"
#include "actor/system/thread_handoff.h"
#include "base/assert.h"
#include "observe/running.h"
#include "os/notify.h"
#include "os/small_file.h"

/*
 * How often the service notifies systemd in the time that systemd allows. sd_watchdog_enabled(3)
 * recommends twice. Three times is safer, because a busy machine may be late.
 */
enum { TICKS = 3 };

/*
 * Bits of system->user.unready. Each bit stands for something that must happen before the app is
 * ready.
 */
enum { UNREADY_RUNNER = 1, UNREADY_ROOT = 2, UNREADY_APP = 4 };

/* Notifies systemd. On failure only logs it, because the app can run without systemd. */
static void notify(tr_system *system, const char *state)
{
    tr_status status = tr__notify(state);
    if (status != TR_OK)
        tr__log(system,
                TR_LEVEL_WARN,
                NULL,
                "cannot notify systemd of %s: NOTIFY_SOCKET: %s",
                state,
                tr_status_text(status));
}

/* Clears a bit of `unready`. If no other bit is set, the app is ready, so notifies systemd. */
static void ready_by(tr_system *system, uint32_t bit)
{
    if (atom32_fetch_and(&system->user.unready, ~bit, ATOM_RELAXED) == bit)
        notify(system, "READY=1");
}

static void ready_by_root(tr_system *system)
{
    if (atom32_load(&system->user.unready, ATOM_RELAXED) & UNREADY_ROOT)
        ready_by(system, UNREADY_ROOT);
}

/*
 * Calls the handler of the root's first turn. If the only handler of the root is one for any
 * message, the turn of the first message is the first turn.
 */
static tr_next first_call(tr_self *self, void *state, const void *message)
{
    struct tr_system *system = tr_system_of(self);
    tr_next next = system->user.first_call(self, state, message);
    if (next.code != TR_NEXT_FAILED)
        ready_by_root(system);
    return next;
}

/*
 * Calls the set-up of the root. The set-up counts as the first turn if there is no other first
 * turn, or if the set-up gives the root another behavior.
 */
static tr_next first_setup(tr_self *self, void *state, const void *message)
{
    struct tr_system *system = tr_system_of(self);
    tr_next next = system->user.first_setup(self, state, message);
    if (next.code == TR_NEXT_BECOME || (next.code != TR_NEXT_FAILED && !system->user.first_call))
        ready_by_root(system);
    return next;
}

const tr_behavior *tr__service_open(struct service *service, tr_system *system,
                                    const tr_behavior *root, bool says_ready)
{
    *service = (struct service){.system = system,
                                .first = {.source = system->source},
                                .watchdog_ns = tr__notify_watchdog_ns(),
                                .ticker = -1};
    uint32_t unready = UNREADY_RUNNER | (says_ready ? UNREADY_APP : 0);
    if (!says_ready && tr__environment("NOTIFY_SOCKET")) {
        struct first_calls calls = {.turn = first_call, .setup = first_setup};
        root = tr__first_turn_watch(&service->first, root, &calls);
        system->user.first_call = calls.turn;
        system->user.first_setup = calls.setup;
        unready |= calls.turn || calls.setup ? UNREADY_ROOT : 0;
    }
    atom32_store(&system->user.unready, unready, ATOM_RELAXED);
    return root;
}

int tr__service_start(struct service *service)
{
    ready_by(service->system, UNREADY_RUNNER);
    if (service->watchdog_ns)
        service->ticker = tr__ticker_new(service->watchdog_ns / TICKS);
    return service->ticker;
}

/* The search for a turn that has run for longer than systemd allows, and what it has found. */
struct standing {
    struct service *service;
    bool is_found;
    const char *handler; /* name of the handler; NULL: not known */
    char path[TR_PATH_MAX + 1];
};

/*
 * Finds a turn that runs too long on a thread that has lost its worker to another thread. Called
 * under the lock of the handoff.
 */
static void find_stuck(void *context, const struct handoff_thread *thread)
{
    struct standing *standing = context;
    struct tr_system *system = standing->service->system;
    tr_time age_ns = system->platform->mono_now(system->platform) - thread->since_ns;
    if (standing->is_found || age_ns < standing->service->watchdog_ns)
        return;
    standing->is_found = true;
    standing->handler = thread->handler ? thread->handler->name : NULL;
    tr__view_path(system, thread->cell, standing->path);
}

static void find_running(struct standing *standing)
{
    struct tr_system *system = standing->service->system;
    tr_worker_info info;
    for (uint32_t i = 0; i < system->worker_count && !standing->is_found; i++) {
        tr__worker_describe(system, i, &info);
        if (!info.is_running || info.since_ns < standing->service->watchdog_ns)
            continue;
        standing->is_found = true;
        standing->handler = info.handler;
        memcpy(standing->path, info.path, sizeof standing->path);
    }
}

/* Whether any handler has run for so long that systemd must end the process. */
static bool is_stuck(struct service *service)
{
    struct standing standing = {.service = service};
    find_running(&standing);
    tr__handoff_each(service->system, find_stuck, &standing);
    if (standing.is_found && !service->is_late)
        tr__log(service->system,
                TR_LEVEL_ERROR,
                NULL,
                "the watchdog of systemd is not notified: %s stands in %s",
                standing.path,
                standing.handler ? standing.handler : "a handler");
    service->is_late = standing.is_found;
    return standing.is_found;
}

void tr__service_tick(struct service *service)
{
    if (service->ticker >= 0 && tr__ticker_read(service->ticker) && !is_stuck(service))
        notify(service->system, "WATCHDOG=1");
}

void tr__service_stop(struct service *service)
{
    if (service->has_stopped)
        return;
    service->has_stopped = true;
    atom32_store(&service->system->user.unready, 0, ATOM_RELAXED);
    notify(service->system, "STOPPING=1");
}

void tr__service_close(struct service *service, bool is_left)
{
    tr__ticker_close(service->ticker);
    service->ticker = -1;
    if (!is_left)
        tr__first_turn_free(&service->first);
}

void tr_app_ready(tr_self *self)
{
    TURN_VERB(self);
    TR_ASSERT(self);
    ready_by(tr_system_of(self), UNREADY_APP);
}

const char *tr_app_inspector(tr_self *self)
{
    TURN_VERB(self);
    return tr_system_of(self)->user.inspector;
}

tr_next tr_app_exit(tr_self *self, int status)
{
    TURN_VERB(self);
    struct tr_system *system = tr_system_of(self);
    uint32_t none = 0;
    if (status < 0 || status > 255)
        tr_crash(self, TR_INVALID_ARGUMENT, "invalid exit status: %d; expected 0 to 255", status);
    (void)atom32_compare_exchange(
        &system->user.exit_status, &none, (uint32_t)status + 1, ATOM_RELAXED, ATOM_RELAXED);
    tr_system_shutdown(system, system->user.exit_timeout_ns);
    return TR_SAME;
}
