/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "trace.h"
#include "tree_rows.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Requests. ---- */

static size_t number_add(char *line, size_t size, size_t length, const char *name,
                         const char *value)
{
    if (!value || length + 64 >= size)
        return length;
    return length + (size_t)snprintf(line + length, size - length, ",\"%s\":%s", name, value);
}

/* Writes the path of a directory as the program finds it, which may have another working directory. Returns NULL if the
 * path is too long. */
static const char *absolute_path(const char *path, char *absolute, size_t size)
{
    if (*path == '/' || !*path)
        return path;
    if (!getcwd(absolute, size))
        return NULL;
    while (path[0] == '.' && path[1] == '/')
        path += 2 + strspn(path + 2, "/");
    size_t length = strlen(absolute);
    length -= length == 1; /* the working directory is "/" */
    int added = snprintf(absolute + length, size - length, "/%s", path);
    return added >= 0 && (size_t)added < size - length ? absolute : NULL;
}

/* Appends the arguments of the command, each as the member that the table names. */
static size_t arguments_add(char *line, size_t size, size_t length, const struct options *options)
{
    const char *member = options->command->members;
    const char *others = strchr(member, '|');
    char absolute[PATH_MAX];
    if (others && options->argument_count > 1)
        member = others + 1;
    for (size_t i = 0; i < options->argument_count && *member; i++) {
        char name[16];
        const char *value = options->arguments[i];
        size_t word = strcspn(member, " |");
        snprintf(name, sizeof name, "%.*s", (int)word, member);
        if (strcmp(name, "dir") == 0) {
            value = absolute_path(value, absolute, sizeof absolute);
            if (!value)
                return size;
            snprintf(name, sizeof name, "text");
        }
        length = member_add(line, size, length, name, value);
        member += word + (member[word] == ' ');
    }
    return length;
}

bool command_send(struct connection *connection, const struct options *options, const char *verb,
                  const char *path, const char *extra)
{
    static char line[60 * 1024];
    bool is_tree = strcmp(options->verb, "tree") == 0 && strcmp(verb, "ls") == 0;
    size_t length = (size_t)snprintf(
        line, sizeof line, "{\"id\":1,\"do\":\"%s\",\"may\":true,\"progress\":true", verb);
    if (is_tree || strcmp(verb, options->verb) == 0)
        length = arguments_add(line, sizeof line, length, options);
    length = member_add(line, sizeof line, length, "path", path);
    length = member_add(line, sizeof line, length, "behavior", options->behavior);
    length = member_add(line, sizeof line, length, "state", options->state);
    length = member_add(line, sizeof line, length, "kind", options->kind);
    length = member_add(line, sizeof line, length, "level", options->level);
    length = member_add(line, sizeof line, length, "causal", options->causal);
    length = member_add(line, sizeof line, length, "from", options->from);
    length = number_add(line, sizeof line, length, "limit", options->limit);
    length = number_add(line, sizeof line, length, "after", options->after);
    length = number_add(line, sizeof line, length, "queued", options->queued);
    length = number_add(line, sizeof line, length, "timeout_ms", options->timeout_ms);
    if (length + strlen(extra) + 64 >= sizeof line) {
        fprintf(stderr, "troupe: the request is too long\n");
        return false;
    }
    length += (size_t)snprintf(line + length,
                               sizeof line - length,
                               "%s%s%s%s%s%s}\n",
                               options->failing ? ",\"failing\":true" : "",
                               options->is_openmetrics ? ",\"text\":\"openmetrics\"" : "",
                               options->is_sorted ? ",\"sorted\":true" : "",
                               options->secrets ? ",\"secrets\":true" : "",
                               options->writes || options->replaces ? ",\"writes\":true" : "",
                               extra);
    return connection_send(connection, line, length);
}

/* ---- Answers. ---- */

