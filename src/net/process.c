/* SPDX-License-Identifier: Apache-2.0 */
#include "net/process.h"

#include "actor/cell/system.h"
#include "net/deadline.h"
#include "net/output.h"
#include "net/table.h"
#include "net/wait.h"
#include "os/process.h"
#include "base/assert.h"

/* How long a worker that ends waits for a process that it has killed. */
#define REAP_NS TR_SECOND

static const tr_platform *platform_of(const struct channel *channel)
{
    return channel->worker->loop.platform;
}

tr_status tr__process_new(struct tr_system *system, struct process **made)
{
    tr_status status = tr__table_process_count(system, true);
    if (status != TR_OK)
        return status;
    *made = source_resize(&system->source, NULL, sizeof **made);
    if (!*made) {
        (void)tr__table_process_count(system, false);
        return TR_NO_MEMORY;
    }
    **made = (struct process){.users = 0};
    return TR_OK;
}

void tr__process_free(struct tr_system *system, struct process *process)
{
    (void)tr__table_process_count(system, false);
    source_resize(&system->source, process, 0);
}

/* ---- Signals. ---- */

static void set_deadline(struct process *process, tr_time ns)
{
    struct channel *exit = process->exit;
    exit->deadline_ns = timer_deadline(exit->worker->loop.now_ns, ns);
    tr__channel_arm(exit);
}

void tr__process_terminate(struct process *process)
{
    if (!process->exit || process->stage >= PROCESS_TERMINATED)
        return;
    const tr_platform *platform = platform_of(process->exit);
    process->stage = PROCESS_TERMINATED;
    (void)platform->process_signal(platform, &process->handle, PROCESS_TERMINATE);
    set_deadline(process, process->grace_ns);
}

static void kill_now(struct process *process)
{
    if (!process->exit)
        return;
    const tr_platform *platform = platform_of(process->exit);
    process->stage = PROCESS_KILLED;
    process->exit->deadline_ns = TR_NEVER;
    (void)platform->process_signal(platform, &process->handle, PROCESS_KILL);
}

void tr__process_kill(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (channel_is_process(channel))
        kill_now(channel->rare->process);
}

void tr__process_expired(struct channel *exit, tr_time now_ns)
{
    TR_ASSERT_SLOW(channel_is_mine(exit));
    struct process *process = exit->rare->process;
    if (exit->deadline_ns > now_ns) {
        tr__channel_arm(exit);
        return;
    }
    exit->deadline_ns = TR_NEVER;
    if (process->stage < PROCESS_TERMINATED)
        tr__process_terminate(process);
    else
        kill_now(process);
}

/* ---- The end. ---- */

/* Asks the platform how a process has ended. Returns false if the process has not ended. */
static bool reap(struct process *process, tr_time timeout_ns)
{
    const tr_platform *platform = platform_of(process->exit);
    process->reaped = platform->process_reap(platform, &process->handle, timeout_ns, &process->how);
    if (process->reaped == TR_WOULD_BLOCK)
        return false;
    if (process->reaped != TR_OK)
        process->how = (tr_process_exit){.code = -1};
    return true;
}

void tr__process_ready(struct channel *exit, uint32_t what)
{
    TR_ASSERT_SLOW(channel_is_mine(exit));
    struct process *process = exit->rare->process;
    if (!(what & TR_IO_IN))
        return;
    /*
     * The process has ended after a signal, but other processes of its group may still run. Kill
     * the group before the process is reaped, because after that another group may get the same
     * number.
     */
    if (process->stage >= PROCESS_TERMINATED) {
        const tr_platform *platform = platform_of(exit);
        (void)platform->process_signal(platform, &process->handle, PROCESS_KILL);
    }
    if (!reap(process, 0))
        return;
    struct channel *main = process->main;
    process->exit = NULL;
    tr__channel_free(exit);
    if (main)
        tr__channel_call(main);
}

void tr__process_channel_ended(struct channel *channel, tr_status status)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct process *process = channel->rare->process;
    if (!channel_is_process(channel) || !process->exit || status == TR_CLOSED)
        return;
    if (status != TR_OK) {
        tr__process_terminate(process);
    } else if (process->stage == PROCESS_RUNS) {
        process->stage = PROCESS_CLOSED;
        set_deadline(process, process->grace_ns);
    }
}

void tr__process_input_over(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    tr__output_free(channel);
    channel->flags |= CHANNEL_FINISHING | CHANNEL_FINISHED;
    channel->flags &= ~(uint32_t)CHANNEL_DRAINS;
    tr__waits_wake(&channel->writers);
}

void tr__process_drop(const tr_platform *platform, const tr_process_handle *handle)
{
    const int fds[] = {handle->fd, handle->io, handle->errors};
    tr_process_exit unused;
    if (handle->fd < 0)
        return;
    (void)platform->process_signal(platform, handle, PROCESS_KILL);
    (void)platform->process_reap(platform, handle, REAP_NS, &unused);
    for (int i = 0; i < 3; i++) {
        if (fds[i] >= 0)
            platform->socket_close(platform, fds[i], false);
    }
}

/*
 * Kills a process and waits a little for its end. Call when the process's worker ends, because
 * after that no worker can reap the process.
 */
static void abandon(struct process *process)
{
    kill_now(process);
    (void)reap(process, REAP_NS);
    process->exit = NULL;
}

void tr__process_leave(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct process *process = channel->rare->process;
    struct tr_system *system = channel->worker->system;
    if (process->exit == channel) {
        abandon(process);
    } else if (process->main == channel) {
        process->main = NULL;
        tr__process_terminate(process);
    } else if (process->errors == channel) {
        process->errors = NULL;
        if (process->main)
            tr__channel_call(process->main);
    }
    channel->rare->process = NULL;
    if (--process->users)
        return;
    tr__process_free(system, process);
}

bool tr__process_is_ending(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    return channel->kind == CHANNEL_EXIT && !channel->rare->process->main;
}
