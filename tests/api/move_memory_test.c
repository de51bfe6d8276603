/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors that move while memory runs out, at each allocation in turn: a move that has no memory does
 * not take place, or the actor fails; nothing is lost, nobody crashes, and nothing leaks.
 */
#include "support/kits.h"

static uint64_t chance_bits;

static uint32_t chance(uint32_t count)
{
    chance_bits = chance_bits * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(chance_bits >> 33) % count;
}

TR_MESSAGE(poke, (u32, n));
TR_MESSAGE(keep, (u32, n));
TR_MESSAGE(tick, (u32, timer), (u32, version));
TR_MESSAGE(long_tick, (u32, timer), (u32, version), (str, text));
TR_MESSAGE(number, (u32, index));
TR_MESSAGE(answer, (u32, n));
TR_REQUEST(question, answer, (u32, n));
TR_ACTOR(mover, poke, keep, tick, long_tick, question);

enum { MOVERS = 4, TIMERS = 6, LATERS = 4 };

/* What is known of a mover, whatever becomes of its memory. */
static struct {
    tr_ref ref;
    bool is_on[TIMERS];
    tr_timer_kind kind[TIMERS];
    uint32_t version[TIMERS];
    uint32_t ticks[TIMERS];
    bool watches[MOVERS];
    uint32_t begun; /* incarnations */
    uint32_t cleaned;
    uint32_t poked;
    int place;
} known[MOVERS];
static uint64_t walks;
static uint64_t failed_for_memory;
static uint64_t answers;

struct mover {
    uint32_t index;
    tr_timer handles[TIMERS];
    tr_later laters[LATERS];
    uint32_t asked[LATERS];
    unsigned char *block;
    unsigned char large[300];
};

static void mover_clean(void *counter)
{
    (*(uint32_t *)counter)++;
}

static tr_next mover_setup(tr_self *self, struct mover *mover, const struct number *message)
{
    mover->index = message->index;
    memset(mover->large, 7, sizeof mover->large);
    for (int i = 0; i < TIMERS; i++)
        known[mover->index].is_on[i] = false;
    known[mover->index].begun++;
    tr_at_end(self, &known[mover->index].cleaned, mover_clean);
    return TR_SAME;
}

static const char *key_of(uint32_t timer)
{
    static const char *const keys[] = {"a", "a key that is a good deal longer than the other one"};
    return timer < 2 ? keys[timer] : NULL;
}

static void arm(tr_self *self, struct mover *mover, uint32_t timer)
{
    static uint32_t unique_ns;
    struct tick small = {.timer = timer, .version = known[mover->index].version[timer] + 1};
    struct long_tick large = {.timer = timer, .version = small.version, .text = "and some words"};
    bool is_small = chance(2);
    tr_timer_kind kind = (tr_timer_kind)chance(3);
    if (known[mover->index].is_on[timer] && !key_of(timer))
        return;
    tr_status status = tr_self_try_timer(self,
                                         key_of(timer),
                                         kind,
                                         (1 + chance(4)) * MS + ++unique_ns,
                                         is_small ? &tr_type_tick : &tr_type_long_tick,
                                         is_small ? (void *)&small : (void *)&large,
                                         key_of(timer) ? NULL : &mover->handles[timer]);
    ck_assert(status == TR_OK || status == TR_NO_MEMORY);
    if (status != TR_OK)
        return; /* an older one of this key continues */
    known[mover->index].is_on[timer] = true;
    known[mover->index].kind[timer] = kind;
    known[mover->index].version[timer]++;
}

static void disarm(tr_self *self, struct mover *mover, uint32_t timer)
{
    tr_timer_end end = key_of(timer) ? tr_timer_cancel(self, key_of(timer))
                                     : tr_timer_stop(self, mover->handles[timer]);
    ck_assert(end == TR_TIMER_NONE || known[mover->index].is_on[timer]);
    known[mover->index].is_on[timer] = false;
}

static void watch_somebody(tr_self *self, struct mover *mover)
{
    uint32_t who = chance(MOVERS);
    bool *watches = &known[mover->index].watches[who];
    if (who == mover->index)
        return;
    if (chance(3)) {
        if (tr_try_watch(self, known[who].ref) == TR_OK)
            *watches = true;
    } else {
        tr_unwatch(self, known[who].ref);
        *watches = false;
    }
}

