/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A rehearsal: each stored actor is loaded with the code of this program, with its migrations and events, and does not
 * start. No handler of the application runs.
 */
#ifndef DURABLE_REHEARSAL_H
#define DURABLE_REHEARSAL_H

#include <troupe/behavior.h>
#include <troupe/message.h>
#include <troupe/status.h>

struct durable_actor;
struct tr_self;

/** What the host loads now. */
struct rehearsal {
    const char *kind;
    tr_bytes key;
    bool is_over;
    tr_status status; /* TR_OK: it can be loaded */
    char text[256];
};

/** The state of an actor was loaded, or not: `next`. Notes it, and returns what keeps the actor from starting. */
tr_next tr__rehearsal_note(struct tr_self *self, const struct durable_actor *actor, tr_next next);

#endif
