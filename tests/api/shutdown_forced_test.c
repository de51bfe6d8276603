/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a deadline leaves behind: after it, mail is buried by counting and actors are killed where
 * they live. Nothing may be lost on that shorter way: no count, no tr_post_stop, no answer to who
 * asked, no buffer.
 */
#include "support/stage.h"

#include <pthread.h>
#include <stdatomic.h>

TR_MESSAGE(note, (u64, n));
TR_MESSAGE(letter, (str, text));
TR_MESSAGE(parcel, (buffer, content), (u64, n));
TR_MESSAGE(answer);
TR_REQUEST(question, answer);
TR_MESSAGE(doze);
TR_ACTOR(keeper, note, letter, parcel, question, doze);

enum { KEEPERS = 24, MANY = 3 * TR_DEAD_LETTERS_MAX + 77, ASKS = KEEPERS * 8 };

static atomic_int started;
static atomic_int stopped;
static atomic_int cleaned;

static void clean(void *resource)
{
    (void)resource;
    atomic_fetch_add(&cleaned, 1);
}

static tr_next on_note(void)
{
    return TR_SAME;
}

static tr_next on_question(tr_self *self)
{
    tr_reply(self, answer);
    return TR_SAME;
}

static tr_next on_doze(tr_self *self)
{
    (void)tr_sleep(self, TR_HOUR);
    return TR_SAME;
}

static tr_next on_start(tr_self *self)
{
    atomic_fetch_add(&started, 1);
    tr_at_end(self, NULL, clean);
    return TR_SAME;
}

static tr_next on_stop(void)
{
    atomic_fetch_add(&stopped, 1);
    return TR_SAME;
}

TR_BEHAVIOR(keeper, void, TR_ON(note, on_note), TR_ON(letter, on_note), TR_ON(parcel, on_note),
            TR_ON(question, on_question), TR_ON(doze, on_doze, .is_barrier = true),
            TR_ON(tr_pre_start, on_start), TR_ON(tr_post_stop, on_stop));

static void forget_all(void)
{
    atomic_store(&started, 0);
    atomic_store(&stopped, 0);
    atomic_store(&cleaned, 0);
}

/* ---- All kinds of mail. ---- */

/* Three have very much, the others a little of different amounts. */
static size_t mail_of(size_t keeper)
{
    return keeper % 8 == 3 ? MANY : 11 + keeper;
}

static const char *kind_of(size_t keeper, size_t index)
{
    if (index % 500 == 7)
        return "question";
    if (index % 5 == 1)
        return "letter";
    return index % 7 == 2 + keeper % 3 ? "parcel" : "note";
}

struct play {
    struct stage *stage;
    keeper_ref keepers[KEEPERS];
    question_ask asked[ASKS];
    size_t asked_count;
    size_t sent;
    tr_buffer *buffer;
};

static void send(struct play *play, size_t keeper, size_t index)
{
    tr_client *client = play->stage->client;
    keeper_ref to = play->keepers[keeper];
    const char *kind = kind_of(keeper, index);
    play->sent++;
    if (kind[0] == 'q') {
        ck_assert_uint_lt(play->asked_count, ASKS);
        play->asked[play->asked_count++] = tr_ask_within(client, 2 * TR_HOUR, to, question);
    } else if (kind[0] == 'l') {
        ck_assert_int_eq(tr_tell(client, to, letter, .text = "more than fits inside"), TR_OK);
    } else if (kind[0] == 'p') {
        ck_assert_int_eq(tr_tell(client, to, parcel, .content = play->buffer), TR_OK);
    } else {
        ck_assert_int_eq(tr_tell(client, to, note, .n = index), TR_OK);
    }
}

/* Everybody dozes, and has mail that it cannot look at meanwhile. */
static void play_fill(struct play *play, struct stage *stage)
{
    *play = (struct play){.stage = stage, .buffer = tr_buffer_new(100)};
    ck_assert_ptr_nonnull(play->buffer);
    forget_all();
    for (size_t i = 0; i < KEEPERS; i++) {
        int worker = (int)(i % (size_t)stage->workers);
        ck_assert_int_eq(tr_try_spawn_at(stage->client, &play->keepers[i], worker, keeper, NULL),
                         TR_OK);
        tr_tell(stage->client, play->keepers[i], doze);
    }
    tr_kit_settle(stage->kit);
    ck_assert_int_eq(atomic_load(&started), KEEPERS);
    for (size_t i = 0; i < KEEPERS; i++) {
        for (size_t index = 0; index < mail_of(i); index++)
            send(play, i, index);
    }
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_dead_letters(stage), 0);
}

