/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Compares two shapes: the texts that say which fields a message has, such as {owner:str,lines:[{id:u64}],note:?str}.
 *
 * What was packed with one shape can be read with another if the fields have the same names and types in the same
 * order, and one of the two has more fields at its end.
 */
#ifndef TOOL_SHAPE_H
#define TOOL_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

enum { SHAPE_PLACE_SIZE = 512, SHAPE_TEXT_SIZE = 200, SHAPE_DEPTH_MAX = 70 };

enum shape_change {
    SHAPE_ADDED,     /* a field at the end is new */
    SHAPE_REMOVED,   /* a field at the end is gone */
    SHAPE_RENAMED,   /* a field has another name at its place, or was put before others */
    SHAPE_RETYPED,   /* a field has another type */
    SHAPE_UNREADABLE /* a text is no shape */
};

struct shape_difference {
    enum shape_change change;
    bool is_inside;               /* in a message inside the message */
    char place[SHAPE_PLACE_SIZE]; /* "lines.id" */
    char before[SHAPE_TEXT_SIZE]; /* the field as it was, "id:u64"; "" if it is new */
    char after[SHAPE_TEXT_SIZE];  /* the field as it is now; "" if it is gone */
};

/** Calls `found` for each difference, in the order of the fields. */
void shape_compare(const char *before, const char *after,
                   void (*found)(void *context, const struct shape_difference *difference),
                   void *context);

#endif
