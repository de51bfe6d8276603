/* SPDX-License-Identifier: Apache-2.0 */
/** How the answer to show is printed. */
#include <inttypes.h>
#include <stdio.h>

#include "command.h"

static void show_line(const struct json *answer, const char *key, const char *label)
{
    if (json_number(answer, key))
        printf("  %-18s%" PRId64 "\n", label, json_number(answer, key));
}

/* Prints a budget of CPU time and what is used of it. */
static void cpu_line(const struct json *answer, const char *used, const char *most,
                     const char *label)
{
    if (json_number(answer, most))
        printf("  %-18s%.3f of %.3f ms\n",
               label,
               (double)json_number(answer, used) / 1e6,
               (double)json_number(answer, most) / 1e6);
}

/* Prints what is stored of a durable actor, and what keeps it awake. `durable` may be NULL. */
static void durable_lines(const struct json *durable)
{
    const struct json *holders = json_get(durable, "holders");
    if (!durable)
        return;
    printf("  %-18s", "durable");
    if (json_text(durable, "not_read", NULL))
        printf("not read: %s\n", json_text(durable, "not_read", "?"));
    else
        printf("generation %" PRId64 " of opening %" PRId64 ", version %" PRId64 "\n",
               json_number(durable, "generation"),
               json_number(durable, "opened"),
               json_number(durable, "version"));
    for (const struct json *row = holders ? holders->first : NULL; row; row = row->next) {
        printf("  %-18s", "kept awake");
        text_print(json_text(row, "text", "?"));
        putchar('\n');
    }
}

static void show_print(const struct json *answer)
{
    static const char *const lines[][2] = {{"children", "children"},
                                           {"timers", "timers"},
                                           {"asks", "asks under way"},
                                           {"replies_owed", "replies owed"},
                                           {"replies_late", "of them too late"},
                                           {"turns_waiting", "turns that wait"},
                                           {"stashed", "stashed"},
                                           {"senders_waiting", "senders that wait"},
                                           {"watches", "watches"},
                                           {"incarnation", "incarnation"},
                                           {"bytes", "bytes"},
                                           {"bytes_max", "budget in bytes"},
                                           {"tree_bytes", "bytes of its tree"},
                                           {"tree_bytes_max", "budget of its tree"}};
    text_print(json_text(answer, "path", "?"));
    printf(": %s, worker %" PRId64 "\n",
           json_text(answer, "state", "?"),
           json_number(answer, "worker"));
    printf("  %-18s%s, ", "behavior", json_text(answer, "behavior", "?"));
    text_print(json_text(answer, "file", "?"));
    printf(":%" PRId64 "\n", json_number(answer, "line"));
    printf("  %-18s%" PRId64 " of %" PRId64 " messages, %" PRId64 " bytes\n",
           "queued",
           json_number(answer, "queued"),
           json_number(answer, "queued_max"),
           json_number(answer, "queued_bytes"));
    const struct json *mail = json_get(answer, "mail");
    for (const struct json *type = mail ? mail->first : NULL; type; type = type->next)
        printf("    %-16s%s\n", type->key, type->text ? type->text : "");
    const struct json *oldest = json_get(answer, "oldest");
    if (oldest) {
        printf("  %-18s%s from ", "oldest", json_text(oldest, "message", "?"));
        text_print(json_text(oldest, "from_path", json_text(oldest, "from", "nobody")));
        printf(", seen for ");
        age_print(json_number(oldest, "at_least_ms"));
        if (json_text(oldest, "causal", NULL))
            printf(", causal=%s", json_text(oldest, "causal", ""));
        putchar('\n');
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        show_line(answer, lines[i][0], lines[i][1]);
    cpu_line(answer, "cpu_ns", "cpu_max_ns", "CPU time");
    cpu_line(answer, "tree_cpu_ns", "tree_cpu_max_ns", "CPU of its tree");
    durable_lines(json_get(answer, "durable"));
    const struct json *value = json_get(answer, "value");
    if (value && value->kind != JSON_NULL) {
        printf("  %-18s", "state");
        value_print(value, 2);
        putchar('\n');
    }
    const struct json *handed_off = json_get(answer, "handed_off");
    if (handed_off) {
        printf("  it is in a turn on a thread that was handed off:\n  ");
        long_turn_print(handed_off);
    }
    const struct json *stuck = json_get(answer, "stuck");
    if (stuck) {
        printf("  its worker is stuck, so that nothing more can be said:\n  ");
        running_print(stuck);
    } else if (json_text(answer, "not_asked", NULL)) {
        printf("  its worker has not answered: %s\n", json_text(answer, "not_asked", "?"));
    }
}

const struct form show_form = {"show", NULL, show_print, false, NULL};
