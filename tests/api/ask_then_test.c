/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tr_ask_then: the outcome of an ask as a turn of its own. On kits and on real threads.
 */
#include "support/stage.h"

enum { NO_FUNDS = 7 };

TR_MESSAGE(balance, (u64, cents));
TR_REQUEST(withdraw, balance, (u64, cents));
TR_REQUEST(describe, tr_done, (u64, cents));
TR_REQUEST(be_slow, balance);
TR_REQUEST(break_down, balance);
TR_ACTOR(account, withdraw, be_slow, break_down, describe);

struct account {
    uint64_t cents;
    tr_later later;
};

static tr_next set_up(struct account *account)
{
    account->cents = 100;
    return TR_SAME;
}

static tr_next on_withdraw(tr_self *self, struct account *account, const struct withdraw *message)
{
    if (message->cents > account->cents)
        return tr_refuse(self, NO_FUNDS, "only %u left", (unsigned)account->cents);
    account->cents -= message->cents;
    return tr_reply(self, balance, .cents = account->cents);
}

static tr_next on_slow(tr_self *self, struct account *account)
{
    account->later = tr_reply_later(self);
    return TR_SAME;
}

static tr_next on_break(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "broken");
}

TR_BEHAVIOR(account, struct account, TR_SETUP(set_up), TR_ON(withdraw, on_withdraw),
            TR_ON(be_slow, on_slow), TR_ON(break_down, on_break),
            TR_OPTIONS(.restart = TR_TEMPORARY));

/* ---- Who asks: what happens is in its diary, and told to whom it may concern. ---- */

TR_MESSAGE(told, (i32, status), (i32, code), (u64, cents), (u64, context));
TR_MESSAGE(go, (ref_of(account), account), (ref, owner), (u32, what), (u64, cents), (u64, context));
TR_REQUEST(count, balance);
TR_ACTOR(teller, go, count);

struct teller {
    tr_ref owner;
    account_ref account;
    uint64_t turns;
};

static void tell(tr_self *self, const struct teller *teller, tr_status status, const tr_error *why,
                 uint64_t cents, const void *context)
{
    tr_tell(self,
            teller->owner,
            told,
            .status = status,
            .code = why->code,
            .cents = cents,
            .context = (uint64_t)(uintptr_t)context);
}

static tr_next on_left(tr_self *self, struct teller *teller, const withdraw_answer *answer)
{
    teller->turns++;
    ck_assert_int_eq(answer->why->status, answer->status);
    ck_assert_int_eq(answer->reply == NULL, answer->status != TR_OK);
    ck_assert_uint_eq(tr_sender(self).bits, 0);
    tell(self,
         teller,
         answer->status,
         answer->why,
         answer->reply ? answer->reply->cents : 0,
         answer->context);
    return TR_SAME;
}
TR_THEN(left, withdraw, struct teller, on_left);

/* A callback may wait as well; its answer is there afterwards. */
static tr_next on_left_and_more(tr_self *self, struct teller *teller, const withdraw_answer *answer)
{
    const struct balance *more;
    more = tr_await(self, tr_ask(self, teller->account, withdraw, .cents = 1));
    tell(self, teller, TR_OK, answer->why, answer->reply->cents * 1000 + more->cents, NULL);
    return TR_SAME;
}
TR_THEN(left_and_more, withdraw, struct teller, on_left_and_more);

static tr_next on_slow_end(tr_self *self, struct teller *teller, const be_slow_answer *answer)
{
    teller->turns++;
    tell(self, teller, answer->status, answer->why, 0, NULL);
    return TR_SAME;
}
TR_THEN(slow_end, be_slow, struct teller, on_slow_end);

static tr_next on_broken(tr_self *self, struct teller *teller, const break_down_answer *answer)
{
    tell(self, teller, answer->status, answer->why, 0, NULL);
    return TR_SAME;
}
TR_THEN(broken, break_down, struct teller, on_broken);

static tr_next on_described(tr_self *self, struct teller *teller, const describe_answer *answer)
{
    tell(self, teller, answer->status, answer->why, 0, NULL);
    return TR_STOP;
}
TR_THEN(described, describe, struct teller, on_described);

static tr_next on_stashed(tr_self *self)
{
    return tr_stash(self);
}
TR_THEN(stashed, withdraw, struct teller, on_stashed);

enum { LEFT, MORE, SLOW, BROKEN, DESCRIBE, BECOME, STASH, TWICE };

