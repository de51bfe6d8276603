/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Child processes of the virtual platform: a test plays them. Nothing is executed. A program must be known by name.
 *
 * A child has up to three connections with the system: input and output, errors, and its end, on which nothing comes but
 * one byte. Rules:
 * 1. A child is freed by tr__virtual_processes_clear; if the test has never seen it, when it is reaped.
 * 2. When a child ends, its ends of the connections are closed, as by exit.
 *
 * All functions: one thread at a time.
 */
#ifndef OS_VIRTUAL_PROCESS_H
#define OS_VIRTUAL_PROCESS_H

#include "os/virtual_net.h"

enum { VIRTUAL_SIGNALS_KEPT = 16 };

struct virtual_child {
    struct list link; /* in virtual_net.children */
    struct virtual_net *net;
    int64_t pid;
    int fd;                        /* as the system has it; 0: it was reaped */
    struct virtual_socket *io;     /* the test's ends; NULL: closed */
    struct virtual_socket *errors; /* NULL: none, or closed */
    struct virtual_socket *end;
    char *texts; /* arguments, then environment, then the directory, each with its NUL */
    size_t argument_count;
    size_t variable_count; /* SIZE_MAX: those of the program */
    bool has_directory;
    bool was_shown; /* to the test */
    bool catches;   /* only SIGKILL ends it */
    bool has_ended;
    tr_process_exit how;
    int signals[VIRTUAL_SIGNALS_KEPT]; /* that it got, oldest first; more are dropped */
    size_t signal_count;
    void *user; /* of the test kit */
};

/** As the functions of the table. */
tr_status tr__virtual_process_start(const tr_platform *platform, const tr_process_spec *spec,
                                    tr_process_handle *process);
tr_status tr__virtual_process_signal(const tr_platform *platform, const tr_process_handle *process,
                                     int signal);
tr_status tr__virtual_process_reap(const tr_platform *platform, const tr_process_handle *process,
                                   tr_time timeout_ns, tr_process_exit *how);

/** Makes a program known. TR_NO_MEMORY. */
tr_status tr__virtual_program_add(struct virtual_net *net, const char *name);
/** Returns the n-th text of a child; NULL: there are not so many. */
const char *tr__virtual_child_text(const struct virtual_child *child, size_t n);
/** Ends a child: signal 0 for an exit with this code. */
void tr__virtual_child_end(struct virtual_child *child, int code, int signal);
/** Frees all children and programs. */
void tr__virtual_processes_clear(struct virtual_net *net);

#endif
