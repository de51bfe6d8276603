/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The asks of an actor, by number: open addressing, at most three quarters full.
 *
 * The newest ask is beside it, so that asks of which each is answered before the next is made need no
 * table at all. An actor that has none gets one that the worker keeps empty for this. Owner only.
 */
#ifndef ACTOR_CELL_ASK_TABLE_H
#define ACTOR_CELL_ASK_TABLE_H

#include "actor/ask/ask.h"

/*
 * Numbers are consecutive. They are spread (by the golden ratio), or those of one long wait would be
 * one long run of places that every later ask has to pass.
 */
static inline uint32_t ask_table_home(uint32_t id, uint32_t mask)
{
    return id * 0x9e3779b1u >> __builtin_clz(mask);
}

/** The ask of a number, or NULL. */
static inline struct ask *ask_table_find(const struct ask_table *table, uint32_t id)
{
    if (__builtin_expect(table->newest && table->newest->id == id, 1))
        return table->newest;
    if (!table->slots)
        return NULL;
    uint32_t place = ask_table_home(id, table->mask);
    while (table->slots[place] && table->slots[place]->id != id)
        place = (place + 1) & table->mask;
    return table->slots[place];
}

/** Gives an ask its number and adds it. False: no memory. */
bool tr__ask_table_add(struct worker *worker, struct ask_table *table, struct ask *ask);

/** The same, inline where there is no other. */
static inline bool ask_table_add(struct worker *worker, struct ask_table *table, struct ask *ask)
{
    uint32_t id = table->last + 1;
    if (__builtin_expect(table->newest || table->count || !id, 0))
        return tr__ask_table_add(worker, table, ask);
    table->last = id;
    ask->id = id;
    table->newest = ask;
    return true;
}

/** Removes one that has a slot. */
void tr__ask_table_take_out(struct ask_table *table, const struct ask *ask);

/** Removes one that is there; tr__ask_table_shrink is to follow. */
static inline void ask_table_remove(struct ask_table *table, const struct ask *ask)
{
    if (__builtin_expect(table->newest == ask, 1))
        table->newest = NULL;
    else
        tr__ask_table_take_out(table, ask);
}

/** After one or many were removed: gives back what the others do not need. */
void tr__ask_table_shrink(struct worker *worker, struct ask_table *table);

/** Frees what the worker keeps. */
void tr__ask_table_free_spare(struct worker *worker);

void tr__ask_table_free(struct worker *worker, struct cell *cell);

#endif
