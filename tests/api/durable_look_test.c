/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Keys that were only looked at. An actor that a message has started and that has changed nothing stores nothing, so its
 * key is in no list and takes no space on the disk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "support/test.h"

TR_MESSAGE(shelf_is, (u64, books));
TR_REQUEST(put, shelf_is, (u64, books));
TR_REQUEST(count, shelf_is);
TR_REQUEST(refuse, shelf_is);
TR_REQUEST(note, shelf_is);
TR_REQUEST(save, shelf_is);
TR_MESSAGE(shelf_state, (u64, books), (str, label));

static tr_next on_put(tr_self *self, struct shelf_state *shelf, const struct put *message)
{
    shelf->books = message->books;
    return tr_reply(self, shelf_is, .books = shelf->books);
}

static tr_next on_count(tr_self *self, struct shelf_state *shelf)
{
    return tr_reply(self, shelf_is, .books = shelf->books);
}

static tr_next on_refuse(tr_self *self)
{
    return tr_refuse(self, 404, "no such shelf");
}

/* Stores something beside the state. */
static tr_next on_note(tr_self *self)
{
    tr_kv_put(self, (tr_bytes){"note", 4}, (tr_bytes){"x", 1});
    return tr_reply(self, shelf_is);
}

static tr_next on_save(tr_self *self)
{
    tr_save(self);
    return tr_reply(self, shelf_is);
}

#define ROWS                                                                                       \
    TR_ON(put, on_put), TR_ON(count, on_count), TR_ON(refuse, on_refuse), TR_ON(note, on_note),    \
        TR_ON(save, on_save)

TR_ACTOR(shelf, put, count, refuse, note, save);
TR_BEHAVIOR(shelf, struct shelf_state, ROWS);
TR_DURABLE(shelf, shelf_state);

TR_ACTOR(lazy, put, count, refuse, note, save);
TR_BEHAVIOR(lazy, struct shelf_state, ROWS);
TR_DURABLE(lazy, shelf_state, .durability = TR_SAVE_INTERVAL);

static tr_next on_set_up(tr_self *self, struct shelf_state *shelf)
{
    if (!shelf->label)
        shelf->label = tr_strdup(self, "new");
    return TR_SAME;
}

TR_ACTOR(labelled, count);
TR_BEHAVIOR(labelled, struct shelf_state, TR_SETUP(on_set_up), TR_ON(count, on_count));
TR_DURABLE(labelled, shelf_state);

static tr_next on_created(void)
{
    return TR_SAME;
}

TR_ACTOR(made, count);
TR_BEHAVIOR(made, struct shelf_state, TR_ON(tr_created, on_created), TR_ON(count, on_count));
TR_DURABLE(made, shelf_state);

static tr_kit *kit;
static tr_client *test;

static void begin(const char *store)
{
    kit = tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options),
                                       .durable = TR_DURABLES(shelf, lazy, labelled, made),
                                       .store = store});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
}

static uint64_t books_of(const char *key)
{
    const struct shelf_is *is;
    ck_assert_int_eq(tr_try_await(test, tr_ask_key(test, shelf, key, count), &is), TR_OK);
    return is->books;
}

#define DO(kind, key, ...)                                                                         \
    do {                                                                                           \
        const struct shelf_is *is_;                                                                \
        ck_assert_int_eq(tr_try_await(test, tr_ask_key(test, kind, key, __VA_ARGS__), &is_),       \
                         TR_OK);                                                                   \
    } while (0)

TEST(a_key_that_was_only_looked_at_is_not_stored, "K-07", "K-12")
{
    const struct shelf_is *is;
    tr_durable_page page;
    char store[] = "/tmp/troupe-look-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(store));
    begin(store);
    ck_assert_uint_eq(books_of("read"), 0);
    ck_assert_int_eq(tr_try_await(test, tr_ask_key(test, shelf, "refused", refuse), &is),
                     TR_REFUSED);
    DO(lazy, "lazy", count);
    ck_assert_int_eq(tr_durable_exists(test, shelf, "read"), TR_NOT_FOUND);
    tr_kit_advance(kit, TR_MINUTE); /* they sleep */
    ck_assert_int_eq(tr_durable_list(test, shelf, &page), TR_OK);
    ck_assert_uint_eq(page.count, 0);
    ck_assert_int_eq(tr_durable_exists(test, shelf, "refused"), TR_NOT_FOUND);
    ck_assert_int_eq(tr_durable_exists(test, lazy, "lazy"), TR_NOT_FOUND);
    tr_kit_free(kit);
    begin(store);
    ck_assert_int_eq(tr_durable_list(test, shelf, &page), TR_OK);
    ck_assert_uint_eq(page.count, 0);
    tr_kit_free(kit);
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", store);
    ck_assert_int_eq(system(command), 0);
}

TEST(the_first_change_after_a_look_makes_the_key, "K-07", "K-12")
{
    begin(NULL);
    ck_assert_uint_eq(books_of("a"), 0);
    DO(shelf, "a", put, .books = 0); /* no change */
    ck_assert_int_eq(tr_durable_exists(test, shelf, "a"), TR_NOT_FOUND);
    DO(shelf, "a", put, .books = 3);
    ck_assert_int_eq(tr_durable_exists(test, shelf, "a"), TR_OK);
    DO(shelf, "a", put, .books = 0); /* zeros again: the key stays */
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(tr_durable_exists(test, shelf, "a"), TR_OK);
    DO(lazy, "a", put, .books = 3);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(tr_durable_exists(test, lazy, "a"), TR_OK);
    tr_kit_free(kit);
}

TEST(what_is_stored_beside_the_state_makes_the_key, "K-07", "K-12")
{
    begin(NULL);
    DO(shelf, "a", note);
    ck_assert_int_eq(tr_durable_exists(test, shelf, "a"), TR_OK);
    DO(lazy, "b", note);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(tr_durable_exists(test, lazy, "b"), TR_OK);
    DO(shelf, "c", save);
    ck_assert_int_eq(tr_durable_exists(test, shelf, "c"), TR_NOT_FOUND);
    tr_kit_free(kit);
}

TEST(a_first_start_that_does_something_is_stored, "K-07", "Z-11")
{
    begin(NULL);
    DO(labelled, "a", count);
    ck_assert_int_eq(tr_durable_exists(test, labelled, "a"), TR_OK);
    DO(made, "a", count);
    ck_assert_int_eq(tr_durable_exists(test, made, "a"), TR_OK);
    tr_kit_free(kit);
}

SUITE("durable looks", a_key_that_was_only_looked_at_is_not_stored,
      the_first_change_after_a_look_makes_the_key, what_is_stored_beside_the_state_makes_the_key,
      a_first_start_that_does_something_is_stored)
