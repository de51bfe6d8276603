/* SPDX-License-Identifier: Apache-2.0 */
#include "os/virtual_flow.h"

#include "base/assert.h"
#include "os/virtual_io.h"

#include <string.h>

/* Bytes on their way, or arrived and not yet read. */
struct segment {
    struct virtual_transit transit;
    struct list mine; /* in virtual_flow.segments, oldest first */
    struct virtual_flow *flow;
    size_t size;
    size_t offset; /* number of bytes of the segment that were read */
    unsigned char data[];
};

static void segment_free(struct segment *segment)
{
    list_remove(&segment->transit.link);
    list_remove(&segment->mine);
    tr__virtual_net_free(segment->flow->net, segment);
}

static void segment_drop(struct segment *segment)
{
    segment->flow->used -= segment->size - segment->offset;
    segment_free(segment);
}

static void on_bytes(struct virtual_net *net, struct virtual_transit *transit)
{
    struct segment *segment = LIST_OWNER(transit, struct segment, transit);
    struct virtual_flow *flow = segment->flow;
    if (tr__virtual_flow_holds(flow, transit))
        return;
    tr__virtual_net_trace(net, segment->size);
    if (flow->is_closed) {
        segment_drop(segment);
        tr__virtual_flow_reset(flow->back);
        return;
    }
    bool was_empty = flow->arrived == 0;
    flow->arrived += segment->size;
    if (was_empty)
        tr__virtual_socket_report(flow->receiver);
}

static void on_finish(struct virtual_net *net, struct virtual_transit *transit)
{
    struct virtual_flow *flow = LIST_OWNER(transit, struct virtual_flow, finish);
    (void)net;
    if (tr__virtual_flow_holds(flow, transit))
        return;
    flow->has_end = true;
    tr__virtual_socket_report(flow->receiver);
}

void tr__virtual_flow_init(struct virtual_flow *flow, struct virtual_socket *sender,
                           struct virtual_socket *receiver, struct virtual_flow *back)
{
    *flow = (struct virtual_flow){.net = sender->net,
                                  .sender = sender,
                                  .receiver = receiver,
                                  .back = back,
                                  .finish = {.arrive = on_finish}};
    list_init(&flow->segments);
    list_init(&flow->held);
    list_init(&flow->opens.link);
    list_init(&flow->finish.link);
    list_init(&flow->reset.link);
}

void tr__virtual_flow_deinit(struct virtual_flow *flow)
{
    tr__virtual_flow_drop_arrived(flow);
    tr__virtual_flow_drop_sent(flow);
    list_remove(&flow->opens.link);
    list_remove(&flow->finish.link);
    list_remove(&flow->reset.link);
    TR_ASSERT(list_is_empty(&flow->held));
}

void tr__virtual_flow_post(struct virtual_flow *flow, struct virtual_transit *transit)
{
    tr_time due_ns = tr__virtual_net_due(flow->net);
    if (due_ns < flow->last_due_ns)
        due_ns = flow->last_due_ns;
    flow->last_due_ns = due_ns;
    tr__virtual_net_post(flow->net, transit, due_ns);
}

bool tr__virtual_flow_holds(struct virtual_flow *flow, struct virtual_transit *transit)
{
    if (flow->is_cut)
        list_push_last(&flow->held, &transit->link);
    return flow->is_cut;
}

size_t tr__virtual_flow_space(const struct virtual_flow *flow)
{
    size_t window = flow->net->weather.window;
    if (window == 0)
        window = VIRTUAL_WINDOW;
    return flow->used < window ? window - flow->used : 0;
}

