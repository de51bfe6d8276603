/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The row of an item in the store.
 *
 *     class   name of the queue in the store     bytes
 *     PLAIN   the name                           type with its NUL, packed message
 *     TIMED   \001t and the name                 front, type with its NUL, packed message
 *     DEAD    \001d and the name                 the same
 *
 * The packed message begins with the front of its shape (wire/shape.h), unless an earlier version
 * of the library has stored it.
 *
 * No queue of an application begins with \001, so the names of the three classes differ. The first
 * versions of the library knew only PLAIN. They keep rows of the other classes, but never give out
 * their items.
 *
 * The front: version (1), due_ns, span_ns, failed_ns (8 bytes each), attempts, failure (4), size of
 * the cause (2), the cause. Numbers have their low byte first.
 */
#ifndef DURABLE_ITEM_ROW_H
#define DURABLE_ITEM_ROW_H

#include "durable/items.h"
#include "store/read.h"

struct store_batch;

/**
 * The name of a queue that no application can use. Its only item says up to which number ids are
 * reserved.
 */
#define QUEUE_IDS "\001"
/** A name that sorts after the names of all TIMED and DEAD rows, and before all queues of applications. */
#define QUEUE_NAMES_FROM "\001\377"

/**
 * Puts the row of an item into a batch, in the form of the item's class. Fails with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__item_row_put(struct store_batch *batch, struct queue_item *item);
/** Removes the row that an item has in this class. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__item_row_remove(struct store_batch *batch,
                                            const struct queue_item *item, enum item_class class);
/**
 * Makes an item of a row and adds it to the queues as ITEM_NOWHERE; the caller moves it to its
 * place. The row must not be that of QUEUE_IDS. Fails with TR_STORE_CORRUPT if the row is damaged,
 * TR_NOT_SUPPORTED if a later version of the library has written it, TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__item_row_read(struct worker *worker, struct queues *queues,
                                          const struct store_row *row, struct queue_item **item);

/** The contents of a row, read without making an item. Everything is borrowed from the row. */
struct item_look {
    enum item_class class;
    const char *queue;
    const char *type;
    tr_bytes message; /* packed */
    uint64_t shape;   /* hash of the message's shape; 0: the message has none */
    uint32_t attempts;
    tr_status failure;
    tr_bytes cause; /* of the last failed attempt; no bytes: none is known */
    /* when the last failed attempt ended, by the wall clock; 0: none has failed */
    tr_time failed_ns;
    tr_time due_ns;
};
/**
 * Reads a row into *look. The row must not be the QUEUE_IDS row. Fails with TR_STORE_CORRUPT,
 * TR_NOT_SUPPORTED. Any thread.
 */
TR_MUST_CHECK tr_status tr__item_row_look(const struct store_row *row, struct item_look *look);

#endif
