/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What other threads may see of an actor while its worker runs it: who it is, and which handler.
 *
 * A cell is its worker's alone. Yet somebody must be able to say what a worker does that does not
 * answer: the watch, of a turn that takes long, and tr_actor_why. For them
 *   1. the worker keeps what it runs in three atoms, running, running_type and running_handler, by plain
 *      stores; a handler is constant data;
 *   2. the owner of a cell writes identity, name, dispatch and the door's tenant by ATOM_POKE, and
 *      others read them by ATOM_PEEK. Cells and dispatches are never freed while their system runs;
 *   3. a name is read under names_lock_of its slot. tr__view_take_name takes it from the cell under the same
 *      lock before it is freed.
 * A cell may change its tenant meanwhile. So who looks compares before and after: when the worker has
 * not counted a run in between, it was one actor all the time. Otherwise there is nothing to tell.
 */
#ifndef ACTOR_CELL_VIEW_H
#define ACTOR_CELL_VIEW_H

#include "actor/cell/system.h"

struct view {
    uint64_t ref;
    const tr_type *type;         /* of the message; NULL: a signal, or a set-up */
    const tr_handler *handler;   /* NULL: not known */
    const tr_behavior *behavior; /* NULL: not known */
    tr_time since_ns;            /* when the watch first saw it; 0: it has not */
    char path[TR_PATH_MAX + 1];
};

/** The cell of an actor that may be stopping, or be gone by now; NULL for others. Any thread. */
static inline struct cell *view_find(const struct slots *slots, uint64_t ref)
{
    struct cell *cell = ref ? slots_at(slots, (uint32_t)ref) : NULL;
    return cell && ATOM_PEEK(&cell->identity) == ref ? cell : NULL;
}

/**
 * Who `cell` is, which the calling worker runs, and which handler. Without a lock, for a signal handler of that
 * worker's thread.
 */
void tr__view_own(struct worker *worker, const struct cell *cell, struct view *view);

/** What a worker runs. False: nothing, or it has just ended. Any thread. */
bool tr__view_running(struct worker *worker, struct view *view);

/** As tr__cell_path; what it says of one that has ended meanwhile means nothing. Any thread. */
size_t tr__view_path(struct tr_system *system, const struct cell *cell, char *path);

/**
 * An actor has ended: takes its name, which the caller frees, from it. Owner only; of an actor that was never known,
 * the thread that made it.
 */
struct name *tr__view_take_name(struct tr_system *system, struct cell *cell);

/** "on_fetch of downloader, fetch.c:40", as far as it is known; cut to fit. */
void tr__view_place(const struct view *view, char *text, size_t size);

/** The name of a file without its folders. */
const char *tr__view_file(const char *file);

/** Frees the name of an actor that is gone, unless somebody may still need it. Owner only. */
void tr__view_free_name(struct tr_system *system, struct cell *cell);

#endif
