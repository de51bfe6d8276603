/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A hundred thousand sleepers on a real disk: what they cost in memory, and how long one takes to answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <troupe/durable.h>
#include <troupe/troupe.h>
#include <troupe/wire.h>
#include <unistd.h>

#include "store/batch.h"
#include "store/entry.h"
#include "store/store.h"
#include "support/stores.h"
#include "support/test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLEEPERS = 5000, IS_MEASURED = 0 }; /* their memory is the sanitizer's */
#else
enum { SLEEPERS = 100000, IS_MEASURED = 1 };
#endif
enum { FEW = 1000, AWAKE = 100, WAKES = 500, GROUP = 5000 };

/* What allocators and caches differ by from run to run; 42 bytes for each of them would be more. */
#define GROWTH_MAX_MIB 4.0
/* No time of a machine that others use: only that none of them waits for what grows with the crowd. */
#define P99_MAX_NS (500 * TR_MILLISECOND)

TR_MESSAGE(told, (u64, value));
TR_REQUEST(tell_me, told);
TR_ACTOR(sleeper, tell_me);
TR_MESSAGE(sleeper_state, (u64, value), (bytes, padding));

static tr_next on_tell_me(tr_self *self, struct sleeper_state *state)
{
    return tr_reply(self, told, .value = state->value);
}

TR_BEHAVIOR(sleeper, struct sleeper_state, TR_ON(tell_me, on_tell_me));
TR_DURABLE(sleeper, sleeper_state);

static size_t key_of(int number, char key[32])
{
    return (size_t)snprintf(key, 32, "sleeper-%d", number);
}

/* ---- Making them: as their actors would, but many at a time. ---- */

static int done;

static void on_done(void *context, struct store_batch *batch, tr_status status)
{
    (void)context;
    ck_assert_int_eq(status, TR_OK);
    tr__store_batch_free(batch);
    done++;
}

static void make_one(struct store *store, int number)
{
    static const char padding[200] = "a state of some size";
    char key[32];
    char bytes[300];
    const struct sleeper_state state = {.value = 1000000 + (uint64_t)number,
                                        .padding = {padding, sizeof padding}};
    tr_wire_error error;
    struct store_entry *entry;
    struct store_batch *batch;
    size_t size = tr_pack(&tr_type_sleeper_state, &state, bytes, sizeof bytes, &error);
    ck_assert(size > sizeof padding && size <= sizeof bytes);
    tr_bytes name = {key, key_of(number, key)};
    ck_assert_int_eq(tr__store_enter(store, "sleeper", name, NULL, NULL, &entry), TR_OK);
    ck_assert_int_eq(tr__store_batch_new(entry, &batch), TR_OK);
    void *copy = tr__store_batch_alloc(batch, size);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, size);
    ck_assert_int_eq(tr__store_put_state(batch, 1, (tr_bytes){copy, size}), TR_OK);
    ck_assert_int_eq(tr__store_submit(batch, on_done, NULL), TR_OK);
    tr__store_leave(entry);
}

static void make(const char *directory, int count)
{
    struct store *store;
    const struct store_options options = {
        .source = stores_source(), .path = directory, .program = "troupe", .is_threadless = true};
    ck_assert_int_eq(tr__store_open(&options, &store, NULL), TR_OK);
    done = 0;
    for (int i = 0; i < count; i++) {
        make_one(store, i);
        while (i % GROUP == GROUP - 1 && tr__store_work(store))
            continue;
    }
    while (tr__store_work(store))
        continue;
    ck_assert_int_eq(done, count);
    tr__store_close(store);
}

/* ---- Waking them. ---- */

static double resident_mib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%*d %ld", &pages), 1);
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1024 * 1024);
}

static int by_time(const void *a, const void *b)
{
    tr_time first = *(const tr_time *)a;
    tr_time second = *(const tr_time *)b;
    return (first > second) - (first < second);
}

static tr_time now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * TR_SECOND + now.tv_nsec;
}

static tr_time wake_p99(tr_client *client, int count)
{
    static tr_time took[WAKES];
    for (int i = 0; i < WAKES; i++) {
        char key[32];
        sleeper_ref ref;
        const struct told *told;
        int number = (int)((int64_t)i * 7919 % count);
        tr_time begin = now_ns();
        (void)key_of(number, key);
        ck_assert_int_eq(tr_try_durable(client, &ref, sleeper, key), TR_OK);
        tell_me_ask ask = tr_ask_within(client, TR_MINUTE, ref, tell_me);
        ck_assert_int_eq(tr_try_await(client, ask, &told), TR_OK);
        took[i] = now_ns() - begin;
        ck_assert_uint_eq(told->value, 1000000 + (uint64_t)number);
    }
    qsort(took, WAKES, sizeof took[0], by_time);
    return took[WAKES * 99 / 100];
}

/* What the process has when some of so many have been awake; and how long that took. */
static double measure(int count, tr_time *p99)
{
    char directory[] = "/tmp/troupe-crowd-XXXXXX";
    char command[100];
    tr_system *system_;
    tr_client *client;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    make(directory, count);
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 2,
                                       .durable = TR_DURABLES(sleeper),
                                       .store = directory,
                                       .awake_max = AWAKE};
    double before = resident_mib();
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
    *p99 = wake_p99(client, count);
    double resident = resident_mib() - before;
    tr_client_free(client);
    tr_system_shutdown(system_, TR_MINUTE);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_system_free(system_);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
    return resident;
}

TEST(a_hundred_thousand_sleepers_cost_nothing_and_wake_soon, "SL-14")
{
    tr_time p99;
    (void)measure(FEW, &p99); /* what a process has once it has done it all */
    double few = measure(FEW, &p99);
    double many = measure(SLEEPERS, &p99);
    printf("# %d sleepers: %.1f MiB, %d: %.1f MiB; wake p99 %.3f ms\n",
           FEW,
           few,
           SLEEPERS,
           many,
           (double)p99 / 1e6);
    ck_assert_msg(!IS_MEASURED || many - few <= GROWTH_MAX_MIB, "%.1f MiB more", many - few);
    ck_assert_msg(p99 <= P99_MAX_NS, "%.3f ms", (double)p99 / 1e6);
}

SUITE("durable crowd", a_hundred_thousand_sleepers_cost_nothing_and_wake_soon)
