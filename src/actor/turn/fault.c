/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/turn/fault.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/log.h"
#include "actor/cell/upcalls.h"
#include "actor/cell/view.h"
#include "actor/turn/turn.h"
#include "base/assert.h"
#include "os/fault.h"
#include "os/symbols.h"
#include "os/text.h"

enum { PLACE_MAX = 200 }; /* the longest text of one frame */

/* ---- Where user code is called. ---- */

__attribute__((__noinline__)) tr_next tr__fault_call(struct tr_self *self,
                                                     tr_next (*call)(tr_self *self, void *state,
                                                                     const void *message),
                                                     const void *message)
{
    struct fiber *fiber = self->worker->stacks.host.current;
    char base = 0; /* the frames of the user code are below this address */
    fiber->user_base = &base;
    fiber->user = self;
    tr_next next = call(self, self->cell->state, message);
    /* This fiber is the current one again, because a turn that waits resumes on its own fiber. */
    fiber->user = NULL;
    fiber->user_base = NULL;
    return next;
}

tr_next tr__fault_call_handler(struct tr_self *self, const tr_handler *handler)
{
    struct envelope *envelope = self->envelope;
    if (__builtin_expect(handler->type != NULL, 1))
        return tr__fault_call(self, handler->call, envelope_data(envelope));
    tr_message any = {envelope->type, envelope_data(envelope)};
    return tr__fault_call(self, handler->call, &any);
}

__attribute__((__noinline__)) tr_next tr__fault_call_inside(
    struct tr_self *self, struct fiber *fiber,
    tr_next (*call)(tr_self *self, void *state, const void *message), void *state,
    const void *message)
{
    const void *outside = fiber->user_base;
    char base = 0; /* the frames of the runtime's handler are above this address */
    fiber->user_base = &base;
    tr_next next = call(self, state, message);
    fiber->user_base = outside;
    return next;
}

/* Finds the user code that the worker runs. This is fault_owner.find. Runs in a signal handler. */
static bool fault_span_find(void *context, struct fault_span *span)
{
    const struct worker *worker = context;
    const struct fiber *fiber = worker->stacks.host.current;
    if (!fiber || !fiber->user)
        return false;
    *span = (struct fault_span){
        .base = fiber->user_base, .low = fiber->side.low, .size = fiber->side.size};
    return true;
}

/*
 * Names the actor that the worker runs. This is fault_owner.describe. Runs in a signal handler, on
 * the thread of the worker, which owns that actor.
 */
static bool describe(void *context, struct fault_span *stack, char text[FAULT_TEXT_SIZE])
{
    struct worker *worker = context;
    const struct fiber *fiber = worker->stacks.host.current;
    const struct cell *cell = worker_running(worker);
    if (!fiber || !cell)
        return false;
    *stack = (struct fault_span){.low = fiber->side.low, .size = fiber->side.size};
    struct view view;
    tr__view_own(worker, cell, &view);
    char place[PLACE_MAX];
    tr__view_place(&view, place, sizeof place);
    const char *what = view.type ? view.type->name : "a signal or a set-up";
    (void)snprintf(text, FAULT_TEXT_SIZE, "%s, handling %s (%s)", view.path, what, place);
    return true;
}

/* ---- Error text and log. ---- */

/*
 * Returns the worker's symbol cache, and makes it at the first call. Returns NULL when out of
 * memory.
 */
static struct symbol_cache *symbols_of(struct worker *worker)
{
    if (!worker->faults.symbols) {
        worker->faults.symbols =
            source_resize(&worker->source, NULL, sizeof *worker->faults.symbols);
        if (worker->faults.symbols)
            memset(worker->faults.symbols, 0, sizeof *worker->faults.symbols);
    }
    return worker->faults.symbols;
}

/* Prints the place of a code address: "on_work (bank.c:42)". */
static void place_print(struct worker *worker, uintptr_t address, char place[PLACE_MAX])
{
    struct symbol symbol;
    tr__symbol_find(symbols_of(worker), address, &symbol);
    (void)tr__symbol_print(&symbol, place, PLACE_MAX);
}

/* Returns the code address of the innermost frame that is not in the C library or the like (TEXT_SYSTEM). */
static uintptr_t fault_origin(const struct fault *fault)
{
    uint32_t index = 0;
    while (index + 1 < fault->depth && fault_frame(fault, index + 1) &&
           tr__text_owner(fault_frame(fault, index)) == TEXT_SYSTEM)
        index++;
    return fault_frame(fault, index);
}

