/* SPDX-License-Identifier: Apache-2.0 */
/** How the answers to the verbs asks and waits are printed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

/* Rows are kept until all are there, because the longest wait comes first. */
static struct row {
    int64_t for_ms;
    char *json;
} * rows;
static size_t row_count;

/* Prints one row, without a line feed, to a text. */
static void row_print(const struct json *row)
{
    text_print(json_text(row, "path", "?"));
    printf(" (%s)", json_text(row, "behavior", "?"));
    if (json_number(row, "asks")) {
        printf("  waits for ");
        count_print(json_number(row, "asks"), "answer");
    }
    if (json_text(row, "why", NULL)) {
        printf(", the oldest for ");
        age_print(json_number(row, "for_ms"));
        printf(": ");
        text_print(json_text(row, "why", ""));
    }
    if (json_number(row, "replies_owed"))
        printf("  owes %" PRId64 " %s",
               json_number(row, "replies_owed"),
               json_number(row, "replies_owed") == 1 ? "reply" : "replies");
    if (json_number(row, "replies_late"))
        printf(", %" PRId64 " of them too late: nobody waits any more",
               json_number(row, "replies_late"));
}

static void asks_print(const struct json *row)
{
    size_t size = (size_t)(row->end - row->begin);
    struct row *more = realloc(rows, (row_count + 1) * sizeof *rows);
    char *copy = more ? malloc(size + 1) : NULL;
    rows = more ? more : rows;
    if (!copy) { /* out of memory: in any order */
        row_print(row);
        putchar('\n');
        return;
    }
    memcpy(copy, row->begin, size);
    copy[size] = '\0';
    rows[row_count++] = (struct row){json_number(row, "for_ms"), copy};
}

static int compare_waits(const void *a, const void *b)
{
    const struct row *left = a;
    const struct row *right = b;
    return (left->for_ms < right->for_ms) - (left->for_ms > right->for_ms);
}

static void rows_print(void)
{
    if (row_count)
        qsort(rows, row_count, sizeof *rows, compare_waits);
    for (size_t i = 0; i < row_count; i++) {
        struct json *row = json_read(rows[i].json, strlen(rows[i].json));
        if (row) {
            row_print(row);
            putchar('\n');
        }
        json_free(row);
        free(rows[i].json);
    }
    free(rows);
    rows = NULL;
    row_count = 0;
}

static void asks_end_print(const struct json *answer)
{
    rows_print();
    if (!json_number(answer, "count"))
        printf("no actor waits for an answer, or owes one\n");
    if (json_number(answer, "not_asked"))
        printf("%" PRId64 " actors were not asked, because their worker is stuck (troupe stalls)\n",
               json_number(answer, "not_asked"));
    list_end_print(answer);
}

const struct form asks_form = {"asks", asks_print, asks_end_print, false, NULL};

static void waits_print(const struct json *row)
{
    printf("%-10s  ", json_text(row, "kind", "?"));
    text_print(json_text(row, "name", json_text(row, "who_path", "(no key)")));
    if (json_text(row, "message", NULL)) {
        printf("  ");
        text_print(json_text(row, "message", "?"));
    }
    if (json_get(row, "for_ms")) {
        printf("  for ");
        age_print(json_number(row, "for_ms"));
    }
    bool is_owed = strcmp(json_text(row, "kind", ""), "owes") == 0;
    if (is_owed && json_get(row, "due_in_ms"))
        printf("  too late: nobody waits any more");
    else if (json_get(row, "due_in_ms"))
        printf("  due in %" PRId64 " ms", json_number(row, "due_in_ms"));
    if (json_get(row, "period_ms"))
        printf(", each %" PRId64 " ms", json_number(row, "period_ms"));
    if (json_text(row, "where", NULL)) {
        printf("  at ");
        text_print(json_text(row, "where", "?"));
    }
    putchar('\n');
}

static void waits_end_print(const struct json *answer)
{
    if (json_text(answer, "not_asked", NULL))
        printf("its worker did not answer (%s); troupe stalls says what it does\n",
               json_text(answer, "not_asked", ""));
    else if (!json_number(answer, "count"))
        printf("it waits for messages alone, and nothing waits for it\n");
}

const struct form waits_form = {"waits", waits_print, waits_end_print, false, NULL};
