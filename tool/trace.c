/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Records of a program (observe/trace.h) become trees: the turns of one causal id. A turn is below the turn that sent
 * its message. A message that was sent is the one of the next turn of its receiver with this causal id and type.
 */
#include "trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    QUIET_MS = 200,  /* a tree without news for so long is whole */
    WAIT_MS = 10000, /* for the first message, without --timeout */
    POLL_MS = 50,
    TREES_MAX = 256, /* that are kept at once; with more the oldest is printed as it is */
    NOTES_MAX = 4096 /* records of a tree; what follows is counted */
};

/* One record of a program. */
struct note {
    char what;     /* 'b'egan, 'e'nded, 's'ent, 'c': children */
    size_t number; /* as they came, from 1 */
    uint64_t turn;
    int64_t time_ns;
    int64_t count;
    size_t parent; /* of 'b': index of the turn's sender + 1; 0: none */
    size_t sent;   /* of 'b': index of the message that it handles + 1; of 's': of its turn + 1 */
    char *path;    /* of the actor */
    char *ref;
    char *other; /* ref of the receiver or the child */
    char *other_path;
    char *message;
    char *kind;
    char *handler;
    char *behavior;
    char *status;
};

struct tree {
    char causal[20];
    size_t count;
    size_t capacity;
    struct note *notes;
    uint64_t left_out;
    int64_t open; /* turns that have not ended */
    int64_t news_ms;
};

struct traces {
    const struct options *options;
    struct tree trees[TREES_MAX];
    size_t count;
    uint64_t printed;
    uint64_t missed;
    int64_t given_up; /* by the program, in all */
    int64_t given_up_first;
    bool is_cut;       /* records of the tree may be missing */
    int64_t offset_ms; /* wall clock minus the clock of the records */
};

static int64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* ---- Records. ---- */

static char *text_copy(const struct json *record, const char *key)
{
    const char *text = json_text(record, key, NULL);
    return text ? strdup(text) : NULL;
}

static void tree_free(struct tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        struct note *note = &tree->notes[i];
        char *texts[] = {note->path,
                         note->ref,
                         note->other,
                         note->other_path,
                         note->message,
                         note->kind,
                         note->handler,
                         note->behavior,
                         note->status};
        for (size_t at = 0; at < sizeof texts / sizeof *texts; at++)
            free(texts[at]);
    }
    free(tree->notes);
    *tree = (struct tree){.count = 0};
}

static bool is_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* Finds the turn with this number. Returns its index + 1; 0: its beginning was not recorded. */
static size_t turn_find(const struct tree *tree, uint64_t turn)
{
    for (size_t i = tree->count; i-- > 0;) {
        if (tree->notes[i].what == 'b' && tree->notes[i].turn == turn)
            return i + 1;
    }
    return 0;
}

/* Finds which message a turn handles, and the turn that sent it. */
static void turn_link(struct tree *tree, size_t at)
{
    struct note *turn = &tree->notes[at];
    for (size_t i = 0; i < at; i++) {
        struct note *sent = &tree->notes[i];
        if (sent->what != 's' || sent->sent || sent->status || !is_same(sent->other, turn->ref) ||
            !is_same(sent->message, turn->message))
            continue;
        sent->sent = at + 1;
        turn->sent = i + 1;
        turn->parent = turn_find(tree, sent->turn);
        return;
    }
    /* A timer: its actor has set it in an earlier turn with this id. */
    for (size_t i = at; is_same(turn->kind, "timer") && i-- > 0;) {
        if (tree->notes[i].what == 'b' && is_same(tree->notes[i].ref, turn->ref)) {
            turn->parent = i + 1;
            return;
        }
    }
}

static void note_add(struct tree *tree, const struct json *record)
{
    const char *what = json_text(record, "what", "");
    tree->news_ms = now_ms();
    bool is_end = strcmp(what, "ended") == 0;
    if (strcmp(what, "began") == 0)
        tree->open++;
    if (is_end && tree->open)
        tree->open--;
    if (tree->count == NOTES_MAX) {
        tree->left_out++;
        return;
    }
    if (tree->count == tree->capacity) {
        size_t capacity = tree->capacity ? 2 * tree->capacity : 64;
        struct note *notes = realloc(tree->notes, capacity * sizeof *notes);
        if (!notes) {
            tree->left_out++;
            return;
        }
        tree->notes = notes;
        tree->capacity = capacity;
    }
    tree->notes[tree->count++] =
        (struct note){.what = what[0] == 's' && what[1] == 'p' ? 'c' : what[0],
                      .turn = (uint64_t)json_number(record, "turn"),
                      .time_ns = json_number(record, "time_ns"),
                      .count = json_number(record, "count"),
                      .path = text_copy(record, "path"),
                      .ref = text_copy(record, "ref"),
                      .other = text_copy(record, "other"),
                      .other_path = text_copy(record, "other_path"),
                      .message = text_copy(record, "message"),
                      .kind = text_copy(record, "kind"),
                      .handler = text_copy(record, "handler"),
                      .behavior = text_copy(record, "behavior"),
                      .status = text_copy(record, "status")};
    tree->notes[tree->count - 1].number = tree->count;
}

