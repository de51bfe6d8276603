/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The host of a system's durable actors: its store, its kinds, and the generations that are ending.
 *
 * Awake actors are in the directory of the system, at /system/durable/<kind>/<key>. A generation that ends removes its
 * name at once and is in the list `leaving` until it is gone. A caller that asks for the key meanwhile makes the next
 * generation, which begins when the leaving one has ended.
 */
#ifndef DURABLE_HOST_H
#define DURABLE_HOST_H

#include <troupe/durable.h>
#include <troupe/wire.h>

#include "actor/cell/durable.h"
#include "actor/cell/system.h"
#include "calendar/zones.h"
#include "fiber/aside.h"
#include "os/spread.h"

enum { LEAVING_PARTS = 256 };

struct message_shape;

/** The shapes of the messages that the actors of one worker store; see durable/message_shape.h. */
struct message_shapes {
    struct message_shape **items;
    uint32_t count;
    uint32_t capacity;
    uint32_t stored_count; /* number of items at the front that are on disk */
};

/** The data that the durable actors of one worker share. */
struct worker_context {
    struct store_reader *reader;
    void *bytes; /* buffer into which states are packed */
    size_t size;
    struct durable_frame *spare; /* record for the next turn; NULL: allocate one */
    /* list of struct durable_actor; first the actor that has been idle for longest */
    struct list awake;
    uint32_t awake_count;
    size_t awake_bytes; /* memory of the actors in `awake`, if the system has a limit for it */
    /* The actors in `awake` that were asked to sleep because of memory pressure: their number and their memory. */
    uint32_t evicted_count;
    size_t evicted_bytes;
    /* Cells that wait until they may be set up, linked by door.ready; see durable/pressure.c. */
    struct stack_node *line_first;
    struct stack_node *line_last;
    struct durable
        line;        /* a timer; when it ends, the first cell begins even if limits are exceeded */
    bool has_moved;  /* a cell of the line has begun since the timer of `line` was armed */
    bool is_serving; /* tr__pressure_serve runs */
    uint32_t granted_count; /* cells that may begin and are on their way to their set-up */
    struct aside aside;     /* the large stack on which SQL statements run */
    struct message_shapes messages;
    /* error of the last state that could not be packed; see tr__durable_state_why */
    tr_wire_error fault;
};

struct durable_kind {
    /* Must be the first member. Cells of the kind have this behavior; its handlers call
     * durable/turn.c. */
    tr_behavior behavior;
    /* What the program declared, with all members that this library has: copies of *origin and of its events. */
    const tr_durable_kind *declared;
    tr_durable_kind copy;
    tr_events events;
    const tr_durable_kind *origin; /* by its address the program names the kind */
    struct durable_host *host;
    struct cell *keeper; /* cell of /system/durable/<kind>, the parent of all actors of this kind */
    tr_handler *handlers;
    /* Handlers of the application; NULL: none. */
    const tr_handler *created;
    const tr_handler *awake;
    const tr_handler *sleeping;
    const tr_handler *destroying;
    const tr_handler *changed;
    const tr_handler *run;
    const tr_handler *connected;
    const tr_handler *disconnected;
    const tr_handler *given_up; /* handler of tr_queue_given_up */
    uint32_t version;
    struct kind_shape *shapes; /* see durable/shapes.h */
    size_t shape_count;
    atom32 are_shapes_stored; /* the shapes are on disk; written and read by any worker */
    tr_time interval_ns;
    tr_time retry_ns;
    tr_time retry_max_ns;
    tr_time ttl_ns; /* 0: none */
    tr_time answers_ns;
    size_t answers_bytes_max;
    atom64 wakes; /* number of actors loaded so far; counted by any worker */
};

