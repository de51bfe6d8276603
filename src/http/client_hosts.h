/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Hosts and connections of the client of HTTP. A host stands for one way to reach a server: scheme,
 * name, port, and the options of TLS. The record of a host exists while there are connections to
 * the host, or turns that wait for one. A connection of HTTP/1.1 is either idle, and in a list of
 * its host, or it belongs to a turn or to a stream. A connection of HTTP/2 belongs to its host, and
 * several calls share it (http/h2_client.h). All records are in memory of the client's actor, so
 * they are freed when that actor ends.
 *
 * Until it is known that a host uses HTTP/1.1, only one turn at a time connects to the host. The
 * other turns wait, because with HTTP/2 they can share that connection.
 *
 * Rules
 *     1. When a connection becomes free, the first waiting turn is woken. It stays first in the
 *        line until it runs. When it takes or opens a connection, it wakes the next turn. That turn
 *        looks for a connection too. If there is none for it, it waits again in its old place.
 *        Owner only.
 */
#ifndef HTTP_CLIENT_HOSTS_H
#define HTTP_CLIENT_HOSTS_H

#include <troupe/net.h>

#include "net/channel.h"

enum { HTTP_HOST_BUCKETS = 64 };

struct http_host {
    struct http_host *next;    /* next host in the same bucket */
    struct channel_waits line; /* turns that wait for a connection */
    uint32_t waiting;
    uint32_t open;            /* number of connections, also of those that a turn is opening now */
    struct http_conn *idle;   /* list of idle connections; the most recently used one is first */
    struct http_conn *shared; /* of HTTP/2 */
    bool is_dialed;           /* a turn is opening a connection that may use HTTP/2 */
    bool speaks_1;            /* the connection that was opened last uses HTTP/1.1 */
    char key[];
};

struct http_conn {
    struct http_conn *next; /* next connection in the list `idle` or `shared` of the host */
    struct http_host *host;
    tr_channel channel;
    tr_time due_ns;       /* when the connection ends if it is still idle */
    bool is_kept;         /* the connection has carried an answer already */
    struct h2_client *h2; /* NULL: HTTP/1.1 */
    uint32_t users;       /* number of calls of HTTP/2 on the connection */
    /* the connection takes no more calls, and is not counted in http_host.open any more */
    bool has_left;
};

struct http_hosts {
    struct http_host *buckets[HTTP_HOST_BUCKETS];
};

/** What kind of connection a turn needs. */
struct http_wish {
    const char *key; /* the host: a text of everything that decides which connections can be used */
    tr_endpoint to;  /* the endpoint to connect to, with its options */
    tr_time deadline_ns;
    uint32_t connections_max;
    uint32_t waiting_max;
    bool is_new;    /* the turn needs a new connection, not a kept one */
    bool offers_2;  /* HTTP/2 is allowed */
    bool demands_2; /* only HTTP/2 is allowed */
};

/**
 * Takes a connection: a shared one of HTTP/2, an idle one, or a new one. If there is none and no
 * more may be opened, waits. TR_LIMIT: too many turns wait. TR_TIMEOUT, TR_CANCELLED, TR_NO_MEMORY,
 * or why the connection cannot be opened. Only in a turn that may wait.
 */
TR_MUST_CHECK tr_status tr__http_conn_take(struct tr_self *self, struct http_hosts *hosts,
                                           const struct http_wish *wish, struct http_conn **taken);
/** Keeps a connection for the next turn, until due_ns. */
void tr__http_conn_keep(struct tr_self *self, struct http_conn *conn, tr_time due_ns);
/**
 * Ends a call on a connection of HTTP/2. If that was the last call, the connection is idle, and is kept until due_ns.
 */
void tr__http_conn_return(struct http_conn *conn, tr_time due_ns, bool is_answered);
/**
 * Notes that a connection of HTTP/2 takes no more calls, so that another connection may be opened.
 */
void tr__http_conn_leave(struct http_conn *conn);
/**
 * Ends a connection, in order or by a reset, and frees it. Also frees the record of its host, if
 * the host has no other connection and no waiting turn.
 */
void tr__http_conn_end(struct tr_self *self, struct http_hosts *hosts, struct http_conn *conn,
                       bool resets);
/**
 * Call when a channel of the client has closed. If the connection of this channel is idle or
 * shared, ends the connection.
 */
void tr__http_hosts_closed(struct tr_self *self, struct http_hosts *hosts, tr_channel channel);
/**
 * Ends the idle connections whose time is over. Returns when the next one must end, or TR_NEVER.
 */
tr_time tr__http_hosts_sweep(struct tr_self *self, struct http_hosts *hosts, tr_time now_ns);

#endif