static int is_earlier(const void *a, const void *b)
{
    const struct note *one = a;
    const struct note *other = b;
    if (one->time_ns != other->time_ns)
        return one->time_ns < other->time_ns ? -1 : 1;
    return one->number < other->number ? -1 : 1;
}

/*
 * Brings the records into the order of their times, and links turns to messages. A message may be recorded after the
 * turn that handles it, on another worker, has begun.
 */
static void tree_link(struct tree *tree)
{
    qsort(tree->notes, tree->count, sizeof *tree->notes, is_earlier);
    for (size_t i = 0; i < tree->count; i++) {
        if (tree->notes[i].what == 'b')
            turn_link(tree, i);
    }
}

/* ---- Printing. ---- */

/* Returns when a turn ended; 0: it has not. */
static int64_t turn_end(const struct tree *tree, size_t at, const char **status)
{
    for (size_t i = at; i < tree->count; i++) {
        if (tree->notes[i].what != 'e' || tree->notes[i].turn != tree->notes[at].turn)
            continue;
        *status = tree->notes[i].status;
        return tree->notes[i].time_ns;
    }
    return 0;
}

static void us_print(int64_t ns)
{
    printf("%" PRId64 ".%" PRId64 " us", ns / 1000, ns % 1000 / 100);
}

static void turn_print(const struct tree *tree, size_t at, int depth)
{
    const struct note *turn = &tree->notes[at];
    const char *status = NULL;
    int64_t end_ns = turn_end(tree, at, &status);
    printf("%*s", 2 * depth, "");
    text_print(turn->path ? turn->path : "?");
    printf("  ");
    text_print(turn->message ? turn->message : "?");
    printf(" (%s, %s)  at ", turn->kind ? turn->kind : "?", turn->handler ? turn->handler : "?");
    us_print(turn->time_ns - tree->notes[0].time_ns);
    if (turn->sent) {
        printf(", waited ");
        us_print(turn->time_ns - tree->notes[turn->sent - 1].time_ns);
    }
    if (end_ns) {
        printf(", took ");
        us_print(end_ns - turn->time_ns);
    } else {
        printf(", not ended");
    }
    if (status) {
        printf(", failed: ");
        text_print(status);
    }
    putchar('\n');
    for (size_t i = 0; i < tree->count && depth < 64; i++) {
        const struct note *note = &tree->notes[i];
        if (note->what == 'b' && note->parent == at + 1) {
            turn_print(tree, i, depth + 1);
        } else if (note->turn == turn->turn &&
                   ((note->what == 's' && !note->sent) || note->what == 'c')) {
            printf("%*s", 2 * (depth + 1), "");
            if (note->what == 'c') {
                printf("started %" PRId64 ": ", note->count);
                text_print(note->other_path ? note->other_path : "an actor that has ended");
                printf(note->behavior ? " (%s)" : "%s", note->behavior ? note->behavior : "");
            } else {
                printf("%s ", note->kind ? note->kind : "?");
                text_print(note->message ? note->message : "?");
                printf(" to ");
                text_print(note->other_path ? note->other_path
                                            : "a client, or an actor that has ended");
                if (note->status)
                    printf(": refused, %s", note->status);
            }
            printf("  at ");
            us_print(note->time_ns - tree->notes[0].time_ns);
            putchar('\n');
        }
    }
}

static void string_print(const char *key, const char *text)
{
    printf("\"%s\":", key);
    if (!text) {
        printf("null");
        return;
    }
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        if ((unsigned char)*text < 0x20)
            printf("\\u%04x", (unsigned)(unsigned char)*text);
        else
            putchar(*text);
    }
    putchar('"');
}

