/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/store_care.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/system.h"
#include "observe/audit.h"
#include "observe/durable_change.h"
#include "observe/durables.h"
#include "observe/export_rows.h"
#include "observe/key_text.h"
#include "os/file.h"
#include "os/process_limits.h"
#include "store/batch.h"
#include "store/core.h"
#include "store/read.h"

/* The client has a working directory of its own, so a relative path would name another directory here. */
const char *tr__request_directory(struct visitor *visitor, const struct control_request *request)
{
    const char *path = request->text ? request->text : "";
    if (path[0] == '/' && strlen(path) < BACKUP_PATH_SIZE)
        return path;
    if (!path[0])
        tr__visitor_refuse(
            visitor, request->id, TR_INVALID_ARGUMENT, "no directory of a backup is given");
    else if (path[0] != '/')
        tr__visitor_refuse(visitor,
                           request->id,
                           TR_INVALID_ARGUMENT,
                           "invalid directory of a backup: \"%.300s\" is not an absolute path",
                           path);
    else
        tr__visitor_refuse(visitor,
                           request->id,
                           TR_INVALID_ARGUMENT,
                           "invalid directory of a backup: the path is longer than %d bytes",
                           BACKUP_PATH_SIZE - 1);
    return NULL;
}

/* ---- Figures. ---- */

uint64_t tr__store_file_size(const char *directory, const char *name)
{
    char path[OS_PATH_SIZE];
    struct os_file_id id;
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    if (length < 0 || (size_t)length >= sizeof path || tr__os_file_find(path, &id, NULL) != TR_OK)
        return 0;
    return id.size;
}

void tr__verb_store_stats(struct visitor *visitor, const struct control_request *request)
{
    struct stored stored;
    struct disk_limits limits;
    struct json_line *line = &visitor->output;
    if (!tr__stored_begin(visitor, request, &stored))
        return;
    const struct store *store = tr__store_of(stored.reader);
    const char *directory = tr__store_directory(store);
    tr_time writing_ns = tr__store_writing_since(store);
    tr_time now_ns = store->platform->mono_now(store->platform);
    tr__visitor_begin(visitor, request->id, false);
    tr__json_string(line, "directory", directory);
    tr__json_string(line, "status", tr_status_name(tr__store_status(store)));
    tr__json_unsigned(line, "opened", tr__store_epoch(store));
    tr__json_signed(
        line, "commit_us", (tr_time)atom64_load(&store->commit_ns, ATOM_RELAXED) / TR_MICROSECOND);
    tr__json_signed(
        line, "writing_for_ms", writing_ns ? (now_ns - writing_ns) / TR_MILLISECOND : 0);
    tr__json_unsigned(line, "waiting", tr__store_waiting(tr__store_of(stored.reader)));
    if (directory) {
        tr__disk_limits(directory, &limits);
        tr__json_unsigned(line, "database_bytes", tr__store_file_size(directory, "troupe.db"));
        tr__json_unsigned(line, "log_bytes", tr__store_file_size(directory, "troupe.db-log"));
        tr__json_unsigned(line, "disk_free_bytes", limits.free_bytes);
    }
    tr__visitor_end(visitor);
}

/* ---- A check of each row. ---- */

/* The parts of an actor, in the order in which the check reads them. */
enum check_part {
    CHECK_STATE,
    CHECK_KEYS,
    CHECK_ALARMS,
    CHECK_QUEUES,
    CHECK_EVENTS,
    CHECK_REQUESTS,
    CHECK_SNAPSHOT,
    CHECK_PAGES,
    CHECK_OVER
};

/* How much one step checks. A step is short, so that other clients need not wait for a large
 * actor. */
enum { CHECK_STEP_BYTES = 512 * 1024, CHECK_STEP_ROWS = 1000 };

struct check {
    struct stored stored;
    char kind[TR_NAME_MAX + 1]; /* kind of the current actor; "": none yet */
    struct request_key after;   /* key of the actor that is being checked */
    enum check_part part;       /* the part of this actor that is checked next */
    uint64_t from;     /* of queues, events and requests: number at which the check continues */
    uint64_t sequence; /* number of the actor's last event, as its row has it */
    /* Of keys: the size of from_key, at which the check continues. 0: at the first key. */
    size_t from_size;
    uint32_t page; /* number of the last page of the actor that was checked */
    uint32_t page_last;
    uint64_t actors;
    uint64_t damaged;
    /* The next members, up to is_cut, are for the current step. */
    const struct visitor *visitor;
    size_t rows;
    size_t bytes;
    bool is_cut; /* the step has stopped in the middle of a part */
    unsigned char from_key[TR_KV_KEY_MAX + 1];
    char from_queue[TR_QUEUE_NAME_MAX + STORE_QUEUE_PREFIX_MAX + 1]; /* of queues: as from_key */
};

