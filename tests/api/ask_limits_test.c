/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks at the limits: full mailboxes, no memory, a hundred thousand at once, long queues; and those
 * of clients.
 */
#include "support/players.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Full mailboxes. ---- */

TR_BEHAVIOR(narrow_fail, struct player, TR_ON(play, on_play),
            TR_ON(play_alone, on_play_alone, .is_barrier = true), TR_ON(perform, on_perform),
            TR_OPTIONS(.restart = TR_TEMPORARY, .mailbox_max = 2, .overflow = TR_OVERFLOW_FAIL));
TR_BEHAVIOR(narrow_newest, struct player, TR_ON(play, on_play),
            TR_ON(play_alone, on_play_alone, .is_barrier = true), TR_ON(perform, on_perform),
            TR_OPTIONS(.restart = TR_TEMPORARY, .mailbox_max = 2, .overflow = TR_DROP_NEWEST));
TR_BEHAVIOR(narrow_oldest, struct player, TR_ON(play, on_play),
            TR_ON(play_alone, on_play_alone, .is_barrier = true), TR_ON(perform, on_perform),
            TR_OPTIONS(.restart = TR_TEMPORARY, .mailbox_max = 2, .overflow = TR_DROP_OLDEST));
TR_BEHAVIOR(narrow_park, struct player, TR_ON(play, on_play),
            TR_ON(play_alone, on_play_alone, .is_barrier = true), TR_ON(perform, on_perform),
            TR_OPTIONS(.restart = TR_TEMPORARY, .mailbox_max = 2, .overflow = TR_PARK));

static player_ref target;
static tr_status got[4];

static void spawn_target(const tr_behavior *behavior, int worker)
{
    uint64_t bits;
    tr_spawn_args args = {.size = sizeof args, .behavior = behavior, .worker = worker};
    ck_assert_int_eq(tr_client_try_spawn(world.client, &args, &bits), TR_OK);
    target = player_ref_of(tr_ref_from_bits(bits));
}

/* Four asks to a mailbox of two. */
static tr_next ask_four(tr_self *self, struct player *player, int64_t timeout_ns)
{
    (void)player;
    play_ask asked[4];
    const struct value *reply;
    for (int i = 0; i < 4; i++)
        asked[i] = tr_ask_within(self, timeout_ns, target, play, .call = CALL(echo), .arg = i);
    for (int i = 0; i < 4; i++)
        got[i] = tr_try_await(self, asked[i], &reply);
    world.count++;
    world.at_ns = tr_now(self);
    return tr_reply(self, value);
}

static void expect_four(tr_status a, tr_status b, tr_status c, tr_status d)
{
    ck_assert_int_eq(world.count, 1);
    ck_assert_int_eq(got[0], a);
    ck_assert_int_eq(got[1], b);
    ck_assert_int_eq(got[2], c);
    ck_assert_int_eq(got[3], d);
    world.count = 0;
}

TEST(a_full_mailbox_is_an_outcome, "A-01", "AK-04")
{
    static const tr_behavior *const policies[] = {&tr_behavior_narrow_fail,
                                                  &tr_behavior_narrow_newest,
                                                  &tr_behavior_narrow_oldest,
                                                  &tr_behavior_narrow_park};
    for (int workers = 1; workers <= 3; workers += 2) {
        for (uint64_t seed = 1; seed <= TEST_SEEDS(20); seed++) {
            for (int policy = 0; policy < 4; policy++) {
                world_begin(workers, seed);
                tr_client *client = world.client;
                spawn_target(policies[policy], workers - 1);
                /* It waits as a barrier: what is sent meanwhile fills its mailbox. */
                tr_pending alone =
                    tr_ask(client, target, play_alone, .call = CALL(slow), .arg = 50 * MILLISECONDS)
                        .any;
                tr_kit_settle(world.kit);
                tr_time now_ns = tr_kit_now(world.kit);
                tr_pending asked = ASK(0, ask_four, 0).any;
                ck_assert_int_eq(outcome_of(asked, NULL), TR_OK);
                ck_assert_int_eq(outcome_of(alone, NULL), TR_OK);
                ck_assert_int_eq(tr_kit_now(world.kit), now_ns + 50 * MILLISECONDS);
                if (policy < 2)
                    expect_four(TR_OK, TR_OK, TR_MAILBOX_FULL, TR_MAILBOX_FULL);
                else if (policy == 2)
                    expect_four(TR_MAILBOX_FULL, TR_MAILBOX_FULL, TR_OK, TR_OK);
                else
                    expect_four(TR_OK, TR_OK, TR_OK, TR_OK);
                world_end();
            }
        }
    }
}

