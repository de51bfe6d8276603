/* SPDX-License-Identifier: Apache-2.0 */
/** Memory from allocators that align small sizes by less than the runtime needs. */
#include "mem/source.h"
#include "support/test.h"

#include <stdlib.h>

static size_t asked;

/* As mimalloc and jemalloc do: what has eight bytes at most is a multiple of eight, no more. */
static void *align_by_size(void *context, void *memory, size_t size)
{
    (void)context;
    asked = size;
    if (!size) {
        free((void *)((uintptr_t)memory & ~(uintptr_t)15));
        return NULL;
    }
    ck_assert_ptr_null(memory);
    char *made = malloc(size + SOURCE_ALIGNMENT);
    ck_assert_ptr_nonnull(made);
    return size <= 8 ? made + 8 : made;
}

TEST(small_sizes_are_aligned_as_all_others, "")
{
    const struct memory_source source = {.resize = align_by_size};
    for (size_t size = 1; size <= 64; size++) {
        void *memory = source_resize(&source, NULL, size);
        ck_assert_uint_eq((uintptr_t)memory % SOURCE_ALIGNMENT, 0);
        ck_assert_uint_ge(asked, size);
        ck_assert_ptr_null(source_resize(&source, memory, 0));
        ck_assert_uint_eq(asked, 0);
    }
}

SUITE("memory source", small_sizes_are_aligned_as_all_others)
