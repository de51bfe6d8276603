/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A tenant stops and its door is given to the next one, while senders knock with an old ref.
 *
 * Every letter ends once: refused to its sender, dead-lettered, or handled by the tenant it was
 * sent to. A post that is on its way when the door closes arrives once, before the next tenant.
 */
#include "models/office.h"

enum {
    STOPS,            /* the first tenant stops at any moment; nobody follows */
    REUSES,           /* the next tenant follows once no post is on its way */
    REUSES_EARLY,     /* trap: at once */
    TAKES_CLOSED,     /* trap: door_take_posted at a closed door makes it idle */
    DELIVERS_ANYTHING /* trap: the owner does not compare generations */
};

enum { SENDERS = 2 };

static struct door door;
static struct worker worker;
static struct letter letters[SENDERS + 1][2];
static atom32 announced; /* generation of the tenant that the late sender may know */
static int posts;
/* The owner's own. */
static uint32_t tenant; /* generation; 0 when the door is closed */
static bool has_stopped;
static bool is_post_awaited;

static void setup(void)
{
    door_init(&door);
    door_open(&door, 1, 0, false);
    door_name(&door);
    worker_init(&worker);
    for (int sender = 0; sender <= SENDERS; sender++)
        for (int i = 0; i < 2; i++)
            letter_init(&letters[sender][i], sender, i, sender == SENDERS ? 2 : 1);
    atom32_init(&announced, 0);
    explore_name(&announced, "announced");
    posts = 0;
    tenant = 1;
    has_stopped = false;
    is_post_awaited = false;
}

static void send(struct letter *letter, bool must_live)
{
    explore_plain_write(letter);
    enum door_result result = DOOR_REFUSED;
    if (atom64_load(&door.ref, ATOM_RELAXED) == letter->generation)
        result = door_push(&door, &letter->mail);
    switch (result) {
    case DOOR_TAKEN:
        break;
    case DOOR_TAKEN_POST:
        EXPLORE_CHECK(atom32_load(&door.owner, ATOM_RELAXED) == letter->generation - 1 ||
                          !must_live,
                      "the sender reads an old owner");
        worker_post(&worker, &door, &posts);
        break;
    case DOOR_REFUSED:
        EXPLORE_CHECK(!must_live, "refused although the tenant lives");
        letter_end(letter, "refused");
        break;
    }
}

static void sender(int index)
{
    send(&letters[index][0], false);
    send(&letters[index][1], false);
}

/* Sends to the second tenant, once it is known. */
static void late_sender(int index)
{
    if (!atom32_load(&announced, ATOM_ACQUIRE))
        return;
    letters[index][1].ends = -1;
    send(&letters[index][0], true);
}

static void take_in(struct door_mail *mail)
{
    for (mail = door_reverse(mail); mail;) {
        struct letter *letter = (struct letter *)(void *)mail;
        explore_plain_read(letter);
        mail = mail->next;
        if (letter->generation != tenant && explore_variant() != DELIVERS_ANYTHING) {
            letter_end(letter, "dead letter");
            continue;
        }
        EXPLORE_CHECK(letter->generation == tenant, "a letter reaches the next tenant");
        letter_end(letter, "handled");
    }
}

static void next_tenant_open(void)
{
    if (explore_variant() == STOPS)
        return;
    tenant = 2;
    /* The next tenant's owner has another number only so that an old one differs from it. */
    door_open(&door, 2, 1, false);
    atom32_store(&announced, 2, ATOM_RELEASE);
}

static void stop(void)
{
    has_stopped = true;
    tenant = 0;
    atom64_store(&door.ref, 0, ATOM_RELAXED);
    take_in(door_close(&door, &is_post_awaited));
    explore_note("closed, %s", is_post_awaited ? "a post is on its way" : "no post");
    if (!is_post_awaited || explore_variant() == REUSES_EARLY)
        next_tenant_open();
}

/* A tenant stops in a turn, so the owner is awake. */
static void on_turn(void)
{
    if (!has_stopped && explore_choose(2))
        stop();
}

static void on_node(struct stack_node *node)
{
    (void)node;
    posts--;
    if (is_post_awaited && explore_variant() != REUSES_EARLY) {
        is_post_awaited = false;
        if (explore_variant() == TAKES_CLOSED)
            take_in(door_take_posted(&door));
        next_tenant_open();
        return;
    }
    EXPLORE_CHECK(tenant, "a post arrives that closing did not tell of");
    take_in(door_take_posted(&door));
    on_turn();
}

static void worker_thread(int index)
{
    (void)index;
    worker_run(&worker, on_turn, on_node);
}

static void check(void)
{
    for (int i = 0; i < SENDERS; i++)
        for (int j = 0; j < 2; j++)
            letter_check_end(&letters[i][j]);
    if (letters[SENDERS][1].ends < 0)
        letter_check_end(&letters[SENDERS][0]);
    EXPLORE_CHECK(posts == 0, "a post has not arrived");
    EXPLORE_CHECK(!is_post_awaited || explore_variant() == REUSES_EARLY,
                  "the awaited post never came");
}

EXPLORE_MODEL(stop_send, .about = "stop against send: each letter is refused, dead or handled",
              .ids = "MB-04 LC-14 L-08", .variant = STOPS, .setup = setup, .check = check,
              .threads = {{"sender a", sender}, {"sender b", sender}, {"worker", worker_thread}});

#define THREADS                                                                                    \
    .setup = setup, .check = check,                                                                \
    .threads = {{"sender a", sender},                                                              \
                {"sender b", sender},                                                              \
                {"late sender", late_sender},                                                      \
                {"worker", worker_thread}}

EXPLORE_MODEL(slot_reuse, .about = "a next tenant gets the door: no old letter reaches it",
              .ids = "LC-14 MB-04 WP-05 WP-07", .variant = REUSES, THREADS);
EXPLORE_MODEL(slot_reuse_early, .about = "trap: the door is reused while a post is on its way",
              .ids = "LC-14", .is_wrong = true, .variant = REUSES_EARLY, THREADS);
EXPLORE_MODEL(slot_takes_closed, .about = "trap: door_take_posted opens a closed door",
              .ids = "LC-14", .is_wrong = true, .variant = TAKES_CLOSED, THREADS);
EXPLORE_MODEL(slot_no_generation, .about = "trap: the owner does not compare generations",
              .ids = "LC-14", .is_wrong = true, .variant = DELIVERS_ANYTHING, THREADS);
