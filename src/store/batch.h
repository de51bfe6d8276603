/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Batches: all writes that one part of a turn makes, which get to the disk together or not at all.
 */
#ifndef STORE_BATCH_H
#define STORE_BATCH_H

#include <troupe/message.h>
#include <troupe/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_batch;
struct store_entry;
struct store_op;

/** An empty batch. TR_NO_MEMORY. One thread at a time. */
TR_MUST_CHECK tr_status tr__store_batch_new(struct store_entry *entry, struct store_batch **batch);
/** Takes a batch that was never submitted, or was told of. NULL does nothing. */
void tr__store_batch_free(struct store_batch *batch);
/** Memory of the batch, aligned to 16, not zeroed, for values; as long as it. NULL: out of memory. */
void *tr__store_batch_alloc(struct store_batch *batch, size_t size);
/** How far a batch has come. All zero is its beginning. */
struct store_batch_mark {
    struct store_op *last;
    size_t pages;
};
struct store_batch_mark tr__store_batch_mark(const struct store_batch *batch);
/** Takes back what was added after the mark, which is of this batch. */
void tr__store_batch_cut(struct store_batch *batch, struct store_batch_mark mark);
/** Nothing was put into it so far: submitting it would still check the generation. */
bool tr__store_batch_is_empty(const struct store_batch *batch);

/*
 * What follows adds one write to a batch; they take effect in the order of the calls. Names and keys
 * are copied. Values are lent until the batch is freed: give memory of tr__store_batch_alloc where
 * nothing else lives that long. TR_NO_MEMORY, and TR_TOO_LARGE (TR_INVALID_ARGUMENT for an empty name)
 * where a limit of troupe/limits.h is named; the batch is as it was then.
 */

/** State: TR_STATE_MAX, and a front. */
TR_MUST_CHECK tr_status tr__store_put_state(struct store_batch *batch, uint32_t version,
                                            tr_bytes state);

/** KV: TR_KV_KEY_MAX, TR_KV_VALUE_MAX. A key has at least one byte, and any bytes. */
TR_MUST_CHECK tr_status tr__store_kv_put(struct store_batch *batch, tr_bytes key, tr_bytes value);
TR_MUST_CHECK tr_status tr__store_kv_delete(struct store_batch *batch, tr_bytes key);
/** All keys from `from` on and before `to`, as bytes compare; no bytes at all: no bound. */
TR_MUST_CHECK tr_status tr__store_kv_delete_range(struct store_batch *batch, tr_bytes from,
                                                  tr_bytes to);

/**
 * Sets an alarm, in place of the one of that name: TR_ALARM_NAME_MAX, TR_ALARM_BYTES_MAX. Of more
 * than TR_ALARMS_MAX alarms of one actor the batch fails with TR_LIMIT.
 */
TR_MUST_CHECK tr_status tr__store_alarm_set(struct store_batch *batch, const char *name,
                                            tr_time due_wall_ns, tr_bytes bytes);
TR_MUST_CHECK tr_status tr__store_alarm_clear(struct store_batch *batch, const char *name);
TR_MUST_CHECK tr_status tr__store_alarm_clear_all(struct store_batch *batch);

/**
 * Adds to a queue: TR_QUEUE_NAME_MAX, TR_QUEUE_ITEM_MAX. The lower id is the earlier one; an id that
 * is there is replaced. Of more than TR_QUEUE_MAX items of one queue the batch fails with TR_LIMIT.
 */
TR_MUST_CHECK tr_status tr__store_queue_push(struct store_batch *batch, const char *queue,
                                             uint64_t id, tr_bytes bytes);
TR_MUST_CHECK tr_status tr__store_queue_remove(struct store_batch *batch, const char *queue,
                                               uint64_t id);

/**
 * Appends the event with the number `expected + 1`: TR_EVENT_MAX bytes. If the highest number so far,
 * trimmed events counted, is not `expected`, the batch fails with TR_STALE. The first event is 1.
 */
TR_MUST_CHECK tr_status tr__store_event_append(struct store_batch *batch, uint64_t expected,
                                               tr_bytes event);
/** Deletes the events up to and with this one. The highest number does not fall by it. */
TR_MUST_CHECK tr_status tr__store_event_trim(struct store_batch *batch, uint64_t sequence);
/** Keeps a snapshot, TR_STATE_MAX bytes, that has all events up to `sequence` in it. */
TR_MUST_CHECK tr_status tr__store_snapshot_put(struct store_batch *batch, uint64_t sequence,
                                               uint32_t version, tr_bytes bytes);
/** Deletes the snapshots of numbers up to and with this one. */
TR_MUST_CHECK tr_status tr__store_snapshot_trim(struct store_batch *batch, uint64_t sequence);

/**
 * Keeps a shape: the text that says how what has this number, 1 to STORE_NUMBER_MAX, in its front is to be read. It is
 * the store's and not the actor's: it stays when that is destroyed, and replaces what has the same number.
 */
TR_MUST_CHECK tr_status tr__store_shape_put(struct store_batch *batch, uint64_t number,
                                            tr_bytes text);

/** Puts a page of the actor's own database (store/sql.h): STORE_PAGE_SIZE bytes, the first is 1. */
TR_MUST_CHECK tr_status tr__store_page_put(struct store_batch *batch, uint64_t number,
                                           tr_bytes page);

/**
 * Marks this actor as one that is to be destroyed, and clears its alarms. What else is stored of it stays, so that
 * the entry can still read it, until tr__store_destroy. The mark stays until then: a later entry that finds
 * store_state.is_doomed begins with a tr__store_destroy, and opening a store destroys what has the mark.
 */
TR_MUST_CHECK tr_status tr__store_doom(struct store_batch *batch);
/**
 * Deletes all there is of this actor. What is added after it belongs to a new actor of the name. If that is more than a few rows, the name
 * is free with this batch, and the rows behind it are deleted in small parts after later commits.
 */
TR_MUST_CHECK tr_status tr__store_destroy(struct store_batch *batch);

#endif
