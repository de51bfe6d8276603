/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the framings: a stream that is cut in one go and one that comes in random portions give the same
 * pieces and the same end. The first two bytes say which framing, and seed the portions.
 */
#include <stdlib.h>
#include <string.h>
#include <troupe/limits.h>
#include <troupe/net.h>

#include "base/rng.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Cuts the first piece of exactly `size` bytes, in memory that ends behind them. */
static size_t cut(const tr_framing *framing, const uint8_t *data, size_t size, size_t seen,
                  size_t *offset, size_t *length)
{
    uint8_t *copy = malloc(size + (size == 0));
    tr_bytes piece = {NULL, 0};
    require(copy != NULL);
    memcpy(copy, data, size);
    size_t total = framing->cut(framing, (tr_bytes){copy, size}, seen, &piece);
    if (total != 0 && total != SIZE_MAX) {
        require(total <= size);
        *offset = (size_t)((const uint8_t *)piece.data - copy);
        *length = piece.size;
        require(*offset <= total && *length <= total - *offset);
    }
    require(memcmp(copy, data, size) == 0);
    free(copy);
    return total;
}

/* What goes before a piece, and is cut off again, is what the framing would write, or a padded varint. */
static void check_head(const tr_framing *framing, size_t length, size_t offset)
{
    unsigned char head[TR_FRAME_HEAD_MAX];
    if (!framing->head)
        return;
    size_t size = framing->head(framing, length, head);
    require(size <= sizeof head);
    require(framing == TR_LENGTH(varint) ? size <= offset : size == offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const tr_framing *const framings[] = {
        TR_LINES, TR_LENGTH(1), TR_LENGTH(2), TR_LENGTH(4), TR_LENGTH(varint)};
    if (size < 2)
        return 0;
    const tr_framing *framing = framings[data[0] % (sizeof framings / sizeof *framings)];
    struct rng rng;
    rng_init(&rng, data[1]);
    data += 2;
    size -= 2;
    size_t come = 0; /* what has come of the second stream; the first is there at once */
    size_t seen = 0;
    for (size_t begin = 0;;) {
        size_t offset = 0;
        size_t length = 0;
        size_t offset_later = 0;
        size_t length_later = 0;
        size_t total = cut(framing, data + begin, size - begin, 0, &offset, &length);
        size_t later = cut(framing, data + begin, come - begin, seen, &offset_later, &length_later);
        while (later == 0 && come < size) {
            seen = come - begin;
            come += 1 + rng_below(&rng, size - come < 7 ? size - come : 7);
            later = cut(framing, data + begin, come - begin, seen, &offset_later, &length_later);
        }
        require(later == total && offset == offset_later && length == length_later);
        if (total == 0 || total == SIZE_MAX)
            return 0;
        check_head(framing, length, offset);
        begin += total;
        seen = 0;
    }
}
