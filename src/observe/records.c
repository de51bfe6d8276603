/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/records.h"

#include <stdio.h>
#include <string.h>

#include "durable/record.h"
#include "observe/durables.h"
#include "os/file.h"
#include "os/record_file.h"
#include "store/read.h"

enum { COMMAND_SIZE = 4 * OS_PATH_SIZE + 64 };

/* Writes a word. Puts it in quotes if a shell would otherwise not read it as one word. */
static void word_write(char *to, const char *word)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-+:@%,";
    if (*word && *word != '-' && strspn(word, plain) == strlen(word)) {
        memcpy(to, word, strlen(word) + 1);
        return;
    }
    *to++ = '\'';
    for (; *word; word++) {
        if (*word == '\'') {
            *to++ = '\'';
            *to++ = '\\';
            *to++ = '\'';
        }
        *to++ = *word;
    }
    memcpy(to, "'", 2);
}

static void record_write(struct visitor *visitor, uint64_t id, const char *path, uint64_t size,
                         tr_time written_ns, char *command)
{
    static const char verb[] = "troupe replay ";
    struct json_line *line = &visitor->output;
    char resolved[OS_PATH_SIZE];
    /* The reader of the command has another working directory than this process. */
    if (tr__os_path_resolve(path, resolved, NULL) == TR_OK)
        path = resolved;
    memcpy(command, verb, sizeof verb - 1);
    word_write(command + sizeof verb - 1, path);
    tr__visitor_begin(visitor, id, true);
    tr__json_string(line, "file", path);
    tr__json_unsigned(line, "bytes", size);
    tr__json_signed(line, "unix_ms", written_ns / TR_MILLISECOND);
    tr__json_string(line, "command", command);
    tr__visitor_end(visitor);
}

/*
 * Finds the directory that has the directory of records. If the store is in memory, sets *directory to NULL. Returns
 * false if the request was refused.
 */
static bool directory_find(struct visitor *visitor, const struct control_request *request,
                           const char **directory)
{
    const struct tr_system *system = visitor->observer->system;
    const struct recorder *recorder = system ? recorder_in(system) : NULL;
    struct stored stored;
    *directory = recorder ? recorder->directory : NULL;
    if (*directory)
        return true;
    if (!tr__stored_begin(visitor, request, &stored))
        return false;
    *directory = tr__store_directory(tr__store_of(stored.reader));
    return true;
}

void tr__verb_records(struct visitor *visitor, const struct control_request *request)
{
    char path[OS_PATH_SIZE];
    const char *directory;
    if (!directory_find(visitor, request, &directory))
        return;
    const struct memory_source *source = visitor->observer->source;
    char *command = source_resize(source, NULL, COMMAND_SIZE);
    if (!command) {
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the list");
        return;
    }
    uint32_t limit = request->limit ? request->limit : RECORD_FILES_MAX;
    uint32_t count = 0;
    for (int i = 1; directory && i <= RECORD_FILES_MAX && count < limit; i++) {
        uint64_t size;
        tr_time written_ns;
        int length = snprintf(path, sizeof path, "%s/" RECORD_FILE_FORMAT, directory, i);
        if (length < 0 || (size_t)length >= sizeof path || !tr__file_look(path, &size, &written_ns))
            continue;
        record_write(visitor, request->id, path, size, written_ns, command);
        count++;
    }
    source_resize(source, command, 0);
    (void)snprintf(path, sizeof path, "%.4000s/" RECORD_DIRECTORY, directory ? directory : "");
    tr__visitor_begin(visitor, request->id, false);
    tr__json_unsigned(&visitor->output, "count", count);
    tr__json_string(&visitor->output, "directory", directory ? path : NULL);
    tr__json_unsigned(&visitor->output, "most", RECORD_FILES_MAX);
    tr__visitor_end(visitor);
}
