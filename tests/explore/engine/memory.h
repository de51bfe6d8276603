/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The memory that the threads of a model share.
 *
 * Sequentially consistent: the word in place is the value. Weak: the word in place is the newest
 * store; beside it each location keeps its last stores, and a load may return any of them that
 * coherence, happens-before and the order of sequentially consistent operations allow.
 */
#ifndef ENGINE_MEMORY_H
#define ENGINE_MEMORY_H

#include "os/atomic.h"

/** Before each schedule. */
void memory_begin(void);
/** Before the schedules of another model. */
void memory_forget(void);

/** A wake that orders memory: what was before it is before the end of the wait. */
void memory_wake(void);
void memory_wait_end(void);

const char *memory_order_name(memory_order order);

/** Each site that has been used so far, in the order of its first use; NULL at the end. */
struct explore_site *memory_site(int index);

#endif
