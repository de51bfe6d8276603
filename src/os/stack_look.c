/* SPDX-License-Identifier: Apache-2.0 */
#include "os/stack_look.h"

#include "os/atomic.h"
#include "os/fault.h"
#include "os/lock.h"
#include "os/registers.h"
#include "os/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* SIGURG, because a process without a handler ignores it, and debuggers do not stop at it. */
enum { LOOK_SIGNAL = SIGURG, PLACE_MAX = 256 };

enum ask { ASK_NONE, ASK_OPEN, ASK_TAKEN, ASK_ANSWERED };

/* Global, because signals belong to the process. */
static struct lock look_lock; /* one look at a time */
/* Under look_lock. While `ask` is ASK_TAKEN, only the signal handler uses `looked`. */
static struct unwind looked;
static atom32 ask;     /* enum ask */
static uint32_t asked; /* the id of the thread whose stack is wanted; published by `ask` */
static struct sigaction earlier;
static atom32 is_installed;

/* ---- A thread that computes. ---- */

static void on_signal(int signal, siginfo_t *info, void *argument)
{
    (void)signal;
    (void)info;
    int saved = errno;
    uint32_t is_open = ASK_OPEN;
    /* A signal that comes late finds no open ask, or one that is for another thread. */
    if (atom32_load(&ask, ATOM_ACQUIRE) == ASK_OPEN && asked == (uint32_t)gettid() &&
        atom32_compare_exchange(&ask, &is_open, ASK_TAKEN, ATOM_ACQUIRE, ATOM_RELAXED)) {
        registers_copy(argument, looked.registers.values, &looked.registers.known);
        looked.pc = registers_pc(argument);
        tr__unwind_set_sp(&looked, registers_sp(argument));
        looked.copied = registers_sp(argument);
        looked.copy_size = tr__own_memory(looked.copied, looked.copy, sizeof looked.copy);
        atom32_store(&ask, ASK_ANSWERED, ATOM_RELEASE); /* pairs with interrupt */
    }
    errno = saved;
}

static bool is_ours(void)
{
    struct sigaction present;
    return atom32_load(&is_installed, ATOM_ACQUIRE) &&
           sigaction(LOOK_SIGNAL, NULL, &present) == 0 && present.sa_flags & SA_SIGINFO &&
           present.sa_sigaction == on_signal;
}

/*
 * Asks a thread by a signal to copy its registers, and waits up to STACK_LOOK_WAIT_NS. Returns whether the thread has
 * answered. Under look_lock.
 */
static bool interrupt(uint32_t id)
{
    enum { STEP_NS = 50000 };
    const struct timespec step = {.tv_nsec = STEP_NS};
    if (!tr__fault_thread_is_open(id) || !is_ours())
        return false;
    asked = id;
    atom32_store(&ask, ASK_OPEN, ATOM_RELEASE); /* pairs with on_signal */
    bool is_sent = syscall(SYS_tgkill, getpid(), (pid_t)id, LOOK_SIGNAL) == 0;
    for (long waited = 0; is_sent && waited < STACK_LOOK_WAIT_NS; waited += STEP_NS) {
        if (atom32_load(&ask, ATOM_ACQUIRE) == ASK_ANSWERED) /* pairs with on_signal */
            break;
        (void)nanosleep(&step, NULL);
    }
    uint32_t is_open = ASK_OPEN;
    if (atom32_compare_exchange(&ask, &is_open, ASK_NONE, ATOM_RELAXED, ATOM_RELAXED))
        /* the thread has not run meanwhile; when its handler runs, it will find no ask */
        return false;
    while (atom32_load(&ask, ATOM_ACQUIRE) != ASK_ANSWERED) /* pairs with on_signal */
        (void)nanosleep(&step, NULL);
    atom32_store(&ask, ASK_NONE, ATOM_RELAXED);
    return true;
}

/* ---- A thread that waits in the kernel. ---- */

