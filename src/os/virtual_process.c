/* SPDX-License-Identifier: Apache-2.0 */
#include "os/virtual_process.h"

#include <signal.h>
#include <string.h>

#include "os/virtual.h"
#include "os/virtual_socket.h"
#include "os/virtual_stream.h"

struct program {
    struct list link; /* in virtual_net.programs */
    char name[];
};

static struct virtual_net *net_of(const tr_platform *platform)
{
    return &((struct virtual_platform *)(uintptr_t)platform)->net;
}

static struct virtual_child *child_find(struct virtual_net *net, int fd)
{
    LIST_EACH (link, &net->children) {
        struct virtual_child *child = LIST_OWNER(link, struct virtual_child, link);
        if (child->fd == fd)
            return child;
    }
    return NULL;
}

static bool program_is_known(const struct virtual_net *net, const char *name)
{
    LIST_EACH (link, &net->programs) {
        if (strcmp(LIST_OWNER(link, struct program, link)->name, name) == 0)
            return true;
    }
    return false;
}

tr_status tr__virtual_program_add(struct virtual_net *net, const char *name)
{
    struct program *program = tr__virtual_net_new(net, sizeof *program + strlen(name) + 1);
    if (!program)
        return TR_NO_MEMORY;
    memcpy(program->name, name, strlen(name) + 1);
    list_push_last(&net->programs, &program->link);
    return TR_OK;
}

/* ---- Texts. ---- */

static size_t count_texts(const char *const *texts, size_t *bytes)
{
    size_t count = 0;
    for (; texts && texts[count]; count++)
        *bytes += strlen(texts[count]) + 1;
    return count;
}

static char *put_texts(char *at, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(texts[i]) + 1;
        memcpy(at, texts[i], size);
        at += size;
    }
    return at;
}

static bool texts_copy(struct virtual_child *child, const tr_process_spec *spec)
{
    const char *const directory[] = {spec->directory, NULL};
    size_t bytes = 1;
    child->argument_count = count_texts(spec->arguments, &bytes);
    child->variable_count = count_texts(spec->environment, &bytes);
    child->has_directory = count_texts(directory, &bytes);
    child->texts = tr__virtual_net_new(child->net, bytes);
    if (!child->texts)
        return false;
    char *at = put_texts(child->texts, spec->arguments, child->argument_count);
    at = put_texts(at, spec->environment, child->variable_count);
    (void)put_texts(at, directory, child->has_directory);
    if (!spec->environment)
        child->variable_count = SIZE_MAX;
    return true;
}

const char *tr__virtual_child_text(const struct virtual_child *child, size_t n)
{
    size_t variables = child->variable_count == SIZE_MAX ? 0 : child->variable_count;
    if (n >= child->argument_count + variables + child->has_directory)
        return NULL;
    const char *at = child->texts;
    while (n--)
        at += strlen(at) + 1;
    return at;
}

/* ---- Life. ---- */

static void close_end(struct virtual_socket **end)
{
    if (*end)
        tr__virtual_close(*end, false);
    *end = NULL;
}

static void child_free(struct virtual_child *child)
{
    close_end(&child->io);
    close_end(&child->errors);
    close_end(&child->end);
    list_remove(&child->link);
    tr__virtual_net_free(child->net, child->texts);
    tr__virtual_net_free(child->net, child);
}

/*
 * Makes the connections between a child and the system. TR_NO_MEMORY: some of them may exist
 * already, and the caller closes them.
 */
static tr_status child_connect(struct virtual_child *child, const tr_process_spec *spec,
                               struct virtual_socket *ours[3])
{
    tr_status status = tr__virtual_pair(child->net, &ours[0], &child->end);
    if (status == TR_OK)
        status = tr__virtual_pair(child->net, &ours[1], &child->io);
    if (status == TR_OK && spec->errors == TR_PROCESS_CHANNEL)
        status = tr__virtual_pair(child->net, &ours[2], &child->errors);
    return status;
}

