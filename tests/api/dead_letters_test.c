/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Dead letters: every send has a status, and what was not handled is counted, kept and told.
 */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

TR_MESSAGE(note, (u64, n));
TR_MESSAGE(other, (u64, n));
TR_MESSAGE(blob, (bytes, data));
TR_MESSAGE(send_to, (ref, to), (u64, n));
TR_ACTOR(sink, note);
TR_ACTOR(sender, send_to);
TR_ACTOR(listener, tr_dead_letter, note);
TR_ACTOR(deaf, note);

static tr_next on_note(void)
{
    return TR_SAME;
}

static tr_status told; /* what the last tell of a sender gave */
static tr_next on_send_to(tr_self *self, const struct send_to *message)
{
    told = tr_tell(self, message->to, note, .n = message->n);
    return TR_SAME;
}

struct listener {
    uint64_t reports;
};
static uint64_t reports; /* of all listeners */
static struct tr_dead_letter last;
static char last_type[64];
static char last_behavior[64];
static char last_paths[300];
static tr_next on_report(struct listener *listener, const struct tr_dead_letter *message)
{
    listener->reports++;
    reports++;
    last = *message;
    snprintf(last_type, sizeof last_type, "%s", message->type);
    snprintf(last_behavior,
             sizeof last_behavior,
             "%s",
             message->behavior ? message->behavior : "(null)");
    snprintf(last_paths,
             sizeof last_paths,
             "%s > %s, %u",
             message->from_path,
             message->to_path,
             (unsigned)message->size);
    return TR_SAME;
}

TR_BEHAVIOR(sink, void, TR_ON(note, on_note));
TR_BEHAVIOR(sender, void, TR_ON(send_to, on_send_to));
TR_BEHAVIOR(listener, struct listener, TR_ON(tr_dead_letter, on_report), TR_ON(note, on_note));
TR_BEHAVIOR(deaf, void, TR_ON(note, on_note));

static tr_kit *kit;
static tr_system *system_;
static tr_client *client;

static void begin(int workers)
{
    tr_kit_options options = {.workers = workers};
    kit = tr_kit_new(&options);
    system_ = tr_kit_system(kit);
    client = tr_kit_client(kit);
}

static sink_ref spawn_sink(void)
{
    sink_ref sink = {0};
    ck_assert_int_eq(tr_try_spawn(client, &sink, sink, NULL), TR_OK);
    return sink;
}

static sink_ref dead_sink(void)
{
    sink_ref sink = spawn_sink();
    ck_assert_int_eq(tr_kill(client, sink), TR_OK);
    (void)tr_kit_settle(kit);
    return sink;
}

static uint64_t total(void)
{
    return tr_system_dead_letters(system_, NULL, 0, NULL);
}

static tr_dead_letter_record newest(void)
{
    tr_dead_letter_record record;
    size_t count;
    (void)tr_system_dead_letters(system_, &record, 1, &count);
    ck_assert_uint_eq(count, 1);
    return record;
}

TEST(every_send_of_a_client_gives_a_status, "M-03", "SG-09")
{
    begin(1);
    ck_assert_int_eq(tr_tell(client, spawn_sink(), note, .n = 1), TR_OK);
    ck_assert_int_eq(tr_tell(client, TR_NOBODY, note, .n = 1), TR_STOPPED);
    ck_assert_int_eq(tr_tell(client, dead_sink(), note, .n = 1), TR_STOPPED);
    tr_kit *another = tr_kit_new(&(tr_kit_options){.seed = 99});
    ck_assert_int_eq(tr_tell(client, tr_client_ref(tr_kit_client(another)), note, .n = 1),
                     TR_STOPPED);
    ck_assert_int_eq(tr_tell(client, tr_ref_from_bits(UINT64_MAX), note, .n = 1), TR_STOPPED);
    tr_kit_free(another);
    static char data[TR_PAYLOAD_MAX];
    tr_ref sink = tr_any(spawn_sink());
    ck_assert_int_eq(tr_tell(client, sink, blob, .data = {data, sizeof data}), TR_TOO_LARGE);
    ck_assert_int_eq(newest().reason, TR_TOO_LARGE);
    ck_assert_str_eq(newest().type, "blob");
    tr_kit_fail_allocation(kit, 1, false);
    ck_assert_int_eq(tr_tell(client, sink, blob, .data = {data, 5000}), TR_NO_MEMORY);
    ck_assert_int_eq(newest().reason, TR_NO_MEMORY);
    ck_assert_int_eq(tr_client_tell(client, sink, NULL, data), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_client_tell(NULL, sink, &tr_type_note, data), TR_INVALID_ARGUMENT);
    ck_assert_uint_eq(total(), 6);
    tr_counters counters;
    tr_system_counters(system_, &counters);
    ck_assert_uint_eq(counters.refused, 6);
    ck_assert_uint_eq(counters.dead_letters, 6);
    tr_kit_free(kit);
}

