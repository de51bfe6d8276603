/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Events of the virtual network: a parker watches sockets, and gets an event when one of them has
 * changed.
 *
 * The events are the same as those of an edge-triggered epoll: a socket is reported once when its
 * watch begins, and later each time when a call becomes possible that would have blocked before. An
 * event says everything that is possible at the time when io_poll returns the event.
 *
 * All functions: one thread at a time.
 */
#ifndef OS_VIRTUAL_IO_H
#define OS_VIRTUAL_IO_H

#include "os/virtual_net.h"

/** The watches of a parker. This struct is the first member of struct tr_parker. */
struct virtual_watches {
    struct list all;   /* oldest first */
    struct list ready; /* watches that have an event, oldest first */
};

void tr__virtual_watches_init(struct virtual_watches *watches);
/** Ends all watches of a parker. */
void tr__virtual_watches_deinit(struct virtual_watches *watches);
/** Whether io_poll would return an event of these watches now. */
bool tr__virtual_watches_are_ready(const struct virtual_watches *watches);

/** Adds an event to each watch of a socket. */
void tr__virtual_socket_report(struct virtual_socket *socket);
/** Ends all watches of a socket. */
void tr__virtual_socket_unwatch(struct virtual_socket *socket);

/** The functions of the platform with these names. */
tr_status tr__virtual_io_watch(const tr_platform *platform, tr_parker *parker, int fd,
                               uint64_t token);
void tr__virtual_io_unwatch(const tr_platform *platform, tr_parker *parker, int fd);
tr_status tr__virtual_io_watch_output(const tr_platform *platform, tr_parker *parker, int fd,
                                      uint64_t token);
size_t tr__virtual_io_poll(const tr_platform *platform, tr_parker *parker, tr_io_event *events,
                           size_t max);

#endif
