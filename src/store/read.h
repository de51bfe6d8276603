/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Readers: what the store has of an actor, and lists over all actors.
 */
#ifndef STORE_READ_H
#define STORE_READ_H

#include "store/store.h"

struct store_reader;

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
