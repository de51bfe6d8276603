/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Times messages from one worker to another: bursts one way, and round trips while both workers
 * spin and when both sleep, against two threads that do nothing but wake each other.
 *
 * Those that sleep are timed with a core for each thread, with one core for both, and wherever the
 * kernel puts them. The first two say what the runtime adds; the last is a mixture of them, which differs
 * from run to run, since to wake a core that sleeps takes many times as long as to continue with
 * another thread on the same one.
 *
 *     cmake --build build --target micro_far && build/micro/far [burst | awake | parked]
 */
#include "stage.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- burst: one way from one worker to another. ---- */

TR_MESSAGE(drop, (u64, n));
TR_MESSAGE(bucket_is, (u64, size));
TR_ACTOR(bucket, drop);
TR_ACTOR(small_bucket, drop);
TR_ACTOR(large_bucket, drop);
TR_MESSAGE(pour_into, (ref, bucket), (u64, drops));
TR_MESSAGE(pour);
TR_ACTOR(tap, pour);

enum { BURST_ROUNDS = 15, BOUNDED_DROPS = 1000000, BURST_DROPS = 100000 };

struct bucket {
    uint64_t count;
    uint64_t size;
    uint64_t wrong;
};

static tr_next set_up_bucket(struct bucket *bucket, const struct bucket_is *message)
{
    bucket->size = message->size;
    return TR_SAME;
}

static tr_next on_drop(tr_self *self, struct bucket *bucket, const struct drop *message)
{
    bucket->wrong += message->n != bucket->count;
    if (++bucket->count == bucket->size) {
        tr_tell(self, tr_client_ref(client), done, .value = bucket->wrong);
        bucket->count = 0;
    }
    return TR_SAME;
}
TR_BEHAVIOR(bucket, struct bucket, TR_SETUP_WITH(bucket_is, set_up_bucket), TR_ON(drop, on_drop),
            TR_OPTIONS(.is_pinned = true));
TR_BEHAVIOR(small_bucket, struct bucket, TR_SETUP_WITH(bucket_is, set_up_bucket),
            TR_ON(drop, on_drop),
            TR_OPTIONS(.is_pinned = true, .mailbox_max = 1024, .overflow = TR_PARK));
TR_BEHAVIOR(large_bucket, struct bucket, TR_SETUP_WITH(bucket_is, set_up_bucket),
            TR_ON(drop, on_drop),
            TR_OPTIONS(.is_pinned = true, .mailbox_max = 65536, .overflow = TR_PARK));

struct tap {
    bucket_ref bucket;
    uint64_t drops;
};

static tr_next set_up_tap(struct tap *tap, const struct pour_into *message)
{
    tap->bucket = bucket_ref_of(message->bucket);
    tap->drops = message->drops;
    return TR_SAME;
}

static tr_next on_pour(tr_self *self, struct tap *tap)
{
    for (uint64_t n = 0; n < tap->drops; n++)
        tr_tell(self, tap->bucket, drop, .n = n);
    return TR_SAME;
}
TR_BEHAVIOR(tap, struct tap, TR_SETUP_WITH(pour_into, set_up_tap), TR_ON(pour, on_pour),
            TR_OPTIONS(.is_pinned = true));

static void pour_out(const char *name, tr_ref bucket, uint64_t drops)
{
    double rates[BURST_ROUNDS];
    double costs[BURST_ROUNDS];
    tap_ref tap;
    MUST(tr_try_spawn_at(client, &tap, 0, tap, NULL, pour_into, .bucket = bucket, .drops = drops));
    MUST(tr_spawn_wait(client, bucket, TR_MINUTE, NULL));
    MUST(tr_spawn_wait(client, tap, TR_MINUTE, NULL));
    for (int i = -1; i < BURST_ROUNDS; i++) { /* the first one warms up */
        double from = now_ns();
        double cpu_from = cpu_used_ns();
        MUST(tr_tell(client, tap, pour));
        require(wait_done() == 0, "messages out of order");
        if (i < 0)
            continue;
        rates[i] = (double)drops * 1e9 / (now_ns() - from);
        costs[i] = (cpu_used_ns() - cpu_from) / (double)drops;
    }
    print(name, median(rates, BURST_ROUNDS) / 1e6, "M messages/s");
    print(name, median(costs, BURST_ROUNDS), "ns of CPU time a message, both workers");
}

static void burst(void)
{
    small_bucket_ref small;
    large_bucket_ref large;
    bucket_ref bucket;
    begin(2, TR_BALANCE_ON, 0);
    MUST(tr_try_spawn_at(client, &small, 1, small_bucket, NULL, bucket_is, .size = BOUNDED_DROPS));
    MUST(tr_try_spawn_at(client, &large, 1, large_bucket, NULL, bucket_is, .size = BOUNDED_DROPS));
    MUST(tr_try_spawn_at(client, &bucket, 1, bucket, NULL, bucket_is, .size = BURST_DROPS));
    pour_out("burst, a million, capacity 1,024, sender waits", tr_any(small), BOUNDED_DROPS);
    pour_out("burst, a million, capacity 65,536, sender waits", tr_any(large), BOUNDED_DROPS);
    pour_out("burst, 100,000 at once, capacity for all", tr_any(bucket), BURST_DROPS);
    end();
}

