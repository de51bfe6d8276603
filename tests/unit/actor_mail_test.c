/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The five mailboxes: their order in a cycle, what a run that goes on does first, priorities.
 *
 * Envelopes of every kind are made by hand here, and the order in which an actor handles them is
 * compared with a reference that is short enough to be believed.
 */
#include "support/test.h"

#include <string.h>
#include <troupe/kit.h>

#include "actor/cell/slots.h"
#include "actor/mail/capacity.h"
#include "actor/mail/kind.h"
#include "actor/mail/mail.h"
#include "base/hash.h"
#include "actor/system/worker.h"
#include "actor/cell/post.h"

enum { KINDS = ENVELOPE_EVENT + 1, LIST_MAX = 4096 };

TR_MESSAGE(mark, (u64, n));
TR_MESSAGE(page, (u64, n), (array(u64, 12), rest));
TR_ACTOR(recorder, mark, page);
TR_ACTOR(sorter, mark);

struct list_of {
    uint64_t items[LIST_MAX];
    size_t count;
};

static struct list_of handled;
static const void *handled_at;
static bool multiplies; /* a message makes the actor send itself another one, by echo_of */

static void list_add(struct list_of *list, uint64_t item)
{
    ck_assert_uint_lt(list->count, LIST_MAX);
    list->items[list->count++] = item;
}

static void list_move(struct list_of *to, struct list_of *from)
{
    for (size_t i = 0; i < from->count; i++)
        list_add(to, from->items[i]);
    from->count = 0;
}

static uint64_t list_pop(struct list_of *list)
{
    uint64_t first = list->items[0];
    list->count--;
    memmove(list->items, list->items + 1, list->count * sizeof *list->items);
    return first;
}

/* A message is a number whose last digit is its kind. Some make another one, which this gives. */
static uint64_t echo_of(uint64_t n)
{
    uint64_t bits = hash_mix(n);
    return bits % 3 ? 0 : (bits >> 8 & 0xffffff) * 10 + bits % 7 % KINDS;
}

static void envelope_send(struct worker *from, struct cell *to, uint64_t n)
{
    struct mark message = {.n = n};
    struct envelope *envelope = envelope_take(&from->pool);
    ck_assert_ptr_nonnull(envelope);
    ck_assert_int_eq(envelope_fill(&from->pool, envelope, &tr_type_mark, &message, ENVELOPE_INLINE),
                     TR_OK);
    envelope->kind = (uint8_t)(n % 10);
    envelope->sender = 0;
    envelope->causal = 0;
    envelope->generation = cell_generation(to);
    ck_assert_int_eq(tr__mail_send(from, to, envelope), TR_OK);
}

static tr_next on_mark(tr_self *self, const struct mark *message)
{
    list_add(&handled, message->n);
    uint64_t echo = multiplies ? echo_of(message->n) : 0;
    if (echo)
        envelope_send(self->worker, self->cell, echo);
    return TR_SAME;
}

static tr_next on_page(const struct page *message)
{
    handled_at = message;
    list_add(&handled, message->n);
    return TR_SAME;
}

TR_BEHAVIOR(recorder, void, TR_ON(mark, on_mark), TR_ON(page, on_page));
TR_BEHAVIOR(sorter, void, TR_ON(mark, on_mark), TR_OPTIONS(.ordering = TR_BY_KIND));

static tr_kit *kit;
static struct worker *near; /* the actor's own */
static struct worker *far;
static struct cell *cell;

static void begin(bool by_kind)
{
    tr_kit_options options = {.workers = 2};
    kit = tr_kit_new(&options);
    recorder_ref recorder;
    sorter_ref sorter;
    uint64_t bits;
    if (by_kind) {
        ck_assert_int_eq(tr_try_spawn(tr_kit_client(kit), &sorter, sorter, NULL), TR_OK);
        bits = sorter.bits;
    } else {
        ck_assert_int_eq(tr_try_spawn(tr_kit_client(kit), &recorder, recorder, NULL), TR_OK);
        bits = recorder.bits;
    }
    (void)tr_kit_settle(kit);
    tr_system *system = tr_kit_system(kit);
    near = system->workers[0];
    far = system->workers[1];
    cell = slots_find(system->slots, bits);
    ck_assert_ptr_nonnull(cell);
    ck_assert_int_eq(cell->sched_state, SCHED_WAITING);
    handled.count = 0;
}

