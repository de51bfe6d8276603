/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Connections of a durable actor: browsers and others that a gateway has connected to it.
 *
 * The socket belongs to a session, an actor of the gateway on any worker. The socket stays there
 * while the durable actor sleeps. The durable actor has a record of each connection, and a row in
 * its store (durable/connection_row.h).
 *
 * 1. A connection begins with a tr_durable_connect of its session. Its row is stored with the first
 *    part of the turn of tr_connected. So if that turn has stored anything, a tr_disconnected will
 *    follow. The row says that tr_connected has begun, until the last part of that turn is stored.
 * 2. It ends with a tr_durable_disconnect. Its row is removed with the last part of the turn of
 *    tr_disconnected. So after a crash in between, the handler of tr_disconnected runs again.
 * 3. The row of an earlier process belongs to a connection that is lost: its tr_disconnected comes
 *    in the first turn of the next generation, before other mail. If the row says that tr_connected
 *    had only begun, the handler of tr_connected runs again before that, and may refuse. A second run
 *    that fails is not repeated in the same process, so that the actor can wake.
 * 4. An event for a connection is a message to its session, and waits for the commit in the outbox
 *    as all messages do. An event that is sent while tr_connected is handled also waits until the
 *    session has its reply.
 * 5. If a turn fails, the generation ends, and the next one reads the rows. So nothing here has to
 *    be undone.
 *
 * Owner only.
 */
#ifndef DURABLE_CONNECTIONS_H
#define DURABLE_CONNECTIONS_H

#include <troupe/message.h>

#include "durable/actor.h"

struct store_row;

/** WebSocket: the connection has ended without a close frame. */
enum { CONNECTION_LOST = 1006 };

/**
 * tr_durable_connect asks a durable actor to take a channel of the sender as a connection. tr_durable_connection is the
 * reply.
 */
TR_MESSAGE(tr_durable_connection, (u64, number), (u64, event), (bool, has_gap));
TR_REQUEST(tr_durable_connect, tr_durable_connection, (u64, channel), (str, caller), (str, query),
           (bool, has_last), (u64, last));
/**
 * To a durable actor: this connection has ended. A sender that does not know its number, because
 * the reply to its tr_durable_connect came too late, sends session and channel instead.
 */
TR_MESSAGE(tr_durable_disconnect, (u64, number), (i32, code), (u64, session), (u64, channel));

/** An event for a connection whose session has no reply yet. */
struct connection_event {
    struct list link;
    uint64_t number;
    tr_buffer *text;
};

struct connection {
    struct list link; /* link in connections.all */
    /* wake lock of the counter HIBERNATING, which lets the actor sleep */
    struct wake_lock wake_lock;
    struct list early; /* list of struct connection_event; used while is_opening */
    uint64_t number;
    uint64_t session;
    uint64_t channel;
    bool is_opening;  /* the session has no reply yet */
    bool is_lost;     /* the connection has ended, or belonged to an earlier process */
    bool is_unwanted; /* the session has ended while is_opening */
    /* number of the process in which tr_connected has begun last; 0: tr_connected has ended */
    uint64_t begun;
    char *query;  /* of tr_connected, if `begun` is set; NULL: none */
    char *caller; /* NULL: nobody */
    char *type;   /* type of the message that is kept with the connection; NULL: no message */
    unsigned char *kept;
    size_t kept_size;
};

/** The connections of an actor, allocated when the first one is needed. */
struct connections {
    struct list all; /* list of struct connection, oldest first */
    size_t count;
    size_t lost_count;
    uint64_t last;        /* highest number that any connection of the actor has had */
    uint64_t event_first; /* number of the oldest stored event; 0: none */
    uint64_t event_last;  /* number of the last event; 0: there was none */
};

/** Returns the connections of an actor; NULL: out of memory. */
struct connections *tr__connections_of(struct worker *worker, struct durable_actor *actor);
/** Finds a connection; NULL: the actor has no such connection. */
struct connection *tr__connection_find(const struct durable_actor *actor, uint64_t number);
/**
 * Finds the caller and the connection of a request, for the turn that handles it. Puts the caller
 * in front of the request's id. Fails with TR_CLOSED if the connection is gone, TR_TOO_LARGE,
 * TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__connection_call(struct tr_self *self, const struct durable_actor *actor,
                                            const struct tr_durable_once *once,
                                            struct durable_call *call, tr_bytes *id);
/** Puts the row of a connection into the open commit. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__connection_put(struct durable_actor *actor,
                                           const struct connection *connection);

/** Reads a row of the store into the connections. Sets *is_other if the row is neither a connection nor an event. */
TR_MUST_CHECK tr_status tr__connections_load(struct worker *worker, struct durable_actor *actor,
                                             const struct store_row *row, bool *is_other);
/** Frees the records of all connections when the generation ends. The store stays as it is. */
void tr__connections_drop(struct worker *worker, struct durable_actor *actor);
/** Whether connections of an earlier process wait for their tr_disconnected. */
static inline bool connections_are_lost(const struct durable_actor *actor)
{
    return actor->connections && actor->connections->lost_count;
}
/**
 * Calls the handler of tr_disconnected for each connection of an earlier process, in the turn that
 * begins a generation. Calls the handler of tr_connected before that, if the end of its process has
 * interrupted the handler. Returns what the last call returned.
 */
tr_next tr__connections_bury(struct tr_self *self, struct tr_self *verb,
                             struct durable_actor *actor, void *state);
/** Implements durable_hooks.on_refuse: a tr_connected that runs again may refuse. */
bool tr__connection_refused(struct tr_self *self);
/**
 * If the actor is to be destroyed, closes its connections once all commits are on disk and their
 * messages have left. Call whenever a commit has ended.
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
