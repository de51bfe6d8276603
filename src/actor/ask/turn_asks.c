/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/ask/turn_asks.h"

#include "actor/cell/ask_table.h"
#include "actor/life/extra.h"
#include "base/assert.h"

enum { PLACES_MAX = 1 << 28, PLACES_KEPT = 128 };

bool tr__turn_asks_grow(struct tr_self *self)
{
    struct turn_asks *asks = &self->asks;
    if (asks->capacity >= PLACES_MAX)
        return false;
    uint32_t capacity = 4 * asks->capacity;
    bool is_few = asks->places == asks->few;
    uintptr_t *places = source_resize(
        &self->worker->source, is_few ? NULL : asks->places, capacity * sizeof *places);
    if (!places)
        return false;
    if (is_few)
        memcpy(places, asks->few, sizeof asks->few);
    asks->places = places;
    asks->capacity = capacity;
    return true;
}

void tr__turn_asks_free(struct tr_self *self)
{
    TR_ASSERT(!self->asks.count);
    if (self->asks.places != self->asks.few)
        source_resize(&self->worker->source, self->asks.places, 0);
    turn_asks_init(&self->asks);
}

void tr__asks_drop(struct tr_self *self)
{
    struct worker *worker = self->worker;
    struct turn_asks *asks = &self->asks;
    const uintptr_t *places = asks->places;
    for (uint32_t i = asks->count; i-- > 0;) {
        if (__builtin_expect(place_is_answered(places[i]), 1))
            envelope_give(&worker->pool, place_answer(places[i]));
        else
            tr__ask_free(worker, self->cell, (struct ask *)places[i]);
    }
    asks->count = 0;
    if (asks->capacity > PLACES_KEPT)
        tr__turn_asks_free(self);
    tr__ask_table_shrink(worker, &self->cell->extra->asks.table);
}
