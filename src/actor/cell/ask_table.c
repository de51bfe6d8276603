/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/ask_table.h"

#include <string.h>

#include "actor/cell/slots.h"
#include "base/assert.h"

enum { TABLE_FIRST = 8, TABLE_GROWTH = 4, TABLE_SPARE_MAX = 1024 };

static bool table_resize(struct worker *worker, struct ask_table *table, uint32_t size)
{
    struct ask **slots = source_resize(&worker->source, NULL, size * sizeof *slots);
    if (!slots)
        return false;
    memset(slots, 0, size * sizeof *slots);
    for (uint32_t i = 0; table->slots && i <= table->mask; i++) {
        struct ask *ask = table->slots[i];
        if (!ask)
            continue;
        uint32_t place = ask_table_home(ask->id, size - 1);
        while (slots[place])
            place = (place + 1) & (size - 1);
        slots[place] = ask;
    }
    source_resize(&worker->source, table->slots, 0);
    table->slots = slots;
    table->mask = size - 1;
    return true;
}

/* Gives slots to a table that has none. Returns false if there is no memory. */
static bool table_open(struct worker *worker, struct ask_table *table)
{
    struct ask_table *spare = &worker->asks.table_spare;
    if (spare->slots) {
        table->slots = spare->slots;
        table->mask = spare->mask;
        spare->slots = NULL;
        return true;
    }
    return table_resize(worker, table, TABLE_FIRST);
}

static void table_close(struct worker *worker, struct ask_table *table)
{
    struct ask_table *spare = &worker->asks.table_spare;
    TR_ASSERT(!table->count);
    if (!spare->slots && table->mask < TABLE_SPARE_MAX) {
        spare->slots = table->slots;
        spare->mask = table->mask;
    } else {
        source_resize(&worker->source, table->slots, 0);
    }
    table->slots = NULL;
}

/* Moves the newest ask into `slots`, because another ask is about to be the newest. */
__attribute__((__noinline__)) static bool newest_place(struct worker *worker,
                                                       struct ask_table *table)
{
    if (!table->slots && !table_open(worker, table))
        return false;
    if (4 * (table->count + 1) > 3 * (table->mask + 1) &&
        !table_resize(worker, table, TABLE_GROWTH * (table->mask + 1)))
        return false;
    uint32_t place = ask_table_home(table->newest->id, table->mask);
    while (table->slots[place])
        place = (place + 1) & table->mask;
    table->slots[place] = table->newest;
    table->newest = NULL;
    table->count++;
    return true;
}

bool tr__ask_table_add(struct worker *worker, struct ask_table *table, struct ask *ask)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    if (__builtin_expect(table->newest != NULL, 0) && !newest_place(worker, table))
        return false;
    do
        ask->id = ++table->last;
    while (__builtin_expect(!ask->id, 0) || (table->count && ask_table_find(table, ask->id)));
    table->newest = ask;
    return true;
}

void tr__ask_table_take_out(struct ask_table *table, const struct ask *ask)
{
    uint32_t mask = table->mask;
    uint32_t hole = ask_table_home(ask->id, mask);
    while (table->slots[hole] != ask)
        hole = (hole + 1) & mask;
    /* An ask that a collision has put behind the hole moves into the hole. */
    for (uint32_t place = (hole + 1) & mask; table->slots[place]; place = (place + 1) & mask) {
        uint32_t home = ask_table_home(table->slots[place]->id, mask);
        if (((place - home) & mask) < ((place - hole) & mask))
            continue;
        table->slots[hole] = table->slots[place];
        hole = place;
    }
    table->slots[hole] = NULL;
    table->count--;
}

void tr__ask_table_shrink(struct worker *worker, struct ask_table *table)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    if (!table->slots)
        return;
    if (!table->count) {
        table_close(worker, table);
        return;
    }
    uint32_t size = table->mask + 1;
    while (size > TABLE_FIRST && 8 * table->count < size)
        size /= 2;
    if (size <= table->mask)
        /* if there is no memory, the table keeps its size */
        (void)table_resize(worker, table, size);
}

void tr__ask_table_free(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct ask_table *table = &cell->extra->asks.table;
    TR_ASSERT(!table->count && !table->newest);
    if (table->slots)
        table_close(worker, table);
}

void tr__ask_table_free_spare(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct ask_table *spare = &worker->asks.table_spare;
    source_resize(&worker->source, spare->slots, 0);
    spare->slots = NULL;
}

void tr__turn_asks_free(struct tr_self *self)
{
    TR_ASSERT_SLOW(worker_is_mine(self->worker));
    TR_ASSERT(!self->asks.count);
    if (self->asks.places != self->asks.few)
        source_resize(&self->worker->source, self->asks.places, 0);
    turn_asks_init(&self->asks);
}

bool tr__ask_is_over(const struct worker *worker, const struct envelope *envelope)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    if (!envelope->sender)
        return false;
    const struct cell *cell = slots_find(worker->slots, envelope->sender);
    if (!cell || cell_owner(cell) != worker->index || cell->life == LIFE_NEW || !cell->extra)
        return true;
    const struct ask *ask = ask_table_find(&cell->extra->asks.table, envelope->payload.ask.id);
    return !ask || ask->is_fixed;
}
