/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Thread handoff: a worker is taken from a thread that is in user code, and handed back when that comes in.
 *
 * One thread goes out and comes in, two others want its worker, the second of them perhaps because it was
 * called too late. The thread that has the worker writes to it: no two may at a time, and what one has written the
 * next must see. In the end the first has it again.
 */
#include "explore/model.h"
#include "sched/claim.h"

enum {
    RIGHT,
    NO_BARRIER,  /* trap: the taker looks without a barrier in all threads */
    LOOKS_FIRST, /* trap: the taker looks whether the thread is out before it says what it wants */
    IN_UNSEEN,   /* trap: the thread looks at its claim before it says that it is in */
    OUT_RELAXED, /* trap: going out does not publish what was done before */
    HANDS_EARLY, /* trap: the taker hands the worker back too early */
    WAITS_FOR_HELD,   /* trap: the thread continues only if nobody wants its claim again */
    GIVES_UP_BLINDLY, /* trap: the taker gives up although the thread waits by now */
    NO_NUMBER         /* trap: one WANTED is like another */
};

enum { STAYS = 2, TAKERS = 2, NOBODY = -1 };

static struct claim claim;
static atom32 control;                    /* of the actor whose turn is stuck */
static struct explore_parker worker_bell; /* wakes who has the worker */
static struct explore_parker thread_bell; /* wakes the thread */
static int holder;                        /* who writes to the worker */
static int worker;                        /* the plain memory of it */
static int turn;
static bool is_done[1 + TAKERS];

void tr__os_barrier(void)
{
    if (explore_variant() != NO_BARRIER)
        explore_barrier();
}

static void setup(void)
{
    claim_init(&claim);
    atom32_init(&control, 0);
    worker_bell = (struct explore_parker){.may_wake_early = true, .orders_memory = true};
    thread_bell = (struct explore_parker){.may_wake_early = true, .orders_memory = true};
    holder = NOBODY;
    for (int i = 0; i < 1 + TAKERS; i++)
        is_done[i] = false;
    explore_name(&claim.user, "user");
    explore_name(&claim.state, "state");
    explore_name(&control, "control");
    explore_name(&worker, "worker");
    explore_name(&turn, "turn");
}

static void work(int index)
{
    EXPLORE_CHECK(holder == NOBODY, "thread %d and thread %d have the worker", holder, index);
    holder = index;
    explore_plain_write(&worker);
    explore_step();
    explore_plain_write(&worker);
    holder = NOBODY;
}

/* ---- The thread. ---- */

static void go_out(void)
{
    if (explore_variant() == OUT_RELAXED)
        atomptr_store(&claim.user, &turn, ATOM_RELAXED);
    else
        claim_go_out(&claim, &turn);
}

static enum claim_state state_of_seat(void)
{
    return claim_state_of(atom32_load(&claim.state, ATOM_ACQUIRE));
}

static bool come_in(void)
{
    if (explore_variant() != IN_UNSEEN)
        return claim_come_in(&claim);
    bool is_held = state_of_seat() == CLAIM_HELD;
    atomptr_store(&claim.user, NULL, ATOM_RELEASE);
    return is_held || claim_settle(&claim);
}

static bool is_mine(void)
{
    if (explore_variant() == WAITS_FOR_HELD)
        return state_of_seat() == CLAIM_HELD;
    return claim_is_held(&claim);
}

static void thread(int index)
{
    for (int i = 0; i < STAYS; i++) {
        work(index);
        go_out();
        explore_step();
        if (!come_in()) {
            atom32_fetch_or(&control, 1, ATOM_SEQ_CST);
            explore_unpark(&worker_bell);
            while (!is_mine())
                explore_park(&thread_bell);
            atom32_fetch_and(&control, 0, ATOM_RELAXED);
        }
    }
    work(index);
    is_done[index] = true;
}

/* ---- Threads that take. ---- */

static bool change(uint32_t from, uint32_t to)
{
    return atom32_compare_exchange(&claim.state, &from, to, ATOM_SEQ_CST, ATOM_RELAXED);
}

static void *take(void)
{
    void *user;
    switch (explore_variant()) {
    case LOOKS_FIRST:
        user = atomptr_load(&claim.user, ATOM_ACQUIRE);
        tr__os_barrier();
        return user && change(CLAIM_HELD, CLAIM_TAKEN) ? user : NULL;
    case NO_NUMBER:
        if (!change(CLAIM_HELD, CLAIM_WANTED))
            return NULL;
        tr__os_barrier();
        user = atomptr_load(&claim.user, ATOM_ACQUIRE);
        return change(CLAIM_WANTED, user ? CLAIM_TAKEN : CLAIM_HELD) ? user : NULL;
    default:
        return claim_take(&claim);
    }
}

static void hand(void)
{
    claim_hand(&claim);
    explore_unpark(&thread_bell);
}

static void give_up(void)
{
    if (explore_variant() == GIVES_UP_BLINDLY)
        atom32_store(&claim.state, CLAIM_HELD, ATOM_RELEASE);
    else if (!claim_give_up(&claim))
        hand();
}

static void taker(int index)
{
    if (take()) {
        work(index);
        if (explore_choose(2)) {
            give_up();
        } else {
            while (!atom32_load(&control, ATOM_SEQ_CST) || !claim_is_back(&claim))
                explore_park(&worker_bell);
            if (explore_variant() == HANDS_EARLY) {
                hand();
                work(index);
            } else {
                work(index);
                hand();
            }
        }
    }
    is_done[index] = true;
}

static void check(void)
{
    EXPLORE_CHECK(is_done[0], "the thread waits forever");
    EXPLORE_CHECK(is_done[1] && is_done[2], "a taker keeps the worker forever");
    EXPLORE_CHECK(claim_is_held(&claim), "the thread does not have its worker");
}

#define SEAT                                                                                       \
    .ids = "O-05", .setup = setup, .check = check,                                                 \
    .threads = {{"thread", thread}, {"taker", taker}, {"late", taker}}
#define TRAP(which) .is_wrong = true, .variant = which

EXPLORE_MODEL(claim, .about = "a worker is taken from a stuck thread, and one has it at a time",
              SEAT);
EXPLORE_MODEL(claim_no_barrier, .about = "trap: no barrier in all threads", TRAP(NO_BARRIER),
              .memory = EXPLORE_WEAK, SEAT);
EXPLORE_MODEL(claim_looks_first, .about = "trap: looks before it wants", TRAP(LOOKS_FIRST), SEAT);
EXPLORE_MODEL(claim_in_unseen, .about = "trap: comes in after the look", TRAP(IN_UNSEEN), SEAT);
EXPLORE_MODEL(claim_out_relaxed, .about = "trap: goes out relaxed", TRAP(OUT_RELAXED),
              .memory = EXPLORE_WEAK, SEAT);
EXPLORE_MODEL(claim_hands_early, .about = "trap: works on after the hand-over", TRAP(HANDS_EARLY),
              SEAT);
EXPLORE_MODEL(claim_waits_for_held,
              .about = "trap: a wanted claim is taken for one that is not held",
              TRAP(WAITS_FOR_HELD), SEAT);
EXPLORE_MODEL(claim_gives_up_blindly, .about = "trap: gives up on a thread that waits",
              TRAP(GIVES_UP_BLINDLY), SEAT);
EXPLORE_MODEL(claim_no_number, .about = "trap: a taker takes another's wish for its own",
              TRAP(NO_NUMBER), SEAT);
