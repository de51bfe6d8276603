/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the fuzzers of both wire forms share: the first byte of the input chooses a type, the rest is
 * the document. What is read must be written again, read again and be the same.
 */
#ifndef TROUPE_TESTS_FUZZ_WIRE_FUZZ_H
#define TROUPE_TESTS_FUZZ_WIRE_FUZZ_H

#include "support/wire_kinds.h"

#include <stdint.h>
#include <stdlib.h>

static const tr_type *const fuzz_types[] = {&tr_type_everything,
                                            &tr_type_six,
                                            &tr_type_item,
                                            &tr_type_tree,
                                            &tr_type_empty,
                                            &tr_type_point};

static inline void require(bool condition)
{
    if (!condition)
        abort();
}

/** The type that a byte chooses. */
static inline const tr_type *fuzz_type(uint8_t byte)
{
    return fuzz_types[byte % (sizeof(fuzz_types) / sizeof(fuzz_types[0]))];
}

/** A copy in memory of its exact size, for the sanitizer to watch. */
static inline void *fuzz_copy(const uint8_t *data, size_t size)
{
    void *copy = malloc(size > 0 ? size : 1);
    require(copy != NULL);
    if (size > 0)
        memcpy(copy, data, size);
    return copy;
}

/** What a refusal must have said. */
static inline void require_place(const tr_wire_error *error, tr_status status, size_t size)
{
    require(status == TR_BAD_DATA || status == TR_TOO_LARGE || status == TR_TOO_DEEP);
    require(error->status == status);
    require(error->offset <= size);
    require(memchr(error->path, '\0', sizeof(error->path)) != NULL);
    require(memchr(error->text, '\0', sizeof(error->text)) != NULL && error->text[0] != '\0');
}

#endif
