/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Options, alarms, counters and records: programs that do not set their size, and programs that were
 * compiled for a version with fewer or with more members.
 */
#include <stdlib.h>
#include <string.h>
#include <troupe/app.h>
#include <troupe/kit.h>
#include <troupe/sql.h>
#include <troupe/troupe.h>

#include "support/test.h"

TR_MESSAGE(seen, (u64, n));
TR_REQUEST(visit, seen);
TR_ACTOR(guest, visit);
TR_MESSAGE(guest_state, (u64, n));

static tr_next on_visit(tr_self *self, struct guest_state *guest)
{
    return tr_reply(self, seen, .n = ++guest->n);
}

TR_BEHAVIOR(guest, struct guest_state, TR_ON(visit, on_visit));
TR_DURABLE(guest, guest_state);

/* An alarm as programs set it that were compiled with fewer, or with more, members of tr_alarm. */
TR_MESSAGE(outcome, (i32, status));
TR_REQUEST(set, outcome, (u64, size), (u64, unknown));
TR_MESSAGE(ring);
TR_ACTOR(bell, set, ring);

static tr_next on_set(tr_self *self, const struct set *message)
{
    struct {
        tr_alarm alarm;
        uint64_t unknown;
    } newer = {.alarm = {.size = message->size,
                         .name = "a",
                         .kind = TR_ALARM_AFTER,
                         .ns = TR_SECOND,
                         .retry = {.first_ns = -1}},
               .unknown = message->unknown};
    if (message->size > sizeof newer.alarm)
        newer.alarm.retry.first_ns = 0;
    return tr_reply(self,
                    outcome,
                    .status = tr_self_try_alarm(
                        self, &newer.alarm, &tr_type_ring, &(struct ring){.tr_empty = 0}));
}

