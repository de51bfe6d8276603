/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A shutdown that is too short to store what durable actors have changed says so, in its status, its report and
 * the log.
 */
#define THINGS_OPTIONS                                                                             \
    .durability = TR_SAVE_INTERVAL, .interval_ns = TR_HOUR, .idle_ns = TR_HOUR,                    \
    .grace_ns = TR_MINUTE
#include "support/stores.h"
#include "actor/system/shutdown.h"
#include "support/things.h"

#include <troupe/shutdown.h>

#include "actor/cell/system.h"
#include "os/virtual.h"
#include "actor/system/shutdown_wait.h"

static tr_next add_and_stay(tr_self *self, struct thing_state *state, int64_t n)
{
    state->value += n;
    (void)!tr_sleep(self, TR_HOUR);
    return TR_SAME;
}

static tr_shutdown_report report;
static char text[TR_REPORT_TEXT_MAX];

static void shut_down(tr_time timeout_ns)
{
    tr_system_shutdown(tr_kit_system(kit), timeout_ns);
    tr_kit_advance(kit, timeout_ns + TR_SECOND);
    ck_assert_int_eq(tr_system_report(tr_kit_system(kit), &report), TR_OK);
    (void)tr_shutdown_report_print(&report, text, sizeof text);
}

/* docs/mends.md, 15. */
TEST(a_shutdown_that_stores_all_is_complete, "X-04", "K-01")
{
    things_begin(1);
    ck_assert_int_eq(things_do("a", thing_add, 1), 1);
    shut_down(TR_SECOND);
    ck_assert_int_eq(report.status, TR_OK);
    ck_assert_uint_eq(report.unstored, 0);
    ck_assert_str_eq(report.unstored_path, "");
    things_end();
}

static int lines_of_loss(void)
{
    const struct virtual_platform
        *virtual = (const struct virtual_platform *)(const void *)tr_kit_system(kit)->platform;
    int count = 0;
    for (size_t i = 0; i < virtual->lines_count; i++) {
        const struct virtual_line *line = tr__virtual_line(virtual, i);
        if (!strstr(line->text, "changes since the last save are lost"))
            continue;
        ck_assert_int_eq(line->level, TR_LEVEL_ERROR);
        ck_assert_ptr_nonnull(strstr(line->path, "/system/durable/thing/"));
        count++;
    }
    return count;
}

/* docs/mends.md, 15. */
TEST(a_shutdown_too_short_to_store_names_what_was_not, "X-04", "K-01")
{
    things_begin(1);
    ck_assert_int_eq(things_do("a", thing_add, 1), 1);
    ck_assert_int_eq(things_send(things_of("b"), add_and_stay, 1), TR_OK);
    tr_kit_settle(kit);
    shut_down(0);
    ck_assert_int_eq(report.status, TR_SHUTDOWN_INCOMPLETE);
    ck_assert_uint_eq(report.unstored, 2);
    ck_assert_ptr_nonnull(strstr(report.unstored_path, "/system/durable/thing/"));
    ck_assert_msg(strstr(text, "not stored: changes of /system/durable/thing/"), "%s", text);
    ck_assert_int_eq(lines_of_loss(), 2);
    things_end();
}

/* docs/mends.md, 15. No function runs in it any more, so unlike after other incomplete ends it is freed. */
TEST(a_system_that_could_not_store_all_is_freed, "X-04")
{
    const char *directory = stores_directory();
    tr_system *system;
    const tr_system_options options = {
        .size = sizeof options, .workers = 1, .durable = TR_DURABLES(thing), .store = directory};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    system->shutdown->final.unstored =
        1; /* as an actor does that ends too early, which is a matter of chance */
    tr_system_shutdown(system, TR_MINUTE);
    ck_assert_int_eq(tr_system_wait(system), TR_SHUTDOWN_INCOMPLETE);
    ck_assert(!tr__shutdown_is_left(system));
    tr_system_free(system); /* LeakSanitizer would see what is left */
    stores_remove(directory);
}

SUITE("durable unstored", a_shutdown_that_stores_all_is_complete,
      a_shutdown_too_short_to_store_names_what_was_not, a_system_that_could_not_store_all_is_freed)
