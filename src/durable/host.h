/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The host of a system's durable actors. It has the store, the kinds, and the generations that are ending.
 *
 * Awake actors are in the directory of the system, at /system/durable/<kind>/<key>. A generation that ends removes its
 * name at once, and is in the list `leaving` until it is gone. A caller that asks for the key meanwhile makes the next
 * generation. That generation begins when the leaving one has ended.
 */
#ifndef DURABLE_HOST_H
#define DURABLE_HOST_H

#include <troupe/durable.h>
#include <troupe/wire.h>

#include "actor/cell/system.h"
#include "calendar/zones.h"
#include "fiber/aside.h"
#include "os/spread.h"

enum { LEAVING_PARTS = 256 };

struct message_shape;

/** Shapes of the messages that the actors of one worker store; see durable/message_shape.h. */
struct message_shapes {
    struct message_shape **items;
    uint32_t count;
    uint32_t capacity;
    uint32_t stored_count; /* how many items at the front of `items` are on disk */
};

/** The data that the durable actors of one worker share. */
struct worker_context {
    struct store_reader *reader;
    void *bytes; /* buffer into which the worker packs states */
    size_t size;
    struct durable_frame *spare; /* frame for the next turn; NULL: the next turn allocates one */
    /* List of struct durable_actor. The first is the actor that has been idle for longest. */
    struct list awake;
    uint32_t awake_count;
    size_t awake_bytes; /* memory of the actors in `awake`; counted only if the system limits it */
    /* How many actors in `awake` were asked to sleep because of memory pressure, and their memory. */
    uint32_t evicted_count;
    size_t evicted_bytes;
    /* The line: cells that wait until they may be set up, linked by door.ready. See
     * durable/pressure.c. */
    struct stack_node *line_first;
    struct stack_node *line_last;
    struct durable line; /* a timer; when it fires, the first cell begins even beyond the limits */
    bool has_moved;      /* a cell of the line has begun since that timer was armed */
    bool is_serving;     /* tr__pressure_serve is running */
    /* number of cells that may begin and whose set-up has not started yet */
    uint32_t granted_count;
    struct aside aside; /* the large stack on which SQL statements run */
    struct message_shapes messages;
    /* The error of the last state that could not be packed; see tr__durable_state_why. */
    tr_wire_error fault;
};

struct durable_kind {
    /* The behavior of the kind's cells. It must be the first member. Its handlers call
     * durable/turn.c. */
    tr_behavior behavior;
    /* What the program has declared: copies of *origin and of its events. The copies have all members that this version
     * of the library knows. */
    const tr_durable_kind *declared;
    tr_durable_kind copy;
    tr_events events;
    const tr_durable_kind *origin; /* the program's declaration, whose address names the kind */
    struct durable_host *host;
    struct cell *keeper; /* cell of /system/durable/<kind>, the parent of all actors of this kind */
    tr_handler *handlers;
    /* The handlers of the application. NULL: there is none. */
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
    atom32 are_shapes_stored; /* the shapes are on disk; any worker reads and writes this */
    tr_time interval_ns;
    tr_time retry_ns;
    tr_time retry_max_ns;
    tr_time ttl_ns; /* 0: none */
    tr_time answers_ns;
    size_t answers_bytes_max;
    atom64 wakes; /* how many actors were loaded so far; any worker counts */
};