static void run(uint32_t turns)
{
    (void)tr__worker_slice(near, turns);
    tr_kit_check(kit);
}

static void expect(const uint64_t *numbers, size_t count)
{
    ck_assert_uint_eq(handled.count, count);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(handled.items[i], numbers[i]);
}
#define EXPECT(...)                                                                                \
    do {                                                                                           \
        static const uint64_t numbers[] = {__VA_ARGS__};                                           \
        expect(numbers, sizeof numbers / sizeof *numbers);                                         \
    } while (0)

static void send_all(struct worker *from, const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        envelope_send(from, cell, numbers[i]);
}
#define SEND(from, ...)                                                                            \
    do {                                                                                           \
        static const uint64_t numbers[] = {__VA_ARGS__};                                           \
        send_all(from, numbers, sizeof numbers / sizeof *numbers);                                 \
    } while (0)

TEST(a_cycle_takes_the_mailboxes_in_order, "M-01", "SG-10")
{
    begin(true);
    SEND(near, 14, 13, 12, 11, 10, 24, 23, 22, 21, 20);
    run(64);
    EXPECT(10, 20, 11, 21, 12, 22, 13, 23, 14, 24);
    tr_kit_free(kit);
}

TEST(the_order_is_the_same_for_mail_from_elsewhere, "M-01", "SG-10")
{
    begin(true);
    SEND(far, 14, 13, 12, 11, 10, 24, 23, 22, 21, 20);
    run(64);
    EXPECT(10, 20, 11, 21, 12, 22, 13, 23, 14, 24);
    tr_kit_free(kit);
}

TEST(by_arrival_asks_and_notices_are_one_queue, "M-01", "SG-10")
{
    begin(false);
    SEND(near, 14, 13, 12, 11, 10, 24, 23, 22, 21, 20);
    run(64);
    EXPECT(10, 20, 11, 21, 13, 12, 23, 22, 14, 24);
    tr_kit_free(kit);
}

TEST(what_arrives_during_a_cycle_waits_for_the_next, "M-01", "SG-10", "SG-15")
{
    begin(true);
    multiplies = true;
    /* The numbers whose echoes are replies: they would go first if they joined the cycle. */
    uint64_t makes_reply = 13;
    while (!echo_of(makes_reply) || echo_of(makes_reply) % 10 != ENVELOPE_REPLY ||
           echo_of(echo_of(makes_reply)))
        makes_reply += 10;
    uint64_t plain = 14;
    while (echo_of(plain))
        plain += 10;
    envelope_send(near, cell, makes_reply);
    envelope_send(near, cell, plain);
    run(64);
    uint64_t wanted[] = {makes_reply, plain, echo_of(makes_reply)};
    expect(wanted, 3);
    tr_kit_free(kit);
}

TEST(an_unfinished_cycle_goes_on_with_new_replies_and_exceptions_first, "M-01")
{
    begin(true);
    SEND(near, 13, 23, 33, 14);
    run(1);
    SEND(near, 44, 43, 42, 41, 40);
    run(1);
    EXPECT(13, 40);
    run(64);
    EXPECT(13, 40, 41, 23, 33, 14, 42, 43, 44);
    tr_kit_free(kit);
}

TEST(new_replies_come_behind_older_ones_of_the_unfinished_cycle, "M-01")
{
    begin(true);
    SEND(near, 10, 20, 30, 11, 13);
    run(1);
    SEND(far, 41, 40);
    run(64);
    EXPECT(10, 20, 30, 11, 40, 41, 13);
    tr_kit_free(kit);
}

