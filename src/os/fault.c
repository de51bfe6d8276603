/* SPDX-License-Identifier: Apache-2.0 */
#include "os/fault.h"

#include "base/assert.h"
#include "os/atomic.h"
#include "os/fault_walk.h"
#include "os/lock.h"
#include "os/memory.h"
#include "os/registers.h"
#include "os/stack_look.h"
#include "os/text.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

/*
 * The stack on which a handler runs. The largest frame that a kernel makes for a signal is 11 KiB
 * today, and the unwinder takes 4 KiB more.
 */
enum { SIGNAL_STACK_SIZE = 128 * 1024 };
/*
 * How far a stack pointer may be below the low end of its stack for a fault to count as an overflow
 * of that stack. A function with a large local variable moves the stack pointer far down in one
 * step.
 */
#define OVERFLOW_MAX ((size_t)64 * 1024 * 1024)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

static const int trapped[] = {SIGSEGV, SIGBUS, SIGFPE};
enum { TRAPPED_COUNT = sizeof trapped / sizeof *trapped };

struct fault_thread {
    struct fault_thread *next; /* next thread in the list `threads`; never changes */
    atom32 is_used;
    atom32 is_inside; /* a signal handler runs on this thread now */
    /* whether the thread let the signal of os/stack_look.h through before tr__fault_thread_open */
    bool is_signalled;
    uint32_t id; /* the kernel's id of the thread; under the lock */
    struct fault_owner owner;
    struct fault fault;
    stack_t before;
    char *stack; /* the alternate stack for signals */
};

/*
 * For one signal: the handlers over which the runtime has installed its handler, the latest last.
 *
 * There can be several. A program may install a handler over the runtime's handler, and the
 * program's handler may call the runtime's. When the runtime removes its handler, the program's
 * handler stays. The runtime may later install its handler over the program's again. Then the
 * runtime's handler may call the program's handler, and that one may call the runtime's handler
 * back. In this case the runtime's handler calls the next older handler of the list, so that the
 * two do not call each other without end.
 */
enum { EARLIER_MAX = 8 };
struct earlier {
    /* The number of used entries. A used entry does not change. Written under the lock, read by signal handlers. */
    atom32 count;
    struct sigaction actions[EARLIER_MAX];
};

/*
 * While the runtime's handler calls an earlier handler, it keeps in si_errno how many of the
 * earlier handlers have had the fault. The value is PASSED_ON plus this number. si_errno has no
 * other meaning for these signals. si_errno is in the stack frame of this one signal, so the number
 * is gone if the earlier handler jumps out of that frame.
 */
enum { PASSED_ON = 0x74726f00, PASSED_ON_MASK = 0xff };

/* Global, because signals belong to the process. */
static struct lock faults_lock;
static uint32_t faults_users; /* under the lock */
/* whether tr__text_map was called; it is called when the first tr_system wants to survive faults */
static atom32 has_text;
static struct earlier earlier[TRAPPED_COUNT];
/*
 * the list of struct fault_thread; threads are added under the lock, signal handlers read it
 * without the lock
 */
static atomptr threads;

static void fault_landed(void *argument)
{
    struct fault_thread *thread = argument;
    thread->owner.leave(thread->owner.context, &thread->fault);
    TR_NOT_REACHED("a fault was left and came back");
}

/* ---- The report of a fault that is not survived. ---- */

