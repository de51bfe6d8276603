/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Readers without a lock follow a list from which another thread takes things out, and puts others in.
 *
 * What is freed nobody reads, now or later. A thing that was taken out before a reader began is not
 * found, and one that was there all the time is found.
 */
#include "models/office.h"

#include "queue/grace.h"

enum {
    RIGHT,
    MARKS_RELAXED, /* trap: the mark of a reader is not bound to its looks at the links */
    LOOKS_EARLY,   /* trap: the readers are looked at before the thing is out */
    LEAVES_EARLY,  /* trap: a reader reads on after it has left */
    NO_STAMP,      /* trap: only those who read at that moment are asked since when */
    HIDES_RELAXED  /* trap: a link is hidden by a plain release */
};

enum { FIRST, MIDDLE, LAST, FRESH, COUNT };

struct thing {
    atomptr next;
    int number;
    bool is_out;   /* what the model knows: it was taken out, */
    bool is_freed; /* and freed */
};

static struct grace grace;
static struct grace_reader readers[2];
static atomptr head;
static struct thing things[COUNT];

static void setup(void)
{
    static const char *const names[COUNT] = {"first", "middle", "last", "fresh"};
    grace_init(&grace);
    for (int i = 0; i < COUNT; i++) {
        things[i] = (struct thing){.number = i};
        atomptr_init(&things[i].next, i < LAST ? &things[i + 1] : NULL);
        explore_name(&things[i].next, names[i]);
    }
    atomptr_init(&head, &things[FIRST]);
    explore_name(&head, "head");
    grace_join(&grace, &readers[0]);
    explore_name(&grace.now, "now");
    explore_name(&grace.readers, "readers");
    explore_name(&readers[0].since, "since a");
    explore_name(&readers[1].since, "since b");
}

static void enter(struct grace_reader *reader)
{
    if (explore_variant() != MARKS_RELAXED) {
        grace_enter(&grace, reader);
        return;
    }
    uint64_t now = atom64_load(&grace.now, ATOM_ACQUIRE);
    atom64_store(&reader->since, now, ATOM_RELAXED);
}

/* Whether the thing is found. */
static bool find(struct grace_reader *reader, int number)
{
    bool is_found = false;
    enter(reader);
    const struct thing *thing = atomptr_load(&head, ATOM_SEQ_CST);
    if (explore_variant() == LEAVES_EARLY)
        grace_leave(reader);
    while (thing && !is_found) {
        EXPLORE_CHECK(!thing->is_freed, "%d is read, and freed", thing->number);
        explore_plain_read(thing);
        is_found = thing->number == number;
        thing = atomptr_load(&thing->next, ATOM_SEQ_CST);
    }
    if (explore_variant() != LEAVES_EARLY)
        grace_leave(reader);
    return is_found;
}

static void reader(int index)
{
    /* The second one comes later than the structure. */
    if (index == 1)
        grace_join(&grace, &readers[1]);
    for (int i = 0; i < 2; i++)
        EXPLORE_CHECK(find(&readers[index], LAST), "what is there is not found");
}

static void free_thing(struct thing *thing)
{
    explore_plain_write(thing);
    thing->is_freed = true;
}

static void take_out(struct thing *thing, atomptr *link)
{
    uint64_t oldest = UINT64_MAX;
    if (explore_variant() == LOOKS_EARLY)
        oldest = grace_oldest(&grace);
    atomptr_store(link, atomptr_load(&thing->next, ATOM_SEQ_CST), ATOM_SEQ_CST);
    thing->is_out = true;
    /* Two ways to know that nobody stands there. */
    if (explore_variant() == RIGHT && explore_choose(2)) {
        if (grace_is_idle(&grace))
            free_thing(thing);
        return;
    }
    uint64_t stamp = explore_variant() == NO_STAMP ? 0 : grace_stamp(&grace);
    if (explore_variant() != LOOKS_EARLY)
        oldest = grace_oldest(&grace);
    if (stamp <= oldest)
        free_thing(thing);
}

/* The first leads to the middle one when both are out. */
static void remover(int index)
{
    (void)index;
    take_out(&things[FIRST], &head);
    take_out(&things[MIDDLE], &head);
}

/* One thing comes, and hides the link by which the first can be found; then that goes. */
static void hider(int index)
{
    (void)index;
    atomptr_store(&things[FRESH].next, &things[FIRST], ATOM_RELAXED);
    atomptr_store(
        &head, &things[FRESH], explore_variant() == HIDES_RELAXED ? ATOM_RELEASE : ATOM_SEQ_CST);
    take_out(&things[FIRST], &things[FRESH].next);
}

static void check(void)
{
    EXPLORE_CHECK(grace_oldest(&grace) == UINT64_MAX, "a reader has not left");
}

#define READERS                                                                                    \
    {"reader a", reader},                                                                          \
    {                                                                                              \
        "reader b", reader                                                                         \
    }

EXPLORE_MODEL(grace, .about = "what is taken out of a list is freed when nobody reads it",
              .ids = "P-02 L-07", .variant = RIGHT, .setup = setup, .check = check,
              .threads = {READERS, {"remover", remover}});
EXPLORE_MODEL(grace_hide, .about = "the same of a link that another one has hidden",
              .ids = "P-02 L-07", .variant = RIGHT, .setup = setup, .check = check,
              .threads = {READERS, {"hider", hider}});
EXPLORE_MODEL(grace_marks_relaxed, .about = "trap: a reader's mark is seen too late", .ids = "P-02",
              .memory = EXPLORE_WEAK, .is_wrong = true, .variant = MARKS_RELAXED, .setup = setup,
              .check = check, .threads = {READERS, {"remover", remover}});
EXPLORE_MODEL(grace_looks_early, .about = "trap: readers are looked at before it is out",
              .ids = "P-02", .is_wrong = true, .variant = LOOKS_EARLY, .setup = setup,
              .check = check, .threads = {READERS, {"remover", remover}});
EXPLORE_MODEL(grace_leaves_early, .about = "trap: a reader reads on after it has left",
              .ids = "P-02", .is_wrong = true, .variant = LEAVES_EARLY, .setup = setup,
              .check = check, .threads = {READERS, {"remover", remover}});
EXPLORE_MODEL(grace_no_stamp, .about = "trap: nobody is waited for", .ids = "P-02",
              .is_wrong = true, .variant = NO_STAMP, .setup = setup, .check = check,
              .threads = {READERS, {"remover", remover}});
EXPLORE_MODEL(grace_hides_relaxed, .about = "trap: a link is hidden by a release alone",
              .ids = "P-02", .memory = EXPLORE_WEAK, .is_wrong = true, .variant = HIDES_RELAXED,
              .setup = setup, .check = check, .threads = {READERS, {"hider", hider}});
