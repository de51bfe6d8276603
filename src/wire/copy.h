/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Deep copies of messages, each in one block.
 *
 * A block has the struct first, then the data that it points to. The items of each list, and the
 * data of each bytes value, begin at a multiple of COPY_ALIGNMENT. A string with its NUL may begin
 * anywhere. Measuring and copying walk over the message in the same order with the same arithmetic,
 * so the copy has exactly the measured size. Buffers are shared: a copy retains them. Descriptors
 * must be valid (tr__type_is_valid).
 */
#ifndef WIRE_COPY_H
#define WIRE_COPY_H

#include <troupe/message.h>

/** The alignment of a block and of the data inside it. No kind of value needs more. */
#define COPY_ALIGNMENT ((size_t)8)

/**
 * Returns the size of the block for a copy of `message`, including its struct. Returns SIZE_MAX if
 * the block would be larger than TR_PAYLOAD_MAX, if messages nest deeper than TR_DEPTH_MAX, or if
 * the message is malformed. A message is malformed if a list or a bytes value has a size but NULL
 * data. Any thread.
 */
size_t tr__copy_size(const tr_type *type, const void *message);

/**
 * Copies `message` into `block`, whose size is `size`, as tr__copy_size returned it. Retains the
 * buffers of the message. If the type is flat, copies the whole struct. Otherwise copies the
 * members that the descriptor names, and sets the others to zero. Any thread.
 */
void tr__copy_into(const tr_type *type, const void *message, void *block, size_t size);

/** Releases the buffers of a copy. The caller still owns the block. Any thread. */
void tr__copy_drop(const tr_type *type, void *block);

#endif
