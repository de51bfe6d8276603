/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tr_gather: a request to every member of a group.
 */
#include <troupe/group.h>

#include "actor/ask/ask.h"
#include "actor/cell/verb.h"

/* Sets all elements of `asks` to the outcome `status`. Makes no ask. */
static void fill(tr_pending *asks, size_t count, tr_status status)
{
    for (size_t i = 0; i < count; i++)
        asks[i] = (tr_pending){PENDING_IS_STATUS | (uint32_t)-status};
}

size_t tr_self_gather(tr_self *self, tr_ref group, const tr_type *type, const void *message,
                      tr_time timeout_ns, tr_pending *asks, size_t max)
{
    TURN_VERB(self);
    if (!self || !type || !message || (!asks && max))
        return 0;
    size_t there = tr_self_group_members(self, group, NULL, 0);
    size_t count = there < max ? there : max;
    if (!count)
        return there;
    tr_ref *members = tr_try_scratch(self, count * sizeof *members);
    if (!members) {
        fill(asks, count, TR_NO_MEMORY);
        return there;
    }
    there = tr_self_group_members(self, group, members, count);
    count = there < count ? there : count;
    for (size_t i = 0; i < count; i++)
        asks[i] = tr_self_ask(self, members[i], type, message, timeout_ns);
    /*
     * Ignore the status. When this returns, each ask has an outcome, or tr_try_await will return
     * why this turn cannot wait.
     */
    (void)!tr_self_await_all(self, asks, count);
    return there;
}
