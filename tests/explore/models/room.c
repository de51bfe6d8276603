/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The room of a mailbox: senders elsewhere take it, the owner puts some by, gives it back, and ends;
 * then the slot is the next tenant's.
 *
 * Never is more taken than the bound. A sender that is late takes nothing from the next tenant. And
 * nothing is lost: in the end the word, what is reserved and what waits are the bound again.
 */
#include "models/office.h"

enum {
    STAYS,       /* one tenant */
    REUSES,      /* another one follows */
    NO_TENANT,   /* trap: a sender does not look whose room it is */
    GIVES_STALE, /* trap: the owner gives back what was taken from the last tenant */
    KEEPS_STOCK, /* trap: what was reserved passes to the next tenant */
    FORGETS      /* trap: the room of a dead letter is not given back */
};

enum { SENDERS = 2, BOUND = 2, LINES = 3, NEXT_BOUND = 1, NEXT_LINES = 2 };

static struct door door;
static struct worker worker;
static struct letter letters[SENDERS + 1][2];
static atom32 announced; /* generation of the tenant that the late sender may know */
static int posts;
/* What the model knows. */
static uint32_t capacity_of; /* generation of the tenant whose room it is now */
static int held;             /* messages that have capacity of this one, and their lines */
static int held_lines;
/* The owner's own. */
static uint32_t tenant; /* 0 when the door is closed */
static bool has_stopped;
static bool is_post_awaited;
static bool has_told; /* the owner has sent itself its letter, */
static bool has_near; /* which waits, */
static int stock;     /* with what it has reserved */
static int stock_lines;

static void setup(void)
{
    door_init(&door);
    capacity_open(&door.capacity, 1, 0, BOUND, LINES);
    door_open(&door, 1, 0, false);
    door_name(&door);
    explore_name(&door.capacity, "room");
    worker_init(&worker);
    for (int sender = 0; sender <= SENDERS; sender++)
        for (int i = 0; i < 2; i++)
            letter_init(&letters[sender][i], sender, i, sender == SENDERS ? 2 : 1);
    atom32_init(&announced, 0);
    explore_name(&announced, "announced");
    posts = 0;
    capacity_of = 1;
    held = 0;
    held_lines = 0;
    tenant = 1;
    has_stopped = false;
    is_post_awaited = false;
    has_told = false;
    has_near = false;
    stock = 0;
    stock_lines = 0;
}

/* The second letter of a sender is larger than the first one. */
static int lines_of(const struct letter *letter)
{
    return 1 + letter->number;
}

static void hold(int messages, int lines)
{
    held += messages;
    held_lines += lines;
    EXPLORE_CHECK(held <= (capacity_of == 1 ? BOUND : NEXT_BOUND), "%d messages are held", held);
    EXPLORE_CHECK(
        held_lines <= (capacity_of == 1 ? LINES : NEXT_LINES), "%d lines are held", held_lines);
    EXPLORE_CHECK(held >= 0 && held_lines >= 0, "room is given back twice");
}

static enum capacity_result take(const struct letter *letter)
{
#if CANARY == 6
    /* Looks, then takes. */
    uint64_t word = capacity_load(&door.capacity);
    if (!capacity_is_of(word, letter->generation))
        return CAPACITY_STRANGE;
    if (capacity_messages(word) < 1 || capacity_lines(word) < lines_of(letter))
        return CAPACITY_FULL;
    capacity_give(&door.capacity, -1, -lines_of(letter));
    return CAPACITY_TAKEN;
#else
    uint32_t generation = letter->generation;
    if (explore_variant() == NO_TENANT)
        generation = (uint32_t)(capacity_load(&door.capacity) >> CAPACITY_GENERATION_SHIFT);
    return capacity_take(&door.capacity, generation, lines_of(letter), 0, 0);
#endif
}