tr_status tr__virtual_process_start(const tr_platform *platform, const tr_process_spec *spec,
                                    tr_process_handle *process)
{
    struct virtual_net *net = net_of(platform);
    struct virtual_socket *ours[3] = {NULL};
    *process = (tr_process_handle){.fd = -1, .io = -1, .errors = -1, .why = "made to fail"};
    tr_status status = tr__virtual_net_call(net, VIRTUAL_CALL_START);
    if (status != TR_OK)
        return status;
    if (!program_is_known(net, spec->program)) {
        process->why = "No such file or directory";
        return TR_CANNOT_EXECUTE;
    }
    process->why = "Cannot allocate memory";
    struct virtual_child *child = tr__virtual_net_new(net, sizeof *child);
    if (!child)
        return TR_NO_MEMORY;
    *child = (struct virtual_child){.net = net};
    list_push_last(&net->children, &child->link);
    if (!texts_copy(child, spec) || child_connect(child, spec, ours) != TR_OK) {
        for (int i = 0; i < 3; i++) {
            if (ours[i])
                tr__virtual_close(ours[i], true);
        }
        child_free(child);
        return TR_NO_MEMORY;
    }
    child->pid = ++net->last_pid;
    child->fd = ours[0]->fd;
    *process = (tr_process_handle){.fd = ours[0]->fd,
                                   .io = ours[1]->fd,
                                   .errors = ours[2] ? ours[2]->fd : -1,
                                   .has_group = !spec->shares_group,
                                   .pid = child->pid,
                                   .why = ""};
    if (spec->input != TR_PROCESS_CHANNEL && spec->output != TR_PROCESS_CHANNEL)
        close_end(&child->io);
    return TR_OK;
}

void tr__virtual_child_end(struct virtual_child *child, int code, int signal)
{
    tr_bytes byte = {"", 1};
    size_t sent;
    if (child->has_ended)
        return;
    child->has_ended = true;
    child->how = (tr_process_exit){.code = signal ? -1 : code, .signal = signal};
    close_end(&child->io);
    close_end(&child->errors);
    if (child->fd)
        (void)tr__virtual_send(child->end, &byte, 1, &sent);
}

static bool ends_by_default(int signal)
{
    return signal != 0 && signal != SIGCHLD && signal != SIGCONT && signal != SIGURG &&
           signal != SIGWINCH && signal != SIGSTOP && signal != SIGTSTP && signal != SIGTTIN &&
           signal != SIGTTOU;
}

tr_status tr__virtual_process_signal(const tr_platform *platform, const tr_process_handle *process,
                                     int signal)
{
    struct virtual_child *child = child_find(net_of(platform), process->fd);
    if (signal < 0 || signal > 64)
        return TR_INVALID_ARGUMENT;
    if (!child || child->has_ended)
        return TR_NOT_FOUND;
    if (child->signal_count < VIRTUAL_SIGNALS_KEPT)
        child->signals[child->signal_count++] = signal;
    if (signal == SIGKILL || (!child->catches && ends_by_default(signal)))
        tr__virtual_child_end(child, -1, signal);
    return TR_OK;
}

tr_status tr__virtual_process_reap(const tr_platform *platform, const tr_process_handle *process,
                                   tr_time timeout_ns, tr_process_exit *how)
{
    (void)timeout_ns; /* do not wait: there is only one thread, so no child can end meanwhile */
    struct virtual_child *child = child_find(net_of(platform), process->fd);
    if (!child)
        return TR_NOT_FOUND;
    if (!child->has_ended)
        return TR_WOULD_BLOCK;
    *how = child->how;
    child->fd = 0;
    close_end(&child->end);
    if (!child->was_shown)
        child_free(child);
    return TR_OK;
}

void tr__virtual_processes_clear(struct virtual_net *net)
{
    LIST_EACH (link, &net->children)
        child_free(LIST_OWNER(link, struct virtual_child, link));
    LIST_EACH (link, &net->programs) {
        struct program *program = LIST_OWNER(link, struct program, link);
        list_remove(&program->link);
        tr__virtual_net_free(net, program);
    }
}
