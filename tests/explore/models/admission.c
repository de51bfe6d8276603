/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Threads outside spawn children of /user while another shuts the system down.
 *
 * Each child is posted to the worker of /user, which links it. The shutdown closes the admission; if
 * nobody is inside it sets a bit in the control word of /user and nudges its door, else the last one
 * that leaves does. The order may be seen with a post of the door that was under way for another
 * reason, and so before children that were posted earlier.
 *
 * Every child whose spawn was accepted is linked before /user sees the order, which comes once.
 */
#include "models/office.h"
#include "queue/admission.h"

enum {
    RIGHT,
    ONLY_LOOKS,   /* trap: a spawner looks whether it is closed, and does not count */
    LEAVES_EARLY, /* trap: a spawner leaves when its child is posted, not when it is linked */
    ADDS_FIRST    /* trap: a spawner counts itself before it looks, and takes that back */
};

static struct admission admission;
static struct door user;
static struct worker worker;
static struct stack_node child[2];
static atom32 control;
static int posts;
static int accepted;
static int linked;
static int orders;
static bool has_stopped;

static void setup(void)
{
    static const char *const names[] = {"child a", "child b"};
    admission_init(&admission);
    explore_name(&admission.word, "admission");
    door_init(&user);
    door_open(&user, 1, 0, false);
    door_name(&user);
    worker_init(&worker);
    atom32_init(&control, 0);
    explore_name(&control, "control");
    for (int i = 0; i < 2; i++)
        explore_name(&child[i], names[i]);
    posts = accepted = linked = orders = 0;
    has_stopped = false;
}

static void nudge(void)
{
    if (door_nudge(&user) == DOOR_TAKEN_POST)
        worker_post(&worker, &user, &posts);
}

static void order(void)
{
    orders++;
    EXPLORE_CHECK(orders == 1, "/user is asked to stop twice");
    atom32_fetch_or(&control, 1, ATOM_SEQ_CST);
    nudge();
}

static void leave(void)
{
    if (admission_leave(&admission))
        order();
}

static bool enter(void)
{
    switch (explore_variant()) {
    case ONLY_LOOKS:
        return !(atom32_load(&admission.word, ATOM_SEQ_CST) & ADMISSION_CLOSED);
    case ADDS_FIRST:
        if (!(atom32_fetch_add(&admission.word, ADMISSION_ONE, ATOM_SEQ_CST) & ADMISSION_CLOSED))
            return true;
        leave();
        return false;
    default:
        return admission_enter(&admission);
    }
}

static void spawner(int index)
{
    if (!enter())
        return;
    bool fails = index == 1 && explore_choose(2); /* there is no memory for it */
    if (!fails) {
        accepted++;
        explore_plain_write(&child[index]);
        if (ready_post(&worker.ready, &child[index]))
            explore_unpark(&worker.parker);
    }
    if (explore_variant() == LEAVES_EARLY || (fails && explore_variant() != ONLY_LOOKS))
        leave();
}

static void closer(int index)
{
    (void)index;
    if (explore_choose(2))
        nudge(); /* something else for /user, of which the post may be slow */
    if (admission_close(&admission))
        order();
}

static void on_node(struct stack_node *node)
{
    if (node == &user.ready) {
        posts--;
        (void)door_take_posted(&user);
        if (atom32_load(&control, ATOM_SEQ_CST))
            has_stopped = true;
        return;
    }
    EXPLORE_CHECK(!has_stopped, "a child that was accepted comes when /user has stopped");
    linked++;
    if (explore_variant() == RIGHT || explore_variant() == ADDS_FIRST)
        leave();
}

static void worker_thread(int index)
{
    (void)index;
    worker_run(&worker, NULL, on_node);
}

static void check(void)
{
    EXPLORE_CHECK(posts == 0, "a post has not arrived");
    EXPLORE_CHECK(linked == accepted, "%d accepted, %d linked", accepted, linked);
    EXPLORE_CHECK(has_stopped, "the worker sleeps and /user has not stopped");
}

#define THREADS                                                                                    \
    .setup = setup, .check = check,                                                                \
    .threads = {{"spawner a", spawner},                                                            \
                {"spawner b", spawner},                                                            \
                {"closer", closer},                                                                \
                {"worker", worker_thread}}

EXPLORE_MODEL(admission, .about = "a spawn from outside is refused, or linked before /user stops",
              .ids = "X-02", .variant = RIGHT, THREADS);
EXPLORE_MODEL(admission_only_looks, .about = "trap: a spawner checks whether it may, and proceeds",
              .ids = "", .is_wrong = true, .variant = ONLY_LOOKS, THREADS);
EXPLORE_MODEL(admission_leaves_early, .about = "trap: a spawner leaves when its child is posted",
              .ids = "", .is_wrong = true, .variant = LEAVES_EARLY, THREADS);
EXPLORE_MODEL(admission_adds_first, .about = "trap: a spawner counts itself before it looks",
              .ids = "", .is_wrong = true, .variant = ADDS_FIRST, THREADS);
