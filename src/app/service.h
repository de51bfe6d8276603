/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An app as a service of systemd: it says when it is ready and when it stops, and, if systemd asks for that, that its
 * workers work. For the runner. Nothing happens where NOTIFY_SOCKET is not set.
 *
 * An app is ready when two things have happened. The runner has started its own parts (exports,
 * workers). And the root has ended its first turn (app/first_turn.h) or, with says_ready, has
 * called tr_app_ready. Whatever comes last sends "READY=1".
 */
#ifndef APP_SERVICE_H
#define APP_SERVICE_H

#include <troupe/self.h>

#include "app/first_turn.h"

struct service {
    tr_system *system;
    tr_time watchdog_ns; /* 0: systemd does not ask */
    int ticker;          /* -1: none */
    bool is_late;        /* a handler runs too long, and the log has said so */
    struct first_turn first;
    bool has_stopped; /* "STOPPING=1" was sent */
};

/**
 * Prepares the notifications to systemd, after the system was made. `says_ready`: the app calls tr_app_ready. Returns
 * the behavior to spawn the root with; NULL: out of memory. One thread. Does not wait.
 */
const tr_behavior *tr__service_open(struct service *service, tr_system *system,
                                    const tr_behavior *root, bool says_ready);
/**
 * Notes that the runner has started all of its own (exports, workers). Returns the descriptor that is readable when
 * tr__service_tick is to be called; -1: none.
 */
int tr__service_start(struct service *service);
/**
 * Notifies that all workers work, if the time for that has come and no handler has run for longer
 * than systemd allows.
 */
void tr__service_tick(struct service *service);
/** Notifies that the app stops; from now on it does not become ready. A second call does nothing. */
void tr__service_stop(struct service *service);
/** Ends, after the system was freed. `is_left`: the system could not be freed, and its root keeps its behavior. */
void tr__service_close(struct service *service, bool is_left);

#endif
