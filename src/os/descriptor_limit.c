/* SPDX-License-Identifier: Apache-2.0 */
#include "os/descriptor_limit.h"

#include "os/atomic.h"

/*
 * The soft limit of descriptors before tr__descriptor_limit_raise raised it. 0: this process has
 * not raised the limit.
 */
static atom64 soft_before;
static atom64 soft_raised;

void tr__descriptor_limit_raise(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
        return;
    struct rlimit raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0)
        return;
    atom64_store(&soft_raised, raised.rlim_cur, ATOM_RELAXED);
    /* pairs with tr__descriptor_limit_of_child */
    atom64_store(&soft_before, limit.rlim_cur, ATOM_RELEASE);
}

bool tr__descriptor_limit_of_child(struct rlimit *limit)
{
    /* pairs with tr__descriptor_limit_raise */
    rlim_t before = atom64_load(&soft_before, ATOM_ACQUIRE);
    if (!before || getrlimit(RLIMIT_NOFILE, limit) != 0 ||
        limit->rlim_cur != atom64_load(&soft_raised, ATOM_RELAXED))
        return false;
    limit->rlim_cur = before;
    return true;
}
