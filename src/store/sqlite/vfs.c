/* SPDX-License-Identifier: Apache-2.0 */
/** The file layer of SQLite: see vfs.h. */
#include "store/sqlite/vfs.h"

#include "store/sqlite/log.h"
#include "store/sqlite/page_sum.h"
#include "store/sqlite/vfs_names.h"
#include "store/sqlite/vfs_watch.h"
#include "store/sqlite/vfs_world.h"

#include <stdint.h>
#include <stdio.h>

/* Bytes that SQLite has written to the log and that are not in the file yet. */
struct vfs_held {
    unsigned char *bytes; /* NULL: nothing was held so far */
    int size;
    sqlite3_int64 offset;
    int lost; /* the error of a write of the current transaction; SQLITE_OK: none has failed */
    bool is_listed; /* vfs.log_held is this file */
};

struct vfs_file {
    sqlite3_file base; /* SQLite uses it; must be the first member */
    struct vfs *vfs;
    const char *path; /* in memory of the VFS or of SQLite; "": the file has no name */
    bool is_database;
    bool is_log;
    bool is_new;       /* the new database of a compaction, which only one connection uses */
    bool is_closed;    /* the real file was closed and could not be opened again */
    bool is_dirty;     /* this connection has written to the file since its last sync */
    int pages_written; /* pages written since write_out last gave pages to the disk */
    int flags;         /* flags with which the file is opened again */
    uint32_t replaced; /* value of vfs.replaced when this file was opened */
    struct shm_user user;
    struct disk_file *virtual;
    struct vfs_held held; /* only a log has something here */
    /* The file of the real VFS. Its size is what the real VFS requires. SQLite aligns files to 8
     * bytes. */
    _Alignas(8) unsigned char real[];
};

/* How many bytes a log grows at once, on disk and in memory. Steps have no benefit in memory. There
 * they only let tests reach the code for steps, so LOG_STEP_VIRTUAL is small. */
enum { LOG_STEP = 256 * 1024, LOG_STEP_VIRTUAL = 5 * PAGE_SIZE };

/* How many bytes of the log are written at once at most: 16 frames. The virtual disk gets at most 3
 * frames, so that tests with small transactions reach this limit too. */
enum { LOG_FRAME = 24 + PAGE_SIZE, HELD_MAX = 16 * LOG_FRAME, HELD_MAX_VIRTUAL = 3 * LOG_FRAME };

/* SQLite's number for the lock that a connection has while it writes to the log. */
enum { LOG_WRITE_LOCK = 0 };

/* Two bytes in the first page of a database say whether it uses a log. VACUUM INTO makes a database
 * that uses no log, so the VFS replaces these bytes when it writes or reads that page. */
enum { HEAD_VERSIONS = 18, HEAD_UNDO = 1, HEAD_LOG = 2 };

static const char sqlite_magic[VFS_MAGIC_SIZE] = "SQLite format 3";
static const char store_magic[VFS_MAGIC_SIZE] = "Troupe store 3\n";

static struct vfs_file *file_of(sqlite3_file *file)
{
    return (struct vfs_file *)(void *)file;
}

static sqlite3_file *real_of(struct vfs_file *file)
{
    return (sqlite3_file *)(void *)file->real;
}

static struct vfs *vfs_of(sqlite3_vfs *base)
{
    return (struct vfs *)(void *)base;
}

static tr_status ask_hook(const struct vfs *vfs, enum store_io io, const char *path,
                          sqlite3_int64 offset, int size)
{
    if (!vfs->hook.on_io)
        return TR_OK;
    return vfs->hook.on_io(vfs->hook.context, io, path, (uint64_t)offset, (size_t)size);
}

/* Keeps which operation has failed, for the error text that is made from SQLite's result. `code` is
 * the error number of the operating system, or 0. If two threads fail at the same time, the later
 * failure is kept. */
static int vfs_fail(struct vfs *vfs, const char *what, const char *path, int code, int result)
{
    lock_take(&vfs->shm.lock);
    vfs->failure = (struct vfs_failure){what, path, code};
    lock_give(&vfs->shm.lock);
    return result;
}

