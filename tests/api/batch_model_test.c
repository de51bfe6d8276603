/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Batches against a model, under random orders, out of memory, and on real threads.
 */
#include "support/kits.h"

#include <stdlib.h>

enum { MESSAGES = 60 };

TR_MESSAGE(was_put, (u32, n));
TR_REQUEST(put, was_put, (u32, n), (bool, is_alone), (bool, is_barrier), (str, text));
TR_MESSAGE(other, (u32, n));
TR_ACTOR(shelf, put, other);

static uint32_t rest_ms; /* how long a batch waits in its middle */
static size_t in_hand;

static bool is_common(const struct put *message)
{
    return !message->is_alone;
}

static bool is_barrier(const void *message)
{
    return ((const struct put *)message)->is_barrier;
}

static void check_text(const struct put *message)
{
    ck_assert_int_eq(atoi(message->text), (int)message->n);
}

static tr_next on_puts(tr_self *self, const struct put *const *messages, size_t count)
{
    in_hand += count;
    for (size_t i = 0; i < count; i++) {
        check_text(messages[i]);
        say("%s%" PRIu32, i ? "+" : "", messages[i]->n);
    }
    if (rest_ms)
        (void)tr_sleep(self, rest_ms * MS);
    for (size_t i = 0; i < count; i++) {
        check_text(messages[i]);
        if (messages[i]->n % 7 == 0)
            tr_refuse_at(self, i, (int)messages[i]->n, "a seventh");
        else if (messages[i]->n % 5)
            tr_reply_at(self, i, was_put, .n = messages[i]->n);
    }
    in_hand -= count;
    return TR_SAME;
}

static tr_next on_other(const struct other *message)
{
    say("%" PRIu32, message->n);
    return TR_SAME;
}

#define SHELF(name, max, ...)                                                                      \
    TR_BEHAVIOR(                                                                                   \
        name,                                                                                      \
        void,                                                                                      \
        TR_ON_BATCH_IF(put, is_common, on_puts, .batch_max = max, .barrier_if = is_barrier),       \
        TR_ON(other, on_other),                                                                    \
        TR_OPTIONS(__VA_ARGS__))
SHELF(shelf, 0, .is_pinned = true);
SHELF(shelf_of_4, 4, .mailbox_max = 100);
SHELF(shelf_by_kind, 5, .ordering = TR_BY_KIND);
SHELF(shelf_with_budget, 3, .budget_bytes = 1 << 20, .mailbox_max = 5000);

struct kind_of_shelf {
    const tr_behavior *behavior;
    size_t max;
    bool is_by_kind;
};
static const struct kind_of_shelf shelves[] = {{&tr_behavior_shelf, TR_BATCH_MAX, false},
                                               {&tr_behavior_shelf_of_4, 4, false},
                                               {&tr_behavior_shelf_by_kind, 5, true},
                                               {&tr_behavior_shelf_with_budget, 3, false}};

struct letter {
    uint32_t n;
    bool is_other;
    bool is_ask;
    bool is_alone;
    bool is_barrier;
    put_ask asked;
};

static uint64_t dice_state;

static uint32_t dice(uint32_t sides)
{
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(dice_state >> 33) % sides;
}

static struct letter letter_new(uint32_t n)
{
    struct letter letter = {.n = n, .is_other = dice(12) == 0};
    letter.is_ask = !letter.is_other && dice(3) == 0;
    letter.is_alone = dice(6) == 0;
    letter.is_barrier = dice(9) == 0;
    return letter;
}

static void letter_send(struct letter *letter, shelf_ref shelf)
{
    char text[16];
    snprintf(text, sizeof text, "%" PRIu32, letter->n);
    struct put message = {letter->n, letter->is_alone, letter->is_barrier, text};
    if (letter->is_other)
        tr_tell(test, shelf, other, .n = letter->n);
    else if (letter->is_ask)
        letter->asked =
            tr_ask(test, shelf, put, message.n, message.is_alone, message.is_barrier, text);
    else
        tr_tell_copy(test, shelf, put, &message);
}

