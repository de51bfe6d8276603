/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Finds cycles of actors that wait for each other.
 *
 * An actor starts no ask and no notice while one of its turns waits for capacity, or waits as a
 * barrier for a reply. So the actor holds up every actor that waits for it. Before a turn waits, it
 * follows the chain of the actors that it would wait for:
 *   - Where an actor waits for several others, the search follows all of them.
 *   - A turn that waits for any one of several asks is in a cycle only if all of these asks lead
 *     back.
 *   - A request that a turn handles waits for that turn alone.
 *   - Where the chain leaves the worker, an envelope of the kind CYCLE follows the chain. When the
 *     CYCLE comes back to the turn that sent it, that turn stops waiting.
 *
 * A turn that is no barrier holds up only the actor whose request it handles. Such a turn searches
 * when it has asked an actor of its own worker that is behind a barrier. It sends no CYCLEs,
 * because it cannot complete a cycle that consists of barriers only.
 *
 * The CYCLEs are sent after the wait was announced (tr_self.waits.on), and no mail is taken in
 * between that and the wait itself. So if two turns close a cycle from both sides, at least one of
 * them finds it: a CYCLE that came to a turn before the turn had announced its wait was sent before
 * the turn sent its own.
 *
 * All functions: owner only.
 */
#ifndef ACTOR_ASK_ASK_CYCLE_H
#define ACTOR_ASK_ASK_CYCLE_H

#include <stdint.h>
#include <stdbool.h>

struct cell;
struct envelope;
struct tr_self;
struct worker;

enum ask_cycle {
    ASK_CYCLE_NONE,
    ASK_CYCLE_LEAVES, /* no cycle on this worker, but the chain continues on another one */
    ASK_CYCLE_FOUND   /* the chain that begins with `to` leads back to this actor */
};

/**
 * Follows the chain that begins with `to`, and takes in the mail behind the doors of the actors of
 * this chain. Must be called before the wait is announced.
 */
enum ask_cycle tr__ask_cycle_look(struct tr_self *self, uint64_t to);

/**
 * Sends CYCLEs where the chain leaves this worker. The turn must call this after it has announced
 * its wait, and just before it waits.
 */
void tr__ask_cycle_announce(struct tr_self *self, uint64_t to);

/**
 * As tr__ask_cycle_look, but for the asks that a turn is about to wait for. If the turn waits for
 * all of its asks, ends each ask that is in a cycle. If the turn waits for any one of its asks, and
 * all of them are in cycles, ends one ask. Returns true if a chain leaves this worker. The turn
 * need not be a barrier.
 */
bool tr__ask_cycle_look_for_replies(struct tr_self *self);
/** As tr__ask_cycle_announce, but for the asks that a turn is about to wait for. */
void tr__ask_cycle_announce_for_replies(struct tr_self *self);

/** Handles a CYCLE that has arrived. Takes the envelope. */
void tr__ask_cycle_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);

#endif
