/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Batches: what comes together and in which order, what each message gets, and barriers by a
 * predicate.
 */
#include "support/kits.h"

TR_MESSAGE(was_put, (u32, n));
TR_REQUEST(put, was_put, (u32, n), (bool, is_alone), (str, text));
TR_MESSAGE(other, (u32, n));
TR_REQUEST(pause_for, tr_done, (u32, ms));
TR_ACTOR(shelf, put, other, pause_for, run);

/* What a batch does with its requests, beside being said. */
enum deed { REPLY, REPLY_TO_SOME, FAIL, CRASH, UNHANDLED, STASH, REFUSE, SLEEP, GIVE_UP, BECOME };
static enum deed deed;
static size_t largest;
static uint32_t handled;
static turn *extra_turn; /* runs in the handler of a batch */

static bool is_common(const struct put *message)
{
    return !message->is_alone;
}

/* A promise to the reader of a message that was told with the number n. */
static void check_put(const struct put *message)
{
    char expected[32];
    snprintf(expected, sizeof expected, "text of number %" PRIu32, message->n);
    ck_assert_str_eq(message->text, expected);
}

static tr_next reply_to_some(tr_self *self, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        switch (i % 5) {
        case 0:
            ck_assert_int_eq(tr_reply_at(self, i, was_put, .n = (uint32_t)i), TR_OK);
            ck_assert_int_eq(tr_reply_at(self, i, was_put, .n = 99), TR_NO_SENDER);
            break;
        case 1:
            ck_assert_int_eq(tr_refuse_at(self, i, (int)i, "refused %zu", i), TR_OK);
            break;
        case 2:
            ck_assert_int_eq(tr_reply_at(self, i, tr_done), TR_WRONG_TYPE);
            break;
        case 3:
            tr_reply_to(self, tr_reply_later_at(self, i), was_put, .n = (uint32_t)(100 + i));
            break;
        default:
            break;
        }
    }
    ck_assert_int_eq(tr_reply_at(self, count, was_put), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_refuse_at(self, count, 1, "none"), TR_INVALID_ARGUMENT);
    ck_assert(!tr_reply_later_at(self, count).number);
    ck_assert(tr_is_nobody(tr_sender_at(self, count)));
    return TR_SAME;
}

TR_BEHAVIOR_DECLARE(other_shelf);

static tr_next on_puts(tr_self *self, const struct put *const *messages, size_t count)
{
    char text[8192] = "";
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        check_put(messages[i]);
        if (count <= 1000)
            length += (size_t)snprintf(
                text + length, sizeof text - length, "%s%" PRIu32, i ? " " : "", messages[i]->n);
    }
    largest = count > largest ? count : largest;
    handled += (uint32_t)count;
    if (count <= 1000)
        say("[%s]", text);
    else
        say("[%zu]", count);
    if (extra_turn)
        extra_turn(self);
    switch (deed) {
    case REPLY:
        for (size_t i = 0; i < count; i++) {
            if (!tr_is_nobody(tr_sender_at(self, i)))
                tr_reply_at(self, i, was_put, .n = messages[i]->n);
        }
        return TR_SAME;
    case REPLY_TO_SOME:
        return reply_to_some(self, count);
    case FAIL:
        tr_reply_at(self, 1, was_put, .n = 1);
        return tr_fail(self, TR_BAD_DATA, "broken");
    case CRASH:
        tr_reply_at(self, 1, was_put, .n = 1);
        tr_crash(self, TR_BAD_DATA, "broken");
    case UNHANDLED:
        return TR_DECLINE;
    case STASH:
        return tr_stash(self);
    case REFUSE:
        tr_reply_at(self, 1, was_put, .n = 1);
        return tr_refuse(self, 5, "all of you");
    case SLEEP:
        say("%s", tr_status_name(tr_sleep(self, TR_SECOND)));
        for (size_t i = 0; i < count; i++) {
            check_put(messages[i]);
            tr_reply_at(self, i, was_put, .n = messages[i]->n);
        }
        return TR_SAME;
    case GIVE_UP:
        tr_await(self, tr_ask(self, TR_NOBODY, pause_for));
        return TR_SAME;
    case BECOME:
        return tr_become(self, other_shelf);
    }
    return TR_SAME;
}