static void check_free(struct visitor *visitor, void *work)
{
    source_resize(visitor->observer->source, work, 0);
}

static void check_tell(struct visitor *visitor)
{
    const struct check *check = visitor->work;
    tr__json_unsigned(&visitor->output, "actors", check->actors);
    tr__json_unsigned(&visitor->output, "damaged", check->damaged);
    tr__json_string(&visitor->output, "kind", check->kind);
}

/* Whether the program is ending. If so, the check stops, because the program must not wait for
 * it. */
static bool is_stopping(const struct visitor *visitor)
{
    const struct tr_system *system = visitor->observer->system;
    return system && atom32_load(&system->ending.is_stopping, ATOM_RELAXED);
}

static bool on_row(void *context, const struct store_row *row)
{
    (void)row;
    return !is_stopping(context);
}

/* Counts a row. Stops when the step has read enough, and notes where the next step continues. */
static bool on_step_row(void *context, const struct store_row *row)
{
    struct check *check = context;
    check->bytes += row->key.size + row->bytes.size;
    check->from = row->id + 1;
    if (check->part == CHECK_QUEUES)
        snprintf(check->from_queue, sizeof check->from_queue, "%s", row->name);
    if (check->part == CHECK_KEYS && row->key.size < sizeof check->from_key) {
        memcpy(check->from_key, row->key.data, row->key.size);
        /* the first key after a key is that key with a NUL appended */
        check->from_key[row->key.size] = '\0';
        check->from_size = row->key.size + 1;
    }
    check->is_cut =
        (++check->rows >= CHECK_STEP_ROWS || check->bytes >= CHECK_STEP_BYTES) &&
        /* A list cannot begin behind the longest key, because the key with the NUL would be too
         * long. */
        check->from_size <= TR_KV_KEY_MAX;
    return !check->is_cut && !is_stopping(check->visitor);
}

/* Reads some rows of the current part. The reader compares each with its seal. */
static tr_status part_check(struct check *check)
{
    struct store_reader *reader = check->stored.reader;
    const char *kind = check->kind;
    tr_bytes key = request_key_bytes(&check->after);
    void *visitor = (void *)(uintptr_t)check->visitor;
    const struct store_range keys = {.from = {check->from_key, check->from_size}};
    struct store_state state;
    struct store_snapshot snapshot;
    tr_status status = TR_OK;
    switch (check->part) {
    case CHECK_STATE:
        status = tr__store_read_state(reader, kind, key, &state);
        check->sequence = status == TR_OK ? state.sequence : 0;
        return status;
    case CHECK_KEYS:
        return tr__store_list_kv(reader, kind, key, &keys, on_step_row, check);
    case CHECK_ALARMS:
        return tr__store_list_alarms(reader, kind, key, on_row, visitor);
    case CHECK_QUEUES:
        return tr__store_list_queues(
            reader, kind, key, check->from_queue, check->from, 0, on_step_row, check);
    case CHECK_EVENTS:
        return tr__store_list_events(
            reader, kind, key, check->from, STORE_NUMBER_MAX, 0, on_step_row, check);
    case CHECK_REQUESTS:
        return tr__store_list_requests(
            reader, kind, key, check->from, false, 0, on_step_row, check);
    case CHECK_SNAPSHOT:
        if (check->sequence)
            status = tr__store_read_snapshot(reader, kind, key, STORE_NUMBER_MAX, &snapshot);
        return status == TR_NOT_FOUND ? TR_OK : status;
    case CHECK_PAGES:
    case CHECK_OVER:
        break;
    }
    return TR_OK;
}

/* Checks all parts of an actor except its pages. Stops when the step has read enough. */
static tr_status rows_check(struct visitor *visitor, struct check *check)
{
    check->visitor = visitor;
    check->rows = check->bytes = 0;
    check->is_cut = false;
    for (; check->part != CHECK_PAGES; check->part++) {
        tr_status status = part_check(check);
        if (status != TR_OK || check->is_cut)
            return status;
        check->from = 0;
        check->from_size = 0;
        check->from_queue[0] = '\0';
    }
    check->page = 0;
    return tr__store_last_page(
        check->stored.reader, check->kind, request_key_bytes(&check->after), &check->page_last);
}

