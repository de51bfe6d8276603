/* SPDX-License-Identifier: Apache-2.0 */
#include <troupe/pool.h>

#include "actor/cell/names.h"
#include "pool/hash_ring.h"

int tr_pool_worker_of(const char *name, int workers)
{
    if (!name || workers < 1)
        return TR_INVALID_ARGUMENT;
    if (workers > TR_WORKERS_MAX)
        return TR_LIMIT;
    if (!tr__name_is_valid(name))
        return TR_NAME_INVALID;
    return (int)tr__hash_ring_compute(RING_OF_WORKERS, (uint32_t)workers, name);
}
