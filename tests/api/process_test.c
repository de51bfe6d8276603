/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Child processes that the test plays: input, output, errors, ends, limits; on the network of kits.
 */
#include "support/net.h"

#include <signal.h>
#include <unistd.h>

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

static tr_channel child;
static tr_channel errors;
static tr_kit_child *played;
static tr_kit_peer *peer;

static tr_next on_received(const struct tr_received *message)
{
    say("%s %.*s",
        message->channel.bits == child.bits ? "got" : "error",
        (int)message->bytes.size,
        (const char *)message->bytes.data);
    return TR_SAME;
}

static tr_next on_ended(const struct tr_process_ended *message)
{
    ck_assert_uint_eq(message->channel.bits, child.bits);
    say("ended %d %d %s", message->code, message->signal, tr_status_name(message->status));
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    say("closed %s", tr_status_name(message->status));
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_ON(tr_received, on_received),
            TR_ON(tr_process_ended, on_ended), TR_ON(tr_closed, on_closed));
/* It has handlers for nothing. */
TR_ACTOR(plain, run);
TR_BEHAVIOR(plain, void, TR_ON(run, on_run));

static tr_next on_child_failed(const struct tr_child_failed *message)
{
    say("failed %s: %s", tr_status_name(message->cause.status), message->cause.text);
    return TR_SAME;
}

/* Its children are `plain`. */
TR_BEHAVIOR(boss, void, TR_ON(run, on_run), TR_ON(tr_child_failed, on_child_failed));

ONCE(start, child = tr_process_start(self, TR_PROCESS("tool")))
ONCE(start_lines, child = tr_process_start(self, TR_PROCESS("tool", .framing = TR_LINES)))

/* Starts a child, as the test plays it. */
static void begin_in(turn *function)
{
    ck_assert(tr_kit_add_program(kit, "tool"));
    HOST(host, function);
    played = tr_kit_child_started(kit, 0);
    ck_assert_ptr_nonnull(played);
    peer = tr_kit_child_peer(played);
}

static void leave(int code)
{
    tr_kit_child_exit(played, code);
    tr_kit_settle(kit);
}

/* ---- Input and output. ---- */

ONCE(write_some, {
    tr_write_text(self, child, "question");
    tr_finish(self, child);
})

static void play_talk(void)
{
    begin_in(start_lines);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 2);
    host_run(write_some);
    PEER_GETS(peer, "question");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    peer_send(peer, "one\ntwo\nthr");
    SAID("got one; got two");
    peer_send(peer, "ee");
    leave(3);
    SAID("got three; ended 3 0 TR_OK");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(a_child_reads_its_input_and_its_output_is_read, "C-17")
{
    kits_each(play_talk);
}

static void play_split(void)
{
    tr_kit_network split = {.delay_ns = MS, .piece_max = 1};
    tr_kit_set_network(kit, &split);
    begin_in(start_lines);
    peer_send(peer, "one\ntwo\n");
    tr_kit_child_exit(played, 0);
    tr_kit_advance(kit, TR_SECOND);
    SAID("got one; got two; ended 0 0 TR_OK");
}

TEST(the_end_comes_after_all_output, "C-17")
{
    kits_each(play_split);
}

/* A child may end without its output, which something that it has left behind still has. */
TEST(output_that_is_still_open_delays_the_end, "C-17")
{
    kit_open(1, 1);
    begin_in(start);
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    SAID(""); /* its output has ended, the child has not */
    leave(0);
    SAID("ended 0 0 TR_OK");
    kit_close();
}

ONCE(read_all, {
    tr_bytes line;
    child = tr_process_start(self, TR_PROCESS("tool"));
    while (tr_read_line(self, child, &line))
        say("read %s", (const char *)line.data);
    say("over");
})

TEST(a_turn_reads_output_to_its_end, "C-17")
{
    kit_open(1, 1);
    begin_in(read_all);
    peer_send(peer, "a\nb\n");
    leave(0);
    SAID("read a; read b; over; ended 0 0 TR_OK");
    kit_close();
}

ONCE(write_much, {
    static char bytes[100000];
    for (int i = 0; i < 4; i++)
        say("%s", tr_status_name(tr_write(self, child, (tr_bytes){bytes, sizeof bytes})));
})

/* As `head -1`: it ends without having read its input, and its output counts all the same. */
TEST(input_that_is_not_read_is_no_error, "C-17")
{
    kit_open(1, 1);
    begin_in(start);
    host_run(write_much);
    SAID("TR_OK; TR_OK");
    peer_send(peer, "first");
    leave(0);
    SAID("TR_CLOSED; TR_CLOSED; got first; ended 0 0 TR_OK");
    kit_close();
}

static char path[] = "/tmp/troupe-input-XXXXXX";

