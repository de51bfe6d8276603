/* SPDX-License-Identifier: Apache-2.0 */
/** Readers: functions that read the data of one actor, and lists over all actors. */
#ifndef STORE_READ_H
#define STORE_READ_H

#include "store/store.h"

struct store_reader;

/**
 * Makes a reader. A call of the reader sees all batches whose on_done was called before. One thread
 * at a time uses a reader. A reader keeps its prepared statements, so make one for each worker.
 * Fails with TR_NO_MEMORY, TR_STORE_FAILED.
 */
TR_MUST_CHECK tr_status tr__store_reader_new(struct store *store, struct store_reader **reader);
/** Returns the store to which a reader belongs. */
struct store *tr__store_of(const struct store_reader *reader);
/** Frees a reader. NULL is allowed. */
void tr__store_reader_free(struct store_reader *reader);

/**
 * Lets all following calls of this reader see the same state of the store, until
 * tr__store_reader_release. Meanwhile the log of the store cannot start over, so hold a reader only
 * for milliseconds, and release it if a call gives TR_STORE_BUSY: the log is full, and commits wait
 * for the release. Only a reader that is held gets this. Fails with TR_NO_MEMORY, TR_STORE_FAILED,
 * TR_STORE_BUSY.
 */
TR_MUST_CHECK tr_status tr__store_reader_hold(struct store_reader *reader);
void tr__store_reader_release(struct store_reader *reader);

/*
 * Statuses of all functions below: TR_STORE_CORRUPT if the data of this actor cannot be trusted (other actors may be
 * intact), TR_STORE_FAILED, TR_NO_MEMORY, TR_INVALID_ARGUMENT. Returned bytes are borrowed until the reader is used
 * again. These functions read from disk if necessary.
 */

struct store_state {
    /* generation of the batch that has changed the actor last */
    struct store_generation generation;
    uint64_t sequence; /* The highest number of an event so far; 0: none. */
    /* If false, the actor has other data, but its state was never stored. */
    bool has_state;
    bool is_doomed; /* The actor has the mark of tr__store_doom, so it counts as destroyed. */
    uint32_t version;
    tr_bytes bytes;
};
/** Reads the state of an actor. TR_NOT_FOUND: the store has nothing of this actor. */
TR_MUST_CHECK tr_status tr__store_read_state(struct store_reader *reader, const char *kind,
                                             tr_bytes key, struct store_state *state);

/** Reads the value of a key. TR_NOT_FOUND: there is no such key. */
TR_MUST_CHECK tr_status tr__store_read_kv(struct store_reader *reader, const char *kind,
                                          tr_bytes key, tr_bytes kv_key, tr_bytes *value);

/**
 * A row of a list; its bytes are borrowed for the call. Which members are set depends on the list.
 */
struct store_row {
    tr_bytes key;        /* KV: the key. */
    const char *name;    /* Alarms, queues: the name. */
    uint64_t id;         /* Queues: id of the item. Events, snapshots: the sequence. */
    tr_time due_wall_ns; /* Alarms. */
    uint32_t version;    /* Snapshots. */
    tr_bytes bytes;      /* The value. */
};
/**
 * Called for each row, in order. Returning false ends the list. The function must not use the
 * reader.
 */
typedef bool store_visit(void *context, const struct store_row *row);

/** A range of keys. A range that is all zero has all keys. */
struct store_range {
    tr_bytes prefix; /* Only keys that begin with these bytes. */
    tr_bytes from;   /* Only keys from this one on. */
    tr_bytes to;     /* Only keys before this one; no bytes: no bound. */
    size_t limit;    /* At most this many rows; 0: no limit. */
    bool is_reverse; /* From the last to the first. */
};
TR_MUST_CHECK tr_status tr__store_list_kv(struct store_reader *reader, const char *kind,
                                          tr_bytes key, const struct store_range *range,
                                          store_visit *visit, void *context);

/** Lists the alarms of an actor, by name. */
TR_MUST_CHECK tr_status tr__store_list_alarms(struct store_reader *reader, const char *kind,
                                              tr_bytes key, store_visit *visit, void *context);
/**
 * Lists items of one queue, or of all queues if `queue` is NULL, with ids from `from` on. `limit`
 * 0: no limit.
 */
TR_MUST_CHECK tr_status tr__store_list_queue(struct store_reader *reader, const char *kind,
                                             tr_bytes key, const char *queue, uint64_t from,
                                             size_t limit, store_visit *visit, void *context);
/** Lists events from number `from` on up to and including `to`. `limit` 0: no limit. */
TR_MUST_CHECK tr_status tr__store_list_events(struct store_reader *reader, const char *kind,
                                              tr_bytes key, uint64_t from, uint64_t to,
                                              size_t limit, store_visit *visit, void *context);

/**
 * Lists all shapes of the store, with `id` and `bytes`. Shapes that cannot be trusted are left out.
 */
TR_MUST_CHECK tr_status tr__store_list_shapes(struct store_reader *reader, store_visit *visit,
                                              void *context);