TEST(every_send_of_an_actor_gives_a_status, "M-03")
{
    for (int workers = 1; workers <= 2; workers++) {
        begin(workers);
        sender_ref sender = {0};
        ck_assert_int_eq(tr_try_spawn(client, &sender, sender, NULL), TR_OK);
        sink_ref sink = {0};
        ck_assert_int_eq(tr_try_spawn_at(client, &sink, workers - 1, sink, NULL), TR_OK);
        (void)tr_kit_settle(kit);
        tr_tell(client, sender, send_to, .to = tr_any(sink), .n = 1);
        (void)tr_kit_settle(kit);
        ck_assert_int_eq(told, TR_OK);
        tr_tell(client, sender, send_to, .n = 1);
        (void)tr_kit_settle(kit);
        ck_assert_int_eq(told, TR_STOPPED);
        tr_kill(client, sink);
        (void)tr_kit_settle(kit);
        tr_tell(client, sender, send_to, .to = tr_any(sink), .n = 1);
        (void)tr_kit_settle(kit);
        ck_assert_int_eq(told, TR_STOPPED);
        ck_assert_uint_eq(total(), 2);
        ck_assert(tr_is_same(newest().to, sink));
        ck_assert(tr_is_same(newest().from, sender));
        tr_kit_free(kit);
    }
}

TEST(a_record_says_what_from_whom_to_whom_why_and_when, "M-03")
{
    begin(1);
    sink_ref sink = dead_sink();
    tr_kit_advance(kit, 3 * TR_SECOND);
    tr_tell(client, sink, note, .n = 1);
    tr_dead_letter_record record = newest();
    ck_assert_str_eq(record.type, "note");
    ck_assert_str_eq(record.behavior, "");
    ck_assert(tr_is_same(record.from, tr_client_ref(client)));
    ck_assert(tr_is_same(record.to, sink));
    ck_assert_int_eq(record.reason, TR_STOPPED);
    ck_assert_int_eq(record.time_ns, tr_kit_now(kit));
    tr_kit_free(kit);
}