ONCE(write_file, say("%s", tr_status_name(tr_write_file(self, child, path, 0, SIZE_MAX))))

TEST(a_file_that_is_not_read_is_no_error, "C-17", "C-08")
{
    static const char bytes[400000];
    int fd = mkstemp(path);
    ck_assert_int_eq(write(fd, bytes, sizeof bytes), sizeof bytes);
    close(fd);
    kit_open(1, 1);
    begin_in(start);
    host_run(write_file);
    SAID("");
    peer_send(peer, "first");
    leave(0);
    SAID("got first; TR_CLOSED; ended 0 0 TR_OK");
    kit_close();
    unlink(path);
}

ONCE(start_errors, {
    child = tr_process_start(self,
                             TR_PROCESS("tool", .errors = TR_PROCESS_CHANNEL, .framing = TR_LINES));
    errors = tr_process_errors(self, child);
})

static void play_errors(void)
{
    begin_in(start_errors);
    tr_kit_peer *second = tr_kit_child_errors(played);
    peer_send(second, "bad\n");
    peer_send(peer, "good\n");
    SAID("error bad; got good");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 3);
    leave(1);
    SAID("closed TR_CLOSED; ended 1 0 TR_OK");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(errors_are_a_channel_of_their_own, "C-17")
{
    kits_each(play_errors);
}

/* ---- What it is started with. ---- */

ONCE(start_with, {
    child = tr_process_start(self,
                             TR_PROCESS("tool",
                                        .arguments = TR_ARGUMENTS("-n", "two words", "$HOME"),
                                        .environment = TR_ENVIRONMENT("LANG=C", "TZ=UTC"),
                                        .directory = "/tmp",
                                        .input = TR_PROCESS_NOTHING,
                                        .output = TR_PROCESS_NOTHING));
    say("%d", (int)tr_process_id(self, child));
})

TEST(a_child_gets_arguments_environment_and_directory, "C-17")
{
    kit_open(1, 1);
    begin_in(start_with);
    SAID("1");
    ck_assert_ptr_null(peer);
    ck_assert_str_eq(tr_kit_child_argument(played, 0), "tool");
    ck_assert_str_eq(tr_kit_child_argument(played, 2), "two words");
    ck_assert_str_eq(tr_kit_child_argument(played, 3), "$HOME");
    ck_assert_ptr_null(tr_kit_child_argument(played, 4));
    ck_assert_str_eq(tr_kit_child_variable(played, "TZ"), "UTC");
    ck_assert_ptr_null(tr_kit_child_variable(played, "HOME"));
    ck_assert_str_eq(tr_kit_child_directory(played), "/tmp");
    leave(0);
    SAID("ended 0 0 TR_OK");
    kit_close();
}

static const char *too_many[TR_ARGUMENTS_MAX + 2];

static void try_start(tr_self *self, const tr_process *process)
{
    const char *why;
    tr_channel none;
    tr_status status = tr_try_process_start(self, process, &none, &why);
    say("%s %s", tr_status_name(status), why);
}
#define TRY(...) try_start(self, __VA_ARGS__)

ONCE(try_all, {
    TRY(TR_PROCESS("no-such-tool"));
    TRY(TR_PROCESS(""));
    TRY(TR_PROCESS(NULL));
    TRY(TR_PROCESS("tool", .grace_ns = -1));
    TRY(TR_PROCESS("tool", .output = TR_PROCESS_WITH_OUTPUT));
    TRY(TR_PROCESS("tool", .frame_max = 9, .output = TR_PROCESS_INHERIT));
    TRY(TR_PROCESS("tool", .stall_ns = 9, .input = TR_PROCESS_INHERIT));
    TRY(TR_PROCESS("tool", .arguments = too_many));
})

ONCE(try_once, { TRY(TR_PROCESS("tool", .errors = TR_PROCESS_CHANNEL)); })

TEST(each_way_not_to_start_has_its_status, "C-17")
{
    kit_open(1, 1);
    for (size_t i = 0; i <= TR_ARGUMENTS_MAX; i++)
        too_many[i] = "x";
    ck_assert(tr_kit_add_program(kit, "tool"));
    HOST(host, try_all);
    SAID("TR_CANNOT_EXECUTE No such file or directory; TR_INVALID_ARGUMENT ; "
         "TR_INVALID_ARGUMENT ; TR_INVALID_ARGUMENT ; TR_INVALID_ARGUMENT ; TR_INVALID_ARGUMENT ; "
         "TR_INVALID_ARGUMENT ; TR_TOO_LARGE ");
    tr_kit_fail_network(kit, "start", 1, TR_LIMIT);
    host_run(try_once);
    SAID("TR_LIMIT made to fail");
    ck_assert_ptr_null(tr_kit_child_started(kit, 0));
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    kit_close();
}

