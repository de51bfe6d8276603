/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Copies the files of an open store.
 *
 * Only checkpoints write the database file; commits append to the log. So:
 *
 * 1. Rounds copy the database while checkpoints may run. Pages that are written meanwhile are noted
 *    (vfs_changes.h), and the next round copies them again. Rounds end when a round had little to
 *    do, or after COPY_ROUNDS rounds.
 * 2. With checkpoints on hold, the last round copies the pages that are left. During the hold the
 *    database file does not change. The database file and the committed frames of the log together
 *    are the store at its last commit. These frames do not change either, because a log restarts
 *    only when the whole log is in the database.
 * 3. The log is copied up to the last commit. The copy gets a tail that is not a frame (log.c).
 *    During the hold the log can restart only if the whole log was in the database before. A log
 *    that restarts gets a new header before its frames are overwritten. So if the header has
 *    changed, the log is copied again.
 */
#include "store/sqlite/copy.h"

#include "store/sqlite/make.h"
#include "store/sqlite/page_sum.h"
#include "store/sqlite/place.h"

#include "os/file.h"
#include "os/plain_file.h"

#include <stdio.h>

enum {
    COPY_CHUNK = 64, /* pages that are read at once */
    /* after a round with at most this many pages, the next round is the last */
    COPY_REST_PAGES = 1000,
    COPY_ROUNDS = 16,
    /* How often the log is copied at most. Few attempts are needed, because the log restarts at
     * most once a second and one attempt takes less time. */
    COPY_LOG_TRIES = 8,
    FRAME = 24 + PAGE_SIZE,
};

struct copy {
    struct store_session *session;
    const struct store_backup_call *call;
    tr_error *error;
    struct plain_file from;
    struct plain_file to;
    uint64_t pages;    /* pages that were copied at least once */
    uint64_t unsynced; /* bytes */
    uint64_t copied;   /* bytes */
    uint64_t total;    /* size of the database in bytes */
    /* Checkpoints are on hold. So a page that does not match its sum is damaged. */
    bool is_last;
    char directory[OS_PATH_SIZE]; /* path.part */
    char name[OS_PATH_SIZE];      /* path of the file that is being written */
    unsigned char chunk[COPY_CHUNK * PAGE_SIZE];
};

/* Counts bytes that were written. After each STORE_BACKUP_STEP bytes syncs the new file, so that
 * each sync has little to do, and calls on_step. */
static tr_status copy_count(struct copy *copy, size_t size)
{
    copy->copied += size;
    copy->unsynced += size;
    if (copy->unsynced < STORE_BACKUP_STEP)
        return TR_OK;
    copy->unsynced = 0;
    /* Do not sync during the hold, because the hold should be short. Little is left to sync
     * then. */
    tr_status status = copy->is_last ? TR_OK : tr__plain_file_sync(&copy->to, copy->error);
    const struct store_backup_progress progress = {copy->copied, copy->total};
    if (status == TR_OK && copy->call->on_step &&
        !copy->call->on_step(copy->call->context, &progress))
        return tr__make_refuse(copy->error, TR_CANCELLED, "the backup was cancelled");
    if (status == TR_OK && !copy->is_last)
        copy->call->rest(copy->call->store);
    return status;
}

/* Checks the sums of pages that were read. Before the hold, a page that does not match is perhaps
 * not damaged, because it may have been read while it was being written. */
static tr_status check_pages(struct copy *copy, uint64_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char *page = copy->chunk + i * PAGE_SIZE;
        if (tr__vfs_page_is_sound(page, first + i + 1))
            continue;
        if (copy->is_last)
            return tr__make_refuse(copy->error,
                                   TR_STORE_CORRUPT,
                                   "%s: page %llu does not match its sum",
                                   copy->from.path,
                                   (unsigned long long)first + i + 1);
        tr__vfs_changes_add(&copy->session->vfs.changes, first + i);
    }
    return TR_OK;
}

/* Copies the pages from `first` to before `end`, which are counted from 0. */
static tr_status copy_pages(struct copy *copy, uint64_t first, uint64_t end)
{
    tr_status status = TR_OK;
    while (first < end && status == TR_OK) {
        size_t count = end - first < COPY_CHUNK ? (size_t)(end - first) : COPY_CHUNK;
        size_t size = count * PAGE_SIZE;
        size_t got;
        status = tr__plain_file_read(
            &copy->from, first * PAGE_SIZE, copy->chunk, size, &got, copy->error);
        if (status == TR_OK && got < size)
            return tr__make_refuse(
                copy->error, TR_STORE_CORRUPT, "%s was truncated meanwhile", copy->from.path);
        if (status == TR_OK)
            status = check_pages(copy, first, count);
        if (status == TR_OK)
            status =
                tr__plain_file_write(&copy->to, first * PAGE_SIZE, copy->chunk, size, copy->error);
        if (status == TR_OK)
            status = copy_count(copy, size);
        first += count;
    }
    return status;
}

static bool has_bit(const uint64_t *bits, uint64_t page)
{
    return bits[page / 64] >> page % 64 & 1;
}