void age_print(int64_t ms)
{
    static const struct {
        int64_t end_ms; /* of the times in this unit */
        int64_t unit_ms;
        const char *unit;
    } units[] = {
        {10000, 1, "ms"}, {600000, 1000, "s"}, {36000000, 60000, "min"}, {172800000, 3600000, "h"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (ms < units[i].end_ms) {
            printf("%" PRId64 " %s", ms / units[i].unit_ms, units[i].unit);
            return;
        }
    }
    printf("%" PRId64 " days", ms / 86400000);
}

void count_print(int64_t count, const char *noun)
{
    printf("%" PRId64 " %s%s", count, noun, count == 1 ? "" : "s");
}

void size_print(int64_t bytes)
{
    char text[16];
    if (bytes < 1000)
        count_print(bytes, "byte");
    else
        printf("%sB (%" PRId64 " bytes)", number_short((double)bytes, text, sizeof text), bytes);
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

void long_turn_print(const struct json *row)
{
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

void running_print(const struct json *row)
{
    printf("worker %" PRId64 ": ", json_number(row, "worker"));
    if (!json_is_true(row, "running")) {
        printf("runs no handler\n");
        return;
    }
    long_turn_print(row);
}

/* Turns on threads that another one has replaced. */
static void handed_off_print(const struct json *answer)
{
    const struct json *list = json_get(answer, "handed_off");
    for (const struct json *row = list ? list->first : NULL; row; row = row->next) {
        printf("handed off: ");
        long_turn_print(row);
    }
}

void value_print(const struct json *value, int depth)
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

/* Prints a time of timed turns in a short form, or "-" if no turn was timed. */
static void time_print(const struct json *row, const char *name)
{
    int64_t ns = json_number(row, name);
    if (!json_number(row, "sampled"))
        printf("%9s", "-");
    else if (ns < 10000)
        printf("%6" PRId64 " ns", ns);
    else if (ns < 10000000)
        printf("%6" PRId64 " us", ns / 1000);
    else
        printf("%6" PRId64 " ms", ns / 1000000);
}

/* Prints the age of the oldest message of a behavior, or "-" if it is not known. */
static void oldest_print(const struct json *row)
{
    char text[24] = "-";
    if (json_get(row, "at_least_ms"))
        snprintf(text, sizeof text, "%.1f s", (double)json_number(row, "at_least_ms") / 1000);
    printf("%8s ", text);
}

static void behaviors_print(const struct json *answer)
{
    const struct json *list = json_get(answer, "behaviors");
    printf("    live  queued    most    bytes   oldest  handled failures       mean    99%% in  "
           "behavior\n");
    for (const struct json *row = list ? list->first : NULL; row; row = row->next) {
        char bytes[16];
        char handled[16];
        printf("%8" PRId64 " %7" PRId64 " %7" PRId64 " %8s ",
               json_number(row, "live"),
               json_number(row, "queued"),
               json_number(row, "queued_most"),
               number_short((double)json_number(row, "queued_bytes"), bytes, sizeof bytes));
        oldest_print(row);
        printf("%8s %8" PRId64 "  ",
               number_short((double)json_number(row, "handled_about"), handled, sizeof handled),
               json_number(row, "failures"));
        time_print(row, "mean_ns");
        putchar(' ');
        time_print(row, "p99_ns");
        printf("  %s (%s:%" PRId64 ")\n",
               json_text(row, "behavior", "?"),
               json_text(row, "file", "?"),
               json_number(row, "line"));
    }
}

static void handlers_print(const struct json *answer)
{
    const struct json *list = json_get(answer, "handlers");
    int64_t queued = json_number(answer, "queued");
    printf(
        "     mean    half in     99%% in    longest  handled  failed  queued   oldest  handler\n");
    for (const struct json *row = list ? list->first : NULL; row; row = row->next) {
        char handled[16];
        char waiting[16] = "-";
        static const char *const times[] = {"mean_ns", "p50_ns", "p99_ns", "longest_ns"};
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            time_print(row, times[i]);
            printf("  ");
        }
        if (json_get(row, "queued_about"))
            number_short((double)json_number(row, "queued_about"), waiting, sizeof waiting);
        printf("%7s %7" PRId64 " %7s ",
               number_short((double)json_number(row, "handled_about"), handled, sizeof handled),
               json_number(row, "failed"),
               waiting);
        oldest_print(row);
        printf(" %s of %s (%s)\n",
               json_text(row, "handler", "?"),
               json_text(row, "behavior", "?"),
               json_text(row, "message", "any"));
    }
    if (!list || !list->first)
        printf("no turn was timed yet: turns are timed for a minute after each look\n");
    if (queued)
        printf("%" PRId64 " messages are queued; %" PRId64
               " of them, in the fullest mailboxes, were counted by handler\n",
               queued,
               json_number(answer, "queued_counted"));
    if (json_number(answer, "mailboxes_not_asked"))
        printf("%" PRId64
               " of these mailboxes are not counted: no worker answered for them in time\n",
               json_number(answer, "mailboxes_not_asked"));
}

static void info_print(const struct json *answer)
{
    const struct json *counters = json_get(answer, "counters");
    const struct json *workers = json_get(answer, "workers");
    for (const struct json *row = counters ? counters->first : NULL; row; row = row->next)
        printf("%-14s %s\n", row->key, row->text ? row->text : "");
    for (const struct json *row = workers ? workers->first : NULL; row; row = row->next)
        running_print(row);
    handed_off_print(answer);
}

/* A long turn, which may have ended. */
static void stall_print(const struct json *row)
{
    printf("began ");
    age_print(json_number(row, "age_ms"));
    printf(" ago: ");
    text_print(json_text(row, "handler", "a function"));
    printf(" of ");
    text_print(json_text(row, "path", "?"));
    printf(" (%s) handled ", json_text(row, "behavior", "?"));
    text_print(json_text(row, "message", "a signal"));
    printf(json_is_true(row, "over") ? " for " : ", so far for ");
    age_print(json_number(row, "took_ms"));
    printf(", on worker %" PRId64 "%s\n",
           json_number(row, "worker"),
           json_is_true(row, "handed_off") ? ", handed off" : "");
    const struct json *stack = json_get(row, "stack");
    for (const struct json *frame = stack ? stack->first : NULL; frame; frame = frame->next) {
        printf("    in ");
        text_print(frame->text);
        putchar('\n');
    }
}

static void stalls_print(const struct json *answer)
{
    const struct json *running = json_get(answer, "running");
    const struct json *handed_off = json_get(answer, "handed_off");
    const struct json *past = json_get(answer, "past");
    printf("long turns so far: %" PRId64 "\n", json_number(answer, "total"));
    for (const struct json *row = running ? running->first : NULL; row; row = row->next)
        running_print(row);
    handed_off_print(answer);
    bool is_calm = (!running || !running->first) && (!handed_off || !handed_off->first);
    if (is_calm)
        printf("no worker is in a long turn now\n");
    for (const struct json *row = past ? past->first : NULL; row; row = row->next)
        stall_print(row);
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

static bool has_warned;

static void finding_print(const struct json *row)
{
    bool is_warning = strcmp(json_text(row, "result", ""), "warn") == 0;
    has_warned |= is_warning;
    printf("%-5s%-18s ", is_warning ? "warn" : "ok", json_text(row, "check", "?"));
    text_print(json_text(row, "text", ""));
    putchar('\n');
    if (is_warning) {
        printf("     %-18s ", "");
        text_print(json_text(row, "advice", ""));
        putchar('\n');
    }
}

static void value_answer_print(const struct json *answer)
{
    const struct json *value = json_get(answer, "value");
    if (value) {
        value_print(value, 0);
        putchar('\n');
    }
}

/* As a program prints it with --schema, so that both can be compared. */
static void whole_print(const struct json *answer)
{
    fwrite(answer->begin, 1, (size_t)(answer->end - answer->begin), stdout);
    putchar('\n');
}

static void plain_print(const struct json *answer)
{
    fputs(json_text(answer, "text", ""), stdout);
}

void list_end_print(const struct json *answer)
{
    if (json_is_true(answer, "more"))
        printf("... there are more; --limit N shows more than %" PRId64 "\n",
               json_number(answer, "count"));
}

static void nothing_print(const struct json *answer)
{
    (void)answer;
}

static const struct form forms[] = {
    {"ls", actor_print, list_end_print, false, "no actor fits"},
    {"why", NULL, plain_print, false, NULL},
    {"behaviors", NULL, behaviors_print, false, NULL},
    {"handlers", NULL, handlers_print, false, NULL},
    {"info", NULL, info_print, false, NULL},
    {"stalls", NULL, stalls_print, false, NULL},
    {"dead-letters", letter_print, nothing_print, false, "no dead letters"},
    {"failures", failure_print, nothing_print, false, "no failures"},
    {"metrics", NULL, plain_print, false, NULL},
    {"doctor", finding_print, nothing_print, false, NULL},
    {"store", NULL, store_print, false, NULL},
    {"schema", NULL, whole_print, false, NULL},
    {"ask", NULL, value_answer_print, false, NULL}};

const struct form *answer_form(const char *verb)
{
    static const struct form silent = {"", NULL, nothing_print, false, NULL};
    const struct form *other = durable_form(verb);
    other = other ? other : look_form(verb);
    other = other ? other : past_form(verb);
    if (other)
        return other;
    if (strcmp(verb, "asks") == 0)
        return &asks_form;
    if (strcmp(verb, "show") == 0)
        return &show_form;
    if (strcmp(verb, "waits") == 0)
        return &waits_form;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].verb, verb) == 0)
            return &forms[i];
    }
    return &silent;
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

