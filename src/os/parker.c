/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Parking and IO readiness. Each parker has a word, and an epoll instance with an eventfd and
 * sometimes a timer in it.
 *
 * The word keeps a wake until a park consumes it; several wakes count once. A thread that parks
 * while no operation is pending sleeps on the word itself, by a futex, which is four times as fast
 * as epoll. Otherwise it sleeps in epoll, and the eventfd wakes it. Descriptors with pending
 * operations are armed for one event (EPOLLONESHOT) and stay registered, so that the next operation
 * is one system call.
 *
 * Rules:
 * 1. watches[fd].ios has the operations pending on fd, oldest first. The registration in the kernel
 *    is armed for exactly these kinds, or spent.
 * 2. The kernel forgets a descriptor that is closed, and its number may be reused for another file.
 *    So is_known is a hint, and arming corrects it.
 * 3. Once the embedding program has asked for the descriptor of the parker, that descriptor is kept
 *    readable while there is something to reap, and from a wake until the next park.
 * 4. The descriptor also becomes readable at a given time, by a timer in the epoll instance that
 *    exists only after the descriptor was asked for. The timer is set again only for an earlier
 *    time, or when its time has come: a timer that fires too early costs one wake-up, while setting
 *    it for each message would cost more. The timer must not end a park that sleeps, so such a park
 *    stops it.
 * 5. A wake exchanges AWOKEN into the word, and the previous value says what else it must do. Its
 *    write to the eventfd may come late, after that park has ended for another reason. Then the
 *    next park in epoll ends at once, unnecessarily.
 *
 * Other threads touch only `word`, `has_fd_user` and `event`; `event` does not change.
 */
#include "os/parker.h"

#include "base/assert.h"
#include "os/atomic.h"
#include "os/clock.h"
#include "os/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    EVENTS_MAX = 128, /* events taken from the kernel at once; the rest stays there */
    WATCHES_MIN = 64,
};

struct watch {
    tr_io *ios;
    bool is_known; /* rule 2 */
};

/* Values of the word of a parker. */
enum { IDLE, AWOKEN, IN_FUTEX, IN_EPOLL };

struct tr_parker {
    atom32 word;
    atom32 has_fd_user; /* rule 3 */
    int epoll;
    int event;
    int timer;           /* rule 4; -1: none */
    tr_time timer_ns;    /* when it fires, or has fired; TR_NEVER: it is not set */
    bool has_no_ns_wait; /* the kernel does not have epoll_pwait2 */
    struct watch *watches;
    size_t watches_count;
    size_t pending_count; /* over all watches */
    tr_io *completed;     /* oldest first */
    tr_io **completed_end;
};

static void event_write(const tr_parker *parker)
{
    uint64_t one = 1;
    ssize_t written;
    do {
        written = write(parker->event, &one, sizeof one);
    } while (written < 0 && errno == EINTR);
    /* EAGAIN: the counter is full, and therefore readable. */
}

static void event_drain(const tr_parker *parker)
{
    uint64_t count;
    ssize_t got;
    do {
        got = read(parker->event, &count, sizeof count);
    } while (got < 0 && errno == EINTR);
}

/* Completes an operation that was removed from its watch. */
static void io_complete(tr_parker *parker, tr_io *io, tr_status result)
{
    io->result = result;
    io->next = NULL;
    *parker->completed_end = io;
    parker->completed_end = &io->next;
}

static uint32_t events_of(const tr_io *io)
{
    uint32_t events = 0;
    for (; io; io = io->next)
        events |= io->kind == TR_IO_READABLE ? EPOLLIN | EPOLLRDHUP : EPOLLOUT;
    return events;
}

static tr_status status_of_errno(int error)
{
    switch (error) {
    case ENOMEM:
        return TR_NO_MEMORY;
    case ENOSPC:
    case EMFILE:
    case ENFILE:
        return TR_LIMIT;
    default:
        return TR_INVALID_ARGUMENT;
    }
}

