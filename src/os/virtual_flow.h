/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One direction of a connection of the virtual network: bytes on their way, in order, with a window.
 *
 * A flow first carries the request for the connection, or in the other direction its answer. Then it carries bytes, and
 * at last the finish of its sender or a reset. A test can cut a flow. During a cut, resets are lost, and everything
 * else waits. When something arrives for a receiver that is closed, a reset goes back.
 *
 * All functions: one thread at a time.
 */
#ifndef OS_VIRTUAL_FLOW_H
#define OS_VIRTUAL_FLOW_H

#include "os/virtual_net.h"

struct virtual_flow {
    struct virtual_net *net;
    struct virtual_socket *sender;
    struct virtual_socket *receiver;
    struct virtual_flow *back; /* the flow in the other direction */
    /* all segments, oldest first; the first `arrived` bytes in them can be read */
    struct list segments;
    struct list held; /* transits that wait for the end of a cut */
    /* the request for the connection; in the other direction, the answer */
    struct virtual_transit opens;
    struct virtual_transit finish; /* the transit of the finish: the sender sends nothing more */
    struct virtual_transit reset;
    /* when the transit arrives that was sent last; no later transit arrives before that */
    tr_time last_due_ns;
    size_t used;      /* how many bytes count in the window: on their way, or arrived and unread */
    size_t owed;      /* bytes read during a cut; the sender still counts them in the window */
    size_t arrived;   /* bytes that can be read */
    bool is_finished; /* the sender sends nothing more */
    bool has_end;     /* the receiver knows that the sender has finished */
    bool is_blocked;  /* the sender has found no space in the window, and waits for some */
    bool is_closed;   /* the receiver takes nothing more */
    bool is_cut;
};

/**
 * Makes an empty flow. The caller then sets the functions that `opens` and `reset` call when they
 * arrive.
 */
void tr__virtual_flow_init(struct virtual_flow *flow, struct virtual_socket *sender,
                           struct virtual_socket *receiver, struct virtual_flow *back);
/** Frees all bytes of a flow, and removes its transits that are on their way from the network. */
void tr__virtual_flow_deinit(struct virtual_flow *flow);
/** Sends a transit, which arrives after everything that the flow has sent before. */
void tr__virtual_flow_post(struct virtual_flow *flow, struct virtual_transit *transit);
/** If the flow is cut, keeps an arrived transit until the end of the cut, and returns true. */
bool tr__virtual_flow_holds(struct virtual_flow *flow, struct virtual_transit *transit);
/** Returns how many bytes the window has left. */
size_t tr__virtual_flow_space(const struct virtual_flow *flow);
/**
 * Notifies the sender that it can send, if the sender waits for space in the window and there is
 * some.
 */
void tr__virtual_flow_widen(struct virtual_flow *flow);

/**
 * Sends as many bytes as the window takes. TR_WOULD_BLOCK: the window takes no bytes. Also fails
 * with TR_NO_MEMORY.
 */
tr_status tr__virtual_flow_send(struct virtual_flow *flow, const tr_bytes *pieces, size_t count,
                                size_t *sent);
/**
 * Copies a piece of the bytes that have arrived, and removes the bytes from the flow. Returns the
 * size of the piece, which is 0 if no bytes have arrived.
 */
size_t tr__virtual_flow_take(struct virtual_flow *flow, void *to, size_t size);
/** Sends the finish, which informs the receiver that nothing more comes. */
void tr__virtual_flow_finish(struct virtual_flow *flow);
/** Sends a reset, unless a reset is on its way already. Drops bytes that were sent and have not arrived. */
void tr__virtual_flow_reset(struct virtual_flow *flow);
/** Drops the bytes that have arrived and were not read. */
void tr__virtual_flow_drop_arrived(struct virtual_flow *flow);
/** Drops the bytes that were sent and have not arrived. */
void tr__virtual_flow_drop_sent(struct virtual_flow *flow);
/**
 * Cuts the flow, or ends the cut. At the end of a cut, everything that has waited is sent again.
 */
void tr__virtual_flow_cut(struct virtual_flow *flow, bool is_cut);

#endif
