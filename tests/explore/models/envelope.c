/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Envelopes go back to the worker whose pool they came from, and are used again at once.
 *
 * Two workers return them, one of them in chains; the home worker takes them all. With one envelope
 * each return is a reuse of the same node. The trap takes one node at a time.
 */
#include "models/office.h"

enum { ONE_NODE, CHAINS, NODES_MAX = 3, ROUNDS = 4, NOBODY = -1 };

struct envelope {
    struct stack_node node; /* must be first */
    int holder;             /* the model's knowledge: the thread that may touch it */
};

static struct stack returned;
static struct envelope envelopes[NODES_MAX];
static atomptr desks[2]; /* what the home worker sends to each other worker */
static int received[2];

static void setup(void)
{
    static const char *const names[] = {"envelope 0", "envelope 1", "envelope 2"};
    stack_init(&returned);
    explore_name(&returned, "returned");
    explore_name(NULL, "NULL");
    for (int i = 0; i < NODES_MAX; i++) {
        envelopes[i] = (struct envelope){.holder = 2};
        explore_name(&envelopes[i], names[i]);
    }
    for (int i = 0; i < 2; i++)
        atomptr_init(&desks[i], NULL);
    explore_name(&desks[0], "desk 0");
    explore_name(&desks[1], "desk 1");
    received[0] = received[1] = 0;
}

static void pass(struct envelope *envelope, int from, int to)
{
    EXPLORE_CHECK(envelope->holder == from, "an envelope is in two hands");
    envelope->holder = to;
}

static struct envelope *receive(int index)
{
    void *envelope;
    while (!(envelope = atomptr_exchange(&desks[index], NULL, ATOM_ACQUIRE)))
        atom_pause();
    explore_plain_read(envelope);
    pass(envelope, NOBODY, index);
    received[index]++;
    return envelope;
}

static void other_worker(int index)
{
    bool is_chained = explore_variant() == CHAINS && index == 0;
    for (int i = 0; i < ROUNDS / 2;) {
        struct envelope *oldest = receive(index);
        struct envelope *newest = oldest;
        i++;
        if (is_chained && i < ROUNDS / 2) {
            newest = receive(index);
            newest->node.next = &oldest->node;
            pass(newest, index, NOBODY);
            i++;
        }
        pass(oldest, index, NOBODY);
        stack_push_chain(&returned, &newest->node, &oldest->node);
    }
}

static void home_worker(int index)
{
    struct stack_node *free_nodes = NULL;
    int nodes = explore_variant() == ONE_NODE ? 1 : NODES_MAX;
    for (int i = 0; i < nodes; i++) {
        envelopes[i].node.next = free_nodes;
        free_nodes = &envelopes[i].node;
    }
    for (int round = 0; round < ROUNDS; round++) {
        while (!free_nodes) {
            free_nodes = stack_take(&returned);
            for (struct stack_node *node = free_nodes; node; node = node->next)
                pass((struct envelope *)(void *)node, NOBODY, index);
            if (!free_nodes)
                atom_pause();
        }
        struct envelope *envelope = (struct envelope *)(void *)free_nodes;
        free_nodes = free_nodes->next;
        explore_plain_write(envelope);
        while (atomptr_load(&desks[round % 2], ATOM_RELAXED))
            atom_pause();
        pass(envelope, index, NOBODY);
        atomptr_store(&desks[round % 2], envelope, ATOM_RELEASE);
    }
}

static void check(void)
{
    EXPLORE_CHECK(received[0] + received[1] == ROUNDS, "an envelope is lost");
    int out = 0;
    for (struct stack_node *node = stack_take(&returned); node; node = node->next)
        out++;
    EXPLORE_CHECK(out >= 1, "no envelope came back");
}

/* --- the trap: two workers pop single nodes from a shared list */

static struct envelope *pop(int index)
{
    void *head = atomptr_load(&returned.head, ATOM_ACQUIRE);
    struct stack_node *next;
    do {
        if (!head)
            return NULL;
        next = ((struct stack_node *)head)->next;
    } while (!atomptr_compare_exchange(&returned.head, &head, next, ATOM_ACQ_REL, ATOM_ACQUIRE));
    pass(head, NOBODY, index);
    return head;
}

static void pop_setup(void)
{
    setup();
    for (int i = 0; i < NODES_MAX; i++) {
        envelopes[i].holder = NOBODY;
        stack_push(&returned, &envelopes[i].node);
    }
}

static void popper(int index)
{
    pop(index);
    pop(index);
}

static void popper_and_pusher(int index)
{
    struct envelope *first = pop(index);
    pop(index);
    if (!first)
        return;
    pass(first, index, NOBODY);
    stack_push(&returned, &first->node);
}

#define THREADS                                                                                    \
    .threads = {{"worker 0", other_worker}, {"worker 1", other_worker}, {"home", home_worker}}

EXPLORE_MODEL(envelope, .about = "envelopes return home, each time the same one", .ids = "WP-05",
              .variant = ONE_NODE, .setup = setup, .check = check, THREADS);
EXPLORE_MODEL(envelope_chains, .about = "envelopes return home, in chains too", .ids = "WP-05",
              .variant = CHAINS, .setup = setup, .check = check, THREADS);
EXPLORE_MODEL(envelope_pop, .about = "trap: single nodes popped by compare-exchange: ABA",
              .ids = "WP-05", .is_wrong = true, .setup = pop_setup,
              .threads = {{"popper", popper}, {"popper and pusher", popper_and_pusher}});
