/* SPDX-License-Identifier: Apache-2.0 */
/** The verbs of child processes. */
#include <string.h>
#include <troupe/process.h>

#include "actor/cell/system.h"
#include "actor/cell/verb.h"
#include "actor/turn/blocking.h"
#include "base/sized.h"
#include "net/deadline.h"
#include "net/process.h"
#include "net/rare.h"
#include "net/worker.h"

/* ---- Starting. ---- */

/* What the start of a process has made so far; `unmake` frees it. */
struct start {
    struct worker *worker;
    struct cell *cell;
    struct endpoint *endpoint;
    struct process *process;
    struct channel *main;
    struct channel *errors;
    struct channel *exit;
};

static bool stream_is_valid(tr_process_stream stream, bool is_errors)
{
    return stream >= TR_PROCESS_DEFAULT &&
           stream <= (is_errors ? TR_PROCESS_WITH_OUTPUT : TR_PROCESS_NOTHING);
}

static bool is_valid(const tr_process *options)
{
    return options->program && options->program[0] && options->grace_ns >= 0 &&
           stream_is_valid(options->input, false) && stream_is_valid(options->output, false) &&
           stream_is_valid(options->errors, true);
}

/* Whether an option of a process is set that has no effect with the other options. */
static bool has_idle_options(const tr_process *options)
{
    bool reads = options->output <= TR_PROCESS_CHANNEL || options->errors == TR_PROCESS_CHANNEL;
    bool writes = options->input <= TR_PROCESS_CHANNEL;
    return (!reads && !writes && options->framing) || (!reads && options->frame_max) ||
           (!writes && (options->output_max || options->stall_ns));
}

/*
 * Makes the list of arguments in scratch memory; the program is the first. Returns NULL if there
 * are too many arguments.
 */
static const char **arguments_of(struct tr_self *self, const tr_process *options)
{
    size_t count = 0;
    while (options->arguments && options->arguments[count] && count <= TR_ARGUMENTS_MAX)
        count++;
    if (count > TR_ARGUMENTS_MAX)
        return NULL;
    const char **arguments = tr_scratch(self, (count + 2) * sizeof *arguments);
    arguments[0] = options->program;
    if (count)
        memcpy(arguments + 1, options->arguments, count * sizeof *arguments);
    arguments[count + 1] = NULL;
    return arguments;
}

static tr_status endpoint_make(struct start *start, const tr_process *options)
{
    const tr_endpoint endpoint = {.size = sizeof endpoint,
                                  .kind = TR_ENDPOINT_UNIX,
                                  .address = options->program,
                                  .framing = options->framing,
                                  .frame_max = options->frame_max,
                                  .output_max = options->output_max,
                                  .stall_ns = options->stall_ns,
                                  .linger_ns = options->linger_ns};
    return tr__endpoint_new(
        &start->worker->system->source, &endpoint, ENDPOINT_CONNECTS, &start->endpoint);
}

static tr_status channel_make(struct start *start, struct cell *cell, enum channel_kind kind,
                              struct channel **made)
{
    tr_status status = tr__channel_new(start->worker, cell, kind, start->endpoint, made);
    if (status != TR_OK)
        return status;
    tr__channel_change(*made, CHANNEL_OPEN);
    if (!tr__rare_of(*made))
        return TR_NO_MEMORY;
    return kind == CHANNEL_EXIT ? tr__deadline_reserve(*made) : TR_OK;
}

/* Makes the channels of a process. */
static tr_status make(struct start *start, const tr_process *options, bool has_errors)
{
    if (!tr__net_worker_of(start->worker))
        return TR_NO_MEMORY;
    tr_status status = endpoint_make(start, options);
    if (status != TR_OK)
        return status;
    status = channel_make(start, start->cell, CHANNEL_STREAM, &start->main);
    if (status == TR_OK && has_errors)
        status = channel_make(start, start->cell, CHANNEL_STREAM, &start->errors);
    if (status == TR_OK)
        status = channel_make(start, NULL, CHANNEL_EXIT, &start->exit);
    if (status == TR_OK)
        list_push_last(&start->worker->channels.net->lingering, &start->exit->link);
    return status;
}

