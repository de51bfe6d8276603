/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A memory barrier in all threads of the process at once.
 *
 * For protocols with a hot side and a rare side. The hot side writes its own word, calls
 * atom_half_barrier, and reads the word of the rare side. The rare side writes its own word, calls
 * tr__os_barrier, and reads the word of the hot side. At least one of the two sides sees what the
 * other has written, as if both had a full barrier between the write and the read.
 */
#ifndef OS_BARRIER_H
#define OS_BARRIER_H

#include <troupe/status.h>

/**
 * Prepares the process for tr__os_barrier. A second call does nothing. TR_NOT_SUPPORTED: the kernel
 * has no such barrier.
 */
TR_MUST_CHECK tr_status tr__os_barrier_init(void);

/** Returns after every thread of the process has passed a full barrier. Takes some microseconds. */
void tr__os_barrier(void);

#endif