/* Reads some pages of an actor. The reader compares each with its sum. */
static tr_status pages_check(struct check *check)
{
    enum { AT_ONCE = 64 };
    unsigned char page[STORE_PAGE_SIZE];
    tr_bytes key = request_key_bytes(&check->after);
    tr_status status = TR_OK;
    for (int i = 0; i < AT_ONCE && check->page < check->page_last && status == TR_OK; i++)
        status = tr__store_read_page(check->stored.reader, check->kind, key, ++check->page, page);
    return status;
}

static bool on_key(void *context, const struct store_row *row)
{
    struct request_key *key = context;
    memcpy(key->bytes, row->key.data, row->key.size);
    key->size = row->key.size;
    return false;
}

/* Finds the next actor. Returns TR_NOT_FOUND if there is none. */
static tr_status check_next(struct check *check)
{
    static const tr_bytes none = {NULL, 0};
    for (;;) {
        struct request_key next = {.size = 0};
        tr_status status = TR_OK;
        if (check->kind[0])
            status = tr__store_list_keys(check->stored.reader,
                                         check->kind,
                                         none,
                                         request_key_bytes(&check->after),
                                         1,
                                         on_key,
                                         &next);
        check->after = next;
        if (status != TR_OK || next.size)
            return status;
        char before[TR_NAME_MAX + 1];
        memcpy(before, check->kind, sizeof before);
        status = tr__store_next_kind(check->stored.reader, before[0] ? before : NULL, check->kind);
        if (status != TR_OK)
            return status;
    }
}

/* Ends the check of an actor. An actor that was destroyed during the check does not count as
 * damaged. */
static tr_status actor_end(struct visitor *visitor, struct check *check, tr_status found)
{
    struct json_line *line = &visitor->output;
    check->part = CHECK_OVER;
    if (found == TR_OK || found == TR_NOT_FOUND) {
        check->actors += found == TR_OK;
        return TR_OK;
    }
    /* These two statuses say nothing about the actor. A read gets TR_STORE_BUSY if a compaction locks it out for
     * long. */
    if (found == TR_NO_MEMORY || found == TR_STORE_BUSY)
        return found;
    check->damaged++;
    tr__visitor_begin(visitor, visitor->request->id, true);
    tr__json_string(line, "kind", check->kind);
    tr__json_key(line, "key", request_key_bytes(&check->after));
    tr__json_string(line, "status", tr_status_name(found));
    tr__visitor_end(visitor);
    return found == TR_STORE_FAILED ? found : TR_OK;
}

/* Checks some rows or pages of the current actor. If that actor is done, begins with the next one.
 * Returns TR_NOT_FOUND when all actors were checked. */
static tr_status check_some(struct visitor *visitor, struct check *check)
{
    tr_status found = TR_OK;
    if (check->part == CHECK_OVER) {
        tr_status status = check_next(check);
        if (status != TR_OK)
            return status;
        check->part = CHECK_STATE;
    }
    if (check->part == CHECK_PAGES)
        found = pages_check(check);
    else
        found = rows_check(visitor, check);
    bool has_more =
        found == TR_OK && (check->part != CHECK_PAGES || check->page < check->page_last);
    return has_more ? TR_OK : actor_end(visitor, check, found);
}

static bool check_step(struct visitor *visitor)
{
    struct check *check = visitor->work;
    struct json_line *line = &visitor->output;
    const struct control_request *request = visitor->request;
    tr_status status = is_stopping(visitor) ? TR_STOPPED : check_some(visitor, check);
    if (status == TR_OK)
        return false;
    if (status != TR_NOT_FOUND) {
        tr__stored_refuse(visitor, request, status);
        return true;
    }
    tr__visitor_begin(visitor, request->id, false);
    tr__json_unsigned(line, "actors", check->actors);
    tr__json_unsigned(line, "damaged", check->damaged);
    tr__visitor_end(visitor);
    return true;
}

void tr__verb_store_check(struct visitor *visitor, const struct control_request *request)
{
    struct stored stored;
    if (!tr__stored_begin(visitor, request, &stored))
        return;
    struct check *check = source_resize(stored.source, NULL, sizeof *check);
    if (!check) {
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the check");
        return;
    }
    *check = (struct check){.stored = stored, .part = CHECK_OVER};
    tr__visitor_steps(visitor, JOB_STEPS, check_step, check, check_free);
    visitor->work_tell = check_tell;
}

/* ---- One actor from a backup. ---- */

/* The data of an actor, read from a backup. */
struct restored {
    struct store *store;
    struct store_reader *reader;
    struct store_state state;
    void *bytes; /* the bytes of the state */
    struct export_rows rows;
};

