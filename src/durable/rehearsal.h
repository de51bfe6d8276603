/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A rehearsal. It loads each stored actor with the code of this program, including migrations and
 * events, but does not start the actor. No handler of the application runs.
 */
#ifndef DURABLE_REHEARSAL_H
#define DURABLE_REHEARSAL_H

#include <troupe/behavior.h>
#include <troupe/message.h>
#include <troupe/status.h>

struct durable_actor;
struct tr_self;

/** The actor that a rehearsal is loading, and the result. */
struct rehearsal {
    const char *kind;
    tr_bytes key;
    bool is_over;
    tr_status status; /* TR_OK: the actor can be loaded */
    char text[256];
};

/**
 * Notes whether the state of an actor could be loaded, as `next` says. Returns a result that stops
 * the actor before it starts.
 */
tr_next tr__rehearsal_note(struct tr_self *self, const struct durable_actor *actor, tr_next next);

#endif
