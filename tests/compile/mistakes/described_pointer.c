/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* expect: segment.points is a bare pointer, which no message can hold */
#include "common.h"

struct segment {
    int count;
    double *points;
};
TR_DESCRIBE(segment, count, points);