static tr_next on_other(const struct other *message)
{
    say("other %" PRIu32, message->n);
    return TR_SAME;
}

static bool is_long(const struct pause_for *message)
{
    return message->ms >= 100;
}

static tr_next on_pause(tr_self *self, const struct pause_for *message)
{
    say("pause");
    ck_assert_int_eq(tr_sleep(self, message->ms * MS), TR_OK);
    say("paused");
    return tr_reply(self, tr_done);
}

#define ROWS                                                                                       \
    TR_ON(other, on_other), TR_ON_BARRIER_IF(pause_for, is_long, on_pause), TR_ON(run, on_run)

TR_BEHAVIOR(shelf, void, TR_ON_BATCH_IF(put, is_common, on_puts), ROWS,
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_BEHAVIOR(other_shelf, void, TR_ON_BATCH(put, on_puts, .batch_max = 2), ROWS);
TR_BEHAVIOR(kind_shelf, void, TR_ON_BATCH_IF(put, is_common, on_puts), ROWS,
            TR_OPTIONS(.ordering = TR_BY_KIND));
TR_BEHAVIOR(small_shelf, void, TR_ON_BATCH(put, on_puts, .batch_max = 3), ROWS,
            TR_OPTIONS(.restart = TR_TEMPORARY, .mailbox_max = 10));
TR_BEHAVIOR(single_shelf, void, TR_ON_BATCH(put, on_puts, .batch_max = 1), ROWS);
TR_BEHAVIOR(huge_shelf, void, TR_ON_BATCH(put, on_puts, .batch_max = TR_BATCH_MAX + 1), ROWS);
TR_BEHAVIOR(odd_shelf, void, TR_ON(other, on_other, .batch_max = 3));
TR_BEHAVIOR(parking_shelf, void, TR_ON_BATCH(put, on_puts), ROWS,
            TR_OPTIONS(.restart = TR_TEMPORARY, .mailbox_max = 4, .overflow = TR_PARK,
                       .budget_bytes = 1 << 20));

static bool is_third(const void *message)
{
    const struct put *put = message;
    return put->n % 3 == 0;
}
TR_BEHAVIOR(barrier_shelf, void, TR_ON_BATCH(put, on_puts, .barrier_if = is_third), ROWS);

static shelf_ref open_as(const tr_behavior *behavior, tr_status expected)
{
    uint64_t bits = 0;
    tr_spawn_args args = {.size = sizeof args, .behavior = behavior, .worker = home};
    deed = REPLY;
    extra_turn = NULL;
    largest = 0;
    handled = 0;
    ck_assert_int_eq(tr_client_try_spawn(test, &args, &bits), expected);
    tr_kit_settle(kit);
    return shelf_ref_of(tr_ref_from_bits(bits));
}
#define OPEN(name) open_as(&tr_behavior_##name, TR_OK)

static char *put_text(uint32_t n)
{
    static char text[32];
    snprintf(text, sizeof text, "text of number %" PRIu32, n);
    return text;
}

static tr_status tell_put(shelf_ref shelf, uint32_t n)
{
    return tr_tell(test, shelf, put, .n = n, .text = put_text(n));
}

static void tell_alone(shelf_ref shelf, uint32_t n)
{
    tr_tell(test, shelf, put, .n = n, .is_alone = true, .text = put_text(n));
}

static put_ask ask_put(shelf_ref shelf, uint32_t n)
{
    return tr_ask(test, shelf, put, .n = n, .text = put_text(n));
}

static void settles_saying(const char *words)
{
    tr_kit_settle(kit);
    SAID(words);
}

/* ---- Grouping. ---- */

static void play_grouping(void)
{
    shelf_ref shelf = OPEN(shelf);
    for (uint32_t n = 1; n <= 5; n++)
        tell_put(shelf, n);
    settles_saying("[1 2 3 4 5]");
    tell_put(shelf, 6);
    settles_saying("[6]");
    tell_put(shelf, 1);
    tell_put(shelf, 2);
    tell_alone(shelf, 3);
    tell_put(shelf, 4);
    tell_put(shelf, 5);
    tell_alone(shelf, 6);
    tell_alone(shelf, 7);
    tell_put(shelf, 8);
    tr_tell(test, shelf, other, .n = 9);
    tell_put(shelf, 10);
    tell_put(shelf, 11);
    settles_saying("[1 2]; [3]; [4 5]; [6]; [7]; [8]; other 9; [10 11]");
}

TEST(what_waits_together_comes_together_and_overtakes_nothing, "D-04", "SG-13", "AK-18")
{
    kits_each(play_grouping);
}

static void put_kinds(shelf_ref shelf)
{
    put_ask asked[3];
    tell_put(shelf, 1);
    tell_put(shelf, 2);
    asked[0] = ask_put(shelf, 3);
    asked[1] = ask_put(shelf, 4);
    tell_put(shelf, 5);
    asked[2] = ask_put(shelf, 6);
    for (uint32_t i = 0; i < 3; i++) {
        const struct was_put *reply;
        ck_assert_int_eq(tr_try_await(test, asked[i], &reply), TR_OK);
        ck_assert_uint_eq(reply->n, i < 2 ? 3 + i : 6);
    }
    tr_kit_settle(kit);
}

static void play_kinds(void)
{
    put_kinds(OPEN(shelf));
    SAID("[1 2]; [3 4]; [5]; [6]");
    put_kinds(OPEN(kind_shelf));
    SAID("[3 4 6]; [1 2 5]");
}

TEST(a_batch_ends_where_the_kind_changes, "D-04", "M-01")
{
    kits_each(play_kinds);
}

TEST(a_batch_has_1024_messages_at_most, "D-04", "U-01")
{
    kit_open(1, 1);
    shelf_ref shelf = OPEN(shelf);
    for (uint32_t n = 0; n < 2 * TR_BATCH_MAX + 700; n++)
        tell_put(shelf, n);
    tr_kit_settle(kit);
    ck_assert_uint_eq(largest, TR_BATCH_MAX);
    ck_assert_uint_eq(handled, 2 * TR_BATCH_MAX + 700);
    const char *words = said();
    ck_assert_int_eq(strncmp(words, "[1024]; [1024]; [2048 2049 ", 27), 0);
    shelf = OPEN(small_shelf);
    for (uint32_t n = 0; n < 7; n++)
        tell_put(shelf, n);
    settles_saying("[0 1 2]; [3 4 5]; [6]");
    shelf = OPEN(single_shelf);
    for (uint32_t n = 0; n < 3; n++)
        tell_put(shelf, n);
    settles_saying("[0]; [1]; [2]");
    open_as(&tr_behavior_huge_shelf, TR_INVALID_ARGUMENT);
    open_as(&tr_behavior_odd_shelf, TR_INVALID_ARGUMENT);
    kit_close();
}

TEST(a_type_is_its_name_and_fields_in_a_batch_too, "D-04")
{
    kit_open(1, 1);
    shelf_ref shelf = OPEN(shelf);
    const tr_type again = tr_type_put;
    tell_put(shelf, 1);
    struct put second = {.n = 2, .text = put_text(2)};
    ck_assert_int_eq(tr_client_tell(test, tr_any(shelf), &again, &second), TR_OK);
    tell_put(shelf, 3);
    settles_saying("[1 2 3]");
    kit_close();
}

static tr_next with_a_timer(tr_self *self)
{
    tr_timer_once(self, "late", 5 * MS, put, .n = 7, .text = "text of number 7");
    return TR_SAME;
}

TEST(the_message_of_a_timer_comes_alone, "D-04")
{
    kit_open(1, 1);
    shelf_ref shelf = OPEN(shelf);
    TELL_RUN(test, shelf, with_a_timer);
    tr_kit_settle(kit);
    tr_suspend(test, shelf);
    tr_kit_settle(kit);
    tell_put(shelf, 1);
    tell_put(shelf, 2);
    tr_kit_advance(kit, 5 * MS);
    tr_resume(test, shelf);
    settles_saying("[1 2]; [7]");
    kit_close();
}

/* ---- What each message gets. ---- */

static tr_status outcome_of(put_ask asked, uint32_t *n)
{
    const struct was_put *reply;
    tr_status status = tr_try_await(test, asked, &reply);
    *n = status == TR_OK ? reply->n : 0;
    return status;
}

/* Asks five, in one batch, and compares how each ends. */
static void five_end(shelf_ref shelf, const tr_status *expected)
{
    put_ask asked[5];
    uint32_t n;
    for (uint32_t i = 0; i < 5; i++)
        asked[i] = ask_put(shelf, i);
    for (uint32_t i = 0; i < 5; i++)
        ck_assert_int_eq(outcome_of(asked[i], &n), expected[i]);
    tr_kit_settle(kit);
}

static void play_answers(void)
{
    shelf_ref shelf = OPEN(shelf);
    deed = REPLY_TO_SOME;
    put_ask asked[5];
    uint32_t n;
    for (uint32_t i = 0; i < 5; i++)
        asked[i] = ask_put(shelf, i);
    ck_assert_int_eq(outcome_of(asked[0], &n), TR_OK);
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(outcome_of(asked[1], &n), TR_REFUSED);
    ck_assert_int_eq(outcome_of(asked[2], &n), TR_NO_REPLY);
    ck_assert_int_eq(outcome_of(asked[3], &n), TR_OK);
    ck_assert_uint_eq(n, 103);
    ck_assert_int_eq(outcome_of(asked[4], &n), TR_NO_REPLY);
    tr_kit_settle(kit);
    SAID("[0 1 2 3 4]");
    deed = REFUSE;
    five_end(shelf, (tr_status[]){TR_REFUSED, TR_OK, TR_REFUSED, TR_REFUSED, TR_REFUSED});
    deed = UNHANDLED;
    five_end(shelf,
             (tr_status[]){TR_UNHANDLED, TR_UNHANDLED, TR_UNHANDLED, TR_UNHANDLED, TR_UNHANDLED});
    ck_assert_uint_eq(dead_letters(TR_UNHANDLED), 5);
    tell_put(shelf, 1);
    tell_put(shelf, 2);
    tr_kit_settle(kit);
    ck_assert_uint_eq(dead_letters(TR_UNHANDLED), 7);
    static const enum deed ends[] = {FAIL, CRASH};
    for (int i = 0; i < 2; i++) {
        shelf = OPEN(shelf);
        deed = ends[i];
        five_end(shelf, (tr_status[]){TR_FAILED, TR_OK, TR_FAILED, TR_FAILED, TR_FAILED});
        five_end(shelf, (tr_status[]){TR_STOPPED, TR_STOPPED, TR_STOPPED, TR_STOPPED, TR_STOPPED});
    }
    shelf = OPEN(shelf);
    deed = GIVE_UP;
    five_end(shelf, (tr_status[]){TR_FAILED, TR_FAILED, TR_FAILED, TR_FAILED, TR_FAILED});
}

TEST(each_request_of_a_batch_gets_its_answer, "D-04", "A-01", "AK-18")
{
    kits_each(play_answers);
}

static void play_stash(void)
{
    shelf_ref shelf = OPEN(shelf);
    deed = STASH;
    five_end(shelf, (tr_status[]){TR_FAILED, TR_FAILED, TR_FAILED, TR_FAILED, TR_FAILED});
    SAID("[0 1 2 3 4]");
    shelf = OPEN(shelf);
    deed = STASH;
    uint32_t n;
    ck_assert_int_eq(outcome_of(ask_put(shelf, 1), &n), TR_FAILED); /* also when it is alone */
}

TEST(a_batch_cannot_be_set_aside, "D-04", "B-05")
{
    kits_each(play_stash);
}

static void play_become(void)
{
    shelf_ref shelf = OPEN(shelf);
    deed = BECOME;
    tell_put(shelf, 1);
    tell_put(shelf, 2);
    tell_put(shelf, 3);
    tell_alone(shelf, 4);
    tell_put(shelf, 5);
    tell_put(shelf, 6);
    settles_saying("[1 2 3]; [4 5]; [6]");
}

TEST(the_next_behavior_groups_in_its_own_way, "D-04")
{
    kits_each(play_become);
}

/* ---- Over time. ---- */

static void play_waiting(void)
{
    shelf_ref shelf = OPEN(shelf);
    deed = SLEEP;
    put_ask asked[3];
    uint32_t n;
    for (uint32_t i = 0; i < 3; i++)
        asked[i] = ask_put(shelf, i);
    tr_kit_settle(kit);
    tr_kit_check(kit); /* three in hand */
    tr_tell(test, shelf, other, .n = 1);
    settles_saying("[0 1 2]; other 1");
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_int_eq(outcome_of(asked[i], &n), TR_OK);
        ck_assert_uint_eq(n, i);
    }
    SAID("TR_OK");
    for (uint32_t i = 0; i < 3; i++)
        asked[i] = ask_put(shelf, i);
    tr_kit_settle(kit);
    tell_put(shelf, 9);
    tr_kill(test, shelf);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_int_eq(outcome_of(asked[i], &n), TR_STOPPED);
    tr_kit_settle(kit);
    SAID("[0 1 2]; TR_CANCELLED");
    ck_assert_uint_eq(dead_letters(TR_STOPPED), 1);
}