TEST(who_waits_for_room_waits_no_longer_than_the_timeout, "A-01", "AK-02")
{
    for (int workers = 1; workers <= 3; workers += 2) {
        for (uint64_t seed = 1; seed <= TEST_SEEDS(20); seed++) {
            world_begin(workers, seed);
            spawn_target(&tr_behavior_narrow_park, workers - 1);
            tr_pending alone =
                tr_ask(world.client, target, play_alone, .call = CALL(slow), .arg = TR_SECOND).any;
            tr_kit_settle(world.kit);
            tr_time now_ns = tr_kit_now(world.kit);
            tr_pending asked = ASK(0, ask_four, 10 * MILLISECONDS).any;
            ck_assert_int_eq(outcome_of(asked, NULL), TR_OK);
            ck_assert_int_eq(world.at_ns, now_ns + 20 * MILLISECONDS);
            expect_four(TR_TIMEOUT, TR_TIMEOUT, TR_TIMEOUT, TR_TIMEOUT);
            /* A client too. */
            now_ns = tr_kit_now(world.kit);
            play_ask late = tr_ask_within(world.client, 7, target, play, .call = CALL(echo));
            ck_assert_int_eq(outcome_of(late.any, NULL), TR_TIMEOUT);
            ck_assert_int_eq(tr_kit_now(world.kit), now_ns + 7);
            ck_assert_int_eq(outcome_of(alone, NULL), TR_OK);
            /* What was granted too late goes back when the client looks. */
            tr_kit_settle(world.kit);
            ck_assert_ptr_null(tr_client_receive(world.client, NULL, 0));
            world_end();
        }
    }
}

/* ---- No memory. ---- */

static int ends;

static void count_end(void *resource)
{
    (void)resource;
    ends++;
}

static tr_next nested(tr_self *self, struct player *player, int64_t depth)
{
    (void)player;
    tr_defer(self, self, count_end);
    if (!depth)
        return tr_refuse(self, 42, "no");
    const struct value *reply;
    play_ask one = tr_ask(self, world.players[1], play, .call = CALL(echo), .arg = 1);
    play_ask two = tr_ask(self, world.players[2], play, .call = CALL(nested), .arg = depth - 1);
    tr_status status = tr_try_await(self, two, &reply);
    const tr_error *why = tr_ask_error(self, two);
    if (status == TR_REFUSED && why->status == TR_REFUSED)
        ck_assert_int_eq(why->code, 42); /* at least this is known, if there are no words */
    if (tr_await_all(self, one, two) == TR_OK)
        ck_assert_int_eq(status, TR_OK);
    if (depth == 1 && status != TR_OK)
        return tr_give_up(self, two);
    return tr_reply(self, value, .number = depth);
}

TEST(without_memory_there_is_one_outcome_and_no_leak, "A-01", "B-05")
{
    for (int workers = 1; workers <= 3; workers += 2) {
        for (int all = 0; all < 2; all++) {
            uint64_t nth = 1;
            bool was_short = true;
            for (; was_short && nth < 400; nth++) {
                world_begin(workers, nth);
                int64_t number;
                uint64_t before = tr_kit_allocations(world.kit);
                tr_kit_fail_allocation(world.kit, nth, all);
                tr_pending asked[3];
                for (int i = 0; i < 3; i++)
                    asked[i] = ASK(0, nested, 3 - i).any;
                tr_pending later = ASK(3, put_off, 0).any;
                tr_tell(world.client, world.players[3], perform, .call = CALL(answer_later));
                for (int i = 0; i < 3; i++) {
                    tr_status status = outcome_of(asked[i], &number);
                    ck_assert_msg(status == TR_OK || status == TR_NO_MEMORY ||
                                      status == TR_REFUSED || status == TR_FAILED ||
                                      status == TR_STOPPED || status == TR_TIMEOUT,
                                  "%s",
                                  tr_status_name(status));
                }
                (void)outcome_of(later, NULL);
                was_short = tr_kit_allocations(world.kit) >= before + nth;
                tr_kit_fail_allocation(world.kit, 0, false);
                world_end();
            }
            ck_assert_uint_gt(nth, 10);
        }
    }
}

