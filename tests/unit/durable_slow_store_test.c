/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A shutdown whose deadline comes while the store writes: the report names the store.
 */
#include <stdlib.h>
#include <unistd.h>

#include "support/things.h"
#include <troupe/shutdown.h>

#include "actor/cell/system.h"
#include "durable/host.h"
#include "store/core.h"
#include "store/driver.h"

/* Of a system that is left to the end of the process. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_thread_leaks=0";
}

static struct store_driver driver;
static const struct store_driver *real;
static int begun[2];
static int released[2];

/* Says that it has begun, and goes on when it is told to. */
static tr_status commit_slowly(struct store_session *session, struct store_batch *first,
                               struct store_why *why)
{
    char byte = 'b';
    ck_assert_int_eq(write(begun[1], &byte, 1), 1);
    ck_assert_int_eq(read(released[0], &byte, 1), 1);
    return real->commit(session, first, why);
}

TEST(a_report_names_a_store_that_does_not_come_back, "X-04")
{
    char directory[] = "/tmp/troupe-slow-XXXXXX";
    char command[100];
    char byte = 'r';
    tr_system *system_;
    thing_ref ref;
    static tr_shutdown_report report;
    static char text[TR_REPORT_TEXT_MAX];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(pipe(begun), 0);
    ck_assert_int_eq(pipe(released), 0);
    const tr_system_options options = {
        .size = sizeof options, .workers = 2, .durable = TR_DURABLES(thing), .store = directory};
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    struct store *store = system_->durable.host->store;
    real = store->driver;
    driver = *real;
    driver.commit = commit_slowly;
    store->driver = &driver;
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &test), TR_OK);
    ck_assert_int_eq(tr_try_durable(test, &ref, thing, "a"), TR_OK);
    ck_assert_int_eq(things_send(ref, thing_starts, 1), TR_OK);
    ck_assert_int_eq(read(begun[0], &byte, 1), 1);
    tr_client_free(test);
    tr_system_shutdown(system_, 50 * TR_MILLISECOND);
    ck_assert_int_eq(tr_system_wait(system_), TR_SHUTDOWN_INCOMPLETE);
    ck_assert_int_eq(tr_system_report(system_, &report), TR_OK);
    bool is_named = false;
    for (uint32_t i = 0; i < report.busy_count; i++)
        is_named |= strcmp(report.busy[i].place, "the store") == 0 && report.busy[i].age_ns > 0;
    ck_assert(is_named);
    tr_shutdown_report_print(&report, text, sizeof text);
    ck_assert_msg(strstr(text, "in the store"), "%s", text);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(write(released[1], &byte, 1), 1);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

SUITE("durable slow store", a_report_names_a_store_that_does_not_come_back)
