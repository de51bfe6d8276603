/* SPDX-License-Identifier: Apache-2.0 */
/** Batches: all writes of one part of a turn, which are stored on disk together or not at all. */
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

/** Makes an empty batch. TR_NO_MEMORY. One thread at a time. */
TR_MUST_CHECK tr_status tr__store_batch_new(struct store_entry *entry, struct store_batch **batch);
/** Frees a batch that was never submitted, or whose on_done was called. NULL does nothing. */
void tr__store_batch_free(struct store_batch *batch);
/**
 * Returns memory for values, aligned to 16, not zeroed, which lives as long as the batch. NULL: out
 * of memory.
 */
void *tr__store_batch_alloc(struct store_batch *batch, size_t size);
/** A position in a batch. All zero is its beginning. */
struct store_batch_mark {
    struct store_op *last;
    struct store_op *shapes;
    size_t pages;
};
struct store_batch_mark tr__store_batch_mark(const struct store_batch *batch);
/** Removes what was added after the mark, which must be a mark of this batch. */
void tr__store_batch_cut(struct store_batch *batch, struct store_batch_mark mark);
/** Whether the batch has no writes. Submitting it would still check the generation. */
bool tr__store_batch_is_empty(const struct store_batch *batch);

/*
 * Each of these functions adds one write to a batch. Writes take effect in the order of the calls.
 *
 * Names and keys are copied. Values are lent until the batch is freed: use memory of tr__store_batch_alloc for a value
 * that would not live that long. TR_NO_MEMORY. TR_TOO_LARGE where a limit of troupe/limits.h is named
 * (TR_INVALID_ARGUMENT for an empty name). After an error the batch is unchanged.
 */

/** Sets the state: at most TR_STATE_MAX bytes, plus STORE_FRONT_MAX. */
TR_MUST_CHECK tr_status tr__store_put_state(struct store_batch *batch, uint32_t version,
                                            tr_bytes state);

/** Sets a key: TR_KV_KEY_MAX, TR_KV_VALUE_MAX. A key has at least one byte, of any value. */
TR_MUST_CHECK tr_status tr__store_kv_put(struct store_batch *batch, tr_bytes key, tr_bytes value);
TR_MUST_CHECK tr_status tr__store_kv_delete(struct store_batch *batch, tr_bytes key);
/**
 * Deletes all keys from `from` on and before `to`, compared as bytes. A bound without bytes is no
 * bound.
 */
TR_MUST_CHECK tr_status tr__store_kv_delete_range(struct store_batch *batch, tr_bytes from,
                                                  tr_bytes to);

/**
 * Sets an alarm, and replaces an earlier alarm of the same name: TR_ALARM_NAME_MAX, TR_ALARM_BYTES_MAX. If an actor
 * gets more than TR_ALARMS_MAX alarms, the batch fails with TR_LIMIT. Names that begin with the byte 1 belong to the
 * runtime and do not count.
 */
TR_MUST_CHECK tr_status tr__store_alarm_set(struct store_batch *batch, const char *name,
                                            tr_time due_wall_ns, tr_bytes bytes);
TR_MUST_CHECK tr_status tr__store_alarm_clear(struct store_batch *batch, const char *name);
TR_MUST_CHECK tr_status tr__store_alarm_clear_all(struct store_batch *batch);

/**
 * Bytes that a caller may put before the name of a queue and before the bytes of an item. They do not count towards the
 * limits.
 */
#define STORE_QUEUE_PREFIX_MAX 2
#define STORE_QUEUE_FRONT_MAX 512
/**
 * Adds an item to a queue: TR_QUEUE_NAME_MAX, TR_QUEUE_ITEM_MAX. Lower ids come first; an existing id is replaced. The
 * caller limits the number of items, which it knows without reading.
 */
TR_MUST_CHECK tr_status tr__store_queue_push(struct store_batch *batch, const char *queue,
                                             uint64_t id, tr_bytes bytes);
TR_MUST_CHECK tr_status tr__store_queue_remove(struct store_batch *batch, const char *queue,
                                               uint64_t id);

/**
 * Appends the event with the number `expected + 1`: at most TR_EVENT_MAX bytes. If the highest
 * number so far, including trimmed events, is not `expected`, the batch fails with TR_STALE. The
 * first event is 1.
 */
TR_MUST_CHECK tr_status tr__store_event_append(struct store_batch *batch, uint64_t expected,
                                               tr_bytes event);
/** Deletes the events up to and including this one. The highest number stays. */
TR_MUST_CHECK tr_status tr__store_event_trim(struct store_batch *batch, uint64_t sequence);
/** Stores a snapshot, at most TR_STATE_MAX bytes, that includes all events up to `sequence`. */
TR_MUST_CHECK tr_status tr__store_snapshot_put(struct store_batch *batch, uint64_t sequence,
                                               uint32_t version, tr_bytes bytes);
/** Deletes the snapshots with numbers up to and including this one. */
TR_MUST_CHECK tr_status tr__store_snapshot_trim(struct store_batch *batch, uint64_t sequence);

/**
 * Stores a shape: the text that says how to read values with this number, 1 to STORE_NUMBER_MAX, in
 * their front. It belongs to the store and not to the actor: it stays when the actor is destroyed.
 * It replaces a shape with the same number; of several in one batch the first counts.
 */
TR_MUST_CHECK tr_status tr__store_shape_put(struct store_batch *batch, uint64_t number,
                                            tr_bytes text);

/**
 * Stores a page of the actor's own database (store/sql.h): STORE_PAGE_SIZE bytes. The first page is
 * 1.
 */
TR_MUST_CHECK tr_status tr__store_page_put(struct store_batch *batch, uint64_t number,
                                           tr_bytes page);

/**
 * Stores the outcome of a request under its id. The id has 1 to TR_REQUEST_ID_MAX bytes, the outcome at most
 * STORE_REQUEST_MAX. Replaces an outcome with the same id. Numbers increase from one request of the actor to the next.
 */
TR_MUST_CHECK tr_status tr__store_request_put(struct store_batch *batch, tr_bytes id,
                                              uint64_t number, tr_bytes value);
/** Deletes the requests with numbers up to and including this one. */
TR_MUST_CHECK tr_status tr__store_request_trim(struct store_batch *batch, uint64_t number);

/**
 * Marks this actor to be destroyed, and clears its alarms. Its other data stays until tr__store_destroy, so that the
 * entry can still read it. The mark stays until tr__store_destroy: a later entry that finds store_state.is_doomed
 * begins with a tr__store_destroy, and opening a store destroys all marked actors.
 */
TR_MUST_CHECK tr_status tr__store_doom(struct store_batch *batch);
/**
 * Deletes everything of this actor. What is added afterwards belongs to a new actor with the same name. If the actor
 * has more than a few rows, the name becomes free with this batch, and the rows are deleted in small parts after later
 * commits.
 */
TR_MUST_CHECK tr_status tr__store_destroy(struct store_batch *batch);

#endif