/* Rule 1: arms a descriptor for the operations pending on it. Returns 0 or an error number. */
static int watch_arm(tr_parker *parker, int fd)
{
    struct watch *watch = &parker->watches[fd];
    struct epoll_event event = {
        .events = events_of(watch->ios) | EPOLLONESHOT,
        .data.fd = fd,
    };
    int operation = watch->is_known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    int error = epoll_ctl(parker->epoll, operation, fd, &event) == 0 ? 0 : errno;
    if (error == ENOENT || error == EEXIST) { /* Rule 2. */
        operation = watch->is_known ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
        error = epoll_ctl(parker->epoll, operation, fd, &event) == 0 ? 0 : errno;
    }
    watch->is_known = error == 0;
    return error;
}

/*
 * Handles one event of the kernel: completes the operations that it is for, and arms the rest
 * again.
 */
static void watch_fire(tr_parker *parker, int fd, uint32_t events)
{
    struct watch *watch = &parker->watches[fd];
    /* After an end or an error, reading and writing do not block; the attempt returns the cause. */
    bool has_ended = (events & (EPOLLERR | EPOLLHUP)) != 0;
    bool is_readable = has_ended || (events & (EPOLLIN | EPOLLRDHUP)) != 0;
    bool is_writable = has_ended || (events & EPOLLOUT) != 0;
    tr_io **at = &watch->ios;
    while (*at) {
        tr_io *io = *at;
        if (io->kind == TR_IO_READABLE ? is_readable : is_writable) {
            *at = io->next;
            parker->pending_count--;
            io_complete(parker, io, TR_OK);
        } else {
            at = &io->next;
        }
    }
    if (!watch->ios)
        return;
    int error = watch_arm(parker, fd);
    while (error && watch->ios) {
        tr_io *io = watch->ios;
        watch->ios = io->next;
        parker->pending_count--;
        io_complete(parker, io, status_of_errno(error));
    }
}

/*
 * Waits in the kernel and returns the number of events. `timeout` is in nanoseconds, negative for
 * none.
 */
static int events_wait(tr_parker *parker, struct epoll_event *events, tr_time timeout)
{
    if (timeout == 0)
        return epoll_wait(parker->epoll, events, EVENTS_MAX, 0);
    if (timeout < 0)
        return epoll_wait(parker->epoll, events, EVENTS_MAX, -1);
#ifdef SYS_epoll_pwait2
    if (!parker->has_no_ns_wait) {
        struct timespec time = {.tv_sec = timeout / TR_SECOND, .tv_nsec = timeout % TR_SECOND};
        long count =
            syscall(SYS_epoll_pwait2, parker->epoll, events, EVENTS_MAX, &time, NULL, (size_t)0);
        if (count >= 0 || (errno != ENOSYS && errno != EPERM))
            return (int)count;
        parker->has_no_ns_wait = true;
    }
#endif
    /* Rounded up: a park that ends slightly too early would be called again at once, repeatedly. */
    tr_time milliseconds = timeout / TR_MILLISECOND + 1;
    return epoll_wait(
        parker->epoll, events, EVENTS_MAX, milliseconds > INT_MAX ? INT_MAX : (int)milliseconds);
}

/* Handles events. Returns whether the eventfd was among them; it stays readable. */
static bool events_take(tr_parker *parker, tr_time timeout)
{
    struct epoll_event events[EVENTS_MAX];
    bool is_woken = false;
    int count = events_wait(parker, events, timeout);
    for (int i = 0; i < count; i++) {
        int fd = events[i].data.fd;
        if (fd == parker->event) {
            is_woken = true;
        } else if (fd != parker->timer) {
            TR_ASSERT((size_t)fd < parker->watches_count);
            watch_fire(parker, fd, events[i].events);
        }
    }
    return is_woken;
}

