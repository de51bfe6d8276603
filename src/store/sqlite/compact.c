/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Compaction: SQLite copies the rows into a new file, which then takes the place of the database.
 *
 * 1. The log is cut. Nothing is committed until the compaction ends. So the whole store is in the
 *    database file.
 * 2. VACUUM INTO makes `troupe.db-new`. The VFS gives its pages their sums, and its first page the
 *    mark of a store, as it does for the database.
 * 3. That file is synced, and locked as the database is.
 * 4. Readers are locked out for the moment in which the new file gets the name of the database.
 *    After that the index of the log says that the database has changed. So each connection drops
 *    its cache, and opens the file that has the name now (vfs.c).
 * 5. The directory is synced. Batches are committed only after that. Before the sync, a power cut
 *    could bring back the earlier file under the name, and the log of the new file would not fit
 *    the earlier file.
 *
 * So after a crash the name belongs to one of the two files. Both files have the same rows, and the
 * log is empty. The log does not grow during a compaction. SQLite's VACUUM in place would write the
 * whole store into the log.
 */
#include "store/sqlite/compact.h"

#include "store/sqlite/check.h"
#include "store/sqlite/make.h"
#include "store/sqlite/place.h"
#include "store/sqlite/session.h"
#include "store/sqlite/tidy.h"
#include "store/sqlite/vfs_watch.h"

#include "os/file.h"
#include "os/plain_file.h"

#include <stdio.h>

/* How long a compaction waits for readers. Most readers read only a few rows; a view of an operator
 * may take longer. */
#define COMPACT_READERS_NS (1 * TR_SECOND)
/* While one reader reads for a long time, the other readers are locked out for this time, then admitted for this time,
 * and so on. */
#define COMPACT_BAR_NS (10 * TR_MILLISECOND)

/* Writes the text of why the compaction has failed, and returns the status. */
static tr_status compact_refuse(struct store_why *why, tr_status status, const char *text)
{
    (void)snprintf(why->text, sizeof why->text, "compacting: %.300s", text);
    return status;
}

static void admit_readers(struct store_session *session, tr_time until_ns)
{
    const tr_platform *platform = session->source.platform;
    tr__shm_admit(&session->vfs.shm);
    while (platform->mono_now(platform) < until_ns)
        platform->yield(platform);
}

/*
 * Locks readers out, and waits for readers that are reading. The caller must admit readers again, even after
 * TR_STORE_BUSY.
 */
static tr_status bar_readers(struct store_session *session, struct store_why *why)
{
    const tr_platform *platform = session->source.platform;
    tr_time begin_ns = platform->mono_now(platform);
    tr_time waited_ns = 0;
    while (!tr__shm_bar(&session->vfs.shm)) {
        if (waited_ns >= COMPACT_READERS_NS)
            return compact_refuse(why, TR_STORE_BUSY, "somebody reads for too long");
        if (waited_ns % (2 * COMPACT_BAR_NS) >= COMPACT_BAR_NS)
            admit_readers(session, begin_ns + waited_ns + COMPACT_BAR_NS);
        platform->yield(platform);
        waited_ns = platform->mono_now(platform) - begin_ns;
    }
    return TR_OK;
}

/*
 * Cuts the log while readers are locked out. A reader that tries to begin nevertheless holds a lock until it finds that
 * it must wait. Meanwhile the status of a cut is TR_STORE_BUSY. So this function repeats the cut until it gets another
 * status, for at most COMPACT_READERS_NS.
 */
static tr_status cut_barred(struct store_session *session, struct store_why *why)
{
    const tr_platform *platform = session->source.platform;
    tr_time deadline_ns = platform->mono_now(platform) + COMPACT_READERS_NS;
    tr_status status = tr__session_restart(session, true, why);
    while (status == TR_STORE_BUSY && platform->mono_now(platform) < deadline_ns) {
        platform->yield(platform);
        status = tr__session_restart(session, true, why);
    }
    return status;
}

/* Step 1. Writes most of the log before it locks readers out, so that readers wait only for a short
 * time. */
static tr_status cut_log(struct store_session *session, struct store_why *why)
{
    tr_status status = tr__session_restart(session, true, why);
    if (status != TR_STORE_BUSY)
        return status;
    status = bar_readers(session, why);
    if (status == TR_OK)
        status = cut_barred(session, why);
    tr__shm_admit(&session->vfs.shm);
    return status;
}

/* Makes the new file (steps 2 and 3). */
static tr_status make_new(struct store_session *session, const atom32 *is_cancelled, int fd,
                          struct store_why *why)
{
    tr_error error;
    struct vfs *vfs = &session->vfs;
    struct link *link = &session->writer;
    char *text = sqlite3_mprintf("VACUUM INTO %Q", vfs->new_path);
    if (!text)
        return compact_refuse(why, TR_NO_MEMORY, "out of memory");
    vfs->stops = is_cancelled;
    tr_status status = tr__link_execute(link, text);
    vfs->stops = NULL;
    sqlite3_free(text);
    if (status == TR_STORE_FULL && is_cancelled && atom32_load(is_cancelled, ATOM_RELAXED))
        return compact_refuse(why, TR_CANCELLED, "stopped; nothing has changed");
    if (status != TR_OK) {
        char failure[sizeof why->text];
        tr__make_text_by(vfs, link, failure, sizeof failure);
        return compact_refuse(why, status, failure);
    }
    status = tr__plain_file_sync(&(struct plain_file){.fd = fd, .path = vfs->new_path}, &error);
    return status ? compact_refuse(why, status, error.text) : TR_OK;
}

