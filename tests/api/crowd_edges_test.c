/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Groups at their limits: members without room, set-ups that fail, ways to send, bad input, churn.
 */
#include "support/crowd.h"

/* ---- Members without room. ---- */

TR_ACTOR(narrow, told, who, run);
MEMBER(narrow, TR_OPTIONS(.mailbox_max = 2));
TR_ACTOR(patient, told, who, run);
MEMBER(patient, TR_OPTIONS(.mailbox_max = 2, .overflow = TR_PARK));
TR_ACTOR(careless, told, who, run);
MEMBER(careless, TR_OPTIONS(.mailbox_max = 2, .overflow = TR_DROP_NEWEST));

#define OPEN(kind, count)                                                                          \
    do {                                                                                           \
        kind##_ref ref;                                                                            \
        crowd_clear();                                                                             \
        ck_assert_int_eq(tr_try_spawn_group(test, &ref, kind, "mills", count), TR_OK);             \
        ck_assert_int_eq(tr_spawn_wait(test, ref, TR_SECOND, NULL), TR_OK);                        \
        tr_kit_settle(kit);                                                                        \
        group = member_ref_of(tr_any(ref));                                                        \
    } while (0)

static int taken;
static int full;

static tr_next tell_ten(tr_self *self)
{
    taken = 0;
    full = 0;
    for (uint64_t i = 0; i < 10; i++) {
        tr_status status = tr_tell(self, group, told, .n = i);
        taken += status == TR_OK;
        full += status == TR_MAILBOX_FULL;
        ck_assert(status != TR_OK || !full); /* who has capacity is found at once */
    }
    return TR_SAME;
}

static tr_ref last_letter(void)
{
    tr_dead_letter_record last;
    size_t count;
    tr_system_dead_letters(tr_kit_system(kit), &last, 1, &count);
    ck_assert_uint_eq(count, 1);
    return last.to;
}

static void narrow_play(void)
{
    OPEN(narrow, 3);
    ck_assert_int_eq(tr_suspend(test, group), TR_OK);
    tr_kit_settle(kit);
    boss_runs(home, tell_ten);
    ck_assert_int_eq(taken, 6);
    ck_assert_int_eq(full, 4);
    ck_assert_uint_eq(dead_letters(TR_MAILBOX_FULL), 4);
    ck_assert(!tr_is_same(last_letter(), group));
    ck_assert_int_eq(tr_tell(test, group, told, .n = 10), TR_MAILBOX_FULL);
    who_ask ask = tr_ask(test, group, who, .n = 10);
    const struct who_said *said_;
    ck_assert_int_eq(tr_try_await(test, ask, &said_), TR_MAILBOX_FULL);
    ck_assert_int_eq(tr_resume(test, group), TR_OK);
    tr_kit_settle(kit);
    for (int i = 1; i <= 3; i++)
        ck_assert_uint_eq(note_count[i], 2);
}
TEST(a_member_with_room_is_found_before_the_sender_is_told, "M-02")
{
    kits_each(narrow_play);
}

/* One member is full from the beginning. */
static void uneven_play(void)
{
    OPEN(narrow, 3);
    ck_assert_int_eq(tr_suspend(test, group), TR_OK);
    tr_kit_settle(kit);
    tr_ref members[3];
    ck_assert_uint_eq(tr_group_members(test, group, members, 3), 3);
    for (uint64_t i = 0; i < 2; i++)
        ck_assert_int_eq(tr_tell(test, members[kits_seed % 3], told, .n = i), TR_OK);
    if (kits_seed % 2) {
        boss_runs(home, tell_ten);
        ck_assert_int_eq(taken, 4);
        ck_assert_int_eq(full, 6);
    } else {
        for (uint64_t i = 0; i < 10; i++)
            ck_assert_int_eq(tr_tell(test, group, told, .n = 2 + i),
                             i < 4 ? TR_OK : TR_MAILBOX_FULL);
    }
    ck_assert_int_eq(tr_resume(test, group), TR_OK);
    tr_kit_settle(kit);
    for (int i = 1; i <= 3; i++)
        ck_assert_uint_eq(note_count[i], 2);
}
TEST(a_full_member_is_passed_over, "M-02")
{
    kits_each(uneven_play);
}