static void look(tr_self *self, struct mover *mover)
{
    ck_assert_uint_eq(mover->large[299], 7);
    ck_assert(!mover->block || mover->block[0] == 9);
    walks += known[mover->index].place != tr_worker(self);
    known[mover->index].place = tr_worker(self);
}

static tr_next mover_poke(tr_self *self, struct mover *mover, const struct poke *message)
{
    look(self, mover);
    known[mover->index].poked++;
    uint32_t which = chance(TIMERS);
    switch (message->n % 7) {
    case 0:
        if (!mover->block)
            mover->block = tr_try_alloc(self, 100);
        if (mover->block)
            mover->block[0] = 9;
        break;
    case 1:
    case 2:
        arm(self, mover, which);
        break;
    case 3:
        disarm(self, mover, which);
        break;
    case 4:
        watch_somebody(self, mover);
        break;
    case 5:
        (void)tr_tell(self, known[chance(MOVERS)].ref, keep);
        (void)tr_unstash(self, 1);
        break;
    default:
        which = chance(LATERS);
        if (mover->laters[which].number &&
            tr_reply_to(self, mover->laters[which], answer, .n = mover->asked[which]) !=
                TR_NO_MEMORY)
            mover->laters[which] = (tr_later){0};
        break;
    }
    return TR_SAME;
}

static tr_next mover_keep(tr_self *self, struct mover *mover)
{
    look(self, mover);
    return chance(2) && tr_stash_count(self) < 4 ? tr_stash(self) : TR_SAME;
}

static tr_next mover_question(tr_self *self, struct mover *mover, const struct question *message)
{
    look(self, mover);
    uint32_t which = chance(LATERS);
    if (mover->laters[which].number)
        return tr_reply(self, answer, .n = message->n);
    mover->laters[which] = tr_reply_later(self);
    mover->asked[which] = message->n;
    return TR_SAME;
}

static tr_next any_tick(tr_self *self, struct mover *mover, uint32_t timer, uint32_t version)
{
    look(self, mover);
    ck_assert(known[mover->index].is_on[timer]);
    ck_assert_uint_eq(version, known[mover->index].version[timer]);
    known[mover->index].ticks[timer]++;
    if (known[mover->index].kind[timer] == TR_TIMER_ONCE)
        known[mover->index].is_on[timer] = false;
    return TR_SAME;
}

static tr_next mover_tick(tr_self *self, struct mover *mover, const struct tick *message)
{
    return any_tick(self, mover, message->timer, message->version);
}

static tr_next mover_long_tick(tr_self *self, struct mover *mover, const struct long_tick *message)
{
    ck_assert_str_eq(message->text, "and some words");
    return any_tick(self, mover, message->timer, message->version);
}

static tr_next mover_terminated(struct mover *mover, const struct tr_terminated *message)
{
    uint32_t who = 0;
    while (who < MOVERS && !tr_is_same(known[who].ref, message->who))
        who++;
    ck_assert_uint_lt(who, MOVERS);
    ck_assert(known[mover->index].watches[who]);
    known[mover->index].watches[who] = false;
    return TR_SAME;
}

static tr_next mover_down(const struct tr_pre_restart *message)
{
    ck_assert_int_eq(message->cause.status, TR_NO_MEMORY);
    failed_for_memory++;
    return TR_SAME;
}
TR_BEHAVIOR(mover, struct mover, TR_SETUP_WITH(number, mover_setup), TR_ON(poke, mover_poke),
            TR_ON(keep, mover_keep), TR_ON(question, mover_question), TR_ON(tick, mover_tick),
            TR_ON(long_tick, mover_long_tick), TR_ON(tr_terminated, mover_terminated),
            TR_ON(tr_pre_restart, mover_down));