struct durable_host {
    struct tr_system *system;
    struct store *store;
    struct {                       /* see durable/running.h */
        struct running_file *file; /* NULL: none */
        size_t mapped;
        /* How many slots of earlier processes are still in use, because their failed attempts are
         * not stored yet. */
        atom32 past_count;
    } running;
    struct worker_context *contexts; /* one for each worker */
    struct durable_kind *kinds;
    size_t kind_count;
    struct shape *shapes; /* all known shapes; see durable/shapes.h */
    struct lock lock;     /* protects the members from here to is_backoff_over */
    /* Lists of struct durable_actor. The hash of a key chooses the list. */
    struct list leaving[LEAVING_PARTS];
    atom32 leaving_count; /* read without the lock */
    atom64 destroyed;     /* how many actors were destroyed so far; any worker counts */
    /* Lists of struct backoff; see durable/retry_backoff.h. The hash of a key chooses the list. */
    struct list backoffs[LEAVING_PARTS];
    atom32 backoff_count;     /* read without the lock */
    bool is_backoff_over;     /* the system stops, so no backoff begins from now on */
    bool has_limits;          /* awake_max or awake_bytes_max is set */
    atom32 line_count;        /* number of cells in the lines of all workers; read by any thread */
    atom32 has_work;          /* in a test kit: a batch waits to be committed */
    struct lock clients_lock; /* protects clients_reader; a client has it while it reads */
    struct store_reader *clients_reader; /* shared by all clients; NULL: none has read yet */
    struct zones zones;
    /* histogram of how long wakes took, in nanoseconds; begins at SPREAD_FIRST_NS */
    struct spread wake_times;
    /* histogram of how late alarms were, in nanoseconds; begins at SPREAD_FIRST_NS */
    struct spread alarm_times;
    uint64_t clock; /* ref of the clock */
    /* how many graces were ended by their deadline; read by any thread */
    atom64 timeouts;
    /* the rehearsal that runs, which only loads actors; NULL: none runs */
    struct rehearsal *rehearsal;
    tr_time offset_first_ns; /* wall clock minus monotonic clock when the host started */
};

/** The set-up message of a durable actor. */
TR_MESSAGE(tr_durable_identity, (u64, kind), (bytes, key));
/** Messages of the runtime to a durable actor. durable/kind.c has their handlers. */
TR_MESSAGE(tr_durable_begins);
TR_MESSAGE(tr_durable_hooked, (u32, reason));
TR_MESSAGE(tr_durable_driven);
/** A message to a durable actor: begin the run handler. */
TR_MESSAGE(tr_durable_runs);
/**
 * A message to a durable actor: this alarm may be due. The actor passes `ticket` to tr__clock_done.
 */
TR_MESSAGE(tr_durable_due, (str, name), (u64, ticket));

/**
 * A request with an id, or a request from a gateway. `type` is the name of the inner message, and
 * `message` has its bytes in MessagePack. `caller` is the name of the caller, or NULL. The request
 * tr_durable_once_aside has the same members and is for handlers that interleave.
 */
TR_REQUEST(tr_durable_once, tr_done, (bytes, id), (str, type), (bytes, message), (u64, connection),
           (str, caller));
TR_REQUEST(tr_durable_once_aside, tr_done, (bytes, id), (str, type), (bytes, message),
           (u64, connection), (str, caller));
/** Asks a durable actor to destroy itself. */
TR_REQUEST(tr_durable_remove, tr_done);

struct durable_actor;

/**
 * `leaving` and `backoffs` are arrays of lists, in which keys are found by their hash. Returns the
 * index of the list for a key, which is the same in both arrays.
 */
size_t tr__host_part(const struct durable_host *host, const struct durable_kind *kind,
                     tr_bytes key);
/**
 * Removes the name of an actor from the directory. From now on a request for its key makes the next
 * generation. Does nothing if the name was removed before.
 */
void tr__host_leave(struct durable_host *host, struct durable_actor *actor, bool is_destroying);
/**
 * Removes a generation that is gone from `leaving`. Returns the cell of the next generation, which the caller must
 * begin. Returns NULL if there is no next generation.
 */
struct cell *tr__host_left(struct durable_host *host, struct durable_actor *actor);

/** Wakes a key because its queues have items, after its generation has ended. On a worker. */
void tr__host_begin(struct worker *worker, const struct durable_kind *kind, tr_bytes key);

/** Wakes the actor of a key, as tr_try_durable does. On a worker. */
TR_MUST_CHECK tr_status tr__host_wake(struct worker *worker, const tr_durable_kind *kind,
                                      tr_bytes key, uint64_t *ref_bits);

/** Returns the number of the kind with this name. Returns -1 if there is no such kind. */
int tr__host_kind(const struct durable_host *host, const char *name);
/** Whether the actor of a key is awake, or about to wake. */
bool tr__host_is_awake(tr_self *self, const struct durable_kind *kind, tr_bytes key);

static inline struct worker_context *host_context(const struct durable_host *host,
                                                  const struct worker *worker)
{
    return &host->contexts[worker->index];
}

#endif