/* Prints the answer to one request. */
int answer_print(struct connection *connection, const struct options *options, struct place *place)
{
    const struct form *form = answer_form(options->verb);
    bool is_tree = strcmp(options->verb, "tree") == 0;
    struct tree_rows rows = {0};
    bool has_parts = false;
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
        } else if (options->is_json && (part || !form->part || form->has_both)) {
            fwrite(shown->begin, 1, (size_t)(shown->end - shown->begin), stdout);
            putchar('\n');
            has_warned |= strcmp(json_text(shown, "result", ""), "warn") == 0;
        } else if (!options->is_json && part && is_tree) {
            code = tree_rows_keep(&rows, part) ? -1 : EXIT_LOST;
        } else if (!options->is_json && part && form->part) {
            form->part(part);
        } else if (!options->is_json && answer && !is_tree) {
            if (!has_parts && form->none && !options->follows)
                puts(form->none);
            form->answer(answer);
        }
        has_parts |= part != NULL;
        if (place && answer)
            follow_note(answer, place);
        if (answer && is_tree && !options->is_json) {
            tree_rows_print(&rows, options->depth ? atoi(options->depth) : INT_MAX);
            list_end_print(answer);
        }
        has_warned |= json_number(answer, "damaged") > 0;
        bool is_over = answer || code >= 0;
        json_free(line);
        if (is_over)
            return code >= 0 ? code : has_warned ? EXIT_REFUSED : EXIT_OK;
    }
}

