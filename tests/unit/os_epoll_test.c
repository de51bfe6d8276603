/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Watched descriptors of the real platform: each change is reported once, with its token, and a wake-up asks the
 * kernel once.
 */
#include <troupe/platform.h>

#include "os/parker.h"
#include "support/test.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MANY = 200 };

struct fixture {
    const tr_platform *real;
    tr_parker *parker;
    int ends[2]; /* a pair of stream sockets; [0] is watched with the token 1 */
};

static void watch(struct fixture *fixture, int fd, uint64_t token)
{
    ck_assert_int_eq(fixture->real->io_watch(fixture->real, fixture->parker, fd, token), TR_OK);
}

static void unwatch(struct fixture *fixture, int fd)
{
    fixture->real->io_unwatch(fixture->real, fixture->parker, fd);
}

static void park(struct fixture *fixture, tr_time deadline)
{
    fixture->real->park(fixture->real, fixture->parker, deadline);
}

static tr_time now(struct fixture *fixture)
{
    return fixture->real->mono_now(fixture->real);
}

static uint64_t waits(struct fixture *fixture)
{
    return tr__real_parker_waits(fixture->parker);
}

static void pair_make(int *ends)
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
}

static void pair_close(int *ends)
{
    close(ends[0]);
    close(ends[1]);
}

static struct fixture fixture_make(void)
{
    struct fixture fixture = {.real = tr_platform_real()};
    ck_assert_int_eq(fixture.real->parker_new(fixture.real, &fixture.parker), TR_OK);
    pair_make(fixture.ends);
    watch(&fixture, fixture.ends[0], 1);
    return fixture;
}

static void fixture_free(struct fixture *fixture)
{
    fixture->real->parker_free(fixture->real, fixture->parker);
    pair_close(fixture->ends);
}

/* Expects one event at most, and returns what it says; 0: none. */
static uint32_t one_event(struct fixture *fixture, uint64_t token)
{
    tr_io_event events[2] = {{0}};
    size_t count = fixture->real->io_poll(fixture->real, fixture->parker, events, 2);
    ck_assert_uint_le(count, 1);
    if (count)
        ck_assert_uint_eq(events[0].token, token);
    return count ? events[0].what : 0;
}

static void put(int fd)
{
    ck_assert_int_eq(write(fd, "x", 1), 1);
}

static void take(int fd)
{
    char byte;
    ck_assert_int_eq(read(fd, &byte, 1), 1);
}

TEST(what_is_possible_already_is_reported_first_and_each_change_once, "")
{
    struct fixture fixture = fixture_make();
    int fd = fixture.ends[0];
    ck_assert_uint_eq(one_event(&fixture, 1), TR_IO_OUT);
    ck_assert_uint_eq(one_event(&fixture, 1), 0);
    put(fixture.ends[1]);
    ck_assert_uint_eq(one_event(&fixture, 1), TR_IO_IN | TR_IO_OUT);
    ck_assert_uint_eq(one_event(&fixture, 1), 0); /* it still can be read: that is known */
    put(fixture.ends[1]);
    ck_assert_uint_eq(one_event(&fixture, 1), TR_IO_IN | TR_IO_OUT); /* more has come */
    take(fd);
    take(fd);
    ck_assert_uint_eq(one_event(&fixture, 1), 0);
    /* Watched again it is new again, with another token. */
    put(fixture.ends[1]);
    unwatch(&fixture, fd);
    watch(&fixture, fd, 2);
    ck_assert_uint_eq(one_event(&fixture, 2), TR_IO_IN | TR_IO_OUT);
    fixture_free(&fixture);
}

TEST(a_full_socket_is_reported_when_it_can_be_written_to_again, "")
{
    struct fixture fixture = fixture_make();
    static char bytes[4096];
    ck_assert_uint_eq(one_event(&fixture, 1), TR_IO_OUT);
    size_t written = 0;
    ssize_t count;
    while ((count = write(fixture.ends[0], bytes, sizeof bytes)) > 0)
        written += (size_t)count;
    ck_assert_uint_eq(one_event(&fixture, 1), 0);
    while (written && (count = read(fixture.ends[1], bytes, sizeof bytes)) > 0)
        written -= (size_t)count;
    park(&fixture, TR_NEVER);
    ck_assert_uint_eq(one_event(&fixture, 1), TR_IO_OUT);
    fixture_free(&fixture);
}

