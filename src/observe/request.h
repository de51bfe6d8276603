/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A request of the control protocol: one line of JSON.
 *
 *     {"id":1,"do":"ls","path":"/user","limit":200}
 *     {"id":2,"do":"ask","path":"/user/bank","message":"get_balance","json":"{}","may":true}
 *
 * Unknown members are ignored; missing members are zero.
 */
#ifndef OBSERVE_REQUEST_H
#define OBSERVE_REQUEST_H

#include <troupe/message.h>
#include <troupe/wire.h>

struct control_request {
    uint64_t id;
    const char *verb; /* "do" */
    const char *path;
    const char *behavior;
    const char *state;
    const char *message; /* the name of a message */
    const char *json;    /* its content */
    const char *level;
    const char *kind;   /* kind of a durable actor */
    const char *key;    /* key of a durable actor, or the beginning of keys; bytes may be %xx */
    const char *text;   /* a statement of SQL, or a path of files */
    const char *causal; /* a causal id, in hexadecimal digits */
    const char *from;   /* "from": where a page of a list begins: the key behind which */
    uint32_t limit;
    uint32_t queued;     /* least number of queued messages */
    uint32_t timeout_ms; /* time-out of an ask */
    uint64_t after;      /* number of the last record that the client has */
    bool may;            /* the client permits a verb that changes something */
    bool is_sorted;      /* "sorted": list the fullest mailboxes first */
    bool secrets;        /* show values of secret fields */
    bool writes;         /* the statement of SQL may change tables */
    bool more;           /* another piece of `json` follows */
    bool reads_only;     /* of "session": no request that changes something is allowed later */
    bool is_direct;      /* "direct": only children */
    bool failing;        /* only turns that fail are recorded */
    bool follows;        /* "follow": slow turns are followed */
    bool progress;       /* the client wants a line each second that says how far a job is */
};

/**
 * Reads a request. The caller frees *request by tr_message_free(&tr__control_request_type,
 * request). Returns TR_OK, TR_BAD_DATA or another status of tr_json_read.
 */
TR_MUST_CHECK tr_status tr__control_request_read(tr_bytes line, struct control_request **request,
                                                 tr_wire_error *error);

extern const tr_type tr__control_request_type;

#endif
