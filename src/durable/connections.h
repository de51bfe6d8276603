/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Connections of a durable actor. A gateway connects browsers and other clients to the actor.
 *
 * The socket of a connection belongs to a session, which is an actor of the gateway on any worker. The session keeps
 * the socket while the durable actor sleeps. For each connection the durable actor has a record in memory, and a row in
 * its store (durable/connection_row.h).
 *
 * 1. A connection begins with a tr_durable_connect of its session. Its row is stored with the first part of the turn of
 *    tr_connected. So if that turn has stored anything, a tr_disconnected will follow. The row says that tr_connected
 *    has begun, until the last part of that turn is stored.
 * 2. A connection ends with a tr_durable_disconnect. Its row is removed with the last part of the turn of
 *    tr_disconnected. So if a crash comes before that, the handler of tr_disconnected runs again.
 * 3. The row of an earlier process belongs to a connection that is lost. Its tr_disconnected comes in the first turn of
 *    the next generation, before other mail. If the row says that tr_connected had only begun, the handler of
 *    tr_connected runs again before that, and may refuse the connection. If this second run fails, it is not repeated
 *    in the same process, so that the actor can wake.
 * 4. An event for a connection is a message to its session, and waits for the commit in the outbox as all messages do.
 *    An event that is sent while the handler of tr_connected runs waits, too, until the session has its reply.
 * 5. If a turn fails, the generation ends, and the next generation reads the rows. So the records in memory need no
 *    undo.
 *
 * Owner only.
 */
#ifndef DURABLE_CONNECTIONS_H
#define DURABLE_CONNECTIONS_H

#include <troupe/message.h>

#include "durable/actor.h"

struct store_row;

/** The close code of WebSocket for a connection that has ended without a close frame. */
enum { CONNECTION_LOST = 1006 };

/**
 * tr_durable_connect asks a durable actor to take a channel of the sender as a connection. tr_durable_connection is the
 * reply.
 */
TR_MESSAGE(tr_durable_connection, (u64, number), (u64, event), (bool, has_gap));
TR_REQUEST(tr_durable_connect, tr_durable_connection, (u64, channel), (str, caller), (str, query),
           (bool, has_last), (u64, last));
/**
 * A message to a durable actor: this connection has ended. If the reply to its tr_durable_connect
 * came too late, the sender does not know the number. It then sends session and channel instead.
 */
TR_MESSAGE(tr_durable_disconnect, (u64, number), (i32, code), (u64, session), (u64, channel));

/** An event for a connection whose session did not get its reply yet. */
struct connection_event {
    struct list link;
    uint64_t number;
    tr_buffer *text;
};

struct connection {
    struct list link; /* link in connections.all */
    /* A wake lock of the counter HIBERNATING, which does not keep the actor awake. */
    struct wake_lock wake_lock;
    /* while is_opening: list of struct connection_event, which are sent after the reply */
    struct list early;
    uint64_t number;
    uint64_t session;
    uint64_t channel;
    bool is_opening;  /* the session did not get its reply yet */
    bool is_lost;     /* the connection has ended, or belonged to an earlier process */
    bool is_unwanted; /* the session has ended while is_opening was true */
    /* The epoch of the process in which tr_connected began last. 0: tr_connected has ended. */
    uint64_t begun;
    char *query;  /* query of tr_connected, while `begun` is not 0; NULL: none */
    char *caller; /* NULL: nobody */
    char *type;   /* type of the message that is kept with the connection; NULL: no message */
    unsigned char *kept;
    size_t kept_size;
};

/** The connections of an actor. They are allocated when the actor first needs them. */
struct connections {
    struct list all; /* list of struct connection, oldest first */
    size_t count;
    size_t lost_count;
    uint64_t last;        /* highest number that any connection of the actor has had */
    uint64_t event_first; /* number of the oldest stored event; 0: none */
    uint64_t event_last;  /* number of the newest event; 0: there was none */
};

/** Returns the connections of an actor. Returns NULL if there is no memory. */
struct connections *tr__connections_of(struct worker *worker, struct durable_actor *actor);
/** Finds a connection. Returns NULL if the actor has no such connection. */
struct connection *tr__connection_find(const struct durable_actor *actor, uint64_t number);
/**
 * Finds the caller and the connection of a request, for the turn that handles the request. If the
 * request came over a connection and has an id, puts the caller in front of the id. Fails with
 * TR_CLOSED if the connection is gone, TR_TOO_LARGE, TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__connection_call(struct tr_self *self, const struct durable_actor *actor,
                                            const struct tr_durable_once *once,
                                            struct durable_call *call, tr_bytes *id);
/** Puts the row of a connection into the open commit. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__connection_put(struct durable_actor *actor,
                                           const struct connection *connection);

/** Takes a row of the store into the connections. Sets *is_other if the row is neither a connection nor an event. */
TR_MUST_CHECK tr_status tr__connections_load(struct worker *worker, struct durable_actor *actor,
                                             const struct store_row *row, bool *is_other);
/** Frees the records of all connections when the generation ends. Does not change the store. */
void tr__connections_drop(struct worker *worker, struct durable_actor *actor);
/** Whether connections of an earlier process still wait for their tr_disconnected. */
static inline bool connections_are_lost(const struct durable_actor *actor)
{
    return actor->connections && actor->connections->lost_count;
}
/**
 * Calls the handler of tr_disconnected for each connection of an earlier process, in the turn that
 * begins a generation. If an earlier process has ended while it handled the tr_connected of a
 * connection, calls the handler of tr_connected first. Returns what the last call returned.
 */
tr_next tr__connections_bury(struct tr_self *self, struct tr_self *verb,
                             struct durable_actor *actor, void *state);
/**
 * Implements durable_hooks.on_refuse. Returns true if the turn runs a tr_connected again, which may
 * refuse the connection.
 */
bool tr__connection_refused(struct tr_self *self);
/**
 * If the actor is being destroyed, closes its connections as soon as all commits are on disk and
 * their messages have left. Call whenever a commit has ended.
 */
void tr__connections_settle(struct worker *worker, struct durable_actor *actor);

/** Handles tr_durable_connect. */
tr_next tr__durable_connect(tr_self *self, void *state, const void *message);
/** Handles tr_durable_disconnect. */
tr_next tr__durable_disconnect(tr_self *self, void *state, const void *message);

/** Sends an event to a connection. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__connection_send(struct tr_self *self, struct connection *connection,
                                            uint64_t number, tr_buffer *text);

#endif
