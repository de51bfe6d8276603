/* SPDX-License-Identifier: Apache-2.0 */
#include "http/client_hosts.h"

#include <string.h>

#include "actor/turn/park.h"
#include "http/h2_client.h"
#include "net/dial.h"
#include "net/input.h"
#include "net/wait.h"
#include "base/assert.h"

static struct http_host **place_of(struct http_hosts *hosts, const char *key)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char *byte = key; *byte; byte++)
        hash = (hash ^ (unsigned char)*byte) * 16777619u;
    struct http_host **at = &hosts->buckets[hash % HTTP_HOST_BUCKETS];
    while (*at && strcmp((*at)->key, key) != 0)
        at = &(*at)->next;
    return at;
}

/* Finds the record of a host, or makes it. Returns NULL if there is no memory. */
static struct http_host *host_of(struct tr_self *self, struct http_hosts *hosts, const char *key)
{
    struct http_host **at = place_of(hosts, key);
    if (*at)
        return *at;
    size_t size = strlen(key) + 1;
    struct http_host *host = tr_try_alloc(self, sizeof *host + size);
    if (!host)
        return NULL;
    *host = (struct http_host){.next = NULL};
    memcpy(host->key, key, size);
    *at = host;
    return host;
}

/* If a host has no connections and no waiting turns any more, frees its record. */
static void host_look(struct tr_self *self, struct http_hosts *hosts, struct http_host *host)
{
    if (host->open || host->waiting || host->shared)
        return;
    struct http_host **at = place_of(hosts, host->key);
    *at = host->next;
    tr_free(self, host);
}

/*
 * Whether an idle connection can still be used: it is open, and the server has sent nothing on it.
 */
static bool is_fresh(struct tr_self *self, const struct http_conn *conn)
{
    static const struct cutter some = {.how = CUT_SOME, .size = 1};
    struct channel *channel;
    tr_bytes piece;
    bool is_cut;
    if (tr__channel_of(self, conn->channel, &channel) != TR_OK || channel->state != CHANNEL_OPEN)
        return false;
    return tr__input_take(self, channel, &some, &piece, &is_cut) == TR_WOULD_BLOCK;
}

/* Takes the most recently used idle connection of a host out of the list. */
static struct http_conn *idle_pop(struct http_host *host)
{
    struct http_conn *conn = host->idle;
    host->idle = conn->next;
    conn->next = NULL;
    return conn;
}

/*
 * Finds a connection of HTTP/2 that can carry one more call. Returns NULL if there is no such
 * connection.
 */
static struct http_conn *shared_find(const struct http_host *host)
{
    struct http_conn *conn = host->shared;
    while (conn && !tr__h2_client_has_place(conn->h2, conn->users))
        conn = conn->next;
    return conn;
}

/* Notes which version of HTTP both sides of a new connection have agreed on. TR_NOT_SUPPORTED: the
 * request demands another version. */
static tr_status conn_agree(struct tr_self *self, struct http_conn *conn,
                            const struct http_wish *wish)
{
    struct channel *channel;
    tr_status status = tr__channel_of(self, conn->channel, &channel);
    if (status != TR_OK)
        return status;
    const char *agreed = tr__channel_protocol(channel);
    bool is_2 =
        wish->to.kind == TR_ENDPOINT_TLS ? agreed && strcmp(agreed, "h2") == 0 : wish->demands_2;
    conn->host->speaks_1 = !is_2;
    if (!is_2)
        return wish->demands_2 ? TR_NOT_SUPPORTED : TR_OK;
    status = tr__h2_client_begin(channel, conn);
    if (status != TR_OK)
        return status;
    conn->users = 1;
    conn->next = conn->host->shared;
    conn->host->shared = conn;
    return TR_OK;
}

/* Ends a connection. Call when it is in no list of its host. */
static void conn_close(struct tr_self *self, struct http_conn *conn, bool resets)
{
    struct channel *channel;
    if (conn->h2)
        tr__h2_client_forget(conn->h2);
    if (tr__channel_of(self, conn->channel, &channel) == TR_OK) {
        if (resets)
            tr_reset(self, conn->channel);
        else
            tr_close(self, conn->channel);
    }
    conn->host->open -= !conn->has_left;
    tr__waits_wake_one(&conn->host->line);
    tr_free(self, conn);
}

