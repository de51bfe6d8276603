/* SPDX-License-Identifier: Apache-2.0 */
/** What a WebSocket of a gateway costs while its actor sleeps: all else comes and goes. On kits. */
#include "actor/cell/slots.h"
#include "actor/cell/ask_table.h"
#include "actor/cell/system.h"
#include "gateway/socket.h"
#include "net/deadline.h"
#include "net/rare.h"
#include "net/table.h"
#include "net/work.h"
#include "support/desk_sockets.h"

enum { COST_MAX = 600, BLOCK_HEAD = 8, BLOCK_ROUND = 16 };

/** Returns the channel of the only WebSocket. */
static struct channel *socket_channel(void)
{
    struct tr_system *system = tr_kit_system(kit);
    for (uint32_t i = 1; i < tr__table_used(system); i++) {
        const struct channel *slot = tr__table_slot(system, i);
        struct channel *found = tr__table_find(system, channel_bits(slot));
        if (found && found->session)
            return found;
    }
    ck_abort_msg("there is no WebSocket");
}

/** Returns what the allocator of the C library uses for a block of this size. */
static size_t block(size_t size)
{
    return (size + BLOCK_HEAD + BLOCK_ROUND - 1) / BLOCK_ROUND * BLOCK_ROUND;
}

/** The socket has nothing but what a hibernating one has. */
static void hibernates(void)
{
    const struct channel *channel = socket_channel();
    ck_assert(!work_is_there(channel));
    ck_assert(!rare_is_there(channel));
    ck_assert_ptr_null(channel->event);
    ck_assert(!channel_has(channel, CHANNEL_PEER_FAR));
    ck_assert_ptr_null(channel->cell->extra);
    ck_assert_ptr_null(channel->cell->heap);
    ck_assert_ptr_null(channel->cell->origin);
    ck_assert_ptr_null(channel->cell->name);
    const struct ws_session *session = ws_session_of(channel);
    ck_assert_ptr_null(session->joined);
    ck_assert_ptr_null(((const struct socket_above *)(const void *)session->above)->pass);
}

static void fall_asleep(void)
{
    tr_kit_advance(kit, 20 * TR_SECOND);
    tr_durable_page page = {0};
    ck_assert_int_eq(tr_durable_list(test, desk, &page), TR_OK);
    ck_assert(page.count == 1 && !page.keys[0].is_awake);
}

TEST(a_hibernating_socket_costs_600_bytes, "B-12", "H-03")
{
    size_t cost = sizeof(struct cell) + SLOTS_CHANNELS_SIZE + sizeof(struct channel) +
                  block(sizeof(struct channel_timer)) + block(sizeof(struct ws_session)) +
                  block(sizeof(struct socket_above));
    ck_assert_uint_le(cost, COST_MAX);
    begin(open_plain);
    connect_to(peer, "/actors/desk/a", OPEN(0, false));
    fall_asleep();
    hibernates();
    for (int i = 0; i < 3; i++) {
        ASKS(peer, "{\"id\":1,\"ask\":\"look\"}", TOLD(1, 0));
        fall_asleep();
        hibernates();
    }
    end();
}

TEST(a_message_in_pieces_costs_nothing_afterwards, "B-12")
{
    begin(open_plain);
    connect_to(peer, "/actors/desk/a", OPEN(0, false));
    struct ws_bytes bytes = {0};
    static const char first[] = "{\"id\":1,", second[] = "\"ask\":\"look\"}";
    ws_add_frame(&bytes,
                 (struct ws_made){.first = 0x01, .is_masked = true},
                 (const unsigned char *)first,
                 sizeof first - 1);
    ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){bytes.data, bytes.size}), bytes.size);
    tr_kit_settle(kit);
    ck_assert_ptr_nonnull(ws_session_of(socket_channel())->joined);
    bytes.size = 0;
    ws_add_frame(&bytes,
                 (struct ws_made){.first = 0x80, .is_masked = true},
                 (const unsigned char *)second,
                 sizeof second - 1);
    ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){bytes.data, bytes.size}), bytes.size);
    tr_kit_settle(kit);
    free(bytes.data);
    GETS(peer, TOLD(1, 0));
    fall_asleep();
    hibernates();
    end();
}

/* Returns the number of the ask that the socket waits for. */
static uint32_t number_of_ask(void)
{
    const struct cell_extra *extra = socket_channel()->cell->extra;
    ck_assert_ptr_nonnull(extra);
    ck_assert_ptr_nonnull(extra->asks.table.newest);
    return extra->asks.table.newest->id;
}

/* The reply to the first ask comes when the socket waits for the second one. */
TEST(a_late_reply_is_not_the_reply_to_a_later_ask, "B-12", "H-01")
{
    static const char hang[] = "{\"id\":1,\"ask\":\"misbehave\",\"with\":{\"how\":3}}";
    begin(open_plain);
    connect_to(peer, "/actors/desk/a", OPEN(0, false));
    say_to(peer, hang);
    uint32_t first = number_of_ask();
    (void)tr_kit_receive(peer, TR_MINUTE / 2); /* it was too late */
    tr_kit_settle(kit);
    hibernates();
    say_to(peer, hang);
    ck_assert_uint_gt(number_of_ask(), first);
    end();
}

SUITE("gateway footprint", a_hibernating_socket_costs_600_bytes,
      a_message_in_pieces_costs_nothing_afterwards, a_late_reply_is_not_the_reply_to_a_later_ask)
