/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A counter for everybody who speaks HTTP: durable, and asleep when nobody counts: 40_gateway 127.0.0.1:8080
 *
 *     curl -d '{"by":2}' localhost:8080/actors/counter/visits/count          {"value":2}
 *     curl -N localhost:8080/actors/counter/visits/events                    event: changed ...
 */
#include <stdio.h>
#include <troupe/troupe.h>

TR_MESSAGE(changed, (u64, value));
TR_REQUEST(count, changed, (u32, by));
TR_ACTOR(counter, count);
TR_MESSAGE(counter_state, (u64, value));

static tr_next on_count(tr_self *self, struct counter_state *counter, const struct count *message)
{
    counter->value += message->by;
    tr_broadcast(self, changed, .value = counter->value);
    return tr_reply(self, changed, .value = counter->value);
}

TR_BEHAVIOR(counter, struct counter_state, TR_ON(count, on_count));
TR_DURABLE(counter, counter_state);
TR_EXPOSE(counter, count);

static tr_next on_args(tr_self *self, const struct tr_args *args)
{
    const char *at = args->argv.count > 1 ? args->argv.items[1] : ":8080";
    tr_listener_ref listener = tr_gateway(self, TR_HTTP(at), counter); /* this is the line */
    printf("open at %s\n", tr_address_text(self, tr_listener_address(self, listener)));
    fflush(stdout);
    return TR_SAME;
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app, .durable = TR_DURABLES(counter));
}
