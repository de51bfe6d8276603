/* SPDX-License-Identifier: Apache-2.0 */
#include "os/virtual_stream.h"

#include "base/assert.h"
#include "os/virtual_io.h"

#include <string.h>

struct connection;

/* Bytes on their way, or arrived and not yet read. */
struct segment {
    struct virtual_transit transit;
    struct list mine; /* in flow.segments, oldest first */
    struct flow *flow;
    size_t size;
    size_t offset; /* bytes that were read */
    unsigned char data[];
};

/* One direction of a connection: from ends[n] to the other end. */
struct flow {
    struct connection *connection;
    struct list segments;          /* all, oldest first; the first `arrived` bytes can be read */
    struct list held;              /* transits that wait for the end of a cut */
    struct virtual_transit opens;  /* the request for the connection, or the answer */
    struct virtual_transit finish; /* nothing more comes */
    struct virtual_transit reset;
    tr_time last_due_ns; /* of what was sent last: nothing overtakes it */
    size_t used;         /* of the window: bytes on the way or unread */
    size_t owed;      /* of the window: bytes read during a cut, which the sender does not know */
    size_t arrived;   /* bytes that can be read */
    bool is_finished; /* its sender sends nothing more */
    bool has_end;     /* its receiver knows that */
    bool is_blocked;  /* its sender found the window full */
};

struct end {
    struct virtual_socket socket; /* must be first */
    struct connection *connection;
    unsigned index;
    bool is_closed;
    tr_status status; /* TR_WOULD_BLOCK: it connects; TR_OK; TR_RESET; TR_CONNECT_REFUSED */
};

struct connection {
    struct end ends[2]; /* the first has asked for the connection */
    struct flow flows[2];
    struct list queued; /* in listener.queue or listener.waiting */
    bool is_cut;
    bool is_refused;
};

