/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs models: each with each strategy in each memory, or one schedule again, with its trace.
 *
 *     explore                                             every model
 *     explore inbox park                                  these models
 *     explore inbox --strategy pct2 --memory weak --seed 7     one schedule, with its trace
 *     explore --orders                                    which memory orders could be weaker
 */
#include "engine/memory.h"
#include "engine/orders.h"
#include "engine/search.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SCHEDULES_DEFAULT = 40000, /* of each strategy in each memory */
    /* DFS often goes through all schedules before. If not, the first ones differ little from each other, and
     * those of weak memory take long. */
    DFS_FACTOR = 15,
    DFS_FACTOR_WEAK = 6,
    LONG_FACTOR = 150,
    MODELS_MAX = 64
};

struct options {
    const char *models[MODELS_MAX];
    int models_count;
    int strategy; /* -1 for all */
    enum explore_memory memory;
    uint64_t schedules_max;
    uint64_t base;
    uint64_t rate_min; /* schedules a second that are demanded; 0 for none */
    bool is_replay;
    bool is_traced;
    bool is_list;
    bool is_orders;
    bool is_brief;
    const char *choices;
};

static void usage(FILE *file)
{
    fprintf(file,
            "usage: explore [MODEL...] [options]\n"
            "  --list              names the models\n"
            "  --strategy S        random, pct2, pct3 or dfs; all when not said\n"
            "  --memory M          sc or weak; both when not said\n"
            "  --schedules N       of each strategy in each memory\n"
            "  --base N            the seed of the first schedule; 1 when not said\n"
            "  --seed N            replays one schedule and prints its trace\n"
            "  --choices C         replays one schedule of dfs and prints its trace\n"
            "  --trace             prints the trace of a planted bug that was caught\n"
            "  --brief             one line per model\n"
            "  --rate N            fails below N schedules per second of CPU\n"
            "  --orders            weakens each memory order and says which nobody misses\n");
}

static bool strategy_parse(const char *name, int *strategy)
{
    for (int i = 0; i < STRATEGY_COUNT; i++)
        if (!strcmp(name, chooser_strategy_name((enum strategy)i))) {
            *strategy = i;
            return true;
        }
    return false;
}

static bool memory_parse(const char *name, enum explore_memory *memory)
{
    if (strcmp(name, "sc") && strcmp(name, "weak"))
        return false;
    *memory = strcmp(name, "sc") ? EXPLORE_WEAK : EXPLORE_SC;
    return true;
}

/* Options that have a value. */
static bool option_parse(struct options *options, const char *name, const char *value)
{
    if (!strcmp(name, "--strategy"))
        return strategy_parse(value, &options->strategy);
    if (!strcmp(name, "--memory"))
        return memory_parse(value, &options->memory);
    char *end;
    uint64_t number = strtoull(value, &end, 10);
    if (!strcmp(name, "--choices")) {
        options->choices = value;
        options->is_replay = true;
        options->strategy = STRATEGY_DFS;
        return true;
    }
    if (*end || end == value)
        return false;
    if (!strcmp(name, "--schedules")) {
        options->schedules_max = number;
    } else if (!strcmp(name, "--base")) {
        options->base = number;
    } else if (!strcmp(name, "--rate")) {
        options->rate_min = number;
    } else if (!strcmp(name, "--seed")) {
        options->base = number;
        options->is_replay = true;
    } else {
        return false;
    }
    return true;
}

static bool options_parse(struct options *options, int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        const char *name = arguments[i];
        if (!strcmp(name, "--list"))
            options->is_list = true;
        else if (!strcmp(name, "--trace"))
            options->is_traced = true;
        else if (!strcmp(name, "--orders"))
            options->is_orders = true;
        else if (!strcmp(name, "--brief"))
            options->is_brief = true;
        else if (name[0] != '-' && options->models_count < MODELS_MAX)
            options->models[options->models_count++] = name;
        else if (i + 1 == count || !option_parse(options, name, arguments[++i]))
            return false;
    }
    return true;
}

static bool model_is_named(const struct options *options, const struct explore_model *model)
{
    for (int i = 0; i < options->models_count; i++)
        if (!strcmp(options->models[i], model->name))
            return true;
    return !options->models_count;
}

static bool models_are_known(const struct options *options)
{
    for (int i = 0; i < options->models_count; i++) {
        const struct explore_model *model = search_models();
        while (model && strcmp(model->name, options->models[i]))
            model = model->next;
        if (!model) {
            fprintf(stderr, "explore: no model %s; see --list\n", options->models[i]);
            return false;
        }
    }
    return true;
}

static double rate_of(uint64_t schedules, double seconds)
{
    return (double)schedules / (seconds > 1e-6 ? seconds : 1e-6);
}

static void search_print(const struct search *search)
{
    const char *result = "passes";
    if (search->is_failed)
        result = search->model->is_wrong ? "caught" : "FAILS";
    else if (search->model->is_wrong)
        result = "not caught";
    printf("%-24s %-5s %-7s %9" PRIu64 " schedules %8.0f k/s  %s%s%s%s\n",
           search->model->name,
           search->is_weak ? "weak" : "sc",
           chooser_strategy_name(search->strategy),
           search->schedules,
           rate_of(search->schedules, search->seconds) / 1000,
           result,
           search->is_exhausted ? ", all within the bounds" : "",
           search->is_failed ? ": " : "",
           search->is_failed ? search->failure : "");
}

struct tally {
    uint64_t schedules;
    double seconds;
    int caught;
    int failed;
};