static void fault_print(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

static void print_hex(uintptr_t number)
{
    char digits[2 + 2 * sizeof number + 1];
    size_t at = sizeof digits;
    digits[--at] = '\0';
    do {
        digits[--at] = "0123456789abcdef"[number & 15];
        number >>= 4;
    } while (number);
    digits[--at] = 'x';
    digits[--at] = '0';
    fault_print(digits + at);
}

static void print_number(size_t number)
{
    char digits[3 * sizeof number + 1];
    size_t at = sizeof digits;
    digits[--at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    fault_print(digits + at);
}

static void print_frame(uintptr_t pc)
{
    uintptr_t base;
    const char *object = tr__text_object(pc, &base);
    fault_print("troupe:   at ");
    print_hex(pc);
    if (object) {
        fault_print(", ");
        fault_print(object);
        fault_print(" + ");
        print_hex(pc - base);
    }
    fault_print("\n");
}

const char *tr__fault_signal_name(int signal)
{
    switch (signal) {
    case SIGSEGV:
        return "SIGSEGV";
    case SIGBUS:
        return "SIGBUS";
    case SIGFPE:
        return "SIGFPE";
    default:
        return "a signal";
    }
}

static const char *const verdict_texts[] = {
    [VERDICT_OURS] = "",
    [VERDICT_FOREIGN] = "on a thread that is no worker",
    [VERDICT_OUTSIDE] = "outside of handlers",
    [VERDICT_RUNTIME] = "inside the runtime",
    [VERDICT_SYSTEM] = "inside the C library, which may hold a lock",
    [VERDICT_UNKNOWN] = "in code whose stack cannot be walked",
    [VERDICT_BEYOND] = "below the guard of the stack, where other stacks may be damaged",
    [VERDICT_NESTED] = "on a damaged stack",
};

/* ---- The handler. ---- */

/*
 * Returns the thread on whose alternate stack the calling signal handler runs; NULL if it runs on
 * another stack.
 */
static struct fault_thread *thread_of(const char *here)
{
    struct fault_thread *thread = atomptr_load(&threads, ATOM_ACQUIRE); /* pairs with thread_new */
    while (thread && (here < thread->stack || here >= thread->stack + SIGNAL_STACK_SIZE))
        thread = thread->next;
    return thread;
}

/* Whether an instruction that this thread has just run has caused this signal. */
static bool is_fault(const siginfo_t *info)
{
    if (info->si_signo == SIGBUS &&
        (info->si_code == BUS_MCEERR_AO || info->si_code == BUS_MCEERR_AR))
        return false; /* a memory error of the hardware is no mistake of the program */
    return info->si_code > 0;
}

/* Whether the fault happened because the stack is full. */
static bool is_overflow(const struct fault_span *stack, const siginfo_t *info,
                        const ucontext_t *context)
{
    uintptr_t low = (uintptr_t)stack->low;
    uintptr_t address = (uintptr_t)info->si_addr;
    uintptr_t sp = registers_sp(context);
    if (info->si_signo != SIGSEGV)
        return false;
    return (address < low && address >= low - OS_GUARD_SIZE) ||
           (sp < low && sp >= low - OVERFLOW_MAX);
}

static enum verdict fault_decide(struct fault_thread *thread, const siginfo_t *info,
                                 ucontext_t *context, struct fault_span *span)
{
    if (!thread->owner.find(thread->owner.context, span))
        return VERDICT_OUTSIDE;
    const char *sp = (const char *)registers_sp(context);
    const char *address = info->si_addr;
    if (sp < span->low - OS_GUARD_SIZE && is_overflow(span, info, context))
        return VERDICT_BEYOND;
    if (sp < span->low - OS_GUARD_SIZE || sp >= span->base)
        /*
         * the stack pointer is not in the stack of the span: it is far below that stack, or above
         * the base of the span
         */
        return VERDICT_OUTSIDE;
    thread->fault = (struct fault){
        .signal = info->si_signo,
        .address = (uintptr_t)address,
        .is_overflow = is_overflow(span, info, context),
    };
    const mcontext_t saved = context->uc_mcontext;
    /*
     * If the address of the fault is the address of the code, the thread has called a pointer that
     * leads to no function. Then walk the stack as if the call had returned, so that the innermost
     * frame is the frame of the caller.
     */
    bool is_jump = info->si_signo == SIGSEGV && registers_pc(context) == (uintptr_t)address;
    if (is_jump && sp >= span->low)
        registers_step_back(context);
    struct fault_walk walk = {
        .pc = registers_pc(context), .base = (uintptr_t)span->base, .fault = &thread->fault};
    tr__fault_walk(&walk);
    if (walk.verdict != VERDICT_OURS && is_jump)
        context->uc_mcontext = saved;
    return walk.verdict;
}

/* Prints, before the process ends: "troupe: stack overflow in /user/a, handling go, ...". */
static void name_fault(const struct fault_thread *thread, const siginfo_t *info,
                       const ucontext_t *context)
{
    struct fault_span stack = {0};
    char text[FAULT_TEXT_SIZE];
    if (!thread || !thread->owner.describe(thread->owner.context, &stack, text))
        return;
    bool is_full = is_overflow(&stack, info, context);
    fault_print("troupe: ");
    fault_print(is_full ? "stack overflow" : tr__fault_signal_name(info->si_signo));
    if (!is_full) {
        fault_print(" at address ");
        print_hex((uintptr_t)info->si_addr);
    }
    fault_print(" in ");
    fault_print(text);
    if (is_full) {
        fault_print(": the stack has ");
        print_number(stack.size);
        fault_print(" bytes; set a larger stack_bytes in the actor's or the system's options");
    }
    fault_print("\n");
}

/* Reports a fault that the process does not survive, and aborts. */
static void report_and_abort(int signal, const siginfo_t *info, const ucontext_t *context,
                             enum verdict verdict)
{
    struct fault fault = {.signal = signal};
    fault_print("troupe: ");
    fault_print(tr__fault_signal_name(signal));
    fault_print(" at address ");
    print_hex((uintptr_t)info->si_addr);
    fault_print(", ");
    fault_print(verdict_texts[verdict]);
    fault_print(": cannot recover, the process ends\n");
    print_frame(registers_pc(context));
    if (verdict != VERDICT_NESTED) {
        struct fault_walk walk = {.pc = registers_pc(context), .fault = &fault};
        tr__fault_walk(&walk);
        for (uint32_t i = 1; i < fault.depth && i < FAULT_FRAMES_HALF; i++)
            print_frame(fault_frame(&fault, i));
    }
    abort();
}

/* Returns how many of the earlier handlers have had this fault. */
static uint32_t times_passed(const siginfo_t *info)
{
    bool is_passed = (info->si_errno & ~PASSED_ON_MASK) == PASSED_ON;
    return is_passed ? (uint32_t)info->si_errno & PASSED_ON_MASK : 0;
}

/*
 * Ends the process as it would end without the runtime. Installs the default action of the signal. If an instruction
 * has caused the signal, this function needs no more: when the handler returns, the instruction runs again and causes
 * the same signal again. A signal that another process or thread has sent does not come again, so this function raises
 * it.
 */
static void end_plainly(int signal, const siginfo_t *info)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    (void)sigaction(signal, &plain, NULL);
    if (!is_fault(info))
        (void)raise(signal);
}

/*
 * Passes the signal to the handler that would have got it if the runtime had installed no handler.
 */
static void pass_on(struct fault_thread *thread, int signal, siginfo_t *info, void *context,
                    enum verdict verdict)
{
    static const struct sigaction nobody = {.sa_handler = SIG_DFL};
    const struct sigaction *action = &nobody;
    uint32_t count = 0;
    uint32_t passed = times_passed(info);
    for (size_t i = 0; i < TRAPPED_COUNT; i++) {
        if (trapped[i] != signal)
            continue;
        count = atom32_load(&earlier[i].count, ATOM_ACQUIRE); /* pairs with earlier_add */
        if (passed < count)
            action = &earlier[i].actions[count - 1 - passed];
    }
    bool has_info = action->sa_flags & SA_SIGINFO;
    if (has_info && action->sa_sigaction) {
        int mark = info->si_errno;
        if (count > 1)
            info->si_errno = PASSED_ON | (int)(passed + 1);
        action->sa_sigaction(signal, info, context);
        info->si_errno = mark;
        return;
    }
    if (!has_info && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
        action->sa_handler(signal);
        return;
    }
    if (!is_fault(info)) {
        if (has_info || action->sa_handler != SIG_IGN)
            end_plainly(signal, info);
        return;
    }
    bool survives = thread ? thread->owner.leave != NULL : atom32_load(&has_text, ATOM_ACQUIRE);
    /* The code below reads data that may be damaged. If that makes a second fault, the process ends at once. */
    if (!survives)
        end_plainly(signal, info);
    else if (thread)
        atom32_store(&thread->is_inside, 1, ATOM_RELAXED);
    name_fault(thread, info, context);
    if (survives)
        report_and_abort(signal, info, context, verdict);
}

static void on_fault(int signal, siginfo_t *info, void *argument)
{
    int saved = errno;
    ucontext_t *context = argument;
    struct fault_thread *thread = thread_of(__builtin_frame_address(0));
    enum verdict verdict = VERDICT_FOREIGN;
    if (thread && is_fault(info) && !times_passed(info)) {
        if (atom32_exchange(&thread->is_inside, 1, ATOM_RELAXED))
            report_and_abort(signal, info, context, VERDICT_NESTED);
        struct fault_span span;
        if (thread->owner.leave)
            verdict = fault_decide(thread, info, context, &span);
        if (verdict == VERDICT_OURS)
            registers_redirect(
                context, (char *)(uintptr_t)span.low + span.size, fault_landed, thread);
        atom32_store(&thread->is_inside, 0, ATOM_RELAXED);
    }
    if (verdict != VERDICT_OURS)
        pass_on(thread, signal, info, context, verdict);
    errno = saved;
}

/* ---- Handlers of the process. ---- */

/*
 * Does nothing with a frame. A first walk over the stack may load and initialise libraries, which must not happen in a
 * signal handler, so fault_install makes a walk with this function.
 */
static _Unwind_Reason_Code on_first(struct _Unwind_Context *context, void *argument)
{
    (void)argument;
    (void)_Unwind_GetRegionStart(context);
    return _URC_NO_REASON;
}

static bool is_same(const struct sigaction *a, const struct sigaction *b)
{
    if ((a->sa_flags & SA_SIGINFO) != (b->sa_flags & SA_SIGINFO))
        return false;
    return a->sa_flags & SA_SIGINFO ? a->sa_sigaction == b->sa_sigaction
                                    : a->sa_handler == b->sa_handler;
}

/*
 * The runtime's handler is about to replace an earlier handler, `action`. Adds that earlier handler
 * to the list. Returns false if the list is full.
 */
static bool earlier_add(struct earlier *list, const struct sigaction *action)
{
    uint32_t count = atom32_load(&list->count, ATOM_RELAXED);
    uint32_t at = 0;
    while (at < count && !is_same(&list->actions[at], action))
        at++;
    if (at == EARLIER_MAX)
        return false;
    /*
     * If the handler is in the list already, cut the list behind it: the handlers behind it were
     * installed over it, and the program has removed them since.
     */
    if (at == count)
        list->actions[at] = *action;
    atom32_store(&list->count, at + 1, ATOM_RELEASE); /* pairs with pass_on */
    return true;
}

static void fault_install(void)
{
    (void)_Unwind_Backtrace(on_first, NULL);
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < TRAPPED_COUNT; i++) {
        struct sigaction before;
        (void)sigaction(trapped[i], NULL, &before);
        /*
         * If the runtime's handler is still installed, nothing is to be done: a program had installed its own handler
         * over it, and has removed it again.
         */
        if (before.sa_flags & SA_SIGINFO && before.sa_sigaction == on_fault)
            continue;
        /*
         * If the list is full, leave the program's handler installed. If that handler calls the
         * runtime's handler, no more is needed. If it does not, the program does not want the
         * runtime's handler to be called.
         */
        if (earlier_add(&earlier[i], &before))
            (void)sigaction(trapped[i], &action, NULL);
    }
    tr__stack_look_install();
}