TR_MESSAGE(anything, (u64, n));
struct other {
    uint64_t n[5];
};
static tr_next on_any(void)
{
    ck_abort_msg("the answer is no message");
}
TR_BEHAVIOR(other, struct other, TR_ON_ANY(on_any), TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_next on_go(tr_self *self, struct teller *teller, const struct go *message)
{
    void *context = (void *)(uintptr_t)message->context;
    teller->owner = message->owner;
    teller->account = message->account;
    switch (message->what) {
    case TWICE:
        tr_ask_then(self, left, context, message->account, withdraw, .cents = message->cents);
        tr_ask_then(self, left, NULL, message->account, withdraw, .cents = message->cents);
        break;
    case LEFT:
    case BECOME:
        tr_ask_then(self, left, context, message->account, withdraw, .cents = message->cents);
        break;
    case MORE:
        tr_ask_then(self, left_and_more, NULL, message->account, withdraw, .cents = 1);
        break;
    case SLOW:
        tr_ask_then_within(self, TR_SECOND, slow_end, NULL, message->account, be_slow);
        break;
    case BROKEN:
        tr_ask_then(self, broken, NULL, message->account, break_down);
        break;
    case DESCRIBE:
        tr_ask_then(self, described, NULL, message->account, describe);
        break;
    case STASH:
        tr_ask_then(self, stashed, NULL, message->account, withdraw);
        break;
    }
    return message->what == BECOME ? tr_become(self, other) : TR_SAME;
}

static tr_next on_count(tr_self *self, struct teller *teller)
{
    return tr_reply(self, balance, .cents = teller->turns);
}

TR_BEHAVIOR(teller, struct teller, TR_ON(go, on_go), TR_ON(count, on_count),
            TR_OPTIONS(.restart = TR_TEMPORARY));

/* One that asks while it is set up. */
TR_ACTOR(early, count);
TR_MESSAGE(begin_with, (ref_of(account), account), (ref, owner), (bool, fails));
static tr_next on_early(tr_self *self, struct teller *teller, const struct begin_with *message)
{
    teller->owner = message->owner;
    tr_ask_then(self, left, NULL, message->account, withdraw, .cents = 10);
    return message->fails ? tr_fail(self, TR_BAD_DATA, "no") : TR_SAME;
}
static tr_next on_late(tr_self *self, struct teller *teller)
{
    ck_assert_int_eq(tr_try_ask_then(self, left, NULL, teller->account, withdraw, .cents = 1),
                     TR_STOPPING);
    return TR_SAME;
}
TR_BEHAVIOR(early, struct teller, TR_SETUP_WITH(begin_with, on_early), TR_ON(count, on_count),
            TR_ON(tr_post_stop, on_late), TR_OPTIONS(.restart = TR_TEMPORARY));

struct pair {
    account_ref account;
    teller_ref teller;
};

static struct pair pair_new(struct stage *stage)
{
    struct pair pair;
    ck_assert_int_eq(tr_try_spawn(stage->client, &pair.account, account, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &pair.teller, stage_far(stage), teller, NULL),
                     TR_OK);
    tr_kit_settle(stage->kit);
    return pair;
}

#define GO(stage, pair, ...)                                                                       \
    tr_tell((stage)->client,                                                                       \
            (pair).teller,                                                                         \
            go,                                                                                    \
            .account = (pair).account,                                                             \
            .owner = tr_client_ref((stage)->client),                                               \
            __VA_ARGS__)

static struct told hear(struct stage *stage)
{
    const struct told *heard = tr_receive(stage->client, told, TR_HOUR);
    ck_assert_ptr_nonnull(heard);
    return *heard;
}

static void play_outcomes(struct stage *stage)
{
    struct pair pair = pair_new(stage);
    GO(stage, pair, .what = LEFT, .cents = 30, .context = 77);
    struct told heard = hear(stage);
    ck_assert_int_eq(heard.status, TR_OK);
    ck_assert_uint_eq(heard.cents, 70);
    ck_assert_uint_eq(heard.context, 77);
    GO(stage, pair, .what = LEFT, .cents = 71);
    heard = hear(stage);
    ck_assert_int_eq(heard.status, TR_REFUSED);
    ck_assert_int_eq(heard.code, NO_FUNDS);
    GO(stage, pair, .what = MORE);
    ck_assert_uint_eq(hear(stage).cents, 69068);
    tr_time before = tr_kit_now(stage->kit);
    GO(stage, pair, .what = SLOW);
    ck_assert_int_eq(hear(stage).status, TR_TIMEOUT);
    ck_assert_int_ge(tr_kit_now(stage->kit) - before, TR_SECOND);
    GO(stage, pair, .what = BROKEN);
    ck_assert_int_eq(hear(stage).status, TR_FAILED);
    tr_kit_settle(stage->kit);
    GO(stage, pair, .what = LEFT);
    ck_assert_int_eq(hear(stage).status, TR_STOPPED);
    ck_assert_uint_eq(stage_live(stage), 1);
    ck_assert_ptr_null(tr_receive(stage->client, told, TR_SECOND));
}

TEST(each_outcome_is_told_once, "A-01", "B-04")
{
    stage_play(play_outcomes);
}

static void play_result(struct stage *stage)
{
    struct pair pair = pair_new(stage);
    GO(stage, pair, .what = DESCRIBE);
    ck_assert_int_eq(hear(stage).status, TR_UNHANDLED);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 1); /* its result was TR_STOP */
    pair = pair_new(stage);
    GO(stage, pair, .what = STASH);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 2); /* it failed: there is nothing to set aside */
    pair = pair_new(stage);
    GO(stage, pair, .what = BECOME);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(
        stage_dead_letters_to(stage, tr_any(pair.teller), "tr_answered", TR_UNHANDLED), 1);
    ck_assert_ptr_null(tr_receive(stage->client, told, 0));
}

