/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An actor moves between two workers while it is killed and written to (move_stop), and a parent moves
 * while its child ends (move_child).
 *
 * The kill sets a bit and nudges. A worker that has given the actor away does not look at the bits again; the
 * one that takes it looks at them after it has made the door idle. A post reaches the owner, also at a closed
 * door, and until it has the slot is nobody's.
 *
 * A child that has ended is posted to the worker of its parent, as far as can be seen. A worker that finds
 * it there looks again, since the parent may have moved, and passes it on; of a parent that is
 * nobody's at the moment he tries again.
 */
#include "models/office.h"

enum {
    RIGHT,
    LOOKS_EARLY,      /* trap: the taker looks at the bits before it makes the door idle */
    STOPS_GIVEN,      /* trap: the giver stops the actor when it sees the bits */
    FORGETS_POST,     /* trap: the slot is free although a post is on its way */
    GIVES_UNPOSTED,   /* trap: the giver does not take the post */
    CHILD_STAYS,      /* trap: a child that has ended is taken out wherever its post arrives */
    CHILD_OWNER_EARLY /* trap: a parent has its new owner before it is there */
};

enum { A, B, NONE = 7, MOVES = 2 };

static struct door door;
static struct worker workers[2];
static struct letter letter;
static atom32 control;
static int posts;
static int moves_left;
static int executing; /* the worker that runs the actor, or NONE */
static bool has_stopped;
static bool is_ready;
static bool is_free;
static int actor; /* all that is the owner's */
/* Of move_child. */
static struct stack_node child;
static bool has_ended;
static int children_gone;

static void setup(void)
{
    door_init(&door);
    door_open(&door, 1, B, false);
    door_name(&door);
    for (int i = 0; i < 2; i++) {
        worker_init(&workers[i]);
        workers[i].parker.may_wake_early = false;
    }
    letter_init(&letter, 1, 0, 1);
    atom32_init(&control, 0);
    explore_name(&control, "control");
    explore_name(&actor, "actor");
    explore_name(&child, "child");
    posts = 0;
    moves_left = MOVES;
    executing = NONE;
    has_stopped = is_ready = is_free = has_ended = false;
    children_gone = 0;
}

static bool is_owner(int self)
{
    return atom32_load(&door.owner, ATOM_RELAXED) == (uint32_t)self;
}

static void post_to_owner(void)
{
    uint32_t owner = atom32_load(&door.owner, ATOM_RELAXED);
    EXPLORE_CHECK(owner != NONE, "who must post does not know where to");
    worker_post(&workers[owner], &door, &posts);
}

static void killer(int index)
{
    (void)index;
    atom32_fetch_or(&control, 1, ATOM_SEQ_CST);
    if (door_nudge(&door) == DOOR_TAKEN_POST)
        post_to_owner();
}

