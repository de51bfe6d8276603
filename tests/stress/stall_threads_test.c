/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The stall watch on real threads: which turn of which actor takes long, in the log, in a counter and
 * in a call; and that looking at workers while they run, spawn, stop and become is no race.
 */
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

#include "actor/cell/view.h"
#include "actor/system/stall_log.h"
#include "os/symbols.h"

#define PATIENCE (100 * TR_SECOND)

TR_MESSAGE(dwell, (u32, reports));
TR_MESSAGE(hurry, (u64, n));
TR_MESSAGE(finish);
TR_ACTOR(dweller, dwell, hurry, finish);

struct dweller {
    uint64_t seen;
};

/* What on_stall and on_log have heard; they run on the watch's thread. */
struct heard {
    struct lock lock;
    char stalls[16384];
    char log[16384];
    atom32 begun;
    atom32 ended;
    atom32 others; /* begun, of the library's own actor */
    tr_time least_ns;
    bool is_slow_to_stop;
};

static struct heard heard;
static bool is_naming; /* the system installs handlers of signals */

static void spend(tr_self *self, tr_time ns)
{
    tr_time end_ns = tr_now(self) + ns;
    while (tr_now(self) < end_ns)
        ;
}

/* The turn takes long enough to be reported so many times. */
static void dwell_until(tr_self *self, uint32_t reports)
{
    uint32_t before = atom32_load(&heard.begun, ATOM_ACQUIRE);
    tr_time end_ns = tr_now(self) + PATIENCE;
    while (atom32_load(&heard.begun, ATOM_ACQUIRE) - before < reports)
        ck_assert_int_lt(tr_now(self), end_ns);
}

static tr_next on_dwell(tr_self *self, const struct dwell *message)
{
    if (message->reports)
        dwell_until(self, message->reports);
    else
        spend(self, 60 * TR_MILLISECOND);
    return TR_SAME;
}

static tr_next on_hurry(struct dweller *dweller)
{
    dweller->seen++;
    return TR_SAME;
}

static tr_next on_finish(void)
{
    return TR_STOP;
}

static tr_next on_stop(tr_self *self)
{
    if (heard.is_slow_to_stop)
        dwell_until(self, 1);
    return TR_SAME;
}

TR_BEHAVIOR(dweller, struct dweller, TR_ON(dwell, on_dwell), TR_ON(hurry, on_hurry),
            TR_ON(finish, on_finish), TR_ON(tr_post_stop, on_stop));

static void add(char *text, size_t size, const char *line)
{
    lock_take(&heard.lock);
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s\n", line);
    lock_give(&heard.lock);
}

static void on_stall(void *context, const tr_stall *stall)
{
    char line[512];
    ck_assert_ptr_eq(context, &heard);
    snprintf(line,
             sizeof line,
             "%s %s %s %s %d %s",
             stall->path,
             stall->type,
             stall->handler,
             stall->behavior,
             stall->worker,
             stall->is_over ? "ended" : "goes on");
    ck_assert_int_ge(stall->duration_ns, heard.least_ns);
    add(heard.stalls, sizeof heard.stalls, line);
    /* On a busy machine the turns of the library's own actor may take long too. */
    bool is_ours = strcmp(stall->path, "/user") != 0;
    ck_assert(!is_ours || (strstr(stall->file, "stall_threads_test.c") && stall->line));
    if (!stall->is_over)
        atom32_fetch_add(is_ours ? &heard.begun : &heard.others, 1, ATOM_RELEASE);
    else if (is_ours)
        atom32_fetch_add(&heard.ended, 1, ATOM_RELEASE);
}

static void on_log(void *context, tr_level level, const char *path, const char *text)
{
    char line[1200];
    ck_assert_ptr_eq(context, &heard);
    snprintf(line, sizeof line, "%d %s %s", (int)level, path ? path : "-", text);
    add(heard.log, sizeof heard.log, line);
}

static tr_system *begin(int workers, tr_time report_ns, tr_client **client)
{
    tr_system *system;
    lock_init(&heard.lock);
    heard.least_ns = report_ns;
    ck_assert_int_eq(tr_system_new(&(tr_system_options){.size = sizeof(tr_system_options),
                                                        .workers = workers,
                                                        .turn_report_ns = report_ns,
                                                        .on_stall = on_stall,
                                                        .on_log = on_log,
                                                        .context = &heard,
                                                        .names_faults = is_naming},
                                   &system),
                     TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, client), TR_OK);
    return system;
}

