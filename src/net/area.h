/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Areas: memory into which workers receive. A channel that has no bytes needs no buffer, so the
 * channels of a worker share one area.
 *
 * A channel that receives takes the free part at the end of the area. When a turn has handled the
 * bytes, the channel gives its part back. When no channel has a part, the area is used from its
 * beginning again. A turn that waits keeps the bytes that it handles, and so the part of its
 * channel. Then the worker receives behind that part, and takes another area when less than
 * AREA_LOW is left. Bytes never move. Worker only.
 */
#ifndef NET_AREA_H
#define NET_AREA_H

#include "mem/source.h"

enum {
    AREA_SIZE = 64 * 1024,
    AREA_LOW = 16 * 1024 /* how many free bytes an area must have for a receive */
};

struct area {
    /*
     * the number of channels with bytes in the area; one more while the area is the current area of
     * a worker
     */
    uint32_t holders;
    uint32_t used;
    unsigned char bytes[AREA_SIZE];
};

/**
 * Returns an area with at least AREA_LOW free bytes, and adds one to its holders. *current is the
 * area of the worker, and becomes the returned one. Returns NULL if there is no memory.
 */
struct area *tr__area_take(const struct memory_source *source, struct area **current);
/**
 * Subtracts one from the holders of an area. If no channel holds the area any more: the current
 * area of a worker is used from its beginning again, and any other area is freed.
 */
void tr__area_give(const struct memory_source *source, struct area *current, struct area *area);

#endif
