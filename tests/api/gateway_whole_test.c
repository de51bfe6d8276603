/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Waits of handlers of tr_connected and tr_disconnected, before and after they change what is stored: each kind of change,
 * each durability.
 */
#include "support/desk_sockets.h"

/* Desks that are not stored at once. */
TR_ACTOR(lazy, add);
TR_BEHAVIOR(lazy, struct desk_state, TR_ON(add, on_add), TR_ON(tr_connected, on_connected),
            TR_ON(tr_disconnected, on_disconnected));
TR_DURABLE(lazy, desk_state, .durability = TR_SAVE_INTERVAL);
TR_EXPOSE(lazy, add);
TR_ACTOR(frugal, add);
TR_BEHAVIOR(frugal, struct desk_state, TR_ON(add, on_add), TR_ON(tr_connected, on_connected),
            TR_ON(tr_disconnected, on_disconnected));
TR_DURABLE(frugal, desk_state, .durability = TR_SAVE_ON_DEMAND);
TR_EXPOSE(frugal, add);

static tr_next open_all(tr_self *self)
{
    listener = tr_gateway(self, TR_HTTP(SERVER, .http = &desk_options), desk, lazy, frugal);
    return TR_SAME;
}

static void begin_all(void)
{
    kit = tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options),
                                       .seed = 1,
                                       .workers = 1,
                                       .durable = TR_DURABLES(desk, lazy, frugal)});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
    kits_seed = 1;
    said_length = 0;
    HOST(host, open_all);
    peer = peer_new();
}

/* What a handler of connections says that makes a change with waits around it. */
static const char *said_by_change(const char *kind, const char *what, bool is_gone)
{
    char request[256];
    begin_all();
    snprintf(request,
             sizeof request,
             "GET /actors/%s/a?%s-%s" SHAKE "\r\n",
             kind,
             is_gone ? "gone" : "change",
             what);
    tr_kit_peer *other = peer_new();
    peer_send(other, request);
    (void)tr_kit_receive(other, TR_SECOND);
    if (is_gone) {
        (void)said();
        tr_kit_reset(other);
        tr_kit_advance(kit, TR_SECOND);
    }
    const char *words = said();
    tr_kit_close(other);
    end();
    return words;
}

/* They may wait until they change what is stored, and not after that: each kind of change. */
static void check_changes(const char *kind)
{
    char expected[256];
    for (size_t i = 0; i < sizeof desk_changes / sizeof desk_changes[0]; i++) {
        const char *what = desk_changes[i];
        const char *after = i ? "TR_INVALID_TRANSITION TR_INVALID_TRANSITION" : "TR_OK TR_OK";
        snprintf(expected, sizeof expected, "%s: TR_OK TR_OK %s", what, after);
        for (int is_gone = 0; is_gone < 2; is_gone++) {
            const char *words = said_by_change(kind, what, is_gone);
            ck_assert_msg(strstr(words, expected), "%s", words);
        }
    }
}

TEST(handlers_of_connections_do_not_wait_after_a_change, "H-03")
{
    check_changes("desk");
}

/* What the library itself has put into the open commit, or what was there before, is no change. */
TEST(handlers_of_connections_may_save_first, "H-03")
{
    static const char *const kinds[] = {"desk", "lazy", "frugal"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        for (int saves_first = 0; saves_first < 2; saves_first++) {
            desk_saves_first = saves_first;
            check_changes(kinds[i]);
        }
    }
    desk_saves_first = false;
}

/* The wait is refused before anything is done for it: the sleep that was asked for has not started. */
TEST(a_wait_at_a_queue_that_is_refused_has_done_nothing, "H-03")
{
    begin(open_plain);
    peer_send(peer, "GET /actors/desk/a?leave" SHAKE "\r\n");
    (void)tr_kit_receive(peer, TR_SECOND);
    SAID("awake; connected 1 - leave; leaves: TR_INVALID_TRANSITION TR_INVALID_TRANSITION");
    end();
}

SUITE("waits of handlers of connections", handlers_of_connections_do_not_wait_after_a_change,
      handlers_of_connections_may_save_first, a_wait_at_a_queue_that_is_refused_has_done_nothing)
