/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Child processes of the virtual platform. Nothing is executed: a test does what a child would do. A test must add the
 * name of a program before the program can be started.
 *
 * A child has up to three connections with the system: one for input and output, one for errors, and one that carries a
 * single byte, when the child has ended. Rules:
 * 1. A child that the test has never seen is freed when the system reaps it. Any other child is freed by
 *    tr__virtual_processes_clear.
 * 2. When a child ends, its sides of the connections are closed, as by exit.
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
    /* the descriptor by which the system knows the child; 0: the child was reaped */
    int fd;
    struct virtual_socket *io; /* the test's end of the connection; NULL: closed */
    /* the test's end of the connection for errors; NULL: there is none, or it is closed */
    struct virtual_socket *errors;
    struct virtual_socket *end;
    /*
     * the arguments, the environment and the directory of the child, in this order, each with a NUL
     */
    char *texts;
    size_t argument_count;
    /*
     * the number of variables of the environment; SIZE_MAX: the child has the environment of the
     * program
     */
    size_t variable_count;
    bool has_directory;
    bool was_shown; /* the test has seen the child */
    bool catches;   /* only SIGKILL ends the child; it catches all other signals */
    bool has_ended;
    tr_process_exit how;
    /*
     * the first signals that the system under test sent to the child, oldest first; later signals
     * are dropped
     */
    int signals[VIRTUAL_SIGNALS_KEPT];
    size_t signal_count;
    void *user; /* data of the test kit */
};

/** The functions of the platform with these names. */
tr_status tr__virtual_process_start(const tr_platform *platform, const tr_process_spec *spec,
                                    tr_process_handle *process);
tr_status tr__virtual_process_signal(const tr_platform *platform, const tr_process_handle *process,
                                     int signal);
tr_status tr__virtual_process_reap(const tr_platform *platform, const tr_process_handle *process,
                                   tr_time timeout_ns, tr_process_exit *how);

/** Adds a program that can be started. Fails with TR_NO_MEMORY. */
tr_status tr__virtual_program_add(struct virtual_net *net, const char *name);
/** Returns the n-th of the `texts` of a child. Returns NULL if the child has fewer texts. */
const char *tr__virtual_child_text(const struct virtual_child *child, size_t n);
/** Ends a child by this signal; if `signal` is 0, by an exit with this code. */
void tr__virtual_child_end(struct virtual_child *child, int code, int signal);
/** Frees all children and programs. */
void tr__virtual_processes_clear(struct virtual_net *net);

#endif
