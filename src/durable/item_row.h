/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The row of an item in the store.
 *
 *     class   name of the queue in the store     bytes
 *     PLAIN   the name                           type with its NUL, packed message
 *     TIMED   \001t and the name                 front, type with its NUL, packed message
 *     DEAD    \001d and the name                 the same
 *
 * The packed message begins with the front of its shape (wire/shape.h). The front is missing if the
 * message has no shape, or if an earlier version of the library has stored the item.
 *
 * The name of an application's queue never begins with \001, so the names of the three classes
 * differ. The first versions of the library knew only PLAIN. They keep rows of the other classes,
 * but never give their items to a turn.
 *
 * The front has these parts: version (1 byte), due_ns, span_ns, failed_ns (8 bytes each), attempts,
 * failure (4 bytes each), size of the cause (2 bytes), the cause. Numbers have their low byte
 * first.
 */
#ifndef DURABLE_ITEM_ROW_H
#define DURABLE_ITEM_ROW_H

#include "durable/items.h"
#include "store/read.h"

struct store_batch;

/**
 * The name of a queue that no application can use. The queue has one item, whose id says up to
 * which number ids are reserved.
 */
#define QUEUE_IDS "\001"
/** A name that sorts after the names of all TIMED and DEAD rows, and before all queues of applications. */
#define QUEUE_NAMES_FROM "\001\377"

/**
 * Puts the row of an item into a batch. The class of the item decides the form of the row. Fails
 * with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__item_row_put(struct store_batch *batch, struct queue_item *item);
/** Removes the row that an item has in a class. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__item_row_remove(struct store_batch *batch,
                                            const struct queue_item *item, enum item_class class);
/**
 * Makes an item from a row and adds the item to the queues as ITEM_NOWHERE. The caller then moves
 * the item to its place. The row must not be that of QUEUE_IDS. Fails with TR_STORE_CORRUPT if the
 * row is damaged, TR_NOT_SUPPORTED if a later version of the library has written the row,
 * TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__item_row_read(struct worker *worker, struct queues *queues,
                                          const struct store_row *row, struct queue_item **item);

/** What a row contains. All texts and bytes are borrowed from the row. */
struct item_look {
    enum item_class class;
    const char *queue;
    const char *type;
    tr_bytes message; /* packed */
    uint64_t shape;   /* hash of the message's shape; 0: the message has none */
    uint32_t attempts;
    tr_status failure;
    tr_bytes cause; /* cause of the last failed attempt; no bytes: not known */
    /* When the last failed attempt ended, by the wall clock. 0: no attempt has failed. */
    tr_time failed_ns;
    tr_time due_ns;
};
/**
 * Reads a row into *look, without making an item. The row must not be that of QUEUE_IDS. Fails with
 * TR_STORE_CORRUPT, TR_NOT_SUPPORTED. Any thread.
 */
TR_MUST_CHECK tr_status tr__item_row_look(const struct store_row *row, struct item_look *look);

#endif
