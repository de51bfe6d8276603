/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A disk in memory: for stores without a directory, for kits, and for tests of power cuts.
 *
 * A disk outlives the stores on it, so a test opens a store, cuts the power, and opens another one on
 * what is left. With `is_tracked` it remembers what was not synced; tr__disk_crash then decides of each
 * sector of each such write whether it has arrived, and what of, as the tests of SQLite do (test6).
 * Without it the disk costs what its files hold, and a crash loses nothing.
 *
 * All functions: any thread; a file is used by its opener.
 */
#ifndef STORE_DISK_H
#define STORE_DISK_H

#include "mem/source.h"

#include "base/rng.h"

#include <troupe/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_disk;
struct disk_file;

enum { DISK_SECTOR = 512 };

/** What goes on; for hooks. */
enum store_io { STORE_IO_READ, STORE_IO_WRITE, STORE_IO_SYNC, STORE_IO_TRUNCATE, STORE_IO_DELETE };

/**
 * Asked before each operation, of a disk in memory or of real files. TR_OK: go on. TR_STORE_FULL, of a
 * write: half of it is written, then there is no room. Anything else: it fails with an IO error.
 * Any thread.
 */
struct store_io_hook {
    tr_status (*on_io)(void *context, enum store_io io, const char *file, uint64_t offset,
                       size_t size);
    void *context;
};

/** What may happen to what was not synced. */
enum disk_crash {
    DISK_CRASH_KEEP,  /* All has arrived: the process died, not the machine. */
    DISK_CRASH_DROP,  /* Nothing has. */
    DISK_CRASH_ORDER, /* Some of the writes, up to one of them, which is torn. */
    DISK_CRASH_MIX,   /* Each sector for itself: arrived or not. */
    DISK_CRASH_WASTE, /* Each sector for itself: arrived, not, or garbage. */
    DISK_CRASHES
};

TR_MUST_CHECK tr_status tr__disk_new(const struct memory_source *source, bool is_tracked,
                                     struct store_disk **disk);
/** No store is on it. NULL does nothing. */
void tr__disk_free(struct store_disk *disk);
/** Another disk with the same files, what was not synced included. No store is on it. */
TR_MUST_CHECK tr_status tr__disk_clone(struct store_disk *disk, struct store_disk **clone);
/** For tests. Not while a store is on it. */
void tr__disk_hook(struct store_disk *disk, struct store_io_hook hook);
/** Cuts the power. No store is on it, or only one that will never be used again but to close it. */
void tr__disk_crash(struct store_disk *disk, enum disk_crash how, struct rng *rng);
/** Bytes that may be written from now on until there is no room; UINT64_MAX: no bound. */
void tr__disk_set_space(struct store_disk *disk, uint64_t bytes);
/** The size of a file; 0 when there is none. */
size_t tr__disk_size(struct store_disk *disk, const char *name);
/** Changes bits of a byte. False: there is no such byte. */
bool tr__disk_flip(struct store_disk *disk, const char *name, size_t offset, unsigned char bits);
/** Bytes of all files. */
size_t tr__disk_bytes(struct store_disk *disk);

/* For drivers. */

/** Takes the disk for one store. False: another one is on it. */
bool tr__disk_take(struct store_disk *disk);
void tr__disk_give(struct store_disk *disk);
bool tr__disk_has(struct store_disk *disk, const char *name);
/** `name` NULL: a file without a name, gone when it is closed. TR_NOT_FOUND, TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__disk_open(struct store_disk *disk, const char *name, bool may_create,
                                      struct disk_file **file);
void tr__disk_close(struct disk_file *file);
/** `*got`: how many bytes were there; the rest is zeroed. TR_STORE_FAILED by a hook. */
TR_MUST_CHECK tr_status tr__disk_read(struct disk_file *file, void *memory, size_t size,
                                      uint64_t offset, size_t *got);
/** TR_STORE_FULL, TR_STORE_FAILED, TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__disk_write(struct disk_file *file, const void *memory, size_t size,
                                       uint64_t offset);
TR_MUST_CHECK tr_status tr__disk_truncate(struct disk_file *file, uint64_t size);
/** With its name, if that is new and `with_directory`. */
TR_MUST_CHECK tr_status tr__disk_sync(struct disk_file *file, bool with_directory);
/** Makes durable which files there are. */
TR_MUST_CHECK tr_status tr__disk_sync_directory(struct store_disk *disk);
uint64_t tr__disk_file_size(struct disk_file *file);
/** Unless `is_synced`, a crash may bring it back. TR_NOT_FOUND. */
TR_MUST_CHECK tr_status tr__disk_delete(struct store_disk *disk, const char *name, bool is_synced);

#endif