static void sender(int index)
{
    (void)index;
    explore_plain_write(&letter);
    switch (door_push(&door, &letter.mail)) {
    case DOOR_TAKEN:
        break;
    case DOOR_TAKEN_POST:
        post_to_owner();
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

static void leave(void)
{
    EXPLORE_CHECK(posts == 0, "a slot is free and its door is posted");
    is_free = true;
}

static void stop(void)
{
    bool is_posted;
    explore_note("stops");
    EXPLORE_CHECK(!has_stopped, "an actor stops twice");
    has_stopped = true;
    take_in(door_close(&door, &is_posted));
    if (!is_posted || explore_variant() == FORGETS_POST)
        leave();
}

static void hold(int self)
{
    EXPLORE_CHECK(executing == NONE, "two workers run one actor");
    executing = self;
    explore_plain_write(&actor);
}

static void actor_run(int self)
{
    hold(self);
    is_ready = false;
    explore_step();
    if (atom32_exchange(&control, 0, ATOM_SEQ_CST))
        stop();
    executing = NONE;
}

static void give(int self)
{
    moves_left--;
    explore_note("moves the actor");
    bool is_early = explore_variant() == CHILD_OWNER_EARLY;
    atom32_store(&door.owner, is_early ? (uint32_t)!self : NONE, ATOM_RELAXED);
    worker_post(&workers[!self], &door, &posts);
    if (explore_variant() == STOPS_GIVEN && atom32_load(&control, ATOM_SEQ_CST))
        actor_run(self);
}

static bool may_give(void)
{
    return moves_left && !atom32_load(&control, ATOM_RELAXED) && explore_choose(2);
}

/* Between two turns. */
static void maybe_give(int self)
{
    if (may_give() && (explore_variant() == GIVES_UNPOSTED || door_nudge(&door) == DOOR_TAKEN_POST))
        give(self);
}

static void look(void)
{
    if (atom32_load(&control, ATOM_SEQ_CST))
        is_ready = true;
}

static void door_arrives(int self)
{
    posts--;
    uint32_t owner = atom32_load(&door.owner, ATOM_RELAXED);
    EXPLORE_CHECK(owner == NONE || owner == (uint32_t)self, "a post reaches who is not the owner");
    if (has_stopped) {
        leave();
        return;
    }
    if (owner == (uint32_t)self && explore_variant() == RIGHT && may_give()) {
        give(self);
        return;
    }
    atom32_store(&door.owner, (uint32_t)self, ATOM_RELEASE);
    hold(self);
    if (explore_variant() == LOOKS_EARLY)
        look();
    take_in(door_take_posted(&door));
    if (explore_variant() != LOOKS_EARLY)
        look();
    executing = NONE;
}

/* A parent's list of children is its owner's. */
static void child_arrives(int self)
{
    uint32_t owner = atom32_load(&door.owner, ATOM_RELAXED);
    if (owner != (uint32_t)self && explore_variant() != CHILD_STAYS) {
        struct worker *worker = &workers[owner == NONE ? self : (int)owner];
        atom_pause();
        explore_plain_write(&child);
        if (ready_post(&worker->ready, &child))
            explore_unpark(&worker->parker);
        return;
    }
    hold(self);
    children_gone++;
    executing = NONE;
}

static bool arrivals_take(int self)
{
    struct stack_node *node = stack_reverse(ready_take(&workers[self].ready));
    bool is_any = node;
    while (node) {
        explore_plain_read(node);
        struct stack_node *next = node->next;
        if (node == &child)
            child_arrives(self);
        else
            door_arrives(self);
        node = next;
    }
    return is_any;
}

static void work(int self, bool is_busy)
{
    if (is_owner(self) && !has_stopped) {
        if (is_ready) {
            actor_run(self);
            is_busy = true;
        } else {
            maybe_give(self);
        }
    }
    if (is_busy || !ready_doze(&workers[self].ready))
        return;
    explore_park(&workers[self].parker);
    ready_rise(&workers[self].ready);
}

static void worker_thread(int self)
{
    for (;;)
        work(self, arrivals_take(self));
}

/* The child lives on worker A, and ends. */
static void family_thread(int self)
{
    for (;;) {
        bool is_busy = arrivals_take(self);
        if (self == A && !has_ended) {
            has_ended = true;
            child_arrives(self);
            is_busy = true;
        }
        work(self, is_busy);
    }
}

static void check(void)
{
    letter_check_end(&letter);
    EXPLORE_CHECK(posts == 0, "a post has not arrived");
    EXPLORE_CHECK(has_stopped, "the workers sleep and have not seen the kill");
    EXPLORE_CHECK(is_free, "the slot is lost");
}

static void family_check(void)
{
    letter_check_end(&letter);
    EXPLORE_CHECK(posts == 0, "a post has not arrived");
    EXPLORE_CHECK(children_gone == 1, "a child was taken out %d times", children_gone);
}

#define THREADS                                                                                    \
    .setup = setup, .check = check,                                                                \
    .threads = {{"worker A", worker_thread},                                                       \
                {"worker B", worker_thread},                                                       \
                {"killer", killer},                                                                \
                {"sender b", sender}}
#define FAMILY                                                                                     \
    .setup = setup, .check = family_check,                                                         \
    .threads = {{"worker A", family_thread}, {"worker B", family_thread}, {"sender b", sender}}

EXPLORE_MODEL(move_stop, .about = "an actor that moves is killed, and its slot is free once",
              .ids = "WP-01 WP-06 WP-07 WP-12", .variant = RIGHT, THREADS);
EXPLORE_MODEL(move_looks_early, .about = "trap: the taker looks at the bits too early",
              .ids = "WP-01", .is_wrong = true, .variant = LOOKS_EARLY, THREADS);
EXPLORE_MODEL(move_stops_given, .about = "trap: the giver of an actor stops it", .ids = "WP-06",
              .is_wrong = true, .variant = STOPS_GIVEN, THREADS);
EXPLORE_MODEL(move_forgets_post, .about = "trap: a slot is free and its door is posted",
              .ids = "WP-07", .is_wrong = true, .variant = FORGETS_POST, THREADS);
EXPLORE_MODEL(move_gives_unposted, .about = "trap: the giver does not take the post",
              .ids = "WP-07", .is_wrong = true, .variant = GIVES_UNPOSTED, THREADS);
EXPLORE_MODEL(move_child, .about = "a child ends while its parent moves; one worker takes it out",
              .ids = "WP-06 WP-12", .variant = RIGHT, FAMILY);
EXPLORE_MODEL(move_child_stays, .about = "trap: a child is taken out where its post arrives",
              .ids = "WP-06", .is_wrong = true, .variant = CHILD_STAYS, FAMILY);
EXPLORE_MODEL(move_child_early, .about = "trap: a parent has its new owner before it is there",
              .ids = "WP-06", .is_wrong = true, .memory = EXPLORE_WEAK,
              .variant = CHILD_OWNER_EARLY, FAMILY);
