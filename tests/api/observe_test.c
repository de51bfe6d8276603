/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What can be seen of a running system: lists of actors, workers, behaviors, failures, the report of one actor, and
 * what must not be seen.
 */
#include "support/kits.h"

#include <troupe/observe.h>

TR_MESSAGE(deposit, (u64, cents), (str, pin));
TR_SECRET(deposit, pin);
TR_MESSAGE(card, (str, holder), (str, number), (u32, code));
TR_SECRET(card, number, code);
TR_MESSAGE(wallet, (u64, cents), (message(card), card));
TR_MESSAGE(breaks, (str, text));
TR_MESSAGE(bear, (u32, count));
TR_MESSAGE(unknown, (str, word));
TR_ACTOR(purse, deposit, breaks, bear);

static tr_next on_deposit(struct wallet *state, const struct deposit *message)
{
    state->cents += message->cents;
    state->card = (struct card){"Ada", "4111", 123};
    return TR_SAME;
}

static tr_next on_breaks(tr_self *self, const struct breaks *message)
{
    return tr_fail(self, TR_BAD_DATA, "%s", message->text);
}

static tr_next on_bear(tr_self *self, const struct bear *message);

TR_BEHAVIOR(purse, struct wallet, TR_ON(deposit, on_deposit), TR_ON(breaks, on_breaks),
            TR_ON(bear, on_bear), TR_OPTIONS(.shows = &tr_type_wallet));

static tr_next on_bear(tr_self *self, const struct bear *message)
{
    for (uint32_t i = 0; i < message->count; i++)
        (void)tr_spawn(self, purse, NULL);
    return TR_SAME;
}

static tr_actor_info infos[64];
static purse_ref purse_;

static void begin(void)
{
    ck_assert_int_eq(tr_try_spawn_at(test, &purse_, home, purse, "purse"), TR_OK);
    tr_kit_settle(kit);
}

static tr_system *system_of_kit(void)
{
    return tr_kit_system(kit);
}

/* Lists all that a query finds, `max` at a time. */
static size_t list(tr_actor_query query, size_t max)
{
    size_t total = 0;
    do {
        size_t count;
        ck_assert_int_eq(tr_system_actors(system_of_kit(), &query, infos + total, max, &count),
                         TR_OK);
        ck_assert_uint_le(count, max);
        total += count;
    } while (query.from);
    return total;
}

static const tr_actor_info *info_of(size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(infos[i].path, path) == 0)
            return &infos[i];
    }
    return NULL;
}

/* ---- Lists. ---- */

static void play_list(void)
{
    begin();
    tr_tell(test, purse_, bear, .count = 20);
    tr_kit_settle(kit);
    size_t count = list((tr_actor_query){.size = 0}, 64);
    ck_assert_uint_eq(count, 22); /* with /user */
    const tr_actor_info *parent = info_of(count, "/user/purse");
    ck_assert_ptr_nonnull(parent);
    ck_assert_str_eq(parent->behavior, "purse");
    ck_assert_str_eq(parent->state, "Running");
    ck_assert_int_eq(parent->worker, home);
    ck_assert_uint_eq(parent->children, 20);
    ck_assert_uint_eq(parent->queued, 0);
    ck_assert_uint_eq(parent->queued_max, TR_MAILBOX_MAX);
    ck_assert_uint_eq(parent->actor.bits, tr_any(purse_).bits);
    ck_assert_uint_eq(info_of(count, "/user")->actor.bits, parent->parent.bits);
    ck_assert_uint_eq(list((tr_actor_query){.below = tr_any(purse_)}, 64), 21);
    ck_assert_uint_eq(list((tr_actor_query){.behavior = "purse"}, 3), 21);
    ck_assert_uint_eq(list((tr_actor_query){.behavior = "pur"}, 64), 0);
    ck_assert_uint_eq(list((tr_actor_query){.state = "Suspended"}, 64), 0);
    for (size_t i = 0; i < 22; i++) {
        tr_actor_query all = {.size = 0};
        size_t whole;
        ck_assert_int_eq(tr_system_actors(system_of_kit(), &all, infos, 64, &whole), TR_OK);
        tr_ref found = tr_system_find(system_of_kit(), infos[i].path);
        ck_assert_uint_eq(found.bits, infos[i].actor.bits);
    }
}

TEST(every_actor_is_listed_once_with_its_path, "O-07")
{
    kits_each(play_list);
}

