/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A board: what senders on all threads read about a group of actors, while one thread writes it.
 *
 * A board has the ref of its tenant and words that belong to the tenant: the refs of the members.
 * Boards are not freed while their system lives. One tenant after another uses a board, so a late
 * reader may see the board of a later tenant. The manager of a board is the thread that writes it.
 *
 * Rules, checked by the model `board` in tests/explore:
 * 1. Words are written by board_write and read by board_read, which checks the ref again after
 *    reading the word. So a reader that got a word of the next tenant sees that the previous tenant
 *    is gone.
 * 2. A new tenant's board is not open at first. Until it is open, a sender announces its message and gives it to the
 *    manager, which forwards the message and then cancels the announcement. The board opens when nothing is announced.
 *    So a message that went through the manager is delivered before its sender can send directly, and the order of
 *    messages is kept.
 * 3. Announcements belong to one stay of a tenant, whose number is part of the state. A tenant may be removed while
 *    announced messages are on their way that will never be forwarded. The next stay begins with no announcements, and
 *    cancelling an announcement of an earlier stay changes nothing.
 * 4. board_clear compares the ref of the tenant that it removes. Refs are used once, so it never
 *    removes the next tenant.
 */
#ifndef QUEUE_BOARD_H
#define QUEUE_BOARD_H

#include "os/atomic.h"

struct board {
    atom64 ref; /* ref of the tenant; 0 for none */
    /* BOARD_IS_OPEN, the number of announcements, the number of the stay; written by any thread */
    atom64 state;
};

#define BOARD_IS_OPEN UINT64_C(1)
#define BOARD_ANNOUNCED UINT64_C(2)    /* one announcement */
#define BOARD_STAY (UINT64_C(1) << 32) /* one stay */

enum board_way {
    BOARD_STRANGE, /* the board has another tenant, or none */
    BOARD_OPEN,    /* the words may be read */
    BOARD_HOLDS    /* the board is not open: send to the manager; the message is announced */
};

ATOM_INLINE void board_init(struct board *board)
{
    atom64_init(&board->ref, 0);
    atom64_init(&board->state, 0);
}

/**
 * Returns which stay of a tenant a state belongs to: the high bits of the state, a multiple of
 * BOARD_STAY.
 */
ATOM_INLINE uint64_t board_stay_of(uint64_t state)
{
    return state & ~(BOARD_STAY - 1);
}

/** Returns the number of the current stay. Manager only. */
ATOM_INLINE uint64_t board_stay(const struct board *board)
{
    return board_stay_of(atom64_load(&board->state, ATOM_RELAXED));
}

/** Gives an empty board to a tenant. The board is not open yet. No other thread may write it meanwhile. */
ATOM_INLINE void board_let(struct board *board, uint64_t ref)
{
    /* Messages to the previous tenant may still be announced. The new stay begins with a count of 0. */
    atom64_store(
        &board->state, board_stay(board) + BOARD_STAY, ATOM_RELEASE); /* pairs with board_enter */
    atom64_store(&board->ref, ref, ATOM_RELEASE);                     /* pairs with board_is_of */
}

/** Removes the tenant with this ref, if the board has it. Any thread. */
ATOM_INLINE void board_clear(struct board *board, uint64_t ref)
{
    (void)atom64_compare_exchange(&board->ref, &ref, 0, ATOM_RELAXED, ATOM_RELAXED);
}

/** Whether the board has this tenant. Any thread. */
ATOM_INLINE bool board_is_of(const struct board *board, uint64_t ref)
{
    return atom64_load(&board->ref, ATOM_ACQUIRE) == ref; /* pairs with board_let */
}

/**
 * Writes a word. The release makes sure that a reader which gets this word also sees that an earlier tenant is gone.
 * Partner: board_read.
 */
ATOM_INLINE void board_write(atom64 *word, uint64_t value)
{
    atom64_store(word, value, ATOM_RELEASE);
}

/** Reads a word of this tenant. Returns false if the tenant is gone. Any thread. */
ATOM_INLINE bool board_read(const struct board *board, uint64_t ref, const atom64 *word,
                            uint64_t *value)
{
    *value = atom64_load(word, ATOM_ACQUIRE); /* pairs with board_write */
    return atom64_load(&board->ref, ATOM_RELAXED) == ref;
}

/** Cancels an announcement of this stay. Does nothing if the stay has ended. Any thread. */
ATOM_INLINE void board_leave(struct board *board, uint64_t stay)
{
    uint64_t state = atom64_load(&board->state, ATOM_RELAXED);
    do {
        if (board_stay_of(state) != stay)
            return; /* the stay has ended, and its announcements with it */
        if (state - stay < BOARD_ANNOUNCED)
            return; /* the message that was forwarded was never announced */
    } while (!atom64_compare_exchange(&board->state,
                                      &state,
                                      state - BOARD_ANNOUNCED,
                                      ATOM_RELEASE, /* pairs with board_open */
                                      ATOM_RELAXED));
}

/** Begins a send. If the result is BOARD_HOLDS, *stay is for board_leave. Any thread. */
ATOM_INLINE enum board_way board_enter(struct board *board, uint64_t ref, uint64_t *stay)
{
    uint64_t state =
        atom64_load(&board->state, ATOM_ACQUIRE); /* pairs with board_open, board_let */
    do {
        /*
         * Check the tenant after each load of the state. If the board still has this tenant after
         * the load, the state that was loaded is a state of this tenant.
         */
        if (!board_is_of(board, ref))
            return BOARD_STRANGE;
        if (state & BOARD_IS_OPEN)
            return BOARD_OPEN;
    } while (!atom64_compare_exchange(
        &board->state, &state, state + BOARD_ANNOUNCED, ATOM_ACQUIRE, ATOM_ACQUIRE));
    *stay = board_stay_of(state);
    return BOARD_HOLDS;
}

/** Opens the board if nothing is announced. Returns true if it is open. Manager only. */
ATOM_INLINE bool board_open(struct board *board)
{
    uint64_t stay = board_stay(board);
    uint64_t state = stay;
    return atom64_compare_exchange(&board->state,
                                   &state,
                                   stay | BOARD_IS_OPEN,
                                   ATOM_ACQ_REL, /* pairs with board_leave, board_enter */
                                   ATOM_RELAXED) ||
           state & BOARD_IS_OPEN;
}

/** Whether the board is open. Manager only. */
ATOM_INLINE bool board_is_open(const struct board *board)
{
    return atom64_load(&board->state, ATOM_RELAXED) & BOARD_IS_OPEN;
}

#endif
