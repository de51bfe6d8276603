/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the peers' programs in C and C++ share: clock, memory, scale and the line of JSON.
 *
 * The environment scales a run: SCALE=d divides the number of operations, TIMES=k multiplies it.
 */
#ifndef BENCH_PEERS_BENCHUTIL_H
#define BENCH_PEERS_BENCHUTIL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t bu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t bu_status_kb(const char *key)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    uint64_t value = 0;
    size_t n = strlen(key);
    if (!f)
        return 0;
    while (fgets(line, sizeof line, f))
        if (!strncmp(line, key, n)) {
            value = strtoull(line + n + 1, NULL, 10);
            break;
        }
    fclose(f);
    return value;
}

static inline uint64_t bu_rss(void)
{
    return bu_status_kb("VmRSS") * 1024;
}

static inline uint64_t bu_peak(void)
{
    return bu_status_kb("VmHWM") * 1024;
}

static inline uint64_t bu_env(const char *name)
{
    const char *text = getenv(name);
    uint64_t value = text ? strtoull(text, NULL, 10) : 1;
    return value ? value : 1;
}

/** The number of operations of a workload whose definition says n; at least 1. */
static inline uint64_t bu_n(uint64_t n)
{
    n = n * bu_env("TIMES") / bu_env("SCALE");
    return n ? n : 1;
}

/** The leaves of a tree of ten branches per node: the largest power of ten within bu_n(n). */
static inline uint64_t bu_leaves(uint64_t n)
{
    uint64_t leaves = 1;
    while (leaves * 10 <= bu_n(n))
        leaves *= 10;
    return leaves;
}

/** All nodes of that tree: 1,111,111 for a million leaves. */
static inline uint64_t bu_nodes(uint64_t leaves)
{
    return (leaves * 10 - 1) / 9;
}

static inline void bu_report_x(const char *peer, const char *workload, int threads, uint64_t ops,
                               uint64_t ns, uint64_t rss, const char *extra)
{
    double s = (double)ns / 1e9;
    printf("{\"peer\":\"%s\",\"workload\":\"%s\",\"threads\":%d,\"ops\":%llu,"
           "\"seconds\":%.6f,\"ops_per_s\":%.1f,\"rss_bytes\":%llu%s%s}\n",
           peer,
           workload,
           threads,
           (unsigned long long)ops,
           s,
           s > 0 ? (double)ops / s : 0.0,
           (unsigned long long)rss,
           extra && *extra ? "," : "",
           extra ? extra : "");
    fflush(stdout);
}

static inline void bu_report(const char *peer, const char *workload, int threads, uint64_t ops,
                             uint64_t ns)
{
    bu_report_x(peer, workload, threads, ops, ns, bu_peak(), "");
}

static inline void bu_report_idle(const char *peer, const char *workload, int threads, uint64_t ops,
                                  uint64_t ns, uint64_t rss)
{
    char extra[64];
    snprintf(extra, sizeof extra, "\"bytes_per_actor\":%.1f", (double)rss / (double)ops);
    bu_report_x(peer, workload, threads, ops, ns, rss, extra);
}

/** xorshift64 */
static inline uint64_t bu_rng(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

#endif
