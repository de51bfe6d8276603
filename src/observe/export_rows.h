/* SPDX-License-Identifier: Apache-2.0 */
/** The rows of one actor as a message, which is JSON in lines of an export. */
#ifndef OBSERVE_EXPORT_ROWS_H
#define OBSERVE_EXPORT_ROWS_H

#include <troupe/message.h>

#include "observe/stored.h"

/* bytes of the rows of one actor; larger ones need a backup */
enum { EXPORT_BYTES_MAX = 2 * 1024 * 1024 };

/** A row: which members are used depends on the list that it is in. */
TR_MESSAGE(tr_export_row, (bytes, key), (str, name), (u64, number), (i64, due), (u32, version),
           (bytes, value));
TR_MESSAGE(tr_export_rows, (list(message(tr_export_row)), kv),
           (list(message(tr_export_row)), alarms), (list(message(tr_export_row)), queues),
           (list(message(tr_export_row)), events), (list(message(tr_export_row)), snapshots),
           (list(message(tr_export_row)), pages), (list(message(tr_export_row)), requests),
           (list(message(tr_export_row)), shapes));

/** What was read of an actor. All zero is nothing. */
struct export_rows {
    struct tr_export_rows rows;
    const struct memory_source *source;
    void *blocks;    /* memory of the rows */
    size_t bytes;    /* of all values */
    tr_status error; /* why a row is missing */
};

/**
 * Reads all rows of an actor but its state. `state` is what is stored of it, for the shape in its front. TR_TOO_LARGE:
 * more than EXPORT_BYTES_MAX. TR_NOT_SUPPORTED: its first events were deleted, so that they cannot be written again.
 */
TR_MUST_CHECK tr_status tr__export_read(const struct stored *stored, const char *kind, tr_bytes key,
                                        tr_bytes state, struct export_rows *rows);
void tr__export_free(struct export_rows *rows);

struct store_batch;
/** Puts all rows into a batch. Values are lent until the batch is freed. */
TR_MUST_CHECK tr_status tr__export_put(const struct tr_export_rows *rows,
                                       struct store_batch *batch);
/** Does what tr__export_put does, but copies the values into memory of the batch. */
TR_MUST_CHECK tr_status tr__export_put_copies(const struct tr_export_rows *rows,
                                              struct store_batch *batch);

#endif
