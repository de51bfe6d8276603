/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Queues against a plain list, for a kind with QUEUE_MODEL_DURABILITY. Items are pushed, taken, done, failed, given up,
 * cancelled and put back at random, by turns that succeed and turns that fail, between sleeps and kills, and before a
 * restart of the process.
 */
#ifndef TROUPE_TESTS_SUPPORT_QUEUE_MODEL_H
#define TROUPE_TESTS_SUPPORT_QUEUE_MODEL_H

#include <stdlib.h>
#include <troupe/queue.h>

#define THINGS_OPTIONS                                                                             \
    .durability = QUEUE_MODEL_DURABILITY, .idle_ns = 10 * TR_SECOND, .grace_ns = 5 * TR_SECOND,    \
    .queues = TR_QUEUES(                                                                           \
        {.name = "jobs", .retry = {.attempts = 3, .first_ns = TR_HOUR, .longest_ns = TR_HOUR}})
#include "support/things.h"

TR_MESSAGE(job, (u64, id));

enum { ITEMS_MAX = 400, STEPS = 250, ATTEMPTS = 3 };

enum fate { GONE, WAITS, DEAD };

struct known {
    uint64_t id;
    enum fate fate;
    uint32_t attempts;
    tr_time due_ns; /* not before; 0: at once */
};

static struct known items[ITEMS_MAX];
static int item_count;
static uint64_t dice_state;
static char directory[64];
static bool are_times_known;

static uint64_t dice(uint64_t sides)
{
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return (dice_state >> 33) % sides;
}

static struct known *find(uint64_t id)
{
    for (int i = 0; i < item_count; i++)
        if (items[i].id == id)
            return &items[i];
    ck_abort_msg("an item that was never pushed: %llu", (unsigned long long)id);
}

/* Returns the first item that can be taken, or NULL. */
static struct known *first(tr_time now_ns)
{
    for (int i = 0; i < item_count; i++)
        if (items[i].fate == WAITS && items[i].due_ns <= now_ns)
            return &items[i];
    return NULL;
}

/* ---- What the turns do; the model changes when a turn has succeeded. ---- */

static struct known before[ITEMS_MAX];
static int before_count;

static void note_stored(void)
{
    memcpy(before, items, sizeof before);
    before_count = item_count;
}

static void fail_item(struct known *item, tr_time now_ns)
{
    item->attempts++;
    item->fate = item->attempts == ATTEMPTS ? DEAD : WAITS;
    item->due_ns = item->fate == DEAD ? 0 : now_ns + TR_HOUR;
}

static void push(tr_self *self)
{
    if (item_count == ITEMS_MAX)
        return;
    tr_time delay_ns = dice(2) ? (tr_time)dice(100) * TR_MINUTE : 0;
    struct job job = {.id = 0};
    tr_queued item;
    ck_assert_int_eq(tr_self_try_queue_push(self, "jobs", delay_ns, &tr_type_job, &job, &item),
                     TR_OK);
    items[item_count++] = (struct known){
        .id = item.id, .fate = WAITS, .due_ns = delay_ns ? tr_wall_now(self) + delay_ns : 0};
}

/* Returns the item that it took and did not finish, or NULL. */
static struct known *take(tr_self *self)
{
    const struct job *job;
    tr_queued item;
    struct known *expected = first(tr_wall_now(self));
    tr_status status = tr_queue_take(self, "jobs", job, 0, &job, &item);
    ck_assert_int_eq(status, expected ? TR_OK : TR_TIMEOUT);
    if (!expected) {
        note_stored(); /* the turn has waited, so its first stretch is over */
        return NULL;
    }
    ck_assert_uint_eq(item.id, expected->id);
    switch (dice(4)) {
    case 0:
        ck_assert(tr_queue_done(self, item));
        expected->fate = GONE;
        break;
    case 1:
        ck_assert(tr_queue_retry(self, item, "not now"));
        fail_item(expected, tr_wall_now(self));
        break;
    case 2:
        ck_assert(tr_queue_give_up(self, item, "never"));
        expected->attempts++;
        expected->fate = DEAD;
        expected->due_ns = 0;
        break;
    default:
        break; /* it comes again at once if the turn succeeds */
    }
    return expected;
}

