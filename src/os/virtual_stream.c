/* SPDX-License-Identifier: Apache-2.0 */
#include "os/virtual_stream.h"

#include "base/assert.h"
#include "os/virtual_flow.h"
#include "os/virtual_io.h"

#include <string.h>

struct connection;

struct end {
    struct virtual_socket socket; /* must be first */
    struct connection *connection;
    unsigned index;
    bool is_kept; /* the connection was reset, and the owner of this end must still close it */
    /* TR_WOULD_BLOCK: the end still connects; TR_OK: connected; TR_RESET; TR_CONNECT_REFUSED */
    tr_status status;
};

struct connection {
    struct end ends[2]; /* ends[0] is the end that has asked for the connection */
    struct virtual_flow flows[2];
    struct list queued; /* in listener.queue or listener.waiting */
    bool is_refused;
};

struct listener {
    struct virtual_socket socket; /* must be first */
    struct list queue;            /* connections that nobody has accepted, oldest first */
    struct list waiting;          /* connections that wait for a place in the queue */
    uint32_t queued;
    uint32_t backlog;
};

static struct end *end_of(const struct virtual_socket *socket)
{
    TR_ASSERT(socket->kind == VIRTUAL_STREAM);
    return (struct end *)(uintptr_t)socket;
}

static struct listener *listener_of(const struct virtual_socket *socket)
{
    TR_ASSERT(socket->kind == VIRTUAL_LISTENER);
    return (struct listener *)(uintptr_t)socket;
}

static struct virtual_flow *flow_out(const struct end *end)
{
    return &end->connection->flows[end->index];
}

static struct virtual_flow *flow_in(const struct end *end)
{
    return &end->connection->flows[1 - end->index];
}

/* Whether an end is closed. The flow to a closed end is closed, too. */
static bool end_is_closed(const struct end *end)
{
    return flow_in(end)->is_closed;
}

static void on_reset(struct virtual_net *net, struct virtual_transit *transit)
{
    struct virtual_flow *flow = LIST_OWNER(transit, struct virtual_flow, reset);
    struct end *end = end_of(flow->receiver);
    (void)net;
    if (flow->is_cut || flow->is_closed)
        return;
    end->status = TR_RESET;
    tr__virtual_flow_drop_sent(flow_out(end));
    tr__virtual_socket_report(&end->socket);
}

/* Handles the arrival of the answer to a request for a connection. */
static void on_answer(struct virtual_net *net, struct virtual_transit *transit)
{
    struct virtual_flow *flow = LIST_OWNER(transit, struct virtual_flow, opens);
    struct end *end = end_of(flow->receiver);
    (void)net;
    if (tr__virtual_flow_holds(flow, transit) || flow->is_closed)
        return;
    end->status = end->connection->is_refused ? TR_CONNECT_REFUSED : TR_OK;
    tr__virtual_socket_report(&end->socket);
}

static void connection_answer(struct connection *connection, bool is_refused)
{
    connection->is_refused = is_refused;
    connection->flows[0].is_closed = is_refused;
    connection->ends[1].status = is_refused ? TR_RESET : TR_OK;
    tr__virtual_flow_post(&connection->flows[1], &connection->flows[1].opens);
}

static void listener_take(struct listener *listener, struct connection *connection)
{
    list_push_last(&listener->queue, &connection->queued);
    if (listener->queued++ == 0)
        tr__virtual_socket_report(&listener->socket);
    connection_answer(connection, false);
}

static void on_request(struct virtual_net *net, struct virtual_transit *transit)
{
    struct virtual_flow *flow = LIST_OWNER(transit, struct virtual_flow, opens);
    struct connection *connection = end_of(flow->sender)->connection;
    if (tr__virtual_flow_holds(flow, transit))
        return;
    struct virtual_socket *found =
        tr__virtual_bound(net, VIRTUAL_LISTENER, &connection->ends[1].socket.local);
    if (!found) {
        connection_answer(connection, true);
        return;
    }
    struct listener *listener = listener_of(found);
    if (listener->queued < listener->backlog)
        listener_take(listener, connection);
    else
        list_push_last(&listener->waiting, &connection->queued);
}

static void connection_free(struct connection *connection)
{
    struct virtual_net *net = connection->ends[0].socket.net;
    tr__virtual_flow_deinit(&connection->flows[0]);
    tr__virtual_flow_deinit(&connection->flows[1]);
    list_remove(&connection->queued);
    tr__virtual_net_free(net, connection);
}

