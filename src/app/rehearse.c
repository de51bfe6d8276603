/* SPDX-License-Identifier: Apache-2.0 */
#include "app/rehearse.h"

#include <stdio.h>
#include <string.h>
#include <troupe/kit.h>

#include "actor/cell/system.h"
#include "durable/host.h"
#include "durable/rehearsal.h"
#include "observe/json_line.h"
#include "observe/key_text.h"
#include "os/console.h"
#include "os/copy.h"
#include "os/file.h"
#include "store/read.h"

enum { PAGE = 64 }; /* how many keys are read at once */

struct keys {
    size_t count;
    size_t sizes[PAGE];
    char bytes[PAGE][TR_KEY_MAX];
};

struct rehearsing {
    tr_kit *kit;
    struct durable_host *host;
    struct store_reader *reader;
    struct keys keys;
    uint64_t read;
    uint64_t failed;
    bool is_json;
};

static bool key_keep(void *context, const struct store_row *row)
{
    struct keys *keys = context;
    if (row->key.size <= TR_KEY_MAX) {
        memcpy(keys->bytes[keys->count], row->key.data, row->key.size);
        keys->sizes[keys->count++] = row->key.size;
    }
    return keys->count < PAGE;
}

/* Prints a line of JSON, and frees it. */
static void line_print(struct json_line *line)
{
    tr__json_close(line, '}');
    tr__json_put(line, "", 1);
    tr__console_say("%s\n", line->has_failed ? "{\"no\":\"TR_NO_MEMORY\"}" : line->data);
    tr__json_line_free(line);
}

/* Prints that an actor cannot be loaded. */
static void failure_print(const struct rehearsing *rehearsing, const char *kind, tr_bytes key,
                          tr_status status, const char *text)
{
    struct json_line line;
    if (!rehearsing->is_json) {
        tr__console_say("%s \"%.*s\": %s: %s\n",
                        kind,
                        (int)key.size,
                        (const char *)key.data,
                        tr_status_name(status),
                        text);
        return;
    }
    tr__json_line_init(&line, &tr_kit_system(rehearsing->kit)->source);
    tr__json_open(&line, NULL, '{');
    tr__json_string(&line, "kind", kind);
    tr__json_key(&line, "key", key);
    tr__json_string(&line, "status", tr_status_name(status));
    tr__json_string(&line, "text", text);
    line_print(&line);
}

static void sum_print(const struct rehearsing *rehearsing)
{
    struct json_line line;
    if (!rehearsing->is_json) {
        tr__console_say("%llu actors, %llu of them cannot be loaded\n",
                        (unsigned long long)rehearsing->read,
                        (unsigned long long)rehearsing->failed);
        return;
    }
    tr__json_line_init(&line, &tr_kit_system(rehearsing->kit)->source);
    tr__json_open(&line, NULL, '{');
    tr__json_unsigned(&line, "actors", rehearsing->read);
    tr__json_unsigned(&line, "failed", rehearsing->failed);
    line_print(&line);
}

/* Loads one actor, and prints a line if that fails. */
static void key_load(struct rehearsing *rehearsing, const tr_durable_kind *kind, tr_bytes key)
{
    struct rehearsal rehearsal = {.kind = kind->name, .key = key, .status = TR_TIMEOUT};
    uint64_t bits;
    rehearsing->host->rehearsal = &rehearsal;
    tr_status status = tr_client_try_durable(tr_kit_client(rehearsing->kit), kind, key, &bits);
    while (status == TR_OK && !rehearsal.is_over && tr_kit_step(rehearsing->kit))
        continue;
    (void)tr_kit_settle(rehearsing->kit);
    status = status == TR_OK ? rehearsal.status : status;
    rehearsing->read++;
    rehearsing->failed += status != TR_OK;
    if (status != TR_OK)
        failure_print(rehearsing,
                      kind->name,
                      key,
                      status,
                      rehearsal.text[0] ? rehearsal.text : tr_status_text(status));
}

