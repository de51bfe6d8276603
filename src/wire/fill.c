/* SPDX-License-Identifier: Apache-2.0 */
/** Blocks for messages that are read from documents. */
#include "wire/fill.h"

#include "base/assert.h"
#include "os/memory.h"
#include "wire/fault.h"

/* For a document of up to this size, tr__fill_new does not measure the message first. A block a
 * little larger than the document suffices for most of these messages. If the block turns out to be
 * too small, the document is read again into a larger one. */
#define UNMEASURED_MAX 1024
/* If the message is not measured, its block has this many bytes more than the struct and the
 * document need. The extra bytes are for the alignment of data in the block. */
#define UNMEASURED_EXTRA 64

/* Reads a message into a new block of `size` bytes. If `size` is 0, makes no block and only
 * measures the message. */
static bool read_into(struct fill *fill, size_t size, const tr_type *type,
                      fill_reader *read_message, void *context, tr_wire_error *error)
{
    *fill = (struct fill){NULL, size, 0};
    if (size > 0) {
        fill->block = tr__os_resize(NULL, size);
        if (fill->block == NULL)
            return FAULT(error, TR_NO_MEMORY, 0, "no memory for a message of %zu bytes", size);
    }
    if (LIKELY(read_message(context, type, fill)))
        return true;
    (void)tr__os_resize(fill->block, 0);
    return false;
}

tr_status tr__fill_new(const tr_type *type, size_t document_size, fill_reader *read_message,
                       void *context, tr_wire_error *error, void **message)
{
    struct fill fill;
    size_t guess = 0;
    if (document_size <= UNMEASURED_MAX)
        guess = type->size + (type->is_flat ? 0 : document_size + UNMEASURED_EXTRA);
    if (!read_into(&fill, guess, type, read_message, context, error))
        return error->status;
    if (fill.used > fill.size) {
        size_t measured = fill.used;
        tr_message_free(type, fill.block);
        if (!read_into(&fill, measured, type, read_message, context, error))
            return error->status;
        TR_ASSERT(fill.used <= measured);
    }
    *message = fill.block;
    return TR_OK;
}

/* If `size` is 0, sets the error for an invalid argument. Otherwise sets the error for a document
 * that is too large, with `size` bytes. */
void tr__fill_refuse(size_t size, tr_wire_error *error)
{
    if (size > 0)
        tr__fault_set(error, TR_TOO_LARGE, 0, "the document has %zu bytes", size);
    else
        tr__fault_set(
            error, TR_INVALID_ARGUMENT, 0, "invalid argument: NULL, or an unknown descriptor");
}