static void careless_play(void)
{
    OPEN(careless, 3);
    ck_assert_int_eq(tr_suspend(test, group), TR_OK);
    tr_kit_settle(kit);
    boss_runs(home, tell_ten);
    ck_assert_int_eq(taken, 10);
    ck_assert_uint_eq(dead_letters(TR_MAILBOX_FULL), 4);
    ck_assert_int_eq(tr_tell(test, group, told, .n = 10), TR_OK);
    ck_assert_uint_eq(dead_letters(TR_MAILBOX_FULL), 5);
    tr_kit_check(kit);
}
TEST(what_all_are_too_full_for_follows_their_overflow, "M-02", "M-04")
{
    kits_each(careless_play);
}

static void patient_play(void)
{
    OPEN(patient, 2);
    boss_runs(home, tell_ten);
    ck_assert_int_eq(taken, 10);
    ck_assert_uint_eq(notes_total(), 10);
    notes_are_in_order();
    for (uint64_t i = 10; i < 30; i++) /* a client waits for capacity, which runs the kit */
        ck_assert_int_eq(tr_tell(test, group, told, .n = i), TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_eq(notes_total(), 30);
    notes_are_in_order();
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL), 0);
}
TEST(a_sender_waits_for_room_when_nobody_has_any, "M-02")
{
    kits_each(patient_play);
}

/* ---- Set-ups that fail. ---- */

static tr_next spawn_badly(tr_self *self)
{
    member_ref ref;
    tr_error error;
    tr_spawn_args args = {.size = sizeof args,
                          .behavior = &tr_behavior_member,
                          .name = "mills",
                          .worker = -1,
                          .error = &error};
    tr_group_args how = {.size = sizeof how, .members = 3};
    failing = 1; /* that one is on this worker */
    ck_assert_int_eq(tr_self_try_spawn_group(self, &args, &how, &ref.bits), TR_INIT_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "does not like it"));
    ck_assert(tr_is_nobody(tr_child(self, member, "mills")));
    failing = 0;
    ck_assert_int_eq(tr_self_try_spawn_group(self, &args, &how, &ref.bits), TR_OK);
    group = ref;
    return TR_SAME;
}
static void bad_set_up_play(void)
{
    crowd_clear();
    boss_runs(home, spawn_badly);
    ck_assert_uint_eq(tr_group_count(test, group), 3);
    failing = 1;
    member_ref ref;
    tr_error error;
    ck_assert_int_eq(tr_try_spawn_group(test, &ref, member, "outside", 3), TR_OK);
    ck_assert_int_eq(tr_tell(test, ref, told, .n = 1), TR_OK); /* kept, and then dead */
    ck_assert_int_eq(tr_spawn_wait(test, ref, TR_SECOND, &error), TR_INIT_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "does not like it"));
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_tell(test, ref, told, .n = 1), TR_STOPPED);
    ck_assert_uint_eq(notes_total(), 0);
    ck_assert_uint_eq(dead_letters(TR_STOPPED), 2);
    failing = 0;
}
TEST(a_set_up_that_fails_here_fails_the_group, "L-04")
{
    kits_each(bad_set_up_play);
}

/* Tells a group something; gives how many turns that took. */
static uint64_t turns_to_tell(void)
{
    tr_counters before;
    tr_counters after;
    tr_system_counters(tr_kit_system(kit), &before);
    ck_assert_int_eq(tr_tell(test, group, told, .n = 1), TR_OK);
    tr_kit_settle(kit);
    tr_system_counters(tr_kit_system(kit), &after);
    return after.handled - before.handled;
}

/* What was told to a group that never opened is buried; those after it open all the same. */
static void buried_play(void)
{
    for (int i = 0; i < 8; i++) {
        crowd_clear();
        failing = i % 2;
        ck_assert_int_eq(tr_try_spawn_group(test, &group, member, NULL, 2), TR_OK);
        for (uint64_t n = 0; n < 3; n++)
            ck_assert_int_eq(tr_tell(test, group, told, .n = n), TR_OK);
        if (!failing)
            ck_assert_int_eq(tr_kill(test, group), TR_OK);
        tr_kit_settle(kit);
        ck_assert_uint_eq(notes_total(), 0);
        group_open(NULL, 2);
        ck_assert_uint_eq(turns_to_tell(), 1);
        ck_assert_int_eq(tr_kill(test, group), TR_OK);
        tr_kit_settle(kit);
    }
}
TEST(mail_that_is_buried_with_a_group_does_not_hold_up_the_next, "M-01")
{
    kits_each(buried_play);
}

