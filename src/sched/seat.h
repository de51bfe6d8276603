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
 */
#ifndef SCHED_SEAT_H
#define SCHED_SEAT_H

#include "os/atomic.h"
#include "os/barrier.h"

enum seat_state { SEAT_HELD, SEAT_WANTED, SEAT_TAKEN, SEAT_BACK };

struct seat {
    atomptr user; /* what runs in user code; NULL: the thread is in the runtime */
    atom32 state;
};

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
        uint32_t state = atom32_load(&seat->state, ATOM_ACQUIRE);
        if (state == SEAT_HELD)
            return true;
        uint32_t next = state == SEAT_WANTED ? SEAT_HELD : SEAT_BACK;
        if (atom32_compare_exchange(&seat->state, &state, next, ATOM_ACQ_REL, ATOM_RELAXED))
            return next == SEAT_HELD;
    }
}

/** Back from user code. As seat_settle. Thread only. */
ATOM_INLINE bool seat_come_in(struct seat *seat)
{
    atomptr_store(&seat->user, NULL, ATOM_RELEASE);
    atom_half_barrier();
    /* Acquire: somebody may have had the worker in hand, and given up. Partner: seat_give_up. */
    if (__builtin_expect(atom32_load(&seat->state, ATOM_ACQUIRE) == SEAT_HELD, 1))
        return true;
    return seat_settle(seat);
}

/**
 * Takes the worker of a thread that is out: gives what runs in its user code. NULL: it is in the
 * runtime, or was taken before. Any thread.
 */
ATOM_INLINE void *seat_take(struct seat *seat)
{
    uint32_t state = SEAT_HELD;
    if (!atom32_compare_exchange(
            &seat->state, &state, SEAT_WANTED, ATOM_SEQ_CST, ATOM_RELAXED))
        return NULL;
    tr__os_barrier(); /* partner: atom_half_barrier in seat_come_in */
    void *user = atomptr_load(&seat->user, ATOM_ACQUIRE); /* partner: seat_go_out */
    state = SEAT_WANTED;
    uint32_t next = user ? SEAT_TAKEN : SEAT_HELD;
    if (atom32_compare_exchange(&seat->state, &state, next, ATOM_ACQ_REL, ATOM_RELAXED))
        return user;
    return NULL; /* it has come in */
}

/** Undoes seat_take. False: the thread waits by now, and must be handed its worker. Taker only. */
ATOM_INLINE bool seat_give_up(struct seat *seat)
{
    uint32_t state = SEAT_TAKEN;
    return atom32_compare_exchange(&seat->state, &state, SEAT_HELD, ATOM_RELEASE, ATOM_RELAXED);
}

/** Whether the thread waits for its worker. Who has the worker. */
ATOM_INLINE bool seat_is_back(const struct seat *seat)
{
    return atom32_load(&seat->state, ATOM_ACQUIRE) == SEAT_BACK; /* partner: seat_settle */
}

/** The worker is the thread's again; the caller wakes it. Who has the worker. */
ATOM_INLINE void seat_hand(struct seat *seat)
{
    atom32_store(&seat->state, SEAT_HELD, ATOM_RELEASE); /* partner: seat_is_held */
}

/** Whether a thread that waits has its worker again. It may be WANTED by now. Thread only. */
ATOM_INLINE bool seat_is_held(const struct seat *seat)
{
    return atom32_load(&seat->state, ATOM_ACQUIRE) != SEAT_BACK; /* partner: seat_hand */
}

#endif
