/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An actor moves between two workers while three senders write to it, of which one moves too.
 *
 * The rules that keep order: mail from elsewhere goes to the actor's inbox and nowhere else; a
 * local send takes the inbox in first; only who holds the post may move the actor: it sets the
 * owner to NONE and posts the door to the other worker, which alone writes itself as owner, when
 * the door comes out of its ready inbox. Since nobody else can hold the post, nobody needs to know
 * where to post while the owner is NONE. Each trap drops one rule.
 */
#include "models/office.h"

enum {
    RIGHT,
    LOCAL_FIRST,   /* trap: a local send does not take the inbox in */
    WORKER_QUEUE,  /* trap: letters go through a queue of the worker, which passes them on */
    OWNER_BY_GIVER /* trap: the giver writes the new owner before its turn is over */
};

enum { A, B, NONE = 7, LETTERS = 2, MOVES = 2 };

struct parcel {
    struct stack_node node; /* must be first: the trap's worker queue */
    struct letter letter;
};

static struct door door;
static struct worker workers[2];
static struct parcel parcels[3][LETTERS];
static struct stack_node migrant; /* a sender that moves to a worker, with its second letter */
static int posts;
static int expected[3];
static int sent[2];
static int moves_left;
static int executing; /* the worker that runs the actor now, or NONE */
/* The actor's own list: touched by the owner only. */
static struct letter *list[3 * LETTERS];
static int list_count;

static void setup(void)
{
    door_init(&door);
    door_open(&door, 1, B, false);
    door_name(&door);
    for (int i = 0; i < 2; i++) {
        worker_init(&workers[i]);
        workers[i].parker.may_wake_early = false;
    }
    explore_name(&workers[1].ready.posted, "ready");
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < LETTERS; j++)
            letter_init(&parcels[i][j].letter, i, j, 1);
    explore_name(&list, "list");
    explore_name(&migrant, "sender c");
    memset(expected, 0, sizeof expected);
    posts = 0;
    sent[A] = sent[B] = 0;
    moves_left = MOVES;
    executing = NONE;
    list_count = 0;
}

static bool is_owner(int self)
{
    return atom32_load(&door.owner, ATOM_RELAXED) == (uint32_t)self;
}

static void list_append(struct letter *letter)
{
    explore_plain_write(&list);
    list[list_count++] = letter;
}

static void take_in(struct door_mail *mail)
{
    for (mail = door_reverse(mail); mail;) {
        struct letter *letter = (struct letter *)(void *)mail;
        explore_plain_read(letter);
        mail = mail->next;
        list_append(letter);
    }
}

static void queue_push(uint32_t target, struct parcel *parcel)
{
    if (ready_post(&workers[target].ready, &parcel->node))
        explore_unpark(&workers[target].parker);
}

static void send_remote(struct parcel *parcel)
{
    if (explore_variant() == WORKER_QUEUE) {
        queue_push(atom32_load(&door.owner, ATOM_ACQUIRE), parcel);
        return;
    }
    if (door_push(&door, &parcel->letter.mail) != DOOR_TAKEN_POST)
        return;
    uint32_t owner = atom32_load(&door.owner, ATOM_RELAXED);
    EXPLORE_CHECK(owner != NONE, "who must post does not know where to");
    worker_post(&workers[owner], &door, &posts);
}

static void send(int self, struct parcel *parcel)
{
    explore_plain_write(&parcel->letter);
    if (!is_owner(self)) {
        send_remote(parcel);
        return;
    }
    if (explore_variant() != LOCAL_FIRST)
        take_in(door_take_early(&door));
    list_append(&parcel->letter);
}

/* A turn: handles what is in the list. */
static void actor_run(int self)
{
    EXPLORE_CHECK(executing == NONE, "two workers run one actor");
    executing = self;
    explore_step();
    explore_plain_write(&list);
    for (int i = 0; i < list_count; i++) {
        struct letter *letter = list[i];
        letter_end(letter, "handled");
        EXPLORE_CHECK(letter->number == expected[letter->sender]++, "a letter is out of order");
    }
    list_count = 0;
    executing = NONE;
}

static void give(int self)
{
    moves_left--;
    explore_note("moves the actor");
    if (explore_variant() == OWNER_BY_GIVER || explore_variant() == WORKER_QUEUE) {
        atom32_store(&door.owner, (uint32_t)!self, ATOM_RELEASE);
        if (explore_variant() == OWNER_BY_GIVER)
            actor_run(self);
    } else {
        atom32_store(&door.owner, NONE, ATOM_RELAXED);
    }
    worker_post(&workers[!self], &door, &posts);
}

