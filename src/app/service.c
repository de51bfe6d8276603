/* SPDX-License-Identifier: Apache-2.0 */
#include "app/service.h"

#include <troupe/app.h>
#include <troupe/observe.h>

#include "actor/cell/log.h"
#include "actor/cell/system.h"
#include "actor/cell/verb.h"
#include "os/notify.h"

/* How often in the time that systemd allows. sd_watchdog_enabled(3) says twice; a busy machine is late by some of that. */
enum { TICKS = 3 };

/* Notifies systemd. A socket that does not work is a line of the log: the app can do without. */
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

void tr__service_open(struct service *service, tr_system *system, bool says_ready)
{
    *service = (struct service){.system = system,
                                .says_ready = says_ready,
                                .watchdog_ns = tr__notify_watchdog_ns(),
                                .ticker = -1};
    atom32_store(&system->user.is_unready, says_ready, ATOM_RELAXED);
}

int tr__service_start(struct service *service)
{
    if (!service->says_ready) /* else tr_app_ready does, perhaps before this */
        notify(service->system, "READY=1");
    if (service->watchdog_ns)
        service->ticker = tr__ticker_new(service->watchdog_ns / TICKS);
    return service->ticker;
}

/* Whether a handler has run for so long that systemd shall end the process. */
static bool is_stuck(struct service *service)
{
    enum { AT_ONCE = 8 };
    struct tr_system *system = service->system;
    size_t count = (size_t)tr_system_workers(system);
    size_t size = count * sizeof(tr_worker_info);
    tr_worker_info *workers = source_resize(&system->source, NULL, size);
    if (!workers)
        return false;
    size_t found = tr_system_running(system, workers, count);
    bool is_late = false;
    for (size_t i = 0; i < found && i < count && !is_late; i++) {
        is_late = workers[i].is_running && workers[i].since_ns >= service->watchdog_ns;
        if (is_late && !service->is_late)
            tr__log(system,
                    TR_LEVEL_ERROR,
                    NULL,
                    "the watchdog of systemd is not notified: %s stands in %s",
                    workers[i].path,
                    workers[i].handler ? workers[i].handler : "a handler");
    }
    source_resize(&system->source, workers, 0);
    service->is_late = is_late;
    return is_late;
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
    notify(service->system, "STOPPING=1");
}

void tr__service_close(struct service *service)
{
    tr__ticker_close(service->ticker);
    service->ticker = -1;
}

void tr_app_ready(tr_self *self)
{
    TURN_VERB(self);
    struct tr_system *system = tr_system_of(self);
    if (atom32_exchange(&system->user.is_unready, 0, ATOM_RELAXED))
        notify(system, "READY=1");
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
