/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Parking. Each parker has a word, and an epoll instance (os/epoll.h) with an eventfd and sometimes a
 * timer in it.
 *
 * The word keeps a wake until a park consumes it; several wakes count once. A thread that parks while no descriptor is
 * watched sleeps on the word itself, by a futex, which is four times as fast as epoll. Otherwise the thread sleeps in
 * epoll, and the eventfd wakes it. A park asks epoll once. The next poll returns the events that this park has
 * collected.
 *
 * Rules:
 * 1. A park returns at once while there are collected events that no poll has returned.
 * 2. Once the embedding program has asked for the descriptor of the parker, that descriptor is kept
 *    readable while there are events, collected or not, and from a wake until the next park.
 * 3. The descriptor also becomes readable at a given time, by a timer in the epoll instance. The
 *    timer exists only after the program has asked for the descriptor. The timer is set again only
 *    for an earlier time, or when its time has come. If the deadline moves to a later time, the
 *    timer therefore fires too early. That costs one wake-up; setting the timer for each message
 *    would cost more. The timer must not end a park that sleeps, so such a park stops the timer.
 * 4. A wake exchanges AWOKEN into the word. The previous value of the word says how the parked thread sleeps, and so
 *    what else the wake must do. The write of a wake to the eventfd may come late, after that park has ended for
 *    another reason. Then the next park in epoll ends at once, unnecessarily.
 *
 * Other threads touch only `word`, `has_fd_user` and `event`; `event` does not change.
 */
#include "os/parker.h"

#include "base/assert.h"
#include "os/atomic.h"
#include "os/clock.h"
#include "os/epoll.h"
#include "os/memory.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Values of the word of a parker. */
enum { IDLE, AWOKEN, IN_FUTEX, IN_EPOLL };

struct tr_parker {
    atom32 word;
    atom32 has_fd_user; /* rule 2 */
    int event;
    int timer;        /* rule 3; -1: none */
    tr_time timer_ns; /* when the timer fires or has fired; TR_NEVER: it is not set */
    struct epoll epoll;
};

static void event_write(const tr_parker *parker)
{
    uint64_t one = 1;
    ssize_t written;
    do {
        written = write(parker->event, &one, sizeof one);
    } while (written < 0 && errno == EINTR);
    /* EAGAIN: the counter of the eventfd is full, so the eventfd is readable already. */
}

static void event_drain(const tr_parker *parker)
{
    uint64_t count;
    ssize_t got;
    do {
        got = read(parker->event, &count, sizeof count);
    } while (got < 0 && errno == EINTR);
}

tr_status tr__real_parker_new(const tr_platform *platform, tr_parker **parker)
{
    (void)platform;
    tr_parker *made = tr__os_resize(NULL, sizeof *made);
    if (!made)
        return TR_NO_MEMORY;
    made->timer = -1;
    made->timer_ns = TR_NEVER;
    atom32_init(&made->word, IDLE);
    atom32_init(&made->has_fd_user, 0);
    tr_status status = tr__epoll_init(&made->epoll);
    if (status != TR_OK)
        goto free_parker;
    made->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (made->event < 0) {
        status = tr__epoll_status(errno);
        goto close_epoll;
    }
    status = tr__epoll_add(&made->epoll, made->event, EPOLL_TOKEN_WAKE);
    if (status != TR_OK)
        goto close_event;
    *parker = made;
    return TR_OK;

close_event:
    (void)close(made->event);
close_epoll:
    tr__epoll_deinit(&made->epoll);
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
    tr__epoll_deinit(&parker->epoll);
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
        return; /* Rule 3. */
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
    return atom32_load(&parker->has_fd_user, ATOM_SEQ_CST); /* pairs with tr__real_parker_fd */
}

/* Sleeps in epoll; with a timeout of 0, only collects the events that are there. */
static void epoll_sleep(tr_parker *parker, tr_time timeout)
{
    /*
     * with a timeout of 0 and no watched descriptor, only a wake can be there, so epoll need not be
     * asked
     */
    bool is_woken = !timeout && !parker->epoll.watched;
    if (is_woken || tr__epoll_wait(&parker->epoll, timeout))
        event_drain(parker);
}

