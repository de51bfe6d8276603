/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Times durable actors with a state of 256 bytes: how long a sleeper takes to answer, from a thousand to a
 * million of them; how many of them a core wakes; and what they add to the memory. Their commits are timed by
 * commits.c.
 *
 *     build/micro/wake fill DIRECTORY ACTORS        makes a store with so many
 *     build/micro/wake wake DIRECTORY ACTORS        what is stored there stays as it is
 *     build/micro/wake rest DIRECTORY ACTORS        how much memory they add: compare two stores
 *
 * One worker runs the actors, and also who asks them but for the lines that say otherwise. Those are taken with the
 * two threads wherever the kernel puts them, with a core each and on one core, as two threads are that do nothing
 * but wake each other: their round trip is what a core that sleeps costs, and is taken off. The files of the
 * store are in the cache of the system; what the process has of them begins empty.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stage.h"

enum { STATE = 256, PADDING = 246, FLIGHT = 64, ONES = 2000, WAKES = 20000 };

TR_MESSAGE(counted, (u64, value), (u32, index));
TR_REQUEST(count, counted, (u32, index));
TR_REQUEST(look, counted);
TR_ACTOR(counter, count, look);
TR_MESSAGE(counter_state, (u64, value), (bytes, padding));

/* What the states point to: it differs each time. */
static char letters[26][STATE];

static tr_next on_count(tr_self *self, struct counter_state *state, const struct count *message)
{
    state->value++;
    state->padding = (tr_bytes){letters[state->value % 26], PADDING};
    return tr_reply(self, counted, .value = state->value, .index = message->index);
}

static tr_next on_look(tr_self *self, struct counter_state *state)
{
    return tr_reply(self, counted, .value = state->value);
}

TR_BEHAVIOR(counter, struct counter_state, TR_ON(count, on_count), TR_ON(look, on_look));
TR_DURABLE(counter, counter_state);

/* ---- Where the threads of the two sides are: the asker, and the actor that wakes. ---- */

static enum place { PLACE_FREE, PLACE_APART, PLACE_TOGETHER, PLACES } place;
static const char *const place_names[PLACES] = {"anywhere", "a core each", "on one core"};
static cpu_set_t all_cores;
static size_t cores[2];

static void find_cores(void)
{
    int count = 0;
    require(sched_getaffinity(0, sizeof all_cores, &all_cores) == 0, "sched_getaffinity");
    for (size_t i = 0; i < CPU_SETSIZE && count < 2; i++) {
        if (CPU_ISSET(i, &all_cores))
            cores[count++] = i;
    }
    if (count == 1)
        cores[1] = cores[0];
}