static void send(struct letter *letter, bool must_live)
{
    explore_plain_write(letter);
    if (atom64_load(&door.ref, ATOM_RELAXED) != letter->generation) {
        EXPLORE_CHECK(!must_live, "the tenant is not there");
        letter_end(letter, "refused");
        return;
    }
    enum capacity_result taken = take(letter);
    if (taken == CAPACITY_TAKEN) {
        EXPLORE_CHECK(capacity_of == letter->generation, "room of the next tenant is taken");
        hold(1, lines_of(letter));
    }
    EXPLORE_CHECK(taken != CAPACITY_STRANGE || !must_live, "the room of its tenant is not there");
    if (taken != CAPACITY_TAKEN) {
        letter_end(letter, taken == CAPACITY_FULL ? "full" : "another lives there");
        return;
    }
    switch (door_push(&door, &letter->mail)) {
    case DOOR_TAKEN:
        break;
    case DOOR_TAKEN_POST:
        worker_post(&worker, &door, &posts);
        break;
    case DOOR_REFUSED:
        EXPLORE_CHECK(!must_live, "refused although the tenant lives");
        letter_end(letter, "refused, and its room is gone");
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

/* ---- The owner. ---- */

/* A letter to itself: with what is reserved, or some more of it. */
static void tell_near(void)
{
    int32_t messages = 1;
    int32_t lines = 2;
    has_told = true;
    capacity_take_some(&door.capacity, &messages, &lines);
    stock += messages;
    stock_lines += lines;
    explore_note("reserved: %d, %d lines", stock, stock_lines);
    if (stock < 1 || stock_lines < 1)
        return;
    stock--;
    stock_lines--;
    hold(1, 1);
    has_near = true;
}

static void handle_near(void)
{
    has_near = false;
    hold(-1, -1);
    /* Into the stock; and what is too much there goes back, which is all of it in so small a room. */
    int messages = stock + 1;
    int lines = stock_lines + 1;
    stock = 0;
    stock_lines = 0;
    capacity_give(&door.capacity, messages, lines);
}

static void take_in(struct door_mail *mail)
{
    for (mail = door_reverse(mail); mail;) {
        struct letter *letter = (struct letter *)(void *)mail;
        explore_plain_read(letter);
        mail = mail->next;
        bool is_mine = letter->generation == tenant;
        letter_end(letter, is_mine ? "handled" : "dead letter");
        if (is_mine && explore_variant() != FORGETS) {
            capacity_give(&door.capacity, 1, lines_of(letter));
            hold(-1, -lines_of(letter));
        }
        if (!is_mine && tenant && explore_variant() == GIVES_STALE)
            capacity_give(&door.capacity, 1, lines_of(letter));
    }
}

static void next_tenant_open(void)
{
    if (explore_variant() == STAYS)
        return;
    tenant = 2;
    if (explore_variant() != KEEPS_STOCK) {
        stock = 0;
        stock_lines = 0;
    }
    has_near = false;
    capacity_open(&door.capacity, 2, 0, NEXT_BOUND, NEXT_LINES);
    capacity_of = 2;
    held = 0;
    held_lines = 0;
    door_open(&door, 2, 0, false);
    atom32_store(&announced, 2, ATOM_RELEASE);
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

static void on_turn(void)
{
    if (has_near)
        handle_near();
    else if (tenant && !has_told && explore_choose(2))
        tell_near();
    if (!has_stopped && explore_variant() != STAYS && explore_choose(2))
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
    if (!tenant)
        return;
    uint64_t word = capacity_load(&door.capacity);
    EXPLORE_CHECK(capacity_is_of(word, tenant), "the room is not its tenant's");
    EXPLORE_CHECK(capacity_messages(word) + stock + held == (tenant == 1 ? BOUND : NEXT_BOUND),
                  "%d messages free, %d reserved, %d held",
                  capacity_messages(word),
                  stock,
                  held);
    EXPLORE_CHECK(capacity_lines(word) + stock_lines + held_lines ==
                      (tenant == 1 ? LINES : NEXT_LINES),
                  "%d lines free, %d reserved, %d held",
                  capacity_lines(word),
                  stock_lines,
                  held_lines);
    EXPLORE_CHECK(has_near == (held > 0), "room is lost");
}

#define THREADS                                                                                    \
    .setup = setup, .check = check,                                                                \
    .threads = {{"sender a", sender},                                                              \
                {"sender b", sender},                                                              \
                {"late sender", late_sender},                                                      \
                {"owner", worker_thread}}

#if CANARY == 0
EXPLORE_MODEL(room, .about = "the room of one tenant: never more than the bound, and none is lost",
              .ids = "M-02 MB-01 MB-02", .variant = STAYS, THREADS);
EXPLORE_MODEL(room_reuse, .about = "late senders take nothing from the next tenant's room",
              .ids = "M-02 MB-01 LC-14", .variant = REUSES, THREADS);
EXPLORE_MODEL(room_no_tenant, .about = "trap: a sender does not look whose room it is",
              .ids = "M-02", .is_wrong = true, .variant = NO_TENANT, THREADS);
EXPLORE_MODEL(room_gives_stale, .about = "trap: the owner gives back the last tenant's room",
              .ids = "M-02", .is_wrong = true, .variant = GIVES_STALE, THREADS);
EXPLORE_MODEL(room_keeps_stock, .about = "trap: what was reserved passes to the next tenant",
              .ids = "M-02", .is_wrong = true, .variant = KEEPS_STOCK, THREADS);
EXPLORE_MODEL(room_forgets, .about = "trap: the owner does not give back", .ids = "M-02",
              .is_wrong = true, .variant = FORGETS, THREADS);
#elif CANARY == 6
EXPLORE_MODEL(canary6_two_steps, .about = "canary 6: a sender looks, then takes", .ids = "M-02",
              .is_wrong = true, .variant = STAYS, THREADS);
#endif
