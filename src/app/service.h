/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An app as a service of systemd: notifies systemd when the app is ready, when it stops, and, if
 * systemd wants that, that its workers work. The runner uses it. If NOTIFY_SOCKET is not set,
 * nothing happens.
 *
 * An app is ready when two things have happened. First, the runner has started its own parts
 * (exports, workers). Second, the root has ended its first turn (app/first_turn.h); with
 * says_ready, the app has called tr_app_ready instead. When both have happened, the service sends
 * "READY=1".
 */
#ifndef APP_SERVICE_H
#define APP_SERVICE_H

#include <troupe/self.h>

#include "app/first_turn.h"

struct service {
    tr_system *system;
    tr_time watchdog_ns; /* 0: systemd does not ask whether the workers work */
    int ticker;          /* -1: none */
    bool is_late;        /* a handler runs too long, and the log says so already */
    struct first_turn first;
    bool has_stopped; /* "STOPPING=1" was sent */
};

/**
 * Prepares the notifications to systemd, after the system was made. `says_ready`: the app will call
 * tr_app_ready. Returns the behavior with which to spawn the root; NULL when out of memory. One
 * thread. Does not wait.
 */
const tr_behavior *tr__service_open(struct service *service, tr_system *system,
                                    const tr_behavior *root, bool says_ready);
/**
 * Notes that the runner has started its own parts (exports, workers). Returns a descriptor, or -1
 * if there is none. When the descriptor is readable, the caller must call tr__service_tick.
 */
int tr__service_start(struct service *service);
/**
 * If a notification is due, notifies systemd that all workers work. Does not do so if a handler has
 * run for longer than systemd allows.
 */
void tr__service_tick(struct service *service);
/**
 * Notifies systemd that the app stops. From now on the app cannot become ready. A second call does
 * nothing.
 */
void tr__service_stop(struct service *service);
/**
 * Frees the service. To be called after the system was freed. `is_left`: the system could not be
 * freed, so its root still uses its behavior.
 */
void tr__service_close(struct service *service, bool is_left);

#endif
