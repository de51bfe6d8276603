/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Who watches whom: tr_terminated when an actor has stopped. The reasons: docs/design/watch.md.
 *
 * A watch is one envelope, a WATCH that goes to the target's worker and is kept there. When the
 * target has ended, it goes back as the signal; so an end needs no memory. When the watcher has
 * enough of it, an UNWATCH follows on the same way, by which it is found again and given back; that
 * envelope is put by when the watch begins, so that this needs no memory either.
 *
 * A door is closed when its tenant is Stopped and all that it had is released, not before. So a
 * WATCH that is refused was for somebody who is gone, and is the signal at once. One that reaches the
 * next tenant of the slot is sent back by that one's worker.
 *
 * A watcher looks at a signal when its turn comes: it counts only when the envelope is that of the
 * watch. What is left of an earlier one is dropped as if it had never been sent.
 */
#ifndef ACTOR_LIFE_WATCHERS_H
#define ACTOR_LIFE_WATCHERS_H

#include "actor/mail/mail.h"

struct tr_client;

/** A WATCH or UNWATCH has arrived; takes it. Owner only. */
void tr__watch_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);

/** A signal's turn has come: false when nobody waits for it any more; then it is taken. Owner only. */
bool tr__watch_admit(struct worker *worker, struct cell *cell, struct envelope *envelope);

/** A watcher ends: it watches nobody any more. Owner only. */
void tr__watches_drop(struct worker *worker, struct cell *cell);

/** As watchers_tell, when there is somebody. */
void tr__watchers_tell(struct worker *worker, struct cell *cell);

/** An actor is Stopped, its door closed: those who watch it hear of it. Owner only. */
static inline void watchers_tell(struct worker *worker, struct cell *cell)
{
    if (worker->life.watched.count)
        tr__watchers_tell(worker, cell);
}

/**
 * An actor leaves this worker: its watches go along, and those of who watches it. False when out of
 * memory; then nothing has changed. Owner only.
 */
bool tr__watches_pack(struct worker *worker, struct cell *cell);
/** It has arrived, or has stayed. Owner only. */
void tr__watches_unpack(struct worker *worker, struct cell *cell);

/* ---- The same of a client, on its thread. ---- */

/** A WATCH or UNWATCH has arrived; takes it. */
void tr__client_watch_mail(struct tr_client *client, struct envelope *envelope);
/** Whether a signal that waits is still wanted. */
bool tr__client_watch_is_open(struct tr_client *client, struct envelope *envelope);
/** A signal is given out. */
void tr__client_watch_over(struct tr_client *client, struct envelope *envelope);
/** A client is freed: its door is closed. */
void tr__client_watch_end(struct tr_client *client);

#endif