static void change_one(tr_self *self, const struct known *taken)
{
    struct known *item = item_count ? &items[dice((uint64_t)item_count)] : NULL;
    if (!item || item == taken)
        return;
    tr_queued name = {item->id};
    if (dice(2)) {
        ck_assert_int_eq(tr_queue_cancel(self, name), item->fate != GONE);
        item->fate = GONE;
    } else {
        ck_assert_int_eq(tr_queue_put_back(self, name), item->fate == DEAD);
        if (item->fate == DEAD)
            *item = (struct known){.id = item->id, .fate = WAITS};
    }
}

static tr_next act_somehow(tr_self *self, struct thing_state *state, int64_t fails)
{
    tr_time now_ns = tr_wall_now(self);
    note_stored();
    struct known *taken = NULL;
    for (uint64_t i = dice(3); i > 0; i--)
        push(self);
    if (dice(2))
        taken = take(self);
    if (dice(3) == 0)
        change_one(self, taken);
    state->value++;
    if (!fails)
        return tr_reply(self, acted, .value = 0);
    /* Nothing of this was, but for the failed attempt of an item that is stored. */
    uint64_t id = taken ? taken->id : 0;
    memcpy(items, before, sizeof items);
    item_count = before_count;
    for (int i = 0; i < item_count; i++)
        if (items[i].id == id)
            fail_item(&items[i], now_ns);
    return tr_fail(self, TR_BAD_DATA, "as told");
}

/* ---- The comparison. ---- */

static void check_list(tr_self *self, bool is_dead)
{
    const tr_queue_entry *entries;
    size_t expected = 0;
    size_t count = is_dead ? tr_queue_list_dead(self, "jobs", (tr_queued){0}, &entries, ITEMS_MAX)
                           : tr_queue_list(self, "jobs", (tr_queued){0}, &entries, ITEMS_MAX);
    for (int i = 0; i < item_count; i++)
        expected += items[i].fate == (is_dead ? DEAD : WAITS);
    ck_assert_uint_eq(count, expected);
    ck_assert_uint_eq(is_dead ? tr_queue_count_dead(self, "jobs") : tr_queue_count(self, "jobs"),
                      expected);
    for (size_t i = 0; i < count; i++) {
        struct known *item = find(entries[i].item.id);
        ck_assert_int_eq(item->fate, is_dead ? DEAD : WAITS);
        ck_assert_uint_eq(entries[i].attempts, item->attempts);
        if (!are_times_known)
            continue;
        if (item->attempts && entries[i].due_wall_ns) { /* up to a quarter more */
            ck_assert_int_ge(entries[i].due_wall_ns, item->due_ns);
            ck_assert_int_le(entries[i].due_wall_ns, item->due_ns + TR_HOUR / 4);
            item->due_ns = entries[i].due_wall_ns;
        } else if (entries[i].due_wall_ns) {
            ck_assert_int_eq(entries[i].due_wall_ns, item->due_ns);
        }
    }
}

static tr_next check(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    check_list(self, false);
    check_list(self, true);
    return tr_reply(self, acted, .value = state->value);
}

static void step(void)
{
    bool fails = dice(4) == 0;
    switch (dice(12)) {
    case 0:
        things_do("a", thing_go_to_sleep, 0);
        tr_kit_settle(kit);
        break;
    case 1:
        if (QUEUE_MODEL_DURABILITY ==
            TR_SAVE_SYNC) /* with others a kill loses what is not stored */
            tr_kill(test, things_of("a"));
        tr_kit_settle(kit);
        break;
    case 2:
        tr_kit_advance(kit, (tr_time)dice(90) * TR_MINUTE);
        break;
    default:
        ck_assert_int_eq(things_try("a", act_somehow, fails, NULL), fails ? TR_FAILED : TR_OK);
        if (fails)
            tr_kit_advance(kit, 2 * TR_MINUTE); /* the budget of restarts */
    }
}

static void queue_model_play(void)
{
    for (uint64_t seed = 1; seed <= test_scale(6, 100); seed++) {
        char command[100];
        item_count = 0;
        are_times_known = true;
        dice_state = seed * 7919;
        snprintf(directory, sizeof directory, "/tmp/troupe-queues-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(directory));
        things_begin_with((tr_kit_options){.seed = seed, .store = directory});
        for (int i = 0; i < STEPS; i++) {
            step();
            things_do("a", check, 0);
        }
        things_end();
        /* Another process finds the same. Its clock begins where that of the first began, so times are not compared. */
        are_times_known = false;
        things_begin_with((tr_kit_options){.seed = seed, .store = directory});
        things_do("a", check, 0);
        snprintf(command, sizeof command, "rm -rf '%s'", directory);
        things_end();
        ck_assert_int_eq(system(command), 0);
    }
}

#endif
