/* SPDX-License-Identifier: Apache-2.0 */
/** What an idle session costs: its cell, its channel and a place beside the cell. All else comes and goes. */
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "net/deadline.h"
#include "net/rare.h"
#include "net/table.h"
#include "net/work.h"
#include "support/net.h"

enum { COST_MAX = 400, LARGE = 32 * 1024 };

static uint64_t bits; /* of the channel of the last session that got something */

static tr_next on_line(tr_self *self, const struct tr_received *line)
{
    static char large[LARGE];
    memset(large, 'x', sizeof large);
    bits = line->channel.bits;
    if (strcmp(line->bytes.data, "much") == 0)
        tr_write(self, line->channel, (tr_bytes){large, sizeof large});
    else
        tr_print(self, line->channel, "%s\n", (const char *)line->bytes.data);
    return TR_SAME;
}

TR_BEHAVIOR(session, void, TR_ON(tr_received, on_line));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static tr_time idle_ns;
static tr_next listen(tr_self *self)
{
    listener = tr_listen(self, session, TR_TCP(SERVER, .framing = TR_LINES, .idle_ns = idle_ns));
    return TR_SAME;
}

static void begin(void)
{
    kit_open(1, 1);
    HOST(host, listen);
}

static struct channel *channel(void)
{
    struct channel *found = tr__table_find(tr_kit_system(kit), bits);
    ck_assert_ptr_nonnull(found);
    return found;
}

/** The session has nothing but what an idle one has. */
static void is_idle(void)
{
    ck_assert(!work_is_there(channel()));
    ck_assert(!rare_is_there(channel()));
    ck_assert_ptr_null(channel()->timer);
    ck_assert_ptr_null(channel()->event);
    ck_assert_ptr_null(channel()->cell->extra);
    ck_assert(!channel_has(channel(), CHANNEL_PEER_FAR));
}

TEST(an_idle_session_costs_400_bytes, "B-12")
{
    ck_assert_uint_le(sizeof(struct cell) + sizeof(struct channel) + SLOTS_CHANNELS_SIZE, COST_MAX);
    begin();
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "hello\n");
    PEER_GETS(peer, "hello\n");
    is_idle();
    peer_send(peer, "in two ");
    ck_assert(work_is_there(channel())); /* it keeps a part of a line */
    peer_send(peer, "pieces\n");
    PEER_GETS(peer, "in two pieces\n");
    is_idle();
    tr_kit_close(peer);
    kit_close();
}

/* The output that the peer does not take, and the timer that looks whether it does. */
TEST(what_a_slow_peer_costs_is_given_back, "B-12")
{
    static const tr_kit_network narrow = {.window = 4096};
    begin();
    tr_kit_set_network(kit, &narrow);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "much\n");
    ck_assert(work_is_there(channel()));
    ck_assert_ptr_nonnull(channel()->timer);
    size_t got = 0;
    while (got < LARGE)
        got += tr_kit_receive(peer, TR_SECOND).size;
    ck_assert_uint_eq(got, LARGE);
    ck_assert(!work_is_there(channel()));
    tr_kit_advance(kit, 2 * TR_STALL_NS); /* the timer fires, and nothing is left to wait for */
    is_idle();
    tr_kit_close(peer);
    kit_close();
}

TEST(an_idle_limit_costs_a_timer, "B-12", "C-05")
{
    idle_ns = TR_SECOND;
    begin();
    tr_kit_peer *peer = peer_new();
    for (int i = 0; i < 3; i++) {
        tr_kit_advance(kit, 700 * TR_MILLISECOND);
        peer_send(peer, "hello\n");
        PEER_GETS(peer, "hello\n");
        ck_assert_ptr_nonnull(channel()->timer);
        ck_assert(!work_is_there(channel()));
    }
    tr_kit_advance(kit, 2 * TR_SECOND);
    ck_assert_int_ne(tr_kit_peer_status(peer), TR_OK);
    tr_kit_close(peer);
    kit_close();
    idle_ns = 0;
}

SUITE("net footprint", an_idle_session_costs_400_bytes, what_a_slow_peer_costs_is_given_back,
      an_idle_limit_costs_a_timer)