TEST(a_child_that_cannot_be_watched_is_killed, "C-17")
{
    kit_open(1, 1);
    ck_assert(tr_kit_add_program(kit, "tool"));
    for (uint64_t n = 1; n <= 3; n++) {
        tr_kit_fail_network(kit, "watch", n, TR_LIMIT);
        if (n == 1)
            HOST(host, try_once);
        else
            host_run(try_once);
        SAID("TR_LIMIT ");
        ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
        ck_assert_ptr_null(tr_kit_child_started(kit, 0)); /* it was reaped */
    }
    kit_close();
}

ONCE(start_wrong, tr_process_start(self, TR_PROCESS("no-such-tool")))
ONCE(spawn_wrong, {
    plain_ref made = tr_spawn(self, plain, NULL);
    TELL_RUN(self, made, start_wrong);
})

TEST(a_start_that_fails_ends_the_turn_with_the_reason, "C-17")
{
    kit_open(1, 1);
    HOST(boss, spawn_wrong);
    SAID("failed TR_CANNOT_EXECUTE: cannot start no-such-tool: No such file or directory");
    kit_close();
}

/* ---- Ends. ---- */

ONCE(signal_it, say("%s", tr_status_name(tr_process_signal(self, child, SIGHUP))))
ONCE(terminate_it, say("%s", tr_status_name(tr_process_terminate(self, child))))

TEST(a_signal_ends_a_child, "C-17")
{
    kit_open(1, 1);
    begin_in(start);
    host_run(signal_it);
    SAID("TR_OK; ended -1 1 TR_OK");
    host_run(signal_it);
    SAID("TR_CLOSED");
    kit_close();
}

TEST(a_child_that_does_not_end_is_killed_after_the_grace, "C-17")
{
    kit_open(1, 1);
    begin_in(start);
    tr_kit_child_catch(played);
    host_run(terminate_it);
    SAID("TR_OK");
    ck_assert_int_eq(tr_kit_child_signal(played), SIGTERM);
    tr_kit_advance(kit, TR_GRACE_NS - MS);
    ck_assert_int_eq(tr_kit_child_signal(played), 0);
    peer_send(peer, "bye"); /* it may still say something */
    SAID("got bye");
    tr_kit_advance(kit, 2 * MS);
    ck_assert_int_eq(tr_kit_child_signal(played), SIGKILL);
    SAID("ended -1 9 TR_OK");
    kit_close();
}

ONCE(close_it, tr_close(self, child))
ONCE(reset_it, tr_reset(self, child))

TEST(closing_ends_the_input_and_then_the_child, "C-17")
{
    kit_open(1, 1);
    begin_in(start);
    host_run(close_it);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    peer_send(peer, "nobody reads this");
    leave(4);
    SAID("ended 4 0 TR_OK");
    kit_close();
}

TEST(a_child_that_does_not_mind_its_closed_input_is_terminated, "C-17")
{
    kit_open(1, 1);
    begin_in(start);
    host_run(close_it);
    tr_kit_advance(kit, TR_LINGER_NS + MS);
    ck_assert_int_eq(tr_kit_child_signal(played), SIGTERM);
    SAID("ended -1 15 TR_TIMEOUT");
    kit_close();
}

TEST(a_child_without_output_has_the_grace_after_a_close, "C-17")
{
    kit_open(1, 1);
    begin_in(start);
    tr_kit_child_catch(played);
    host_run(close_it);
    tr_kit_finish(peer);
    tr_kit_advance(kit, TR_GRACE_NS - MS);
    ck_assert_int_eq(tr_kit_child_signal(played), 0);
    tr_kit_advance(kit, 2 * MS);
    ck_assert_int_eq(tr_kit_child_signal(played), SIGTERM);
    tr_kit_advance(kit, TR_GRACE_NS);
    SAID("ended -1 9 TR_OK");
    kit_close();
}

TEST(a_reset_kills, "C-17")
{
    kit_open(1, 1);
    begin_in(start);
    tr_kit_child_catch(played);
    host_run(reset_it);
    SAID("ended -1 9 TR_OK");
    kit_close();
}

ONCE(start_small,
     child = tr_process_start(self, TR_PROCESS("tool", .framing = TR_LINES, .frame_max = 4)))

TEST(an_error_of_the_channel_terminates_the_child, "C-17")
{
    kit_open(1, 1);
    begin_in(start_small);
    peer_send(peer, "a line that is too long, and more than one piece may be with its head\n");
    SAID("ended -1 15 TR_TOO_LARGE");
    kit_close();
}

static tr_next stop_now(tr_self *self)
{
    (void)self;
    return TR_STOP;
}

static tr_next fail_now(tr_self *self)
{
    return tr_fail(self, TR_FAILED, "on purpose");
}

