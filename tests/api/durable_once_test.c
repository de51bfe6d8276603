/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests with an id: one effect and one answer, however often they come, also while the first is under way, after a
 * sleep, a failure, a crash, and when its asker is gone.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define THINGS_OPTIONS                                                                             \
    .idle_ns = 10 * TR_SECOND, .grace_ns = 5 * TR_SECOND, .answers_bytes_max = 2000
#include "support/things.h"

enum { SEEDS = TEST_SEEDS(10) };

static int calls; /* of handlers */

static tr_status once_within(tr_time ns, const char *key, const char *id, thing_call *call,
                             int64_t n, int64_t *value)
{
    const struct acted *acted;
    act_ask ask = tr_ask_once_within(
        test, ns, thing, key, id, act, .call = (uint64_t)(uintptr_t)call, .n = n);
    tr_status status = tr_try_await(test, ask, &acted);
    if (status == TR_OK && value)
        *value = acted->value;
    return status;
}

static tr_status try_once(const char *key, const char *id, thing_call *call, int64_t n)
{
    return once_within(TR_HOUR, key, id, call, n, NULL);
}

static int64_t once(const char *key, const char *id, thing_call *call, int64_t n)
{
    int64_t value = 0;
    ck_assert_int_eq(once_within(TR_HOUR, key, id, call, n, &value), TR_OK);
    return value;
}

static tr_next add(tr_self *self, struct thing_state *state, int64_t n)
{
    calls++;
    return thing_add(self, state, n);
}

static tr_next look(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    return tr_reply(self, acted, .value = state->value);
}

/* ---- Askers that wait by themselves. ---- */

TR_REQUEST(start_asking, tr_done, (str, key), (str, id), (u64, call), (i64, n), (bool, is_aside));
TR_ACTOR(asker, start_asking);
enum { ASKED_MAX = 100 };
static tr_status outcomes[ASKED_MAX];
static int64_t values[ASKED_MAX];
static int codes[ASKED_MAX];
static int asked;

static tr_next on_start_asking(tr_self *self, const struct start_asking *message)
{
    const struct acted *acted;
    tr_reply(self, tr_done);
    tr_pending any;
    if (message->is_aside)
        any = tr_ask_once_within(self,
                                 TR_HOUR,
                                 thing,
                                 message->key,
                                 message->id,
                                 act_aside,
                                 .call = message->call,
                                 .n = message->n)
                  .any;
    else
        any = tr_ask_once_within(self,
                                 TR_HOUR,
                                 thing,
                                 message->key,
                                 message->id,
                                 act,
                                 .call = message->call,
                                 .n = message->n)
                  .any;
    tr_status status = tr_self_try_await(self, any, (const void **)&acted);
    outcomes[asked] = status;
    values[asked] = status == TR_OK ? acted->value : 0;
    codes[asked] = tr_self_ask_error(self, any)->code;
    asked++;
    return TR_SAME;
}

TR_BEHAVIOR(asker, void, TR_ON(start_asking, on_start_asking));

static asker_ref asker_make(void)
{
    asker_ref ref;
    ck_assert_int_eq(tr_try_spawn(test, &ref, asker, NULL), TR_OK);
    return ref;
}

static void ask_beside(asker_ref ref, const char *key, const char *id, thing_call *call, int64_t n,
                       bool is_aside)
{
    start_asking_ask ask = tr_ask_within(test,
                                         TR_HOUR,
                                         ref,
                                         start_asking,
                                         .key = key,
                                         .id = id,
                                         .call = (uint64_t)(uintptr_t)call,
                                         .n = n,
                                         .is_aside = is_aside);
    ck_assert_int_eq(tr_try_await(test, ask, NULL), TR_OK);
}

static void begin(uint64_t seed)
{
    calls = asked = 0;
    things_on_awake = NULL;
    things_begin(seed);
}

/* ---- One effect, one answer. ---- */

