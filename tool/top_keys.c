/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top.h"

const char *const top_sorts[] = {"queued", "path", "behavior", "state"};
enum { SORTS = sizeof top_sorts / sizeof *top_sorts };

/* ---- Rows. ---- */

static void row_fill(struct top_row *row, const struct json *from)
{
    *row = (struct top_row){.queued = json_number(from, "queued"),
                            .age_ms = json_number(from, "at_least_ms"),
                            .has_age = json_text(from, "oldest", NULL) != NULL};
    snprintf(row->path, sizeof row->path, "%s", json_text(from, "path", "?"));
    snprintf(row->behavior, sizeof row->behavior, "%s", json_text(from, "behavior", "-"));
    snprintf(row->state, sizeof row->state, "%s", json_text(from, "state", "?"));
}

void top_rows_begin(struct top *top, const struct json *answer)
{
    const struct json *list = json_get(answer, "deepest");
    top->row_count = 0;
    for (const struct json *row = list ? list->first : NULL; row && top->row_count < TOP_ROWS;
         row = row->next)
        row_fill(&top->rows[top->row_count++], row);
}

static bool row_is_wanted(const struct top *top, const struct json *row)
{
    return strstr(json_text(row, "path", ""), top->filter) ||
           strstr(json_text(row, "behavior", ""), top->filter);
}

/* Adds a row that is not there yet. */
static void row_add(struct top *top, const struct json *from)
{
    const char *path = json_text(from, "path", "?");
    for (size_t i = 0; i < top->row_count; i++) {
        if (strcmp(top->rows[i].path, path) == 0)
            return;
    }
    if (top->row_count < TOP_ROWS && row_is_wanted(top, from))
        row_fill(&top->rows[top->row_count++], from);
}

static size_t sorted_by;

static int compare_rows(const void *a, const void *b)
{
    const struct top_row *left = a;
    const struct top_row *right = b;
    int order = 0;
    if (sorted_by == 0)
        order = left->queued < right->queued ? 1 : left->queued > right->queued ? -1 : 0;
    else if (sorted_by == 2)
        order = strcmp(left->behavior, right->behavior);
    else if (sorted_by == 3)
        order = strcmp(left->state, right->state);
    return order ? order : strcmp(left->path, right->path);
}

bool top_rows_read(struct top *top, bool is_live)
{
    /* The fullest mailboxes, or, with a filter, all that the list has. */
    const char *extra = top->filter[0] ? ",\"limit\":10000" : ",\"sorted\":true,\"limit\":100";
    size_t kept = 0;
    for (size_t i = 0; i < top->row_count; i++) {
        if (strstr(top->rows[i].path, top->filter) || strstr(top->rows[i].behavior, top->filter))
            top->rows[kept++] = top->rows[i];
    }
    top->row_count = kept;
    bool is_over = !is_live;
    if (!is_over && !command_send(top->connection, top->options, "ls", NULL, extra))
        return false;
    while (!is_over) {
        const char *text;
        size_t length;
        struct json *line = connection_receive(top->connection, &text, &length);
        bool is_lost = !line;
        is_over = !json_get(line, "part");
        if (!is_over)
            row_add(top, json_get(line, "part"));
        json_free(line);
        if (is_lost)
            return false;
    }
    sorted_by = top->sort;
    qsort(top->rows, top->row_count, sizeof *top->rows, compare_rows);
    if (top->chosen >= top->row_count)
        top->chosen = top->row_count ? top->row_count - 1 : 0;
    return true;
}

/* ---- Keys. ---- */

/* Asks for one actor. Returns the answer, to be freed, or NULL with a sentence in `said`. */
static struct json *order(struct top *top, const char *verb)
{
    const char *text;
    size_t length;
    struct json *line = NULL;
    const char *path = top->rows[top->chosen].path;
    if (command_send(top->connection, top->options, verb, path, ""))
        line = connection_receive(top->connection, &text, &length);
    if (json_get(line, "ok")) {
        snprintf(top->said, sizeof top->said, "%s %.200s: done", verb, path);
        return line;
    }
    snprintf(top->said, sizeof top->said, "%s", json_text(line, "why", "the program has ended"));
    json_free(line);
    return NULL;
}

/* Asks for a text about the chosen actor. */
static void panel_open(struct top *top, const char *verb)
{
    size_t size;
    struct json *line = order(top, verb);
    if (!line)
        return;
    top->said[0] = '\0';
    /* The functions that print answers write to standard output. */
    FILE *usual = stdout;
    FILE *memory = open_memstream(&top->panel, &size);
    if (memory) {
        stdout = memory;
        answer_form(verb)->answer(json_get(line, "ok"));
        stdout = usual;
        (void)fclose(memory);
    }
    json_free(line);
}

static void suspend_or_resume(struct top *top)
{
    bool is_suspended = strcmp(top->rows[top->chosen].state, "Suspended") == 0;
    json_free(order(top, is_suspended ? "resume" : "suspend"));
}

/* A key while a filter is typed. */
static void filter_key(struct top *top, char key)
{
    size_t length = strlen(top->filter);
    if (key == '\r' || key == '\n')
        top->mode = TOP_KEYS;
    else if (key == '\033')
        top->mode = TOP_KEYS, top->filter[0] = '\0';
    else if ((key == '\b' || key == 0x7f) && length)
        top->filter[length - 1] = '\0';
    else if ((unsigned char)key > ' ' && key != '"' && key != '\\' &&
             length + 1 < sizeof top->filter)
        top->filter[length] = key, top->filter[length + 1] = '\0';
    top->chosen = 0;
}

/* A key that orders something of the chosen actor. */
static void actor_key(struct top *top, char key)
{
    if (!top->row_count)
        return;
    if (key == '\r' || key == '\n')
        panel_open(top, "show");
    else if (key == 'w')
        panel_open(top, "why");
    else if (key == 'z')
        suspend_or_resume(top);
    else if (key == 'k')
        top->mode = TOP_SURE;
}

static void move(struct top *top, bool is_down)
{
    if (is_down && top->chosen + 1 < top->row_count)
        top->chosen++;
    else if (!is_down && top->chosen)
        top->chosen--;
}

/* Does what one key means. Returns true if the user wants to leave. */
static bool key_press(struct top *top, char key)
{
    if (top->mode == TOP_FILTER) {
        filter_key(top, key);
        return key == 3;
    }
    if (top->mode == TOP_SURE) {
        top->mode = TOP_KEYS;
        if (key == 'y' && top->row_count)
            json_free(order(top, "kill"));
        return key == 3;
    }
    top->said[0] = '\0';
    if (key == 's' || key == '>')
        top->sort = (top->sort + 1) % SORTS;
    else if (key == '<')
        top->sort = (top->sort + SORTS - 1) % SORTS;
    else if (key == '/')
        top->mode = TOP_FILTER, top->filter[0] = '\0';
    else
        actor_key(top, key);
    return key == 'q' || key == 'Q' || key == 3;
}

bool top_keys(struct top *top, const char *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool is_arrow =
            i + 2 < count && keys[i] == '\033' && (keys[i + 1] == '[' || keys[i + 1] == 'O');
        if (is_arrow) {
            if (keys[i + 2] == 'A' || keys[i + 2] == 'B')
                move(top, keys[i + 2] == 'B');
            i += 2;
        } else if (key_press(top, keys[i])) {
            return true;
        }
    }
    return false;
}