/*
 * Opens a connection. Call when the next turn in the line was woken: connecting takes long, and
 * meanwhile other turns may connect, too.
 */
static tr_status conn_open(struct tr_self *self, struct http_hosts *hosts, struct http_host *host,
                           const struct http_wish *wish, struct http_conn **opened)
{
    tr_time left_ns = wish->deadline_ns - clock_bound(&self->worker->clock);
    struct http_conn *conn = tr_try_alloc(self, sizeof *conn);
    tr_endpoint to = wish->to;
    if (!conn || left_ns <= 0) {
        tr_free(self, conn);
        host_look(self, hosts, host);
        return conn ? TR_TIMEOUT : TR_NO_MEMORY;
    }
    *conn = (struct http_conn){.host = host};
    to.connect_ns = left_ns < TR_CONNECT_NS ? left_ns : TR_CONNECT_NS;
    host->open++;
    host->is_dialed |= wish->offers_2;
    tr_status status = tr_try_connect(self, &to, &conn->channel);
    if (wish->offers_2)
        host->is_dialed = false;
    if (status == TR_OK && wish->offers_2)
        status = conn_agree(self, conn, wish);
    if (status == TR_OK) {
        /* a waiting turn may share this connection, or may open another one now */
        tr__waits_wake_one(&host->line);
        *opened = conn;
        return TR_OK;
    }
    conn_close(self, conn, true);
    host_look(self, hosts, host);
    return status;
}

/* Waits in the line of a host until a connection is free, or until one may be opened. */
static tr_status line_wait(struct tr_self *self, struct http_host *host, tr_time deadline_ns,
                           bool is_again)
{
    struct channel_wait wait = {.self = self};
    tr_status status = turn_may_park(self);
    if (status != TR_OK)
        return status;
    host->waiting++;
    tr__waits_add(&host->line, &wait, is_again);
    status = turn_park_at(self, deadline_ns, NULL);
    tr__waits_remove(&host->line, &wait);
    host->waiting--;
    if (status != TR_OK)
        /* this turn gives up; a wake may have been meant for it, so wake the next turn */
        tr__waits_wake_one(&host->line);
    return status;
}

/*
 * Returns how many connections of HTTP/2 take no more calls and still have calls that are not
 * answered.
 */
static uint32_t count_left(const struct http_host *host)
{
    uint32_t count = 0;
    for (const struct http_conn *conn = host->shared; conn; conn = conn->next)
        count += conn->has_left && conn->users;
    return count;
}

/*
 * Whether one more connection may be opened. A connection that got GOAWAY does not count, because
 * it only answers the calls that it has, and new calls need another connection. But including these
 * connections, a host never has more than twice as many connections as are allowed.
 */
static bool host_may_open(const struct http_host *host, const struct http_wish *wish)
{
    /* if another turn is connecting, this turn may share that connection, so it must wait */
    bool is_shareable = host->is_dialed && !host->speaks_1;
    return host->open < wish->connections_max && !is_shareable &&
           host->open + (uint64_t)count_left(host) < 2 * (uint64_t)wish->connections_max;
}

tr_status tr__http_conn_take(struct tr_self *self, struct http_hosts *hosts,
                             const struct http_wish *wish, struct http_conn **taken)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    bool is_again = false;
    for (;;) {
        struct http_host *host = host_of(self, hosts, wish->key);
        if (!host)
            return TR_NO_MEMORY;
        bool is_next = is_again || !host->waiting;
        bool may_open = host_may_open(host, wish);
        struct http_conn *shared = is_next ? shared_find(host) : NULL;
        if (is_next && (shared || host->idle || may_open))
            tr__waits_wake_one(&host->line); /* rule 1 */
        if (shared) {
            shared->users++;
            *taken = shared;
            return TR_OK;
        }
        while (is_next && host->idle && !(wish->is_new && may_open)) {
            struct http_conn *conn = idle_pop(host);
            if (!wish->is_new && is_fresh(self, conn)) {
                *taken = conn;
                return TR_OK;
            }
            host->waiting++; /* this keeps the record of the host from being freed */
            tr__http_conn_end(self, hosts, conn, false);
            host->waiting--;
            may_open = host_may_open(host, wish);
        }
        if (is_next && may_open)
            return conn_open(self, hosts, host, wish, taken);
        if (!is_again && host->waiting >= wish->waiting_max)
            return TR_LIMIT;
        tr_status status = line_wait(self, host, wish->deadline_ns, is_again);
        if (status != TR_OK) {
            host_look(self, hosts, host);
            return status;
        }
        is_again = true;
    }
}

