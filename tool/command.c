/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- Texts. ---- */

void text_print(const char *text)
{
    for (; *text; text++)
        putchar((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
}

void text_print_cut(const char *text, int width)
{
    int column = 0;
    for (; *text && column < width; text++) {
        bool is_more =
            ((unsigned char)*text & 0xc0) == 0x80; /* of a character that takes several bytes */
        putchar((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
        column += !is_more && ((unsigned char)text[1] & 0xc0) != 0x80;
        column += is_more && ((unsigned char)text[1] & 0xc0) != 0x80;
    }
    for (; column < width; column++)
        putchar(' ');
}

const char *number_short(double value, char *text, size_t size)
{
    static const char units[] = " kMGT";
    size_t unit = 0;
    while (value >= 1000 && units[unit + 1]) {
        value /= 1000;
        unit++;
    }
    if (!unit)
        snprintf(text, size, "%.0f", value);
    else
        snprintf(text, size, value < 100 ? "%.1f%c" : "%.0f%c", value, units[unit]);
    return text;
}

/* ---- Requests. ---- */

/* Appends a member that is a string. Returns the new length; a text that does not fit is left out by the caller. */
static size_t member_add(char *line, size_t size, size_t length, const char *name,
                         const char *value)
{
    if (!value || length + 16 + strlen(name) + 6 * strlen(value) >= size)
        return value ? size : length;
    length += (size_t)snprintf(line + length, size - length, ",\"%s\":\"", name);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            line[length++] = '\\';
        if ((unsigned char)*value < 0x20)
            length += (size_t)snprintf(
                line + length, size - length, "\\u%04x", (unsigned)(unsigned char)*value);
        else
            line[length++] = *value;
    }
    line[length++] = '"';
    return length;
}

static size_t number_add(char *line, size_t size, size_t length, const char *name,
                         const char *value)
{
    if (!value || length + 64 >= size)
        return length;
    return length + (size_t)snprintf(line + length, size - length, ",\"%s\":%s", name, value);
}

bool command_send(struct connection *connection, const struct options *options, const char *verb,
                  const char *path, const char *extra)
{
    static char line[60 * 1024];
    bool has_message = strcmp(verb, "tell") == 0 || strcmp(verb, "ask") == 0;
    size_t length =
        (size_t)snprintf(line, sizeof line, "{\"id\":1,\"do\":\"%s\",\"may\":true", verb);
    length = member_add(line, sizeof line, length, "path", path);
    length = member_add(line, sizeof line, length, "behavior", options->behavior);
    length = member_add(line, sizeof line, length, "state", options->state);
    if (has_message) {
        length = member_add(line, sizeof line, length, "message", options->arguments[1]);
        length = member_add(line, sizeof line, length, "json", options->arguments[2]);
    }
    if (strcmp(verb, "log") == 0)
        length = member_add(line, sizeof line, length, "level", options->arguments[0]);
    length = number_add(line, sizeof line, length, "limit", options->limit);
    length = number_add(line, sizeof line, length, "queued", options->queued);
    length = number_add(line, sizeof line, length, "timeout_ms", options->timeout_ms);
    if (length + strlen(extra) + 32 >= sizeof line) {
        fprintf(stderr, "troupe: the request is too long\n");
        return false;
    }
    length += (size_t)snprintf(line + length,
                               sizeof line - length,
                               "%s%s}\n",
                               options->is_sorted ? ",\"sorted\":true" : "",
                               extra);
    return connection_send(connection, line, length);
}

/* ---- Answers. ---- */

static void age_print(int64_t ms)
{
    if (ms < 10000)
        printf("%" PRId64 " ms", ms);
    else if (ms < 600000)
        printf("%" PRId64 " s", ms / 1000);
    else
        printf("%" PRId64 " min", ms / 60000);
}

static void actor_print(const struct json *row)
{
    char queued[16];
    number_short((double)json_number(row, "queued"), queued, sizeof queued);
    printf("%-9s %3" PRId64 " %7s %8" PRId64 "  ",
           json_text(row, "state", "?"),
           json_number(row, "worker"),
           queued,
           json_number(row, "children"));
    text_print_cut(json_text(row, "behavior", "-"), 16);
    putchar(' ');
    text_print(json_text(row, "path", "?"));
    putchar('\n');
}

static void letter_print(const struct json *row)
{
    printf("%" PRId64 "  ", json_number(row, "number"));
    age_print(json_number(row, "age_ms"));
    printf(" ago  %s  ", json_text(row, "reason", "?"));
    text_print(json_text(row, "message", "?"));
    text_print(json_text(row, "text", ""));
    printf("  from ");
    text_print(json_text(row, "from", "?"));
    printf("  to ");
    text_print(json_text(row, "to", "?"));
    putchar('\n');
}

static void failure_print(const struct json *row)
{
    printf("%" PRId64 "  ", json_number(row, "number"));
    age_print(json_number(row, "age_ms"));
    printf(" ago  %s  ", json_text(row, "what", "?"));
    text_print(json_text(row, "path", "?"));
    printf("  incarnation %" PRId64 " of ", json_number(row, "incarnation"));
    text_print(json_text(row, "behavior", "?"));
    if (json_text(row, "where", NULL)) {
        printf("  in ");
        text_print(json_text(row, "where", ""));
    }
    printf("  %s: ", json_text(row, "status", "?"));
    text_print(json_text(row, "text", ""));
    putchar('\n');
}

static void running_print(const struct json *row)
{
    printf("worker %" PRId64 ": ", json_number(row, "worker"));
    if (!json_is_true(row, "running")) {
        printf("runs no handler\n");
        return;
    }
    text_print(json_text(row, "handler", "a function"));
    printf(" handles ");
    text_print(json_text(row, "message", "a signal"));
    printf(" of ");
    text_print(json_text(row, "path", "?"));
    printf(" (%s, ", json_text(row, "behavior", "?"));
    text_print(json_text(row, "file", "?"));
    printf(":%" PRId64 "), for ", json_number(row, "line"));
    age_print(json_number(row, "for_ms"));
    putchar('\n');
}

static void show_line(const struct json *answer, const char *key, const char *label)
{
    if (json_number(answer, key))
        printf("  %-18s%" PRId64 "\n", label, json_number(answer, key));
}

/* Prints a value of JSON with line breaks, two spaces deeper for each level. */
static void value_print(const struct json *value, int depth)
{
    bool is_list = value->kind == JSON_ARRAY;
    if ((!is_list && value->kind != JSON_OBJECT) || !value->first) {
        fwrite(value->begin, 1, (size_t)(value->end - value->begin), stdout);
        return;
    }
    printf("%c\n", is_list ? '[' : '{');
    for (const struct json *item = value->first; item; item = item->next) {
        printf("%*s", depth + 2, "");
        if (item->key) {
            text_print(item->key);
            printf(": ");
        }
        value_print(item, depth + 2);
        printf("%s\n", item->next ? "," : "");
    }
    printf("%*s%c", depth, "", is_list ? ']' : '}');
}

static void show_print(const struct json *answer)
{
    static const char *const lines[][2] = {{"children", "children"},
                                           {"timers", "timers"},
                                           {"asks", "asks under way"},
                                           {"replies_owed", "replies owed"},
                                           {"turns_waiting", "turns that wait"},
                                           {"stashed", "stashed"},
                                           {"senders_waiting", "senders that wait"},
                                           {"watches", "watches"},
                                           {"incarnation", "incarnation"},
                                           {"bytes", "bytes"},
                                           {"bytes_max", "budget in bytes"}};
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
        putchar('\n');
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        show_line(answer, lines[i][0], lines[i][1]);
    const struct json *value = json_get(answer, "value");
    if (value && value->kind != JSON_NULL) {
        printf("  %-18s", "state");
        value_print(value, 2);
        putchar('\n');
    }
    const struct json *stuck = json_get(answer, "stuck");
    if (stuck) {
        printf("  its worker is stuck, so that nothing more can be said:\n  ");
        running_print(stuck);
    } else if (json_text(answer, "not_asked", NULL)) {
        printf("  its worker has not answered: %s\n", json_text(answer, "not_asked", "?"));
    }
}

static void behaviors_print(const struct json *answer)
{
    const struct json *list = json_get(answer, "behaviors");
    printf("    live  queued    most failures  behavior\n");
    for (const struct json *row = list ? list->first : NULL; row; row = row->next)
        printf("%8" PRId64 " %7" PRId64 " %7" PRId64 " %8" PRId64 "  %s (%s:%" PRId64 ")\n",
               json_number(row, "live"),
               json_number(row, "queued"),
               json_number(row, "queued_most"),
               json_number(row, "failures"),
               json_text(row, "behavior", "?"),
               json_text(row, "file", "?"),
               json_number(row, "line"));
}

static void info_print(const struct json *answer)
{
    const struct json *counters = json_get(answer, "counters");
    const struct json *workers = json_get(answer, "workers");
    for (const struct json *row = counters ? counters->first : NULL; row; row = row->next)
        printf("%-14s %s\n", row->key, row->text ? row->text : "");
    for (const struct json *row = workers ? workers->first : NULL; row; row = row->next)
        running_print(row);
}

static void stalls_print(const struct json *answer)
{
    const struct json *running = json_get(answer, "running");
    printf("long turns so far: %" PRId64 "\n", json_number(answer, "total"));
    for (const struct json *row = running ? running->first : NULL; row; row = row->next)
        running_print(row);
    if (!running || !running->first)
        printf("no worker is in a long turn now\n");
}

static void store_print(const struct json *answer)
{
    const struct json *kinds = json_get(answer, "kinds");
    printf("status          %s\n", json_text(answer, "status", "?"));
    printf("recent commit   %" PRId64 " us\n", json_number(answer, "commit_us"));
    printf("writing for     %" PRId64 " ms\n", json_number(answer, "writing_for_ms"));
    printf("waiting to wake %" PRId64 "\n", json_number(answer, "waiting_to_wake"));
    printf("after a failure %" PRId64 "\n", json_number(answer, "waiting_to_retry"));
    printf("   awake  kind\n");
    for (const struct json *row = kinds ? kinds->first : NULL; row; row = row->next)
        printf("%8" PRId64 "  %s\n", json_number(row, "awake"), json_text(row, "kind", "?"));
}

static void value_answer_print(const struct json *answer)
{
    const struct json *value = json_get(answer, "value");
    if (value) {
        value_print(value, 0);
        putchar('\n');
    }
}

static void plain_print(const struct json *answer)
{
    fputs(json_text(answer, "text", ""), stdout);
}

static void list_end_print(const struct json *answer)
{
    if (json_is_true(answer, "more"))
        printf("... there are more; --limit N shows more than %" PRId64 "\n",
               json_number(answer, "count"));
}

static void nothing_print(const struct json *answer)
{
    (void)answer;
}

static const struct form {
    const char *verb;
    void (*part)(const struct json *part);
    void (*answer)(const struct json *answer);
} forms[] = {{"ls", actor_print, list_end_print},
             {"show", NULL, show_print},
             {"why", NULL, plain_print},
             {"behaviors", NULL, behaviors_print},
             {"info", NULL, info_print},
             {"stalls", NULL, stalls_print},
             {"dead-letters", letter_print, nothing_print},
             {"failures", failure_print, nothing_print},
             {"metrics", NULL, plain_print},
             {"store", NULL, store_print},
             {"ask", NULL, value_answer_print}};

static const struct form *form_of(const char *verb)
{
    static const struct form silent = {"", NULL, nothing_print};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].verb, verb) == 0)
            return &forms[i];
    }
    return &silent;
}

