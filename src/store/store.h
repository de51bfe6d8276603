/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The store of durable actors: what they have on disk, and the one thread that writes it.
 *
 * The store knows no actors, only names: a kind and a key. Each name has a state with a version,
 * keys with values, alarms, queues, events, snapshots, and pages of its own database. To write, a
 * caller enters a name, which creates an entry with a generation. All changes of one part of a turn
 * are one batch, which is stored on disk as a whole or not at all. docs/design/store.md explains
 * how. A driver (store/driver.h) does the rest, SQLite by default.
 *
 *     struct store_entry *entry;
 *     tr__store_enter(store, "cart", key, on_ready, context, &entry);
 *     tr__store_read_state(reader, "cart", key, &state);           the actor wakes
 *     tr__store_batch_new(entry, &batch);
 *     tr__store_put_state(batch, 2, bytes);
 *     tr__store_submit(batch, on_done, context);                   on_done after the fsync
 *     tr__store_leave(entry);                                      the actor sleeps
 *
 * Rules:
 * 1. At most one entry of each name is current: the newest. Batches of other entries are refused
 *    with TR_STALE. To enforce this, a row on disk has the generation of its last writer, and each
 *    transaction compares it.
 * 2. on_done is called exactly once for each submitted batch, after it is on disk or can never be.
 *    The calls come in the order of submission, except for batches that destroy: other batches may
 *    overtake them, so that many destroys delay nothing else. The order within one entry is always
 *    kept.
 * 3. After a batch that failed, all later batches of the same entry are stale, because they assume
 *    that the failed one is on disk. The owner must enter the name again.
 * 4. A generation is (epoch, counter). The epoch is incremented and synced when the store is
 *    opened; the counter is in memory. So entering writes nothing, and a later generation is always
 *    greater, also in the next process.
 * 5. A store that could not sync has failed, because it is not known what is on disk. Every call
 *    returns TR_STORE_FAILED until the store is opened again, by this or another process.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "mem/source.h"

#include <troupe/limits.h>
#include <troupe/message.h>
#include <troupe/ref.h>
#include <troupe/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;
struct store_batch;
struct store_disk;
struct store_driver;
struct store_entry;
struct store_io_hook;
struct store_why;

/**
 * Orders the starts of an actor: a greater generation is later. All zero is before the first start.
 */
struct store_generation {
    uint64_t epoch;   /* How often the store was opened so far. */
    uint64_t counter; /* Number of the entry since the store was opened, counted over all actors. */
};

/**
 * Returns a number below 0 if a is before b, 0 if they are equal, and a number above 0 if a is
 * after b.
 */
static inline int store_generation_compare(struct store_generation a, struct store_generation b)
{
    if (a.epoch != b.epoch)
        return a.epoch < b.epoch ? -1 : 1;
    return a.counter < b.counter ? -1 : a.counter > b.counter;
}

struct store_options {
    struct memory_source source;
    /**
     * The directory, which is made if it does not exist; copied. NULL: in memory, lost when closed.
     */
    const char *path;
    /**
     * The name of the program that owns the store: at most TR_NAME_MAX characters, copied. A store
     * of another program is refused.
     */
    const char *program;
    /** Bytes of cache for each connection; 0: STORE_CACHE_BYTES. */
    size_t cache_bytes;
    /** The store has no threads: tr__store_work commits. For kits and the simulator. */
    bool is_threadless;
    /**
     * The store is only read: not even its epoch is written, and no name can be entered. It must
     * exist. If `program` is NULL, it may belong to any program. For inspecting the store of a
     * program that does not run. Implies is_threadless.
     */
    bool is_read_only;
    /**
     * Only for a threadless store: tr__store_submit calls it if no other batch waits. It is not
     * called for batches that tr__store_work has left. May be NULL.
     */
    void (*on_work)(void *context);
    /** Called once, on a thread of the store, when the store fails. May be NULL. */
    void (*on_failed)(void *context, const char *why);
    void *context; /* passed to on_work and on_failed */

    /* For tests. */
    struct store_disk *disk; /* Borrowed: used instead of `path`; see store/disk.h. */
    /* Borrowed: called for the files in `path`; see store/disk.h. */
    const struct store_io_hook *hook;
    const struct store_driver *driver; /* NULL: tr__store_driver_default. */
    /* The log is tidied when it has this many pages or more; 0: the driver's default. */
    unsigned log_pages;
    /* For the crash tests: acknowledges batches before they are synced, which these tests must
     * detect. */
    bool is_sync_off;
};

/**
 * Bytes that a state, a snapshot or an event may have in front, which say how to read the rest.
 * They do not count towards the limits.
 */
#define STORE_FRONT_MAX 8

/** A bit in the version of a state: the first start of the actor has not finished. */
#define STORE_VERSION_HALF UINT32_C(0x80000000)

/** Bytes that are stored for one request at most: its answer and the front of that answer. */
#define STORE_REQUEST_MAX (TR_REQUEST_ANSWER_MAX + 1024)

/** Bytes of a name that a driver gets at most: kind, NUL, key. */
#define STORE_NAME_MAX (TR_NAME_MAX + 1 + TR_KEY_MAX)

/** Bytes of a page of an actor's own database. */
#define STORE_PAGE_SIZE 4096

/** Cache of a connection by default. With two workers there are four connections: 4 MiB. */
#define STORE_CACHE_BYTES ((size_t)1024 * 1024)

