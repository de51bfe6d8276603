/* SPDX-License-Identifier: Apache-2.0 */
/** durable export and durable import: actors as lines of JSON in files. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

enum { PIECE = 8 * 1024 }; /* bytes of a line in one request, in which each may need six */

/* ---- Export. ---- */

FILE *output_open(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    /* A file that exists keeps its mode otherwise. */
    if (fd >= 0 && fchmod(fd, S_IRUSR | S_IWUSR) != 0) {
        (void)close(fd);
        fd = -1;
    }
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file)
        fprintf(stderr, "troupe: cannot write %s: %s\n", path, strerror(errno));
    return file;
}

/* Says what is missing. Returns the exit code. */
static int export_end(const struct json *answer)
{
    int64_t parts = json_number(answer, "not_whole");
    if (!parts)
        return EXIT_OK;
    fprintf(stderr,
            "troupe: %" PRId64 " of %" PRId64
            " actors are not whole and cannot be imported: they may have secret "
            "fields (--secrets exports them), or are too large (store backup copies them)\n",
            parts,
            json_number(answer, "count"));
    return EXIT_REFUSED;
}

static int export_receive(struct connection *connection, FILE *file)
{
    for (;;) {
        const char *text;
        size_t length;
        struct json *line = connection_receive(connection, &text, &length);
        const struct json *part = json_get(line, "part");
        const struct json *answer = json_get(line, "ok");
        int code = -1;
        if (part)
            fprintf(file, "%.*s\n", (int)(part->end - part->begin), part->begin);
        else if (answer)
            code = export_end(answer);
        else if (json_get(line, "no"))
            code = (fprintf(stderr, "troupe: %s\n", json_text(line, "why", "?")), EXIT_REFUSED);
        else
            code = (fprintf(stderr, "troupe: the program has closed the connection\n"), EXIT_LOST);
        json_free(line);
        if (code >= 0)
            return code;
    }
}

int export_run(struct connection *connection, const struct options *options)
{
    FILE *file = stdout;
    if (options->output)
        file = output_open(options->output);
    if (!file)
        return EXIT_REFUSED;
    int code = EXIT_LOST;
    if (command_send(connection, options, options->verb, NULL, ""))
        code = export_receive(connection, file);
    bool is_written = fflush(file) == 0 && (file == stdout || fsync(fileno(file)) == 0);
    if (file != stdout)
        is_written = fclose(file) == 0 && is_written;
    if (!is_written) {
        fprintf(stderr, "troupe: cannot write the export: %s\n", strerror(errno));
        return EXIT_REFUSED;
    }
    return code;
}

int get_run(struct connection *connection, const struct options *options)
{
    FILE *file = options->output ? output_open(options->output) : NULL;
    if (options->output && !file)
        return EXIT_REFUSED;
    if (file && (fflush(stdout) != 0 || dup2(fileno(file), STDOUT_FILENO) < 0)) {
        fprintf(stderr, "troupe: cannot write %s: %s\n", options->output, strerror(errno));
        (void)fclose(file);
        return EXIT_REFUSED;
    }
    if (file)
        (void)fclose(file); /* the descriptor of standard output is another one */
    if (!command_send(connection, options, options->verb, NULL, ""))
        return EXIT_LOST;
    return answer_print(connection, options, NULL);
}

/* ---- Import. ---- */

/* Receives an answer. Returns the exit code. */
static int import_receive(struct connection *connection, uint64_t number)
{
    const char *text;
    size_t length;
    struct json *line = connection_receive(connection, &text, &length);
    int code = EXIT_LOST;
    if (json_get(line, "ok")) {
        code = EXIT_OK;
    } else if (json_get(line, "no")) {
        fprintf(stderr, "troupe: line %" PRIu64 ": %s\n", number, json_text(line, "why", "?"));
        code = EXIT_REFUSED;
    } else {
        fprintf(stderr, "troupe: the program has closed the connection\n");
    }
    json_free(line);
    return code;
}

/* Sends a line, in pieces. Returns the exit code. */
static int line_send(struct connection *connection, const struct options *options, const char *line,
                     size_t size, uint64_t number)
{
    struct json *read = json_read(line, size);
    char piece[PIECE + 1];
    static char request[6 * PIECE + 4096];
    int code = EXIT_OK;
    for (size_t at = 0; code == EXIT_OK && (at < size || !at);) {
        size_t count = size - at < PIECE ? size - at : PIECE;
        while (at + count < size && count > 1 && ((unsigned char)line[at + count] & 0xc0) == 0x80)
            count--; /* a character stays in one piece */
        bool is_last = at + count == size;
        memcpy(piece, line + at, count);
        piece[count] = '\0';
        size_t length = (size_t)snprintf(
            request, sizeof request, "{\"id\":1,\"do\":\"durable import\",\"may\":true");
        length = member_add(request, sizeof request, length, "json", piece);
        length = member_add(request, sizeof request, length, "kind", json_text(read, "kind", NULL));
        length = member_add(request, sizeof request, length, "key", json_text(read, "key", NULL));
        if (length >= sizeof request) {
            fprintf(stderr, "troupe: line %" PRIu64 ": kind or key is too long\n", number);
            code = EXIT_REFUSED;
            break;
        }
        length += (size_t)snprintf(request + length,
                                   sizeof request - length,
                                   "%s%s}\n",
                                   is_last ? "" : ",\"more\":true",
                                   options->replaces ? ",\"writes\":true" : "");
        code = connection_send(connection, request, length) ? import_receive(connection, number)
                                                            : EXIT_LOST;
        at += count;
        if (!count)
            break;
    }
    json_free(read);
    return code;
}

int import_run(struct connection *connection, const struct options *options)
{
    const char *path = options->arguments[0];
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    uint64_t number = 0;
    uint64_t stored = 0;
    int code = EXIT_OK;
    if (!file) {
        fprintf(stderr, "troupe: cannot read %s: %s\n", path, strerror(errno));
        return EXIT_USAGE;
    }
    while (code != EXIT_LOST && (size = getline(&line, &capacity, file)) >= 0) {
        number++;
        while (size && (line[size - 1] == '\n' || line[size - 1] == '\r'))
            size--;
        if (!size)
            continue;
        int sent = line_send(connection, options, line, (size_t)size, number);
        stored += sent == EXIT_OK;
        code = sent == EXIT_OK ? code : sent;
    }
    free(line);
    if (file != stdin)
        (void)fclose(file);
    if (options->is_json)
        printf("{\"lines\":%" PRIu64 ",\"stored\":%" PRIu64 "}\n", number, stored);
    else
        printf("%" PRIu64 " of %" PRIu64 " actors stored\n", stored, number);
    return code;
}
