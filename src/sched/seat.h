/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How a worker is taken from a thread that is stuck in user code, and how the thread gets it back.
 *
 * A seat belongs to a thread. Before the thread calls user code it goes out, and it comes in when that
 * returns or calls the runtime; while it is out it touches nothing of its worker. Another thread may
 * take the worker then. Both ways are hot, so they are a plain store, and coming in also a load:
 *
 *     thread:  user = NULL;  half barrier;  look at state
 *     taker:   state = WANTED;  barrier in all threads;  look at user
 *
 * One of them sees the other. Who is in user code when the taker looks cannot come in without seeing
 * WANTED. Then both try to change the state by compare-exchange, and one wins:
 *
 *     HELD    -> WANTED  a taker asks; one at a time
 *     WANTED  -> HELD    the thread has come in, or the taker has seen that it is not out
 *     WANTED  -> TAKEN   the taker has the worker
 *     TAKEN   -> HELD    the taker gives up before it has run anything
 *     TAKEN   -> BACK    the thread has come in, and waits
 *     BACK    -> HELD    who has the worker hands it to the thread that waits
 *
 * The state has a number, which each WANTED counts up: a taker that was overtaken must not take the next
 * one's WANTED for its own, because it has looked before that.
 */
#ifndef SCHED_SEAT_H
#define SCHED_SEAT_H

#include "os/atomic.h"
#include "os/barrier.h"

enum seat_state { SEAT_HELD, SEAT_WANTED, SEAT_TAKEN, SEAT_BACK, SEAT_STATES };

struct seat {
    atomptr user; /* what runs in user code; NULL: the thread is in the runtime */
    atom32 state; /* enum seat_state, and the number times SEAT_STATES */
};

ATOM_INLINE enum seat_state seat_state_of(uint32_t word)
{
    return (enum seat_state)(word % SEAT_STATES);
}

/** The same number with another state. */
ATOM_INLINE uint32_t seat_word(uint32_t word, enum seat_state state)
{
    return word - word % SEAT_STATES + (uint32_t)state;
}

ATOM_INLINE void seat_init(struct seat *seat)
{
    atomptr_init(&seat->user, NULL);
    atom32_init(&seat->state, SEAT_HELD);
}

/** From here on the thread touches nothing of its worker. Thread only. */
ATOM_INLINE void seat_go_out(struct seat *seat, void *user)
{
    atomptr_store(&seat->user, user, ATOM_RELEASE); /* partner: seat_take */
}

/**
 * What a thread does that finds its seat wanted. True: the worker is its own still. False: it was taken,
 * and the thread must make who has it look at this seat, and wait until seat_is_held. Thread only.
 */
ATOM_INLINE bool seat_settle(struct seat *seat)
{
    for (;;) {
        uint32_t word = atom32_load(&seat->state, ATOM_ACQUIRE);
        enum seat_state state = seat_state_of(word);
        if (state == SEAT_HELD)
            return true;
        enum seat_state next = state == SEAT_WANTED ? SEAT_HELD : SEAT_BACK;
        if (atom32_compare_exchange(
                &seat->state, &word, seat_word(word, next), ATOM_ACQ_REL, ATOM_RELAXED))
            return next == SEAT_HELD;
    }
}

/** Back from user code. As seat_settle. Thread only. */
ATOM_INLINE bool seat_come_in(struct seat *seat)
{
    atomptr_store(&seat->user, NULL, ATOM_RELEASE);
    atom_half_barrier();
    /* Acquire: somebody may have had the worker in hand, and given up. Partner: seat_give_up. */
    uint32_t word = atom32_load(&seat->state, ATOM_ACQUIRE);
    if (__builtin_expect(seat_state_of(word) == SEAT_HELD, 1))
        return true;
    return seat_settle(seat);
}

/**
 * Takes the worker of a thread that is out: gives what runs in its user code. NULL: it is in the
 * runtime, or was taken before. Any thread.
 */
ATOM_INLINE void *seat_take(struct seat *seat)
{
    uint32_t word = atom32_load(&seat->state, ATOM_RELAXED);
    uint32_t wanted = seat_word(word + SEAT_STATES, SEAT_WANTED);
    if (seat_state_of(word) != SEAT_HELD ||
        !atom32_compare_exchange(&seat->state, &word, wanted, ATOM_SEQ_CST, ATOM_RELAXED))
        return NULL;
    tr__os_barrier(); /* partner: atom_half_barrier in seat_come_in */
    void *user = atomptr_load(&seat->user, ATOM_ACQUIRE); /* partner: seat_go_out */
    word = wanted;
    uint32_t next = seat_word(wanted, user ? SEAT_TAKEN : SEAT_HELD);
    if (atom32_compare_exchange(&seat->state, &word, next, ATOM_ACQ_REL, ATOM_RELAXED))
        return user;
    return NULL; /* it has come in */
}

/** Undoes seat_take. False: the thread waits by now, and must be handed its worker. Taker only. */
ATOM_INLINE bool seat_give_up(struct seat *seat)
{
    uint32_t word = atom32_load(&seat->state, ATOM_RELAXED);
    return seat_state_of(word) == SEAT_TAKEN &&
           atom32_compare_exchange(
               &seat->state, &word, seat_word(word, SEAT_HELD), ATOM_RELEASE, ATOM_RELAXED);
}

/** Whether the thread waits for its worker. Who has the worker. */
ATOM_INLINE bool seat_is_back(const struct seat *seat)
{
    /* Partner: seat_settle. */
    return seat_state_of(atom32_load(&seat->state, ATOM_ACQUIRE)) == SEAT_BACK;
}

/** The worker is the thread's again; the caller wakes it. Who has the worker. */
ATOM_INLINE void seat_hand(struct seat *seat)
{
    uint32_t word = atom32_load(&seat->state, ATOM_RELAXED);
    atom32_store(
        &seat->state, seat_word(word, SEAT_HELD), ATOM_RELEASE); /* partner: seat_is_held */
}

/** Whether a thread that waits has its worker again. It may be WANTED by now. Thread only. */
ATOM_INLINE bool seat_is_held(const struct seat *seat)
{
    /* Partner: seat_hand. */
    return seat_state_of(atom32_load(&seat->state, ATOM_ACQUIRE)) != SEAT_BACK;
}

#endif
