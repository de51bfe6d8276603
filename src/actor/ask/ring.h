/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Rings of actors that wait for each other.
 *
 * An actor with a turn that waits for capacity, or as a barrier for a reply, lets no ask or notice begin:
 * it holds those who wait for it. Who is about to wait follows the chain of those he would wait for,
 * all of them where an actor waits for several; of a turn that waits for any of several asks all must
 * lead back. A request that a turn handles waits for that turn alone. What leaves his worker a RING
 * follows, and when it comes back to him he waits no longer.
 *
 * A turn that is no barrier holds nobody but who has asked it. It looks when it has asked an actor of its own
 * worker that is behind a barrier, and sends no RINGs: a ring of barriers alone it cannot close.
 *
 * The RINGs are sent when the wait was announced (tr_self.waits_for) and nothing is taken in between
 * that and the wait itself. So of those who close a ring from both sides at least one finds it: a
 * RING that came too early for one was sent before that one sent his own.
 *
 * Owner only, all of it.
 */
#ifndef ACTOR_ASK_RING_H
#define ACTOR_ASK_RING_H

#include <stdint.h>
#include <stdbool.h>

struct cell;
struct envelope;
struct tr_self;
struct worker;

enum ring {
    RING_IS_OPEN,
    RING_LEAVES,   /* open as far as this worker knows */
    RING_IS_CLOSED /* the chain that begins with `to` leads back to this actor */
};

/** Looks at the chain, and behind the doors of those who are in it. Before the wait is announced. */
enum ring tr__ring_look(struct tr_self *self, uint64_t to);

/** Sends RINGs where the chain leaves this worker. After the wait was announced, and just before it. */
void tr__ring_announce(struct tr_self *self, uint64_t to);

/**
 * The same for the asks that a turn is about to wait for. Of those that are in a ring each is ended, or,
 * when the turn waits for any of them, one if all are. True: chains leave this worker. The turn may be no
 * barrier.
 */
bool tr__ring_look_for_replies(struct tr_self *self);
void tr__ring_announce_for_replies(struct tr_self *self);

/** A RING has arrived; takes it. */
void tr__ring_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);

#endif
