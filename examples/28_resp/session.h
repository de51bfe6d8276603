/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A session serves one client. Its commands first ask the shards, and are answered when all that have come were asked: so they
 * go through the shards together.
 */
#ifndef EXAMPLES_SESSION_H
#define EXAMPLES_SESSION_H

#include "resp.h"
#include "shard.h"

TR_MESSAGE(open_session, (ref_of(shard), shards));
TR_ACTOR(session, tr_received);

enum { PLANS_MAX = 64 };

/** Commands that were asked and are to be answered, in order. */
struct batch;

/** How a command is answered: a function, and the asks whose outcomes it needs. */
struct plan {
    void (*answer)(struct batch *batch, const struct plan *plan);
    const tr_pending *asks;
    size_t ask_count;
    tr_bytes text;   /* borrowed: a constant, or a word of the client */
    uint64_t number; /* the function knows what it means */
};

struct batch {
    tr_self *self;
    tr_channel channel;
    shard_ref shards;
    bool has_quit;
    bool is_full; /* the next command waits until these are answered */
    size_t plan_count;
    size_t ask_count;
    struct plan plans[PLANS_MAX];
    tr_pending
        asks[RESP_WORDS_MAX]; /* no command asks more than it has words, or than there are shards */
};

/** Asks for a command, and appends how it is answered to the batch, in which there must be space. */
void command_ask(struct batch *batch, const struct resp_command *command);

#endif
