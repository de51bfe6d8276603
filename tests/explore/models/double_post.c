/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The trap "double post": an inbox that knows only empty and not empty.
 *
 * An owner that takes mail early leaves it empty, although the post is still on its way; the next push posts
 * the door a second time, and a link that is in use is overwritten. It is shown under the explorer,
 * and counted over all sequences of six operations: 133 of 729 link a cell twice. With the door of
 * queue/door.h none does.
 */
#include "models/office.h"

enum { OPERATIONS = 6, SEQUENCES = 729, SEQUENCES_BAD = 133 };

static struct door door;
static struct worker worker;
static struct letter letters[3];
static int posts;
static bool is_early_left;

static void setup(void)
{
    door_init(&door);
    door_open(&door, 1, 0, false);
    door_name(&door);
    worker_init(&worker);
    for (int i = 0; i < 3; i++)
        letter_init(&letters[i], i, 0, 1);
    posts = 0;
    is_early_left = true;
}

/* Two values instead of three: NULL is empty. */
static bool naive_push(struct door_mail *mail)
{
    void *head = atomptr_load(&door.inbox, ATOM_RELAXED);
    do {
        mail->next = head;
    } while (!atomptr_compare_exchange(&door.inbox, &head, mail, ATOM_ACQ_REL, ATOM_RELAXED));
    return !head;
}

static struct door_mail *naive_take(void)
{
    return atomptr_exchange(&door.inbox, NULL, ATOM_ACQ_REL);
}

static void sender(int index)
{
    for (int i = index; i < 3; i += 2)
        if (naive_push(&letters[i].mail))
            worker_post(&worker, &door, &posts);
}

static void take_in(struct door_mail *mail)
{
    for (; mail; mail = mail->next)
        letter_end((struct letter *)(void *)mail, "handled");
}

static void on_turn(void)
{
    if (is_early_left && explore_choose(2)) {
        is_early_left = false;
        take_in(naive_take());
    }
}

static void on_node(struct stack_node *node)
{
    (void)node;
    posts--;
    take_in(naive_take());
}

static void worker_thread(int index)
{
    (void)index;
    worker_run(&worker, on_turn, on_node);
}

/* --- all sequences of push, take early, take posted */

static struct door_mail mails[OPERATIONS];
static int sequences;
static int sequences_bad;

static void counts_reset(void)
{
    sequences = 0;
    sequences_bad = 0;
}

static void sequence_setup(void)
{
    door_init(&door);
    door_open(&door, 1, 0, false);
    posts = 0;
}

static void sequence(int index)
{
    (void)index;
    bool is_naive = explore_variant();
    int links_max = 0;
    for (int i = 0; i < OPERATIONS; i++) {
        switch (explore_choose(3)) {
        case 0:
            posts +=
                is_naive ? naive_push(&mails[i]) : door_push(&door, &mails[i]) == DOOR_TAKEN_POST;
            break;
        case 1:
            if (is_naive)
                naive_take();
            else
                door_take_early(&door);
            break;
        default:
            if (!posts)
                break;
            posts--;
            if (is_naive)
                naive_take();
            else
                door_take_posted(&door);
        }
        links_max = posts > links_max ? posts : links_max;
    }
    sequences++;
    sequences_bad += links_max > 1;
}

static void sequence_check(void)
{
    if (!explore_variant())
        EXPLORE_CHECK(!sequences_bad, "a sequence links a door twice");
}

static void sequence_count_check(void)
{
    EXPLORE_CHECK(sequences == SEQUENCES, "%d sequences", sequences);
    int bad = explore_variant() ? SEQUENCES_BAD : 0;
    EXPLORE_CHECK(sequences_bad == bad, "%d sequences link a door twice", sequences_bad);
}

EXPLORE_MODEL(double_post, .about = "trap: an inbox with two values links a door twice",
              .ids = "WP-07", .is_wrong = true, .setup = setup,
              .threads = {{"sender a", sender}, {"sender b", sender}, {"worker", worker_thread}});
EXPLORE_MODEL(double_post_naive_count, .about = "133 of all 729 sequences do so", .ids = "WP-07",
              .memory = EXPLORE_SC, .variant = 1, .setup = sequence_setup, .check = sequence_check,
              .on_begin = counts_reset, .on_exhausted = sequence_count_check,
              .threads = {{"all", sequence}});
EXPLORE_MODEL(double_post_door_count, .about = "with the door of queue/door.h none of them does",
              .ids = "WP-07", .memory = EXPLORE_SC, .setup = sequence_setup,
              .check = sequence_check, .on_begin = counts_reset,
              .on_exhausted = sequence_count_check, .threads = {{"all", sequence}});
