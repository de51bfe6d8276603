/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Whole apps: what tr_app_run returns, what the root is given, and what signals do.
 */
#include "support/test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <troupe/troupe.h>
#include <unistd.h>

TR_REQUEST(app_question, tr_done);
TR_ACTOR(nobody, app_question);

/* What the root has seen; apps of these tests are run one after the other. */
static char seen[256];
static int pre_starts, post_stops;

static int run(const tr_behavior *root, const tr_app *app, int argc, const char *const *argv)
{
    return tr_app_run(argc, (char **)(uintptr_t)argv, root, app);
}

#define RUN(root, ...)                                                                             \
    run(&tr_behavior_##root,                                                                       \
        NULL,                                                                                      \
        (int)(sizeof((const char *[]){"app", ##__VA_ARGS__}) / sizeof(char *)),                    \
        (const char *[]){"app", ##__VA_ARGS__})

/* ---- A root that stops by itself. ---- */

static tr_next on_start(void)
{
    pre_starts++;
    return TR_SAME;
}

static tr_next on_args(tr_self *self, const struct tr_args *message)
{
    (void)strcpy(seen, tr_path(self));
    for (size_t i = 0; i < message->argv.count; i++) {
        (void)strcat(seen, " ");
        (void)strcat(seen, message->argv.items[i]);
    }
    return TR_STOP;
}

static tr_next on_stop(void)
{
    post_stops++;
    return TR_SAME;
}

TR_BEHAVIOR(args_root, void, TR_ON(tr_pre_start, on_start), TR_ON(tr_args, on_args),
            TR_ON(tr_post_stop, on_stop));

TEST(the_root_gets_what_is_left_of_the_arguments, "")
{
    ck_assert_int_eq(RUN(args_root, "--workers", "2", "one", "--", "--two", "--help"), 0);
    ck_assert_str_eq(seen, "/user/args_root app one --two --help");
    ck_assert_int_eq(pre_starts, 1);
    ck_assert_int_eq(post_stops, 1);
}

TEST(a_flag_that_nobody_has_declared_is_refused, "O-60")
{
    static const char *const argv[] = {"app", "one", "--two"};
    const tr_app own = {.size = sizeof own, .arguments = "[--two] FILE"};
    ck_assert_int_eq(RUN(args_root, "one", "--two"), 2);
    ck_assert_int_eq(RUN(args_root, "-t"), 2);
    ck_assert_int_eq(pre_starts, 0);
    ck_assert_int_eq(run(&tr_behavior_args_root, &own, 3, argv), 0); /* it reads its own flags */
    ck_assert_str_eq(seen, "/user/args_root app one --two");
}

TEST(the_root_has_the_name_of_the_app, "")
{
    static const char *const argv[] = {"app"};
    tr_app app = {.size = sizeof app, .name = "main", .workers = 1};
    ck_assert_int_eq(run(&tr_behavior_args_root, &app, 1, argv), 0);
    ck_assert_str_eq(seen, "/user/main app");
    app.name = "no/name";
    ck_assert_int_eq(run(&tr_behavior_args_root, &app, 1, argv), 1);
    app.name = NULL;
    app.workers = -1;
    ck_assert_int_eq(run(&tr_behavior_args_root, &app, 1, argv), 1);
    ck_assert_int_eq(run(NULL, NULL, 1, argv), 1);
}

TEST(wrong_flags_and_help_start_nothing, "")
{
    ck_assert_int_eq(RUN(args_root, "--workers", "many"), 2);
    ck_assert_int_eq(RUN(args_root, "--help"), 0);
    ck_assert_int_eq(pre_starts, 0);
}

/* ---- A root that does not want its arguments. ---- */

static uint64_t dead_letters;

static tr_next on_start_once(tr_self *self)
{
    tr_tell(self, tr_me(self), tr_done);
    return TR_SAME;
}

static tr_next on_done(tr_self *self)
{
    dead_letters = tr_system_dead_letters(tr_system_of(self), NULL, 0, NULL);
    return TR_STOP;
}

TR_BEHAVIOR(plain_root, void, TR_ON(tr_pre_start, on_start_once), TR_ON(tr_done, on_done));

TEST(arguments_that_nobody_wants_are_refused, "O-60")
{
    dead_letters = 77;
    ck_assert_int_eq(RUN(plain_root), 0);
    ck_assert_uint_eq(dead_letters, 0);
    dead_letters = 77;
    ck_assert_int_eq(RUN(plain_root, "one"), 2);
    ck_assert_int_eq(RUN(plain_root, "--wrokers=2"), 2);
    ck_assert_int_eq(RUN(plain_root, "--", "one"), 2);
    ck_assert_uint_eq(dead_letters, 77);
}

/* ---- Roots that fail. ---- */

static tr_next be_broken(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "as the test wants it");
}

static int broken_starts;

static tr_next be_broken_and_count(tr_self *self)
{
    broken_starts++;
    return be_broken(self);
}

static tr_next recover(void)
{
    return ++broken_starts > 2 ? TR_STOP : TR_SAME;
}

static tr_next crash(tr_self *self)
{
    if (pre_starts == 0)
        tr_crash(self, TR_BAD_DATA, "as the test wants it");
    return TR_SAME;
}

TR_BEHAVIOR(failing_setup, void, TR_SETUP(be_broken));
TR_BEHAVIOR(failing_start, void, TR_ON(tr_pre_start, be_broken_and_count));
TR_BEHAVIOR(patient_start, void, TR_ON(tr_pre_start, be_broken_and_count),
            TR_OPTIONS(.restart = TR_TRANSIENT));
TR_BEHAVIOR(recovering, void, TR_ON(tr_args, be_broken_and_count), TR_ON(tr_post_restart, recover),
            TR_OPTIONS(.restart = TR_TRANSIENT));
TR_BEHAVIOR(failing_args, void, TR_ON(tr_args, crash));

static tr_next stop(void)
{
    return TR_STOP;
}

TR_BEHAVIOR(stopping_setup, void, TR_SETUP(stop));

TEST(a_root_that_fails_is_status_1, "S-08")
{
    ck_assert_int_eq(RUN(failing_setup), 1);
    broken_starts = 0;
    ck_assert_int_eq(RUN(failing_start), 1);
    ck_assert_int_eq(broken_starts, 1);
    broken_starts = 0;
    ck_assert_int_eq(RUN(patient_start), 1);
    ck_assert_int_eq(broken_starts, 4); /* it was restarted three times */
    ck_assert_int_eq(RUN(failing_args), 1);
    ck_assert_int_eq(RUN(stopping_setup), 0);
}

TEST(a_root_that_is_restarted_and_ends_well_is_status_0, "S-02")
{
    broken_starts = 1;
    ck_assert_int_eq(RUN(recovering), 0);
    ck_assert_int_eq(broken_starts, 3);
}

/* The first thing that many programs do: ask somebody, and be refused. */
static tr_next ask_nobody(tr_self *self)
{
    nobody_ref who = nobody_ref_of(TR_NOBODY);
    (void)tr_await(self, tr_ask(self, who, app_question));
    return TR_SAME;
}

TR_BEHAVIOR(refused, void, TR_ON(tr_args, ask_nobody));

static int args_count;

static tr_next fail_first(tr_self *self, const struct tr_args *message)
{
    ck_assert_uint_eq(message->argv.count, 2);
    ck_assert_str_eq(message->argv.items[1], "one");
    return ++args_count < 3 ? be_broken(self) : TR_STOP;
}

static tr_next stop_first(tr_self *self)
{
    if (++args_count == 3)
        tr_system_shutdown(tr_system_of(self), TR_SECOND);
    return TR_STOP;
}

TR_BEHAVIOR(patient, void, TR_ON(tr_args, fail_first), TR_OPTIONS(.restart = TR_TRANSIENT));
TR_BEHAVIOR(permanent, void, TR_ON(tr_args, stop_first), TR_OPTIONS(.restart = TR_PERMANENT));

TEST(a_root_that_is_begun_again_gets_its_arguments_again, "S-02", "S-08")
{
    args_count = 0;
    ck_assert_int_eq(RUN(patient, "one"), 0);
    ck_assert_int_eq(args_count, 3);
    args_count = 0;
    ck_assert_int_eq(RUN(permanent), 0);
    ck_assert_int_eq(args_count, 3);
}

/* The second incarnation finds mail of the first. */
static tr_next tell_then_fail(tr_self *self)
{
    if (++broken_starts > 2)
        return TR_SAME;
    tr_tell(self, tr_me(self), tr_done);
    return be_broken(self);
}

static tr_next args_first(void)
{
    args_count++;
    (void)strcat(seen, "args ");
    return TR_SAME;
}

static tr_next then_done(void)
{
    (void)strcat(seen, "done ");
    return strcmp(seen, "args done done ") == 0 ? TR_STOP : TR_SAME;
}

TR_BEHAVIOR(late_starter, void, TR_ON(tr_pre_start, tell_then_fail), TR_ON(tr_args, args_first),
            TR_ON(tr_done, then_done), TR_OPTIONS(.restart = TR_TRANSIENT));

TEST(arguments_that_were_not_handled_come_once_and_first, "S-04")
{
    seen[0] = '\0';
    args_count = 0;
    broken_starts = 0;
    ck_assert_int_eq(RUN(late_starter), 0);
    ck_assert_str_eq(seen, "args done done ");
    ck_assert_int_eq(args_count, 1);
}

/* ---- Signals. ---- */

static int signal_to_send;

static tr_next on_start_signal(void)
{
    pre_starts++;
    (void)kill(getpid(), signal_to_send);
    return TR_SAME;
}

TR_BEHAVIOR(signalled, void, TR_ON(tr_pre_start, on_start_signal), TR_ON(tr_post_stop, on_stop));

TEST(a_signal_stops_the_app_in_order, "X-03", "SH-12")
{
    signal_to_send = SIGINT;
    ck_assert_int_eq(RUN(signalled), 0);
    ck_assert_int_eq(post_stops, 1);
    signal_to_send = SIGTERM;
    ck_assert_int_eq(RUN(signalled, "--workers", "1"), 0);
    ck_assert_int_eq(post_stops, 2);
}

/* Works forever: a shutdown waits for it in vain. */
static tr_next on_start_stuck(void)
{
    (void)kill(getpid(), SIGINT); /* Read before SIGTERM, since its number is lower. */
    (void)kill(getpid(), SIGTERM);
    while (pause())
        ;
    return TR_SAME;
}

TR_BEHAVIOR(stuck, void, TR_ON(tr_pre_start, on_start_stuck));

TEST(a_second_signal_ends_it_at_once, "X-03", "SH-12")
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        (void)alarm(20); /* So that a failure leaves no process behind. */
        _exit(RUN(stuck));
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 128 + SIGTERM);
}

/* ---- How it went, for people and for programs. ---- */

/* Runs an app in a process of its own; gives its exit status, and what it said in `text`. */
static int run_apart(int (*app)(void), char *text, size_t size)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        (void)alarm(60);
        (void)dup2(ends[1], STDERR_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        _exit(app());
    }
    (void)close(ends[1]);
    size_t length = 0;
    ssize_t got;
    while ((got = read(ends[0], text + length, size - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = '\0';
    (void)close(ends[0]);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static char said[1 << 15];

static int app_signalled(void)
{
    signal_to_send = SIGTERM;
    return RUN(signalled);
}

TEST(a_signal_ends_in_a_report_of_one_line, "X-03", "X-04", "SH-12")
{
    ck_assert_int_eq(run_apart(app_signalled, said, sizeof said), 0);
    const char *line = strstr(said, "signalled: stopped in ");
    ck_assert_ptr_nonnull(line);
    ck_assert_ptr_nonnull(strstr(line, ": 1 actor stopped\n"));
    ck_assert_str_eq(strchr(line, '\n'), "\n");
}

static int app_quiet(void)
{
    return RUN(args_root);
}

TEST(an_app_that_ends_by_itself_says_nothing, "X-04")
{
    ck_assert_int_eq(run_apart(app_quiet, said, sizeof said), 0);
    ck_assert_str_eq(said, "");
}

static int app_failing(void)
{
    return RUN(failing_args);
}

static int app_refused(void)
{
    return RUN(refused);
}

TEST(a_root_that_fails_ends_the_program_and_its_cause_is_said, "S-08")
{
    pre_starts = 0;
    ck_assert_int_eq(run_apart(app_failing, said, sizeof said), 1);
    const char *line =
        strstr(said, "/user/failing_args: failed in tr_args: TR_BAD_DATA: as the test");
    ck_assert_ptr_nonnull(line);
    ck_assert_ptr_nonnull(strstr(line, "app_test.c:"));
    ck_assert_ptr_null(strstr(strchr(line, '\n'), ": failed in ")); /* once */
    ck_assert_int_eq(run_apart(app_refused, said, sizeof said), 1);
    ck_assert_ptr_nonnull(strstr(said, "/user/refused: failed in tr_args: TR_STOPPED: "));
}

static tr_next on_start_hang(void)
{
    (void)kill(getpid(), SIGTERM);
    while (pause())
        ;
    return TR_SAME;
}

TR_BEHAVIOR(hung, void, TR_ON(tr_pre_start, on_start_hang));

static int app_hung(void)
{
    return RUN(hung, "--shutdown-timeout", "10ms");
}

TEST(a_handler_that_never_returns_is_status_70_and_is_named, "X-03", "X-04", "SH-06", "SH-12")
{
    ck_assert_int_eq(run_apart(app_hung, said, sizeof said), 70);
    ck_assert_ptr_nonnull(strstr(said, "hung: gave up in "));
    ck_assert_ptr_nonnull(strstr(said, "  still busy: /user/hung, handling a signal for "));
}

static tr_status late_hook(void *context)
{
    (void)context;
    while (pause())
        ;
    return TR_OK;
}

static tr_next on_start_hook(tr_self *self)
{
    ck_assert_int_eq(
        tr_system_add_hook(
            tr_system_of(self), TR_AFTER_STOP, "never", TR_MILLISECOND, late_hook, NULL),
        TR_OK);
    return TR_STOP;
}

TR_BEHAVIOR(hooked, void, TR_ON(tr_pre_start, on_start_hook));

static int app_hooked(void)
{
    return RUN(hooked);
}

TEST(so_is_a_hook_that_hangs, "X-03", "X-05")
{
    ck_assert_int_eq(run_apart(app_hooked, said, sizeof said), 70);
    ck_assert_ptr_nonnull(strstr(said, "  hook \"never\" has not returned after "));
}

TEST(a_wrong_shutdown_timeout_starts_nothing, "X-03")
{
    ck_assert_int_eq(RUN(args_root, "--shutdown-timeout", "soon"), 2);
    ck_assert_int_eq(RUN(args_root, "--shutdown-timeout"), 2);
    ck_assert_int_eq(RUN(args_root, "--shutdown-timeout=25h"), 2);
    ck_assert_int_eq(RUN(args_root, "--shutdown-timeout=0"), 2);
    ck_assert_int_eq(pre_starts, 0);
    ck_assert_int_eq(RUN(args_root, "--shutdown-timeout=2m"), 0);
    ck_assert_int_eq(pre_starts, 1);
}

static const char *grace;

static int app_with_grace(void)
{
    ck_assert_int_eq(setenv("TROUPE_GRACE", grace, 1), 0);
    return RUN(args_root, "--shutdown-timeout", "20s");
}

TEST(a_grace_that_is_shorter_than_the_shutdown_is_named_at_the_start, "X-03")
{
    static const struct {
        const char *grace;
        const char *said;
    } rows[] = {{"25s", NULL},
                {"2m", NULL},
                {"20s", "TROUPE_GRACE is 20s, and the shutdown may take 20.0 s: "},
                {"500ms", "TROUPE_GRACE is 500ms, and the shutdown may take 20.0 s: "},
                {"soon", "TROUPE_GRACE has no effect: \"soon\" is no time"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        grace = rows[i].grace;
        ck_assert_int_eq(run_apart(app_with_grace, said, sizeof said), 0);
        if (rows[i].said)
            ck_assert_msg(strstr(said, rows[i].said), "%s: %s", grace, said);
        else
            ck_assert_str_eq(said, "");
    }
}

/* ---- Every option of the system. ---- */

static int lines;
static void count_line(void *context, tr_level level, const char *path, const char *text)
{
    (void)level;
    (void)path;
    ck_assert_ptr_eq(context, seen);
    if (strstr(text, "fails on purpose"))
        lines++;
}

static tr_directive escalate(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    return TR_ESCALATE;
}

static tr_next fail_on_purpose(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "fails on purpose");
}
TR_BEHAVIOR(escalating_root, void, TR_ON(tr_args, fail_on_purpose),
            TR_OPTIONS(.restart = TR_TRANSIENT));

TEST(a_failure_that_an_app_escalates_is_status_71, "X-03")
{
    const tr_supervision rules = {.decide = escalate};
    const tr_app app = {
        .context = seen,
        .system = {.supervision = &rules, .on_log = count_line, .shutdown_timeout_ns = TR_MINUTE}};
    lines = 0;
    ck_assert_int_eq(run(&tr_behavior_escalating_root, &app, 1, (const char *[]){"app"}), 71);
    ck_assert_int_gt(lines, 0);
}

TEST(an_option_of_the_app_replaces_that_of_its_system, "X-03")
{
    const tr_app app = {.workers = 1, .system = {.workers = -7, .name = "other"}};
    ck_assert_int_eq(run(&tr_behavior_args_root, &app, 1, (const char *[]){"app"}), 0);
    const tr_app wrong = {.system = {.workers = -7}};
    ck_assert_int_eq(run(&tr_behavior_args_root, &wrong, 1, (const char *[]){"app"}), 1);
    tr_platform other = *tr_platform_real();
    const tr_app foreign = {.system = {.platform = &other}};
    ck_assert_int_eq(run(&tr_behavior_args_root, &foreign, 1, (const char *[]){"app"}), 1);
}

SUITE("app", a_failure_that_an_app_escalates_is_status_71,
      an_option_of_the_app_replaces_that_of_its_system, the_root_gets_what_is_left_of_the_arguments,
      a_flag_that_nobody_has_declared_is_refused, the_root_has_the_name_of_the_app,
      wrong_flags_and_help_start_nothing, arguments_that_nobody_wants_are_refused,
      a_root_that_fails_is_status_1, a_root_that_is_restarted_and_ends_well_is_status_0,
      a_root_that_is_begun_again_gets_its_arguments_again,
      arguments_that_were_not_handled_come_once_and_first,
      a_root_that_fails_ends_the_program_and_its_cause_is_said, a_signal_stops_the_app_in_order,
      a_second_signal_ends_it_at_once, a_signal_ends_in_a_report_of_one_line,
      an_app_that_ends_by_itself_says_nothing,
      a_handler_that_never_returns_is_status_70_and_is_named, so_is_a_hook_that_hangs,
      a_wrong_shutdown_timeout_starts_nothing,
      a_grace_that_is_shorter_than_the_shutdown_is_named_at_the_start)
