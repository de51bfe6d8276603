/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The timers of actors that move between workers: they come when they are due, in order and once, and
 * whoever has a handle takes back that timer and no other.
 */
#include "support/kits.h"

static uint64_t chance_bits;

static uint32_t chance(uint32_t count)
{
    chance_bits = chance_bits * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(chance_bits >> 33) % count;
}

TR_MESSAGE(poke, (u32, n));
TR_MESSAGE(tick, (u32, timer), (u32, version));
TR_MESSAGE(long_tick, (u32, timer), (u32, version), (str, text)); /* not light */
TR_ACTOR(keeper, poke, tick, long_tick);

enum { KEEPERS = 2, KEYS = 6, TIMERS = 24 }; /* the first ones have keys */

struct expected {
    bool is_on;
    tr_timer_kind kind;
    tr_time due_ns;
    tr_time period_ns;
    uint32_t version; /* one more each time that it is started */
    tr_timer handle;
};

struct keeper {
    uint32_t index;
};
TR_MESSAGE(number, (u32, index));

static keeper_ref keepers[KEEPERS];
static struct expected expected[KEEPERS][TIMERS];
static tr_timer old[KEEPERS][8]; /* handles of timers that are over */
static uint32_t unique_ns;
static uint64_t ticks;
static uint64_t walks;
static int places[KEEPERS];
static bool is_quiet; /* nothing is started any more */

static const char *key_of(uint32_t timer)
{
    static char keys[KEYS][TR_TIMER_KEY_MAX + 1];
    if (timer >= KEYS)
        return NULL;
    /* Also the longest one. */
    memset(keys[timer], 'a' + (char)timer, timer ? 4 * timer : TR_TIMER_KEY_MAX);
    return keys[timer];
}

static void over(uint32_t me, struct expected *timer)
{
    if (timer->handle.number)
        old[me][chance(8)] = timer->handle;
    timer->is_on = false;
    timer->handle = (tr_timer){0};
}

static tr_next on_any_tick(tr_self *self, uint32_t me, uint32_t which, uint32_t version)
{
    struct expected *timer = &expected[me][which];
    ck_assert_msg(timer->is_on && timer->version == version && timer->due_ns == tr_now(self),
                  "seed %" PRIu64 ": timer %u of %u, %d, version %u not %u, at %lld, due %lld",
                  kits_seed,
                  which,
                  me,
                  timer->is_on,
                  version,
                  timer->version,
                  (long long)tr_now(self),
                  (long long)timer->due_ns);
    ticks++;
    if (timer->kind == TR_TIMER_ONCE)
        over(me, timer);
    else
        timer->due_ns += timer->period_ns;
    return TR_SAME;
}

static tr_next on_tick(tr_self *self, struct keeper *keeper, const struct tick *message)
{
    return on_any_tick(self, keeper->index, message->timer, message->version);
}

static tr_next on_long_tick(tr_self *self, struct keeper *keeper, const struct long_tick *message)
{
    ck_assert_str_eq(message->text, "a message that does not fit into a timer");
    return on_any_tick(self, keeper->index, message->timer, message->version);
}

static void start(tr_self *self, uint32_t me, uint32_t which)
{
    struct expected *timer = &expected[me][which];
    if (timer->is_on && which >= KEYS)
        return;
    timer->is_on = true;
    timer->kind = (tr_timer_kind)chance(3);
    timer->version++;
    /* No two of them at the same time, or it would stay. */
    timer->period_ns = (1 + chance(20)) * MS + 64 * ++unique_ns;
    timer->due_ns = tr_now(self) + timer->period_ns;
    struct tick small = {.timer = which, .version = timer->version};
    struct long_tick large = {.timer = which,
                              .version = timer->version,
                              .text = "a message that does not fit into a timer"};
    bool is_small = chance(2);
    ck_assert_int_eq(tr_self_try_timer(self,
                                       key_of(which),
                                       timer->kind,
                                       timer->period_ns,
                                       is_small ? &tr_type_tick : &tr_type_long_tick,
                                       is_small ? (void *)&small : (void *)&large,
                                       which < KEYS ? NULL : &timer->handle),
                     TR_OK);
}

static void stop(tr_self *self, uint32_t me, uint32_t which)
{
    struct expected *timer = &expected[me][which];
    tr_timer_end end =
        which < KEYS ? tr_timer_cancel(self, key_of(which)) : tr_timer_stop(self, timer->handle);
    if (!timer->is_on)
        ck_assert_int_eq(end, TR_TIMER_NONE);
    else if (timer->due_ns > tr_now(self))
        ck_assert_int_eq(end, TR_TIMER_CANCELLED);
    else
        ck_assert_int_ne(end, TR_TIMER_NONE);
    over(me, timer);
}

