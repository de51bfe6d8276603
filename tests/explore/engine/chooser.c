/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/chooser.h"

#include <string.h>

static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

static uint64_t random_next(struct chooser *chooser)
{
    /* xorshift64*: the state is never 0. */
    uint64_t x = chooser->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    chooser->random = x;
    return x * UINT64_C(2685821657736338717);
}

static unsigned random_below(struct chooser *chooser, unsigned count)
{
    return (unsigned)(((random_next(chooser) >> 32) * count) >> 32);
}

/* Neighbouring seeds must give unlike schedules. */
static uint64_t seed_mix(uint64_t seed)
{
    seed += UINT64_C(0x9e3779b97f4a7c15);
    seed = (seed ^ (seed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    seed = (seed ^ (seed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (seed ^ (seed >> 31)) | 1;
}

/* One level of DFS: what was chosen here on the way to the present leaf, else the first. */
static unsigned descend(struct chooser *chooser, unsigned count)
{
    if (count == 1)
        return 0;
    unsigned level = chooser->depth++;
    if (level >= CHOICES_MAX)
        return 0;
    if (level >= chooser->depth_known) {
        chooser->chosen[level] = 0;
        chooser->depth_known = level + 1;
    }
    chooser->counts[level] = (uint8_t)count;
    return chooser->chosen[level];
}

static int thread_nth(unsigned set, unsigned n)
{
    while (n--)
        set &= set - 1;
    return __builtin_ctz(set);
}

/* The first way is to continue; to leave a thread that could continue is a preemption. */
static int thread_descend(struct chooser *chooser, unsigned enabled, int current)
{
    bool is_able = current >= 0 && (enabled >> current & 1);
    if (!is_able)
        return thread_nth(enabled, descend(chooser, (unsigned)__builtin_popcount(enabled)));
    if (chooser->preemptions == PREEMPTIONS_MAX)
        return current;
    unsigned way = descend(chooser, (unsigned)__builtin_popcount(enabled));
    if (!way)
        return current;
    chooser->preemptions++;
    return thread_nth(enabled & ~(1U << current), way - 1);
}

static int thread_first(struct chooser *chooser, unsigned enabled, int current, unsigned step)
{
    if (current >= 0)
        for (int i = 0; i < 2; i++)
            if (chooser->changes[i] == step)
                chooser->priorities[current] = --chooser->priority_lowest;
    int first = -1;
    for (int i = 0; i < EXPLORE_THREADS_MAX; i++)
        if ((enabled >> i & 1) &&
            (first < 0 || chooser->priorities[i] > chooser->priorities[first]))
            first = i;
    return first;
}

const char *chooser_strategy_name(enum strategy strategy)
{
    static const char *const names[] = {"random", "pct2", "pct3", "dfs"};
    return names[strategy];
}

void chooser_init(struct chooser *chooser, enum strategy strategy, unsigned steps_expected)
{
    chooser->strategy = strategy;
    chooser->steps_expected = steps_expected ? steps_expected : 1;
    chooser->depth_known = 0;
    chooser->depth = 0;
}

void chooser_begin(struct chooser *chooser, uint64_t seed, int threads)
{
    chooser->random = seed_mix(seed);
    chooser->depth = 0;
    chooser->preemptions = 0;
    if (chooser->strategy != STRATEGY_PCT2 && chooser->strategy != STRATEGY_PCT3)
        return;
    for (int i = 0; i < threads; i++) {
        int j = (int)random_below(chooser, (unsigned)i + 1);
        chooser->priorities[i] = chooser->priorities[j];
        chooser->priorities[j] = i + 1;
    }
    chooser->priority_lowest = 0;
    chooser->changes[0] = 1 + random_below(chooser, chooser->steps_expected);
    chooser->changes[1] =
        chooser->strategy == STRATEGY_PCT3 ? 1 + random_below(chooser, chooser->steps_expected) : 0;
}

bool chooser_next(struct chooser *chooser)
{
    unsigned level = chooser->depth < CHOICES_MAX ? chooser->depth : CHOICES_MAX;
    while (level && chooser->chosen[level - 1] + 1 == chooser->counts[level - 1])
        level--;
    chooser->depth_known = level;
    if (!level)
        return false;
    chooser->chosen[level - 1]++;
    return true;
}

bool chooser_parse(struct chooser *chooser, const char *text)
{
    size_t count = strlen(text);
    if (count > CHOICES_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *digit = strchr(digits, text[i]);
        if (!digit)
            return false;
        chooser->chosen[i] = (uint8_t)(digit - digits);
    }
    chooser->depth_known = (unsigned)count;
    return true;
}

void chooser_print(const struct chooser *chooser, char *text, size_t size)
{
    size_t count = chooser->depth_known < size ? chooser->depth_known : size - 1;
    /* What ends in first ways need not be said. */
    while (count && !chooser->chosen[count - 1])
        count--;
    for (size_t i = 0; i < count; i++)
        text[i] = digits[chooser->chosen[i]];
    text[count] = 0;
}

int chooser_thread(struct chooser *chooser, unsigned enabled, int current, unsigned step)
{
    switch (chooser->strategy) {
    case STRATEGY_RANDOM:
        if (!(enabled & (enabled - 1)))
            return __builtin_ctz(enabled);
        return thread_nth(enabled, random_below(chooser, (unsigned)__builtin_popcount(enabled)));
    case STRATEGY_PCT2:
    case STRATEGY_PCT3:
        return thread_first(chooser, enabled, current, step);
    case STRATEGY_DFS:
    case STRATEGY_COUNT:
        break;
    }
    return thread_descend(chooser, enabled, current);
}

void chooser_yield(struct chooser *chooser, int current)
{
    chooser->priorities[current] = --chooser->priority_lowest;
}

unsigned chooser_value(struct chooser *chooser, unsigned count)
{
    if (chooser->strategy == STRATEGY_DFS)
        return descend(chooser, count);
    return random_below(chooser, count);
}

unsigned chooser_value_mostly_0(struct chooser *chooser, unsigned count)
{
    if (chooser->strategy == STRATEGY_DFS)
        return descend(chooser, count);
    uint64_t coin = random_next(chooser);
    if (coin >> 63)
        return 0;
    return 1 + random_below(chooser, count - 1);
}