struct durable_host {
    struct tr_system *system;
    struct store *store;
    struct {                       /* see durable/running.h */
        struct running_file *file; /* NULL: none */
        size_t mapped;
        /* slots of an earlier process whose failed attempts are not stored yet */
        atom32 past_count;
    } running;
    struct worker_context *contexts; /* one for each worker */
    struct durable_kind *kinds;
    size_t kind_count;
    struct shape *shapes; /* all shapes; see durable/shapes.h */
    struct lock lock;     /* protects the members from here to is_backoff_over */
    /* lists of struct durable_actor, by the hash of their keys */
    struct list leaving[LEAVING_PARTS];
    atom32 leaving_count; /* read without the lock */
    atom64 destroyed;     /* actors that were destroyed so far; counted by any worker */
    /* lists of struct backoff, by the hash of their keys; see durable/retry_backoff.h */
    struct list backoffs[LEAVING_PARTS];
    atom32 backoff_count;     /* read without the lock */
    bool is_backoff_over;     /* the system stops: no backoff begins any more */
    bool has_limits;          /* awake_max or awake_bytes_max is set */
    atom32 line_count;        /* number of waiting cells in all contexts; read by any thread */
    atom32 has_work;          /* in a test kit: a batch waits */
    struct lock clients_lock; /* protects clients_reader; held while a client reads */
    struct store_reader *clients_reader; /* shared by all clients; NULL: none has read yet */
    struct zones zones;
    struct spread wake_times;    /* how long wakes took: nanoseconds, from SPREAD_FIRST_NS */
    struct spread alarm_times;   /* how late alarms were: nanoseconds, from SPREAD_FIRST_NS */
    uint64_t clock;              /* ref of the clock */
    atom64 timeouts;             /* graces that have ended by their deadline; read by any thread */
    struct rehearsal *rehearsal; /* actors are loaded and not started; NULL: none */
    tr_time offset_first_ns;     /* wall clock minus monotonic clock when the host started */
};

/** The set-up message of a durable actor. */
TR_MESSAGE(tr_durable_identity, (u64, kind), (bytes, key));
/** Messages of the runtime to a durable actor; their handlers are in durable/kind.c. */
TR_MESSAGE(tr_durable_begins);
TR_MESSAGE(tr_durable_hooked, (u32, reason));
TR_MESSAGE(tr_durable_driven);
/** To a durable actor: begin the run handler. */
TR_MESSAGE(tr_durable_runs);
/** To a durable actor: this alarm may be due. The actor passes `ticket` to tr__clock_done. */
TR_MESSAGE(tr_durable_due, (str, name), (u64, ticket));

/**
 * A request with an id, or a request from a gateway. `type` is the name of the message, `message`
 * its bytes in MessagePack. `caller` names the caller, or is NULL. tr_durable_once_aside is for
 * handlers that interleave.
 */
TR_REQUEST(tr_durable_once, tr_done, (bytes, id), (str, type), (bytes, message), (u64, connection),
           (str, caller));
TR_REQUEST(tr_durable_once_aside, tr_done, (bytes, id), (str, type), (bytes, message),
           (u64, connection), (str, caller));
/** Asks a durable actor to destroy itself. */
TR_REQUEST(tr_durable_remove, tr_done);

struct durable_actor;

/** Returns the index of the list in `leaving` and in `backoffs` for a key. */
size_t tr__host_part(const struct durable_host *host, const struct durable_kind *kind,
                     tr_bytes key);
/**
 * Removes the name of an actor from the directory, so that a request for its key makes the next
 * generation. Does nothing if this was done before.
 */
void tr__host_leave(struct durable_host *host, struct durable_actor *actor, bool is_destroying);
/**
 * Removes a generation that is gone from `leaving`. Returns the cell of the next generation, which the caller must
 * begin, or NULL.
 */
struct cell *tr__host_left(struct durable_host *host, struct durable_actor *actor);

/** Wakes a key whose generation has ended, because its queues have items. On a worker. */
void tr__host_begin(struct worker *worker, const struct durable_kind *kind, tr_bytes key);

/** Wakes the actor of a key, as tr_try_durable does. On a worker. */
TR_MUST_CHECK tr_status tr__host_wake(struct worker *worker, const tr_durable_kind *kind,
                                      tr_bytes key, uint64_t *ref_bits);

/** Returns the number of the kind with this name, or -1. */
int tr__host_kind(const struct durable_host *host, const char *name);
/** Returns whether the actor of a key is awake, or about to wake. */
bool tr__host_is_awake(tr_self *self, const struct durable_kind *kind, tr_bytes key);

static inline struct worker_context *host_context(const struct durable_host *host,
                                                  const struct worker *worker)
{
    return &host->contexts[worker->index];
}

#endif