static void end(tr_system *system, tr_client *client)
{
    tr_client_free(client);
    tr_system_shutdown(system, PATIENCE);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

static bool has(const char *text, const char *words)
{
    lock_take(&heard.lock);
    bool found = strstr(text, words);
    lock_give(&heard.lock);
    return found;
}

TEST(a_long_turn_is_reported_with_actor_type_and_place, "O-05")
{
    tr_client *client;
    tr_system *system = begin(1, 5 * TR_MILLISECOND, &client);
    dweller_ref anna;
    heard.is_slow_to_stop = true;
    ck_assert_int_eq(tr_try_spawn(client, &anna, dweller, "anna"), TR_OK);
    ck_assert_int_eq(tr_tell(client, anna, dwell, .reports = 1), TR_OK);
    ck_assert_int_eq(tr_tell(client, anna, hurry, .n = 1), TR_OK);
    ck_assert_int_eq(tr_tell(client, anna, finish), TR_OK);
    end(system, client);
    ck_assert_msg(
        has(heard.stalls, "/user/anna dwell on_dwell dweller 0 goes on\n"), "%s", heard.stalls);
    ck_assert(has(heard.stalls, "/user/anna dwell on_dwell dweller 0 ended\n"));
    ck_assert(has(heard.stalls, "/user/anna tr_post_stop on_stop dweller 0 goes on\n"));
    ck_assert(has(heard.stalls, "/user/anna tr_post_stop on_stop dweller 0 ended\n"));
    ck_assert_msg(has(heard.log, "2 /user/anna long turn: dwell has taken "), "%s", heard.log);
    ck_assert(has(heard.log, " ms so far, in on_dwell of dweller, stall_threads_test.c:"));
    ck_assert(has(heard.log, "2 /user/anna long turn: dwell took "));
}

/* Returns the stack of the last long turn of an actor; NULL: none is known. */
static const struct stall_stack *stack_of(tr_system *system, const char *path)
{
    static struct stall_entry entries[STALLS_KEPT];
    size_t count = tr__stall_log_read(system, entries, STALLS_KEPT);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(entries[i].path, path) == 0 && entries[i].stack.count)
            return &entries[i].stack;
    }
    return NULL;
}

/* It computes, so its thread is interrupted: only where faults are named, which asks for handlers of signals. */
TEST(a_turn_that_computes_has_a_stack, "O-05")
{
    tr_client *client;
    dweller_ref anna;
    const struct stall_stack *stack = NULL;
    if (TEST_HAS_SANITIZER)
        return; /* it has the handlers */
    is_naming = true;
    tr_system *system = begin(1, TR_MILLISECOND, &client);
    ck_assert_int_eq(tr_try_spawn(client, &anna, dweller, "anna"), TR_OK);
    /* On a busy machine the thread may get no processor while it is looked at. */
    while (!stack) {
        uint32_t ended = atom32_load(&heard.ended, ATOM_ACQUIRE);
        ck_assert_int_eq(tr_tell(client, anna, dwell, .reports = 2), TR_OK);
        while (atom32_load(&heard.ended, ATOM_ACQUIRE) == ended)
            ;
        stack = stack_of(system, "/user/anna");
    }
    struct symbol symbol;
    tr__symbol_find(NULL, stack->frames[stack->count - 1], &symbol);
    ck_assert_str_eq(symbol.function, "tr_call_dweller_dwell"); /* which calls on_dwell */
    end(system, client);
}

TEST(the_counter_counts_turns_and_not_reports, "O-05")
{
    tr_client *client;
    tr_system *system = begin(1, 5 * TR_MILLISECOND, &client);
    dweller_ref anna;
    tr_counters counters = {0};
    ck_assert_int_eq(tr_try_spawn(client, &anna, dweller, NULL), TR_OK);
    ck_assert_int_eq(tr_tell(client, anna, dwell, .reports = 2), TR_OK);
    while (!atom32_load(&heard.ended, ATOM_ACQUIRE))
        tr_system_counters(system, &counters);
    tr_system_counters(system, &counters);
    ck_assert_uint_ge(counters.stalls, 1);
    uint32_t reports =
        atom32_load(&heard.begun, ATOM_ACQUIRE) + atom32_load(&heard.others, ATOM_ACQUIRE);
    ck_assert_uint_ge(reports, counters.stalls + 1);
    ck_assert(has(heard.stalls, "/user/$"));
    end(system, client);
}

