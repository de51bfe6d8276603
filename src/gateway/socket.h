/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A socket: a WebSocket of a session that is a connection of a durable actor.
 *
 *     client                                            gateway
 *     {"id":1,"ask":"say","with":{...},"key":"..."}     {"id":1,"reply":{...},"causal":"..."}
 *                                                       {"id":1,"error":{...},"causal":"..."}
 *     {"ask":"say","with":{...}}                        nothing
 *                                                       {"open":{"event":12,"gap":false}}, first of all
 *                                                       {"event":"said","number":13,"with":{...}}
 *
 * Requests of a socket are handled one after the other: its turn waits for the outcome. That comes in order with the
 * events of the actor, so that what the actor has sent first also leaves first.
 *
 * What a socket keeps while its actor sleeps is struct socket_above and nothing else. Owner only.
 */
#ifndef GATEWAY_SOCKET_H
#define GATEWAY_SOCKET_H

#include "gateway/visit.h"
#include "http/ws_session.h"

/* With what the guard is asked for each message of a socket. */
struct socket_pass {
    tr_ref guard;
    const char *authorization; /* in `texts`, or NULL */
    const char *cookie;        /* the same */
    char texts[];
};

struct socket_above {
    struct ws_above base; /* must be first */
    const tr_exposed *exposed;
    uint64_t number;          /* of the connection */
    uint64_t event;           /* number of the last event that was sent */
    uint64_t rate_name;       /* whose requests are counted: gateway/rate.h */
    struct socket_pass *pass; /* NULL: the guard is not asked again, or there is none */
    uint32_t per_minute;      /* 0: its requests are not counted */
    bool is_settled;          /* the actor knows that the connection ends */
    uint16_t key_size;
    char key[];
};

/** Connects the WebSocket of a visit that was admitted. Waits. */
void tr__socket_open(struct visit *visit);
/**
 * Sends an event to a socket. Closes the socket instead if events before `number` were lost, or if too much is unsent. Does
 * not wait.
 */
void tr__socket_event(struct channel *channel, uint64_t number, tr_buffer *text);

#endif