/* Sends the message of a dead letter again. */
static int replay(struct connection *connection, const struct options *options)
{
    char extra[64];
    snprintf(extra, sizeof extra, ",\"after\":%s", options->replay);
    if (!command_send(connection, options, "replay", NULL, extra))
        return EXIT_LOST;
    return answer_print(connection, options, NULL);
}

int command_run(struct connection *connection, const struct options *options)
{
    bool is_tree = strcmp(options->verb, "tree") == 0;
    if (strcmp(options->verb, "top") == 0)
        return top_run(connection, options);
    if (strcmp(options->verb, "durable export") == 0)
        return export_run(connection, options);
    if (strcmp(options->verb, "durable get") == 0)
        return get_run(connection, options);
    if (strcmp(options->verb, "durable import") == 0)
        return import_run(connection, options);
    if (strcmp(options->verb, "trace") == 0)
        return trace_run(connection, options);
    if (options->follows)
        return follow_run(connection, options);
    if (options->replay)
        return replay(connection, options);
    if (strcmp(options->verb, "ls") == 0 && !options->is_json)
        printf("state     wrk  queued children  behavior         path\n");
    const char *verb = is_tree ? "ls" : options->verb;
    const char *extra = is_tree && !options->limit ? ",\"limit\":10000" : "";
    if (!command_send(connection, options, verb, NULL, extra)) {
        fprintf(stderr, "troupe: the program has closed the connection\n");
        return EXIT_LOST;
    }
    return answer_print(connection, options, NULL);
}