/* Copies the pages whose bits are set. Sets *count to their number. */
static tr_status copy_noted(struct copy *copy, const uint64_t *bits, uint64_t *count)
{
    tr_status status = TR_OK;
    for (uint64_t first = 0, end; first < copy->pages && status == TR_OK; first = end + 1) {
        for (end = first; end < copy->pages && has_bit(bits, end); end++)
            continue;
        status = copy_pages(copy, first, end);
        *count += end - first;
    }
    return status;
}

/* Copies the pages that were written since the previous round. The first round copies all pages.
 * Sets *count to the number of copied pages. */
static tr_status copy_round(struct copy *copy, uint64_t *count)
{
    struct memory_source *source = &copy->session->source;
    struct vfs_changes *changes = &copy->session->vfs.changes;
    *count = 0;
    tr_status status = tr__plain_file_size(&copy->from, &copy->total, copy->error);
    uint64_t pages = copy->total / PAGE_SIZE;
    size_t size = (size_t)(pages / 64 + 1) * sizeof(uint64_t);
    uint64_t *bits = status == TR_OK ? source_resize(source, NULL, size) : NULL;
    if (!bits)
        return status ? status : tr__make_refuse(copy->error, TR_NO_MEMORY, "no memory for a copy");
    memset(bits, 0, size);
    uint64_t *noted = tr__vfs_changes_swap(changes, bits, pages);
    if (pages < copy->pages)
        copy->pages = pages;
    if (noted)
        status = copy_noted(copy, noted, count);
    source_resize(source, noted, 0);
    if (status == TR_OK)
        status = copy_pages(copy, copy->pages, pages);
    *count += pages - copy->pages;
    copy->pages = pages;
    return status;
}

static tr_status copy_rounds(struct copy *copy)
{
    uint64_t count = 0;
    tr_status status = TR_OK;
    for (int i = 0; i < COPY_ROUNDS && status == TR_OK; i++) {
        status = copy_round(copy, &count);
        if (count <= COPY_REST_PAGES)
            break;
    }
    /* Sync now, so that little is left for the last sync after the hold. */
    return status ? status : tr__plain_file_sync(&copy->to, copy->error);
}

/* Opens a file of the store, and makes the file with the same name in the copy. */
static tr_status copy_open(struct copy *copy, const char *from, const char *name)
{
    (void)snprintf(
        copy->name, sizeof copy->name, "%.*s/%s", OS_PATH_SIZE / 2, copy->directory, name);
    tr_status status = tr__plain_file_open(&copy->from, from, copy->error);
    if (status == TR_OK)
        status = tr__plain_file_make(&copy->to, copy->name, copy->error);
    return status == TR_NOT_FOUND ? TR_STORE_FAILED : status;
}

static void copy_close(struct copy *copy)
{
    tr__plain_file_close(&copy->from);
    tr__plain_file_close(&copy->to);
}

/* Copies the first `end` bytes of the log. */
static tr_status copy_frames(struct copy *copy, uint64_t end)
{
    tr_status status = TR_OK;
    for (uint64_t at = 0; at < end && status == TR_OK;) {
        size_t size = end - at < sizeof copy->chunk ? (size_t)(end - at) : sizeof copy->chunk;
        size_t got;
        status = tr__plain_file_read(&copy->from, at, copy->chunk, size, &got, copy->error);
        if (status == TR_OK && got < size)
            return tr__make_refuse(
                copy->error, TR_STORE_CORRUPT, "%s was truncated meanwhile", copy->from.path);
        if (status == TR_OK)
            status = tr__plain_file_write(&copy->to, at, copy->chunk, size, copy->error);
        if (status == TR_OK)
            status = copy_count(copy, size);
        at += size;
    }
    return status;
}

static tr_status read_header(struct copy *copy, unsigned char header[VFS_LOG_HEADER])
{
    size_t got;
    memset(header, 0, VFS_LOG_HEADER);
    return tr__plain_file_read(&copy->from, 0, header, VFS_LOG_HEADER, &got, copy->error);
}

/* Copies the committed frames of the log (rule 3). */
static tr_status copy_log(struct copy *copy)
{
    for (int i = 0; i < COPY_LOG_TRIES; i++) {
        unsigned char before[VFS_LOG_HEADER];
        unsigned char after[VFS_LOG_HEADER];
        tr_status status = read_header(copy, before);
        /* Read log_seen only now, after the header was read. So the number belongs to the log with
         * this header, or to a later log. */
        uint64_t frames =
            atom32_load(&copy->session->log_seen, ATOM_ACQUIRE); /* pairs with sqlite/tidy.c */
        uint64_t end = VFS_LOG_HEADER + frames * FRAME;
        if (status == TR_OK)
            status = copy_frames(copy, end);
        if (status == TR_OK)
            status = read_header(copy, after);
        if (status != TR_OK)
            return status;
        if (memcmp(before, after, VFS_LOG_HEADER) != 0)
            continue;
        memset(copy->chunk, UINT8_MAX, VFS_LOG_TAIL);
        status = tr__plain_file_write(&copy->to, end, copy->chunk, VFS_LOG_TAIL, copy->error);
        return status ? status : tr__plain_file_resize(&copy->to, end + VFS_LOG_TAIL, copy->error);
    }
    return tr__make_refuse(
        copy->error, TR_STORE_BUSY, "%s restarts too often to be copied", copy->from.path);
}

