/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Connections of a durable actor: browsers and others that a gateway has connected to it.
 *
 * The socket belongs to a session, an actor of the gateway on any worker. It stays there while the durable actor sleeps.
 * The durable actor has a record of each connection, and a row in its store (durable/connection_row.h).
 *
 * 1. A connection begins with a tr_durable_connect of its session. Its row is stored with the first part of the turn of
 *    tr_connected, so no effect of that is left without its tr_disconnected.
 * 2. It ends with a tr_durable_disconnect. Its row is removed with the last part of the turn of tr_disconnected. So if a
 *    crash comes in between, that handler runs again.
 * 3. A row of an earlier process is that of a connection that is lost: its tr_disconnected comes in the first turn of
 *    the next generation, before other mail.
 * 4. What is sent to a connection is a message to its session, and waits for the commit in the outbox as all messages do.
 *    What is sent while its tr_connected is handled waits for the reply to the session.
 * 5. If a turn fails, the generation ends, and the next one reads the rows. So nothing here is taken back by hand.
 *
 * Owner only.
 */
#ifndef DURABLE_CONNECTIONS_H
#define DURABLE_CONNECTIONS_H

#include <troupe/message.h>

#include "durable/actor.h"

struct store_row;

/** To a durable actor: this channel of the sender wants to be a connection. */
TR_MESSAGE(tr_durable_connection, (u64, number), (u64, event), (bool, has_gap));
TR_REQUEST(tr_durable_connect, tr_durable_connection, (u64, channel), (str, caller), (str, query),
           (bool, has_last), (u64, last));
/**
 * To a durable actor: this connection has ended. A sender that does not know its number, because the reply to its
 * tr_durable_connect came too late, names its session and channel.
 */
TR_MESSAGE(tr_durable_disconnect, (u64, number), (i32, code), (u64, session), (u64, channel));

/** An event for a connection that has no reply yet. */
struct connection_event {
    struct list link;
    uint64_t number;
    tr_buffer *text;
};

struct connection {
    struct list link;           /* in connections.all */
    struct wake_lock wake_lock; /* counts as HIBERNATING */
    struct list early;          /* of struct connection_event, while it is_opening */
    uint64_t number;
    uint64_t session;
    uint64_t channel;
    bool is_opening;  /* the session has no reply yet */
    bool is_lost;     /* it was in an earlier process */
    bool is_unwanted; /* its session has ended while it is_opening */
    char *caller;     /* NULL: nobody */
    char *type;       /* name of what is kept; NULL: nothing */
    unsigned char *kept;
    size_t kept_size;
};

/** Made at the first need. */
struct connections {
    struct list all; /* of struct connection, the oldest first */
    size_t count;
    size_t lost_count;
    uint64_t last;        /* number of the last one so far */
    uint64_t event_first; /* the oldest event that is stored; 0: none */
    uint64_t event_last;  /* 0: there was none */
};

/** Returns the connections of an actor; NULL: out of memory. */
struct connections *tr__connections_of(struct worker *worker, struct durable_actor *actor);
/** Finds a connection; NULL: it is none of this actor. */
struct connection *tr__connection_find(const struct durable_actor *actor, uint64_t number);
/**
 * Finds where a request came from, for the turn that handles it, and its id, with the caller of the connection in front.
 * TR_CLOSED: from a connection that is gone. TR_TOO_LARGE, TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__connection_call(struct tr_self *self, const struct durable_actor *actor,
                                            const struct tr_durable_once *once,
                                            struct durable_call *call, tr_bytes *id);
/** Puts the row of a connection into the open commit. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__connection_put(struct durable_actor *actor,
                                           const struct connection *connection);

/** Takes a row of the store. *is_other: it is neither of a connection nor an event. */
TR_MUST_CHECK tr_status tr__connections_load(struct worker *worker, struct durable_actor *actor,
                                             const struct store_row *row, bool *is_other);
/** Forgets all: the generation ends. Nothing is stored. */
void tr__connections_drop(struct worker *worker, struct durable_actor *actor);
/** Whether connections of an earlier process wait for their tr_disconnected. */
static inline bool connections_are_lost(const struct durable_actor *actor)
{
    return actor->connections && actor->connections->lost_count;
}
/** Calls the handler of tr_disconnected for those, in the turn that begins a generation. Returns what the last one returned. */
tr_next tr__connections_bury(struct tr_self *self, struct tr_self *verb,
                             struct durable_actor *actor, void *state);
/**
 * If the actor is to be destroyed, closes its connections as soon as all that it has sent to them has left. Called when
 * that may be so.
 */
void tr__connections_settle(struct worker *worker, struct durable_actor *actor);

/** Handles tr_durable_connect. */
tr_next tr__durable_connect(tr_self *self, void *state, const void *message);
/** Handles tr_durable_disconnect. */
tr_next tr__durable_disconnect(tr_self *self, void *state, const void *message);

/** Sends an event to a connection. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__connection_send(struct tr_self *self, struct connection *connection,
                                            uint64_t number, tr_buffer *text);

/**
 * Sends a durable actor the end of a connection, and wakes it if it sleeps. Without memory the actor finds out when it
 * next sends an event. On a worker.
 */
void tr__connection_gone(struct worker *worker, const tr_durable_kind *kind, tr_bytes key,
                         uint64_t number, int code);
/** As tr__connection_gone, for one that was asked for, and whose reply did not come: the actor may have taken it. */
void tr__connection_unwanted(struct worker *worker, const tr_durable_kind *kind, tr_bytes key,
                             uint64_t session, uint64_t channel);

#endif
