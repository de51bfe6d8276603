/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The worker pool: actors by name over all workers of a process.
 */
#ifndef TROUPE_POOL_H
#define TROUPE_POOL_H

#include <troupe/limits.h>

TR_BEGIN_C
/**
 * The worker, from 0, on which an actor of this name starts in a pool of so many workers: the same in
 * every process, as each name belongs to one place of a hash ring over crc32. With one worker more, at
 * most about 1 / (workers + 1) of all names belong to another one.
 *
 * Where an actor is now, the directory says: it may have moved.
 *
 * Negative, a tr_status: TR_INVALID_ARGUMENT: no name, or less than one worker; TR_NAME_INVALID;
 * TR_LIMIT: more than TR_WORKERS_MAX workers. Any thread. Takes microseconds: it needs no pool, and
 * keeps nothing.
 */
int tr_pool_worker_of(const char *name, int workers);
TR_END_C

#endif
