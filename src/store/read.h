/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Readers. Their functions read the data of one actor, or list what all actors have. Each row of
 * the store has a seal: a sum over the contents of the row, by which a damaged row is recognized
 * (store/sqlite/seal.h).
 */
#ifndef STORE_READ_H
#define STORE_READ_H

#include "store/store.h"

struct store_reader;

/**
 * Makes a reader. Each call of the reader sees all batches whose on_done was called before that
 * call. One thread at a time uses a reader. A reader keeps its prepared statements, so it is best
 * to make one reader for each worker. Fails with TR_NO_MEMORY, TR_STORE_FAILED.
 */
TR_MUST_CHECK tr_status tr__store_reader_new(struct store *store, struct store_reader **reader);
/** Returns the store to which a reader belongs. */
struct store *tr__store_of(const struct store_reader *reader);
/** Frees a reader. NULL is allowed. */
void tr__store_reader_free(struct store_reader *reader);

/**
 * Lets all following calls of this reader see the same state of the store, until
 * tr__store_reader_release. Meanwhile the log of the store cannot restart, so a reader should be
 * held only for milliseconds. If the log becomes full, commits wait for the release, and each call
 * of the held reader gives TR_STORE_BUSY. The caller must then release the reader. Fails with
 * TR_NO_MEMORY, TR_STORE_FAILED, TR_STORE_BUSY.
 */
TR_MUST_CHECK tr_status tr__store_reader_hold(struct store_reader *reader);
void tr__store_reader_release(struct store_reader *reader);

/*
 * Statuses of all functions below: TR_STORE_CORRUPT if the data of this actor cannot be trusted (other actors may be
 * intact), TR_STORE_FAILED, TR_NO_MEMORY, TR_INVALID_ARGUMENT. Returned bytes are borrowed until the next call of the
 * reader. These functions read from the disk if necessary.
 */

struct store_state {
    /* The generation of the batch that was the last to change the actor. */
    struct store_generation generation;
    uint64_t sequence; /* highest number that an event has had so far; 0: there was none */
    /* False: the actor has other data, but its state was never stored. */
    bool has_state;
    bool is_doomed; /* the actor has the mark of tr__store_doom, so it counts as destroyed */
    uint32_t version;
    tr_bytes bytes;
};
/** Reads the state of an actor. Returns TR_NOT_FOUND if the store has nothing of this actor. */
TR_MUST_CHECK tr_status tr__store_read_state(struct store_reader *reader, const char *kind,
                                             tr_bytes key, struct store_state *state);

/** Reads the value of a key. Returns TR_NOT_FOUND if there is no such key. */
TR_MUST_CHECK tr_status tr__store_read_kv(struct store_reader *reader, const char *kind,
                                          tr_bytes key, tr_bytes kv_key, tr_bytes *value);

/**
 * A row of a list. Its bytes are borrowed for the call of store_visit. Which members are set
 * depends on the list.
 */
struct store_row {
    tr_bytes key;        /* of keys: the key; of requests: their id; of names: the name's key */
    const char *name;    /* of alarms and queues: the name */
    uint64_t id;         /* of queues: id of the item; of events and snapshots: their number */
    tr_time due_wall_ns; /* of alarms: when the alarm is due */
    uint32_t version;    /* of snapshots: the version of the state */
    tr_bytes bytes;      /* the stored bytes, such as the value of a key */
};
/**
 * A function that is called for each row, in order. It returns false to end the list. It must not
 * use the reader.
 */
typedef bool store_visit(void *context, const struct store_row *row);

/** A range of keys. If it is all zero, it contains all keys. */
struct store_range {
    tr_bytes prefix; /* only keys that begin with these bytes */
    tr_bytes from;   /* only this key and keys after it */
    tr_bytes to;     /* only keys before this one; no bytes: no bound */
    size_t limit;    /* at most this many rows; 0: no limit */
    bool is_reverse; /* the last key first */
};
TR_MUST_CHECK tr_status tr__store_list_kv(struct store_reader *reader, const char *kind,
                                          tr_bytes key, const struct store_range *range,
                                          store_visit *visit, void *context);

/** Lists the alarms of an actor in the order of their names. */
TR_MUST_CHECK tr_status tr__store_list_alarms(struct store_reader *reader, const char *kind,
                                              tr_bytes key, store_visit *visit, void *context);
/** Lists items of one queue whose ids are `from` or above. A `limit` of 0 means no limit. */
TR_MUST_CHECK tr_status tr__store_list_queue(struct store_reader *reader, const char *kind,
                                             tr_bytes key, const char *queue, uint64_t from,
                                             size_t limit, store_visit *visit, void *context);
/**
 * Lists items of all queues of an actor in the order of the names of the queues, and of ids within a
 * queue. Begins with the item id_from of the queue name_from, or with the first item behind that. With
 * NULL and 0 it begins with the first item. A `limit` of 0 means no limit.
 */
TR_MUST_CHECK tr_status tr__store_list_queues(struct store_reader *reader, const char *kind,
                                              tr_bytes key, const char *name_from, uint64_t id_from,
                                              size_t limit, store_visit *visit, void *context);
/**
 * Lists the events with the numbers `from` to `to`, both included. A `limit` of 0 means no limit.
 */
TR_MUST_CHECK tr_status tr__store_list_events(struct store_reader *reader, const char *kind,
                                              tr_bytes key, uint64_t from, uint64_t to,
                                              size_t limit, store_visit *visit, void *context);

/**
 * Lists all shapes of the store. In each row `id` and `bytes` are set. Leaves out shapes that
 * cannot be trusted.
 */