/*
 * Frees what a start has made. If channels already refer to the process, the last of them frees it.
 */
static void unmake(struct start *start)
{
    struct tr_system *system = start->worker->system;
    struct process *process = start->process;
    bool is_joined = process->users;
    if (!is_joined)
        tr__process_drop(system->platform, &process->handle);
    if (start->exit)
        tr__channel_free(start->exit);
    if (start->errors)
        tr__channel_free(start->errors);
    if (start->main)
        tr__channel_free(start->main);
    if (!is_joined)
        tr__process_free(system, process);
}

static void join(struct process *process, struct channel *channel)
{
    channel->rare->process = process;
    process->users++;
}

/*
 * Watches the three descriptors. If a descriptor cannot be watched, its channel keeps the
 * descriptor, and closes it when the channel ends.
 */
static tr_status watch_all(struct start *start)
{
    const tr_process_handle *handle = &start->process->handle;
    struct channel *const channels[] = {start->exit, start->main, start->errors};
    const int fds[] = {handle->fd, handle->io, handle->errors};
    tr_status status = TR_OK;
    for (int i = 0; i < 3; i++) {
        if (!channels[i])
            continue;
        tr_status watched = tr__channel_watch(channels[i], fds[i]);
        if (watched == TR_OK)
            continue;
        channels[i]->fd = fds[i]; /* makes the channel close the descriptor when the channel ends */
        status = watched;
    }
    return status;
}

static tr_process_spec spec_of(const tr_process *options, const char **arguments)
{
    tr_process_spec spec = {.size = sizeof spec,
                            .program = options->program,
                            .arguments = arguments,
                            .environment = options->environment,
                            .directory = options->directory,
                            .input = options->input,
                            .output = options->output,
                            .errors = options->errors,
                            .shares_group = options->shares_group,
                            .outlives = options->outlives};
    if (spec.input == TR_PROCESS_DEFAULT)
        spec.input = TR_PROCESS_CHANNEL;
    if (spec.output == TR_PROCESS_DEFAULT)
        spec.output = TR_PROCESS_CHANNEL;
    if (spec.errors == TR_PROCESS_DEFAULT)
        spec.errors = TR_PROCESS_INHERIT;
    return spec;
}

/* A call of process_start on a helper thread. */
struct birth {
    struct tr_system *system;
    const tr_process_spec *spec;
    struct process *process;
    tr_status status;
};

static void give_birth(void *argument)
{
    struct birth *birth = argument;
    const tr_platform *platform = birth->system->platform;
    birth->status = platform->process_start(platform, birth->spec, &birth->process->handle);
}

/* Ends a process whose turn was abandoned while the helper thread started the process. */
static void lose(void *argument)
{
    struct birth *birth = argument;
    tr__process_drop(birth->system->platform, &birth->process->handle);
    tr__process_free(birth->system, birth->process);
}

/*
 * Starts the process on a helper thread, because loading a program may take 20 ms. The turn of
 * tr_pre_start must not wait, so it starts the process without a helper thread. If this returns
 * TR_CANCELLED, the process may have been started.
 */
static tr_status start_process(struct tr_self *self, const tr_process_spec *spec,
                               struct process *process)
{
    struct birth birth = {self->worker->system, spec, process, TR_OK};
    process->handle = (tr_process_handle){.fd = -1, .io = -1, .errors = -1, .why = ""};
    tr_status status = tr__blocking_run(self, give_birth, lose, &birth);
    if (status == TR_NOT_IN_A_TURN) {
        give_birth(&birth);
        status = TR_OK;
    }
    return status == TR_OK ? birth.status : status;
}

/* Makes the channels refer to a process that was started, and watches its descriptors. */
static tr_status join_all(struct start *start)
{
    struct process *process = start->process;
    process->main = start->main;
    process->errors = start->errors;
    process->exit = start->exit;
    join(process, start->main);
    join(process, start->exit);
    if (start->errors)
        join(process, start->errors);
    tr_status status = watch_all(start);
    if (status == TR_OK)
        start->main->flags |= CHANNEL_WRITABLE;
    return status;
}

