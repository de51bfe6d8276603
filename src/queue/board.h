/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A board: what senders on all threads read about a group of actors. Only one thread, the manager
 * of the board, writes the words about the group.
 *
 * A board has the ref of its tenant, which is a group, and words that belong to the tenant: the
 * refs of the members. Boards are not freed while their system lives. One tenant after another uses
 * a board, so a late reader may see the board of a later tenant. Any thread may write an
 * announcement or remove a tenant.
 *
 * Rules, checked by the model `board` in tests/explore:
 * 1. board_write writes a word, and board_read reads a word and then checks the ref again. So a
 *    reader that has read a word of the next tenant sees that the previous tenant is gone.
 * 2. The board of a new tenant is not open at first. Until the board is open, a sender announces
 *    its message and gives it to the manager. The manager forwards the message and then cancels the
 *    announcement. The board opens when no message is announced. So a message that went through the
 *    manager is delivered before its sender can send directly, and messages keep their order.
 * 3. An announcement belongs to one stay of a tenant, and the number of the stay is part of the
 *    state. A tenant may be removed while announced messages are on their way, and these will never
 *    be forwarded. So the next stay begins without announcements, and cancelling an announcement of
 *    an earlier stay changes nothing.
 * 4. board_clear compares the ref of the tenant that it removes. A ref is used only once, so
 *    board_clear never removes the next tenant.
 */
#ifndef QUEUE_BOARD_H
#define QUEUE_BOARD_H

#include "os/atomic.h"

struct board {
    atom64 ref; /* the ref of the tenant; 0 for none */
    /*
     * BOARD_IS_OPEN, the number of announcements and the number of the stay; any thread writes this
     */
    atom64 state;
};

#define BOARD_IS_OPEN UINT64_C(1)
#define BOARD_ANNOUNCED UINT64_C(2)    /* one announcement */
#define BOARD_STAY (UINT64_C(1) << 32) /* one stay */

enum board_way {
    BOARD_STRANGE, /* the board has another tenant, or none */
    BOARD_OPEN,    /* the sender may read the words */
    /*
     * the board is not open; board_enter has announced the message, and the sender must give it to
     * the manager
     */
    BOARD_HOLDS
};

ATOM_INLINE void board_init(struct board *board)
{
    atom64_init(&board->ref, 0);
    atom64_init(&board->state, 0);
}

/**
 * Returns the number of the stay that is part of a state: its high bits, which are a multiple of
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

/**
 * Gives an empty board to a tenant. The board is not open yet. No other thread may write the board
 * meanwhile.
 */
ATOM_INLINE void board_let(struct board *board, uint64_t ref)
{
    /*
     * Messages to the previous tenant may still be announced. The new stay begins without
     * announcements.
     */
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
 * Writes a word. Because of the release, a reader that gets this word also sees that an earlier
 * tenant is gone. Partner: board_read.
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

/** Cancels an announcement of this stay. If the stay has ended, does nothing. Any thread. */
ATOM_INLINE void board_leave(struct board *board, uint64_t stay)
{
    uint64_t state = atom64_load(&board->state, ATOM_RELAXED);
    do {
        if (board_stay_of(state) != stay)
            return; /* the stay has ended, and its announcements have ended with it */
        if (state - stay < BOARD_ANNOUNCED)
            return; /* the manager has forwarded a message that was never announced */
    } while (!atom64_compare_exchange(&board->state,
                                      &state,
                                      state - BOARD_ANNOUNCED,
                                      ATOM_RELEASE, /* pairs with board_open */
                                      ATOM_RELAXED));
}

/**
 * Begins a send. If this returns BOARD_HOLDS, it sets *stay. A sender that gives up its send then
 * passes *stay to board_leave. Any thread.
 */
ATOM_INLINE enum board_way board_enter(struct board *board, uint64_t ref, uint64_t *stay)
{
    uint64_t state =
        atom64_load(&board->state, ATOM_ACQUIRE); /* pairs with board_open, board_let */
    do {
        /*
         * Check the tenant after each load of the state. If the board has this tenant even after
         * the load, the loaded state belongs to this tenant.
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

/** Opens the board if no message is announced. Returns whether the board is open. Manager only. */
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