/* If `result` says that the operation has failed, does what vfs_fail does. Returns `result`. */
static int vfs_note(struct vfs *vfs, const char *what, const char *path, int result)
{
    bool is_well = result == SQLITE_OK || result == SQLITE_IOERR_SHORT_READ;
    return is_well
               ? result
               : vfs_fail(vfs, what, path, vfs->real->xGetLastError(vfs->real, 0, NULL), result);
}

/* Returns SQLite's result for a status. For a status that is not listed here, returns `io_error`,
 * which is the result for an IO error of the operation. */
static int result_of(tr_status status, int io_error)
{
    switch (status) {
    case TR_OK:
        return SQLITE_OK;
    case TR_STORE_FULL:
        return SQLITE_FULL;
    case TR_NO_MEMORY:
        return SQLITE_IOERR_NOMEM;
    default:
        return io_error;
    }
}

static int open_real(struct vfs_file *file, sqlite3_filename path, int flags, int *out_flags);

/* Whether the path of this open database now names another file. */
static bool is_replaced(const struct vfs_file *file)
{
    return file->is_database && !file->is_new && !file->virtual &&
           file->replaced != atom32_load(&file->vfs->replaced, ATOM_ACQUIRE);
}

/* If the path of the database now names another file, opens that file in place of the old one. A
 * connection calls this before each use of the real file. It never finds such a change in the
 * middle of a transaction, because tr__vfs_replace runs only when no connection is in a
 * transaction. */
static int file_renew(struct vfs_file *file)
{
    struct vfs *vfs = file->vfs;
    uint32_t replaced = atom32_load(&vfs->replaced, ATOM_ACQUIRE); /* pairs with tr__vfs_replace */
    if (file->replaced == replaced || !file->is_database || file->is_new || file->virtual)
        return SQLITE_OK;
    if (!file->is_closed)
        (void)real_of(file)->pMethods->xClose(real_of(file));
    int result = open_real(file, vfs->path, file->flags, NULL);
    file->is_closed = result != SQLITE_OK;
    if (!file->is_closed)
        file->replaced = replaced;
    return result;
}

static int file_close(sqlite3_file *base)
{
    struct vfs_file *file = file_of(base);
    if (file->held.is_listed)
        file->vfs->log_held = NULL;
    source_resize(&file->vfs->source, file->held.bytes, 0);
    tr__shm_unmap(&file->vfs->shm, &file->user);
    (void)tr__shm_unlock_file(&file->vfs->shm, &file->user, SQLITE_LOCK_NONE);
    if (file->virtual) {
        tr__disk_close(file->virtual);
        return SQLITE_OK;
    }
    return file->is_closed ? SQLITE_OK : real_of(file)->pMethods->xClose(real_of(file));
}

static bool is_whole_page(const struct vfs_file *file, int size, sqlite3_int64 offset)
{
    return file->is_database && size == PAGE_SIZE && offset % PAGE_SIZE == 0;
}

static int read_bytes(struct vfs_file *file, void *memory, int size, sqlite3_int64 offset)
{
    if (file->virtual) {
        size_t got = 0;
        tr_status status =
            tr__disk_read(file->virtual, memory, (size_t)size, (uint64_t)offset, &got);
        int result = result_of(status, SQLITE_IOERR_READ);
        return result == SQLITE_OK && got < (size_t)size ? SQLITE_IOERR_SHORT_READ : result;
    }
    if (ask_hook(file->vfs, STORE_IO_READ, file->path, offset, size) != TR_OK)
        return SQLITE_IOERR_READ;
    int result;
    do { /* loop as file_size does */
        if (file_renew(file) != SQLITE_OK)
            return SQLITE_IOERR_READ;
        result = real_of(file)->pMethods->xRead(real_of(file), memory, size, offset);
    } while (is_replaced(file));
    return vfs_note(file->vfs, "read", file->path, result);
}

static int log_flush(struct vfs_file *file);
static int file_device(sqlite3_file *base);

