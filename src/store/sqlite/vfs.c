/* SPDX-License-Identifier: Apache-2.0 */
/**
 * SQLite's files: see vfs.h.
 */
#include "store/sqlite/vfs.h"

#include "store/sqlite/page_sum.h"

#include <stdint.h>
#include <stdio.h>

struct vfs_file {
    sqlite3_file base; /* first; SQLite's */
    struct vfs *vfs;
    const char *path; /* SQLite's; "" of one without a name */
    bool is_database;
    bool is_guard; /* holds the kernel's lock */
    bool is_log;
    bool is_dirty;         /* written to since the last sync by this opener */
    sqlite3_int64 log_end; /* Up to here a write does not make the log longer. */
    struct shm_user user;
    struct disk_file *virtual;
    /* The file of the real VFS, of as many bytes as that wants; SQLite aligns files to 8. */
    _Alignas(8) unsigned char real[];
};

/* By how much a log grows at once; in memory, where that gains nothing, by so much as shows in tests. */
enum { LOG_STEP = 256 * 1024, LOG_STEP_VIRTUAL = 4 * PAGE_SIZE };

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

/* What SQLite calls a status; `io_error` is what it calls an IO error of this operation. */
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

static int file_close(sqlite3_file *base)
{
    struct vfs_file *file = file_of(base);
    tr__shm_unmap(&file->vfs->shm, &file->user);
    (void)tr__shm_unlock_file(&file->vfs->shm, &file->user, SQLITE_LOCK_NONE);
    if (file->virtual) {
        tr__disk_close(file->virtual);
        return SQLITE_OK;
    }
    if (file->is_guard)
        file->vfs->is_guarded = false;
    return real_of(file)->pMethods->xClose(real_of(file));
}

static bool is_whole_page(const struct vfs_file *file, int size, sqlite3_int64 offset)
{
    return file->is_database && size == PAGE_SIZE && offset % PAGE_SIZE == 0;
}

static int file_read(sqlite3_file *base, void *memory, int size, sqlite3_int64 offset)
{
    struct vfs_file *file = file_of(base);
    int result;
    if (file->virtual) {
        size_t got = 0;
        tr_status status =
            tr__disk_read(file->virtual, memory, (size_t)size, (uint64_t)offset, &got);
        result = result_of(status, SQLITE_IOERR_READ);
        if (result == SQLITE_OK && got < (size_t)size)
            result = SQLITE_IOERR_SHORT_READ;
    } else if (ask_hook(file->vfs, STORE_IO_READ, file->path, offset, size) != TR_OK) {
        result = SQLITE_IOERR_READ;
    } else {
        result = real_of(file)->pMethods->xRead(real_of(file), memory, size, offset);
    }
    if (result == SQLITE_OK && is_whole_page(file, size, offset) &&
        !page_is_sound(memory, (uint64_t)offset / PAGE_SIZE + 1))
        result = SQLITE_CORRUPT;
    return result;
}

static int write_bytes(struct vfs_file *file, const void *memory, int size, sqlite3_int64 offset)
{
    file->is_dirty = true;
    if (file->virtual)
        return result_of(tr__disk_write(file->virtual, memory, (size_t)size, (uint64_t)offset),
                         SQLITE_IOERR_WRITE);
    tr_status status = ask_hook(file->vfs, STORE_IO_WRITE, file->path, offset, size);
    if (status != TR_OK && status != TR_STORE_FULL)
        return SQLITE_IOERR_WRITE;
    int written =
        real_of(file)->pMethods->xWrite(real_of(file), memory, status ? size / 2 : size, offset);
    return status ? SQLITE_FULL : written;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
    struct vfs_file *file = file_of(base);
    if (!file->virtual)
        return real_of(file)->pMethods->xFileSize(real_of(file), size);
    *size = (sqlite3_int64)tr__disk_file_size(file->virtual);
    return SQLITE_OK;
}

/*
 * A sync of a file that has become longer takes several times as long as one of a file that has not, since
 * the file system writes down the new length too. So the log, which nobody but who writes this frame
 * changes now, grows by many frames at once. What it grows by is no frame, nor the rest of one of which
 * a part was written: the last bytes of a page, which SQLite leaves alone, are zeros or a sum. A disk without
 * room for it may have some for the frames that are written.
 */
