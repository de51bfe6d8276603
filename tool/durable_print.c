/* SPDX-License-Identifier: Apache-2.0 */
/** How answers about durable actors and stores are printed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

/* Prints when something is due: in 3 s, or 3 s ago. */
static void due_print(int64_t in_ms)
{
    if (in_ms >= 0) {
        printf("in ");
        age_print(in_ms);
        return;
    }
    age_print(-in_ms);
    printf(" overdue");
}

static void key_print(const struct json *row)
{
    if (!json_get(row, "key")) { /* a kind */
        printf("%8" PRId64 "%s stored %8" PRId64 " awake  ",
               json_number(row, "stored"),
               json_is_true(row, "stored_more") ? "+" : " ",
               json_number(row, "awake"));
        text_print(json_text(row, "kind", "?"));
        printf("%s\n", json_is_true(row, "known") ? "" : "  (the program does not have it)");
        return;
    }
    printf("%-7s ", json_is_true(row, "awake") ? "awake" : "asleep");
    text_print(json_text(row, "kind", "?"));
    putchar(' ');
    text_print(json_text(row, "key", "?"));
    putchar('\n');
}

/* Returns how many bytes a text in Base64 stands for. */
static size_t base64_bytes(const char *text)
{
    size_t length = strlen(text);
    size_t filled = length;
    while (filled && text[filled - 1] == '=')
        filled--;
    return length / 4 * 3 - (length - filled);
}

static void bytes_print(const struct json *row)
{
    const char *text = json_text(row, "value", NULL);
    const char *base64 = json_text(row, "value64", "");
    if (text)
        text_print(text);
    else
        printf("base64 %s", base64);
    if ((size_t)json_number(row, "size") > (text ? strlen(text) : base64_bytes(base64)))
        printf("... (%" PRId64 " bytes)", json_number(row, "size"));
}

static void kv_print(const struct json *row)
{
    text_print(json_text(row, "key", "?"));
    printf(" = ");
    bytes_print(row);
    putchar('\n');
}

static void kv_end_print(const struct json *answer)
{
    if (json_is_true(answer, "more"))
        printf("... there are more; --from with the last key shows the next ones\n");
}

static void alarm_print(const struct json *row)
{
    if (json_get(row, "key")) {
        text_print(json_text(row, "kind", "?"));
        putchar(' ');
        text_print(json_text(row, "key", "?"));
        printf("  ");
    }
    text_print(json_text(row, "name", "?"));
    /* An alarm for one time is due then: "in 78 s" says all. */
    const char *how = json_text(row, "how", "?");
    printf("  ");
    if (strcmp(how, "at") != 0 && strcmp(how, "after") != 0)
        printf("%s ", how);
    due_print(json_number(row, "in_ms"));
    if (json_text(row, "message", NULL)) {
        printf("  ");
        text_print(json_text(row, "message", "?"));
    }
    const struct json *value = json_get(row, "value");
    if (value && value->first) {
        putchar(' ');
        fwrite(value->begin, 1, (size_t)(value->end - value->begin), stdout);
    }
    if (json_number(row, "failures"))
        printf("  failed %" PRId64 " times", json_number(row, "failures"));
    putchar('\n');
}

static void alarms_end_print(const struct json *answer)
{
    const struct json *kinds = json_get(answer, "kinds");
    printf("%8s %8s  kind\n", "alarms", "overdue");
    for (const struct json *row = kinds ? kinds->first : NULL; row; row = row->next) {
        printf(
            "%8" PRId64 " %8" PRId64 "  ", json_number(row, "alarms"), json_number(row, "overdue"));
        text_print(json_text(row, "kind", "?"));
        putchar('\n');
    }
    if (!json_is_true(answer, "counted_all"))
        printf("... there are more\n");
    if (json_number(answer, "unreadable"))
        printf("%" PRId64 " alarms cannot be read\n", json_number(answer, "unreadable"));
}