/* ---- Many. ---- */

static tr_next ask_many(tr_self *self, struct player *player, int64_t count)
{
    (void)player;
    tr_pending *asked = tr_scratch(self, (size_t)count * sizeof *asked);
    for (int64_t i = 0; i < count; i++)
        asked[i] =
            tr_ask(self, world.players[1 + i % 4], play, .call = CALL(slow), .arg = TR_SECOND).any;
    tr_sleep(self, 1);
    world.status = tr_self_await_all(self, asked, (size_t)count);
    return tr_reply(self, value, .number = count);
}

static tr_next put_off_many(tr_self *self, struct player *player, int64_t count)
{
    (void)player;
    tr_pending *asked = tr_scratch(self, (size_t)count * sizeof *asked);
    for (int64_t i = 0; i < count; i++)
        asked[i] =
            tr_ask_within(self, TR_SECOND, world.players[1], play, .call = CALL(put_off), .arg = i)
                .any;
    world.status = tr_self_await_all(self, asked, (size_t)count);
    return tr_reply(self, value, .number = count);
}

/* One after the other, while the many of another turn are open. */
static tr_next ask_in_sequence(tr_self *self, struct player *player, int64_t count)
{
    (void)player;
    for (int64_t i = 0; i < count; i++) {
        play_ask asked = tr_ask(self, world.players[2], play, .call = CALL(echo), .arg = i);
        if (tr_await(self, asked)->number != i)
            ck_abort_msg("the reply of another ask");
        if (i % 100 == 99) { /* asks live as long as their turn */
            tr_tell(self,
                    world.players[0],
                    perform,
                    .call = CALL(ask_in_sequence),
                    .arg = count - i - 1);
            return TR_SAME;
        }
    }
    world.count++;
    return TR_SAME;
}

TEST(a_hundred_thousand_asks_of_one_actor, "A-02", "AK-16")
{
    int64_t many = TEST_HAS_SANITIZER ? 20000 : 100000;
    for (int workers = 1; workers <= 3; workers += 2) {
        world_begin(workers, 1);
        int64_t number;
        /* The first time tables and pools grow; from then on nothing is left over. */
        for (int i = 0; i < 2; i++) {
            tr_pending asked = ASK(0, put_off_many, many).any;
            tr_tell(world.client,
                    world.players[0],
                    perform,
                    .call = CALL(ask_in_sequence),
                    .arg = 3 * many);
            ck_assert_int_eq(outcome_of(asked, &number), TR_OK);
            ck_assert_int_eq(number, many);
            ck_assert_int_eq(world.status, TR_TIMEOUT);
            tr_kit_settle(world.kit);
            ck_assert_int_eq(world.count, i + 1);
        }
        ck_assert_int_eq(outcome_of(ASK(0, ask_many, 1000).any, &number), TR_OK);
        ck_assert_int_eq(world.status, TR_OK);
        world_end();
    }
}

/*
 * What asks cost is counted in instructions: a process of its own is stepped through by the one that
 * traces it, between two signals. Time would say it only roughly, and not on a busy machine.
 */
enum { COUNTED_ASKS = 2 };

static tr_next count_asks(tr_self *self, struct player *player, int64_t warm_up)
{
    (void)player;
    for (int64_t i = 0; i < warm_up; i++)
        tr_await(self, tr_ask(self, world.players[1], play, .call = CALL(echo)));
    (void)raise(SIGUSR1);
    for (int i = 0; i < COUNTED_ASKS; i++)
        tr_await(self, tr_ask(self, world.players[1], play, .call = CALL(echo)));
    (void)raise(SIGUSR1);
    return tr_reply(self, value);
}

