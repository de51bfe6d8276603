/* SPDX-License-Identifier: Apache-2.0 */
/** `troupe top`: workers, busiest handlers, fullest mailboxes and rates, in the size of the terminal. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "top.h"

enum { COUNTERS = 4, HANDLERS_MAX = 128 };

/* What was seen last, for rates. */
struct seen {
    double time_s;
    int64_t values[COUNTERS];
    bool is_set;
};

struct screen {
    bool is_live; /* it is a terminal, and is drawn again and again */
    int columns;
    int lines;
    int used; /* lines */
    struct termios before;
};

static const char *const counter_names[COUNTERS] = {
    "handled", "dead_letters", "failures", "spawned"};

static double now_s(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void screen_measure(struct screen *screen)
{
    struct winsize size;
    screen->columns = 80;
    screen->lines = screen->is_live ? 24 : 1000;
    if (screen->is_live && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col &&
        size.ws_row) {
        screen->columns = size.ws_col;
        screen->lines = size.ws_row;
    }
    screen->used = 0;
}

/* Writes a line, cut to the width. Does nothing if the screen is full. */
static void line_write(struct screen *screen, const char *text)
{
    if (screen->used >= screen->lines - 1)
        return;
    if (screen->is_live) {
        text_print_cut(text, screen->columns > 1 ? screen->columns - 1 : 1);
        fputs("\033[K\n", stdout);
    } else {
        text_print(text);
        putchar('\n');
    }
    screen->used++;
}

static void head_write(struct screen *screen, const struct json *answer, struct seen *seen)
{
    char text[400];
    char rates[COUNTERS][16];
    char live[16];
    char queued[16];
    const struct json *counters = json_get(answer, "counters");
    double time_s = now_s();
    for (int i = 0; i < COUNTERS; i++) {
        int64_t value = json_number(counters, counter_names[i]);
        double passed_s = time_s - seen->time_s;
        double rate =
            seen->is_set && passed_s > 0 ? (double)(value - seen->values[i]) / passed_s : 0;
        number_short(rate < 0 ? 0 : rate, rates[i], sizeof rates[i]);
        seen->values[i] = value;
    }
    seen->time_s = time_s;
    seen->is_set = true;
    snprintf(text,
             sizeof text,
             "%s: %s actors, %s messages under way, %" PRId64 " long turns, %" PRId64 " failures",
             json_text(answer, "app", "?"),
             number_short((double)json_number(counters, "live"), live, sizeof live),
             number_short((double)json_number(counters, "queued"), queued, sizeof queued),
             json_number(counters, "stalls"),
             json_number(counters, "failures"));
    line_write(screen, text);
    snprintf(text,
             sizeof text,
             "each second: %s handled, %s dead letters, %s failures, %s spawned",
             rates[0],
             rates[1],
             rates[2],
             rates[3]);
    line_write(screen, text);
}

static void workers_write(struct screen *screen, const struct json *answer)
{
    const struct json *workers = json_get(answer, "workers");
    int most = screen->lines / 4 > 2 ? screen->lines / 4 : 2;
    int written = 0;
    for (const struct json *row = workers ? workers->first : NULL; row; row = row->next) {
        char text[400];
        int64_t for_ms = json_number(row, "for_ms");
        if (!json_is_true(row, "running"))
            continue;
        if (written++ == most)
            break;
        snprintf(text,
                 sizeof text,
                 "worker %" PRId64 ": %s handles %s of %s",
                 json_number(row, "worker"),
                 json_text(row, "handler", "a function"),
                 json_text(row, "message", "a signal"),
                 json_text(row, "path", "?"));
        if (for_ms >= 20)
            snprintf(text + strlen(text),
                     sizeof text - strlen(text),
                     ", STUCK for %" PRId64 " ms",
                     for_ms);
        line_write(screen, text);
    }
    const struct json *handed_off = json_get(answer, "handed_off");
    for (const struct json *row = handed_off ? handed_off->first : NULL; row && written < most;
         row = row->next, written++) {
        char text[400];
        snprintf(text,
                 sizeof text,
                 "handed off: %s handles %s of %s, STUCK for %" PRId64 " ms",
                 json_text(row, "handler", "a function"),
                 json_text(row, "message", "a signal"),
                 json_text(row, "path", "?"),
                 json_number(row, "for_ms"));
        line_write(screen, text);
    }
    if (!written)
        line_write(screen, "no worker is in a handler at this moment");
}

static int compare_counts(const void *a, const void *b)
{
    int64_t left = json_number(*(const struct json *const *)a, "count");
    int64_t right = json_number(*(const struct json *const *)b, "count");
    return left < right ? 1 : left > right ? -1 : 0;
}

static void samples_write(struct screen *screen, const struct json *answer)
{
    const struct json *rows[HANDLERS_MAX];
    const struct json *samples = json_get(answer, "samples");
    int64_t looks = json_number(answer, "looks");
    size_t count = 0;
    int most = screen->lines / 4 > 3 ? screen->lines / 4 : 3;
    for (const struct json *row = samples ? samples->first : NULL; row && count < HANDLERS_MAX;
         row = row->next)
        rows[count++] = row;
    if (!count || !looks)
        return;
    qsort(rows, count, sizeof *rows, compare_counts);
    line_write(screen, "");
    line_write(screen, "workers busy  handler");
    for (size_t i = 0; i < count && i < (size_t)most; i++) {
        char text[300];
        snprintf(text,
                 sizeof text,
                 "%12.2f  %s of %s (%s)",
                 (double)json_number(rows[i], "count") / (double)looks,
                 json_text(rows[i], "handler", "a function"),
                 json_text(rows[i], "behavior", "an actor that has ended"),
                 json_text(rows[i], "message", "not known which"));
        line_write(screen, text);
    }
}

/* Writes how long handlers take, in what is left of a third of the screen. */
static void handlers_write(struct screen *screen, const struct json *answer)
{
    const struct json *list = json_get(answer, "handlers");
    int most = screen->lines / 6;
    if (!list || !list->first || most < 2)
        return;
    line_write(screen, "");
    line_write(screen, "   mean us    99% in us  handler, of turns that were timed");
    for (const struct json *row = list->first; row && most-- > 1; row = row->next) {
        char text[300];
        snprintf(text,
                 sizeof text,
                 "%10.1f %12.1f  %s of %s (%s)",
                 (double)json_number(row, "mean_ns") / 1000,
                 (double)json_number(row, "p99_ns") / 1000,
                 json_text(row, "handler", "?"),
                 json_text(row, "behavior", "?"),
                 json_text(row, "message", "any"));
        line_write(screen, text);
    }
}

/* Writes the row of an actor; the chosen one is marked. */
static void actor_write(struct screen *screen, const struct top_row *row, bool is_chosen)
{
    char text[1400];
    char queued[16];
    char age[32] = "-";
    if (row->has_age)
        snprintf(age, sizeof age, "%" PRId64 " ms", row->age_ms);
    snprintf(text,
             sizeof text,
             "%s%7s %16s  %-9s  %s",
             is_chosen ? ">" : " ",
             number_short((double)row->queued, queued, sizeof queued),
             age,
             row->state,
             row->path);
    if (is_chosen && screen->is_live)
        fputs("\033[7m", stdout);
    line_write(screen, text);
    if (is_chosen && screen->is_live)
        fputs("\033[m", stdout);
}

static void rows_write(struct screen *screen, struct top *top)
{
    char text[200];
    if (!top->row_count && !top->filter[0])
        return;
    line_write(screen, "");
    snprintf(text,
             sizeof text,
             "  queued  oldest at least  state      mailbox of (by %s%s%s)",
             top_sorts[top->sort],
             top->filter[0] ? ", with " : "",
             top->filter);
    line_write(screen, text);
    int space = screen->lines - 2 - screen->used;
    size_t first = 0;
    if (space > 0 && top->chosen >= (size_t)space)
        first = top->chosen - (size_t)space + 1;
    for (size_t i = first; i < top->row_count; i++) {
        if (screen->is_live && screen->used >= screen->lines - 2)
            break;
        actor_write(screen, &top->rows[i], screen->is_live && i == top->chosen);
    }
}

/* Writes the last line: what was done, what is typed, or the keys. */
static void foot_write(struct screen *screen, const struct top *top)
{
    char text[400];
    if (!screen->is_live)
        return;
    while (screen->used < screen->lines - 2)
        line_write(screen, "");
    if (top->mode == TOP_FILTER)
        snprintf(text, sizeof text, "/%s", top->filter);
    else if (top->mode == TOP_SURE)
        snprintf(text, sizeof text, "kill %.300s? y", top->rows[top->chosen].path);
    else if (top->said[0])
        snprintf(text, sizeof text, "%s", top->said);
    else
        snprintf(
            text, sizeof text, "q leave  s sort  / filter  Enter show  w why  k kill  z suspend");
    line_write(screen, text);
}

/* Asks once and draws. Returns the exit code, or -1 to continue. */
static int draw(struct top *top, struct screen *screen, struct seen *seen, bool is_shown)
{
    const char *text;
    size_t length;
    const struct options *options = top->options;
    if (!command_send(top->connection, options, "top", NULL, ""))
        return EXIT_LOST;
    struct json *line = connection_receive(top->connection, &text, &length);
    const struct json *answer = json_get(line, "ok");
    if (!answer) {
        fprintf(stderr, "troupe: %s\n", json_text(line, "why", "the program has ended"));
        bool is_refused = json_get(line, "no") != NULL;
        json_free(line);
        return is_refused ? EXIT_REFUSED : EXIT_LOST;
    }
    if (is_shown && options->is_json) {
        fwrite(answer->begin, 1, (size_t)(answer->end - answer->begin), stdout);
        putchar('\n');
        json_free(line);
        return fflush(stdout) == 0 ? -1 : EXIT_OK;
    }
    screen_measure(screen);
    if (!is_shown)
        screen->lines = 0; /* nothing is written; `seen` gets the first values */
    if (is_shown && screen->is_live)
        fputs("\033[H", stdout);
    head_write(screen, answer, seen);
    workers_write(screen, answer);
    samples_write(screen, answer);
    handlers_write(screen, answer);
    /* The rows are read last, because the next answer takes the place of this one. */
    top_rows_begin(top, answer);
    json_free(line);
    if (is_shown && !top_rows_read(top, screen->is_live))
        return EXIT_LOST;
    rows_write(screen, top);
    foot_write(screen, top);
    if (is_shown && screen->is_live)
        fputs("\033[J", stdout);
    return fflush(stdout) == 0 ? -1 : EXIT_OK;
}

static void screen_open(struct screen *screen)
{
    struct termios raw;
    screen->is_live = screen->is_live && tcgetattr(STDIN_FILENO, &screen->before) == 0;
    if (!screen->is_live)
        return;
    raw = screen->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    fputs("\033[?1049h\033[?25l", stdout); /* another screen, without a cursor */
}

static void screen_close(struct screen *screen)
{
    if (!screen->is_live)
        return;
    fputs("\033[?25h\033[?1049l", stdout);
    (void)fflush(stdout);
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &screen->before);
}

