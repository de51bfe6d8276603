/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The epoll instance of a parker of the real platform: which descriptors it watches, and the events that it has
 * collected.
 *
 * A watched descriptor is registered once, edge-triggered, until it is no longer watched. The token of a descriptor is
 * in its registration. When a descriptor is closed and its number used again, a late event of the closed descriptor
 * still has the token of the closed one.
 *
 * Rules:
 * 1. events[from..count) were collected from the kernel, and no poll has returned them yet. While there are any, the
 *    kernel is not asked.
 * 2. The next poll returns what the last wait has collected, even if that is nothing. has_waited says that the poll
 *    need not ask the kernel.
 * 3. The descriptors of the parker itself are level-triggered. Their events are never kept.
 *
 * All functions: the thread that parks.
 */
#ifndef OS_EPOLL_H
#define OS_EPOLL_H

#include <sys/epoll.h>

#include <troupe/platform.h>

#include "os/atomic.h"

/* at most this many events are taken from the kernel at once; others stay there */
enum { EPOLL_EVENTS_MAX = 128 };

/* Tokens of the parker's own descriptors. io_watch refuses them. */
#define EPOLL_TOKEN_WAKE UINT64_MAX
#define EPOLL_TOKEN_TIMER (UINT64_MAX - 1)

struct epoll {
    int fd;
    uint32_t watched;    /* descriptors */
    bool has_waited;     /* rule 2 */
    bool has_no_ns_wait; /* the kernel does not have epoll_pwait2 */
    uint32_t from;       /* rule 1 */
    uint32_t count;
    atom64 waits; /* how often the kernel was asked; any thread may read it */
    struct epoll_event events[EPOLL_EVENTS_MAX];
};

/** Makes the epoll instance. Fails with TR_LIMIT or TR_NO_MEMORY. */
tr_status tr__epoll_init(struct epoll *epoll);
void tr__epoll_deinit(struct epoll *epoll);

/** Adds a descriptor of the parker, by one of the tokens above. */
tr_status tr__epoll_add(struct epoll *epoll, int fd, uint64_t token);

/**
 * Waits for events and collects them. No collected events may be left. `timeout` is in nanoseconds; negative: no limit.
 * Returns whether EPOLL_TOKEN_WAKE was among the events. The descriptor of that token stays readable.
 */
bool tr__epoll_wait(struct epoll *epoll, tr_time timeout);

/**
 * The functions io_watch (or, with is_input, io_watch_input), io_watch_output, io_unwatch and io_poll of the platform.
 */
tr_status tr__epoll_watch(struct epoll *epoll, int fd, uint64_t token, bool is_input);
tr_status tr__epoll_watch_output(struct epoll *epoll, int fd, uint64_t token);
void tr__epoll_unwatch(struct epoll *epoll, int fd);
size_t tr__epoll_poll(struct epoll *epoll, tr_io_event *events, size_t max);

/** Whether there are events that were collected and that no poll has returned yet. */
static inline bool epoll_has_events(const struct epoll *epoll)
{
    return epoll->from < epoll->count;
}

/**
 * Returns the status for `error`, the errno of a failed call: a call of epoll, or a call that makes
 * a descriptor for the parker.
 */
tr_status tr__epoll_status(int error);

#endif