TEST(a_record_has_paths_and_the_size, "M-03")
{
    tr_dead_letter_record record;
    deaf_ref deaf;
    sender_ref sender;
    sink_ref nameless;
    char text[300];
    memset(text, 'x', sizeof text);
    begin(2);
    ck_assert_int_eq(tr_try_spawn(client, &deaf, deaf, "deaf"), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &sender, sender, "sender"), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &nameless, sink, NULL), TR_OK);
    (void)tr_kit_settle(kit);
    /* Between two that live: the receiver knows no such message. */
    ck_assert_int_eq(tr_tell(client, tr_any(deaf), blob, .data = {text, sizeof text}), TR_OK);
    (void)tr_kit_settle(kit);
    tr_system_dead_letters(system_, &record, 1, NULL);
    ck_assert_str_eq(record.to_path, "/user/deaf");
    ck_assert_str_eq(record.from_path, "a client");
    ck_assert_uint_ge(record.size, sizeof text);
    ck_assert_uint_le(record.size, sizeof text + sizeof(struct blob) + 8);
    tr_ref first = tr_any(deaf);
    /* To one that stops: its mail still has its path. */
    tr_suspend(client, deaf);
    (void)tr_kit_settle(kit);
    ck_assert_int_eq(tr_tell(client, sender, send_to, .to = tr_any(deaf), .n = 1), TR_OK);
    (void)tr_kit_settle(kit);
    ck_assert_int_eq(tr_kill(client, deaf), TR_OK);
    (void)tr_kit_settle(kit);
    tr_system_dead_letters(system_, &record, 1, NULL);
    ck_assert_str_eq(record.to_path, "/user/deaf");
    ck_assert_str_eq(record.from_path, "/user/sender");
    ck_assert_uint_eq(record.size, sizeof(struct note));
    /* To nobody, and to one that has ended. */
    ck_assert_int_eq(tr_tell(client, sender, send_to, .to = TR_NOBODY, .n = 1), TR_OK);
    (void)tr_kit_settle(kit);
    tr_system_dead_letters(system_, &record, 1, NULL);
    ck_assert_str_eq(record.to_path, "nobody");
    ck_assert_int_eq(tr_tell(client, sender, send_to, .to = tr_any(deaf), .n = 1), TR_OK);
    (void)tr_kit_settle(kit);
    tr_system_dead_letters(system_, &record, 1, NULL);
    ck_assert_str_eq(record.to_path, "/user/deaf"); /* its name is known for some time */
    /* Others that end later replace it; its number stands in place of its name. */
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(tr_try_spawn(client, &deaf, deaf, "later"), TR_OK);
        ck_assert_int_eq(tr_kill(client, deaf), TR_OK);
        (void)tr_kit_settle(kit);
    }
    ck_assert_int_eq(tr_tell(client, sender, send_to, .to = TR_NOBODY, .n = 1), TR_OK);
    ck_assert_int_eq(tr_tell(client, sender, send_to, .to = first, .n = 1), TR_OK);
    (void)tr_kit_settle(kit);
    tr_system_dead_letters(system_, &record, 1, NULL);
    ck_assert_str_ne(record.to_path, "/user/deaf");
    /* One that had no name has none. */
    ck_assert_int_eq(tr_kill(client, nameless), TR_OK);
    (void)tr_kit_settle(kit);
    ck_assert_int_eq(tr_tell(client, sender, send_to, .to = tr_any(nameless), .n = 1), TR_OK);
    (void)tr_kit_settle(kit);
    tr_system_dead_letters(system_, &record, 1, NULL);
    ck_assert_int_eq(strncmp(record.to_path, "/user/$", 7), 0);
    tr_kit_free(kit);
}

TEST(a_long_path_of_a_dead_letter_keeps_its_end, "M-03")
{
    tr_dead_letter_record record;
    sink_ref sink;
    char name[TR_NAME_MAX + 1];
    memset(name, 'n', TR_NAME_MAX);
    memcpy(name + TR_NAME_MAX - 3, "end", 4);
    begin(1);
    ck_assert_int_eq(tr_try_spawn(client, &sink, sink, name), TR_OK);
    (void)tr_kit_settle(kit);
    ck_assert_int_eq(tr_tell(client, tr_any(sink), other, .n = 1), TR_OK);
    (void)tr_kit_settle(kit);
    tr_system_dead_letters(system_, &record, 1, NULL);
    ck_assert_uint_eq(strlen(record.to_path), TR_DEAD_LETTER_PATH_MAX);
    ck_assert_int_eq(strncmp(record.to_path, "...nnn", 6), 0);
    ck_assert_str_eq(record.to_path + TR_DEAD_LETTER_PATH_MAX - 4, "nend");
    tr_kit_free(kit);
}

TEST(what_a_receiver_does_not_know_is_kept_with_both_names, "M-03", "B-02")
{
    begin(1);
    sink_ref sink = spawn_sink();
    ck_assert_int_eq(tr_tell(client, tr_any(sink), other, .n = 1), TR_OK);
    (void)tr_kit_settle(kit);
    tr_dead_letter_record record = newest();
    ck_assert_str_eq(record.type, "other");
    ck_assert_str_eq(record.behavior, "sink");
    ck_assert_int_eq(record.reason, TR_UNHANDLED);
    ck_assert(tr_is_same(record.to, sink));
    tr_counters counters;
    tr_system_counters(system_, &counters);
    ck_assert_uint_eq(counters.refused, 0);
    ck_assert_uint_eq(counters.dead_letters, 1);
    ck_assert_int_eq(tr_tell(client, sink, note, .n = 1), TR_OK);
    (void)tr_kit_settle(kit);
    ck_assert_uint_eq(total(), 1);
    tr_kit_free(kit);
}