TEST(a_message_to_oneself_comes_behind_what_has_arrived, "SG-15")
{
    begin(false);
    multiplies = true;
    uint64_t first = 13;
    while (echo_of(first) % 10 != ENVELOPE_NOTICE || echo_of(echo_of(first)))
        first += 10;
    uint64_t second = 13;
    while (echo_of(second))
        second += 10;
    envelope_send(near, cell, first);
    envelope_send(far, cell, second);
    run(64);
    uint64_t wanted[] = {first, second, echo_of(first)};
    expect(wanted, 3);
    tr_kit_free(kit);
}

/* ---- The reference. ---- */

struct reference {
    struct list_of inbox;
    struct list_of boxes[KINDS];
    struct list_of cycle;
    struct list_of handled;
    bool by_kind;
};

static void reference_put(struct reference *ref, uint64_t n)
{
    uint64_t box = n % 10;
    if (box == ENVELOPE_ASK && !ref->by_kind)
        box = ENVELOPE_NOTICE;
    list_add(&ref->boxes[box], n);
}

static void reference_take_in(struct reference *ref)
{
    for (size_t i = 0; i < ref->inbox.count; i++)
        reference_put(ref, ref->inbox.items[i]);
    ref->inbox.count = 0;
}

static void reference_run(struct reference *ref, uint32_t turns)
{
    static struct list_of rest;
    reference_take_in(ref);
    rest.count = 0;
    list_move(&rest, &ref->cycle);
    while (rest.count && rest.items[0] % 10 <= ENVELOPE_EXCEPTION)
        list_add(&ref->cycle, list_pop(&rest));
    if (ref->cycle.count + rest.count) {
        list_move(&ref->cycle, &ref->boxes[ENVELOPE_REPLY]);
        list_move(&ref->cycle, &ref->boxes[ENVELOPE_EXCEPTION]);
        list_move(&ref->cycle, &rest);
    }
    while (turns--) {
        if (!ref->cycle.count) {
            reference_take_in(ref);
            for (int kind = 0; kind < KINDS; kind++)
                list_move(&ref->cycle, &ref->boxes[kind]);
        }
        if (!ref->cycle.count)
            return;
        uint64_t n = list_pop(&ref->cycle);
        list_add(&ref->handled, n);
        if (echo_of(n)) {
            reference_take_in(ref);
            reference_put(ref, echo_of(n));
        }
    }
}

static void compare(struct rng *rng, bool by_kind)
{
    static struct reference reference;
    memset(&reference, 0, sizeof reference);
    reference.by_kind = by_kind;
    begin(by_kind);
    multiplies = true;
    for (int step = 0; step < 200; step++) {
        uint64_t n = (1 + rng_below(rng, 1000000)) * 10 + rng_below(rng, KINDS);
        uint32_t turns = 1 + (uint32_t)rng_below(rng, 6);
        switch (rng_below(rng, 5)) {
        case 0:
        case 1:
            envelope_send(near, cell, n);
            reference_take_in(&reference);
            reference_put(&reference, n);
            break;
        case 2:
        case 3:
            envelope_send(far, cell, n);
            list_add(&reference.inbox, n);
            break;
        default:
            run(turns);
            reference_run(&reference, turns);
            break;
        }
        expect(reference.handled.items, reference.handled.count);
    }
    for (int i = 0; i < 50; i++) {
        run(64);
        reference_run(&reference, 64);
    }
    expect(reference.handled.items, reference.handled.count);
    tr_kit_free(kit);
}

TEST(random_mail_is_handled_as_the_reference_says, "M-01", "SG-10", "SG-15", "MB-07")
{
    struct rng rng;
    rng_init(&rng, test_seed());
    for (uint64_t round = test_scale(300, 30000); round > 0; round--)
        compare(&rng, rng_below(&rng, 2));
}

/* ---- Priority. ---- */

/* Takes the posts in, as the loop does, and says into which queue the actor was put. */
static enum task_class place(void)
{
    struct stack_node *node = stack_reverse(ready_take(&near->loop.ready));
    while (node) {
        struct stack_node *next = node->next;
        tr__worker_hooks.on_post(&near->loop, node);
        node = next;
    }
    enum task_class class;
    struct task *task = runqueue_pop(&near->loop.queue, &class);
    ck_assert_ptr_eq(task, &cell->task);
    ck_assert(runqueue_is_empty(&near->loop.queue));
    loop_enqueue(&near->loop, task, class);
    return class;
}