static void fault_uninstall(void)
{
    tr__stack_look_uninstall();
    for (size_t i = 0; i < TRAPPED_COUNT; i++) {
        struct sigaction present;
        (void)sigaction(trapped[i], NULL, &present);
        uint32_t count = atom32_load(&earlier[i].count, ATOM_RELAXED);
        /*
         * If another handler is installed over the runtime's handler, leave both, because that handler may call the
         * runtime's.
         */
        if (!(present.sa_flags & SA_SIGINFO) || present.sa_sigaction != on_fault || !count)
            continue;
        (void)sigaction(trapped[i], &earlier[i].actions[count - 1], NULL);
        atom32_store(&earlier[i].count, count - 1, ATOM_RELAXED);
    }
}

static void thread_free(struct fault_thread *thread)
{
    (void)munmap(thread->stack, SIGNAL_STACK_SIZE);
    tr__os_resize(thread, 0);
}

tr_status tr__faults_open(bool survives)
{
    if (survives ? !REGISTERS_ARE_KNOWN : HAS_SANITIZER)
        return TR_NOT_SUPPORTED;
    tr_status status = TR_OK;
    lock_take(&faults_lock);
    if (survives && !atom32_load(&has_text, ATOM_RELAXED)) {
        status = tr__text_map();
        if (status == TR_OK)
            atom32_store(&has_text, 1, ATOM_RELEASE); /* pairs with pass_on */
    }
    if (status == TR_OK && !faults_users++)
        fault_install();
    lock_give(&faults_lock);
    return status;
}

