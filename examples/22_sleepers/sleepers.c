/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A million counters, of which at most a thousand are awake: the others are on disk and cost no memory.
 *
 *     22_sleepers [number of counters, 1000000]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <troupe/troupe.h>

TR_MESSAGE(counted, (u64, value));
TR_REQUEST(count, counted, (u64, by));
TR_ACTOR(counter, count);
TR_MESSAGE(counter_state, (u64, value));

static tr_next on_count(tr_self *self, struct counter_state *counter, const struct count *message)
{
    counter->value += message->by;
    return tr_reply(self, counted, .value = counter->value);
}

TR_BEHAVIOR(counter, struct counter_state, TR_ON(count, on_count));
TR_DURABLE(counter, counter_state);

enum { AT_ONCE = 200 }; /* requests that are under way at a time, so that many share a sync */

static count_ask ask_for(tr_self *self, uint64_t number)
{
    char key[32];
    snprintf(key, sizeof key, "counter-%" PRIu64, number);
    return tr_ask_within(self, TR_MINUTE, tr_durable(self, counter, key), count, .by = number);
}

/* What a turn asked for lives as long as the turn: so one turn for each handful. */
TR_MESSAGE(go_on, (u64, from), (u64, count));

static tr_next on_go_on(tr_self *self, const struct go_on *message)
{
    count_ask asks[AT_ONCE];
    uint64_t from = message->from;
    uint64_t left = message->count - from;
    uint64_t some = left < AT_ONCE ? left : AT_ONCE;
    for (uint64_t i = 0; i < some; i++)
        asks[i] = ask_for(self, from + i);
    for (uint64_t i = 0; i < some; i++)
        tr_await(self, asks[i]);
    if (some < left) {
        tr_tell(self, tr_me(self), go_on, .from = from + some, .count = message->count);
        return TR_SAME;
    }
    /* The first has been asleep for long, if there are more than a thousand. */
    const struct counted *first = tr_await(self, ask_for(self, 1));
    printf("%" PRIu64 " counters; the second one has counted %" PRIu64 "\n",
           message->count,
           first->value);
    return TR_STOP;
}

static tr_next on_args(tr_self *self, const struct tr_args *args)
{
    uint64_t count = args->argv.count > 1 ? strtoull(args->argv.items[1], NULL, 10) : 1000000;
    tr_tell(self, tr_me(self), go_on, .from = 0, .count = count > 1 ? count : 2);
    return TR_SAME;
}

TR_BEHAVIOR(sleepers, void, TR_ON(tr_args, on_args), TR_ON(go_on, on_go_on));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, sleepers, .durable = TR_DURABLES(counter), .awake_max = 1000);
}
