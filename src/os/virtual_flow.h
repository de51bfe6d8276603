/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One direction of a connection of the virtual network: bytes on their way, in order, with a window.
 *
 * A flow carries a request for the connection or the answer, then bytes, then the finish of its sender
 * or a reset. While it is cut, resets are lost, and all else waits in it. What arrives for a receiver
 * that is closed is answered by a reset.
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
    struct virtual_flow *back;     /* the other direction */
    struct list segments;          /* all, oldest first; the first `arrived` bytes can be read */
    struct list held;              /* transits that wait for the end of a cut */
    struct virtual_transit opens;  /* the request for the connection, or the answer */
    struct virtual_transit finish; /* tells the receiver that nothing more comes */
    struct virtual_transit reset;
    tr_time last_due_ns; /* when the last thing sent arrives; nothing overtakes it */
    size_t used;         /* bytes of the window in use: on the way or unread */
    size_t owed;         /* bytes read during a cut; the sender still counts them in the window */
    size_t arrived;      /* bytes that can be read */
    bool is_finished;    /* the sender sends nothing more */
    bool has_end;        /* the receiver knows that the sender has finished */
    bool is_blocked;     /* the sender found the window full */
    bool is_closed;      /* the receiver takes nothing more */
    bool is_cut;
};

/** Makes an empty flow. Its owner sets what happens when `opens` and `reset` arrive. */
void tr__virtual_flow_init(struct virtual_flow *flow, struct virtual_socket *sender,
                           struct virtual_socket *receiver, struct virtual_flow *back);
/** Frees all bytes of a flow, and removes what is on its way. */
void tr__virtual_flow_deinit(struct virtual_flow *flow);
/** Sends a transit after all that was sent before. */
void tr__virtual_flow_post(struct virtual_flow *flow, struct virtual_transit *transit);
/** If the flow is cut, keeps an arrived transit until the end of the cut, and returns true. */
bool tr__virtual_flow_holds(struct virtual_flow *flow, struct virtual_transit *transit);
/** Returns how many bytes the window has left. */
size_t tr__virtual_flow_space(const struct virtual_flow *flow);
/** Notifies the sender that it can send, if it found the window full and there is space now. */
void tr__virtual_flow_widen(struct virtual_flow *flow);

/** Sends as many bytes as the window takes. TR_WOULD_BLOCK: none. TR_NO_MEMORY. */
tr_status tr__virtual_flow_send(struct virtual_flow *flow, const tr_bytes *pieces, size_t count,
                                size_t *sent);
/** Takes a piece of the bytes that have arrived. Returns its size; 0: there are none. */
size_t tr__virtual_flow_take(struct virtual_flow *flow, void *to, size_t size);
/** Ends a flow: tells its receiver that nothing more comes. */
void tr__virtual_flow_finish(struct virtual_flow *flow);
/** Sends a reset, unless one is on its way. Bytes that were sent and have not arrived are dropped. */
void tr__virtual_flow_reset(struct virtual_flow *flow);
/** Drops the bytes that have arrived and were not read. */
void tr__virtual_flow_drop_arrived(struct virtual_flow *flow);
/** Drops everything that is on its way. */
void tr__virtual_flow_drop_sent(struct virtual_flow *flow);
/** Cuts the flow, or ends the cut. At the end of a cut, what has waited is on its way again. */
void tr__virtual_flow_cut(struct virtual_flow *flow, bool is_cut);

#endif