/* ---- Trees. ---- */

struct rows {
    char **paths; /* "path<TAB>behavior, ..." */
    size_t count;
    size_t capacity;
};

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

static bool row_keep(struct rows *rows, const struct json *row)
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

static void tree_print(struct rows *rows)
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

/* ---- Running a command. ---- */

static int refusal_print(const struct json *answer, const char *text, size_t length, bool is_json)
{
    fprintf(stderr,
            "troupe: %s (%s)\n",
            json_text(answer, "why", "the program refused"),
            json_text(answer, "no", "?"));
    if (is_json)
        printf("%.*s\n", (int)length, text);
    return EXIT_REFUSED;
}

/* Prints the answer to one request. `last`, which may be NULL, gets the number of the last record. */
static int answer_print(struct connection *connection, const struct options *options, int64_t *last)
{
    const struct form *form = form_of(options->verb);
    bool is_tree = strcmp(options->verb, "tree") == 0;
    struct rows rows = {0};
    for (;;) {
        const char *text;
        size_t length;
        struct json *line = connection_receive(connection, &text, &length);
        const struct json *part = json_get(line, "part");
        const struct json *answer = json_get(line, "ok");
        const struct json *shown = part ? part : answer;
        int code = -1;
        if (!line || (!shown && !json_get(line, "no"))) {
            fprintf(stderr, "troupe: the program has closed the connection\n");
            code = EXIT_LOST;
        } else if (!shown) {
            code = refusal_print(line, text, length, options->is_json);
        } else if (options->is_json && (part || !form->part)) {
            fwrite(shown->begin, 1, (size_t)(shown->end - shown->begin), stdout);
            putchar('\n');
        } else if (!options->is_json && part && is_tree) {
            code = row_keep(&rows, part) ? -1 : EXIT_LOST;
        } else if (!options->is_json && part && form->part) {
            form->part(part);
        } else if (!options->is_json && answer && !is_tree) {
            form->answer(answer);
        }
        if (last && part)
            *last = json_number(part, "number");
        if (answer && is_tree && !options->is_json) {
            tree_print(&rows);
            list_end_print(answer);
        }
        bool is_over = answer || code >= 0;
        json_free(line);
        if (is_over)
            return code >= 0 ? code : EXIT_OK;
    }
}

