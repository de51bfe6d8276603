/* SPDX-License-Identifier: Apache-2.0 */
#include "counter.h"

struct counter {
    int64_t value;
};

static tr_next on_add(struct counter *counter, const struct add *message)
{
    counter->value += message->n;
    return TR_SAME;
}

static tr_next on_get_count(tr_self *self, struct counter *counter)
{
    return tr_reply(self, count, .value = counter->value);
}

TR_BEHAVIOR(counter, struct counter, TR_ON(add, on_add), TR_ON(get_count, on_get_count));