TEST(what_a_killed_actor_leaves_behind_is_dead_letters, "M-03", "M-04")
{
    begin(2);
    sink_ref sink = {0};
    ck_assert_int_eq(tr_try_spawn_at(client, &sink, 1, sink, NULL), TR_OK);
    (void)tr_kit_settle(kit);
    for (uint64_t i = 0; i < 500; i++)
        ck_assert_int_eq(tr_tell(client, sink, note, .n = i), TR_OK);
    tr_kill(client, sink);
    (void)tr_kit_settle(kit);
    tr_counters counters;
    tr_system_counters(system_, &counters);
    ck_assert_uint_eq(counters.accepted, 500);
    ck_assert_uint_eq(counters.handled + counters.dead_letters, 500);
    ck_assert_uint_eq(counters.dead_letters, total());
    ck_assert_uint_eq(counters.queued, 0);
    ck_assert_uint_ge(total(), 499);
    ck_assert_int_eq(newest().reason, TR_STOPPED);
    ck_assert(tr_is_same(newest().to, sink));
    tr_kit_free(kit);
}

TEST(the_last_thousand_are_kept_newest_first, "M-03", "MB-11")
{
    enum { LETTERS = 2500 };
    static tr_dead_letter_record records[TR_DEAD_LETTERS_MAX + 10];
    begin(1);
    size_t count = 7;
    ck_assert_uint_eq(tr_system_dead_letters(system_, records, 5, &count), 0);
    ck_assert_uint_eq(count, 0);
    for (int i = 1; i <= LETTERS; i++) {
        tr_kit_advance(kit, TR_MILLISECOND);
        tr_tell(client, TR_NOBODY, note, .n = 1);
        if (i == 3) {
            ck_assert_uint_eq(tr_system_dead_letters(system_, records, 5, &count), 3);
            ck_assert_uint_eq(count, 3);
        }
    }
    ck_assert_uint_eq(tr_system_dead_letters(system_, records, TR_DEAD_LETTERS_MAX + 10, &count),
                      LETTERS);
    ck_assert_uint_eq(count, TR_DEAD_LETTERS_MAX);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(records[i].time_ns, tr_kit_now(kit) - (tr_time)i * TR_MILLISECOND);
    ck_assert_uint_eq(tr_system_dead_letters(system_, records, 2, &count), LETTERS);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(records[1].time_ns, tr_kit_now(kit) - TR_MILLISECOND);
    ck_assert_uint_eq(tr_system_dead_letters(NULL, records, 2, &count), 0);
    ck_assert_uint_eq(count, 0);
    tr_kit_free(kit);
}

/* ---- Subscription. ---- */

static listener_ref spawn_listener(int worker)
{
    listener_ref listener = {0};
    ck_assert_int_eq(tr_try_spawn_at(client, &listener, worker, listener, NULL), TR_OK);
    (void)tr_kit_settle(kit);
    return listener;
}

TEST(a_subscriber_is_told_of_each, "M-03", "MB-11")
{
    for (int worker = 0; worker < 2; worker++) {
        begin(2);
        reports = 0;
        listener_ref listener = spawn_listener(worker);
        ck_assert_int_eq(tr_system_subscribe_dead_letters(system_, tr_any(listener)), TR_OK);
        /* Twice is once. */
        ck_assert_int_eq(tr_system_subscribe_dead_letters(system_, tr_any(listener)), TR_OK);
        sink_ref sink = dead_sink();
        tr_tell(client, sink, note, .n = 1);
        (void)tr_kit_settle(kit);
        ck_assert_uint_eq(reports, 1);
        ck_assert_str_eq(last_type, "note");
        ck_assert_str_eq(last_behavior, "(null)");
        ck_assert(tr_is_same(last.from, tr_client_ref(client)));
        ck_assert(tr_is_same(last.to, sink));
        ck_assert_int_eq(last.reason, TR_STOPPED);
        ck_assert_int_eq(last.time_ns, tr_kit_now(kit));
        tr_tell(client, tr_any(spawn_sink()), other, .n = 1);
        (void)tr_kit_settle(kit);
        ck_assert_uint_eq(reports, 2);
        ck_assert_str_eq(last_behavior, "sink");
        ck_assert_ptr_nonnull(strstr(last_paths, "a client > /user/$"));
        ck_assert_ptr_nonnull(strstr(last_paths, ", 8"));
        for (int i = 0; i < 1000; i++)
            tr_tell(client, sink, note, .n = 1);
        (void)tr_kit_settle(kit);
        ck_assert_uint_eq(reports, 1002);
        ck_assert_int_eq(tr_system_unsubscribe_dead_letters(system_, tr_any(listener)), TR_OK);
        ck_assert_int_eq(tr_system_unsubscribe_dead_letters(system_, tr_any(listener)),
                         TR_NOT_FOUND);
        tr_tell(client, sink, note, .n = 1);
        (void)tr_kit_settle(kit);
        ck_assert_uint_eq(reports, 1002);
        ck_assert_uint_eq(total(), 1003);
        tr_kit_free(kit);
    }
}