static shelf_ref open_shelf(const struct kind_of_shelf *kind)
{
    uint64_t bits = 0;
    tr_spawn_args args = {.size = sizeof args, .behavior = kind->behavior, .worker = home};
    ck_assert_int_eq(tr_client_try_spawn(test, &args, &bits), TR_OK);
    tr_kit_settle(kit);
    return shelf_ref_of(tr_ref_from_bits(bits));
}

/* What is said when all letters wait before the first is handled. */
static const char *model(const struct letter *letters, size_t count,
                         const struct kind_of_shelf *kind)
{
    static char text[4096];
    struct letter sorted[MESSAGES];
    size_t sorted_count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            bool is_first = !kind->is_by_kind || letters[i].is_ask;
            if (is_first == (pass == 0))
                sorted[sorted_count++] = letters[i];
        }
    }
    size_t length = 0;
    size_t group = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sorted_count; i++) {
        const struct letter *now = &sorted[i];
        const struct letter *last = i ? &sorted[i - 1] : NULL;
        bool is_free = !now->is_other && !now->is_alone && !now->is_barrier;
        bool was_free = last && !last->is_other && !last->is_alone && !last->is_barrier;
        bool joins = is_free && was_free && now->is_ask == last->is_ask && group < kind->max;
        group = joins ? group + 1 : 1;
        length += (size_t)snprintf(text + length,
                                   sizeof text - length,
                                   "%s%s%" PRIu32,
                                   i ? "; " : "",
                                   joins ? "+" : "",
                                   now->n);
    }
    return text;
}

static tr_status expected_outcome(uint32_t n)
{
    if (n % 7 == 0)
        return TR_REFUSED;
    return n % 5 ? TR_OK : TR_NO_REPLY;
}

TEST(grouping_is_that_of_the_model, "D-04", "SG-13", "M-01")
{
    struct letter letters[MESSAGES];
    for (uint64_t seed = 1; seed <= (TEST_HAS_SANITIZER ? 100 : 400); seed++) {
        kit_open_anywhere(seed % 2 ? 1 : 3, seed);
        dice_state = seed;
        const struct kind_of_shelf *kind = &shelves[dice(4)];
        shelf_ref shelf = open_shelf(kind);
        for (int round = 0; round < 3; round++) {
            size_t count = 1 + dice(MESSAGES);
            for (size_t i = 0; i < count; i++) {
                letters[i] = letter_new((uint32_t)i);
                letter_send(&letters[i], shelf);
            }
            tr_kit_settle(kit);
            SAID(model(letters, count, kind));
            for (size_t i = 0; i < count; i++) {
                const struct was_put *reply;
                if (!letters[i].is_ask)
                    continue;
                ck_assert_int_eq(tr_try_await(test, letters[i].asked, &reply),
                                 expected_outcome(letters[i].n));
            }
            SAID("");
            tr_kit_check(kit);
        }
        kit_close();
    }
}

