/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verbs of a turn for memory, of the incarnation and of the turn, and for clean-up.
 */
#include "actor/verbs/self_memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <troupe/self.h>

#include "actor/cell/durable.h"
#include "actor/cell/recorder.h"
#include "actor/cell/system.h"
#include "actor/cell/verb.h"
#include "actor/turn/budget.h"
#include "actor/turn/turn.h"
#include "base/assert.h"
#include "mem/heap.h"

TR_NO_RETURN static void no_memory(tr_self *self, size_t size)
{
    tr_crash(self, TR_NO_MEMORY, "out of memory for %zu bytes", size);
}

/*
 * As no_memory, but for the memory of the actor. If a budget has refused the memory, the actor with
 * that budget fails.
 */
TR_NO_RETURN static void no_heap(tr_self *self, const void *memory, size_t size)
{
    if (self && self->cell->flags & CELL_METERED)
        tr__budget_refuse(self, tr__heap_need(self->cell->heap, memory, size), size);
    no_memory(self, size);
}

/*
 * Whether the budgets of the actor allow this size: for a new block if `memory` is NULL, otherwise
 * for the block `memory`.
 */
static inline bool is_allowed(tr_self *self, const void *memory, size_t size)
{
    struct cell *cell = self->cell;
    return __builtin_expect(!(cell->flags & CELL_METERED), 1) ||
           tr__budget_allows(self->worker, cell, tr__heap_need(cell->heap, memory, size));
}

/*
 * Whether this memory is part of a state that was loaded from a store or a record. Such memory is
 * no block of the heap.
 */
static inline bool is_loaded(const tr_self *self, const void *memory)
{
    const struct durable *durable = cell_durable(self->cell);
    if (durable)
        return memory && durable->hooks->has_loaded(durable, memory);
    if (__builtin_expect(!self->reads, 1))
        return false;
    const struct turn_recorder *recorder = self->worker->system->durable.recorder;
    return recorder->has_loaded(recorder, memory);
}

void *tr_try_alloc(tr_self *self, size_t size)
{
    TURN_VERB(self);
    if (!self || !is_allowed(self, NULL, size))
        return NULL;
    return tr__heap_alloc(&self->cell->heap, &self->worker->source, size);
}

void *tr_alloc(tr_self *self, size_t size)
{
    TURN_VERB(self);
    void *memory = tr_try_alloc(self, size);
    if (!memory)
        no_heap(self, NULL, size);
    return memory;
}

void *tr_try_realloc(tr_self *self, void *memory, size_t size)
{
    TURN_VERB(self);
    if (!self || is_loaded(self, memory) || !is_allowed(self, memory, size))
        return NULL;
    return tr__heap_realloc(&self->cell->heap, &self->worker->source, memory, size);
}

void *tr_realloc(tr_self *self, void *memory, size_t size)
{
    TURN_VERB(self);
    void *resized = tr_try_realloc(self, memory, size);
    if (!resized && self && is_loaded(self, memory))
        tr_crash(self,
                 TR_INVALID_ARGUMENT,
                 "tr_realloc: memory of the loaded state cannot grow; copy it");
    if (!resized)
        no_heap(self, memory, size);
    return resized;
}

void tr_free(tr_self *self, void *memory)
{
    TURN_VERB(self);
    if (self && !is_loaded(self, memory))
        tr__heap_free(&self->cell->heap, &self->worker->source, memory);
}

char *tr_strdup(tr_self *self, const char *string)
{
    TURN_VERB(self);
    if (!string)
        return NULL;
    size_t size = strlen(string) + 1;
    return memcpy(tr_alloc(self, size), string, size);
}

void *tr_try_scratch(tr_self *self, size_t size)
{
    TURN_VERB(self);
    if (!self)
        return NULL;
    turn_require_slow_end(self);
    return tr__scratch_alloc(self->scratch.current, size);
}

void *tr_scratch(tr_self *self, size_t size)
{
    TURN_VERB(self);
    void *memory = tr_try_scratch(self, size);
    if (!memory)
        no_memory(self, size);
    return memory;
}

char *tr_format(tr_self *self, const char *format, ...)
{
    TURN_VERB(self);
    va_list list;
    va_list again;
    if (!format)
        format = "";
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (length < 0) {
        va_end(again);
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_format: invalid format");
    }
    turn_require_slow_end(self);
    char *text = tr__scratch_text(self->scratch.current, (size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    if (!text)
        no_memory(self, (size_t)length + 1);
    return text;
}

void tr_at_end(tr_self *self, void *resource, void (*release)(void *resource))
{
    TURN_VERB(self);
    TR_ASSERT(self);
    if (!release)
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_at_end: the function is NULL");
    if (tr__heap_on_end(&self->cell->heap, &self->worker->source, resource, release))
        return;
    /* The turn ends here, so release the resource now: no later code would do it. */
    release(resource);
    no_memory(self, sizeof(void *));
}

static void defer_add(tr_self *self, void *resource, void (*release)(void *resource), bool is_own)
{
    turn_require_slow_end(self);
    if (self->defer_count == TR_DEFERS_MAX) {
        release(resource);
        tr_crash(self, TR_LIMIT, "more than %d calls of tr_defer in a turn", TR_DEFERS_MAX);
    }
    if (self->defer_count == TURN_DEFERS && !self->defers.more) {
        size_t size = (TR_DEFERS_MAX - TURN_DEFERS) * sizeof *self->defers.more;
        self->defers.more = tr__scratch_alloc(self->scratch.current, size);
        if (!self->defers.more) {
            release(resource);
            no_memory(self, size);
        }
    }
    *turn_defer_at(self, self->defer_count++) = (struct turn_defer){resource, release, is_own};
}

void tr_defer(tr_self *self, void *resource, void (*release)(void *resource))
{
    TURN_VERB(self);
    TR_ASSERT(self);
    if (!release)
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_defer: the function is NULL");
    defer_add(self, resource, release, false);
}

void tr__turn_defer(tr_self *self, void *resource, void (*release)(void *resource))
{
    TURN_VERB(self);
    TR_ASSERT_SLOW(turn_is_mine(self));
    defer_add(self, resource, release, true);
}

static void release_buffer(void *buffer)
{
    tr_buffer_release(buffer);
}

tr_buffer *tr_buffer_of_turn(tr_self *self, size_t size)
{
    TURN_VERB(self);
    TR_ASSERT(self);
    tr_buffer *buffer = tr_buffer_new(size);
    if (!buffer)
        no_memory(self, size);
    tr__turn_defer(self, buffer, release_buffer);
    return buffer;
}

void tr_buffer_keep(tr_self *self, tr_buffer *buffer)
{
    TURN_VERB(self);
    if (!buffer)
        return;
    tr_buffer_retain(buffer);
    tr_at_end(self, buffer, release_buffer);
}
