/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An app as a program of its own: its flags, texts and exit status, its pid file, and what systemd is notified of.
 */
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <troupe/troupe.h>
#include <unistd.h>

static int run(const tr_behavior *root, const tr_app *app, int argc, const char *const *argv)
{
    return tr_app_run(argc, (char **)(uintptr_t)argv, root, app);
}

#define RUN(root, app, ...)                                                                        \
    run(&tr_behavior_##root,                                                                       \
        app,                                                                                       \
        (int)(sizeof((const char *[]){"app", ##__VA_ARGS__}) / sizeof(char *)),                    \
        (const char *[]){"app", ##__VA_ARGS__})

/* Runs an app in another process. Returns its exit status, and in `text` what it wrote to both outputs. */
#define RUN_APART(text, root, app, ...)                                                            \
    (apart_begin(),                                                                                \
     apart.child == 0 ? _exit(RUN(root, app, ##__VA_ARGS__)) : (void)0,                            \
     apart_end(text, sizeof(text)))

static struct {
    pid_t child;
    int reader;
} apart;

static void apart_begin(void)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    (void)fflush(NULL);
    apart.child = fork();
    ck_assert_int_ge(apart.child, 0);
    if (apart.child == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)dup2(ends[1], STDERR_FILENO);
        (void)setvbuf(stdout, NULL, _IONBF, 0);
        (void)close(ends[0]);
    }
    (void)close(ends[1]);
    apart.reader = ends[0];
}

static int apart_end(char *text, size_t size)
{
    size_t length = 0;
    ssize_t more;
    int status;
    while ((more = read(apart.reader, text + length, size - 1 - length)) > 0)
        length += (size_t)more;
    text[length] = '\0';
    (void)close(apart.reader);
    ck_assert_int_eq(waitpid(apart.child, &status, 0), apart.child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- Flags, texts, status. ---- */

static int64_t said = 3;

static tr_next on_args(tr_self *self, const struct tr_args *message)
{
    if (message->argv.count > 1 && strcmp(message->argv.items[1], "fail") == 0)
        return tr_fail(self, TR_BAD_DATA, "as the test wants it");
    (void)tr_app_exit(self, (int)said);
    return tr_app_exit(self, 9); /* the first one counts */
}

TR_BEHAVIOR(leaver, void, TR_ON(tr_args, on_args));

#define FLAGS                                                                                      \
    TR_FLAGS({.name = "status",                                                                    \
              .number = &said,                                                                     \
              .min = -1,                                                                           \
              .max = 300,                                                                          \
              .takes = "N",                                                                        \
              .help = "the exit status, in a sentence that is so long that it has to be cut "      \
                      "somewhere, and between two words",                                          \
              .example = "--status 4"})

TEST(an_app_has_an_exit_status_of_its_own, "O-62")
{
    const tr_app app = {.flags = FLAGS, .arguments = "[fail]"};
    char text[4096];
    ck_assert_int_eq(RUN(leaver, &app), 3);
    ck_assert_int_eq(RUN(leaver, &app, "--status", "4"), 4);
    ck_assert_int_eq(RUN(leaver, &app, "--status", "0"), 0);
    /* What is none fails the turn; and a failure is more important than a status. */
    ck_assert_int_eq(RUN_APART(text, leaver, &app, "--status=256"), 1);
    ck_assert_msg(strstr(text, "invalid exit status: 256; expected 0 to 255"), "%s", text);
    ck_assert_int_eq(RUN_APART(text, leaver, &app, "--status=-1"), 1);
    ck_assert_int_eq(RUN_APART(text, leaver, &app, "fail"), 1);
}

/* ---- Dead letters of a stop. ---- */

TR_REQUEST(ping, tr_done);
TR_ACTOR(mortal, ping);

static tr_next on_ping(tr_self *self)
{
    return tr_reply(self, tr_done);
}

TR_BEHAVIOR(mortal, void, TR_ON(ping, on_ping));

static tr_ref gone;

static tr_next on_goodbye(tr_self *self)
{
    static const struct tr_done done;
    (void)!tr_self_tell(self, gone, &tr_type_tr_done, &done);
    return TR_SAME;
}

static tr_next on_begin(tr_self *self)
{
    static const struct tr_done done;
    mortal_ref child = tr_spawn(self, mortal, "gone");
    gone = tr_any(child);
    tr_kill(self, child);
    ck_assert_int_eq(tr_try_await(self, tr_ask(self, child, ping), NULL), TR_STOPPED);
    (void)!tr_self_tell(self, gone, &tr_type_tr_done, &done);
    return tr_app_exit(self, 0);
}

TR_BEHAVIOR(goodbye, void, TR_ON(tr_args, on_begin), TR_ON(tr_post_stop, on_goodbye));

TEST(dead_letters_of_an_ordinary_stop_are_lines_for_debugging, "O-61")
{
    const tr_app app = {.flags = FLAGS};
    char text[4096];
    ck_assert_int_eq(RUN_APART(text, goodbye, &app, "--log-level", "info"), 0);
    const char *first = strstr(text, "dead letter: tr_done"); /* before the stop */
    ck_assert_msg(first && !strstr(first + 1, "dead letter"), "%s", text);
    ck_assert_int_eq(RUN_APART(text, goodbye, &app), 0);
    ck_assert_msg(strstr(text, "INFO  dead letter: tr_done"), "%s", text);
    ck_assert_msg(strstr(text, "DEBUG dead letter: tr_done"), "%s", text);
}

TEST(an_unknown_flag_is_status_2, "O-60")
{
    const tr_app app = {.flags = FLAGS};
    char text[4096];
    ck_assert_int_eq(RUN_APART(text, leaver, &app, "--stats", "4"), 2);
    ck_assert_str_eq(text, "app: there is no flag \"--stats\" (see --help)\n");
    ck_assert_int_eq(RUN_APART(text, leaver, &app, "--status", "4", "extra"), 2);
    ck_assert_str_eq(text, "app: the program takes no arguments: \"extra\" (see --help)\n");
    ck_assert_int_eq(RUN_APART(text, leaver, &app, "--status", "4", "--", "extra"), 4);
    const tr_app wrong = {.flags = TR_FLAGS({.name = "workers", .number = &said})};
    ck_assert_int_eq(RUN_APART(text, leaver, &wrong), 1);
    ck_assert_str_eq(text,
                     "app: the app is not valid: the flag --workers is a flag of the runner\n");
}

static size_t longest_line(const char *text)
{
    size_t longest = 0;
    for (size_t length; *text; text += length + (text[length] != '\0')) {
        length = strcspn(text, "\n");
        longest = length > longest ? length : longest;
    }
    return longest;
}

TEST(help_has_the_flags_of_the_program_and_of_the_runner_in_79_columns, "O-61")
{
    const tr_app app = {.summary = "Leaves at once.", .flags = FLAGS, .arguments = "[fail]"};
    char text[8192];
    ck_assert_int_eq(RUN_APART(text, leaver, &app, "--help"), 0);
    ck_assert_ptr_eq(strstr(text, "usage: app [flag...] [fail]\n\nLeaves at once.\n"), text);
    const char *own = strstr(text, "\n  --status N");
    const char *runner = strstr(text, "\n  --workers N");
    ck_assert_ptr_nonnull(own);
    ck_assert_ptr_nonnull(runner);
    ck_assert(own < runner);
    ck_assert_msg(strstr(own, "words [3]\n                        --status 4\n"), "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "--log-level warn,/user/bank=debug"));
    ck_assert_ptr_null(strstr(text, "--store")); /* it has no durable actors */
    ck_assert_uint_le(longest_line(text), 79);
}

TEST(version_is_that_of_the_program_and_of_the_library, "O-61")
{
    const tr_app app = {.version = "2.7"};
    char text[4096];
    ck_assert_int_eq(RUN_APART(text, leaver, &app, "--version"), 0);
    ck_assert_ptr_eq(strstr(text, "app 2.7 (Troupe 0."), text);
    ck_assert_int_eq(RUN_APART(text, leaver, NULL, "--version"), 0);
    ck_assert_ptr_eq(strstr(text, "app (Troupe 0."), text);
}

static tr_next write_lines(tr_self *self)
{
    tr_log_info(self, "a quiet line");
    tr_log(self, TR_LEVEL_WARN, "a loud line");
    return TR_STOP;
}

TR_BEHAVIOR(writer, void, TR_ON(tr_args, write_lines));

TEST(the_level_of_the_log_is_a_flag_that_goes_before_the_variable, "O-61")
{
    char text[4096];
    ck_assert_int_eq(setenv("TROUPE_LOG", "debug", 1), 0);
    ck_assert_int_eq(RUN_APART(text, writer, NULL, "--log-level", "warn"), 0);
    ck_assert_ptr_null(strstr(text, "a quiet line"));
    ck_assert_ptr_nonnull(strstr(text, "a loud line"));
    ck_assert_int_eq(RUN_APART(text, writer, NULL, "--log-level=error,/user/writer=info"), 0);
    ck_assert_ptr_nonnull(strstr(text, "a quiet line"));
    ck_assert_int_eq(RUN_APART(text, writer, NULL, "--log-level", "loud"), 2);
    ck_assert_ptr_eq(strstr(text, "app: --log-level: "), text);
    ck_assert_int_eq(unsetenv("TROUPE_LOG"), 0);
}

TR_MESSAGE(forgotten);
TR_MESSAGE(later);
TR_ACTOR(keeper, later, forgotten);
static tr_next ignore(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(keeper, void, TR_ON(tr_done, ignore));
TR_BEHAVIOR(late_keeper, void, TR_ON(later, ignore));

static tr_next spawn_keeper(tr_self *self)
{
    (void)tr_spawn(self, keeper, "keeper");
    return TR_STOP;
}

TR_BEHAVIOR(spawner, void, TR_ON(tr_args, spawn_keeper));

/* Not of one that another behavior handles, which the actor may become. */
TEST(a_listed_message_that_no_behavior_handles_is_a_warning, "O-65")
{
    char text[4096];
    ck_assert_int_eq(RUN_APART(text, spawner, NULL), 0);
    ck_assert_msg(strstr(text,
                         "WARN  TR_ACTOR lists forgotten, but keeper has no handler for it, nor "
                         "has any behavior of the program"),
                  "%s",
                  text);
    ck_assert_ptr_null(strstr(text, "lists later"));
}

/* ---- The pid file. ---- */

static char pid_path[64];

static tr_next read_pid(tr_self *self)
{
    char text[32] = "";
    int fd = open(pid_path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        (void)close(fd);
    return tr_app_exit(self, size > 0 && atoi(text) == getpid() ? 0 : 5);
}

TR_BEHAVIOR(pid_reader, void, TR_ON(tr_args, read_pid));

TEST(a_pid_file_is_there_while_the_app_runs, "O-63")
{
    char text[1024];
    (void)snprintf(pid_path, sizeof pid_path, "/tmp/troupe-pid-%d", (int)getpid());
    ck_assert_int_eq(RUN(pid_reader, NULL, "--pid-file", pid_path), 0);
    ck_assert_int_ne(access(pid_path, F_OK), 0);
    /* One that a dead process has left is replaced. */
    FILE *stale = fopen(pid_path, "w");
    ck_assert_ptr_nonnull(stale);
    (void)fputs("99999999999999\n", stale);
    (void)fclose(stale);
    ck_assert_int_eq(RUN(pid_reader, NULL, "--pid-file", pid_path), 0);
    /* One that a process has locked is not. */
    int other = open(pid_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_ge(other, 0);
    ck_assert_int_eq(flock(other, LOCK_EX | LOCK_NB), 0);
    ck_assert_int_eq(RUN_APART(text, pid_reader, NULL, "--pid-file", pid_path), 1);
    ck_assert_msg(strstr(text, "a process that runs has it; end that one"), "%s", text);
    (void)close(other);
    (void)unlink(pid_path);
    ck_assert_int_eq(RUN_APART(text, pid_reader, NULL, "--pid-file", "/no/such/directory/pid"), 1);
    ck_assert_ptr_eq(
        strstr(text,
               "app: cannot use the pid file /no/such/directory/pid: No such file or directory"),
        text);
    ck_assert_int_eq(RUN_APART(text, pid_reader, NULL, "--pid-file", "/dev/null"), 1);
}

/* ---- systemd. ---- */

enum { PINGS_MAX = 50 };

static int notified = -1;

/* Opens the socket that systemd would have. */
static void notify_open(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char name[64];
    const struct timeval patience = {.tv_sec = 10};
    (void)snprintf(name, sizeof name, "@troupe-notify-%d", (int)getpid());
    memcpy(address.sun_path + 1, name + 1, strlen(name) - 1);
    notified = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(notified, 0);
    ck_assert_int_eq(bind(notified,
                          (const struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
                     0);
    ck_assert_int_eq(
        setsockopt(notified, SOL_SOCKET, SO_RCVTIMEO, &patience, (socklen_t)sizeof patience), 0);
    ck_assert_int_eq(setenv("NOTIFY_SOCKET", name, 1), 0);
}

static void notify_close(void)
{
    (void)close(notified);
    ck_assert_int_eq(unsetenv("NOTIFY_SOCKET"), 0);
    ck_assert_int_eq(unsetenv("WATCHDOG_USEC"), 0);
    ck_assert_int_eq(unsetenv("WATCHDOG_PID"), 0);
}

/* Returns whether the next datagram is this; "": there is none. */
static bool came(const char *text, int flags)
{
    char found[64];
    ssize_t size;
    do
        size = recv(notified, found, sizeof found - 1, flags);
    while (size < 0 && errno == EINTR);
    found[size > 0 ? size : 0] = '\0';
    return strcmp(found, text) == 0;
}

/* Returns whether this datagram is among those that are there. */
static bool came_at_last(const char *text)
{
    for (int i = 0; i < PINGS_MAX; i++) {
        if (came(text, MSG_DONTWAIT))
            return true;
    }
    return false;
}

static bool was_silent;

TR_REQUEST(listen_for, tr_done);
TR_ACTOR(listener, listen_for);

static tr_next listen_now(tr_self *self)
{
    was_silent = came("", MSG_DONTWAIT);
    return tr_reply(self, tr_done);
}

TR_BEHAVIOR(listener, void, TR_ON(listen_for, listen_now));

/* Waits in its first turn: meanwhile it is not ready. */
static tr_next wait_first(tr_self *self)
{
    listener_ref child = tr_spawn(self, listener, "listener");
    (void)tr_await(self, tr_ask(self, child, listen_for));
    tr_tell(self, tr_me(self), tr_done);
    return TR_SAME;
}

static tr_next stop_when_ready(tr_self *self)
{
    return tr_app_exit(self, was_silent && came("READY=1", 0) ? 0 : 5);
}

TR_BEHAVIOR(plain_service, void, TR_ON(tr_args, wait_first), TR_ON(tr_done, stop_when_ready));

/* A root that wants no arguments is ready after its tr_pre_start, and one that handles anything after tr_args. */
static tr_next begin(tr_self *self)
{
    was_silent = came("", MSG_DONTWAIT);
    tr_tell(self, tr_me(self), tr_done);
    return TR_SAME;
}

TR_BEHAVIOR(early_service, void, TR_ON(tr_pre_start, begin), TR_ON(tr_done, stop_when_ready));

static tr_next on_any(tr_self *self, const tr_message *message)
{
    bool is_first = strcmp(message->type->name, "tr_args") == 0;
    return is_first ? begin(self) : stop_when_ready(self);
}

TR_BEHAVIOR(any_service, void, TR_ON_ANY(on_any));

static tr_next fail_first(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "as the test wants it");
}

TR_BEHAVIOR(failing_service, void, TR_ON(tr_args, fail_first));
TR_BEHAVIOR(failing_early, void, TR_ON(tr_pre_start, fail_first));

static tr_next fail_set_up(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "as the test wants it");
}

TR_BEHAVIOR(failing_set_up, void, TR_SETUP(fail_set_up));

static tr_next crash_first(tr_self *self)
{
    tr_crash(self, TR_BAD_DATA, "as the test wants it");
}

TR_BEHAVIOR(crashing_service, void, TR_ON(tr_args, crash_first));

static tr_next say_ready(tr_self *self)
{
    bool is_silent = came("", MSG_DONTWAIT);
    tr_app_ready(self);
    tr_app_ready(self);
    bool is_right = is_silent && came("READY=1", 0) && came("", MSG_DONTWAIT);
    return tr_app_exit(self, is_right ? 0 : 5);
}

TR_BEHAVIOR(slow_service, void, TR_ON(tr_args, say_ready));

TEST(systemd_is_notified_when_the_app_is_ready_and_when_it_stops, "O-64")
{
    notify_open();
    const tr_behavior *roots[] = {
        &tr_behavior_plain_service, &tr_behavior_early_service, &tr_behavior_any_service};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        ck_assert_int_eq(run(roots[i], NULL, 1, (const char *[]){"app"}), 0);
        ck_assert(came("STOPPING=1", MSG_DONTWAIT));
        ck_assert(came("", MSG_DONTWAIT));
    }
    const tr_app app = {.says_ready = true};
    ck_assert_int_eq(RUN(slow_service, &app), 0);
    ck_assert(came("STOPPING=1", MSG_DONTWAIT));
    ck_assert(came("", MSG_DONTWAIT));
    notify_close();
    /* Without the variable nothing is sent, and tr_app_ready does nothing. A wrong one is a line of the log. */
    char text[4096];
    ck_assert_int_eq(setenv("NOTIFY_SOCKET", "no path", 1), 0);
    ck_assert_int_eq(RUN_APART(text, writer, NULL), 0);
    ck_assert_msg(strstr(text, "cannot notify systemd of READY=1: NOTIFY_SOCKET: "), "%s", text);
    ck_assert_int_eq(unsetenv("NOTIFY_SOCKET"), 0);
}

TEST(a_root_that_fails_at_its_start_is_never_ready, "O-64")
{
    const tr_behavior *roots[] = {&tr_behavior_failing_service,
                                  &tr_behavior_failing_early,
                                  &tr_behavior_failing_set_up,
                                  &tr_behavior_crashing_service};
    notify_open();
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        ck_assert_int_eq(run(roots[i], NULL, 1, (const char *[]){"app"}), 1);
        ck_assert(came("STOPPING=1", MSG_DONTWAIT));
        ck_assert(came("", MSG_DONTWAIT));
    }
    notify_close();
}

/* A root that changes its behavior while it is set up has no other first turn. */
static tr_next begin_anew(tr_self *self)
{
    tr_tell(self, tr_me(self), tr_done);
    return TR_SAME;
}

TR_BEHAVIOR(changed_service, void, TR_SETUP(begin_anew), TR_ON(tr_done, stop_when_ready));

static tr_next change(tr_self *self)
{
    was_silent = came("", MSG_DONTWAIT);
    return tr_become(self, changed_service);
}

TR_BEHAVIOR(changing_service, void, TR_SETUP(change), TR_ON(tr_args, fail_first));
TR_BEHAVIOR(changing_early, void, TR_SETUP(change), TR_ON(tr_pre_start, fail_first));

static tr_next set_up_only(tr_self *self)
{
    (void)self;
    return TR_SAME;
}

/* The end of the set-up is not that of the first turn. */
TR_BEHAVIOR(set_up_service, void, TR_SETUP(set_up_only), TR_ON(tr_args, wait_first),
            TR_ON(tr_done, stop_when_ready));

TEST(a_root_that_becomes_another_in_its_set_up_is_ready, "O-64")
{
    const tr_behavior *roots[] = {
        &tr_behavior_changing_service, &tr_behavior_changing_early, &tr_behavior_set_up_service};
    const struct timeval little = {.tv_sec = 2};
    notify_open();
    (void)setsockopt(notified, SOL_SOCKET, SO_RCVTIMEO, &little, (socklen_t)sizeof little);
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        ck_assert_int_eq(run(roots[i], NULL, 1, (const char *[]){"app"}), 0);
        ck_assert(came("STOPPING=1", MSG_DONTWAIT));
        ck_assert(came("", MSG_DONTWAIT));
    }
    notify_close();
}

/* The root is there and has not run yet: it is set up and stopped when the system is freed, with its handlers. */
TEST(an_app_whose_control_socket_cannot_be_made_ends_in_order, "O-64")
{
    char text[4096];
    notify_open();
    ck_assert_int_eq(
        RUN_APART(text, plain_service, NULL, "--control", "/no/such/directory/app.sock"), 1);
    ck_assert_msg(strstr(text, "app.sock"), "%s", text);
    notify_close();
}

/* Stands in its handler until systemd is not notified any more: no datagram comes for four times its period. */
static tr_next stand(tr_self *self)
{
    const struct timeval little = {.tv_usec = 400000};
    const struct timeval patience = {.tv_sec = 10};
    bool is_right = came("WATCHDOG=1", 0);
    (void)setsockopt(notified, SOL_SOCKET, SO_RCVTIMEO, &little, (socklen_t)sizeof little);
    for (int i = 0; came("WATCHDOG=1", 0); i++) {
        if (i == PINGS_MAX)
            return tr_app_exit(self, 7); /* nobody has noticed */
    }
    (void)setsockopt(notified, SOL_SOCKET, SO_RCVTIMEO, &patience, (socklen_t)sizeof patience);
    tr_tell(self, tr_me(self), tr_none);
    return is_right ? TR_SAME : tr_app_exit(self, 5);
}

/* The next turn is short so far: it is notified again. */
static tr_next recover(tr_self *self)
{
    return tr_app_exit(self, came("WATCHDOG=1", 0) ? 0 : 6);
}

static tr_next begin_to_stand(tr_self *self)
{
    return came("READY=1", 0) ? stand(self) : tr_app_exit(self, 4);
}

TR_BEHAVIOR(watched, void, TR_ON(tr_args, begin), TR_ON(tr_done, begin_to_stand),
            TR_ON(tr_none, recover));

TEST(the_watchdog_is_notified_while_no_handler_stands, "O-64")
{
    char number[24];
    (void)snprintf(number, sizeof number, "%d", (int)getpid());
    notify_open();
    ck_assert_int_eq(setenv("WATCHDOG_USEC", "100000", 1), 0);
    ck_assert_int_eq(setenv("WATCHDOG_PID", number, 1), 0);
    ck_assert_int_eq(RUN(watched, NULL), 0);
    ck_assert(came_at_last("STOPPING=1"));
    /* A turn that was handed to another thread stands as well. */
    const tr_app app = {.system = {.handoff_after_ns = 20 * TR_MILLISECOND}, .workers = 1};
    ck_assert_int_eq(RUN(watched, &app), 0);
    notify_close();
    /* It is for another process. */
    notify_open();
    ck_assert_int_eq(setenv("WATCHDOG_USEC", "1000", 1), 0);
    ck_assert_int_eq(setenv("WATCHDOG_PID", "1", 1), 0);
    ck_assert_int_eq(RUN(plain_service, NULL), 0);
    ck_assert(came("STOPPING=1", MSG_DONTWAIT));
    notify_close();
}

SUITE("app as a service", an_app_has_an_exit_status_of_its_own, an_unknown_flag_is_status_2,
      dead_letters_of_an_ordinary_stop_are_lines_for_debugging,
      help_has_the_flags_of_the_program_and_of_the_runner_in_79_columns,
      version_is_that_of_the_program_and_of_the_library,
      the_level_of_the_log_is_a_flag_that_goes_before_the_variable,
      a_listed_message_that_no_behavior_handles_is_a_warning,
      a_pid_file_is_there_while_the_app_runs,
      systemd_is_notified_when_the_app_is_ready_and_when_it_stops,
      a_root_that_fails_at_its_start_is_never_ready,
      a_root_that_becomes_another_in_its_set_up_is_ready,
      an_app_whose_control_socket_cannot_be_made_ends_in_order,
      the_watchdog_is_notified_while_no_handler_stands)