struct listener {
    struct virtual_socket socket; /* must be first */
    struct list queue;            /* connections that nobody has accepted, oldest first */
    struct list waiting;          /* requests for which the queue has no space */
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

static struct virtual_net *net_of(const struct flow *flow)
{
    return flow->connection->ends[0].socket.net;
}

static struct end *sender_of(const struct flow *flow)
{
    return &flow->connection->ends[flow == &flow->connection->flows[1]];
}

static struct end *receiver_of(const struct flow *flow)
{
    return &flow->connection->ends[flow == &flow->connection->flows[0]];
}

static struct flow *flow_out(const struct end *end)
{
    return &end->connection->flows[end->index];
}

static struct flow *flow_in(const struct end *end)
{
    return &end->connection->flows[1 - end->index];
}

/* Sends something behind all that was sent before. */
static void flow_post(struct flow *flow, struct virtual_transit *transit)
{
    struct virtual_net *net = net_of(flow);
    tr_time due_ns = tr__virtual_net_due(net);
    if (due_ns < flow->last_due_ns)
        due_ns = flow->last_due_ns;
    flow->last_due_ns = due_ns;
    tr__virtual_net_post(net, transit, due_ns);
}

/* During a cut, keeps what has arrived until its end. */
static bool flow_holds(struct flow *flow, struct virtual_transit *transit)
{
    if (flow->connection->is_cut)
        list_push_last(&flow->held, &transit->link);
    return flow->connection->is_cut;
}

static size_t flow_space(const struct flow *flow)
{
    size_t window = net_of(flow)->weather.window;
    if (window == 0)
        window = VIRTUAL_WINDOW;
    return flow->used < window ? window - flow->used : 0;
}

static void flow_widen(struct flow *flow)
{
    if (!flow->is_blocked || !flow_space(flow))
        return;
    flow->is_blocked = false;
    tr__virtual_socket_report(&sender_of(flow)->socket);
}

static void segment_free(struct segment *segment)
{
    struct virtual_net *net = net_of(segment->flow);
    list_remove(&segment->transit.link);
    list_remove(&segment->mine);
    tr__virtual_net_free(net, segment);
}

static void segment_drop(struct segment *segment)
{
    segment->flow->used -= segment->size - segment->offset;
    segment_free(segment);
}

/* Drops what has arrived and was not read. */
static void flow_drop_arrived(struct flow *flow)
{
    while (flow->arrived > 0) {
        struct segment *segment = LIST_OWNER(flow->segments.next, struct segment, mine);
        flow->arrived -= segment->size - segment->offset;
        segment_drop(segment);
    }
}

/* Drops what is on its way. */
static void flow_drop_sent(struct flow *flow)
{
    size_t seen = 0; /* what has arrived is at the front */
    LIST_EACH (link, &flow->segments) {
        struct segment *segment = LIST_OWNER(link, struct segment, mine);
        seen += segment->size - segment->offset;
        if (seen > flow->arrived)
            segment_drop(segment);
    }
}

/* Sends a reset to the receiver of a flow. One that is on its way already is enough. */
static void flow_reset(struct flow *flow)
{
    if (list_is_empty(&flow->reset.link) && !receiver_of(flow)->is_closed)
        flow_post(flow, &flow->reset);
}

static void on_bytes(struct virtual_net *net, struct virtual_transit *transit)
{
    struct segment *segment = LIST_OWNER(transit, struct segment, transit);
    struct flow *flow = segment->flow;
    struct end *end = receiver_of(flow);
    if (flow_holds(flow, transit))
        return;
    tr__virtual_net_trace(net, segment->size);
    if (end->is_closed) {
        segment_drop(segment);
        flow_reset(flow_out(end));
        return;
    }
    bool was_empty = flow->arrived == 0;
    flow->arrived += segment->size;
    if (was_empty)
        tr__virtual_socket_report(&end->socket);
}

static void on_finish(struct virtual_net *net, struct virtual_transit *transit)
{
    struct flow *flow = LIST_OWNER(transit, struct flow, finish);
    (void)net;
    if (flow_holds(flow, transit))
        return;
    flow->has_end = true;
    tr__virtual_socket_report(&receiver_of(flow)->socket);
}

static void on_reset(struct virtual_net *net, struct virtual_transit *transit)
{
    struct flow *flow = LIST_OWNER(transit, struct flow, reset);
    struct end *end = receiver_of(flow);
    (void)net;
    if (flow->connection->is_cut || end->is_closed)
        return;
    end->status = TR_RESET;
    flow_drop_sent(flow_out(end));
    tr__virtual_socket_report(&end->socket);
}

/* The answer to a request for a connection. */
static void on_answer(struct virtual_net *net, struct virtual_transit *transit)
{
    struct flow *flow = LIST_OWNER(transit, struct flow, opens);
    struct end *end = receiver_of(flow);
    (void)net;
    if (flow_holds(flow, transit) || end->is_closed)
        return;
    end->status = flow->connection->is_refused ? TR_CONNECT_REFUSED : TR_OK;
    tr__virtual_socket_report(&end->socket);
}

static void connection_answer(struct connection *connection, bool is_refused)
{
    connection->is_refused = is_refused;
    connection->ends[1].is_closed = is_refused;
    connection->ends[1].status = is_refused ? TR_RESET : TR_OK;
    flow_post(&connection->flows[1], &connection->flows[1].opens);
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
    struct flow *flow = LIST_OWNER(transit, struct flow, opens);
    struct connection *connection = flow->connection;
    if (flow_holds(flow, transit))
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
    for (int i = 0; i < 2; i++) {
        struct flow *flow = &connection->flows[i];
        flow_drop_arrived(flow);
        flow_drop_sent(flow);
        list_remove(&flow->opens.link);
        list_remove(&flow->finish.link);
        list_remove(&flow->reset.link);
        TR_ASSERT(list_is_empty(&flow->held));
    }
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
        struct flow *flow = &connection->flows[i];
        tr__virtual_socket_init(net, &end->socket, VIRTUAL_STREAM);
        end->connection = connection;
        end->index = i;
        end->is_closed = i == 1;
        end->status = TR_WOULD_BLOCK;
        flow->connection = connection;
        list_init(&flow->segments);
        list_init(&flow->held);
        list_init(&flow->opens.link);
        list_init(&flow->finish.link);
        list_init(&flow->reset.link);
        flow->opens.arrive = i == 0 ? on_request : on_answer;
        flow->finish.arrive = on_finish;
        flow->reset.arrive = on_reset;
    }
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

/* Chooses where a connection comes from. */
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
    flow_post(&connection->flows[0], &connection->flows[0].opens);
    bool is_unix = to.address.family == TR_FAMILY_UNIX;
    if (is_unix && end->status == TR_CONNECT_REFUSED) {
        connection_free(connection);
        return TR_CONNECT_REFUSED;
    }
    tr__virtual_socket_number(&end->socket, is_peer);
    *made = &end->socket;
    return is_unix ? end->status : TR_WOULD_BLOCK; /* in Linux, TCP connects in the background */
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
    if (next) /* a request that waited gets the place */
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

/* Copies bytes out of a flow, and frees the segments that are used up. */
static void flow_take(struct flow *flow, unsigned char *to, size_t size)
{
    flow->arrived -= size;
    while (size > 0) {
        struct segment *segment = LIST_OWNER(flow->segments.next, struct segment, mine);
        size_t left = segment->size - segment->offset;
        size_t part = left < size ? left : size;
        memcpy(to, segment->data + segment->offset, part);
        segment->offset += part;
        to += part;
        size -= part;
        if (part == left)
            segment_free(segment);
    }
}

/* Returns how many bytes the next receive gets. */
static size_t flow_piece(const struct flow *flow, size_t size)
{
    struct virtual_net *net = net_of(flow);
    size_t piece = net->weather.piece_max;
    if (size > flow->arrived)
        size = flow->arrived;
    if (piece == VIRTUAL_PIECE_RANDOM)
        piece = 1 + (size_t)rng_below(&net->rng, flow->arrived);
    return piece && piece < size ? piece : size;
}

tr_status tr__virtual_receive(struct virtual_socket *socket, void *to, size_t size, size_t *got)
{
    struct end *end = end_of(socket);
    struct flow *flow = flow_in(end);
    if (flow->arrived == 0 && !flow->has_end)
        return end->status == TR_OK ? TR_WOULD_BLOCK : end->status;
    *got = flow_piece(flow, size);
    if (*got == 0)
        return TR_OK;
    flow_take(flow, to, *got);
    tr__virtual_net_trace(socket->net, *got);
    if (*got < size && flow->arrived > 0)
        tr__virtual_socket_report(socket); /* as if the next piece arrived now */
    if (end->connection->is_cut) {
        flow->owed += *got;
        return TR_OK;
    }
    flow->used -= *got;
    flow_widen(flow);
    return TR_OK;
}

static size_t bytes_total(const tr_bytes *pieces, size_t count)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += pieces[i].size;
    return total;
}

