/* SPDX-License-Identifier: Apache-2.0 */
#include "tree_rows.h"

#include <inttypes.h>
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

void tree_rows_print(struct tree_rows *rows)
{
    if (rows->count)
        qsort(rows->paths, rows->count, sizeof *rows->paths, compare_paths);
    int least = -1;
    for (size_t i = 0; i < rows->count; i++) {
        char *tab = strchr(rows->paths[i], '\t');
        int depth = 0;
        *tab = '\0';
        const char *name = rows->paths[i];
        for (const char *at = rows->paths[i]; *at; at++)
            depth += *at == '/';
        least = least < 0 || depth < least ? depth : least;
        if (depth > least)
            name = strrchr(rows->paths[i], '/') + 1;
        printf("%*s", 2 * (depth - least), "");
        text_print(name);
        printf("  (%s)\n", tab + 1);
        free(rows->paths[i]);
    }
    free(rows->paths);
}
