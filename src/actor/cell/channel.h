/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the actor layer knows of channels: which hooks to call, and when. The layer above, src/net,
 * implements them.
 *
 * A channel that has something for its actor queues one envelope of the kind CHANNEL. The envelope
 * is empty, because nothing was read yet. When the turn of the envelope comes, `admit` fills the
 * envelope with the next piece, or returns false if there is no piece. When the turn has ended,
 * `on_done` takes the envelope, and queues it again if the channel has more. So what a peer sends
 * never fills a mailbox.
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

/**
 * The functions that the layer above implements. Where a comment does not say "Any thread", only
 * the worker of the cell calls the function.
 */
struct channel_hooks {
    /**
     * Handles a descriptor that is ready; `token` says which one. `what`: TR_IO_IN, TR_IO_OUT,
     * TR_IO_END.
     */
    void (*on_io)(struct worker *worker, uint64_t token, uint32_t what);
    /** Sends what was written, after a run in which loop->flush_is_due was set. */
    void (*on_flush)(struct worker *worker);
    /**
     * Handles deadlines that have passed. Called when a round of the worker's loop begins. Returns
     * true if another round should follow soon.
     */
    bool (*on_round)(struct worker *worker, tr_time now_ns);
    /** Returns the earliest deadline of the worker's channels, or TR_NEVER if there is none. */
    tr_time (*next)(struct worker *worker);
    /**
     * Fills a CHANNEL envelope, whose turn is about to begin, with a message. If the end of the
     * turn has more to do than on_plain_end does, `admit` calls turn_require_slow_end. If there is
     * nothing to handle, takes the envelope and returns false.
     */
    bool (*admit)(struct tr_self *self, struct envelope *envelope);
    /**
     * Returns the default handler for a message of a channel. Called if the behavior has no handler
     * of the type of the message. `any` is the behavior's handler for all messages, or NULL.
     * Returns NULL if the message stays unhandled.
     */
    const tr_handler *(*fallback)(struct tr_self *self, const struct envelope *envelope,
                                  const tr_handler *any);
    /**
     * Returns a batch of up to `max` messages. The first one is the message of the CHANNEL envelope
     * of this turn; the others came after it on the same channel. Returns NULL if there is only one
     * message.
     */
    const void *const *(*on_batch)(struct tr_self *self, size_t max, size_t *count);
    /**
     * Called when the turn of a CHANNEL envelope has declined the messages of on_batch. Returns
     * those messages except the first one, and their number. The caller makes them dead letters.
     * Returns NULL if there was no batch, or only one message.
     */
    const void *const *(*on_declined)(struct tr_self *self, size_t *count);
    /** Takes the CHANNEL envelope of a turn that has ended; queues it again if there is more. */
    void (*on_done)(struct worker *worker, struct cell *cell, struct envelope *envelope);
    /**
     * Does the work of on_turn_end and on_done together. Called if the turn of a CHANNEL envelope
     * has ended with TR_SAME, and nothing has called turn_require_slow_end. Takes the envelope.
     */
    void (*on_plain_end)(struct tr_self *self);
    /**
     * Implement tr_reply, tr_refuse and tr_forward in the turn of a CHANNEL envelope. Return false
     * if the turn has no request.
     */
    bool (*on_reply)(struct tr_self *self, const tr_type *type, const void *message,
                     tr_status *status);
    bool (*on_refuse)(struct tr_self *self, int code, const char *text);
    bool (*on_forward)(struct tr_self *self, tr_ref to, tr_next *next);
    /**
     * Implements tr_reply_later in the turn of a CHANNEL envelope. Returns all zero if the turn has
     * no request, or if there is no memory.
     */
    tr_later (*on_later)(struct tr_self *self);
    /**
     * Ends what the turn has borrowed (self->borrowed) and frees self->lent, at the end of a turn.
     */
    void (*on_turn_end)(struct tr_self *self);
    /**
     * Gives the channel worker->channels.newborn to the actor that was started for this channel,
     * before any code of the actor runs.
     */
    void (*on_birth)(struct worker *worker, struct cell *cell);
    /**
     * Ends the channels of an incarnation that ends. `resets` is set if the incarnation has failed,
     * or was killed.
     */
    void (*on_end)(struct worker *worker, struct cell *cell, bool resets);
    /**
     * Looks at the channels of the actor again, because the actor has another behavior, or was
     * resumed after a failure.
     */
    void (*on_change)(struct worker *worker, struct cell *cell);
    /**
     * Closes the listeners of this worker and ends idle sessions, because the system shuts down.
     */
    void (*on_shutdown)(struct worker *worker);
    /**
     * Sets or clears extra->waits.holds_stop of an actor that is sealed and has nothing else to do.
     */
    void (*on_sealed)(struct worker *worker, struct cell *cell);
    /**
     * Forgets the waiting turns of the actor, which are about to be dropped with their stacks. Called again when a
     * function of tr_blocking has returned, because the turn of that function could not be dropped before.
     */
    void (*on_abandon)(struct worker *worker, struct cell *cell);
    /** Returns how many bytes the channels of an actor hold. Looks at each channel. */
    size_t (*bytes)(const struct cell *cell);
    /**
     * As `bytes`, but called when a budget begins to apply to the actor: from now on every change
     * of these bytes is passed to tr__budget_channels.
     */
    size_t (*on_metered)(struct worker *worker, struct cell *cell);
    /** Whether the actor may move to another worker with its channels. */
    bool (*may_move)(const struct cell *cell);
    /**
     * Prepares the channels of an actor that is about to move. If there is no memory, changes
     * nothing and returns false.
     */
    bool (*on_leave)(struct worker *worker, struct cell *cell);
    /**
     * Takes in the channels of an actor that has moved to this worker, or whose move was given up.
     */
    void (*on_arrive)(struct worker *worker, struct cell *cell);
    /**
     * Takes in a channel that arrives in an ENVELOPE_HANDED for the actor. The actor may have ended
     * already. Takes the envelope.
     */
    void (*on_handed)(struct worker *worker, struct cell *cell, struct envelope *envelope);
    /**
     * An effect is what a turn with an outbox wanted to do to a channel of its actor. on_release
     * does it, on_drop forgets it. Both take the effect.
     */
    void (*on_release)(struct worker *worker, struct channel_effect *effect);
    void (*on_drop)(struct worker *worker, struct channel_effect *effect);
    /** Adds to the report of tr_actor_why the channels of the actor that wait to send. */
    void (*why)(struct worker *worker, struct cell *cell, struct tr_why_report *report);
    /**
     * If a turn waits for a channel, writes to `words` what it waits for and the name of the
     * channel, and returns the tr_why_kind of this reason. Otherwise writes nothing and returns -1.
     */
    int (*why_turn)(const struct tr_self *turn, char *words, size_t size);
    /**
     * Writes the address of the other side of a channel of this actor into `text`, of
     * TR_ADDRESS_TEXT_MAX bytes; "" if there is none. Returns how many channels the actor has,
     * counted up to a limit. If the actor has changed meanwhile, the text means nothing. Any
     * thread.
     */
    uint32_t (*view)(struct tr_system *system, uint64_t actor, char *text);
    /** Whether channels of actors that have ended still have something to send. */
    bool (*is_sending)(const struct worker *worker);
    /** Frees worker->channels.net, when the worker ends. */
    void (*on_worker_end)(struct worker *worker);
};

#endif
