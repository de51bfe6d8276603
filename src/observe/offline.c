/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/offline.h"

#include <stdio.h>
#include <string.h>
#include <troupe/platform.h>

#include "observe/visitor.h"
#include "os/file.h"
#include "os/lock_holder.h"
#include "store/backup.h"
#include "store/read.h"

struct offline {
    struct memory_source source;
    struct store *store;
    struct observer observer;
    struct visitor visitor;
};

/* If a process has locked the store, adds the number of that process to the sentence. */
static void name_holder(const char *directory, tr_error *error)
{
    int pid = tr__os_lock_holder(directory);
    size_t length = strlen(error->text);
    if (pid > 0)
        snprintf(error->text + length,
                 sizeof error->text - length,
                 " (process %d); look into it by its control socket: troupe -p %d",
                 pid,
                 pid);
}

tr_status tr__offline_open(const char *directory, struct offline **offline, tr_error *error)
{
    const tr_platform *platform = tr_platform_real();
    const struct memory_source source = {.platform = platform};
    struct offline *made = source_resize(&source, NULL, sizeof *made);
    if (!made) {
        *error = (tr_error){.status = TR_NO_MEMORY};
        snprintf(error->text, sizeof error->text, "out of memory");
        return TR_NO_MEMORY;
    }
    memset(made, 0, sizeof *made);
    made->source = source;
    const struct store_options options = {
        .source = source, .path = directory, .is_read_only = true};
    tr_status status = tr__store_open(&options, &made->store, error);
    if (status == TR_OK) {
        status = tr__store_reader_new(made->store, &made->observer.reader);
        if (status != TR_OK)
            tr__store_close(made->store);
    }
    if (status != TR_OK) {
        if (status == TR_STORE_BUSY)
            name_holder(directory, error);
        source_resize(&source, made, 0);
        return status;
    }
    made->observer.source = &made->source;
    made->observer.app = directory;
    tr__visitor_open(&made->visitor, &made->observer, 0);
    *offline = made;
    return TR_OK;
}

tr_status tr__offline_compact(const char *directory, uint64_t *before, uint64_t *after,
                              tr_error *error)
{
    const struct store_options options = {.source = {.platform = tr_platform_real()},
                                          .path = directory};
    struct store_compact report;
    tr_status status = tr__store_compact(&options, &report, error);
    if (status == TR_STORE_BUSY)
        name_holder(directory, error);
    if (status != TR_OK)
        return status;
    *before = report.bytes_before;
    *after = report.bytes_after;
    return TR_OK;
}

static bool has_store(const char *directory)
{
    struct os_file_id id;
    char path[OS_PATH_SIZE];
    int length = snprintf(path, sizeof path, "%s/troupe.db", directory);
    return length > 0 && (size_t)length < sizeof path && tr__os_file_find(path, &id, NULL) == TR_OK;
}

tr_status tr__offline_salvage(const char *directory, const char *into,
                              struct offline_salvage *report,
                              void (*on_lost)(void *context, const char *kind, tr_bytes key),
                              void *context, tr_error *error)
{
    const struct memory_source source = {.platform = tr_platform_real()};
    const struct store_options from = {.source = source, .path = directory};
    /* This name is only a default. If the program of the damaged store is known, the new store gets
     * that program. */
    const struct store_options to = {.source = source, .path = into, .program = "salvage"};
    struct store_salvage saved;
    if (has_store(into)) {
        *error = (tr_error){.status = TR_NAME_EXISTS};
        snprintf(error->text, sizeof error->text, "%.200s has a store; name a new directory", into);
        return TR_NAME_EXISTS;
    }
    tr_status status = tr__store_salvage(&from, &to, &saved, on_lost, context, error);
    if (status == TR_STORE_BUSY)
        name_holder(directory, error);
    if (status == TR_OK)
        *report = (struct offline_salvage){.copied = saved.copied,
                                           .older = saved.older,
                                           .lost = saved.lost,
                                           .gaps = saved.gaps,
                                           .is_log_whole = saved.is_log_whole};
    return status;
}

void tr__offline_close(struct offline *offline)
{
    struct memory_source source = offline->source;
    tr__visitor_close(&offline->visitor);
    tr__store_reader_free(offline->observer.reader);
    tr__store_close(offline->store);
    source_resize(&source, offline, 0);
}

size_t tr__offline_send(struct offline *offline, const char *bytes, size_t size)
{
    size_t space = tr__visitor_space(&offline->visitor);
    size = size < space ? size : space;
    if (size)
        tr__visitor_input(&offline->visitor, bytes, size);
    return size;
}

size_t tr__offline_receive(struct offline *offline, char *bytes, size_t size)
{
    struct json_line *output = &offline->visitor.output;
    while (!output->length && !offline->visitor.is_over) {
        enum visitor_job before = offline->visitor.job;
        tr__visitor_work(&offline->visitor);
        if (!output->length && before == JOB_NONE && offline->visitor.job == JOB_NONE)
            break;
    }
    size_t taken = output->length < size ? output->length : size;
    if (taken) {
        memcpy(bytes, output->data, taken);
        tr__json_line_drop(output, taken);
    }
    return taken;
}