static void restored_free(const struct memory_source *source, struct restored *restored)
{
    tr__export_free(&restored->rows);
    source_resize(source, restored->bytes, 0);
    tr__store_reader_free(restored->reader);
    if (restored->store)
        tr__store_close(restored->store);
}

/* Opens the backup for reading only, and reads the actor. */
static tr_status restored_read(const struct stored *stored, const char *directory, const char *kind,
                               tr_bytes key, struct restored *restored, tr_error *error)
{
    const struct store_options options = {
        .source = *stored->source, .path = directory, .is_read_only = true};
    *restored = (struct restored){.rows = {.source = stored->source}};
    tr_status status = tr__store_open(&options, &restored->store, error);
    if (status == TR_OK) {
        /* the text is about a file that need not exist, so drop it */
        *error = (tr_error){.status = TR_OK};
        status = tr__store_reader_new(restored->store, &restored->reader);
    }
    if (status == TR_OK)
        status = tr__store_read_state(restored->reader, kind, key, &restored->state);
    if (status != TR_OK)
        return status;
    size_t size = restored->state.bytes.size;
    restored->bytes = source_resize(stored->source, NULL, size ? size : 1);
    if (!restored->bytes)
        return TR_NO_MEMORY;
    if (size)
        memcpy(restored->bytes, restored->state.bytes.data, size);
    restored->state.bytes.data = restored->bytes;
    const struct stored other = {.reader = restored->reader, .source = stored->source};
    return tr__export_read(&other, kind, key, restored->state.bytes, &restored->rows);
}

/* Sets *bytes to a copy of the bytes in memory of the batch. */
static tr_status batch_copy(struct store_batch *batch, tr_bytes *bytes)
{
    void *copy = tr__store_batch_alloc(batch, bytes->size ? bytes->size : 1);
    if (!copy)
        return TR_NO_MEMORY;
    if (bytes->size)
        memcpy(copy, bytes->data, bytes->size);
    bytes->data = copy;
    return TR_OK;
}

/* Puts the data from the backup into the batch, in place of the stored data of the actor. */
static tr_status restored_put(const struct stored *stored, const char *kind, tr_bytes key,
                              bool replaces, struct restored *restored, struct store_batch *batch)
{
    struct store_state now;
    tr_status status = tr__store_read_state(stored->reader, kind, key, &now);
    if (status == TR_OK && !replaces && !now.is_doomed)
        return TR_NAME_EXISTS;
    if (status == TR_OK)
        status = tr__store_destroy(batch);
    else if (status == TR_NOT_FOUND)
        status = TR_OK;
    if (status == TR_OK && restored->state.has_state) {
        status = batch_copy(batch, &restored->state.bytes);
        if (status == TR_OK)
            status = tr__store_put_state(batch, restored->state.version, restored->state.bytes);
    }
    return status == TR_OK ? tr__export_put_copies(&restored->rows.rows, batch) : status;
}

static void restore_refuse(struct visitor *visitor, const struct control_request *request,
                           tr_status status, const tr_error *error)
{
    tr__audit(visitor, request, status);
    const char *why = error->text[0] ? error->text : tr_status_text(status);
    if (status == TR_NAME_EXISTS)
        why = "the actor exists; --replace replaces it";
    else if (status == TR_NOT_FOUND && !error->text[0])
        why = "the backup does not have the actor";
    tr__visitor_refuse(visitor, request->id, status, "%s", why);
}

void tr__verb_store_restore(struct visitor *visitor, const struct control_request *request)
{
    struct stored stored;
    struct request_key key;
    struct restored restored;
    struct store_batch *batch;
    tr_error error = {.status = TR_OK};
    if (!tr__request_name(visitor, request, &key) || !tr__stored_begin(visitor, request, &stored))
        return;
    tr_bytes bytes = request_key_bytes(&key);
    const char *directory = tr__request_directory(visitor, request);
    if (!directory)
        return;
    tr_status status = restored_read(&stored, directory, request->kind, bytes, &restored, &error);
    if (status != TR_OK) {
        restore_refuse(visitor, request, status, &error);
        restored_free(stored.source, &restored);
        return;
    }
    struct change *change =
        tr__change_begin(visitor, request, &stored, request->kind, bytes, &batch);
    if (change) {
        status = restored_put(&stored, request->kind, bytes, request->writes, &restored, batch);
        if (status == TR_OK) {
            tr__change_submit(visitor, change, NULL);
        } else {
            restore_refuse(visitor, request, status, &error);
            tr__change_drop(change);
        }
    }
    restored_free(stored.source, &restored);
}