static int file_read(sqlite3_file *base, void *memory, int size, sqlite3_int64 offset)
{
    struct vfs_file *file = file_of(base);
    int result = log_flush(file);
    if (result == SQLITE_OK)
        result = read_bytes(file, memory, size, offset);
    /* Put SQLite's magic into the page, because the sum was computed with it. */
    if (file->is_database && offset == 0 && size >= VFS_MAGIC_SIZE &&
        memcmp(memory, store_magic, VFS_MAGIC_SIZE) == 0)
        memcpy(memory, sqlite_magic, VFS_MAGIC_SIZE);
    if (result == SQLITE_OK && is_whole_page(file, size, offset) &&
        !page_is_sound(memory, (uint64_t)offset / PAGE_SIZE + 1))
        result = SQLITE_CORRUPT;
    if (file->is_new && offset <= HEAD_VERSIONS && offset + size >= HEAD_VERSIONS + 2)
        memset((char *)memory + (HEAD_VERSIONS - offset), HEAD_UNDO, 2);
    return result;
}

static int write_bytes(struct vfs_file *file, const void *memory, int size, sqlite3_int64 offset)
{
    const atom32 *stops = file->vfs->stops;
    if (file->vfs->is_read_only && *file->path)
        return SQLITE_READONLY;
    if (stops && atom32_load(stops, ATOM_RELAXED))
        return SQLITE_FULL;
    file->is_dirty = true;
    if (file->virtual)
        return result_of(tr__disk_write(file->virtual, memory, (size_t)size, (uint64_t)offset),
                         SQLITE_IOERR_WRITE);
    tr_status status = ask_hook(file->vfs, STORE_IO_WRITE, file->path, offset, size);
    if (status != TR_OK && status != TR_STORE_FULL)
        return SQLITE_IOERR_WRITE;
    int written = file_renew(file);
    if (written == SQLITE_OK)
        written = real_of(file)->pMethods->xWrite(
            real_of(file), memory, status ? size / 2 : size, offset);
    return status ? SQLITE_FULL : vfs_note(file->vfs, "write", file->path, written);
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
    struct vfs_file *file = file_of(base);
    if (!file->virtual) {
        int result;
        do { /* the path names another file now, and this file may have been emptied, so read again */
            result = file_renew(file);
            if (result == SQLITE_OK)
                result = real_of(file)->pMethods->xFileSize(real_of(file), size);
        } while (result == SQLITE_OK && is_replaced(file));
        return result;
    }
    *size = (sqlite3_int64)tr__disk_file_size(file->virtual);
    return SQLITE_OK;
}

static int sync_bytes(struct vfs_file *file, int flags)
{
    if (file->virtual)
        return result_of(tr__disk_sync(file->virtual, !file->is_database), SQLITE_IOERR_FSYNC);
    if (ask_hook(file->vfs, STORE_IO_SYNC, file->path, 0, 0) != TR_OK)
        return SQLITE_IOERR_FSYNC;
    int result = file_renew(file);
    if (result == SQLITE_OK)
        result = real_of(file)->pMethods->xSync(real_of(file), flags);
    return vfs_note(file->vfs, "sync", file->path, result);
}

/* Fills the end of the log. The bytes cannot be taken for a frame, nor for the end of a frame,
 * because the last bytes of a frame are zeros or the sum of a page. */
static int log_fill(struct vfs_file *file, sqlite3_int64 from, int size)
{
    unsigned char *filler = source_resize(&file->vfs->source, NULL, (size_t)size);
    if (!filler)
        return SQLITE_NOMEM;
    memset(filler, UINT8_MAX, (size_t)size);
    int result = write_bytes(file, filler, size, from);
    source_resize(&file->vfs->source, filler, 0);
    return result;
}

/* Makes the log so long that a write up to `end` leaves VFS_LOG_TAIL bytes after it, and makes the
 * new length durable before that write. So if a log has no such tail after its last frame, the
 * reason is not a power cut; somebody has truncated the log (log.c).
 *
 * The log grows by many frames at once. Syncing a file that has become longer takes several times
 * as long, because the file system must store the new length too. If the disk has no space for many
 * frames, tries again with only the bytes that this write needs. */