/* The calling thread is that of this side. */
static void take_place(int side)
{
    cpu_set_t set = all_cores;
    if (place != PLACE_FREE) {
        CPU_ZERO(&set);
        CPU_SET(cores[place == PLACE_APART ? side : 0], &set);
    }
    require(sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");
}

/* ---- Keys. ---- */

static const char *directory;
static uint64_t actors;

static const char *key_of(uint64_t number, char key[32])
{
    snprintf(key, 32, "counter-%llu", (unsigned long long)number);
    return key;
}

/* Each number below `actors` once, in an order that no page of the store has. */
static uint64_t scatter(uint64_t i)
{
    return i * 7919 % actors;
}

/* ---- The asker. ---- */

TR_MESSAGE(wake_some, (u64, from), (u64, count), (bool, changes), (bool, is_first));
TR_MESSAGE(time_each, (u64, from), (u32, index), (u32, count));
TR_MESSAGE(sit);
TR_ACTOR(asker, wake_some, time_each, sit);

struct asker {
    tr_ref boss; /* is notified of the end */
};

static void wake_flight(tr_self *self, const struct wake_some *message, uint64_t some)
{
    char key[32];
    count_ask counts[FLIGHT];
    look_ask looks[FLIGHT];
    for (uint64_t i = 0; i < some; i++) {
        counter_ref ref = tr_durable(self, counter, key_of(scatter(message->from + i), key));
        if (message->changes)
            counts[i] = tr_ask_within(self, TR_MINUTE, ref, count);
        else
            looks[i] = tr_ask_within(self, TR_MINUTE, ref, look);
    }
    for (uint64_t i = 0; i < some; i++) {
        if (message->changes)
            tr_await(self, counts[i]);
        else
            tr_await(self, looks[i]);
    }
}

/* One turn for each flight: what a turn asked for lives as long as the turn. */
static tr_next on_wake_some(tr_self *self, struct asker *asker, const struct wake_some *message)
{
    uint64_t some = message->count < FLIGHT ? message->count : FLIGHT;
    if (message->is_first)
        asker->boss = tr_sender(self);
    wake_flight(self, message, some);
    if (message->count > some)
        tr_tell(self,
                tr_me(self),
                wake_some,
                .from = message->from + some,
                .count = message->count - some,
                .changes = message->changes);
    else
        tr_tell(self, asker->boss, done);
    return TR_SAME;
}

/* The worker takes its place. */
static tr_next on_sit(tr_self *self)
{
    take_place(1);
    tr_tell(self, tr_sender(self), done);
    return TR_SAME;
}

static double each_ns[ONES];

/* One after the other, each in a turn of its own, by an actor on the same worker. */
static tr_next on_time_each(tr_self *self, struct asker *state, const struct time_each *message)
{
    char key[32];
    if (message->index == 0)
        state->boss = tr_sender(self);
    double begin_ns = now_ns();
    counter_ref ref = tr_durable(self, counter, key_of(scatter(message->from), key));
    tr_await(self, tr_ask_within(self, TR_MINUTE, ref, look));
    each_ns[message->index] = now_ns() - begin_ns;
    if (message->index + 1 < message->count)
        tr_tell(self,
                tr_me(self),
                time_each,
                .from = message->from + 1,
                .index = message->index + 1,
                .count = message->count);
    else
        tr_tell(self, state->boss, done);
    return TR_SAME;
}

TR_BEHAVIOR(asker, struct asker, TR_ON(wake_some, on_wake_some), TR_ON(time_each, on_time_each),
            TR_ON(sit, on_sit));

/* ---- The system. ---- */

static asker_ref asker;

static void open_system(uint32_t awake_max)
{
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 1,
                                       .on_log = quiet,
                                       .durable = TR_DURABLES(counter),
                                       .store = directory,
                                       .awake_max = awake_max};
    MUST(tr_system_new(&options, &system_));
    MUST(tr_system_start(system_));
    MUST(tr_client_new(system_, &client));
    MUST(tr_try_spawn(client, &asker, asker, "asker"));
}

static double resident_mib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    require(file && fscanf(file, "%*d %ld", &pages) == 1, "statm");
    fclose(file);
    return (double)pages * 4 / 1024;
}

/* ---- Filling. ---- */

static void fill(void)
{
    open_system(2000);
    double begin = now_ns();
    MUST(tr_tell(client, asker, wake_some, .count = actors, .changes = true, .is_first = true));
    (void)tr_receive(client, done, TR_HOUR);
    print("made and put to sleep", (double)actors / (now_ns() - begin) * 1e9, "actors/s");
    end();
}

/* ---- Waking. ---- */

static double p50;
static double p99;

/* One after the other, from a thread outside: with the way there and back. `step` 0: always the same one. */
static void look_each(uint64_t from, uint64_t step, int times)
{
    static double ns[ONES];
    char key[32];
    for (int i = 0; i < times; i++) {
        const struct counted *counted;
        counter_ref ref;
        double begin = now_ns();
        MUST(
            tr_try_durable(client, &ref, counter, key_of(scatter(from + (uint64_t)i * step), key)));
        MUST(tr_try_await(client, tr_ask(client, ref, look), &counted));
        ns[i] = now_ns() - begin;
    }
    p50 = median(ns, times);
    p99 = ns[times * 99 / 100];
}

/* ---- What two threads pay that wake each other, when the answer takes as long as a wake does. ---- */

static double work_ns;

static struct side {
    _Alignas(64) atomic_uint turn;
} sides[2];