static tr_next on_ring(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(bell, struct guest_state, TR_ON(set, on_set), TR_ON(ring, on_ring));
TR_DURABLE(bell, guest_state);

static tr_next on_args(void)
{
    return TR_STOP;
}

TR_BEHAVIOR(root, void, TR_ON(tr_args, on_args));

static int started;

static tr_status on_worker_start(tr_system *system, int worker, void *context)
{
    (void)system;
    (void)worker;
    (void)context;
    started++;
    return TR_OK;
}

TEST(options_without_a_size_are_read_to_their_end, "U-02")
{
    tr_system *system = NULL;
    const tr_system_options options = {.workers = 1, .on_worker_start = on_worker_start};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_system_run_once(system, 0), TR_OK);
    ck_assert_int_eq(started, 1);
    tr_system_free(system);
    const tr_system_options bad[] = {
        {.handoff_after_ns = -12345},
        {.balance = (tr_balance)99},
        {.workers_max = -1},
        {.turn_report_ns = -2},
        {.shutdown_timeout_ns = -1},
        {.workers_max = 100000},
        {.blocking_threads_max = 1u << 30},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(tr_system_new(&bad[i], &system) != TR_OK, "%zu", i);
    /* The last members of those of a kit. */
    tr_kit *kit = tr_kit_new(&(tr_kit_options){.durable = TR_DURABLES(guest)});
    guest_ref guest;
    ck_assert_int_eq(tr_try_durable(tr_kit_client(kit), &guest, guest, "a"), TR_OK);
    tr_kit_free(kit);
}

/* Puts the first bytes of a struct at the end of a block, where a sanitizer sees who reads on. */
static void *cut(const void *whole, size_t size)
{
    void *part = malloc(size);
    ck_assert_ptr_nonnull(part);
    memcpy(part, whole, size);
    return part;
}

TEST(options_of_an_older_program_have_fewer_members, "U-02")
{
    tr_system *system = NULL;
    tr_system_options options = {.workers = 1, .balance = (tr_balance)99};
    size_t size = offsetof(tr_system_options, balance);
    tr_system_options *old = cut(&options, size);
    ck_assert_int_eq(tr_system_new_sized(old, size, &system), TR_OK);
    tr_system_free(system);
    old->size = size; /* as older programs have it */
    ck_assert_int_eq(tr_system_new_sized(old, size, &system), TR_OK);
    tr_system_free(system);
    old->size = size + 8;
    ck_assert_int_eq(tr_system_new_sized(old, size, &system), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_system_new_sized(old, 4, &system), TR_INVALID_ARGUMENT);
    free(old);
    tr_kit_options kit_options = {.seed = 5};
    size = offsetof(tr_kit_options, workers);
    tr_kit_options *old_kit = cut(&kit_options, size);
    tr_kit *kit = tr_kit_new_sized(old_kit, size);
    ck_assert_ptr_nonnull(kit);
    tr_kit_free(kit);
    free(old_kit);
}

TEST(options_of_a_newer_program_are_refused_if_they_say_something_unknown, "U-02")
{
    struct {
        tr_system_options options;
        uint64_t unknown;
    } newer = {.options = {.workers = 1}};
    struct {
        tr_app app;
        uint64_t unknown;
    } newer_app = {.unknown = 0};
    char *argv[] = {"app", NULL};
    tr_system *system = NULL;
    ck_assert_int_eq(tr_system_new_sized(&newer.options, sizeof newer, &system), TR_OK);
    tr_system_free(system);
    newer.unknown = 1;
    ck_assert_int_eq(tr_system_new_sized(&newer.options, sizeof newer, &system),
                     TR_INVALID_ARGUMENT);
    newer_app.unknown = 1;
    ck_assert_int_eq(
        tr_app_run_sized(1, argv, &tr_behavior_root, &newer_app.app, sizeof newer_app, NULL, NULL),
        1);
}

TEST(alarms_of_older_and_newer_programs_are_read_as_far_as_both_know_them, "U-02")
{
    const struct {
        uint64_t size;
        uint64_t unknown;
        tr_status status;
    } cases[] = {
        {offsetof(tr_alarm, retry), 0, TR_OK}, /* what is behind it is not of the alarm */
        {sizeof(tr_alarm), 0, TR_INVALID_ARGUMENT},
        {0, 0, TR_INVALID_ARGUMENT},
        {sizeof(tr_alarm) + 8, 0, TR_OK},
        {sizeof(tr_alarm) + 8, 1, TR_INVALID_ARGUMENT},
    };
    tr_kit *kit = tr_kit_new(&(tr_kit_options){.durable = TR_DURABLES(bell)});
    tr_client *client = tr_kit_client(kit);
    bell_ref bell;
    const struct outcome *outcome;
    ck_assert_int_eq(tr_try_durable(client, &bell, bell, "a"), TR_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        set_ask asked =
            tr_ask(client, bell, set, .size = cases[i].size, .unknown = cases[i].unknown);
        ck_assert_int_eq(tr_try_await(client, asked, &outcome), TR_OK);
        ck_assert_msg(outcome->status == (int)cases[i].status,
                      "%zu: %s",
                      i,
                      tr_status_name((tr_status)outcome->status));
    }
    tr_kit_free(kit);
}

TEST(counters_and_records_are_written_as_far_as_the_program_knows_them, "U-02")
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_system *system = tr_kit_system(kit);
    const tr_ref nobody = TR_NOBODY;
    for (int i = 0; i < 3; i++)
        (void)tr_tell(tr_kit_client(kit), nobody, seen, .n = 1);
    unsigned char bytes[sizeof(tr_counters) + 16];
    size_t size = offsetof(tr_counters, refused);
    memset(bytes, 7, sizeof bytes);
    tr_system_counters_sized(system, (tr_counters *)(void *)bytes, size);
    for (size_t i = size; i < sizeof bytes; i++)
        ck_assert_uint_eq(bytes[i], 7);
    memset(bytes, 7, sizeof bytes);
    tr_system_counters_sized(system, (tr_counters *)(void *)bytes, sizeof bytes);
    for (size_t i = sizeof(tr_counters); i < sizeof bytes; i++)
        ck_assert_uint_eq(bytes[i], 0);
    struct {
        tr_dead_letter_record record;
        uint64_t unknown;
    } letters[3];
    size_t count = 0;
    memset(letters, 7, sizeof letters);
    ck_assert_uint_eq(
        tr_system_dead_letters_sized(system, &letters[0].record, sizeof letters[0], 2, &count), 3);
    ck_assert_uint_eq(count, 2);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_str_eq(letters[i].record.type, "seen");
        ck_assert_uint_eq(letters[i].unknown, 0);
    }
    ck_assert_uint_ne(letters[2].unknown, 0);
    tr_kit_free(kit);
}

SUITE("sized", options_without_a_size_are_read_to_their_end,
      options_of_an_older_program_have_fewer_members,
      options_of_a_newer_program_are_refused_if_they_say_something_unknown,
      alarms_of_older_and_newer_programs_are_read_as_far_as_both_know_them,
      counters_and_records_are_written_as_far_as_the_program_knows_them)