TEST(the_messages_stay_while_the_turn_waits, "D-04", "D-05", "AK-18")
{
    kits_each(play_waiting);
}

static void play_orders(void)
{
    shelf_ref shelf = OPEN(shelf);
    tell_put(shelf, 1);
    tr_suspend(test, shelf);
    tell_put(shelf, 2);
    tr_kit_settle(kit);
    SAID("");
    tell_put(shelf, 3);
    tr_resume(test, shelf);
    settles_saying("[1 2 3]");
    tell_put(shelf, 4);
    tell_put(shelf, 5);
    tr_stop(test, shelf);
    tell_put(shelf, 6);
    settles_saying("[4 5]");
    shelf = OPEN(shelf);
    tell_put(shelf, 7);
    tell_put(shelf, 8);
    tr_kill(test, shelf);
    settles_saying("");
}

TEST(orders_come_between_batches, "D-04", "L-06")
{
    kits_each(play_orders);
}

static tr_next fill_own_mailbox(tr_self *self)
{
    uint32_t taken = 0;
    extra_turn = NULL;
    shelf_ref me = shelf_ref_of(tr_me(self));
    while (tr_tell(self, me, put, .n = taken, .text = put_text(taken)) == TR_OK)
        taken++;
    say("room for %" PRIu32, taken);
    return TR_SAME;
}

