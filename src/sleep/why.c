/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The sleep machine as text: why an actor is not asleep, and the names of its states and steps.
 */
#include "sleep/why.h"

#include <stdio.h>

#include "base/assert.h"
#include "sleep/sleep.h"
#include "sleep/wake_locks.h"

const char *tr__sleep_state_name(enum sleep_state state)
{
    switch (state) {
    case SLEEP_LOADING:
        return "Loading";
    case SLEEP_STARTED:
        return "Started";
    case SLEEP_GRACE:
        return "SleepGrace";
    case SLEEP_FINALIZE:
        return "SleepFinalize";
    case SLEEP_DESTROY_GRACE:
        return "DestroyGrace";
    case SLEEP_DESTROYING:
        return "Destroying";
    case SLEEP_TERMINATED:
        return "Terminated";
    }
    return "?";
}

const char *tr__sleep_step_name(enum sleep_step step)
{
    switch (step) {
#define STEP_NAME(name)                                                                            \
    case STEP_##name:                                                                              \
        return #name;
        SLEEP_STEPS(STEP_NAME)
#undef STEP_NAME
    case STEP_COUNT:
        break;
    }
    return "?";
}

/* Returns the text of what the actor waits for if no counter blocks its sleep. */
static const char *waits_for(const struct sleep_machine *machine)
{
    switch (machine->state) {
    case SLEEP_LOADING:
        return machine->stop_waits ? "its start, then stops" : "its start";
    case SLEEP_STARTED:
        return machine->is_sleep_asked || machine->is_destroy_asked ? "the answer of its authority"
                                                                    : "its idle time";
    case SLEEP_GRACE:
    case SLEEP_DESTROY_GRACE:
        return "nothing";
    case SLEEP_FINALIZE:
        return machine->awaits_serialized ? "its state to be serialized" : "its writes";
    case SLEEP_DESTROYING:
        return "its writes";
    case SLEEP_TERMINATED:
        break;
    }
    return machine->outcome == SLEEP_ENDED_DESTROYED ? "nothing: destroyed"
           : machine->outcome == SLEEP_ENDED_CRASHED ? "nothing: crashed"
                                                     : "nothing: asleep";
}

static size_t cut_length(int written, size_t size)
{
    TR_ASSERT(written >= 0);
    return (size_t)written < size ? (size_t)written : size - 1;
}

size_t tr__sleep_why(const struct sleep_machine *machine, tr_time now, char *text, size_t size)
{
    TR_ASSERT(size > 0);
    const char *name = tr__sleep_state_name(machine->state);
    bool has_timer = machine->due != SLEEP_NEVER;
    bool is_grace = machine->state == SLEEP_GRACE || machine->state == SLEEP_DESTROY_GRACE;
    tr_time at = is_grace ? machine->deadline : machine->due;
    tr_time left = has_timer && at > now ? at - now : 0;
    int written = has_timer ? snprintf(text,
                                       size,
                                       "%s, %lld.%03d s left, waits for ",
                                       name,
                                       (long long)(left / TR_SECOND),
                                       (int)(left % TR_SECOND / TR_MILLISECOND))
                            : snprintf(text, size, "%s, waits for ", name);
    size_t length = cut_length(written, size);
    uint32_t set = machine->wake_locks.raised & tr__sleep_blocks_next(machine);
    if (set)
        return length +
               tr__wake_locks_print(&machine->wake_locks, set, now, text + length, size - length);
    return length + cut_length(snprintf(text + length, size - length, "%s", waits_for(machine)),
                               size - length);
}