TEST(a_request_with_an_id_has_one_effect_and_one_answer, "K-14", "K-13")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(seed);
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(once("a", "x", add, 5), 5);
        ck_assert_int_eq(once("a", "y", add, 5), 10);
        ck_assert_int_eq(once("a", "x", add, 5), 5);
        /* An id belongs to its actor. */
        ck_assert_int_eq(once("b", "x", add, 7), 7);
        ck_assert_int_eq(calls, 3);
        ck_assert_int_eq(things_do("a", look, 0), 10);
        tr_kit_advance(kit, TR_MINUTE); /* it sleeps */
        ck_assert_int_eq(once("a", "x", add, 5), 5);
        ck_assert_int_eq(once("a", "y", add, 5), 10);
        ck_assert_int_eq(calls, 3);
        things_end();
    }
}

TEST(the_same_id_with_another_content_is_refused, "K-14")
{
    begin(1);
    ck_assert_int_eq(once("a", "x", add, 5), 5);
    ck_assert_int_eq(try_once("a", "x", add, 6), TR_REQUEST_DIFFERS);
    act_aside_ask other =
        tr_ask_once(test, thing, "a", "x", act_aside, .call = (uint64_t)(uintptr_t)add, .n = 5);
    ck_assert_int_eq(tr_try_await(test, other, NULL), TR_REQUEST_DIFFERS);
    ck_assert_int_eq(once("a", "x", add, 5), 5);
    ck_assert_int_eq(calls, 1);
    char large[TR_REQUEST_ID_MAX + 2];
    memset(large, 'x', sizeof large);
    large[sizeof large - 1] = 0;
    ck_assert_int_eq(try_once("a", large, add, 6), TR_INVALID_ARGUMENT);
    large[TR_REQUEST_ID_MAX] = 0;
    ck_assert_int_eq(try_once("b", large, add, 6), TR_OK);
    things_end();
}

/* Without it two requests that arrive together would both run. */
static tr_next add_slowly(tr_self *self, struct thing_state *state, int64_t n)
{
    calls++;
    (void)!tr_sleep(self, TR_SECOND);
    state->value += n;
    return tr_reply(self, acted, .value = state->value);
}

TEST(a_repeat_waits_for_the_first_and_gets_its_answer, "K-14")
{
    enum { MANY = 12 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(seed);
        bool is_aside = seed % 2;
        for (int i = 0; i < MANY; i++)
            ask_beside(asker_make(), "a", "x", add_slowly, 5, is_aside);
        tr_kit_advance(kit, 5 * TR_SECOND);
        ck_assert_int_eq(asked, MANY);
        for (int i = 0; i < MANY; i++) {
            ck_assert_int_eq(outcomes[i], TR_OK);
            ck_assert_int_eq(values[i], 5);
        }
        ck_assert_int_eq(calls, 1);
        things_end();
    }
}

TEST(only_so_many_repeats_wait, "K-14")
{
    begin(1);
    for (int i = 0; i < TR_REQUEST_REPEATS_MAX + 3; i++)
        ask_beside(asker_make(), "a", "x", add_slowly, 5, true);
    tr_kit_advance(kit, 5 * TR_SECOND);
    int limited = 0;
    for (int i = 0; i < asked; i++)
        limited += outcomes[i] == TR_LIMIT;
    ck_assert_int_eq(asked, TR_REQUEST_REPEATS_MAX + 3);
    ck_assert_int_eq(limited, 2);
    ck_assert_int_eq(calls, 1);
    things_end();
}

/* ---- Answers of all kinds. ---- */

static tr_next refuse(tr_self *self, struct thing_state *state, int64_t n)
{
    calls++;
    state->value += n;
    return tr_refuse(self, 42, "no");
}

static tr_next no_reply(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)self;
    calls++;
    state->value += n;
    return TR_SAME;
}

TEST(refusals_and_silence_are_answers_too, "K-14")
{
    begin(1);
    for (int i = 0; i < 3; i++) {
        act_ask ask =
            tr_ask_once(test, thing, "a", "x", act, .call = (uint64_t)(uintptr_t)refuse, .n = 1);
        ck_assert_int_eq(tr_try_await(test, ask, NULL), TR_REFUSED);
        ck_assert_int_eq(tr_ask_error(test, ask)->code, 42);
        ck_assert_str_eq(tr_ask_error(test, ask)->text, "no");
        ck_assert_int_eq(try_once("a", "y", no_reply, 1), TR_NO_REPLY);
        if (i)
            tr_kit_advance(kit, TR_MINUTE);
    }
    ck_assert_int_eq(calls, 2);
    ck_assert_int_eq(things_do("a", look, 0), 2);
    things_end();
}

