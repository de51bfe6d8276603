/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Makes directories, and changes in directories, durable; and locks files and directories, so that
 * only one process uses them.
 *
 * A function that fails writes a text to `error`, unless `error` is NULL. The text says what the
 * function could not do, the path, and what the kernel reported: "cannot open /x/lock: Permission
 * denied". Any thread.
 */
#ifndef OS_FILE_H
#define OS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <troupe/ref.h>
#include <troupe/status.h>

/** The size of a buffer for any path that the kernel accepts. */
enum { OS_PATH_SIZE = 4096 };

/**
 * Makes a directory that only its owner may use. Returns TR_OK also if the directory exists. Fails
 * with TR_STORE_FULL or TR_STORE_FAILED.
 */
TR_MUST_CHECK tr_status tr__os_directory_make(const char *path, tr_error *error);

/** Makes the entries of a directory durable: which files it has. Fails with TR_STORE_FAILED. */
TR_MUST_CHECK tr_status tr__os_directory_sync(const char *path, tr_error *error);

/**
 * Makes the entry of a directory in its parent durable, by a sync of the parent. If this process
 * may search the parent but not read it, syncs the whole file system. Fails with TR_STORE_FAILED or
 * TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__os_directory_sync_parent(const char *path, tr_error *error);

/**
 * Writes the absolute path of a file, without symbolic links, to `resolved`. The file must exist.
 * Fails with TR_STORE_FAILED.
 */
TR_MUST_CHECK tr_status tr__os_path_resolve(const char *path, char resolved[OS_PATH_SIZE],
                                            tr_error *error);

/*
 * Locks.
 *
 * A lock is held until tr__os_file_unlock or the end of the process, no matter what else the
 * process opens and closes. A second lock of the same file fails, also in the same process. A child
 * made by fork shares the lock until the child ends or calls exec. tr__os_file_lock and
 * tr__os_directory_lock return TR_STORE_BUSY if another holder has the lock. They also fail with
 * TR_STORE_FULL or TR_STORE_FAILED.
 */

/**
 * Opens or creates a file, locks it, and checks that the path still names this file. If the file
 * was replaced meanwhile, begins again.
 */
TR_MUST_CHECK tr_status tr__os_file_lock(const char *path, int *fd, tr_error *error);
/** Locks a directory. `*fd` is -1 on a file system that cannot lock directories. */
TR_MUST_CHECK tr_status tr__os_directory_lock(const char *path, int *fd, tr_error *error);
/**
 * Opens a file, which is made if it does not exist, and locks `size` bytes from `first` on. The
 * lock also excludes programs that lock the range with fcntl(F_SETLK), as SQLite does.
 */
TR_MUST_CHECK tr_status tr__os_file_lock_range(const char *path, uint64_t first, uint64_t size,
                                               int *fd, tr_error *error);
/** Releases a lock; -1 does nothing. */
void tr__os_file_unlock(int fd);

/**
 * Identifies the file that a path names. Different files have different ids; the size is not part
 * of the id.
 */
struct os_file_id {
    uint64_t device;
    uint64_t inode;
    uint64_t size;
};

/**
 * Finds which file a path names. Returns TR_NOT_FOUND if there is no such file. Also fails with
 * TR_STORE_FAILED.
 */
TR_MUST_CHECK tr_status tr__os_file_find(const char *path, struct os_file_id *id, tr_error *error);
static inline bool os_file_is_same(const struct os_file_id *a, const struct os_file_id *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/**
 * Renames a file, and replaces the file that has the new name, if any. Fails with TR_STORE_FULL or
 * TR_STORE_FAILED.
 */
TR_MUST_CHECK tr_status tr__os_file_rename(const char *from, const char *to, tr_error *error);

/**
 * Makes the kernel write the cached contents of the file to the disk, and waits until that is done. This does not make
 * the contents durable. If the disk reports an error, the next sync of the file through another descriptor returns that
 * error.
 */
void tr__os_file_write_out(int fd);

/**
 * Writes a text to the start of a file and syncs it. `path` is for the error. Fails with TR_STORE_FULL or
 * TR_STORE_FAILED.
 */
TR_MUST_CHECK tr_status tr__os_file_put_text(int fd, const char *path, const char *text,
                                             tr_error *error);

/**
 * Writes an error text from errno, such as "cannot open /x/lock: Permission denied", with `what`
 * for "open" and `path` for "/x/lock". Does nothing if `error` is NULL. Returns the status for
 * errno: TR_STORE_FULL, TR_STORE_FAILED.
 */
tr_status tr__os_file_refuse(tr_error *error, const char *what, const char *path);

/** Returns the C library's text for an error number, in `memory` or in static memory. */
const char *tr__os_error_text(int code, char *memory, size_t size);

#endif