static tr_next on_poke(tr_self *self, struct keeper *keeper)
{
    uint32_t me = keeper->index;
    walks += places[me] != tr_worker(self);
    places[me] = tr_worker(self);
    for (uint32_t i = chance(4); i && !is_quiet; i--)
        start(self, me, chance(TIMERS));
    if (chance(2))
        stop(self, me, chance(TIMERS));
    /* A handle of a timer that is over, or of another actor, is nobody's. */
    ck_assert_int_eq(tr_timer_stop(self, old[me][chance(8)]), TR_TIMER_NONE);
    ck_assert_int_eq(tr_timer_stop(self, expected[!me][KEYS + chance(TIMERS - KEYS)].handle),
                     TR_TIMER_NONE);
    return TR_SAME;
}

static tr_next on_number(struct keeper *keeper, const struct number *message)
{
    keeper->index = message->index;
    return TR_SAME;
}
TR_BEHAVIOR(keeper, struct keeper, TR_SETUP_WITH(number, on_number), TR_ON(poke, on_poke),
            TR_ON(tick, on_tick), TR_ON(long_tick, on_long_tick));

static void check_expected(void)
{
    for (int i = 0; i < KEEPERS; i++) {
        for (int k = 0; k < TIMERS; k++)
            ck_assert_msg(!expected[i][k].is_on || expected[i][k].due_ns > tr_kit_now(kit),
                          "seed %" PRIu64 ": timer %d of %d has not come",
                          kits_seed,
                          k,
                          i);
    }
}

static void play_timers(void)
{
    chance_bits = kits_seed;
    memset(expected, 0, sizeof expected);
    memset(old, 0, sizeof old);
    is_quiet = false;
    for (uint32_t i = 0; i < KEEPERS; i++)
        ck_assert_int_eq(tr_try_spawn_at(test, &keepers[i], home, keeper, NULL, number, .index = i),
                         TR_OK);
    for (int i = 0; i < 60; i++) {
        for (uint32_t k = chance(4); k; k--)
            tr_tell(test, keepers[chance(KEEPERS)], poke);
        kit_steps(chance(6));
        tr_kit_check(kit);
        tr_kit_advance(kit, chance(3) ? chance(64) : chance(8) * MS);
        check_expected();
    }
    if (chance(2))
        return; /* with all of them */
    is_quiet = true;
    for (int k = 0; k < 500; k++) {
        tr_tell(test, keepers[chance(KEEPERS)], poke);
        tr_kit_advance(kit, MS);
    }
    check_expected();
}

TEST(timers_go_along_and_are_known_by_their_handles, "D-07", "WP-12")
{
    walks = ticks = 0;
    kits_each_moving(40, play_timers);
    ck_assert_uint_gt(walks, 12 * TEST_SEEDS(40));
    ck_assert_uint_gt(ticks, 60 * TEST_SEEDS(40));
}

/* ---- The receive timeout. ---- */

TR_ACTOR(idler, poke, tick);
static tr_time touched_ns; /* when the last message came, 0: the timeout has come since */
static uint64_t timeouts;
static uint64_t idler_walks;
static int idler_place;

enum { IDLE_MS = 10 };

/* A tick is no message for this, and yet makes it move. */
static tr_next idler_setup(tr_self *self)
{
    tr_set_receive_timeout(self, IDLE_MS * MS);
    (void)tr_timer_fixed_rate(self, "tick", 2 * MS + 1, tick);
    touched_ns = tr_now(self);
    return TR_SAME;
}

static tr_next idler_tick(tr_self *self)
{
    idler_walks += tr_worker(self) != idler_place;
    idler_place = tr_worker(self);
    return TR_SAME;
}

static tr_next idler_poke(tr_self *self)
{
    touched_ns = tr_now(self);
    if (!chance(8))
        tr_set_receive_timeout(self, IDLE_MS * MS);
    return TR_SAME;
}

static tr_next idler_idle(tr_self *self)
{
    ck_assert_int_ne(touched_ns, 0);
    ck_assert_int_eq(tr_now(self), touched_ns + IDLE_MS * MS);
    touched_ns = 0;
    timeouts++;
    return TR_SAME;
}
TR_BEHAVIOR(idler, void, TR_SETUP(idler_setup), TR_ON(poke, idler_poke), TR_ON(tick, idler_tick),
            TR_ON(tr_receive_timeout, idler_idle));

