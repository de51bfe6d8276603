/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the actor layer knows of channels: which hooks to call, and when. The layer above, src/net,
 * implements them.
 *
 * A channel that has something for its actor queues one envelope of the kind CHANNEL, which is empty:
 * nothing was read yet. When its turn comes, `admit` fills it with the next piece, or says that there is
 * none. When the turn has ended, `on_done` takes the envelope, and queues it again if there is more. So
 * what a peer sends never fills a mailbox.
 */
#ifndef ACTOR_CELL_CHANNEL_H
#define ACTOR_CELL_CHANNEL_H

#include <troupe/ask.h>
#include <troupe/behavior.h>

struct cell;
struct channel_effect;
struct envelope;
struct tr_self;
struct tr_system;
struct tr_why_report;
struct worker;

/** The functions that the layer above implements. All of them: owner or worker only. */
struct channel_hooks {
    /** A descriptor with this token is ready: TR_IO_IN, TR_IO_OUT, TR_IO_END. */
    void (*on_io)(struct worker *worker, uint64_t token, uint32_t what);
    /** loop->flush_is_due was set, and the run is over: sends what was written. */
    void (*on_flush)(struct worker *worker);
    /** A round begins: handles deadlines that are reached. True: it wants another round, soon. */
    bool (*on_round)(struct worker *worker, tr_time now_ns);
    /** Returns the earliest deadline; TR_NEVER for none. */
    tr_time (*next)(struct worker *worker);
    /**
     * The turn of a CHANNEL envelope is about to begin. Fills it with a message. If the end of the turn has more to do than
     * on_plain_end, calls turn_require_slow_end. False: there is nothing to handle, and the envelope was taken.
     */
    bool (*admit)(struct tr_self *self, struct envelope *envelope);
    /**
     * Returns the handler for a message of a channel that the behavior does not handle, or handles with `any` only, which
     * may be NULL. NULL: none.
     */
    const tr_handler *(*fallback)(struct tr_self *self, const struct envelope *envelope,
                                  const tr_handler *any);
    /**
     * The turn of a CHANNEL envelope handles batches of up to `max`: returns its message and those of the same channel that
     * have come behind it. NULL: it comes alone.
     */
    const void *const *(*on_batch)(struct tr_self *self, size_t max, size_t *count);
    /**
     * The turn of a CHANNEL envelope has declined its messages: returns those of on_batch behind the first, which the caller
     * counts. NULL: there are none.
     */
    const void *const *(*on_declined)(struct tr_self *self, size_t *count);
    /** The turn of a CHANNEL envelope has ended. Takes the envelope. */
    void (*on_done)(struct worker *worker, struct cell *cell, struct envelope *envelope);
    /**
     * The turn of a CHANNEL envelope has ended with TR_SAME, and nothing has called turn_require_slow_end: as on_turn_end and
     * on_done. Takes the envelope.
     */
    void (*on_plain_end)(struct tr_self *self);
    /** tr_reply, tr_refuse and tr_forward in the turn of a CHANNEL envelope. False: it has no request. */
    bool (*on_reply)(struct tr_self *self, const tr_type *type, const void *message,
                     tr_status *status);
    bool (*on_refuse)(struct tr_self *self, int code, const char *text);
    bool (*on_forward)(struct tr_self *self, tr_ref to, tr_next *next);
    /** tr_reply_later in the turn of a CHANNEL envelope. All zero: it has no request, or there is no memory. */
    tr_later (*on_later)(struct tr_self *self);
    /** A turn with self->borrowed or self->lent has ended. */
    void (*on_turn_end)(struct tr_self *self);
    /** worker->channels.newborn is set, and this actor was made for it: nothing of it has run yet. */
    void (*on_birth)(struct worker *worker, struct cell *cell);
    /** An incarnation with channels ends. `resets`: it has failed, or was killed. */
    void (*on_end)(struct worker *worker, struct cell *cell, bool resets);
    /** The actor has another behavior, or was resumed after a failure: looks at its channels again. */
    void (*on_change)(struct worker *worker, struct cell *cell);
    /** The system shuts down: listeners of this worker close, and idle sessions end. */
    void (*on_shutdown)(struct worker *worker);
    /** The actor is sealed and has nothing to do: sets extra->waits.holds_stop, or clears it. */
    void (*on_sealed)(struct worker *worker, struct cell *cell);
    /** The turns of the actor that waited were dropped, with their stacks. */
    void (*on_abandon)(struct worker *worker, struct cell *cell);
    /** Whether the actor may move to another worker with its channels. */
    bool (*may_move)(const struct cell *cell);
    /** The actor is about to move. False: out of memory, and nothing has changed. */
    bool (*on_leave)(struct worker *worker, struct cell *cell);
    /** The actor has moved to this worker, or has not moved after all. */
    void (*on_arrive)(struct worker *worker, struct cell *cell);
    /** An ENVELOPE_HANDED has arrived: a channel for the actor. The actor may be gone. Takes the envelope. */
    void (*on_handed)(struct worker *worker, struct cell *cell, struct envelope *envelope);
    /**
     * What a turn with an outbox has done to a channel of its actor was held, and is done now, or never. Takes the
     * effect.
     */
    void (*on_release)(struct worker *worker, struct channel_effect *effect);
    void (*on_drop)(struct worker *worker, struct channel_effect *effect);
    /** Adds to the report of tr_actor_why which channels of the actor wait to send. */
    void (*why)(struct worker *worker, struct cell *cell, struct tr_why_report *report);
    /** Writes for which channel a turn waits. Returns the tr_why_kind; -1: for none, and nothing was written. */
    int (*why_turn)(const struct tr_self *turn, char *words, size_t size);
    /**
     * Writes the other side of a channel of this actor into `text`, of TR_ADDRESS_TEXT_MAX bytes, "" if there is none. Returns
     * how many channels the actor has, as far as is looked. If the actor has changed meanwhile, the text means nothing. Any
     * thread.
     */
    uint32_t (*view)(struct tr_system *system, uint64_t actor, char *text);
    /** Whether channels of actors that have ended still have something to send. */
    bool (*is_sending)(const struct worker *worker);
    /** The worker ends: frees worker->channels.net. */
    void (*on_worker_end)(struct worker *worker);
};

/** The first member of what the layer above keeps for an actor with channels: slots_channels. */
struct cell_channels {
    struct envelope *ready; /* a mailbox, a ring: CHANNEL envelopes */
};

struct net_worker;
struct channel;

/** The channels of a worker. All zero until one of its actors uses a channel. */
struct worker_channels {
    const struct channel_hooks *hooks;
    struct net_worker *net;
    struct channel *newborn; /* the channel for which an actor is being spawned, or NULL */
};

#endif
