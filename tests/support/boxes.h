/* SPDX-License-Identifier: Apache-2.0 */
/**
 * For tests of bounded mailboxes: boxes that write down what they handle, and senders on the same
 * worker, on another one, and outside.
 *
 * A burst is sent in one turn, or by a client between two turns: the box handles nothing meanwhile,
 * so what is taken and what is not is known to the message.
 */
#ifndef TROUPE_TESTS_SUPPORT_BOXES_H
#define TROUPE_TESTS_SUPPORT_BOXES_H

#include "support/kits.h"

/* How much room each takes, in lines of 64 bytes: one for the message, and its size. */
TR_MESSAGE(item, (u32, from), (u32, n));                      /* 1 */
TR_MESSAGE(page, (u32, from), (u32, n), (array(u64, 12), r)); /* 3: it has 104 bytes */
TR_MESSAGE(book, (u32, from), (u32, n), (array(u64, 64), r)); /* 10: it has 520 bytes */
TR_MESSAGE(blob, (u32, from), (u32, n), (bytes, data));       /* as many as the test likes */
TR_ACTOR(pusher, run);

enum size { ITEM, PAGE, BOOK };
static const uint32_t size_lines[] = {1, 3, 10};

enum from { FROM_NEAR, FROM_FAR, FROM_CLIENT, FROM_COUNT };

enum { BOXED_MAX = 8192 };

/** What boxes have handled. */
static uint32_t boxed[BOXED_MAX];
static size_t boxed_count;

static tr_next boxes_add(uint32_t n)
{
    ck_assert_uint_lt(boxed_count, BOXED_MAX);
    boxed[boxed_count++] = n;
    return TR_SAME;
}

KITS_UNUSED static tr_next on_item(const struct item *message)
{
    return boxes_add(message->n);
}
KITS_UNUSED static tr_next on_page(const struct page *message)
{
    return boxes_add(message->n);
}
KITS_UNUSED static tr_next on_book(const struct book *message)
{
    return boxes_add(message->n);
}
KITS_UNUSED static tr_next on_blob(const struct blob *message)
{
    return boxes_add(message->n);
}

/** The behavior of a box; the options follow. */
#define BOX(name, ...)                                                                             \
    TR_BEHAVIOR(name,                                                                              \
                void,                                                                              \
                TR_ON(item, on_item),                                                              \
                TR_ON(page, on_page),                                                              \
                TR_ON(book, on_book),                                                              \
                TR_ON(blob, on_blob),                                                              \
                TR_ON(run, on_run),                                                                \
                TR_OPTIONS(__VA_ARGS__))

TR_BEHAVIOR(pusher, void, TR_ON(run, on_run));

/* ---- Bursts. ---- */

static tr_ref burst_to;
static uint32_t burst_first;
static uint32_t burst_count;
static const enum size *burst_sizes; /* NULL: items */
static uint32_t burst_taken;         /* sends that were answered TR_OK, */
static uint32_t burst_full;          /* and TR_MAILBOX_FULL */

#define BURST_SEND(sender, i)                                                                      \
    (!burst_sizes || burst_sizes[i] == ITEM                                                        \
         ? tr_tell(sender, burst_to, item, .n = burst_first + (i))                                 \
     : burst_sizes[i] == PAGE ? tr_tell(sender, burst_to, page, .n = burst_first + (i))            \
                              : tr_tell(sender, burst_to, book, .n = burst_first + (i)))

static void burst_note(tr_status status)
{
    ck_assert(status == TR_OK || status == TR_MAILBOX_FULL);
    burst_taken += status == TR_OK;
    burst_full += status == TR_MAILBOX_FULL;
}

static tr_next burst_turn(tr_self *self)
{
    for (uint32_t i = 0; i < burst_count; i++)
        burst_note(BURST_SEND(self, i));
    return TR_SAME;
}

