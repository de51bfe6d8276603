/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Files of which copies are made, such as backups: making and removing them, reading and writing at
 * an offset.
 *
 * A function that fails writes to `error`, like the functions of os/file.h. The functions fail with
 * TR_STORE_FULL or TR_STORE_FAILED. Any thread; waits for the disk.
 */
#ifndef OS_PLAIN_FILE_H
#define OS_PLAIN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <troupe/ref.h>
#include <troupe/status.h>

/** An open file. The path is borrowed, for errors. */
struct plain_file {
    int fd; /* -1: not open */
    const char *path;
};

/** Opens a file for reading. TR_NOT_FOUND: there is no such file. */
TR_MUST_CHECK tr_status tr__plain_file_open(struct plain_file *file, const char *path,
                                            tr_error *error);
/** Makes a file that only its owner may use. The file must not exist before. */
TR_MUST_CHECK tr_status tr__plain_file_make(struct plain_file *file, const char *path,
                                            tr_error *error);
/** Closes a file that is open. */
void tr__plain_file_close(struct plain_file *file);

TR_MUST_CHECK tr_status tr__plain_file_size(const struct plain_file *file, uint64_t *size,
                                            tr_error *error);
/** Reads up to `size` bytes. `*got` is how many were read; fewer than `size` only at the end of the file. */
TR_MUST_CHECK tr_status tr__plain_file_read(const struct plain_file *file, uint64_t offset,
                                            void *memory, size_t size, size_t *got,
                                            tr_error *error);
TR_MUST_CHECK tr_status tr__plain_file_write(const struct plain_file *file, uint64_t offset,
                                             const void *memory, size_t size, tr_error *error);
/** Shortens or lengthens the file. */
TR_MUST_CHECK tr_status tr__plain_file_resize(const struct plain_file *file, uint64_t size,
                                              tr_error *error);
/**
 * Whether the file that is open still has a name, which need not be `path`. Returns true if the
 * kernel does not say.
 */
bool tr__plain_file_has_name(const struct plain_file *file);
/** Makes the contents and the length durable. */
TR_MUST_CHECK tr_status tr__plain_file_sync(const struct plain_file *file, tr_error *error);

/** Removes a file, or with `is_directory` an empty directory. TR_OK also if there is none. */
TR_MUST_CHECK tr_status tr__plain_file_remove(const char *path, bool is_directory, tr_error *error);

#endif
