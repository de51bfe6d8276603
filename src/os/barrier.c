/* SPDX-License-Identifier: Apache-2.0 */
#include "os/barrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"

tr_status tr__os_barrier_init(void)
{
    long done = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    return done == 0 ? TR_OK : TR_NOT_SUPPORTED;
}

void tr__os_barrier(void)
{
    long done = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    TR_ASSERT(done == 0);
}