static void queue_print(const struct json *row)
{
    if (json_get(row, "key")) {
        text_print(json_text(row, "kind", "?"));
        putchar(' ');
        text_print(json_text(row, "key", "?"));
        printf(" (%s)  ", json_is_true(row, "awake") ? "awake" : "asleep");
    }
    text_print(json_text(row, "queue", "?"));
    printf("  %" PRId64 "%s items, %" PRId64 " bytes, %" PRId64 " dead",
           json_number(row, "items"),
           json_is_true(row, "more") ? "+" : "",
           json_number(row, "bytes"),
           json_number(row, "dead"));
    if (json_text(row, "oldest", NULL)) {
        printf("; first: ");
        text_print(json_text(row, "oldest", "?"));
    }
    if (json_get(row, "failed_ms_ago")) {
        printf("; failed last ");
        age_print(json_number(row, "failed_ms_ago"));
        printf(" ago");
    }
    putchar('\n');
}

/* Prints one item of a queue. */
static void item_print(const struct json *row)
{
    const struct json *value = json_get(row, "value");
    text_print(json_text(row, "queue", "?"));
    printf(" %" PRId64 "  %-5s  ", json_number(row, "item"), json_text(row, "state", "?"));
    text_print(json_text(row, "message", "?"));
    if (value && value->kind == JSON_OBJECT) {
        putchar(' ');
        fwrite(value->begin, 1, (size_t)(value->end - value->begin), stdout);
    } else {
        printf(" (%" PRId64 " bytes)", json_number(row, "size"));
    }
    if (json_get(row, "due_in_ms")) {
        printf("  due ");
        due_print(json_number(row, "due_in_ms"));
    }
    if (json_get(row, "failed_ms_ago")) {
        printf("  failed at attempt %" PRId64 ", ", json_number(row, "attempts"));
        age_print(json_number(row, "failed_ms_ago"));
        printf(" ago: %s ", json_text(row, "failure", "?"));
        text_print(json_text(row, "cause", ""));
    }
    putchar('\n');
}

static void items_end_print(const struct json *answer)
{
    if (json_is_true(answer, "more"))
        printf("... there are more; --after %" PRId64 " shows the next ones\n",
               json_number(answer, "next"));
}

static void member_print(const struct json *answer, const char *label, const char *key)
{
    const struct json *value = json_get(answer, key);
    if (!value || value->kind == JSON_NULL)
        return;
    printf("  %-10s", label);
    value_print(value, 2);
    putchar('\n');
}

static void get_print(const struct json *answer)
{
    text_print(json_text(answer, "kind", "?"));
    putchar(' ');
    text_print(json_text(answer, "key", "?"));
    printf(": %s, version %" PRId64 ", generation %" PRId64 " of opening %" PRId64 ", %" PRId64
           " bytes%s\n",
           json_is_true(answer, "awake") ? "awake; this is what is stored" : "asleep",
           json_number(answer, "version"),
           json_number(answer, "generation"),
           json_number(answer, "opened"),
           json_number(answer, "bytes"),
           json_is_true(answer, "half_made") ? ", not made completely" : "");
    if (json_is_true(answer, "concealed"))
        printf("  values are left out, because without its program a store does not say which are "
               "secret: "
               "--secrets -o FILE has all\n");
    member_print(answer, "state", "value");
    if (json_number(answer, "events"))
        printf("  %-10s%" PRId64 "\n", "events", json_number(answer, "events"));
    member_print(answer, "snapshot", "snapshot");
    const struct json *list = json_get(answer, "kv");
    for (const struct json *row = list ? list->first : NULL; row; row = row->next) {
        printf("  %-10s", "key");
        kv_print(row);
    }
    if (json_is_true(answer, "kv_more"))
        printf("  ... there are more keys\n");
    list = json_get(answer, "alarms");
    for (const struct json *row = list ? list->first : NULL; row; row = row->next) {
        printf("  %-10s", "alarm");
        alarm_print(row);
    }
    list = json_get(answer, "queues");
    for (const struct json *row = list ? list->first : NULL; row; row = row->next) {
        printf("  %-10s", "queue");
        queue_print(row);
    }
    if (json_is_true(answer, "queues_more"))
        printf("  ... there are more items\n");
}

