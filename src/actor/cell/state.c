/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/state.h"

#include "actor/cell/slots.h"
#include "base/assert.h"

#include <assert.h>

static_assert((int)CELL_STATE_INLINE < 24, "what fits into the cell has no place beside it");

/*
 * Takes a place beside the cell for a state of this size. Each branch names its kind of place as a
 * constant, so that the compiler makes short code of the inline function.
 */
static void *place_take(struct slots *slots, const struct cell *cell, size_t size)
{
    if (size > 32)
        return slots_place_take(slots, cell, SLOTS_PLACE_64);
    if (size > 24)
        return slots_place_take(slots, cell, SLOTS_PLACE_32);
    return slots_place_take(slots, cell, SLOTS_PLACE_24);
}

void *tr__state_new(struct worker *worker, struct cell *cell, size_t size, bool is_apart)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (!is_apart && size <= CELL_STATE_INLINE)
        return cell->state_inline;
    if (!is_apart && size <= SLOTS_STATE_MAX) {
        void *place = place_take(worker->slots, cell, size);
        if (place)
            return place;
    }
    return source_resize(&worker->source, NULL, size);
}

void tr__state_free(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    void *state = cell->state;
    cell->state = NULL;
    if (!state || state == cell->state_inline)
        return;
    int kind = slots_place_index(cell, state);
    if (kind >= 0)
        slots_place_give(state, (unsigned)kind);
    else
        source_resize(&worker->source, state, 0);
}

void *tr__state_apart(const struct cell *cell)
{
    bool is_apart = cell->state != cell->state_inline && !slots_place_is(cell, cell->state);
    return is_apart ? cell->state : NULL;
}
