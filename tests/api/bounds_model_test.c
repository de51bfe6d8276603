/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bounded mailboxes against a model: random messages, near and from outside, stash, unstash and
 * become. On one worker every message is foretold; on several the laws that hold for any schedule.
 */
#include "support/boxes.h"

enum { OVERDRAFT = TR_OVERDRAFT_MAX, LIST_MAX = 4096, BOXES = 9, STEPS = 400 };

/* ---- One worker: everything is foretold. ---- */

struct entry {
    uint32_t n;
    uint32_t lines;
};
struct list_of {
    struct entry items[LIST_MAX];
    size_t count;
    uint32_t lines;
};
static struct list_of waiting; /* with capacity in the mailbox, in order */
static struct list_of stashed;
static uint32_t next_n;
static uint32_t box_now; /* which of the behaviors */
static uint64_t model_random;
static size_t told; /* as many of the last that wait came from outside, and are not taken in yet */

static uint32_t chance(uint32_t below)
{
    model_random = model_random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(model_random >> 33) % below;
}

static void list_add(struct list_of *list, struct entry entry)
{
    ck_assert_uint_lt(list->count, LIST_MAX);
    list->items[list->count++] = entry;
    list->lines += entry.lines;
}

static struct entry list_pop(struct list_of *list)
{
    struct entry first = list->items[0];
    ck_assert_uint_gt(list->count, 0);
    list->count--;
    list->lines -= first.lines;
    memmove(list->items, list->items + 1, list->count * sizeof first);
    return first;
}

static tr_next on_any(tr_self *self, uint32_t n);
static tr_next any_item(tr_self *self, const struct item *message)
{
    return on_any(self, message->n);
}
static tr_next any_page(tr_self *self, const struct page *message)
{
    return on_any(self, message->n);
}
static tr_next any_book(tr_self *self, const struct book *message)
{
    return on_any(self, message->n);
}

struct bound {
    uint32_t messages;
    uint32_t lines;
    tr_overflow overflow;
};
#define MODEL_BOX(number, messages, lines, policy)                                                 \
    TR_BEHAVIOR(box##number,                                                                       \
                void,                                                                              \
                TR_ON(item, any_item),                                                             \
                TR_ON(page, any_page),                                                             \
                TR_ON(book, any_book),                                                             \
                TR_OPTIONS(.mailbox_max = messages,                                                \
                           .mailbox_bytes_max = 64 * (lines),                                      \
                           .overflow = policy));                                                   \
    static const struct bound bound##number = {messages, lines, policy}
MODEL_BOX(0, 5, 100, TR_OVERFLOW_FAIL);
MODEL_BOX(1, 20, 30, TR_OVERFLOW_FAIL);
MODEL_BOX(2, 1, 9, TR_OVERFLOW_FAIL);
MODEL_BOX(3, 5, 100, TR_DROP_NEWEST);
MODEL_BOX(4, 20, 30, TR_DROP_NEWEST);
MODEL_BOX(5, 5, 100, TR_DROP_OLDEST);
MODEL_BOX(6, 20, 30, TR_DROP_OLDEST);
MODEL_BOX(7, 3, 9, TR_DROP_OLDEST);
MODEL_BOX(8, 5000, 50000, TR_DROP_NEWEST);
static const tr_behavior *const boxes[BOXES] = {&tr_behavior_box0,
                                                &tr_behavior_box1,
                                                &tr_behavior_box2,
                                                &tr_behavior_box3,
                                                &tr_behavior_box4,
                                                &tr_behavior_box5,
                                                &tr_behavior_box6,
                                                &tr_behavior_box7,
                                                &tr_behavior_box8};
static const struct bound *const bounds[BOXES] = {
    &bound0, &bound1, &bound2, &bound3, &bound4, &bound5, &bound6, &bound7, &bound8};

static bool fits(uint32_t lines)
{
    const struct bound *bound = bounds[box_now];
    return waiting.count < bound->messages && waiting.lines + lines <= bound->lines;
}

/* The owner takes in what came from outside, and drops what is too much. */
static void model_take_in(void)
{
    const struct bound *bound = bounds[box_now];
    size_t first = waiting.count - told;
    if (told == 0)
        return;
    told = 0;
    if (bound->overflow != TR_DROP_OLDEST)
        return;
    for (size_t i = waiting.count; i-- > first;) {
        if (waiting.items[i].lines <= bound->lines)
            continue;
        waiting.lines -= waiting.items[i].lines;
        waiting.count--;
        memmove(&waiting.items[i],
                &waiting.items[i + 1],
                (waiting.count - i) * sizeof waiting.items[0]);
    }
    while (waiting.count > bound->messages || waiting.lines > bound->lines)
        list_pop(&waiting);
}

