/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A program for tests/gdb/run: actors in known states, then a call of `here`, where gdb stops.
 *
 *     stage FILE
 *
 * Worker 1 is held inside a handler, so that what is sent to its other actors stays in their
 * inboxes. What gdb must print of the messages is written to FILE by tr_type_print.
 */
#include <math.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <troupe/troupe.h>

#include "support/wire_kinds.h"

TR_MESSAGE(deposit, (u64, amount), (str, memo));
TR_MESSAGE(numbers, (f64, not_a_number), (f64, minus), (f32, huge), (f64, tenth), (bytes, many),
           (array(i8, 3), small));
TR_MESSAGE(begin, (ref, client));
TR_MESSAGE(end_one);
TR_MESSAGE(later);
TR_MESSAGE(ready, (u32, step));
TR_MESSAGE(show);
TR_MESSAGE(block, (str, why));
TR_MESSAGE(freeze);
TR_MESSAGE(is_cold);
TR_MESSAGE(tick, (u8, number));
TR_MESSAGE(note, (i32, number));

TR_ACTOR(root, begin, is_cold, end_one, show);
TR_ACTOR(idle, deposit);
TR_ACTOR(box, deposit, everything, numbers, empty);
TR_ACTOR(frozen, freeze, deposit);
TR_ACTOR(stasher, note);
TR_ACTOR(tree_top);
TR_ACTOR(branch);
TR_ACTOR(ending);
TR_ACTOR(busy, block);

static sem_t is_blocked;
static sem_t never;
void *spare[16]; /* memory that gdb may write to */

/* Where gdb stops. */
__attribute__((noinline)) void here(tr_self *self, const struct deposit *given)
{
    __asm__ volatile("" ::"r"(self), "r"(given) : "memory");
}

