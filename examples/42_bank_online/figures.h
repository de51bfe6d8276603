/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The figures of a second, and the line that shows them.
 */
#ifndef FIGURES_H
#define FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LATENCY_STEPS = 64 * 8 };

/* How many of the last payments took how long: eight steps for each power of two of nanoseconds. */
struct latencies {
    uint32_t counts[LATENCY_STEPS];
    uint32_t total;
};
void latencies_add(struct latencies *latencies, uint64_t ns);
/* Returns a time in microseconds that 99 of 100 did not exceed, 0 if there was nothing, and starts again from zero. */
uint64_t latencies_take_p99(struct latencies *latencies);

struct figures {
    uint32_t seconds; /* since the start */
    uint32_t rate;    /* transfers of this second */
    uint64_t p99_us;
    uint64_t restarts;
    uint32_t awake;
    uint32_t asleep;
    uint32_t commits; /* of the store, in this second; each has the changes of several accounts */
    uint64_t stalls;
    uint64_t sum;
    bool is_exact;
    bool is_news; /* something failed or stood still since the last line */
};

/*
 * Writes the line, without a line end, into `text`. It has at most `columns` columns: what matters least is left out
 * where the line would be longer. `colours`: with escape sequences, which take no column. Returns the columns used.
 */
size_t figures_write(const struct figures *figures, char *text, size_t size, size_t columns,
                     bool colours);
/* Prints the line to standard output: in at most 79 columns, or those of the terminal, with colours only there. */
void figures_print(const struct figures *figures);

#endif
