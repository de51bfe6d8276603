/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The memory of mail: none is asked for in the steady state, and a flood's goes back.
 */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "actor/cell/slots.h"
#include "actor/mail/kind.h"
#include "actor/verbs/client.h"
#include "os/virtual.h"
#include "actor/cell/system.h"
#include "actor/mail/mail.h"

TR_MESSAGE(m8, (u64, left));
TR_MESSAGE(m24, (u64, left), (array(u64, 2), rest));
TR_MESSAGE(m100, (u64, left), (array(u8, 92), rest));
TR_MESSAGE(m500, (u64, left), (array(u8, 492), rest));
TR_MESSAGE(m1024, (u64, left), (array(u8, 1016), rest));
TR_MESSAGE(text, (u64, left), (str, text));
TR_MESSAGE(chunk, (bytes, data));
TR_MESSAGE(flood, (ref, to), (u64, count), (u64, size));
TR_ACTOR(ball_player, m8, m24, m100, m500, m1024, text);
TR_ACTOR(pump, flood);
TR_ACTOR(drain, chunk);

/* Sends the ball back until it has been played often enough. */
static uint64_t played;
#define PLAY(m)                                                                                    \
    static tr_next on_##m(tr_self *self, const struct m *message)                                  \
    {                                                                                              \
        struct m copy = *message;                                                                  \
        played++;                                                                                  \
        if (copy.left-- == 0)                                                                      \
            return TR_SAME;                                                                        \
        ck_assert_int_eq(tr_tell_copy(self, tr_sender(self), m, &copy), TR_OK);                    \
        return TR_SAME;                                                                            \
    }
PLAY(m8)
PLAY(m24)
PLAY(m100)
PLAY(m500)
PLAY(m1024)
PLAY(text)
TR_BEHAVIOR(ball_player, void, TR_ON(m8, on_m8), TR_ON(m24, on_m24), TR_ON(m100, on_m100),
            TR_ON(m500, on_m500), TR_ON(m1024, on_m1024), TR_ON(text, on_text));

static unsigned char zeros[1 << 20];
static tr_next on_flood(tr_self *self, const struct flood *message)
{
    for (uint64_t i = 0; i < message->count; i++) {
        ck_assert_int_eq(tr_tell(self, message->to, chunk, .data = {zeros, message->size}), TR_OK);
    }
    return TR_SAME;
}
static tr_next on_chunk(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(pump, void, TR_ON(flood, on_flood));
TR_BEHAVIOR(drain, void, TR_ON(chunk, on_chunk));

static tr_kit *kit;
static tr_client *client;
static struct tr_system *system_;
static struct virtual_platform *virtual;

static void begin(int workers)
{
    tr_kit_options options = {.workers = workers};
    kit = tr_kit_new(&options);
    client = tr_kit_client(kit);
    system_ = tr_kit_system(kit);
    virtual = (struct virtual_platform *)(uintptr_t)system_->platform;
}

/* Serves a ball of every size between two actors, as the second one's sender is the first. */
static void serve(ball_player_ref from, ball_player_ref to, uint64_t left)
{
    struct cell *cell = slots_find(system_->slots, to.bits);
    ck_assert_ptr_nonnull(cell);
    static const tr_type *const types[] = {
        &tr_type_m8, &tr_type_m24, &tr_type_m100, &tr_type_m500, &tr_type_m1024, &tr_type_text};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        union {
            struct m1024 largest;
            struct text text;
        } message = {.largest = {.left = left}};
        if (types[i] == &tr_type_text)
            message.text.text = "a text that makes the message a block of its own, of 64 or more";
        struct envelope_pool *pool = &system_->foreign.pool;
        struct envelope *envelope = envelope_take(pool);
        ck_assert_int_eq(envelope_fill(pool, envelope, types[i], &message, ENVELOPE_INLINE), TR_OK);
        envelope->kind = ENVELOPE_NOTICE;
        envelope->sender = from.bits;
        envelope->causal = 0;
        envelope->generation = (uint32_t)(to.bits >> 32);
        tr__mail_send_any(system_, NULL, cell, envelope);
    }
}

