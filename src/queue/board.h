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
 *   3. A sender that announced itself at the board of another takes that back. Who opens may find it
 *      announced, and opens with the next message.
 *   4. Who puts the tenant out compares its ref, which is used once: the next one stays.
 */
#ifndef QUEUE_BOARD_H
#define QUEUE_BOARD_H

#include "os/atomic.h"

struct board {
    atom64 ref;   /* of the tenant, 0 for none */
    atom64 state; /* BOARD_IS_OPEN, and how many are announced in the bits above; anybody */
};

enum { BOARD_IS_OPEN = 1, BOARD_ANNOUNCED = 2 };

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

/** Lets a tenant in, not open. Who may do this holds the empty board alone. */
ATOM_INLINE void board_let(struct board *board, uint64_t ref)
{
    /* A late sender may be announced, and takes that back: its number stays. */
    atom64_fetch_and(&board->state, ~(uint64_t)BOARD_IS_OPEN, ATOM_RELAXED);
    atom64_store(&board->ref, ref, ATOM_RELEASE); /* partner: board_is_of */
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

/** Takes an announcement back. Any thread. */
ATOM_INLINE void board_leave(struct board *board)
{
    uint64_t state = atom64_load(&board->state, ATOM_RELAXED);
    do {
        if (state < BOARD_ANNOUNCED)
            return; /* somebody passed on what nobody had announced */
    } while (!atom64_compare_exchange(&board->state,
                                      &state,
                                      state - BOARD_ANNOUNCED,
                                      ATOM_RELEASE, /* partner: board_open */
                                      ATOM_RELAXED));
}

/** A sender comes. Any thread. */
ATOM_INLINE enum board_way board_enter(struct board *board, uint64_t ref)
{
    uint64_t state = atom64_load(&board->state, ATOM_ACQUIRE); /* partner: board_open */
    if (!board_is_of(board, ref))
        return BOARD_STRANGE;
    do {
        if (state & BOARD_IS_OPEN)
            return BOARD_OPEN;
    } while (!atom64_compare_exchange(
        &board->state, &state, state + BOARD_ANNOUNCED, ATOM_ACQUIRE, ATOM_ACQUIRE));
    if (board_is_of(board, ref))
        return BOARD_HOLDS;
    board_leave(board);
    return BOARD_STRANGE;
}

/** Opens the board if nobody is announced; true when it is open. Who stands behind it only. */
ATOM_INLINE bool board_open(struct board *board)
{
    uint64_t state = 0;
    return atom64_compare_exchange(&board->state,
                                   &state,
                                   BOARD_IS_OPEN,
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