void tr__http_conn_keep(struct tr_self *self, struct http_conn *conn, tr_time due_ns)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    (void)self;
    conn->is_kept = true;
    conn->due_ns = due_ns;
    conn->next = conn->host->idle;
    conn->host->idle = conn;
    tr__waits_wake_one(&conn->host->line);
}

void tr__http_conn_return(struct http_conn *conn, tr_time due_ns, bool is_answered)
{
    conn->users--;
    conn->is_kept |= is_answered;
    conn->due_ns = due_ns;
    tr__waits_wake_one(&conn->host->line);
}

void tr__http_conn_leave(struct http_conn *conn)
{
    if (conn->has_left)
        return;
    conn->has_left = true;
    conn->host->open--;
    tr__waits_wake_one(&conn->host->line);
}

void tr__http_conn_end(struct tr_self *self, struct http_hosts *hosts, struct http_conn *conn,
                       bool resets)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct http_host *host = conn->host;
    conn_close(self, conn, resets);
    host_look(self, hosts, host);
}

/* Removes a connection from the list `idle` or `shared` of its host, and ends the connection. */
static void idle_end(struct tr_self *self, struct http_hosts *hosts, struct http_conn **at)
{
    struct http_conn *conn = *at;
    *at = conn->next;
    tr__http_conn_end(self, hosts, conn, false);
}

/*
 * If the connection of this channel is in the list, ends the connection. Returns whether it was in
 * the list.
 */
static bool list_closed(struct tr_self *self, struct http_hosts *hosts, struct http_conn **at,
                        tr_channel channel)
{
    for (; *at; at = &(*at)->next) {
        if ((*at)->channel.bits == channel.bits) {
            idle_end(self, hosts, at);
            return true;
        }
    }
    return false;
}

void tr__http_hosts_closed(struct tr_self *self, struct http_hosts *hosts, tr_channel channel)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    for (size_t i = 0; i < HTTP_HOST_BUCKETS; i++) {
        for (struct http_host *host = hosts->buckets[i]; host; host = host->next) {
            if (list_closed(self, hosts, &host->idle, channel) ||
                list_closed(self, hosts, &host->shared, channel))
                return;
        }
    }
}

/* Ends the connections in a list whose time is over. Returns when the next one must end. */
static tr_time list_sweep(struct tr_self *self, struct http_hosts *hosts, struct http_conn **at,
                          tr_time now_ns)
{
    tr_time next_ns = TR_NEVER;
    while (*at) {
        tr_time due_ns = (*at)->users ? now_ns + TR_SECOND : (*at)->due_ns;
        if (due_ns <= now_ns) {
            idle_end(self, hosts, at);
            continue;
        }
        next_ns = due_ns < next_ns ? due_ns : next_ns;
        at = &(*at)->next;
    }
    return next_ns;
}

/*
 * Ends the connections of one host whose time is over. Returns when the next one must end. The
 * record of the host may be freed.
 */
static tr_time host_sweep(struct tr_self *self, struct http_hosts *hosts, struct http_host *host,
                          tr_time now_ns)
{
    host->waiting++; /* this keeps the record of the host from being freed */
    tr_time idle_ns = list_sweep(self, hosts, &host->idle, now_ns);
    tr_time shared_ns = list_sweep(self, hosts, &host->shared, now_ns);
    host->waiting--;
    host_look(self, hosts, host);
    return idle_ns < shared_ns ? idle_ns : shared_ns;
}

tr_time tr__http_hosts_sweep(struct tr_self *self, struct http_hosts *hosts, tr_time now_ns)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    tr_time next_ns = TR_NEVER;
    for (size_t i = 0; i < HTTP_HOST_BUCKETS; i++) {
        struct http_host *next;
        for (struct http_host *host = hosts->buckets[i]; host; host = next) {
            next = host->next;
            tr_time due_ns = host_sweep(self, hosts, host, now_ns);
            next_ns = due_ns < next_ns ? due_ns : next_ns;
        }
    }
    return next_ns;
}
