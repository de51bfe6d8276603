/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Directories that last, and locks by which one process keeps others out.
 *
 * Each function that fails says in `error`, unless that is NULL, what it could not do, with which path, and what
 * the system said: "cannot open /x/lock: Permission denied". Any thread.
 */
#ifndef OS_FILE_H
#define OS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <troupe/ref.h>
#include <troupe/status.h>

/** A path that the system takes has fewer bytes. */
enum { OS_PATH_SIZE = 4096 };

/** Makes a directory, for its owner alone; one that is there is fine. TR_STORE_FULL, TR_STORE_FAILED. */
TR_MUST_CHECK tr_status tr__os_directory_make(const char *path, tr_error *error);

/** Makes durable which files a directory has. TR_STORE_FAILED. */
TR_MUST_CHECK tr_status tr__os_directory_sync(const char *path, tr_error *error);

/**
 * Makes durable that a directory is in its parent. Syncs the parent; if the parent may not be read, only searched,
 * the whole file system. TR_STORE_FAILED, TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__os_directory_sync_parent(const char *path, tr_error *error);

/** The path from the root on, without links. What it names is there. TR_STORE_FAILED. */
TR_MUST_CHECK tr_status tr__os_path_resolve(const char *path, char resolved[OS_PATH_SIZE],
                                            tr_error *error);

/*
 * Locks. They are held until tr__os_file_unlock or the end of the process, whatever else the process opens and
 * closes, and also keep out other holders in the same process. A child made by fork shares them until it ends or
 * calls exec. TR_STORE_BUSY: another holder has the lock. TR_STORE_FULL, TR_STORE_FAILED.
 */

/** Locks a file, made if it is not there, and makes sure that the path still names it then. */
TR_MUST_CHECK tr_status tr__os_file_lock(const char *path, int *fd, tr_error *error);
/** Locks a directory. `*fd` is -1 on a file system that cannot do that. */
TR_MUST_CHECK tr_status tr__os_directory_lock(const char *path, int *fd, tr_error *error);
/**
 * Opens a file, made if it is not there, and locks `size` bytes from `first` on, also against programs that lock
 * with fcntl(F_SETLK), as SQLite does.
 */
TR_MUST_CHECK tr_status tr__os_file_lock_range(const char *path, uint64_t first, uint64_t size,
                                               int *fd, tr_error *error);
/** Also of -1, which is no lock. */
void tr__os_file_unlock(int fd);

/** Which file a path names. Another file has another id; the size is no part of that. */
struct os_file_id {
    uint64_t device;
    uint64_t inode;
    uint64_t size;
};

/** TR_NOT_FOUND: there is no such file. TR_STORE_FAILED. */
TR_MUST_CHECK tr_status tr__os_file_find(const char *path, struct os_file_id *id, tr_error *error);
static inline bool os_file_is_same(const struct os_file_id *a, const struct os_file_id *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/** Gives a file another name, in place of a file that has it. TR_STORE_FULL, TR_STORE_FAILED. */
TR_MUST_CHECK tr_status tr__os_file_rename(const char *from, const char *to, tr_error *error);

/** Writes a text to the start of a file and syncs it. `path` is for the error. TR_STORE_FULL, TR_STORE_FAILED. */
TR_MUST_CHECK tr_status tr__os_file_put_text(int fd, const char *path, const char *text,
                                             tr_error *error);

/** What the system calls an error number, in `memory` or elsewhere. */
const char *tr__os_error_text(int code, char *memory, size_t size);

#endif
