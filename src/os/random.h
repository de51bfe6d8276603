/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The random numbers of the real platform.
 */
#ifndef OS_RANDOM_H
#define OS_RANDOM_H

#include <troupe/platform.h>

/** The function tr_platform.random (troupe/platform.h); `platform` is ignored. Any thread. */
uint64_t tr__real_random(const tr_platform *platform);

#endif