TEST(a_client_may_subscribe, "M-03")
{
    begin(1);
    ck_assert_int_eq(tr_system_subscribe_dead_letters(system_, tr_client_ref(client)), TR_OK);
    tr_tell(client, TR_NOBODY, note, .n = 1);
    const struct tr_dead_letter *letter = tr_receive(client, tr_dead_letter, TR_SECOND);
    ck_assert_ptr_nonnull(letter);
    ck_assert_str_eq(letter->type, "note");
    ck_assert(tr_is_nobody(letter->to));
    ck_assert_int_eq(letter->reason, TR_STOPPED);
    tr_kit_free(kit);
}

TEST(a_lost_report_is_not_reported, "M-03", "MB-11")
{
    begin(2);
    /* One does not know reports, one dies with reports in its mailbox: none of it echoes. */
    deaf_ref deaf = {0};
    ck_assert_int_eq(tr_try_spawn(client, &deaf, deaf, NULL), TR_OK);
    listener_ref listener = spawn_listener(1);
    listener_ref witness = spawn_listener(0);
    ck_assert_int_eq(tr_system_subscribe_dead_letters(system_, tr_any(deaf)), TR_OK);
    ck_assert_int_eq(tr_system_subscribe_dead_letters(system_, tr_any(listener)), TR_OK);
    ck_assert_int_eq(tr_system_subscribe_dead_letters(system_, tr_any(witness)), TR_OK);
    for (int i = 0; i < 10; i++)
        tr_tell(client, TR_NOBODY, note, .n = 1);
    tr_kill(client, listener);
    reports = 0;
    (void)tr_kit_settle(kit);
    tr_kit_check(kit);
    /* Ten letters, ten reports that the deaf one buried, and at most ten of the dead one. */
    ck_assert_uint_ge(total(), 20);
    ck_assert_uint_le(total(), 30);
    ck_assert_uint_ge(reports, 10);
    ck_assert_uint_le(reports, 20);
    reports = 0;
    tr_tell(client, TR_NOBODY, note, .n = 1);
    (void)tr_kit_settle(kit);
    ck_assert_uint_eq(reports, 1);
    tr_kit_free(kit);
}

TEST(only_the_living_subscribe_and_sixteen_of_them, "M-03", "U-01")
{
    enum { SUBSCRIBERS = TR_DEAD_LETTER_SUBSCRIBERS_MAX };
    begin(1);
    listener_ref listeners[SUBSCRIBERS + 1];
    for (int i = 0; i <= SUBSCRIBERS; i++)
        listeners[i] = spawn_listener(0);
    ck_assert_int_eq(tr_system_subscribe_dead_letters(system_, tr_any(dead_sink())), TR_STOPPED);
    ck_assert_int_eq(tr_system_subscribe_dead_letters(system_, TR_NOBODY), TR_STOPPED);
    ck_assert_int_eq(tr_system_subscribe_dead_letters(NULL, TR_NOBODY), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_system_unsubscribe_dead_letters(NULL, TR_NOBODY), TR_INVALID_ARGUMENT);
    for (int i = 0; i < SUBSCRIBERS; i++)
        ck_assert_int_eq(tr_system_subscribe_dead_letters(system_, tr_any(listeners[i])), TR_OK);
    ck_assert_int_eq(tr_system_subscribe_dead_letters(system_, tr_any(listeners[SUBSCRIBERS])),
                     TR_LIMIT);
    /* One that dies makes room. */
    tr_kill(client, listeners[3]);
    (void)tr_kit_settle(kit);
    ck_assert_int_eq(tr_system_subscribe_dead_letters(system_, tr_any(listeners[SUBSCRIBERS])),
                     TR_OK);
    reports = 0;
    tr_tell(client, TR_NOBODY, note, .n = 1);
    (void)tr_kit_settle(kit);
    ck_assert_uint_eq(reports, SUBSCRIBERS);
    tr_kit_free(kit);
}

