/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The store of durable actors: their data on disk, and the one thread that writes these data.
 *
 * The store knows no actors, only names: a kind and a key. Each name has a state with a version,
 * keys with values, alarms, queues, events, snapshots, and pages of its own database. To write, a
 * caller enters a name, which creates an entry with a generation. All changes of one part of a turn
 * are one batch, which is stored on disk as a whole or not at all. docs/design/store.md explains
 * how. A driver (store/driver.h) reads and writes the files; the default is SQLite.
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
 *    with TR_STALE. For this, a row on disk has the generation of its last writer, and each
 *    transaction compares that generation with its own.
 * 2. on_done is called exactly once for each submitted batch, when the batch is on disk or will
 *    never be. The calls come in the order in which the batches were submitted. As an exception,
 *    other batches may overtake batches that destroy, so that many destroys delay nothing else. The
 *    batches of one entry always stay in order.
 * 3. After a batch that failed, all later batches of the same entry are stale, because they assume
 *    that the failed one is on disk. The owner must enter the name again.
 * 4. A generation is (epoch, counter). When the store is opened, the epoch is incremented and
 *    synced. The counter is in memory only. So entering a name writes nothing. A later generation
 *    is always greater, even in the next process.
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
 * Orders the starts of an actor. A greater generation is a later start. A generation that is all
 * zero is before the first start.
 */
struct store_generation {
    uint64_t epoch;   /* how often the store was opened so far */
    uint64_t counter; /* how many entries were made since then, counted over all actors */
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
     * The directory of the store, which is made if it does not exist. The text is copied. If it is
     * NULL, the store is in memory, and is lost when it is closed.
     */
    const char *path;
    /**
     * The name of the program that owns the store. It is copied, and has at most TR_NAME_MAX
     * characters. A store of another program is refused.
     */
    const char *program;
    /** Bytes of cache for each connection; 0: STORE_CACHE_BYTES. */
    size_t cache_bytes;
    /** The store has no threads, and tr__store_work commits. This is for kits and the simulator. */
    bool is_threadless;
    /**
     * The store is only read. Not even its epoch is written, and no name can be entered. The store
     * must exist. If `program` is NULL, the store may belong to any program. This option is for
     * inspecting the store of a program that does not run. Such a store is also threadless.
     */
    bool is_read_only;
    /**
     * For a threadless store only. tr__store_submit calls on_work if no other batch waits already.
     * on_work is not called again for batches that wait after a call of tr__store_work. May be
     * NULL.
     */
    void (*on_work)(void *context);
    /** Called once, on a thread of the store, when the store fails. May be NULL. */
    void (*on_failed)(void *context, const char *why);
    void *context; /* passed to on_work and on_failed */

    /* For tests. */
    struct store_disk *disk; /* borrowed; used instead of `path`, see store/disk.h */
    /* Borrowed. It is called for the files in `path`, see store/disk.h. */
    const struct store_io_hook *hook;
    const struct store_driver *driver; /* NULL: the driver of tr__store_driver_default */
    /* From this many pages on the log is tidied. 0: the driver's default. */
    unsigned log_pages;
    /* For the crash tests only. Batches are acknowledged before they are synced, and the tests must
     * detect that. */
    bool is_sync_off;
};

/**
 * The size of the front that a state, a snapshot or an event may have. The front says how to read
 * the rest. Its bytes do not count towards the limits.
 */
#define STORE_FRONT_MAX 8

/** A bit in the version of a state. It says that the first start of the actor has not finished. */
#define STORE_VERSION_HALF UINT32_C(0x80000000)

/** The largest number of bytes that are stored for one request: its answer and the front of that answer. */
#define STORE_REQUEST_MAX (TR_REQUEST_ANSWER_MAX + 1024)

/** The size of the longest name that a driver gets: kind, NUL, key. */
#define STORE_NAME_MAX (TR_NAME_MAX + 1 + TR_KEY_MAX)

/** The size of a page of an actor's own database, in bytes. */
#define STORE_PAGE_SIZE 4096

/**
 * The default size of a connection's cache, in bytes. With two workers there are four connections,
 * whose caches have 4 MiB together.
 */
#define STORE_CACHE_BYTES ((size_t)1024 * 1024)

/**
 * Opens the store, makes it if it does not exist, and increments its epoch. `error` may be NULL.
 *
 * TR_STORE_BUSY: another process has the store open. TR_STORE_FOREIGN: the store belongs to another
 * program, or the files are not a store. TR_STORE_NEWER: a later version of Troupe made the store.
 * TR_NOT_SUPPORTED: Troupe was built without SQLite. Also fails with TR_STORE_CORRUPT,
 * TR_STORE_FULL, TR_STORE_FAILED, TR_NO_MEMORY or TR_INVALID_ARGUMENT.
 */
