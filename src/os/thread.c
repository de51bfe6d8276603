/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Threads of the real platform.
 */
#include "os/real.h"

#include "base/assert.h"
#include "os/memory.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>

struct tr_thread {
    pthread_t handle;
    void (*main)(void *context);
    void *context;
    char name[16]; /* The kernel keeps 15 characters. */
};

static void *thread_main(void *context)
{
    tr_thread *thread = context;
    (void)pthread_setname_np(pthread_self(), thread->name);
    thread->main(thread->context);
    return NULL;
}

/*
 * The application's own threads get the signals of the process. Those which a thread causes itself
 * stay open, else the kernel would kill the process past every handler and sanitizer; and the
 * profiler's.
 */
static void mask_of_runtime_threads(sigset_t *mask)
{
    static const int open_signals[] = {
        SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
    sigfillset(mask);
    for (size_t i = 0; i < sizeof open_signals / sizeof *open_signals; i++)
        sigdelset(mask, open_signals[i]);
}

tr_status tr__real_thread_start(const tr_platform *platform, const char *name,
                                void (*main)(void *context), void *context, tr_thread **thread)
{
    (void)platform;
    tr_thread *made = tr__os_resize(NULL, sizeof *made);
    if (!made)
        return TR_NO_MEMORY;
    made->main = main;
    made->context = context;
    (void)snprintf(made->name, sizeof made->name, "%.15s", name);

    /* A thread inherits the mask of its maker, so there is no moment in which it gets a signal. */
    sigset_t mask;
    sigset_t saved;
    mask_of_runtime_threads(&mask);
    int masked = pthread_sigmask(SIG_SETMASK, &mask, &saved);
    TR_ASSERT(masked == 0);
    int error = pthread_create(&made->handle, NULL, thread_main, made);
    (void)pthread_sigmask(SIG_SETMASK, &saved, NULL);
    if (error) {
        tr__os_resize(made, 0);
        return TR_NO_MEMORY;
    }
    *thread = made;
    return TR_OK;
}

void tr__real_thread_join(const tr_platform *platform, tr_thread *thread)
{
    (void)platform;
    int error = pthread_join(thread->handle, NULL);
    TR_ASSERT(error == 0);
    tr__os_resize(thread, 0);
}

uint64_t tr__real_thread_id(const tr_platform *platform)
{
    (void)platform;
    return (uint64_t)pthread_self();
}

void tr__real_yield(const tr_platform *platform)
{
    (void)platform;
    (void)sched_yield();
}
