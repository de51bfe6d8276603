/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The items of an actor's queues in memory. An item is found by its id, and items are ordered by id
 * or by time. These files handle only the items in memory; durable/queue.c stores items.
 *
 * An item is in exactly one of these places:
 *
 *     queue.ready       it can be taken; lowest id first
 *     queues.waiting    it waits for its time; lowest time first
 *     queues.taken      a turn has it
 *     in no list        it is a dead letter
 *
 * Each item is also in the table of ids. When an item is added, memory for all of these places is
 * reserved, so that only tr__items_add can fail.
 *
 * Only the owner of the actor uses them.
 */
#ifndef DURABLE_ITEMS_H
#define DURABLE_ITEMS_H

#include <troupe/limits.h>

#include "actor/cell/worker.h"
#include "base/list.h"

/** The form of an item's row in the store. See durable/item_row.h. */
enum item_class {
    /* The item was pushed without a delay, and no attempt has failed since; or the item was put
     * back. */
    ITEM_PLAIN,
    /* The item was given a time, at which it can be taken. That time may have come by now. Attempts
     * may have failed. */
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
    /* The turn that has the item. If the open commit has changed the item, this may be the turn
     * that had it. */
    const struct tr_self *taker;
    uint32_t attempts; /* how often an attempt to handle the item has failed */
    /* With ITEM_TIMED: when the item can be taken, by the wall clock. */
    tr_time due_ns;
    tr_time span_ns; /* the delay from which due_ns was computed */
    /* When the last attempt failed, by the wall clock. 0: no attempt has failed. */
    tr_time failed_ns;
    tr_status failure;
    char *cause; /* NULL: none */
    /* The hash of the message's shape; see durable/message_shape.h. 0: the message has no shape. */
    uint64_t shape;
    /* If the item is in queues.changed: the class and the attempts that it had after the last
     * commit. */
    enum item_class stored_class;
    uint32_t stored_attempts;
    bool is_removed; /* the open commit has removed the item */
    bool is_retimed; /* due_ns differs from the stored one */
    size_t type_size;
    size_t bytes_size;
    /* The name of the message's type with its NUL. Behind it is the packed message, whose size is
     * bytes_size. */
    char type[];
};

/** A binary heap. Its first item has the lowest key. */
struct item_heap {
    struct queue_item **items;
    size_t count;
    size_t capacity;
    bool is_by_time; /* true: the key is due_ns, then the id; false: the key is the id */
};

struct queue {
    struct list link; /* link in queues.all */
    struct item_heap ready;
    size_t count; /* number of items; dead letters do not count */
    size_t dead_count;
    size_t bytes;   /* memory of its items, including dead letters; see TR_QUEUE_BYTES_MAX */
    size_t overdue; /* items with ITEM_TIMED that are ready or taken */
    bool is_run;    /* the run handler takes items from this queue */
    char name[];
};

/** The queues of an actor. Set this struct to zeros, then call tr__items_init. */
struct queues {
    struct list all;
    struct list taken;
    struct list changed; /* items that the open commit has changed or removed */
    struct item_heap waiting;
    struct queue_item **buckets;
    size_t bucket_count;
    size_t count;       /* all items */
    size_t bytes;       /* memory of all items */
    uint64_t last;      /* the next item gets the id after this one */
    uint64_t reserved;  /* ids up to this number are used, or reserved for this generation */
    uint64_t committed; /* items with ids up to this one were pushed by commits that have ended */
    tr_time row_ns;     /* when the stored alarm of the queues is due; TR_NEVER: there is none */
    bool has_retimed;   /* is_retimed of some items is true */
    bool has_changed;   /* row_ns may be outdated, because the open commit has changed items */
    bool has_run;       /* the run handler has returned without being aborted */
    bool has_run_taken; /* the run handler has taken from a queue */
    /* There was no memory to note that the run handler takes from a queue. So all queues count as
     * is_run. */
    bool takes_any;
    bool has_moved; /* this generation has stored a change of an item */
};

void tr__items_init(struct queues *queues);
/** Frees everything. */
void tr__items_deinit(struct worker *worker, struct queues *queues);

/** Returns the queue with this name. Returns NULL if there is none. */
struct queue *tr__items_queue(const struct queues *queues, const char *name);
/**
 * Returns the queue with this name. If the queue does not exist, makes it. Returns NULL if there is
 * no memory.
 */
struct queue *tr__items_queue_make(struct worker *worker, struct queues *queues, const char *name);

/** Makes an item that is in no list yet. Returns NULL if there is no memory. */
struct queue_item *tr__item_new(struct worker *worker, struct queue *queue, const char *type,
                                uint64_t id, size_t bytes_size);
/** Frees an item. The item must be in no list and not in the table. */
void tr__item_free(struct worker *worker, struct queue_item *item);
/**
 * Adds an item to the table and to the counts of its queue. The place of the item is ITEM_NOWHERE.
 * Fails with TR_NO_MEMORY, and has then changed nothing.
 */
TR_MUST_CHECK tr_status tr__items_add(struct worker *worker, struct queues *queues,
                                      struct queue_item *item);
/** Undoes tr__items_add. */
void tr__items_remove(struct queues *queues, struct queue_item *item);
struct queue_item *tr__items_find(const struct queues *queues, uint64_t id);
/** Moves an item to another place. The old or the new place may be ITEM_NOWHERE. */
void tr__item_move(struct queues *queues, struct queue_item *item, enum item_place place);
/**
 * Shortens waits that are longer than the item's delay. This happens when the wall clock was set
 * back. Sets is_retimed of each changed item.
 */
void tr__items_follow(struct queues *queues, tr_time wall_ns);
/** Changes the class of an item, and with it the counts of its queue. */
void tr__item_set_class(struct queue_item *item, enum item_class class);

static inline char *item_message(struct queue_item *item)
{
    return item->type + item->type_size;
}

/** Returns the bytes that an item adds to the count that TR_QUEUE_BYTES_MAX limits. */
static inline size_t item_cost(const struct queue_item *item)
{
    return TR_QUEUE_ITEM_COST + item->type_size + item->bytes_size;
}

static inline struct queue_item *heap_first(const struct item_heap *heap)
{
    return heap->count ? heap->items[0] : NULL;
}

#endif