static void bad_far_set_up_play(void)
{
    if (!home)
        return;
    crowd_clear();
    failing = 2; /* on worker 1 */
    ck_assert_int_eq(tr_try_spawn_group(test, &group, member, "mills", 3), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(test, group, TR_SECOND, NULL), TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_group_count(test, group), 2);
    for (uint64_t i = 0; i < 10; i++)
        ck_assert_int_eq(tr_tell(test, group, told, .n = i), TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_eq(note_count[1], 5);
    ck_assert_uint_eq(note_count[3], 5);
}
TEST(a_set_up_that_fails_elsewhere_leaves_the_group, "L-04")
{
    kits_each(bad_far_set_up_play);
}

TR_MESSAGE(open_shop, (str, sign), (u64, doors));
TR_REQUEST(get_sign, open_shop);
TR_ACTOR(shop, get_sign);
struct shop {
    char *sign;
    uint64_t doors;
};
static tr_next shop_set_up(tr_self *self, struct shop *shop, const struct open_shop *message)
{
    shop->sign = tr_strdup(self, message->sign);
    shop->doors = message->doors;
    return TR_SAME;
}
static tr_next on_get_sign(tr_self *self, struct shop *shop)
{
    if (shop->doors == 13)
        return tr_fail(self, TR_BAD_DATA, "an unlucky one");
    return tr_reply(self, open_shop, .sign = shop->sign, .doors = shop->doors++);
}
TR_BEHAVIOR(shop, struct shop, TR_SETUP_WITH(open_shop, shop_set_up), TR_ON(get_sign, on_get_sign));
static void set_up_message_play(void)
{
    shop_ref shops;
    char sign[] = "a sign that is longer than an envelope";
    ck_assert_int_eq(
        tr_try_spawn_group(test, &shops, shop, NULL, 3, open_shop, .sign = sign, .doors = 12),
        TR_OK);
    memset(sign, 'x', sizeof sign - 1);
    ck_assert_int_eq(tr_spawn_wait(test, shops, TR_SECOND, NULL), TR_OK);
    for (int i = 0; i < 6; i++) {
        const struct open_shop *reply;
        tr_status status = tr_try_await(test, tr_ask(test, shops, get_sign), &reply);
        ck_assert_int_eq(status, i < 3 ? TR_OK : TR_FAILED);
        if (i < 3)
            ck_assert_str_eq(reply->sign, "a sign that is longer than an envelope");
    }
    tr_kit_settle(kit);
    const struct open_shop *reply; /* restarted, with the same message */
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, shops, get_sign), &reply), TR_OK);
    ck_assert_uint_eq(reply->doors, 12);
}
TEST(each_member_is_set_up_with_a_copy_of_the_message, "B-01", "S-04")
{
    kits_each(set_up_message_play);
}

/* ---- Ways to send. ---- */

static int answered;
static tr_next on_answer(const who_answer *answer)
{
    ck_assert_int_eq(answer->status, TR_OK);
    answered++;
    return TR_SAME;
}
TR_THEN(after_who, who, void, on_answer);
TR_ACTOR(gate, told, who);
static tr_next on_pass(tr_self *self)
{
    return tr_forward(self, group);
}
TR_BEHAVIOR(gate, void, TR_ON(told, on_pass), TR_ON(who, on_pass));
static tr_next ask_then(tr_self *self)
{
    tr_ask_then(self, after_who, NULL, group, who, .n = 1);
    return TR_SAME;
}
static void on_called_back(int *calls, const who_answer *answer)
{
    ck_assert_int_eq(answer->status, TR_OK);
    ++*calls;
}
TR_CALLBACK(called_back, who, int, on_called_back);

