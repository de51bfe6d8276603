/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The store itself, for the files of this directory.
 */
#ifndef STORE_CORE_H
#define STORE_CORE_H

#include "store/driver.h"

#include "base/hash.h"
#include "os/lock.h"

/**
 * How long the writer looks for the next batch before it sleeps, if that has come as soon lately: one who
 * waits for each commit is back in about this time, and waking a thread takes as long again.
 */
#define STORE_SPIN_NS (100 * TR_MICROSECOND)

enum {
    STORE_SPIN_SKIPS_MAX = 64,      /* After looks in vain it sleeps so often at once, at most. */
    STORE_GROUP_BATCHES_MAX = 4096, /* More wait for the next group. */
    STORE_GROUP_PAGES_MAX = 4000,   /* As soon as it has these, a group is full: 16 MiB. */
    /* The same while commits are slowed down, so that each wait is short. */
    STORE_GROUP_PAGES_BEHIND = 500,
    /*
     * Batches that destroy, in one group: each changes as many pages as some others, anywhere in the tables, and
     * 300,000 may come at once. Fewer while others wait in the same group.
     */
    STORE_GROUP_DESTROYS_MAX = 64,
    STORE_GROUP_DESTROYS_SHARED = 16,
    /* Pages that one slice of a burial changes: BURY_SLICE rows, each on a page of its own, and inner ones. */
    STORE_BURY_PAGES = 160,
};

/** Batches, the oldest first. */
struct store_queue {
    struct store_batch *first;
    struct store_batch *last;
};

struct store {
    struct memory_source source;
    const tr_platform *platform;
    const struct store_driver *driver;
    struct store_session *session;
    uint64_t epoch;
    bool is_threadless;
    void (*on_work)(void *context);
    void (*on_failed)(void *context, const char *why);
    void *context;

    atom32 is_failed; /* Set once, by the committing thread or the one of the checkpoints. */
    atom32 is_told;   /* on_failed was, or is being, called. */

    struct lock lock; /* Of what follows; a leaf: only memory is asked for under it. */
    struct store_queue submitted;
    struct store_queue
        destroys; /* batches that destroy, and what their entries submitted after them */
    bool is_writer_idle;
    bool is_over;
    uint64_t counter; /* of the last generation */
    struct store_entry **buckets;
    size_t bucket_mask; /* their number less 1, which is a power of 2 */
    size_t entry_count;
    struct hash_key hash_key;

    atom64 writing_ns;   /* Since when a group is being committed; 0: none is. */
    atom64 commit_ns;    /* How long that takes lately. */
    atom32 has_work;     /* something was submitted: for a look without the lock */
    uint32_t spin_skips; /* The writer's: how often it sleeps at once before it looks again. */
    uint32_t spin_skips_next;

    tr_parker *writer_parker;
    tr_thread *writer;
    tr_parker *checkpoint_parker;
    tr_thread *checkpointer;
    atom32 checkpoint_over;

    /* See store/tidy.h. */
    atom32
        is_tidying; /* A pass is under way; set by the committing thread, cleared by the other. */
    atom32 is_writer_waiting; /* for the end of a pass */
    atom64 tidy_page_ns;      /* how long a page took in the last pass */
    /* The committing thread's. */
    bool is_burying;    /* the last look for rows of destroyed actors has found some */
    size_t log_pages;   /* of the log after the last commit */
    size_t group_pages; /* by which that has made it longer */
    bool is_tidy;       /* nothing was committed since the log was cut, or found short */
    tr_time idle_ns;    /* since when nothing was committed; 0: it was not looked at */
};

struct store_reader {
    struct store *store;
    struct store_view *view;
};

#endif
