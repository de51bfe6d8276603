/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The parker of the real platform: no wake is lost, deadlines are met, its descriptor can be waited for.
 */
#include <troupe/platform.h>

#include "os/atomic.h"
#include "support/test.h"

#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

struct fixture {
    const tr_platform *real;
    tr_parker *parker;
};

static struct fixture fixture_make(void)
{
    struct fixture fixture = {.real = tr_platform_real()};
    ck_assert_int_eq(fixture.real->parker_new(fixture.real, &fixture.parker), TR_OK);
    return fixture;
}

static void fixture_free(struct fixture *fixture)
{
    fixture->real->parker_free(fixture->real, fixture->parker);
}

static void park(struct fixture *fixture, tr_time deadline)
{
    fixture->real->park(fixture->real, fixture->parker, deadline);
}

static void wake(struct fixture *fixture)
{
    fixture->real->wake(fixture->real, fixture->parker);
}

static bool fd_is_readable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, 0) == 1;
}

static tr_time now(struct fixture *fixture)
{
    return fixture->real->mono_now(fixture->real);
}

static size_t poll_io(struct fixture *fixture, tr_io_event *events, size_t max)
{
    return fixture->real->io_poll(fixture->real, fixture->parker, events, max);
}

static void watch(struct fixture *fixture, int fd, uint64_t token)
{
    ck_assert_int_eq(fixture->real->io_watch(fixture->real, fixture->parker, fd, token), TR_OK);
}

TEST(wakes_before_a_park_are_remembered_once, "")
{
    struct fixture fixture = fixture_make();
    wake(&fixture);
    wake(&fixture);
    park(&fixture, TR_NEVER);
    tr_time start = now(&fixture);
    park(&fixture, start + 2 * TR_MILLISECOND);
    ck_assert_int_ge(now(&fixture), start + 2 * TR_MILLISECOND);
    fixture_free(&fixture);
}

TEST(a_past_deadline_does_not_sleep, "")
{
    struct fixture fixture = fixture_make();
    park(&fixture, 0);
    park(&fixture, INT64_MIN);
    park(&fixture, now(&fixture));
    fixture_free(&fixture);
}

TEST(a_park_sleeps_until_its_deadline, "")
{
    struct fixture fixture = fixture_make();
    struct rusage before;
    struct rusage after;
    ck_assert_int_eq(getrusage(RUSAGE_THREAD, &before), 0);
    tr_time start = now(&fixture);
    park(&fixture, start + 100 * TR_MILLISECOND);
    tr_time end = now(&fixture);
    ck_assert_int_eq(getrusage(RUSAGE_THREAD, &after), 0);
    ck_assert_int_ge(end, start + 100 * TR_MILLISECOND);
    /* It slept once, and did not look at its watch. */
    ck_assert_int_le(after.ru_nvcsw - before.ru_nvcsw, 2);
    fixture_free(&fixture);
}

struct ping {
    struct fixture fixture;
    struct fixture other;
    atom32 ready; /* written by both in turn */
    uint32_t rounds;
};

static void pong(void *context)
{
    struct ping *ping = context;
    for (uint32_t i = 0; i < ping->rounds; i++) {
        while (atom32_load(&ping->ready, ATOM_ACQUIRE) != 2 * i + 1)
            park(&ping->other, TR_NEVER);
        atom32_store(&ping->ready, 2 * i + 2, ATOM_RELEASE);
        wake(&ping->fixture);
    }
}

TEST(a_wake_from_another_thread_ends_a_park, "")
{
    struct ping ping = {
        .fixture = fixture_make(),
        .other = fixture_make(),
        .rounds = (uint32_t)test_scale(5000, 100000),
    };
    const tr_platform *real = ping.fixture.real;
    atom32_init(&ping.ready, 0);
    tr_thread *thread = NULL;
    ck_assert_int_eq(real->thread_start(real, "pong", pong, &ping, &thread), TR_OK);
    for (uint32_t i = 0; i < ping.rounds; i++) {
        atom32_store(&ping.ready, 2 * i + 1, ATOM_RELEASE);
        wake(&ping.other);
        while (atom32_load(&ping.ready, ATOM_ACQUIRE) != 2 * i + 2)
            park(&ping.fixture, TR_NEVER);
    }
    real->thread_join(real, thread);
    fixture_free(&ping.fixture);
    fixture_free(&ping.other);
}

TEST(its_descriptor_is_readable_while_a_park_would_return, "")
{
    struct fixture fixture = fixture_make();
    int fd = fixture.real->parker_fd(fixture.real, fixture.parker);
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert(!fd_is_readable(fd));
    wake(&fixture);
    ck_assert(fd_is_readable(fd));
    tr_io_event event;
    ck_assert_uint_eq(poll_io(&fixture, &event, 1), 0); /* Does not swallow the wake. */
    ck_assert(fd_is_readable(fd));
    park(&fixture, TR_NEVER);
    ck_assert(!fd_is_readable(fd));

    watch(&fixture, ends[0], 7);
    ck_assert(!fd_is_readable(fd));
    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    ck_assert(fd_is_readable(fd));
    wake(&fixture);
    ck_assert_uint_eq(poll_io(&fixture, &event, 1), 1); /* takes the event, not the wake */
    ck_assert(fd_is_readable(fd));
    park(&fixture, TR_NEVER);
    ck_assert(!fd_is_readable(fd));

    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    park(&fixture, TR_NEVER); /* collects the event; it is not given yet */
    ck_assert(fd_is_readable(fd));
    park(&fixture, TR_NEVER);
    ck_assert(fd_is_readable(fd));
    ck_assert_uint_eq(poll_io(&fixture, &event, 1), 1);
    ck_assert_uint_eq(event.token, 7);
    park(&fixture, 0);
    ck_assert(!fd_is_readable(fd));
    close(ends[0]);
    close(ends[1]);
    fixture_free(&fixture);
}

