/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/view.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/channel.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/signal.h"
#include "actor/cell/worker.h"
#include "base/assert.h"

/* Copies the path of a named actor. Returns false for an actor without a name. */
static bool name_read(struct tr_system *system, const struct cell *cell, uint32_t slot, char *path)
{
    struct lock *lock = names_lock_of(system->names, slot);
    lock_take(lock);
    const struct name *name = ATOM_PEEK(&cell->name);
    if (name)
        memcpy(path, name->path, name->path_length + 1u);
    lock_give(lock);
    return name;
}

size_t tr__view_path(struct tr_system *system, const struct cell *cell, char *path)
{
    char tail[TR_PATH_MAX + 1] = "";
    char *end = tail + sizeof tail - 1;
    size_t length = 0; /* length of the path so far: it is written from its end to its beginning */
    path[0] = '\0';
    while (cell) {
        uint64_t identity = ATOM_PEEK(&cell->identity);
        uint32_t slot = (uint32_t)identity & system->slots->mask;
        if (name_read(system, cell, slot, path))
            break;
        if (cell == system->user.guardian) {
            strcpy(path, "/user");
            break;
        }
        char part[40];
        uint32_t generation = (uint32_t)(identity >> 32) - system->slots->generation_first;
        int written = snprintf(part, sizeof part, "/$%x.%x", (unsigned)slot, (unsigned)generation);
        /*
         * cut the path here, because it is too long or because cells that changed during the walk
         * form a cycle
         */
        if (written < 0 || length + (size_t)written > TR_PATH_MAX)
            break;
        length += (size_t)written;
        memcpy(end - length, part, (size_t)written);
        uint32_t parent = cell_slot_of(ATOM_PEEK(&cell->door.tenant));
        cell = parent ? slots_at(system->slots, parent) : NULL;
    }
    size_t group = strlen(path);
    snprintf(path + group, TR_PATH_MAX + 1 - group, "%.*s", (int)length, end - length);
    return group + length;
}

/*
 * These reads are races that rule 3 of view.h allows. ThreadSanitizer does not know the rule, so it
 * does not instrument this function. The function is not inlined, so that each member is read once.
 */
__attribute__((__noinline__, __no_sanitize__("thread"))) struct view_glance tr__view_glance(
    const struct cell *cell)
{
    return (struct view_glance){.stock = cell->stock,
                                .child_count = cell->child_count,
                                .flags = cell->flags,
                                .life = cell->life,
                                .sched_state = cell->sched_state,
                                .has_extra = cell->extra != NULL};
}

struct name *tr__view_take_name(struct tr_system *system, struct cell *cell)
{
    struct name *name = cell->name;
    struct lock *lock = names_lock_of(system->names, slots_number(system->slots, cell));
    lock_take(lock);
    ATOM_POKE(&cell->name, NULL);
    lock_give(lock);
    return name;
}

/*
 * Returns `handler` if it is a handler of the behavior in this view, otherwise NULL. `handler` is
 * the one that the worker called last, and may belong to another actor.
 */
static const tr_handler *handler_of(const struct view *view, const tr_handler *handler)
{
    const tr_behavior *behavior = view->behavior;
    if (!handler || handler == &tr__setup_handler || view->type == &tr__then_type)
        return handler;
    if (!behavior)
        return NULL;
    uintptr_t first = (uintptr_t)behavior->handlers;
    uintptr_t end = first + behavior->handler_count * behavior->handler_size;
    return (uintptr_t)handler >= first && (uintptr_t)handler < end ? handler : NULL;
}

static uint64_t runs_of(const struct worker *worker)
{
    return atom64_load(&worker->loop.runs, ATOM_ACQUIRE) +
           atom64_load(&worker->loop.steps, ATOM_ACQUIRE);
}