TR_MUST_CHECK tr_status tr__store_list_shapes(struct store_reader *reader, store_visit *visit,
                                              void *context);

/**
 * Reads the stored outcome of the request with this id. row->id is the number of the request, and row->bytes its
 * outcome. Returns TR_NOT_FOUND if no outcome is stored.
 */
TR_MUST_CHECK tr_status tr__store_read_request(struct store_reader *reader, const char *kind,
                                               tr_bytes key, tr_bytes request,
                                               struct store_row *row);
/**
 * Lists requests of an actor in the order of their numbers, beginning with number `from`. Rows have
 * `key` (the id of the request), `id` (its number) and `bytes`. If `is_last` is true, lists only
 * the request with the highest number. A `limit` of 0 means no limit.
 */
TR_MUST_CHECK tr_status tr__store_list_requests(struct store_reader *reader, const char *kind,
                                                tr_bytes key, uint64_t from, bool is_last,
                                                size_t limit, store_visit *visit, void *context);

/**
 * Lists keys of a kind in the order of their bytes. Lists those that begin with `prefix` and come
 * after `after`. If `after` has no bytes, begins with the first key. Lists at most `limit` keys. If
 * `limit` is 0, there is no limit. Leaves out actors that are marked to be destroyed, and actors
 * whose version has the bit STORE_VERSION_HALF. In each row only `key` is set. Reads only an index,
 * so the seals of the actors are not checked.
 */
TR_MUST_CHECK tr_status tr__store_list_keys(struct store_reader *reader, const char *kind,
                                            tr_bytes prefix, tr_bytes after, size_t limit,
                                            store_visit *visit, void *context);

/**
 * Finds the first kind after `after` of which the store has actors, even if the program does not
 * have that kind. If `after` is NULL, finds the first kind of all. Returns TR_NOT_FOUND if there is
 * none.
 */
TR_MUST_CHECK tr_status tr__store_next_kind(struct store_reader *reader, const char *after,
                                            char kind[TR_NAME_MAX + 1]);

struct store_snapshot {
    uint64_t sequence;
    uint32_t version;
    tr_bytes bytes;
};
/**
 * Reads the latest snapshot whose number is at most `sequence_max`. Returns TR_NOT_FOUND if there
 * is no such snapshot. With TR_STORE_CORRUPT, snapshot->sequence is the number of the damaged
 * snapshot, or 0 if that number is not known. The caller can then ask for a snapshot before that
 * number.
 */
TR_MUST_CHECK tr_status tr__store_read_snapshot(struct store_reader *reader, const char *kind,
                                                tr_bytes key, uint64_t sequence_max,
                                                struct store_snapshot *snapshot);

/**
 * Sets *last to the number of the last page of an actor's own database. Sets it to 0 if the actor
 * has no such database.
 */
TR_MUST_CHECK tr_status tr__store_last_page(struct store_reader *reader, const char *kind,
                                            tr_bytes key, uint32_t *last);
/**
 * Reads a page of an actor's own database. A page has STORE_PAGE_SIZE bytes. Returns TR_NOT_FOUND
 * if there is no such page.
 */
TR_MUST_CHECK tr_status tr__store_read_page(struct store_reader *reader, const char *kind,
                                            tr_bytes key, uint32_t number, void *bytes);

/** A position in the list of all alarms. */
struct store_alarm_place {
    tr_time due_wall_ns;
    int64_t actor; /* the number that the driver has given to the actor */
    char name[TR_ALARM_NAME_MAX + 1];
};
/** An alarm of any actor. The bytes are borrowed for the call of store_visit_due. */
struct store_due {
    const char *kind;
    tr_bytes key;
    /* The position of this alarm, at which the caller can continue the list. It contains the name
     * and the time of the alarm. */
    struct store_alarm_place place;
    tr_bytes bytes;
    /* The alarm and `bytes` cannot be trusted. If `kind` and `key` cannot be trusted either, they are NULL. */
    bool is_corrupt;
};
typedef bool store_visit_due(void *context, const struct store_due *due);
/**
 * Lists the alarms of all actors that are due at `until_wall_ns` or before, the earliest first.
 * Begins after the position `after`, or with the first alarm if `after` is NULL. Lists at most
 * `limit` alarms. A corrupt alarm does not end the list.
 */
TR_MUST_CHECK tr_status tr__store_list_due(struct store_reader *reader,
                                           const struct store_alarm_place *after,
                                           tr_time until_wall_ns, size_t limit,
                                           store_visit_due *visit, void *context);

/** An actor that has queues. The bytes are borrowed for the call of store_visit_queued. */
struct store_queued {
    /* The number that the driver has given to the actor. The caller passes it as `after` to
     * continue the list. */
    int64_t actor;
    const char *kind; /* NULL: the kind is not known */
    tr_bytes key;
    uint32_t version; /* the stored version of the actor's state; 0: the actor has no state */
    /* One of the queues that the caller asked for has items, and the actor is not marked to be
     * destroyed. */
    bool has_items;
};
typedef bool store_visit_queued(void *context, const struct store_queued *queued);
/**
 * Lists actors that have items in any queue, in the order of their numbers. Lists at most `limit`
 * actors, whose numbers are above `after`. `behind` says which queues the caller asks for: those
 * whose names come after it in the order of their bytes; "" stands for all queues. Sets
 * store_queued.has_items if one of these queues has items. Does not check the seals of the rows.
 */
TR_MUST_CHECK tr_status tr__store_list_queued(struct store_reader *reader, int64_t after,
                                              const char *behind, size_t limit,
                                              store_visit_queued *visit, void *context);

#endif
