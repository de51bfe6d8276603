/* SPDX-License-Identifier: Apache-2.0 */
/** The rows of one actor as a message; lines of an export have it as JSON. */
#ifndef OBSERVE_EXPORT_ROWS_H
#define OBSERVE_EXPORT_ROWS_H

#include <troupe/message.h>

#include "observe/stored.h"

/* bytes of the rows of one actor at most; an actor with more needs a backup */
enum { EXPORT_BYTES_MAX = 2 * 1024 * 1024 };

/** A row. Which members are used depends on the list. */
TR_MESSAGE(tr_export_row, (bytes, key), (str, name), (u64, number), (i64, due), (u32, version),
           (bytes, value));
TR_MESSAGE(tr_export_rows, (list(message(tr_export_row)), kv),
           (list(message(tr_export_row)), alarms), (list(message(tr_export_row)), queues),
           (list(message(tr_export_row)), events), (list(message(tr_export_row)), snapshots),
           (list(message(tr_export_row)), pages), (list(message(tr_export_row)), requests),
           (list(message(tr_export_row)), shapes));

/** The rows that were read of an actor. All zero: none. */
struct export_rows {
    struct tr_export_rows rows;
    const struct memory_source *source;
    void *blocks;    /* blocks of memory for the rows */
    size_t bytes;    /* bytes of all values */
    tr_status error; /* why a row is missing */
};

/**
 * Reads all rows of an actor except the state. `state` has the stored bytes of the state, because
 * its front names a shape. TR_TOO_LARGE: more than EXPORT_BYTES_MAX. TR_NOT_SUPPORTED: its first
 * events were deleted, so that they cannot be written again.
 */
TR_MUST_CHECK tr_status tr__export_read(const struct stored *stored, const char *kind, tr_bytes key,
                                        tr_bytes state, struct export_rows *rows);
void tr__export_free(struct export_rows *rows);

struct store_batch;
/** Puts all rows into a batch. Values are borrowed until the batch is freed. */
TR_MUST_CHECK tr_status tr__export_put(const struct tr_export_rows *rows,
                                       struct store_batch *batch);
/** As tr__export_put, but copies the values into memory of the batch. */
TR_MUST_CHECK tr_status tr__export_put_copies(const struct tr_export_rows *rows,
                                              struct store_batch *batch);

#endif
