/* SPDX-License-Identifier: Apache-2.0 */
/** Signals that a test raises, as messages; on kits. */
#include "support/net.h"

#include <signal.h>

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

static tr_channel channel;

static tr_next on_signal(const struct tr_signal *message)
{
    ck_assert_uint_eq(message->channel.bits, channel.bits);
    say("signal %d", message->signal);
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    say("closed %s", tr_status_name(message->status));
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_ON(tr_signal, on_signal),
            TR_ON(tr_closed, on_closed));
/* It has no handler for them. */
TR_BEHAVIOR(deaf, void, TR_ON(run, on_run));

ONCE(take, channel = tr_signals(self, SIGHUP, SIGUSR1))
ONCE(close_it, tr_close(self, channel))

static void raise_one(int signal, bool is_taken)
{
    ck_assert(tr_kit_signal(kit, signal) == is_taken);
    tr_kit_settle(kit);
}

static void play_signals(void)
{
    raise_one(SIGHUP, false);
    HOST(host, take);
    raise_one(SIGHUP, true);
    raise_one(SIGUSR1, true);
    ck_assert(tr_kit_signal(kit, SIGHUP));
    raise_one(SIGHUP, true);
    SAID("signal 1; signal 10; signal 1; signal 1");
    raise_one(SIGUSR2, false);
    host_run(close_it);
    raise_one(SIGHUP, false);
    SAID("closed TR_OK");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(signals_are_messages_until_they_are_closed, "C-16")
{
    kits_each(play_signals);
}

static void try_one(tr_self *self, int signal)
{
    tr_channel none;
    say("%s", tr_status_name(tr_try_signals(self, &none, signal)));
}

ONCE(try_all, {
    static const int refused[] = {
        SIGKILL, SIGSTOP, SIGSEGV, SIGCHLD, SIGPROF, 0, -1, 65, 33, SIGHUP};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        try_one(self, refused[i]);
    tr_channel none;
    say("%s", tr_status_name(tr_try_signals(self, &none, SIGUSR2, SIGUSR2)));
    say("%s", tr_status_name(tr_try_signals(self, &none, SIGUSR2, SIGKILL)));
    try_one(self, SIGUSR2);
    say("%s", tr_status_name(tr_self_try_signals(self, refused, 0, &none)));
    say("%s", tr_status_name(tr_self_try_signals(self, refused, TR_SIGNALS_MAX + 1, &none)));
})

TEST(a_signal_that_cannot_be_taken_has_a_status, "C-16")
{
    kit_open(1, 1);
    HOST(host, take);
    host_run(try_all);
    SAID("TR_NOT_PERMITTED; TR_NOT_PERMITTED; TR_NOT_PERMITTED; TR_NOT_PERMITTED; "
         "TR_NOT_PERMITTED; TR_INVALID_ARGUMENT; TR_INVALID_ARGUMENT; TR_INVALID_ARGUMENT; "
         "TR_INVALID_ARGUMENT; TR_NAME_EXISTS; TR_NAME_EXISTS; TR_NOT_PERMITTED; TR_OK; "
         "TR_INVALID_ARGUMENT; TR_INVALID_ARGUMENT");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 2);
    kit_close();
}

ONCE(try_deaf, try_one(self, SIGHUP))

TEST(an_actor_without_a_handler_takes_none, "C-16")
{
    kit_open(1, 1);
    HOST(deaf, try_deaf);
    SAID("TR_INVALID_ARGUMENT");
    kit_close();
}

static tr_next stop_now(tr_self *self)
{
    (void)self;
    return TR_STOP;
}

static void play_stop(void)
{
    HOST(host, take);
    host_run(stop_now);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    raise_one(SIGHUP, false);
}

TEST(signals_are_given_back_with_the_actor, "C-16", "C-09")
{
    kits_each(play_stop);
}

TEST(a_failing_call_takes_nothing, "C-16")
{
    for (int i = 0; i < 2; i++) {
        kit_open(1, 1);
        tr_kit_fail_network(kit, i ? "watch" : "signals", 1, TR_LIMIT);
        HOST(host, try_deaf);
        SAID("TR_LIMIT");
        ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
        host_run(try_deaf);
        SAID("TR_OK");
        kit_close();
    }
}

static void play_no_memory(uint64_t n)
{
    kit_open(1, 1);
    HOST(host, close_it);
    said();
    tr_kit_fail_allocation(kit, n, false);
    host_run(try_deaf);
    tr_kit_fail_allocation(kit, 0, false);
    bool is_taken = strcmp(said(), "TR_OK") == 0;
    ck_assert_uint_eq(tr_kit_open_channels(kit), is_taken);
    kit_close();
}

TEST(a_take_without_memory_leaves_nothing, "C-16")
{
    for (uint64_t n = 1; n <= 20; n++)
        play_no_memory(n);
}

SUITE("signals", signals_are_messages_until_they_are_closed,
      a_signal_that_cannot_be_taken_has_a_status, an_actor_without_a_handler_takes_none,
      signals_are_given_back_with_the_actor, a_failing_call_takes_nothing,
      a_take_without_memory_leaves_nothing)
