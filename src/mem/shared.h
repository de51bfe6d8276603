/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Messages that several envelopes share. Such a message is in one block, which never changes and
 * has a count of its holders.
 *
 * The block comes directly from the source and belongs to no pool, because the last holder may be
 * on any thread. The count is set when the block is made, to the number of envelopes that will have
 * the block. No holder is added later.
 *
 * Rule: the reads of a holder happen before its release, and the last release happens after all
 * others (acquire and release of the same count). So the memory is freed when no holder uses it any
 * more.
 */
#ifndef MEM_SHARED_H
#define MEM_SHARED_H

#include <troupe/message.h>

#include "mem/source.h"

/**
 * Copies a message. Returns the copy, which has `holders` holders, and sets *size to its size. If
 * that fails, returns NULL and sets *status to TR_NO_MEMORY or TR_TOO_LARGE.
 */
void *tr__shared_new(const struct memory_source *source, const tr_type *type, const void *message,
                     uint32_t holders, uint32_t *size, tr_status *status);

/** Releases one holder. The last release frees the block and its buffers. Any thread. */
void tr__shared_release(void *data, const tr_type *type, const struct memory_source *source);

#endif
