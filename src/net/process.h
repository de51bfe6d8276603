/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Child processes: a channel whose other side is a process.
 *
 * A process has two or three channels, on one worker. `main` is for its input and output. The
 * program knows the process by this channel, and gets tr_process_ended instead of tr_closed from
 * it. `errors`, if it exists, is for its error output. `exit` waits for the end of the process. The
 * channel `exit` belongs to no actor and is in net_worker.lingering, so that it can outlive the
 * actor. In all these channels, channel_rare.process leads to the record of the process.
 *
 * Rules:
 * 1. A process that was not reaped has the channel `exit`. Only events of this channel reap the
 *    process.
 * 2. When `main` is freed, the process is terminated. When `exit` is freed because its worker ends,
 *    the process is killed.
 * 3. `main` is freed after the actor has handled tr_process_ended, which comes when the other
 *    channels are gone. `main` is also freed when its actor ends.
 *
 * Owner only.
 */
#ifndef NET_PROCESS_H
#define NET_PROCESS_H

#include "net/channel.h"

enum process_stage {
    PROCESS_RUNS,
    /* the main channel was closed, and the process has some time to end by itself */
    PROCESS_CLOSED,
    PROCESS_TERMINATED, /* the process got SIGTERM */
    PROCESS_KILLED      /* the process got SIGKILL */
};

struct process {
    uint32_t users;         /* number of channels that refer to this record */
    uint8_t stage;          /* enum process_stage */
    struct channel *main;   /* NULL: freed */
    struct channel *errors; /* channel for the error output; NULL: there is none, or it was freed */
    struct channel *exit;   /* exit channel; NULL: the process was reaped */
    tr_process_handle handle;
    tr_time grace_ns;
    tr_process_exit how;
    /* TR_OK, or the reason why the runtime does not know how the process has ended */
    tr_status reaped;
};

/**
 * Whether this is the main channel of a process. Its actor gets tr_process_ended for the channel.
 */
static inline bool channel_is_process(const struct channel *channel)
{
    return channel->rare->process && channel->rare->process->main == channel;
}

/**
 * Whether the other channels of a process are gone, so that only its main channel is left. True for
 * a channel that is no main channel of a process.
 */
static inline bool process_is_over(const struct channel *channel)
{
    return !channel_is_process(channel) ||
           (!channel->rare->process->exit && !channel->rare->process->errors);
}

/** Makes the record of a process that is not started yet. Fails with TR_LIMIT, TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__process_new(struct tr_system *system, struct process **made);
/** Frees the record of a process. No channel may refer to the record any more. */
void tr__process_free(struct tr_system *system, struct process *process);
/**
 * Kills a process that has no channels, waits a little for its end, and closes its descriptors.
 * Does nothing if the handle has no process.
 */
void tr__process_drop(const tr_platform *platform, const tr_process_handle *handle);
/** Ends a process: sends SIGTERM now, and SIGKILL later. */
void tr__process_terminate(struct process *process);
/**
 * Handles an event of an exit channel: reaps the process if it has ended. The channel may be freed.
 */
void tr__process_ready(struct channel *exit, uint32_t what);
/** Handles the timer of an exit channel: the process has not ended in time, and gets the next signal. */
void tr__process_expired(struct channel *exit, tr_time now_ns);
/** Call when the main channel or the channel for errors has ended with this status. */
void tr__process_channel_ended(struct channel *channel, tr_status status);
/** Drops the output to a process, because the process has closed its input. */
void tr__process_input_over(struct channel *channel);
/** Sends SIGKILL to the process of this channel. */
void tr__process_kill(struct channel *channel);
/**
 * Call when a channel of a process is freed. Separates the channel from the record of the process.
 */
void tr__process_leave(struct channel *channel);
/** Whether this is the exit channel of a process whose actor has ended. A shutdown waits for such a process. */
bool tr__process_is_ending(const struct channel *channel);

#endif