static int log_grow(struct vfs_file *file, sqlite3_int64 end)
{
    const struct memory_source *source = &file->vfs->source;
    int step = file->virtual ? LOG_STEP_VIRTUAL : LOG_STEP;
    sqlite3_int64 size = 0;
    int result = file_size(&file->base, &size);
    file->log_end = size;
    if (result != SQLITE_OK || size > end) /* a log that was there before is longer */
        return result;
    unsigned char *filler = source_resize(source, NULL, (size_t)step);
    if (!filler)
        return SQLITE_OK;
    memset(filler, UINT8_MAX, (size_t)step);
    step -= (int)(size % PAGE_SIZE);
    result = write_bytes(file, filler, step, size);
    source_resize(source, filler, 0);
    file->log_end = size + step;
    return result == SQLITE_FULL ? SQLITE_OK : result;
}

static int log_write(struct vfs_file *file, const void *memory, int size, sqlite3_int64 offset)
{
    int result = write_bytes(file, memory, size, offset);
    if (result == SQLITE_OK && offset + size > file->log_end)
        result = log_grow(file, offset + size);
    return result;
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
    page_seal(page, (uint64_t)offset / PAGE_SIZE + 1);
    return write_bytes(file, page, size, offset);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct vfs_file *file = file_of(base);
    file->log_end = 0; /* It is looked at again. */
    if (file->virtual)
        return result_of(tr__disk_truncate(file->virtual, (uint64_t)size), SQLITE_IOERR_TRUNCATE);
    if (ask_hook(file->vfs, STORE_IO_TRUNCATE, file->path, size, 0) != TR_OK)
        return SQLITE_IOERR_TRUNCATE;
    return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int file_sync(sqlite3_file *base, int flags)
{
    struct vfs_file *file = file_of(base);
    file->is_dirty = false;
    if (file->virtual)
        return result_of(tr__disk_sync(file->virtual, !file->is_database), SQLITE_IOERR_FSYNC);
    if (ask_hook(file->vfs, STORE_IO_SYNC, file->path, 0, 0) != TR_OK)
        return SQLITE_IOERR_FSYNC;
    return real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int file_lock(sqlite3_file *base, int level)
{
    return tr__shm_lock_file(&file_of(base)->vfs->shm, &file_of(base)->user, level);
}

static int file_unlock(sqlite3_file *base, int level)
{
    return tr__shm_unlock_file(&file_of(base)->vfs->shm, &file_of(base)->user, level);
}

static int file_check_reserved(sqlite3_file *base, int *result)
{
    *result = tr__shm_is_reserved(&file_of(base)->vfs->shm);
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int operation, void *argument)
{
    struct vfs_file *file = file_of(base);
    if (file->virtual)
        return SQLITE_NOTFOUND;
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int file_sector_size(sqlite3_file *base)
{
    struct vfs_file *file = file_of(base);
    return file->virtual ? PAGE_SIZE : real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int file_device(sqlite3_file *base)
{
    struct vfs_file *file = file_of(base);
    /* As files of Linux have it: a write that is torn harms nothing beside it. */
    return file->virtual ? SQLITE_IOCAP_POWERSAFE_OVERWRITE
                         : real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int file_shm_map(sqlite3_file *base, int index, int size, int extend, void volatile **region)
{
    return tr__shm_map(
        &file_of(base)->vfs->shm, &file_of(base)->user, index, size, extend != 0, region);
}

static int file_shm_lock(sqlite3_file *base, int first, int count, int flags)
{
    return tr__shm_lock(&file_of(base)->vfs->shm, &file_of(base)->user, first, count, flags);
}

static void file_shm_barrier(sqlite3_file *base)
{
    tr__shm_barrier(&file_of(base)->vfs->shm);
}

static int file_shm_unmap(sqlite3_file *base, int is_deleted)
{
    (void)is_deleted;
    tr__shm_unmap(&file_of(base)->vfs->shm, &file_of(base)->user);
    return SQLITE_OK;
}

static const sqlite3_io_methods file_methods = {
    .iVersion = 2, /* Without mapped files: an error of the disk would be a signal. */
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

/*
 * SQLite's own tools do not know our locks. So the first opener of the database takes the kernel's one
 * and keeps it: they say that the database is locked, and we say it if one of them was first.
 */
static int guard(struct vfs_file *file)
{
    static const int levels[] = {SQLITE_LOCK_SHARED, SQLITE_LOCK_RESERVED, SQLITE_LOCK_EXCLUSIVE};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        int result = real_of(file)->pMethods->xLock(real_of(file), levels[i]);
        if (result != SQLITE_OK)
            return result;
    }
    file->vfs->is_guarded = true;
    file->is_guard = true;
    return SQLITE_OK;
}

static int open_real(struct vfs_file *file, sqlite3_filename path, int flags, int *out_flags)
{
    struct vfs *vfs = file->vfs;
    int result = vfs->real->xOpen(vfs->real, path, real_of(file), flags, out_flags);
    if (result == SQLITE_OK && file->is_database && !vfs->is_guarded) {
        result = guard(file);
        if (result != SQLITE_OK)
            (void)real_of(file)->pMethods->xClose(real_of(file));
    }
    return result;
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
        .path = path ? path : "",
        .is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0,
        .is_log = (flags & SQLITE_OPEN_WAL) != 0,
    };
    int result = vfs->disk ? open_virtual(file, path, flags, out_flags)
                           : open_real(file, path, flags, out_flags);
    /* Without methods SQLite does not close it. */
    opened->pMethods = result == SQLITE_OK ? &file_methods : NULL;
    return result;
}

static int vfs_delete(sqlite3_vfs *base, const char *path, int is_synced)
{
    struct vfs *vfs = vfs_of(base);
    if (vfs->disk) {
        tr_status status = tr__disk_delete(vfs->disk, path, is_synced != 0);
        return status == TR_NOT_FOUND ? SQLITE_IOERR_DELETE_NOENT
                                      : result_of(status, SQLITE_IOERR_DELETE);
    }
    if (ask_hook(vfs, STORE_IO_DELETE, path, 0, 0) != TR_OK)
        return SQLITE_IOERR_DELETE;
    return vfs->real->xDelete(vfs->real, path, is_synced);
}

static int vfs_access(sqlite3_vfs *base, const char *path, int flags, int *result)
{
    struct vfs *vfs = vfs_of(base);
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

static int vfs_randomness(sqlite3_vfs *base, int size, char *result)
{
    const tr_platform *platform = vfs_of(base)->source.platform;
    for (int i = 0; i < size; i += 8) {
        uint64_t bits = platform->random(platform);
        memcpy(result + i, &bits, (size_t)(size - i < 8 ? size - i : 8));
    }
    return size;
}

static int vfs_sleep(sqlite3_vfs *base, int microseconds)
{
    /* For threads that wait for each other: where there is one thread, nobody does. */
    struct vfs *vfs = vfs_of(base);
    return vfs->real ? vfs->real->xSleep(vfs->real, microseconds) : microseconds;
}

/* Julian days, as SQLite counts: 1970 began in the middle of day 2440587. */
static int vfs_time_ms(sqlite3_vfs *base, sqlite3_int64 *ms)
{
    const tr_platform *platform = vfs_of(base)->source.platform;
    *ms = INT64_C(210866760000000) + platform->wall_now(platform) / TR_MILLISECOND;
    return SQLITE_OK;
}

static int vfs_time(sqlite3_vfs *base, double *days)
{
    sqlite3_int64 ms = 0;
    int result = vfs_time_ms(base, &ms);
    *days = (double)ms / 86400000.0;
    return result;
}

static int vfs_last_error(sqlite3_vfs *base, int size, char *text)
{
    struct vfs *vfs = vfs_of(base);
    return vfs->disk ? 0 : vfs->real->xGetLastError(vfs->real, size, text);
}

tr_status tr__vfs_init(struct vfs *vfs, const struct memory_source *source, struct store_disk *disk,
                       const struct store_io_hook *hook)
{
    if (sqlite3_initialize() != SQLITE_OK)
        return TR_NO_MEMORY;
    sqlite3_vfs *real = sqlite3_vfs_find("unix");
    if (!real && !disk)
        return TR_NOT_SUPPORTED;
    *vfs = (struct vfs){.real = real, .disk = disk, .source = *source};
    if (hook)
        vfs->hook = *hook;
    tr__shm_init(&vfs->shm, source);
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
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_time,
        .xGetLastError = vfs_last_error,
        .xCurrentTimeInt64 = vfs_time_ms,
    };
    return sqlite3_vfs_register(&vfs->base, 0) == SQLITE_OK ? TR_OK : TR_NO_MEMORY;
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
}