static int log_grow(struct vfs_file *file, sqlite3_int64 end)
{
    struct vfs *vfs = file->vfs;
    int step = file->virtual ? LOG_STEP_VIRTUAL : LOG_STEP;
    sqlite3_int64 size = 0;
    int result = file_size(&file->base, &size);
    if (result == SQLITE_OK && (uint64_t)size < atom64_load(&vfs->log_end, ATOM_RELAXED))
        return vfs_fail(
            /* Something outside of the store has truncated the file. */
            vfs,
            "find the end of",
            file->path,
            0,
            SQLITE_IOERR_WRITE);
    sqlite3_int64 missing = end + VFS_LOG_TAIL - size;
    if (result == SQLITE_OK && missing > 0) {
        result = missing > step - PAGE_SIZE ? SQLITE_FULL
                                            : log_fill(file, size, step - (int)(size % PAGE_SIZE));
        if (result == SQLITE_FULL || result == SQLITE_NOMEM)
            result = log_fill(file, size, (int)missing);
        if (result == SQLITE_OK && !vfs->is_sync_off)
            result = sync_bytes(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
        if (result == SQLITE_OK)
            result = file_size(&file->base, &size);
    }
    atom64_store(&vfs->log_end, result == SQLITE_OK ? (uint64_t)size : 0, ATOM_RELEASE);
    return result;
}

/*
 * Writes the bytes that are held to the file. After an error, fails until the end of the transaction. So the transaction
 * cannot be committed, and SQLite takes it back. Does nothing for other files than a log.
 */
static int log_flush(struct vfs_file *file)
{
    struct vfs_held *held = &file->held;
    if (held->size > 0 && held->lost == SQLITE_OK)
        held->lost = write_bytes(file, held->bytes, held->size, held->offset);
    held->size = 0;
    return held->lost;
}

/* Returns the log that holds writes, if this connection has SQLite's lock for writing the log. Otherwise returns NULL. */
static struct vfs_file *held_by(const struct vfs_file *database)
{
    if (!(database->user.exclusive & (UINT32_C(1) << LOG_WRITE_LOCK)) || !database->vfs->log_held)
        return NULL;
    return file_of(database->vfs->log_held);
}

/*
 * Before a connection gives SQLite's lock for writing the log back. What is held now belongs to a transaction that was
 * taken back, because a commit has synced the log. So an error does no harm.
 */
static void end_holding(struct vfs_file *database)
{
    struct vfs_file *log = held_by(database);
    if (!log)
        return;
    (void)log_flush(log);
    log->held.lost = SQLITE_OK;
    log->held.is_listed = false;
    database->vfs->log_held = NULL;
}

/*
 * Whether writes to this log may be held. SQLite then syncs the log with each commit, before another connection can know
 * of its frames, and an error of the write is an error of that sync. Without POWERSAFE_OVERWRITE SQLite writes frames
 * after that sync too.
 */
static bool may_hold(struct vfs_file *file)
{
    return !file->vfs->is_sync_off && !file->vfs->is_read_only &&
           (file_device(&file->base) & SQLITE_IOCAP_POWERSAFE_OVERWRITE);
}

/*
 * Adds to the bytes that are held, if there is space and the write continues them. SQLite writes the header and the page
 * of a frame separately, and each frame separately. One write for many frames takes less than half of the time.
 */
static bool log_hold(struct vfs_file *file, const void *memory, int size, sqlite3_int64 offset)
{
    struct vfs_held *held = &file->held;
    int max = file->virtual ? HELD_MAX_VIRTUAL : HELD_MAX;
    if (size > max - held->size || (held->size > 0 && offset != held->offset + held->size))
        return false;
    if (held->size == 0) {
        if (!may_hold(file))
            return false;
        if (!held->bytes)
            held->bytes = source_resize(&file->vfs->source, NULL, (size_t)max);
        if (!held->bytes)
            return false;
        held->offset = offset;
        held->is_listed = true;
        file->vfs->log_held = &file->base;
    }
    memcpy(held->bytes + held->size, memory, (size_t)size);
    held->size += size;
    return true;
}

/* Writes to the log. The calling connection has SQLite's lock for writing the log. */
static int log_write(struct vfs_file *file, const void *memory, int size, sqlite3_int64 offset)
{
    int result = SQLITE_OK;
    uint64_t end = (uint64_t)(offset + size);
    if (end + VFS_LOG_TAIL > atom64_load(&file->vfs->log_end, ATOM_RELAXED))
        result = log_grow(file, offset + size);
    if (result != SQLITE_OK || log_hold(file, memory, size, offset))
        return result;
    result = log_flush(file);
    if (result != SQLITE_OK || log_hold(file, memory, size, offset))
        return result;
    return write_bytes(file, memory, size, offset);
}

/*
 * Lets the disk write the pages of a checkpoint, a few pages at a time. Otherwise the sync at the end of the checkpoint
 * would give the disk a thousand pages at once. The sync of a commit, which needs only one write, would then wait
 * behind them.
 */
static void write_out(struct vfs_file *file)
{
    const struct vfs *vfs = file->vfs;
    bool is_real = vfs->database_fd && *vfs->database_fd >= 0 && !file->is_new;
    if (!is_real || vfs->is_sync_off || ++file->pages_written < VFS_PAGES_AT_ONCE)
        return;
    file->pages_written = 0;
    tr__os_file_write_out(*vfs->database_fd);
}

static int file_write(sqlite3_file *base, const void *memory, int size, sqlite3_int64 offset)
{
    struct vfs_file *file = file_of(base);
    if (file->is_log)
        return log_write(file, memory, size, offset);
    if (!is_whole_page(file, size, offset))
        return write_bytes(file, memory, size, offset);
    unsigned char page[PAGE_SIZE];
    memcpy(page, memory, PAGE_SIZE);
    if (file->is_new && offset == 0)
        memset(page + HEAD_VERSIONS, HEAD_LOG, 2);
    page_seal(page, (uint64_t)offset / PAGE_SIZE + 1);
    if (offset == 0 && file->vfs->is_marked && memcmp(page, sqlite_magic, VFS_MAGIC_SIZE) == 0)
        memcpy(page, store_magic, VFS_MAGIC_SIZE);
    int result = write_bytes(file, page, size, offset);
    if (!file->is_new)
        vfs_changed(&file->vfs->changes, (uint64_t)offset / PAGE_SIZE);
    write_out(file);
    return result;
}

bool tr__vfs_page_is_sound(const unsigned char *page, uint64_t number)
{
    unsigned char first[PAGE_SIZE];
    if (number == 1 && memcmp(page, store_magic, VFS_MAGIC_SIZE) == 0) {
        memcpy(first, page, PAGE_SIZE);
        memcpy(first, sqlite_magic, VFS_MAGIC_SIZE);
        page = first;
    }
    return page_is_sound(page, number);
}

static int truncate_bytes(struct vfs_file *file, sqlite3_int64 size)
{
    if (file->vfs->is_read_only && *file->path)
        return SQLITE_READONLY;
    if (file->virtual)
        return result_of(tr__disk_truncate(file->virtual, (uint64_t)size), SQLITE_IOERR_TRUNCATE);
    if (ask_hook(file->vfs, STORE_IO_TRUNCATE, file->path, size, 0) != TR_OK)
        return SQLITE_IOERR_TRUNCATE;
    int result = file_renew(file);
    if (result == SQLITE_OK)
        result = real_of(file)->pMethods->xTruncate(real_of(file), size);
    return vfs_note(file->vfs, "truncate", file->path, result);
}

/* Shortens the log to `size` bytes and the tail. Everything after `size` is in the database. If no
 * frame is left, first writes and syncs a new header that no old frame matches. Without the new
 * header, a power cut during the truncation could leave the first frames, and these would be taken
 * for the whole log. */
static int log_truncate(struct vfs_file *file, sqlite3_int64 size)
{
    struct vfs *vfs = file->vfs;
    unsigned char header[VFS_LOG_HEADER];
    sqlite3_int64 now = 0;
    int result = log_flush(file);
    if (result == SQLITE_OK)
        result = file_size(&file->base, &now);
    /* Pairs with log_is_cut. The next write finds the end of the log again. */
    atom64_store(&vfs->log_end, 0, ATOM_RELEASE);
    if (result == SQLITE_OK && size < VFS_LOG_HEADER) {
        size = VFS_LOG_HEADER;
        tr__log_make_header(&vfs->source, header);
        result = write_bytes(file, header, VFS_LOG_HEADER, 0);
        now = now < size ? size : now;
        if (result == SQLITE_OK && now < size + VFS_LOG_TAIL)
            result = log_fill(file, now, (int)(size + VFS_LOG_TAIL - now));
        if (result == SQLITE_OK && !vfs->is_sync_off)
            result = sync_bytes(file, SQLITE_SYNC_NORMAL);
    }
    if (result == SQLITE_OK && now > size + VFS_LOG_TAIL)
        result = truncate_bytes(file, size + VFS_LOG_TAIL);
    return result;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct vfs_file *file = file_of(base);
    sqlite3_int64 now = 0;
    if (file->is_log)
        return log_truncate(file, size);
    /*
     * When the whole log is in the database, SQLite truncates the database, usually to the length that the file has
     * already. Skip that, because it would wait for the journal of the file system, and a commit would wait for it.
     */
    if (file->is_database && file_size(base, &now) == SQLITE_OK && now == size)
        return SQLITE_OK;
    /* Lower the limit before the file becomes shorter. Otherwise a check at that moment would report damage. */
    if (file->is_database && !file->is_new &&
        (uint64_t)size < atom64_load(&file->vfs->database_least, ATOM_RELAXED))
        atom64_store(&file->vfs->database_least,
                     (uint64_t)size,
                     ATOM_RELEASE); /* pairs with tr__vfs_missing */
    return truncate_bytes(file, size);
}

static int file_sync(sqlite3_file *base, int flags)
{
    int result = log_flush(file_of(base));
    if (result != SQLITE_OK)
        return result;
    file_of(base)->is_dirty = false;
    return sync_bytes(file_of(base), flags);
}

/* Locks the database file. The new database of a compaction is not locked, because only one
 * connection uses it. */
static int file_lock(sqlite3_file *base, int level)
{
    if (file_of(base)->is_new)
        return SQLITE_OK;
    return tr__shm_lock_file(&file_of(base)->vfs->shm, &file_of(base)->user, level);
}

static int file_unlock(sqlite3_file *base, int level)
{
    if (file_of(base)->is_new)
        return SQLITE_OK;
    return tr__shm_unlock_file(&file_of(base)->vfs->shm, &file_of(base)->user, level);
}

static int file_check_reserved(sqlite3_file *base, int *result)
{
    *result = !file_of(base)->is_new && tr__shm_is_reserved(&file_of(base)->vfs->shm);
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int operation, void *argument)
{
    struct vfs_file *file = file_of(base);
    if (file->virtual || file_renew(file) != SQLITE_OK)
        return SQLITE_NOTFOUND;
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int file_sector_size(sqlite3_file *base)
{
    struct vfs_file *file = file_of(base);
    return file->virtual || file_renew(file) != SQLITE_OK
               ? PAGE_SIZE
               : real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int file_device(sqlite3_file *base)
{
    struct vfs_file *file = file_of(base);
    /* Virtual files behave as files of Linux do. A torn write does not damage the bytes beside the
     * written range. */
    return file->virtual || file_renew(file) != SQLITE_OK
               ? SQLITE_IOCAP_POWERSAFE_OVERWRITE
               : real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int file_shm_map(sqlite3_file *base, int index, int size, int extend, void volatile **region)
{
    return tr__shm_map(
        &file_of(base)->vfs->shm, &file_of(base)->user, index, size, extend != 0, region);
}

static int file_shm_lock(sqlite3_file *base, int first, int count, int flags)
{
    if ((flags & SQLITE_SHM_UNLOCK) && first == LOG_WRITE_LOCK)
        end_holding(file_of(base));
    return tr__shm_lock(&file_of(base)->vfs->shm, &file_of(base)->user, first, count, flags);
}

static void file_shm_barrier(sqlite3_file *base)
{
    /* Other connections may read the frames after this. The sync of the commit has written them already, if SQLite syncs
     * each commit, as it should. */
    struct vfs_file *log = held_by(file_of(base));
    if (log)
        (void)log_flush(log);
    tr__shm_barrier(&file_of(base)->vfs->shm);
}

static int file_shm_unmap(sqlite3_file *base, int is_deleted)
{
    (void)is_deleted;
    tr__shm_unmap(&file_of(base)->vfs->shm, &file_of(base)->user);
    return SQLITE_OK;
}

static const sqlite3_io_methods file_methods = {
    /* Version 2 has no mapped files. In a mapped file, an error of the disk would become a
     * signal. */
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_device,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

static int open_real(struct vfs_file *file, sqlite3_filename path, int flags, int *out_flags)
{
    struct vfs *vfs = file->vfs;
    int given_flags = 0;
    if (vfs->is_watched && !file->is_new && (file->is_database || file->is_log))
        flags &= ~SQLITE_OPEN_CREATE;
    int result = vfs->real->xOpen(vfs->real, path, real_of(file), flags, &given_flags);
    if (result != SQLITE_OK)
        return vfs_note(vfs, "open", file->path, result);
    if (out_flags)
        *out_flags = given_flags;
    /* If SQLite cannot open a file for writing, it opens the file for reading only. Refuse that. */
    bool is_bare = (flags & SQLITE_OPEN_READWRITE) && (given_flags & SQLITE_OPEN_READONLY);
    if (!is_bare && !tr__vfs_is_strange(vfs, file->path))
        return SQLITE_OK;
    (void)real_of(file)->pMethods->xClose(real_of(file));
    return vfs_fail(vfs, is_bare ? "write" : "find again", file->path, 0, SQLITE_CANTOPEN);
}

static int open_virtual(struct vfs_file *file, sqlite3_filename path, int flags, int *out_flags)
{
    bool may_create = (flags & SQLITE_OPEN_CREATE) != 0;
    tr_status status = tr__disk_open(file->vfs->disk, path, may_create, &file->virtual);
    if (status == TR_NO_MEMORY)
        return SQLITE_NOMEM;
    if (status == TR_OK && out_flags)
        *out_flags = flags;
    return status == TR_OK ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int vfs_open(sqlite3_vfs *base, sqlite3_filename path, sqlite3_file *opened, int flags,
                    int *out_flags)
{
    struct vfs *vfs = vfs_of(base);
    struct vfs_file *file = file_of(opened);
    *file = (struct vfs_file){
        .vfs = vfs,
        .is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0,
        .is_log = (flags & SQLITE_OPEN_WAL) != 0,
        .flags = flags,
        /* Read this before the file is opened. If the path gets another file after that, the file
         * is opened again. */
        .replaced = atom32_load(&vfs->replaced, ATOM_ACQUIRE), /* pairs with tr__vfs_replace */
    };
    path = path ? tr__vfs_name_of(vfs, path) : NULL;
    file->is_new = path == vfs->new_path;
    if (file->is_log && vfs->has_no_log) {
        path = NULL;
        flags = SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                SQLITE_OPEN_EXCLUSIVE | SQLITE_OPEN_DELETEONCLOSE;
    }
    file->path = file->is_database && !file->is_new ? vfs->path : path ? path : "";
    int result = vfs->disk ? open_virtual(file, path, flags, out_flags)
                           : open_real(file, path, flags, out_flags);
    /* SQLite does not close a file without methods. */
    opened->pMethods = result == SQLITE_OK ? &file_methods : NULL;
    return result;
}

/* Empties the log. SQLite wants to delete it, but the log exists as long as the store. */
static int log_empty(struct vfs *vfs)
{
    sqlite3_file *log;
    tr_status status = tr__vfs_open_log(vfs, &log);
    if (status != TR_OK)
        return status == TR_NO_MEMORY ? SQLITE_NOMEM : SQLITE_IOERR_DELETE;
    int result = log_truncate(file_of(log), 0);
    tr__vfs_close_log(vfs, log);
    return result;
}

static int vfs_delete(sqlite3_vfs *base, const char *path, int is_synced)
{
    struct vfs *vfs = vfs_of(base);
    path = tr__vfs_name_of(vfs, path);
    if (vfs->is_read_only)
        return SQLITE_READONLY;
    if (path == vfs->log_path)
        return log_empty(vfs);
    if (vfs->disk) {
        tr_status status = tr__disk_delete(vfs->disk, path, is_synced != 0);
        return status == TR_NOT_FOUND ? SQLITE_IOERR_DELETE_NOENT
                                      : result_of(status, SQLITE_IOERR_DELETE);
    }
    if (ask_hook(vfs, STORE_IO_DELETE, path, 0, 0) != TR_OK)
        return SQLITE_IOERR_DELETE;
    int result = vfs->real->xDelete(vfs->real, path, is_synced);
    return result == SQLITE_IOERR_DELETE_NOENT ? result : vfs_note(vfs, "delete", path, result);
}

static int vfs_access(sqlite3_vfs *base, const char *path, int flags, int *result)
{
    struct vfs *vfs = vfs_of(base);
    path = tr__vfs_name_of(vfs, path);
    *result = 0;
    if (path == vfs->log_path && vfs->has_no_log)
        return SQLITE_OK;
    if (!vfs->disk)
        return vfs->real->xAccess(vfs->real, path, flags, result);
    *result = tr__disk_has(vfs->disk, path);
    return SQLITE_OK;
}

static int vfs_full_pathname(sqlite3_vfs *base, const char *path, int size, char *result)
{
    struct vfs *vfs = vfs_of(base);
    if (!vfs->disk)
        return vfs->real->xFullPathname(vfs->real, path, size, result);
    int length = snprintf(result, (size_t)size, "%s", path);
    return length < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int vfs_last_error(sqlite3_vfs *base, int size, char *text)
{
    struct vfs *vfs = vfs_of(base);
    return vfs->disk ? 0 : vfs->real->xGetLastError(vfs->real, size, text);
}

tr_status tr__vfs_init(struct vfs *vfs, const struct memory_source *source, struct store_disk *disk,
                       const char *path, const struct store_io_hook *hook)
{
    if (sqlite3_initialize() != SQLITE_OK)
        return TR_NO_MEMORY;
    sqlite3_vfs *real = sqlite3_vfs_find("unix");
    if (!real && !disk)
        return TR_NOT_SUPPORTED;
    *vfs = (struct vfs){.real = real, .disk = disk, .source = *source};
    if (!tr__vfs_make_names(vfs, path))
        return TR_NO_MEMORY;
    if (hook)
        vfs->hook = *hook;
    tr__shm_init(&vfs->shm, source);
    lock_init(&vfs->place_lock);
    tr__vfs_changes_init(&vfs->changes);
    (void)snprintf(vfs->name, sizeof vfs->name, "troupe-%p", (void *)vfs);
    vfs->base = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = (int)sizeof(struct vfs_file) + (disk ? 0 : real->szOsFile),
        .mxPathname = disk ? 512 : real->mxPathname,
        .zName = vfs->name,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_pathname,
        .xGetLastError = vfs_last_error,
    };
    tr__vfs_set_world(&vfs->base);
    if (sqlite3_vfs_register(&vfs->base, 0) == SQLITE_OK)
        return TR_OK;
    tr__shm_deinit(&vfs->shm);
    source_resize(&vfs->source, vfs->names, 0);
    return TR_NO_MEMORY;
}

int tr__vfs_sync(sqlite3 *database)
{
    sqlite3_file *file = NULL;
    int result = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (result != SQLITE_OK || !file || !file->pMethods || !file_of(file)->is_dirty)
        return result;
    return file_sync(file, SQLITE_SYNC_NORMAL);
}

void tr__vfs_deinit(struct vfs *vfs)
{
    (void)sqlite3_vfs_unregister(&vfs->base);
    tr__shm_deinit(&vfs->shm);
    source_resize(&vfs->source, vfs->names, 0);
}

enum vfs_look tr__vfs_look(struct vfs *vfs, sqlite3_file *database)
{
    char magic[VFS_MAGIC_SIZE];
    vfs->is_marked = false;
    if (read_bytes(file_of(database), magic, VFS_MAGIC_SIZE, 0) != SQLITE_OK)
        return VFS_LOOK_NOTHING;
    vfs->is_marked = memcmp(magic, store_magic, VFS_MAGIC_SIZE) == 0;
    bool is_plain = memcmp(magic, sqlite_magic, VFS_MAGIC_SIZE) == 0;
    return vfs->is_marked ? VFS_LOOK_MARKED : is_plain ? VFS_LOOK_PLAIN : VFS_LOOK_GARBAGE;
}
