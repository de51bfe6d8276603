/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Threads of the real platform.
 */
#include "os/thread.h"

#include "base/assert.h"
#include "os/atomic.h"
#include "os/memory.h"
#include "os/stack_look.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct tr_thread {
    pthread_t handle;
    atom32 id; /* the kernel's id of the thread; 0 until the thread runs */
    void (*main)(void *context);
    void *context;
    char name[16]; /* 15 characters, which is what the kernel keeps, and a NUL */
};

static void *thread_main(void *context)
{
    tr_thread *thread = context;
    atom32_store(&thread->id, (uint32_t)gettid(), ATOM_RELAXED);
    (void)pthread_setname_np(pthread_self(), thread->name);
    thread->main(thread->context);
    return NULL;
}

/*
 * Writes the mask of signals that threads of the runtime block. Nearly all signals of the process
 * go to threads of the application. Signals that a thread causes itself stay unblocked: if they
 * were blocked, the kernel would kill the process without calling a handler or a sanitizer. The
 * profiler's signal stays unblocked too.
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
    atom32_init(&made->id, 0);
    (void)snprintf(made->name, sizeof made->name, "%.15s", name);

    /*
     * A thread inherits the signal mask of the thread that starts it. So set the mask here, before
     * the start: then the new thread never receives a blocked signal.
     */
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

/* Returns the letter of the state in /proc/self/task/N/stat ("12 (name) R ..."); 0 if unknown. */
static int state_of(uint32_t id)
{
    char text[128]; /* enough for "N (name) R", because a name has at most 15 characters */
    (void)snprintf(text, sizeof text, "/proc/self/task/%u/stat", id);
    int fd = open(text, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t size = read(fd, text, sizeof text - 1);
    (void)close(fd);
    text[size > 0 ? size : 0] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' ? name_end[2] : 0;
}

tr_time tr__real_thread_cpu(const tr_platform *platform, const tr_thread *thread)
{
    (void)platform;
    clockid_t clock;
    struct timespec time;
    uint32_t id = atom32_load(&thread->id, ATOM_RELAXED);
    int state = id ? state_of(id) : 0;
    /*
     * A thread in state D waits for a page or a disk and will run again soon, so count it as
     * running.
     */
    if ((state != 'R' && state != 'D') || pthread_getcpuclockid(thread->handle, &clock) != 0 ||
        clock_gettime(clock, &time) != 0)
        return -1;
    return time.tv_sec * TR_SECOND + time.tv_nsec;
}

size_t tr__real_thread_stack(const tr_platform *platform, const tr_thread *thread, uintptr_t last,
                             uintptr_t *frames, size_t max)
{
    (void)platform;
    return tr__stack_look(atom32_load(&thread->id, ATOM_RELAXED), last, frames, max);
}

void tr__thread_step_back(void)
{
    enum { NICE = 10 };
    /*
     * On Linux each thread has its own priority. If this fails, nothing is wrong: the thread only
     * takes more time from other threads.
     */
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
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
