/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Programs with other fields on the same store: chains of migrations, fields that were moved, renamed or retyped, and
 * going back to an earlier program.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>
#include <unistd.h>

#include "support/test.h"

/* ---- Programs: kinds of one name. ---- */

TR_MESSAGE(answer, (u64, a), (u64, b), (u64, c));
TR_REQUEST(look, answer);
TR_REQUEST(fill, answer, (u64, n));

static char directory[64];

static void directory_make(void)
{
    snprintf(directory, sizeof directory, "/tmp/troupe-shape-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void directory_drop(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

struct outcome {
    tr_status status;
    struct answer answer;
};

static struct outcome ask(tr_client *client, const tr_durable_kind *kind, const tr_type *type,
                          uint64_t n)
{
    struct outcome outcome = {.status = TR_OK};
    const void *reply;
    uint64_t bits;
    const struct fill message = {.n = n};
    ck_assert_int_eq(tr_client_try_durable(client, kind, (tr_bytes){"k", 1}, &bits), TR_OK);
    outcome.status = tr_client_try_await(
        client, tr_client_ask(client, tr_ref_from_bits(bits), type, &message, 0), &reply);
    if (outcome.status == TR_OK)
        outcome.answer = *(const struct answer *)reply;
    return outcome;
}

/* A run of a program with this kind, which calls it "thing"; one request. */
static struct outcome run(const tr_durable_kind *declared, const tr_type *type, uint64_t n)
{
    tr_durable_kind kind = *declared;
    kind.name = "thing";
    const tr_durable_kind *const kinds[] = {&kind, NULL};
    const tr_durables durables = {sizeof durables, tr_durable_start, kinds};
    tr_kit *kit = tr_kit_new(&(tr_kit_options){
        .size = sizeof(tr_kit_options), .durable = &durables, .store = directory});
    ck_assert_ptr_nonnull(kit);
    struct outcome outcome = ask(tr_kit_client(kit), &kind, type, n);
    tr_kit_free(kit);
    return outcome;
}

static void expect(const tr_durable_kind *kind, const tr_type *type, uint64_t n, uint64_t a,
                   uint64_t b, uint64_t c)
{
    struct outcome outcome = run(kind, type, n);
    ck_assert_int_eq(outcome.status, TR_OK);
    ck_assert_uint_eq(outcome.answer.a, a);
    ck_assert_uint_eq(outcome.answer.b, b);
    ck_assert_uint_eq(outcome.answer.c, c);
}

/* An actor with this state, that answers with three numbers and sets them. */
#define PROGRAM(name, state_name, get_a, get_b, get_c, ...)                                        \
    TR_ACTOR(name, look, fill);                                                                    \
    static tr_next on_look_##name(tr_self *self, struct state_name *s)                             \
    {                                                                                              \
        (void)s;                                                                                   \
        return tr_reply(self, answer, .a = get_a, .b = get_b, .c = get_c);                         \
    }                                                                                              \
    static tr_next on_fill_##name(tr_self *self, struct state_name *s, const struct fill *m)       \
    {                                                                                              \
        (void)m;                                                                                   \
        __VA_ARGS__;                                                                               \
        return tr_reply(self, answer, .a = get_a, .b = get_b, .c = get_c);                         \
    }                                                                                              \
    TR_BEHAVIOR(name, struct state_name, TR_ON(look, on_look_##name), TR_ON(fill, on_fill_##name))

TR_MESSAGE(state_a, (u64, a));
TR_MESSAGE(state_ab, (u64, a), (u64, b));
TR_MESSAGE(state_abc, (u64, a), (u64, b), (u64, c));
TR_MESSAGE(state_ba, (u64, b), (u64, a));
TR_MESSAGE(state_signed, (i64, a), (u64, b));
TR_MESSAGE(state_renamed, (u64, a), (u64, count));
TR_MESSAGE(state_ac, (u64, a), (u64, c));
PROGRAM(only_a, state_a, s->a, 0, 0, s->a = m->n);
PROGRAM(with_b, state_ab, s->a, s->b, 0, s->a = m->n, s->b = m->n + 1);
PROGRAM(with_c, state_abc, s->a, s->b, s->c, s->a = m->n, s->b = m->n + 1, s->c = m->n + 2);
PROGRAM(moved, state_ba, s->a, s->b, 0, s->a = m->n);
PROGRAM(retyped, state_signed, (uint64_t)s->a, s->b, 0, s->b = m->n);
PROGRAM(renamed, state_renamed, s->a, s->count, 0, s->a = m->n);
PROGRAM(branched, state_ac, s->a, 0, s->c, s->a = m->n);
TR_DURABLE(only_a, state_a);
TR_DURABLE(with_b, state_ab);
TR_DURABLE(with_c, state_abc);
TR_DURABLE(moved, state_ba);
TR_DURABLE(retyped, state_signed);
TR_DURABLE(renamed, state_renamed);
TR_DURABLE(branched, state_ac);

/* ---- Chains of migrations. ---- */

TR_MESSAGE(name_v1, (str, name));
TR_MESSAGE(name_v2, (str, first), (u32, letters));
TR_MESSAGE(name_v3, (str, first), (u32, letters), (u32, age), (u64, x), (u64, y), (u64, z));
PROGRAM(name_old, name_v1, 0, 0, 0, s->name = "Ada");
PROGRAM(name_new, name_v3, s->first && !strcmp(s->first, "Ada"), s->letters,
        s->age | s->x | s->y | s->z, s->age = (uint32_t)m->n);

static tr_status split(tr_self *self, const struct name_v1 *from, struct name_v2 *to)
{
    (void)self;
    memset(to, 0xEE, sizeof *to); /* what is between and behind its fields may be anything */
    to->first = from->name;
    to->letters = 3;
    return TR_OK;
}
TR_MIGRATION(name_1, 1, name_v1, name_v2, split);
TR_DURABLE(name_old, name_v1);
TR_DURABLE(name_new, name_v3, .version = 3, .migrations = TR_MIGRATIONS(name_1));

TEST(fields_that_a_version_adds_are_zero_after_a_migration, "K-07")
{
    directory_make();
    ck_assert_int_eq(run(&tr_durable_name_old, &tr_type_fill, 0).status, TR_OK);
    expect(&tr_durable_name_new, &tr_type_look, 0, 1, 3, 0);
    expect(&tr_durable_name_new, &tr_type_fill, 36, 1, 3, 36);
    expect(&tr_durable_name_new, &tr_type_look, 0, 1, 3, 36);
    directory_drop();
}

TR_MESSAGE(paid_v1, (u32, euros));
TR_MESSAGE(paid_v2, (u64, cents));
TR_MESSAGE(paid, (u64, cents), (u64, fee), (u64, tip));
TR_MESSAGE(sum, (u64, cents), (u64, added));
static tr_type stored_paid; /* paid_v1 by the name of paid */

static void apply_v1(struct sum *sum, const struct paid_v1 *event)
{
    sum->cents += event->euros * 100;
}
static void apply_paid(struct sum *sum, const struct paid *event)
{
    sum->cents += event->cents;
    sum->added |= event->fee | event->tip;
}
static tr_status to_cents(tr_self *self, const struct paid_v1 *from, struct paid_v2 *to)
{
    (void)self;
    to->cents = from->euros * 100;
    return TR_OK;
}
TR_MIGRATION(paid_1, 1, paid_v1, paid_v2, to_cents);
TR_EVENTS(events_old, sum, TR_APPLY(paid_v1, apply_v1));
TR_EVENTS(events_new, sum,
          TR_APPLY(paid, apply_paid, .version = 3, .migrations = TR_MIGRATIONS(paid_1)));
TR_ACTOR(payer_old, look, fill);
TR_ACTOR(payer_new, look, fill);
static tr_next on_pay(tr_self *self)
{
    (void)tr_self_persist(self, &stored_paid, &(struct paid_v1){.euros = 5});
    return tr_reply(self, answer);
}
static tr_next on_sum(tr_self *self, const struct sum *sum)
{
    return tr_reply(self, answer, .a = sum->cents, .b = sum->added);
}
TR_BEHAVIOR(payer_old, const struct sum, TR_ON(look, on_sum), TR_ON(fill, on_pay));
TR_BEHAVIOR(payer_new, const struct sum, TR_ON(look, on_sum), TR_ON(fill, on_pay));
TR_DURABLE(payer_old, sum, .events = &events_old);
TR_DURABLE(payer_new, sum, .events = &events_new);

/* The old program: its event has the name that the new one knows. */
static void pay_as_before(const tr_events *events)
{
    stored_paid = tr_type_paid_v1;
    stored_paid.name = "paid";
    tr_event_row row = events_old.rows[0];
    row.type = &stored_paid;
    tr_events renamed_events = *events;
    renamed_events.rows = &row;
    tr_durable_kind kind = tr_durable_payer_old;
    kind.options.events = &renamed_events;
    ck_assert_int_eq(run(&kind, &tr_type_fill, 0).status, TR_OK);
}

TEST(fields_that_an_event_gains_are_zero_after_a_migration, "K-07", "K-08")
{
    directory_make();
    pay_as_before(&events_old);
    expect(&tr_durable_payer_new, &tr_type_look, 0, 500, 0, 0);
    directory_drop();
}

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char logged[16384];

static void on_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    pthread_mutex_lock(&log_lock);
    size_t length = strlen(logged);
    snprintf(logged + length, sizeof logged - length, "%s\n", text);
    pthread_mutex_unlock(&log_lock);
}

static bool is_logged(const char *text)
{
    pthread_mutex_lock(&log_lock);
    bool is_there = strstr(logged, text) != NULL;
    pthread_mutex_unlock(&log_lock);
    return is_there;
}

static tr_status try_system(const tr_durable_kind *kind, tr_system **system)
{
    const tr_durable_kind *const kinds[] = {kind, NULL};
    const tr_durables durables = {sizeof durables, tr_durable_start, kinds};
    logged[0] = '\0';
    return tr_system_new(&(tr_system_options){.size = sizeof(tr_system_options),
                                              .name = "kit",
                                              .workers = 1,
                                              .durable = &durables,
                                              .store = directory,
                                              .on_log = on_log},
                         system);
}

static tr_status to_ab(tr_self *self, const struct state_a *from, struct state_ab *to)
{
    (void)self;
    to->a = from->a;
    to->b = 7;
    return TR_OK;
}
TR_MIGRATION(ab_1, 1, state_a, state_ab, to_ab);
TR_MIGRATION(ab_1_again, 1, state_a, state_ab, to_ab);
TR_MIGRATION(ab_2, 2, state_a, state_ab, to_ab);
TR_EVENTS(events_wrong, sum,
          TR_APPLY(paid, apply_paid, .version = 2, .migrations = TR_MIGRATIONS(ab_1)));

TEST(migrations_that_do_not_follow_one_another_are_refused_at_the_start, "K-07")
{
    tr_system *system;
    directory_make();
    tr_durable_kind kind = tr_durable_moved; /* its state is {b, a} */
    kind.options.version = 2;
    kind.options.migrations = TR_MIGRATIONS(ab_1);
    ck_assert_int_eq(try_system(&kind, &system), TR_INVALID_ARGUMENT);
    ck_assert(is_logged("the durable kind moved: the migration of its state from version 1 makes "
                        "{a:u64,b:u64}, but version 2 has {b:u64,a:u64}"));
    kind = tr_durable_with_b; /* from {a, b} to {a}: b would be lost */
    kind.options.version = 3;
    kind.options.migrations = TR_MIGRATIONS(ab_1, ab_2);
    ck_assert_int_eq(try_system(&kind, &system), TR_INVALID_ARGUMENT);
    ck_assert(is_logged("makes {a:u64,b:u64}, but version 2 has {a:u64}"));
    kind.options.migrations = TR_MIGRATIONS(ab_1, ab_1_again);
    ck_assert_int_eq(try_system(&kind, &system), TR_INVALID_ARGUMENT);
    ck_assert(is_logged("two migrations from version 1"));
    kind = tr_durable_payer_new;
    kind.options.events = &events_wrong;
    ck_assert_int_eq(try_system(&kind, &system), TR_INVALID_ARGUMENT);
    ck_assert(is_logged("the migration of paid from version 1 makes {a:u64,b:u64}, but version 2 "
                        "has {cents:u64,fee:u64,tip:u64}"));
    directory_drop();
}

/* ---- Other fields without a version. ---- */

TEST(fields_that_were_moved_renamed_or_retyped_are_refused, "K-07")
{
    const tr_durable_kind *const others[] = {
        &tr_durable_moved, &tr_durable_retyped, &tr_durable_renamed, &tr_durable_branched};
    directory_make();
    expect(&tr_durable_with_b, &tr_type_fill, 5, 5, 6, 0);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(run(others[i], &tr_type_look, 0).status, TR_START_FAILED);
        ck_assert_int_eq(run(others[i], &tr_type_fill, 9).status, TR_START_FAILED);
        expect(&tr_durable_with_b, &tr_type_look, 0, 5, 6, 0);
    }
    directory_drop();
}

TEST(a_refusal_names_both_shapes, "K-07")
{
    tr_system *system;
    tr_client *client;
    directory_make();
    expect(&tr_durable_with_b, &tr_type_fill, 5, 5, 6, 0);
    tr_durable_kind kind = tr_durable_moved;
    kind.name = "thing";
    ck_assert_int_eq(try_system(&kind, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(ask(client, &kind, &tr_type_look, 0).status, TR_START_FAILED);
    tr_client_free(client);
    tr_system_shutdown(system, TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
    ck_assert(is_logged("stored as {a:u64,b:u64}"));
    ck_assert(is_logged("read as {b:u64,a:u64}"));
    ck_assert(is_logged("TR_WRONG_SHAPE"));
    ck_assert(is_logged("the state of thing, version 1"));
    directory_drop();
}

TR_MESSAGE(paid_other, (u64, fee), (u64, cents));
static void apply_other(struct sum *sum, const struct paid_other *event)
{
    sum->cents += event->cents;
}
TR_EVENTS(events_other, sum, TR_APPLY(paid_other, apply_other));

TEST(an_event_with_other_fields_is_refused, "K-07", "K-08")
{
    static tr_type other;
    directory_make();
    pay_as_before(&events_old);
    other = tr_type_paid_other;
    other.name = "paid";
    tr_event_row row = events_other.rows[0];
    row.type = &other;
    tr_events events = events_other;
    events.rows = &row;
    tr_durable_kind kind = tr_durable_payer_new;
    kind.options.events = &events;
    ck_assert_int_eq(run(&kind, &tr_type_look, 0).status, TR_START_FAILED);
    expect(&tr_durable_payer_new, &tr_type_look, 0, 500, 0, 0);
    directory_drop();
}

TR_MESSAGE(sum_moved, (u64, added), (u64, cents));
static void apply_to_moved(struct sum_moved *sum, const struct paid *event)
{
    sum->cents += event->cents;
}
TR_EVENTS(events_moved, sum_moved,
          TR_APPLY(paid, apply_to_moved, .version = 3, .migrations = TR_MIGRATIONS(paid_1)));
TR_ACTOR(payer_moved, look);
static tr_next on_sum_moved(tr_self *self, const struct sum_moved *sum)
{
    return tr_reply(self, answer, .a = sum->cents, .b = sum->added);
}
TR_BEHAVIOR(payer_moved, const struct sum_moved, TR_ON(look, on_sum_moved));
TR_DURABLE(payer_moved, sum_moved, .events = &events_moved);

TEST(a_snapshot_with_other_fields_is_passed_over, "K-07", "K-08")
{
    directory_make();
    tr_events events = events_old;
    events.snapshots.every = 1;
    pay_as_before(&events);
    pay_as_before(&events);
    expect(&tr_durable_payer_moved, &tr_type_look, 0, 1000, 0, 0);
    directory_drop();
}

/* ---- Going back. ---- */

static tr_status grow(tr_self *self, const struct state_a *from, struct state_abc *to)
{
    (void)self;
    to->a = from->a;
    to->b = 7;
    return TR_OK;
}
TR_MIGRATION(grow_1, 1, state_a, state_abc, grow);
PROGRAM(grown, state_abc, s->a, s->b, s->c, s->c = m->n);
TR_DURABLE(grown, state_abc, .version = 2, .migrations = TR_MIGRATIONS(grow_1));

TEST(a_look_stores_nothing, "K-07", "K-01")
{
    directory_make();
    expect(&tr_durable_only_a, &tr_type_fill, 1, 1, 0, 0);
    expect(&tr_durable_grown, &tr_type_look, 0, 1, 7, 0);
    expect(&tr_durable_only_a, &tr_type_look, 0, 1, 0, 0); /* still of version 1 */
    expect(&tr_durable_with_c, &tr_type_fill, 3, 3, 4, 5);
    expect(&tr_durable_only_a, &tr_type_look, 0, 3, 0, 0);
    expect(&tr_durable_with_c, &tr_type_look, 0, 3, 4, 5);
    directory_drop();
}

TEST(fields_that_earlier_code_does_not_know_survive_its_changes, "K-07")
{
    directory_make();
    expect(&tr_durable_with_c, &tr_type_fill, 3, 3, 4, 5);
    expect(&tr_durable_only_a, &tr_type_fill, 100, 100, 0, 0);
    expect(&tr_durable_only_a, &tr_type_look, 0, 100, 0, 0);
    expect(&tr_durable_with_c, &tr_type_look, 0, 100, 4, 5);
    expect(&tr_durable_with_b, &tr_type_fill, 200, 200, 201, 0);
    expect(&tr_durable_only_a, &tr_type_fill, 300, 300, 0, 0);
    expect(&tr_durable_with_c, &tr_type_look, 0, 300, 201, 5);
    /* It is still known what they are. */
    ck_assert_int_eq(run(&tr_durable_branched, &tr_type_look, 0).status, TR_START_FAILED);
    directory_drop();
}

TEST(a_migration_that_does_not_know_a_field_is_refused, "K-07")
{
    directory_make();
    expect(&tr_durable_with_b, &tr_type_fill, 1, 1, 2, 0);
    ck_assert_int_eq(run(&tr_durable_grown, &tr_type_look, 0).status, TR_START_FAILED);
    expect(&tr_durable_with_b, &tr_type_look, 0, 1, 2, 0);
    directory_drop();
}

TR_MESSAGE(item_a, (u64, a));
TR_MESSAGE(item_ab, (u64, a), (u64, b));
TR_MESSAGE(items_a, (list(message(item_a)), items), (u64, n));
TR_MESSAGE(items_ab, (list(message(item_ab)), items), (u64, n));
PROGRAM(lister_a, items_a, s->items.count, s->n, 0,
        tr_append(self, s->items, (struct item_a){m->n}));
PROGRAM(lister_ab, items_ab, s->items.count, s->n, s->items.count ? s->items.items[0].b : 0,
        if (m->n) tr_append(self, s->items, ((struct item_ab){m->n, m->n + 1}));
        s->n++);
TR_DURABLE(lister_a, items_a);
TR_DURABLE(lister_ab, items_ab);

TEST(fields_inside_that_earlier_code_does_not_know_are_not_dropped, "K-07")
{
    directory_make();
    expect(&tr_durable_lister_ab, &tr_type_fill, 0, 0, 1, 0);
    expect(&tr_durable_lister_a, &tr_type_look, 0, 0, 1, 0); /* there is none yet */
    expect(&tr_durable_lister_ab, &tr_type_fill, 8, 1, 2, 9);
    ck_assert_int_eq(run(&tr_durable_lister_a, &tr_type_look, 0).status, TR_START_FAILED);
    ck_assert_int_eq(run(&tr_durable_lister_a, &tr_type_fill, 1).status, TR_START_FAILED);
    expect(&tr_durable_lister_ab, &tr_type_look, 0, 1, 2, 9);
    directory_drop();
}

TR_MESSAGE(items_more, (list(message(item_a)), items), (u64, n), (u64, more));
PROGRAM(lister_more, items_more, s->items.count, s->n, s->more, s->more = m->n);
TR_DURABLE(lister_more, items_more);

TEST(programs_that_have_both_added_fields_are_refused, "K-07")
{
    directory_make();
    expect(&tr_durable_lister_ab, &tr_type_fill, 0, 0, 1, 0);
    ck_assert_int_eq(run(&tr_durable_lister_more, &tr_type_fill, 9).status, TR_START_FAILED);
    expect(&tr_durable_lister_ab, &tr_type_look, 0, 0, 1, 0);
    directory_drop();
}

TEST(fields_inside_may_be_added, "K-07")
{
    directory_make();
    expect(&tr_durable_lister_a, &tr_type_fill, 4, 1, 0, 0);
    expect(&tr_durable_lister_ab, &tr_type_fill, 5, 2, 1, 0);
    expect(&tr_durable_lister_ab, &tr_type_look, 0, 2, 1, 0);
    directory_drop();
}

SUITE("durable shapes", fields_that_a_version_adds_are_zero_after_a_migration,
      fields_that_an_event_gains_are_zero_after_a_migration,
      migrations_that_do_not_follow_one_another_are_refused_at_the_start,
      fields_that_were_moved_renamed_or_retyped_are_refused,
      programs_that_have_both_added_fields_are_refused, a_refusal_names_both_shapes,
      an_event_with_other_fields_is_refused, a_snapshot_with_other_fields_is_passed_over,
      a_look_stores_nothing, fields_that_earlier_code_does_not_know_survive_its_changes,
      a_migration_that_does_not_know_a_field_is_refused,
      fields_inside_that_earlier_code_does_not_know_are_not_dropped, fields_inside_may_be_added)
