/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The directory of names: what is found with and without its lock, and when memory is given back.
 */
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <troupe/behavior.h>

#include "actor/cell/names.h"

enum { MANY = 5000 };

static struct names names;
static struct grace_reader reader;
static struct name *entries[MANY];
static const tr_behavior some_behavior;
static const tr_behavior other_behavior;

static void begin(void)
{
    static struct memory_source source;
    source = (struct memory_source){.platform = tr_platform_real()};
    tr__names_init(&names, &source, (struct hash_key){1, 2});
    grace_join(&names.grace, &reader);
}

static const char *path_of(unsigned number)
{
    static char path[64];
    snprintf(path, sizeof path, "/user/actor-%u", number);
    return path;
}

static uint64_t find(const char *path)
{
    uint64_t ref = tr__names_find(&names, &reader, path);
    ck_assert_uint_eq(atom64_load(&reader.since, ATOM_RELAXED), 0);
    ck_assert_uint_eq(tr__names_find(&names, NULL, path), ref);
    return ref;
}

TEST(a_path_is_found_until_it_is_taken_out, "P-02", "L-07")
{
    struct name *name;
    begin();
    ck_assert_uint_eq(find("/user/a"), 0);
    ck_assert_int_eq(tr__names_add(&names, "/user/a", 7, &name), TR_OK);
    ck_assert_uint_eq(find("/user/a"), 7);
    ck_assert_uint_eq(find("/user/"), 0);
    ck_assert_uint_eq(find("/user/ab"), 0);
    ck_assert_uint_eq(find(""), 0);
    tr__names_remove(&names, name);
    ck_assert_uint_eq(find("/user/a"), 0);
    ck_assert_uint_eq(tr__names_count(&names), 0);
    tr__names_deinit(&names);
}

TEST(many_names_are_found_while_the_table_grows, "P-02", "L-07")
{
    begin();
    for (unsigned i = 0; i < MANY; i++) {
        ck_assert_int_eq(tr__names_add(&names, path_of(i), i + 1, &entries[i]), TR_OK);
        ck_assert_uint_eq(find(path_of(i / 2)), i / 2 + 1);
    }
    for (unsigned i = 0; i < MANY; i += 2)
        tr__names_remove(&names, entries[i]);
    for (unsigned i = 0; i < MANY; i++)
        ck_assert_uint_eq(find(path_of(i)), i % 2 ? i + 1 : 0);
    ck_assert_uint_eq(tr__names_count(&names), MANY / 2);
    tr__names_deinit(&names);
}

TEST(a_reserved_path_is_taken_and_not_found, "L-07")
{
    struct name *name;
    struct name *second;
    begin();
    ck_assert_int_eq(tr__names_reserve(&names, "/user/a", &name), TR_OK);
    ck_assert_uint_eq(find("/user/a"), 0);
    ck_assert_int_eq(tr__names_add(&names, "/user/a", 8, &second), TR_NAME_EXISTS);
    tr__names_show(name, 7);
    ck_assert_uint_eq(find("/user/a"), 7);
    tr__names_remove(&names, name);
    tr__names_deinit(&names);
}

TEST(who_shares_a_path_hears_what_stands_there, "P-02")
{
    struct name *name;
    struct name *second;
    struct names_found found = {0};
    begin();
    ck_assert_int_eq(tr__names_share(&names, "/user/a", 7, &some_behavior, &name, &found), TR_OK);
    ck_assert_int_eq(tr__names_share(&names, "/user/a", 8, &other_behavior, &second, &found),
                     TR_NAME_EXISTS);
    ck_assert_uint_eq(found.ref, 7);
    ck_assert_ptr_eq(found.behavior, &some_behavior);
    found = tr__names_look(&names, &reader, "/user/a", strlen("/user/a"));
    ck_assert_uint_eq(found.ref, 7);
    ck_assert_ptr_eq(found.behavior, &some_behavior);
    tr__names_take_out(&names, name);
    /* The path is another's while the old entry can still be read. */
    ck_assert_int_eq(tr__names_share(&names, "/user/a", 9, &some_behavior, &second, &found), TR_OK);
    ck_assert_uint_eq(find("/user/a"), 9);
    ck_assert_str_eq(name->path, "/user/a");
    tr__names_free(&names, name);
    tr__names_remove(&names, second);
    tr__names_deinit(&names);
}

TEST(a_path_beyond_the_limit_is_not_there, "L-07")
{
    char path[TR_PATH_MAX + 3];
    begin();
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    ck_assert_uint_eq(find(path), 0);
    tr__names_deinit(&names);
}

/* How many entries are kept although they were given back. */
static unsigned kept(void)
{
    unsigned count = 0;
    for (int i = 0; i < NAMES_PARTS; i++) {
        count += names.parts[i].fresh_count;
        for (const struct names_spent *spent = names.parts[i].waiting; spent;
             spent = atomptr_load(&spent->next, ATOM_RELAXED))
            count++;
    }
    return count;
}

TEST(entries_are_kept_while_somebody_reads, "P-02")
{
    struct grace_reader other;
    struct name *name;
    begin();
    grace_join(&names.grace, &other);
    grace_enter(&names.grace, &other);
    for (unsigned i = 0; i < MANY; i++) {
        ck_assert_int_eq(tr__names_add(&names, path_of(i), i + 1, &name), TR_OK);
        tr__names_remove(&names, name);
    }
    ck_assert_uint_ge(kept(), MANY);
    grace_leave(&other);
    for (unsigned i = 0; i < MANY; i++) {
        ck_assert_int_eq(tr__names_add(&names, path_of(i), i + 1, &name), TR_OK);
        tr__names_remove(&names, name);
    }
    ck_assert_uint_eq(kept(), 0);
    /* One who began later stands in nobody's way but that of what goes out later. */
    grace_enter(&names.grace, &other);
    for (unsigned i = 0; i < 200; i++) {
        ck_assert_int_eq(tr__names_add(&names, path_of(i), i + 1, &name), TR_OK);
        tr__names_remove(&names, name);
    }
    ck_assert_uint_ge(kept(), 100);
    grace_leave(&other);
    tr__names_deinit(&names);
}

TEST(with_many_readers_entries_are_freed_in_batches, "P-02")
{
    enum { READERS = 100, PER_PART = READERS + 1 + 32 };
    static struct grace_reader others[READERS];
    struct name *name;
    unsigned most = 0;
    begin();
    for (unsigned i = 0; i < READERS; i++)
        grace_join(&names.grace, &others[i]);
    for (unsigned i = 0; i < 2 * MANY; i++) {
        ck_assert_int_eq(tr__names_add(&names, path_of(i), i + 1, &name), TR_OK);
        tr__names_remove(&names, name);
        most = kept() > most ? kept() : most;
    }
    ck_assert_uint_gt(most, PER_PART);
    ck_assert_uint_le(most, NAMES_PARTS * PER_PART);
    tr__names_deinit(&names);
}

SUITE("actor names", a_path_is_found_until_it_is_taken_out,
      many_names_are_found_while_the_table_grows, a_reserved_path_is_taken_and_not_found,
      who_shares_a_path_hears_what_stands_there, a_path_beyond_the_limit_is_not_there,
      entries_are_kept_while_somebody_reads, with_many_readers_entries_are_freed_in_batches)
