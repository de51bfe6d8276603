/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <string.h>
#include <troupe/troupe.h>

struct session {
    shard_ref shards;
    uint64_t seed;
    char client_name[CLIENT_NAME_MAX + 1];
};

/* ---- Steps. ---- */

struct step *batch_add(struct batch *batch, answer_function *answer)
{
    if (batch->step_count == STEPS_MAX)
        batch_answer(batch);
    struct step *step = &batch->steps[batch->step_count++];
    step->answer = answer;
    step->result = NULL;
    step->shard = NO_SHARD;
    return step;
}

void batch_ask(struct batch *batch, answer_function *answer, struct job job)
{
    size_t size = job.key.size + job.value.size;
    if (batch->bytes + size > BATCH_BYTES)
        batch_answer(batch);
    struct step *step = batch_add(batch, answer);
    job.hash = hash_of(job.key, batch->seed);
    step->shard = (int)shard_of(job.hash, batch->shard_count);
    step->job = job;
    batch->bytes += size;
}

void batch_ask_shards(struct batch *batch, answer_function *answer, enum verb verb)
{
    for (size_t i = 0; i < batch->shard_count; i++) {
        struct step *step = batch_add(batch, answer);
        step->shard = (int)i;
        step->job = (struct job){.verb = verb};
    }
}

/* ---- Asking. ---- */

/* Asks the shard of a step that has no result for all steps from there on that have none. */
static work_ask ask_shard(struct batch *batch, const struct step *first)
{
    struct job jobs[STEPS_MAX];
    size_t count = 0;
    for (size_t i = (size_t)(first - batch->steps); i < batch->step_count; i++) {
        struct step *step = &batch->steps[i];
        if (step->shard != first->shard)
            continue;
        step->place = (uint32_t)count;
        jobs[count++] = step->job;
    }
    return tr_ask(batch->self, batch->shards[first->shard], work, .jobs = {jobs, count});
}

/* Gives the steps of a shard their results, from a step that has none on. Returns false if some are to be asked for again. */
static bool take_results(struct batch *batch, const struct step *first, work_ask asked)
{
    int shard = first->shard;
    const struct done *done = NULL;
    struct result *failure = NULL;
    tr_status status = tr_try_await(batch->self, asked, &done);
    if (status != TR_OK) {
        failure = tr_scratch(batch->self, sizeof *failure);
        *failure = (struct result){.outcome = NOBODY, .number = status};
    }
    for (size_t i = (size_t)(first - batch->steps); i < batch->step_count; i++) {
        struct step *step = &batch->steps[i];
        if (step->shard != shard)
            continue;
        step->result = failure ? failure : &done->results.items[step->place];
        if (step->result->outcome == LATER) {
            step->result = NULL; /* and so are all behind it */
            return false;
        }
    }
    return true;
}

/* Asks all shards at once, and waits for their results. Returns false if some are to be asked for again. */
static bool ask_all(struct batch *batch)
{
    work_ask asks[TR_WORKERS_MAX];
    bool is_asked[TR_WORKERS_MAX] = {false};
    bool has_all = true;
    for (size_t i = 0; i < batch->step_count; i++) {
        const struct step *step = &batch->steps[i];
        if (step->shard == NO_SHARD || step->result || is_asked[step->shard])
            continue;
        is_asked[step->shard] = true;
        asks[step->shard] = ask_shard(batch, step);
    }
    for (size_t i = 0; i < batch->step_count; i++) {
        const struct step *step = &batch->steps[i];
        if (step->shard == NO_SHARD || step->result || !is_asked[step->shard])
            continue;
        is_asked[step->shard] = false;
        has_all &= take_results(batch, step, asks[step->shard]);
    }
    return has_all;
}

/* ---- Answering. ---- */

static void write_output(struct batch *batch)
{
    if (batch->output_size > 0)
        tr_write(batch->self, batch->channel, (tr_bytes){batch->output, batch->output_size});
    batch->output_size = 0;
}

void batch_write(struct batch *batch, tr_bytes bytes)
{
    if (bytes.size > OUTPUT_SIZE - batch->output_size)
        write_output(batch);
    if (bytes.size > OUTPUT_SIZE) {
        tr_write(batch->self, batch->channel, bytes);
    } else if (bytes.size > 0) {
        memcpy(batch->output + batch->output_size, bytes.data, bytes.size);
        batch->output_size += bytes.size;
    }
}

void batch_answer(struct batch *batch)
{
    while (!ask_all(batch)) {
    }
    for (size_t i = 0; i < batch->step_count; i++) {
        const struct step *step = &batch->steps[i];
        step->answer(batch, step);
    }
    batch->step_count = 0;
    batch->bytes = 0;
}

/* Handles all commands that are complete. Returns what begins behind them. */
static enum resp_status handle_all(struct batch *batch, tr_bytes *rest,
                                   struct resp_command *command)
{
    enum resp_status status = RESP_COMPLETE;
    while (!batch->has_quit && (status = resp_parse(*rest, command)) == RESP_COMPLETE) {
        *rest = (tr_bytes){(const char *)rest->data + command->size, rest->size - command->size};
        if (command->count > 0)
            command_begin(batch, command);
    }
    batch_answer(batch);
    return status;
}

static tr_next on_received(tr_self *self, struct session *session,
                           const struct tr_received *message)
{
    struct batch batch; /* large: only what is used is set */
    struct resp_command command;
    tr_bytes rest = message->bytes;
    batch.self = self;
    batch.channel = message->channel;
    batch.seed = session->seed;
    batch.client_name = session->client_name;
    batch.has_quit = false;
    batch.sum = 0;
    batch.failure = NULL;
    batch.bytes = batch.step_count = batch.output_size = 0;
    tr_ref members[TR_WORKERS_MAX];
    batch.shard_count = tr_group_members(self, session->shards, members, TR_WORKERS_MAX);
    for (size_t i = 0; i < batch.shard_count; i++)
        batch.shards[i] = shard_ref_of(members[i]);
    if (batch.shard_count == 0)
        return TR_STOP; /* the server ends */
    enum resp_status status = handle_all(&batch, &rest, &command);
    write_output(&batch);
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
    session->seed = message->seed;
    return TR_SAME;
}

TR_BEHAVIOR(session, struct session, TR_SETUP_WITH(open_session, set_up),
            TR_ON(tr_received, on_received));