static void ways_play(void)
{
    group_open("mills", 3);
    gate_ref gate;
    answered = 0;
    ck_assert_int_eq(tr_try_spawn_at(test, &gate, home, gate, NULL), TR_OK);
    tr_tell(test, gate, told, .n = 1);
    const struct who_said *said_;
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, gate, who, .n = 2), &said_), TR_OK);
    boss_runs(home, ask_then);
    ck_assert_int_eq(answered, 1);
    ck_assert_uint_eq(notes_total(), 3);
    int calls = 0;
    ck_assert_int_eq(tr_ask_callback(test, called_back, &calls, group, who, .n = 3), TR_OK);
    tr_kit_settle(kit);
    (void)tr_client_poll(test, 0);
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(
        tr_schedule_fixed_rate(tr_kit_system(kit), NULL, TR_SECOND, group, told, .n = 9), TR_OK);
    tr_kit_advance(kit, 6 * TR_SECOND);
    ck_assert_uint_eq(notes_total(), 10);
    for (int i = 1; i <= 3; i++)
        ck_assert_uint_ge(note_count[i], 2);
    tr_why_report why;
    ck_assert_int_eq(tr_actor_why(test, tr_any(group), &why), TR_OK);
    ck_assert_str_eq(why.path, "/user/mills");
    ck_assert_int_eq(tr_system_subscribe_dead_letters(tr_kit_system(kit), tr_any(group)),
                     TR_NOT_SUPPORTED);
}
TEST(all_ways_to_send_lead_to_a_group, "A-01", "B-04")
{
    kits_each(ways_play);
}

/* ---- Bad input. ---- */

TR_ACTOR(eternal, told);
TR_BEHAVIOR(eternal, void, TR_OPTIONS(.restart = TR_PERMANENT));

static tr_next bad_input(tr_self *self)
{
    member_ref ref = {.bits = 77};
    eternal_ref never;
    shop_ref shop;
    uint64_t bits = 77;
    ck_assert_int_eq(tr_try_spawn_group(self, &ref, member, NULL, 0), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_spawn_group(self, &ref, member, NULL, -2), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_spawn_group(self, &ref, member, NULL, TR_GROUP_MEMBERS_MAX + 1),
                     TR_LIMIT);
    ck_assert_int_eq(tr_try_spawn_group(self, &ref, member, "no name", 1), TR_NAME_INVALID);
    ck_assert_int_eq(tr_try_spawn_group(self, &ref, member, "", 1), TR_NAME_INVALID);
    ck_assert_int_eq(tr_try_spawn_group(self, &never, eternal, NULL, 1), TR_NOT_SUPPORTED);
    ck_assert_int_eq(tr_try_spawn_group(self, &shop, shop, NULL, 1), TR_WRONG_TYPE);
    ck_assert_int_eq(tr_try_spawn_group(self, &shop, shop, NULL, 1, told, .n = 1), TR_WRONG_TYPE);
    tr_spawn_args args = {.size = sizeof args, .behavior = &tr_behavior_member, .worker = -1};
    tr_group_args how = {.size = sizeof how, .members = 1};
    ck_assert_int_eq(tr_self_try_spawn_group(NULL, &args, &how, &bits), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_try_spawn_group(self, NULL, &how, &bits), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_try_spawn_group(self, &args, NULL, &bits), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_try_spawn_group(self, &args, &how, NULL), TR_INVALID_ARGUMENT);
    how.size = 1;
    ck_assert_int_eq(tr_self_try_spawn_group(self, &args, &how, &bits), TR_INVALID_ARGUMENT);
    ck_assert_uint_eq(tr_group_count(self, tr_me(self)), 0);
    ck_assert_uint_eq(tr_group_count(self, TR_NOBODY), 0);
    ck_assert_uint_eq(tr_self_group_members(NULL, TR_NOBODY, NULL, 0), 0);
    ck_assert_uint_eq(ref.bits, 77);
    ck_assert_uint_eq(bits, 77);
    say("done");
    return TR_SAME;
}
static void bad_input_play(void)
{
    crowd_clear();
    uint64_t bits = 77;
    boss_runs(home, bad_input);
    SAID("done");
    ck_assert_int_eq(tr_client_try_spawn_group(NULL, NULL, NULL, &bits), TR_INVALID_ARGUMENT);
    member_ref ref;
    ck_assert_int_eq(tr_try_spawn_group(test, &ref, member, NULL, 0), TR_INVALID_ARGUMENT);
    ck_assert_uint_eq(tr_client_group_members(NULL, TR_NOBODY, NULL, 0), 0);
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.live, 1);
}
TEST(bad_arguments_are_refused_and_change_nothing, "")
{
    kits_each(bad_input_play);
}

