/* SPDX-License-Identifier: Apache-2.0 */
/** See report.h. */
#include "report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/** A line of /proc/self/status in bytes, such as "VmRSS:"; 0 when there is none. */
static uint64_t status_bytes(const char *key)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    uint64_t kib = 0;
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) == 0) {
            kib = strtoull(line + strlen(key), NULL, 10);
            break;
        }
    }
    fclose(file);
    return kib * 1024;
}

uint64_t bench_rss(void)
{
    return status_bytes("VmRSS:");
}

uint64_t bench_setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    char *end;
    if (!text || !*text)
        return otherwise;
    uint64_t value = strtoull(text, &end, 10);
    if (*end || *text == '-')
        bench_die(BENCH_USAGE, "%s=%s is not a whole number", name, text);
    return value;
}

uint64_t bench_count(uint64_t n)
{
    uint64_t times = bench_setting("TIMES", 1);
    uint64_t scale = bench_setting("SCALE", 1);
    if (times == 0 || scale == 0)
        bench_die(BENCH_USAGE, "TIMES and SCALE are at least 1");
    n = n * times / scale;
    return n ? n : 1;
}

uint64_t bench_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return x;
}

static void print_result(const char *workload, int threads, uint64_t ops, uint64_t ns,
                         uint64_t bytes)
{
    double seconds = (double)ns / 1e9;
    printf("{\"peer\":\"troupe\",\"workload\":\"%s\",\"threads\":%d,\"ops\":%" PRIu64
           ",\"seconds\":%.6f,\"ops_per_s\":%.1f,\"rss_bytes\":%" PRIu64,
           workload,
           threads,
           ops,
           seconds,
           ns ? (double)ops / seconds : 0.0,
           bytes);
}

void bench_report(const char *workload, int threads, uint64_t ops, uint64_t ns)
{
    print_result(workload, threads, ops, ns, status_bytes("VmHWM:"));
    puts("}");
    fflush(stdout);
}

void bench_report_idle(const char *workload, int threads, uint64_t actors, uint64_t ns,
                       uint64_t bytes)
{
    print_result(workload, threads, actors, ns, bytes);
    printf(",\"bytes_per_actor\":%.1f}\n", (double)bytes / (double)actors);
    fflush(stdout);
}

void bench_report_timers(const char *workload, int threads, uint64_t armed, uint64_t cancelled,
                         uint64_t arm_ns, uint64_t cancel_ns, uint64_t fired)
{
    print_result(workload, threads, armed + cancelled, arm_ns + cancel_ns, status_bytes("VmHWM:"));
    printf(",\"arm_ns\":%.1f,\"cancel_ns\":%.1f,\"fired\":%" PRIu64 "}\n",
           (double)arm_ns / (double)armed,
           cancelled ? (double)cancel_ns / (double)cancelled : 0.0,
           fired);
    fflush(stdout);
}

void bench_die(enum bench_exit code, const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    fputs("troupe-bench: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    /* Other threads may be running; nothing that they use is taken down under them. */
    _Exit((int)code);
}