/* Draws a text that was asked for, until a key is pressed. */
static void panel_draw(struct screen *screen, struct top *top)
{
    screen_measure(screen);
    fputs("\033[H", stdout);
    char *rest = NULL;
    for (char *line = strtok_r(top->panel, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        line_write(screen, line);
    while (screen->used < screen->lines - 2)
        line_write(screen, "");
    line_write(screen, "any key returns");
    fputs("\033[J", stdout);
    (void)fflush(stdout);
    free(top->panel);
    top->panel = NULL;
}

/* Waits for the next time to draw, or a key. Returns true if the user wants to leave. */
static bool wait_or_leave(struct top *top, struct screen *screen, int ms)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char keys[32];
    if (!screen->is_live) {
        (void)poll(NULL, 0, ms);
        return false;
    }
    if (poll(&input, 1, ms) <= 0)
        return false;
    ssize_t count = read(STDIN_FILENO, keys, sizeof keys);
    if (count <= 0 || top_keys(top, keys, (size_t)count))
        return true;
    if (top->panel) {
        panel_draw(screen, top);
        (void)poll(&input, 1, -1);
        return read(STDIN_FILENO, keys, sizeof keys) <= 0;
    }
    return false;
}

int top_run(struct connection *connection, const struct options *options)
{
    int every_ms =
        options->every_s && atoi(options->every_s) > 0 ? atoi(options->every_s) * 1000 : 1000;
    bool is_once = options->is_once || (!options->every_s && !isatty(STDOUT_FILENO));
    struct screen screen = {.is_live = !is_once && !options->is_json && isatty(STDOUT_FILENO) &&
                                       isatty(STDIN_FILENO)};
    struct seen seen = {.is_set = false};
    struct top *top = calloc(1, sizeof *top);
    if (!top)
        return EXIT_LOST;
    top->connection = connection;
    top->options = options;
    /* The first look begins the samples; the second one, shortly afterwards, has some. */
    int code = draw(top, &screen, &seen, false);
    (void)poll(NULL, 0, 200);
    if (code < 0)
        screen_open(&screen);
    while (code < 0) {
        code = draw(top, &screen, &seen, true);
        if (code < 0 && (is_once || wait_or_leave(top, &screen, every_ms)))
            code = EXIT_OK;
    }
    screen_close(&screen);
    free(top);
    return code;
}