static void futex_pass(struct side *side, uint32_t turn)
{
    atomic_store(&side->turn, turn);
    syscall(SYS_futex, &side->turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void futex_wait(struct side *side, uint32_t turn)
{
    uint32_t seen;
    while ((seen = atomic_load(&side->turn)) != turn)
        syscall(SYS_futex, &side->turn, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void *futex_pong(void *unused)
{
    (void)unused;
    take_place(1);
    for (uint32_t turn = 1; turn <= ONES; turn++) {
        futex_wait(&sides[0], turn);
        double until = now_ns() + work_ns;
        while (now_ns() < until)
            continue;
        futex_pass(&sides[1], turn);
    }
    return NULL;
}

static double round_trip_p50(void)
{
    static double ns[ONES];
    pthread_t thread;
    atomic_store(&sides[0].turn, 0);
    atomic_store(&sides[1].turn, 0);
    require(pthread_create(&thread, NULL, futex_pong, NULL) == 0, "a thread");
    for (uint32_t turn = 1; turn <= ONES; turn++) {
        double begin = now_ns();
        futex_pass(&sides[0], turn);
        futex_wait(&sides[1], turn);
        ns[turn - 1] = now_ns() - begin - work_ns;
    }
    pthread_join(thread, NULL);
    return median(ns, ONES);
}

/* From another thread, with both threads where `place` says, as those are whose round trip is taken off. */
static void look_from_afar(uint64_t from, int times)
{
    char name[128];
    const char *where = place_names[place];
    MUST(tr_tell(client, asker, sit));
    (void)wait_done();
    take_place(0);
    look_each(from, 0, times);
    look_each(from, 0, times);
    snprintf(name, sizeof name, "  one that is awake, from another thread, %s, p50", where);
    print(name, p50 / 1e3, "us");
    look_each(from + 1, 1, times - 1);
    double far_p50 = p50;
    snprintf(name, sizeof name, "  a sleeper, from another thread, %s, p50", where);
    print(name, p50 / 1e3, "us");
    snprintf(name, sizeof name, "  a sleeper, from another thread, %s, p99", where);
    print(name, p99 / 1e3, "us");
    double trip = round_trip_p50();
    snprintf(name, sizeof name, "  two threads that wake each other, %s, p50", where);
    print(name, trip / 1e3, "us");
    snprintf(name, sizeof name, "  a sleeper, from another thread, %s, p50, less that", where);
    print(name, (far_p50 - trip) / 1e3, "us");
}

static void wake_all(void)
{
    uint64_t ones = actors / 8 < ONES ? actors / 8 : ONES;
    uint64_t wakes = actors - (PLACES + 1) * ones;
    wakes = wakes < WAKES ? wakes : WAKES;
    find_cores();
    open_system(0);
    printf("%llu actors\n", (unsigned long long)actors);
    MUST(tr_tell(client, asker, time_each, .from = PLACES * ones, .count = (uint32_t)ones));
    (void)wait_done();
    work_ns = median(each_ns, (int)ones);
    print("  a sleeper, from its worker, p50", work_ns / 1e3, "us");
    print("  a sleeper, from its worker, p99", each_ns[ones * 99 / 100] / 1e3, "us");
    for (int i = 0; i < PLACES; i++) {
        place = (enum place)i;
        look_from_afar((uint64_t)i * ones, (int)ones);
    }
    place = PLACE_FREE;
    take_place(0);
    MUST(tr_tell(client, asker, sit));
    (void)wait_done();
    double cpu = cpu_used_ns();
    double begin_ns = now_ns();
    MUST(tr_tell(
        client, asker, wake_some, .from = (PLACES + 1) * ones, .count = wakes, .is_first = true));
    (void)wait_done();
    print("  64 at a time", (double)wakes / (now_ns() - begin_ns) * 1e9, "wakes/s");
    print("  64 at a time", (double)wakes / (cpu_used_ns() - cpu) * 1e9, "wakes per second of CPU");
    end();
}

/* What is resident when a few thousand of them were awake and sleep again. */
static void rest(void)
{
    uint64_t wakes = actors < WAKES ? actors : WAKES;
    open_system(100);
    MUST(tr_tell(client, asker, wake_some, .count = wakes, .is_first = true));
    require(tr_receive(client, done, TR_MINUTE), "no result");
    print("  resident, 100 awake", resident_mib(), "MiB");
    end();
}

int main(int argc, char **argv)
{
    require(argc >= 3, "usage: fill|wake|rest DIRECTORY ACTORS");
    directory = argv[2];
    (void)mkdir(directory, 0700);
    for (int i = 0; i < 26; i++)
        memset(letters[i], 'a' + i, STATE);
    actors = argc > 3 ? strtoull(argv[3], NULL, 10) : 1000;
    require(actors >= 1000 && actors % 7919 != 0, "at least 1000 actors, and no multiple of 7919");
    if (strcmp(argv[1], "fill") == 0)
        fill();
    else if (strcmp(argv[1], "wake") == 0)
        wake_all();
    else if (strcmp(argv[1], "rest") == 0)
        rest();
    return 0;
}