/* Prints a tree as one line: its turns, each with the number of the turn above it. */
static void tree_print_json(const struct traces *traces, const struct tree *tree)
{
    printf("{\"causal\":\"%s\",\"unix_ms\":%" PRId64 ",\"left_out\":%" PRIu64 ",\"missed\":%" PRIu64
           ",\"turns\":[",
           tree->causal,
           tree->notes[0].time_ns / 1000000 + traces->offset_ms,
           tree->left_out,
           traces->missed);
    const char *comma = "";
    for (size_t i = 0; i < tree->count; i++) {
        const struct note *turn = &tree->notes[i];
        const char *status = NULL;
        if (turn->what != 'b')
            continue;
        int64_t end_ns = turn_end(tree, i, &status);
        printf("%s{\"turn\":%" PRIu64 ",\"parent\":%" PRIu64 ",",
               comma,
               turn->turn,
               turn->parent ? tree->notes[turn->parent - 1].turn : 0);
        string_print("path", turn->path);
        putchar(',');
        string_print("message", turn->message);
        putchar(',');
        string_print("kind", turn->kind);
        putchar(',');
        string_print("handler", turn->handler);
        putchar(',');
        string_print("behavior", turn->behavior);
        printf(",\"start_ns\":%" PRId64, turn->time_ns - tree->notes[0].time_ns);
        printf(",\"waited_ns\":%" PRId64,
               turn->sent ? turn->time_ns - tree->notes[turn->sent - 1].time_ns : -1);
        printf(",\"took_ns\":%" PRId64 ",", end_ns ? end_ns - turn->time_ns : -1);
        string_print("status", status);
        printf(",\"sent\":[");
        const char *between = "";
        for (size_t at = 0; at < tree->count; at++) {
            const struct note *note = &tree->notes[at];
            if (note->turn != turn->turn || (note->what != 's' && note->what != 'c'))
                continue;
            printf("%s{", between);
            string_print("what", note->what == 'c' ? "spawned" : note->kind);
            putchar(',');
            string_print("message", note->message);
            putchar(',');
            string_print("to", note->other_path);
            printf(",\"at_ns\":%" PRId64 ",", note->time_ns - tree->notes[0].time_ns);
            string_print("status", note->status);
            putchar('}');
            between = ",";
        }
        printf("]}");
        comma = ",";
    }
    printf("]}\n");
}

static void tree_print_text(const struct traces *traces, const struct tree *tree)
{
    time_t seconds = (time_t)((tree->notes[0].time_ns / 1000000 + traces->offset_ms) / 1000);
    struct tm date;
    char text[40] = "";
    if (localtime_r(&seconds, &date))
        strftime(text, sizeof text, "%F %T", &date);
    printf("causal %s, %s\n", tree->causal, text);
    for (size_t i = 0; i < tree->count; i++) {
        if (tree->notes[i].what == 'b' && !tree->notes[i].parent)
            turn_print(tree, i, 1);
    }
    if (tree->left_out)
        printf("  ... %" PRIu64 " more records\n", tree->left_out);
}

static void tree_show(struct traces *traces, size_t at)
{
    struct tree *tree = &traces->trees[at];
    if (tree->count)
        tree_link(tree);
    if (tree->count && traces->options->is_json)
        tree_print_json(traces, tree);
    else if (tree->count)
        tree_print_text(traces, tree);
    traces->printed += tree->count > 0;
    tree_free(tree);
    traces->count--;
    memmove(tree, tree + 1, (traces->count - at) * sizeof *tree);
    traces->trees[traces->count] = (struct tree){.count = 0};
}

static struct tree *tree_of(struct traces *traces, const char *causal)
{
    for (size_t i = 0; i < traces->count; i++) {
        if (strcmp(traces->trees[i].causal, causal) == 0)
            return &traces->trees[i];
    }
    if (traces->count == TREES_MAX)
        tree_show(traces, 0);
    struct tree *tree = &traces->trees[traces->count++];
    *tree = (struct tree){.count = 0};
    snprintf(tree->causal, sizeof tree->causal, "%s", causal);
    return tree;
}

/* ---- Requests. ---- */