/* Writes the error of the turn: "SIGSEGV at address 0x0 in on_work (bank.c:42)". */
static void fault_error_set(struct tr_self *self, const struct fault *fault)
{
    char place[PLACE_MAX];
    place_print(self->worker, fault_origin(fault), place);
    turn_require_slow_end(self);
    self->error = (tr_error){
        .status = TR_FAULT, .code = fault->signal, .actor = tr_ref_from_bits(self->cell->identity)};
    size_t size = sizeof self->error.text;
    int length = snprintf(self->error.text,
                          size,
                          "%s%s at address 0x%llx in %s",
                          fault->is_overflow ? "stack overflow, " : "",
                          tr__fault_signal_name(fault->signal),
                          (unsigned long long)fault->address,
                          place);
    if (fault->is_overflow && (size_t)length < size)
        snprintf(self->error.text + length,
                 size - (size_t)length,
                 "; the stack has %zu bytes, set a larger stack_bytes in the actor's or the "
                 "system's options",
                 self->worker->stacks.host.current->side.size);
}

/*
 * Adds the place of a frame to a line of the log. The frame occurs `times` in a row. Returns false
 * if the line has not enough space.
 */
static bool frame_add(char text[TR_LOG_MAX], const char *place, uint32_t times)
{
    char item[PLACE_MAX + 32];
    size_t length = strlen(text);
    size_t capacity = TR_LOG_MAX - sizeof "fault: " - length;
    int written = snprintf(item, sizeof item, "%s%s", length ? " < " : "", place);
    if (times > 1)
        written += snprintf(item + written, sizeof item - (size_t)written, " x %u", times);
    if ((size_t)written >= capacity)
        return false;
    memcpy(text + length, item, (size_t)written + 1);
    return true;
}

/* Logs the frames that the fault has dropped, in one line. The innermost frame comes first. */
static void stack_log(struct tr_self *self, const struct fault *fault)
{
    struct worker *worker = self->worker;
    char path[TR_PATH_MAX + 1];
    char text[TR_LOG_MAX] = "";
    char place[PLACE_MAX];
    char last[PLACE_MAX] = "";
    uint32_t times = 0;
    tr__cell_path(worker->system, self->cell, path);
    for (uint32_t i = 0; i < fault->depth; i++) {
        uintptr_t frame = fault_frame(fault, i);
        if (frame)
            place_print(worker, frame, place);
        else
            snprintf(place, sizeof place, "...");
        if (times && strcmp(place, last) != 0) {
            if (!frame_add(text, last, times))
                break;
            times = 0;
        }
        times++;
        memcpy(last, place, sizeof last);
    }
    (void)frame_add(text, last, times);
    tr__log_turn(worker->system, TR_LEVEL_ERROR, path, self->causal, "fault: %s", text);
}

/* ---- Leaving. ---- */

/*
 * Ends the turn whose code faulted. This is fault_owner.leave. Runs at the top of the stack of that
 * turn; the frames and registers of the turn are lost.
 */
static void leave(void *context, const struct fault *fault)
{
    struct worker *worker = context;
    struct fiber *fiber = worker->stacks.host.current;
    struct tr_self *self = fiber->user;
    TR_ASSERT(self->worker == worker);
    tr__fiber_wipe(fiber);
    turn_defers_forget(self);
    fault_error_set(self, fault);
    stack_log(self, fault);
    /*
     * The parked turns of the actor are dropped later, when the actor stops, restarts or resumes
     * turns.
     */
    struct cell_extra *extra = self->cell->extra;
    if (extra)
        extra->parked.abandons = extra->parked.count > 0;
    tr__turn_crash(self);
}

/* ---- Systems and threads. ---- */

tr_status tr__faults_switch_on(struct tr_system *system)
{
    bool survives = system->options.traps_faults;
    if (!survives && !system->options.names_faults)
        return TR_OK;
    tr_status status = tr__faults_open(survives);
    if (status == TR_OK)
        return TR_OK;
    system->options.traps_faults = false;
    system->options.names_faults = false;
    /*
     * Only names_faults was set. Without it, a fault ends the process too, and only the line that
     * names the actor is missing. So let the system start.
     */
    if (!survives)
        return TR_OK;
    tr__log(
        system,
        TR_LEVEL_ERROR,
        NULL,
        "faults cannot be trapped in this build; link libtroupe.so, or libtroupe.a with -fno-lto");
    return status;
}

void tr__faults_switch_off(struct tr_system *system)
{
    if (system->options.traps_faults || system->options.names_faults)
        tr__faults_close();
}

void tr__faults_begin(struct worker *worker)
{
    const struct tr_system *system = worker->system;
    if (!system->options.traps_faults && !system->options.names_faults)
        return;
    const struct fault_owner owner = {.find = fault_span_find,
                                      .leave = system->options.traps_faults ? leave : NULL,
                                      .describe = describe,
                                      .context = worker};
    if (tr__fault_thread_open(&owner, &worker->faults.thread) == TR_OK)
        return;
    worker->faults.thread = NULL;
    tr__log(worker->system,
            TR_LEVEL_WARN,
            NULL,
            "out of memory: faults on a worker are not trapped or named");
}

void tr__faults_end(struct worker *worker)
{
    tr__fault_thread_close(worker->faults.thread);
    worker->faults.thread = NULL;
}
