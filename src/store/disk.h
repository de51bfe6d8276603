/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A disk in memory. It is for stores without a directory, for kits, and for tests of power cuts.
 *
 * A disk outlives the stores on it. So a test can open a store, cut the power, and open another
 * store on the bytes that are left. With `is_tracked` the disk remembers which writes were not
 * synced. tr__disk_crash then decides for each sector of each such write whether it arrived, and
 * with which contents, as the tests of SQLite do (test6). Without `is_tracked` the disk only needs
 * memory for its files, and a crash loses nothing.
 *
 * Any thread may call all functions. A file is used only by the caller that has opened it.
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

/** Kinds of file operations, for hooks. */
enum store_io { STORE_IO_READ, STORE_IO_WRITE, STORE_IO_SYNC, STORE_IO_TRUNCATE, STORE_IO_DELETE };

/**
 * A function that is called before each file operation, on a disk in memory or on real files. If it
 * returns TR_OK, the operation continues. If it returns TR_STORE_FULL for a write, half of the
 * bytes are written, and then the disk is full. With any other status the operation fails with an
 * IO error. Any thread calls it.
 */
struct store_io_hook {
    tr_status (*on_io)(void *context, enum store_io io, const char *file, uint64_t offset,
                       size_t size);
    void *context;
};

/** What happens to writes that were not synced. */
enum disk_crash {
    DISK_CRASH_KEEP, /* all writes arrive: the process has died, but the machine has not */
    DISK_CRASH_DROP, /* no write arrives */
    /* Writes arrive in their order, up to one that is torn. All later writes are lost. */
    DISK_CRASH_ORDER,
    DISK_CRASH_MIX,   /* each sector arrives or is lost, independently of the others */
    DISK_CRASH_WASTE, /* each sector arrives, is lost, or becomes garbage */
    DISK_CRASHES
};

TR_MUST_CHECK tr_status tr__disk_new(const struct memory_source *source, bool is_tracked,
                                     struct store_disk **disk);
/** Frees a disk that no store uses. NULL is allowed. */
void tr__disk_free(struct store_disk *disk);
/**
 * Makes another disk with the same files, including writes that were not synced. No store may use
 * `disk` during the call.
 */
TR_MUST_CHECK tr_status tr__disk_clone(struct store_disk *disk, struct store_disk **clone);
/** Sets a hook, for tests. No store may use the disk. */
void tr__disk_hook(struct store_disk *disk, struct store_io_hook hook);
/** Cuts the power. No store may use the disk, except one that will only be closed. */
void tr__disk_crash(struct store_disk *disk, enum disk_crash how, struct rng *rng);
/** Sets how many bytes may be written until the disk is full; UINT64_MAX: no limit. */
void tr__disk_set_space(struct store_disk *disk, uint64_t bytes);
/** Returns the size of a file, or 0 if there is no such file. */
size_t tr__disk_size(struct store_disk *disk, const char *name);
/** Flips bits of a byte. Returns false if there is no such byte. */
bool tr__disk_flip(struct store_disk *disk, const char *name, size_t offset, unsigned char bits);
/** Returns how many bytes all files have. */
size_t tr__disk_bytes(struct store_disk *disk);

/* For drivers. */

/** Takes the disk for one store. Returns false if another store has it. */
bool tr__disk_take(struct store_disk *disk);
void tr__disk_give(struct store_disk *disk);
bool tr__disk_has(struct store_disk *disk, const char *name);
/**
 * Opens a file. If `name` is NULL, makes a file without a name, which is deleted when it is closed.
 * Fails with TR_NOT_FOUND, TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__disk_open(struct store_disk *disk, const char *name, bool may_create,
                                      struct disk_file **file);
void tr__disk_close(struct disk_file *file);
/**
 * Reads bytes. Sets *got to how many there were, and sets the rest of the memory to zero. Fails
 * with TR_STORE_FAILED only if a hook wants it.
 */
TR_MUST_CHECK tr_status tr__disk_read(struct disk_file *file, void *memory, size_t size,
                                      uint64_t offset, size_t *got);
/** Writes bytes. Fails with TR_STORE_FULL, TR_STORE_FAILED, TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__disk_write(struct disk_file *file, const void *memory, size_t size,
                                       uint64_t offset);
TR_MUST_CHECK tr_status tr__disk_truncate(struct disk_file *file, uint64_t size);
/**
 * Syncs a file. If `with_directory` is true and the name of the file is new, also syncs the name.
 */
TR_MUST_CHECK tr_status tr__disk_sync(struct disk_file *file, bool with_directory);
/** Syncs the directory: after this, a crash neither removes a file nor restores a deleted one. */
TR_MUST_CHECK tr_status tr__disk_sync_directory(struct store_disk *disk);
uint64_t tr__disk_file_size(struct disk_file *file);
/**
 * Deletes a file. If `is_synced` is false, a crash may restore the file. Fails with TR_NOT_FOUND.
 */
TR_MUST_CHECK tr_status tr__disk_delete(struct store_disk *disk, const char *name, bool is_synced);

#endif
