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
struct store_op;
struct store_reader;

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

/* ---- Who writes ---- */

/**
 * Enters a name: from now on every entry of it that was made before is stale, left or not.
 *
 * Batches that such an entry had submitted before it left are still committed, and those of one that
 * has not left may be on their way to the disk. As long as there are any the new entry is not ready:
 * what is read could be old. `on_ready` is called once, on the committing thread, when it is; or never
 * when tr__store_entry_is_ready says so right after this call. Until then it does not submit.
 *
 * TR_INVALID_ARGUMENT: kind or key too long, or none. TR_NO_MEMORY, TR_STORE_FAILED. Any thread.
 */
TR_MUST_CHECK tr_status tr__store_enter(struct store *store, const char *kind, tr_bytes key,
                                        void (*on_ready)(void *context, struct store_entry *entry),
                                        void *context, struct store_entry **entry);

/** Whether nothing of earlier entries is on its way. Stays true. Any thread. */
bool tr__store_entry_is_ready(const struct store_entry *entry);
/** False as soon as another entry of the same name was made. Any thread. */
bool tr__store_entry_is_current(const struct store_entry *entry);
struct store_generation tr__store_entry_generation(const struct store_entry *entry);

/**
 * Takes the entry. What it submitted is committed all the same; batches that were not submitted can
 * only be freed. Any thread; not within on_ready or on_done of another thread's call for it.
 */
void tr__store_leave(struct store_entry *entry);

/* ---- Batches: all that one stretch writes ---- */

/** An empty batch. TR_NO_MEMORY. One thread at a time. */
TR_MUST_CHECK tr_status tr__store_batch_new(struct store_entry *entry, struct store_batch **batch);
/** Takes a batch that was never submitted, or was told of. NULL does nothing. */
void tr__store_batch_free(struct store_batch *batch);
/** Memory of the batch, aligned to 16, not zeroed, for values; as long as it. NULL: out of memory. */
void *tr__store_batch_alloc(struct store_batch *batch, size_t size);
/** How far a batch has come. All zero is its beginning. */
struct store_batch_mark {
    struct store_op *last;
    size_t pages;
};
struct store_batch_mark tr__store_batch_mark(const struct store_batch *batch);
/** Takes back what was added after the mark, which is of this batch. */
void tr__store_batch_cut(struct store_batch *batch, struct store_batch_mark mark);
/** Nothing was put into it so far: submitting it would still check the generation. */
bool tr__store_batch_is_empty(const struct store_batch *batch);

/*
 * What follows adds one write to a batch; they take effect in the order of the calls. Names and keys
 * are copied. Values are lent until the batch is freed: give memory of tr__store_batch_alloc where
 * nothing else lives that long. TR_NO_MEMORY, and TR_TOO_LARGE (TR_INVALID_ARGUMENT for an empty name)
 * where a limit of troupe/limits.h is named; the batch is as it was then.
 */

/** State: TR_STATE_MAX, and a front. */
TR_MUST_CHECK tr_status tr__store_put_state(struct store_batch *batch, uint32_t version,
                                            tr_bytes state);

/** KV: TR_KV_KEY_MAX, TR_KV_VALUE_MAX. A key has at least one byte, and any bytes. */
TR_MUST_CHECK tr_status tr__store_kv_put(struct store_batch *batch, tr_bytes key, tr_bytes value);
TR_MUST_CHECK tr_status tr__store_kv_delete(struct store_batch *batch, tr_bytes key);
/** All keys from `from` on and before `to`, as bytes compare; no bytes at all: no bound. */
TR_MUST_CHECK tr_status tr__store_kv_delete_range(struct store_batch *batch, tr_bytes from,
                                                  tr_bytes to);

/**
 * Sets an alarm, in place of the one of that name: TR_ALARM_NAME_MAX, TR_ALARM_BYTES_MAX. Of more
 * than TR_ALARMS_MAX alarms of one actor the batch fails with TR_LIMIT.
 */
TR_MUST_CHECK tr_status tr__store_alarm_set(struct store_batch *batch, const char *name,
                                            tr_time due_wall_ns, tr_bytes bytes);
TR_MUST_CHECK tr_status tr__store_alarm_clear(struct store_batch *batch, const char *name);
TR_MUST_CHECK tr_status tr__store_alarm_clear_all(struct store_batch *batch);

/**
 * Adds to a queue: TR_QUEUE_NAME_MAX, TR_QUEUE_ITEM_MAX. The lower id is the earlier one; an id that
 * is there is replaced. Of more than TR_QUEUE_MAX items of one queue the batch fails with TR_LIMIT.
 */
