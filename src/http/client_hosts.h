/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Hosts and connections of the client of HTTP. A host is a way to a server: scheme, name, port, and
 * the options of TLS. It is there while it has connections, or turns that wait for one. A
 * connection of HTTP/1.1 is idle and kept by its host, or belongs to a turn or a stream. One of
 * HTTP/2 belongs to its host, and has users (http/h2_client.h). Memory comes from the heap of the
 * client, so the end of the client frees all.
 *
 * Until a host is known to speak HTTP/1.1, one turn at a time connects to it, and the others wait: they may share what it
 * opens.
 *
 * Rules
 *     1. What becomes free wakes the first turn that waits, which stays first until it runs. So a
 *        turn that takes or opens a connection wakes the next turn. The next turn also looks for a
 *        connection, and if there is none for it, it waits again in its old place.
 * Owner only.
 */
#ifndef HTTP_CLIENT_HOSTS_H
#define HTTP_CLIENT_HOSTS_H

#include <troupe/net.h>

#include "net/channel.h"

enum { HTTP_HOST_BUCKETS = 64 };

struct http_host {
    struct http_host *next;    /* next host in its bucket */
    struct channel_waits line; /* turns that wait for a connection */
    uint32_t waiting;
    uint32_t open;            /* how many connections, also those that are being opened */
    struct http_conn *idle;   /* the most recently used connection is first */
    struct http_conn *shared; /* of HTTP/2 */
    bool is_dialed;           /* a turn is connecting, and may get HTTP/2 */
    bool speaks_1;            /* the last connection was one of HTTP/1.1 */
    char key[];
};

struct http_conn {
    struct http_conn *next; /* next idle or shared connection of the host */
    struct http_host *host;
    tr_channel channel;
    tr_time due_ns;       /* when it ends, if it is idle */
    bool is_kept;         /* it has carried an answer before */
    struct h2_client *h2; /* NULL: HTTP/1.1 */
    uint32_t users;       /* how many calls of HTTP/2 use it */
    bool has_left;        /* it takes no more calls, and does not count as open */
};

struct http_hosts {
    struct http_host *buckets[HTTP_HOST_BUCKETS];
};

/** What a turn wants of a connection. */
struct http_wish {
    const char *key; /* text that identifies this way to a server */
    tr_endpoint to;  /* how to connect */
    tr_time deadline_ns;
    uint32_t connections_max;
    uint32_t waiting_max;
    bool is_new;    /* do not use a kept connection */
    bool offers_2;  /* HTTP/2 is allowed */
    bool demands_2; /* only HTTP/2 is allowed */
};

/**
 * Takes an idle connection, opens one, or waits for one. TR_LIMIT: too many wait. TR_TIMEOUT, TR_CANCELLED, TR_NO_MEMORY, or
 * why it cannot be opened. In a turn that may wait.
 */
TR_MUST_CHECK tr_status tr__http_conn_take(struct tr_self *self, struct http_hosts *hosts,
                                           const struct http_wish *wish, struct http_conn **taken);
/** Keeps a connection for the next turn, until due_ns. */
void tr__http_conn_keep(struct tr_self *self, struct http_conn *conn, tr_time due_ns);
/** Ends a call on a connection of HTTP/2. The connection is kept until due_ns if it has no other calls. */
void tr__http_conn_return(struct http_conn *conn, tr_time due_ns, bool is_answered);
/** Marks a connection of HTTP/2 that takes no further calls, so that another may be opened. */
void tr__http_conn_leave(struct http_conn *conn);
/** Ends a connection: in order, or by a reset. Frees it, and its host if that has nothing else. */
void tr__http_conn_end(struct tr_self *self, struct http_hosts *hosts, struct http_conn *conn,
                       bool resets);
/** Ends the idle or shared connection of this channel, if there is one. */
void tr__http_hosts_closed(struct tr_self *self, struct http_hosts *hosts, tr_channel channel);
/** Ends the idle connections whose time is over. Returns when the next one is due; TR_NEVER: none. */
tr_time tr__http_hosts_sweep(struct tr_self *self, struct http_hosts *hosts, tr_time now_ns);

#endif