static tr_status model_near(uint32_t lines)
{
    const struct bound *bound = bounds[box_now];
    model_take_in();
    if (!fits(lines)) {
        if (bound->overflow == TR_DROP_NEWEST)
            return TR_OK;
        if (bound->overflow == TR_OVERFLOW_FAIL || lines > bound->lines)
            return TR_MAILBOX_FULL;
        while (!fits(lines))
            list_pop(&waiting);
    }
    list_add(&waiting, (struct entry){next_n, lines});
    return TR_OK;
}

static tr_status model_outside(uint32_t lines)
{
    const struct bound *bound = bounds[box_now];
    bool is_taken = fits(lines);
    if (!is_taken && bound->overflow == TR_DROP_NEWEST)
        return TR_OK;
    if (!is_taken && bound->overflow == TR_DROP_OLDEST)
        is_taken = waiting.count < bound->messages + OVERDRAFT &&
                   waiting.lines <= bound->lines + OVERDRAFT;
    if (!is_taken)
        return TR_MAILBOX_FULL;
    list_add(&waiting, (struct entry){next_n, lines});
    told++;
    return TR_OK;
}

#define SEND(sender, to, size)                                                                     \
    ((size) == ITEM   ? tr_tell(sender, to, item, .n = next_n)                                     \
     : (size) == PAGE ? tr_tell(sender, to, page, .n = next_n)                                     \
                      : tr_tell(sender, to, book, .n = next_n))

static tr_next act(tr_self *self, struct entry entry)
{
    for (uint32_t i = chance(4) ? chance(3) : chance(30); i > 0; i--) {
        enum size size = (enum size)chance(3);
        tr_status wanted = model_near(size_lines[size]);
        ck_assert_int_eq(SEND(self, tr_me(self), size), wanted);
        next_n++;
    }
    switch (chance(8)) {
    case 0:
    case 1:
    case 2:
        if (stashed.count > 200)
            break;
        list_add(&stashed, entry);
        return tr_stash(self);
    case 3: {
        static struct list_of rest;
        size_t max = chance(2) ? SIZE_MAX : chance(5);
        rest = waiting;
        waiting.count = 0;
        waiting.lines = 0;
        size_t count = 0;
        for (; stashed.count && count < max; count++)
            list_add(&waiting, list_pop(&stashed));
        for (size_t i = 0; i < rest.count; i++)
            list_add(&waiting, rest.items[i]);
        ck_assert_uint_eq(tr_unstash(self, max), count);
        break;
    }
    case 4: {
        box_now = chance(BOXES);
        const struct bound *bound = bounds[box_now];
        bool drops = bound->overflow == TR_DROP_OLDEST;
        while (drops && (waiting.count > bound->messages || waiting.lines > bound->lines))
            list_pop(&waiting);
        return tr_self_become(self, boxes[box_now], NULL, NULL);
    }
    default:
        break;
    }
    return TR_SAME;
}

static tr_next on_any(tr_self *self, uint32_t n)
{
    struct entry entry = list_pop(&waiting);
    ck_assert_uint_eq(entry.n, n);
    return act(self, entry);
}

static uint64_t queued(void)
{
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    return counters.queued;
}

static void model_play(uint64_t seed)
{
    model_random = seed;
    next_n = 0;
    told = 0;
    waiting.count = waiting.lines = 0;
    stashed.count = stashed.lines = 0;
    kit_open(1, seed);
    box_now = chance(BOXES);
    tr_ref box = box_new(boxes[box_now]);
    tr_kit_settle(kit);
    for (int step = 0; step < STEPS; step++) {
        for (uint32_t i = chance(3) ? chance(4) : chance(100); i > 0; i--) {
            enum size size = (enum size)chance(3);
            tr_status wanted = model_outside(size_lines[size]);
            ck_assert_int_eq(SEND(test, box, size), wanted);
            next_n++;
        }
        tr_kit_check(kit);
        /* A step takes in what has come first of all; in a mailbox without any there is no turn. */
        if (told || waiting.count) {
            model_take_in();
            ck_assert(tr_kit_step(kit));
            tr_kit_check(kit);
        }
        ck_assert_uint_eq(queued(), waiting.count + stashed.count);
    }
    while (waiting.count)
        ck_assert(tr_kit_step(kit));
    kit_close();
}

TEST(one_worker_agrees_with_the_model, "M-02", "M-04", "MB-01", "MB-02")
{
    uint64_t seed = test_seed();
    uint64_t plays = test_scale(150, 20000);
    for (uint64_t i = 0; i < plays; i++)
        model_play(seed + i);
}

/* ---- Several workers: laws. ---- */

TR_MESSAGE(go, (u32, left));

