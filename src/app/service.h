/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An app as a service of systemd: it says when it is ready and when it stops, and, if systemd asks for that, that its
 * workers work. For the runner. Nothing happens where NOTIFY_SOCKET is not set.
 */
#ifndef APP_SERVICE_H
#define APP_SERVICE_H

#include <troupe/self.h>

struct service {
    tr_system *system;
    tr_time watchdog_ns; /* 0: systemd does not ask */
    int ticker;          /* -1: none */
    bool is_late;        /* a worker stands, and the log has said so */
    bool says_ready;     /* tr_app.says_ready */
    bool has_stopped;    /* "STOPPING=1" was sent */
};

/** Begins, when the system was made. `says_ready`: the app calls tr_app_ready. One thread. Does not wait. */
void tr__service_open(struct service *service, tr_system *system, bool says_ready);
/**
 * The system has started. Notifies that the app is ready, unless it says that itself. Returns the descriptor that is
 * readable when tr__service_tick is to be called; -1: none.
 */
int tr__service_start(struct service *service);
/** Notifies that all workers work, if the time for that has come and no handler stands for longer than systemd allows. */
void tr__service_tick(struct service *service);
/** Notifies that the app stops. A second call does nothing. */
void tr__service_stop(struct service *service);
void tr__service_close(struct service *service);

#endif
