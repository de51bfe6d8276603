/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A tenant stops while somebody kills it by its control word and door_nudge.
 *
 * The kill that was accepted stops the tenant it was meant for and never the next one. For that the
 * control word carries the generation of the tenant: to compare the ref first and set a bit then
 * is the trap.
 */
#include "models/office.h"

enum { RIGHT, NO_GENERATION };

#define CONTROL(generation, bits) ((uint64_t)(generation) << 32 | (bits))

static struct door door;
static struct worker worker;
static struct letter letter;
static atom64 control;
static int posts;
static bool is_accepted;
static bool has_stopped; /* the first tenant */
static bool is_post_awaited;
static uint32_t tenant;

static void setup(void)
{
    door_init(&door);
    door_open(&door, 1, 0, false);
    door_name(&door);
    worker_init(&worker);
    letter_init(&letter, 1, 0, 1);
    atom64_init(&control, CONTROL(1, 0));
    explore_name(&control, "control");
    posts = 0;
    is_accepted = false;
    has_stopped = false;
    is_post_awaited = false;
    tenant = 1;
}

/* Sets the kill bit of tenant 1; false when it is gone. */
static bool control_kill(void)
{
    if (explore_variant() == NO_GENERATION) {
        if (atom64_load(&door.ref, ATOM_ACQUIRE) != 1)
            return false;
        atom64_fetch_or(&control, 1, ATOM_SEQ_CST);
        return true;
    }
    uint64_t word = atom64_load(&control, ATOM_RELAXED);
    do {
        if (word >> 32 != 1)
            return false;
    } while (!atom64_compare_exchange(&control, &word, word | 1, ATOM_SEQ_CST, ATOM_RELAXED));
    return true;
}

static void killer(int index)
{
    (void)index;
    is_accepted = control_kill();
    if (is_accepted && door_nudge(&door) == DOOR_TAKEN_POST)
        worker_post(&worker, &door, &posts);
}

static void sender(int index)
{
    (void)index;
    explore_plain_write(&letter);
    enum door_result result = DOOR_REFUSED;
    if (atom64_load(&door.ref, ATOM_RELAXED) == 1)
        result = door_push(&door, &letter.mail);
    if (result == DOOR_TAKEN_POST)
        worker_post(&worker, &door, &posts);
    if (result == DOOR_REFUSED)
        letter_end(&letter, "refused");
}

static void take_in(struct door_mail *mail)
{
    if (!mail)
        return;
    explore_plain_read(mail);
    letter_end((struct letter *)(void *)mail, tenant == 1 ? "handled" : "dead letter");
}

static void next_tenant_open(void)
{
    tenant = 2;
    atom64_store(&control, CONTROL(2, 0), ATOM_RELAXED);
    door_open(&door, 2, 0, false);
}

static void stop(void)
{
    has_stopped = true;
    tenant = 0;
    atom64_store(&door.ref, 0, ATOM_RELAXED);
    take_in(door_close(&door, &is_post_awaited));
    if (!is_post_awaited)
        next_tenant_open();
}

/* The tenant may also stop by itself. */
static void on_turn(void)
{
    if (!has_stopped && explore_choose(2))
        stop();
}

static void on_node(struct stack_node *node)
{
    (void)node;
    posts--;
    if (is_post_awaited) {
        is_post_awaited = false;
        next_tenant_open();
        return;
    }
    take_in(door_take_posted(&door));
    if (atom64_load(&control, ATOM_SEQ_CST) & 1) {
        EXPLORE_CHECK(tenant == 1, "the kill of one tenant reaches the next");
        stop();
    }
    on_turn();
}

static void worker_thread(int index)
{
    (void)index;
    worker_run(&worker, on_turn, on_node);
}

static void check(void)
{
    letter_check_end(&letter);
    EXPLORE_CHECK(posts == 0, "a post has not arrived");
    EXPLORE_CHECK(!is_post_awaited, "the awaited post never came");
    EXPLORE_CHECK(!is_accepted || has_stopped, "a kill was accepted and is lost");
}

#define THREADS                                                                                    \
    .setup = setup, .check = check,                                                                \
    .threads = {{"killer", killer}, {"sender b", sender}, {"worker", worker_thread}}

EXPLORE_MODEL(stop_nudge, .about = "stop against nudge: a kill stops its tenant and no other",
              .ids = "LC-14 WP-01", .variant = RIGHT, THREADS);
EXPLORE_MODEL(stop_nudge_bare, .about = "trap: a control word without the generation",
              .ids = "LC-14", .is_wrong = true, .variant = NO_GENERATION, THREADS);
