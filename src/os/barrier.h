/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A memory barrier in all threads of the process at once.
 *
 * Where one side of a protocol is hot and the other rare, the hot side writes its word, does
 * atom_half_barrier, and reads the other's word; the rare side writes its word, calls tr__os_barrier,
 * and reads. One of them sees the other, as if both had a full barrier between write and read.
 */
#ifndef OS_BARRIER_H
#define OS_BARRIER_H

#include <troupe/status.h>

/** Before the first tr__os_barrier of the process; may be repeated. TR_NOT_SUPPORTED: the kernel has none. */
TR_MUST_CHECK tr_status tr__os_barrier_init(void);

/** Every thread of the process has had a full barrier when this returns. Some microseconds. */
void tr__os_barrier(void);

#endif
