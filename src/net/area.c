/* SPDX-License-Identifier: Apache-2.0 */
#include "net/area.h"

struct area *tr__area_take(const struct memory_source *source, struct area **current)
{
    struct area *area = *current;
    if (!area || AREA_SIZE - area->used < AREA_LOW) {
        area = source_resize(source, NULL, sizeof *area);
        if (!area)
            return NULL;
        area->holders = 1; /* the worker */
        area->used = 0;
        if (*current)
            tr__area_give(source, NULL, *current);
        *current = area;
    }
    area->holders++;
    return area;
}

void tr__area_give(const struct memory_source *source, struct area *current, struct area *area)
{
    TR_ASSERT(area->holders > 0);
    area->holders--;
    if (area == current && area->holders == 1)
        area->used = 0;
    else if (!area->holders)
        source_resize(source, area, 0);
}