enum { SOURCES = 4, MOB_BOUND = 12 };

static tr_ref mob;
static uint32_t mob_last[SOURCES + 1]; /* the last message of each source that was handled */
static uint64_t mob_handled;
static uint64_t mob_stashes;
static bool mob_policy_changes;

static tr_next mob_turn(tr_self *self, uint32_t from, uint32_t n);
static tr_next mob_item(tr_self *self, const struct item *message)
{
    return mob_turn(self, message->from, message->n);
}
static tr_next mob_book(tr_self *self, const struct book *message)
{
    return mob_turn(self, message->from, message->n);
}
#define MOB(name, ...)                                                                             \
    TR_BEHAVIOR(name,                                                                              \
                void,                                                                              \
                TR_ON(item, mob_item),                                                             \
                TR_ON(book, mob_book),                                                             \
                TR_OPTIONS(.mailbox_max = MOB_BOUND, __VA_ARGS__))
MOB(mob_fail, .overflow = TR_OVERFLOW_FAIL);
MOB(mob_newest, .overflow = TR_DROP_NEWEST);
MOB(mob_oldest, .overflow = TR_DROP_OLDEST);
MOB(mob_bytes, .overflow = TR_DROP_OLDEST, .mailbox_bytes_max = 64 * 20);
static const tr_behavior *const mobs[] = {&tr_behavior_mob_fail,
                                          &tr_behavior_mob_newest,
                                          &tr_behavior_mob_oldest,
                                          &tr_behavior_mob_bytes};

static tr_next mob_turn(tr_self *self, uint32_t from, uint32_t n)
{
    uint64_t dice = tr_random(self) % 16;
    if (dice == 0 && tr_stash_count(self) < 30) {
        mob_stashes++;
        return tr_stash(self);
    }
    mob_handled++;
    /* What was set aside comes late; everything else in the order of its source. */
    if (mob_stashes == 0)
        ck_assert_uint_gt(n, mob_last[from]);
    mob_last[from] = n;
    if (dice == 1)
        tr_unstash(self, SIZE_MAX);
    if (dice == 2 && mob_policy_changes)
        return tr_self_become(self, mobs[tr_random(self) % 4], NULL, NULL);
    return TR_SAME;
}

struct source {
    uint32_t number;
    uint32_t sent;
};
TR_MESSAGE(be_source, (u32, number));
static tr_next set_up_source(struct source *source, const struct be_source *message)
{
    source->number = message->number;
    return TR_SAME;
}
static tr_next on_go(tr_self *self, struct source *source, const struct go *message)
{
    for (uint64_t i = tr_random(self) % 40; i > 0; i--) {
        uint32_t n = ++source->sent;
        if (tr_random(self) % 8 == 0)
            (void)tr_tell(self, mob, book, .from = source->number, .n = n);
        else
            (void)tr_tell(self, mob, item, .from = source->number, .n = n);
    }
    if (message->left)
        tr_tell(self, tr_me(self), go, .left = message->left - 1);
    return TR_SAME;
}
TR_ACTOR(source, go);
TR_BEHAVIOR(source, struct source, TR_SETUP_WITH(be_source, set_up_source), TR_ON(go, on_go));

static void mob_play(uint64_t seed, size_t which, bool changes)
{
    kit_open_anywhere(3, seed);
    model_random = seed;
    mob_handled = 0;
    mob_stashes = 0;
    mob_policy_changes = changes;
    memset(mob_last, 0, sizeof mob_last);
    mob = box_new(mobs[which]);
    for (uint32_t i = 0; i < SOURCES; i++) {
        source_ref source = {0};
        ck_assert_int_eq(
            tr_try_spawn_at(test, &source, (int)i % 3, source, NULL, be_source, .number = i),
            TR_OK);
        ck_assert_int_eq(tr_tell(test, source, go, .left = 10), TR_OK);
    }
    uint32_t sent = 0;
    while (tr_kit_step(kit)) {
        tr_kit_check(kit);
        if (sent < 400 && chance(2))
            (void)tr_tell(test, mob, item, .from = SOURCES, .n = ++sent);
    }
    ck_assert_uint_gt(mob_handled, 0);
    kit_close();
}

TEST(several_workers_keep_the_books_after_every_step, "M-02", "M-04", "MB-01", "MB-02", "MB-05")
{
    uint64_t seed = test_seed();
    uint64_t plays = test_scale(25, 5000);
    for (uint64_t i = 0; i < plays; i++) {
        for (size_t which = 0; which < 4; which++)
            mob_play(seed + i, which, i & 1);
    }
}

SUITE("bounds against a model", one_worker_agrees_with_the_model,
      several_workers_keep_the_books_after_every_step)
