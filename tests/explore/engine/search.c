/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/search.h"

#include "engine/memory.h"
#include "engine/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PROBES = 64 }; /* random schedules that tell PCT how long a schedule is */

static struct explore_model *models;

void explore_model_add(struct explore_model *model)
{
    struct explore_model **link = &models;
    while (*link && strcmp((*link)->name, model->name) < 0)
        link = &(*link)->next;
    model->next = *link;
    *link = model;
}

const struct explore_model *search_models(void)
{
    return models;
}

static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* PCT spreads its change points over the length of a schedule; a function of the model alone. */
static unsigned steps_measure(const struct search *search, struct chooser *chooser)
{
    unsigned steps = 0;
    chooser_init(chooser, STRATEGY_RANDOM, 1);
    for (uint64_t seed = 1; seed <= PROBES; seed++) {
        machine_run(search->model, chooser, seed, search->is_weak, false);
        if (!machine.is_failed && machine.steps > steps)
            steps = machine.steps;
    }
    return steps ? steps : 64;
}

static void search_begin(const struct search *search, struct chooser *chooser)
{
    memory_forget();
    trace_begin();
    unsigned steps = 0;
    if (search->strategy == STRATEGY_PCT2 || search->strategy == STRATEGY_PCT3)
        steps = steps_measure(search, chooser);
    chooser_init(chooser, search->strategy, steps);
}

static void note_failure(struct search *search, uint64_t seed, const struct chooser *chooser)
{
    search->is_failed = true;
    search->seed_failed = seed;
    memcpy(search->failure, machine.failure, sizeof search->failure);
    chooser_print(chooser, search->choices_failed, sizeof search->choices_failed);
}

void search_run(struct search *search)
{
    static struct chooser chooser;
    search_begin(search, &chooser);
    if (search->choices)
        chooser_parse(&chooser, search->choices);
    search->schedules = 0;
    search->is_exhausted = false;
    search->is_failed = false;
    if (search->model->on_begin)
        search->model->on_begin();
    double start = cpu_seconds();
    for (uint64_t i = 0; i < search->schedules_max && !search->is_exhausted; i++) {
        bool is_good =
            machine_run(search->model, &chooser, search->seed + i, search->is_weak, false);
        search->schedules++;
        if (!is_good) {
            note_failure(search, search->seed + i, &chooser);
            break;
        }
        if (search->strategy == STRATEGY_DFS && !chooser_next(&chooser))
            search->is_exhausted = true;
    }
    search->seconds = cpu_seconds() - start;
    if (search->is_exhausted && search->model->on_exhausted) {
        machine.is_failed = false;
        search->model->on_exhausted();
        if (machine.is_failed)
            note_failure(search, search->seed, &chooser);
    }
}

void search_trace(const struct search *search)
{
    static struct chooser chooser;
    search_begin(search, &chooser);
    uint64_t seed = search->is_failed ? search->seed_failed : search->seed;
    const char *choices = search->is_failed ? search->choices_failed : search->choices;
    if (search->strategy == STRATEGY_DFS && choices)
        chooser_parse(&chooser, choices);
    bool is_good = machine_run(search->model, &chooser, seed, search->is_weak, true);
    for (int i = 0; i < machine.threads; i++)
        if (!(machine.done >> i & 1))
            printf("  %s has not ended%s\n",
                   search->model->threads[i].name,
                   machine.ready >> i & 1 ? "" : ": it is parked");
    printf("  %s\n", is_good ? "passes" : machine.failure);
}

void search_print_replay(const struct search *search)
{
    printf("  replay: explore %s --strategy %s --memory %s ",
           search->model->name,
           chooser_strategy_name(search->strategy),
           search->is_weak ? "weak" : "sc");
    if (search->strategy == STRATEGY_DFS)
        printf("--choices %s\n", search->choices_failed[0] ? search->choices_failed : "0");
    else
        printf("--seed %" PRIu64 "\n", search->seed_failed);
}
