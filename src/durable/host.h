/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The host of a system's durable actors: its store, its kinds, and who is on the way out.
 *
 * Who is awake is in the directory of the system, at /system/durable/<kind>/<key>. A generation that ends
 * takes its name out of it at once, and is in the list `leaving` until it is gone: who asks for the key
 * meanwhile makes the next generation, which begins when this one has ended.
 */
#ifndef DURABLE_HOST_H
#define DURABLE_HOST_H

#include <troupe/durable.h>

#include "actor/cell/durable.h"
#include "actor/cell/system.h"
#include "calendar/zones.h"
#include "fiber/aside.h"

enum { LEAVING_PARTS = 256 };

/** What a worker needs to read and to pack. */
struct worker_context {
    struct store_reader *reader;
    void *bytes; /* where states are packed */
    size_t size;
    struct durable_frame *spare; /* for the next turn */
    struct list awake; /* of struct durable_actor: who has been idle for longest is first */
    uint32_t awake_count;
    size_t awake_bytes; /* when the system has a limit of them */
    /* Of those, who was asked to sleep to make room. */
    uint32_t evicted_count;
    size_t evicted_bytes;
    /* Cells that wait to be set up until there is room, by door.ready; see durable/pressure.c. */
    struct stack_node *line_first;
    struct stack_node *line_last;
    struct durable line;    /* its wake_timer: when one begins in any case */
    bool has_moved;         /* one has begun since the wake_timer was armed */
    bool is_serving;        /* the line is looked at right now */
    uint32_t granted_count; /* those that may begin and are on their way */
    struct aside aside;     /* where statements of SQL run */
};

struct durable_kind {
    tr_behavior behavior; /* first: what the system sees; its rows lead to durable/turn.c */
    const tr_durable_kind *declared;
    struct durable_host *host;
    struct cell *keeper; /* /system/durable/<kind> */
    tr_handler *handlers;
    /* Rows of the application, NULL: none. */
    const tr_handler *created;
    const tr_handler *awake;
    const tr_handler *sleeping;
    const tr_handler *destroying;
    const tr_handler *changed;
    const tr_handler *run;
    uint32_t version;
    struct kind_shape *shapes; /* see durable/shapes.h */
    size_t shape_count;
    atom32 are_shapes_stored; /* they are on disk; any worker */
    tr_time interval_ns;
    tr_time retry_ns;
    tr_time retry_max_ns;
};

struct durable_host {
    struct tr_system *system;
    struct store *store;
    struct worker_context *contexts; /* by worker */
    struct durable_kind *kinds;
    size_t kind_count;
    struct shape *shapes;               /* all; see durable/shapes.h */
    struct lock lock;                   /* of what follows */
    struct list leaving[LEAVING_PARTS]; /* of struct durable_actor, by their keys */
    atom32 leaving_count;               /* read without the lock */
    struct list
        backoffs[LEAVING_PARTS]; /* of struct backoff, by their keys; see durable/retry_backoff.h */
    atom32 backoff_count;        /* read without the lock */
    bool is_backoff_over;        /* the system stops: there are no more */
    bool has_limits;             /* awake_max or awake_bytes_max */
    atom32 line_count;           /* cells in the lines of all contexts; read by others */
    atom32 has_work;             /* of a kit: a batch was submitted */
    struct zones zones;
    uint64_t clock;          /* ref of the actor that fires alarms */
    tr_time offset_first_ns; /* of the wall clock from the other one, when it began */
};

/** What an actor is set up with. */
TR_MESSAGE(tr_durable_identity, (u64, kind), (bytes, key));
/** Messages of the runtime to a durable actor. */
TR_MESSAGE(tr_durable_begins);
TR_MESSAGE(tr_durable_hooked, (u32, reason));
TR_MESSAGE(tr_durable_driven);
/** To a durable actor: its run handler is to begin. */
TR_MESSAGE(tr_durable_runs);
/** To a durable actor: this alarm may be due. The ticket is for tr__clock_done. */
TR_MESSAGE(tr_durable_due, (str, name), (u64, ticket));

struct durable_actor;

/** Where a key is in the lists by key. */
size_t tr__host_part(const struct durable_host *host, const struct durable_kind *kind,
                     tr_bytes key);
/** From now on who asks for its key gets the next generation. Nothing if it is so already. */
void tr__host_leave(struct durable_host *host, struct durable_actor *actor, bool is_destroying);
/** It is gone: gives the cell of the next generation, which is to begin, or NULL. */
struct cell *tr__host_left(struct durable_host *host, struct durable_actor *actor);

/** Begins the next generation of a key that has ended, for what is in its queues. On a worker. */
void tr__host_begin(struct worker *worker, const struct durable_kind *kind, tr_bytes key);

/** The number of a kind by its name; -1: there is none. */
int tr__host_kind(const struct durable_host *host, const char *name);
/** Whether an actor is there, awake or on its way to be. */
bool tr__host_is_awake(tr_self *self, const struct durable_kind *kind, tr_bytes key);

static inline struct worker_context *host_context(const struct durable_host *host,
                                                  const struct worker *worker)
{
    return &host->contexts[worker->index];
}

#endif
