/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The store under durable actors: what they have on disk, and the one thread that writes it.
 *
 * It knows no actors, only names: a kind and a key. Each name has a state with a version, keys with
 * values, alarms, queues, events, snapshots, and pages of a database of its own. Who wants to write enters the name, which gives it a
 * generation; all that one stretch of a handler changed is one batch, which is on disk whole or not
 * at all. docs/design/store.md says how; a driver (store/driver.h) does the rest, SQLite by default.
 *
 *     struct store_entry *entry;
 *     tr__store_enter(store, "cart", key, on_ready, context, &entry);
 *     tr__store_read_state(reader, "cart", key, &state);           wakes
 *     tr__store_batch_new(entry, &batch);
 *     tr__store_put_state(batch, 2, bytes);
 *     tr__store_submit(batch, on_done, context);                   on_done after the fsync
 *     tr__store_leave(entry);                                      sleeps
 *
 * Rules
 * 1. Of one name at most one entry is current: the newest. A batch of another is refused: TR_STALE.
 *    The row on disk has the generation that wrote it last, which is looked at in the transaction.
 * 2. What was submitted is told of exactly once, after it is on disk or will never be. What one entry submits
 *    is told of in that order, and so is what different entries submit, but for batches that destroy: others go
 *    before them, so that many destroys hold up nobody.
 * 3. After a batch that failed, all later ones of the same entry are stale: what they say was made in
 *    the belief that the first one would be on disk. Its owner enters anew.
 * 4. A generation is (epoch, counter). The epoch is raised and synced when the store is opened, so
 *    that entering writes nothing, and what comes later is always greater.
 * 5. A store that could not sync is over: nobody knows what the disk has. Every call says
 *    TR_STORE_FAILED until another process, or this one, has opened it anew.
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

/** Orders the starts of an actor; greater is later. All zero is before the first. */
struct store_generation {
    uint64_t epoch;   /* How often the store was opened. */
    uint64_t counter; /* Since then, over all actors. */
};

/** Below 0, 0, above 0: as a is before, the same as, after b. */
static inline int store_generation_compare(struct store_generation a, struct store_generation b)
{
    if (a.epoch != b.epoch)
        return a.epoch < b.epoch ? -1 : 1;
    return a.counter < b.counter ? -1 : a.counter > b.counter;
}

struct store_options {
    struct memory_source source;
    /** The directory, made if it is not there; copied. NULL: in memory, gone when it is closed. */
    const char *path;
    /** Whose store it is: TR_NAME_MAX characters at most, copied. Another's is refused. */
    const char *program;
    /** Bytes that each connection may keep of what it has read; 0: STORE_CACHE_BYTES. */
    size_t cache_bytes;
    /** No threads: tr__store_work commits. For kits and the simulator. */
    bool is_threadless;
    /** Called by a submit that finds nothing else waiting, if it is threadless. May be NULL. */
    void (*on_work)(void *context);
    /** Called once, on a thread of the store, when it fails for good. May be NULL. */
    void (*on_failed)(void *context, const char *why);
    void *context; /* of both */

    /* For tests. */
    struct store_disk *disk;           /* Lent: in place of `path`; see store/disk.h. */
    const struct store_io_hook *hook;  /* Lent: of the files in `path`; see store/disk.h. */
    const struct store_driver *driver; /* NULL: tr__store_driver_default. */
    unsigned log_pages; /* From which on the log is tidied; 0: as the driver likes. */
    bool is_sync_off;   /* The canary of the crash tests: acknowledges too early. */
};

/**
 * What is in front of a state, a snapshot or an event, and says how to read it: so many bytes do not count for their
 * limits.
 */
#define STORE_FRONT_MAX 8

/** Kind, a NUL, key: what a driver knows an actor by. */
#define STORE_NAME_MAX (TR_NAME_MAX + 1 + TR_KEY_MAX)

/** Of a page of what an actor has as its own database. */
#define STORE_PAGE_SIZE 4096

/** Of a connection, unless the options say otherwise: with two workers four of them are 4 MiB. */
#define STORE_CACHE_BYTES ((size_t)1024 * 1024)

