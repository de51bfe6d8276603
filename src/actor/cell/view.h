/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The view of an actor from other threads while its worker runs it: which actor it is, and which
 * handler runs.
 *
 * Only its worker may read a cell. But if a worker does not answer, the watch (for a long turn) and
 * tr_actor_why must still be able to say what the worker does. For them there are these rules:
 *   1. The worker keeps what it runs in three atoms: cell, type and handler of struct worker_view.
 *      It writes them by stores only, never by read-modify-write. A handler is constant data.
 *   2. The owner of a cell writes identity, name, dispatch and the door's tenant by ATOM_POKE, and
 *      other threads read them by ATOM_PEEK. Cells and dispatches are never freed while their
 *      system runs.
 *   3. A thread that only shows numbers to a person reads further members by tr__view_glance,
 *      although their owner writes them by plain stores. Each of these members is an aligned word,
 *      so the reader gets its old or its new value. Only texts may depend on such a value, and no
 *      pointer is read this way.
 *   4. A name is read under the lock that names_lock_of returns for its slot. Before a name is
 *      freed, tr__view_take_name removes it from the cell under the same lock.
 *
 * A cell may get another tenant meanwhile. So a reader compares the counters of the worker before
 * and after. If the worker has counted no run in between, the reader has seen one actor only.
 * Otherwise the reader discards what it has seen.
 */
#ifndef ACTOR_CELL_VIEW_H
#define ACTOR_CELL_VIEW_H

#include <troupe/address.h>
#include <troupe/limits.h>

#include "actor/cell/names.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "os/lock.h"

enum { ENDED_NAMES_MAX = 64 };

/**
 * The paths of the named actors that have ended last, so that dead letters can show these paths.
 */
struct ended_names {
    struct lock lock; /* for all members below */
    uint64_t total;
    struct ended_name {
        uint64_t ref; /* 0: this entry is not used */
        char path[TR_DEAD_LETTER_PATH_MAX + 1];
    } ring[ENDED_NAMES_MAX];
};

struct view {
    uint64_t ref;
    const tr_type *type;         /* type of the message; NULL: a signal, or a set-up */
    const tr_handler *handler;   /* NULL: not known */
    const tr_behavior *behavior; /* NULL: not known */
    /* when the watch first saw the worker do this; 0: the watch has not seen it */
    tr_time since_ns;
    char path[TR_PATH_MAX + 1];
    char
        peer[TR_ADDRESS_TEXT_MAX]; /* the other side of a channel of the actor; "": none is known */
    uint32_t channel_count;        /* how many channels the actor has */
};

/** The members of a cell that any thread may read by rule 3 above. They are only for texts. */
struct view_glance {
    uint32_t stock;
    uint32_t child_count;
    uint16_t flags;      /* enum cell_flag */
    uint8_t life;        /* enum life */
    uint8_t sched_state; /* enum sched_state */
    bool has_extra;      /* without an extra, the actor has no asks and owes no replies */
};

/** Reads the members of struct view_glance from a cell, by rule 3. Any thread. */
struct view_glance tr__view_glance(const struct cell *cell);

/**
 * Returns the cell of an actor that may be stopping, or may have ended by now; NULL if no cell has
 * this ref. Any thread.
 */
static inline struct cell *view_find(const struct slots *slots, uint64_t ref)
{
    struct cell *cell = ref ? slots_at(slots, (uint32_t)ref) : NULL;
    return cell && ATOM_PEEK(&cell->identity) == ref ? cell : NULL;
}

/**
 * Fills in the view of `cell`, which the calling worker runs: which actor it is, and which handler
 * runs. Takes no lock, so that a signal handler on the thread of that worker can call it.
 */
void tr__view_own(struct worker *worker, const struct cell *cell, struct view *view);

/**
 * Fills in `peer` and `channel_count`, which tr__view_running has left empty. If the actor has
 * ended meanwhile, these two members mean nothing. Any thread.
 */
void tr__view_channels(struct tr_system *system, struct view *view);

/**
 * Fills in what a worker runs. Returns false if it runs nothing, or if the run has just ended. Any
 * thread.
 */
bool tr__view_running(struct worker *worker, struct view *view);

/**
 * As tr__cell_path, but on any thread. If the actor has ended meanwhile, the path is meaningless.
 */
size_t tr__view_path(struct tr_system *system, const struct cell *cell, char *path);

/**
 * Removes the name from the cell of an actor that has ended, and returns the name, which the caller
 * frees. Only for the owner. If no other thread ever knew the ref of the actor, also for the thread
 * that created the actor.
 */
struct name *tr__view_take_name(struct tr_system *system, struct cell *cell);

/**
 * Writes a text such as "on_fetch of downloader, fetch.c:40", with the parts that are known. Cuts
 * the text to `size` bytes.
 */
void tr__view_place(const struct view *view, char *text, size_t size);

/** Returns the name of a file without its folders. */
const char *tr__view_file(const char *file);

/**
 * Writes the path of a named actor that has ended. If the path is too long, "..." replaces its
 * beginning. Returns false if the actor had no name, or if its path is no longer kept: only the
 * paths of the last ENDED_NAMES_MAX named actors are kept. Any thread.
 */
bool tr__view_ended_path(struct tr_system *system, uint64_t ref,
                         char path[TR_DEAD_LETTER_PATH_MAX + 1]);

/**
 * Frees the name of an actor that has ended. Does nothing if the shutdown was abandoned, because
 * then other threads may still read the name. Owner only.
 */
void tr__view_free_name(struct tr_system *system, struct cell *cell);

#endif