/* Whatever comes in between, each message is handled once, in its order, and each ask has its end. */
TEST(random_orders_lose_nothing, "D-04", "A-01", "L-06")
{
    for (uint64_t seed = 1; seed <= (TEST_HAS_SANITIZER ? 100 : 400); seed++) {
        kit_open_anywhere(1 + (int)(seed % 3), seed);
        dice_state = seed * 77;
        shelf_ref shelf = open_shelf(&shelves[dice(4)]);
        struct letter letters[MESSAGES];
        bool is_killed = false;
        rest_ms = dice(2) ? 1 + dice(20) : 0;
        for (uint32_t n = 0; n < MESSAGES; n++) {
            letters[n] = letter_new(n);
            letter_send(&letters[n], shelf);
            switch (dice(12)) {
            case 0:
                tr_kit_settle(kit);
                break;
            case 1:
                tr_suspend(test, shelf);
                break;
            case 2:
                tr_resume(test, shelf);
                break;
            case 3:
                tr_kit_advance(kit, dice(30) * MS);
                break;
            case 4:
                if (dice(15) == 0) {
                    tr_kill(test, shelf);
                    is_killed = true;
                }
                break;
            default:
                if (dice(2))
                    (void)tr_kit_step(kit);
                break;
            }
            tr_kit_check(kit);
        }
        tr_resume(test, shelf);
        for (uint32_t n = 0; n < MESSAGES; n++) {
            const struct was_put *reply;
            if (!letters[n].is_ask)
                continue;
            tr_status status = tr_try_await(test, letters[n].asked, &reply);
            ck_assert_msg(status == expected_outcome(n) || (is_killed && status == TR_STOPPED),
                          "seed %" PRIu64 ", %" PRIu32 ": %s",
                          seed,
                          n,
                          tr_status_name(status));
        }
        tr_kit_advance(kit, TR_MINUTE);
        ck_assert(is_killed || in_hand == 0);
        in_hand = 0;
        rest_ms = 0;
        said();
        kit_close();
    }
}

TEST(out_of_memory_a_batch_is_smaller_and_nothing_is_lost, "D-04", "U-02")
{
    for (uint64_t nth = 1; nth < 60; nth++) {
        for (int and_all_after = 0; and_all_after < 2; and_all_after++) {
            kit_open(1, nth);
            shelf_ref shelf = open_shelf(&shelves[nth % 4]);
            rest_ms = nth % 2 ? 1 : 0;
            struct letter letters[MESSAGES];
            if (nth % 3)
                tr_kit_fail_allocation(kit, nth, and_all_after);
            for (uint32_t n = 0; n < MESSAGES; n++) {
                letters[n] = (struct letter){.n = n, .is_ask = n >= 30};
                letter_send(&letters[n], shelf);
            }
            tr_kit_fail_allocation(kit, nth / 3 + 1, and_all_after);
            tr_kit_settle(kit);
            tr_kit_check(kit);
            for (uint32_t n = 30; n < MESSAGES; n++) {
                const struct was_put *reply;
                tr_status status = tr_try_await(test, letters[n].asked, &reply);
                ck_assert_msg(status == expected_outcome(n) || status == TR_NO_MEMORY ||
                                  status == TR_NO_REPLY || status == TR_FAILED ||
                                  status == TR_TIMEOUT || status == TR_STOPPED,
                              "%s",
                              tr_status_name(status));
            }
            tr_kit_fail_allocation(kit, 0, false);
            tr_kit_advance(kit, TR_MINUTE);
            rest_ms = 0;
            in_hand = 0;
            said();
            kit_close();
        }
    }
}

/* ---- Answers that wait for capacity. ---- */

TR_MESSAGE(start, (ref, shelf), (u32, count));
TR_ACTOR(slow, start, was_put);
static uint32_t answers;

static tr_next on_start(tr_self *self, const struct start *message)
{
    for (uint32_t n = 0; n < message->count; n++) {
        char *text = tr_format(self, "%u", (unsigned)(n * 35 + 1));
        tr_tell(self, message->shelf, put, .n = n * 35 + 1, .text = text);
    }
    (void)tr_sleep(self, 100 * MS);
    return TR_SAME;
}

static tr_next on_was_put(const struct was_put *message)
{
    ck_assert_uint_eq(message->n, answers++ * 35 + 1);
    return TR_SAME;
}

TR_BEHAVIOR(slow, void, TR_ON(start, on_start, .is_barrier = true), TR_ON(was_put, on_was_put),
            TR_OPTIONS(.mailbox_max = 2, .overflow = TR_PARK));