TEST(a_report_that_finds_no_memory_is_dropped, "M-03")
{
    begin(1);
    listener_ref listener = spawn_listener(0);
    ck_assert_int_eq(tr_system_subscribe_dead_letters(system_, tr_any(listener)), TR_OK);
    reports = 0;
    for (uint64_t nth = 1; nth < 4; nth++) {
        tr_kit_fail_allocation(kit, nth, true);
        tr_tell(client, TR_NOBODY, note, .n = 1);
        tr_kit_fail_allocation(kit, 0, false);
        (void)tr_kit_settle(kit);
        tr_kit_check(kit);
    }
    ck_assert_uint_eq(total(), 3);
    tr_tell(client, TR_NOBODY, note, .n = 1);
    (void)tr_kit_settle(kit);
    ck_assert_uint_ge(reports, 1);
    tr_kit_free(kit);
}

/* They are recorded in batches, which end where an ask comes, or with the last of them. */
TR_REQUEST(question, note);
enum { BURIED = 3 * 32 + 5 };

static bool is_question(int number)
{
    return number % 37 == 20;
}

static char heard[BURIED + 1];
static size_t heard_count;
static tr_next on_hear(const struct tr_dead_letter *message)
{
    ck_assert_uint_lt(heard_count, BURIED);
    heard[heard_count++] = message->type[0];
    return TR_SAME;
}
TR_ACTOR(hearer, tr_dead_letter);
TR_BEHAVIOR(hearer, void, TR_ON(tr_dead_letter, on_hear));

TEST(all_that_an_actor_leaves_is_there_in_its_order, "M-03", "M-04")
{
    static tr_dead_letter_record records[TR_DEAD_LETTERS_MAX];
    for (int workers = 1; workers <= 2; workers++) {
        begin(workers);
        sink_ref sink = spawn_sink();
        hearer_ref hearer;
        ck_assert_int_eq(tr_try_spawn(client, &hearer, hearer, NULL), TR_OK);
        ck_assert_int_eq(tr_system_subscribe_dead_letters(system_, tr_any(hearer)), TR_OK);
        (void)tr_kit_settle(kit);
        ck_assert_int_eq(tr_suspend(client, sink), TR_OK);
        (void)tr_kit_settle(kit);
        heard_count = 0;
        question_ask asked[BURIED];
        int asked_count = 0;
        for (int i = 0; i < BURIED; i++) {
            if (is_question(i))
                asked[asked_count++] = tr_ask_within(client, TR_HOUR, tr_any(sink), question);
            else if (i % 3)
                tr_tell(client, sink, note, .n = 1);
            else
                tr_tell(client, tr_any(sink), other, .n = 1);
        }
        (void)tr_kit_settle(kit);
        ck_assert_uint_eq(total(), 0);
        ck_assert_int_eq(tr_kill(client, sink), TR_OK);
        (void)tr_kit_settle(kit);
        size_t count;
        ck_assert_uint_eq(tr_system_dead_letters(system_, records, TR_DEAD_LETTERS_MAX, &count),
                          BURIED);
        ck_assert_uint_eq(count, BURIED);
        ck_assert_uint_eq(heard_count, BURIED);
        for (int i = 0; i < BURIED; i++) {
            const tr_dead_letter_record *record = &records[BURIED - 1 - i];
            const char *type = is_question(i) ? "question" : i % 3 ? "note" : "other";
            ck_assert_str_eq(record->type, type);
            ck_assert_int_eq(heard[i], type[0]);
            ck_assert_int_eq(record->reason, TR_STOPPED);
            ck_assert_uint_eq(record->to.bits, sink.bits);
            ck_assert_str_eq(record->behavior, "");
        }
        const struct note *reply;
        for (int i = 0; i < asked_count; i++)
            ck_assert_int_eq(tr_try_await(client, asked[i], &reply), TR_STOPPED);
        tr_kit_check(kit);
        tr_kit_free(kit);
    }
}

SUITE("dead letters", every_send_of_a_client_gives_a_status, every_send_of_an_actor_gives_a_status,
      a_record_says_what_from_whom_to_whom_why_and_when, a_record_has_paths_and_the_size,
      a_long_path_of_a_dead_letter_keeps_its_end,
      what_a_receiver_does_not_know_is_kept_with_both_names,
      what_a_killed_actor_leaves_behind_is_dead_letters, the_last_thousand_are_kept_newest_first,
      a_subscriber_is_told_of_each, a_client_may_subscribe, a_lost_report_is_not_reported,
      only_the_living_subscribe_and_sixteen_of_them, a_report_that_finds_no_memory_is_dropped,
      all_that_an_actor_leaves_is_there_in_its_order)