/* Asks for records above *after. Returns an exit code; EXIT_OK: *after is the next, *more says whether there are more. */
static int records_take(struct connection *connection, struct traces *traces, const char *path,
                        const char *causal, uint64_t *after, bool *more)
{
    char extra[100];
    int length = snprintf(extra, sizeof extra, ",\"after\":%" PRIu64, *after);
    if (causal)
        snprintf(extra + length, sizeof extra - (size_t)length, ",\"causal\":\"%.16s\"", causal);
    if (!command_send(connection, traces->options, "trace", path, extra))
        return EXIT_LOST;
    for (;;) {
        const char *text;
        size_t size;
        struct json *line = connection_receive(connection, &text, &size);
        const struct json *part = json_get(line, "part");
        const struct json *answer = json_get(line, "ok");
        int code = -1;
        if (part) {
            note_add(tree_of(traces, json_text(part, "causal", "?")), part);
        } else if (answer) {
            *after = (uint64_t)json_number(answer, "last");
            *more = json_is_true(answer, "more");
            traces->missed += (uint64_t)json_number(answer, "missed");
            traces->given_up = json_number(answer, "given_up");
            traces->offset_ms =
                json_number(answer, "unix_ms") - json_number(answer, "now_ns") / 1000000;
            traces->is_cut |= json_is_true(answer, "cut");
            code = EXIT_OK;
        } else if (json_get(line, "no")) {
            fprintf(stderr,
                    "troupe: %s (%s)\n",
                    json_text(line, "why", "the program refused"),
                    json_text(line, "no", "?"));
            code = EXIT_REFUSED;
        } else {
            fprintf(stderr, "troupe: the program has closed the connection\n");
            code = EXIT_LOST;
        }
        json_free(line);
        if (code >= 0)
            return code;
    }
}

/* Prints the trees that are whole, or all if `is_last`. */
static void whole_show(struct traces *traces, bool is_last)
{
    for (size_t i = 0; i < traces->count;) {
        const struct tree *tree = &traces->trees[i];
        bool is_quiet = now_ms() - tree->news_ms >= QUIET_MS;
        if (is_last || (is_quiet && tree->open <= 0))
            tree_show(traces, i);
        else
            i++;
        if (!traces->options->follows && traces->printed && !is_last)
            return;
    }
}

/* Whether a name is a causal id: hexadecimal digits only. */
static bool is_causal(const char *name)
{
    size_t length = strspn(name, "0123456789abcdefABCDEF");
    return length && length <= 16 && !name[length];
}

static int finish(struct traces *traces, int code, const char *what)
{
    whole_show(traces, true);
    if (traces->missed && !traces->options->is_json)
        printf("%" PRIu64 " records came faster than they could be read, and are missing\n",
               traces->missed);
    if (traces->given_up > traces->given_up_first && !traces->options->is_json)
        printf("given up, because too many were followed at once: %" PRId64
               "; later turns of these "
               "messages are missing\n",
               traces->given_up - traces->given_up_first);
    if (traces->is_cut && !traces->options->is_json)
        printf("records of this tree may be missing: there were too many\n");
    if (code == EXIT_OK && !traces->printed) {
        fprintf(stderr, "troupe: %s\n", what);
        code = EXIT_REFUSED;
    }
    for (size_t i = 0; i < traces->count; i++)
        tree_free(&traces->trees[i]);
    return code;
}

int trace_run(struct connection *connection, const struct options *options)
{
    static struct traces traces;
    const char *name = options->arguments[0];
    const char *causal = is_causal(name) ? name : NULL;
    const char *path = causal ? NULL : name;
    struct timespec pause = {0, POLL_MS * 1000000L};
    int64_t wait_ms = options->timeout_ms ? strtoll(options->timeout_ms, NULL, 10) : WAIT_MS;
    uint64_t after = causal ? 0 : UINT64_MAX; /* what an actor handles from now on */
    bool more = true;
    traces.options = options;
    int code = records_take(connection, &traces, path, causal, &after, &more);
    while (code == EXIT_OK && more && causal)
        code = records_take(connection, &traces, NULL, causal, &after, &more);
    if (code != EXIT_OK || (causal && !options->follows))
        return finish(&traces, code, "nothing is recorded of this causal id; trace an actor first");
    fprintf(stderr,
            options->follows ? "troupe: following %s\n"
                             : "troupe: waiting for the next message to %s\n",
            name);
    int64_t begin_ms = now_ms();
    traces.given_up_first = traces.given_up;
    for (;;) {
        do
            code = records_take(connection, &traces, NULL, causal, &after, &more);
        while (code == EXIT_OK && more);
        if (code != EXIT_OK)
            return finish(&traces, code, "");
        whole_show(&traces, false);
        if (fflush(stdout) != 0)
            return EXIT_OK;
        bool is_late = now_ms() - begin_ms >= wait_ms;
        if (!options->follows && (traces.printed || is_late))
            break;
        (void)nanosleep(&pause, NULL);
    }
    if (traces.printed) { /* the next ones are not asked for */
        while (traces.count) {
            traces.count--;
            tree_free(&traces.trees[traces.count]);
        }
    }
    return finish(&traces, EXIT_OK, "no message came; --timeout MS waits longer");
}
