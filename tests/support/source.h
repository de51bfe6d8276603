/* SPDX-License-Identifier: Apache-2.0 */
/** A source of memory for a platform of a test. */
#ifndef TROUPE_TESTS_SUPPORT_SOURCE_H
#define TROUPE_TESTS_SUPPORT_SOURCE_H

#include "mem/source.h"

/** Returns the source of a platform, which lives as long as the thread. Any thread. */
static inline const struct memory_source *source_of(const tr_platform *platform)
{
    enum { SOURCES = 8 };
    static _Thread_local struct memory_source sources[SOURCES];
    for (size_t i = 0; i < SOURCES; i++) {
        if (!sources[i].platform)
            sources[i].platform = platform;
        if (sources[i].platform == platform)
            return &sources[i];
    }
    TR_ASSERT(false);
    return NULL;
}

#endif
