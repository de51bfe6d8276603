/* SPDX-License-Identifier: Apache-2.0 */
/**
 * States of durable actors: every kind of field, lists that grow, states that are too large, and programs of other
 * versions on the same store.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>
#include <unistd.h>

#include "support/test.h"

static char directory[64];
static tr_kit *kit;
static tr_client *test;

static void begin(const tr_durables *durables)
{
    kit = tr_kit_new(&(tr_kit_options){
        .size = sizeof(tr_kit_options), .workers = 2, .durable = durables, .store = directory});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
}

static void directory_make(void)
{
    snprintf(directory, sizeof directory, "/tmp/troupe-version-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void directory_drop(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

/* ---- Fields. ---- */

TR_MESSAGE(part, (str, name), (i64, n), (list(str), words));
TR_MESSAGE(acted, (i64, value));
TR_REQUEST(fill, acted, (i64, n));
TR_REQUEST(check, acted, (i64, n));
TR_REQUEST(append, acted, (i64, n));
TR_REQUEST(bloat, acted, (i64, n));
TR_ACTOR(box, fill, check, append, bloat);
TR_MESSAGE(box_state, (bool, flag), (i8, tiny), (u64, large), (f64, real), (str, text),
           (bytes, raw), (message(part), one), (list(message(part)), parts), (list(i64), numbers),
           (optional(i64), maybe), (optional(i64), never));

static tr_next on_fill(tr_self *self, struct box_state *state)
{
    struct part *parts = tr_alloc(self, 2 * sizeof *parts);
    const char **words = tr_alloc(self, 2 * sizeof *words);
    words[0] = "first";
    words[1] = "";
    parts[0] = (struct part){.name = "left", .n = -1, .words = {words, 2}};
    parts[1] = (struct part){.name = "right", .n = INT64_MIN};
    state->flag = true;
    state->tiny = -128;
    state->large = UINT64_MAX;
    state->real = 0.1;
    state->text = tr_strdup(self, "text with \xc3\xa4");
    char *raw = tr_alloc(self, 4);
    memcpy(raw, "a\0b\xff", 4);
    state->raw = (tr_bytes){raw, 4};
    state->one = parts[0];
    state->parts.items = parts;
    state->parts.count = 2;
    state->maybe.has = true;
    state->maybe.value = 7;
    return tr_reply(self, acted, .value = 0);
}

static tr_next on_check(tr_self *self, struct box_state *state)
{
    ck_assert(state->flag);
    ck_assert_int_eq(state->tiny, -128);
    ck_assert_uint_eq(state->large, UINT64_MAX);
    ck_assert(state->real == 0.1);
    ck_assert_str_eq(state->text, "text with \xc3\xa4");
    ck_assert_uint_eq(state->raw.size, 4);
    ck_assert_int_eq(memcmp(state->raw.data, "a\0b\xff", 4), 0);
    ck_assert_str_eq(state->one.name, "left");
    ck_assert_uint_eq(state->one.words.count, 2);
    ck_assert_str_eq(state->one.words.items[0], "first");
    ck_assert_uint_eq(state->parts.count, 2);
    ck_assert_int_eq(state->parts.items[1].n, INT64_MIN);
    ck_assert(state->maybe.has && state->maybe.value == 7 && !state->never.has);
    return tr_reply(self, acted, .value = (int64_t)state->numbers.count);
}

static tr_next on_append(tr_self *self, struct box_state *state, const struct append *message)
{
    for (int64_t i = 0; i < message->n; i++) {
        ck_assert(!state->numbers.count || state->numbers.items[state->numbers.count - 1] ==
                                               (int64_t)state->numbers.count - 1);
        tr_append(self, state->numbers, (int64_t)state->numbers.count);
    }
    return tr_reply(self, acted, .value = (int64_t)state->numbers.count);
}

static tr_next on_bloat(tr_self *self, struct box_state *state, const struct bloat *message)
{
    size_t size = (size_t)message->n;
    char *raw = tr_alloc(self, size);
    memset(raw, 'x', size);
    state->raw = (tr_bytes){raw, size};
    return tr_reply(self, acted, .value = 0);
}

