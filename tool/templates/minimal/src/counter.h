/* SPDX-License-Identifier: Apache-2.0 */
/** A counter: what others can send it. */
#ifndef COUNTER_H
#define COUNTER_H

#include <troupe/troupe.h>

TR_MESSAGE(count, (i64, value));
TR_MESSAGE(add, (i64, n));
TR_REQUEST(get_count, count);
TR_ACTOR(counter, add, get_count);

#endif