TEST(its_turn_is_one_like_others, "B-04", "A-01", "B-01")
{
    stage_play(play_result);
}

static void play_ends(struct stage *stage)
{
    struct pair pair = pair_new(stage);
    /* A poison pill waits for the answer, a kill does not. */
    GO(stage, pair, .what = SLOW);
    tr_stop(stage->client, pair.teller);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 2);
    ck_assert_int_eq(hear(stage).status, TR_TIMEOUT);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 1);
    pair = pair_new(stage);
    for (uint64_t i = 0; i < 20; i++) {
        GO(stage, pair, .what = i % 2 ? SLOW : TWICE);
        for (uint64_t n = 0; n < (stage->seed + i) % 5; n++)
            tr_kit_step(stage->kit);
    }
    tr_kill(stage->client, pair.teller);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 2);
    tr_kit_advance(stage->kit, TR_MINUTE);
    while (tr_receive(stage->client, told, 0))
        ;
}

TEST(an_ask_ends_with_its_actor, "A-01", "Y-01", "Y-02")
{
    stage_play(play_ends);
}

static void play_early(struct stage *stage)
{
    account_ref account;
    early_ref early;
    ck_assert_int_eq(tr_try_spawn(stage->client, &account, account, NULL), TR_OK);
    for (int fails = 0; fails <= 1; fails++) {
        ck_assert_int_eq(tr_try_spawn_at(stage->client,
                                         &early,
                                         stage_far(stage),
                                         early,
                                         NULL,
                                         begin_with,
                                         .account = account,
                                         .owner = tr_client_ref(stage->client),
                                         .fails = fails),
                         TR_OK);
        tr_kit_settle(stage->kit);
    }
    ck_assert_uint_eq(hear(stage).cents, 90);
    ck_assert_ptr_null(tr_receive(stage->client, told, TR_MINUTE));
}

TEST(a_set_up_may_ask, "A-01", "B-04")
{
    stage_play(play_early);
}

TEST(lack_of_memory_is_a_status_or_an_outcome, "A-01", "U-03")
{
    for (uint64_t nth = 1;; nth++) {
        struct stage stage = {.kit = tr_kit_new(NULL), .workers = 1, .seed = 1};
        stage.client = tr_kit_client(stage.kit);
        struct pair pair = pair_new(&stage);
        GO(&stage, pair, .what = TWICE, .cents = 1);
        uint64_t before = tr_kit_allocations(stage.kit);
        tr_kit_fail_allocation(stage.kit, nth, false);
        tr_kit_settle(stage.kit);
        tr_kit_advance(stage.kit, TR_MINUTE);
        bool is_over = tr_kit_allocations(stage.kit) - before < nth;
        size_t heard = 0;
        while (tr_receive(stage.client, told, 0))
            heard++;
        /* All, or the turn of one of them failed. */
        ck_assert(heard == 2 || stage_live(&stage) == 1);
        tr_kit_free(stage.kit);
        if (is_over)
            break;
        ck_assert_uint_lt(nth, 100);
    }
}

TEST(on_real_threads_every_answer_comes, "A-01")
{
    enum { COUNT = 2000 };
    struct theatre theatre = theatre_open(2);
    struct stage stage = {.client = theatre.client};
    struct pair pair;
    const struct balance *balance;
    ck_assert_int_eq(tr_try_spawn(theatre.client, &pair.account, account, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(theatre.client, &pair.teller, 1, teller, NULL), TR_OK);
    for (uint64_t i = 0; i < COUNT; i++)
        GO(&stage, pair, .what = LEFT, .context = i);
    for (uint64_t i = 0; i < COUNT; i++) {
        const struct told *heard = tr_receive(theatre.client, told, STAGE_PATIENCE);
        ck_assert_ptr_nonnull(heard);
        ck_assert_int_eq(heard->status, TR_OK);
        ck_assert_uint_eq(heard->context, i); /* replies of one actor come in order */
    }
    /* A thread with a loop of its own looks now and then. */
    count_ask asked = tr_ask_within(theatre.client, STAGE_PATIENCE, pair.teller, count);
    while (!tr_is_answered(theatre.client, asked))
        tr_platform_real()->yield(tr_platform_real());
    ck_assert_int_eq(tr_try_await(theatre.client, asked, &balance), TR_OK);
    ck_assert_uint_eq(balance->cents, COUNT);
    ck_assert(tr_is_answered(theatre.client, asked)); /* there is none any more */
    theatre_close(&theatre);
}

SUITE("api ask then", each_outcome_is_told_once, its_turn_is_one_like_others,
      an_ask_ends_with_its_actor, a_set_up_may_ask, lack_of_memory_is_a_status_or_an_outcome,
      on_real_threads_every_answer_comes)
