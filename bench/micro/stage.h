/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the programs that time several workers share: a system with its client, and how they print.
 * Each line is "name: value unit"; values are medians of several rounds unless the name says
 * otherwise. They mean something on a machine with two cores that have nothing else to do.
 */
#ifndef BENCH_MICRO_STAGE_H
#define BENCH_MICRO_STAGE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <troupe/troupe.h>

TR_MESSAGE(done, (u64, value));

static tr_system *system_;
static tr_client *client;

static inline void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "workers: %s\n", what);
    exit(1);
}
#define MUST(call) require((call) == TR_OK, #call)

static inline double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* What all threads have used of the CPUs: on a busy machine that says more than the clock does. */
static inline double cpu_used_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline int compare(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

static inline double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

static inline void print(const char *name, double value, const char *unit)
{
    printf("%s: %.4g %s\n", name, value, unit);
    fflush(stdout);
}

static inline void quiet(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static inline void begin(int workers, tr_balance balance, tr_time spin_ns)
{
    const tr_system_options options = {.size = sizeof options,
                                       .workers = workers,
                                       .spin_ns = spin_ns,
                                       .balance = balance,
                                       .on_log = quiet};
    MUST(tr_system_new(&options, &system_));
    MUST(tr_system_start(system_));
    MUST(tr_client_new(system_, &client));
}

static inline void end(void)
{
    tr_client_free(client);
    tr_system_shutdown(system_, 10 * TR_SECOND);
    MUST(tr_system_wait(system_));
    tr_system_free(system_);
}

static inline uint64_t wait_done(void)
{
    const struct done *message = tr_receive(client, done, TR_MINUTE);
    require(message, "no result");
    return message->value;
}

/** The parts of a program, of which its argument names one. */
struct part {
    const char *name;
    void (*run)(void);
};

static inline int run_parts(int argc, char **argv, const struct part *parts, size_t count)
{
    bool is_known = argc == 1;
    for (size_t i = 0; i < count; i++) {
        bool is_this = argc == 2 && strcmp(argv[1], parts[i].name) == 0;
        if (argc == 1 || is_this)
            parts[i].run();
        is_known |= is_this;
    }
    if (is_known)
        return 0;
    fprintf(stderr, "usage: %s [", argv[0]);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "%s%s", i ? " | " : "", parts[i].name);
    fprintf(stderr, "]\n");
    return 2;
}

#endif
