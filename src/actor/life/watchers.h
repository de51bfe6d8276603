/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Death watch: a watcher gets tr_terminated when its target has stopped. The reasons:
 * docs/design/watch.md.
 *
 * A watch is one envelope, a WATCH that goes to the target's worker and is kept there. When the
 * target has ended, this envelope goes back as the signal, so an end needs no memory. When the
 * watcher ends the watch, an UNWATCH follows through the same door. The UNWATCH contains the
 * address of the WATCH, so that the target's worker can remove the WATCH and free it. The envelope
 * of the UNWATCH is reserved when the watch begins, so that an unwatch needs no memory either.
 * Between two actors of one worker the watch is added and removed directly, and no UNWATCH is
 * reserved.
 *
 * A door is closed only after its tenant is Stopped and all that the tenant had is released. So if
 * a WATCH is refused, its target is gone, and the WATCH becomes the signal at once. If a WATCH
 * reaches the next tenant of the slot, the worker of that tenant sends it back as the signal.
 *
 * A watcher checks a signal at the beginning of its turn. The signal counts only if its envelope
 * belongs to the open watch. The signal of an earlier watch is dropped as if it had never been
 * sent.
 */
#ifndef ACTOR_LIFE_WATCHERS_H
#define ACTOR_LIFE_WATCHERS_H

#include "actor/cell/worker.h"

struct cell;
struct envelope;
struct worker;

struct tr_client;

/** Ends all watches of a watcher that ends. Owner only. */
void tr__watches_drop(struct worker *worker, struct cell *cell);

/** As watchers_tell, but requires that actors are watched on this worker. */
void tr__watchers_tell(struct worker *worker, struct cell *cell);

/**
 * Sends the signal to the watchers of an actor that is Stopped and whose door is closed. Owner
 * only.
 */
static inline void watchers_tell(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (worker->life.watched.count)
        tr__watchers_tell(worker, cell);
}

/**
 * Prepares the watches of an actor that leaves this worker: the watches on others and the watches
 * of its watchers. Returns false when out of memory; then no watch has changed. Owner only.
 */
bool tr__watches_pack(struct worker *worker, struct cell *cell);
/**
 * Ends tr__watches_pack, after the actor has arrived at its new worker or has stayed. Owner only.
 */
void tr__watches_unpack(struct worker *worker, struct cell *cell);

/* ---- Watches of a client and watches on a client: on the thread of the client. ---- */

/** Handles a WATCH or UNWATCH that has arrived. Takes the envelope. */
void tr__client_watch_mail(struct tr_client *client, struct envelope *envelope);
/**
 * Whether a waiting message may be given to the client. False for the signal of a watch that has
 * ended.
 */
bool tr__client_watch_is_open(struct tr_client *client, struct envelope *envelope);
/** Removes the watch of a signal that is given to the client. Does nothing for other messages. */
void tr__client_watch_over(struct tr_client *client, struct envelope *envelope);
/**
 * Ends all watches of a client that is freed, and sends the signal to its watchers. The door of the
 * client is closed already.
 */
void tr__client_watch_end(struct tr_client *client);

#endif