/* Fills in all members of a view, except the path and the members about channels. */
static void view_fill(struct worker *worker, const struct cell *cell, struct view *view)
{
    view->type = worker_type(worker);
    const tr_handler *handler = worker_handler(worker);
    view->ref = ATOM_PEEK(&cell->identity);
    view->since_ns = (tr_time)atom64_load(&worker->loop.since_ns, ATOM_RELAXED);
    const struct dispatch *dispatch = ATOM_PEEK(&cell->dispatch);
    view->behavior = dispatch ? dispatch->behavior : NULL;
    view->handler = handler_of(view, handler);
    view->peer[0] = '\0';
    view->channel_count = 0;
    if (view->type == &tr__then_type && view->handler)
        view->type = view->handler->type; /* show the request whose answer is handled */
}

void tr__view_own(struct worker *worker, const struct cell *cell, struct view *view)
{
    view_fill(worker, cell, view);
    tr__cell_path(worker->system, cell, view->path);
}

void tr__view_channels(struct tr_system *system, struct view *view)
{
    /* pairs with table_make of net/table.c, which sets the hooks before it stores the table */
    if (atomptr_load(&system->channels.table, ATOM_ACQUIRE))
        view->channel_count = system->channels.hooks->view(system, view->ref, view->peer);
}

bool tr__view_running(struct worker *worker, struct view *view)
{
    uint64_t runs = runs_of(worker);
    const struct cell *cell = atomptr_load(&worker->view.cell, ATOM_ACQUIRE);
    if (!cell)
        return false;
    view_fill(worker, cell, view);
    tr__view_path(worker->system, cell, view->path);
    return runs_of(worker) == runs && worker_running(worker) == cell;
}

const char *tr__view_file(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

void tr__view_place(const struct view *view, char *text, size_t size)
{
    const char *handler = view->handler && view->handler->name ? view->handler->name : NULL;
    text[0] = '\0';
    if (!view->behavior)
        snprintf(text, size, "%s", handler ? handler : "");
    else
        snprintf(text,
                 size,
                 "%s%s%s, %s:%u",
                 handler ? handler : "",
                 handler ? " of " : "",
                 view->behavior->name,
                 tr__view_file(view->behavior->file),
                 (unsigned)view->behavior->line);
}

/* Stores in system->ended_names the path of an actor that has ended. */
static void name_remember(struct tr_system *system, uint64_t ref, const struct name *name)
{
    static const char gap[] = "...";
    struct ended_names *ended = system->ended_names;
    size_t length = name->path_length;
    bool is_long = length > TR_DEAD_LETTER_PATH_MAX;
    lock_take(&ended->lock);
    struct ended_name *place = &ended->ring[ended->total++ % ENDED_NAMES_MAX];
    place->ref = ref;
    if (is_long) {
        size_t kept = TR_DEAD_LETTER_PATH_MAX - (sizeof gap - 1);
        memcpy(place->path, gap, sizeof gap - 1);
        memcpy(place->path + sizeof gap - 1, name->path + length - kept, kept + 1);
    } else {
        memcpy(place->path, name->path, length + 1);
    }
    lock_give(&ended->lock);
}

bool tr__view_ended_path(struct tr_system *system, uint64_t ref,
                         char path[TR_DEAD_LETTER_PATH_MAX + 1])
{
    struct ended_names *ended = system->ended_names;
    bool is_found = false;
    lock_take(&ended->lock);
    for (size_t i = 0; i < ENDED_NAMES_MAX && !is_found; i++) {
        is_found = ended->ring[i].ref == ref;
        if (is_found)
            memcpy(path, ended->ring[i].path, sizeof ended->ring[i].path);
    }
    lock_give(&ended->lock);
    return is_found;
}

void tr__view_free_name(struct tr_system *system, struct cell *cell)
{
    TR_ASSERT_SLOW(worker_is_mine(system->workers[cell_owner(cell)]));
    struct name *name = NULL;
    lock_take(&system->ending.lock);
    if (system_may_reuse(system)) {
        name = tr__view_take_name(system, cell);
    }
    lock_give(&system->ending.lock);
    if (name)
        name_remember(system, cell->identity, name);
    tr__names_free(system->names, name);
}