TEST(its_descriptor_is_readable_while_events_are_left, "")
{
    struct fixture fixture = fixture_make();
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    watch(&fixture, ends[0], 0);
    watch(&fixture, ends[1], 1);
    park(&fixture, TR_NEVER); /* both can be written to */
    int fd = fixture.real->parker_fd(fixture.real, fixture.parker);
    ck_assert(fd_is_readable(fd)); /* although they were collected before */
    tr_io_event event;
    ck_assert_uint_eq(poll_io(&fixture, &event, 1), 1);
    ck_assert_uint_eq(event.token, 0);
    ck_assert(fd_is_readable(fd));
    park(&fixture, 0);
    ck_assert(fd_is_readable(fd));
    ck_assert_uint_eq(poll_io(&fixture, &event, 1), 1);
    ck_assert_uint_eq(event.token, 1);
    park(&fixture, 0);
    ck_assert(!fd_is_readable(fd));
    /* A poll that leaves something also keeps it readable. */
    ck_assert_uint_eq(poll_io(&fixture, &event, 1), 0); /* what the park has seen */
    ck_assert_int_eq(write(ends[0], "x", 1), 1);
    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    ck_assert_uint_eq(poll_io(&fixture, &event, 1), 1);
    ck_assert(fd_is_readable(fd));
    ck_assert_uint_eq(poll_io(&fixture, &event, 1), 1);
    park(&fixture, 0);
    ck_assert(!fd_is_readable(fd));
    close(ends[0]);
    close(ends[1]);
    fixture_free(&fixture);
}

TEST(without_descriptors_a_new_parker_is_a_limit, "")
{
    const tr_platform *real = tr_platform_real();
    int first_free = dup(0);
    ck_assert_int_ge(first_free, 0);
    close(first_free);
    /* Room for none, then for one of the two that it needs. */
    for (int room = 0; room < 2; room++) {
        rlim_t count = (rlim_t)(first_free + room);
        struct rlimit limit = {.rlim_cur = count, .rlim_max = RLIM_INFINITY};
        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
        limit.rlim_cur = count;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
        tr_parker *parker = NULL;
        ck_assert_int_eq(real->parker_new(real, &parker), TR_LIMIT);
        ck_assert_ptr_null(parker);
        limit.rlim_cur = limit.rlim_max;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
        int fd = dup(0); /* Nothing leaked. */
        ck_assert_int_eq(fd, first_free);
        close(fd);
    }
    real->parker_free(real, NULL);
}

static void set_alarm(struct fixture *fixture, tr_time deadline)
{
    fixture->real->parker_alarm(fixture->real, fixture->parker, deadline);
}

static bool fd_becomes_readable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, -1) == 1;
}

TEST(an_alarm_makes_the_descriptor_readable_and_no_park_return, "")
{
    struct fixture fixture = fixture_make();
    set_alarm(&fixture, 1); /* nobody has asked for the descriptor */
    int fd = fixture.real->parker_fd(fixture.real, fixture.parker);
    ck_assert(!fd_is_readable(fd));
    tr_time soon = now(&fixture) + 2 * TR_MILLISECOND;
    set_alarm(&fixture, soon + TR_HOUR);
    set_alarm(&fixture, soon); /* earlier */
    ck_assert(fd_becomes_readable(fd));
    ck_assert_int_ge(now(&fixture), soon);
    park(&fixture, 0);
    ck_assert(fd_is_readable(fd)); /* until it is set for another time */
    set_alarm(&fixture, soon + TR_HOUR);
    ck_assert(!fd_is_readable(fd));
    set_alarm(&fixture, 0); /* past */
    ck_assert(fd_becomes_readable(fd));
    set_alarm(&fixture, TR_NEVER);
    ck_assert(!fd_is_readable(fd));
    /* A later time is taken at the earlier one. */
    soon = now(&fixture) + 2 * TR_MILLISECOND;
    set_alarm(&fixture, soon);
    set_alarm(&fixture, soon + TR_HOUR);
    ck_assert(fd_becomes_readable(fd));
    set_alarm(&fixture, soon + TR_HOUR);
    ck_assert(!fd_is_readable(fd));
    /* Who sleeps is not woken by it. */
    set_alarm(&fixture, 1);
    tr_time end = now(&fixture) + 5 * TR_MILLISECOND;
    park(&fixture, end);
    ck_assert_int_ge(now(&fixture), end);
    ck_assert(!fd_is_readable(fd));
    fixture_free(&fixture);
}

/* The number of places in the kernel's table of descriptors of this process. */
static long table_size(void)
{
    char line[256];
    long size = -1;
    FILE *file = fopen("/proc/self/status", "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "FDSize: %ld", &size) == 1)
            break;
    }
    fclose(file);
    return size;
}

TEST(the_table_of_descriptors_does_not_grow_while_there_are_threads, "C-02")
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    struct fixture fixture = fixture_make();
    long wanted = limit.rlim_cur < 16384 ? (long)limit.rlim_cur : 16384;
    ck_assert_int_ge(table_size(), wanted);
    fixture_free(&fixture);
}

SUITE("os parker", wakes_before_a_park_are_remembered_once, a_past_deadline_does_not_sleep,
      a_park_sleeps_until_its_deadline, a_wake_from_another_thread_ends_a_park,
      its_descriptor_is_readable_while_a_park_would_return,
      its_descriptor_is_readable_while_events_are_left, without_descriptors_a_new_parker_is_a_limit,
      an_alarm_makes_the_descriptor_readable_and_no_park_return,
      the_table_of_descriptors_does_not_grow_while_there_are_threads)