static void play_idle(void)
{
    idler_ref idler = {0};
    chance_bits = kits_seed;
    ck_assert_int_eq(tr_try_spawn_at(test, &idler, home, idler, NULL), TR_OK);
    tr_kit_settle(kit);
    for (int i = 0; i < 60; i++) {
        for (uint32_t k = chance(3); k; k--)
            tr_tell(test, idler, poke);
        kit_steps(chance(4));
        tr_kit_advance(kit, chance(2 * IDLE_MS) * MS);
        ck_assert(!touched_ns || tr_kit_now(kit) < touched_ns + IDLE_MS * MS);
    }
}

TEST(so_does_the_receive_timeout, "D-07", "WP-12")
{
    idler_walks = timeouts = 0;
    kits_each_moving(40, play_idle);
    ck_assert_uint_gt(idler_walks, 12 * TEST_SEEDS(40));
    ck_assert_uint_gt(timeouts, 12 * TEST_SEEDS(40));
}

/* ---- Who stays because of timers. ---- */

TR_ACTOR(many, poke, run, tick);
static int many_place;
static uint64_t many_walks;
static uint64_t many_ticks;

static tr_next many_poke(tr_self *self)
{
    many_walks += tr_worker(self) != many_place;
    many_place = tr_worker(self);
    return TR_SAME;
}

static tr_next many_tick(const struct tick *message)
{
    ck_assert_uint_eq(message->timer, many_ticks);
    many_ticks++;
    return TR_SAME;
}
TR_BEHAVIOR(many, void, TR_ON(run, on_run), TR_ON(poke, many_poke), TR_ON(tick, many_tick));

static tr_next arm_too_many(tr_self *self)
{
    for (uint32_t i = 0; i <= TR_MOVED_TIMERS_MAX; i++)
        (void)tr_timer_once(self, NULL, TR_SECOND + i, tick, .timer = i);
    return many_poke(self);
}

static tr_next arm_as_many_as_may_be(tr_self *self)
{
    for (uint32_t i = 0; i < TR_MOVED_TIMERS_MAX; i++)
        (void)tr_timer_once(self,
                            i % 2 ? NULL : tr_format(self, "%u", (unsigned)i),
                            TR_SECOND + i,
                            tick,
                            .timer = i);
    return many_poke(self);
}

/* Their order is that in which they were started, with and without a key. */
static tr_next arm_equals(tr_self *self)
{
    for (uint32_t i = 0; i < 4; i++)
        (void)tr_timer_once(
            self, i % 2 ? NULL : tr_format(self, "%u", (unsigned)i), TR_SECOND, tick, .timer = i);
    return many_poke(self);
}

static uint64_t walks_with(turn *arm, uint64_t count)
{
    many_ref many = {0};
    ck_assert_int_eq(tr_try_spawn_at(test, &many, home, many, NULL), TR_OK);
    TELL_RUN(test, many, arm);
    tr_kit_settle(kit);
    many_walks = many_ticks = 0;
    for (int i = 0; i < 40; i++) {
        tr_tell(test, many, poke);
        kit_steps((uint64_t)i % 3);
    }
    tr_kit_settle(kit);
    uint64_t meanwhile = many_walks;
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_uint_eq(many_ticks, count);
    /* Now nothing keeps it. */
    many_walks = 0;
    for (int i = 0; i < 400 && !many_walks; i++) {
        tr_tell(test, many, poke);
        tr_kit_settle(kit);
    }
    ck_assert_uint_gt(many_walks, 0);
    tr_stop(test, many);
    tr_kit_settle(kit);
    return meanwhile;
}

static uint64_t walks_of_most;

static void play_stay(void)
{
    ck_assert_uint_eq(walks_with(arm_too_many, TR_MOVED_TIMERS_MAX + 1), 0);
    ck_assert_uint_eq(walks_with(arm_equals, 4), 0);
    walks_of_most += walks_with(arm_as_many_as_may_be, TR_MOVED_TIMERS_MAX);
}

TEST(too_many_timers_and_equal_deadlines_keep_an_actor, "D-07", "WP-12")
{
    walks_of_most = 0;
    kits_each_moving(10, play_stay);
    ck_assert_uint_gt(walks_of_most, 3 * TEST_SEEDS(10));
}

SUITE("moves with timers", timers_go_along_and_are_known_by_their_handles,
      so_does_the_receive_timeout, too_many_timers_and_equal_deadlines_keep_an_actor)