/* Prints new records as they come, until the program ends or the reader of the output is gone. */
static int follow(struct connection *connection, const struct options *options)
{
    int64_t last = 0;
    struct timespec pause = {0, 200 * 1000 * 1000};
    for (;;) {
        char extra[64];
        snprintf(extra, sizeof extra, ",\"after\":%" PRId64, last);
        if (!command_send(connection, options, options->verb, NULL, extra))
            return EXIT_LOST;
        int code = answer_print(connection, options, &last);
        if (code != EXIT_OK)
            return code;
        if (fflush(stdout) != 0)
            return EXIT_OK;
        (void)nanosleep(&pause, NULL);
    }
}

int command_run(struct connection *connection, const struct options *options)
{
    bool is_log = strcmp(options->verb, "log") == 0;
    bool is_tree = strcmp(options->verb, "tree") == 0;
    const char *path = options->arguments[is_log ? 1 : 0];
    if (strcmp(options->verb, "top") == 0)
        return top_run(connection, options);
    if (options->follows)
        return follow(connection, options);
    if (strcmp(options->verb, "ls") == 0 && !options->is_json)
        printf("state     wrk  queued children  behavior         path\n");
    const char *verb = is_tree ? "ls" : options->verb;
    const char *extra = is_tree && !options->limit ? ",\"limit\":10000" : "";
    if (!command_send(connection, options, verb, path, extra)) {
        fprintf(stderr, "troupe: the program has closed the connection\n");
        return EXIT_LOST;
    }
    return answer_print(connection, options, NULL);
}
