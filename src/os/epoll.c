/* SPDX-License-Identifier: Apache-2.0 */
#include "os/epoll.h"

#include "base/assert.h"
#include "os/atomic.h"
#include "os/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

tr_status tr__epoll_status(int error)
{
    switch (error) {
    case ENOMEM:
        return TR_NO_MEMORY;
    case ENOSPC:
    case EMFILE:
    case ENFILE:
        return TR_LIMIT;
    /* EPERM: a regular file; EEXIST: the descriptor is watched already; EBADF: it is not open */
    default:
        return TR_INVALID_ARGUMENT;
    }
}

/*
 * The kernel doubles a process's table of descriptors when the table is full. In a process with
 * threads, the call that needs the larger table then waits for all CPUs (synchronize_rcu): an
 * accept that took 10 to 22 ms was seen. In a process with one thread nothing waits. So
 * descriptors_reserve makes the table large once, before there are other threads. The large table
 * takes 128 KiB of the kernel's memory.
 */
enum { DESCRIPTORS_AHEAD = 16384 };

static void descriptors_reserve(int fd)
{
    static atom32 is_done;
    struct rlimit limit;
    if (atom32_exchange(&is_done, 1, ATOM_RELAXED) || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    rlim_t wanted = limit.rlim_cur < DESCRIPTORS_AHEAD ? limit.rlim_cur : DESCRIPTORS_AHEAD;
    int last = wanted ? fcntl(fd, F_DUPFD_CLOEXEC, (int)wanted - 1) : -1;
    if (last >= 0)
        (void)close(last);
}

tr_status tr__epoll_init(struct epoll *epoll)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0)
        return tr__epoll_status(errno);
    descriptors_reserve(fd);
    epoll->fd = fd;
    epoll->watched = 0;
    epoll->has_waited = epoll->has_no_ns_wait = false;
    epoll->from = epoll->count = 0;
    atom64_store(&epoll->waits, 0, ATOM_RELAXED);
    return TR_OK;
}

void tr__epoll_deinit(struct epoll *epoll)
{
    (void)close(epoll->fd);
}

enum { INPUT_EVENTS = (int)EPOLLET | EPOLLIN | EPOLLRDHUP };

static tr_status epoll_register(struct epoll *epoll, int fd, uint32_t events, uint64_t token)
{
    struct epoll_event event = {.events = events, .data.u64 = token};
    return epoll_ctl(epoll->fd, EPOLL_CTL_ADD, fd, &event) == 0 ? TR_OK : tr__epoll_status(errno);
}

tr_status tr__epoll_add(struct epoll *epoll, int fd, uint64_t token)
{
    TR_ASSERT(token >= EPOLL_TOKEN_TIMER);
    return epoll_register(epoll, fd, EPOLLIN, token);
}

static long wait_ms(struct epoll *epoll, int milliseconds)
{
    return os_call(
        SYS_epoll_pwait, epoll->fd, (long)epoll->events, EPOLL_EVENTS_MAX, milliseconds, 0, 0);
}

/* Asks the kernel for events. Returns their number; negative if a signal interrupted the wait. */
static long kernel_wait(struct epoll *epoll, tr_time timeout)
{
    atom64_count(&epoll->waits, 1);
    if (timeout <= 0)
        return wait_ms(epoll, timeout ? -1 : 0);
#ifdef SYS_epoll_pwait2
    if (!epoll->has_no_ns_wait) {
        struct timespec time = {.tv_sec = timeout / TR_SECOND, .tv_nsec = timeout % TR_SECOND};
        long count = os_call(
            SYS_epoll_pwait2, epoll->fd, (long)epoll->events, EPOLL_EVENTS_MAX, (long)&time, 0, 0);
        if (count != -ENOSYS && count != -EPERM)
            return count;
        epoll->has_no_ns_wait = true;
    }
#endif
    /* Round up: a park that ended a little too early would be repeated several times until its time has come. */
    tr_time milliseconds = timeout / TR_MILLISECOND + 1;
    return wait_ms(epoll, milliseconds > INT_MAX ? INT_MAX : (int)milliseconds);
}

bool tr__epoll_wait(struct epoll *epoll, tr_time timeout)
{
    TR_ASSERT(!epoll_has_events(epoll));
    bool is_woken = false;
    long count = kernel_wait(epoll, timeout);
    epoll->has_waited = count >= 0;
    epoll->from = epoll->count = 0;
    for (long i = 0; i < count; i++) {
        uint64_t token = epoll->events[i].data.u64;
        if (token == EPOLL_TOKEN_WAKE)
            is_woken = true;
        else if (token != EPOLL_TOKEN_TIMER)
            epoll->events[epoll->count++] = epoll->events[i];
    }
    return is_woken;
}

tr_status tr__epoll_watch(struct epoll *epoll, int fd, uint64_t token, bool is_input)
{
    const uint32_t events = (uint32_t)INPUT_EVENTS;
    if (token >= EPOLL_TOKEN_TIMER)
        return TR_INVALID_ARGUMENT;
    tr_status status = epoll_register(epoll, fd, is_input ? events : events | EPOLLOUT, token);
    if (status == TR_OK) {
        epoll->watched++;
        /*
         * epoll reports at once what the socket can already do. So the next poll must ask the
         * kernel.
         */
        epoll->has_waited = false;
    }
    return status;
}

tr_status tr__epoll_watch_output(struct epoll *epoll, int fd, uint64_t token)
{
    struct epoll_event event = {.events = (uint32_t)INPUT_EVENTS | EPOLLOUT, .data.u64 = token};
    if (epoll_ctl(epoll->fd, EPOLL_CTL_MOD, fd, &event) != 0)
        return tr__epoll_status(errno);
    /*
     * epoll reports at once what the socket can already do. So the next poll must ask the kernel.
     */
    epoll->has_waited = false;
    return TR_OK;
}

void tr__epoll_unwatch(struct epoll *epoll, int fd)
{
    TR_ASSERT(epoll->watched > 0);
    epoll->watched--;
    if (fd < 0)
        return; /* the descriptor was closed, and the kernel has forgotten it */
    /* The call fails if the descriptor was closed. Then the kernel has forgotten it. */
    struct epoll_event unused = {0};
    (void)epoll_ctl(epoll->fd, EPOLL_CTL_DEL, fd, &unused);
}

static uint32_t what_of(uint32_t events)
{
    uint32_t what = 0;
    if (events & EPOLLIN)
        what |= TR_IO_IN;
    if (events & EPOLLOUT)
        what |= TR_IO_OUT;
    if (events & EPOLLRDHUP)
        what |= TR_IO_IN | TR_IO_END;
    /*
     * After an error or a hang-up no read and no write blocks any more. The next one returns the
     * cause.
     */
    if (events & (EPOLLERR | EPOLLHUP))
        what |= TR_IO_IN | TR_IO_OUT | TR_IO_END;
    return what;
}

size_t tr__epoll_poll(struct epoll *epoll, tr_io_event *events, size_t max)
{
    if (!epoll_has_events(epoll) && !epoll->has_waited && epoll->watched)
        (void)tr__epoll_wait(epoll, 0);
    epoll->has_waited = false;
    size_t count = epoll->count - epoll->from;
    if (count > max)
        count = max;
    for (size_t i = 0; i < count; i++) {
        const struct epoll_event *event = &epoll->events[epoll->from++];
        events[i] = (tr_io_event){.token = event->data.u64, .what = what_of(event->events)};
    }
    return count;
}
