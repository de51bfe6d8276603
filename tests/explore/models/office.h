/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What most models share: letters, a worker with its ready inbox and its parker, and its loop.
 *
 * The counts are the model's knowledge, not the program's memory: they change without a choice
 * point and see what no thread of the program could.
 */
#ifndef MODELS_OFFICE_H
#define MODELS_OFFICE_H

#include "os/atomic.h"

#ifdef TR_CANARY
#define CANARY TR_CANARY
#else
#define CANARY 0
#endif

#if CANARY == 4
/* The push that publishes mail, and nothing else in these headers, is ACQ_REL. */
#undef ATOM_ACQ_REL
#define ATOM_ACQ_REL ATOM_RELAXED
#endif

#include "explore/model.h"
#include "queue/door.h"
#include "sched/ready.h"

#include <string.h>

struct letter {
    struct door_mail mail; /* must be first */
    int sender;
    int number;
    uint32_t generation;
    int ends; /* how often it was handled, dead-lettered or refused; must become 1 */
};

struct worker {
    struct ready ready;
    struct explore_parker parker;
};

ATOM_INLINE void letter_init(struct letter *letter, int sender, int number, uint32_t generation)
{
    static const char *const names[4][4] = {{"a0", "a1", "a2", "a3"},
                                            {"b0", "b1", "b2", "b3"},
                                            {"c0", "c1", "c2", "c3"},
                                            {"d0", "d1", "d2", "d3"}};
    *letter = (struct letter){.sender = sender, .number = number, .generation = generation};
    explore_name(letter, names[sender & 3][number & 3]);
}

ATOM_INLINE void letter_end(struct letter *letter, const char *how)
{
    letter->ends++;
    explore_note("letter %c%d: %s", 'a' + letter->sender, letter->number, how);
    EXPLORE_CHECK(letter->ends == 1, "a letter has two ends, the second: %s", how);
}

ATOM_INLINE void letter_check_end(const struct letter *letter)
{
    EXPLORE_CHECK(letter->ends == 1,
                  "letter %c%d has %d ends: it is lost",
                  'a' + letter->sender,
                  letter->number,
                  letter->ends);
}

ATOM_INLINE void door_name(struct door *door)
{
    explore_name(&door->inbox, "inbox");
    explore_name(&door->ref, "ref");
    explore_name(&door->owner, "owner");
    explore_name(&door->ready, "door");
    explore_name(DOOR_IDLE, "IDLE");
    explore_name(DOOR_POSTED, "POSTED");
    explore_name(DOOR_CLOSED, "CLOSED");
}

ATOM_INLINE void worker_init(struct worker *worker)
{
    memset(worker, 0, sizeof *worker);
    ready_init(&worker->ready);
    explore_name(&worker->ready.posted, "ready");
    explore_name(&worker->ready.sleep, "sleep");
    explore_name(&worker->parker, "worker");
    explore_name(NULL, "NULL");
    worker->parker.may_wake_early = true;
}

/** Posts a door that the caller must post. `posts` counts how often it is posted now. */
ATOM_INLINE void worker_post(struct worker *worker, struct door *door, int *posts)
{
    ++*posts;
    EXPLORE_CHECK(*posts == 1, "a door is posted twice: its ready link is in use");
    explore_plain_write(&door->ready);
    if (ready_post(&worker->ready, &door->ready))
        explore_unpark(&worker->parker);
}

ATOM_INLINE bool worker_doze(struct worker *worker)
{
#if CANARY == 1
    /* Announces sleep and does not look once more. */
    atom32_exchange(&worker->ready.sleep, READY_ASLEEP, ATOM_SEQ_CST);
    return true;
#else
    return ready_doze(&worker->ready);
#endif
}

/** Gives each posted node to on_node; false when there was none. */
ATOM_INLINE bool worker_take(struct worker *worker, void (*on_node)(struct stack_node *))
{
    struct stack_node *node = stack_reverse(ready_take(&worker->ready));
    bool is_any = node;
    while (node) {
        /* Once on_node has made the door idle, a sender may write its link. */
        explore_plain_read(node);
        struct stack_node *next = node->next;
        on_node(node);
        node = next;
    }
    return is_any;
}

/** A worker's whole life. It ends parked, when nobody will wake it. on_turn may be NULL. */
ATOM_INLINE void worker_run(struct worker *worker, void (*on_turn)(void),
                            void (*on_node)(struct stack_node *))
{
    for (;;) {
        if (on_turn)
            on_turn();
        if (worker_take(worker, on_node))
            continue;
        if (!worker_doze(worker))
            continue;
        explore_park(&worker->parker);
        ready_rise(&worker->ready);
    }
}

#endif
