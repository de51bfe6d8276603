/* SPDX-License-Identifier: Apache-2.0 */
/** The limit of descriptors: the runner raises the soft one to the hard one, and child processes get the earlier one. */
#include "support/test.h"

#include <string.h>
#include <sys/resource.h>
#include <troupe/process.h>
#include <troupe/troupe.h>

enum { LOW = 300, OWN = 350 };

static rlim_t seen;       /* soft limit that the root has */
static bool sets_its_own; /* the root sets the limit OWN */
static char got[64];      /* what the child has printed: its soft limit */

static tr_next on_args(tr_self *self)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    seen = limit.rlim_cur;
    limit.rlim_cur = OWN;
    if (sets_its_own)
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    tr_process_start(
        self,
        TR_PROCESS("sh", .arguments = TR_ARGUMENTS("-c", "ulimit -S -n"), .framing = TR_LINES));
    return TR_SAME;
}

static tr_next on_line(const struct tr_received *line)
{
    (void)strncpy(got, line->bytes.data, sizeof got - 1);
    return TR_SAME;
}

static tr_next on_ended(const struct tr_process_ended *message)
{
    ck_assert_int_eq(message->status, TR_OK);
    return TR_STOP;
}

TR_BEHAVIOR(root, void, TR_ON(tr_args, on_args), TR_ON(tr_received, on_line),
            TR_ON(tr_process_ended, on_ended));

/* Runs the app with a low soft limit; returns the hard one. */
static rlim_t run(void)
{
    static const char *const argv[] = {"app"};
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max <= OWN)
        test_skip("the hard limit of descriptors is low");
    limit.rlim_cur = LOW;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    const tr_app app = {.size = sizeof app, .control = "off"};
    ck_assert_int_eq(tr_app_run(1, (char **)(uintptr_t)argv, &tr_behavior_root, &app), 0);
    return limit.rlim_max;
}

TEST(an_app_may_have_as_many_descriptors_as_the_hard_limit_allows, "C-11", "CH-08")
{
    rlim_t hard = run();
    ck_assert_uint_eq(seen, hard);
}

TEST(children_of_an_app_have_the_limit_with_which_it_was_started, "C-17")
{
    (void)run();
    ck_assert_str_eq(got, "300");
}

TEST(a_limit_that_the_program_has_set_itself_is_left_to_its_children, "C-17")
{
    sets_its_own = true;
    (void)run();
    ck_assert_str_eq(got, "350");
}

SUITE("app descriptors", an_app_may_have_as_many_descriptors_as_the_hard_limit_allows,
      children_of_an_app_have_the_limit_with_which_it_was_started,
      a_limit_that_the_program_has_set_itself_is_left_to_its_children)
