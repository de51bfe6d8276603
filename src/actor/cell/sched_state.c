/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/sched_state.h"

#define BIT(state) (1u << (state))

/*
 * A Ready actor is in a run queue. It leaves the queue only to run, or to move to another worker.
 */
const uint8_t tr__sched_legal[SCHED_COUNT] = {
    [SCHED_CREATED] = BIT(SCHED_MOUNTING) | BIT(SCHED_WAITING),
    [SCHED_MOUNTING] =
        BIT(SCHED_MOUNTING) | BIT(SCHED_WAITING) | BIT(SCHED_READY) | BIT(SCHED_RUNNING),
    [SCHED_WAITING] =
        BIT(SCHED_MOUNTING) | BIT(SCHED_WAITING) | BIT(SCHED_READY) | BIT(SCHED_RUNNING),
    [SCHED_READY] = BIT(SCHED_MOUNTING) | BIT(SCHED_RUNNING),
    [SCHED_RUNNING] =
        BIT(SCHED_MOUNTING) | BIT(SCHED_WAITING) | BIT(SCHED_READY) | BIT(SCHED_RUNNING),
};

const char *tr__sched_name(enum sched_state state)
{
    static const char *const names[SCHED_COUNT] = {
        "Created", "Mounting", "Waiting", "Ready", "Running"};
    TR_ASSERT(state < SCHED_COUNT);
    return names[state];
}