/* Rule 2. */
static void keep_readable(tr_parker *parker)
{
    if (epoll_has_events(&parker->epoll) && has_fd_user(parker))
        event_write(parker);
}

void tr__real_park(const tr_platform *platform, tr_parker *parker, tr_time deadline)
{
    tr_time timeout = -1;
    bool has_events = epoll_has_events(&parker->epoll);
    if (has_events) {
        timeout = 0; /* Rule 1. */
    } else if (deadline != TR_NEVER) {
        tr_time now = tr__real_mono_now(platform);
        timeout = deadline > now ? deadline - now : 0;
    }
    bool in_futex = !parker->epoll.watched && !has_events && !has_fd_user(parker);
    uint32_t idle = IDLE;
    if (!atom32_compare_exchange(
            &parker->word, &idle, in_futex ? IN_FUTEX : IN_EPOLL, ATOM_SEQ_CST, ATOM_SEQ_CST))
        timeout = 0; /* a wake came before this park, so do not sleep */
    if (timeout && parker->timer_ns != TR_NEVER)
        timer_set(parker, TR_NEVER); /* Rule 3. */
    if (!in_futex && !has_events)
        epoll_sleep(parker, timeout);
    else if (in_futex && timeout)
        futex_wait(parker, timeout);
    /*
     * A thread that wakes this one writes to `word` in tr__real_wake. After this exchange, this
     * thread sees everything that the other thread wrote before its call of tr__real_wake.
     */
    (void)atom32_exchange(&parker->word, IDLE, ATOM_SEQ_CST);
    keep_readable(parker);
}

void tr__real_wake(const tr_platform *platform, tr_parker *parker)
{
    (void)platform;
    /* pairs with tr__real_park, tr__real_parker_fd */
    uint32_t before = atom32_exchange(&parker->word, AWOKEN, ATOM_SEQ_CST);
    if (before == IN_FUTEX)
        (void)syscall(SYS_futex, &parker->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    else if (before == IN_EPOLL || has_fd_user(parker))
        event_write(parker);
}

/* Makes the timer of rule 3. Returns false if no descriptor is left. */
static bool timer_make(tr_parker *parker)
{
    if (parker->timer >= 0)
        return true;
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (timer < 0)
        return false;
    if (tr__epoll_add(&parker->epoll, timer, EPOLL_TOKEN_TIMER) != TR_OK) {
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
    if (epoll_has_events(&parker->epoll) || atom32_load(&parker->word, ATOM_SEQ_CST) == AWOKEN)
        event_write(parker);
    return parker->epoll.fd;
}

tr_status tr__real_io_watch(const tr_platform *platform, tr_parker *parker, int fd, uint64_t token)
{
    (void)platform;
    return tr__epoll_watch(&parker->epoll, fd, token, false);
}

tr_status tr__real_io_watch_input(const tr_platform *platform, tr_parker *parker, int fd,
                                  uint64_t token)
{
    (void)platform;
    return tr__epoll_watch(&parker->epoll, fd, token, true);
}

tr_status tr__real_io_watch_output(const tr_platform *platform, tr_parker *parker, int fd,
                                   uint64_t token)
{
    (void)platform;
    return tr__epoll_watch_output(&parker->epoll, fd, token);
}

void tr__real_io_unwatch(const tr_platform *platform, tr_parker *parker, int fd)
{
    (void)platform;
    tr__epoll_unwatch(&parker->epoll, fd);
}

size_t tr__real_io_poll(const tr_platform *platform, tr_parker *parker, tr_io_event *events,
                        size_t max)
{
    (void)platform;
    size_t count = tr__epoll_poll(&parker->epoll, events, max);
    keep_readable(parker);
    return count;
}

uint64_t tr__real_parker_waits(const tr_parker *parker)
{
    return atom64_load(&parker->epoll.waits, ATOM_RELAXED);
}
