/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A board: what senders on all threads read of a group of actors, while one thread writes it.
 *
 * A board shows the ref of its tenant and words that belong to it: the refs of members. Boards are
 * never freed while their system lives, and are given to one tenant after another, so a reader that is
 * late may look at a board that is another's by now.
 *
 * Rules, which the model `board` in tests/explore holds:
 *   1. Words are written by board_write and read by board_read, which looks at the ref once more behind
 *      the word: who reads a word of the next tenant sees that the last one is gone.
 *   2. A tenant that has moved in is not open at first. Meanwhile a sender announces itself and hands
 *      its message to who stands behind the board; that one passes it on, and then takes the
 *      announcement back. The board opens when nobody is announced. So a message that took the long way
 *      is where it belongs before its sender can take the short one, and they stay in order.
 *   3. Announcements belong to one stay: the state has its number. A tenant may be put out while
 *      messages are on the long way, which nobody passes on any more; the next one begins with none
 *      announced, and who takes back an announcement of an earlier stay changes nothing.
 *   4. Who puts the tenant out compares its ref, which is used once: the next one stays.
 */
#ifndef QUEUE_BOARD_H
#define QUEUE_BOARD_H

#include "os/atomic.h"

struct board {
    atom64 ref;   /* of the tenant, 0 for none */
    atom64 state; /* BOARD_IS_OPEN, how many are announced, the number of the stay; anybody */
};

#define BOARD_IS_OPEN UINT64_C(1)
#define BOARD_ANNOUNCED UINT64_C(2)    /* one of them */
#define BOARD_STAY (UINT64_C(1) << 32) /* the next one */

enum board_way {
    BOARD_STRANGE, /* another lives there, or nobody */
    BOARD_OPEN,    /* read the words */
    BOARD_HOLDS    /* go to who stands behind it; you are announced */
};

ATOM_INLINE void board_init(struct board *board)
{
    atom64_init(&board->ref, 0);
    atom64_init(&board->state, 0);
}

/** The number of a stay, of a state. */
ATOM_INLINE uint64_t board_stay_of(uint64_t state)
{
    return state & ~(BOARD_STAY - 1);
}

/** The number of this stay. Who stands behind the board only. */
ATOM_INLINE uint64_t board_stay(const struct board *board)
{
    return board_stay_of(atom64_load(&board->state, ATOM_RELAXED));
}

/** Lets a tenant in, not open. Who may do this holds the empty board alone. */
ATOM_INLINE void board_let(struct board *board, uint64_t ref)
{
    /* Senders to the last one may still come and go: their number is forgotten. */
    atom64_store(
        &board->state, board_stay(board) + BOARD_STAY, ATOM_RELEASE); /* partner: board_enter */
    atom64_store(&board->ref, ref, ATOM_RELEASE);                     /* partner: board_is_of */
}

/** Puts this tenant out, if it is there. Any thread. */
ATOM_INLINE void board_clear(struct board *board, uint64_t ref)
{
    (void)atom64_compare_exchange(&board->ref, &ref, 0, ATOM_RELAXED, ATOM_RELAXED);
}

/** Whether this tenant lives there. Any thread. */
ATOM_INLINE bool board_is_of(const struct board *board, uint64_t ref)
{
    return atom64_load(&board->ref, ATOM_ACQUIRE) == ref; /* partner: board_let */
}

/** Writes a word. Its release tells a late reader that its tenant is gone: partner, board_read. */
ATOM_INLINE void board_write(atom64 *word, uint64_t value)
{
    atom64_store(word, value, ATOM_RELEASE);
}

/** Reads a word of this tenant; false: it is gone. Any thread. */
ATOM_INLINE bool board_read(const struct board *board, uint64_t ref, const atom64 *word,
                            uint64_t *value)
{
    *value = atom64_load(word, ATOM_ACQUIRE); /* partner: board_write */
    return atom64_load(&board->ref, ATOM_RELAXED) == ref;
}

/** Takes back an announcement of this stay, whether or not it has ended. Any thread. */
ATOM_INLINE void board_leave(struct board *board, uint64_t stay)
{
    uint64_t state = atom64_load(&board->state, ATOM_RELAXED);
    do {
        if (board_stay_of(state) != stay)
            return; /* it has ended, and what was announced with it */
        if (state - stay < BOARD_ANNOUNCED)
            return; /* somebody passed on what nobody had announced */
    } while (!atom64_compare_exchange(&board->state,
                                      &state,
                                      state - BOARD_ANNOUNCED,
                                      ATOM_RELEASE, /* partner: board_open */
                                      ATOM_RELAXED));
}

/** A sender comes. *stay is for board_leave, when it is announced. Any thread. */
ATOM_INLINE enum board_way board_enter(struct board *board, uint64_t ref, uint64_t *stay)
{
    uint64_t state = atom64_load(&board->state, ATOM_ACQUIRE); /* partners: board_open, board_let */
    do {
        /* Behind each look at the state: it is that of this tenant, or is about to change. */
        if (!board_is_of(board, ref))
            return BOARD_STRANGE;
        if (state & BOARD_IS_OPEN)
            return BOARD_OPEN;
    } while (!atom64_compare_exchange(
        &board->state, &state, state + BOARD_ANNOUNCED, ATOM_ACQUIRE, ATOM_ACQUIRE));
    *stay = board_stay_of(state);
    return BOARD_HOLDS;
}

/** Opens the board if nobody is announced; true when it is open. Who stands behind it only. */
ATOM_INLINE bool board_open(struct board *board)
{
    uint64_t stay = board_stay(board);
    uint64_t state = stay;
    return atom64_compare_exchange(&board->state,
                                   &state,
                                   stay | BOARD_IS_OPEN,
                                   ATOM_ACQ_REL, /* partners: board_leave, board_enter */
                                   ATOM_RELAXED) ||
           state & BOARD_IS_OPEN;
}

/** Whether it was opened. Who stands behind it only. */
ATOM_INLINE bool board_is_open(const struct board *board)
{
    return atom64_load(&board->state, ATOM_RELAXED) & BOARD_IS_OPEN;
}

#endif
