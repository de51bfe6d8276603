/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Child processes: a channel whose other side is a process.
 *
 * A process has two or three channels, on one worker. `main` is for its input and output. The
 * program knows the process by this channel, and gets tr_process_ended instead of tr_closed from
 * it. `errors`, if it exists, is for its error output. `exit` waits for the end of the process.
 * That channel belongs to no actor and is in net_worker.lingering, so that it outlives the actor.
 * In all of them channel_rare.process leads to the record of the process.
 *
 * Rules:
 * 1. A process that has not ended has an exit channel, by which alone it is reaped.
 * 2. When `main` is freed, the process is terminated. When `exit` is freed by the end of its
 *    worker, it is killed.
 * 3. `main` is freed after tr_process_ended, which comes when the other channels are gone, or when
 *    its actor ends.
 *
 * Owner only.
 */
#ifndef NET_PROCESS_H
#define NET_PROCESS_H

#include "net/channel.h"

enum process_stage {
    PROCESS_RUNS,
    PROCESS_CLOSED,     /* its main channel was closed, and it has some time to end by itself */
    PROCESS_TERMINATED, /* it got SIGTERM */
    PROCESS_KILLED      /* it got SIGKILL */
};

struct process {
    uint32_t users;         /* number of channels that have this record */
    uint8_t stage;          /* enum process_stage */
    struct channel *main;   /* NULL: freed */
    struct channel *errors; /* channel for error output; NULL: there was none, or it is freed */
    struct channel *exit;   /* exit channel; NULL: the process was reaped */
    tr_process_handle handle;
    tr_time grace_ns;
    tr_process_exit how;
    tr_status reaped; /* TR_OK, or why it is not known how the process has ended */
};

/** Whether this channel is the main channel of a process, which gets tr_process_ended. */
static inline bool channel_is_process(const struct channel *channel)
{
    return channel->rare->process && channel->rare->process->main == channel;
}

/**
 * Whether a process has no other channel than its main channel. Returns true for a channel without
 * a process.
 */
static inline bool process_is_over(const struct channel *channel)
{
    return !channel_is_process(channel) ||
           (!channel->rare->process->exit && !channel->rare->process->errors);
}

/** Makes the record of a process that is not started yet. Fails with TR_LIMIT, TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__process_new(struct tr_system *system, struct process **made);
/** Frees the record of a process that no channel has. */
void tr__process_free(struct tr_system *system, struct process *process);
/**
 * Kills a process that has no channels, waits a little for its end, and closes its descriptors.
 * Does nothing if the handle has no process.
 */
void tr__process_drop(const tr_platform *platform, const tr_process_handle *handle);
/** Ends a process: sends SIGTERM now, and SIGKILL later. */
void tr__process_terminate(struct process *process);
/** Handles the readiness of an exit channel: reaps the process. The channel may be freed. */
void tr__process_ready(struct channel *exit, uint32_t what);
/** Handles the timer of an exit channel: the process has not ended in time, and gets the next signal. */
void tr__process_expired(struct channel *exit, tr_time now_ns);
/** Call when the main channel or the channel for errors has ended with this status. */
void tr__process_channel_ended(struct channel *channel, tr_status status);
/** Drops the output to a process that has closed its input. */
void tr__process_input_over(struct channel *channel);
/** Sends SIGKILL to the process of this channel. */
void tr__process_kill(struct channel *channel);
/** Removes a channel that is being freed from its process. */
void tr__process_leave(struct channel *channel);
/** Whether this is the exit channel of a process whose actor has ended. A shutdown waits for such a process. */
bool tr__process_is_ending(const struct channel *channel);

#endif