static void play_shut(struct stage *stage, tr_shutdown_report *report)
{
    tr_system_shutdown(tr_kit_system(stage->kit), TR_SECOND);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), KEEPERS);
    tr_kit_advance(stage->kit, TR_SECOND);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 0);
    ck_assert_int_eq(tr_system_report(tr_kit_system(stage->kit), report), TR_OK);
}

/* `told`: what the client has of all that, but for the answers to its questions. */
static void check_counts(struct play *play, const tr_shutdown_report *report, size_t told)
{
    tr_counters counters = stage_counters(play->stage);
    ck_assert_uint_eq(counters.handled, KEEPERS); /* the nap that was cancelled */
    ck_assert_uint_eq(counters.dead_letters, play->sent);
    ck_assert_uint_eq(counters.refused, 0);
    ck_assert_uint_eq(counters.queued, play->asked_count + told);
    ck_assert_uint_eq(counters.accepted, KEEPERS + play->sent + counters.queued);
    ck_assert_uint_eq(stage_dead_letters(play->stage), play->sent);
    ck_assert_uint_eq(report->dead_letters, play->sent);
    ck_assert_uint_eq(report->forced, KEEPERS);
    ck_assert_uint_eq(report->left, 0);
    ck_assert_int_eq(atomic_load(&stopped), KEEPERS);
    ck_assert_int_eq(atomic_load(&cleaned), KEEPERS);
}

static void check_answers(struct play *play)
{
    const struct answer *reply;
    for (size_t i = 0; i < play->asked_count; i++)
        ck_assert_int_eq(tr_try_await(play->stage->client, play->asked[i], &reply), TR_STOPPED);
}

/* Of each receiver the last ones are there, in its order. */
static void check_records(struct play *play)
{
    static tr_dead_letter_record records[TR_DEAD_LETTERS_MAX];
    size_t seen[KEEPERS] = {0};
    size_t count;
    (void)tr_system_dead_letters(
        tr_kit_system(play->stage->kit), records, TR_DEAD_LETTERS_MAX, &count);
    ck_assert_uint_eq(count, TR_DEAD_LETTERS_MAX);
    for (size_t i = 0; i < count; i++) {
        size_t keeper = 0;
        while (keeper < KEEPERS && !tr_is_same(records[i].to, play->keepers[keeper]))
            keeper++;
        ck_assert_uint_lt(keeper, KEEPERS);
        size_t index = mail_of(keeper) - 1 - seen[keeper]++;
        ck_assert_str_eq(records[i].type, kind_of(keeper, index));
        ck_assert_int_eq(records[i].reason, TR_STOPPED);
        ck_assert_str_eq(records[i].behavior, "");
        ck_assert_int_eq(records[i].time_ns, tr_kit_now(play->stage->kit));
    }
}

static void check_lines(const tr_shutdown_report *report)
{
    size_t at = 0;
    ck_assert_uint_eq(report->actor_count, KEEPERS);
    for (; at < 3; at++)
        ck_assert_uint_eq(report->actor[at].dead_letters, MANY);
    for (size_t keeper = KEEPERS; keeper-- > 0 && at < TR_REPORT_ACTORS_MAX;) {
        if (mail_of(keeper) == MANY)
            continue;
        ck_assert_uint_eq(report->actor[at].dead_letters, mail_of(keeper));
        ck_assert(report->actor[at].is_forced);
        at++;
    }
}

static void play_all_kinds(struct stage *stage)
{
    static struct play play;
    static tr_shutdown_report report;
    play_fill(&play, stage);
    play_shut(stage, &report);
    check_counts(&play, &report, 0);
    check_answers(&play);
    check_records(&play);
    check_lines(&report);
    tr_buffer_release(play.buffer);
}

TEST(nothing_is_lost_of_what_a_deadline_leaves, "X-01", "X-04", "SH-03", "SH-09", "M-03", "M-04")
{
    stage_play_once(play_all_kinds, 1, 1);
    for (uint64_t seed = 1; seed <= TEST_SEEDS(5); seed++)
        stage_play_once(play_all_kinds, STAGE_WORKERS, seed);
}

