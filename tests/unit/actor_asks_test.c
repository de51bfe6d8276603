/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The table of an actor's asks, and the fibers of its turns, seen from inside.
 */
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "actor/ask/ask.h"
#include "actor/life/extra.h"
#include "actor/turn/park.h"
#include "actor/cell/system.h"

TR_MESSAGE(number, (u64, n));
TR_REQUEST(get_number, number, (u64, n));
TR_REQUEST(ask_around, number, (u64, count), (bool, waits));
TR_ACTOR(counter, get_number, ask_around);

struct counter {
    counter_ref other;
};
TR_MESSAGE(meet, (ref_of(counter), other));

static struct ask_table *table;
static uint32_t size_max;
static uint32_t longest; /* steps of a look-up */

/* How far an ask is from where it should be, by the place alone. */
static void measure(void)
{
    uint32_t run = 0;
    if (!table->slots)
        return;
    for (uint32_t i = 0; i <= table->mask; i++) {
        run = table->slots[i] ? run + 1 : 0;
        if (run > longest)
            longest = run;
    }
    if (table->mask + 1 > size_max)
        size_max = table->mask + 1;
}

static tr_next on_get_number(tr_self *self, const struct get_number *message)
{
    return tr_reply(self, number, .n = message->n);
}

static tr_next on_ask_around(tr_self *self, struct counter *counter,
                             const struct ask_around *message)
{
    get_number_ask last = {{0}};
    for (uint64_t i = 0; i < message->count; i++)
        last = tr_ask(self, counter->other, get_number, .n = i);
    table = &self->cell->extra->asks.table;
    ck_assert_uint_eq(table->count + (table->newest != NULL), message->count);
    measure();
    if (message->waits)
        ck_assert_uint_eq(tr_await(self, last)->n, message->count - 1);
    return tr_reply(self, number, .n = message->count);
}

static tr_next set_up(struct counter *counter, const struct meet *message)
{
    counter->other = message->other;
    return TR_SAME;
}
TR_BEHAVIOR(counter, struct counter, TR_SETUP_WITH(meet, set_up), TR_ON(get_number, on_get_number),
            TR_ON(ask_around, on_ask_around));

static tr_kit *kit;
static tr_client *client;
static counter_ref first;
static counter_ref other;

static void begin(int workers)
{
    kit = tr_kit_new(&(tr_kit_options){.workers = workers});
    client = tr_kit_client(kit);
    ck_assert_int_eq(tr_try_spawn_at(client, &other, workers - 1, counter, NULL, meet), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(client, &first, 0, counter, NULL, meet, .other = other),
                     TR_OK);
}

static void ask_around(uint64_t count, bool waits)
{
    const struct number *reply;
    ck_assert_int_eq(tr_try_await(client,
                                  tr_ask(client, first, ask_around, .count = count, .waits = waits),
                                  &reply),
                     TR_OK);
    ck_assert_uint_eq(reply->n, count);
    (void)tr_kit_settle(kit);
}

TEST(the_table_grows_and_shrinks_with_the_asks, "A-02", "AK-16")
{
    static const uint64_t counts[] = {1, 7, 100, 5000, 100000, 3};
    for (int workers = 1; workers <= 2; workers++) {
        begin(workers);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            size_max = longest = 0;
            ask_around(counts[i], i % 2);
            if (counts[i] == 1)
                ck_assert_uint_eq(size_max, 0); /* the newest needs no table */
            else
                ck_assert_uint_gt(size_max, counts[i]);
            ck_assert_uint_le(size_max, 8 * counts[i] < 16 ? 16 : 8 * counts[i]);
            ck_assert_uint_le(longest, 64); /* a look-up does not depend on how many there are */
            ck_assert_uint_eq(table->count, 0);
            ck_assert_ptr_null(table->newest);
            ck_assert_ptr_null(table->slots);
        }
        tr_kit_check(kit);
        tr_kit_free(kit);
    }
}

TEST(a_turn_that_does_not_wait_has_no_stack_of_its_own, "D-05")
{
    begin(1);
    const struct worker *worker = tr_kit_system(kit)->workers[0];
    ask_around(1, true);
    const struct fiber *fiber = worker->stacks.fiber;
    for (int i = 0; i < 100; i++)
        ask_around(3, false);
    ck_assert_ptr_eq(worker->stacks.fiber, fiber);
    /* One that does wait keeps the stack that it was called on, and the loop goes on with another. */
    ask_around(1, true);
    ck_assert_ptr_ne(worker->stacks.fiber, fiber);
    tr_kit_free(kit);
}

TR_MESSAGE(nap, (u64, who), (i64, first_ns), (i64, second_ns));
TR_ACTOR(sleeper, nap);

static char seen[128]; /* who went on, and after the colon who waited then */

static void note_waiting(tr_self *self, uint64_t who)
{
    size_t used = strlen(seen);
    used += (size_t)snprintf(seen + used, sizeof seen - used, "%d:", (int)who);
    PARKED_EACH (turn, self->cell->extra) {
        const struct nap *napper = envelope_data(turn->envelope);
        used += (size_t)snprintf(seen + used, sizeof seen - used, "%d", (int)napper->who);
    }
    snprintf(seen + used, sizeof seen - used, " ");
}

static tr_next on_nap(tr_self *self, const struct nap *message)
{
    ck_assert_int_eq(tr_sleep(self, message->first_ns), TR_OK);
    note_waiting(self, message->who);
    if (message->second_ns) {
        ck_assert_int_eq(tr_sleep(self, message->second_ns), TR_OK);
        note_waiting(self, message->who);
    }
    return TR_SAME;
}
TR_BEHAVIOR(sleeper, void, TR_ON(nap, on_nap));

TEST(turns_that_wait_are_listed_by_their_last_wait_without_the_one_that_runs, "D-05")
{
    sleeper_ref sleeper;
    seen[0] = '\0';
    kit = tr_kit_new(&(tr_kit_options){.workers = 1});
    client = tr_kit_client(kit);
    ck_assert_int_eq(tr_try_spawn(client, &sleeper, sleeper, NULL), TR_OK);
    tr_tell(client, sleeper, nap, .who = 1, .first_ns = TR_SECOND, .second_ns = 3 * TR_SECOND);
    tr_tell(client, sleeper, nap, .who = 2, .first_ns = 2 * TR_SECOND);
    tr_tell(client, sleeper, nap, .who = 3, .first_ns = 6 * TR_SECOND);
    for (int i = 0; i < 7; i++) {
        (void)tr_kit_settle(kit);
        tr_kit_advance(kit, TR_SECOND);
    }
    (void)tr_kit_settle(kit);
    ck_assert_str_eq(seen, "1:23 2:31 1:3 3: ");
    tr_kit_check(kit);
    tr_kit_free(kit);
}

SUITE("actor asks", the_table_grows_and_shrinks_with_the_asks,
      a_turn_that_does_not_wait_has_no_stack_of_its_own,
      turns_that_wait_are_listed_by_their_last_wait_without_the_one_that_runs)
