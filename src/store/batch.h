/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Batches. A batch has all writes of one part of a turn. They are stored on disk together or not at
 * all.
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

/** Makes an empty batch. Fails with TR_NO_MEMORY. One thread at a time. */
TR_MUST_CHECK tr_status tr__store_batch_new(struct store_entry *entry, struct store_batch **batch);
/** Frees a batch that was never submitted, or whose on_done was called. NULL is allowed. */
void tr__store_batch_free(struct store_batch *batch);
/**
 * Returns memory for values, or NULL if there is none. The memory is aligned to 16 bytes, is not
 * zeroed, and lives as long as the batch.
 */
void *tr__store_batch_alloc(struct store_batch *batch, size_t size);
/** A position in a batch. If all members are zero, it is the beginning of the batch. */
struct store_batch_mark {
    struct store_op *last;
    struct store_op *shapes;
    size_t pages;
};
struct store_batch_mark tr__store_batch_mark(const struct store_batch *batch);
/** Removes all writes that were added after the mark. The mark must belong to this batch. */
void tr__store_batch_cut(struct store_batch *batch, struct store_batch_mark mark);
/**
 * Whether the batch has no writes. When an empty batch is submitted, the store still checks the
 * batch's generation.
 */
bool tr__store_batch_is_empty(const struct store_batch *batch);

/* Each of these functions adds one write to a batch. Writes take effect in the order of the calls.
 *
 * Names and keys are copied. Values are borrowed until the batch is freed. The caller copies a
 * value that does not live that long into memory of tr__store_batch_alloc. If a comment names
 * limits of troupe/limits.h, they apply to the arguments. An argument above its limit makes the
 * function fail with TR_TOO_LARGE, an empty name with TR_INVALID_ARGUMENT. TR_NO_MEMORY: there is
 * no memory for the write. After an error the batch is unchanged. */

/** Sets the state. It has at most TR_STATE_MAX bytes, plus STORE_FRONT_MAX for the front. */
TR_MUST_CHECK tr_status tr__store_put_state(struct store_batch *batch, uint32_t version,
                                            tr_bytes state);

/**
 * Sets the value of a key. Limits: TR_KV_KEY_MAX, TR_KV_VALUE_MAX. A key has at least one byte, and
 * its bytes may have any value.
 */
TR_MUST_CHECK tr_status tr__store_kv_put(struct store_batch *batch, tr_bytes key, tr_bytes value);
TR_MUST_CHECK tr_status tr__store_kv_delete(struct store_batch *batch, tr_bytes key);
/**
 * Deletes all keys from `from` on and before `to`. Keys are compared as bytes. If `from` or `to`
 * has no bytes, the range has no limit at that end.
 */
TR_MUST_CHECK tr_status tr__store_kv_delete_range(struct store_batch *batch, tr_bytes from,
                                                  tr_bytes to);

/**
 * Sets an alarm, and replaces an earlier alarm of the same name. Limits: TR_ALARM_NAME_MAX,
 * TR_ALARM_BYTES_MAX. If an actor gets more than TR_ALARMS_MAX alarms, the batch fails with
 * TR_LIMIT. Names that begin with the byte 1 belong to the runtime and do not count.
 */
TR_MUST_CHECK tr_status tr__store_alarm_set(struct store_batch *batch, const char *name,
                                            tr_time due_wall_ns, tr_bytes bytes);
TR_MUST_CHECK tr_status tr__store_alarm_clear(struct store_batch *batch, const char *name);
TR_MUST_CHECK tr_status tr__store_alarm_clear_all(struct store_batch *batch);

/**
 * How many bytes the caller of tr__store_queue_push may put before the name of a queue, and how
 * many before the bytes of an item. These bytes do not count towards the limits.
 */
#define STORE_QUEUE_PREFIX_MAX 2
#define STORE_QUEUE_FRONT_MAX 512
/**
 * Adds an item to a queue. If the queue has an item with this id, replaces that item. Items with
 * lower ids come first. Limits: TR_QUEUE_NAME_MAX, TR_QUEUE_ITEM_MAX. The caller limits the number
 * of items, because it knows that number without reading.
 */
TR_MUST_CHECK tr_status tr__store_queue_push(struct store_batch *batch, const char *queue,
                                             uint64_t id, tr_bytes bytes);
TR_MUST_CHECK tr_status tr__store_queue_remove(struct store_batch *batch, const char *queue,
                                               uint64_t id);

/**
 * Appends the event with the number `expected + 1`. It has at most TR_EVENT_MAX bytes. If the
 * highest number that an event of the actor ever had is not `expected`, the batch fails with
 * TR_STALE. Trimmed events count too. The first event has the number 1.
 */
TR_MUST_CHECK tr_status tr__store_event_append(struct store_batch *batch, uint64_t expected,
                                               tr_bytes event);
/**
 * Deletes the events with numbers up to and including `sequence`. Does not change the number of the
 * next event.
 */
TR_MUST_CHECK tr_status tr__store_event_trim(struct store_batch *batch, uint64_t sequence);
/** Stores a snapshot of at most TR_STATE_MAX bytes, which includes all events up to `sequence`. */
TR_MUST_CHECK tr_status tr__store_snapshot_put(struct store_batch *batch, uint64_t sequence,
                                               uint32_t version, tr_bytes bytes);
/** Deletes the snapshots whose number is `sequence` or less. */
TR_MUST_CHECK tr_status tr__store_snapshot_trim(struct store_batch *batch, uint64_t sequence);

/**
 * Stores a shape, which is a text that says how to read the values that begin with this number. The
 * number is 1 to STORE_NUMBER_MAX. The shape belongs to the store and stays when the actor is
 * destroyed. It replaces a stored shape with the same number. If a batch has several shapes with
 * one number, the first of them is stored.
 */
TR_MUST_CHECK tr_status tr__store_shape_put(struct store_batch *batch, uint64_t number,
                                            tr_bytes text);

/**
 * Stores a page of the actor's own database (store/sql.h). A page has STORE_PAGE_SIZE bytes. The
 * first page has the number 1.
 */
TR_MUST_CHECK tr_status tr__store_page_put(struct store_batch *batch, uint64_t number,
                                           tr_bytes page);

/**
 * Stores the outcome of a request under the request's id. The id has 1 to TR_REQUEST_ID_MAX bytes,
 * the outcome at most STORE_REQUEST_MAX. Replaces an outcome with the same id. Each request of an
 * actor must have a higher number than the request before.
 */
TR_MUST_CHECK tr_status tr__store_request_put(struct store_batch *batch, tr_bytes id,
                                              uint64_t number, tr_bytes value);
/** Deletes the requests whose number is `number` or less. */
TR_MUST_CHECK tr_status tr__store_request_trim(struct store_batch *batch, uint64_t number);

/**
 * Marks this actor to be destroyed, and clears its alarms. The mark and the actor's other data stay
 * until tr__store_destroy, so that the entry can still read the data. A later entry that finds
 * store_state.is_doomed must begin with tr__store_destroy. When a store is opened, it destroys all
 * marked actors.
 */
TR_MUST_CHECK tr_status tr__store_doom(struct store_batch *batch);
/**
 * Deletes everything of this actor. Later writes belong to a new actor with the same name. If the actor has more than a
 * few rows, the name becomes free with this batch. The rows are then deleted in small parts after later commits.
 */
TR_MUST_CHECK tr_status tr__store_destroy(struct store_batch *batch);

#endif
