/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Hosts and connections of the client of HTTP. A host is a way to a server: scheme, name, port, and the options of TLS. It
 * is there while it has connections, or turns that wait for one. A connection of HTTP/1.1 is idle and kept by its host, or
 * belongs to a turn or a stream. One of HTTP/2 belongs to its host, and has users (http/h2_client.h). Memory is that of the
 * client, so its end frees all.
 *
 * Until a host is known to speak HTTP/1.1, one turn at a time connects to it, and the others wait: they may share what it
 * opens.
 *
 * Rules
 *     1. What becomes free wakes the first turn that waits, which stays first until it runs. So a turn that takes or opens
 *        a connection wakes the next one, which looks too, and waits again in its place if there is nothing for it.
 * Owner only.
 */
#ifndef HTTP_CLIENT_HOSTS_H
#define HTTP_CLIENT_HOSTS_H

#include <troupe/net.h>

#include "net/channel.h"

enum { HTTP_HOST_BUCKETS = 64 };

struct http_host {
    struct http_host *next;    /* in its bucket */
    struct channel_waits line; /* turns that wait for a connection */
    uint32_t waiting;
    uint32_t open;            /* connections, with those that are being opened */
    struct http_conn *idle;   /* the one that was used last is first */
    struct http_conn *shared; /* of HTTP/2 */
    bool is_dialed;           /* a turn connects that may get HTTP/2 */
    bool speaks_1;            /* the last connection was one of HTTP/1.1 */
    char key[];
};

struct http_conn {
    struct http_conn *next; /* of idle ones, or of shared ones */
    struct http_host *host;
    tr_channel channel;
    tr_time due_ns;       /* of an idle one: when it ends */
    bool is_kept;         /* it has carried an answer before */
    struct h2_client *h2; /* NULL: HTTP/1.1 */
    uint32_t users;       /* calls of HTTP/2 */
    bool has_left;        /* it takes no more, and does not count as open */
};

struct http_hosts {
    struct http_host *buckets[HTTP_HOST_BUCKETS];
};

/** What a turn wants of a connection. */
struct http_wish {
    const char *key; /* what tells this way to a server from others */
    tr_endpoint to;  /* how to connect */
    tr_time deadline_ns;
    uint32_t connections_max;
    uint32_t waiting_max;
    bool is_new;    /* a kept one is not wanted */
    bool offers_2;  /* HTTP/2 may be spoken, */
    bool demands_2; /* and nothing else */
};

/**
 * Takes an idle connection, opens one, or waits for one. TR_LIMIT: too many wait. TR_TIMEOUT, TR_CANCELLED, TR_NO_MEMORY, or
 * why it cannot be opened. In a turn that may wait.
 */
TR_MUST_CHECK tr_status tr__http_conn_take(struct tr_self *self, struct http_hosts *hosts,
                                           const struct http_wish *wish, struct http_conn **taken);
/** Keeps a connection for the next turn, until due_ns. */
void tr__http_conn_keep(struct tr_self *self, struct http_conn *conn, tr_time due_ns);
/** Gives back a place on a connection of HTTP/2, which is kept until due_ns without users. */
void tr__http_conn_return(struct http_conn *conn, tr_time due_ns, bool is_answered);
/** A connection of HTTP/2 takes no further calls: another may be opened. */
void tr__http_conn_leave(struct http_conn *conn);
/** Ends a connection: in order, or by a reset. Frees it, and its host if that was all. */
void tr__http_conn_end(struct tr_self *self, struct http_hosts *hosts, struct http_conn *conn,
                       bool resets);
/** Ends the idle or shared connection of this channel, if there is one. */
void tr__http_hosts_closed(struct tr_self *self, struct http_hosts *hosts, tr_channel channel);
/** Ends the idle connections whose time is over. Returns when the next one is due; TR_NEVER: none. */
tr_time tr__http_hosts_sweep(struct tr_self *self, struct http_hosts *hosts, tr_time now_ns);

#endif
