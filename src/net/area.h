/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Areas: memory into which workers receive. A channel that has no bytes needs no buffer, so the
 * channels of a worker share one area.
 *
 * A channel that receives takes the free end of the area. When its bytes are handled, it gives its
 * part back. When no part is held, the area is used from its beginning again. A turn that waits
 * keeps its part: the worker receives behind it, and takes another area when less than AREA_LOW is
 * left. Bytes never move. Worker only.
 */
#ifndef NET_AREA_H
#define NET_AREA_H

#include "mem/source.h"

enum {
    AREA_SIZE = 64 * 1024,
    AREA_LOW = 16 * 1024 /* bytes that an area must have free for a receive */
};

struct area {
    /* number of channels with bytes in the area, plus one while it is the current area of a
     * worker */
    uint32_t holders;
    uint32_t used;
    unsigned char bytes[AREA_SIZE];
};

/** Returns an area with at least AREA_LOW free bytes, for one more holder; NULL: out of memory. */
struct area *tr__area_take(const struct memory_source *source, struct area **current);
/** Gives up what tr__area_take has counted: an area without holders is freed. */
void tr__area_give(const struct memory_source *source, struct area *current, struct area *area);

#endif
