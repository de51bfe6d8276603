/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A control word with door_nudge, against the owner's door_take_posted.
 *
 * The controller writes a bit and nudges; it may find the door posted by somebody else, and then
 * relies on the owner, who looks at the bits after it has made the door idle.
 */
#include "models/office.h"

enum { RIGHT, LOOKS_BEFORE, RELEASE_ACQUIRE };

static struct door door;
static struct worker worker;
static struct letter letter;
static atom32 control;
static int posts;
static bool is_seen;

static void setup(void)
{
    door_init(&door);
    door_open(&door, 1, 0, false);
    door_name(&door);
    worker_init(&worker);
    letter_init(&letter, 1, 0, 1);
    atom32_init(&control, 0);
    explore_name(&control, "control");
    posts = 0;
    is_seen = false;
}

static void controller(int index)
{
    (void)index;
    atom32_fetch_or(
        &control, 1, explore_variant() == RELEASE_ACQUIRE ? ATOM_RELEASE : ATOM_SEQ_CST);
    if (door_nudge(&door) == DOOR_TAKEN_POST)
        worker_post(&worker, &door, &posts);
}

static void sender(int index)
{
    (void)index;
    explore_plain_write(&letter);
    if (door_push(&door, &letter.mail) == DOOR_TAKEN_POST)
        worker_post(&worker, &door, &posts);
}

static void look(void)
{
    memory_order order = explore_variant() == RELEASE_ACQUIRE ? ATOM_ACQUIRE : ATOM_SEQ_CST;
    if (atom32_load(&control, order))
        is_seen = true;
}

static void on_node(struct stack_node *node)
{
    (void)node;
    posts--;
    if (explore_variant() == LOOKS_BEFORE)
        look();
    struct door_mail *mail = door_take_posted(&door);
    if (mail) {
        explore_plain_read(mail);
        letter_end((struct letter *)(void *)mail, "handled");
    }
    if (explore_variant() != LOOKS_BEFORE)
        look();
}

static void worker_thread(int index)
{
    (void)index;
    worker_run(&worker, NULL, on_node);
}

static void check(void)
{
    letter_check_end(&letter);
    EXPLORE_CHECK(is_seen, "the owner sleeps and has not seen the control word");
}

#define THREADS                                                                                    \
    .threads = {{"controller", controller}, {"sender b", sender}, {"worker", worker_thread}}

EXPLORE_MODEL(nudge, .about = "a control word with door_nudge is always seen",
              .ids = "WP-01 WP-07 SG-14", .variant = RIGHT, .setup = setup, .check = check,
              THREADS);
EXPLORE_MODEL(nudge_looks_before, .about = "trap: the owner looks before it makes the door idle",
              .ids = "WP-01", .is_wrong = true, .variant = LOOKS_BEFORE, .setup = setup,
              .check = check, THREADS);
EXPLORE_MODEL(nudge_release_acquire, .about = "trap: the control word is only release and acquire",
              .ids = "SG-14", .is_wrong = true, .memory = EXPLORE_WEAK, .variant = RELEASE_ACQUIRE,
              .setup = setup, .check = check, THREADS);
