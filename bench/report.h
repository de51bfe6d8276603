/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Clock, memory, scale and the line of JSON that each result is.
 *
 * {"peer":"troupe","workload":"ring","threads":1,"ops":5000000,"seconds":0.071428,
 *  "ops_per_s":70000000.0,"rss_bytes":4194304}
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdint.h>

/** Exit codes, the same for the programs of the peers. */
enum bench_exit {
    BENCH_OK = 0,
    BENCH_USAGE = 1,
    BENCH_NO_RESULT = 2,
    BENCH_WRONG = 3,
    BENCH_UNKNOWN = 4,
};

/** Nanoseconds of the monotonic clock. */
uint64_t bench_now(void);

/** Bytes of this process that are in memory now. */
uint64_t bench_rss(void);

/**
 * The number of operations of a workload whose definition says n: TIMES multiplies it and SCALE
 * divides it, both from the environment. At least 1.
 */
uint64_t bench_count(uint64_t n);

/** A whole number from the environment, or `otherwise` where there is none. */
uint64_t bench_setting(const char *name, uint64_t otherwise);

/** xorshift64, the same sequence as in the programs of the peers. `state` is not 0. */
uint64_t bench_random(uint64_t *state);

/** Prints a result, with the most memory that the process ever had. */
void bench_report(const char *workload, int threads, uint64_t ops, uint64_t ns);

/** Prints a result of idle actors, which took `bytes` in all. */
void bench_report_idle(const char *workload, int threads, uint64_t actors, uint64_t ns,
                       uint64_t bytes);

/** Prints a result of timers: how many were armed and taken back, and how long each took in all. */
void bench_report_timers(const char *workload, int threads, uint64_t armed, uint64_t cancelled,
                         uint64_t arm_ns, uint64_t cancel_ns, uint64_t fired);

/** Prints why to stderr and ends the process with `code`. Any thread. */
_Noreturn void bench_die(enum bench_exit code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
