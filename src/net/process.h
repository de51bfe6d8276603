/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Child processes: a channel whose other side is a process.
 *
 * A process has two or three channels, on one worker. `main` is its input and output, and what the program knows as the
 * process; it gets tr_process_ended instead of tr_closed. One more is for its errors. `exit` waits for its end, belongs to
 * no actor, and is in net_worker.lingering, so that it outlives the actor. All three have `process` set.
 *
 * Rules:
 * 1. A process that has not ended has an exit channel. It is reaped there and nowhere else.
 * 2. When `main` is freed, the process is terminated. When `exit` is freed by the end of its worker, it is killed.
 * 3. `main` is freed after tr_process_ended, which comes when the other two are gone; or with its actor.
 *
 * Owner only.
 */
#ifndef NET_PROCESS_H
#define NET_PROCESS_H

#include "net/channel.h"

enum process_stage {
    PROCESS_RUNS,
    PROCESS_CLOSED,     /* its channel was closed: it has time to end by itself */
    PROCESS_TERMINATED, /* it got SIGTERM */
    PROCESS_KILLED      /* it got SIGKILL */
};

struct process {
    uint32_t users;         /* channels that have it */
    uint8_t stage;          /* enum process_stage */
    struct channel *main;   /* NULL: freed */
    struct channel *errors; /* NULL: none, or freed */
    struct channel *exit;   /* NULL: the process was reaped */
    tr_process_handle handle;
    tr_time grace_ns;
    tr_process_exit how;
    tr_status reaped; /* TR_OK, or why `how` is unknown */
};

/** Whether this channel is the one that gets tr_process_ended. */
static inline bool channel_is_process(const struct channel *channel)
{
    return channel->rare->process && channel->rare->process->main == channel;
}

/** Whether nothing of a process is left but its main channel. Of any other channel: true. */
static inline bool process_is_over(const struct channel *channel)
{
    return !channel_is_process(channel) ||
           (!channel->rare->process->exit && !channel->rare->process->errors);
}

/** Makes a process that nothing was started for. TR_LIMIT, TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__process_new(struct tr_system *system, struct process **made);
/** Frees a process that no channel has. */
void tr__process_free(struct tr_system *system, struct process *process);
/** Ends a process: SIGTERM, and SIGKILL later. */
void tr__process_terminate(struct process *process);
/** The descriptor of an exit channel is ready. The channel may be freed. */
void tr__process_ready(struct channel *exit, uint32_t what);
/** The timer of an exit channel has fired. */
void tr__process_expired(struct channel *exit, tr_time now_ns);
/** A channel of a process has ended, with this status. */
void tr__process_channel_ended(struct channel *channel, tr_status status);
/** The process does not read its input any more: drops what was written. */
void tr__process_input_over(struct channel *channel);
/** Sends SIGKILL to the process of this channel. */
void tr__process_kill(struct channel *channel);
/** A channel of a process is being freed: takes it from the process. */
void tr__process_leave(struct channel *channel);
/** Whether the actor of this exit channel is gone, so that a shutdown waits for the process. */
bool tr__process_is_ending(const struct channel *channel);

#endif
