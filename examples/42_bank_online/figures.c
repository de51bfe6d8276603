/* SPDX-License-Identifier: Apache-2.0 */
#include "figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_MAX = 79, PARTS_MAX = 10, PART_MAX = 32 };

/* ---- Latencies. ---- */

static size_t step_of(uint64_t ns)
{
    if (ns < 8)
        return (size_t)ns;
    int top = 63 - __builtin_clzll(ns);
    return (size_t)(top - 2) * 8 + (ns >> (top - 3)) % 8;
}

/* Returns the largest time of a step. */
static uint64_t ns_of(size_t step)
{
    if (step < 8)
        return step;
    int top = (int)(step / 8) + 2;
    return (((uint64_t)8 + step % 8 + 1) << (top - 3)) - 1;
}

void latencies_add(struct latencies *latencies, uint64_t ns)
{
    latencies->counts[step_of(ns) % LATENCY_STEPS]++;
    latencies->total++;
}

uint64_t latencies_take_p99(struct latencies *latencies)
{
    uint64_t ns = 0;
    uint32_t above = latencies->total / 100; /* so many may have taken longer */
    for (size_t i = LATENCY_STEPS; latencies->total && i-- > 0;) {
        if (latencies->counts[i] > above) {
            ns = ns_of(i);
            break;
        }
        above -= latencies->counts[i];
    }
    memset(latencies, 0, sizeof *latencies);
    return ns / 1000;
}

/* ---- The line. ---- */

struct part {
    int rank; /* the highest rank is left out first */
    const char *colour;
    char text[PART_MAX];
};

static size_t parts_fill(const struct figures *now, struct part parts[PARTS_MAX])
{
    size_t count = 0;
    const char *alarm = now->is_news ? "\033[33m" : NULL;
#define PART(part_rank, part_colour, ...)                                                          \
    parts[count].rank = part_rank;                                                                 \
    parts[count].colour = part_colour;                                                             \
    snprintf(parts[count++].text, PART_MAX, __VA_ARGS__)
    PART(7, NULL, "%3" PRIu32 "s", now->seconds);
    PART(1, NULL, "%4" PRIu32 " transfers/s", now->rate);
    PART(2, NULL, "p99 %4.1fms", (double)now->p99_us / 1000);
    PART(3, alarm, "%" PRIu64 " restarts", now->restarts);
    PART(4, NULL, "%2" PRIu32 "/%" PRIu32 " awake", now->awake, now->awake + now->asleep);
    PART(6, NULL, "%3" PRIu32 " commits/s", now->commits);
    PART(0,
         now->is_exact ? "\033[32m" : "\033[31m",
         "%" PRIu64 ".%02u%s",
         now->sum / 100,
         (unsigned)(now->sum % 100),
         now->is_exact ? "" : " WRONG");
#undef PART
    return count;
}

/* Returns how many columns the parts need with two spaces, or one, between them. */
static size_t parts_width(const struct part *parts, size_t count, size_t gap)
{
    size_t width = 0;
    for (size_t i = 0; i < count; i++)
        width += strlen(parts[i].text) + (i ? gap : 0);
    return width;
}

static size_t part_remove_least(struct part *parts, size_t count)
{
    size_t least = 0;
    for (size_t i = 1; i < count; i++) {
        if (parts[i].rank > parts[least].rank)
            least = i;
    }
    memmove(&parts[least], &parts[least + 1], (count - least - 1) * sizeof *parts);
    return count - 1;
}

size_t figures_write(const struct figures *figures, char *text, size_t size, size_t columns,
                     bool colours)
{
    struct part parts[PARTS_MAX];
    size_t count = parts_fill(figures, parts);
    size_t gap = 2;
    while (parts_width(parts, count, gap) > columns && count > 1) {
        if (gap == 2)
            gap = 1;
        else
            count = part_remove_least(parts, count);
    }
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && length < size; i++) {
        const char *colour = colours ? parts[i].colour : NULL;
        length += (size_t)snprintf(text + length,
                                   size - length,
                                   "%*s%s%s%s",
                                   i ? (int)gap : 0,
                                   "",
                                   colour ? colour : "",
                                   parts[i].text,
                                   colour ? "\033[0m" : "");
    }
    return parts_width(parts, count, gap);
}

void figures_print(const struct figures *figures)
{
    struct winsize window = {0};
    size_t columns = COLUMNS_MAX;
    bool is_terminal = isatty(STDOUT_FILENO);
    if (is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 &&
        window.ws_col <= COLUMNS_MAX)
        columns = window.ws_col - 1u;
    /* A file gets one line in ten, the first one, and those of seconds in which something went wrong. */
    if (!is_terminal && figures->seconds > 1 && figures->seconds % 10 && !figures->is_news)
        return;
    char text[512];
    figures_write(figures, text, sizeof text, columns, is_terminal && !getenv("NO_COLOR"));
    puts(text);
    fflush(stdout);
}