static void play_full(void)
{
    shelf_ref shelf = open_shelf(&shelves[0]);
    slow_ref slow;
    answers = 0;
    ck_assert_int_eq(tr_try_spawn(test, &slow, slow, NULL), TR_OK);
    tr_tell(test, slow, start, .shelf = tr_any(shelf), .count = 10);
    tr_kit_settle(kit);
    tr_kit_check(kit); /* the batch waits in the middle of its replies */
    ck_assert_uint_eq(in_hand, 10);
    ck_assert_uint_eq(answers, 0);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_uint_eq(answers, 10);
    ck_assert_uint_eq(in_hand, 0);
    said();
    tr_tell(test, slow, start, .shelf = tr_any(shelf), .count = 10);
    tr_kit_settle(kit);
    tr_kill(test, shelf);
    tr_kit_settle(kit);
    said();
}

TEST(a_batch_whose_answers_wait_for_room_goes_on_where_it_was, "D-04", "M-02")
{
    kits_each(play_full);
}

/* ---- Edges. ---- */

TR_MESSAGE(looked, (bytes, data));
TR_REQUEST(look, looked, (u32, n));
TR_REQUEST(nap, tr_done, (u32, ms));
TR_ACTOR(viewer, look);
TR_ACTOR(napper, nap);
static napper_ref napper;
static bool has_nap;

static tr_next on_nap(tr_self *self, const struct nap *message)
{
    (void)tr_sleep(self, message->ms * MS);
    return tr_reply(self, tr_done);
}

/* Each of the first three gets another answer; the second reply is too large. */
static tr_next on_looks(tr_self *self, const struct look *const *messages, size_t count)
{
    static char large[TR_PAYLOAD_MAX + 1];
    for (size_t i = 0; i < count; i++)
        say("%s%" PRIu32, i ? "+" : "", messages[i]->n);
    if (has_nap) {
        const struct tr_done *done;
        nap_ask asked = tr_ask(self, napper, nap, .ms = 1000);
        say("%s", tr_status_name(tr_try_await(self, asked, &done)));
    }
    if (count < 3)
        return tr_reply(self, looked);
    ck_assert_int_eq(tr_reply_at(self, 0, looked, .data = {"x", 1}), TR_OK);
    ck_assert_int_eq(tr_reply_at(self, 1, looked, .data = {large, sizeof large}), TR_TOO_LARGE);
    return TR_SAME;
}

TR_BEHAVIOR(napper, void, TR_ON(nap, on_nap));
TR_BEHAVIOR(viewer, void, TR_ON_BATCH(look, on_looks));

static void play_edges(void)
{
    viewer_ref viewer;
    look_ask asked[4];
    const struct looked *reply;
    has_nap = false;
    ck_assert_int_eq(tr_try_spawn_at(test, &viewer, home, viewer, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn(test, &napper, napper, NULL), TR_OK);
    tr_kit_settle(kit);
    for (uint32_t n = 0; n < 4; n++)
        asked[n] = tr_ask(test, viewer, look, .n = n);
    static const tr_status ends[] = {TR_OK, TR_TOO_LARGE, TR_NO_REPLY, TR_NO_REPLY};
    for (uint32_t n = 0; n < 4; n++)
        ck_assert_int_eq(tr_try_await(test, asked[n], &reply), ends[n]);
    SAID("0; +1; +2; +3");
    /* A request that nobody waits for any more is no part of a batch, nor its end. */
    tr_suspend(test, viewer);
    tr_kit_settle(kit);
    for (uint32_t n = 0; n < 4; n++)
        asked[n] = tr_ask_within(test, n == 1 ? 10 * MS : TR_MINUTE, viewer, look, .n = n);
    tr_kit_advance(kit, 20 * MS);
    tr_resume(test, viewer);
    tr_kit_settle(kit);
    SAID("0; 2; +3");
    ck_assert_uint_eq(dead_letters(TR_TIMEOUT), 1);
    ck_assert_int_eq(tr_try_await(test, asked[0], &reply), TR_OK);
    ck_assert_int_eq(tr_try_await(test, asked[1], &reply), TR_TIMEOUT);
    ck_assert_int_eq(tr_try_await(test, asked[2], &reply), TR_OK);
    ck_assert_int_eq(tr_try_await(test, asked[3], &reply), TR_NO_REPLY);
    /* An ask of a batch may take as long as the most patient of its requests. */
    has_nap = true;
    for (uint32_t n = 0; n < 3; n++)
        asked[n] = tr_ask_within(test, n == 1 ? TR_MINUTE : 100 * MS, viewer, look, .n = n);
    tr_kit_settle(kit);
    tr_kit_advance(kit, 2 * TR_SECOND);
    SAID("0; +1; +2; TR_OK");
    ck_assert_int_eq(tr_try_await(test, asked[1], &reply), TR_TOO_LARGE);
}

TEST(each_request_has_its_own_deadline_and_its_own_failure, "D-04", "A-05", "AK-18")
{
    kits_each(play_edges);
}

/* ---- Real threads. ---- */

enum { ASKERS = 6, ROUNDS = TEST_HAS_SANITIZER ? 60 : 400, BURST = 20 };

TR_REQUEST(add, was_put, (u32, n), (str, text));
TR_MESSAGE(asker_done, (u32, wrong));
TR_ACTOR(adder, add);
TR_MESSAGE(go, (ref_of(adder), adder), (ref, boss));
TR_ACTOR(asker, go);

static bool is_even(const struct add *message)
{
    return message->n % 11 != 0;
}

static tr_next on_adds(tr_self *self, const struct add *const *messages, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (messages[i]->n % 13 == 0)
            tr_refuse_at(self, i, 1, "unlucky");
        else
            tr_reply_at(self, i, was_put, .n = (uint32_t)atoi(messages[i]->text));
    }
    return TR_SAME;
}

