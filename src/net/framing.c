/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The framings of the library: lines, and pieces with their length before them.
 *
 * A framing has no state. So the same bytes always give the same pieces, no matter in which
 * portions the bytes come. A search for the end of a line continues where the last search has
 * stopped. A length, which has at most ten bytes, is read again with each cut.
 */
#include "base/assert.h"

#include <string.h>
#include <troupe/net.h>

/* Two values that a cut returns instead of a size. */
static const size_t incomplete = 0;
static const size_t broken = SIZE_MAX;

enum { VARINT_MAX = 10 }; /* the longest varint, in bytes: 64 bits, seven in each byte */

/* ---- Lines. ---- */

static size_t cut_line(const tr_framing *framing, tr_bytes bytes, size_t seen, tr_bytes *piece)
{
    (void)framing;
    TR_ASSERT(seen <= bytes.size);
    if (seen == bytes.size)
        return incomplete;
    const char *begin = bytes.data;
    const char *end = memchr(begin + seen, '\n', bytes.size - seen);
    if (!end)
        return incomplete;
    size_t length = (size_t)(end - begin);
    *piece = (tr_bytes){begin, length - (length > 0 && end[-1] == '\r')};
    return length + 1;
}

const tr_framing tr_framing_lines = {.name = "lines", .cut = cut_line};

/* ---- Lengths. ---- */

/*
 * Cuts a piece of `length` bytes behind a head of `head` bytes. Returns `broken` if no memory could
 * hold so many bytes.
 */
static size_t cut_behind(tr_bytes bytes, size_t head, uint64_t length, tr_bytes *piece)
{
    if (length >= SIZE_MAX - head)
        return broken;
    if (bytes.size - head < length)
        return incomplete;
    *piece = (tr_bytes){(const unsigned char *)bytes.data + head, (size_t)length};
    return head + (size_t)length;
}

/* Cuts a piece with its length before it. The option of the framing is the size of the length in
 * bytes. */
static size_t cut_length(const tr_framing *framing, tr_bytes bytes, size_t seen, tr_bytes *piece)
{
    size_t head = (size_t)framing->option;
    TR_ASSERT(seen <= bytes.size);
    if (bytes.size < head)
        return incomplete;
    uint64_t length = 0;
    for (size_t i = 0; i < head; i++)
        length = length << 8 | ((const unsigned char *)bytes.data)[i];
    return cut_behind(bytes, head, length, piece);
}

static size_t write_length(const tr_framing *framing, size_t size, unsigned char *head)
{
    size_t count = (size_t)framing->option;
    if (size >> (8 * count - 1) >> 1 != 0)
        return SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        head[i] = (unsigned char)(size >> (8 * (count - 1 - i)));
    return count;
}

const tr_framing tr_framing_length_1 = {
    .name = "length of 1 byte", .cut = cut_length, .head = write_length, .option = 1};
const tr_framing tr_framing_length_2 = {
    .name = "length of 2 bytes", .cut = cut_length, .head = write_length, .option = 2};
const tr_framing tr_framing_length_4 = {
    .name = "length of 4 bytes", .cut = cut_length, .head = write_length, .option = 4};

/*
 * Cuts a piece with a varint before it that is its length. A varint has seven bits in each byte,
 * the lowest first; its last byte is below 0x80. Like readers of protobuf, this accepts a number
 * that is padded with zeros, up to ten bytes.
 */
static size_t cut_varint(const tr_framing *framing, tr_bytes bytes, size_t seen, tr_bytes *piece)
{
    (void)framing;
    TR_ASSERT(seen <= bytes.size);
    const unsigned char *data = bytes.data;
    uint64_t length = 0;
    for (size_t i = 0; i < VARINT_MAX && i < bytes.size; i++) {
        if (i == VARINT_MAX - 1 && data[i] > 1)
            return broken; /* the varint has more than 64 bits or more than ten bytes */
        length |= (uint64_t)(data[i] & 0x7f) << (7 * i);
        if (data[i] < 0x80)
            return cut_behind(bytes, i + 1, length, piece);
    }
    return incomplete;
}

static size_t write_varint(const tr_framing *framing, size_t size, unsigned char *head)
{
    (void)framing;
    size_t count = 0;
    for (; size >= 0x80; size >>= 7)
        head[count++] = (unsigned char)(size | 0x80);
    head[count++] = (unsigned char)size;
    return count;
}

const tr_framing tr_framing_length_varint = {
    .name = "length as a varint", .cut = cut_varint, .head = write_varint};