static tr_later later;

static tr_next put_off(tr_self *self, struct thing_state *state, int64_t n)
{
    calls++;
    state->value += n;
    later = tr_reply_later(self);
    return TR_SAME;
}

static tr_next answer_now(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    ck_assert_int_eq(tr_reply_to(self, later, acted, .value = state->value), TR_OK);
    return TR_SAME;
}

TEST(a_later_turn_may_answer, "K-14")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(seed);
        for (int i = 0; i < 3; i++)
            ask_beside(asker_make(), "a", "x", put_off, 5, false);
        tr_kit_advance(kit, TR_SECOND);
        ck_assert_int_eq(asked, 0);
        ck_assert_int_eq(things_send(things_of("a"), answer_now, 0), TR_OK);
        tr_kit_advance(kit, TR_SECOND);
        ck_assert_int_eq(asked, 3);
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(values[i], 5);
        tr_kit_advance(kit, TR_MINUTE);
        ck_assert_int_eq(once("a", "x", put_off, 5), 5);
        ck_assert_int_eq(calls, 1);
        things_end();
    }
}

static bool may_begin;

static tr_next stash_first(tr_self *self, struct thing_state *state, int64_t n)
{
    calls++;
    if (!may_begin)
        return tr_stash(self);
    return thing_add(self, state, n);
}

static tr_next unstash(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state, (void)n;
    may_begin = true;
    tr_unstash(self, SIZE_MAX);
    return tr_reply(self, acted, .value = 0);
}

TEST(a_stashed_request_keeps_its_id, "K-14")
{
    begin(1);
    may_begin = false;
    ask_beside(asker_make(), "a", "x", stash_first, 5, false);
    ask_beside(asker_make(), "a", "x", stash_first, 5, false);
    tr_kit_settle(kit);
    ck_assert_int_eq(asked, 0);
    (void)things_do("a", unstash, 0);
    tr_kit_settle(kit);
    ck_assert_int_eq(asked, 2);
    ck_assert_int_eq(values[0], 5);
    ck_assert_int_eq(values[1], 5);
    ck_assert_int_eq(calls, 2);
    ck_assert_int_eq(once("a", "x", stash_first, 5), 5);
    ck_assert_int_eq(calls, 2);
    things_end();
}

static tr_next pass_to_b(tr_self *self, struct thing_state *state, int64_t n)
{
    calls++;
    if (strcmp(tr_key(self).data, "b") == 0)
        return thing_add(self, state, 5);
    tr_next next = tr_forward(self, tr_durable(self, thing, "b"));
    if (n == 6)
        (void)!tr_sleep(self, TR_SECOND);
    return next;
}

/* What the other actor answers is not known, but the handler does not run again. */
TEST(a_forwarded_request_has_one_effect, "K-14")
{
    begin(1);
    ck_assert_int_eq(once("a", "x", pass_to_b, 5), 5);
    ck_assert_int_eq(calls, 2);
    ck_assert_int_eq(try_once("a", "x", pass_to_b, 5), TR_REQUEST_BEGUN);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(try_once("a", "x", pass_to_b, 5), TR_REQUEST_BEGUN);
    ck_assert_int_eq(calls, 2);
    ck_assert_int_eq(once("a", "y", pass_to_b, 6), 10);
    tr_kit_advance(kit, 2 * TR_SECOND);
    ck_assert_int_eq(try_once("a", "y", pass_to_b, 6), TR_REQUEST_BEGUN);
    ck_assert_int_eq(calls, 4);
    ck_assert_int_eq(things_do("b", look, 0), 10);
    things_end();
}

/* The asker is gone, and with it the reply. The next one who asks needs that reply. */
TEST(an_answer_is_kept_though_its_asker_is_gone, "K-14")
{
    for (int is_aside = 0; is_aside < 2; is_aside++) {
        begin(1);
        asker_ref ref = asker_make();
        ask_beside(ref, "a", "x", add_slowly, 5, is_aside);
        tr_kit_settle(kit);
        tr_kill(test, ref);
        tr_kit_advance(kit, 3 * TR_SECOND);
        ck_assert_int_eq(asked, 1);
        ck_assert_int_eq(outcomes[0], TR_CANCELLED);
        if (is_aside) {
            act_aside_ask ask = tr_ask_once(
                test, thing, "a", "x", act_aside, .call = (uint64_t)(uintptr_t)add_slowly, .n = 5);
            ck_assert_int_eq(tr_try_await(test, ask, NULL), TR_OK);
        } else {
            ck_assert_int_eq(once("a", "x", add_slowly, 5), 5);
        }
        ck_assert_int_eq(calls, 1);
        ck_assert_int_eq(things_do("a", look, 0), 5);
        things_end();
    }
}