static struct connection *connection_new(struct virtual_net *net)
{
    struct connection *connection = tr__virtual_net_new(net, sizeof *connection);
    if (!connection)
        return NULL;
    memset(connection, 0, sizeof *connection);
    list_init(&connection->queued);
    for (unsigned i = 0; i < 2; i++) {
        struct end *end = &connection->ends[i];
        tr__virtual_socket_init(net, &end->socket, VIRTUAL_STREAM);
        end->connection = connection;
        end->index = i;
        end->status = TR_WOULD_BLOCK;
    }
    for (unsigned i = 0; i < 2; i++) {
        struct virtual_flow *flow = &connection->flows[i];
        tr__virtual_flow_init(flow,
                              &connection->ends[i].socket,
                              &connection->ends[1 - i].socket,
                              &connection->flows[1 - i]);
        flow->opens.arrive = i == 0 ? on_request : on_answer;
        flow->reset.arrive = on_reset;
    }
    connection->flows[0].is_closed = true;
    return connection;
}

tr_status tr__virtual_listen(struct virtual_net *net, const tr_socket_spec *spec, bool is_peer,
                             struct virtual_socket **made)
{
    struct virtual_place place;
    tr_status status = tr__virtual_place(&place, &spec->address, spec->path);
    if (status != TR_OK)
        return status;
    struct listener *listener = tr__virtual_net_new(net, sizeof *listener);
    if (!listener)
        return TR_NO_MEMORY;
    *listener = (struct listener){.backlog = spec->backlog ? spec->backlog : VIRTUAL_BACKLOG};
    tr__virtual_socket_init(net, &listener->socket, VIRTUAL_LISTENER);
    listener->socket.reuses_port = spec->reuses_port;
    listener->socket.only_v6 = spec->only_v6;
    list_init(&listener->queue);
    list_init(&listener->waiting);
    status = tr__virtual_bind(&listener->socket, &place);
    if (status != TR_OK) {
        tr__virtual_net_free(net, listener);
        return status;
    }
    tr__virtual_socket_number(&listener->socket, is_peer);
    *made = &listener->socket;
    return TR_OK;
}

/* Chooses the source address of a connection. */
static tr_status source_of(struct virtual_net *net, const tr_socket_spec *spec,
                           const struct virtual_place *to, struct virtual_place *from)
{
    *from = (struct virtual_place){.address = {.family = to->address.family}};
    if (to->address.family == TR_FAMILY_UNIX)
        return TR_OK;
    if (spec->source.family != TR_FAMILY_NONE && spec->source.family != to->address.family)
        return TR_ADDRESS_INVALID;
    if (spec->source.family != TR_FAMILY_NONE)
        from->address = spec->source;
    tr__virtual_place_loopback(from);
    if (!from->address.port)
        from->address.port = tr__virtual_free_port(net, VIRTUAL_LISTENER);
    return from->address.port ? TR_OK : TR_LIMIT;
}

tr_status tr__virtual_connect(struct virtual_net *net, const tr_socket_spec *spec, bool is_peer,
                              struct virtual_socket **made)
{
    struct virtual_place to;
    struct virtual_place from;
    tr_status status = tr__virtual_place(&to, &spec->address, spec->path);
    if (status == TR_OK)
        status = source_of(net, spec, &to, &from);
    if (status != TR_OK)
        return status;
    tr__virtual_place_loopback(&to);
    struct connection *connection = connection_new(net);
    if (!connection)
        return TR_NO_MEMORY;
    struct end *end = &connection->ends[0];
    end->socket.local = connection->ends[1].socket.remote = from;
    end->socket.remote = connection->ends[1].socket.local = to;
    tr__virtual_flow_post(&connection->flows[0], &connection->flows[0].opens);
    bool is_unix = to.address.family == TR_FAMILY_UNIX;
    if (is_unix && end->status == TR_CONNECT_REFUSED) {
        connection_free(connection);
        return TR_CONNECT_REFUSED;
    }
    tr__virtual_socket_number(&end->socket, is_peer);
    *made = &end->socket;
    /* on Linux, too, only a UNIX socket connects before connect returns */
    return is_unix ? end->status : TR_WOULD_BLOCK;
}

tr_status tr__virtual_pair(struct virtual_net *net, struct virtual_socket **ours,
                           struct virtual_socket **theirs)
{
    struct connection *connection = connection_new(net);
    if (!connection)
        return TR_NO_MEMORY;
    connection->flows[0].is_closed = false;
    for (unsigned i = 0; i < 2; i++) {
        struct end *end = &connection->ends[i];
        end->status = TR_OK;
        end->socket.local.address.family = end->socket.remote.address.family = TR_FAMILY_UNIX;
        tr__virtual_socket_number(&end->socket, i == 1);
    }
    *ours = &connection->ends[0].socket;
    *theirs = &connection->ends[1].socket;
    return TR_OK;
}

