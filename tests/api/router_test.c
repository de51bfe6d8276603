/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Routers: the same key, the same member; and a member that leaves moves its own keys only.
 */
#include "support/crowd.h"

enum shade { LIGHT, DARK };

TR_MESSAGE(sell, (u32, customer), (array(u8, 40), bill));
TR_MESSAGE(by_name, (str, name));
TR_MESSAGE(by_bytes, (bytes, raw));
TR_MESSAGE(by_ref, (ref, whom));
TR_MESSAGE(by_shade, (enum_of(shade), shade));
TR_MESSAGE(by_sign, (i16, n));
TR_REQUEST(find, who_said, (u64, customer));
TR_REQUEST(look_up, who_said, (str, name));
TR_REQUEST(look_at, who_said, (bytes, raw));
TR_REQUEST(look_for, who_said, (ref, whom));
TR_REQUEST(look_shade, who_said, (enum_of(shade), shade));
TR_REQUEST(look_sign, who_said, (i64, n));
TR_REQUEST(half, who_said, (u64, n));
TR_MESSAGE(keyless);
TR_REQUEST(ask_keyless, who_said);
TR_ACTOR(ledger, sell, by_name, by_bytes, by_ref, by_shade, by_sign, find, look_up, look_at,
         look_for, look_shade, look_sign, half, keyless, ask_keyless, fall, break_);

static uint64_t key_of_half(const struct half *message)
{
    return message->n / 2;
}

TR_ROUTES(ledger, TR_ROUTE_BY(sell, customer), TR_ROUTE_BY(by_name, name),
          TR_ROUTE_BY(by_bytes, raw), TR_ROUTE_BY(by_ref, whom), TR_ROUTE_BY(by_shade, shade),
          TR_ROUTE_BY(by_sign, n), TR_ROUTE_BY(find, customer), TR_ROUTE_BY(look_up, name),
          TR_ROUTE_BY(look_at, raw), TR_ROUTE_BY(look_for, whom), TR_ROUTE_BY(look_shade, shade),
          TR_ROUTE_BY(look_sign, n), TR_ROUTE_WITH(half, key_of_half));

static int last_number; /* of the member that got a notice last */

static tr_next on_notice(tr_self *self)
{
    last_number = (int)number_of(self);
    return TR_SAME;
}

static int sold_by[64]; /* who got the last sell of a customer */

static tr_next on_sell(tr_self *self, const struct sell *message)
{
    sold_by[message->customer % 64] = (int)number_of(self);
    return on_notice(self);
}

static tr_next on_look(tr_self *self)
{
    return tr_reply(self,
                    who_said,
                    .number = number_of(self),
                    .worker = tr_worker(self),
                    .member = tr_me(self));
}

TR_BEHAVIOR(ledger, void, TR_ON(sell, on_sell), TR_ON(by_name, on_notice),
            TR_ON(by_bytes, on_notice), TR_ON(by_ref, on_notice), TR_ON(by_shade, on_notice),
            TR_ON(by_sign, on_notice), TR_ON(find, on_look), TR_ON(look_up, on_look),
            TR_ON(look_at, on_look), TR_ON(look_for, on_look), TR_ON(look_shade, on_look),
            TR_ON(look_sign, on_look), TR_ON(half, on_look), TR_ON(fall, on_fall),
            TR_ON(break_, on_break), TR_ON(keyless, on_notice), TR_ON(ask_keyless, on_look));

static ledger_ref ledgers;

static void router_open(int members)
{
    ck_assert_int_eq(tr_try_spawn_router(test, &ledgers, ledger, "ledgers", members), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(test, ledgers, TR_SECOND, NULL), TR_OK);
    tr_kit_settle(kit);
}

/* Asks, and gives the number of the member that answered. */
#define ASKED(...)                                                                                 \
    ({                                                                                             \
        const struct who_said *said_;                                                              \
        ck_assert_int_eq(tr_try_await(test, tr_ask(test, ledgers, __VA_ARGS__), &said_), TR_OK);   \
        (int)said_->number;                                                                        \
    })
/* Tells, and gives the number of the member that got it. */
#define TOLD(...)                                                                                  \
    ({                                                                                             \
        last_number = 0;                                                                           \
        ck_assert_int_eq(tr_tell(test, ledgers, __VA_ARGS__), TR_OK);                              \
        tr_kit_settle(kit);                                                                        \
        last_number;                                                                               \
    })

