/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/openmetrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor/cell/system.h"
#include "observe/metrics.h"
#include "observe/slow.h"

static const char bucket[] = "troupe_turn_seconds_bucket{";

struct exemplars {
    const struct slow_row *rows; /* the slowest turns, the slowest first */
    size_t count;
    double begin_s; /* where the bucket of the next line begins, in seconds */
};

static bool starts_with(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* If a turn that belongs to the bucket of this line is known, appends that turn to the line. `line`
 * ends with a NUL. */
static void exemplar_write(struct json_line *text, struct exemplars *exemplars, const char *line)
{
    char labels[300];
    const char *le = strstr(line, ",le=\"");
    if (!le)
        return;
    double end_s = le[5] == '+' ? 1e300 : strtod(le + 5, NULL);
    double begin_s = exemplars->begin_s < end_s ? exemplars->begin_s : 0;
    exemplars->begin_s = le[5] == '+' ? 0 : end_s;
    for (size_t i = 0; i < exemplars->count; i++) {
        const struct slow_turn *turn = &exemplars->rows[i].turn;
        double took_s = (double)turn->took_ns / 1e9;
        if (!turn->causal || took_s < begin_s || took_s >= end_s)
            continue;
        (void)snprintf(labels,
                       sizeof labels,
                       "behavior=\"%s\",message=\"%s\",le=",
                       turn->behavior->name,
                       turn->handler->type ? turn->handler->type->name : "any");
        if (!starts_with(line + sizeof bucket - 1, labels))
            continue;
        tr__json_printf(text, " # {causal=\"%016" PRIx64 "\"} %.9f", turn->causal, took_s);
        return;
    }
}

/* Copies a line without its line feed. In OpenMetrics the family of a counter has no "_total" in
 * its name, but its samples have. */
static void line_write(struct json_line *text, struct exemplars *exemplars, char *line)
{
    bool is_head = starts_with(line, "# HELP ") || starts_with(line, "# TYPE ");
    size_t name = is_head ? 7 + strcspn(line + 7, " ") : 0;
    if (is_head && name > 13 && strncmp(line + name - 6, "_total", 6) == 0)
        tr__json_printf(text, "%.*s%s", (int)(name - 6), line, line + name);
    else
        tr__json_put(text, line, strlen(line));
    if (starts_with(line, bucket))
        exemplar_write(text, exemplars, line);
    tr__json_put(text, "\n", 1);
}

/* Converts a page of Prometheus, and frees it. */
static void page_convert(struct json_line *text, tr_system *system, struct json_line *page)
{
    struct slow_row *rows =
        source_resize(&system->source, NULL, tr__slow_max(system) * sizeof *rows);
    struct exemplars exemplars = {.rows = rows, .count = rows ? tr__slow_collect(system, rows) : 0};
    tr__json_put(page, "", 1);
    text->has_failed |= page->has_failed;
    char *line = page->has_failed ? NULL : page->data;
    while (line && *line) {
        char *end = strchr(line, '\n');
        *end = '\0';
        line_write(text, &exemplars, line);
        line = end + 1;
    }
    tr__json_put(text, "# EOF\n", 6);
    tr__json_line_free(page);
    source_resize(&system->source, rows, 0);
}

void tr__openmetrics_write(struct json_line *text, tr_system *system)
{
    struct json_line page;
    tr__json_line_init(&page, &system->source);
    tr__metrics_write(&page, system);
    page_convert(text, system, &page);
}

void tr__openmetrics_of_write(struct json_line *text, const struct census *census)
{
    struct json_line page;
    tr__json_line_init(&page, &census->scan.system->source);
    tr__metrics_of_write(&page, census);
    page_convert(text, census->scan.system, &page);
}