/* No timer of one that lives is forgotten. */
static void check_timers(void)
{
    for (uint32_t i = 0; i < MOVERS; i++) {
        memset(known[i].ticks, 0, sizeof known[i].ticks);
        (void)tr_tell(test, known[i].ref, keep);
    }
    tr_kit_advance(kit, 10 * MS);
    for (uint32_t i = 0; i < MOVERS; i++) {
        for (uint32_t k = 0; k < TIMERS && known[i].begun > known[i].cleaned; k++) {
            bool is_due = known[i].is_on[k];
            ck_assert_msg(!is_due || (known[i].kind[k] != TR_TIMER_ONCE && known[i].ticks[k]),
                          "seed %" PRIu64 ": timer %u of %u does not come",
                          kits_seed,
                          k,
                          i);
        }
    }
}

enum { ASKS = 40 };

/* The same for every `nth`: what differs is what follows from it. */
static uint64_t play(uint64_t seed, uint64_t nth, bool and_all_after)
{
    question_ask asks[ASKS];
    uint32_t ask_count = 0;
    chance_bits = seed;
    memset(known, 0, sizeof known);
    kit_open_as(2 + (int)(seed % 3), seed, true);
    for (uint32_t i = 0; i < MOVERS; i++) {
        mover_ref mover = {0};
        int worker =
            seed % 2 ? 0 : (int)i % (home + 1); /* where others know the behavior, or none */
        ck_assert_int_eq(tr_try_spawn_at(test, &mover, worker, mover, NULL, number, .index = i),
                         TR_OK);
        known[i].ref = tr_any(mover);
    }
    tr_kit_settle(kit);
    uint64_t before = tr_kit_allocations(kit);
    tr_kit_fail_allocation(kit, nth, and_all_after);
    for (uint32_t i = 0; i < 120; i++) {
        if (and_all_after && i == 100)
            tr_kit_fail_allocation(kit, 0, false);
        (void)tr_tell(test, known[chance(MOVERS)].ref, poke, .n = chance(7));
        if (ask_count < ASKS && !chance(4)) {
            mover_ref to = mover_ref_of(known[chance(MOVERS)].ref);
            asks[ask_count] = tr_ask_within(test, 50 * MS, to, question, .n = ask_count);
            ask_count++;
        }
        kit_steps(chance(6));
        tr_kit_check(kit);
        if (i % 4 == 0)
            tr_kit_advance(kit, MS);
    }
    uint64_t allocations = tr_kit_allocations(kit) - before;
    tr_kit_fail_allocation(kit, 0, false);
    for (uint32_t i = 0; i < ask_count; i++) {
        const struct answer *reply = NULL;
        tr_status status = tr_try_await(test, asks[i], &reply);
        ck_assert(status != TR_OK || reply->n == i);
        answers += status == TR_OK;
    }
    check_timers();
    /* Who has not failed too often continues as ever. */
    for (uint32_t i = 0; i < MOVERS; i++) {
        uint32_t poked = known[i].poked;
        bool is_up = tr_tell(test, known[i].ref, poke, .n = 0) == TR_OK;
        tr_kit_settle(kit);
        ck_assert_uint_eq(known[i].poked, poked + is_up);
        ck_assert_uint_eq(known[i].begun, known[i].cleaned + is_up);
    }
    memset(known[0].watches, true, sizeof known[0].watches);
    for (uint32_t i = 1; i < MOVERS; i++)
        memcpy(known[i].watches, known[0].watches, sizeof known[0].watches);
    kit_close();
    return allocations;
}

static void play_all(bool and_all_after)
{
    uint64_t count = 0;
    for (uint64_t seed = 1; seed <= (test_is_long() ? 100 : 3); seed++) {
        uint64_t allocations = play(seed, 0, false);
        ck_assert_uint_gt(allocations, 10);
        for (uint64_t nth = 1; nth <= allocations; nth += 1 + (TEST_HAS_SANITIZER ? 3 : 0)) {
            (void)play(seed, nth, and_all_after);
            count++;
        }
    }
    ck_assert_uint_gt(walks, count);
    ck_assert_uint_gt(answers, count);
}

TEST(a_move_without_memory_loses_nothing, "D-07", "U-03")
{
    play_all(false);
    ck_assert_uint_gt(failed_for_memory, 0);
}

TEST(nor_do_moves_while_there_is_none_for_long, "D-07", "U-03")
{
    play_all(true);
}

SUITE("moves without memory", a_move_without_memory_loses_nothing,
      nor_do_moves_while_there_is_none_for_long)
