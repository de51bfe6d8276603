/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a batch and an entry look like inside: for the store and its drivers.
 */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include "store/store.h"

#include "os/atomic.h"

/** The greatest id of a queue and number of an event: what a signed number of 64 bits holds. */
#define STORE_NUMBER_MAX ((uint64_t)INT64_MAX)

enum store_op_kind {
    STORE_PUT_STATE,       /* version, value */
    STORE_KV_PUT,          /* key, value */
    STORE_KV_DELETE,       /* key */
    STORE_KV_DELETE_RANGE, /* key: from; value: to */
    STORE_ALARM_SET,       /* key: its name; due, value */
    STORE_ALARM_CLEAR,     /* key: its name */
    STORE_ALARM_CLEAR_ALL, /* */
    STORE_QUEUE_PUSH,      /* key: of the queue; number: id; value */
    STORE_QUEUE_REMOVE,    /* key: of the queue; number: id */
    STORE_EVENT_APPEND,    /* number: the expected one; value */
    STORE_EVENT_TRIM,      /* number */
    STORE_SNAPSHOT_PUT,    /* number, version, value */
    STORE_SNAPSHOT_TRIM,   /* number */
    STORE_PAGE_PUT,        /* number; value */
    STORE_DOOM,            /* */
    STORE_DESTROY,         /* */
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
    struct store_batch *next;  /* of those that were submitted together */
    struct store_entry *entry; /* untouched unless it is submitted */
    struct memory_source source;
    struct store_op *first;
    struct store_op *last;
    struct store_op *shapes; /* number, value: of the store, whatever becomes of the actor */
    tr_status status;        /* the driver's verdict; TR_OK before it */
    void (*on_done)(void *context, struct store_batch *batch, tr_status status);
    void *context;
    size_t pages;               /* of the database that it changes, about */
    bool is_destroy;            /* it destroys its actor */
    struct store_chunk *chunks; /* the newest first; the last one holds the batch itself */
    char *free;                 /* of the newest chunk */
    char *free_end;
};

/** What the committing thread knows of an actor's row, so that it need not read it each time. */
struct store_known {
    bool is_known; /* False: all of the rest says nothing. */
    bool is_there;
    bool has_state;
    bool is_doomed;
    int64_t id; /* of the row */
    uint32_t version;
    uint64_t sequence;      /* of the last event */
    uint64_t state_sum;     /* of the state's bytes */
    unsigned char seal[24]; /* as it is in the row */
};

struct store_entry {
    struct store *store;
    struct store_generation generation;
    atom32 is_current; /* Written under the store's lock, read by anybody. */
    atom32 is_ready;   /* The same. */
    atom32 is_broken;  /* One of its batches failed; written by the committing thread. */

    /* Under the store's lock. */
    struct store_entry *next;      /* in its bucket */
    struct store_entry *successor; /* the next one of the same name, while it is not ready */
    bool is_in_table;
    bool is_left;
    bool is_refused;           /* Another one came before it left: what waits is not committed. */
    uint32_t pending;          /* submitted and not told of */
    uint32_t destroys_pending; /* of these, in store.destroys */

    void (*on_ready)(void *context, struct store_entry *entry);
    void *context;
    struct store_known known; /* The committing thread's. */
    uint64_t hash;            /* of the name */
    size_t name_size;
    unsigned char name[];
};

#endif