TR_MUST_CHECK tr_status tr__store_queue_push(struct store_batch *batch, const char *queue,
                                             uint64_t id, tr_bytes bytes);
TR_MUST_CHECK tr_status tr__store_queue_remove(struct store_batch *batch, const char *queue,
                                               uint64_t id);

/**
 * Appends the event with the number `expected + 1`: TR_EVENT_MAX bytes. If the highest number so far,
 * trimmed events counted, is not `expected`, the batch fails with TR_STALE. The first event is 1.
 */
TR_MUST_CHECK tr_status tr__store_event_append(struct store_batch *batch, uint64_t expected,
                                               tr_bytes event);
/** Deletes the events up to and with this one. The highest number does not fall by it. */
TR_MUST_CHECK tr_status tr__store_event_trim(struct store_batch *batch, uint64_t sequence);
/** Keeps a snapshot, TR_STATE_MAX bytes, that has all events up to `sequence` in it. */
TR_MUST_CHECK tr_status tr__store_snapshot_put(struct store_batch *batch, uint64_t sequence,
                                               uint32_t version, tr_bytes bytes);
/** Deletes the snapshots of numbers up to and with this one. */
TR_MUST_CHECK tr_status tr__store_snapshot_trim(struct store_batch *batch, uint64_t sequence);

/**
 * Keeps a shape: the text that says how what has this number, 1 to STORE_NUMBER_MAX, in its front is to be read. It is
 * the store's and not the actor's: it stays when that is destroyed, and replaces what has the same number.
 */
TR_MUST_CHECK tr_status tr__store_shape_put(struct store_batch *batch, uint64_t number,
                                            tr_bytes text);

/** Puts a page of the actor's own database (store/sql.h): STORE_PAGE_SIZE bytes, the first is 1. */
TR_MUST_CHECK tr_status tr__store_page_put(struct store_batch *batch, uint64_t number,
                                           tr_bytes page);

/**
 * Marks this actor as one that is to be destroyed, and clears its alarms. What else is stored of it stays, so that
 * the entry can still read it, until tr__store_destroy. The mark stays until then: a later entry that finds
 * store_state.is_doomed begins with a tr__store_destroy, and opening a store destroys what has the mark.
 */
TR_MUST_CHECK tr_status tr__store_doom(struct store_batch *batch);
/**
 * Deletes all there is of this actor. What is added after it belongs to a new actor of the name. If that is more than a few rows, the name
 * is free with this batch, and the rows behind it are deleted in small parts after later commits.
 */
TR_MUST_CHECK tr_status tr__store_destroy(struct store_batch *batch);

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

/* ---- Reading ---- */

/**
 * A reader sees all that was told of before it is asked. Each is used by one thread at a time, and
 * keeps what it prepared: make one for each worker. TR_NO_MEMORY, TR_STORE_FAILED.
 */
TR_MUST_CHECK tr_status tr__store_reader_new(struct store *store, struct store_reader **reader);
/** NULL does nothing. */
void tr__store_reader_free(struct store_reader *reader);

/*
 * All of these: TR_STORE_CORRUPT when what is there cannot be trusted (of this actor; others may be
 * well), TR_STORE_FAILED, TR_NO_MEMORY, TR_INVALID_ARGUMENT. Bytes that they give are borrowed until
 * the reader is used again. They go to the disk if they must.
 */

struct store_state {
    struct store_generation generation; /* Whose batch changed the actor last. */
    uint64_t sequence;                  /* The highest number of an event so far; 0: none. */
    bool has_state;                     /* False: it has other data, but no state was ever put. */
    bool is_doomed;                     /* tr__store_doom: it counts as destroyed. */
    uint32_t version;
    tr_bytes bytes;
};
/** TR_NOT_FOUND: nothing is known of this actor. */
TR_MUST_CHECK tr_status tr__store_read_state(struct store_reader *reader, const char *kind,
                                             tr_bytes key, struct store_state *state);

/** TR_NOT_FOUND: it has no such key. */
TR_MUST_CHECK tr_status tr__store_read_kv(struct store_reader *reader, const char *kind,
                                          tr_bytes key, tr_bytes kv_key, tr_bytes *value);

