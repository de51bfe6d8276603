/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A client of Redis, or of example 28: 27_client localhost:6380
 *
 * Requests of many actors share one connection, are sent without waiting for each other, and are answered in order. When the
 * connection is lost, each request under way fails once. Those in the mailbox wait for the next connection: the actor has
 * failed, and its supervisor starts it again, later each time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/troupe.h>

TR_MESSAGE(counted, (i64, value));
TR_REQUEST(increment, counted, (str, key));
TR_MESSAGE(open_redis, (str, address));
TR_ACTOR(redis, increment);

struct redis {
    tr_channel channel;
};

static tr_next set_up(tr_self *self, struct redis *redis, const struct open_redis *message)
{
    redis->channel = tr_dial(self,
                             TR_TCP(message->address,
                                    .framing = TR_LINES,
                                    .in_flight_max = 256,
                                    .connect_ns = 2 * TR_SECOND));
    return TR_SAME;
}

/* While this waits for its answer the actor begins with the next request: that is the pipeline. */
static tr_next on_increment(tr_self *self, struct redis *redis, const struct increment *message)
{
    const char *request =
        tr_format(self, "*2\r\n$4\r\nINCR\r\n$%zu\r\n%s\r\n", strlen(message->key), message->key);
    const struct tr_received *reply =
        tr_await(self, tr_exchange(self, redis->channel, (tr_bytes){request, strlen(request)}));
    const char *text = reply->bytes.data;
    if (text[0] != ':')
        return tr_refuse(self, 1, "%s", text);
    return tr_reply(self, counted, .value = strtoll(text + 1, NULL, 10));
}

TR_BEHAVIOR(redis, struct redis, TR_SETUP_WITH(open_redis, set_up), TR_ON(increment, on_increment));

/* ---- An actor that counts. ---- */

enum { COUNT = 100 };

static tr_next on_args(tr_self *self, const struct tr_args *message)
{
    const char *address = message->argv.count > 1 ? message->argv.items[1] : "localhost:6379";
    redis_ref redis = tr_spawn(self, redis, "redis", open_redis, .address = address);
    increment_ask asks[COUNT];
    for (int i = 0; i < COUNT; i++)
        asks[i] = tr_ask(self, redis, increment, .key = "visits");
    for (int i = 0; i < COUNT; i++) {
        const struct counted *counted;
        if (tr_try_await(self, asks[i], &counted) == TR_OK)
            printf("%" PRId64 "\n", counted->value);
        else
            printf("%s\n", tr_ask_error(self, asks[i])->text);
    }
    return TR_STOP;
}

TR_BEHAVIOR(app, void,
            TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = TR_RESTARTS_MAX,
                         .backoff = {.initial_ns = 100 * TR_MILLISECOND,
                                     .max_ns = 10 * TR_SECOND,
                                     .jitter = 0.2}),
            TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app);
}