/*
 * Reads what /proc says of a thread: "NUMBER ARGUMENTS STACK CODE" if it waits in a system call,
 * "running" otherwise.
 */
static bool place_read(uint32_t id, char text[PLACE_MAX])
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/task/%" PRIu32 "/syscall", id);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t size = read(fd, text, PLACE_MAX - 1);
    (void)close(fd);
    text[size > 0 ? size : 0] = '\0';
    return size > 0;
}

/* Reads the stack pointer and the address of the code, which are the last two words of the text. */
static bool place_parse(const char *text, uintptr_t *sp, uintptr_t *pc)
{
    const char *last = strrchr(text, ' ');
    const char *before = last;
    while (before && before > text && before[-1] != ' ')
        before--;
    return last && before > text && sscanf(before, "%" SCNxPTR " %" SCNxPTR, sp, pc) == 2;
}

/*
 * Fills `looked` with what is known of a thread that waits, from the text of place_read. Returns
 * false if the thread does not wait. Under look_lock.
 */
static bool observe(const char *place)
{
    uintptr_t sp = 0;
    if (!place_parse(place, &sp, &looked.pc))
        return false;
    looked.registers.known = 0;
    tr__unwind_set_sp(&looked, sp);
    looked.copied = sp;
    looked.copy_size = tr__own_memory(sp, looked.copy, sizeof looked.copy);
    return looked.copy_size > 0;
}

/* ---- Both. ---- */

static size_t frames_list(uintptr_t last, uintptr_t *frames, size_t max)
{
    size_t count = 0;
    bool has_caller = true;
    looked.is_caller = false;
    while (has_caller && count < max) {
        frames[count++] = looked.pc - looked.is_caller;
        has_caller = tr__unwind_step(&looked) && (!last || looked.function != last);
    }
    return count;
}

/*
 * Lists the frames of a thread that waits. Returns 0 if the thread has continued meanwhile. Under
 * look_lock.
 */
static size_t waiting_list(uint32_t id, const char *place, uintptr_t last, uintptr_t *frames,
                           size_t max)
{
    char later[PLACE_MAX];
    size_t count = observe(place) ? frames_list(last, frames, max) : 0;
    return place_read(id, later) && strcmp(place, later) == 0 ? count : 0;
}

size_t tr__stack_look(uint32_t id, uintptr_t last, uintptr_t *frames, size_t max)
{
    enum { TRIES = 5 };
    char place[PLACE_MAX];
    size_t count = 0;
    bool is_over = !REGISTERS_ARE_KNOWN || !id || !max;
    lock_take(&look_lock);
    for (int i = 0; i < TRIES && !count && !is_over && place_read(id, place); i++) {
        is_over = strncmp(place, "running", 7) == 0;
        if (!is_over)
            count = waiting_list(id, place, last, frames, max);
        else if (interrupt(id))
            count = frames_list(last, frames, max);
    }
    lock_give(&look_lock);
    return count;
}

void tr__stack_look_install(void)
{
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    if (sigaction(LOOK_SIGNAL, NULL, &earlier) != 0 || earlier.sa_flags & SA_SIGINFO ||
        (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN))
        return;
    if (sigaction(LOOK_SIGNAL, &action, NULL) == 0)
        atom32_store(&is_installed, 1, ATOM_RELEASE); /* pairs with is_ours */
}

void tr__stack_look_uninstall(void)
{
    if (is_ours())
        (void)sigaction(LOOK_SIGNAL, &earlier, NULL);
    atom32_store(&is_installed, 0, ATOM_RELAXED);
}

bool tr__stack_look_allow(bool is_allowed)
{
    sigset_t set;
    sigset_t before;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, LOOK_SIGNAL);
    int failed = pthread_sigmask(is_allowed ? SIG_UNBLOCK : SIG_BLOCK, &set, &before);
    return !failed && !sigismember(&before, LOOK_SIGNAL);
}