static void play_room(void)
{
    shelf_ref shelf = OPEN(small_shelf);
    for (int round = 0; round < 3; round++) {
        for (uint32_t n = 0; n < 10; n++)
            ck_assert_int_eq(tell_put(shelf, n), TR_OK);
        ck_assert_int_eq(tell_put(shelf, 10), TR_MAILBOX_FULL);
        settles_saying("[0 1 2]; [3 4 5]; [6 7 8]; [9]");
    }
    extra_turn = fill_own_mailbox;
    for (uint32_t n = 0; n < 5; n++)
        tell_put(shelf, n);
    settles_saying("[0 1 2]; room for 8; [3 4]; [0 1 2]; [3 4 5]; [6 7]");
}

TEST(each_message_of_a_batch_gives_its_room_back, "D-04", "M-04")
{
    kits_each(play_room);
}

/* ---- Barriers. ---- */

static void play_barrier(void)
{
    shelf_ref shelf = OPEN(shelf);
    tr_tell(test, shelf, pause_for, .ms = 99);
    tell_put(shelf, 1);
    tell_put(shelf, 2);
    settles_saying("pause; [1 2]");
    tr_kit_advance(kit, 100 * MS);
    SAID("paused");
    tell_put(shelf, 1);
    tell_put(shelf, 2);
    tr_tell(test, shelf, pause_for, .ms = 100);
    tell_put(shelf, 3);
    tell_put(shelf, 4);
    settles_saying("[1 2]; pause");
    tell_put(shelf, 5);
    tr_kit_advance(kit, 101 * MS);
    tr_kit_settle(kit);
    const char *words = said(); /* what came later is in a cycle of its own */
    ck_assert_msg(strcmp(words, "paused; [3 4 5]") == 0 || strcmp(words, "paused; [3 4]; [5]") == 0,
                  "%s",
                  words);
    shelf = OPEN(barrier_shelf);
    for (uint32_t n = 1; n <= 7; n++)
        tell_put(shelf, n);
    settles_saying("[1 2]; [3]; [4 5]; [6]; [7]");
    deed = SLEEP;
    for (uint32_t n = 2; n <= 5; n++)
        tell_put(shelf, n);
    settles_saying("[2]; [3]");
    tr_kit_advance(kit, 900 * MS);
    SAID("");
    tr_kit_advance(kit, 101 * MS);
    tr_kit_settle(kit);
    SAID("TR_OK; TR_OK; [4 5]");
}