static tr_status kind_load(struct rehearsing *rehearsing, const tr_durable_kind *kind)
{
    struct keys *keys = &rehearsing->keys;
    char last[TR_KEY_MAX];
    tr_bytes after = {NULL, 0};
    do {
        keys->count = 0;
        tr_status status = tr__store_list_keys(
            rehearsing->reader, kind->name, (tr_bytes){NULL, 0}, after, PAGE, key_keep, keys);
        if (status != TR_OK)
            return status;
        for (size_t i = 0; i < keys->count; i++)
            key_load(rehearsing, kind, (tr_bytes){keys->bytes[i], keys->sizes[i]});
        if (keys->count) {
            after = (tr_bytes){last, keys->sizes[keys->count - 1]};
            memcpy(last, keys->bytes[keys->count - 1], after.size);
        }
    } while (keys->count == PAGE);
    return TR_OK;
}

static bool store_load(const char *program, const char *app, const struct tr_durables *durables,
                       const char *copy, bool is_json)
{
    static struct rehearsing rehearsing; /* static, because it is large: it has a page of keys */
    const tr_kit_options options = {.size = sizeof options,
                                    .durable = durables,
                                    .store = copy,
                                    .name = app,
                                    .log = TR_KIT_LOG_NONE};
    rehearsing = (struct rehearsing){.kit = tr_kit_new(&options), .is_json = is_json};
    if (!rehearsing.kit) {
        tr__console_complain("%s: the store cannot be opened, or a durable kind is not valid\n",
                             program);
        return false;
    }
    rehearsing.host = tr_kit_system(rehearsing.kit)->durable.host;
    tr_status status = tr__store_reader_new(rehearsing.host->store, &rehearsing.reader);
    for (const tr_durable_kind *const *kind = durables->kinds; *kind && status == TR_OK; kind++)
        status = kind_load(&rehearsing, *kind);
    if (status != TR_OK)
        tr__console_complain("%s: the store cannot be read: %s\n", program, tr_status_text(status));
    sum_print(&rehearsing);
    /* The kit is not freed. The process ends now, and the store is only a copy. */
    return status == TR_OK && !rehearsing.failed;
}

/*
 * Copies the files of a store that no process has open. On failure returns false, with a sentence
 * on standard error.
 */
static bool store_copy(const char *program, const char *store, const char *copy)
{
    static const char *const names[] = {"lock", "troupe.db", "troupe.db-log", "troupe.db-wal"};
    char from[OS_PATH_SIZE];
    char to[OS_PATH_SIZE];
    tr_error error = {.status = TR_OK};
    struct os_file_id id;
    int fd;
    (void)snprintf(from, sizeof from, "%s/troupe.db", store);
    if (tr__os_file_find(from, &id, NULL) != TR_OK) {
        tr__console_complain("%s: %s is no store: there is no %s\n", program, store, from);
        return false;
    }
    (void)snprintf(from, sizeof from, "%s/lock", store);
    if (tr__os_file_lock(from, &fd, &error) != TR_OK) {
        tr__console_complain("%s: another process has the store open: %s\n", program, error.text);
        return false;
    }
    tr_status status = TR_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names && status == TR_OK; i++) {
        int from_length = snprintf(from, sizeof from, "%s/%s", store, names[i]);
        int to_length = snprintf(to, sizeof to, "%s/%s", copy, names[i]);
        bool fits = from_length > 0 && (size_t)from_length < sizeof from && to_length > 0 &&
                    (size_t)to_length < sizeof to;
        status = fits ? tr__file_copy(from, to) : TR_LIMIT;
        status = status == TR_NOT_FOUND ? TR_OK : status;
    }
    tr__os_file_unlock(fd);
    if (status != TR_OK)
        tr__console_complain("%s: cannot copy %s to %s\n", program, from, to);
    return status == TR_OK;
}

bool tr__rehearse(const char *program, const char *app, const struct tr_durables *durables,
                  const char *store, bool is_json)
{
    char copy[OS_PATH_SIZE];
    if (tr__temporary_make(copy, sizeof copy) != TR_OK) {
        tr__console_complain("%s: no directory for temporary files: see TMPDIR\n", program);
        return false;
    }
    bool is_right =
        store_copy(program, store, copy) && store_load(program, app, durables, copy, is_json);
    tr__temporary_remove(copy);
    return is_right;
}
