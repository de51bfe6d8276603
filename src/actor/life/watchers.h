/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Death watch: a watcher gets the signal tr_terminated when its target has stopped. The reasons:
 * docs/design/watch.md.
 *
 * A watch is one envelope, a WATCH, which goes to the target's worker. That worker keeps it. When
 * the target has ended, the worker sends this envelope back as the signal, so an end needs no
 * memory. When the watcher ends the watch, an UNWATCH follows through the same door, which is the
 * target's inbox for mail of other workers (queue/door.h). The UNWATCH contains the address of the
 * WATCH, so that the target's worker can remove and free the WATCH. The envelope of the UNWATCH is
 * reserved when the watch begins, so that an unwatch needs no memory either. Between two actors of
 * one worker the watch is added and removed directly, and no UNWATCH is reserved.
 *
 * The owner closes a door only after its tenant is Stopped and all that the tenant had is released.
 * So if a door refuses a WATCH, the target is gone, and the WATCH becomes the signal at once. If a
 * WATCH reaches the next tenant of the slot, the worker of that tenant sends it back as the signal.
 *
 * A watcher checks a signal at the beginning of the signal's turn. The signal counts only if its
 * envelope belongs to a watch that is open. The signal of an earlier watch is dropped, as if it had
 * never been sent.
 */
#ifndef ACTOR_LIFE_WATCHERS_H
#define ACTOR_LIFE_WATCHERS_H

#include "actor/cell/worker.h"

struct cell;
struct envelope;
struct worker;

struct tr_client;

/** Ends all watches of an actor that ends. Owner only. */
void tr__watches_drop(struct worker *worker, struct cell *cell);

/** As watchers_tell, but only if some actor of this worker is watched. */
void tr__watchers_tell(struct worker *worker, struct cell *cell);

/**
 * Sends tr_terminated to the watchers of an actor that is Stopped and whose door is closed. Owner
 * only.
 */
static inline void watchers_tell(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (worker->life.watched.count)
        tr__watchers_tell(worker, cell);
}

/**
 * Prepares the watches of an actor for its move to another worker: its watches on other actors, and
 * their watches on it. Returns false when out of memory; then no watch has changed. Owner only.
 */
bool tr__watches_pack(struct worker *worker, struct cell *cell);
/**
 * Ends tr__watches_pack. Called when the actor has arrived at its new worker, or stays after all.
 * Owner only.
 */
void tr__watches_unpack(struct worker *worker, struct cell *cell);

/* ---- Watches of a client and watches on a client: on the thread of the client. ---- */

/** Handles a WATCH or UNWATCH that has arrived. Takes the envelope. */
void tr__client_watch_mail(struct tr_client *client, struct envelope *envelope);
/**
 * Whether the client may get a message that waits for it. Returns false only for the signal of a
 * watch that has ended.
 */
bool tr__client_watch_is_open(struct tr_client *client, struct envelope *envelope);
/**
 * Removes a watch, because the client gets its signal now. Does nothing if the envelope is no such
 * signal.
 */
void tr__client_watch_over(struct tr_client *client, struct envelope *envelope);
/**
 * Ends all watches of a client that is freed, and sends the signal to the watchers of this client.
 * The door of the client must be closed already.
 */
void tr__client_watch_end(struct tr_client *client);

#endif