static tr_next refuse_slowly(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)!tr_sleep(self, TR_SECOND);
    return refuse(self, state, n);
}

TEST(a_refusal_is_kept_though_its_asker_is_gone, "K-14")
{
    begin(1);
    asker_ref ref = asker_make();
    ask_beside(ref, "a", "x", refuse_slowly, 5, false);
    tr_kit_settle(kit);
    tr_kill(test, ref);
    tr_kit_advance(kit, 3 * TR_SECOND);
    ck_assert_int_eq(try_once("a", "x", refuse_slowly, 5), TR_REFUSED);
    ck_assert_int_eq(calls, 1);
    things_end();
}

/* ---- Failures. ---- */

static bool fails;

static tr_next add_or_fail(tr_self *self, struct thing_state *state, int64_t n)
{
    calls++;
    state->value += n;
    if (fails)
        tr_crash(self, TR_BAD_DATA, "as told");
    return tr_reply(self, acted, .value = state->value);
}

TEST(a_request_that_failed_is_handled_again, "K-14")
{
    begin(1);
    fails = true;
    ck_assert_int_eq(try_once("a", "x", add_or_fail, 5), TR_FAILED);
    fails = false;
    ck_assert_int_eq(once("a", "x", add_or_fail, 5), 5);
    fails = true;
    ck_assert_int_eq(once("a", "x", add_or_fail, 5), 5);
    ck_assert_int_eq(calls, 2);
    things_end();
}

static tr_next add_then_fail(tr_self *self, struct thing_state *state, int64_t n)
{
    calls++;
    state->value += n;
    (void)!tr_sleep(self, TR_SECOND); /* what was added is stored */
    if (fails)
        return tr_fail(self, TR_BAD_DATA, "as told");
    return tr_reply(self, acted, .value = state->value);
}

/* Half of it is done. To do that half again would be a second effect. */
TEST(a_request_that_failed_in_the_middle_is_not_handled_again, "K-14")
{
    begin(1);
    fails = true;
    ck_assert_int_eq(try_once("a", "x", add_then_fail, 5), TR_FAILED);
    ck_assert_int_eq(try_once("a", "x", add_then_fail, 5), TR_REQUEST_BEGUN);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(try_once("a", "x", add_then_fail, 5), TR_REQUEST_BEGUN);
    ck_assert_int_eq(try_once("a", "x", add_then_fail, 6), TR_REQUEST_DIFFERS);
    ck_assert_int_eq(calls, 1);
    fails = false;
    ck_assert_int_eq(once("a", "y", add_then_fail, 5), 10);
    ck_assert_int_eq(once("a", "y", add_then_fail, 5), 10);
    ck_assert_int_eq(calls, 2);
    things_end();
}

static tr_next add_and_hang(tr_self *self, struct thing_state *state, int64_t n)
{
    calls++;
    state->value += n;
    if (fails)
        (void)!tr_sleep(self, TR_HOUR);
    return tr_reply(self, acted, .value = state->value);
}

/* The asker sends it again by itself: it has an id, so that is safe. */
TEST(a_killed_actor_does_not_double_an_effect, "K-13", "K-14")
{
    begin(1);
    (void)things_do("a", look, 0);
    fails = true;
    ask_beside(asker_make(), "a", "x", add_and_hang, 5, false);
    tr_kit_settle(kit);
    tr_kill(test, things_of("a"));
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_int_eq(asked, 1);
    ck_assert_int_eq(outcomes[0], TR_REQUEST_BEGUN);
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(things_do("a", look, 0), 5);
    things_end();
}

/* ---- Time and space. ---- */

