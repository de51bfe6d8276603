/* SPDX-License-Identifier: Apache-2.0 */
/** How the answer to the verb asks is printed. */
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
