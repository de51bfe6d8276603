/* SPDX-License-Identifier: Apache-2.0 */
#include "tree_rows.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static int compare_paths(const void *a, const void *b)
{
    const unsigned char *left = *(unsigned char *const *)a;
    const unsigned char *right = *(unsigned char *const *)b;
    while (*left && *left == *right) {
        left++;
        right++;
    }
    /* A slash comes before all else, so that what is below an actor follows it. */
    int l = *left == '\t' ? -1 : *left == '/' ? 0 : *left + 1;
    int r = *right == '\t' ? -1 : *right == '/' ? 0 : *right + 1;
    return l - r;
}

bool tree_rows_keep(struct tree_rows *rows, const struct json *row)
{
    char text[1400];
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity ? rows->capacity * 2 : 256;
        char **paths = realloc(rows->paths, capacity * sizeof *paths);
        if (!paths)
            return false;
        rows->paths = paths;
        rows->capacity = capacity;
    }
    snprintf(text,
             sizeof text,
             "%s\t%s%s%s",
             json_text(row, "path", "?"),
             json_text(row, "behavior", "-"),
             strcmp(json_text(row, "state", ""), "Running") == 0 ? "" : ", ",
             strcmp(json_text(row, "state", ""), "Running") == 0 ? ""
                                                                 : json_text(row, "state", ""));
    if (json_number(row, "queued"))
        snprintf(text + strlen(text),
                 sizeof text - strlen(text),
                 ", %" PRId64 " queued",
                 json_number(row, "queued"));
    rows->paths[rows->count] = strdup(text);
    return rows->paths[rows->count] && ++rows->count;
}

/* How many levels a row is below the root. */
static int depth_of(const char *row)
{
    int depth = 0;
    for (const char *at = row; *at && *at != '\t'; at++)
        depth += *at == '/';
    return depth;
}

static void row_print(char *row, int depth, size_t below)
{
    char *tab = strchr(row, '\t');
    const char *name = row;
    *tab = '\0';
    if (depth > 0)
        name = strrchr(row, '/') + 1;
    printf("%*s", 2 * depth, "");
    text_print(name);
    printf("  (%s)", tab + 1);
    if (below)
        printf("  %zu below", below);
    putchar('\n');
}

void tree_rows_print(struct tree_rows *rows, int depth_max)
{
    int least = INT_MAX;
    if (rows->count)
        qsort(rows->paths, rows->count, sizeof *rows->paths, compare_paths);
    for (size_t i = 0; i < rows->count; i++) {
        size_t below = 0;
        int depth = depth_of(rows->paths[i]);
        least = depth < least ? depth : least;
        if (depth - least > depth_max)
            continue;
        while (depth - least == depth_max && i + below + 1 < rows->count &&
               depth_of(rows->paths[i + below + 1]) > depth)
            below++;
        row_print(rows->paths[i], depth - least, below);
    }
    for (size_t i = 0; i < rows->count; i++)
        free(rows->paths[i]);
    free(rows->paths);
}