/**
 * Opens the store, makes it if it does not exist, and increments its epoch. `error` may be NULL.
 *
 * TR_STORE_BUSY: another process has it open. TR_STORE_FOREIGN: it belongs to another program, or
 * is no store. TR_STORE_NEWER: a later version of Troupe made it. TR_STORE_CORRUPT, TR_STORE_FULL,
 * TR_STORE_FAILED, TR_NO_MEMORY, TR_INVALID_ARGUMENT. TR_NOT_SUPPORTED: built without SQLite.
 */
TR_MUST_CHECK tr_status tr__store_open(const struct store_options *options, struct store **store,
                                       tr_error *error);

/**
 * Commits submitted batches, calls their on_done, ends the threads and frees the store.
 *
 * All readers and entries must be freed before, and all batches that were not submitted. Only one
 * thread may call this.
 */
void tr__store_close(struct store *store);

/** The result of saving a damaged store. */
struct store_salvage {
    uint64_t copied; /* Actors that were intact, and are in the new store. */
    /* Copied actors that came from the database without its log, and are perhaps outdated. */
    uint64_t older;
    uint64_t lost; /* Actors that are known by name and were not intact. */
    /* Parts of the table of actors that cannot be read; their contents are not known. */
    uint64_t gaps;
    bool is_log_whole; /* If false, what was committed after the damage in the log is missing. */
};
/** Called for an actor that was lost. The key is borrowed for the call. */
typedef void store_salvage_lost(void *context, const char *kind, tr_bytes key);

/**
 * Copies each intact actor from a store that is damaged, or whose log is damaged, cut or missing,
 * into a new store.
 *
 * The damaged store is locked meanwhile. It is not changed, except that the log of an earlier
 * format is renamed. Of `from` and `into` only the program and the places are used. If `from` has
 * no program, the store may belong to any program. The new store gets the program of the damaged
 * one. `into` is a directory, or a disk, without a store. An actor is copied if all of its rows
 * match their seals, all pages on the way to them match their sums, and its events have no gaps.
 * `on_lost`, which may be NULL, is called for each actor that is known by name and is not in the
 * new store.
 *
 * TR_OK: `report` says what was copied, which may be nothing. TR_STORE_CORRUPT: the database, or
 * its row with the key of the seals, is missing. TR_INVALID_ARGUMENT: no program, or `into` has
 * actors. TR_STORE_BUSY, TR_STORE_FOREIGN, TR_STORE_FULL, TR_STORE_FAILED, TR_NO_MEMORY,
 * TR_NOT_SUPPORTED. `error` may be NULL. Any thread.
 */
TR_MUST_CHECK tr_status tr__store_salvage(const struct store_options *from,
                                          const struct store_options *into,
                                          struct store_salvage *report, store_salvage_lost *on_lost,
                                          void *context, tr_error *error);

/** Returns TR_OK, or TR_STORE_FAILED once the store has failed. Any thread. */
tr_status tr__store_status(const struct store *store);

/** Returns how many batches were submitted and are in no group yet. Any thread. */
size_t tr__store_waiting(struct store *store);
/**
 * Returns when the commit of the current group began, by the monotonic clock; 0: no commit runs.
 * Any thread.
 */
tr_time tr__store_writing_since(const struct store *store);
/**
 * Returns how long a thread with nothing else to do should poll for the result of a batch that it
 * has just submitted. Recent commits took less than that. Returns 0 if commits take so long that it
 * is better to sleep. Any thread.
 */
tr_time tr__store_await_ns(const struct store *store);
/**
 * Returns the directory as it was given in the options; NULL: the store is in memory. Any thread.
 */
const char *tr__store_directory(const struct store *store);
/** Returns the epoch that this opening has set. Any thread. */
uint64_t tr__store_epoch(const struct store *store);

/**
 * Commits one group of submitted batches on the calling thread, which also calls their on_done.
 * Returns false if there was nothing to do. If more batches wait than a group takes, the others
 * still wait afterwards (tr__store_waiting). Only for a threadless store; one thread at a time.
 */
bool tr__store_work(struct store *store);

/**
 * Submits a batch, which the store uses until it calls `on_done`, once, on the committing thread.
 * on_done may free the batch, enter and leave names, and submit other batches. It must not wait.
 *
 * Statuses of on_done: TR_OK: the whole batch is on disk. TR_STORE_FAILED: it is not known whether
 * the whole batch or nothing of it is on disk, until the store is opened again. With any other
 * status nothing of it is on disk: TR_STALE, TR_LIMIT, TR_STORE_FULL (no space on disk; may succeed
 * later), TR_STORE_CORRUPT (this actor's data cannot be trusted), TR_NO_MEMORY.
 *
 * If tr__store_submit itself fails, the batch still belongs to the caller: TR_STALE,
 * TR_STORE_FAILED. Any thread.
 */
TR_MUST_CHECK tr_status tr__store_submit(struct store_batch *batch,
                                         void (*on_done)(void *context, struct store_batch *batch,
                                                         tr_status status),
                                         void *context);

/* ---- For the files of this directory only. ---- */

/**
 * Makes the store fail for this reason. The first call logs it and calls on_failed. A thread of the
 * store.
 */
void tr__store_fail(struct store *store, const struct store_why *why);

#endif