TEST(an_answer_is_kept_for_a_day, "K-14")
{
    begin(1);
    ck_assert_int_eq(once("a", "x", add, 5), 5);
    tr_kit_advance(kit, 24 * TR_HOUR - TR_MINUTE);
    ck_assert_int_eq(once("a", "x", add, 5), 5);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(once("a", "x", add, 5), 10);
    ck_assert_int_eq(once("a", "x", add, 5), 10);
    ck_assert_int_eq(calls, 2);
    things_end();
}

/* With 2000 bytes at most; each counts about 120. */
TEST(answers_beyond_the_limit_are_refused_before_the_handler_runs, "K-14")
{
    char id[16];
    begin(1);
    int count = 0;
    for (tr_status status = TR_OK; status == TR_OK; count++) {
        snprintf(id, sizeof id, "%d", count);
        status = try_once("a", id, add, 1);
        ck_assert(status == TR_OK || status == TR_LIMIT);
        ck_assert_int_lt(count, 30);
    }
    ck_assert_int_gt(count, 10);
    ck_assert_int_eq(calls, count - 1);
    ck_assert_int_eq(once("a", "0", add, 1), 1); /* a repeat needs no space */
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(try_once("a", "new", add, 1), TR_LIMIT);
    ck_assert_int_eq(once("b", "new", add, 1), 1);
    tr_kit_advance(kit, 24 * TR_HOUR);
    for (int i = 0; i < count - 1; i++) {
        snprintf(id, sizeof id, "%d", i);
        ck_assert_int_eq(try_once("a", id, add, 1), TR_OK);
    }
    ck_assert_int_eq(calls, 2 * count - 1);
    ck_assert_int_eq(try_once("a", "new", add, 1), TR_LIMIT);
    things_end();
}

TEST(answers_go_with_their_actor, "K-14", "Z-15")
{
    begin(1);
    ck_assert_int_eq(once("a", "x", add, 5), 5);
    ck_assert_int_eq(things_do("a", thing_destroy, 0), TR_OK);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(once("a", "x", add, 5), 5);
    ck_assert_int_eq(calls, 2);
    things_end();
}

/* ---- Other processes. ---- */

static char directory[64];

static void begin_in_directory(void)
{
    calls = asked = 0;
    things_begin_with((tr_kit_options){.seed = 1, .store = directory});
}

/* Runs `play` in a process that ends without a word. */
static void crash_after(void (*play)(void))
{
    pid_t child = fork();
    if (child == 0) {
        begin_in_directory();
        play();
        _exit(0);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

static void play_once(void)
{
    ck_assert_int_eq(once("a", "x", add, 5), 5);
    fails = true;
    ask_beside(asker_make(), "b", "y", add_and_hang, 5, false);
    tr_kit_settle(kit);
    ck_assert_int_eq(calls, 2);
}

TEST(a_crash_does_not_forget_an_answer, "K-09", "K-14")
{
    snprintf(directory, sizeof directory, "/tmp/troupe-once-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    crash_after(play_once);
    for (int i = 0; i < 2; i++) {
        begin_in_directory();
        ck_assert_int_eq(once("a", "x", add, 5), 5);
        ck_assert_int_eq(try_once("a", "x", add, 6), TR_REQUEST_DIFFERS);
        ck_assert_int_eq(try_once("b", "y", add_and_hang, 5), TR_REQUEST_BEGUN);
        ck_assert_int_eq(calls, 0);
        ck_assert_int_eq(things_do("a", look, 0), 5);
        ck_assert_int_eq(things_do("b", look, 0), 5);
        things_end();
    }
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

SUITE("durable once", a_request_with_an_id_has_one_effect_and_one_answer,
      the_same_id_with_another_content_is_refused, a_repeat_waits_for_the_first_and_gets_its_answer,
      only_so_many_repeats_wait, refusals_and_silence_are_answers_too, a_later_turn_may_answer,
      a_stashed_request_keeps_its_id, a_forwarded_request_has_one_effect,
      an_answer_is_kept_though_its_asker_is_gone, a_refusal_is_kept_though_its_asker_is_gone,
      a_request_that_failed_is_handled_again,
      a_request_that_failed_in_the_middle_is_not_handled_again,
      a_killed_actor_does_not_double_an_effect, an_answer_is_kept_for_a_day,
      answers_beyond_the_limit_are_refused_before_the_handler_runs, answers_go_with_their_actor,
      a_crash_does_not_forget_an_answer)
