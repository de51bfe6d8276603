/* SPDX-License-Identifier: Apache-2.0 */
/** How the answers to the verbs asks and waits are printed. */
#include <inttypes.h>
#include <stdio.h>

#include "command.h"

static void asks_print(const struct json *row)
{
    text_print(json_text(row, "path", "?"));
    printf(" (%s)", json_text(row, "behavior", "?"));
    if (json_number(row, "asks"))
        printf("  waits for %" PRId64 " answers", json_number(row, "asks"));
    if (json_text(row, "why", NULL)) {
        printf(", the oldest for ");
        age_print(json_number(row, "for_ms"));
        printf(": ");
        text_print(json_text(row, "why", ""));
    }
    if (json_number(row, "replies_owed"))
        printf("  owes %" PRId64 " replies", json_number(row, "replies_owed"));
    putchar('\n');
}

static void asks_end_print(const struct json *answer)
{
    if (!json_number(answer, "count"))
        printf("no actor waits for an answer, or owes one\n");
    if (json_number(answer, "not_asked"))
        printf("%" PRId64 " actors were not asked, because their worker is stuck (troupe stalls)\n",
               json_number(answer, "not_asked"));
    list_end_print(answer);
}

const struct form asks_form = {"asks", asks_print, asks_end_print, false};

static void waits_print(const struct json *row)
{
    printf("%-10s  ", json_text(row, "kind", "?"));
    text_print(json_text(row, "name", json_text(row, "who_path", "?")));
    if (json_text(row, "message", NULL)) {
        printf("  ");
        text_print(json_text(row, "message", "?"));
    }
    if (json_get(row, "for_ms")) {
        printf("  for ");
        age_print(json_number(row, "for_ms"));
    }
    if (json_get(row, "due_in_ms"))
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

const struct form waits_form = {"waits", waits_print, waits_end_print, false};