void tr__faults_close(void)
{
    lock_take(&faults_lock);
    TR_ASSERT(faults_users);
    if (!--faults_users) {
        fault_uninstall();
        atom32_store(&has_text, 0, ATOM_RELAXED);
        struct fault_thread *thread = atomptr_exchange(&threads, NULL, ATOM_ACQ_REL);
        while (thread) {
            struct fault_thread *next = thread->next;
            thread_free(thread);
            thread = next;
        }
    }
    lock_give(&faults_lock);
}

/* ---- Threads. ---- */

static struct fault_thread *thread_new(void)
{
    struct fault_thread *thread = tr__os_resize(NULL, sizeof *thread);
    if (!thread)
        return NULL;
    memset(thread, 0, sizeof *thread);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE;
    void *stack = mmap(NULL, SIGNAL_STACK_SIZE, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (stack == MAP_FAILED) {
        tr__os_resize(thread, 0);
        return NULL;
    }
    thread->stack = stack;
    thread->next = atomptr_load(&threads, ATOM_RELAXED);
    atomptr_store(&threads, thread, ATOM_RELEASE); /* pairs with thread_of */
    return thread;
}

tr_status tr__fault_thread_open(const struct fault_owner *owner, struct fault_thread **opened)
{
    lock_take(&faults_lock);
    TR_ASSERT(faults_users);
    struct fault_thread *thread = atomptr_load(&threads, ATOM_RELAXED);
    /* pairs with tr__fault_thread_close */
    while (thread && atom32_load(&thread->is_used, ATOM_ACQUIRE))
        thread = thread->next;
    if (!thread)
        thread = thread_new();
    if (thread)
        atom32_store(&thread->is_used, 1, ATOM_RELAXED);
    lock_give(&faults_lock);
    if (!thread)
        return TR_NO_MEMORY;
    thread->owner = *owner;
    const stack_t stack = {.ss_sp = thread->stack, .ss_size = SIGNAL_STACK_SIZE};
    int installed = sigaltstack(&stack, &thread->before);
    TR_ASSERT(installed == 0);
    lock_take(&faults_lock);
    thread->id = (uint32_t)gettid(); /* only a thread with a stack for signals has an id here */
    lock_give(&faults_lock);
    thread->is_signalled = tr__stack_look_allow(true);
    *opened = thread;
    return TR_OK;
}

void tr__fault_thread_close(struct fault_thread *thread)
{
    if (!thread)
        return;
    lock_take(&faults_lock);
    thread->id = 0;
    lock_give(&faults_lock);
    if (!thread->is_signalled)
        (void)tr__stack_look_allow(false);
    int restored = sigaltstack(&thread->before, NULL);
    TR_ASSERT(restored == 0);
    atom32_store(&thread->is_used, 0, ATOM_RELEASE); /* pairs with tr__fault_thread_open */
}

bool tr__fault_thread_is_open(uint32_t id)
{
    lock_take(&faults_lock);
    const struct fault_thread *thread = atomptr_load(&threads, ATOM_RELAXED);
    while (thread && thread->id != id)
        thread = thread->next;
    lock_give(&faults_lock);
    return thread;
}