/* ---- trip: to another worker and back. ---- */

TR_MESSAGE(ball, (u64, n));
TR_MESSAGE(answer, (u64, n));
TR_REQUEST(question, answer, (u64, n));
TR_ACTOR(pong, ball, question);
TR_MESSAGE(partner_is, (ref_of(pong), pong));
TR_MESSAGE(ask_often);
TR_ACTOR(ping, ball, ask_often);

enum { TRIP_ROUNDS = 11, TRIPS_TO_LOOK = 64 }; /* so often at the clock */
static const double TRIPS_NS = 8e7;

static double trips_begin_ns;
static double trips_end_ns;
static double trips_best_ns; /* for TRIPS_TO_LOOK of them, in a row */
static uint64_t trip_count;

static void trips_begin(void)
{
    trip_count = 0;
    trips_best_ns = 1e12;
    trips_begin_ns = trips_end_ns = now_ns();
}

/* Where the threads of the two sides are. */
static enum place { PLACE_FREE, PLACE_APART, PLACE_TOGETHER, PLACES } place;
static const char *const place_names[PLACES] = {"anywhere", "a core each", "on one core"};
static size_t cores[2]; /* that may be used */

static void find_cores(void)
{
    cpu_set_t set;
    int count = 0;
    require(sched_getaffinity(0, sizeof set, &set) == 0, "sched_getaffinity");
    for (size_t i = 0; i < CPU_SETSIZE && count < 2; i++) {
        if (CPU_ISSET(i, &set))
            cores[count++] = i;
    }
    if (count == 1)
        cores[1] = cores[0];
}