TR_BEHAVIOR(box, struct box_state, TR_ON(fill, on_fill), TR_ON(check, on_check),
            TR_ON(append, on_append), TR_ON(bloat, on_bloat));
TR_DURABLE(box, box_state, .idle_ns = TR_SECOND);

static box_ref box_now(void)
{
    box_ref ref;
    ck_assert_int_eq(tr_try_durable(test, &ref, box, "a"), TR_OK);
    return ref;
}

TEST(every_kind_of_field_is_there_again, "K-01", "SL-09")
{
    const struct acted *acted;
    directory_make();
    begin(TR_DURABLES(box));
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, box_now(), fill), &acted), TR_OK);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, box_now(), check), &acted), TR_OK);
    for (int i = 0; i < 5; i++) {
        tr_kit_advance(kit, 10 * TR_SECOND); /* it sleeps */
        ck_assert_int_eq(tr_try_await(test, tr_ask(test, box_now(), append, .n = 100), &acted),
                         TR_OK);
        ck_assert_int_eq(acted->value, 100 * i + 100);
        ck_assert_int_eq(tr_try_await(test, tr_ask(test, box_now(), append, .n = 0), &acted),
                         TR_OK);
    }
    tr_kit_free(kit);
    begin(TR_DURABLES(box));
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, box_now(), check), &acted), TR_OK);
    ck_assert_int_eq(acted->value, 500);
    tr_kit_free(kit);
    directory_drop();
}

TEST(a_state_that_is_too_large_is_not_stored, "K-01", "PE-03")
{
    const struct acted *acted;
    directory_make();
    begin(TR_DURABLES(box));
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, box_now(), fill), &acted), TR_OK);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, box_now(), bloat, .n = TR_STATE_MAX), &acted),
                     TR_TOO_LARGE);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, box_now(), check), &acted), TR_OK);
    ck_assert_int_eq(
        tr_try_await(test, tr_ask(test, box_now(), bloat, .n = TR_STATE_MAX / 2), &acted), TR_OK);
    tr_kit_advance(kit, 10 * TR_SECOND);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, box_now(), append, .n = 1), &acted), TR_OK);
    tr_kit_free(kit);
    directory_drop();
}

/* ---- Versions. ---- */

TR_REQUEST(add, acted, (i64, n));
TR_MESSAGE(cart_v1, (i64, cents));
TR_MESSAGE(cart_v2, (i64, cents), (i64, items)); /* read by itself */
TR_MESSAGE(cart_v3, (str, total), (i64, items));
TR_MESSAGE(cart_v4, (list(str), totals), (i64, items));
TR_ACTOR(cart1, add);
TR_ACTOR(cart2, add);
TR_ACTOR(cart4, add);

static tr_next on_add_1(tr_self *self, struct cart_v1 *state, const struct add *message)
{
    state->cents += message->n;
    return tr_reply(self, acted, .value = state->cents);
}

static tr_next on_add_2(tr_self *self, struct cart_v2 *state, const struct add *message)
{
    state->cents += message->n;
    state->items += 1;
    return tr_reply(self, acted, .value = state->cents * 1000 + state->items);
}

static int migrations;
static bool migration_fails;

static tr_status to_v3(tr_self *self, const struct cart_v2 *from, struct cart_v3 *to)
{
    char *text = tr_alloc(self, 32);
    migrations++;
    snprintf(text, 32, "%lld cents", (long long)from->cents);
    to->total = text;
    to->items = from->items;
    return TR_OK;
}

static tr_status to_v4(tr_self *self, const struct cart_v3 *from, struct cart_v4 *to)
{
    const char **totals = tr_alloc(self, sizeof *totals);
    migrations++;
    if (migration_fails)
        return TR_BAD_DATA;
    totals[0] = from->total;
    to->totals.items = totals;
    to->totals.count = 1;
    to->items = from->items;
    return TR_OK;
}

static tr_next on_add_4(tr_self *self, struct cart_v4 *state, const struct add *message)
{
    state->items += message->n;
    ck_assert_uint_eq(state->totals.count, 1);
    ck_assert_str_eq(state->totals.items[0], "7 cents");
    return tr_reply(self, acted, .value = state->items);
}