static tr_next on_deposit(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(idle, void, TR_ON(deposit, on_deposit));
TR_BEHAVIOR(box, void, TR_ON(deposit, on_deposit));

static tr_next on_freeze(tr_self *self)
{
    tr_timer_once(self, "tick", 0, tick, .number = 7);
    tr_suspend(self, tr_me(self));
    tr_reply(self, is_cold);
    return TR_SAME;
}

static tr_next on_tick(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(frozen, void, TR_ON(freeze, on_freeze), TR_ON(deposit, on_deposit),
            TR_ON(tick, on_tick));

TR_BEHAVIOR(stasher, void, TR_ON_ANY(tr_stash));

static tr_next set_up_branch(tr_self *self)
{
    tr_spawn(self, idle, "leaf");
    return TR_SAME;
}

TR_BEHAVIOR(branch, void, TR_SETUP(set_up_branch));

static tr_next set_up_tree(tr_self *self)
{
    tr_spawn(self, branch, "branch");
    return TR_SAME;
}

TR_BEHAVIOR(tree_top, void, TR_SETUP(set_up_tree));

/* It cannot end while the worker of its child is held. */
static tr_next set_up_ending(tr_self *self)
{
    tr_spawn_at(self, 1, idle, "kept");
    return TR_SAME;
}

TR_BEHAVIOR(ending, void, TR_SETUP(set_up_ending));

static tr_next on_block(void)
{
    sem_post(&is_blocked);
    while (sem_wait(&never) != 0)
        ;
    return TR_SAME;
}

TR_BEHAVIOR(busy, void, TR_ON(block, on_block));

struct root {
    tr_ref client;
    box_ref box;
    frozen_ref frozen;
    ending_ref ending;
    idle_ref far;
    idle_ref nameless;
    uint32_t step;
};

static tr_next on_begin(tr_self *self, struct root *root, const struct begin *message)
{
    root->client = message->client;
    tr_spawn(self, idle, "idle");
    root->box = tr_spawn(self, box, "box");
    root->frozen = tr_spawn(self, frozen, "frozen");
    stasher_ref stasher = tr_spawn(self, stasher, "stasher");
    tr_spawn(self, tree_top, "tree");
    root->ending = tr_spawn(self, ending, "ending");
    root->nameless = tr_spawn(self, idle, NULL);
    root->far = tr_spawn_at(self, 1, idle, "far");
    busy_ref busy = tr_spawn_at(self, 1, busy, "busy");
    tr_tell(self, root->frozen, freeze);
    for (int i = 1; i <= 3; i++)
        tr_tell(self, stasher, note, .number = i);
    tr_tell(self, busy, block, .why = "for the test");
    return TR_SAME;
}

/* The tick of `frozen` is due before this timer, which is armed later on the same worker. */
static tr_next on_cold(tr_self *self)
{
    tr_timer_once(self, "later", TR_MILLISECOND, later);
    return TR_SAME;
}

/* `ending` is ready before the timer can make this actor ready again. */
static tr_next on_end_one(tr_self *self, struct root *root)
{
    tr_stop(self, root->ending);
    tr_timer_once(self, "later", TR_MILLISECOND, later);
    return TR_SAME;
}

static tr_next on_later(tr_self *self, struct root *root)
{
    tr_tell(self, root->client, ready, .step = ++root->step);
    return TR_SAME;
}

static FILE *expected;

static void expect(const char *name, const tr_type *type, const void *message)
{
    static char text[64 * 1024];
    tr_type_print(type, message, text, sizeof text);
    fprintf(expected, "%s %s\n", name, text);
}

static tr_next on_show(tr_self *self, struct root *root)
{
    struct everything_memory memory;
    tr_buffer *blob = tr_buffer_of_turn(self, 1234);
    struct everything all = everything_of(&memory, blob);
    struct numbers odd = {NAN, -NAN, 3.4e38f, 0.1, {"0123456789abcdefghij", 20}, {-1, 0, 1}};
    struct deposit rent = {5, "rent"};

    tr_tell_copy(self, root->box, everything, &all);
    tr_tell_copy(self, root->box, numbers, &odd);
    tr_tell_copy(self, root->box, deposit, &rent);
    tr_tell(self, root->box, empty);
    expect("everything", &tr_type_everything, &all);
    expect("numbers", &tr_type_numbers, &odd);
    for (unsigned i = 1; i <= 2; i++) {
        tr_tell(self, root->frozen, deposit, .amount = i, .memo = "cold");
        tr_tell(self, root->far, deposit, .amount = 10 * i, .memo = "far");
        tr_tell(self, root->client, ready, .step = 100 + i);
    }
    tr_tell(self, root->nameless, deposit, .amount = 42);
    tr_spawn_at(self, 1, idle, "unborn");
    fclose(expected);
    here(self, &rent);
    return TR_SAME;
}

TR_BEHAVIOR(root, struct root, TR_ON(begin, on_begin), TR_ON(is_cold, on_cold),
            TR_ON(end_one, on_end_one), TR_ON(later, on_later), TR_ON(show, on_show));

int main(int argc, char **argv)
{
    tr_system_options options = {.size = sizeof options, .name = "stage", .workers = 2};
    tr_system *system;
    tr_client *client;
    root_ref root;

    expected = argc == 2 ? fopen(argv[1], "w") : NULL;
    if (!expected || sem_init(&is_blocked, 0, 0) != 0 || sem_init(&never, 0, 0) != 0)
        return 2;
    if (tr_system_new(&options, &system) != TR_OK || tr_system_start(system) != TR_OK ||
        tr_client_new(system, &client) != TR_OK ||
        tr_try_spawn(client, &root, root, "root") != TR_OK)
        return 1;
    tr_tell(client, root, begin, .client = tr_client_ref(client));
    while (sem_wait(&is_blocked) != 0)
        ;
    if (!tr_receive(client, ready, TR_NEVER))
        return 1;
    tr_tell(client, root, end_one);
    if (!tr_receive(client, ready, TR_NEVER))
        return 1;
    tr_tell(client, root, show);
    while (sem_wait(&never) != 0)
        ;
    return 0;
}