void tr__virtual_flow_widen(struct virtual_flow *flow)
{
    if (!flow->is_blocked || !tr__virtual_flow_space(flow))
        return;
    flow->is_blocked = false;
    tr__virtual_socket_report(flow->sender);
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

tr_status tr__virtual_flow_send(struct virtual_flow *flow, const tr_bytes *pieces, size_t count,
                                size_t *sent)
{
    size_t total = bytes_total(pieces, count);
    size_t space = tr__virtual_flow_space(flow);
    size_t size = total < space ? total : space;
    *sent = 0;
    if (total == 0)
        return TR_OK;
    if (size == 0) {
        flow->is_blocked = true;
        return TR_WOULD_BLOCK;
    }
    struct segment *segment = tr__virtual_net_new(flow->net, sizeof *segment + size);
    if (!segment)
        return TR_NO_MEMORY;
    *segment = (struct segment){.transit = {.arrive = on_bytes}, .flow = flow, .size = size};
    bytes_gather(segment->data, size, pieces);
    list_init(&segment->transit.link);
    list_push_last(&flow->segments, &segment->mine);
    flow->used += size;
    flow->is_blocked = size < total;
    *sent = size;
    tr__virtual_flow_post(flow, &segment->transit);
    return TR_OK;
}

/* Copies bytes out of a flow, and frees the segments whose bytes were all copied. */
static void copy_out(struct virtual_flow *flow, unsigned char *to, size_t size)
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
static size_t piece_of(const struct virtual_flow *flow, size_t size)
{
    size_t piece = flow->net->weather.piece_max;
    if (size > flow->arrived)
        size = flow->arrived;
    if (piece == VIRTUAL_PIECE_RANDOM)
        piece = 1 + (size_t)rng_below(&flow->net->rng, flow->arrived);
    return piece && piece < size ? piece : size;
}

size_t tr__virtual_flow_take(struct virtual_flow *flow, void *to, size_t size)
{
    size_t got = piece_of(flow, size);
    if (got == 0)
        return 0;
    copy_out(flow, to, got);
    tr__virtual_net_trace(flow->net, got);
    if (got < size && flow->arrived > 0)
        /* report the remaining bytes as if they had arrived just now */
        tr__virtual_socket_report(flow->receiver);
    if (flow->is_cut) {
        flow->owed += got;
        return got;
    }
    flow->used -= got;
    tr__virtual_flow_widen(flow);
    return got;
}

void tr__virtual_flow_finish(struct virtual_flow *flow)
{
    TR_ASSERT(!flow->is_finished);
    flow->is_finished = true;
    tr__virtual_flow_post(flow, &flow->finish);
}

void tr__virtual_flow_reset(struct virtual_flow *flow)
{
    tr__virtual_flow_drop_sent(flow);
    list_remove(&flow->finish.link);
    if (list_is_empty(&flow->reset.link) && !flow->is_closed)
        tr__virtual_flow_post(flow, &flow->reset);
}

void tr__virtual_flow_drop_arrived(struct virtual_flow *flow)
{
    while (flow->arrived > 0) {
        struct segment *segment = LIST_OWNER(flow->segments.next, struct segment, mine);
        flow->arrived -= segment->size - segment->offset;
        segment_drop(segment);
    }
}

void tr__virtual_flow_drop_sent(struct virtual_flow *flow)
{
    size_t seen = 0; /* counts bytes; the first flow->arrived bytes have arrived */
    LIST_EACH (link, &flow->segments) {
        struct segment *segment = LIST_OWNER(link, struct segment, mine);
        seen += segment->size - segment->offset;
        if (seen > flow->arrived)
            segment_drop(segment);
    }
}

/*
 * Sends a transit again that the cut has held back, or that is on its way behind one that was held
 * back.
 */
static void post_again(struct virtual_flow *flow, struct virtual_transit *transit)
{
    if (list_is_empty(&transit->link))
        return; /* the transit has arrived, or was never sent */
    list_remove(&transit->link);
    tr__virtual_flow_post(flow, transit);
}

void tr__virtual_flow_cut(struct virtual_flow *flow, bool is_cut)
{
    flow->is_cut = is_cut;
    if (is_cut)
        return;
    /*
     * Post all transits again, in the order in which they were sent. A transit that is still on its
     * way must not arrive before one that the cut has held back.
     */
    post_again(flow, &flow->opens);
    LIST_EACH (link, &flow->segments)
        post_again(flow, &LIST_OWNER(link, struct segment, mine)->transit);
    post_again(flow, &flow->finish);
    TR_ASSERT(list_is_empty(&flow->held));
    flow->used -= flow->owed;
    flow->owed = 0;
    tr__virtual_flow_widen(flow);
}