TR_MUST_CHECK tr_status tr__store_open(const struct store_options *options, struct store **store,
                                       tr_error *error);

/**
 * Commits submitted batches, calls their on_done, ends the threads and frees the store.
 *
 * Before the call, all readers and entries must be freed, and all batches that were not submitted.
 * Only one thread may make this call.
 */
void tr__store_close(struct store *store);

/** What was copied from a damaged store, and what was lost. */
struct store_salvage {
    uint64_t copied; /* actors that were intact, and are in the new store */
    /* How many of the actors in `copied` were found only in the database, without its log. The
     * last changes of these actors may be missing. */
    uint64_t older;
    uint64_t lost; /* actors whose names are known and that were not intact */
    /* Parts of the table of actors that cannot be read. It is not known which actors they had. */
    uint64_t gaps;
    /* if false, batches that were committed after the damage in the log are missing */
    bool is_log_whole;
};
/** A function that is called for each actor that was lost. The key is borrowed for the call. */
typedef void store_salvage_lost(void *context, const char *kind, tr_bytes key);

/**
 * Copies each intact actor from a damaged store into a new store. The damage may be in the database
 * or in the log, and the log may be cut or missing.
 *
 * The damaged store is locked during the call. It is not changed, except that the log of an earlier
 * format is renamed. The members of `from` and `into` that are used are the name of the program,
 * and `path` or `disk`. If `from` has no program, the damaged store may belong to any program. The
 * new store gets the program of the damaged store. `into` is a directory, or a disk, without a
 * store. Each row has a seal, which has a sum over its contents (store/sqlite/seal.h). An actor is
 * copied if all of its rows match their seals, all pages on the way to them match their sums, and
 * its events have no gaps. `on_lost` is called for each actor whose name is known and that is not
 * in the new store. `on_lost` may be NULL.
 *
 * TR_OK: `report` says what was copied, which may be nothing. TR_STORE_CORRUPT: the database is
 * missing, or its row is missing that has the key for the sums in the seals. TR_INVALID_ARGUMENT:
 * no program, or `into` has actors. Also fails with TR_STORE_BUSY, TR_STORE_FOREIGN, TR_STORE_FULL,
 * TR_STORE_FAILED, TR_NO_MEMORY or TR_NOT_SUPPORTED. `error` may be NULL. Any thread.
 */
TR_MUST_CHECK tr_status tr__store_salvage(const struct store_options *from,
                                          const struct store_options *into,
                                          struct store_salvage *report, store_salvage_lost *on_lost,
                                          void *context, tr_error *error);

/** Returns TR_OK, or TR_STORE_FAILED after the store has failed. Any thread. */
tr_status tr__store_status(const struct store *store);

/** Returns how many batches were submitted and are in no group yet. Any thread. */
size_t tr__store_waiting(struct store *store);
/**
 * Returns when the commit of the current group began, by the monotonic clock. Returns 0 if no
 * commit runs. Any thread.
 */
tr_time tr__store_writing_since(const struct store *store);
/**
 * Returns how long a thread with nothing else to do should poll for the result of a batch that it
 * has just submitted. The returned time is twice the mean duration of recent commits. Returns 0 if
 * commits take so long that it is better to sleep, or if the store has no threads. Any thread.
 */
tr_time tr__store_await_ns(const struct store *store);
/**
 * Returns the directory as it was given in the options. Returns NULL if the store is in memory. Any
 * thread.
 */
const char *tr__store_directory(const struct store *store);
/** Returns how many commits the store has made since it was opened. One commit has the changes of many actors. Any thread. */
uint64_t tr__store_commits(const struct store *store);
/** Returns the epoch that was set when the store was opened. Any thread. */
uint64_t tr__store_epoch(const struct store *store);

/**
 * Commits one group of submitted batches on the calling thread, and calls their on_done. Returns
 * false if there was nothing to do. If more batches wait than fit into one group, the others
 * continue to wait (tr__store_waiting). Only for a threadless store; one thread at a time.
 */
bool tr__store_work(struct store *store);

/**
 * Submits a batch. The store uses the batch until it calls `on_done`, which it does once, on the
 * committing thread. on_done may free the batch, enter and leave names, and submit other batches.
 * It must not wait.
 *
 * Statuses of on_done: TR_OK: the whole batch is on disk. TR_STORE_FAILED: either the whole batch
 * or nothing of it is on disk; which of these is not known until the store is opened again. With
 * any other status nothing of the batch is on disk: TR_STALE, TR_LIMIT, TR_STORE_FULL (no space on
 * disk; may succeed later), TR_STORE_CORRUPT (this actor's data cannot be trusted), TR_NO_MEMORY.
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
 * Makes the store fail for the reason `why`. The first call logs the reason and calls on_failed.
 * Call on a thread of the store.
 */
void tr__store_fail(struct store *store, const struct store_why *why);

#endif