static void play_queued(void)
{
    begin();
    ck_assert_int_eq(tr_suspend(test, purse_), TR_OK);
    tr_kit_settle(kit);
    for (int i = 0; i < 300; i++)
        tr_tell(test, purse_, deposit, .cents = 1, .pin = "0000");
    tr_kit_settle(kit);
    ck_assert_uint_eq(list((tr_actor_query){.state = "Suspended"}, 64), 1);
    ck_assert_uint_eq(infos[0].queued, 300);
    ck_assert_uint_ge(infos[0].queued_bytes, 300 * 64);
    ck_assert_uint_eq(list((tr_actor_query){.queued_min = 300}, 64), 1);
    ck_assert_uint_eq(list((tr_actor_query){.queued_min = 301}, 64), 0);
    static tr_behavior_info behaviors[8];
    size_t count;
    ck_assert_int_eq(tr_system_behaviors(system_of_kit(), behaviors, 8, &count), TR_OK);
    const tr_behavior_info *found = NULL;
    for (size_t i = 0; i < count; i++)
        found = strcmp(behaviors[i].behavior, "purse") == 0 ? &behaviors[i] : found;
    ck_assert_ptr_nonnull(found);
    ck_assert_uint_eq(found->live, 1);
    ck_assert_uint_eq(found->queued, 300);
    ck_assert_uint_eq(found->queued_most, 300);
    ck_assert_uint_ge(found->queued_bytes, 300 * 64);
    ck_assert_uint_eq(found->fullest.bits, tr_any(purse_).bits);
    ck_assert_uint_eq(found->suspended, 1);
    ck_assert_uint_eq(found->stopping, 0);
    ck_assert_uint_gt(found->bytes, found->queued_bytes);
    ck_assert_int_eq(tr_resume(test, purse_), TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_eq(list((tr_actor_query){.queued_min = 1}, 64), 0);
    ck_assert_int_eq(tr_system_behaviors(system_of_kit(), behaviors, 8, &count), TR_OK);
    for (size_t i = 0; i < count; i++)
        ck_assert(behaviors[i].queued || !behaviors[i].fullest.bits);
}

TEST(what_waits_in_a_mailbox_is_counted, "O-07")
{
    kits_each(play_queued);
}

static void play_bad_queries(void)
{
    begin();
    tr_ref was = tr_any(purse_);
    size_t count;
    tr_actor_query query = {.state = "running"};
    ck_assert_int_eq(tr_system_actors(system_of_kit(), &query, infos, 1, &count),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_system_actors(NULL, &query, infos, 1, &count), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_system_actors(system_of_kit(), NULL, infos, 1, &count),
                     TR_INVALID_ARGUMENT);
    query = (tr_actor_query){.from = UINT32_MAX};
    ck_assert_int_eq(tr_system_actors(system_of_kit(), &query, infos, 64, &count), TR_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert_uint_eq(query.from, 0);
    tr_stop(test, purse_);
    tr_kit_settle(kit);
    query = (tr_actor_query){.below = tr_ref_from_bits(UINT64_C(0x12345678deadbeef))};
    ck_assert_int_eq(tr_system_actors(system_of_kit(), &query, infos, 64, &count), TR_STOPPED);
    ck_assert_uint_eq(list((tr_actor_query){.behavior = "purse"}, 64), 0);
    ck_assert_uint_eq(tr_system_find(system_of_kit(), "/user/purse").bits, 0);
    static const char *const paths[] = {"",
                                        "/",
                                        "user",
                                        "/user/$",
                                        "/user/$1",
                                        "/user/$1.",
                                        "/user/$1.1x",
                                        "/user/$ffffffffff.1",
                                        "/user/$zz.1",
                                        "/user/purse/$1.0"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        ck_assert_uint_eq(tr_system_find(system_of_kit(), paths[i]).bits, 0);
    static tr_actor_report report;
    ck_assert_int_eq(tr_actor_show(test, was, &report), TR_STOPPED);
    ck_assert_int_eq(tr_actor_show(NULL, was, &report), TR_INVALID_ARGUMENT);
}

TEST(a_query_that_makes_no_sense_is_refused, "O-07")
{
    kits_each(play_bad_queries);
}

static void play_workers(void)
{
    static tr_worker_info workers[TR_WORKERS_MAX];
    begin();
    tr_tell(test, purse_, deposit, .cents = 1, .pin = "0000");
    tr_kit_settle(kit);
    size_t count = tr_system_running(system_of_kit(), workers, TR_WORKERS_MAX);
    ck_assert_uint_eq(count, (size_t)tr_system_workers(system_of_kit()));
    ck_assert(!workers[home].is_running);
    ck_assert_uint_ge(workers[home].handled, 1);
    ck_assert_uint_eq(tr_system_running(NULL, workers, 1), 0);
    ck_assert_uint_eq(tr_system_running(system_of_kit(), NULL, 0), count);
}

TEST(workers_are_listed, "O-07")
{
    kits_each(play_workers);
}

/* ---- One actor. ---- */

static void play_show(void)
{
    static tr_actor_report report;
    begin();
    tr_tell(test, purse_, deposit, .cents = 5, .pin = "0000");
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_actor_show(test, tr_any(purse_), &report), TR_OK);
    ck_assert_str_eq(report.state_type, "wallet");
    ck_assert_str_eq(report.state_text,
                     "{\"cents\":5,\"card\":{\"holder\":\"Ada\",\"number\":\"...\","
                     "\"code\":\"...\"}}");
    ck_assert_uint_eq(report.state_length, strlen(report.state_text));
    ck_assert_uint_eq(report.mail_count, 0);
    ck_assert_uint_eq(report.incarnation, 1);
    ck_assert_int_eq(tr_suspend(test, purse_), TR_OK);
    for (int i = 0; i < 3; i++)
        tr_tell(test, purse_, deposit, .cents = 1, .pin = "0000");
    tr_tell(test, purse_, breaks, .text = "glass");
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_actor_show(test, tr_any(purse_), &report), TR_OK);
    ck_assert_uint_eq(report.mail_count, 2);
    ck_assert_str_eq(report.mail[0].type, "deposit");
    ck_assert_uint_eq(report.mail[0].count, 3);
    ck_assert_uint_eq(report.mail[1].count, 1);
    ck_assert_str_eq(report.oldest, "deposit");
    ck_assert_uint_eq(report.oldest_from.bits, tr_client_ref(test).bits);
    ck_assert_int_eq(report.cpu_max_ns + report.tree_cpu_max_ns, 0);
    ck_assert_uint_eq(report.tree_bytes_max, 0);
    uint64_t mark = report.oldest_mark;
    ck_assert_int_eq(tr_actor_show(test, tr_any(purse_), &report), TR_OK);
    ck_assert_uint_eq(report.oldest_mark, mark);
}

TEST(an_actor_shows_its_state_and_mailboxes, "O-07", "O-08")
{
    kits_each(play_show);
}

/* An actor with each budget, and a child. */
TR_MESSAGE(grow, (u32, bytes));
TR_ACTOR(limited, grow);

static tr_next on_limited_start(tr_self *self)
{
    (void)tr_spawn(self, purse, "child");
    return TR_SAME;
}

static tr_next on_grow(tr_self *self, const struct grow *message)
{
    (void)tr_alloc(self, message->bytes);
    tr_tell(self, tr_find(self, purse, "/user/limited/child"), deposit, .cents = 1, .pin = "0000");
    return TR_SAME;
}

TR_BEHAVIOR(limited, void, TR_ON(tr_pre_start, on_limited_start), TR_ON(grow, on_grow),
            TR_OPTIONS(.budget_bytes = 1 << 20, .tree_budget_bytes = 2 << 20,
                       .budget_cpu_ns = TR_HOUR, .tree_budget_cpu_ns = 2 * TR_HOUR));

static void play_budgets(void)
{
    static tr_actor_report report;
    limited_ref limited;
    ck_assert_int_eq(tr_try_spawn_at(test, &limited, home, limited, "limited"), TR_OK);
    tr_kit_settle(kit);
    tr_ref child = tr_system_find(system_of_kit(), "/user/limited/child");
    ck_assert_int_eq(tr_client_suspend(test, child), TR_OK);
    tr_kit_settle(kit);
    tr_tell(test, limited, grow, .bytes = 10000);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_actor_show(test, tr_any(limited), &report), TR_OK);
    ck_assert_uint_ge(report.bytes, 10000);
    ck_assert_uint_eq(report.bytes_max, 1 << 20);
    ck_assert_uint_gt(report.tree_bytes, report.bytes); /* the child has some too */
    ck_assert_uint_eq(report.tree_bytes_max, 2 << 20);
    ck_assert_int_eq(report.cpu_max_ns, TR_HOUR);
    ck_assert_int_eq(report.tree_cpu_max_ns, 2 * TR_HOUR);
    ck_assert_int_ge(report.cpu_ns, 0);
    ck_assert_int_ge(report.tree_cpu_ns, report.cpu_ns);
    /* The child has no budget of its own, and a message that an actor has sent. */
    ck_assert_int_eq(tr_actor_show(test, child, &report), TR_OK);
    ck_assert_str_eq(report.oldest, "deposit");
    ck_assert_uint_ne(report.oldest_causal, 0);
    ck_assert_uint_eq(report.bytes_max + report.tree_bytes_max, 0);
}

