/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Areas: where workers receive. Channels on which nothing is under way have no buffers, so that one area
 * of a worker serves all its channels.
 *
 * A channel that receives takes the free end of the area. When its bytes are handled it gives the area
 * back, and the area starts over when nobody holds a part of it. A turn that waits keeps its part; the
 * worker continues behind it, and takes another area when less than AREA_LOW is left. Bytes never move.
 * Worker only.
 */
#ifndef NET_AREA_H
#define NET_AREA_H

#include "mem/source.h"

enum {
    AREA_SIZE = 64 * 1024,
    AREA_LOW = 16 * 1024 /* the least space that a receive gets, in bytes */
};

struct area {
    uint32_t holders; /* channels with bytes in it, and the worker whose current area it is */
    uint32_t used;
    unsigned char bytes[AREA_SIZE];
};

/** Returns an area with at least AREA_LOW free bytes, for one more holder; NULL: out of memory. */
struct area *tr__area_take(const struct memory_source *source, struct area **current);
/** Gives up the hold that tr__area_take has counted. An area without holders is freed. */
void tr__area_give(const struct memory_source *source, struct area *current, struct area *area);

#endif
