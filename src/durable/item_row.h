/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The row of an item in the store.
 *
 *     class   name of the queue in the store     bytes
 *     PLAIN   the name                           type with its NUL, packed message
 *     TIMED   \001t and the name                 front, type with its NUL, packed message
 *     DEAD    \001d and the name                 the same
 *
 * Before the message is the front of its shape (wire/shape.h), unless an earlier version of the library has stored it.
 *
 * No queue of an application begins with \001, so the classes cannot be mixed up. PLAIN is what all items were before
 * there were others. A program of that time keeps rows of the other classes and does not give them to anybody.
 *
 * The front: version (1), due_ns, span_ns, failed_ns (8 bytes each), attempts, failure (4), size of the cause (2), the cause.
 * Numbers have their low byte first.
 */
#ifndef DURABLE_ITEM_ROW_H
#define DURABLE_ITEM_ROW_H

#include "durable/items.h"
#include "store/read.h"

struct store_batch;

/** The name of a queue that no application can use. Its only item says which ids are reserved. */
#define QUEUE_IDS "\001"
/** A name after those of TIMED and DEAD rows, and before those of all queues of applications. */
#define QUEUE_NAMES_FROM "\001\377"

/** Puts the row of an item, by its class. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__item_row_put(struct store_batch *batch, struct queue_item *item);
/** Removes the row that an item has with this class. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__item_row_remove(struct store_batch *batch,
                                            const struct queue_item *item, enum item_class class);
/**
 * Reads a row, which is not that of QUEUE_IDS, and adds its item, in no place. TR_STORE_CORRUPT: it is no such row.
 * TR_NOT_SUPPORTED: a later program has written it. TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__item_row_read(struct worker *worker, struct queues *queues,
                                          const struct store_row *row, struct queue_item **item);

/** What a row says, without making an item. Everything is borrowed from the row. */
struct item_look {
    enum item_class class;
    const char *queue;
    const char *type;
    tr_bytes message; /* packed */
    uint64_t shape;   /* hash of its shape; 0: it has none */
    uint32_t attempts;
    tr_status failure;
    tr_time failed_ns; /* of the last attempt, by the wall clock; 0: none has failed */
    tr_time due_ns;
};
/** Looks at a row, which is not that of QUEUE_IDS. TR_STORE_CORRUPT, TR_NOT_SUPPORTED. Any thread. */
TR_MUST_CHECK tr_status tr__item_row_look(const struct store_row *row, struct item_look *look);

#endif