/** A row of a list; its bytes are borrowed for the call. Which members count depends on the list. */
struct store_row {
    tr_bytes key;        /* KV: the key. */
    const char *name;    /* Alarms, queues: its name. */
    uint64_t id;         /* Queues: of the item. Events, snapshots: the sequence. */
    tr_time due_wall_ns; /* Alarms. */
    uint32_t version;    /* Snapshots. */
    tr_bytes bytes;      /* The value. */
};
/** Called for each row, in order; false ends the list. It must not use the reader. */
typedef bool store_visit(void *context, const struct store_row *row);

/** A part of the keys; all zero is all of them. */
struct store_range {
    tr_bytes prefix; /* Only keys that begin with this; */
    tr_bytes from;   /* from this one on; */
    tr_bytes to;     /* before this one; no bytes: no bound. */
    size_t limit;    /* At most so many rows; 0: as many as there are. */
    bool is_reverse; /* The last ones first. */
};
TR_MUST_CHECK tr_status tr__store_list_kv(struct store_reader *reader, const char *kind,
                                          tr_bytes key, const struct store_range *range,
                                          store_visit *visit, void *context);

/** The alarms of an actor, by name. */
TR_MUST_CHECK tr_status tr__store_list_alarms(struct store_reader *reader, const char *kind,
                                              tr_bytes key, store_visit *visit, void *context);
/** Items of one queue, or of all if `queue` is NULL, ids from `from` on; `limit` 0: all. */
TR_MUST_CHECK tr_status tr__store_list_queue(struct store_reader *reader, const char *kind,
                                             tr_bytes key, const char *queue, uint64_t from,
                                             size_t limit, store_visit *visit, void *context);
/** Events from number `from` on up to and with `to`; `limit` 0: all. */
TR_MUST_CHECK tr_status tr__store_list_events(struct store_reader *reader, const char *kind,
                                              tr_bytes key, uint64_t from, uint64_t to,
                                              size_t limit, store_visit *visit, void *context);

/** All shapes of the store: `id` and `bytes` of each. Those that cannot be trusted are left out. */
TR_MUST_CHECK tr_status tr__store_list_shapes(struct store_reader *reader, store_visit *visit,
                                              void *context);

struct store_snapshot {
    uint64_t sequence;
    uint32_t version;
    tr_bytes bytes;
};
/**
 * The latest snapshot whose number is at most `sequence_max`. TR_NOT_FOUND: there is none. With
 * TR_STORE_CORRUPT snapshot->sequence is the number of the damaged one, so that an older one can be
 * asked for; 0: it is not known either.
 */
TR_MUST_CHECK tr_status tr__store_read_snapshot(struct store_reader *reader, const char *kind,
                                                tr_bytes key, uint64_t sequence_max,
                                                struct store_snapshot *snapshot);

/** A place in the list of all alarms. */
struct store_alarm_place {
    tr_time due_wall_ns;
    int64_t actor; /* The driver's number of it. */
    char name[TR_ALARM_NAME_MAX + 1];
};
/** An alarm of whichever actor; bytes are borrowed for the call. */
struct store_due {
    const char *kind;
    tr_bytes key;
    struct store_alarm_place
        place; /* Where the list goes on after it; has its name and when it is due. */
    tr_bytes bytes;
    bool
        is_corrupt; /* It cannot be trusted, nor can `bytes`; kind and key are NULL if they cannot. */
};
typedef bool store_visit_due(void *context, const struct store_due *due);
/**
 * The alarms of all actors after `after` (NULL: from the first on) that are due at `until` or before,
 * the earliest first, at most `limit`. A corrupt one does not end the list.
 */
TR_MUST_CHECK tr_status tr__store_list_due(struct store_reader *reader,
                                           const struct store_alarm_place *after,
                                           tr_time until_wall_ns, size_t limit,
                                           store_visit_due *visit, void *context);

/** An actor that has queues; bytes are borrowed for the call. */
struct store_queued {
    int64_t actor;    /* The driver's number of it: the next page begins behind it. */
    const char *kind; /* NULL: it is not known. */
    tr_bytes key;
    uint32_t version; /* Of its state, as it was put; 0: it has none. */
    bool has_items;   /* In a queue that is asked for, and the actor is not to be destroyed. */
};
typedef bool store_visit_queued(void *context, const struct store_queued *queued);
/**
 * Actors that have items in any queue, at most `limit`, in the order of their numbers, those behind `after`. Says
 * whether a queue with a name behind `behind` has some. Nothing that it gives was checked against a seal.
 */
TR_MUST_CHECK tr_status tr__store_list_queued(struct store_reader *reader, int64_t after,
                                              const char *behind, size_t limit,
                                              store_visit_queued *visit, void *context);

#endif