TEST(a_predicate_makes_some_messages_barriers, "D-03", "AK-18")
{
    kits_each(play_barrier);
}

/* ---- Fairness. ---- */

TEST(a_batch_counts_as_many_turns_as_it_has_messages, "D-04", "WP-17")
{
    struct hand hand;
    hand_open(&hand);
    test = hand.client;
    home = 0;
    kit = NULL;
    shelf_ref busy;
    shelf_ref patient;
    deed = REPLY;
    ck_assert_int_eq(tr_try_spawn(test, &busy, shelf, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn(test, &patient, shelf, NULL), TR_OK);
    hand_run(&hand);
    for (uint32_t n = 0; n < 40; n++) {
        for (uint32_t i = 0; i < 10; i++)
            tell_put(busy, i);
        tell_alone(busy, 10);
    }
    tr_tell(test, patient, other, .n = 1);
    hand_run(&hand);
    const char *words = said();
    unsigned before = 0;
    for (const char *at = words; at < strstr(words, "other 1"); at++)
        before += *at == '[';
    /* 64 turns are 5 times 11 messages and 10 more: 11 calls. Of calls it would be 64. */
    ck_assert_uint_eq(before, 11);
    hand_close(&hand);
}

SUITE("batches", what_waits_together_comes_together_and_overtakes_nothing,
      a_batch_ends_where_the_kind_changes, a_batch_has_1024_messages_at_most,
      a_type_is_its_name_and_fields_in_a_batch_too, the_message_of_a_timer_comes_alone,
      each_request_of_a_batch_gets_its_answer, a_batch_cannot_be_set_aside,
      the_next_behavior_groups_in_its_own_way, the_messages_stay_while_the_turn_waits,
      orders_come_between_batches, each_message_of_a_batch_gives_its_room_back,
      a_predicate_makes_some_messages_barriers, a_batch_counts_as_many_turns_as_it_has_messages)
