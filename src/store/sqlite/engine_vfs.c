/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The file of an actor's own database. It consists of the actor's pages. Pages that are not on disk
 * yet are read from memory, all others from the store.
 *
 * There is one file, one connection and one thread at a time, so nothing is locked. Nothing is
 * synced here, because the batch that has the pages makes them durable. Journals are in memory
 * (engine.c), so no other file is ever opened.
 */
#include "store/sqlite/engine_vfs.h"

#include "store/sqlite/engine.h"
#include "store/sqlite/view_page.h"

#include <stdio.h>

struct engine_file {
    sqlite3_file base; /* must be the first member; used by SQLite */
    struct sql_engine *engine;
};

static struct sql_engine *engine_of(sqlite3_file *file)
{
    return ((struct engine_file *)(void *)file)->engine;
}

static int file_close(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

/* Reads the newest version of a page. If the page was never written, sets the bytes to zero. */
static tr_status page_read(struct sql_engine *engine, uint32_t number, unsigned char *bytes)
{
    struct store_sql *sql = engine->sql;
    const unsigned char *found = tr__pages_find(&sql->pages, number);
    if (found) {
        memcpy(bytes, found, STORE_PAGE_SIZE);
        return TR_OK;
    }
    tr_bytes name = {sql->name, sql->name_size};
    if (engine_must_end(engine))
        return TR_STORE_BUSY;
    tr_status status = tr__view_read_page(engine->view, name, number, bytes);
    if (status == TR_NOT_FOUND) {
        memset(bytes, 0, STORE_PAGE_SIZE);
        return TR_OK;
    }
    return status;
}

static int file_read(sqlite3_file *file, void *memory, int size, sqlite3_int64 offset)
{
    struct sql_engine *engine = engine_of(file);
    unsigned char page[STORE_PAGE_SIZE];
    sqlite3_int64 number = offset / STORE_PAGE_SIZE + 1;
    int within = (int)(offset % STORE_PAGE_SIZE);
    if (within + size > STORE_PAGE_SIZE)
        /* The database has another page size, so the runtime has not made it. */
        return SQLITE_IOERR_READ;
    if (number > engine->sql->pages.count) {
        memset(memory, 0, (size_t)size);
        return SQLITE_IOERR_SHORT_READ;
    }
    bool is_whole = size == STORE_PAGE_SIZE;
    tr_status status = page_read(engine, (uint32_t)number, is_whole ? memory : page);
    if (status != TR_OK) {
        engine->io = status;
        return status == TR_NO_MEMORY ? SQLITE_IOERR_NOMEM : SQLITE_IOERR_READ;
    }
    if (!is_whole)
        memcpy(memory, page + within, (size_t)size);
    return SQLITE_OK;
}

static int file_write(sqlite3_file *file, const void *memory, int size, sqlite3_int64 offset)
{
    struct sql_engine *engine = engine_of(file);
    if (size != STORE_PAGE_SIZE || offset % STORE_PAGE_SIZE != 0)
        return SQLITE_IOERR_WRITE;
    uint32_t number = (uint32_t)(offset / STORE_PAGE_SIZE + 1);
    tr_status status = tr__pages_stage(&engine->sql->pages, number, memory);
    if (status == TR_OK)
        return SQLITE_OK;
    engine->io = status;
    return SQLITE_IOERR_NOMEM;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    uint32_t count = (uint32_t)(size / STORE_PAGE_SIZE);
    return tr__pages_cut(&engine_of(file)->sql->pages, count) ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

static int file_sync(sqlite3_file *file, int flags)
{
    (void)file;
    (void)flags;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    *size = (sqlite3_int64)engine_of(file)->sql->pages.count * STORE_PAGE_SIZE;
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *file, int level)
{
    (void)file;
    (void)level;
    return SQLITE_OK;
}

static int file_check_reserved(sqlite3_file *file, int *result)
{
    (void)file;
    *result = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int operation, void *argument)
{
    (void)file;
    (void)operation;
    (void)argument;
    return SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *file)
{
    (void)file;
    return STORE_PAGE_SIZE;
}

static int file_device(sqlite3_file *file)
{
    (void)file;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods file_methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_device,
};

static struct store_session *session_of(sqlite3_vfs *vfs)
{
    return vfs->pAppData;
}

static int vfs_open(sqlite3_vfs *vfs, sqlite3_filename path, sqlite3_file *opened, int flags,
                    int *out_flags)
{
    (void)vfs;
    struct engine_file *file = (struct engine_file *)(void *)opened;
    opened->pMethods = NULL; /* SQLite does not close a file without methods. */
    if (!path || !(flags & SQLITE_OPEN_MAIN_DB))
        return SQLITE_CANTOPEN;
    /* The name of the file contains the address of the engine. No statement can open a file by a name of its own,
     * because ATTACH is refused. */
    file->engine = (struct sql_engine *)(uintptr_t)sqlite3_uri_int64(path, "engine", 0);
    if (!file->engine)
        return SQLITE_CANTOPEN;
    opened->pMethods = &file_methods;
    if (out_flags)
        *out_flags = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int is_synced)
{
    (void)vfs;
    (void)path;
    (void)is_synced;
    return SQLITE_IOERR_DELETE_NOENT;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *result)
{
    (void)vfs;
    (void)path;
    (void)flags;
    *result = 0; /* SQLite asks only for files of journals, and there are none. */
    return SQLITE_OK;
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *path, int size, char *result)
{
    (void)vfs;
    int length = snprintf(result, (size_t)size, "%s", path);
    return length < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

/* Time and randomness come from the platform, as they do for the store's own files. */
static int vfs_randomness(sqlite3_vfs *vfs, int size, char *result)
{
    sqlite3_vfs *base = &session_of(vfs)->vfs.base;
    return base->xRandomness(base, size, result);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return microseconds; /* no thread waits for a lock in this VFS, so there is no need to sleep */
}

static int vfs_time(sqlite3_vfs *vfs, double *days)
{
    sqlite3_vfs *base = &session_of(vfs)->vfs.base;
    return base->xCurrentTime(base, days);
}

static int vfs_time_ms(sqlite3_vfs *vfs, sqlite3_int64 *ms)
{
    sqlite3_vfs *base = &session_of(vfs)->vfs.base;
    return base->xCurrentTimeInt64(base, ms);
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *text)
{
    (void)vfs;
    (void)size;
    (void)text;
    return 0;
}

tr_status tr__engine_vfs_init(struct store_session *session)
{
    (void)snprintf(
        session->engine_name, sizeof session->engine_name, "troupe-sql-%p", (void *)session);
    session->engine_vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = (int)sizeof(struct engine_file),
        .mxPathname = 128,
        .zName = session->engine_name,
        .pAppData = session,
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
    return sqlite3_vfs_register(&session->engine_vfs, 0) == SQLITE_OK ? TR_OK : TR_NO_MEMORY;
}

void tr__engine_vfs_deinit(struct store_session *session)
{
    (void)sqlite3_vfs_unregister(&session->engine_vfs);
}