/**
 * Opens the store, making it if need be, and raises its epoch. `error` may be NULL.
 *
 * TR_STORE_BUSY: another process has it. TR_STORE_FOREIGN: it is another program's, or no store at all.
 * TR_STORE_NEWER: a later version of Troupe made it. TR_STORE_CORRUPT, TR_STORE_FULL, TR_STORE_FAILED,
 * TR_NO_MEMORY, TR_INVALID_ARGUMENT, TR_NOT_SUPPORTED: built without SQLite.
 */
TR_MUST_CHECK tr_status tr__store_open(const struct store_options *options, struct store **store,
                                       tr_error *error);

/**
 * Commits what was submitted, tells of it, ends the threads and frees the store.
 *
 * No reader, no entry and no batch is left then but those that were submitted; one thread calls it.
 */
void tr__store_close(struct store *store);

/** What was saved of a damaged store. */
struct store_salvage {
    uint64_t copied; /* Actors that were whole, and are in the new store. */
    uint64_t
        older; /* Of them, from the database without its log: they may be older than they were. */
    uint64_t lost; /* Actors that are known by name and were not whole. */
    uint64_t
        gaps; /* Parts of the table of actors that cannot be read; what was there is not known. */
    bool is_log_whole; /* False: what was committed after the damage of the log is missing. */
};
/** An actor that was lost; the key is borrowed for the call. */
typedef void store_salvage_lost(void *context, const char *kind, tr_bytes key);

/**
 * Copies each actor that is whole from a store that is damaged, or whose log is damaged, cut or gone, into a new store.
 *
 * The damaged store is locked meanwhile and not changed, but for the name of the log of an earlier format. Of `from`
 * and `into` the program and the places matter; `into` is a directory, or a disk, without a store. An actor is copied
 * if all of its rows fit their seals, all pages on the way to them their sums, and its events follow each other.
 * `on_lost`, which may be NULL, is called for each actor that is known by name and is not in the new store.
 *
 * TR_OK: `report` says what became of it, which may be nothing. TR_STORE_CORRUPT: the database is gone, or the row with
 * the key of the seals. TR_STORE_BUSY, TR_STORE_FOREIGN, TR_STORE_FULL, TR_STORE_FAILED, TR_NO_MEMORY,
 * TR_INVALID_ARGUMENT: no program, or `into` has actors. TR_NOT_SUPPORTED. `error` may be NULL. Any thread.
 */
TR_MUST_CHECK tr_status tr__store_salvage(const struct store_options *from,
                                          const struct store_options *into,
                                          struct store_salvage *report, store_salvage_lost *on_lost,
                                          void *context, tr_error *error);

/** TR_OK, or TR_STORE_FAILED from the moment on that it is over. Any thread. */
tr_status tr__store_status(const struct store *store);

/** Since when a group is being committed, by the clock that does not jump; 0: none is. Any thread. */
tr_time tr__store_writing_since(const struct store *store);
/**
 * How long it is worth looking for the outcome of what was submitted just now, by who has nothing else to
 * do: commits have taken less than that lately. 0: they take so long that it is better to sleep. Any thread.
 */
tr_time tr__store_await_ns(const struct store *store);
/** The epoch of this opening. Any thread. */
uint64_t tr__store_epoch(const struct store *store);

/**
 * Commits what was submitted so far, on the calling thread, which tells of it. False: there was
 * nothing to do. Only of a threadless store; one thread at a time.
 */
bool tr__store_work(struct store *store);

/**
 * Submits a batch, lent until `on_done` is called with it, once, on the committing thread. It may free
 * the batch, and enter, leave and submit others; it must not wait.
 *
 * What it says: TR_OK: on disk, all of it. TR_STORE_FAILED: nobody knows, until the store is opened
 * again: all of it may be there, or nothing. Else nothing of it is: TR_STALE, TR_LIMIT, TR_STORE_FULL
 * (no room; later there may be), TR_STORE_CORRUPT (this actor's data cannot be trusted), TR_NO_MEMORY.
 *
 * A submit that fails has not taken the batch: TR_STALE, TR_STORE_FAILED. Any thread.
 */
TR_MUST_CHECK tr_status tr__store_submit(struct store_batch *batch,
                                         void (*on_done)(void *context, struct store_batch *batch,
                                                         tr_status status),
                                         void *context);

/* For the files of this directory. */

/** The end of the store, because of this. The first call is logged and told to on_failed. A thread of the store. */
void tr__store_fail(struct store *store, const struct store_why *why);

#endif