static tr_next on_go(tr_self *self, const struct go *message)
{
    uint32_t wrong = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        add_ask asks[BURST];
        for (uint32_t i = 0; i < BURST; i++) {
            uint32_t n = round * BURST + i;
            asks[i] = tr_ask(
                self, message->adder, add, .n = n, .text = tr_format(self, "%" PRIu32, n + 1));
        }
        for (uint32_t i = 0; i < BURST; i++) {
            const struct was_put *reply;
            uint32_t n = round * BURST + i;
            tr_status status = tr_try_await(self, asks[i], &reply);
            wrong += n % 13 == 0 ? status != TR_REFUSED : status != TR_OK || reply->n != n + 1;
        }
    }
    tr_tell(self, message->boss, asker_done, .wrong = wrong);
    return TR_STOP;
}

TR_BEHAVIOR(adder, void, TR_ON_BATCH_IF(add, is_even, on_adds, .batch_max = 50));
TR_BEHAVIOR(asker, void, TR_ON(go, on_go));

TEST(many_askers_on_many_threads_get_their_own_answers, "D-04", "A-01")
{
    const tr_system_options options = {.size = sizeof options, .workers = 3};
    tr_system *system;
    tr_client *client;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    adder_ref adder;
    ck_assert_int_eq(tr_try_spawn(client, &adder, adder, NULL), TR_OK);
    for (int i = 0; i < ASKERS; i++) {
        asker_ref asker;
        ck_assert_int_eq(tr_try_spawn_at(client, &asker, i % 3, asker, NULL), TR_OK);
        tr_tell(client, asker, go, .adder = adder, .boss = tr_client_ref(client));
    }
    for (int i = 0; i < ASKERS; i++) {
        const struct asker_done *done = tr_receive(client, asker_done, 100 * TR_SECOND);
        ck_assert_ptr_nonnull(done);
        ck_assert_uint_eq(done->wrong, 0);
    }
    tr_client_free(client);
    tr_system_shutdown(system, TR_MINUTE);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

SUITE("batches, at random", grouping_is_that_of_the_model, random_orders_lose_nothing,
      out_of_memory_a_batch_is_smaller_and_nothing_is_lost,
      a_batch_whose_answers_wait_for_room_goes_on_where_it_was,
      each_request_has_its_own_deadline_and_its_own_failure,
      many_askers_on_many_threads_get_their_own_answers)
