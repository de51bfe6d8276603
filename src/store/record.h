/* SPDX-License-Identifier: Apache-2.0 */
/** The structs of batches and entries. The store and its drivers use them. */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include "store/store.h"

#include "os/atomic.h"

/**
 * The greatest id of an item in a queue, and the greatest number of an event. It is INT64_MAX,
 * because SQLite's numbers are signed.
 */
#define STORE_NUMBER_MAX ((uint64_t)INT64_MAX)

/** Kinds of writes. A comment lists the members of struct store_op that such a write uses. */
enum store_op_kind {
    STORE_PUT_STATE,       /* members: version, value */
    STORE_KV_PUT,          /* members: key, value */
    STORE_KV_DELETE,       /* members: key */
    STORE_KV_DELETE_RANGE, /* members: key (the first key), value (the first key after the range) */
    STORE_ALARM_SET,       /* members: key (name of the alarm), due_wall_ns, value */
    STORE_ALARM_CLEAR,     /* members: key (name of the alarm) */
    STORE_ALARM_CLEAR_ALL, /* no members */
    STORE_QUEUE_PUSH,      /* members: key (name of the queue), number (id of the item), value */
    STORE_QUEUE_REMOVE,    /* members: key (name of the queue), number (id of the item) */
    /* members: number (the highest number that an event of the actor has had before), value */
    STORE_EVENT_APPEND,
    STORE_EVENT_TRIM,    /* members: number */
    STORE_SNAPSHOT_PUT,  /* members: number, version, value */
    STORE_SNAPSHOT_TRIM, /* members: number */
    STORE_PAGE_PUT,      /* members: number, value */
    STORE_REQUEST_PUT,   /* members: key (id of the request), number, value */
    STORE_REQUEST_TRIM,  /* members: number */
    STORE_DOOM,          /* no members */
    STORE_DESTROY,       /* no members */
};

struct store_op {
    struct store_op *next;
    enum store_op_kind kind;
    uint32_t version;
    uint64_t number;
    tr_time due_wall_ns;
    tr_bytes key;
    tr_bytes value;
    uint64_t sum; /* of `value`; the driver's `prepare` sets it if the driver needs it */
};

struct store_chunk;

/* The committing thread prefetches this many bytes, beginning with the batch. The first ops of the
 * batch, with their small keys and values, are behind the batch in the same chunk. */
enum { STORE_BATCH_NEAR = 512 };

struct store_batch {
    struct store_batch *next;  /* next batch in the queue or the group */
    struct store_entry *entry; /* only valid while the batch is submitted */
    struct memory_source source;
    struct store_op *first;
    struct store_op *last;
    /* Writes of shapes (number, value). Shapes belong to the store. They are stored even if the actor is destroyed. */
    struct store_op *shapes;
    tr_status status; /* the driver sets it; TR_OK before the commit */
    void (*on_done)(void *context, struct store_batch *batch, tr_status status);
    void *context;
    uint64_t name_sum; /* of the name and the generation; set as store_op.sum is */
    size_t pages;      /* estimate of how many pages of the database the batch changes */
    bool is_destroy;   /* the batch destroys its actor */
    /* The first chunk has the free memory. The last one contains the batch itself. */
    struct store_chunk *chunks;
    char *free; /* free part of the first chunk */
    char *free_end;
};

/**
 * What the committing thread knows about an actor's row. So it need not read the row for each
 * batch.
 */
struct store_known {
    bool is_known; /* if false, the other members are not valid */
    bool is_there;
    bool has_state;
    bool is_doomed;
    int64_t id; /* number of the row in its table */
    uint32_t version;
    uint64_t sequence;  /* highest number that an event has had so far */
    uint64_t state_sum; /* sum of the state's bytes */
    unsigned char seal[24];
};

struct store_entry {
    struct store *store;
    struct store_generation generation;
    atom32 is_current; /* written under the store's lock, read by any thread */
    atom32 is_ready;   /* written under the store's lock, read by any thread */
    atom32 is_broken;  /* a batch of this entry has failed; written by the committing thread */
    /* A new entry of this name was made before this entry was left. So the batches of this entry that are not applied
     * yet are refused. Written under the store's lock, read by the committing thread. */
    atom32 is_refused;

    /* The members from here to destroys_pending are used under the store's lock. */
    struct store_entry *next; /* next entry in its bucket */
    /* the next entry of the same name, which waits to become ready */
    struct store_entry *successor;
    bool is_in_table;
    bool is_left;
    uint32_t pending;          /* batches that were submitted and whose on_done was not called */
    uint32_t destroys_pending; /* how many of the pending batches are in store.destroys */

    void (*on_ready)(void *context, struct store_entry *entry);
    void *context;
    struct store_known known; /* used by the committing thread only */
    uint64_t hash;            /* hash of the name */
    size_t name_size;
    unsigned char name[];
};

#endif