/* The calling thread is that of this side. */
static void take_place(int side)
{
    cpu_set_t set;
    if (place == PLACE_FREE)
        return;
    CPU_ZERO(&set);
    CPU_SET(cores[place == PLACE_APART ? side : 0], &set);
    require(sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");
}

/* One trip more; false when the time is up. */
static bool trip_again(void)
{
    if (++trip_count % TRIPS_TO_LOOK)
        return true;
    double now = now_ns();
    trips_best_ns = now - trips_end_ns < trips_best_ns ? now - trips_end_ns : trips_best_ns;
    trips_end_ns = now;
    return trips_end_ns < trips_begin_ns + TRIPS_NS;
}

static tr_next pong_ball(tr_self *self, const struct ball *message)
{
    return tr_reply(self, ball, .n = message->n);
}

static tr_next pong_question(tr_self *self, const struct question *message)
{
    return tr_reply(self, answer, .n = message->n);
}

static tr_next pong_starts(void)
{
    take_place(1);
    return TR_SAME;
}
TR_BEHAVIOR(pong, void, TR_ON(tr_pre_start, pong_starts), TR_ON(ball, pong_ball),
            TR_ON(question, pong_question), TR_OPTIONS(.is_pinned = true));

struct ping {
    pong_ref pong;
};

static tr_next set_up_ping(struct ping *ping, const struct partner_is *message)
{
    ping->pong = message->pong;
    take_place(0);
    return TR_SAME;
}

static tr_next ping_ball(tr_self *self, struct ping *ping, const struct ball *message)
{
    if (trip_again())
        tr_tell(self, ping->pong, ball, .n = message->n + 1);
    else
        tr_tell(self, tr_client_ref(client), done);
    return TR_SAME;
}

static tr_next ping_ask_often(tr_self *self, struct ping *ping)
{
    bool is_more = true;
    for (uint64_t i = 0; i < TRIPS_TO_LOOK; i++) {
        tr_await(self, tr_ask(self, ping->pong, question, .n = i));
        is_more = trip_again();
    }
    if (is_more)
        tr_tell(self, tr_me(self), ask_often);
    else
        tr_tell(self, tr_client_ref(client), done);
    return TR_SAME;
}
TR_BEHAVIOR(ping, struct ping, TR_SETUP_WITH(partner_is, set_up_ping), TR_ON(ball, ping_ball),
            TR_ON(ask_often, ping_ask_often), TR_OPTIONS(.is_pinned = true));

/* Nanoseconds for one. */
static double trips(tr_time spin_ns, bool is_ask)
{
    pong_ref pong;
    ping_ref ping;
    begin(2, TR_BALANCE_ON, spin_ns);
    MUST(tr_try_spawn_at(client, &pong, 1, pong, NULL));
    MUST(tr_try_spawn_at(client, &ping, 0, ping, NULL, partner_is, .pong = pong));
    MUST(tr_spawn_wait(client, pong, TR_MINUTE, NULL));
    MUST(tr_spawn_wait(client, ping, TR_MINUTE, NULL));
    trips_begin();
    if (is_ask)
        MUST(tr_tell(client, ping, ask_often));
    else
        MUST(tr_tell(client, ping, ball));
    wait_done();
    end();
    return (trips_end_ns - trips_begin_ns) / (double)trip_count;
}

/* The floor: two threads that wake each other, and nothing else. */
struct side {
    _Alignas(64) atomic_uint turn;
};
static struct side sides[2];
static atomic_bool floor_is_over;

static void futex(atomic_uint *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void futex_pass(struct side *side, uint32_t turn)
{
    atomic_store(&side->turn, turn);
    futex(&side->turn, FUTEX_WAKE, 1);
}

static uint32_t futex_wait(struct side *side, uint32_t last)
{
    uint32_t turn;
    while ((turn = atomic_load(&side->turn)) == last)
        futex(&side->turn, FUTEX_WAIT, last);
    return turn;
}

static void *futex_pong(void *unused)
{
    uint32_t turn = 0;
    bool is_last;
    take_place(1);
    do {
        turn = futex_wait(&sides[1], turn);
        is_last = atomic_load(&floor_is_over);
        futex_pass(&sides[0], turn);
    } while (!is_last);
    return unused;
}

static void *futex_ping(void *unused)
{
    uint32_t turn = 0;
    take_place(0);
    trips_begin();
    do {
        atomic_store(&floor_is_over, !trip_again());
        futex_pass(&sides[1], turn + 1);
        turn = futex_wait(&sides[0], turn);
    } while (!atomic_load(&floor_is_over));
    return unused;
}

static double floor_trips(void)
{
    void *(*const mains[2])(void *unused) = {futex_ping, futex_pong};
    pthread_t threads[2];
    atomic_store(&floor_is_over, false);
    for (int i = 0; i < 2; i++)
        atomic_store(&sides[i].turn, 0);
    for (int i = 0; i < 2; i++)
        require(pthread_create(&threads[i], NULL, mains[i], NULL) == 0, "pthread_create");
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return (trips_end_ns - trips_begin_ns) / (double)trip_count;
}

static const char *const trip_names[2] = {"tell and tell", "ask and await"};

static void trip_awake(void)
{
    static const char *const spins[2] = {"both spin", "spin as by default"};
    double values[2][2][TRIP_ROUNDS];
    double best[2] = {1e12, 1e12};
    char name[128];
    for (int i = 0; i < TRIP_ROUNDS; i++) {
        for (int is_ask = 0; is_ask < 2; is_ask++) {
            values[0][is_ask][i] = trips(TR_MILLISECOND, is_ask);
            best[is_ask] = trips_best_ns < best[is_ask] ? trips_best_ns : best[is_ask];
            values[1][is_ask][i] = trips(0, is_ask);
        }
    }
    for (int spin = 0; spin < 2; spin++) {
        for (int is_ask = 0; is_ask < 2; is_ask++) {
            snprintf(name, sizeof name, "trip, %s, %s", spins[spin], trip_names[is_ask]);
            print(name, median(values[spin][is_ask], TRIP_ROUNDS), "ns");
        }
    }
    for (int is_ask = 0; is_ask < 2; is_ask++) {
        snprintf(name, sizeof name, "trip, both spin, %s, the best 64", trip_names[is_ask]);
        print(name, best[is_ask] / TRIPS_TO_LOOK, "ns");
    }
}

static void trip_parked(void)
{
    double floors[PLACES][TRIP_ROUNDS];
    double values[PLACES][2][TRIP_ROUNDS];
    char name[128];
    find_cores();
    /* Side by side, so that all of them see the same machine. */
    for (int i = 0; i < TRIP_ROUNDS; i++) {
        for (place = PLACE_FREE; place < PLACES; place++) {
            floors[place][i] = floor_trips();
            for (int is_ask = 0; is_ask < 2; is_ask++)
                values[place][is_ask][i] = trips(-1, is_ask);
        }
    }
    for (int where = 0; where < PLACES; where++) {
        double floor_ns = median(floors[where], TRIP_ROUNDS);
        snprintf(name, sizeof name, "trip, floor, futex, %s", place_names[where]);
        print(name, floor_ns, "ns");
        for (int is_ask = 0; is_ask < 2; is_ask++) {
            double trip_ns = median(values[where][is_ask], TRIP_ROUNDS);
            snprintf(
                name, sizeof name, "trip, parked, %s, %s", place_names[where], trip_names[is_ask]);
            print(name, trip_ns, "ns");
            print(name, trip_ns / floor_ns, "times the futex floor");
        }
    }
}

int main(int argc, char **argv)
{
    static const struct part parts[] = {
        {"burst", burst}, {"awake", trip_awake}, {"parked", trip_parked}};
    return run_parts(argc, argv, parts, sizeof parts / sizeof parts[0]);
}
