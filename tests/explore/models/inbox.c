/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The inbox of a door: two senders push, its owner takes early and posted.
 *
 * Nothing is lost, nothing comes twice, each sender's letters come in order, and the door is in the
 * ready inbox at most once.
 */
#include "models/office.h"

enum { LETTERS = 2, EARLY_TAKES = 2 };

static struct door door;
static struct worker worker;
static struct letter letters[2][LETTERS];
static int posts;
static int expected[2]; /* the number of each sender's next letter */
static int early_takes;
static bool is_dead;

static void setup(void)
{
    door_init(&door);
    door_open(&door, 1, 0, false);
    door_name(&door);
    worker_init(&worker);
    for (int sender = 0; sender < 2; sender++)
        for (int i = 0; i < LETTERS; i++)
            letter_init(&letters[sender][i], sender, i, 1);
    posts = 0;
    expected[0] = expected[1] = 0;
    early_takes = EARLY_TAKES;
    is_dead = false;
}

static void push(struct letter *newest, struct letter *oldest)
{
    switch (door_push_chain(&door, &newest->mail, &oldest->mail)) {
    case DOOR_TAKEN:
        break;
    case DOOR_TAKEN_POST:
        worker_post(&worker, &door, &posts);
        break;
    case DOOR_REFUSED:
        explore_fail("refused although the actor lives");
        break;
    }
}

static void sender_of_singles(int index)
{
    for (int i = 0; i < LETTERS; i++) {
        explore_plain_write(&letters[index][i]);
        push(&letters[index][i], &letters[index][i]);
    }
}

static void sender_of_chain(int index)
{
    for (int i = 0; i < LETTERS; i++) {
        explore_plain_write(&letters[index][i]);
        if (i)
            letters[index][i].mail.next = &letters[index][i - 1].mail;
    }
    push(&letters[index][LETTERS - 1], &letters[index][0]);
}

static void take_in(struct door_mail *mail)
{
    for (mail = door_reverse(mail); mail;) {
        struct letter *letter = (struct letter *)(void *)mail;
        explore_plain_read(letter);
        mail = mail->next;
        letter_end(letter, "handled");
        EXPLORE_CHECK(letter->number == expected[letter->sender]++, "a letter is out of order");
    }
}

/* What a local send or a run does. */
static void on_turn(void)
{
    if (early_takes && explore_choose(2)) {
        early_takes--;
        take_in(door_take_early(&door));
    }
}

static void on_node(struct stack_node *node)
{
    (void)node;
    posts--;
    if (is_dead)
        return;
    struct door_mail *mail = door_take_posted(&door);
#if CANARY == 2
    if (!mail) {
        bool is_posted;
        is_dead = true;
        door_close(&door, &is_posted);
    }
#endif
    take_in(mail);
    on_turn();
}

static void worker_thread(int index)
{
    (void)index;
    worker_run(&worker, on_turn, on_node);
}

static void check(void)
{
    for (int sender = 0; sender < 2; sender++)
        for (int i = 0; i < LETTERS; i++)
            letter_check_end(&letters[sender][i]);
    EXPLORE_CHECK(posts == 0, "a post has not arrived");
}

/* Somebody wakes the actor, and there is nothing inside. */
static void nudger(int index)
{
    (void)index;
    if (door_nudge(&door) == DOOR_TAKEN_POST)
        worker_post(&worker, &door, &posts);
}

static void check_one_sender(void)
{
    EXPLORE_CHECK(!is_dead, "an empty wake has killed the actor");
    for (int i = 0; i < LETTERS; i++)
        letter_check_end(&letters[0][i]);
    EXPLORE_CHECK(posts == 0, "a post has not arrived");
}

#if CANARY == 0
EXPLORE_MODEL(inbox, .about = "push, take early and take posted: all letters once, in order",
              .ids = "WP-04 WP-07 SG-01 SG-05 P-04 SG-14", .setup = setup, .check = check,
              .threads = {{"sender a", sender_of_singles},
                          {"sender b", sender_of_chain},
                          {"worker", worker_thread}});

EXPLORE_MODEL(empty_wake, .about = "a wake with nothing inside is harmless", .ids = "WP-02 L-08",
              .setup = setup, .check = check_one_sender,
              .threads = {
                  {"sender a", sender_of_singles}, {"nudger", nudger}, {"worker", worker_thread}});
#elif CANARY == 2
EXPLORE_MODEL(canary2_empty_wake, .about = "canary 2: an empty wake kills the actor",
              .ids = "WP-02", .is_wrong = true, .setup = setup, .check = check_one_sender,
              .threads = {
                  {"sender a", sender_of_singles}, {"nudger", nudger}, {"worker", worker_thread}});
#elif CANARY == 4
EXPLORE_MODEL(canary4_relaxed_push, .about = "canary 4: the push that publishes mail is relaxed",
              .ids = "SG-14", .is_wrong = true, .memory = EXPLORE_WEAK, .setup = setup,
              .check = check,
              .threads = {{"sender a", sender_of_singles},
                          {"sender b", sender_of_chain},
                          {"worker", worker_thread}});
#endif