static inline pusher_ref pusher_at(int worker)
{
    pusher_ref pusher = {0};
    ck_assert_int_eq(tr_try_spawn_at(test, &pusher, worker, pusher, NULL), TR_OK);
    return pusher;
}

/**
 * One step at a time until what an actor was told to do is done: the receiver, which runs on the
 * same worker or elsewhere, may handle something before, but nothing in between.
 */
static bool is_turn_over;
static turn *turn_wanted;
static tr_next turn_and_note(tr_self *self)
{
    tr_next next = turn_wanted(self);
    is_turn_over = true;
    return next;
}

KITS_UNUSED static void turn_at(int worker, turn *wanted)
{
    pusher_ref pusher = pusher_at(worker);
    is_turn_over = false;
    turn_wanted = wanted;
    ck_assert_int_eq(TELL_RUN(test, pusher, turn_and_note), TR_OK);
    while (!is_turn_over)
        ck_assert(tr_kit_step(kit));
}

/** Sends messages first, first + 1, ... to a box that is at `home`. */
KITS_UNUSED static void burst(enum from from, tr_ref to, uint32_t first, uint32_t count,
                              const enum size *sizes)
{
    burst_to = to;
    burst_first = first;
    burst_count = count;
    burst_sizes = sizes;
    burst_taken = 0;
    burst_full = 0;
    if (from == FROM_CLIENT) {
        for (uint32_t i = 0; i < count; i++)
            burst_note(BURST_SEND(test, i));
    } else {
        turn_at(from == FROM_NEAR ? home : 0, burst_turn);
    }
    tr_kit_check(kit);
}

/** What boxes handled since the last time is exactly first, first + 1, ... */
#define BOXED(first_, count_)                                                                      \
    do {                                                                                           \
        tr_kit_settle(kit);                                                                        \
        ck_assert_uint_eq(boxed_count, (count_));                                                  \
        for (uint32_t i_ = 0; i_ < boxed_count; i_++)                                              \
            ck_assert_uint_eq(boxed[i_], (uint32_t)(first_) + i_);                                 \
        boxed_count = 0;                                                                           \
    } while (0)

/** What the counters have gained since the last time; runs of test actors do not count. */
struct gain {
    uint64_t accepted;
    uint64_t refused;
    uint64_t dead;
    uint64_t handled;
};

KITS_UNUSED static struct gain gain(void)
{
    static struct gain last;
    static const tr_kit *last_kit;
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    struct gain now = {counters.accepted,
                       counters.refused,
                       counters.dead_letters - counters.refused,
                       counters.handled};
    if (last_kit != kit)
        last = (struct gain){0};
    last_kit = kit;
    struct gain gain = {now.accepted - last.accepted,
                        now.refused - last.refused,
                        now.dead - last.dead,
                        now.handled - last.handled};
    last = now;
    return gain;
}

KITS_UNUSED static tr_ref box_new(const tr_behavior *behavior)
{
    const tr_spawn_args args = {.size = sizeof args, .behavior = behavior, .worker = home};
    uint64_t bits = 0;
    ck_assert_int_eq(tr_client_try_spawn(test, &args, &bits), TR_OK);
    return tr_ref_from_bits(bits);
}

/** A kit with three workers, so that near and far are told apart, and a box that is up. */
KITS_UNUSED static tr_ref box_open(uint64_t seed, const tr_behavior *behavior)
{
    kit_open(3, seed);
    boxed_count = 0;
    tr_ref box = box_new(behavior);
    tr_kit_settle(kit);
    (void)gain();
    return box;
}

/** The box keeps its mail from now on. */
KITS_UNUSED static void box_hold(tr_ref box)
{
    ck_assert_int_eq(tr_suspend(test, box), TR_OK);
    tr_kit_settle(kit);
}

KITS_UNUSED static void box_let_go(tr_ref box)
{
    ck_assert_int_eq(tr_resume(test, box), TR_OK);
    tr_kit_settle(kit);
}

#endif
