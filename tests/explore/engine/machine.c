/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/machine.h"

#include "engine/memory.h"
#include "engine/trace.h"

#include <stdarg.h>
#include <stdio.h>

/* boost.context, by its own C names. */
struct transfer {
    void *context;
    void *data;
};
struct transfer jump_fcontext(void *to, void *data);
void *make_fcontext(void *stack_end, size_t size, void (*run)(struct transfer));

enum { STACK_SIZE = 64 * 1024 };

struct thread {
    void *context;
    struct explore_parker *parker; /* while it is parked */
};

struct machine machine;

static struct thread threads[EXPLORE_THREADS_MAX];
static void *main_context;
static _Alignas(64) char stacks[EXPLORE_THREADS_MAX][STACK_SIZE];

/* Leaves where we are, to be continued when somebody jumps to *from. */
static void jump(void *to, void **from)
{
    struct transfer transfer = jump_fcontext(to, from);
    *(void **)transfer.data = transfer.context;
}

static void resume(int next)
{
    void **from = machine.current < 0 ? &main_context : &threads[machine.current].context;
    machine.current = next;
    machine.yielded &= ~(1U << next);
    jump(threads[next].context, from);
}

/* Ends the schedule; the threads stay where they stand and are never continued. */
static void leave(void)
{
    static void *nowhere;
    machine.current = -1;
    jump(main_context, &nowhere);
}

static unsigned enabled_set(void)
{
    unsigned set = machine.ready & ~machine.yielded;
    if (set)
        return set;
    machine.yielded = 0;
    return machine.ready;
}

/* Chooses the next thread when the current thread is at a point, parked, or done. */
static void choose_next(void)
{
    if (++machine.steps > STEPS_MAX)
        explore_fail("no end after %d steps: a livelock", STEPS_MAX);
    unsigned enabled = enabled_set();
    if (!enabled) {
        leave();
        return;
    }
    int next = chooser_thread(machine.chooser, enabled, machine.current, machine.steps);
    if (next != machine.current)
        resume(next);
    else
        machine.yielded &= ~(1U << next);
}

static void thread_main(struct transfer transfer)
{
    *(void **)transfer.data = transfer.context;
    int index = machine.current;
    machine.model->threads[index].run(index);
    trace_line("ends");
    machine.ready &= ~(1U << index);
    machine.done |= 1U << index;
    machine_progress();
    choose_next();
}

static void threads_start(void)
{
    machine.threads = 0;
    for (int i = 0; i < EXPLORE_THREADS_MAX && machine.model->threads[i].run; i++) {
        threads[i].context = make_fcontext(stacks[i] + STACK_SIZE, STACK_SIZE, thread_main);
        threads[i].parker = NULL;
        machine.threads++;
    }
    machine.ready = (1U << machine.threads) - 1;
    machine.yielded = 0;
    machine.done = 0;
}

bool machine_run(const struct explore_model *model, struct chooser *chooser, uint64_t seed,
                 bool is_weak, bool is_traced)
{
    machine.model = model;
    machine.chooser = chooser;
    machine.current = -1;
    machine.steps = 0;
    machine.stale_reads = chooser->strategy == STRATEGY_DFS ? STALE_READS_DFS_MAX : STALE_READS_MAX;
    machine.is_weak = is_weak;
    machine.is_traced = is_traced;
    machine.is_woken_early = false;
    machine.is_failed = false;

    machine.phase = PHASE_SETUP;
    memory_begin();
    model->setup();
    trace_names_end();

    machine.phase = PHASE_RUN;
    threads_start();
    chooser_begin(chooser, seed, machine.threads);
    choose_next();

    machine.phase = PHASE_CHECK;
    if (!machine.is_failed && model->check)
        model->check();
    return !machine.is_failed;
}

void machine_point(void)
{
    if (machine.phase != PHASE_RUN)
        return;
    choose_next();
}

void machine_progress(void)
{
    machine.yielded = 0;
}

int explore_variant(void)
{
    return machine.model->variant;
}

void explore_fail(const char *format, ...)
{
    if (!machine.is_failed) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(machine.failure, sizeof machine.failure, format, arguments);
        va_end(arguments);
        machine.is_failed = true;
    }
    if (machine.phase == PHASE_RUN)
        leave();
}

void explore_step(void)
{
    machine_point();
}

void explore_yield(void)
{
    if (machine.phase != PHASE_RUN)
        return;
    machine.yielded |= 1U << machine.current;
    chooser_yield(machine.chooser, machine.current);
    choose_next();
}

unsigned explore_choose(unsigned count)
{
    if (machine.phase != PHASE_RUN)
        return 0;
    unsigned choice = chooser_value(machine.chooser, count);
    trace_line("chooses %u of %u", choice, count);
    return choice;
}

void explore_park(struct explore_parker *parker)
{
    machine_point();
    if (!parker->has_wake && parker->may_wake_early && !machine.is_woken_early &&
        explore_choose(2)) {
        machine.is_woken_early = true;
        trace_line("wakes for no reason");
        return;
    }
    if (!parker->has_wake) {
        trace_line("parks");
        threads[machine.current].parker = parker;
        machine.ready &= ~(1U << machine.current);
        choose_next();
        threads[machine.current].parker = NULL;
    }
    parker->has_wake = false;
    if (parker->orders_memory)
        memory_wait_end();
    trace_line("is awake");
}

void explore_unpark(struct explore_parker *parker)
{
    machine_point();
    machine_progress();
    parker->has_wake = true;
    if (parker->orders_memory)
        memory_wake();
    trace_line("wakes %s", trace_name(parker));
    for (int i = 0; i < machine.threads; i++)
        if (threads[i].parker == parker)
            machine.ready |= 1U << i;
}
