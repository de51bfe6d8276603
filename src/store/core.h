/* SPDX-License-Identifier: Apache-2.0 */
/** struct store and its limits. Only the files of this directory use it. */
#ifndef STORE_CORE_H
#define STORE_CORE_H

#include "store/driver.h"

#include "base/hash.h"
#include "os/lock.h"
#include "os/spread.h"

/**
 * How long the writer polls for the next batch before it sleeps, if recent batches came within this
 * time. An actor that waits for each commit submits its next batch after about this time. Without
 * polling, such an actor would also wait until the writer has woken, which takes about as long
 * again.
 */
#define STORE_SPIN_NS (100 * TR_MICROSECOND)

enum {
    /*
     * If polls have found nothing, the writer sleeps some times without polling first, at most this
     * many times in a row.
     */
    STORE_SPIN_SKIPS_MAX = 64,
    /* A group has at most this many batches. Further batches wait for the next group. */
    STORE_GROUP_BATCHES_MAX = 4096,
    STORE_GROUP_PAGES_MAX = 4000, /* a group with this many pages (16 MiB) is full */
    /* The limit of pages while commits are slowed down (rule 3 of store/tidy.h). Small groups keep
     * each wait short. */
    STORE_GROUP_PAGES_BEHIND = 500,
    /* How many batches of one group may destroy actors. The first number is for a group without other batches, the
     * second for a group that has others. A batch that destroys changes as many pages as several other batches,
     * anywhere in the tables. 300,000 such batches may come at once. */
    STORE_GROUP_DESTROYS_MAX = 64,
    STORE_GROUP_DESTROYS_SHARED = 16,
    /* How many pages one slice of deletions changes: BURY_SLICE leaf pages, because each row may be
     * on a page of its own, and some inner pages. */
    STORE_BURY_PAGES = 160,
};

/** Batches, the oldest first. */
struct store_queue {
    struct store_batch *first;
    struct store_batch *last;
    size_t count;
    size_t pages; /* how many pages the batches change, as estimated */
};

/** Which thread has the turn. Only that thread may make a checkpoint. See store/tidy.h. */
enum tidy_turn {
    TIDY_FREE,
    TIDY_PASS,    /* the tidying thread has the turn, which the committing thread has given to it */
    TIDY_RESTART, /* the committing thread has the turn */
    TIDY_HELD,    /* a backup or a compaction has the turn, and no thread makes a checkpoint */
};

enum { STORE_SIZES_FIRST = 2 };

/** A compaction, and the thread that waits for its end. */
struct store_shrink {
    tr_parker *parker;
    /* another thread sets it to cancel the compaction; NULL: no thread does */
    const atom32 *is_cancelled;
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

    atom32 is_failed;   /* set once, by the committing thread or by the tidying thread */
    atom32 is_reported; /* on_failed was called, or is being called now */

    /* Protects the members below. A thread that has this lock takes no other lock. It may allocate memory. */
    struct lock lock;
    size_t waiting; /* number of batches that were submitted and are in no group yet */
    struct store_queue submitted;
    /* Batches that destroy actors, and later batches of their entries. */
    struct store_queue destroys;
    bool is_writer_idle;
    bool is_over;
    struct store_shrink *shrink; /* the compaction that tr__tidy_shrink must do; NULL: none */
    uint64_t counter;            /* generation.counter of the last entry */
    struct store_entry **buckets;
    size_t bucket_mask; /* number of buckets less 1; the number of buckets is a power of 2 */
    size_t entry_count;
    struct hash_key hash_key;

    atom64 writing_ns; /* when the commit of the current group began; 0: no commit runs */
    atom64 commit_ns;  /* mean duration of recent commits */
    /* Histogram of the durations of commits, in nanoseconds. It begins at SPREAD_FIRST_NS. */
    struct spread commit_times;
    struct spread group_sizes; /* histogram of the numbers of batches in a group; begins at 2 */
    atom32 has_work;           /* a batch was submitted; the writer polls this without the lock */
    /* spin_skips: the writer still sleeps this many times without polling first. spin_skips_next:
     * the value that spin_skips was last set to. Only the writer uses these two. */
    uint32_t spin_skips;
    uint32_t spin_skips_next;

    tr_parker *writer_parker;
    tr_thread *writer;
    tr_parker *checkpoint_parker;
    tr_thread *checkpointer;
    atom32 checkpoint_over;

    /* The next members are explained in store/tidy.h. */
    atom32 tidy_turn;         /* enum tidy_turn */
    atom32 is_writer_waiting; /* the writer waits until a pass or a hold ends */
    atom32 is_hold_wanted;    /* a backup or a compaction waits for the turn */
    tr_parker *hold_parker;   /* parker of the thread that makes the backup or compaction */
    atom32 is_shrink_wanted;  /* `shrink` is set */
    /* A group waits by rule 4. Held readers check this and give TR_STORE_BUSY. */
    atom32 is_log_full;
    atom32 has_backup;    /* a backup or a compaction runs */
    atom64 tidy_page_ns;  /* how long the last pass took for one page */
    atom64 checkpoints;   /* passes of the tidying thread since the start */
    atom64 checkpoint_ns; /* how long the last checkpoint took */
    /* The next two members are for the thread of the backup only. */
    tr_time step_ns;       /* when the current step of the backup began */
    uint64_t step_batches; /* how many batches were committed before the current step */
    /* The next members are for the committing thread only. */
    bool is_burying;    /* the last search for rows of destroyed actors has found some */
    size_t log_pages;   /* pages of the log after the last commit */
    size_t group_pages; /* how many pages the last commit has added to the log */
    bool is_tidy; /* the log was truncated or found to be short, and nothing was committed since */
    tr_time idle_ns; /* when the writer became idle; nothing was committed since; 0: not known */
};

struct store_reader {
    struct store *store;
    struct store_view *view;
    bool is_held;
};

#endif