static void play(int workers, uint64_t *allocations)
{
    begin(workers);
    ball_player_ref a = {0};
    ball_player_ref b = {0};
    ck_assert_int_eq(tr_try_spawn(client, &a, ball_player, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(client, &b, workers - 1, ball_player, NULL), TR_OK);
    (void)tr_kit_settle(kit);
    serve(a, b, 200); /* the warm-up */
    (void)tr_kit_settle(kit);
    uint64_t before = tr_kit_allocations(kit);
    size_t bytes = tr__virtual_live_bytes(virtual);
    played = 0;
    serve(a, b, 2000);
    (void)tr_kit_settle(kit);
    ck_assert_uint_eq(played, 6 * 2001);
    *allocations = tr_kit_allocations(kit) - before;
    ck_assert_uint_eq(tr__virtual_live_bytes(virtual), bytes);
    tr_kit_check(kit);
    tr_kit_free(kit);
}

TEST(the_steady_state_needs_no_memory, "P-04", "B-06")
{
    uint64_t allocations;
    play(1, &allocations);
    ck_assert_uint_eq(allocations, 0);
}

TEST(nor_does_it_across_workers, "P-04")
{
    uint64_t allocations;
    play(2, &allocations);
    ck_assert_uint_eq(allocations, 0);
}

TEST(clients_need_none_either, "P-04")
{
    begin(2);
    ball_player_ref player = {0};
    ck_assert_int_eq(tr_try_spawn_at(client, &player, 1, ball_player, NULL), TR_OK);
    uint64_t before = 0;
    for (int i = 0; i < 1200; i++) {
        if (i == 200)
            before = tr_kit_allocations(kit);
        tr_tell(client, player, m8, .left = 1);
        tr_tell(client, player, m500, .left = 1);
        ck_assert_ptr_nonnull(tr_receive(client, m8, TR_SECOND));
        ck_assert_ptr_nonnull(tr_receive(client, m500, TR_SECOND));
    }
    ck_assert_uint_eq(tr_kit_allocations(kit), before);
    tr_kit_free(kit);
}

/* A flood of messages of a size, and what is held before it, in it, and after a rest. */
struct tide {
    size_t before;
    size_t peak;
    size_t after;
};

static void rest(drain_ref drain, pump_ref pump)
{
    /* Workers look at their memory when they have nothing to do, at most ten times a second. */
    for (int i = 0; i < 4; i++) {
        tr_kit_advance(kit, 150 * TR_MILLISECOND);
        tr_tell(client, drain, chunk, .data = {NULL, 0});
        tr_tell(client, pump, flood, .count = 0);
        (void)tr_kit_settle(kit);
    }
}

static struct tide flood(int workers, uint64_t count, uint64_t size)
{
    struct tide tide;
    begin(workers);
    pump_ref pump = {0};
    drain_ref drain = {0};
    ck_assert_int_eq(tr_try_spawn(client, &pump, pump, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(client, &drain, workers - 1, drain, NULL), TR_OK);
    rest(drain, pump);
    tide.before = tr__virtual_live_bytes(virtual);
    tr_tell(client, pump, flood, .to = tr_any(drain), .count = count, .size = size);
    (void)tr_kit_settle(kit);
    tide.peak = virtual->peak_bytes;
    rest(drain, pump);
    tide.after = tr__virtual_live_bytes(virtual);
    tr_kit_check(kit);
    tr_kit_free(kit);
    return tide;
}

/* A worker keeps up to 1 MiB of envelopes and 1 MiB of blocks for the next burst. */
enum { RESERVE = 2 << 20 };

TEST(a_flood_of_small_messages_goes_back, "P-04")
{
    struct tide tide = flood(1, 200000, 0);
    ck_assert_uint_ge(tide.peak, tide.before + 200000 * 64);
    ck_assert_uint_le(tide.after, tide.before + RESERVE);
    tide = flood(2, 200000, 0);
    ck_assert_uint_ge(tide.peak, tide.before + 200000 * 64);
    ck_assert_uint_le(tide.after, tide.before + 2 * RESERVE);
}

TEST(a_flood_of_blocks_goes_back, "P-04")
{
    struct tide tide = flood(1, 20000, 900);
    ck_assert_uint_ge(tide.peak, tide.before + 20000 * 900);
    ck_assert_uint_le(tide.after, tide.before + RESERVE);
    tide = flood(2, 20000, 900);
    ck_assert_uint_le(tide.after, tide.before + 2 * RESERVE);
}

TEST(a_flood_of_large_messages_goes_back, "P-04", "SG-09")
{
    struct tide tide = flood(1, 50, sizeof zeros);
    ck_assert_uint_ge(tide.peak, tide.before + 50 * sizeof zeros);
    ck_assert_uint_le(tide.after, tide.before + RESERVE);
    tide = flood(2, 50, sizeof zeros);
    ck_assert_uint_le(tide.after, tide.before + 2 * RESERVE);
}

TEST(a_flood_from_clients_goes_back, "P-04")
{
    static const uint64_t sizes[] = {0, 900, 100000};
    static const uint64_t counts[] = {100000, 20000, 200};
    for (int i = 0; i < 3; i++) {
        begin(2);
        pump_ref pump = {0};
        drain_ref drain = {0};
        ck_assert_int_eq(tr_try_spawn(client, &pump, pump, NULL), TR_OK);
        ck_assert_int_eq(tr_try_spawn_at(client, &drain, 1, drain, NULL), TR_OK);
        rest(drain, pump);
        size_t before = tr__virtual_live_bytes(virtual);
        for (uint64_t n = 0; n < counts[i]; n++)
            ck_assert_int_eq(tr_tell(client, drain, chunk, .data = {zeros, sizes[i]}), TR_OK);
        (void)tr_kit_settle(kit);
        rest(drain, pump);
        ck_assert_uint_le(tr__virtual_live_bytes(virtual), before + 3 * RESERVE);
        tr_kit_free(kit);
    }
}

TEST(no_memory_for_mail_is_a_status_and_nothing_leaks, "M-03", "M-04")
{
    static const uint64_t sizes[] = {0, 100, 900, 5000};
    for (uint64_t nth = 1; nth < 12; nth++) {
        begin(2);
        drain_ref drain = {0};
        ck_assert_int_eq(tr_try_spawn_at(client, &drain, 1, drain, NULL), TR_OK);
        (void)tr_kit_settle(kit);
        uint64_t refused = 0;
        tr_kit_fail_allocation(kit, nth, true);
        for (int i = 0; i < 300; i++) {
            tr_status status = tr_tell(client, drain, chunk, .data = {zeros, sizes[i % 4]});
            ck_assert(status == TR_OK || status == TR_NO_MEMORY);
            refused += status != TR_OK;
        }
        tr_kit_fail_allocation(kit, 0, false);
        ck_assert_uint_gt(refused, 0);
        (void)tr_kit_settle(kit);
        tr_counters counters;
        tr_system_counters(system_, &counters);
        ck_assert_uint_eq(counters.refused, refused);
        ck_assert_uint_eq(counters.handled, 300 - refused);
        tr_kit_free(kit);
    }
}

TEST(a_message_of_any_size_that_fits_is_copied_whole_and_nothing_beside_it, "")
{
    unsigned char message[ENVELOPE_INLINE];
    for (size_t i = 0; i < sizeof message; i++)
        message[i] = (unsigned char)(i + 1);
    for (size_t size = 0; size <= ENVELOPE_INLINE; size++) {
        struct envelope envelope;
        unsigned char *exact = malloc(size + 1); /* so that a read beyond it is seen */
        ck_assert_ptr_nonnull(exact);
        memset(&envelope, 0xee, sizeof envelope);
        memcpy(exact + 1, message, size);
        envelope_copy(&envelope, exact + 1, size);
        ck_assert_mem_eq(envelope.payload.bytes, message, size);
        for (size_t i = size; i < ENVELOPE_INLINE; i++)
            ck_assert_uint_eq(envelope.payload.bytes[i], 0xee);
        free(exact);
    }
}

SUITE("actor pools", the_steady_state_needs_no_memory, nor_does_it_across_workers,
      clients_need_none_either, a_flood_of_small_messages_goes_back, a_flood_of_blocks_goes_back,
      a_flood_of_large_messages_goes_back, a_flood_from_clients_goes_back,
      no_memory_for_mail_is_a_status_and_nothing_leaks,
      a_message_of_any_size_that_fits_is_copied_whole_and_nothing_beside_it)
