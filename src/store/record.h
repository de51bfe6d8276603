/* SPDX-License-Identifier: Apache-2.0 */
/** The structs of batches and entries, for the store and its drivers. */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include "store/store.h"

#include "os/atomic.h"

/**
 * The greatest id of an item in a queue, and the greatest number of an event. It is INT64_MAX,
 * because SQLite's numbers are signed.
 */
#define STORE_NUMBER_MAX ((uint64_t)INT64_MAX)

enum store_op_kind {
    STORE_PUT_STATE,       /* version, value */
    STORE_KV_PUT,          /* key, value */
    STORE_KV_DELETE,       /* key */
    STORE_KV_DELETE_RANGE, /* key: from; value: to */
    STORE_ALARM_SET,       /* key: the name of the alarm; due, value */
    STORE_ALARM_CLEAR,     /* key: the name of the alarm */
    STORE_ALARM_CLEAR_ALL, /* */
    STORE_QUEUE_PUSH,      /* key: the name of the queue; number: id; value */
    STORE_QUEUE_REMOVE,    /* key: the name of the queue; number: id */
    STORE_EVENT_APPEND, /* number: the highest number of an event that the store must have; value */
    STORE_EVENT_TRIM,   /* number */
    STORE_SNAPSHOT_PUT, /* number, version, value */
    STORE_SNAPSHOT_TRIM, /* number */
    STORE_PAGE_PUT,      /* number; value */
    STORE_REQUEST_PUT,   /* key: the id of the request; number; value */
    STORE_REQUEST_TRIM,  /* number */
    STORE_DOOM,          /* */
    STORE_DESTROY,       /* */
};

struct store_op {
    struct store_op *next;
    enum store_op_kind kind;
    uint32_t version;
    uint64_t number;
    tr_time due_wall_ns;
    tr_bytes key;
    tr_bytes value;
};

struct store_chunk;

struct store_batch {
    struct store_batch *next;  /* the next of the batches that were submitted together */
    struct store_entry *entry; /* only valid while the batch is submitted */
    struct memory_source source;
    struct store_op *first;
    struct store_op *last;
    /* writes of shapes (number, value), which belong to the store and are stored even if the actor is destroyed */
    struct store_op *shapes;
    tr_status status; /* result of the driver; TR_OK before the commit */
    void (*on_done)(void *context, struct store_batch *batch, tr_status status);
    void *context;
    size_t pages;    /* estimated number of pages of the database that the batch changes */
    bool is_destroy; /* the batch destroys its actor */
    struct store_chunk *chunks; /* the newest first; the last one contains the batch itself */
    char *free;                 /* free part of the newest chunk */
    char *free_end;
};

/**
 * What the committing thread knows about an actor's row, so that it need not read the row for each
 * batch.
 */
struct store_known {
    bool is_known; /* If false, the other members have no values. */
    bool is_there;
    bool has_state;
    bool is_doomed;
    int64_t id; /* number of the row */
    uint32_t version;
    uint64_t sequence;      /* number of the last event */
    uint64_t state_sum;     /* sum of the state's bytes */
    unsigned char seal[24]; /* seal of the row */
};

struct store_entry {
    struct store *store;
    struct store_generation generation;
    atom32 is_current; /* Written under the store's lock, read by any thread. */
    atom32 is_ready;   /* Written under the store's lock, read by any thread. */
    atom32 is_broken;  /* One of its batches failed; written by the committing thread. */

    /* The members from here to destroys_pending are used under the store's lock. */
    struct store_entry *next;      /* next entry in its bucket */
    struct store_entry *successor; /* the next entry of the same name, which is not ready */
    bool is_in_table;
    bool is_left;
    /* The next entry was made before this one was left, so batches of this one that still wait are
     * refused. */
    bool is_refused;
    uint32_t pending;          /* batches that were submitted and whose on_done was not called */
    uint32_t destroys_pending; /* how many of the pending batches are in store.destroys */

    void (*on_ready)(void *context, struct store_entry *entry);
    void *context;
    struct store_known known; /* Committing thread only. */
    uint64_t hash;            /* hash of the name */
    size_t name_size;
    unsigned char name[];
};

#endif