TEST(an_actor_shows_its_budgets, "O-06", "O-07")
{
    kits_each(play_budgets);
}

/* ---- Failures, and dead letters. ---- */

static void play_failures(void)
{
    static tr_failure_record records[TR_FAILURES_KEPT];
    size_t count;
    begin();
    ck_assert_uint_eq(tr_system_failures(system_of_kit(), records, TR_FAILURES_KEPT, &count), 0);
    ck_assert_uint_eq(count, 0);
    tr_tell(test, purse_, breaks, .text = "glass");
    tr_kit_settle(kit);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_uint_eq(tr_system_failures(system_of_kit(), records, TR_FAILURES_KEPT, &count), 2);
    ck_assert_uint_eq(count, 2);
    ck_assert(records[0].is_restart);
    ck_assert_uint_eq(records[0].incarnation, 2);
    ck_assert(!records[1].is_restart);
    ck_assert_str_eq(records[1].path, "/user/purse");
    ck_assert_str_eq(records[1].behavior, "purse");
    ck_assert_str_eq(records[1].where, "breaks");
    ck_assert_str_eq(records[1].text, "glass");
    ck_assert_int_eq(records[1].status, TR_BAD_DATA);
    ck_assert_uint_eq(tr_system_failures(system_of_kit(), records, 1, &count), 2);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(tr_system_failures(NULL, records, 1, &count), 0);
}