/* The asker's own mailbox is long: a barrier keeps it so. */
static void ask_with_and_without_mail(void)
{
    enum { QUEUED = 500000 };
    world_begin(1, 1);
    ck_assert_int_eq(outcome_of(ASK_ALONE(0, count_asks, 100).any, NULL), TR_OK);
    tr_suspend(world.client, world.players[0]);
    tr_pending asked = ASK_ALONE(0, count_asks, 100).any;
    for (int i = 0; i < QUEUED; i++)
        tr_tell(world.client, world.players[0], perform, .call = CALL(silence));
    tr_resume(world.client, world.players[0]);
    ck_assert_int_eq(outcome_of(asked, NULL), TR_OK);
}

/* Steps through a child from each odd signal to the next; false when it could not be traced. */
static bool count_steps(pid_t child, uint64_t *counts, int count)
{
    int status;
    int marks = 0;
    uint64_t steps = 0;
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        int signal = WSTOPSIG(status);
        bool is_mark = signal == SIGUSR1;
        steps++;
        if (is_mark && marks % 2 && marks / 2 < count)
            counts[marks / 2] = steps;
        if (is_mark) {
            marks++;
            steps = 0;
        }
        long passed_on = is_mark || signal == SIGTRAP ? 0 : signal;
        if (ptrace(marks % 2 ? PTRACE_SINGLESTEP : PTRACE_CONT, child, NULL, passed_on) != 0)
            return false;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && marks == 2 * count;
}

TEST(the_cost_of_an_ask_does_not_depend_on_the_mailbox, "AK-15")
{
    enum { NOT_TRACED = 3 };
    uint64_t counts[2] = {0, 0};
    if (TEST_HAS_SANITIZER)
        test_skip("most instructions would be the sanitizer's");
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (!child) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(NOT_TRACED);
        ask_with_and_without_mail();
        _exit(0);
    }
    bool is_counted = count_steps(child, counts, 2);
    if (!is_counted && counts[0] == 0)
        test_skip("this machine lets nobody trace a process");
    ck_assert_msg(is_counted, "the traced process failed");
    ck_assert_uint_gt(counts[0], COUNTED_ASKS * 100);
    ck_assert_msg(counts[1] <= 2 * counts[0],
                  "%d asks take %llu instructions with mail waiting, %llu without",
                  COUNTED_ASKS,
                  (unsigned long long)counts[1],
                  (unsigned long long)counts[0]);
}

/* ---- Clients. ---- */

TEST(a_client_asks_several_at_once, "A-01", "AK-11", "AK-08")
{
    for (int workers = 1; workers <= 3; workers += 2) {
        world_begin(workers, 1);
        int64_t number;
        tr_pending asked[50];
        for (int i = 0; i < 50; i++)
            asked[i] = ASK(i % PLAYERS, slow, (50 - i) * MILLISECONDS).any;
        for (int i = 49; i >= 0; i -= 2) {
            ck_assert_int_eq(outcome_of(asked[i], &number), TR_OK);
            ck_assert_int_eq(number, (50 - i) * MILLISECONDS);
            ck_assert_int_eq(outcome_of(asked[i], &number), TR_INVALID_ARGUMENT);
        }
        ck_assert_int_eq(outcome_of((tr_pending){0}, NULL), TR_INVALID_ARGUMENT);
        ck_assert_int_eq(outcome_of((tr_pending){12345}, NULL), TR_INVALID_ARGUMENT);
        ck_assert_int_eq(outcome_of(tr_ask(world.client, world.players[0], unknown).any, NULL),
                         TR_UNHANDLED);
        /* Another client goes with asks that are open: what comes meets nobody. */
        tr_client *other;
        ck_assert_int_eq(tr_client_new(tr_kit_system(world.kit), &other), TR_OK);
        for (int i = 0; i < 10; i++)
            (void)tr_ask(other, world.players[0], play, .call = CALL(slow), .arg = i);
        tr_kit_settle(world.kit);
        tr_client_free(other);
        tr_kit_advance(world.kit, TR_SECOND);
        for (int i = 48; i >= 0; i -= 2)
            ck_assert_int_eq(outcome_of(asked[i], &number), TR_OK);
        world_end();
    }
}

SUITE("ask limits", a_full_mailbox_is_an_outcome,
      who_waits_for_room_waits_no_longer_than_the_timeout,
      without_memory_there_is_one_outcome_and_no_leak, a_hundred_thousand_asks_of_one_actor,
      the_cost_of_an_ask_does_not_depend_on_the_mailbox, a_client_asks_several_at_once)
