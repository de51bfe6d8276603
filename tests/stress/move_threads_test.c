/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors that move between real threads all the time. Each sender's messages arrive in order; nobody
 * runs twice at once; timers come in order and not early; each watch gives one signal, each ask one
 * outcome; and a shutdown at any moment finds everybody.
 */
#include "support/test.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

static tr_system *system_;
static tr_client *client;
static atomic_uint_fast64_t failures;

/* Asserts from any thread, without ending it. */
#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            atomic_fetch_add(&failures, 1);                                                        \
        }                                                                                          \
    } while (0)

static void quiet(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

/* With `spin_ns` -1 a worker without work sleeps at once, and each post to it is a wake-up. */
static void system_begin(int workers, tr_time spin_ns)
{
    const tr_system_options options = {.size = sizeof options,
                                       .workers = workers,
                                       .seed = test_seed(),
                                       .round_min_ns = 5 * TR_MICROSECOND, /* moves come with it */
                                       .spin_ns = spin_ns,
                                       .on_log = quiet,
                                       .balance = TR_BALANCE_RESTLESS};
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
}

static void system_end(uint64_t moves_least, tr_time timeout_ns)
{
    tr_system_shutdown(system_, timeout_ns);
    tr_client_free(client);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_counters counters;
    tr_system_counters(system_, &counters);
    ck_assert_uint_eq(counters.accepted,
                      counters.handled + counters.dead_letters - counters.refused);
    ck_assert_uint_eq(counters.queued, 0);
    ck_assert_uint_eq(counters.live, 0);
    ck_assert_uint_ge(counters.moves, moves_least);
    ck_assert_uint_eq(atomic_load(&failures), 0);
    tr_system_free(system_);
}

/* ---- Order. ---- */

enum { WALKERS = 8, BURST = 16, IN_FLIGHT = 4000 };

TR_MESSAGE(number, (u64, from), (u64, n));
TR_MESSAGE(wide_number, (u64, from), (u64, n), (array(u64, 10), rest));
TR_MESSAGE(go_on, (u64, left));
TR_MESSAGE(finished, (u64, received));
TR_MESSAGE(be, (u64, index));
TR_ACTOR(walker, number, wide_number, go_on);

struct walker {
    uint64_t index;
    uint64_t sent; /* to each of them */
    uint64_t received;
    uint64_t expected[WALKERS];
};

static walker_ref walkers[WALKERS];
static uint64_t per_pair;
static bool is_running[WALKERS]; /* plain: ThreadSanitizer would see two turns at once */
static atomic_uint_fast64_t received_total;
static atomic_uint_fast64_t sent_total;

static void turn_begin(const struct walker *walker)
{
    HOLDS(!is_running[walker->index]);
    is_running[walker->index] = true;
}

static tr_next turn_end(const struct walker *walker)
{
    is_running[walker->index] = false;
    return TR_SAME;
}

static tr_next walker_setup(struct walker *walker, const struct be *message)
{
    walker->index = message->index;
    return TR_SAME;
}

static tr_next take(tr_self *self, struct walker *walker, uint64_t from, uint64_t n)
{
    turn_begin(walker);
    HOLDS(walker->expected[from] == n);
    walker->expected[from] = n + 1;
    if (++walker->received % 64 == 0)
        atomic_fetch_add_explicit(&received_total, 64, memory_order_relaxed);
    if (walker->received == WALKERS * per_pair)
        tr_tell(self, tr_client_ref(client), finished, .received = walker->received);
    return turn_end(walker);
}

static tr_next on_number(tr_self *self, struct walker *walker, const struct number *message)
{
    return take(self, walker, message->from, message->n);
}

static tr_next on_wide_number(tr_self *self, struct walker *walker,
                              const struct wide_number *message)
{
    HOLDS(message->rest[9] == message->n);
    return take(self, walker, message->from, message->n);
}

static tr_next on_go_on(tr_self *self, struct walker *walker)
{
    turn_begin(walker);
    int64_t ahead = (int64_t)atomic_load(&sent_total) - (int64_t)atomic_load(&received_total);
    if (ahead < IN_FLIGHT) {
        for (int i = 0; i < BURST && walker->sent < per_pair; i++, walker->sent++) {
            uint64_t n = walker->sent;
            for (int to = 0; to < WALKERS; to++) {
                tr_status status =
                    n % 16 ? tr_tell(self, walkers[to], number, .from = walker->index, .n = n)
                           : tr_tell(self,
                                     walkers[to],
                                     wide_number,
                                     .from = walker->index,
                                     .n = n,
                                     .rest[9] = n);
                HOLDS(status == TR_OK);
            }
        }
        atomic_fetch_add_explicit(&sent_total, BURST * WALKERS, memory_order_relaxed);
    }
    if (walker->sent < per_pair)
        tr_tell(self, tr_me(self), go_on);
    return turn_end(walker);
}
TR_BEHAVIOR(walker, struct walker, TR_SETUP_WITH(be, walker_setup), TR_ON(number, on_number),
            TR_ON(wide_number, on_wide_number), TR_ON(go_on, on_go_on));

static void play_order(int workers, uint64_t messages, tr_time spin_ns)
{
    per_pair = messages / (WALKERS * WALKERS);
    atomic_store(&received_total, 0);
    atomic_store(&sent_total, 0);
    system_begin(workers, spin_ns);
    for (uint64_t i = 0; i < WALKERS; i++) {
        ck_assert_int_eq(
            tr_try_spawn_at(client, &walkers[i], (int)i % workers, walker, NULL, be, .index = i),
            TR_OK);
    }
    for (int i = 0; i < WALKERS; i++)
        tr_tell(client, walkers[i], go_on);
    for (int i = 0; i < WALKERS; i++) {
        const struct finished *message = tr_receive(client, finished, 600 * TR_SECOND);
        ck_assert_ptr_nonnull(message);
        ck_assert_uint_eq(message->received, WALKERS * per_pair);
    }
    system_end(messages / 10000, TR_MINUTE);
}

TEST(ten_million_messages_stay_in_order_while_everybody_moves, "D-07", "WP-12", "WP-15", "WP-06")
{
    uint64_t messages = test_scale(4000000, 100000000);
    play_order(2, messages / 4, 0);
    play_order(2, messages / 4, -1);
    play_order(4, messages / 4, 0);
    play_order(4, messages / 4, -1);
}

/* ---- Everything at once. ---- */

enum { CITIZENS = 8, TOKENS = 24, OPEN_MAX = 96, TIMERS = 8 };
enum { BY_ITSELF, BY_FAILURE, BY_PILL, BY_KILL, WAYS };

TR_MESSAGE(live, (u64, left));
TR_MESSAGE(done, (u64, signals));
TR_MESSAGE(settle, (u64, nothing));
TR_MESSAGE(meet, (ref, mortal));
TR_MESSAGE(tick, (u32, n), (u32, round));
TR_MESSAGE(echo, (u64, n));
TR_REQUEST(call, echo, (u64, n));
TR_MESSAGE(die, (u32, how));
TR_ACTOR(citizen, live, settle, meet, tick, call);
TR_ACTOR(mortal, die, number);

struct citizen {
    tr_ref open[OPEN_MAX]; /* whom it watches */
    uint32_t open_count;
    uint64_t signals;
    /* Timers of one round: those that are to come, by the order of their deadlines. */
    bool is_due[TIMERS];
    tr_timer handles[TIMERS];
    tr_time due_ns[TIMERS];
    uint32_t round;
    uint32_t timers;
    bool is_settling;
};

static citizen_ref citizens[CITIZENS];
static int worker_count;
static atomic_uint_fast64_t lived; /* messages, for any moment */
static uint64_t shutdown_at;       /* one of these; 0: not before the end */

static tr_next mortal_die(tr_self *self, const struct die *message)
{
    return message->how == BY_FAILURE ? tr_fail(self, TR_FAILED, "as it was told") : TR_STOP;
}

static tr_next mortal_number(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(mortal, void, TR_ON(die, mortal_die), TR_ON(number, mortal_number),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static void settle_look(tr_self *self, struct citizen *citizen)
{
    if (!citizen->is_settling || citizen->open_count || citizen->timers)
        return;
    citizen->is_settling = false;
    tr_tell(self, tr_client_ref(client), done, .signals = citizen->signals);
}

static void watch(tr_self *self, struct citizen *citizen, tr_ref mortal)
{
    if (citizen->open_count == OPEN_MAX || tr_try_watch(self, mortal) != TR_OK)
        return;
    citizen->open[citizen->open_count++] = mortal;
}

static tr_next on_terminated(tr_self *self, struct citizen *citizen,
                             const struct tr_terminated *message)
{
    uint32_t at = 0;
    while (at < citizen->open_count && !tr_is_same(citizen->open[at], message->who))
        at++;
    HOLDS(at < citizen->open_count);
    if (at == citizen->open_count)
        return TR_SAME;
    citizen->open[at] = citizen->open[--citizen->open_count];
    citizen->signals++;
    settle_look(self, citizen);
    return TR_SAME;
}

static void have_child(tr_self *self, struct citizen *citizen)
{
    mortal_ref mortal = {0};
    int at = (int)(tr_random(self) % (uint64_t)worker_count);
    if (tr_try_spawn_at(self, &mortal, at, mortal, NULL) != TR_OK)
        return;
    watch(self, citizen, tr_any(mortal));
    tr_tell(self, citizens[tr_random(self) % CITIZENS], meet, .mortal = tr_any(mortal));
    for (uint64_t i = tr_random(self) % 4; i; i--)
        tr_tell(self, mortal, number);
    if (tr_random(self) % 4 == 0) {
        tr_suspend(self, mortal);
        tr_tell(self, mortal, number);
        tr_resume(self, mortal);
    }
    uint32_t how = (uint32_t)(tr_random(self) % WAYS);
    if (how == BY_PILL)
        tr_stop(self, mortal);
    else if (how == BY_KILL)
        tr_kill(self, mortal);
    else
        tr_tell(self, mortal, die, .how = how);
}

static tr_next on_meet(tr_self *self, struct citizen *citizen, const struct meet *message)
{
    for (uint32_t i = 0; i < citizen->open_count; i++) {
        if (tr_is_same(citizen->open[i], message->mortal))
            return TR_SAME; /* its own */
    }
    watch(self, citizen, message->mortal);
    if (tr_random(self) % 3 == 0 && citizen->open_count &&
        tr_is_same(citizen->open[citizen->open_count - 1], message->mortal)) {
        tr_unwatch(self, message->mortal);
        citizen->open_count--;
    }
    return TR_SAME;
}

/* Each is due after those before it, whatever happens meanwhile; every second one has a key. */
static void arm(tr_self *self, struct citizen *citizen)
{
    citizen->round++;
    citizen->timers = TIMERS;
    for (uint32_t n = 0; n < TIMERS; n++) {
        const char *key = n % 2 ? tr_format(self, "%u", (unsigned)n) : NULL;
        tr_time delay_ns = (20 + 20 * (tr_time)n) * TR_MICROSECOND;
        citizen->is_due[n] = true;
        citizen->due_ns[n] = tr_now(self) + delay_ns;
        citizen->handles[n] =
            tr_timer_once(self, key, delay_ns, tick, .n = n, .round = citizen->round);
    }
}

static tr_next on_tick(tr_self *self, struct citizen *citizen, const struct tick *message)
{
    HOLDS(message->round == citizen->round);
    HOLDS(citizen->is_due[message->n]);
    HOLDS(tr_now(self) >= citizen->due_ns[message->n]);
    for (uint32_t i = 0; i < message->n; i++)
        HOLDS(!citizen->is_due[i]);
    citizen->is_due[message->n] = false;
    citizen->timers--;
    if (tr_random(self) % 4 == 0) {
        uint32_t n = (uint32_t)(tr_random(self) % TIMERS);
        tr_timer_end end = n % 2 ? tr_timer_cancel(self, tr_format(self, "%u", (unsigned)n))
                                 : tr_timer_stop(self, citizen->handles[n]);
        /* That of this very turn is there until it ends; one who is to stop gets no more of them. */
        if (n != message->n && !shutdown_at)
            HOLDS((end != TR_TIMER_NONE) == citizen->is_due[n]);
        citizen->timers -= citizen->is_due[n];
        citizen->is_due[n] = false;
    }
    settle_look(self, citizen);
    return TR_SAME;
}

static tr_next on_call(tr_self *self, const struct call *message)
{
    return tr_reply(self, echo, .n = message->n + 1);
}

static void phone(tr_self *self)
{
    uint64_t n = tr_random(self) % 1000000;
    const struct echo *reply = NULL;
    call_ask ask = tr_ask(self, citizens[tr_random(self) % CITIZENS], call, .n = n);
    tr_status status = tr_try_await(self, ask, &reply);
    HOLDS(status == TR_OK || shutdown_at);
    HOLDS(status != TR_OK || reply->n == n + 1);
}

static tr_next on_live(tr_self *self, struct citizen *citizen, const struct live *message)
{
    if (atomic_fetch_add(&lived, 1) + 1 == shutdown_at)
        tr_tell(self, tr_client_ref(client), done);
    switch (tr_random(self) % 8) {
    case 0:
        have_child(self, citizen);
        break;
    case 1:
        if (!citizen->timers)
            arm(self, citizen);
        break;
    case 2:
        phone(self);
        break;
    default:
        break;
    }
    if (message->left)
        tr_tell(self, citizens[tr_random(self) % CITIZENS], live, .left = message->left - 1);
    else if (!shutdown_at)
        tr_tell(self, tr_client_ref(client), done);
    return TR_SAME;
}

static tr_next on_settle(tr_self *self, struct citizen *citizen)
{
    citizen->is_settling = true;
    settle_look(self, citizen);
    return TR_SAME;
}
TR_BEHAVIOR(citizen, struct citizen, TR_ON(live, on_live), TR_ON(settle, on_settle),
            TR_ON(meet, on_meet), TR_ON(tick, on_tick), TR_ON(call, on_call),
            TR_ON(tr_terminated, on_terminated));

static void play_city(int workers, uint64_t lives, uint64_t end_at, tr_time timeout_ns)
{
    worker_count = workers;
    shutdown_at = end_at;
    atomic_store(&lived, 0);
    system_begin(workers, 0);
    for (int i = 0; i < CITIZENS; i++)
        ck_assert_int_eq(tr_try_spawn_at(client, &citizens[i], i % workers, citizen, NULL), TR_OK);
    for (int i = 0; i < TOKENS; i++)
        tr_tell(client, citizens[i % CITIZENS], live, .left = lives / TOKENS);
    for (int i = 0; i < (end_at ? 1 : TOKENS); i++)
        ck_assert_ptr_nonnull(tr_receive(client, done, 600 * TR_SECOND));
    uint64_t signals = 0;
    for (int i = 0; i < CITIZENS && !end_at; i++)
        tr_tell(client, citizens[i], settle);
    for (int i = 0; i < CITIZENS && !end_at; i++) {
        const struct done *message = tr_receive(client, done, 600 * TR_SECOND);
        ck_assert_ptr_nonnull(message);
        signals += message->signals;
    }
    ck_assert(end_at || signals > lives / 16);
    system_end(end_at ? 0 : lives / 1000, timeout_ns);
}

TEST(timers_watches_asks_and_ends_are_right_while_everybody_moves, "D-07", "WP-12", "AK-13")
{
    play_city(2, test_scale(80000, 4000000), 0, TR_MINUTE);
    play_city(4, test_scale(80000, 4000000), 0, TR_MINUTE);
}

TEST(a_shutdown_at_any_moment_finds_everybody, "D-07", "WP-12")
{
    uint64_t rounds = test_scale(50, 4000);
    uint64_t random = test_seed();
    for (uint64_t i = 0; i < rounds; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        /* Every second one is not given the time to stop, and is killed. */
        tr_time timeout_ns = i / 2 % 2 ? TR_MICROSECOND : TR_MINUTE;
        play_city(i % 2 ? 2 : 4, 1000000, 1 + (random >> 33) % 4000, timeout_ns);
    }
}

SUITE("moves on threads", ten_million_messages_stay_in_order_while_everybody_moves,
      timers_watches_asks_and_ends_are_right_while_everybody_moves,
      a_shutdown_at_any_moment_finds_everybody)
