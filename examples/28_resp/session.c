/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <troupe/troupe.h>

struct session {
    shard_ref shards;
};

static void answer_all(struct batch *batch)
{
    for (size_t i = 0; i < batch->plan_count; i++)
        batch->plans[i].answer(batch, &batch->plans[i]);
    batch->plan_count = 0;
    batch->ask_count = 0;
    batch->is_full = false;
}

static bool has_space(const struct batch *batch, size_t ask_count)
{
    return !batch->is_full && batch->plan_count < PLANS_MAX &&
           ask_count <= RESP_WORDS_MAX - batch->ask_count;
}

/* Handles all commands that are complete. Returns what begins behind them. */
static enum resp_status handle_all(struct batch *batch, tr_bytes *rest,
                                   struct resp_command *command)
{
    enum resp_status status = RESP_COMPLETE;
    while (!batch->has_quit && (status = resp_parse(*rest, command)) == RESP_COMPLETE) {
        *rest = (tr_bytes){(const char *)rest->data + command->size, rest->size - command->size};
        size_t asks_max = command->count > TR_WORKERS_MAX ? command->count : TR_WORKERS_MAX;
        if (!has_space(batch, asks_max))
            answer_all(batch);
        if (command->count > 0)
            command_ask(batch, command);
    }
    answer_all(batch);
    return status;
}

static tr_next on_received(tr_self *self, struct session *session,
                           const struct tr_received *message)
{
    struct batch batch;
    struct resp_command command;
    tr_bytes rest = message->bytes;
    batch.self = self;
    batch.channel = message->channel;
    batch.shards = session->shards;
    batch.has_quit = batch.is_full = false;
    batch.plan_count = batch.ask_count = 0;
    enum resp_status status = handle_all(&batch, &rest, &command);
    if (status == RESP_BROKEN)
        tr_print(self, message->channel, "-ERR Protocol error: %s\r\n", command.error);
    if (status == RESP_BROKEN || batch.has_quit)
        return TR_STOP; /* what was written is sent first */
    tr_unread(self, message->channel, rest.size);
    return TR_SAME;
}

static tr_next set_up(struct session *session, const struct open_session *message)
{
    session->shards = message->shards;
    return TR_SAME;
}

TR_BEHAVIOR(session, struct session, TR_SETUP_WITH(open_session, set_up),
            TR_ON(tr_received, on_received));