TEST(output_is_reported_only_to_those_who_watch_it, "")
{
    struct fixture fixture = fixture_make();
    const tr_platform *real = fixture.real;
    int fd = fixture.ends[0];
    char byte;
    unwatch(&fixture, fd);
    ck_assert_int_eq(real->io_watch_output(real, fixture.parker, fd, 2), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(real->io_watch_input(real, fixture.parker, fd, 2), TR_OK);
    ck_assert_uint_eq(one_event(&fixture, 2), 0);
    put(fixture.ends[1]);
    ck_assert_uint_eq(one_event(&fixture, 2), TR_IO_IN);
    put(fd);
    ck_assert_int_eq(read(fixture.ends[1], &byte, 1),
                     1); /* here the kernel says that it can be written to */
    ck_assert_uint_eq(one_event(&fixture, 2), 0);
    ck_assert_int_eq(real->io_watch_output(real, fixture.parker, fd, 2), TR_OK);
    ck_assert_uint_eq(one_event(&fixture, 2), TR_IO_IN | TR_IO_OUT);
    close(fixture.ends[1]);
    ck_assert_uint_eq(one_event(&fixture, 2), TR_IO_IN | TR_IO_OUT | TR_IO_END);
    fixture.ends[1] = -1;
    fixture_free(&fixture);
}

TEST(an_end_is_reported_with_what_came_before, "")
{
    struct fixture fixture = fixture_make();
    ck_assert_uint_eq(one_event(&fixture, 1), TR_IO_OUT);
    put(fixture.ends[1]);
    ck_assert_int_eq(shutdown(fixture.ends[1], SHUT_WR), 0);
    park(&fixture, TR_NEVER);
    ck_assert_uint_eq(one_event(&fixture, 1), TR_IO_IN | TR_IO_OUT | TR_IO_END);
    close(fixture.ends[1]);
    ck_assert_uint_eq(one_event(&fixture, 1), TR_IO_IN | TR_IO_OUT | TR_IO_END);
    take(fixture.ends[0]);
    fixture.ends[1] = dup(0); /* for fixture_free */
    fixture_free(&fixture);
}

TEST(a_wake_up_asks_the_kernel_once, "D-06")
{
    struct fixture fixture = fixture_make();
    ck_assert_uint_eq(one_event(&fixture, 1), TR_IO_OUT);
    uint64_t before = waits(&fixture);
    for (uint64_t i = 1; i <= 10; i++) {
        put(fixture.ends[1]);
        park(&fixture, TR_NEVER);
        ck_assert_uint_ne(one_event(&fixture, 1), 0);
        ck_assert_uint_eq(waits(&fixture), before + i);
    }
    /* A wake that is no IO: what the park has not seen is not asked for again. */
    fixture.real->wake(fixture.real, fixture.parker);
    park(&fixture, TR_NEVER);
    before = waits(&fixture);
    ck_assert_uint_eq(one_event(&fixture, 1), 0);
    ck_assert_uint_eq(waits(&fixture), before);
    /* What is watched after the park is news. */
    fixture.real->wake(fixture.real, fixture.parker);
    park(&fixture, TR_NEVER);
    unwatch(&fixture, fixture.ends[0]);
    watch(&fixture, fixture.ends[0], 1);
    ck_assert_uint_eq(one_event(&fixture, 1), TR_IO_IN | TR_IO_OUT);
    before = waits(&fixture);
    /* The next poll is one of its own, as a worker does while it spins. */
    put(fixture.ends[1]);
    ck_assert_uint_ne(one_event(&fixture, 1), 0);
    ck_assert_uint_eq(waits(&fixture), before + 1);
    fixture_free(&fixture);
}

TEST(without_watched_descriptors_the_kernel_is_not_asked, "P-04")
{
    struct fixture fixture = fixture_make();
    unwatch(&fixture, fixture.ends[0]);
    put(fixture.ends[1]);
    uint64_t before = waits(&fixture);
    ck_assert_uint_eq(one_event(&fixture, 1), 0);
    tr_time end = now(&fixture) + 2 * TR_MILLISECOND;
    park(&fixture, end); /* by the futex */
    ck_assert_int_ge(now(&fixture), end);
    ck_assert_uint_eq(waits(&fixture), before);
    fixture_free(&fixture);
}

TEST(a_park_with_idle_descriptors_sleeps_once, "P-04")
{
    struct fixture fixture = fixture_make();
    int ends[MANY][2];
    tr_io_event events[128];
    for (int i = 0; i < MANY; i++) {
        pair_make(ends[i]);
        watch(&fixture, ends[i][0], 2 + (uint64_t)i);
    }
    size_t count = 0;
    size_t got;
    do {
        got = fixture.real->io_poll(fixture.real, fixture.parker, events, 128);
        count += got;
    } while (got);
    ck_assert_uint_eq(count, MANY + 1);
    uint64_t before = waits(&fixture);
    struct rusage usage[2];
    ck_assert_int_eq(getrusage(RUSAGE_THREAD, &usage[0]), 0);
    tr_time end = now(&fixture) + 50 * TR_MILLISECOND;
    park(&fixture, end);
    ck_assert_int_ge(now(&fixture), end);
    ck_assert_int_eq(getrusage(RUSAGE_THREAD, &usage[1]), 0);
    ck_assert_int_le(usage[1].ru_nvcsw - usage[0].ru_nvcsw, 2);
    ck_assert_uint_eq(waits(&fixture), before + 1);
    for (int i = 0; i < MANY; i++)
        pair_close(ends[i]);
    fixture_free(&fixture);
}

TEST(more_events_than_asked_for_stay_in_order, "")
{
    struct fixture fixture = fixture_make();
    int ends[MANY][2];
    unwatch(&fixture, fixture.ends[0]);
    for (int i = 0; i < MANY; i++) {
        pair_make(ends[i]);
        watch(&fixture, ends[i][0], (uint64_t)i);
    }
    park(&fixture, TR_NEVER);
    for (int i = 0; i < MANY; i++) { /* one by one, more than are collected at once */
        tr_io_event event;
        park(&fixture, TR_NEVER);
        ck_assert_uint_eq(fixture.real->io_poll(fixture.real, fixture.parker, &event, 1), 1);
        ck_assert_uint_eq(event.token, (uint64_t)i);
        ck_assert_uint_eq(event.what, TR_IO_OUT);
        if (i == 0) { /* an event that is left does not sleep */
            tr_time begin = now(&fixture);
            park(&fixture, begin + TR_MINUTE);
            ck_assert_int_lt(now(&fixture), begin + TR_MINUTE);
        }
    }
    ck_assert_uint_eq(one_event(&fixture, 0), 0);
    for (int i = 0; i < MANY; i++)
        pair_close(ends[i]);
    watch(&fixture, fixture.ends[0], 1);
    fixture_free(&fixture);
}

TEST(an_event_of_a_closed_descriptor_has_its_old_token, "CH-14")
{
    struct fixture fixture = fixture_make();
    ck_assert_uint_eq(one_event(&fixture, 1), TR_IO_OUT);
    put(fixture.ends[1]);
    park(&fixture, TR_NEVER); /* collected */
    int old = fixture.ends[0];
    unwatch(&fixture, old);
    pair_close(fixture.ends);
    pair_make(fixture.ends);
    ck_assert_int_eq(fixture.ends[0], old); /* the number is in use again */
    watch(&fixture, old, 2);
    ck_assert_uint_eq(one_event(&fixture, 1), TR_IO_IN | TR_IO_OUT); /* the old one's */
    ck_assert_uint_eq(one_event(&fixture, 2), TR_IO_OUT);
    fixture_free(&fixture);
}

TEST(a_duplicate_does_not_keep_a_descriptor_watched, "CH-14")
{
    struct fixture fixture = fixture_make();
    ck_assert_uint_eq(one_event(&fixture, 1), TR_IO_OUT);
    int copy = dup(fixture.ends[0]);
    unwatch(&fixture, fixture.ends[0]);
    close(fixture.ends[0]);
    put(fixture.ends[1]);
    int other[2];
    pair_make(other);
    watch(&fixture, other[0], 2);
    ck_assert_uint_eq(one_event(&fixture, 2), TR_IO_OUT);
    ck_assert_uint_eq(one_event(&fixture, 2), 0);
    fixture.ends[0] = copy;
    pair_close(other);
    fixture_free(&fixture);
}

TEST(a_descriptor_may_be_closed_before_it_is_unwatched, "")
{
    for (int is_named = 0; is_named < 2; is_named++) {
        struct fixture fixture = fixture_make();
        close(fixture.ends[0]);
        unwatch(&fixture, is_named ? fixture.ends[0] : -1);
        uint64_t before = waits(&fixture);
        park(&fixture, now(&fixture) + TR_MILLISECOND);
        ck_assert_uint_eq(waits(&fixture), before); /* nothing is watched any more */
        ck_assert_uint_eq(one_event(&fixture, 1), 0);
        fixture.ends[0] = dup(0);
        fixture_free(&fixture);
    }
}

static tr_status try_watch(struct fixture *fixture, int fd, uint64_t token)
{
    return fixture->real->io_watch(fixture->real, fixture->parker, fd, token);
}

TEST(what_cannot_be_watched_is_refused, "")
{
    struct fixture fixture = fixture_make();
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    const int wrong[] = {-1,
                         INT32_MAX,
                         INT32_MIN,
                         999,
                         fileno(file),
                         fixture.ends[0], /* watched already */
                         fixture.real->parker_fd(fixture.real, fixture.parker)};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_int_eq(try_watch(&fixture, wrong[i], 3), TR_INVALID_ARGUMENT);
    /* The two largest tokens are the parker's. */
    ck_assert_int_eq(try_watch(&fixture, fixture.ends[1], UINT64_MAX), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(try_watch(&fixture, fixture.ends[1], UINT64_MAX - 1), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(try_watch(&fixture, fixture.ends[1], UINT64_MAX - 2), TR_OK);
    unwatch(&fixture, fixture.ends[1]);
    ck_assert_uint_eq(one_event(&fixture, 1), TR_IO_OUT);
    (void)fclose(file);
    fixture_free(&fixture);
}

struct wakes {
    struct fixture *fixture;
    int rounds;
};

static void wake_often(void *context)
{
    struct wakes *wakes = context;
    for (int i = 0; i < wakes->rounds; i++) {
        if (i % 2)
            put(wakes->fixture->ends[1]);
        else
            wakes->fixture->real->wake(wakes->fixture->real, wakes->fixture->parker);
    }
    put(wakes->fixture->ends[1]);
}

TEST(wakes_and_events_of_other_threads_end_a_park, "WP-01")
{
    struct fixture fixture = fixture_make();
    struct wakes wakes = {.fixture = &fixture, .rounds = 200};
    tr_thread *thread;
    ck_assert_int_eq(fixture.real->thread_start(fixture.real, "wakes", wake_often, &wakes, &thread),
                     TR_OK);
    for (int got = 0; got < wakes.rounds / 2 + 1;) {
        if (one_event(&fixture, 1) & TR_IO_IN) {
            char byte;
            while (read(fixture.ends[0], &byte, 1) == 1)
                got++;
        } else {
            park(&fixture, TR_NEVER);
        }
    }
    fixture.real->thread_join(fixture.real, thread);
    fixture_free(&fixture);
}

SUITE("os epoll", what_is_possible_already_is_reported_first_and_each_change_once,
      a_full_socket_is_reported_when_it_can_be_written_to_again,
      output_is_reported_only_to_those_who_watch_it, an_end_is_reported_with_what_came_before,
      a_wake_up_asks_the_kernel_once, without_watched_descriptors_the_kernel_is_not_asked,
      a_park_with_idle_descriptors_sleeps_once, more_events_than_asked_for_stay_in_order,
      an_event_of_a_closed_descriptor_has_its_old_token,
      a_duplicate_does_not_keep_a_descriptor_watched,
      a_descriptor_may_be_closed_before_it_is_unwatched, what_cannot_be_watched_is_refused,
      wakes_and_events_of_other_threads_end_a_park)
