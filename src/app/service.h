/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An app as a service of systemd: notifies systemd when the app is ready, when it stops, and, if
 * systemd wants that, that its workers work. For the runner. If NOTIFY_SOCKET is not set, nothing
 * happens.
 *
 * An app is ready when two things have happened. The runner has started its own parts (exports,
 * workers). And the root has ended its first turn (app/first_turn.h) or, with says_ready, has
 * called tr_app_ready. The later of the two sends "READY=1".
 */
#ifndef APP_SERVICE_H
#define APP_SERVICE_H

#include <troupe/self.h>

#include "app/first_turn.h"

struct service {
    tr_system *system;
    tr_time watchdog_ns; /* 0: systemd does not want to know whether the workers work */
    int ticker;          /* -1: none */
    bool is_late;        /* a handler runs too long, and this was logged */
    struct first_turn first;
    bool has_stopped; /* "STOPPING=1" was sent */
};

/**
 * Prepares the notifications to systemd, after the system was made. `says_ready` says that the app
 * will call tr_app_ready. Returns the behavior for spawning the root; NULL: out of memory. One
 * thread. Does not wait.
 */
const tr_behavior *tr__service_open(struct service *service, tr_system *system,
                                    const tr_behavior *root, bool says_ready);
/**
 * Notes that the runner has started its own parts (exports, workers). Returns a descriptor; when it
 * is readable, call tr__service_tick. -1: there is none.
 */
int tr__service_start(struct service *service);
/**
 * If it is time, notifies systemd that all workers work, unless a handler has run for longer than
 * systemd allows.
 */
void tr__service_tick(struct service *service);
/**
 * Notifies systemd that the app stops. After this the app does not become ready. A second call does
 * nothing.
 */
void tr__service_stop(struct service *service);
/**
 * Frees the service. Call after the system was freed. `is_left` says that the system could not be
 * freed, so its root still uses its behavior.
 */
void tr__service_close(struct service *service, bool is_left);

#endif
