/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Times messages from one worker to another: bursts one way, and round trips while both workers
 * spin and when both sleep, against two threads that do nothing but wake each other.
 *
 *     cmake --build build --target micro_far && build/micro/far [burst | trip]
 */
#include "stage.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
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
    pour_out("burst, a million, room for 1,024, sender waits", tr_any(small), BOUNDED_DROPS);
    pour_out("burst, a million, room for 65,536, sender waits", tr_any(large), BOUNDED_DROPS);
    pour_out("burst, 100,000 at once, room for all", tr_any(bucket), BURST_DROPS);
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
TR_BEHAVIOR(pong, void, TR_ON(ball, pong_ball), TR_ON(question, pong_question),
            TR_OPTIONS(.is_pinned = true));

struct ping {
    pong_ref pong;
};

static tr_next set_up_ping(struct ping *ping, const struct partner_is *message)
{
    ping->pong = message->pong;
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
    _Alignas(64) atomic_uint turn; /* for the futex */
    int event;                     /* and for eventfd and epoll, as the runtime sleeps */
    int epoll;
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
    do {
        turn = futex_wait(&sides[1], turn);
        is_last = atomic_load(&floor_is_over);
        futex_pass(&sides[0], turn);
    } while (!is_last);
    return unused;
}

static void futex_ping(void)
{
    uint32_t turn = 0;
    do {
        atomic_store(&floor_is_over, !trip_again());
        futex_pass(&sides[1], turn + 1);
        turn = futex_wait(&sides[0], turn);
    } while (!atomic_load(&floor_is_over));
}

static void event_wake(struct side *side)
{
    uint64_t one = 1;
    require(write(side->event, &one, sizeof one) == sizeof one, "write");
}

static void event_wait(struct side *side)
{
    struct epoll_event event;
    uint64_t count;
    while (epoll_wait(side->epoll, &event, 1, -1) != 1)
        require(errno == EINTR, "epoll_wait");
    require(read(side->event, &count, sizeof count) == sizeof count, "read");
}

static void *event_pong(void *unused)
{
    bool is_last;
    do {
        event_wait(&sides[1]);
        is_last = atomic_load(&floor_is_over);
        event_wake(&sides[0]);
    } while (!is_last);
    return unused;
}

static void event_ping(void)
{
    do {
        atomic_store(&floor_is_over, !trip_again());
        event_wake(&sides[1]);
        event_wait(&sides[0]);
    } while (!atomic_load(&floor_is_over));
}

static double floor_trips(void (*ping)(void), void *(*pong)(void *unused))
{
    pthread_t thread;
    atomic_store(&floor_is_over, false);
    for (int i = 0; i < 2; i++) {
        struct epoll_event event = {.events = EPOLLIN};
        atomic_store(&sides[i].turn, 0);
        sides[i].event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        sides[i].epoll = epoll_create1(EPOLL_CLOEXEC);
        require(epoll_ctl(sides[i].epoll, EPOLL_CTL_ADD, sides[i].event, &event) == 0, "epoll_ctl");
    }
    trips_begin();
    require(pthread_create(&thread, NULL, pong, NULL) == 0, "pthread_create");
    ping();
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++) {
        close(sides[i].event);
        close(sides[i].epoll);
    }
    return (trips_end_ns - trips_begin_ns) / (double)trip_count;
}

static void trip(void)
{
    double values[8][TRIP_ROUNDS];
    double medians[8];
    double best_tell = 1e12;
    double best_ask = 1e12;
    /* Side by side, so that all of them see the same machine. */
    for (int i = 0; i < TRIP_ROUNDS; i++) {
        values[0][i] = trips(TR_MILLISECOND, false);
        best_tell = trips_best_ns < best_tell ? trips_best_ns : best_tell;
        values[1][i] = trips(TR_MILLISECOND, true);
        best_ask = trips_best_ns < best_ask ? trips_best_ns : best_ask;
        values[2][i] = trips(0, false);
        values[3][i] = trips(0, true);
        values[4][i] = floor_trips(futex_ping, futex_pong);
        values[5][i] = floor_trips(event_ping, event_pong);
        values[6][i] = trips(-1, false);
        values[7][i] = trips(-1, true);
    }
    for (int i = 0; i < 8; i++)
        medians[i] = median(values[i], TRIP_ROUNDS);
    print("trip, both spin, tell and tell", medians[0], "ns");
    print("trip, both spin, ask and await", medians[1], "ns");
    print("trip, spin as by default, tell and tell", medians[2], "ns");
    print("trip, spin as by default, ask and await", medians[3], "ns");
    print("trip, floor, futex", medians[4], "ns");
    print("trip, floor, eventfd and epoll", medians[5], "ns");
    print("trip, parked, tell and tell", medians[6], "ns");
    print("trip, parked, ask and await", medians[7], "ns");
    print("trip, both spin, tell and tell, the best 64", best_tell / TRIPS_TO_LOOK, "ns");
    print("trip, both spin, ask and await, the best 64", best_ask / TRIPS_TO_LOOK, "ns");
    print("trip, parked, tell and tell, ratio", medians[6] / medians[4], "times the futex floor");
    print("trip, parked, ask and await, ratio", medians[7] / medians[4], "times the futex floor");
    print("trip, parked, tell and tell, ratio", medians[6] / medians[5], "times the eventfd floor");
    print("trip, parked, ask and await, ratio", medians[7] / medians[5], "times the eventfd floor");
}

int main(int argc, char **argv)
{
    static const struct part parts[] = {{"burst", burst}, {"trip", trip}};
    return run_parts(argc, argv, parts, sizeof parts / sizeof parts[0]);
}
