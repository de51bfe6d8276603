/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A protocol by which a thread takes the worker of another thread that is stuck in user code, and
 * by which the stuck thread gets the worker back.
 *
 * A claim belongs to a thread. Its member `user` is NULL while the thread is in the runtime. Before
 * the thread calls user code, it goes out: it sets `user` to what it runs there. It comes in when
 * the user code returns or calls the runtime. While the thread is out, it touches nothing of its
 * worker, and another thread, the taker, may take the worker. Going out and coming in happen for
 * each turn, so they must be cheap. Going out is a plain store. Coming in is a plain store and a
 * load. Between them is a half barrier, which is no instruction, because the taker makes a barrier
 * in all threads (os/barrier.h):
 *     thread:  user = NULL;  half barrier;  load state
 *     taker:   state = WANTED;  barrier in all threads;  load user
 *
 * At least one of the two threads sees the store of the other. A thread that is in user code when
 * the taker looks cannot come in without seeing WANTED. Then both try to change the state by
 * compare-exchange, and one wins:
 *     HELD    -> WANTED  a taker asks; one at a time
 *     WANTED  -> HELD    the thread has come in, or the taker has seen that it is not out
 *     WANTED  -> TAKEN   the taker has the worker
 *     TAKEN   -> HELD    the taker gives up before it has run anything
 *     TAKEN   -> BACK    the thread has come in, and waits
 *     BACK    -> HELD    the holder of the worker hands it to the thread that waits
 *
 * The state contains a number, which each WANTED increments. The number matters if the first taker
 * is slow between its load of `user` and its change of the state. Meanwhile the thread may come in,
 * which makes the state HELD, and go out again, and a second taker may write WANTED. The number
 * shows the first taker that this WANTED is not its own, so it does not take the worker. It must
 * not take the worker, because the `user` that it has loaded is out of date.
 */
#ifndef SCHED_CLAIM_H
#define SCHED_CLAIM_H

#include "os/atomic.h"
#include "os/barrier.h"

enum claim_state { CLAIM_HELD, CLAIM_WANTED, CLAIM_TAKEN, CLAIM_BACK, CLAIM_STATES };

struct claim {
    atomptr user; /* what the thread runs in user code; NULL: the thread is in the runtime */
    atom32 state; /* enum claim_state + CLAIM_STATES * the number of the last WANTED */
};

ATOM_INLINE enum claim_state claim_state_of(uint32_t word)
{
    return (enum claim_state)(word % CLAIM_STATES);
}

/** Returns the word with the number of `word` and another state. */
ATOM_INLINE uint32_t claim_word(uint32_t word, enum claim_state state)
{
    return word - word % CLAIM_STATES + (uint32_t)state;
}

ATOM_INLINE void claim_init(struct claim *claim)
{
    atomptr_init(&claim->user, NULL);
    atom32_init(&claim->state, CLAIM_HELD);
}

/**
 * Marks that the thread goes out. From now on the thread must touch nothing of its worker. Only the
 * claim's thread.
 */
ATOM_INLINE void claim_go_out(struct claim *claim, void *user)
{
    atomptr_store(&claim->user, user, ATOM_RELEASE); /* pairs with claim_take */
}

/**
 * Called when the claim's thread has found its claim WANTED. Returns true if the thread still has
 * its worker. Returns false if the worker was taken. Then the thread must make the holder of the
 * worker look at this claim, and wait until claim_is_held. Only the claim's thread.
 */
ATOM_INLINE bool claim_settle(struct claim *claim)
{
    for (;;) {
        uint32_t word = atom32_load(&claim->state, ATOM_ACQUIRE);
        enum claim_state state = claim_state_of(word);
        if (state == CLAIM_HELD)
            return true;
        enum claim_state next = state == CLAIM_WANTED ? CLAIM_HELD : CLAIM_BACK;
        if (atom32_compare_exchange(
                &claim->state, &word, claim_word(word, next), ATOM_ACQ_REL, ATOM_RELAXED))
            return next == CLAIM_HELD;
    }
}

/** Marks that the thread comes in from user code. Returns what claim_settle returns. Only the claim's thread. */
ATOM_INLINE bool claim_come_in(struct claim *claim)
{
    atomptr_store(&claim->user, NULL, ATOM_RELEASE);
    atom_half_barrier();
    /* Acquire, because a taker may have had the worker and given up. Partner: claim_give_up. */
    uint32_t word = atom32_load(&claim->state, ATOM_ACQUIRE);
    if (__builtin_expect(claim_state_of(word) == CLAIM_HELD, 1))
        return true;
    return claim_settle(claim);
}

/**
 * Takes the worker of a thread that is out. Returns what the thread runs in user code. Returns NULL
 * if the thread is in the runtime, or if its worker is taken already or wanted by another taker.
 * Any thread.
 */
ATOM_INLINE void *claim_take(struct claim *claim)
{
    uint32_t word = atom32_load(&claim->state, ATOM_RELAXED);
    uint32_t wanted = claim_word(word + CLAIM_STATES, CLAIM_WANTED);
    if (claim_state_of(word) != CLAIM_HELD ||
        !atom32_compare_exchange(&claim->state, &word, wanted, ATOM_SEQ_CST, ATOM_RELAXED))
        return NULL;
    tr__os_barrier(); /* pairs with atom_half_barrier in claim_come_in */
    void *user = atomptr_load(&claim->user, ATOM_ACQUIRE); /* pairs with claim_go_out */
    word = wanted;
    uint32_t next = claim_word(wanted, user ? CLAIM_TAKEN : CLAIM_HELD);
    if (atom32_compare_exchange(&claim->state, &word, next, ATOM_ACQ_REL, ATOM_RELAXED))
        return user;
    return NULL; /* the thread has come in */
}

/**
 * Undoes claim_take. Returns false if the claim's thread waits for its worker already; then the
 * caller must hand the worker to this thread. Taker only.
 */
ATOM_INLINE bool claim_give_up(struct claim *claim)
{
    uint32_t word = atom32_load(&claim->state, ATOM_RELAXED);
    return claim_state_of(word) == CLAIM_TAKEN &&
           atom32_compare_exchange(
               &claim->state, &word, claim_word(word, CLAIM_HELD), ATOM_RELEASE, ATOM_RELAXED);
}

/** Whether the claim's thread waits for its worker. Only the holder of the worker. */
ATOM_INLINE bool claim_is_back(const struct claim *claim)
{
    /* pairs with claim_settle */
    return claim_state_of(atom32_load(&claim->state, ATOM_ACQUIRE)) == CLAIM_BACK;
}

/**
 * Hands the worker back to its thread. The caller wakes the thread. Only the holder of the worker.
 */
ATOM_INLINE void claim_hand(struct claim *claim)
{
    uint32_t word = atom32_load(&claim->state, ATOM_RELAXED);
    atom32_store(
        &claim->state, claim_word(word, CLAIM_HELD), ATOM_RELEASE); /* pairs with claim_is_held */
}

/**
 * Whether a thread that waits has its worker again. The claim may be WANTED again by then. Only the
 * claim's thread.
 */
ATOM_INLINE bool claim_is_held(const struct claim *claim)
{
    /* pairs with claim_hand */
    return claim_state_of(atom32_load(&claim->state, ATOM_ACQUIRE)) != CLAIM_BACK;
}

#endif
