/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verbs "store backup" and "store compact". Each of them runs on a thread of its own, because
 * it waits for the disk. The thread of the socket must meanwhile serve other clients.
 */
#include "observe/store_backup.h"

#include <string.h>

#include "actor/cell/system.h"
#include "observe/audit.h"
#include "observe/durables.h"
#include "observe/store_care.h"
#include "os/atomic.h"
#include "os/thread.h"
#include "store/backup.h"
#include "store/read.h"

struct backup {
    struct backup *next; /* next backup in observer.left */
    const tr_platform *platform;
    tr_thread *thread;
    struct store *store;
    atom32 is_cancelled;
    atom32 is_done;
    atom64 copied_bytes;
    atom64 total_bytes;
    uint64_t written_bytes;         /* of a backup: size of its files at the end */
    struct store_compact compacted; /* of a compaction */
    tr_status status;
    tr_error error;
    char path[BACKUP_PATH_SIZE]; /* directory of the copy; "": this is a compaction */
    bool is_audited;
    struct audit audit;
};

static bool on_step(void *context, const struct store_backup_progress *progress)
{
    struct backup *backup = context;
    atom64_store(&backup->copied_bytes, progress->copied_bytes, ATOM_RELAXED);
    atom64_store(&backup->total_bytes, progress->total_bytes, ATOM_RELAXED);
    return !atom32_load(&backup->is_cancelled, ATOM_RELAXED);
}

/* Returns the size of the files of a backup. The progress does not say it: it counts a page again that was copied
 * again, and comes only after each STORE_BACKUP_STEP bytes. */
static uint64_t files_bytes(const char *directory)
{
    static const char *const names[] = {"troupe.db", "troupe.db-log", "lock"};
    uint64_t bytes = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        bytes += tr__store_file_size(directory, names[i]);
    return bytes;
}

static void backup_main(void *context)
{
    struct backup *backup = context;
    tr__thread_step_back(); /* commits are more urgent than a backup, so lower the priority */
    if (backup->path[0])
        backup->status =
            tr__store_backup(backup->store, backup->path, on_step, backup, &backup->error);
    else
        backup->status = tr__store_shrink(
            backup->store, &backup->is_cancelled, &backup->compacted, &backup->error);
    if (backup->path[0] && backup->status == TR_OK)
        backup->written_bytes = files_bytes(backup->path);
    atom32_store(&backup->is_done, 1, ATOM_RELEASE); /* pairs with backup_step */
}

/* Ends the work of a visitor. The client has gone, or has its answer. The backup may still run, and
 * the thread of the socket must not wait until it ends. */
static void backup_free(struct visitor *visitor, void *work)
{
    struct backup *backup = work;
    struct observer *observer = visitor->observer;
    atom32_store(&backup->is_cancelled, 1, ATOM_RELAXED);
    backup->next = observer->left;
    observer->left = backup;
}

void tr__backups_collect(struct observer *observer, bool waits)
{
    struct backup **at = &observer->left;
    while (*at) {
        struct backup *backup = *at;
        if (!waits && !atom32_load(&backup->is_done, ATOM_ACQUIRE)) { /* pairs with backup_main */
            at = &backup->next;
            continue;
        }
        *at = backup->next;
        backup->platform->thread_join(backup->platform, backup->thread);
        if (!backup->is_audited)
            tr__audit_write(observer->system, &backup->audit, true, tr_status_name(backup->status));
        source_resize(observer->source, backup, 0);
    }
}

static void backup_tell(struct visitor *visitor)
{
    const struct backup *backup = visitor->work;
    if (!backup->path[0])
        return;
    tr__json_unsigned(&visitor->output, "bytes", atom64_load(&backup->copied_bytes, ATOM_RELAXED));
    tr__json_unsigned(
        &visitor->output, "bytes_total", atom64_load(&backup->total_bytes, ATOM_RELAXED));
}

static bool backup_step(struct visitor *visitor)
{
    struct backup *backup = visitor->work;
    const struct control_request *request = visitor->request;
    /* The program is ending and must not wait for the backup, so cancel it. */
    if (atom32_load(&visitor->observer->system->ending.is_stopping, ATOM_RELAXED))
        atom32_store(&backup->is_cancelled, 1, ATOM_RELAXED);
    if (!atom32_load(&backup->is_done, ATOM_ACQUIRE)) /* pairs with backup_main */
        return false;
    tr__audit_write(
        visitor->observer->system, &backup->audit, false, tr_status_name(backup->status));
    backup->is_audited = true;
    if (backup->status != TR_OK) {
        tr__visitor_refuse(visitor,
                           request->id,
                           backup->status,
                           backup->path[0] ? "no backup: %.400s" : "not compacted: %.400s",
                           backup->error.text[0] ? backup->error.text
                                                 : tr_status_text(backup->status));
        return true;
    }
    tr__visitor_begin(visitor, request->id, false);
    if (backup->path[0]) {
        tr__json_string(&visitor->output, "path", backup->path);
        tr__json_unsigned(&visitor->output, "bytes", backup->written_bytes);
    } else {
        tr__json_unsigned(&visitor->output, "bytes_before", backup->compacted.bytes_before);
        tr__json_unsigned(&visitor->output, "bytes_after", backup->compacted.bytes_after);
    }
    tr__visitor_end(visitor);
    return true;
}

/* Starts the thread. `path` is the directory of the copy. If it is "", the thread compacts the
 * store. */
static void backup_start(struct visitor *visitor, const struct control_request *request,
                         const struct stored *stored, const char *path)
{
    struct backup *backup = source_resize(stored->source, NULL, sizeof *backup);
    if (!backup) {
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory");
        return;
    }
    *backup = (struct backup){.platform = stored->source->platform,
                              .store = tr__store_of(stored->reader)};
    tr__audit_of(&backup->audit, visitor, request);
    memcpy(backup->path, path, strlen(path) + 1);
    const tr_platform *platform = backup->platform;
    tr_status status =
        platform->thread_start(platform, "store care", backup_main, backup, &backup->thread);
    if (status != TR_OK) {
        source_resize(stored->source, backup, 0);
        tr__visitor_refuse(visitor, request->id, status, "no thread for %s", request->verb);
        return;
    }
    tr__visitor_steps(visitor, JOB_WAIT, backup_step, backup, backup_free);
    visitor->work_tell = backup_tell;
}

void tr__verb_store_backup(struct visitor *visitor, const struct control_request *request)
{
    struct stored stored;
    const char *path = tr__request_directory(visitor, request);
    if (path && tr__stored_begin(visitor, request, &stored))
        backup_start(visitor, request, &stored, path);
}

void tr__verb_store_compact(struct visitor *visitor, const struct control_request *request)
{
    struct stored stored;
    if (tr__stored_begin(visitor, request, &stored))
        backup_start(visitor, request, &stored, "");
}
