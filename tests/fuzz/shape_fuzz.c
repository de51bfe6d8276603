/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the reader of shapes, as they are in a store. The input is two texts with a NUL between them. Whatever they
 * are, they compare the same both ways, and a place where they differ is inside of them.
 */
#include "wire/shape.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* A copy in memory of its exact size, for the sanitizer to watch. */
static tr_bytes copy(const uint8_t *data, size_t size)
{
    void *made = malloc(size > 0 ? size : 1);
    require(made != NULL);
    if (size > 0)
        memcpy(made, data, size);
    return (tr_bytes){made, size};
}

static bool is_inside(tr_bytes part, tr_bytes whole)
{
    const char *begin = part.data;
    const char *from = whole.data;
    return begin >= from && part.size <= whole.size &&
           (size_t)(begin - from) <= whole.size - part.size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *middle = size > 0 ? memchr(data, 0, size) : NULL;
    size_t first_size = middle ? (size_t)(middle - data) : size;
    tr_bytes first = copy(data, first_size);
    tr_bytes second = middle ? copy(middle + 1, size - first_size - 1) : copy(data, size);
    struct shape_place place;
    uint64_t hash;
    unsigned fit = tr__shape_compare(first, second, &place);
    unsigned turned = tr__shape_compare(second, first, NULL);
    require(fit == SHAPE_DIFFERENT || fit < SHAPE_DIFFERENT);
    require((fit == SHAPE_DIFFERENT) == (turned == SHAPE_DIFFERENT));
    require(!(fit & SHAPE_FIRST_LONGER) == !(turned & SHAPE_SECOND_LONGER));
    require(!(fit & SHAPE_SECOND_LONGER) == !(turned & SHAPE_FIRST_LONGER));
    if (fit == SHAPE_DIFFERENT)
        require(is_inside(place.first, first) && is_inside(place.second, second));
    tr_bytes rest = tr__shape_front_read(first, &hash);
    require(is_inside(rest, first) && (hash == 0 || rest.size + SHAPE_FRONT == first.size));
    free((void *)(uintptr_t)first.data);
    free((void *)(uintptr_t)second.data);
    return 0;
}
