/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Names by any key: of children and of actors of the pool.
 */
#include "support/test.h"

#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

TR_MESSAGE(say, (u32, n));
TR_REQUEST(visit, tr_done, (str, who));
TR_ACTOR(session, say);
TR_ACTOR(porch, visit);

static int started;
static char last_path[TR_PATH_MAX + 1];
static tr_next session_start(tr_self *self)
{
    started++;
    strcpy(last_path, tr_path(self));
    return TR_SAME;
}
static tr_next session_say(tr_self *self, const struct say *m)
{
    return m->n ? tr_fail(self, TR_BAD_DATA, "asked to") : TR_STOP;
}
TR_BEHAVIOR(session, void, TR_ON(tr_pre_start, session_start), TR_ON(say, session_say));
TR_BEHAVIOR(lasting, void, TR_ON(tr_pre_start, session_start), TR_ON(say, session_say),
            TR_OPTIONS(.restart = TR_PERMANENT));
TR_ACTOR(lasting, say);

static tr_next porch_visit(tr_self *self, const struct visit *m)
{
    const char *name = tr_name_of(self, m->who);
    session_ref session = tr_child(self, session, name);
    if (tr_is_nobody(session))
        session = tr_spawn(self, session, name);
    ck_assert(tr_is_same(session, tr_child(self, session, name)));
    ck_assert(tr_is_same(session, tr_find(self, session, tr_format(self, "/user/porch/%s", name))));
    return tr_reply(self, tr_done);
}
TR_BEHAVIOR(porch, void, TR_ON(visit, porch_visit));

static tr_kit *kit;
static tr_client *test;

static void begin(void)
{
    kit = tr_kit_new(&(tr_kit_options){.workers = 2});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
    started = 0;
}

static void end(void)
{
    tr_kit_settle(kit);
    tr_kit_check(kit);
    tr_kit_free(kit);
}

TEST(each_key_has_one_name_and_each_name_is_one_key, "L-07")
{
    char name[TR_NAME_SIZE];
    char key[TR_NAME_MAX + 1];
    unsigned char all[256];
    size_t size;
    for (int i = 0; i < 256; i++)
        all[i] = (unsigned char)i;
    for (size_t from = 0; from < 256; from += TR_NAME_MAX) {
        ck_assert_int_eq(tr_name_write((tr_bytes){all + from, TR_NAME_MAX}, name), TR_OK);
        ck_assert_uint_lt(strlen(name), TR_NAME_SIZE);
        ck_assert_int_eq(tr_name_read(name, key, &size), TR_OK);
        ck_assert_uint_eq(size, TR_NAME_MAX);
        ck_assert_mem_eq(key, all + from, size);
        ck_assert_int_eq(key[size], 0);
    }
    ck_assert_int_eq(tr_name_write((tr_bytes){"eve@a.org", 9}, name), TR_OK);
    ck_assert_str_eq(name, "eve%40a.org");
    ck_assert_int_eq(tr_name_write((tr_bytes){"plain_1.a-B", 11}, name), TR_OK);
    ck_assert_str_eq(name, "plain_1.a-B");
    ck_assert_int_eq(tr_name_write((tr_bytes){all, 0}, name), TR_NAME_INVALID);
    ck_assert_int_eq(tr_name_write((tr_bytes){all, TR_NAME_MAX + 1}, name), TR_NAME_INVALID);
    ck_assert_int_eq(tr_name_write((tr_bytes){NULL, 3}, name), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_name_read(NULL, key, NULL), TR_INVALID_ARGUMENT);
}

TEST(an_escape_that_is_not_the_only_form_is_no_name, "L-07")
{
    static const char *const bad[] = {
        "%41", "%", "%4", "a%", "%4A", "%C3", "%zz", "%%40", "%2d", ""};
    char key[TR_NAME_MAX + 1];
    session_ref session;
    begin();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(tr_name_read(bad[i], key, NULL), TR_NAME_INVALID);
        ck_assert_int_eq(tr_try_spawn(test, &session, session, bad[i]), TR_NAME_INVALID);
        ck_assert_int_eq(tr_try_pool_spawn(test, &session, session, bad[i]), TR_NAME_INVALID);
        ck_assert_int_lt(tr_pool_worker_of(bad[i], 2), 0);
    }
    end();
}

TEST(children_are_named_by_any_key, "L-07")
{
    static const char *const keys[] = {
        "eve@example.org", "/user/porch", "..", "$1.0", "a b\n", "\xc3\xa4\xff", "100%"};
    porch_ref porch;
    char longest[TR_NAME_MAX + 2];
    memset(longest, '\x01', sizeof longest);
    begin();
    ck_assert_int_eq(tr_try_spawn(test, &porch, porch, "porch"), TR_OK);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        for (int twice = 0; twice < 2; twice++)
            ck_assert_int_eq(tr_try_await(test, tr_ask(test, porch, visit, .who = keys[i]), NULL),
                             TR_OK);
        ck_assert_int_eq(started, (int)i + 1);
        char key[TR_NAME_MAX + 1];
        ck_assert_int_eq(tr_name_read(strrchr(last_path, '/') + 1, key, NULL), TR_OK);
        ck_assert_str_eq(key, keys[i]);
    }
    longest[TR_NAME_MAX] = '\0';
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, porch, visit, .who = longest), NULL), TR_OK);
    longest[TR_NAME_MAX] = '\x01';
    longest[TR_NAME_MAX + 1] = '\0';
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, porch, visit, .who = longest), NULL),
                     TR_FAILED);
    end();
}

TEST(actors_of_the_pool_are_named_by_any_key, "L-07", "P-02")
{
    char name[TR_NAME_SIZE];
    char longest[TR_NAME_MAX];
    lasting_ref lasting;
    lasting_ref again;
    memset(longest, '/', sizeof longest);
    begin();
    ck_assert_int_eq(tr_name_write((tr_bytes){longest, sizeof longest}, name), TR_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(tr_try_pool_spawn(test, &lasting, lasting, name), TR_OK);
        ck_assert(tr_is_same(lasting, tr_pool_find(test, lasting, name)));
        ck_assert_int_ge(tr_pool_worker_of(name, 2), 0);
        tr_kit_settle(kit);
        if (i == 0) {
            ck_assert_int_eq(started, 1);
            ck_assert_str_eq(last_path + strlen("/user/"), name);
            ck_assert_int_eq(tr_tell(test, lasting, say, .n = 0), TR_OK); /* it comes back */
            tr_kit_advance(kit, TR_MINUTE);
            tr_kit_settle(kit);
            ck_assert_int_eq(started, 2);
            again = tr_pool_find(test, lasting, name);
            ck_assert(!tr_is_nobody(again));
            ck_assert(!tr_is_same(again, lasting));
        }
    }
    end();
}

SUITE("key names", each_key_has_one_name_and_each_name_is_one_key,
      an_escape_that_is_not_the_only_form_is_no_name, children_are_named_by_any_key,
      actors_of_the_pool_are_named_by_any_key)