static void keys_play(void)
{
    static const char *const names[] = {"anna", "ben", "", "a longer name than that"};
    router_open(5);
    for (uint32_t i = 0; i < 20; i++) {
        int number = TOLD(sell, .customer = i);
        ck_assert_int_ge(number, 1);
        ck_assert_int_eq(ASKED(find, .customer = i), number); /* also of another width */
        ck_assert_int_eq(TOLD(sell, .customer = i, .bill[3] = 9), number);
        ck_assert_int_eq(ASKED(half, .n = 2 * i), ASKED(half, .n = 2 * i + 1));
        ck_assert_int_eq(ASKED(half, .n = 2 * i), number); /* the function gives the same key */
        int signed_ = TOLD(by_sign, .n = (int16_t)-i);
        ck_assert_int_eq(ASKED(look_sign, .n = -(int64_t)i), signed_);
    }
    for (int i = 0; i < 4; i++) {
        int number = TOLD(by_name, .name = names[i]);
        ck_assert_int_eq(ASKED(look_up, .name = names[i]), number);
        ck_assert_int_eq(ASKED(look_at, .raw = {names[i], strlen(names[i])}), number);
        ck_assert_int_eq(TOLD(by_bytes, .raw = {names[i], strlen(names[i])}), number);
    }
    ck_assert_int_eq(TOLD(by_name, .name = NULL), ASKED(look_up, .name = NULL));
    ck_assert_int_eq(TOLD(by_ref, .whom = tr_any(ledgers)),
                     ASKED(look_for, .whom = tr_any(ledgers)));
    ck_assert_int_eq(TOLD(by_shade, .shade = DARK), ASKED(look_shade, .shade = DARK));
}
TEST(the_same_key_has_the_same_member, "")
{
    kits_each(keys_play);
}

static tr_next ask_from_here(tr_self *self)
{
    for (uint64_t i = 0; i < 30; i++) {
        const struct who_said *here = tr_await(self, tr_ask(self, ledgers, find, .customer = i));
        say("%d", (int)here->number);
    }
    return TR_SAME;
}
static void anywhere_play(void)
{
    router_open(4);
    char first[sizeof said_text];
    boss_runs(0, ask_from_here);
    strcpy(first, said());
    for (int worker = 1; worker <= home; worker++) {
        boss_runs(worker, ask_from_here);
        SAID(first);
    }
}
TEST(a_key_has_its_member_for_everybody, "")
{
    kits_each(anywhere_play);
}

enum { KEYS = 4000 };

static void owners_of(int *owners)
{
    for (uint64_t i = 0; i < KEYS; i++)
        owners[i] = ASKED(find, .customer = i);
}

TEST(a_member_that_leaves_moves_its_own_keys_only, "")
{
    static int before[KEYS];
    static int after[KEYS];
    for (uint64_t seed = 1; seed <= TEST_SEEDS(6); seed++) {
        kit_open(3, seed);
        router_open(8);
        owners_of(before);
        tr_ref members[8];
        ck_assert_uint_eq(tr_group_members(test, ledgers, members, 8), 8);
        ck_assert_int_eq(tr_kill(test, members[2]), TR_OK);
        for (int step = 0; step < 8; step++) /* it is gone, and perhaps not known to be */
            (void)tr_kit_step(kit);
        int counts[9] = {0};
        int moved[9] = {0};
        owners_of(after);
        for (int i = 0; i < KEYS; i++) {
            counts[before[i]]++;
            ck_assert_int_ne(after[i], 3);
            if (before[i] != 3)
                ck_assert_int_eq(after[i], before[i]);
            else
                moved[after[i]]++;
        }
        for (int i = 1; i <= 8; i++) {
            ck_assert_int_gt(counts[i], KEYS / 8 * 2 / 3);
            ck_assert_int_lt(counts[i], KEYS / 8 * 4 / 3);
            if (i != 3)
                ck_assert_int_gt(moved[i], 10); /* all others share them */
        }
        kit_close();
    }
}

/*
 * Those who are left have what the stopped ones had, down to the last; and who has it does not depend on
 * whether the router knows of the end already.
 */