tr_status tr__real_parker_new(const tr_platform *platform, tr_parker **parker)
{
    (void)platform;
    tr_status status = TR_NO_MEMORY;
    tr_parker *made = tr__os_resize(NULL, sizeof *made);
    if (!made)
        return status;
    *made = (tr_parker){.epoll = epoll_create1(EPOLL_CLOEXEC), .timer = -1, .timer_ns = TR_NEVER};
    atom32_init(&made->word, IDLE);
    atom32_init(&made->has_fd_user, 0);
    made->completed_end = &made->completed;
    if (made->epoll < 0) {
        status = status_of_errno(errno);
        goto free_parker;
    }
    made->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (made->event < 0) {
        status = status_of_errno(errno);
        goto close_epoll;
    }
    struct epoll_event event = {.events = EPOLLIN, .data.fd = made->event};
    if (epoll_ctl(made->epoll, EPOLL_CTL_ADD, made->event, &event) != 0) {
        status = status_of_errno(errno);
        goto close_event;
    }
    *parker = made;
    return TR_OK;

close_event:
    (void)close(made->event);
close_epoll:
    (void)close(made->epoll);
free_parker:
    tr__os_resize(made, 0);
    return status;
}

void tr__real_parker_free(const tr_platform *platform, tr_parker *parker)
{
    (void)platform;
    if (!parker)
        return;
    if (parker->timer >= 0)
        (void)close(parker->timer);
    (void)close(parker->event);
    (void)close(parker->epoll);
    tr__os_resize(parker->watches, 0);
    tr__os_resize(parker, 0);
}

static void timer_set(tr_parker *parker, tr_time time_ns)
{
    struct itimerspec time = {.it_value = {0}}; /* stops it */
    if (time_ns != TR_NEVER) {
        time_ns = time_ns > 0 ? time_ns : 1;
        time.it_value.tv_sec = time_ns / TR_SECOND;
        time.it_value.tv_nsec = time_ns % TR_SECOND;
    }
    int error = timerfd_settime(parker->timer, TFD_TIMER_ABSTIME, &time, NULL);
    TR_ASSERT(error == 0);
    parker->timer_ns = time_ns;
}

void tr__real_parker_alarm(const tr_platform *platform, tr_parker *parker, tr_time deadline)
{
    if (parker->timer < 0 || deadline == parker->timer_ns)
        return;
    bool is_later = deadline > parker->timer_ns;
    if (is_later && parker->timer_ns > tr__real_mono_now(platform))
        return; /* Rule 4. */
    timer_set(parker, deadline);
}

/*
 * Sleeps until the word changes, a signal arrives, or the time is up. A negative timeout means no
 * limit.
 */
static void futex_wait(tr_parker *parker, tr_time timeout)
{
    struct timespec time = {.tv_sec = timeout / TR_SECOND, .tv_nsec = timeout % TR_SECOND};
    (void)syscall(SYS_futex,
                  &parker->word,
                  FUTEX_WAIT_PRIVATE,
                  IN_FUTEX,
                  timeout < 0 ? NULL : &time,
                  NULL,
                  0);
}

static bool has_fd_user(const tr_parker *parker)
{
    return atom32_load(&parker->has_fd_user, ATOM_SEQ_CST); /* partner: tr__real_parker_fd */
}

void tr__real_park(const tr_platform *platform, tr_parker *parker, tr_time deadline)
{
    tr_time timeout = -1;
    if (parker->completed) {
        timeout = 0;
    } else if (deadline != TR_NEVER) {
        tr_time now = tr__real_mono_now(platform);
        timeout = deadline > now ? deadline - now : 0;
    }
    bool in_futex = !parker->pending_count && !has_fd_user(parker);
    uint32_t idle = IDLE;
    if (!atom32_compare_exchange(
            &parker->word, &idle, in_futex ? IN_FUTEX : IN_EPOLL, ATOM_SEQ_CST, ATOM_SEQ_CST))
        timeout = 0; /* a wake came before */
    if (timeout && parker->timer_ns != TR_NEVER)
        timer_set(parker, TR_NEVER); /* Rule 4. */
    if (!in_futex) {
        bool has_events = timeout || parker->pending_count;
        if (!has_events || events_take(parker, timeout))
            event_drain(parker);
    } else if (timeout) {
        futex_wait(parker, timeout);
    }
    /* and sees what the waking thread wrote before */
    (void)atom32_exchange(&parker->word, IDLE, ATOM_SEQ_CST);
    if (parker->completed && has_fd_user(parker)) /* Rule 3. */
        event_write(parker);
}

