/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The rows of one actor as a message. In the lines of an export this message is written as JSON.
 */
#ifndef OBSERVE_EXPORT_ROWS_H
#define OBSERVE_EXPORT_ROWS_H

#include <troupe/message.h>

#include "observe/stored.h"

/* The largest number of bytes that the rows of an exported actor may have. An actor with more needs a backup. */
enum { EXPORT_BYTES_MAX = 2 * 1024 * 1024 };

/** A row of a list. Which members are used depends on the list. */
TR_MESSAGE(tr_export_row, (bytes, key), (str, name), (u64, number), (i64, due), (u32, version),
           (bytes, value));
TR_MESSAGE(tr_export_rows, (list(message(tr_export_row)), kv),
           (list(message(tr_export_row)), alarms), (list(message(tr_export_row)), queues),
           (list(message(tr_export_row)), events), (list(message(tr_export_row)), snapshots),
           (list(message(tr_export_row)), pages), (list(message(tr_export_row)), requests),
           (list(message(tr_export_row)), shapes));

/** The rows of an actor that were read. If all is zero, there are none. */
struct export_rows {
    struct tr_export_rows rows;
    const struct memory_source *source;
    void *blocks;    /* blocks that have the rows; each points to the next */
    size_t bytes;    /* sum of the sizes of all values */
    tr_status error; /* why rows are missing; TR_OK: none are missing */
};

/**
 * Reads all rows of an actor except the row with its state. `state` has the stored bytes of the
 * state, because the front of the state names a shape. Returns TR_TOO_LARGE if there are more than
 * EXPORT_BYTES_MAX bytes. Returns TR_NOT_SUPPORTED if the first events of the actor were deleted,
 * because the rest could not be imported.
 */
TR_MUST_CHECK tr_status tr__export_read(const struct stored *stored, const char *kind, tr_bytes key,
                                        tr_bytes state, struct export_rows *rows);
void tr__export_free(struct export_rows *rows);

struct store_batch;
/** Puts all rows into a batch. Their values are borrowed until the batch is freed. */
TR_MUST_CHECK tr_status tr__export_put(const struct tr_export_rows *rows,
                                       struct store_batch *batch);
/** Puts all rows into a batch, and copies their values into memory of the batch. */
TR_MUST_CHECK tr_status tr__export_put_copies(const struct tr_export_rows *rows,
                                              struct store_batch *batch);

#endif