/* Without memory for notes each is recorded at once. */
static void play_no_memory(struct stage *stage)
{
    static struct play play;
    static tr_shutdown_report report;
    play_fill(&play, stage);
    tr_system_shutdown(tr_kit_system(stage->kit), TR_SECOND);
    tr_kit_settle(stage->kit);
    tr_kit_fail_allocation(stage->kit, 1, true);
    tr_kit_advance(stage->kit, TR_SECOND);
    tr_kit_settle(stage->kit);
    tr_kit_fail_allocation(stage->kit, 0, false);
    ck_assert_uint_eq(stage_live(stage), 0);
    ck_assert_int_eq(tr_system_report(tr_kit_system(stage->kit), &report), TR_OK);
    check_counts(&play, &report, 0);
    check_records(&play);
    tr_buffer_release(play.buffer);
}

TEST(nor_without_memory, "X-01", "SH-03", "SH-09", "U-03")
{
    stage_play_once(play_no_memory, 1, 1);
    stage_play_once(play_no_memory, STAGE_WORKERS, 1);
}

/* ---- Who has subscribed. ---- */

static void play_subscribed(struct stage *stage)
{
    static struct play play;
    static tr_shutdown_report report;
    static size_t told[KEEPERS];
    tr_ref me = tr_client_ref(stage->client);
    play_fill(&play, stage);
    memset(told, 0, sizeof told);
    ck_assert_int_eq(tr_system_subscribe_dead_letters(tr_kit_system(stage->kit), me), TR_OK);
    play_shut(stage, &report);
    check_counts(&play, &report, play.sent);
    check_records(&play);
    const struct tr_dead_letter *heard;
    while ((heard = tr_receive(stage->client, tr_dead_letter, 0))) {
        size_t keeper = 0;
        while (keeper < KEEPERS && !tr_is_same(heard->to, play.keepers[keeper]))
            keeper++;
        ck_assert_uint_lt(keeper, KEEPERS);
        ck_assert_str_eq(heard->type, kind_of(keeper, told[keeper]++));
    }
    for (size_t i = 0; i < KEEPERS; i++)
        ck_assert_uint_eq(told[i], mail_of(i));
    tr_buffer_release(play.buffer);
}

TEST(a_subscriber_is_still_told_of_each, "M-03", "MB-11", "X-01")
{
    stage_play_once(play_subscribed, 1, 1);
    stage_play_once(play_subscribed, STAGE_WORKERS, 1);
}

/* ---- On threads. ---- */

TR_MESSAGE(grow, (u64, count));
TR_ACTOR(parent, grow);

static atomic_bool floods;

static tr_next on_grow(tr_self *self, const struct grow *message)
{
    int workers = tr_system_workers(tr_system_of(self));
    for (uint64_t i = 0; i < message->count; i++) {
        keeper_ref child = tr_spawn_at(self, (int)(i % (uint64_t)workers), keeper, NULL);
        tr_tell(self, child, doze);
        for (uint64_t n = 0; n < 5; n++)
            tr_tell(self, child, note, .n = n);
    }
    return TR_SAME;
}

TR_BEHAVIOR(parent, void, TR_ON(grow, on_grow), TR_ON(tr_pre_start, on_start),
            TR_ON(tr_post_stop, on_stop));

struct flood {
    tr_system *system;
    keeper_ref to;
    uint64_t taken;
    uint64_t refused;
};

static void *flood(void *context)
{
    struct flood *flood = context;
    tr_client *client;
    ck_assert_int_eq(tr_client_new(flood->system, &client), TR_OK);
    while (atomic_load(&floods)) {
        bool is_taken = tr_tell(client, flood->to, note) == TR_OK;
        flood->taken += is_taken;
        flood->refused += !is_taken;
    }
    tr_client_free(client);
    return NULL;
}

static void await_start(int count)
{
    while (atomic_load(&started) < count)
        sched_yield();
}

