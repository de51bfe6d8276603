/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The items of an actor's queues, in memory: found by their ids, and ordered by id or by time. This
 * file has only the structure in memory; durable/queue.c stores the items.
 *
 * An item is in exactly one of these places:
 *
 *     queue.ready       it can be taken; lowest id first
 *     queues.waiting    it waits for its time; lowest time first
 *     queues.taken      a turn has it
 *     in no list        it is a dead letter
 *
 * Each item is also in the table of ids. Memory for all of these is reserved when an item is added,
 * so that only tr__items_add can fail.
 *
 * Owner only.
 */
#ifndef DURABLE_ITEMS_H
#define DURABLE_ITEMS_H

#include <troupe/limits.h>

#include "actor/cell/worker.h"
#include "base/list.h"

/** The form of an item's row in the store; see durable/item_row.h. */
enum item_class {
    ITEM_PLAIN, /* the item was pushed without a delay and has not failed */
    /* the item was given a time, which may have come by now; attempts may have failed */
    ITEM_TIMED,
    ITEM_DEAD,
};

enum item_place { ITEM_NOWHERE, ITEM_READY, ITEM_WAITING, ITEM_TAKEN };

struct queue_item {
    struct list taken;       /* link in queues.taken */
    struct list changed;     /* link in queues.changed, if the open commit has changed the item */
    struct queue_item *next; /* next item in its bucket */
    struct queue *queue;
    uint64_t id;
    size_t heap_at;
    enum item_place place;
    enum item_class class;
    /* the turn that has the item; or that had it, if the open commit has changed the item */
    const struct tr_self *taker;
    uint32_t attempts; /* number of attempts that have failed */
    /* with ITEM_TIMED: when the item can be taken, on the wall clock */
    tr_time due_ns;
    tr_time span_ns; /* the delay that led to due_ns */
    /* when the last attempt failed, on the wall clock; 0: none has failed */
    tr_time failed_ns;
    tr_status failure;
    char *cause; /* NULL: none */
    /* hash of the shape of the message; 0: the message has none. See durable/message_shape.h */
    uint64_t shape;
    /* If the item is in queues.changed: its class and attempts after the last commit. */
    enum item_class stored_class;
    uint32_t stored_attempts;
    bool is_removed; /* the open commit has removed the item */
    bool is_retimed; /* due_ns differs from what is stored */
    size_t type_size;
    size_t bytes_size;
    /* the name of the message's type with its NUL, then the packed message, whose size is
     * bytes_size */
    char type[];
};

/** A binary heap: the first item is the one with the lowest key. */
struct item_heap {
    struct queue_item **items;
    size_t count;
    size_t capacity;
    bool is_by_time; /* the key is due_ns, then the id. If false, the key is the id */
};

struct queue {
    struct list link; /* link in queues.all */
    struct item_heap ready;
    size_t count; /* number of items; dead letters do not count */
    size_t dead_count;
    size_t bytes;   /* memory of its items, including dead letters; see TR_QUEUE_BYTES_MAX */
    size_t overdue; /* items of ITEM_TIMED whose time has come */
    bool is_run;    /* the run handler takes items from this queue */
    char name[];
};

/** The queues of an actor. Set it to zeros, then call tr__items_init. */
struct queues {
    struct list all;
    struct list taken;
    struct list changed; /* items that the open commit has changed or removed */
    struct item_heap waiting;
    struct queue_item **buckets;
    size_t bucket_count;
    size_t count;       /* all items */
    size_t bytes;       /* memory of all items */
    uint64_t last;      /* id of the last item that was pushed */
    uint64_t reserved;  /* ids up to this one are used, or reserved for this generation */
    uint64_t committed; /* items up to this id were pushed by commits that have ended */
    tr_time row_ns;     /* when the actor's stored alarm for its queues is due; TR_NEVER: none */
    bool has_retimed;   /* there are items with `is_retimed` */
    bool has_changed;   /* the open commit may have made row_ns outdated */
    bool has_run;       /* the run handler has returned without being aborted */
    bool has_run_taken; /* the run handler has taken from a queue */
    /* there was no memory to note is_run of a queue, so all queues count as is_run */
    bool takes_any;
    bool has_moved; /* this generation has stored a change of an item */
};

void tr__items_init(struct queues *queues);
/** Frees everything. */
void tr__items_deinit(struct worker *worker, struct queues *queues);

/** Returns the queue with this name, or NULL. */
struct queue *tr__items_queue(const struct queues *queues, const char *name);
/** Returns the queue with this name, and makes it if it does not exist. NULL: out of memory. */
struct queue *tr__items_queue_make(struct worker *worker, struct queues *queues, const char *name);

/** Makes an item that is in no list yet. NULL: out of memory. */
struct queue_item *tr__item_new(struct worker *worker, struct queue *queue, const char *type,
                                uint64_t id, size_t bytes_size);
/** Frees an item that is in no list and not in the table. */
void tr__item_free(struct worker *worker, struct queue_item *item);
/**
 * Adds an item to the table and to the counts of its queue, as ITEM_NOWHERE. On TR_NO_MEMORY
 * nothing has changed.
 */
TR_MUST_CHECK tr_status tr__items_add(struct worker *worker, struct queues *queues,
                                      struct queue_item *item);
/** Undoes tr__items_add. */
void tr__items_remove(struct queues *queues, struct queue_item *item);
struct queue_item *tr__items_find(const struct queues *queues, uint64_t id);
/** Moves an item to another place. Either place may be ITEM_NOWHERE. */
void tr__item_move(struct queues *queues, struct queue_item *item, enum item_place place);
/**
 * If the wall clock was set back, shortens waits that would now be longer than the item's delay.
 * Marks changed items with is_retimed.
 */
void tr__items_follow(struct queues *queues, tr_time wall_ns);
/** Changes the class of an item, and the counts of its queue. */
void tr__item_set_class(struct queue_item *item, enum item_class class);

static inline char *item_message(struct queue_item *item)
{
    return item->type + item->type_size;
}

/** Returns how many bytes an item counts towards TR_QUEUE_BYTES_MAX. */
static inline size_t item_cost(const struct queue_item *item)
{
    return TR_QUEUE_ITEM_COST + item->type_size + item->bytes_size;
}

static inline struct queue_item *heap_first(const struct item_heap *heap)
{
    return heap->count ? heap->items[0] : NULL;
}

#endif
