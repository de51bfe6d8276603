/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/population.h"

enum { SHARE = 200 }; /* counting takes at most 1 / SHARE of the thread's time */

#define LOOK_NS (2 * TR_SECOND)
#define AGE_NS (8 * TR_SECOND) /* over a shorter time no growth can be seen */

static const tr_time window_ns[POPULATION_WINDOWS] = {15 * TR_SECOND, 10 * TR_MINUTE};

/* Returns the row of a behavior. Returns NULL if the table is full. */
static struct population_row *row_of(struct population *population, const tr_behavior *behavior)
{
    for (size_t i = 0; i < POPULATION_MAX; i++) {
        struct population_row *row = &population->rows[i];
        if (!row->behavior)
            row->behavior = behavior;
        if (row->behavior == behavior)
            return row;
    }
    return NULL;
}

bool tr__population_is_due(const struct population *population, tr_time now_ns)
{
    return now_ns >= population->look_ns;
}

void tr__population_begin(struct population *population)
{
    for (size_t i = 0; i < POPULATION_MAX; i++)
        population->rows[i].counted = 0;
    population->last = NULL;
}

void tr__population_take(struct population *population, const struct actor_glance *glance)
{
    if (!glance->behavior)
        return;
    if (!population->last || population->last->behavior != glance->behavior)
        population->last = row_of(population, glance->behavior);
    if (population->last)
        population->last->counted++;
}

/* Begins a window again. The present numbers of actors become its counts. */
static void window_begin(struct population *population, size_t window, tr_time now_ns)
{
    for (size_t i = 0; i < POPULATION_MAX; i++) {
        struct population_row *row = &population->rows[i];
        row->before[window][1] = row->before[window][0];
        row->before[window][0] = row->live;
    }
    population->before_ns[window][1] = population->before_ns[window][0];
    population->before_ns[window][0] = now_ns;
}

void tr__population_end(struct population *population, tr_time now_ns, tr_time took_ns)
{
    for (size_t i = 0; i < POPULATION_MAX; i++)
        population->rows[i].live = population->rows[i].counted;
    for (size_t i = 0; i < POPULATION_WINDOWS; i++) {
        if (!population->before_ns[i][0] || now_ns - population->before_ns[i][0] >= window_ns[i])
            window_begin(population, i, now_ns);
    }
    population->look_ns = now_ns + (took_ns * SHARE > LOOK_NS ? took_ns * SHARE : LOOK_NS);
}

bool tr__population_grows(const struct population *population, const struct population_row *row,
                          tr_time now_ns, uint64_t *before, tr_time *since_ns)
{
    /* If many actors were started at once and all of them stay, that is not growth. The number of actors must still be
     * increasing. */
    if (row->live <= row->before[0][population->before_ns[0][1] ? 1 : 0])
        return false;
    for (size_t i = 0; i < POPULATION_WINDOWS; i++) {
        size_t older = population->before_ns[i][1] ? 1 : 0;
        *since_ns = population->before_ns[i][older];
        *before = row->before[i][older];
        if (*since_ns && now_ns - *since_ns >= AGE_NS && row->live >= *before + POPULATION_LEAST &&
            row->live >= *before + *before / 20)
            return true;
    }
    return false;
}
