/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/orders.h"

#include "engine/memory.h"
#include "engine/search.h"
#include "engine/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The orders one step below; the count of them. */
static int orders_below(const struct explore_site *site, memory_order order, bool is_failure,
                        memory_order below[2])
{
    bool is_load = is_failure || !strcmp(site->operation, "load");
    bool is_store = !strcmp(site->operation, "store");
    switch (order) {
    case memory_order_seq_cst:
        below[0] = memory_order_acq_rel;
        if (is_load)
            below[0] = memory_order_acquire;
        if (is_store)
            below[0] = memory_order_release;
        return 1;
    case memory_order_acq_rel:
        below[0] = memory_order_acquire;
        below[1] = memory_order_release;
        return 2;
    case memory_order_acquire:
    case memory_order_release:
        below[0] = memory_order_relaxed;
        return 1;
    case memory_order_consume:
    case memory_order_relaxed:
        break;
    }
    return 0;
}

/* Only headers of the tree are studied: a header is compiled into several models. */
static bool site_is_header(const struct explore_site *site)
{
    size_t size = strlen(site->file);
    return size > 2 && !strcmp(site->file + size - 2, ".h");
}

static bool site_is_same(const struct explore_site *a, const struct explore_site *b)
{
    return a->line == b->line && !strcmp(a->file, b->file) && !strcmp(a->operation, b->operation);
}

static bool site_is_first(int index)
{
    for (int i = 0; i < index; i++)
        if (site_is_same(memory_site(i), memory_site(index)))
            return false;
    return true;
}

static void site_set(const struct explore_site *like, bool is_failure, memory_order order,
                     bool is_weakened)
{
    for (int i = 0; memory_site(i); i++) {
        struct explore_site *site = memory_site(i);
        if (!site_is_same(site, like))
            continue;
        site->is_weakened = is_weakened;
        if (is_failure)
            site->used_failure = order;
        else
            site->used_order = order;
    }
}

/* Says which model notices, NULL for none. */
static const struct explore_model *notice(uint64_t schedules_max, struct search *search)
{
    static const enum strategy strategies[] = {STRATEGY_RANDOM, STRATEGY_PCT3, STRATEGY_DFS};
    for (const struct explore_model *model = search_models(); model; model = model->next) {
        if (model->is_wrong || model->memory == EXPLORE_SC)
            continue;
        for (int i = 0; i < 3; i++) {
            *search = (struct search){.model = model,
                                      .strategy = strategies[i],
                                      .is_weak = true,
                                      .seed = 1,
                                      .schedules_max = schedules_max};
            search_run(search);
            if (search->is_failed)
                return model;
        }
    }
    return NULL;
}

static void study_order(struct explore_site *site, bool is_failure, uint64_t schedules_max)
{
    memory_order order = is_failure ? site->failure : site->order;
    memory_order below[2];
    int count = orders_below(site, order, is_failure, below);
    for (int i = 0; i < count; i++) {
        static struct search search;
        site_set(site, is_failure, below[i], true);
        const struct explore_model *model = notice(schedules_max, &search);
        printf("%-14s %-16s %-7s %s -> %s: ",
               trace_place(site),
               site->operation,
               is_failure ? "failure" : "",
               memory_order_name(order),
               memory_order_name(below[i]));
        if (model)
            printf("needed: %s, %s, after %" PRIu64 ": %s\n",
                   model->name,
                   chooser_strategy_name(search.strategy),
                   search.schedules,
                   search.failure);
        else
            printf("no model notices\n");
        site_set(site, is_failure, order, false);
    }
}

int orders_study(uint64_t schedules_max)
{
    static struct search search;
    const struct explore_model *model = notice(schedules_max, &search);
    if (model) {
        printf("%s fails as it is: %s\n", model->name, search.failure);
        return 1;
    }
    for (int i = 0; memory_site(i); i++) {
        struct explore_site *site = memory_site(i);
        if (!site_is_header(site) || !site_is_first(i))
            continue;
        study_order(site, false, schedules_max);
        if (!strcmp(site->operation, "compare_exchange"))
            study_order(site, true, schedules_max);
    }
    return 0;
}