static void bytes_gather(unsigned char *to, size_t size, const tr_bytes *pieces)
{
    for (; size > 0; pieces++) {
        size_t part = pieces->size < size ? pieces->size : size;
        if (part)
            memcpy(to, pieces->data, part);
        to += part;
        size -= part;
    }
}

tr_status tr__virtual_send(struct virtual_socket *socket, const tr_bytes *pieces, size_t count,
                           size_t *sent)
{
    struct end *end = end_of(socket);
    struct flow *flow = flow_out(end);
    if (end->status != TR_OK)
        return end->status;
    if (flow->is_finished)
        return TR_RESET;
    size_t total = bytes_total(pieces, count);
    size_t space = flow_space(flow);
    size_t size = total < space ? total : space;
    *sent = 0;
    if (total == 0)
        return TR_OK;
    if (size == 0) {
        flow->is_blocked = true;
        return TR_WOULD_BLOCK;
    }
    struct segment *segment = tr__virtual_net_new(socket->net, sizeof *segment + size);
    if (!segment)
        return TR_NO_MEMORY;
    *segment = (struct segment){.transit = {.arrive = on_bytes}, .flow = flow, .size = size};
    bytes_gather(segment->data, size, pieces);
    list_init(&segment->transit.link);
    list_push_last(&flow->segments, &segment->mine);
    flow->used += size;
    flow->is_blocked = size < total;
    *sent = size;
    flow_post(flow, &segment->transit);
    return TR_OK;
}

void tr__virtual_finish(struct virtual_socket *socket)
{
    struct end *end = end_of(socket);
    struct flow *flow = flow_out(end);
    if (flow->is_finished || (end->status != TR_OK && end->status != TR_WOULD_BLOCK))
        return;
    flow->is_finished = true;
    flow_post(flow, &flow->finish);
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

void tr__virtual_stream_close(struct virtual_socket *socket, bool resets)
{
    struct end *end = end_of(socket);
    struct connection *connection = end->connection;
    tr__virtual_socket_unwatch(socket);
    tr__virtual_socket_release(socket);
    TR_ASSERT(!end->is_closed);
    if (flow_in(end)->arrived > 0)
        resets = true;
    if (resets) {
        flow_drop_sent(flow_out(end));
        list_remove(&flow_out(end)->finish.link);
        flow_reset(flow_out(end));
    } else {
        tr__virtual_finish(socket);
    }
    flow_drop_arrived(flow_in(end));
    end->is_closed = true;
    if (connection->ends[0].is_closed && connection->ends[1].is_closed)
        connection_free(connection);
}

void tr__virtual_stream_cut(struct virtual_socket *socket, bool is_cut)
{
    struct connection *connection = end_of(socket)->connection;
    connection->is_cut = is_cut;
    for (int i = 0; i < 2 && !is_cut; i++) {
        struct flow *flow = &connection->flows[i];
        LIST_EACH (link, &flow->held) {
            list_remove(link);
            flow_post(flow, LIST_OWNER(link, struct virtual_transit, link));
        }
        flow->used -= flow->owed;
        flow->owed = 0;
        flow_widen(flow);
    }
}

void tr__virtual_stream_widen(struct virtual_socket *socket)
{
    flow_widen(flow_out(end_of(socket)));
}

uint32_t tr__virtual_listener_possible(const struct virtual_socket *socket)
{
    return listener_of(socket)->queued ? TR_IO_IN : 0;
}

uint32_t tr__virtual_stream_possible(const struct virtual_socket *socket)
{
    const struct end *end = end_of(socket);
    const struct flow *in = flow_in(end);
    const struct flow *out = flow_out(end);
    if (end->status == TR_WOULD_BLOCK)
        return 0;
    if (end->status != TR_OK)
        return TR_IO_IN | TR_IO_OUT | TR_IO_END;
    uint32_t what = in->has_end ? TR_IO_IN | TR_IO_END : 0;
    if (in->arrived)
        what |= TR_IO_IN;
    if (out->is_finished || flow_space(out))
        what |= TR_IO_OUT;
    return what;
}