static enum task_class class_with(int replies, int exceptions, int asks, int notices, int events)
{
    int counts[KINDS] = {replies, exceptions, asks, notices, events};
    begin(false);
    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < counts[kind]; i++)
            envelope_send(far, cell, 10 + (uint64_t)kind);
    }
    enum task_class class = place();
    tr_kit_free(kit);
    return class;
}

TEST(a_stock_without_messages_or_lines_has_no_room, "MB-07")
{
    static const uint32_t counts[] = {0, 1, 2, 63, 64, 127, 128, 255, 256, 320, 4096, 0x7fff};
    for (size_t i = 0; i < 144; i++) {
        uint32_t messages = counts[i / 12], lines = counts[i % 12];
        struct cell full = {.stock = lines << STOCK_LINES_SHIFT | messages, .queued_lines = 7};
        full.stock_and_lines += MAIL_ONE_NOTICE;
        ck_assert_uint_eq(mail_is_overdrawn(full.stock_and_lines), !messages || !lines);
        if (messages && lines) {
            ck_assert_uint_eq(full.stock, (lines - 1) << STOCK_LINES_SHIFT | (messages - 1));
            ck_assert_uint_eq(full.queued_lines, 8);
        }
    }
}

TEST(more_than_four_events_or_two_replies_are_high, "D-01")
{
    ck_assert_int_eq(class_with(0, 0, 0, 0, 4), TASK_NORMAL);
    ck_assert_int_eq(class_with(0, 0, 0, 0, 5), TASK_HIGH);
    ck_assert_int_eq(class_with(2, 0, 0, 0, 0), TASK_NORMAL);
    ck_assert_int_eq(class_with(3, 0, 0, 0, 0), TASK_HIGH);
    ck_assert_int_eq(class_with(2, 100, 100, 100, 4), TASK_NORMAL);
    ck_assert_int_eq(class_with(2, 1, 1, 1, 5), TASK_HIGH);
    ck_assert_int_eq(class_with(3, 1, 1, 1, 0), TASK_HIGH);
}

TEST(priority_is_sampled_when_the_actor_is_placed, "D-01")
{
    begin(false);
    SEND(near, 14);
    ck_assert_int_eq(place(), TASK_NORMAL);
    /* It is in its queue: what comes now does not move it, */
    SEND(near, 24, 34, 44, 54, 64, 74);
    SEND(far, 84, 94, 104, 114, 124, 134);
    ck_assert_int_eq(place(), TASK_NORMAL);
    /* but counts when it is placed the next time. */
    run(1);
    SEND(near, 144, 154, 164, 174, 184);
    run(11);
    ck_assert_uint_eq(handled.count, 12);
    enum task_class class;
    ck_assert_ptr_eq(runqueue_pop(&near->loop.queue, &class), &cell->task);
    ck_assert_int_eq(class, TASK_HIGH);
    loop_enqueue(&near->loop, &cell->task, class);
    run(64);
    ck_assert_uint_eq(handled.count, 18);
    tr_kit_free(kit);
}

/* ---- Hand-over. ---- */

TEST(a_message_reaches_another_worker_by_pointer, "P-04")
{
    begin(false);
    struct page message = {.n = 13, .rest = {1, 2, 3}};
    struct envelope *envelope = envelope_take(&far->pool);
    ck_assert_int_eq(envelope_fill(&far->pool, envelope, &tr_type_page, &message, ENVELOPE_INLINE),
                     TR_OK);
    envelope->kind = ENVELOPE_NOTICE;
    envelope->sender = 0;
    envelope->causal = 0;
    envelope->generation = cell_generation(cell);
    const void *block = envelope_data(envelope);
    uint64_t allocations = tr_kit_allocations(kit);
    ck_assert_int_eq(tr__mail_send(far, cell, envelope), TR_OK);
    run(64);
    EXPECT(13);
    ck_assert_ptr_eq(handled_at, block);
    ck_assert_uint_eq(tr_kit_allocations(kit), allocations);
    tr_kit_free(kit);
}