/* Two threads flood two actors, which doze; a third has many children that do. */
TEST(nothing_is_lost_in_a_flood, "X-01", "SH-03", "SH-09", "M-04")
{
    enum { CHILDREN = TEST_HAS_SANITIZER ? 1000 : 20000 };
    struct theatre theatre = theatre_open_slow(2);
    struct flood floods_of[2] = {{.system = theatre.system}, {.system = theatre.system}};
    pthread_t threads[2];
    parent_ref top;
    forget_all();
    atomic_store(&floods, true);
    ck_assert_int_eq(tr_try_spawn(theatre.client, &top, parent, NULL), TR_OK);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(tr_try_spawn_at(theatre.client, &floods_of[i].to, i, keeper, NULL), TR_OK);
    await_start(3);
    tr_tell(theatre.client, top, grow, .count = CHILDREN);
    for (int i = 0; i < 2; i++) {
        tr_tell(theatre.client, floods_of[i].to, doze);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, flood, &floods_of[i]), 0);
    }
    await_start(3 + CHILDREN);
    tr_system_shutdown(theatre.system, TR_MILLISECOND);
    ck_assert_int_eq(tr_system_wait(theatre.system), TR_OK);
    atomic_store(&floods, false);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);

    tr_counters counters;
    tr_shutdown_report report;
    tr_system_counters(theatre.system, &counters);
    ck_assert_int_eq(tr_system_report(theatre.system, &report), TR_OK);
    uint64_t refused = floods_of[0].refused + floods_of[1].refused;
    uint64_t sent = 3 + 6 * CHILDREN + floods_of[0].taken + floods_of[1].taken;
    ck_assert_uint_eq(counters.accepted, sent);
    ck_assert_uint_eq(counters.refused, refused);
    ck_assert_uint_eq(counters.handled + counters.dead_letters, sent + refused);
    ck_assert_uint_eq(tr_system_dead_letters(theatre.system, NULL, 0, NULL), counters.dead_letters);
    ck_assert_uint_eq(report.stopped, 3 + CHILDREN);
    ck_assert_int_eq(atomic_load(&started), 3 + CHILDREN);
    ck_assert_int_eq(atomic_load(&stopped), 3 + CHILDREN);
    ck_assert_int_eq(atomic_load(&cleaned), 3 + CHILDREN);
    theatre_close(&theatre);
}

/* One whose worker is in a handler that does not return hears of no kill, but it is too late. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_inside;
static tr_system *volatile kept; /* what was left alone on purpose is no leak */

/* Threads that are left alone on purpose are no leak. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_thread_leaks=0";
}

static tr_next on_hang(void)
{
    atomic_store(&is_inside, true);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return TR_SAME;
}

TR_ACTOR(stuck, note);
TR_BEHAVIOR(stuck, void, TR_ON(note, on_hang), TR_ON(tr_pre_start, on_start),
            TR_ON(tr_post_stop, on_stop));

TEST(after_the_deadline_no_client_is_heard, "X-01", "SH-03", "M-03")
{
    struct theatre theatre = theatre_open(2);
    stuck_ref stuck;
    keeper_ref neighbour;
    forget_all();
    pthread_mutex_lock(&gate);
    ck_assert_int_eq(tr_try_spawn_at(theatre.client, &stuck, 1, stuck, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(theatre.client, &neighbour, 1, keeper, NULL), TR_OK);
    await_start(2);
    tr_tell(theatre.client, stuck, note);
    while (!atomic_load(&is_inside))
        sched_yield();
    ck_assert_int_eq(tr_tell(theatre.client, neighbour, note), TR_OK);
    tr_system_shutdown(theatre.system, 0);
    ck_assert_int_eq(tr_system_wait(theatre.system), TR_SHUTDOWN_INCOMPLETE);
    ck_assert_int_eq(tr_tell(theatre.client, neighbour, note), TR_STOPPED);
    question_ask asked = tr_ask_within(theatre.client, TR_HOUR, neighbour, question);
    const struct answer *reply;
    ck_assert_int_eq(tr_try_await(theatre.client, asked, &reply), TR_STOPPED);
    pthread_mutex_unlock(&gate);
    while (atomic_load(&stopped) < 2)
        sched_yield();
    tr_counters counters;
    do
        tr_system_counters(theatre.system, &counters);
    while (counters.queued);
    ck_assert_uint_eq(counters.accepted, 2);
    ck_assert_uint_eq(counters.refused, 1); /* who asks knows */
    ck_assert_uint_eq(counters.dead_letters, 2);
    ck_assert_uint_eq(tr_system_dead_letters(theatre.system, NULL, 0, NULL), 2);
    tr_client_free(theatre.client);
    kept = theatre.system;
    tr_system_free(theatre.system);
}

SUITE("forced shutdown", nothing_is_lost_of_what_a_deadline_leaves, nor_without_memory,
      a_subscriber_is_still_told_of_each, nothing_is_lost_in_a_flood,
      after_the_deadline_no_client_is_heard)