/* Rows of SQL: values with tabs between them, under the names of the columns. */
static void sql_print(const struct json *row)
{
    static bool has_head;
    for (const struct json *value = has_head ? NULL : row->first; value; value = value->next)
        printf("%s%s", value->key, value->next ? "\t" : "\n");
    has_head = true;
    for (const struct json *value = row->first; value; value = value->next) {
        text_print(value->text ? value->text : "NULL");
        putchar(value->next ? '\t' : '\n');
    }
}

static void sql_end_print(const struct json *answer)
{
    if (json_is_true(answer, "stored"))
        printf("stored\n");
    if (json_is_true(answer, "full"))
        printf("... there are more rows than an answer can have; LIMIT and OFFSET of the statement "
               "take others\n");
    else
        list_end_print(answer);
}

static void stats_print(const struct json *answer)
{
    static const char *const sizes[][2] = {{"database", "database_bytes"},
                                           {"log", "log_bytes"},
                                           {"free on the disk", "disk_free_bytes"}};
    printf("%-18s", "directory");
    text_print(json_text(answer, "directory", "in memory"));
    printf("\n%-18s%s\n", "status", json_text(answer, "status", "?"));
    printf("%-18s", "opened");
    count_print(json_number(answer, "opened"), "time");
    printf("\n%-18s%" PRId64 " us\n", "recent commit", json_number(answer, "commit_us"));
    printf("%-18s", "writing for");
    age_print(json_number(answer, "writing_for_ms"));
    printf("\n%-18s", "waiting");
    count_print(json_number(answer, "waiting"), "change");
    putchar('\n');
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (!json_get(answer, sizes[i][1]))
            continue;
        printf("%-18s", sizes[i][0]);
        size_print(json_number(answer, sizes[i][1]));
        putchar('\n');
    }
}

static void damage_print(const struct json *row)
{
    printf("damaged: ");
    text_print(json_text(row, "kind", "?"));
    putchar(' ');
    text_print(json_text(row, "key", "?"));
    printf(": %s\n", json_text(row, "status", "?"));
}

static void check_end_print(const struct json *answer)
{
    printf("%" PRId64 " actors are whole, %" PRId64 " are damaged\n",
           json_number(answer, "actors"),
           json_number(answer, "damaged"));
}

static void backup_print(const struct json *answer)
{
    text_print(json_text(answer, "path", "?"));
    printf(": ");
    size_print(json_number(answer, "bytes"));
    putchar('\n');
}

static void compact_print(const struct json *answer)
{
    printf("%" PRId64 " bytes before, %" PRId64 " bytes now\n",
           json_number(answer, "bytes_before"),
           json_number(answer, "bytes_after"));
}

static void path_answer_print(const struct json *answer)
{
    if (json_text(answer, "path", NULL)) {
        text_print(json_text(answer, "path", ""));
        putchar('\n');
    }
}

static void sleep_print(const struct json *answer)
{
    if (!json_is_true(answer, "asleep"))
        return;
    text_print(json_text(answer, "path", ""));
    printf(" is asleep already\n");
}

static void nothing_print(const struct json *answer)
{
    (void)answer;
}

const struct form *durable_form(const char *verb)
{
    static const struct form forms[] = {
        {"durable ls", key_print, list_end_print, false, NULL},
        {"durable get", NULL, get_print, false, NULL},
        {"durable kv", kv_print, kv_end_print, true, "no keys"},
        {"durable queue", item_print, items_end_print, true, "no items"},
        {"durable rm", NULL, nothing_print, false, NULL},
        {"alarms", alarm_print, alarms_end_print, true, NULL},
        {"queues", queue_print, list_end_print, false, "no queue has items"},
        {"sql", sql_print, sql_end_print, false, NULL},
        {"store stats", NULL, stats_print, false, NULL},
        {"store check", damage_print, check_end_print, true, NULL},
        {"store backup", NULL, backup_print, false, NULL},
        {"store compact", NULL, compact_print, false, NULL},
        {"sleep", NULL, sleep_print, false, NULL},
        {"wake", NULL, path_answer_print, false, NULL}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].verb, verb) == 0)
            return &forms[i];
    }
    return NULL;
}
