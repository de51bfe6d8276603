/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What an app says that cannot open its store: one sentence for each status, which says what to do. That it ends with 1 then
 * is seen in tests/show/run.
 */
#include "app/refusal.h"

#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What tr__refusal_say writes to standard error. */
static const char *said_of(const tr_app *app, tr_status status)
{
    static char text[1024];
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    int before = dup(STDERR_FILENO);
    ck_assert_int_ge(before, 0);
    (void)fflush(stderr);
    ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
    tr__refusal_say("shop", app, status);
    (void)fflush(stderr);
    ck_assert_int_ge(dup2(before, STDERR_FILENO), 0);
    (void)close(before);
    rewind(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    (void)fclose(file);
    return text;
}

TEST(each_state_of_a_store_has_a_sentence_with_advice, "PE-20")
{
    static const struct {
        tr_status status;
        const char *sentence;
    } rows[] = {
        {TR_STORE_FAILED,
         "shop: cannot open the store /srv/shop: the store has failed; the line "
         "above has the cause; --store DIR names another directory\n"},
        {TR_STORE_BUSY,
         "shop: cannot open the store /srv/shop: the store is open in another process; end the "
         "other process, or name another directory: --store DIR\n"},
        {TR_STORE_FULL,
         "shop: cannot open the store /srv/shop: no space left on the disk; free some space, or "
         "name a directory on another disk: --store DIR\n"},
        {TR_STORE_CORRUPT,
         "shop: cannot open the store /srv/shop: the stored data is corrupt; restore a backup, or "
         "name another directory: --store DIR\n"},
        {TR_STORE_FOREIGN,
         "shop: cannot open the store /srv/shop: the store belongs to another program; start that "
         "program, or name another directory: --store DIR\n"},
        {TR_STORE_NEWER,
         "shop: cannot open the store /srv/shop: the store was written by a newer version of "
         "Troupe; start the newer version, or name another directory: --store DIR\n"},
    };
    const tr_app app = {.name = "shop", .store = "/srv/shop"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_str_eq(said_of(&app, rows[i].status), rows[i].sentence);
}

TEST(a_store_without_a_name_has_that_of_the_app, "PE-20")
{
    const tr_app app = {.name = "shop"};
    ck_assert_ptr_nonnull(strstr(said_of(&app, TR_STORE_BUSY), " the store shop.data: "));
}

TEST(another_status_is_its_text, "PE-20")
{
    const tr_app app = {.name = "shop"};
    ck_assert_str_eq(said_of(&app, TR_NO_MEMORY), "shop: out of memory\n");
}

SUITE("app refusal", each_state_of_a_store_has_a_sentence_with_advice,
      a_store_without_a_name_has_that_of_the_app, another_status_is_its_text)
