/* SPDX-License-Identifier: Apache-2.0 */
/**
 * State, a set-up with a message, handlers that take only what they need, replies.
 */
#include <inttypes.h>
#include <stdio.h>
#include <troupe/troupe.h>

TR_MESSAGE(start_at, (i64, value));
TR_MESSAGE(add, (i64, n));
TR_MESSAGE(reset);
TR_MESSAGE(count, (i64, value), (u32, resets));
TR_REQUEST(get_count, count);
TR_ACTOR(counter, add, reset, get_count);

struct counter {
    int64_t value;
    uint32_t resets;
};

static tr_next set_up(struct counter *counter, const struct start_at *message)
{
    counter->value = message->value;
    return TR_SAME;
}

static tr_next on_add(struct counter *counter, const struct add *message)
{
    counter->value += message->n;
    return TR_SAME;
}

static tr_next on_reset(struct counter *counter)
{
    counter->value = 0;
    counter->resets++;
    return TR_SAME;
}

static tr_next on_get_count(tr_self *self, struct counter *counter)
{
    return tr_reply(self, count, .value = counter->value, .resets = counter->resets);
}

TR_BEHAVIOR(counter, struct counter, TR_SETUP_WITH(start_at, set_up), TR_ON(add, on_add),
            TR_ON(reset, on_reset), TR_ON(get_count, on_get_count));

/* Messages of one sender to one receiver arrive in the order sent, so the counts are certain. */
static tr_next on_start(tr_self *self)
{
    counter_ref counter = tr_spawn(self, counter, "counter", start_at, .value = 40);
    tr_tell(self, counter, add, .n = 2);
    tr_tell(self, counter, get_count);
    tr_tell(self, counter, reset);
    tr_tell(self, counter, get_count);
    return TR_SAME;
}

static tr_next on_count(const struct count *message)
{
    printf("the count is %" PRId64 " after %" PRIu32 " resets\n", message->value, message->resets);
    return message->resets == 1 ? TR_STOP : TR_SAME;
}

TR_BEHAVIOR(app, void, TR_ON(tr_pre_start, on_start), TR_ON(count, on_count));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app);
}
