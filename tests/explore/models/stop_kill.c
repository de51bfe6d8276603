/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A parent kills a child on another worker which is about to stop by itself, and which then waits
 * for its own children behind a closed door.
 *
 * The kill must be seen in any case, because it hastens the stop. The parent sets the bit and
 * nudges. If the door is closed it raises the worker's sweep flag and nudges the worker. If not,
 * the post that is on its way shows the bit to the owner, also when the door is closed by then.
 */
#include "models/office.h"

enum {
    RIGHT,
    IGNORES_POST /* trap: a post that reaches a closed door is only taken note of */
};

static struct door door;
static struct worker worker;
static struct letter letter;
static atom32 control;
static atom32 sweep;
static int posts;
static bool has_stopped;
static bool is_seen;

static void setup(void)
{
    door_init(&door);
    door_open(&door, 1, 0, false);
    door_name(&door);
    worker_init(&worker);
    letter_init(&letter, 1, 0, 1);
    atom32_init(&control, 0);
    atom32_init(&sweep, 0);
    explore_name(&control, "control");
    explore_name(&sweep, "sweep");
    posts = 0;
    has_stopped = false;
    is_seen = false;
}

static void parent(int index)
{
    (void)index;
    atom32_fetch_or(&control, 1, ATOM_SEQ_CST);
    switch (door_nudge(&door)) {
    case DOOR_TAKEN:
        break;
    case DOOR_TAKEN_POST:
        worker_post(&worker, &door, &posts);
        break;
    case DOOR_REFUSED:
        atom32_store(&sweep, 1, ATOM_SEQ_CST);
        if (ready_nudge(&worker.ready))
            explore_unpark(&worker.parker);
        break;
    }
}

static void sender(int index)
{
    (void)index;
    explore_plain_write(&letter);
    switch (door_push(&door, &letter.mail)) {
    case DOOR_TAKEN:
        break;
    case DOOR_TAKEN_POST:
        worker_post(&worker, &door, &posts);
        break;
    case DOOR_REFUSED:
        letter_end(&letter, "refused");
        break;
    }
}

static void take_in(struct door_mail *mail)
{
    if (!mail)
        return;
    explore_plain_read(mail);
    letter_end((struct letter *)(void *)mail, has_stopped ? "dead letter" : "handled");
}

static void look(void)
{
    if (atom32_load(&control, ATOM_SEQ_CST))
        is_seen = true;
}

static void on_turn(void)
{
    if (atom32_load(&sweep, ATOM_RELAXED)) {
        atom32_exchange(&sweep, 0, ATOM_SEQ_CST);
        look();
    }
    if (!has_stopped && explore_choose(2)) {
        bool is_posted;
        has_stopped = true;
        take_in(door_close(&door, &is_posted));
    }
}

static void on_node(struct stack_node *node)
{
    (void)node;
    posts--;
    if (!has_stopped)
        take_in(door_take_posted(&door));
    else if (explore_variant() == IGNORES_POST)
        return;
    look();
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
    EXPLORE_CHECK(is_seen, "the worker sleeps and has not seen the kill");
}

#define THREADS                                                                                    \
    .setup = setup, .check = check,                                                                \
    .threads = {{"parent", parent}, {"sender b", sender}, {"worker", worker_thread}}

EXPLORE_MODEL(stop_kill, .about = "a kill of an actor that stops by itself is seen", .ids = "WP-01",
              .variant = RIGHT, THREADS);
EXPLORE_MODEL(stop_kill_ignored, .about = "trap: a post at a closed door shows no control bits",
              .ids = "", .is_wrong = true, .variant = IGNORES_POST, THREADS);