/**
 * Reads the stored outcome of the request with this id: row->id is its number, row->bytes its value. TR_NOT_FOUND:
 * nothing is stored.
 */
TR_MUST_CHECK tr_status tr__store_read_request(struct store_reader *reader, const char *kind,
                                               tr_bytes key, tr_bytes request,
                                               struct store_row *row);
/**
 * Lists requests of an actor by their numbers, from `from` on. Rows have `key` (the id of the
 * request), `id` and `bytes`. With `is_last`, lists only the request with the highest number.
 * `limit` 0: no limit.
 */
TR_MUST_CHECK tr_status tr__store_list_requests(struct store_reader *reader, const char *kind,
                                                tr_bytes key, uint64_t from, bool is_last,
                                                size_t limit, store_visit *visit, void *context);

/**
 * Lists keys of a kind, in the order of their bytes: those that begin with `prefix` and come after
 * `after`. No bytes in `after`: from the first key on. Lists at most `limit` keys; 0: no limit.
 * Leaves out actors that are marked to be destroyed, or whose version has the bit
 * STORE_VERSION_HALF. A row has `key`. Reads an index only, so the seals of the actors are not
 * checked.
 */
TR_MUST_CHECK tr_status tr__store_list_keys(struct store_reader *reader, const char *kind,
                                            tr_bytes prefix, tr_bytes after, size_t limit,
                                            store_visit *visit, void *context);

/**
 * Finds the first kind after `after` (NULL: the first one) of which the store has actors, whether
 * the program has that kind or not. TR_NOT_FOUND: there is none.
 */
TR_MUST_CHECK tr_status tr__store_next_kind(struct store_reader *reader, const char *after,
                                            char kind[TR_NAME_MAX + 1]);

struct store_snapshot {
    uint64_t sequence;
    uint32_t version;
    tr_bytes bytes;
};
/**
 * Reads the latest snapshot whose number is at most `sequence_max`. TR_NOT_FOUND: there is no such
 * snapshot. On TR_STORE_CORRUPT, snapshot->sequence is the number of the damaged snapshot, or 0 if
 * it is not known. With that number the caller can ask for an older one.
 */
TR_MUST_CHECK tr_status tr__store_read_snapshot(struct store_reader *reader, const char *kind,
                                                tr_bytes key, uint64_t sequence_max,
                                                struct store_snapshot *snapshot);

/** Sets *last to the number of the last page of an actor's own database; 0: it has none. */
TR_MUST_CHECK tr_status tr__store_last_page(struct store_reader *reader, const char *kind,
                                            tr_bytes key, uint32_t *last);
/**
 * Reads a page of an actor's own database, STORE_PAGE_SIZE bytes. TR_NOT_FOUND: there is no such
 * page.
 */
TR_MUST_CHECK tr_status tr__store_read_page(struct store_reader *reader, const char *kind,
                                            tr_bytes key, uint32_t number, void *bytes);

/** A position in the list of all alarms. */
struct store_alarm_place {
    tr_time due_wall_ns;
    int64_t actor; /* The driver's number of the actor. */
    char name[TR_ALARM_NAME_MAX + 1];
};
/** An alarm of any actor; bytes are borrowed for the call. */
struct store_due {
    const char *kind;
    tr_bytes key;
    /* The position of this alarm in the list, from which the list can continue. `place` contains
     * the name and the time of the alarm. */
    struct store_alarm_place place;
    tr_bytes bytes;
    /* The alarm and `bytes` cannot be trusted. `kind` and `key` are NULL if they cannot be trusted either. */
    bool is_corrupt;
};
typedef bool store_visit_due(void *context, const struct store_due *due);
/**
 * Lists the alarms of all actors after `after` (NULL: from the first on) that are due at
 * `until_wall_ns` or before, the earliest first, at most `limit`. A corrupt alarm does not end the
 * list.
 */
TR_MUST_CHECK tr_status tr__store_list_due(struct store_reader *reader,
                                           const struct store_alarm_place *after,
                                           tr_time until_wall_ns, size_t limit,
                                           store_visit_due *visit, void *context);

/** An actor that has queues; bytes are borrowed for the call. */
struct store_queued {
    /* The driver's number of the actor; pass it as `after` to continue the list. */
    int64_t actor;
    const char *kind; /* NULL: not known. */
    tr_bytes key;
    uint32_t version; /* Version of the actor's state, as stored; 0: the actor has no state. */
    /* One of the queues that the caller asked for has items, and the actor is not marked to be
     * destroyed. */
    bool has_items;
};
typedef bool store_visit_queued(void *context, const struct store_queued *queued);
/**
 * Lists actors that have items in any queue, by their numbers: at most `limit` actors, whose
 * numbers are above `after`. store_queued.has_items says whether a queue whose name comes after
 * `behind` has items. The results are not checked against seals.
 */
TR_MUST_CHECK tr_status tr__store_list_queued(struct store_reader *reader, int64_t after,
                                              const char *behind, size_t limit,
                                              store_visit_queued *visit, void *context);

#endif