TEST(envelopes_go_home_with_their_blocks, "P-04")
{
    begin(false);
    struct page message = {.n = 13};
    size_t taken = far->pool.blocks.blocks_taken;
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 10; i++) {
            struct envelope *envelope = envelope_take(&far->pool);
            ck_assert_int_eq(
                envelope_fill(&far->pool, envelope, &tr_type_page, &message, ENVELOPE_INLINE),
                TR_OK);
            ck_assert_uint_eq(envelope->home, 1);
            envelope->kind = ENVELOPE_NOTICE;
            envelope->sender = 0;
            envelope->generation = cell_generation(cell);
            ck_assert_int_eq(tr__mail_send(far, cell, envelope), TR_OK);
        }
        run(64);
        tr__envelope_flush(&near->pool);
    }
    ck_assert_uint_eq(handled.count, 1000);
    tr__envelope_pool_trim(&far->pool);
    ck_assert_uint_eq(far->pool.blocks.blocks_taken, taken);
    ck_assert_uint_eq(near->pool.blocks.blocks_taken, 0);
    ck_assert_uint_le(far->pool.made, 64);
    tr_kit_free(kit);
}

TEST(a_ready_actor_is_in_one_queue_and_posted_once, "WP-07")
{
    begin(false);
    SEND(far, 13, 23);
    SEND(near, 33);
    SEND(far, 43);
    SEND(near, 53);
    /* One post is on its way, and the local mail has put it into a queue. */
    ck_assert_int_eq(cell->sched_state, SCHED_READY);
    struct stack_node *node = ready_take(&near->loop.ready);
    ck_assert_ptr_eq(node, &cell->door.ready);
    ck_assert_ptr_null(node->next);
    (void)ready_post(&near->loop.ready, node);
    ck_assert_int_eq(place(), TASK_NORMAL);
    SEND(far, 63);
    run(64);
    EXPECT(13, 23, 33, 43, 53, 63);
    ck_assert_int_eq(cell->sched_state, SCHED_WAITING);
    ck_assert(runqueue_is_empty(&near->loop.queue));
    tr_kit_free(kit);
}

TEST(a_post_without_mail_is_harmless, "WP-02")
{
    begin(false);
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(door_nudge(&cell->door), DOOR_TAKEN_POST);
        tr__system_post(tr_kit_system(kit), NULL, cell);
        ck_assert_int_eq(door_nudge(&cell->door), DOOR_TAKEN);
        (void)tr_kit_settle(kit);
        ck_assert_int_eq(cell->sched_state, SCHED_WAITING);
    }
    ck_assert_uint_eq(handled.count, 0);
    SEND(far, 13);
    (void)tr_kit_settle(kit);
    EXPECT(13);
    tr_kit_free(kit);
}

TEST_ABORTS(an_actor_is_run_by_its_owner_only, "WP-06")
{
    begin(false);
    SEND(near, 13);
    enum task_class class;
    ck_assert_ptr_eq(runqueue_pop(&near->loop.queue, &class), &cell->task);
    loop_enqueue(&far->loop, &cell->task, class);
    (void)tr__worker_slice(far, 1);
}

SUITE("actor mail", a_cycle_takes_the_mailboxes_in_order,
      the_order_is_the_same_for_mail_from_elsewhere, by_arrival_asks_and_notices_are_one_queue,
      what_arrives_during_a_cycle_waits_for_the_next,
      an_unfinished_cycle_goes_on_with_new_replies_and_exceptions_first,
      new_replies_come_behind_older_ones_of_the_unfinished_cycle,
      a_message_to_oneself_comes_behind_what_has_arrived,
      random_mail_is_handled_as_the_reference_says, a_stock_without_messages_or_lines_has_no_room,
      more_than_four_events_or_two_replies_are_high, priority_is_sampled_when_the_actor_is_placed,
      a_message_reaches_another_worker_by_pointer, envelopes_go_home_with_their_blocks,
      a_ready_actor_is_in_one_queue_and_posted_once, a_post_without_mail_is_harmless,
      an_actor_is_run_by_its_owner_only)