TEST(failures_and_restarts_are_remembered, "O-10")
{
    kits_each(play_failures);
}

static void play_letters(void)
{
    static tr_dead_letter_record letters[4];
    size_t count;
    begin();
    static const struct unknown word = {.word = "hello"};
    (void)tr_client_tell(test, tr_any(purse_), &tr_type_unknown, &word);
    tr_kit_settle(kit);
    tr_stop(test, purse_);
    tr_kit_settle(kit);
    (void)tr_tell(test, purse_, deposit, .cents = 7, .pin = "1234");
    uint64_t total = tr_system_dead_letters(system_of_kit(), letters, 4, &count);
    ck_assert_uint_eq(total, 2);
    ck_assert_str_eq(letters[1].message, "{\"word\":\"hello\"}");
    ck_assert_str_eq(letters[0].message, "{\"cents\":7,\"pin\":\"...\"}");
    for (int i = 0; i < 3 * TR_DEAD_LETTER_TEXTS_MAX; i++)
        (void)tr_tell(test, purse_, deposit, .cents = 7, .pin = "1234");
    (void)tr_system_dead_letters(system_of_kit(), letters, 1, &count);
    ck_assert_str_eq(letters[0].message, ""); /* one of many */
}

TEST(a_dead_letter_has_its_message_without_secrets, "O-08", "O-10")
{
    kits_each(play_letters);
}

TEST(a_secret_is_sent_but_not_printed, "O-08")
{
    static const struct card value = {"Ada", "4111", 123};
    char text[200];
    tr_type_print(&tr_type_card, &value, text, sizeof text);
    ck_assert_str_eq(text, "card{holder=\"Ada\", number=..., code=...}");
    tr_json_write(&tr_type_card, &value, text, sizeof text, NULL);
    ck_assert_str_eq(text, "{\"holder\":\"Ada\",\"number\":\"4111\",\"code\":123}");
}

static tr_next on_nothing(void)
{
    return TR_SAME;
}
TR_ACTOR(wrong, unknown);
TR_BEHAVIOR(wrong, struct card, TR_ON(unknown, on_nothing), TR_OPTIONS(.shows = &tr_type_wallet));

static tr_next on_hire(tr_self *self)
{
    (void)tr_spawn(self, wrong, NULL);
    return TR_SAME;
}
TR_ACTOR(office, unknown);
TR_BEHAVIOR(office, void, TR_ON(unknown, on_hire), TR_OPTIONS(.restart = TR_TEMPORARY));

static void play_wrong(void)
{
    tr_failure_record record;
    size_t count;
    office_ref office;
    ck_assert_int_eq(tr_try_spawn(test, &office, office, NULL), TR_OK);
    tr_tell(test, office, unknown);
    tr_kit_settle(kit);
    tr_system_failures(system_of_kit(), &record, 1, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_ptr_nonnull(
        strstr(record.text, "cannot spawn wrong: invalid behavior: .shows describes"));
    tr_spawn_args args = {.size = sizeof args, .behavior = &tr_behavior_wrong, .worker = -1};
    uint64_t bits;
    ck_assert_int_eq(tr_client_try_spawn(test, &args, &bits), TR_INVALID_ARGUMENT);
}

TEST(a_descriptor_of_another_struct_is_refused, "O-07")
{
    kits_each(play_wrong);
}

SUITE("observe", every_actor_is_listed_once_with_its_path, what_waits_in_a_mailbox_is_counted,
      a_query_that_makes_no_sense_is_refused, workers_are_listed,
      an_actor_shows_its_state_and_mailboxes, an_actor_shows_its_budgets,
      failures_and_restarts_are_remembered, a_dead_letter_has_its_message_without_secrets,
      a_secret_is_sent_but_not_printed, a_descriptor_of_another_struct_is_refused)
