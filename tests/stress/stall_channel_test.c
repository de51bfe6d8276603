/* SPDX-License-Identifier: Apache-2.0 */
/** Reports of long turns name the other side of the actor's channel, of one that was accepted and of one that was dialed. */
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

#include "os/atomic.h"
#include "os/lock.h"

#define PATIENCE (100 * TR_SECOND)

TR_ACTOR(callee, tr_received);
TR_MESSAGE(call);
TR_ACTOR(caller, call);

/* What on_stall and on_log have got; they run on the watch's thread. */
static struct {
    struct lock lock;
    atom32 caller; /* reports */
    atom32 callee;
    char caller_peer[TR_ADDRESS_TEXT_MAX];
    char callee_peer[TR_ADDRESS_TEXT_MAX];
    char log[8192];
    /* Written by the actors. */
    char here[TR_ADDRESS_TEXT_MAX];  /* where the listener is */
    char there[TR_ADDRESS_TEXT_MAX]; /* where the caller is */
} seen;

static void stay_until(tr_self *self, atom32 *reports)
{
    tr_time end_ns = tr_now(self) + PATIENCE;
    while (!atom32_load(reports, ATOM_ACQUIRE))
        ck_assert_int_lt(tr_now(self), end_ns);
}

static tr_next on_received(tr_self *self, const struct tr_received *message)
{
    tr_address peer = tr_channel_peer(self, message->channel);
    tr_address_print(&peer, seen.there);
    stay_until(self, &seen.callee);
    return TR_STOP;
}

TR_BEHAVIOR(callee, void, TR_ON(tr_received, on_received));

static tr_next on_call(tr_self *self)
{
    tr_listener_ref listener = tr_listen(self, callee, TR_TCP("127.0.0.1:0"));
    tr_address here = tr_listener_address(self, listener);
    tr_address_print(&here, seen.here);
    tr_channel channel = tr_connect(self, TR_TCP(seen.here));
    stay_until(self, &seen.caller);
    tr_write_text(self, channel, "hello");
    tr_bytes bytes;
    while (tr_try_read(self, channel, &bytes) == TR_OK)
        ;
    return TR_STOP;
}

TR_BEHAVIOR(caller, void, TR_ON(call, on_call));

static void on_stall(void *context, const tr_stall *stall)
{
    (void)context;
    if (stall->is_over || !stall->behavior || !stall->peer)
        return;
    lock_take(&seen.lock);
    bool is_caller = strcmp(stall->behavior, "caller") == 0;
    bool is_callee = strcmp(stall->behavior, "callee") == 0;
    if (is_caller || is_callee)
        snprintf(is_caller ? seen.caller_peer : seen.callee_peer,
                 TR_ADDRESS_TEXT_MAX,
                 "%s",
                 stall->peer);
    lock_give(&seen.lock);
    if (is_caller || is_callee)
        atom32_fetch_add(is_caller ? &seen.caller : &seen.callee, 1, ATOM_RELEASE);
}

static void on_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    lock_take(&seen.lock);
    size_t length = strlen(seen.log);
    snprintf(seen.log + length, sizeof seen.log - length, "%s\n", text);
    lock_give(&seen.lock);
}

TEST(a_long_turn_is_reported_with_the_other_side_of_its_channel, "O-05")
{
    tr_system_options options = {.size = sizeof options,
                                 .workers = 1,
                                 .turn_report_ns = 5 * TR_MILLISECOND,
                                 .on_stall = on_stall,
                                 .on_log = on_log};
    tr_system *system;
    tr_client *client;
    caller_ref caller;
    lock_init(&seen.lock);
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &caller, caller, NULL), TR_OK);
    ck_assert_int_eq(tr_tell(client, caller, call), TR_OK);
    tr_counters counters;
    do
        tr_system_counters(system, &counters);
    while (counters.live || counters.queued);
    tr_client_free(client);
    tr_system_shutdown(system, PATIENCE);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
    ck_assert_str_eq(seen.caller_peer, seen.here);
    ck_assert_str_eq(seen.callee_peer, seen.there);
    ck_assert_msg(strstr(seen.log, ", its channel is to 127.0.0.1:"), "%s", seen.log);
}

SUITE("stall watch and channels", a_long_turn_is_reported_with_the_other_side_of_its_channel)