/* Between two turns. Only who can take the post may move the actor. */
static void maybe_give(int self)
{
    if (!moves_left || !explore_choose(2))
        return;
#if CANARY == 3
    /* Moves in any case: the post that is on its way brings the actor to the old worker. */
    door_nudge(&door);
    give(self);
#else
    if (door_nudge(&door) == DOOR_TAKEN_POST)
        give(self);
#endif
}

static void door_arrives(int self)
{
    posts--;
    uint32_t owner = atom32_load(&door.owner, ATOM_RELAXED);
    EXPLORE_CHECK(owner == NONE || owner == (uint32_t)self, "a post reaches who is not the owner");
    /* While the post is held it can be passed on as it is. */
    if (owner == (uint32_t)self && moves_left && explore_variant() == RIGHT && explore_choose(2)) {
        give(self);
        return;
    }
    atom32_store(&door.owner, (uint32_t)self, ATOM_RELAXED);
    take_in(door_take_posted(&door));
}

static void parcel_arrives(int self, struct parcel *parcel)
{
    if (is_owner(self)) {
        explore_plain_read(&parcel->letter);
        list_append(&parcel->letter);
    } else {
        queue_push(atom32_load(&door.owner, ATOM_ACQUIRE), parcel);
    }
}

static bool arrivals_take(int self)
{
    struct stack_node *node = stack_reverse(ready_take(&workers[self].ready));
    bool is_any = node;
    while (node) {
        explore_plain_read(node);
        struct stack_node *next = node->next;
        if (node == &door.ready)
            door_arrives(self);
        else if (node == &migrant)
            send(self, &parcels[2][1]);
        else
            parcel_arrives(self, (struct parcel *)(void *)node);
        node = next;
    }
    return is_any;
}

static void worker_thread(int self)
{
    for (;;) {
        bool is_busy = arrivals_take(self);
        /* An actor of this worker sends, in its turn. */
        if (sent[self] < LETTERS) {
            send(self, &parcels[self][sent[self]++]);
            is_busy = true;
        }
        if (is_owner(self)) {
            actor_run(self);
            maybe_give(self);
        }
        if (is_busy || !ready_doze(&workers[self].ready))
            continue;
        explore_park(&workers[self].parker);
        ready_rise(&workers[self].ready);
    }
}

/* A third worker: its actor sends, moves to one of the others, and sends from there. */
static void foreign_thread(int index)
{
    explore_plain_write(&parcels[index][0].letter);
    send_remote(&parcels[index][0]);
    explore_plain_write(&migrant);
    struct worker *target = &workers[explore_choose(2)];
    if (ready_post(&target->ready, &migrant))
        explore_unpark(&target->parker);
}

static void check(void)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < LETTERS; j++)
            letter_check_end(&parcels[i][j].letter);
    EXPLORE_CHECK(posts == 0, "a post has not arrived");
}

#define THREADS                                                                                    \
    .setup = setup, .check = check,                                                                \
    .threads = {                                                                                   \
        {"worker A", worker_thread}, {"worker B", worker_thread}, {"sender c", foreign_thread}}

#if CANARY == 0
EXPLORE_MODEL(move, .about = "an actor moves twice; each sender's letters stay in order",
              .ids = "SG-01 SG-05 WP-06 WP-07", .variant = RIGHT, THREADS);
EXPLORE_MODEL(move_local_first, .about = "trap: a local send does not take the inbox in first",
              .ids = "SG-01", .is_wrong = true, .variant = LOCAL_FIRST, THREADS);
EXPLORE_MODEL(move_worker_queue, .about = "trap: letters go through a queue of the worker",
              .ids = "SG-01", .is_wrong = true, .variant = WORKER_QUEUE, THREADS);
EXPLORE_MODEL(move_owner_by_giver, .about = "trap: the giver writes the new owner", .ids = "WP-06",
              .is_wrong = true, .variant = OWNER_BY_GIVER, THREADS);
#elif CANARY == 3
EXPLORE_MODEL(canary3_two_queues, .about = "canary 3: an actor is pushed to two run queues",
              .ids = "WP-07", .is_wrong = true, .variant = RIGHT, THREADS);
#endif
