/* SPDX-License-Identifier: Apache-2.0 */
#include "pool/hash_ring.h"

#include "base/crc32.h"

#include <string.h>

/*
 * Writes the digits of a number, and returns how many there are. The text must have space for 4
 * digits.
 */
static size_t put_number(char *text, uint32_t number)
{
    char digits[10];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    for (size_t i = 0; i < count; i++)
        text[i] = digits[count - 1 - i];
    return count;
}

/*
 * Returns the crc32 of the text with which the names of all points of a member begin: the prefix,
 * the number of the member, and 'v'. For the prefix 'w' and the member 3 that is "w3v".
 */
static uint32_t member_start(char prefix, uint32_t member)
{
    char text[16] = {prefix};
    size_t length = 1 + put_number(text + 1, member);
    text[length++] = 'v';
    return tr__crc32(0, text, length);
}

static uint64_t point_at(uint32_t start, uint32_t member, uint32_t point)
{
    char text[16];
    return (uint64_t)tr__crc32(start, text, put_number(text, point)) << 32 | member;
}

/*
 * Sorts the points. First distributes the points by their highest bits to the slots of `starts`,
 * then sorts each slot. A slot has few points, so moving them one by one is fast.
 */
static void ring_fill(struct hash_ring *ring, char prefix, uint32_t count)
{
    uint32_t slots = UINT32_C(1) << (32 - ring->shift);
    memset(ring->starts, 0, (slots + 1) * sizeof *ring->starts);
    for (uint32_t member = 0; member < ring->members; member++) {
        uint32_t start = member_start(prefix, member);
        for (uint32_t i = 0; i < RING_POINTS; i++)
            ring->starts[(point_at(start, member, i) >> 32 >> ring->shift) + 1]++;
    }
    for (uint32_t i = 0; i < slots; i++)
        ring->starts[i + 1] += ring->starts[i];
    TR_ASSERT(ring->starts[slots] == count);
    /* Fill each slot from its end to its start. Afterwards starts[i + 1] is where slot i begins. */
    for (uint32_t member = 0; member < ring->members; member++) {
        uint32_t start = member_start(prefix, member);
        for (uint32_t i = 0; i < RING_POINTS; i++) {
            uint64_t point = point_at(start, member, i);
            ring->points[--ring->starts[(point >> 32 >> ring->shift) + 1]] = point;
        }
    }
    memmove(ring->starts, ring->starts + 1, slots * sizeof *ring->starts);
    for (uint32_t i = 1; i < count; i++) {
        uint64_t point = ring->points[i];
        uint32_t place = i;
        for (; place > 0 && ring->points[place - 1] > point; place--)
            ring->points[place] = ring->points[place - 1];
        ring->points[place] = point;
    }
    ring->points[count] = UINT64_C(0xffffffff) << 32 | (uint32_t)ring->points[0];
}

tr_status tr__hash_ring_init(struct hash_ring *ring, const struct memory_source *source,
                             char prefix, uint32_t members)
{
    TR_ASSERT(members > 0);
    TR_ASSERT(members <= RING_MEMBERS_MAX);
    uint32_t count = members * RING_POINTS;
    int bits = 0;
    while (UINT32_C(2) << bits <= count)
        bits++;
    size_t slots = (size_t)1 << bits;
    size_t points_size = (count + 1) * sizeof *ring->points;
    uint64_t *points =
        source_resize(source, NULL, points_size + (slots + 1) * sizeof *ring->starts);
    if (!points)
        return TR_NO_MEMORY;
    *ring = (struct hash_ring){
        .source = *source,
        .points = points,
        .starts = (uint32_t *)(points + count + 1),
        .members = members,
        .shift = 32 - bits,
    };
    ring_fill(ring, prefix, count);
    return TR_OK;
}

void tr__hash_ring_deinit(struct hash_ring *ring)
{
    source_resize(&ring->source, ring->points, 0);
    ring->points = NULL;
    ring->starts = NULL;
}

uint32_t tr__hash_ring_find(const struct hash_ring *ring, const char *name)
{
    uint32_t crc = tr__crc32(0, name, strlen(name));
    uint64_t wanted = (uint64_t)crc << 32;
    const uint64_t *point = ring->points + ring->starts[crc >> ring->shift];
    while (*point < wanted)
        point++;
    return (uint32_t)*point;
}

uint32_t tr__hash_ring_compute(char prefix, uint32_t members, const char *name)
{
    TR_ASSERT(members > 0);
    uint64_t wanted = (uint64_t)tr__crc32(0, name, strlen(name)) << 32;
    uint64_t lowest = UINT64_MAX, next = UINT64_MAX;
    for (uint32_t member = 0; member < members; member++) {
        uint32_t start = member_start(prefix, member);
        for (uint32_t i = 0; i < RING_POINTS; i++) {
            uint64_t point = point_at(start, member, i);
            if (point < lowest)
                lowest = point;
            if (point >= wanted && point < next)
                next = point;
        }
    }
    return (uint32_t)(next < UINT64_MAX ? next : lowest);
}