/* Copies the database. Unless the copy fails, also begins the hold of checkpoints. */
static tr_status copy_database(struct copy *copy, struct plain_file *database)
{
    uint64_t count;
    struct store_session *session = copy->session;
    tr_status status = copy_open(copy, session->vfs.path, "troupe.db");
    if (status == TR_OK)
        status = copy_rounds(copy);
    if (status != TR_OK)
        return status;
    copy->call->hold(copy->call->store);
    copy->is_last = true;
    status = copy_round(copy, &count);
    if (status == TR_OK) /* the file may be shorter now than in the first round */
        status = tr__plain_file_resize(&copy->to, copy->pages * PAGE_SIZE, copy->error);
    *database = copy->to;
    copy->to.fd = -1;
    return status;
}

static tr_status copy_files(struct copy *copy)
{
    struct store_session *session = copy->session;
    struct plain_file database = {.fd = -1};
    tr_status status = copy_database(copy, &database);
    source_resize(&session->source, tr__vfs_changes_swap(&session->vfs.changes, NULL, 0), 0);
    tr__plain_file_close(&copy->from);
    if (status == TR_OK)
        status = copy_open(copy, session->vfs.log_path, "troupe.db-log");
    if (status == TR_OK)
        status = copy_log(copy);
    if (copy->is_last)
        copy->call->give(copy->call->store);
    if (status == TR_OK)
        status = tr__plain_file_sync(&copy->to, copy->error);
    database.path = session->vfs.path;
    if (status == TR_OK)
        status = tr__plain_file_sync(&database, copy->error);
    tr__plain_file_close(&database);
    return status;
}

/* Makes the lock file in the copy, whose text says that the directory has a store. */
static tr_status copy_sign(struct copy *copy)
{
    static const char text[] = PLACE_SIGN;
    (void)snprintf(copy->name, sizeof copy->name, "%.*s/lock", OS_PATH_SIZE / 2, copy->directory);
    tr_status status = tr__plain_file_make(&copy->to, copy->name, copy->error);
    if (status == TR_OK)
        status = tr__plain_file_write(&copy->to, 0, text, sizeof text - 1, copy->error);
    return status ? status : tr__plain_file_sync(&copy->to, copy->error);
}

/* Removes the files that an unfinished backup has left, and no other files. */
static tr_status copy_remove(struct copy *copy, tr_error *error)
{
    static const char *const names[] = {"lock", "troupe.db", "troupe.db-log"};
    tr_status status = TR_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names && status == TR_OK; i++) {
        (void)snprintf(
            copy->name, sizeof copy->name, "%.*s/%s", OS_PATH_SIZE / 2, copy->directory, names[i]);
        status = tr__plain_file_remove(copy->name, false, error);
    }
    return status ? status : tr__plain_file_remove(copy->directory, true, error);
}

/* Makes `path`.part, copies the store into it, and gives it the name `path`. */
static tr_status copy_all(struct copy *copy)
{
    tr_error *error = copy->error;
    const char *path = copy->call->path;
    tr_status status = copy_remove(copy, error);
    if (status == TR_OK)
        status = tr__os_directory_make(copy->directory, error);
    if (status == TR_OK)
        status = copy_files(copy);
    copy_close(copy);
    if (status == TR_OK)
        status = copy_sign(copy);
    copy_close(copy);
    if (status == TR_OK)
        status = tr__os_directory_sync(copy->directory, error);
    if (status == TR_OK)
        status = tr__os_file_rename(copy->directory, path, error);
    if (status != TR_OK) {
        (void)!copy_remove(copy, NULL);
        return status;
    }
    return tr__os_directory_sync_parent(path, error);
}

tr_status tr__session_backup(struct store_session *session, const struct store_backup_call *call,
                             tr_error *error)
{
    struct os_file_id id;
    if (!session->directory)
        return tr__make_refuse(error, TR_NOT_SUPPORTED, "a store in memory has no files to copy");
    if (strnlen(call->path, OS_PATH_SIZE) >= OS_PATH_SIZE / 2 || !*call->path)
        return tr__make_refuse(error, TR_INVALID_ARGUMENT, "invalid path of a backup");
    tr_status status = tr__os_file_find(call->path, &id, error);
    if (status == TR_OK)
        return tr__make_refuse(error, TR_NAME_EXISTS, "%s already exists", call->path);
    if (status != TR_NOT_FOUND)
        return status;
    struct copy *copy = source_resize(&session->source, NULL, sizeof *copy);
    if (!copy)
        return tr__make_refuse(error, TR_NO_MEMORY, "no memory for a copy");
    *copy = (struct copy){
        .session = session, .call = call, .error = error, .from = {.fd = -1}, .to = {.fd = -1}};
    (void)snprintf(copy->directory, sizeof copy->directory, "%s.part", call->path);
    status = copy_all(copy);
    source_resize(&session->source, copy, 0);
    return status;
}