static void search_one(const struct options *options, struct search *search, struct tally *tally)
{
    search_run(search);
    tally->schedules += search->schedules;
    tally->seconds += search->seconds;
    if (search->is_failed) {
        if (search->model->is_wrong)
            tally->caught++;
        else
            tally->failed++;
    }
    bool is_bug = search->is_failed && !search->model->is_wrong;
    if (!options->is_brief || is_bug)
        search_print(search);
    if (is_bug || (search->is_failed && options->is_traced)) {
        search_trace(search);
        search_print_replay(search);
    }
}

static bool memory_is_wanted(const struct options *options, const struct explore_model *model,
                             enum explore_memory memory)
{
    bool is_asked = options->memory == EXPLORE_BOTH || options->memory == memory;
    return is_asked && (model->memory == EXPLORE_BOTH || model->memory == memory);
}

static void results_write(const struct explore_model *model, bool is_good)
{
    /* A planted bug proves the explorer, not the promise. */
    const char *ids = model->is_wrong ? "" : model->ids;
    const char *folder = getenv("TROUPE_RESULTS_DIR");
    if (!folder)
        return;
    char path[4096];
    char line[512];
    snprintf(path, sizeof path, "%s/explore.tsv", folder);
    int size = snprintf(
        line, sizeof line, "explore\t%s\t%s\t%s\n", model->name, ids, is_good ? "pass" : "fail");
    /* One write of one line: programs append to this file at the same time. */
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0 || write(file, line, (size_t)size) != size)
        perror(path);
    if (file >= 0)
        close(file);
}

static bool model_run(const struct options *options, const struct explore_model *model,
                      struct tally *all)
{
    struct tally tally = {0};
    for (enum explore_memory memory = EXPLORE_SC; memory <= EXPLORE_WEAK; memory++) {
        if (!memory_is_wanted(options, model, memory))
            continue;
        for (int strategy = 0; strategy < STRATEGY_COUNT; strategy++) {
            if (options->strategy >= 0 && options->strategy != strategy)
                continue;
            uint64_t factor = memory == EXPLORE_WEAK ? DFS_FACTOR_WEAK : DFS_FACTOR;
            if (strategy != STRATEGY_DFS || model->is_wrong)
                factor = 1;
            static struct search search;
            search = (struct search){
                .model = model,
                .strategy = (enum strategy)strategy,
                .is_weak = memory == EXPLORE_WEAK,
                .seed = options->base,
                .schedules_max = options->schedules_max * factor,
            };
            search_one(options, &search, &tally);
        }
    }
    bool is_good = model->is_wrong ? tally.caught > 0 : !tally.failed;
    if (options->is_brief)
        printf("%-24s %9" PRIu64 " schedules %8.0f k/s  %s\n",
               model->name,
               tally.schedules,
               rate_of(tally.schedules, tally.seconds) / 1000,
               is_good ? model->is_wrong ? "caught" : "passes" : "FAILS");
    if (!is_good && model->is_wrong)
        printf("%s: FAILS: nobody caught the planted bug\n", model->name);
    /* Half a run proves nothing. */
    if (options->strategy < 0 && options->memory == EXPLORE_BOTH)
        results_write(model, is_good);
    all->schedules += tally.schedules;
    all->seconds += tally.seconds;
    all->failed += !is_good;
    return is_good;
}

static int replay(const struct options *options)
{
    for (const struct explore_model *model = search_models(); model; model = model->next) {
        if (!model_is_named(options, model))
            continue;
        static struct search search;
        search = (struct search){
            .model = model,
            .strategy = options->strategy < 0 ? STRATEGY_RANDOM : (enum strategy)options->strategy,
            .is_weak = options->memory == EXPLORE_WEAK ||
                       (options->memory == EXPLORE_BOTH && model->memory == EXPLORE_WEAK),
            .seed = options->base,
            .choices = options->choices,
        };
        printf("%s: %s\n", model->name, model->about);
        search_trace(&search);
    }
    return machine.is_failed;
}

static int run(const struct options *options)
{
    struct tally all = {0};
    for (const struct explore_model *model = search_models(); model; model = model->next)
        if (model_is_named(options, model))
            model_run(options, model, &all);
    double rate = rate_of(all.schedules, all.seconds);
    printf("%" PRIu64 " schedules in %.1f s of CPU, %.0f k/s, first seed %" PRIu64 ": %s\n",
           all.schedules,
           all.seconds,
           rate / 1000,
           options->base,
           all.failed ? "FAILS" : "passes");
    if (options->rate_min && rate < (double)options->rate_min) {
        printf("FAILS: less than %" PRIu64 " schedules a second\n", options->rate_min);
        return 1;
    }
    return all.failed ? 1 : 0;
}

static int list(void)
{
    for (const struct explore_model *model = search_models(); model; model = model->next)
        printf("%-24s %-6s %s\n", model->name, model->is_wrong ? "wrong" : "", model->about);
    return 0;
}

int main(int count, char **arguments)
{
    struct options options = {.strategy = -1, .schedules_max = SCHEDULES_DEFAULT, .base = 1};
    const char *is_long = getenv("TROUPE_LONG");
    if (is_long && !strcmp(is_long, "1"))
        options.schedules_max *= LONG_FACTOR;
    if (!options_parse(&options, count, arguments)) {
        usage(stderr);
        return 2;
    }
    if (!models_are_known(&options))
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (options.is_list)
        return list();
    if (options.is_orders)
        return orders_study(options.schedules_max);
    if (options.is_replay)
        return replay(&options);
    return run(&options);
}
