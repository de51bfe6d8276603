/* SPDX-License-Identifier: Apache-2.0 */
/**
 * For tests of channels on kits: a host actor that listens or connects, and peers of the test.
 */
#ifndef TROUPE_TESTS_SUPPORT_NET_H
#define TROUPE_TESTS_SUPPORT_NET_H

#include <troupe/kit_net.h>

#include "support/kits.h"

#include <stdlib.h>

#include <troupe/net.h>

#define SERVER "127.0.0.1:7000"

TR_ACTOR(host, run);

static host_ref host;
KITS_UNUSED static tr_listener_ref listener;

/** Starts an actor of this behavior, which handles `run`, and runs a function in it. */
#define HOST(behavior, first)                                                                      \
    do {                                                                                           \
        host_ref made_;                                                                            \
        ck_assert_int_eq(                                                                          \
            tr_client_try_spawn(                                                                   \
                test,                                                                              \
                TR_SPAWN_ARGS_(&tr_behavior_##behavior, NULL, "host", home, NULL, NULL, NULL),     \
                &made_.bits),                                                                      \
            TR_OK);                                                                                \
        host = made_;                                                                              \
        host_run(first);                                                                           \
    } while (0)

/** Runs a function in the host. */
KITS_UNUSED static void host_run(turn *function)
{
    TELL_RUN(test, host, function);
    tr_kit_settle(kit);
}

/** Connects to SERVER. */
KITS_UNUSED static tr_kit_peer *peer_new(void)
{
    tr_kit_peer *peer = tr_kit_connect(kit, SERVER);
    ck_assert_ptr_nonnull(peer);
    return peer;
}

/** Sends all of a text, as the window allows. */
KITS_UNUSED static void peer_send(tr_kit_peer *peer, const char *text)
{
    size_t size = strlen(text);
    ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){text, size}), size);
    tr_kit_settle(kit);
}

/** What has come for a peer within a second is this. */
#define PEER_GETS(peer, text) ck_assert_str_eq(tr_kit_receive_text(peer, TR_SECOND), text)

#endif