void tr__real_wake(const tr_platform *platform, tr_parker *parker)
{
    (void)platform;
    /* partners: tr__real_park, tr__real_parker_fd */
    uint32_t before = atom32_exchange(&parker->word, AWOKEN, ATOM_SEQ_CST);
    if (before == IN_FUTEX)
        (void)syscall(SYS_futex, &parker->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    else if (before == IN_EPOLL || has_fd_user(parker))
        event_write(parker);
}

/* Rule 4. Returns false if no descriptor is left. */
static bool timer_make(tr_parker *parker)
{
    if (parker->timer >= 0)
        return true;
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (timer < 0)
        return false;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = timer};
    if (epoll_ctl(parker->epoll, EPOLL_CTL_ADD, timer, &event) != 0) {
        (void)close(timer);
        return false;
    }
    parker->timer = timer;
    return true;
}

int tr__real_parker_fd(const tr_platform *platform, tr_parker *parker)
{
    (void)platform;
    if (!timer_make(parker))
        return -1;
    atom32_store(&parker->has_fd_user, 1, ATOM_SEQ_CST);
    if (parker->completed || atom32_load(&parker->word, ATOM_SEQ_CST) == AWOKEN)
        event_write(parker);
    return parker->epoll;
}

static bool watches_cover(tr_parker *parker, int fd)
{
    size_t count = parker->watches_count;
    if ((size_t)fd < count)
        return true;
    if (count < WATCHES_MIN)
        count = WATCHES_MIN;
    while (count <= (size_t)fd)
        count *= 2;
    struct watch *watches = tr__os_resize(parker->watches, count * sizeof *watches);
    if (!watches)
        return false;
    for (size_t i = parker->watches_count; i < count; i++)
        watches[i] = (struct watch){.is_known = false};
    parker->watches = watches;
    parker->watches_count = count;
    return true;
}

tr_status tr__real_io_submit(const tr_platform *platform, tr_parker *parker, tr_io *io)
{
    (void)platform;
    if (io->fd < 0 || io->fd == parker->event || io->fd == parker->epoll || io->fd == parker->timer)
        return TR_INVALID_ARGUMENT;
    /* A wrong number must not make a table of its size. */
    if ((size_t)io->fd >= parker->watches_count && fcntl(io->fd, F_GETFD) < 0)
        return TR_INVALID_ARGUMENT;
    if (!watches_cover(parker, io->fd))
        return TR_NO_MEMORY;
    tr_io **end = &parker->watches[io->fd].ios;
    while (*end)
        end = &(*end)->next;
    io->next = NULL;
    *end = io;
    int error = watch_arm(parker, io->fd);
    if (!error) {
        parker->pending_count++;
        return TR_OK;
    }
    *end = NULL;
    if (error != EPERM)
        return status_of_errno(error);
    /* A regular file or a directory is always ready, and epoll does not take it. */
    io_complete(parker, io, TR_OK);
    event_write(parker);
    return TR_OK;
}

bool tr__real_io_cancel(const tr_platform *platform, tr_parker *parker, tr_io *io)
{
    (void)platform;
    if (io->fd < 0 || (size_t)io->fd >= parker->watches_count)
        return false;
    struct watch *watch = &parker->watches[io->fd];
    tr_io **at = &watch->ios;
    while (*at && *at != io)
        at = &(*at)->next;
    if (!*at)
        return false;
    *at = io->next;
    io->next = NULL;
    parker->pending_count--;
    if (watch->ios) {
        /* On failure the kernel stays armed for more than is pending. Such an event is ignored. */
        (void)watch_arm(parker, io->fd);
    } else {
        /*
         * Armed for nothing, it would still report an end. The call fails if the descriptor was
         * closed.
         */
        struct epoll_event unused = {0};
        (void)epoll_ctl(parker->epoll, EPOLL_CTL_DEL, io->fd, &unused);
        watch->is_known = false;
    }
    return true;
}

tr_io *tr__real_io_reap(const tr_platform *platform, tr_parker *parker)
{
    (void)platform;
    if (!parker->completed && parker->pending_count > 0)
        (void)events_take(parker, 0);
    tr_io *completed = parker->completed;
    parker->completed = NULL;
    parker->completed_end = &parker->completed;
    return completed;
}
