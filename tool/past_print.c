/* SPDX-License-Identifier: Apache-2.0 */
/** How answers about messages that wait, slow turns, records and events are printed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

/* Prints a value of JSON as it came, in one line; nothing for null. */
static void raw_print(const struct json *value)
{
    if (!value || value->kind == JSON_NULL)
        return;
    putchar(' ');
    fwrite(value->begin, 1, (size_t)(value->end - value->begin), stdout);
}

static void mail_print(const struct json *row)
{
    const struct json *value = json_get(row, "value");
    printf("%4" PRId64 "  %-8s %-7s ",
           json_number(row, "number"),
           json_text(row, "mailbox", "?"),
           json_text(row, "kind", "?"));
    text_print(json_text(row, "message", "?"));
    raw_print(value);
    if (!value || value->kind == JSON_NULL)
        printf(" (%" PRId64 " bytes)", json_number(row, "size"));
    if (json_text(row, "from_path", NULL)) {
        printf("  from ");
        text_print(json_text(row, "from_path", "?"));
    }
    if (json_text(row, "causal", NULL))
        printf("  causal=%s", json_text(row, "causal", ""));
    putchar('\n');
}

static void mail_end_print(const struct json *answer)
{
    if (json_text(answer, "not_asked", NULL))
        printf("its worker did not answer (%s); troupe stalls says what it does\n",
               json_text(answer, "not_asked", ""));
    else if (!json_number(answer, "count"))
        printf("no message waits\n");
    list_end_print(answer);
}

static void slow_print(const struct json *row)
{
    printf("%10.3f ms  ", (double)json_number(row, "took_ns") / 1e6);
    text_print(json_text(row, "handler", "a function"));
    printf(" of ");
    text_print(json_text(row, "path", json_text(row, "behavior", "?")));
    if (!json_text(row, "path", NULL))
        printf(" (it has ended)");
    printf(" (%s), ", json_text(row, "message", "?"));
    age_print(json_number(row, "age_ms"));
    printf(" ago");
    if (json_text(row, "causal", NULL))
        printf("  causal=%s", json_text(row, "causal", ""));
    putchar('\n');
}

static void slow_end_print(const struct json *answer)
{
    if (!json_number(answer, "total"))
        printf("no turn was timed in the last minute; turns are timed for a minute from now on\n");
}

static void record_print(const struct json *row)
{
    text_print(json_text(row, "command", "?"));
    printf("  (%" PRId64 " bytes)\n", json_number(row, "bytes"));
}

static void records_end_print(const struct json *answer)
{
    if (!json_number(answer, "count"))
        printf("no records: no turn of a durable actor has failed\n");
    else if (json_number(answer, "count") == json_number(answer, "most"))
        printf("there are no more files: the next turn that fails replaces the oldest of the last "
               "eight\n");
}

static void event_print(const struct json *row)
{
    const struct json *state = json_get(row, "state");
    printf("%8" PRId64 "  ", json_number(row, "number"));
    text_print(json_text(row, "event", "no event"));
    if (json_number(row, "version") > 1)
        printf(" version %" PRId64, json_number(row, "version"));
    raw_print(json_get(row, "value"));
    printf("\n          ->");
    raw_print(state);
    printf("%s\n", !state || state->kind == JSON_NULL ? " not known" : "");
}

static void events_end_print(const struct json *answer)
{
    if (!json_number(answer, "last"))
        printf("it has no events\n");
    else if (json_is_true(answer, "more"))
        printf("... of %" PRId64 " events; --after continues\n", json_number(answer, "last"));
}

const struct form *past_form(const char *verb)
{
    static const struct form forms[] = {
        {"mail", mail_print, mail_end_print, false, NULL},
        {"slow", slow_print, slow_end_print, false, NULL},
        {"records", record_print, records_end_print, false, NULL},
        {"durable events", event_print, events_end_print, false, NULL}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].verb, verb) == 0)
            return &forms[i];
    }
    return NULL;
}