/* Gives the new file the name of the database (step 4). */
static tr_status replace(struct store_session *session, struct store_why *why)
{
    tr_error error;
    struct vfs *vfs = &session->vfs;
    tr_status status = bar_readers(session, why);
    if (status == TR_OK && !tr__shm_renew(&vfs->shm))
        status = compact_refuse(why, TR_STORE_BUSY, "the log is not empty");
    if (status == TR_OK) {
        status = tr__vfs_replace(vfs, &error);
        if (status != TR_OK)
            (void)compact_refuse(why, status, error.text);
    }
    tr__shm_admit(&vfs->shm);
    return status;
}

/* Does steps 2 to 4. Sets *fd to the descriptor that locks the new file. Never returns
 * TR_STORE_FAILED, because a failure concerns only the new file. */
static tr_status compact(struct store_session *session, const atom32 *is_cancelled, int *fd,
                         struct store_why *why)
{
    tr_error error;
    const char *path = session->vfs.new_path;
    tr_status status = tr__plain_file_remove(path, false, &error);
    if (status == TR_OK)
        status = tr__place_lock_database(path, fd, &error);
    if (status != TR_OK)
        (void)compact_refuse(why, status, error.text);
    if (status == TR_OK)
        status = make_new(session, is_cancelled, *fd, why);
    if (status == TR_OK)
        status = replace(session, why);
    if (status == TR_OK)
        return TR_OK;
    (void)!tr__plain_file_remove(path, false, NULL);
    return status == TR_STORE_FAILED ? TR_FAILED : status;
}

/* Does step 5. Also empties the old file, which has lost its name, to free its space. Connections
 * that have not read since step 4 still have the old file open. If the old file has another name,
 * as after a copy by hard links, it belongs to somebody else and is not emptied. */
static tr_status settle(struct store_session *session, int *fd, struct store_why *why)
{
    tr_error error;
    int before = session->database_fd;
    session->database_fd = *fd;
    *fd = before;
    tr_status status = tr__place_sync(session, &error);
    /* if the path of the database is a symbolic link, sync the directory of its target too */
    if (status == TR_OK)
        status = tr__os_directory_sync_parent(session->vfs.path, &error);
    if (status != TR_OK) {
        atom32_store(&session->is_failed, 1, ATOM_RELEASE); /* pairs with close_links */
        return compact_refuse(why, TR_STORE_FAILED, error.text);
    }
    const struct plain_file replaced = {.fd = before, .path = session->vfs.path};
    if (!tr__plain_file_has_name(&replaced))
        (void)!tr__plain_file_resize(&replaced, 0, NULL);
    return tr__session_check_files(session, why);
}

tr_status tr__session_shrink(struct store_session *session, const atom32 *is_cancelled,
                             struct store_why *why)
{
    int fd = -1;
    if (!session->directory)
        return compact_refuse(why, TR_NOT_SUPPORTED, "a store in memory has no files");
    (void)compact_refuse(why, TR_OK, "the log could not be cut");
    tr_status status = cut_log(session, why);
    if (status == TR_OK)
        status = compact(session, is_cancelled, &fd, why);
    if (status == TR_OK)
        status = settle(session, &fd, why);
    tr__os_file_unlock(fd);
    return status;
}

/* Finds the program to which a store belongs. The store must not be open. */
static tr_status owner_find(const struct store_options *options, char *name, tr_error *error)
{
    uint64_t epoch;
    struct store_session *session = NULL;
    struct store_options reads = *options;
    reads.is_read_only = true;
    tr_status status = tr__session_open(&reads, &session, &epoch, error);
    if (status || !session)
        return status;
    status = tr__make_read_row(session, NULL, name, error);
    tr__session_close(session);
    return status;
}

tr_status tr__session_compact(const struct store_options *options, struct store_compact *report,
                              tr_error *error)
{
    uint64_t epoch;
    struct store_why why;
    char owner[TR_NAME_MAX + 1];
    struct store_options owned = *options;
    struct store_session *session = NULL;
    *report = (struct store_compact){0};
    tr_status status = tr__check_place(options, &report->bytes_before, error);
    if (status == TR_OK && !options->program) {
        status = owner_find(options, owner, error);
        owned.program = owner;
    }
    if (status == TR_OK)
        status = tr__session_open(&owned, &session, &epoch, error);
    if (status || !session)
        return status;
    status = tr__session_shrink(session, NULL, &why);
    tr__session_close(session);
    if (status != TR_OK)
        return tr__make_refuse(error, status, "%s", why.text);
    return tr__check_place(options, &report->bytes_after, error);
}