static tr_next fail_to_spawn(tr_self *self)
{
    tr_spawn_group(self, member, NULL, 0);
    ck_abort_msg("it has returned");
    return TR_SAME;
}
static void crash_play(void)
{
    boss_runs(home, fail_to_spawn);
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.failures, 1);
}
TEST(a_spawn_that_cannot_be_ends_the_turn, "A-06")
{
    kits_each(crash_play);
}

/* ---- Churn. ---- */

TEST(groups_that_come_and_go_leave_nothing, "B-05")
{
    tr_ref old[8] = {TR_NOBODY};
    kit_open(3, 1);
    uint64_t allocations = 0;
    for (int i = 0; i < 3000; i++) {
        crowd_clear();
        ck_assert_int_eq(tr_try_spawn_group(test, &group, member, "mills", 1 + i % 7), TR_OK);
        if (i % 3)
            ck_assert_int_eq(tr_spawn_wait(test, group, TR_SECOND, NULL), TR_OK);
        ck_assert_int_eq(tr_tell(test, group, told, .n = 1), TR_OK);
        ck_assert_int_eq(i % 2 ? tr_stop(test, group) : tr_kill(test, group), TR_OK);
        tr_kit_settle(kit);
        for (int j = 0; j < 8; j++) {
            ck_assert_int_eq(tr_tell(test, old[j], told, .n = 1), TR_STOPPED);
            ck_assert_uint_eq(tr_group_count(test, old[j]), 0);
        }
        old[i % 8] = tr_any(group);
        if (i == 2000)
            allocations = tr_kit_allocations(kit);
    }
    /* Each one needs some; those of fronts are found again. */
    ck_assert_uint_lt(tr_kit_allocations(kit) - allocations, 1000 * 60);
    for (int i = 0; i <= TR_GROUPS_MAX; i++) { /* a front that is lost would be missed now */
        ck_assert_int_eq(tr_try_spawn_group(test, &group, member, NULL, 1), TR_OK);
        ck_assert_int_eq(tr_kill(test, group), TR_OK);
        if (i % 16 == 0)
            tr_kit_settle(kit);
    }
    tr_kit_settle(kit);
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.live, 0);
    kit_close();
}

TEST(there_is_a_limit_of_groups, "")
{
    kit_open(1, 1);
    for (int i = 0; i < TR_GROUPS_MAX; i++)
        ck_assert_int_eq(tr_try_spawn_group(test, &group, member, NULL, 1), TR_OK);
    member_ref one_more;
    ck_assert_int_eq(tr_try_spawn_group(test, &one_more, member, NULL, 1), TR_LIMIT);
    ck_assert_int_eq(tr_kill(test, group), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_try_spawn_group(test, &one_more, member, NULL, 1), TR_OK);
    kit_close();
}

static void shutdown_play(void)
{
    group_open("mills", 4);
    for (uint64_t i = 0; i < 20; i++)
        tr_tell(test, group, told, .n = i);
    tr_system_shutdown(tr_kit_system(kit), TR_SECOND);
    for (uint64_t i = 0; i < kits_seed % 16; i++)
        (void)tr_kit_step(kit);
    tr_status status = tr_tell(test, group, told, .n = 99);
    ck_assert(status == TR_OK || status == TR_STOPPED);
    member_ref ref;
    ck_assert_int_eq(tr_try_spawn_group(test, &ref, member, NULL, 2), TR_STOPPING);
    tr_kit_settle(kit);
    ck_assert_uint_ge(notes_total(), 20);
}
TEST(a_shutdown_lets_members_finish, "X-01", "X-02")
{
    kits_each(shutdown_play);
}

SUITE("crowd edges", a_full_member_is_passed_over,
      a_member_with_room_is_found_before_the_sender_is_told,
      what_all_are_too_full_for_follows_their_overflow, a_sender_waits_for_room_when_nobody_has_any,
      a_set_up_that_fails_here_fails_the_group,
      mail_that_is_buried_with_a_group_does_not_hold_up_the_next,
      a_set_up_that_fails_elsewhere_leaves_the_group,
      each_member_is_set_up_with_a_copy_of_the_message, all_ways_to_send_lead_to_a_group,
      bad_arguments_are_refused_and_change_nothing, a_spawn_that_cannot_be_ends_the_turn,
      groups_that_come_and_go_leave_nothing, there_is_a_limit_of_groups,
      a_shutdown_lets_members_finish)
