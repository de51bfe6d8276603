/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A session serves one client. All commands that have come become the steps of a batch: each shard gets one request for all
 * that it has to do, and then the steps are answered in order.
 */
#ifndef EXAMPLES_SESSION_H
#define EXAMPLES_SESSION_H

#include "resp.h"
#include "shard.h"

TR_MESSAGE(open_session, (ref_of(shard), shards), (u64, seed));
TR_ACTOR(session, tr_received);

enum {
    STEPS_MAX = 64,
    BATCH_BYTES = 1024 * 1024, /* of the words in a batch of several steps */
    OUTPUT_SIZE = 4096,        /* answers that are written at once */
    CLIENT_NAME_MAX = 63,      /* of CLIENT SETNAME */
    NO_SHARD = -1
};

struct batch;
struct step;

/** Writes the answer of a step, or a part of it. */
typedef void answer_function(struct batch *batch, const struct step *step);

/** A part of a command: at most one job for a shard. */
struct step {
    answer_function *answer;
    const struct result *result; /* of the job; NULL: none yet */
    int shard;                   /* that does the job; NO_SHARD: nothing is asked */
    uint32_t place;              /* of the job in the request */
    struct job job;              /* without a shard: the value and number are for the answer */
};

struct batch {
    tr_self *self;
    tr_channel channel;
    uint64_t seed;
    char *client_name; /* of the session, CLIENT_NAME_MAX bytes and a NUL; "": none */
    bool has_quit;
    int64_t sum;                  /* of the steps of a command so far */
    const struct result *failure; /* the first one among them; NULL: none */
    size_t bytes;                 /* of the keys and values of jobs */
    size_t shard_count;
    size_t step_count;
    size_t output_size;
    shard_ref shards[TR_WORKERS_MAX];
    struct step steps[STEPS_MAX];
    char output[OUTPUT_SIZE];
};

/** Appends a step without a job. The batch may be answered first, to make space. */
struct step *batch_add(struct batch *batch, answer_function *answer);
/** Appends a step with a job for the shard of its key. */
void batch_ask(struct batch *batch, answer_function *answer, struct job job);
/** Appends a step with a job for each shard. */
void batch_ask_shards(struct batch *batch, answer_function *answer, enum verb verb);
/** Asks for all jobs, waits for their results, and answers all steps. */
void batch_answer(struct batch *batch);
/** Writes bytes behind what was written before. */
void batch_write(struct batch *batch, tr_bytes bytes);

/** Appends the steps of a command. */
void command_begin(struct batch *batch, const struct resp_command *command);

#endif