TR_BEHAVIOR(cart1, struct cart_v1, TR_ON(add, on_add_1));
TR_BEHAVIOR(cart2, struct cart_v2, TR_ON(add, on_add_2));
TR_BEHAVIOR(cart4, struct cart_v4, TR_ON(add, on_add_4));
TR_MIGRATION(cart_2, 2, cart_v2, cart_v3, to_v3);
TR_MIGRATION(cart_3, 3, cart_v3, cart_v4, to_v4);
static const tr_migration *const cart_migrations[] = {
    &tr_migration_cart_2, &tr_migration_cart_3, NULL};

/* Programs of other versions call their kind the same. */
#define CART(actor, of_state, ...)                                                                 \
    static const tr_durable_kind tr_durable_##actor = {.size = sizeof(tr_durable_kind),            \
                                                       .name = "cart",                             \
                                                       .behavior = &tr_behavior_##actor,           \
                                                       .state = &tr_type_##of_state,               \
                                                       .options = {__VA_ARGS__}}
CART(cart1, cart_v1, .version = 1);
CART(cart2, cart_v2, .version = 2);
CART(cart4, cart_v4, .version = 4, .migrations = cart_migrations);

#define ADD(actor, by, status)                                                                     \
    do {                                                                                           \
        actor##_ref ref;                                                                           \
        ck_assert_int_eq(tr_try_durable(test, &ref, actor, "a"), TR_OK);                           \
        ck_assert_int_eq(tr_try_await(test, tr_ask(test, ref, add, .n = by), &acted), status);     \
    } while (0)

TEST(a_state_goes_from_version_to_version, "K-07")
{
    const struct acted *acted;
    directory_make();
    begin(TR_DURABLES(cart1));
    ADD(cart1, 3, TR_OK);
    tr_kit_free(kit);
    begin(TR_DURABLES(cart2));
    ADD(cart2, 4, TR_OK);
    ck_assert_int_eq(acted->value, 7001);
    tr_kit_free(kit);
    begin(TR_DURABLES(cart4));
    ADD(cart4, 2, TR_OK);
    ck_assert_int_eq(acted->value, 3);
    ck_assert_int_eq(migrations, 2);
    tr_kit_free(kit);
    begin(TR_DURABLES(cart4)); /* it was stored: there is nothing to do */
    ADD(cart4, 0, TR_OK);
    ck_assert_int_eq(acted->value, 3);
    ck_assert_int_eq(migrations, 2);
    tr_kit_free(kit);
    directory_drop();
}

TEST(a_state_that_is_newer_than_the_code_is_refused_and_kept, "K-07", "PE-19", "SL-13")
{
    const struct acted *acted;
    directory_make();
    begin(TR_DURABLES(cart2));
    ADD(cart2, 4, TR_OK);
    tr_kit_free(kit);
    begin(TR_DURABLES(cart1));
    ADD(cart1, 3, TR_START_FAILED);
    ADD(cart1, 3, TR_START_FAILED);
    tr_kit_free(kit);
    begin(TR_DURABLES(cart2));
    ADD(cart2, 0, TR_OK);
    ck_assert_int_eq(acted->value, 4002);
    tr_kit_free(kit);
    directory_drop();
}

TEST(a_migration_that_fails_leaves_the_state_as_it_was, "K-07", "SL-13")
{
    const struct acted *acted;
    directory_make();
    begin(TR_DURABLES(cart2));
    ADD(cart2, 7, TR_OK);
    tr_kit_free(kit);
    migration_fails = true;
    begin(TR_DURABLES(cart4));
    ADD(cart4, 1, TR_START_FAILED);
    migration_fails = false;
    ADD(cart4, 1, TR_OK);
    ck_assert_int_eq(acted->value, 2);
    tr_kit_free(kit);
    directory_drop();
}

SUITE("durable versions", every_kind_of_field_is_there_again,
      a_state_that_is_too_large_is_not_stored, a_state_goes_from_version_to_version,
      a_state_that_is_newer_than_the_code_is_refused_and_kept,
      a_migration_that_fails_leaves_the_state_as_it_was)