static void last_play(void)
{
    router_open(4);
    for (int left = 3; left >= 1; left--) {
        tr_ref members[4];
        ck_assert_uint_eq(tr_group_members(test, ledgers, members, 4), (size_t)left + 1);
        ck_assert_int_eq(tr_kill(test, members[kits_seed % ((uint64_t)left + 1)]), TR_OK);
        for (uint64_t i = 0; i < kits_seed % 5; i++)
            (void)tr_kit_step(kit);
        memset(sold_by, 0, sizeof sold_by);
        for (uint32_t i = 0; i < 64; i++)
            ck_assert_int_eq(tr_tell(test, ledgers, sell, .customer = i), TR_OK);
        tr_kit_settle(kit);
        ck_assert_uint_eq(tr_group_count(test, ledgers), (size_t)left);
        for (uint32_t i = 0; i < 64; i++) {
            int now = ASKED(find, .customer = i);
            ck_assert_int_eq(ASKED(find, .customer = i), now);
            if (sold_by[i]) /* else it had reached the one that was killed */
                ck_assert_int_eq(sold_by[i], now);
        }
    }
    tr_ref last;
    ck_assert_uint_eq(tr_group_members(test, ledgers, &last, 1), 1);
    ck_assert_int_eq(tr_kill(test, last), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_tell(test, ledgers, sell, .customer = 1), TR_STOPPED);
}
TEST(keys_find_those_who_are_left, "")
{
    kits_each(last_play);
}

static void keyless_play(void)
{
    const struct who_said *said_;
    ck_assert_int_eq(tr_try_spawn_router(test, &ledgers, ledger, "ledgers", 3), TR_OK);
    ck_assert_int_eq(tr_tell(test, ledgers, keyless), TR_OK); /* not set up: known later */
    tr_kit_settle(kit);
    ck_assert_uint_eq(dead_letters(TR_UNHANDLED), 1);
    ck_assert_int_eq(tr_tell(test, ledgers, keyless), TR_UNHANDLED);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, ledgers, ask_keyless), &said_), TR_UNHANDLED);
    ck_assert_uint_eq(dead_letters(TR_UNHANDLED), 2);
}
TEST(a_message_without_a_key_is_unhandled, "B-02")
{
    kits_each(keyless_play);
}

TR_ACTOR(clerk, sell, run);
TR_ROUTES(clerk, TR_ROUTE_BY(sell, customer));
TR_BEHAVIOR(clerk, void, TR_ON(sell, on_notice), TR_ON(run, on_run), TR_OPTIONS(.mailbox_max = 2));
static void full_play(void)
{
    clerk_ref clerks;
    ck_assert_int_eq(tr_try_spawn_router(test, &clerks, clerk, "clerks", 3), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_suspend(test, clerks), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_tell(test, clerks, sell, .customer = 1), TR_OK);
    ck_assert_int_eq(tr_tell(test, clerks, sell, .customer = 1), TR_OK);
    ck_assert_int_eq(tr_tell(test, clerks, sell, .customer = 1), TR_MAILBOX_FULL);
    ck_assert_uint_eq(dead_letters(TR_MAILBOX_FULL), 1);
}
TEST(a_key_does_not_go_to_another_because_its_member_is_full, "M-02")
{
    kits_each(full_play);
}

/* ---- Tables that are none. ---- */

TR_MESSAGE(odd, (f64, price), (list(u32), many), (buffer, data), (message(keyless), inner),
           (optional(u32), maybe), (u32, fine));

static tr_status spawn_with(const tr_route *routes)
{
    uint64_t bits;
    tr_spawn_args args = {.size = sizeof args, .behavior = &tr_behavior_ledger, .worker = -1};
    tr_group_args how = {.size = sizeof how, .members = 2, .routes = routes};
    return tr_client_try_spawn_group(test, &args, &how, &bits);
}
#define ODD(field)                                                                                 \
    spawn_with(                                                                                    \
        (const tr_route[]){{&tr_type_odd, NULL, offsetof(struct odd, field)}, {NULL, NULL, 0}})

TEST(routes_that_are_none_are_refused, "")
{
    kit_open(1, 1);
    ck_assert_int_eq(ODD(price), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(ODD(many), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(ODD(data), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(ODD(inner), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(ODD(maybe), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(ODD(fine), TR_OK);
    ck_assert_int_eq(spawn_with((const tr_route[]){{NULL, NULL, 0}}), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(spawn_with((const tr_route[]){{&tr_type_sell, NULL, 1}, {NULL, NULL, 0}}),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(spawn_with((const tr_route[]){
                         {&tr_type_sell, NULL, 0}, {&tr_type_sell, NULL, 0}, {NULL, NULL, 0}}),
                     TR_INVALID_ARGUMENT);
    kit_close();
}

SUITE("router", the_same_key_has_the_same_member, a_key_has_its_member_for_everybody,
      a_member_that_leaves_moves_its_own_keys_only, keys_find_those_who_are_left,
      a_message_without_a_key_is_unhandled, a_key_does_not_go_to_another_because_its_member_is_full,
      routes_that_are_none_are_refused)