tr_status tr__virtual_accept(struct virtual_socket *socket, bool is_peer,
                             struct virtual_socket **accepted)
{
    struct listener *listener = listener_of(socket);
    if (listener->queued == 0)
        return TR_WOULD_BLOCK;
    struct list *link = list_pop_first(&listener->queue);
    struct connection *connection = LIST_OWNER(link, struct connection, queued);
    listener->queued--;
    struct list *next = list_pop_first(&listener->waiting);
    if (next) /* the connection that has waited longest gets the free place in the queue */
        listener_take(listener, LIST_OWNER(next, struct connection, queued));
    struct end *end = &connection->ends[1];
    if (end->status == TR_RESET) {
        tr__virtual_stream_close(&end->socket, true);
        return TR_RESET;
    }
    tr__virtual_socket_number(&end->socket, is_peer);
    *accepted = &end->socket;
    return TR_OK;
}

tr_status tr__virtual_outcome(const struct virtual_socket *socket)
{
    return end_of(socket)->status;
}

tr_status tr__virtual_receive(struct virtual_socket *socket, void *to, size_t size, size_t *got)
{
    const struct end *end = end_of(socket);
    struct virtual_flow *flow = flow_in(end);
    if (flow->arrived == 0 && !flow->has_end)
        return end->status == TR_OK ? TR_WOULD_BLOCK : end->status;
    *got = tr__virtual_flow_take(flow, to, size);
    return TR_OK;
}

tr_status tr__virtual_send(struct virtual_socket *socket, const tr_bytes *pieces, size_t count,
                           size_t *sent)
{
    const struct end *end = end_of(socket);
    if (end->status != TR_OK)
        return end->status;
    if (flow_out(end)->is_finished)
        return TR_RESET;
    return tr__virtual_flow_send(flow_out(end), pieces, count, sent);
}

void tr__virtual_finish(struct virtual_socket *socket)
{
    const struct end *end = end_of(socket);
    if (!flow_out(end)->is_finished && (end->status == TR_OK || end->status == TR_WOULD_BLOCK))
        tr__virtual_flow_finish(flow_out(end));
}

void tr__virtual_listener_close(struct virtual_socket *socket)
{
    struct listener *listener = listener_of(socket);
    tr__virtual_socket_unwatch(socket);
    tr__virtual_socket_release(socket);
    LIST_EACH (link, &listener->queue) {
        struct connection *connection = LIST_OWNER(link, struct connection, queued);
        list_remove(link);
        tr__virtual_stream_close(&connection->ends[1].socket, true);
    }
    LIST_EACH (link, &listener->waiting) {
        list_remove(link);
        connection_answer(LIST_OWNER(link, struct connection, queued), true);
    }
    tr__virtual_net_free(socket->net, listener);
}

/* Closes one end of a connection. */
static void end_close(struct end *end, bool resets)
{
    TR_ASSERT(!end_is_closed(end));
    tr__virtual_socket_unwatch(&end->socket);
    tr__virtual_socket_release(&end->socket);
    if (resets || flow_in(end)->arrived > 0)
        tr__virtual_flow_reset(flow_out(end));
    else
        tr__virtual_finish(&end->socket);
    tr__virtual_flow_drop_arrived(flow_in(end));
    flow_in(end)->is_closed = true;
}

void tr__virtual_stream_close(struct virtual_socket *socket, bool resets)
{
    struct end *end = end_of(socket);
    struct connection *connection = end->connection;
    if (!end->is_kept)
        end_close(end, resets);
    end->is_kept = false;
    for (int i = 0; i < 2; i++) {
        if (!end_is_closed(&connection->ends[i]) || connection->ends[i].is_kept)
            return;
    }
    connection_free(connection);
}

void tr__virtual_stream_reset(struct virtual_socket *socket)
{
    struct end *end = end_of(socket);
    if (end->is_kept)
        return;
    end_close(end, true);
    end->is_kept = true;
    end->status = TR_RESET;
}

void tr__virtual_stream_cut(struct virtual_socket *socket, bool is_cut)
{
    struct connection *connection = end_of(socket)->connection;
    connection->flows[0].is_cut = connection->flows[1].is_cut = is_cut;
    tr__virtual_flow_cut(&connection->flows[0], is_cut);
    tr__virtual_flow_cut(&connection->flows[1], is_cut);
}

void tr__virtual_stream_widen(struct virtual_socket *socket)
{
    tr__virtual_flow_widen(flow_out(end_of(socket)));
}

uint32_t tr__virtual_listener_possible(const struct virtual_socket *socket)
{
    return listener_of(socket)->queued ? TR_IO_IN : 0;
}

uint32_t tr__virtual_stream_possible(const struct virtual_socket *socket)
{
    const struct end *end = end_of(socket);
    const struct virtual_flow *in = flow_in(end);
    const struct virtual_flow *out = flow_out(end);
    if (end->status == TR_WOULD_BLOCK)
        return 0;
    if (end->status != TR_OK)
        return TR_IO_IN | TR_IO_OUT | TR_IO_END;
    uint32_t what = in->has_end ? TR_IO_IN | TR_IO_END : 0;
    if (in->arrived)
        what |= TR_IO_IN;
    if (out->is_finished || tr__virtual_flow_space(out))
        what |= TR_IO_OUT;
    return what;
}
