/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Deep copies of messages, each in one block.
 *
 * A block holds the struct first, then what it points to: items of lists and bytes at multiples of
 * COPY_ALIGNMENT, strings with their NUL anywhere. Measuring and copying walk the message in the
 * same order with the same arithmetic, so that what was measured is what is written. Buffers are
 * shared: a copy retains them. Descriptors are valid (tr__type_is_valid).
 */
#ifndef WIRE_COPY_H
#define WIRE_COPY_H

#include <troupe/message.h>

/** What a block must be aligned to, and what is inside it. No kind of value needs more. */
#define COPY_ALIGNMENT ((size_t)8)

/**
 * Bytes of the block that a copy of `message` needs, its struct included. SIZE_MAX when that is
 * above TR_PAYLOAD_MAX, when messages nest deeper than TR_DEPTH_MAX, or when the message is
 * malformed: a list or bytes of some size at NULL. Any thread.
 */
size_t tr__copy_size(const tr_type *type, const void *message);

/**
 * Copies `message` into `block`, which has the `size` bytes that tr__copy_size gave. Retains its
 * buffers. Members that the descriptor does not name become zero unless it is flat. Any thread.
 */
void tr__copy_into(const tr_type *type, const void *message, void *block, size_t size);

/** Releases the buffers of a copy; the block stays the caller's. Any thread. */
void tr__copy_drop(const tr_type *type, void *block);

#endif