static tr_status may_start(struct tr_self *self)
{
    if (cell_durable(self->cell))
        /* refuse a durable actor: what it writes to the process would not wait for its commit */
        return TR_NOT_SUPPORTED;
    return self->cell->life >= LIFE_STOPPING ? TR_STOPPING : TR_OK;
}

tr_status tr_try_process_start(tr_self *self, const tr_process *process, tr_channel *channel,
                               const char **why)
{
    TURN_VERB(self);
    const char *unused;
    why = why ? why : &unused;
    *why = "";
    tr_process options;
    if (!process || !channel ||
        !sized_read(
            &options, sizeof options, process, process->size ? process->size : sizeof options) ||
        !is_valid(&options) || has_idle_options(&options))
        return TR_INVALID_ARGUMENT;
    tr_status status = may_start(self);
    if (status != TR_OK)
        return status;
    const char **arguments = arguments_of(self, &options);
    if (!arguments)
        return TR_TOO_LARGE;
    const tr_process_spec spec = spec_of(&options, arguments);
    struct start start = {.cell = self->cell};
    status = tr__process_new(self->worker->system, &start.process);
    if (status != TR_OK)
        return status;
    status = start_process(self, &spec, start.process);
    *why = start.process->handle.why;
    start.process->grace_ns = options.grace_ns ? options.grace_ns : TR_GRACE_NS;
    start.worker = self->worker;
    if (status == TR_OK)
        status = may_start(self); /* the turn has waited, so check again */
    if (status == TR_OK)
        status = make(&start, &options, spec.errors == TR_PROCESS_CHANNEL);
    if (status == TR_OK)
        status = join_all(&start);
    tr__endpoint_drop(&self->worker->system->source, start.endpoint);
    if (status != TR_OK) {
        unmake(&start);
        return status;
    }
    *channel = (tr_channel){channel_bits(start.main)};
    return TR_OK;
}

tr_channel tr_process_start(tr_self *self, const tr_process *process)
{
    TURN_VERB(self);
    tr_channel channel = TR_NO_CHANNEL;
    const char *why;
    tr_status status = tr_try_process_start(self, process, &channel, &why);
    if (status != TR_OK)
        tr_crash(self,
                 status,
                 "cannot start %s: %s",
                 process && process->program ? process->program : "a process",
                 why[0] ? why : tr_status_text(status));
    return channel;
}

/* ---- Verbs for a running process. ---- */

/*
 * Finds the running process of a channel. Fails with TR_CLOSED, TR_NOT_OWNER, TR_INVALID_ARGUMENT,
 * or with TR_NOT_FOUND if the process has ended.
 */
static tr_status process_of(const struct tr_self *self, tr_channel handle, struct process **found)
{
    struct channel *channel;
    tr_status status = tr__channel_of(self, handle, &channel);
    if (status != TR_OK)
        return status;
    if (!channel_is_process(channel))
        return TR_INVALID_ARGUMENT;
    *found = channel->rare->process;
    return channel->rare->process->exit ? TR_OK : TR_NOT_FOUND;
}

tr_channel tr_process_errors(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct process *process = NULL;
    tr_status status = process_of(self, handle, &process);
    if (!process || (status != TR_OK && status != TR_NOT_FOUND) || !process->errors)
        return TR_NO_CHANNEL;
    return (tr_channel){channel_bits(process->errors)};
}

int64_t tr_process_id(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct process *process;
    return process_of(self, handle, &process) == TR_OK ? process->handle.pid : 0;
}

tr_status tr_process_signal(tr_self *self, tr_channel handle, int signal)
{
    TURN_VERB(self);
    struct process *process;
    const tr_platform *platform = self->worker->loop.platform;
    tr_status status = process_of(self, handle, &process);
    if (status == TR_OK && signal <= 0)
        status = TR_INVALID_ARGUMENT;
    return status == TR_OK ? platform->process_signal(platform, &process->handle, signal) : status;
}

tr_status tr_process_terminate(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct process *process;
    tr_status status = process_of(self, handle, &process);
    if (status == TR_OK)
        tr__process_terminate(process);
    return status;
}
