/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A socket: a WebSocket that connects a client to a durable actor.
 *
 *     client                                            gateway
 *     {"id":1,"ask":"say","with":{...},"key":"..."}     {"id":1,"reply":{...},"causal":"..."}
 *                                                       {"id":1,"error":{...},"causal":"..."}
 *     {"ask":"say","with":{...}}                        nothing
 *                                                       {"open":{"event":12,"gap":false}}   sent first
 *                                                       {"event":"said","number":13,"with":{...}}
 *
 * Requests on a socket are handled one after the other, because the turn of a request waits for the outcome of this
 * request. Outcomes and events are sent to the client in the order in which the actor has sent them.
 *
 * While its actor sleeps, a socket keeps only its struct socket_above. Owner only.
 */
#ifndef GATEWAY_SOCKET_H
#define GATEWAY_SOCKET_H

#include "gateway/visit.h"
#include "http/ws_session.h"

/* What is checked before each message of a socket. */
struct socket_pass {
    /* the guard that is asked about each message; TR_NOBODY: only the rate is checked */
    tr_ref guard;
    const char *authorization; /* the credentials that the guard gets, in `texts`, or NULL */
    const char *cookie;        /* the cookies that the guard gets, in `texts`, or NULL */
    uint64_t rate_name;        /* name under which messages are counted; see gateway/rate.h */
    uint32_t per_minute;       /* how many messages are allowed in a minute; 0: any number */
    char texts[];
};

struct socket_above {
    struct ws_above base; /* must be the first member */
    const tr_exposed *exposed;
    uint64_t number;          /* number of the connection */
    uint64_t event;           /* number of the last event that was sent */
    struct socket_pass *pass; /* what is checked before each message; NULL: nothing */
    uint16_t key_size;
    bool is_settled; /* the actor knows already that the connection ends, and is not notified */
    char key[];
};

/** Makes the request of an admitted visit a WebSocket, and connects it to the actor. Waits. */
void tr__socket_open(struct visit *visit);
/**
 * Sends an event to a socket. If earlier events were lost or too many bytes are unsent, closes the
 * socket instead. Does not wait.
 */
void tr__socket_event(struct channel *channel, uint64_t number, tr_buffer *text);

#endif