/* However an actor ends, its child is terminated and reaped. */
static void play_end(turn *ends)
{
    begin_in(start_errors);
    tr_kit_child_catch(played);
    tr_kit_child *first = played;
    host_run(ends);
    ck_assert_int_eq(tr_kit_child_signal(first), SIGTERM);
    ck_assert(!tr_kit_child_has_ended(first));
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1); /* its exit */
    tr_kit_advance(kit, TR_GRACE_NS);
    ck_assert_int_eq(tr_kit_child_signal(first), SIGKILL);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    SAID("");
}

static void play_stop(void)
{
    play_end(stop_now);
}

static void play_fail(void)
{
    play_end(fail_now);
}

TEST(a_child_ends_with_its_actor, "C-17", "C-09")
{
    kits_each(play_stop);
    kits_each(play_fail);
}

TEST(a_shutdown_waits_for_children_and_kills_them, "C-17")
{
    kit_open(1, 1);
    begin_in(start);
    tr_kit_child_catch(played);
    tr_kit_check(kit);
    tr_kit_free(kit); /* aborts if something has leaked */
}

ONCE(spawn_right, {
    plain_ref made = tr_spawn(self, plain, NULL);
    TELL_RUN(self, made, start);
})

static void play_plain(int code, int signal, const char *words)
{
    kit_open(1, 1);
    ck_assert(tr_kit_add_program(kit, "tool"));
    HOST(boss, spawn_right);
    played = tr_kit_child_started(kit, 0);
    if (signal)
        tr_kit_child_die(played, signal);
    leave(code);
    SAID(words);
    kit_close();
}

TEST(without_a_handler_a_failed_child_fails_its_actor, "C-17")
{
    play_plain(0, 0, "");
    play_plain(7, 0, "failed TR_PROCESS_FAILED: a child process has failed with the exit code 7");
    play_plain(0, 11, "failed TR_PROCESS_FAILED: signal 11 has ended a child process");
}

/* ---- Memory. ---- */

static void play_no_memory(uint64_t n)
{
    kit_open(1, 1);
    ck_assert(tr_kit_add_program(kit, "tool"));
    HOST(host, write_some); /* what the first message needs is there */
    said();
    tr_kit_fail_allocation(kit, n, false);
    host_run(try_once);
    tr_kit_fail_allocation(kit, 0, false);
    const char *text = said();
    if (strcmp(text, "TR_OK ") == 0) {
        played = tr_kit_child_started(kit, 0);
        ck_assert_ptr_nonnull(played);
    } else {
        ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    }
    kit_close();
}

TEST(a_start_without_memory_leaves_nothing, "C-17")
{
    for (uint64_t n = 1; n <= 30; n++)
        play_no_memory(n);
}

/* ---- A start that is under way. ---- */

static uint64_t steps_before;

/* The actor is killed so many steps after it was asked to start a child. */
static void play_killed_start(void)
{
    ck_assert(tr_kit_add_program(kit, "tool"));
    plain_ref made;
    ck_assert_int_eq(tr_try_spawn(tr_kit_client(kit), &made, plain, NULL), TR_OK);
    tr_kit_settle(kit);
    TELL_RUN(tr_kit_client(kit), made, start);
    kit_steps(steps_before);
    tr_kill(tr_kit_client(kit), made);
    tr_kit_settle(kit);
    while ((played = tr_kit_child_started(kit, 0)))
        tr_kit_child_exit(played, 0);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(an_actor_that_is_killed_while_its_child_starts_leaves_nothing, "C-17", "C-09")
{
    for (steps_before = 0; steps_before < 8; steps_before++)
        kits_each(play_killed_start);
}

SUITE("child processes", a_child_reads_its_input_and_its_output_is_read,
      the_end_comes_after_all_output, output_that_is_still_open_delays_the_end,
      a_turn_reads_output_to_its_end, input_that_is_not_read_is_no_error,
      a_file_that_is_not_read_is_no_error, errors_are_a_channel_of_their_own,
      a_child_gets_arguments_environment_and_directory, each_way_not_to_start_has_its_status,
      a_child_that_cannot_be_watched_is_killed, a_start_that_fails_ends_the_turn_with_the_reason,
      a_signal_ends_a_child, a_child_that_does_not_end_is_killed_after_the_grace,
      closing_ends_the_input_and_then_the_child,
      a_child_that_does_not_mind_its_closed_input_is_terminated,
      a_child_without_output_has_the_grace_after_a_close, a_reset_kills,
      an_error_of_the_channel_terminates_the_child, a_child_ends_with_its_actor,
      a_shutdown_waits_for_children_and_kills_them,
      without_a_handler_a_failed_child_fails_its_actor, a_start_without_memory_leaves_nothing,
      an_actor_that_is_killed_while_its_child_starts_leaves_nothing)