TEST(nothing_is_reported_when_it_is_switched_off, "O-05")
{
    tr_client *client;
    tr_system *system = begin(1, -1, &client);
    dweller_ref anna;
    ck_assert_int_eq(tr_try_spawn(client, &anna, dweller, "anna"), TR_OK);
    ck_assert_int_eq(tr_tell(client, anna, dwell, .reports = 0), TR_OK);
    end(system, client);
    ck_assert_str_eq(heard.stalls, "");
    ck_assert(!has(heard.log, "long turn"));
}

TEST(a_system_has_a_budget_that_makes_sense, "O-05")
{
    static const tr_time bad[] = {-2, TR_OPTION_NS_MAX + 1};
    tr_system *system;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tr_system_options options = {.size = sizeof options, .turn_report_ns = bad[i]};
        ck_assert_int_eq(tr_system_new(&options, &system), TR_INVALID_ARGUMENT);
    }
    tr_system_options most = {.size = sizeof most, .turn_report_ns = TR_OPTION_NS_MAX};
    ck_assert_int_eq(tr_system_new(&most, &system), TR_OK);
    tr_system_free(system);
}

/* ---- A crowd that comes and goes under the eyes of others. ---- */

TR_MESSAGE(mill, (u32, left));
TR_ACTOR(miller, mill);
TR_BEHAVIOR_DECLARE(other_miller);

enum { MILLERS = 16, ROUNDS = TEST_HAS_SANITIZER ? 100 : 1000 };

static tr_next on_mill(tr_self *self, const struct mill *message)
{
    if (!message->left)
        return TR_STOP;
    miller_ref next;
    char name[32];
    snprintf(name, sizeof name, "m%u", message->left);
    /* Now a named one and now none, here and elsewhere, and each is gone soon. */
    bool is_named = message->left % 2;
    if (tr_try_spawn(self, &next, miller, is_named ? name : NULL) == TR_OK)
        (void)tr_tell(self, next, mill, .left = 0);
    /* Now and then the watch notices. */
    if (message->left % 64 == 1)
        spend(self, 5 * TR_MILLISECOND);
    (void)tr_tell(self, tr_me(self), mill, .left = message->left - 1);
    return is_named ? tr_become(self, other_miller) : tr_become(self, miller);
}

TR_BEHAVIOR(miller, void, TR_ON(mill, on_mill));
TR_BEHAVIOR(other_miller, void, TR_ON(mill, on_mill));

TEST(looking_at_workers_that_run_is_no_race, "O-05")
{
    tr_client *client;
    tr_counters counters;
    static struct view view;
    uint64_t seen = 0;
    tr_system *system = begin(2, 1, &client);
    for (int i = 0; i < MILLERS; i++) {
        miller_ref miller;
        ck_assert_int_eq(tr_try_spawn(client, &miller, miller, NULL), TR_OK);
        ck_assert_int_eq(tr_tell(client, miller, mill, .left = ROUNDS), TR_OK);
    }
    do {
        for (uint32_t i = 0; i < 2; i++) {
            if (!tr__view_running(system->workers[i], &view))
                continue;
            seen++;
            bool is_miller =
                view.behavior == &tr_behavior_miller || view.behavior == &tr_behavior_other_miller;
            ck_assert_msg(
                is_miller || view.ref == system->user.guardian->identity, "%s", view.path);
            ck_assert_msg(strncmp(view.path, "/user", 5) == 0, "%s", view.path);
        }
        tr_system_counters(system, &counters);
    } while (counters.live || counters.queued);
    ck_assert_uint_gt(seen, 0);
    end(system, client);
}

SUITE("stall watch", a_long_turn_is_reported_with_actor_type_and_place,
      a_turn_that_computes_has_a_stack, the_counter_counts_turns_and_not_reports,
      nothing_is_reported_when_it_is_switched_off, a_system_has_a_budget_that_makes_sense,
      looking_at_workers_that_run_is_no_race)
