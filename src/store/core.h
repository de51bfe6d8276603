/* SPDX-License-Identifier: Apache-2.0 */
/** struct store and its limits, for the files of this directory only. */
#ifndef STORE_CORE_H
#define STORE_CORE_H

#include "store/driver.h"

#include "base/hash.h"
#include "os/lock.h"
#include "os/spread.h"

/**
 * How long the writer polls for the next batch before it sleeps, if recent batches came within this
 * time. An actor that waits for each commit submits its next batch after about this time. Waking a
 * sleeping thread would take about as long again.
 */
#define STORE_SPIN_NS (100 * TR_MICROSECOND)

enum {
    /* After polls that found nothing, the writer sleeps without polling: at most this many times
     * in a row. */
    STORE_SPIN_SKIPS_MAX = 64,
    /* batches of a group at most; further ones wait for the next group */
    STORE_GROUP_BATCHES_MAX = 4096,
    STORE_GROUP_PAGES_MAX = 4000, /* A group with this many pages is full: 16 MiB. */
    /* The limit of pages while commits are slowed down: small groups, so that each wait is
     * short. */
    STORE_GROUP_PAGES_BEHIND = 500,
    /* How many batches of one group may destroy actors. The first number is for a group without other
     * batches, the second for one that has others. A batch that destroys changes as many pages as several others, anywhere in the
     * tables, and 300,000 may come at once. */
    STORE_GROUP_DESTROYS_MAX = 64,
    STORE_GROUP_DESTROYS_SHARED = 16,
    /* Pages that one slice of deletions changes: BURY_SLICE rows, each on its own page, and inner
     * pages. */
    STORE_BURY_PAGES = 160,
};

/** Batches, the oldest first. */
struct store_queue {
    struct store_batch *first;
    struct store_batch *last;
};

/** Which thread has the turn: only that thread may make a checkpoint. See store/tidy.h. */
enum tidy_turn {
    TIDY_FREE,
    TIDY_PASS,    /* the tidying thread has the turn; the committing thread has given it */
    TIDY_RESTART, /* the committing thread has the turn */
    TIDY_HELD,    /* a backup or a compaction has the turn, and nobody makes a checkpoint */
};

enum { STORE_SIZES_FIRST = 2 };

/** A compaction that a thread waits for. */
struct store_shrink {
    tr_parker *parker;
    const atom32 *is_cancelled; /* another thread sets it to cancel; NULL: never */
    tr_status status;
    struct store_why why;
    atom32 is_done;
};

struct store {
    struct memory_source source;
    const tr_platform *platform;
    const struct store_driver *driver;
    struct store_session *session;
    uint64_t epoch;
    char *directory; /* NULL: the store is in memory */
    bool is_threadless;
    bool is_read_only;
    void (*on_work)(void *context);
    void (*on_failed)(void *context, const char *why);
    void *context;

    atom32 is_failed; /* Set once, by the committing thread or the thread that makes checkpoints. */
    atom32 is_reported; /* on_failed was called, or is being called. */

    /* Protects the members below. No other lock is taken under this one; memory is allocated under it. */
    struct lock lock;
    size_t waiting; /* batches that were submitted and are in no group yet */
    struct store_queue submitted;
    /* batches that destroy actors, and later batches of the same entries */
    struct store_queue destroys;
    bool is_writer_idle;
    bool is_over;
    struct store_shrink *shrink; /* the compaction that tr__tidy_shrink must do; NULL: none */
    uint64_t counter;            /* generation.counter of the last entry */
    struct store_entry **buckets;
    size_t bucket_mask; /* number of buckets, a power of 2, less 1 */
    size_t entry_count;
    struct hash_key hash_key;

    atom64 writing_ns; /* When the commit of the current group began; 0: no commit runs. */
    atom64 commit_ns;  /* How long recent commits took. */
    /* histogram of the times of commits, in nanoseconds, from SPREAD_FIRST_NS */
    struct spread commit_times;
    struct spread group_sizes; /* histogram of the numbers of batches in a group, from 2 */
    atom32 has_work;           /* a batch was submitted; polled without the lock */
    /* Writer only: how many more times it sleeps without polling; and how many times it will after
     * the next poll that finds nothing. */
    uint32_t spin_skips;
    uint32_t spin_skips_next;

    tr_parker *writer_parker;
    tr_thread *writer;
    tr_parker *checkpoint_parker;
    tr_thread *checkpointer;
    atom32 checkpoint_over;

    /* The next members are explained in store/tidy.h. */
    atom32 tidy_turn;         /* enum tidy_turn */
    atom32 is_writer_waiting; /* the writer waits for the end of a pass or of a hold */
    atom32 is_hold_wanted;    /* by a backup */
    tr_parker *hold_parker;   /* parker of the thread that makes the backup */
    atom32 is_shrink_wanted;  /* `shrink` is set */
    atom32 is_log_full;       /* a group waits by rule 4; read by readers that are held */
    atom32 has_backup;        /* a backup or a compaction runs */
    atom64 tidy_page_ns;      /* how long one page took in the last pass */
    atom64 checkpoints;       /* passes of the tidying thread since the start */
    atom64 checkpoint_ns;     /* how long the last checkpoint took */
    /* Thread of the backup only. */
    tr_time step_ns;       /* when the current step began */
    uint64_t step_batches; /* number of batches that were committed before the current step */
    /* The next members are for the committing thread only. */
    bool is_burying;    /* the last search for rows of destroyed actors has found some */
    size_t log_pages;   /* pages of the log after the last commit */
    size_t group_pages; /* how many pages the last commit has added to the log */
    bool is_tidy; /* nothing was committed since the log was truncated, or was found to be short */
    tr_time idle_ns; /* time since which nothing was committed; 0: not known */
};

struct store_reader {
    struct store *store;
    struct store_view *view;
    bool is_held;
};

#endif
